"""The slider-crank: a planar loop that turns rotation into translation."""

import math

import numpy as np
import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates
from chain_lib.mechanisms.four_bar import I2, I3, a, along, b, bar, delta2, delta3, g, m2, m3, m4, s2, s3

e = sp.Symbol("e", real=True)


class SliderCrank(Mechanism):
    """Crank AB = a and rod BC = b, and a slider at C on the line y = e, with A = (0, 0).

    q = (θ₂, θ₃, x): absolute angles of crank and rod, and the slider's place x; φ = A→B→C minus (x, e)
    (m), so that λ is the force at C on the rod (N). Crank and rod have mass, centre of mass and inertia
    as the bars of the four-bar; the slider has a mass and does not turn.
    """

    def __init__(self):
        (theta2, theta3, x), v = coordinates("theta2 theta3 x")
        B = a * along(theta2)
        C = B + b * along(theta3)
        super().__init__(
            "slider-crank",
            coordinates=(theta2, theta3, x),
            velocities=v,
            parameters={
                a: (0.2, "m", "length of the crank AB"),
                b: (0.5, "m", "length of the rod BC"),
                e: (0.0, "m", "height of the slider's line above A"),
                **bar("crank", a, m2, s2, delta2, I2),
                **bar("rod", b, m3, s3, delta3, I3),
                m4: (1.0, "kg", "mass of the slider"),
                g: (9.81, "m/s^2", "gravity"),
            },
            constraints={"loop, x": (C[0] - x, "m"), "loop, y": (C[1] - e, "m")},
            motors={"A": theta2, "B": theta3 - theta2, "slide": x},
            points={"A": (0, 0), "B": B, "C": C, "slide": (x, e)},
            bodies=[
                ("crank", m2, s2 * along(theta2 + delta2), theta2, I2),
                ("rod", m3, B + s3 * along(theta3 + delta3), theta3, I3),
                ("slider", m4, (x, e), 0, 0),
            ],
            joints=[
                ("A", "crank", "ground"),
                ("B", "rod", "crank"),
                ("C", "rod", "slider"),
                ("slide", "slider", "ground", (1, 0)),
            ],
            branches=_branches,
        )


def _branches(p, held):
    """The circle of radius b about B meets the slider's line in two points, one branch each."""
    if set(held) != {"theta2"}:
        raise ValueError(
            f"The slider-crank has a closed form with theta2 held, not with {', '.join(held) or 'nothing'}; "
            "hold theta2, or give start=q for an iteration."
        )
    theta2 = held["theta2"]
    B = p["a"] * np.array([math.cos(theta2), math.sin(theta2)])
    rise = p["e"] - B[1]
    if abs(rise) > p["b"]:
        raise ValueError(
            f"theta2 = {np.rad2deg(theta2):g}° cannot be reached: B is {abs(rise):.3g} m from the slider's line, "
            f"and the rod is b = {p['b']:g} m long."
        )
    reach = math.sqrt(p["b"] ** 2 - rise**2)
    return {
        name: np.array([theta2, math.atan2(rise, side * reach), B[0] + side * reach])
        for name, side in (("right", 1.0), ("left", -1.0))
    }
