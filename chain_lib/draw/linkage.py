"""The four-bar as artists that move: bars, joints and the ground under A and D."""

import numpy as np

from chain_lib.draw.figure import COUPLER, CRANK, GROUND, PLATFORM, ROCKER

BARS = (("crank", "A", "B", CRANK), ("coupler", "B", "C", COUPLER), ("rocker", "D", "C", ROCKER))
JOINTS = "ABCD"


def linkage(axes):
    """Artists of a four-bar, without a place yet; `put` gives them one."""
    artists = {}
    (artists["ground"],) = axes.plot([], [], color=GROUND, linewidth=1.5, zorder=1)
    (artists["feet"],) = axes.plot([], [], "^", color=GROUND, markersize=13, zorder=1)
    (artists["plate"],) = axes.plot([], [], color=COUPLER, linewidth=1.5, zorder=2)
    for name, _, _, colour in BARS:
        (artists[name],) = axes.plot([], [], color=colour, linewidth=4, solid_capstyle="round", zorder=3)
    (artists["joints"],) = axes.plot([], [], "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=4)
    return artists


def put(artists, points):
    """Move a four-bar to its points A, B, C, D and, if there is one, the coupler point P."""
    for name, start, end, _ in BARS:
        artists[name].set_data(*np.transpose([points[start], points[end]]))
    A, D = points["A"], points["D"]
    artists["ground"].set_data([A[0], D[0]], [A[1], D[1]])
    artists["feet"].set_data([A[0], D[0]], [A[1] - 0.02, D[1] - 0.02])
    artists["joints"].set_data(*np.transpose([points[name] for name in JOINTS]))
    plate = [points["B"], points["P"], points["C"]] if "P" in points else []
    artists["plate"].set_data(*(np.transpose(plate) if plate else ([], [])))


def hide(artists, *names):
    """Take some artists out of the picture."""
    for name in names:
        artists[name].set_data([], [])
