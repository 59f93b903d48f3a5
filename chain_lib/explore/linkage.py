"""What the explorers of a four-bar share: its bars as sliders, the end of its crank, a turn, and where it cannot close."""

from functools import cache, lru_cache
from math import atan2, cos, degrees, radians, sin

import numpy as np

from chain_lib import mechanisms
from chain_lib.draw.linkage import BRANCHES
from chain_lib.explore.controls import Choice, Handle, Slider

SWEEP = np.arange(-180.0, 180.1, 2.0)

CRANK_ANGLE = Slider("theta2", "crank θ₂", "°", -180.0, 180.0, start=60.0, step=1.0, special=(0.0,))
BRANCH = Choice("branch", "branch", {name: name for name in BRANCHES}, "open")
BARS = tuple(
    Slider(name, label, "m", 0.1, 0.6, start=start, step=0.01)
    for name, label, start in (
        ("a", "crank a", 0.2),
        ("b", "coupler b", 0.4),
        ("c", "rocker c", 0.4),
        ("d", "ground d", 0.5),
    )
)
CRANK_END = Handle(
    "theta2",
    "end of the crank",
    "crank",
    place=lambda values: crank_end(values["a"], values["theta2"]),
    value=lambda x, y: degrees(atan2(y, x)),
)


@cache
def four_bar():
    """The four-bar in symbols, made once."""
    return mechanisms.FourBar()


def crank_end(a, theta2):
    """B, for a crank of a length (m) at an angle (°)."""
    return a * np.array([cos(radians(theta2)), sin(radians(theta2))])


@lru_cache(maxsize=64)
def turn(a, b, c, d):
    """Both branches over a turn of the crank, where the loop closes: name to q, (N, 3)."""
    system = four_bar().system(a=a, b=b, c=c, d=d)
    poses = [poses for angle in SWEEP if (poses := branches(system, angle)) is not None]
    return {name: np.array([pose[name] for pose in poses]).reshape(-1, 3) for name in BRANCHES}


def branches(system, angle):
    """Both branches at a crank angle (°), or None where there are none."""
    try:
        return system.branches(theta2=radians(angle))
    except ValueError:
        return None


def gap(lengths, theta2):
    """The shortest connection of the two circles on which C would have to lie: two points."""
    B = crank_end(lengths["a"], theta2)
    to_D = np.array([lengths["d"], 0.0]) - B
    r = np.hypot(*to_D)
    direction = to_D / r if r > 1e-9 else np.array([1.0, 0.0])
    b, c = lengths["b"], lengths["c"]
    ends = (b, r - c) if r > b + c else (b, r + c) if b > c else (-b, r - c)
    return np.array([B + end * direction for end in ends])


def kind(lengths):
    """What kind of four-bar these bars make, or why they make none."""
    try:
        name = mechanisms.grashof(**lengths)
    except ValueError as reason:
        return str(reason)
    turned = name == "crank-rocker" and lengths["c"] < lengths["a"]
    return f"a {name}" + (", in which c turns and a rocks" if turned else "")


def bars(lengths):
    """The lengths in words."""
    return ", ".join(f"{name} = {lengths[name]:.2f}" for name in "abcd") + " m"


def cannot_close(lengths, theta2):
    """The sentences for a crank angle (°) at which the loop does not close."""
    words, miss = kind(lengths), np.hypot(*np.diff(gap(lengths, theta2), axis=0)[0])
    if words.startswith("These bars"):
        return f"θ₂ = {degrees_in_words(theta2, 0)}. {words} The gap is {miss:.3f} m."
    if miss < 1e-9:
        return (
            f"{bars(lengths)}, {words}: at θ₂ = {degrees_in_words(theta2, 0)} B lies on D, and coupler and rocker can point "
            f"anywhere together. {reach(lengths)}"
        )
    return (
        f"{bars(lengths)}, {words}: at θ₂ = {degrees_in_words(theta2, 0)} the loop cannot close. Coupler and rocker miss each other "
        f"by {miss:.3f} m. {reach(lengths)}"
    )


def degrees_in_words(angle, digits=1):
    """An angle (°) with a true minus sign, and none before zero."""
    return f"{round(float(angle), digits) + 0.0:.{digits}f}°".replace("-", "−")


def reach(lengths):
    """The crank angles that can be reached, as a sentence."""
    low, high = np.rad2deg(mechanisms.crank_range(**lengths))
    if low == 0 and high > 180 - 1e-9:
        return "The crank reaches every angle."
    return f"The crank reaches |θ₂| from {low:.1f}° to {high:.1f}°."
