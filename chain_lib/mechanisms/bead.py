"""A bead on a circular wire: the smallest constrained mechanism, with the wire fixed or moving."""

import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates, t

m, R = sp.symbols("m R", positive=True)
g, r = sp.symbols("g r", nonnegative=True)
omega = sp.Symbol("omega", real=True)
mu = sp.Symbol("mu", positive=True)


class BeadOnCircle(Mechanism):
    """A bead on a circular wire in a vertical plane: q = (x, y), y up, φ = x² + y² − R² (m²).

    J = (2x, 2y) is twice the bead's position, so λ is in N/m and +Jᵀλ points outward for λ > 0.
    """

    def __init__(self):
        (x, y), v = coordinates("x y")
        super().__init__(
            "bead on a circle", **_bead(x, y, v), constraints={"on the circle": (x**2 + y**2 - R**2, "m^2")}
        )


class BeadOnMovingCircle(Mechanism):
    """A bead on a wire that is driven to and fro: φ = (x − r sin ωt)² + y² − R² (m²)."""

    def __init__(self):
        (x, y), v = coordinates("x y")
        centre = (r * sp.sin(omega * t), sp.Integer(0))
        super().__init__(
            "bead on a moving circle",
            **_bead(x, y, v, centre),
            constraints={"on the circle": ((x - centre[0]) ** 2 + y**2 - R**2, "m^2")},
        )


class BeadWithFlywheel(Mechanism):
    """A bead on a circular wire whose motion along y also turns a flywheel: M = diag(m, μ).

    The flywheel adds inertia along y and no weight; the weight is m g.
    """

    def __init__(self):
        (x, y), v = coordinates("x y")
        super().__init__(
            "bead with a flywheel",
            coordinates=(x, y),
            velocities=v,
            parameters={
                m: (1.0, "kg", "mass of the bead"),
                mu: (5.0, "kg", "inertia along y, of bead and flywheel"),
                R: (1.0, "m", "radius"),
                g: (9.81, "m/s^2", "gravity"),
            },
            kinetic_energy=(m * v[0] ** 2 + mu * v[1] ** 2) / 2,
            potential_energy=m * g * y,
            constraints={"on the circle": (x**2 + y**2 - R**2, "m^2")},
            points={"bead": (x, y)},
        )


def _bead(x, y, v, centre=None):
    """What the two have in common; the driven wire adds its amplitude and frequency."""
    drive = {r: (0.3, "m", "amplitude of the wire"), omega: (4.0, "1/s", "angular frequency of the wire")}
    return dict(
        coordinates=(x, y),
        velocities=v,
        parameters={
            m: (1.0, "kg", "mass"),
            R: (1.0, "m", "radius"),
            g: (9.81, "m/s^2", "gravity"),
            **(drive if centre else {}),
        },
        kinetic_energy=m * (v[0] ** 2 + v[1] ** 2) / 2,
        potential_energy=m * g * y,
        points={"bead": (x, y), **({"centre": centre} if centre else {})},
    )
