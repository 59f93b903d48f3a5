"""Pictures of lesson 01: where a four-bar can be, what its coupler point draws, and its instant centres."""

import numpy as np

from chain_lib.draw.figure import COUPLER, CRANK, GROUND, PLATFORM, REFERENCE, ROCKER, VIOLATION, Figure
from chain_lib.draw.linkage import BRANCHES, TURN, hide, letters, linkage, misses, put, put_letters, put_open
from chain_lib.draw.marks import arrow, ground, label
from chain_lib.mechanisms import crank_range

HALVES = ("down", "up")  # where the crank points


STYLE = {"open": dict(color=ROCKER, marker="."), "crossed": dict(color=PLATFORM, marker="x")}


def setup(figure):
    """Axes and artists of the explorer: the four-bar, and both branches over the crank angle; made once."""
    axes = figure.add_axes([0.06, 0.08, 0.54, 0.86], aspect="equal", xlim=(-0.85, 1.15), ylim=(-0.95, 0.95))
    axes.set(title="four-bar (m)", xticks=[-0.5, 0, 0.5, 1], yticks=[-0.5, 0, 0.5])
    artists = misses(axes)
    for half in HALVES:
        (artists[f"curve {half}"],) = axes.plot([], [], color=COUPLER, linewidth=1.2, zorder=1)
        (artists[f"other curve {half}"],) = axes.plot([], [], color=GROUND, linewidth=1.0, linestyle=":", zorder=1)
    (artists["other"],) = axes.plot([], [], color=GROUND, linewidth=2, zorder=2)
    artists |= linkage(axes)
    (artists["point"],) = axes.plot([], [], "o", color=COUPLER, markersize=6, zorder=5)
    artists |= letters(axes, "ABCDP")
    angles = figure.add_axes([0.69, 0.24, 0.29, 0.64], xlim=(0, 360), ylim=(0, 360))
    angles.set(title="rocker angle θ₄ (°)", xlabel="crank angle θ₂ (°)", xticks=[0, 90, 180, 270, 360])
    angles.set_yticks([0, 90, 180, 270, 360])
    for name in BRANCHES:
        (artists[name],) = angles.plot([], [], linestyle="", markersize=3, label=name, **STYLE[name])
    ring = dict(color=VIOLATION, markersize=8, markerfacecolor="none", markeredgewidth=2, clip_on=False)
    (artists["now"],) = angles.plot([], [], "o", **ring)
    (artists["crank line"],) = angles.plot([], [], color=CRANK, linewidth=1.0)
    angles.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, handletextpad=0.1, markerscale=3)
    return artists


def draw(place, artists):
    """Put a `Place` of the four-bar into the artists of `setup`."""
    crank = place.theta2 % 360
    for name in BRANCHES:
        artists[name].set_data(*place.angles[name])
        kind = "curve" if name == place.branch else "other curve"
        for half, curve in zip(HALVES, place.curves[name]):
            artists[f"{kind} {half}"].set_data(*curve)
    artists["crank line"].set_data([crank, crank], [0, 360])
    if place.points is None:
        hide(artists, "other", "point", "now")
        put_open(artists, place.lengths, place.B, place.gap)
        put_letters(artists, {"A": np.zeros(2), "B": place.B, "D": np.array([place.lengths["d"], 0.0])})
        return
    put(artists, place.points)
    put_letters(artists, place.points)
    hide(artists, "reach of B", "reach of D", "gap")
    artists["other"].set_data(*np.transpose([place.other[name] for name in "BCD"]))
    artists["point"].set_data(*np.transpose([place.points["P"]]))
    artists["now"].set_data([crank], [np.rad2deg(place.q[2]) % 360])


def unclosed(system, q):
    """Static figure: where coupler and rocker end when the angles are given; they need not meet."""
    points = system.points(q)
    A, B, C, D = (points[name] for name in "ABCD")
    end = C - system.phi(q)
    figure = Figure(figsize=(5.6, 3.6))
    axes = figure.add_axes([0.13, 0.14, 0.85, 0.82], aspect="equal", xlim=(-0.12, 0.95), ylim=(-0.12, 0.48))
    axes.set(xlabel="x (m)", ylabel="y (m)")
    artists = linkage(axes)
    put(artists, {"A": A, "B": B, "C": C, "D": D})
    artists["rocker"].set_data(*np.transpose([D, end]))
    axes.plot(*end, "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=4)
    axes.plot(*zip(C, end), color=VIOLATION, linewidth=2, linestyle="--")
    gap = np.hypot(*(C - end))
    label(axes, (C + end) / 2 + (0.03, 0.05), f"gap {gap:.3f} m", color=VIOLATION, ha="left")
    for point, name, shift in (
        (A, "A", (-0.05, 0.03)),
        (B, "B", (0.02, -0.05)),
        (D, "D", (0.0, -0.07)),
        (C, "C?", (-0.06, 0.03)),
        (end, "C?", (0.06, 0.02)),
    ):
        label(axes, point + shift, name)
    figure.description = (
        f"Crank, coupler and rocker drawn at θ₂ = {_degrees(q[0])}, θ₃ = {_degrees(q[1])}, θ₄ = {_degrees(q[2])}. The coupler ends "
        f"at ({C[0]:.3f}, {C[1]:.3f}) m and the rocker at ({end[0]:.3f}, {end[1]:.3f}) m: a gap of {gap:.3f} m."
    )
    return figure


def configuration_curves(systems):
    """Static figure: rocker angle over crank angle on both branches, for some four-bars side by side.

    Parameters
    ----------
    systems : dict
        Title to System.
    """
    figure = Figure(figsize=(7.5, 3.2))
    words = []
    for column, (title, system) in enumerate(systems.items()):
        width = 1.0 / len(systems)
        axes = figure.add_axes([0.075 + width * column, 0.24, width - 0.09, 0.63], xlim=(0, 360), ylim=(0, 360))
        axes.set(title=title, xlabel="θ₂ (°)", xticks=[0, 90, 180, 270, 360], yticks=[0, 90, 180, 270, 360])
        if column == 0:
            axes.set_ylabel("θ₄ (°)")
        low, high = np.rad2deg(crank_range(*(system.parameters[name] for name in "abcd")))
        end = high - 1e-6 if high < 180 else 180.0
        for k, turn in enumerate((np.linspace(low, end, 200), 360 - np.linspace(end, low, 200))):
            poses = [system.branches(theta2=np.deg2rad(angle)) for angle in turn]
            for name, style in (("open", dict(color=ROCKER)), ("crossed", dict(color=PLATFORM, linestyle="--"))):
                rocker = [np.rad2deg(pose[name][2]) % 360 for pose in poses]
                axes.plot(turn, rocker, label=name if k == 0 else None, **style)
        if column == 1:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
        words.append(f"{title}: the crank reaches |θ₂| from {low:.0f}° to {high:.0f}°")
    figure.description = (
        "Rocker angle over crank angle from 0° to 360°, open branch solid green, crossed branch dashed dark. "
        + "; ".join(words)
        + ". Where the crank's range ends the two branches meet; at the change point they cross at θ₂ = θ₄ = 180°."
    )
    return figure


def both_branches(system, theta2):
    """Static figure: the two ways in which the bars close at one crank angle."""
    figure = Figure(figsize=(7.5, 3.4))
    words = []
    for column, (name, q) in enumerate(system.branches(theta2=theta2).items()):
        axes = figure.add_axes([0.06 + 0.5 * column, 0.14, 0.43, 0.72], aspect="equal", xlim=(-0.15, 0.85))
        axes.set(ylim=(-0.45, 0.5), title=f"{name}: θ₃ = {_degrees(q[1])}, θ₄ = {_degrees(q[2])}", xlabel="x (m)")
        if column == 0:
            axes.set_ylabel("y (m)")
        points = {letter: place for letter, place in system.points(q).items() if letter != "P"}
        put(linkage(axes), points)
        for letter, shift in (("A", (-0.05, 0.03)), ("B", (-0.04, 0.06)), ("C", (0.06, 0.0)), ("D", (0.06, 0.03))):
            label(axes, points[letter] + shift, letter)
        words.append(f"{name}: θ₃ = {_degrees(q[1])}, θ₄ = {_degrees(q[2])}")
    figure.description = f"The four-bar at θ₂ = {_degrees(theta2)}, closed in two ways. " + "; ".join(words) + "."
    return figure


def circles(lengths, theta2):
    """Static figure: C lies on a circle about B and on one about D; they meet in two points."""
    a, b, c, d = (lengths[name] for name in "abcd")
    B, D = a * np.array([np.cos(theta2), np.sin(theta2)]), np.array([d, 0.0])
    figure = Figure(figsize=(5.6, 4.4))
    axes = figure.add_axes([0.02, 0.02, 0.96, 0.96], aspect="equal", xlim=(-0.34, 1.0), ylim=(-0.47, 0.6))
    axes.axis("off")
    for centre, radius, colour in ((B, b, COUPLER), (D, c, ROCKER)):
        axes.plot(*(centre[:, None] + radius * np.array([np.cos(TURN), np.sin(TURN)])), color=colour, linewidth=1.2)
    across = D - B
    r = np.hypot(*across)
    along, left = across / r, np.array([-across[1], across[0]]) / r
    x, y = (r**2 + b**2 - c**2) / (2 * r), np.sqrt(b**2 - ((r**2 + b**2 - c**2) / (2 * r)) ** 2)
    foot = B + x * along
    axes.plot(*zip(B, D), **REFERENCE)
    axes.plot(*zip(foot + y * left, foot - y * left), color=PLATFORM, linewidth=1.0, linestyle=":")
    corner = np.array([0.03 * along, 0.03 * (along + left), 0.03 * left]) + foot
    axes.plot(*corner.T, color=PLATFORM, linewidth=1.0)
    label(axes, B + 0.5 * x * along - 0.035 * left, "x′")
    label(axes, foot + 0.5 * y * left + 0.03 * along, "y′")
    label(axes, foot - 0.5 * y * left + 0.03 * along, "y′")
    for side, style in ((1, "-"), (-1, "--")):
        C = foot + side * y * left
        axes.plot(*zip(B, C), color=COUPLER, linewidth=3, linestyle=style)
        axes.plot(*zip(D, C), color=ROCKER, linewidth=3, linestyle=style)
        axes.plot(*C, "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=4)
        label(axes, C + (0.03, 0.045 if side > 0 else -0.05), "C open" if side > 0 else "C crossed", ha="left")
    axes.plot(*zip((0, 0), B), color=CRANK, linewidth=4, solid_capstyle="round")
    label(axes, B / 2 + (-0.04, 0.02), "a", color=CRANK)
    label(axes, (B + foot + y * left) / 2 + (-0.02, 0.04), "b", color=COUPLER)
    label(axes, (D + foot + y * left) / 2 + (0.04, 0.0), "c", color=ROCKER)
    label(axes, (d / 2, -0.04), "d")
    axes.plot([0, d], [0, 0], color=GROUND, linewidth=1.2)
    for point, name, shift in (((0, 0), "A", (-0.05, 0.03)), (B, "B", (-0.05, 0.05)), (D, "D", (0.05, 0.04))):
        axes.plot(*point, "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=4)
        label(axes, np.add(point, shift), name)
    ground(axes, (0, 0), size=0.025)
    ground(axes, D, size=0.025)
    figure.description = (
        f"The crank AB at θ₂ = {_degrees(theta2)}. A circle of radius b about B and one of radius c about D meet in two points C, "
        "on either side of the line BD. The foot of C on this line is x′ from B, and C is y′ to its left (open) or right (crossed)."
    )
    return figure


def instant_centres(system, q):
    """Static figure: the coupler turns, at this instant, about the point where the lines AB and DC meet."""
    points = system.points(q)
    A, B, C, D = (points[name] for name in "ABCD")
    centre = meeting(A, B, D, C)
    v = np.append(1.0, -np.linalg.solve(system.J(q)[:, 1:], system.J(q)[:, 0]))
    figure = Figure(figsize=(5.6, 4.6))
    axes = figure.add_axes([0.03, 0.03, 0.94, 0.94], aspect="equal")
    axes.axis("off")
    for start in (A, D):
        axes.plot(*zip(start, centre), **REFERENCE, zorder=1)
    put(linkage(axes), {name: points[name] for name in "ABCD"})
    scale = 0.9
    for name, speed in (("B", _across(B - A) * v[0]), ("C", _across(C - D) * v[2])):
        arrow(axes, points[name], points[name] + scale * speed, PLATFORM)
        label(axes, points[name] + scale * speed + (-0.02, 0.03), f"velocity of {name}", ha="right")
    axes.plot(*centre, "o", color=PLATFORM, markersize=8)
    label(axes, centre + (0.04, 0.0), "I, instant centre", ha="left")
    for name, shift in (("A", (-0.05, 0.0)), ("B", (0.0, -0.055)), ("C", (0.05, -0.02)), ("D", (0.06, 0.0))):
        label(axes, points[name] + shift, name)
    corners = np.array([A, B, C, D, centre])
    low, high = corners.min(axis=0) - 0.25, corners.max(axis=0) + 0.25
    axes.set(xlim=(low[0] - 0.05, high[0]), ylim=(low[1] + 0.15, high[1] - 0.15))
    speeds = np.hypot(*(B - A)) * abs(v[0]), np.hypot(*(C - D)) * abs(v[2])
    distances = np.hypot(*(B - centre)), np.hypot(*(C - centre))
    figure.description = (
        f"The four-bar at θ₂ = {_degrees(q[0])}, its crank turning at 1 rad/s. The lines along AB and DC meet in I = ({centre[0]:.3f}, "
        f"{centre[1]:.3f}) m. B moves at {speeds[0]:.3f} m/s at right angles to IB, {distances[0]:.3f} m long, and C at "
        f"{speeds[1]:.3f} m/s at right angles to IC, {distances[1]:.3f} m long."
    )
    return figure


def coupler_curves(system, points):
    """Static figure: the curves of some coupler points over a full turn of the crank, on the open branch.

    Parameters
    ----------
    system : System
    points : dict
        Name to (rP, deltaP), in m and rad.
    """
    figure = Figure(figsize=(7.5, 4.0))
    axes = figure.add_axes([0.08, 0.12, 0.6, 0.84], aspect="equal", xlim=(-0.2, 0.7), ylim=(-0.1, 0.55))
    axes.set(xlabel="x (m)", ylabel="y (m)")
    q = np.array([system.assemble("open", theta2=angle) for angle in np.deg2rad(np.arange(0, 361, 3))])
    for (name, (rP, deltaP)), style in zip(points.items(), ("-", "--", "-.", ":")):
        x, y = system.set(rP=rP, deltaP=deltaP).points(q)["P"].T
        axes.plot(x, y, style, color=COUPLER, label=name)
        axes.plot(x[20], y[20], "o", color=COUPLER, markeredgecolor=PLATFORM, markersize=6, zorder=6)
    put(linkage(axes), {name: system.points(q[20])[name] for name in "ABCD"})
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    figure.description = (
        "The four-bar at θ₂ = 60° with the closed curves of coupler points over one turn of the crank: "
        + ", ".join(points)
        + "."
    )
    return figure


def meeting(A, B, D, C):
    """Where the line through A and B meets the line through D and C."""
    along, other = B - A, C - D
    return A + along * np.linalg.solve(np.column_stack([along, -other]), D - A)[0]


def _across(vector):
    """A vector turned by 90° counter-clockwise: the velocity for one radian a second."""
    return np.array([-vector[1], vector[0]])


def _degrees(angle):
    return f"{np.rad2deg(angle):.1f}°".replace("-", "−")
