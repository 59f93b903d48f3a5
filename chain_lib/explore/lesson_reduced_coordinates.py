"""Explorer of lesson 06: which coordinate of a four-bar can be the independent one, and where."""

from dataclasses import dataclass
from functools import lru_cache
from math import degrees, pi, radians

import numpy as np

from chain_lib import mechanisms
from chain_lib.draw import reduced_coordinates as picture
from chain_lib.explore import linkage
from chain_lib.explore.controls import Choice as Options
from chain_lib.explore.explorer import Explorer

NEAR = radians(12)  # two bars count as almost parallel within this angle
SAMPLES = 91  # of a range of crank angles; closer together towards its ends
IN_LINE = {
    "theta2": "coupler and rocker are almost in one line, and the crank turns back",
    "theta3": "crank and rocker are almost parallel, and the coupler turns back",
    "theta4": "crank and coupler are almost in one line, and the rocker turns back",
}
SIGNS = {name: sign for name, sign, *_ in picture.CHOICES}


@dataclass(frozen=True, eq=False)
class Choice:
    """A four-bar at some crank angle, with one coordinate as the independent one.

    ``over_turn`` has, for each coordinate, curves (crank angle in °, condition number of J_p) over the
    crank's range; ``condition`` the condition numbers here, ``inertia`` the reduced inertia (kg m²), and
    ``near`` whether this is nearly a dead centre of the independent coordinate. Without points where the
    loop cannot close.
    """

    lengths: dict
    theta2: float
    branch: str
    independent: str
    over_turn: dict
    q: np.ndarray
    points: dict | None = None
    gap: np.ndarray | None = None
    condition: dict | None = None
    inertia: float = np.inf
    near: bool = False
    singular: bool = False

    @property
    def B(self):
        """The end of the crank (m)."""
        return linkage.crank_end(self.lengths["a"], self.theta2)


def dead_centres():
    """A four-bar of any lengths: how far each choice of the independent coordinate is from a dead centre.

    Controls: lengths a, b, c, d (m), crank angle theta2 (°), branch, and the independent coordinate.
    """
    return Explorer(
        title="Which coordinate can be independent",
        controls=(
            linkage.CRANK_ANGLE,
            linkage.BRANCH,
            Options("independent", "independent", {sign: name for name, sign in SIGNS.items()}, "theta2"),
            *linkage.BARS,
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        handles=(linkage.CRANK_END,),
        presets={
            "triple rocker": {"a": 0.3, "b": 0.4, "c": 0.3, "d": 0.5, "theta2": 119.0},
            "change point": {"a": 0.2, "b": 0.4, "c": 0.3, "d": 0.5, "theta2": 179.0},
            "double crank": {"a": 0.4, "b": 0.5, "c": 0.4, "d": 0.2, "theta2": 60.0},
        },
        play="theta2",
    )


def _compute(*, theta2, branch, independent, a, b, c, d):
    lengths = {"a": a, "b": b, "c": c, "d": d}
    system = linkage.four_bar().system(**lengths)
    poses = linkage.branches(system, theta2)
    place = {"lengths": lengths, "theta2": theta2, "branch": branch, "independent": independent}
    place["over_turn"] = over_turn(a, b, c, d, branch)
    if poses is None:
        return Choice(**place, q=np.empty(0), gap=linkage.gap(lengths, theta2))
    q = poses[branch]
    J = system.J(q)
    condition = dict(zip(picture.NAMES, conditions(J[None])[0]))
    k = picture.NAMES.index(independent)
    others = [j for j in range(3) if j != k]
    possible = picture.null_vector(J)
    inertia = (
        possible @ system.M(q) @ possible / possible[k] ** 2 if condition[independent] < picture.CEILING else np.inf
    )
    parallel = {name: _apart(q[(j + 1) % 3], q[(j + 2) % 3]) < NEAR for j, name in enumerate(picture.NAMES)}
    return Choice(
        **place, q=q, points=_joints(system, q), condition=condition, inertia=inertia,
        near=_apart(*q[others]) < NEAR, singular=all(parallel.values()),
    )  # fmt: skip


def conditions(J):
    """Condition numbers of J_p for each coordinate as the independent one.

    Parameters
    ----------
    J : array, (N, 2, 3)

    Returns
    -------
    array, (N, 3)
        Without bound at a dead centre.
    """
    with np.errstate(divide="ignore"):
        return np.stack([np.linalg.cond(np.delete(J, k, axis=2)) for k in range(3)], axis=-1)


@lru_cache(maxsize=64)
def over_turn(a, b, c, d, branch):
    """Condition numbers over the crank's range: coordinate to curves (crank angle in °, condition number)."""
    try:
        low, high = mechanisms.crank_range(a, b, c, d)
    except ValueError:
        return dict.fromkeys(picture.NAMES, ())
    if low == 0:
        ranges = ((-high, high),)
    else:
        ranges = ((-high, -low), (low, high))
    system = linkage.four_bar().system(a=a, b=b, c=c, d=d)
    curves = {name: [] for name in picture.NAMES}
    for start, end in ranges:
        angles = start + (end - start) * (1 - np.cos(np.linspace(0, pi, SAMPLES))) / 2
        closed = [(angle, poses[branch]) for angle in angles if (poses := linkage.branches(system, degrees(angle)))]
        turned = np.rad2deg([angle for angle, _ in closed])
        q = np.array([pose for _, pose in closed])
        J = np.moveaxis(np.array(system.code.J(0.0, q.T, None, system.p)), -1, 0)
        determinant = picture.null_vector(J.transpose(1, 0, 2))
        for k, name in enumerate(picture.NAMES):
            curves[name].append(_with_peaks(turned, conditions(J)[:, k], determinant[:, k]))
    return curves


def _with_peaks(turned, condition, determinant):
    """The curve, with the ceiling where the determinant of J_p changes its sign between two samples."""
    k = np.flatnonzero(determinant[:-1] * determinant[1:] < 0)
    share = determinant[k] / (determinant[k] - determinant[k + 1])
    peaks = turned[k] + share * (turned[k + 1] - turned[k])
    at = np.insert(turned, k + 1, peaks)
    return at, np.insert(np.minimum(condition, picture.CEILING), k + 1, picture.CEILING)


def _apart(angle, other):
    """The angle between two lines (rad), at most a right angle."""
    return abs((angle - other + pi / 2) % pi - pi / 2)


def _joints(system, q):
    return {name: place for name, place in system.points(q).items() if name != "P"}


def _text(choice):
    if choice.points is None:
        return linkage.cannot_close(choice.lengths, choice.theta2)
    sizes = ", ".join(f"{SIGNS[name]} {_size(choice.condition[name])}" for name in picture.NAMES)
    best = SIGNS[min(choice.condition, key=choice.condition.get)]
    words = [
        f"{linkage.bars(choice.lengths)}: {linkage.kind(choice.lengths)}. θ₂ = {choice.theta2:g}°, {choice.branch}.",
        f"Condition number of Jₚ with one of the angles independent: {sizes}; it is smallest with {best}.",
    ]
    if choice.singular:
        words.append("All three are almost in one line: near a singular configuration, where J itself loses its rank.")
    elif choice.near:
        words.append(f"Near a dead centre of {SIGNS[choice.independent]}: {IN_LINE[choice.independent]}.")
    if choice.inertia < np.inf:
        words.append(f"Reduced inertia with {SIGNS[choice.independent]}: Mᵣ = {choice.inertia:.3g} kg m².")
    else:
        words.append(f"The reduced inertia with {SIGNS[choice.independent]} has no bound here.")
    return " ".join(words)


def _size(condition):
    return f"{condition:.3g}" if condition < picture.CEILING else "above 10 000"
