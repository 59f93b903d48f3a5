"""Problem set 07: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "07_drift"
POINTS = {
    "test-parabola-jacobian": 2,
    "test-parabola-gamma": 3,
    "test-kkt": 5,
    "test-baumgarte": 4,
    "test-driven-gamma": 3,
    "test-energy-balance": 3,
}

JACOBIAN, GAMMA, KKT = "parabola_jacobian(q, k)", "parabola_gamma(q, v, k)", "kkt(M, h, J, gamma, tau)"
BAUMGARTE = "baumgarte_right_side(phi, phi_t, J, v, gamma, alpha, beta)"
DRIVEN = "driven_gamma(q, v, t, k, r, omega)"
BALANCE = "energy_balance(t, E, v, tau, lam, phi_t)"


def kkt(matrix="[[M, -J.T], [J, Z]]", right="tau - h, -gamma"):
    return function(
        KKT,
        "n = len(M)",
        "Z = np.zeros((len(J), len(J)))",
        f"x = np.linalg.solve(np.block({matrix}), np.concatenate([{right}]))",
        "return x[:n], x[n:]",
    )


def baumgarte(returned):
    return function(BAUMGARTE, f"return {returned}")


def driven(returned):
    return function(
        DRIVEN,
        "s, sd, sdd = r * np.sin(omega * t), r * omega * np.cos(omega * t), -r * omega**2 * np.sin(omega * t)",
        "u, xd = q[0] - s, v[0]",
        f"return np.array([{returned}])",
    )


def balance(returned, power="np.einsum('ij,ij->i', tau, v) - np.einsum('ij,ij->i', lam, phi_t)"):
    return function(
        BALANCE,
        f"P = {power}",
        "W = np.zeros(len(t))",
        "for i in range(1, len(t)):",
        "    W[i] = W[i - 1] + (t[i] - t[i - 1]) * (P[i] + P[i - 1]) / 2",
        f"return {returned}",
    )


MISTAKES = {
    "test-parabola-jacobian": [
        (function(JACOBIAN, "return np.array([[2 * k * q[0], -1]])"), "the Jacobian of k x² − y"),
        (function(JACOBIAN, "return np.array([[2 * k * q[0], 1]])"), "x has the wrong sign"),
        (function(JACOBIAN, "return np.array([[-k * q[0], 1]])"), "lacks the factor 2"),
        (function(JACOBIAN, "return np.array([[-2 * k, 1]])"), "does not contain x"),
        (function(JACOBIAN, "return np.array([[1, -2 * k * q[0]]])"), "in the order y, x"),
    ],
    "test-parabola-gamma": [
        (function(GAMMA, "return np.zeros(1)"), "γ is not zero"),
        (function(GAMMA, "return np.array([2 * k * v[0] ** 2])"), "its sign is wrong"),
        (function(GAMMA, "return np.array([-k * v[0] ** 2])"), "a factor 2 is missing"),
        (function(GAMMA, "return np.array([-4 * k * v[0] ** 2])"), "twice too large"),
        (function(GAMMA, "return np.array([v[1] - 2 * k * q[0] * v[0]])"), "this is φ̇ = J v"),
        (function(GAMMA, "return np.array([-2 * k * q[0] ** 2])"), "uses the coordinates"),
    ],
    "test-kkt": [
        (kkt(matrix="[[M, J.T], [J, Z]]"), "λ has the wrong sign"),
        (kkt(right="tau - h, np.zeros(len(J))"), "γ is missing"),
        (kkt(right="tau - h, gamma"), "γ has the wrong sign"),
        (kkt(right="tau + h, -gamma"), "h has the wrong sign"),
        (kkt(right="tau, -gamma"), "h is missing"),
        (kkt(right="-h, -gamma"), "τ is missing"),
    ],
    "test-baumgarte": [
        (baumgarte("-gamma - alpha * (J @ v + phi_t) - beta**2 * phi"), "α stands where 2α belongs"),
        (baumgarte("-gamma - 2 * alpha * (J @ v + phi_t) - beta * phi"), "β stands where β² belongs"),
        (baumgarte("-gamma - 2 * beta * (J @ v + phi_t) - alpha**2 * phi"), "are interchanged"),
        (baumgarte("-gamma + 2 * alpha * (J @ v + phi_t) + beta**2 * phi"), "the feedback has the wrong sign"),
        (baumgarte("-gamma - 2 * alpha * (J @ v) - beta**2 * phi"), "φ_t is missing"),
        (baumgarte("-gamma - 2 * alpha * (J @ v - phi_t) - beta**2 * phi"), "φ_t has the wrong sign"),
        (baumgarte("-2 * alpha * (J @ v + phi_t) - beta**2 * phi"), "γ is missing"),
        (baumgarte("gamma - 2 * alpha * (J @ v + phi_t) - beta**2 * phi"), "γ has the wrong sign"),
    ],
    "test-driven-gamma": [
        (driven("-2 * k * xd**2 - 2 * k * sd**2 + 2 * k * u * sdd"), "2 φ_qt v is missing"),
        (driven("-2 * k * xd**2 + 2 * k * sd * xd - 2 * k * sd**2 + 2 * k * u * sdd"), "is there once"),
        (driven("-2 * k * (xd + sd) ** 2 + 2 * k * u * sdd"), "the mixed term has the wrong sign"),
        (driven("-2 * k * xd**2 + 4 * k * sd * xd"), "φ_tt is missing"),
        (driven("-2 * k * (xd - sd) ** 2"), "φ_tt lacks the acceleration"),
        (driven("-2 * k * (xd - sd) ** 2 - 2 * k * u * sdd"), "the acceleration of the wire has the wrong sign"),
        (driven("-2 * k * xd**2"), "γ of a wire at rest"),
        (driven("2 * k * (xd - sd) ** 2 - 2 * k * u * sdd"), "its sign is wrong"),
    ],
    "test-energy-balance": [
        (balance("E - E[0] - W", power="(tau * v).sum(axis=1) + (lam * phi_t).sum(axis=1)"), "wire has the wrong sign"),
        (balance("E - E[0] - W", power="(tau * v).sum(axis=1)"), "the work of the moving wire is missing"),
        (balance("E - E[0] - W", power="-(lam * phi_t).sum(axis=1)"), "the work of the applied force is missing"),
        (balance("E - W"), "the energy at the start is not taken off"),
        (balance("E - E[0] + W"), "the work has the wrong sign as a whole"),
        (balance("W - (E - E[0])"), "the whole balance has the wrong sign"),
        (balance("E - E[0] - W[-1]"), "the work of the whole run"),
    ],
}
