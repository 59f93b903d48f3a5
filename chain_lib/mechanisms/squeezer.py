"""Andrews' squeezing mechanism: seven bodies, three loops and a spring, a common test of solvers."""

import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates
from chain_lib.mechanisms.four_bar import along

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
PLACES = {  # ground pivots A and B, and the ground end C of the spring; O is (0, 0)
    "xa": (-0.06934, "x of A"),
    "ya": (-0.00227, "y of A"),
    "xb": (-0.03635, "x of B"),
    "yb": (0.03273, "y of B"),
    "xc": (0.014, "x of C"),
    "yc": (0.072, "y of C"),
}
LENGTHS = {
    "rr": (0.007, "crank OF"),
    "ra": (0.00092, "body 1: its centre of mass from O, along OF"),
    "d": (0.028, "rod EF"),
    "da": (0.0115, "body 2: its centre of mass from F, along FE"),
    "ss": (0.035, "side BE of body 3"),
    "sa": (0.01874, "body 3: its centre of mass from B, along BE"),
    "sb": (0.01043, "body 3: its centre of mass from BE, sideways"),
    "sc": (0.018, "body 3: the end D of the spring from B, along BE"),
    "sd": (0.02, "body 3: the end D of the spring from BE, sideways"),
    "e": (0.02, "rod EG"),
    "ea": (0.01421, "body 4: its centre of mass from E, along EG"),
    "zt": (0.04, "side AG of body 5"),
    "ta": (0.02308, "body 5: its centre of mass from A, along AG"),
    "tb": (0.00916, "body 5: its centre of mass from AG, sideways"),
    "zf": (0.02, "rod EH"),
    "fa": (0.01421, "body 6: its centre of mass from E, along EH"),
    "u": (0.04, "side AH of body 7"),
    "ua": (0.01228, "body 7: its centre of mass from A, along AH"),
    "ub": (0.00449, "body 7: its centre of mass from AH, sideways"),
}


class Squeezer(Mechanism):
    """A crank OF and a rod FE move the point E, which three chains hold: B–E, A–G–E and A–H–E.

    q = (β, Θ, γ, Φ, δ, Ω, ε). Body 1 is the crank at the angle β; body 2 the rod at β + Θ; body 3 has the
    angle γ and turns about B; body 4 joins E and G at Φ + δ, body 5 has the angle δ and turns about A; body 6
    joins E and H at Ω + ε, body 7 has the angle ε and turns about A. The constraints are the three ways from
    O to E (m). A spring pulls D on body 3 towards C, the constant torque `mom` drives the crank, and there is
    no gravity. ``Squeezer.start`` is the configuration from which the test starts, at rest.

    Source: Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section VII.7,
    doi:10.1007/978-3-642-05221-7; the numbers are those of the IVP test set of the University of Bari.

    Examples
    --------
    >>> system = Squeezer().system()
    >>> print(abs(system.phi(Squeezer.start)).max() < 1e-15)
    True
    """

    start = (
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    )

    def __init__(self):
        q, v = coordinates("beta Theta gamma Phi delta Omega epsilon")
        beta, Theta, gamma, Phi, delta, Omega, epsilon = q
        given = {name: sp.Symbol(name, real=True) for name in PLACES}
        given |= {name: sp.Symbol(name, positive=True) for name in LENGTHS}
        xa, ya, xb, yb, xc, yc = (given[name] for name in PLACES)
        rr, ra, d, da, ss, sa, sb, sc, sd, e, ea, zt, ta, tb, zf, fa, u, ua, ub = (given[name] for name in LENGTHS)
        masses, inertias = sp.symbols("m1:8", nonnegative=True), sp.symbols("i1:8", nonnegative=True)
        c0, l0 = sp.symbols("c0 l0", nonnegative=True)
        mom = sp.Symbol("mom", real=True)

        A, B, C = sp.Matrix([xa, ya]), sp.Matrix([xb, yb]), sp.Matrix([xc, yc])
        F = rr * along(beta)
        E = F - d * along(beta + Theta)
        G, H = A + zt * along(delta), A - u * across(epsilon)
        D = B + sd * along(gamma) - sc * across(gamma)
        loops = {
            "B": E - (B - ss * across(gamma)),
            "G": E - (G - e * across(Phi + delta)),
            "H": E - (H + zf * along(Omega + epsilon)),
        }
        centres = (
            ra * along(beta),
            F - da * along(beta + Theta),
            B + sb * along(gamma) - sa * across(gamma),
            G - (e - ea) * across(Phi + delta),
            A + ta * along(delta) + tb * across(delta),
            H + (zf - fa) * along(Omega + epsilon),
            A - ub * along(epsilon) - ua * across(epsilon),
        )
        angles = (beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon)
        spring = sp.sqrt((D - C).dot(D - C))
        super().__init__(
            "Andrews' squeezer",
            coordinates=q,
            velocities=v,
            parameters={
                **{given[name]: (value, "m", meaning) for name, (value, meaning) in {**PLACES, **LENGTHS}.items()},
                **{masses[i]: (MASSES[i], "kg", f"mass of body {i + 1}") for i in range(7)},
                **{inertias[i]: (INERTIAS[i], "kg m^2", f"inertia of body {i + 1} about its centre") for i in range(7)},
                c0: (4530.0, "N/m", "stiffness of the spring CD"),
                l0: (0.07785, "m", "length of the spring without force"),
                mom: (0.033, "N m", "torque on the crank"),
            },
            potential_energy=c0 * (spring - l0) ** 2 / 2,
            constraints={
                f"E by {way}, {axis}": (loop[k], "m") for way, loop in loops.items() for k, axis in enumerate("xy")
            },
            forces=[mom, 0, 0, 0, 0, 0, 0],
            motors={"O": beta},
            points={"O": (0, 0), "A": A, "B": B, "C": C, "D": D, "E": E, "F": F, "G": G, "H": H},
            bodies=[(f"body {i + 1}", masses[i], centres[i], angles[i], inertias[i]) for i in range(7)],
        )


def across(angle):
    """Unit vector a quarter turn left of an angle."""
    return sp.Matrix([-sp.sin(angle), sp.cos(angle)])
