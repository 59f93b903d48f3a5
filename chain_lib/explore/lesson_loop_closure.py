"""Explorer of lesson 01: where a four-bar can be, and what its coupler point draws."""

from dataclasses import dataclass
from math import radians

import numpy as np

from chain_lib.draw import loop_closure as picture
from chain_lib.explore import linkage
from chain_lib.explore.controls import Slider
from chain_lib.explore.explorer import Explorer

UP = {"theta2": 60.0, "branch": "open"}


@dataclass(frozen=True, eq=False)
class Place:
    """A four-bar with some lengths at some crank angle; without points where it cannot close there.

    ``angles`` has, for each branch, the crank and rocker angles (°) that are possible; ``curves`` the places
    of the coupler point, for cranks that point down and up; ``words`` says what kind of four-bar this is, or why it is none.
    """

    lengths: dict
    theta2: float
    branch: str
    words: str
    angles: dict
    curves: dict
    q: np.ndarray
    points: dict | None = None
    other: dict | None = None
    gap: np.ndarray | None = None

    @property
    def B(self):
        """The end of the crank (m)."""
        return linkage.crank_end(self.lengths["a"], self.theta2)


def four_bar():
    """A four-bar of any lengths: both branches, the coupler curve, and what happens where it cannot close.

    Controls: lengths a, b, c, d (m), crank angle theta2 (°), branch, and the coupler point's distance rP
    (m) from B and its angle deltaP (°) from BC.
    """
    return Explorer(
        title="Where a four-bar can be",
        controls=(
            linkage.CRANK_ANGLE,
            linkage.BRANCH,
            *linkage.BARS,
            Slider("rP", "P from B", "m", 0.0, 0.4, start=0.3, step=0.01),
            Slider("deltaP", "P off BC", "°", -180.0, 180.0, start=40.0, step=1.0),
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        handles=(linkage.CRANK_END,),
        presets={
            "double crank": {**UP, "a": 0.4, "b": 0.5, "c": 0.4, "d": 0.2},
            "double rocker": {**UP, "a": 0.4, "b": 0.2, "c": 0.4, "d": 0.5},
            "triple rocker": {**UP, "a": 0.3, "b": 0.4, "c": 0.3, "d": 0.5},
            "change point": {**UP, "a": 0.2, "b": 0.4, "c": 0.3, "d": 0.5, "theta2": 170.0},
        },
        play="theta2",
    )


def _compute(*, theta2, branch, a, b, c, d, rP, deltaP):
    lengths = {"a": a, "b": b, "c": c, "d": d}
    system = linkage.four_bar().system(**lengths, rP=rP, deltaP=radians(deltaP))
    turn = linkage.turn(a, b, c, d)
    angles = {name: np.rad2deg(q[:, [0, 2]].T) % 360 for name, q in turn.items()}
    curves = {
        name: [system.points(q[side])["P"].T for side in (q[:, 0] <= 0, q[:, 0] >= 0)] for name, q in turn.items()
    }
    place = dict(
        lengths=lengths, theta2=theta2, branch=branch, words=linkage.kind(lengths), angles=angles, curves=curves
    )
    poses = linkage.branches(system, theta2)
    if poses is None:
        return Place(**place, q=np.empty(0), gap=linkage.gap(lengths, theta2))
    other = next(name for name in poses if name != branch)
    return Place(**place, q=poses[branch], points=system.points(poses[branch]), other=system.points(poses[other]))


def _text(place):
    if place.points is None:
        return linkage.cannot_close(place.lengths, place.theta2)
    theta3, theta4 = np.rad2deg(place.q[1:])
    transmission = abs(((theta3 - theta4 + 90) % 180) - 90)
    x, y = (f"{part:.3f}".replace("-", "−") for part in place.points["P"])
    words = linkage.degrees_in_words
    return (
        f"{linkage.bars(place.lengths)}: {place.words}. θ₂ = {words(place.theta2, 0)}, {place.branch}: θ₃ = {words(theta3)}, "
        f"θ₄ = {words(theta4)}. Coupler and rocker enclose {transmission:.1f}° (0°: in one line). P is at ({x}, {y}) m. "
        f"{linkage.reach(place.lengths)}"
    )
