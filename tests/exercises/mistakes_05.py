"""Problem set 05: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "05_constrained_dynamics"
POINTS = {
    "test-inertia": 4,
    "test-bias": 4,
    "test-gamma": 3,
    "test-consistent-velocity": 3,
    "test-guide-force": 2,
    "test-forces-at-a-and-b": 4,
}


def inertia(
    crank="m2 * a**2 / 3 + m3 * a**2",
    coupling="m3 * a * b / 2 * np.cos(t2 - t3)",
    rod="m3 * b**2 / 3",
    below="k",
    returned="M",
):
    return function(
        "slider_crank_inertia(q, a, b, m2, m3, m4)",
        "t2, t3, x = q",
        f"k = {coupling}",
        f"M = np.array([[{crank}, k, 0], [{below}, {rod}, 0], [0, 0, m4]])",
        f"return {returned}",
    )


def bias(
    c2="k * w3**2",
    c3="-k * w2**2",
    g2="(m2 / 2 + m3) * g * a * np.cos(t2)",
    g3="m3 * g * b / 2 * np.cos(t3)",
    slider="0",
    k="m3 * a * b / 2 * np.sin(t2 - t3)",
):
    return function(
        "slider_crank_bias(q, v, a, b, m2, m3, m4, g)",
        "(t2, t3, x), (w2, w3, xd) = q, v",
        f"k = {k}",
        f"return np.array([{c2} + {g2}, {c3} + {g3}, {slider}])",
    )


def gamma(first="-a * c2 * w2**2 - b * c3 * w3**2", second="-a * s2 * w2**2 - b * s3 * w3**2", rest="w4 = 0"):
    return function(
        "slider_crank_gamma(q, v, a, b)",
        "(t2, t3, x), (w2, w3, xd) = q, v",
        rest,
        "c2, c3, s2, s3 = np.cos(t2), np.cos(t3), np.sin(t2), np.sin(t3)",
        f"return np.array([{first}, {second}])",
    )


def fitted(returned="v - W @ J.T @ np.linalg.inv(J @ W @ J.T) @ J @ v", metric="np.linalg.inv(M)"):
    return function("consistent_velocity(M, J, v)", f"W = {metric}", f"return {returned}")


def guide(y="m4 * g + lam[1]", x="0"):
    return function("guide_force(lam, m4, g)", f"return np.array([{x}, {y}])")


def forces(
    B="m3 * (a3 + g * y) - lam",
    A="m2 * (a2 + g * y) + B",
    a2="turn(a / 2, q[0], v[0], qdd[0])",
    a3="turn(a, q[0], v[0], qdd[0]) + turn(b / 2, q[1], v[1], qdd[1])",
    turn="r * al * np.array([-s, c]) - r * w**2 * np.array([c, s])",
    returned="A, B",
):
    return function(
        "forces_at_A_and_B(q, v, qdd, lam, a, b, m2, m3, g)",
        "def turn(r, th, w, al):",
        "    c, s = np.cos(th), np.sin(th)",
        f"    return {turn}",
        "",
        f"y, a2, a3 = np.array([0, 1]), {a2}, {a3}",
        f"B = {B}",
        f"A = {A}",
        f"return {returned}",
    )


MISTAKES = {
    "test-inertia": [
        (inertia("m2 * a**2 / 12 + m3 * a**2", rod="m3 * b**2 / 12"), "both bars have m l²/12"),
        (inertia("m2 * a**2 / 4 + m3 * a**2", rod="m3 * b**2 / 4"), "both bars have m l²/4"),
        (inertia("m2 * a**2 / 12 + m3 * a**2"), "the crank has m l²/12"),
        (inertia(rod="m3 * b**2 / 12"), "the rod has m l²/12"),
        (inertia("m2 * a**2 / 12", "0", "m3 * b**2 / 12"), "it couples nothing, and each bar has m l²/12"),
        (inertia(coupling="0"), "the coupling of crank and rod is missing"),
        (inertia(coupling="m3 * a * b * np.cos(t2 - t3)"), "the coupling of crank and rod is twice too large"),
        (inertia(coupling="-m3 * a * b / 2 * np.cos(t2 - t3)"), "the coupling of crank and rod has the wrong sign"),
        (inertia(coupling="m3 * a * b / 2 * np.sin(t2 - t3)"), "has a sine where a cosine belongs"),
        (inertia(below="0"), "M is not symmetric"),
        (inertia("m2 * a**2 / 3"), "lacks the mass of the rod"),
        (inertia("(m2 / 3 + m3 + m4) * a**2"), "the entry of the crank contains the slider"),
        (
            inertia(
                crank="m2 * a**2 / 3 + m3 * (a**2 + b**2 / 3 + a * b * np.cos(t3))",
                coupling="m3 * (b**2 / 3 + a * b / 2 * np.cos(t3))",
            ),
            "it takes θ₃ for the angle between the bars",
        ),
        (inertia(returned="M / 2"), "it is half of M"),
    ],
    "test-bias": [
        (
            bias(g2="-(m2 / 2 + m3) * g * a * np.cos(t2)", g3="-m3 * g * b / 2 * np.cos(t3)"),
            "gravity has the wrong sign",
        ),
        (bias(g2="0", g3="0"), "gravity is missing"),
        (bias(k="0"), "the velocity terms are missing"),
        (bias(g2="m2 / 2 * g * a * np.cos(t2)"), "the weight of the rod is missing"),
        (bias(g2="(m2 + m3) * g * a * np.cos(t2)", g3="m3 * g * b * np.cos(t3)"), "at the ends of the bars"),
        (
            bias(g2="(m2 / 2 + m3) * g * a * np.sin(t2)", g3="m3 * g * b / 2 * np.sin(t3)"),
            "gravity has sines where cosines belong",
        ),
        (bias(slider="m4 * g"), "the weight of the slider stands in its entry"),
        (bias("k * w2**2", "-k * w3**2"), "the squares of θ̇₂ and θ̇₃ are interchanged"),
        (bias("-k * w3**2", "k * w2**2"), "the velocity terms have the wrong sign"),
        (bias(c3="k * w2**2"), "the velocity terms have the same sign"),
        (bias(k="m3 * a * b * np.sin(t2 - t3)"), "the velocity terms are twice too large"),
        (bias("-k * (w2 - w3) * w3", "-k * (w2 - w3) * w2"), "the velocity terms are Ṁ v alone"),
        (
            bias(
                k="-m3 * a * b / 2 * np.sin(t3)",
                c2="k * (2 * w2 * w3 + w3**2)",
                g2="(m2 / 2 + m3) * g * a * np.cos(t2) + m3 * g * b / 2 * np.cos(t2 + t3)",
                g3="m3 * g * b / 2 * np.cos(t2 + t3)",
            ),
            "it takes θ₃ for the angle between the bars",
        ),
    ],
    "test-gamma": [
        (gamma("0", "0"), "γ is not zero"),
        (gamma("a * c2 * w2**2 + b * c3 * w3**2", "a * s2 * w2**2 + b * s3 * w3**2"), "its sign is wrong"),
        (gamma("a * c2 * w2**2 + b * c3 * w3**2"), "its first entry has the wrong sign"),
        (gamma(second="a * s2 * w2**2 + b * s3 * w3**2"), "its second entry has the wrong sign"),
        (gamma(second="-a * s2 * w2**2 + b * s3 * w3**2"), "the rod's term has the wrong sign in the second entry"),
        (
            gamma("-a * c2 * w2**2 + b * c3 * w3**2", "-a * s2 * w2**2 + b * s3 * w3**2"),
            "the rod's term has the wrong sign in both entries",
        ),
        (gamma("-a * c2 * w2 - b * c3 * w3", "-a * s2 * w2 - b * s3 * w3"), "the velocities are not squared"),
        (gamma("-a * s2 * w2**2 - b * s3 * w3**2", "-a * c2 * w2**2 - b * c3 * w3**2"), "two entries are interchanged"),
        (gamma("-a * s2 * w2 - b * s3 * w3 - xd", "a * c2 * w2 + b * c3 * w3"), "this is φ̇ = J v"),
        (gamma(rest="t3, w3 = t2 + t3, w2 + w3"), "it takes θ₃ for the angle between the bars"),
    ],
    "test-consistent-velocity": [
        (fitted("v - np.linalg.pinv(J) @ (J @ v)"), "there is no inertia in the change"),
        (fitted("v + W @ J.T @ np.linalg.inv(J @ W @ J.T) @ J @ v"), "the change has the wrong sign"),
        (fitted("-W @ J.T @ np.linalg.inv(J @ W @ J.T) @ J @ v"), "this is the change v⁺ − v alone"),
        (fitted("v + 0"), "this is v itself"),
        (fitted(metric="M"), "M stands where M⁻¹ belongs"),
        (fitted("v - J.T @ np.linalg.inv(J @ W @ J.T) @ J @ v"), "Jᵀ p is added to the velocity"),
        (fitted("v - W @ J.T @ np.linalg.solve(J @ J.T, J @ v)"), "the impulse comes from J Jᵀ"),
        (fitted("v - W @ J.T @ (J @ v)"), "the impulse is −J v"),
        (fitted("v - W @ J.T @ J @ W @ J.T @ J @ v"), "multiplies J v"),
        (
            fitted(
                "np.append(v[:k], -np.linalg.solve(J[:, k:], J[:, :k] @ v[:k]))",
                metric="0; k = len(v) - len(J)",
            ),
            "the first velocities are kept",
        ),
    ],
    "test-guide-force": [
        (guide("m4 * g - lam[1]"), "λ₂ has the wrong sign"),
        (guide("lam[1]"), "the weight of the slider is missing"),
        (guide("lam[1] - m4 * g"), "the weight of the slider has the wrong sign"),
        (guide("m4 * g"), "λ₂ is missing"),
        (guide("-m4 * g - lam[1]"), "the force of the slider on the guide"),
        (guide("m4 * g + lam[0]"), "λ₁ stands where λ₂ belongs"),
        (guide(x="lam[0]"), "it has a share along x"),
    ],
    "test-forces-at-a-and-b": [
        (forces("m3 * a3 - lam", "m2 * a2 + B"), "the weights of the bars are missing"),
        (forces("m3 * (a3 - g * y) - lam", "m2 * (a2 - g * y) + B"), "the weights of the bars have the wrong sign"),
        (forces("m3 * (a3 + g * y) + lam"), "λ has the wrong sign"),
        (forces("-lam"), "F_B is −λ"),
        (forces(A="lam + 0"), "F_A is λ"),
        (
            forces(
                a2="turn(a, q[0], v[0], qdd[0])",
                a3="turn(a, q[0], v[0], qdd[0]) + turn(b, q[1], v[1], qdd[1])",
            ),
            "those of the ends B and C",
        ),
        (forces(a3="turn(b / 2, q[1], v[1], qdd[1])"), "lacks that of B"),
        (forces(turn="r * al * np.array([-s, c])"), "lack their centripetal terms"),
        (forces(turn="r * al * np.array([-s, c]) + r * w**2 * np.array([c, s])"), "the centripetal terms have"),
        (forces("m3 * g * y - lam", "m2 * g * y + B"), "the accelerations are missing"),
        (forces(A="m2 * (a2 + g * y) - B"), "the reaction at B has the wrong sign"),
        (forces(A="m2 * (a2 + g * y)"), "lacks the reaction at B"),
        (forces(returned="A, -B"), "F_B is the force on the crank here"),
        (forces(returned="-A, -B"), "both forces have the wrong sign"),
        (forces(returned="B, A"), "in the order F_B, F_A"),
    ],
}
