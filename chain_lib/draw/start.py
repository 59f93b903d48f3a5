"""Pictures of lesson 00: the map of the course, and the sketches that fix symbols and signs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.patches import Arc, Polygon

from chain_lib.draw.figure import COUPLER, CRANK, GROUND, PLATFORM, ROCKER, Figure
from chain_lib.draw.marks import arrow, ground, label


@dataclass(frozen=True)
class Lesson:
    """A lesson: its notebook, title, question, place on the map (column, row) and what it builds on."""

    notebook: str
    title: str
    question: str
    place: tuple
    builds_on: tuple = ()

    @property
    def number(self):
        """Two digits, as in the notebook's name."""
        return self.notebook[:2]


LESSONS = (
    Lesson("01_loop_closure", "Loop closure", "Where can a four-bar be?", (0, 0)),
    Lesson(
        "02_parallel_kinematics",
        "Parallel kinematics",
        "Why is inverse kinematics easy and forward kinematics hard?",
        (1, 0),
        ("01",),
    ),
    Lesson(
        "03_assembly_modes",
        "Assembly modes",
        "How many poses share the same legs, and how do you find all of them?",
        (2, 0),
        ("02",),
    ),
    Lesson("04_singularities", "Singularities", "Where does the mapping break?", (3, 0), ("03",)),
    Lesson("05_constrained_dynamics", "Constrained dynamics", "What are the multipliers?", (0, 1), ("01",)),
    Lesson("06_reduced_coordinates", "Reduced coordinates", "Can one drop the passive coordinates?", (1, 1), ("05",)),
    Lesson("07_drift", "Drift", "Why does a correct solver leave the constraint?", (0, 2), ("05",)),
    Lesson("08_stabilization", "Stabilization", "How is it brought back, and at what price?", (1, 2), ("07",)),
    Lesson("09_integrators", "Integrators", "Which method for how long?", (2, 2), ("08",)),
    Lesson("10_parallel_wrist", "Parallel wrist", "How do three legs point a tool?", (2, 1), ("03",)),
    Lesson("11_wrist_dynamics", "Wrist dynamics", "How does a spatial loop move?", (3, 1), ("10",)),
    Lesson("12_constrained_control", "Constrained control", "Which torques matter?", (0, 3), ("07",)),
    Lesson("13_motion_and_force", "Motion and force", "How do you move along and press against?", (1, 3), ("12", "08")),
    Lesson(
        "14_your_own_mechanism",
        "Your own mechanism",
        "Define any closed chain, check it, simulate it.",
        (2, 3),
        ("13", "09"),
    ),
)

WIDTH, HEIGHT, ACROSS, DOWN = 158, 62, 186, 92  # of a box, and from box to box (px)


class CourseMap:
    """The lessons as boxes with links, and arrows from each to those that build on it.

    Parameters
    ----------
    folder : path
        Where the notebooks are; a lesson without one is marked "to come".
    """

    def __init__(self, folder="."):
        self.written = {lesson.number for lesson in LESSONS if (Path(folder) / f"{lesson.notebook}.ipynb").exists()}

    def __repr__(self):
        lines = [
            f"{x.number} {x.title}{'' if x.number in self.written else ' (to come)'}: {x.question}" for x in LESSONS
        ]
        return "\n".join(["Map of the course.", *lines])

    def _repr_html_(self):
        place = {lesson.number: np.array(lesson.place) * (ACROSS, DOWN) for lesson in LESSONS}
        arrows = "".join(
            self._arrow(place[start], place[lesson.number]) for lesson in LESSONS for start in lesson.builds_on
        )
        boxes = "".join(self._box(lesson, *place[lesson.number]) for lesson in LESSONS)
        width, height = 3 * ACROSS + WIDTH + 4, 3 * DOWN + HEIGHT + 4
        head = '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>'
        picture = f'<svg width="{width}" height="{height}" aria-hidden="true"><defs>{head}</defs>{arrows}</svg>'
        return f'<div style="position:relative;width:{width}px;height:{height}px">{picture}{boxes}</div>'

    def _arrow(self, start, end):
        middle = np.array([WIDTH, HEIGHT]) / 2
        (x1, y1), (x2, y2) = start + middle, end + middle
        if y1 == y2:
            x1, x2 = x1 + middle[0], x2 - middle[0]
        else:
            y1, y2 = y1 + middle[1], y2 - middle[1]
        return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="black" marker-end="url(#head)"/>'

    def _box(self, lesson, x, y):
        there = lesson.number in self.written
        border = f"2px solid {CRANK}" if there else "1px dashed #767676"
        style = (
            f"position:absolute;left:{x}px;top:{y}px;width:{WIDTH - 18}px;height:{HEIGHT - 14}px;padding:5px 8px;"
            f"border:{border};border-radius:6px;background:white;color:{'#00558a' if there else '#595959'};"
            "font-size:13px;line-height:1.3;text-decoration:none"
        )
        words = f"<b>{lesson.number}</b> {lesson.title}{'' if there else '<br>to come'}"
        if there:
            return f'<a href="{lesson.notebook}.ipynb" title="{lesson.question}" style="{style}">{words}</a>'
        return f'<span title="{lesson.question}" style="{style}">{words}</span>'


def four_bar_sketch():
    """A four-bar with the letters of its joints and the positive sense of its angles."""
    a, b, c, d, crank = 0.2, 0.4, 0.4, 0.5, np.deg2rad(60)
    A, D = np.zeros(2), np.array([d, 0.0])
    B = a * np.array([np.cos(crank), np.sin(crank)])
    across = D - B
    along = (b**2 - c**2 + across @ across) / (2 * np.linalg.norm(across))
    unit = across / np.linalg.norm(across)
    C = B + along * unit + np.sqrt(b**2 - along**2) * np.array([-unit[1], unit[0]])
    figure, axes = _canvas((5.4, 3.9), (-0.14, 0.78), (-0.13, 0.53))
    for foot in (A, D):
        ground(axes, foot, size=0.03)
        axes.plot([foot[0], foot[0] + 0.17], [0, 0], color=GROUND, linewidth=1.0)
    axes.plot([B[0], B[0] + 0.17], [B[1], B[1]], color=GROUND, linewidth=1.0)
    for start, end, colour, name, shift in (
        (A, B, CRANK, "a", (-0.03, 0.01)),
        (B, C, COUPLER, "b", (-0.02, 0.03)),
        (D, C, ROCKER, "c", (0.03, 0.01)),
    ):
        axes.plot(*zip(start, end), color=colour, linewidth=4, solid_capstyle="round", zorder=2)
        label(axes, (start + end) / 2 + shift, name, color=colour)
    for start, end, colour, name in ((A, B, CRANK, "θ₂"), (B, C, COUPLER, "θ₃"), (D, C, ROCKER, "θ₄")):
        _angle(axes, start, end - start, colour, name)
    axes.plot([A[0], D[0]], [0, 0], color=GROUND, linewidth=1.0, zorder=0)
    label(axes, (d / 2, -0.03), "d")
    for point, name, shift in (
        (A, "A", (-0.04, 0.02)),
        (B, "B", (-0.03, 0.03)),
        (C, "C", (0.0, 0.035)),
        (D, "D", (-0.03, 0.025)),
    ):
        axes.plot(*point, "o", color="white", markeredgecolor=PLATFORM, markersize=8, zorder=3)
        label(axes, point + shift, name)
    _axes_of(axes, (-0.1, 0.36), 0.09)
    figure.description = (
        "A four-bar: A and D on the ground, crank a from A to B at the angle θ₂, coupler b from B to C at θ₃, rocker c from D "
        "to C at θ₄, ground bar d from A to D along x. All angles are measured from the positive x direction, counter-clockwise."
    )
    return figure


def three_rpr_sketch():
    """A planar 3-RPR robot with its anchors, legs and pose."""
    base = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    angle, place = np.deg2rad(25), np.array([0.5, 0.33])
    corners = 0.2 * np.array([[1, 0], [-0.5, np.sqrt(3) / 2], [-0.5, -np.sqrt(3) / 2]])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    platform = place + corners[[2, 0, 1]] @ turn.T
    figure, axes = _canvas((5.4, 4.6), (-0.32, 1.3), (-0.2, 1.1))
    axes.add_patch(Polygon(platform, closed=True, facecolor="#DDDDDD", edgecolor=PLATFORM, linewidth=2, zorder=2))
    for k, colour in enumerate((CRANK, COUPLER, ROCKER)):
        foot, corner = base[k], platform[k]
        ground(axes, foot, size=0.05)
        axes.plot(*zip(foot, corner), color=colour, linewidth=3, zorder=1)
        label(axes, (foot + corner) / 2 + ((0, 0.06), (0.06, 0.04), (0.08, 0))[k], f"L{'₁₂₃'[k]}", color=colour)
        for point, name, shift in (
            (foot, "B", (-0.09, 0.03)),
            (corner, "P", ((0.07, -0.05), (0.05, 0.06), (-0.08, 0.0))[k]),
        ):
            axes.plot(*point, "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=3)
            label(axes, point + shift, name + "₁₂₃"[k])
    axes.plot(*place, "o", color=PLATFORM, markersize=4, zorder=4)
    axes.plot([place[0], place[0] + 0.36], [place[1], place[1]], color=GROUND, linewidth=1.0, zorder=3)
    axes.plot(*zip(place, place + 0.36 * turn[:, 0]), color=PLATFORM, linewidth=1.0, linestyle=":", zorder=3)
    _angle(axes, place, 0.3 * turn[:, 0], PLATFORM, "ϕ", radius=0.28)
    label(axes, place + (-0.04, 0.06), "(x, y)")
    _axes_of(axes, (-0.26, 0.55), 0.2)
    figure.description = (
        "A planar 3-RPR robot: legs of length L₁, L₂, L₃ from the base anchors B₁, B₂, B₃ to the platform anchors P₁, P₂, P₃, "
        "both counter-clockwise. The pose is the place (x, y) of the platform's origin and its angle ϕ, counter-clockwise from x."
    )
    return figure


def _canvas(size, xlim, ylim):
    figure = Figure(figsize=size)
    axes = figure.add_axes([0.01, 0.01, 0.98, 0.98])
    axes.set(aspect="equal", xlim=xlim, ylim=ylim)
    axes.axis("off")
    return figure, axes


def _angle(axes, vertex, direction, colour, name, radius=None):
    """An arc from the x direction to a direction, with an arrowhead in the positive sense."""
    radius = 0.12 if radius is None else radius
    end = np.arctan2(direction[1], direction[0])
    axes.add_patch(
        Arc(vertex, 2 * radius, 2 * radius, theta1=0, theta2=np.rad2deg(end), color=colour, linewidth=1.5, zorder=3)
    )
    tip = vertex + radius * np.array([np.cos(end), np.sin(end)])
    before = vertex + radius * np.array([np.cos(end - 0.12), np.sin(end - 0.12)])
    arrow(axes, before, tip, colour)
    label(axes, vertex + 1.25 * radius * np.array([np.cos(end / 2), np.sin(end / 2)]), name, color=colour)


def _axes_of(axes, corner, size):
    """The directions of x and y."""
    for tip, name in (((size, 0), "x"), ((0, size), "y")):
        arrow(axes, corner, np.add(corner, tip), PLATFORM)
        label(axes, np.add(corner, np.multiply(tip, 1.25)), name)
