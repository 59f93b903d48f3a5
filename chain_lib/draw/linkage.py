"""The four-bar as artists that move: bars, joints and the ground under A and D."""

import numpy as np

from chain_lib.draw.figure import COUPLER, CRANK, GROUND, PLATFORM, ROCKER, VIOLATION

BARS = (("crank", "A", "B", CRANK), ("coupler", "B", "C", COUPLER), ("rocker", "D", "C", ROCKER))
JOINTS = "ABCD"
BRANCHES = ("open", "crossed")
TURN = np.linspace(0, 2 * np.pi, 120)


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


def letters(axes, names):
    """Artists of the letters at some points, without a place yet; `put_letters` gives them one."""
    marks = dict(color=PLATFORM, markersize=9, linestyle="", zorder=6)
    return {f"letter {name}": axes.plot([], [], marker=rf"$\mathrm{{{name}}}$", **marks)[0] for name in names}


def put_letters(artists, points, away=0.1):
    """Write letters beside their points (m), on the side away from the middle; hide those that have no point."""
    middle = np.mean(list(points.values()), axis=0)
    for key, artist in artists.items():
        if not key.startswith("letter "):
            continue
        if (name := key.removeprefix("letter ")) not in points:
            artist.set_data([], [])
            continue
        outward = points[name] - middle
        place = points[name] + away * outward / (np.hypot(*outward) or 1.0)
        artist.set_data([place[0]], [place[1]])


def hide(artists, *names):
    """Take some artists out of the picture."""
    for name in names:
        artists[name].set_data([], [])


def misses(axes):
    """Artists for a loop that does not close: the circles that C would have to lie on, and the gap between them."""
    artists = {}
    for name, colour in (("reach of B", COUPLER), ("reach of D", ROCKER)):
        (artists[name],) = axes.plot([], [], color=colour, linewidth=1.2, linestyle=":", zorder=1)
    (artists["gap"],) = axes.plot([], [], "o--", color=VIOLATION, linewidth=2, markersize=4, zorder=5)
    return artists


def put_open(artists, lengths, B, gap):
    """Show the crank alone, with its end at B, and how coupler and rocker miss each other."""
    hide(artists, "coupler", "rocker", "plate")
    A, D = np.zeros(2), np.array([lengths["d"], 0.0])
    artists["crank"].set_data(*np.transpose([A, B]))
    artists["ground"].set_data([0, D[0]], [0, 0])
    artists["feet"].set_data([0, D[0]], [-0.02, -0.02])
    artists["joints"].set_data(*np.transpose([A, B, D]))
    for name, centre, radius in (("reach of B", B, lengths["b"]), ("reach of D", D, lengths["c"])):
        artists[name].set_data(centre[0] + radius * np.cos(TURN), centre[1] + radius * np.sin(TURN))
    artists["gap"].set_data(*np.transpose(gap))
