"""Marks that sketches share: arrows, letters, the ground."""

from matplotlib.patches import FancyArrowPatch, Rectangle

from chain_lib.draw.figure import GROUND, PLATFORM


def arrow(axes, start, end, color):
    """An arrow from start to end (data units) in the positive sense of what it stands for."""
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=13, color=color, linewidth=1.8, shrinkA=0, shrinkB=0
        )
    )


def label(axes, at, text, color=PLATFORM, ha="center"):
    """A letter or a few words at a point."""
    axes.text(*at, text, color=color, ha=ha, va="center", fontsize=11)


def ground(axes, at, size=0.12):
    """The ground, with what stands on it held fast: a short post on a hatched block."""
    x, y = at
    axes.add_patch(
        Rectangle((x - size, y - 1.7 * size), 2 * size, 0.7 * size, facecolor="white", edgecolor=GROUND, hatch="/////")
    )
    axes.plot([x - size, x + size], [y - size, y - size], color=PLATFORM, linewidth=1.2)
    axes.plot([x, x], [y - size, y], color=PLATFORM, linewidth=4)
