"""A parallelogram with a fifth bar: the count says that it cannot move, and it moves."""

import numpy as np
import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates
from chain_lib.mechanisms.four_bar import (
    I2,
    I3,
    I4,
    a,
    along,
    b,
    bar,
    delta2,
    delta3,
    delta4,
    g,
    m2,
    m3,
    m4,
    s2,
    s3,
    s4,
)

m5, I5 = sp.symbols("m5 I5", nonnegative=True)
s5, delta5 = sp.symbols("s5 delta5", real=True)
e = sp.Symbol("e", positive=True)


class Parallelogram(Mechanism):
    """Three parallel bars AB, EF and DC of length a between the ground AD and the coupler BC, both b long.

    q = (θ₂, θ₃, θ₄, θ₅): absolute angles of AB, BC, DC and EF, with E and F at the distance e from A and
    B. Two loops give four constraints for four coordinates, and one of them depends on the others: the
    constraint Jacobian has rank 3, the mechanism moves, and λ is not unique.
    """

    def __init__(self):
        (theta2, theta3, theta4, theta5), v = coordinates("theta2 theta3 theta4 theta5")
        B = a * along(theta2)
        C, F = B + b * along(theta3), B + e * along(theta3)
        D, E = sp.Matrix([b, 0]), sp.Matrix([e, 0])
        outer, inner = C - D - a * along(theta4), F - E - a * along(theta5)
        super().__init__(
            "parallelogram with a fifth bar",
            coordinates=(theta2, theta3, theta4, theta5),
            velocities=v,
            parameters={
                a: (0.3, "m", "length of the bars AB, DC and EF"),
                b: (0.5, "m", "length of the coupler BC and of the ground AD"),
                e: (0.2, "m", "distance AE and BF"),
                **bar("crank", a, m2, s2, delta2, I2),
                **bar("coupler", b, m3, s3, delta3, I3),
                **bar("rocker", a, m4, s4, delta4, I4),
                **bar("fifth bar", a, m5, s5, delta5, I5),
                g: (9.81, "m/s^2", "gravity"),
            },
            constraints={
                "outer loop, x": (outer[0], "m"),
                "outer loop, y": (outer[1], "m"),
                "inner loop, x": (inner[0], "m"),
                "inner loop, y": (inner[1], "m"),
            },
            motors={"A": theta2, "D": theta4, "E": theta5},
            points={"A": (0, 0), "B": B, "C": C, "D": D, "E": E, "F": F},
            bodies=[
                ("crank", m2, s2 * along(theta2 + delta2), theta2, I2),
                ("coupler", m3, B + s3 * along(theta3 + delta3), theta3, I3),
                ("rocker", m4, D + s4 * along(theta4 + delta4), theta4, I4),
                ("fifth bar", m5, E + s5 * along(theta5 + delta5), theta5, I5),
            ],
            joints=[
                ("A", "crank", "ground"),
                ("B", "coupler", "crank"),
                ("C", "coupler", "rocker"),
                ("D", "rocker", "ground"),
                ("E", "fifth bar", "ground"),
                ("F", "coupler", "fifth bar"),
            ],
            branches=_branches,
        )


def _branches(p, held):
    if set(held) != {"theta2"}:
        raise ValueError(
            f"The parallelogram has a closed form with theta2 held, not with {', '.join(held) or 'nothing'}; "
            "hold theta2, or give start=q for an iteration."
        )
    return {"parallel": np.array([held["theta2"], 0.0, held["theta2"], held["theta2"]])}
