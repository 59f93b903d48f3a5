"""The four-bar linkage: one planar loop of crank, coupler, rocker and ground."""

import math

import numpy as np
import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates

a, b, c, d = sp.symbols("a b c d", positive=True)
m2, m3, m4, I2, I3, I4, g = sp.symbols("m2 m3 m4 I2 I3 I4 g", nonnegative=True)
s2, s3, s4, delta2, delta3, delta4, rP, deltaP = sp.symbols("s2 s3 s4 delta2 delta3 delta4 rP deltaP", real=True)

TOLERANCE = 1e-9  # lengths that differ by less than this part of their sum count as equal


class FourBar(Mechanism):
    """Crank AB = a, coupler BC = b and rocker DC = c, with A = (0, 0) and D = (d, 0) on the ground.

    q = (θ₂, θ₃, θ₄) are absolute angles; φ = A→B→C minus A→D→C (m), so that λ is the force at C on the
    coupler (N). Cutting the loop at C leaves a tree: the arm A–B–C, and the rocker at D. Each bar has a
    mass m, a centre of mass at the distance s from A, B or D, turned from the bar by δ, and an inertia I
    about it; by default it is a uniform rod. P is a point of the coupler at the distance rP from B, turned
    from BC by deltaP. Motors can sit on every joint; those at B and C turn differences of angles.
    """

    def __init__(self):
        (theta2, theta3, theta4), v = coordinates("theta2 theta3 theta4")
        B = a * along(theta2)
        D = sp.Matrix([d, 0])
        C = B + b * along(theta3)
        super().__init__(
            "four-bar",
            coordinates=(theta2, theta3, theta4),
            velocities=v,
            parameters={
                a: (0.2, "m", "length of the crank AB"),
                b: (0.4, "m", "length of the coupler BC"),
                c: (0.4, "m", "length of the rocker DC"),
                d: (0.5, "m", "length of the ground AD"),
                **bar("crank", a, m2, s2, delta2, I2),
                **bar("coupler", b, m3, s3, delta3, I3),
                **bar("rocker", c, m4, s4, delta4, I4),
                rP: (b / 2, "m", "distance of the coupler point P from B"),
                deltaP: (0.0, "rad", "angle from BC to BP"),
                g: (9.81, "m/s^2", "gravity"),
            },
            constraints={
                "loop, x": ((C - D - c * along(theta4))[0], "m"),
                "loop, y": ((C - D - c * along(theta4))[1], "m"),
            },
            motors={"A": theta2, "B": theta3 - theta2, "C": theta4 - theta3, "D": theta4},
            points={"A": (0, 0), "B": B, "C": C, "D": D, "P": B + rP * along(theta3 + deltaP)},
            bodies=[
                ("crank", m2, s2 * along(theta2 + delta2), theta2, I2),
                ("coupler", m3, B + s3 * along(theta3 + delta3), theta3, I3),
                ("rocker", m4, D + s4 * along(theta4 + delta4), theta4, I4),
            ],
            joints=[
                ("A", "crank", "ground"),
                ("B", "coupler", "crank"),
                ("C", "coupler", "rocker"),
                ("D", "rocker", "ground"),
            ],
            branches=_branches,
        )


def along(angle):
    """Unit vector at an angle from the x-axis."""
    return sp.Matrix([sp.cos(angle), sp.sin(angle)])


def bar(name, length, m, s, delta, inertia):
    """Parameters of one bar: mass, centre of mass and inertia, by default those of a uniform rod."""
    return {
        m: (1.0, "kg", f"mass of the {name}"),
        s: (length / 2, "m", f"distance of the {name}'s centre of mass from its first joint"),
        delta: (0.0, "rad", f"angle from the {name} to its centre of mass"),
        inertia: (m * length**2 / 12, "kg m^2", f"inertia of the {name} about its centre of mass"),
    }


def grashof(a, b, c, d):
    """Which bars of a four-bar can turn fully: its class after Grashof.

    With s the shortest and l the longest bar and the other two p and q, a bar turns fully against its
    neighbours only if s + l ≤ p + q, and it is the shortest one. The class says what crank and rocker
    do against the ground.

    Parameters
    ----------
    a, b, c, d : float
        Crank, coupler, rocker and ground (m).

    Returns
    -------
    str
        ``"crank-rocker"`` (the shortest bar is a or c, and it turns fully), ``"double crank"`` (the
        shortest is the ground), ``"double rocker"`` (it is the coupler), ``"triple rocker"`` (no bar
        turns fully) or ``"change point"``: s + l = p + q within 1e-9 of the sum of all lengths, so that
        all bars can lie in one line.

    Raises ValueError where the bars cannot close at all.

    Source: Grashof, Theoretische Maschinenlehre II (1883), § 20; McCarthy and Soh, Geometric Design of
    Linkages, 2nd ed. (2011), section 2.3, doi:10.1007/978-1-4419-7892-9.

    Examples
    --------
    >>> grashof(0.2, 0.4, 0.4, 0.5)
    'crank-rocker'
    >>> grashof(0.2, 0.4, 0.3, 0.5)
    'change point'
    """
    _refuse_open(a, b, c, d)
    shortest, p, q, longest = sorted((a, b, c, d))
    excess = shortest + longest - p - q
    if abs(excess) <= TOLERANCE * (a + b + c + d):
        return "change point"
    if excess > 0:
        return "triple rocker"
    return {d: "double crank", b: "double rocker"}.get(shortest, "crank-rocker")


def crank_range(a, b, c, d):
    """Crank angles that can be reached: smallest and largest |θ₂| (rad).

    B can be where its distance from D lies between |b − c| and b + c. By the law of cosines that is a
    range of |θ₂|: (0, π) is a full turn; otherwise the crank swings within (−max, max), or, where the
    smallest is not zero, on either side of the ground line.

    Raises ValueError where the bars cannot close at all.

    Examples
    --------
    >>> print(np.rad2deg(crank_range(0.3, 0.4, 0.3, 0.5)).round(1))
    [  0. 120.]
    """
    _refuse_open(a, b, c, d)

    def angle(distance):
        return math.acos(min(1.0, max(-1.0, (a**2 + d**2 - distance**2) / (2 * a * d))))

    nearest, farthest = abs(b - c), b + c
    slack = TOLERANCE * (a + b + c + d)
    smallest = 0.0 if nearest <= abs(a - d) + slack else angle(nearest)
    largest = math.pi if farthest >= a + d - slack else angle(farthest)
    return smallest, largest


def _refuse_open(a, b, c, d):
    lengths = {"a": a, "b": b, "c": c, "d": d}
    for name, length in lengths.items():
        if not (np.isscalar(length) and np.isreal(length) and np.isfinite(length) and length > 0):
            raise ValueError(f"{name} = {length!r} is not possible; the length of a bar is a number of metres above 0.")
    longest = max(lengths, key=lengths.get)
    others = [name for name in lengths if name != longest]
    rest = sum(lengths[name] for name in others)
    if lengths[longest] > rest * (1 + TOLERANCE):
        raise ValueError(
            f"These bars cannot close: {longest} ≤ {' + '.join(others)} fails, since {longest} = {lengths[longest]:g} m "
            f"and {' + '.join(others)} = {rest:g} m. Shorten {longest}, or lengthen another bar."
        )


def _branches(p, held):
    """The circle of radius b about B meets the circle of radius c about D in C: two points, one branch each."""
    if set(held) != {"theta2"}:
        raise ValueError(
            f"The four-bar has a closed form with theta2 held, not with {', '.join(held) or 'nothing'}; "
            "hold theta2, or give start=q for an iteration."
        )
    a, b, c, d = (p[name] for name in "abcd")
    theta2 = held["theta2"]
    smallest, largest = crank_range(a, b, c, d)
    crank = abs(math.remainder(theta2, 2 * math.pi))
    if not smallest - 1e-9 <= crank <= largest + 1e-9:
        raise ValueError(
            f"theta2 = {np.rad2deg(theta2):g}° cannot be reached: with a = {a:g}, b = {b:g}, c = {c:g}, d = {d:g} m "
            f"the crank moves {_range_in_words(smallest, largest)}."
        )
    B = a * np.array([math.cos(theta2), math.sin(theta2)])
    to_D = np.array([d, 0.0]) - B
    r = math.hypot(*to_D)
    if r <= TOLERANCE * (a + b + c + d):
        raise ValueError("B lies on D, so that coupler and rocker can point anywhere together; choose another theta2.")
    foot = (r**2 + b**2 - c**2) / (2 * r)
    height = math.sqrt(max(b**2 - foot**2, 0.0))
    forward, left = to_D / r, np.array([-to_D[1], to_D[0]]) / r
    poses = {}
    for name, side in (("open", 1.0), ("crossed", -1.0)):
        BC = foot * forward + side * height * left
        DC = BC - to_D
        poses[name] = np.array([theta2, math.atan2(BC[1], BC[0]), math.atan2(DC[1], DC[0])])
    return poses


def _range_in_words(smallest, largest):
    low, high = np.rad2deg([smallest, largest])
    if smallest == 0:
        return f"between −{high:.1f}° and {high:.1f}°"
    if largest == math.pi:
        return f"from {low:.1f}° over 180° to {360 - low:.1f}°"
    return f"from {low:.1f}° to {high:.1f}°, or from −{high:.1f}° to −{low:.1f}°"
