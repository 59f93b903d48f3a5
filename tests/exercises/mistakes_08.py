"""Problem set 08: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "08_stabilization"
POINTS = {
    "test-error-map": 3,
    "test-long-run-growth": 3,
    "test-largest-steps": 4,
    "test-settled-offset": 3,
    "test-projection-step": 4,
    "test-fitting-velocity": 3,
}

GROWTH = "long_run_growth(maps)"


def error_map(first="1 - b * b, 1 - 2 * a", second="-b * b, 1 - 2 * a", end=""):
    return function(
        "error_map(alpha, beta, dt)",
        "a, b = alpha * dt, beta * dt",
        f"A = np.array([[{first}], [{second}]])",
        f"return A{end}",
    )


def growth(*lines):
    return function(GROWTH, "lam = np.linalg.eigvals(maps)", *lines)


def steps(
    semi="(np.sqrt(4 * alpha**2 + 4 * beta**2) - 2 * alpha) / beta**2",
    under="2 * alpha / beta**2",
    over="2 * (alpha - np.sqrt(alpha**2 - beta**2)) / beta**2",
    before="pass",
    returned="semi, explicit",
):
    return function(
        "largest_steps(alpha, beta)",
        before,
        f"semi = {semi}",
        "if alpha <= beta:",
        f"    explicit = {under}",
        "else:",
        f"    explicit = {over}",
        f"return {returned}",
    )


def offset(phi="-2 * alpha * dt * speed**2 / beta**2", distance="np.sqrt(R**2 + phi) - R"):
    return function("settled_offset(alpha, beta, dt, speed, R)", f"phi = {phi}", f"return phi, {distance}")


def back(returned="q - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ phi", metric="np.linalg.inv(M)"):
    return function("projection_step(q, M, J, phi)", f"W = {metric}", f"return {returned}")


def fitting(
    plus="v - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ (J @ v + phi_t)",
    gain="(p @ M @ p - v @ M @ v) / 2",
    metric="np.linalg.inv(M)",
    returned="p",
):
    return function(
        "fitting_velocity(M, J, v, phi_t)", f"W = {metric}", f"p = {plus}", f"gain = {gain}", f"return {returned}, gain"
    )


MISTAKES = {
    "test-error-map": [
        (error_map("1, 1"), "the map of explicit Euler"),
        (error_map("1 - b * b, 1 - a", "-b * b, 1 - a"), "α stands where 2α belongs"),
        (error_map("1 - b, 1 - 2 * a", "-b, 1 - 2 * a"), "b stands where b² belongs"),
        (error_map("1 + b * b, 1 - 2 * a", "b * b, 1 - 2 * a"), "β² has the wrong sign"),
        (error_map("1 - b * b, 1 + 2 * a", "-b * b, 1 + 2 * a"), "α has the wrong sign"),
        (error_map("1 + b * b, 1 + 2 * a", "b * b, 1 + 2 * a"), "the whole feedback has the wrong sign"),
        (error_map("1 - 2 * a, -b * b", "1 - 2 * a, 1 - b * b"), "in the order Δt φ̇, φ"),
        (error_map(end=".T"), "rows and columns are interchanged"),
        (error_map("1 - b * b, dt * (1 - 2 * a)", "-b * b / dt, 1 - 2 * a"), "the map of φ and φ̇"),
        (error_map("0, 1", "-b * b, -2 * a"), "the matrix of the differential equation"),
        (error_map("-b * b, 1 - 2 * a", "-b * b, -2 * a"), "this is the change in one step"),
        (error_map("1, 1", "-b * b, 1 - 2 * a - b * b"), "φ̇⁺ takes the new φ⁺"),
    ],
    "test-long-run-growth": [
        (growth("return lam.real.max(axis=1)"), "the largest real part"),
        (growth("return np.abs(lam.real).max(axis=1)"), "the magnitudes of the real parts"),
        (growth("return np.abs(lam).min(axis=1)"), "the smaller magnitude"),
        (growth("return np.abs(lam).prod(axis=1)"), "the magnitude of the determinant"),
        (growth("return np.sqrt(np.abs(lam[:, 0] * lam[:, 1]))"), "the root of the determinant"),
        (growth("return np.abs(lam.sum(axis=1)) / 2"), "half the magnitude of the trace"),
        (function(GROWTH, "return np.array([np.linalg.norm(A, 2) for A in maps])"), "the largest growth in one step"),
        (growth("return 1.0 * (np.abs(lam).max(axis=1) < 1)"), "as 1 or 0"),
        (growth("return np.log(np.abs(lam).max(axis=1))"), "the logarithm of the factor"),
    ],
    "test-largest-steps": [
        (steps(semi="1 / alpha"), "semi-implicit Euler uses the determinant alone"),
        (steps(semi="2 / beta"), "that of an undamped swing"),
        (steps(semi="2 * (np.sqrt(2) - 1) / alpha"), "is right for β = α only"),
        (steps(semi="-2 * (np.hypot(alpha, beta) + alpha) / beta**2"), "is the negative root"),
        (steps(semi="2 * (np.hypot(alpha, beta) + alpha) / beta**2"), "the size of the negative root"),
        (steps(over="2 * alpha / beta**2"), "explicit Euler uses the determinant alone"),
        (steps(over="2 / (alpha - np.sqrt(alpha**2 - beta**2))"), "the slower of two decays"),
        (steps(under="2 / alpha"), "from the real parts of the poles"),
        (steps(before="alpha = alpha / 2"), "α stands where 2α belongs"),
        (steps(returned="alpha * semi, alpha * explicit"), "both are multiples of 1/α"),
        (steps(returned="explicit, semi"), "the two are interchanged"),
        (steps(returned="semi, semi"), "both are the limit of semi-implicit Euler"),
    ],
    "test-settled-offset": [
        (offset("0.0"), "both are zero"),
        (offset("2 * alpha * dt * speed**2 / beta**2"), "the offset has the wrong sign"),
        (offset("-alpha * dt * speed**2 / beta**2"), "α stands where 2α belongs"),
        (offset("-2 * alpha * dt * speed**2 / beta"), "β stands where β² belongs"),
        (offset("-2 * alpha * dt**2 * speed**2 / beta**2"), "comes in as Δt²"),
        (offset("-2 * alpha * speed**2 / beta**2"), "the step is missing"),
        (offset("-2 * alpha * dt * speed / beta**2"), "|v| stands where"),
        (offset("-dt * speed**2 / beta**2"), "α is missing"),
        (offset(distance="phi"), "the distance is φ itself"),
        (offset(distance="phi / (2 * R)"), "the distance is φ/(2R)"),
        (offset(distance="R - np.sqrt(R**2 + phi)"), "the distance has the wrong sign"),
        (offset(distance="np.sqrt(R**2 + phi)"), "the distance is the one from O"),
    ],
    "test-projection-step": [
        (back("q - np.linalg.lstsq(J, phi, rcond=None)[0]"), "the plain sum of squares"),
        (back("q + W @ J.T @ np.linalg.inv(J @ W @ J.T) @ phi"), "the change has the wrong sign"),
        (back("-W @ J.T @ np.linalg.inv(J @ W @ J.T) @ phi"), "this is the change alone"),
        (back("q - W @ J.T @ np.linalg.inv(2 * J @ W @ J.T) @ phi"), "it goes half of the way"),
        (back(metric="M"), "M stands where M⁻¹ belongs"),
        (back("q - J.T @ np.linalg.inv(J @ W @ J.T) @ phi"), "Jᵀμ is taken for the change"),
        (back("q - W @ J.T @ np.linalg.solve(J @ J.T, phi)"), "μ comes from J Jᵀ"),
        (back("q - W @ J.T @ phi"), "μ is −φ"),
        (back("q - W @ J.T @ J @ W @ J.T @ phi"), "multiplies φ"),
        (
            back("q - np.append(np.zeros(k), np.linalg.solve(J[:, k:], phi))", metric="0; k = len(q) - len(J)"),
            "the first coordinates are kept",
        ),
    ],
    "test-fitting-velocity": [
        (fitting("v - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ J @ v"), "φ_t is missing"),
        (fitting("v - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ (J @ v - phi_t)"), "φ_t has the wrong sign"),
        (fitting("v - np.linalg.pinv(J) @ (J @ v + phi_t)"), "nearest in the plain sum of squares"),
        (fitting("v + W @ J.T @ np.linalg.inv(J @ W @ J.T) @ (J @ v + phi_t)"), "the change of v has the wrong sign"),
        (fitting(returned="p - v"), "v_plus is the change of v alone"),
        (fitting(gain="p @ M @ p - v @ M @ v"), "lacks the ½"),
        (fitting(gain="(v @ M @ v - p @ M @ p) / 2"), "the gain has the wrong sign"),
        (fitting(gain="(p - v) @ M @ (p - v) / 2"), "wanted is the change of the kinetic energy"),
        (fitting(gain="-(p - v) @ M @ (p - v) / 2"), "for constraints at rest only"),
        (fitting(gain="p @ M @ p / 2"), "that of before is not taken off"),
        (fitting(gain="(p @ p - v @ v) / 2"), "without M"),
    ],
}
