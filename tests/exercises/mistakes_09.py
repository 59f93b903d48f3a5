"""Problem set 09: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "09_integrators"
POINTS = {
    "test-semi-implicit-step": 2,
    "test-rattle-step": 5,
    "test-measured-order": 3,
    "test-drift-and-swing": 3,
    "test-constraint-map": 4,
    "test-generalized-alpha-numbers": 3,
}


def semi_implicit(q="q + dt * new", v="new", returned="np.vstack([x, w])"):
    return function("semi_implicit_step(q, v, a, dt)", "new = v + dt * a", f"x, w = {q}, {v}", f"return {returned}")


def rattle(
    flight="q + dt * v + dt**2 / 2 * G",
    c="(-(u @ q) + np.sqrt((u @ q) ** 2 - R**2 * (u @ u - R**2))) / R**2",
    q_plus="u + c * q",
    w="(p - q) / dt + dt / 2 * G",
    v_plus="w - n * (n @ w)",
    normal="p / np.linalg.norm(p)",
    G="np.array([0, -g])",
):
    return function(
        "rattle_step(q, v, R, g, dt)",
        f"G = {G}",
        f"u = {flight}",
        f"c = {c}",
        f"p = {q_plus}",
        f"w = {w}",
        f"n = {normal}",
        f"return p, {v_plus}",
    )


def order(
    size="np.max(np.abs(errors), axis=1)", x="np.log(dt)", y="np.log(E)", returned="((X @ Y - X.sum() * Y.mean()) / D)"
):
    return function(
        "measured_order(dt, errors)",
        f"E = {size}",
        f"X, Y = {x}, {y}",
        "D = X @ X - X.sum() * X.mean()",
        f"return {returned}",
    )


def drift(slope="(T @ E) / (T @ T)", swing="left.max() - left.min()", T="t - t.mean()", E="e - e.mean()", end="k, s"):
    return function(
        "drift_and_swing(t, energy)",
        "e = energy",
        f"T, E = {T}, {E}",
        f"k = {slope}",
        "left = E - k * T",
        f"s = {swing}",
        f"return {end}",
    )


def newmark(old="0.5 - b", new="b", rate_old="1 - g", rate_new="g", sign="-", before="b, g = beta, gamma", end=""):
    return function(
        "constraint_map(beta, gamma)",
        before,
        f"p, r = {sign}1 / ({new}), {sign}({old}) / ({new})",
        f"B = np.array([[1 + ({rate_new}) * p, {rate_old} + ({rate_new}) * r], [p, r]])",
        f"return B{end}",
    )


def numbers(
    f="r / (1 + r)", m="(2 * r - 1) / (1 + r)", g="0.5 + f - m", b="0.25 * (1 + f - m) ** 2", returned="m, f, b, g"
):
    return function(
        "generalized_alpha_numbers(rho_inf)",
        "r = rho_inf",
        f"f = {f}",
        f"m = {m}",
        f"g = {g}",
        f"b = {b}",
        f"return {returned}",
    )


MISTAKES = {
    "test-semi-implicit-step": [
        (semi_implicit("q + dt * v"), "this is explicit Euler"),
        (semi_implicit("q + dt * v + dt**2 / 2 * a"), "those of a constant acceleration"),
        (semi_implicit(returned="np.vstack([w, x])"), "the velocities stand in the first row"),
        (semi_implicit("q + dt * v", "v"), "the velocities are those of the start"),
        (semi_implicit("q"), "the coordinates are those of the start"),
        (semi_implicit("dt * new", "dt * a"), "this is the change in the step"),
    ],
    "test-rattle-step": [
        (rattle(v_plus="v + dt * G + c / dt * (q + p)"), "which is SHAKE"),
        (rattle(v_plus="w"), "the second half of the step has no multiplier"),
        (rattle(normal="q / R"), "the second multiplier pushes along the normal at q;"),
        (rattle(q_plus="u * R / np.sqrt(u @ u)"), "the first multiplier pushes along the normal at q⁺"),
        (rattle(c="(-(u @ q) - np.sqrt((u @ q) ** 2 - R**2 * (u @ u - R**2))) / R**2"), "on the far side"),
        (rattle(c="-(u @ u - R**2) / (2 * u @ q)"), "one step of Newton's iteration"),
        (rattle(q_plus="u"), "the first multiplier is missing"),
        (rattle("q + dt * v + dt**2 * G"), "the free flight lacks the ½"),
        (rattle(w="(p - q) / dt"), "gravity is missing in the second half"),
        (rattle(w="(p - q) / dt + dt * G"), "gravity acts over the whole step"),
        (rattle(G="np.array([0, g])"), "gravity has the wrong sign"),
        (rattle(G="np.zeros(2)"), "gravity is left out altogether"),
        (rattle(w="v + dt * G"), "v⁺ starts again from v"),
    ],
    "test-measured-order": [
        (order("np.abs(errors[:, -1])"), "the last instant alone"),
        (order("np.mean(np.abs(errors), axis=1)"), "the mean of the errors over the instants"),
        (order("np.abs(errors.mean(axis=1))"), "the mean of the errors with their signs"),
        (order("errors.max(axis=1)"), "without its magnitude"),
        (order(x="np.log2(dt)"), "a factor ln 2"),
        (order(x="np.log10(dt)"), "a factor ln 10"),
        (order(x="np.log(np.abs(errors).max(axis=1))", y="np.log(dt)"), "it is the other way round"),
        (order(x="-np.log(dt)"), "it has the wrong sign"),
        (order(x="dt", y="E"), "without logarithms"),
        (order(returned="np.log(E[0] / E[-1]) / np.log(dt[0] / dt[-1])"), "the first and the last step"),
        (order(returned="np.mean(E[:-1] / E[1:])"), "the factor between the errors"),
    ],
    "test-drift-and-swing": [
        (drift("(e[-1] - e[0]) / (t[-1] - t[0])"), "from the first to the last instant"),
        (drift(T="np.arange(len(t)) - (len(t) - 1) / 2"), "the drift is that per instant"),
        (drift(T="t - t[0]", E="e - e[0]"), "go through the first instant"),
        (drift(T="t", E="e"), "go through zero"),
        (drift(end="abs(k), s"), "the drift has lost its sign"),
        (drift(end="np.mean(np.abs(np.diff(e)) / np.diff(t)), s"), "the mean of the steps' changes"),
        (drift(swing="e.max() - e.min()"), "the swing contains the drift"),
        (drift(swing="(left.max() - left.min()) / 2"), "the swing is half"),
        (drift(swing="np.abs(left).max()"), "the largest distance from the line"),
        (drift(swing="left.std()"), "a standard deviation"),
        (drift(end="s, k"), "drift and swing are interchanged"),
    ],
    "test-constraint-map": [
        (newmark(old="b", new="0.5 - b"), "the shares of a and a⁺ in y⁺"),
        (newmark(rate_old="g", rate_new="1 - g"), "the shares of a and a⁺ in ẏ⁺"),
        (newmark(before="b, g = gamma, beta"), "β and γ are interchanged"),
        (newmark(old="0"), "a is missing in y⁺"),
        (newmark(rate_old="0"), "a is missing in ẏ⁺"),
        (newmark(old="1 - b"), "the share of a in y⁺ is 1 − β"),
        (newmark(sign="+"), "a⁺ has the wrong sign"),
        (newmark(sign="0 * "), "as on the index-1 form"),
        (newmark(end="[::-1, ::-1]"), "in the order Δt² a, Δt ẏ"),
        (newmark(end=".T"), "rows and columns are interchanged"),
        (newmark(before="b, g = 1 / 4, 1 / 2"), "the map of the trapezoidal rule"),
        (newmark(end=" - np.eye(2)"), "this is the change in one step"),
    ],
    "test-generalized-alpha-numbers": [
        (numbers(returned="f, m, b, g"), "α_m and α_f are interchanged"),
        (numbers(g="0.5 - f + m", b="0.25 * (0.5 + g) ** 2"), "γ is ½ − α_f + α_m"),
        (numbers(returned="f + g - 0.5, f, b, g"), "α_m is α_f + γ − ½"),
        (numbers(b="0.25 * g**2"), "β lacks the ½"),
        (numbers(b="0.25 * (g - 0.5) ** 2"), "the ½ is taken off γ"),
        (numbers(b="(g + 0.5) ** 2"), "β lacks a factor ¼"),
        (numbers(b="0.25"), "β is ¼"),
        (numbers(returned="m, f, g, b"), "β and γ are interchanged"),
        (numbers(returned="0.0, 0.0, 0.25, 0.5"), "the numbers of the trapezoidal rule"),
        (numbers(f="(1 - r) / (1 + r)", m="0.0"), "the numbers of the HHT method"),
        (numbers(f="-r / (1 - r)", m="(-2 * r - 1) / (1 - r)"), "errors keep their sign"),
        (numbers(m="0.5 + f - (2 / (1 - r) - 0.5)"), "the eigenvalues of B are +ρ∞"),
        (numbers(f="r / (r - 1)", m="f - (1 - r) / (1 + r)"), "it gives q̈⁺ = +ρ∞ q̈"),
        (numbers(f="r", m="r - (1 - r) / (1 + r)"), "α_f is ρ∞ itself"),
    ],
}
