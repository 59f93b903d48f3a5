"""Problem set 06: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "06_reduced_coordinates"
POINTS = {
    "test-partitioned-basis": 4,
    "test-velocity-part": 3,
    "test-reduced-inertia": 4,
    "test-reduced-motion": 4,
    "test-recovered-multipliers": 2,
    "test-farthest-from-singular": 3,
}

BASIS = "partitioned_basis(J, independent)"
VELOCITY_PART = "velocity_part(J, gamma, independent)"
INERTIA = "reduced_inertia(M, h, S, Sdot_v_r)"
MOTION = "reduced_motion(M_r, h_r, S, Sdot_v_r, tau)"
MULTIPLIERS = "recovered_multipliers(M, h, J, tau, a)"
BEST = "farthest_from_singular(J)"

PARTS = [
    "n = J.shape[1]",
    "passive = [i for i in range(n) if i not in independent]",
    "J_p, J_r = J[:, passive], J[:, independent]",
]
FIRST = "independent = np.arange(len(independent))"


def basis(S_p="-np.linalg.inv(J_p) @ J_r", before=(), after=()):
    return function(
        BASIS,
        *before,
        *PARTS,
        "S = np.zeros((n, len(independent)))",
        "S[independent], S[passive] = np.eye(len(independent)), " + S_p,
        *after,
        "return S",
    )


def stacked(*parts):
    return function(
        BASIS,
        *PARTS,
        "one, S_p = np.eye(len(independent)), -np.linalg.inv(J_p) @ J_r",
        f"return np.vstack([{', '.join(parts)}])",
    )


def velocity_part(returned, *before):
    return function(VELOCITY_PART, *before, *PARTS, "c = np.zeros(n)", *returned)


def inertia(h_r="S.T @ (h + M @ Sdot_v_r)", M_r="S.T @ M @ S"):
    return function(INERTIA, f"return {M_r}, {h_r}")


def motion(tau_r="S.T @ tau", right="tau_r - h_r", a="S @ a_r + Sdot_v_r"):
    return function(MOTION, f"tau_r = {tau_r}", f"a_r = np.linalg.inv(M_r) @ ({right})", f"return tau_r, a_r, {a}")


def multipliers(force, solved="np.linalg.lstsq(J.T, force)[0]"):
    return function(MULTIPLIERS, f"force = {force}", f"return {solved}")


def best(measure, choice="argmax"):
    return function(
        BEST,
        "best = []",
        "for one in J:",
        "    numbers = []",
        "    for i in range(one.shape[1]):",
        "        J_p = np.delete(one, i, axis=1)",
        "        sigma = np.linalg.svd(J_p)[1]",
        f"        numbers.append({measure})",
        f"    best.append(np.{choice}(numbers))",
        "return best",
    )


# Each as a student would write it, with a piece of the sentence that names it.
MISTAKES = {
    "test-partitioned-basis": [
        (basis("np.linalg.inv(J_p) @ J_r"), "the passive rows have the wrong sign"),
        (basis("-J_p @ J_r"), "J_p stands where its inverse belongs"),
        (stacked("one", "S_p"), "the rows of the independent coordinates stand first"),
        (stacked("S_p", "one"), "the rows of the passive coordinates stand first"),
        (basis(before=[FIRST]), "it takes the first coordinates"),
        (function(BASIS, "_, _, Vt = np.linalg.svd(J)", "return Vt[J.shape[0]:].T"), "the orthonormal basis"),
        (basis(after=["S = S / np.sqrt((S**2).sum(axis=0))"]), "scaled to the length 1"),
    ],
    "test-velocity-part": [
        (velocity_part(["return c"]), "it is not zero"),
        (velocity_part(["c[passive] = np.linalg.inv(J_p) @ gamma", "return c"]), "its sign is wrong"),
        (function(VELOCITY_PART, "return np.linalg.lstsq(J, -gamma)[0]"), "the shortest vector"),
        (velocity_part(["c[passive] = -gamma", "return c"]), "−γ itself stands in the passive rows"),
        (
            velocity_part(["return np.concatenate([0.0 * independent, -np.linalg.inv(J_p) @ gamma])"]),
            "the entries of the independent coordinates stand first",
        ),
        (
            velocity_part(["return np.concatenate([-np.linalg.inv(J_p) @ gamma, 0.0 * independent])"]),
            "the entries of the passive coordinates stand first",
        ),
        (
            velocity_part(["c[passive] = -np.linalg.inv(J_p) @ gamma", "return c"], FIRST),
            "it takes the first coordinates",
        ),
    ],
    "test-reduced-inertia": [
        (inertia("S.T @ (h - M @ Sdot_v_r)"), "the term with Ṡ q̇_r has the wrong sign"),
        (inertia("S.T @ h"), "the term with Ṡ q̇_r is missing"),
        (inertia("S.T @ M @ Sdot_v_r"), "h is missing in h_r"),
        (inertia("S.T @ (M @ Sdot_v_r - h)"), "h has the wrong sign in h_r"),
        (inertia("S.T @ (h + Sdot_v_r)"), "it must be multiplied by M"),
        (inertia(M_r="S.T @ S"), "M is missing in M_r"),
        (inertia("np.linalg.pinv(S) @ (h + M @ Sdot_v_r)", "np.linalg.pinv(S) @ M @ S"), "the pseudo-inverse of S"),
    ],
    "test-reduced-motion": [
        (motion("tau[:len(M_r)]"), "only the entries of τ at the motors"),
        (motion(a="S @ a_r"), "the part Ṡ q̇_r is missing"),
        (motion(a="S @ a_r - Sdot_v_r"), "the part Ṡ q̇_r has the wrong sign"),
        (motion(right="tau_r"), "h_r is missing"),
        (motion(right="tau_r + h_r"), "h_r has the wrong sign"),
        (motion(right="-h_r"), "τ_r is missing"),
        (motion("np.linalg.pinv(S) @ tau"), "with the pseudo-inverse of S"),
    ],
    "test-recovered-multipliers": [
        (multipliers("tau - h - M @ a"), "λ has the wrong sign"),
        (multipliers("M @ a - tau"), "h is missing"),
        (multipliers("M @ a - h - tau"), "h has the wrong sign"),
        (multipliers("M @ a + h"), "τ is missing"),
        (multipliers("M @ a + h + tau"), "τ has the wrong sign"),
        (multipliers("h - tau"), "M q̈ is missing"),
        (multipliers("M @ a + h - tau", "J @ force"), "this is J times the force"),
    ],
    "test-farthest-from-singular": [
        (function(BEST, "return np.zeros(len(J), dtype=int)"), "it is coordinate 0 in every state"),
        (best("sigma[-1]").replace("return best", "return [best[0]] * len(J)"), "the coordinate of the first state"),
        (best("sigma[-1]", "argmin"), "the worst choice"),
        (best("sigma[0]"), "the largest σ_max"),
        (best("np.linalg.cond(J_p)", "argmin"), "the smallest condition number"),
        (best("abs(np.linalg.det(J_p))"), "the largest |det J_p|"),
        (best("np.linalg.det(J_p)"), "with its sign"),
        (
            function(BEST, "from scipy.linalg import qr", "return [int(qr(one, pivoting=True)[2][-1]) for one in J]"),
            "QR factorization with column pivoting",
        ),
        (function(BEST, "return np.argmax((J**2).sum(axis=1), axis=1)"), "the longest column"),
    ],
}
