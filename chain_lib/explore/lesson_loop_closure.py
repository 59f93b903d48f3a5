"""Explorer of lesson 01: where a four-bar can be, and what its coupler point draws."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import atan2, cos, degrees, radians, sin

import numpy as np

from chain_lib import mechanisms
from chain_lib.draw import loop_closure as picture
from chain_lib.explore.controls import Choice, Handle, Slider
from chain_lib.explore.explorer import Explorer

SWEEP = np.arange(-180.0, 180.1, 2.0)
REGULAR = {"a": 0.2, "b": 0.4, "c": 0.4, "d": 0.5}


@dataclass(frozen=True, eq=False)
class Place:
    """A four-bar with some lengths at some crank angle; without points where it cannot close there.

    ``angles`` has, for each branch, the crank and rocker angles (°) that are possible; ``curve`` the
    coupler point over the crank's turn; ``words`` says what kind of four-bar this is, or why it is none.
    """

    lengths: dict
    theta2: float
    branch: str
    words: str
    angles: dict
    curve: np.ndarray
    q: np.ndarray
    points: dict | None = None
    other: dict | None = None
    gap: np.ndarray | None = None

    @property
    def B(self):
        """The end of the crank (m)."""
        return self.lengths["a"] * np.array([cos(radians(self.theta2)), sin(radians(self.theta2))])


def four_bar():
    """A four-bar of any lengths: both branches, the coupler curve, and what happens where it cannot close.

    Controls: lengths a, b, c, d (m), crank angle theta2 (°), branch, and the coupler point's distance rP
    (m) from B and its angle deltaP (°) from BC.
    """
    length = dict(unit="m", low=0.1, high=0.6, step=0.01)
    return Explorer(
        title="Where a four-bar can be",
        controls=(
            Slider("theta2", "crank θ₂", "°", -180.0, 180.0, start=60.0, step=1.0, special=(0.0,)),
            Choice("branch", "branch", {"open": "open", "crossed": "crossed"}, "open"),
            Slider("a", "crank a", **length, start=0.2),
            Slider("b", "coupler b", **length, start=0.4),
            Slider("c", "rocker c", **length, start=0.4),
            Slider("d", "ground d", **length, start=0.5),
            Slider("rP", "P from B", "m", 0.0, 0.6, start=0.3, step=0.01),
            Slider("deltaP", "P off BC", "°", -180.0, 180.0, start=40.0, step=1.0),
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        handles=(
            Handle(
                "theta2",
                "end of the crank",
                "crank",
                place=lambda values: (
                    values["a"] * np.array([cos(radians(values["theta2"])), sin(radians(values["theta2"]))])
                ),
                value=lambda x, y: degrees(atan2(y, x)),
            ),
        ),
        presets={
            "double crank": {"a": 0.4, "b": 0.5, "c": 0.4, "d": 0.2},
            "double rocker": {"a": 0.4, "b": 0.2, "c": 0.4, "d": 0.5},
            "triple rocker": {"a": 0.3, "b": 0.4, "c": 0.3, "d": 0.5, "theta2": 110.0},
            "change point": {"a": 0.2, "b": 0.4, "c": 0.3, "d": 0.5, "theta2": 170.0},
        },
        play="theta2",
    )


@cache
def _mechanism():
    return mechanisms.FourBar()


def _compute(*, theta2, branch, a, b, c, d, rP, deltaP):
    lengths = {"a": a, "b": b, "c": c, "d": d}
    system = _mechanism().system(**lengths, rP=rP, deltaP=radians(deltaP))
    angles = turn(a, b, c, d)
    poses = _branches(system, theta2)
    try:
        words = f"a {mechanisms.grashof(**lengths)}"
    except ValueError as reason:
        words = str(reason)
    over = {name: np.rad2deg(q[:, [0, 2]].T) for name, q in angles.items()}
    place = dict(lengths=lengths, theta2=theta2, branch=branch, words=words, angles=over)
    if poses is None:
        return Place(**place, curve=np.empty((2, 0)), q=np.empty(0), gap=_gap(lengths, theta2))
    curve = system.points(angles[branch])["P"].T
    other = "crossed" if branch == "open" else "open"
    return Place(
        **place, curve=curve, q=poses[branch], points=system.points(poses[branch]), other=system.points(poses[other])
    )


@lru_cache(maxsize=64)
def turn(a, b, c, d):
    """Both branches over a turn of the crank, where the loop closes: name to q, (N, 3)."""
    system = _mechanism().system(a=a, b=b, c=c, d=d)
    poses = [poses for angle in SWEEP if (poses := _branches(system, angle)) is not None]
    return {name: np.array([pose[name] for pose in poses]).reshape(-1, 3) for name in picture.BRANCHES}


def _branches(system, angle):
    """Both branches at a crank angle (°), or None where there are none."""
    try:
        return system.branches(theta2=radians(angle))
    except ValueError:
        return None


def _gap(lengths, theta2):
    """The shortest connection of the two circles on which C would have to lie: two points."""
    B = lengths["a"] * np.array([cos(radians(theta2)), sin(radians(theta2))])
    to_D = np.array([lengths["d"], 0.0]) - B
    r = np.hypot(*to_D) or 1.0
    b, c = lengths["b"], lengths["c"]
    ends = (b, r - c) if r > b + c else (b, r + c) if b > c else (-b, r - c)
    return np.array([B + end * to_D / r for end in ends])


def _text(place):
    a, b, c, d = (place.lengths[name] for name in "abcd")
    lengths = f"a = {a:.2f}, b = {b:.2f}, c = {c:.2f}, d = {d:.2f} m"
    if place.points is None:
        gap = np.hypot(*(place.gap[1] - place.gap[0]))
        if place.words.startswith("These bars"):
            return f"θ₂ = {place.theta2:g}°. {place.words} The gap is {gap:.3f} m."
        return (
            f"{lengths}, {place.words}: at θ₂ = {place.theta2:g}° the loop cannot close. Coupler and rocker miss each other "
            f"by {gap:.3f} m. The crank reaches {_range(place.lengths)}."
        )
    theta3, theta4 = np.rad2deg(place.q[1:])
    transmission = abs(((theta3 - theta4 + 90) % 180) - 90)
    P = place.points["P"]
    return (
        f"{lengths}: {place.words}. θ₂ = {place.theta2:g}°, {place.branch}: θ₃ = {theta3:.1f}°, θ₄ = {theta4:.1f}°. "
        f"Coupler and rocker enclose {transmission:.1f}°. P is at ({P[0]:.3f}, {P[1]:.3f}) m. "
        f"The crank reaches {_range(place.lengths)}."
    )


def _range(lengths):
    low, high = np.rad2deg(mechanisms.crank_range(**lengths))
    if low == 0 and high > 180 - 1e-9:
        return "every angle"
    return f"|θ₂| from {low:.1f}° to {high:.1f}°"
