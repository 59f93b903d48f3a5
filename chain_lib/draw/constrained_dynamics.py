"""Pictures of lesson 05: a program that fails, which gauge sees which mistake, and the forces in the joints."""

import numpy as np
from matplotlib.patches import Rectangle

from chain_lib.draw.figure import COUPLER, CRANK, FORCE, GROUND, PLATFORM, REFERENCE, ROCKER, VIOLATION, Figure
from chain_lib.draw.linkage import JOINTS, linkage, put
from chain_lib.draw.marks import arrow, ground, label

FORCES = (
    # joint, body that the force acts on, colour of that body and line style in the curves over time
    ("A", "crank", CRANK, "--"),
    ("B", "coupler", COUPLER, "-."),
    ("C", "coupler", FORCE, "-"),
    ("D", "rocker", ROCKER, ":"),
)
LENGTH = 0.1  # m in the picture that stand for the scale's force
FORCE_LIMITS = (0.05, 5e3)  # N
HEAD = 0.022  # length of an arrow's head (m)
POINTS = 400  # of a curve over time
LETTER_AT = {"A": (-0.05, 0.03), "B": (-0.03, 0.05), "C": (0.045, 0.04), "D": (0.055, 0.03)}


def opening(q, v, dt):
    """Static figure: crank angle and fastest bar of a run that fails, up to its last finite state.

    Parameters
    ----------
    q, v : array, (N, 3)
    dt : float
        Step (s).
    """
    fastest = np.abs(v).max(axis=1)
    sound = int(np.argmax(fastest > 1e6)) or len(q)
    t = dt * np.arange(len(q))[:sound]
    figure = Figure(figsize=(7.5, 2.9))
    turn = figure.add_axes([0.09, 0.19, 0.38, 0.68], xlim=(0, 0.32), ylim=(-200, 400))
    turn.set(title="crank angle θ₂ (°)", xlabel="time (s)", yticks=[-180, 0, 180, 360])
    shown = np.abs(np.rad2deg(q[:sound, 0])) < 400
    turn.plot(t[shown], np.rad2deg(q[:sound, 0])[shown], color=CRANK)
    speed = figure.add_axes([0.59, 0.19, 0.38, 0.68], xlim=(0, 0.32), ylim=(1e-1, 1e7), yscale="log")
    speed.set(title="fastest bar, |θ̇| (rad/s)", xlabel="time (s)", yticks=[1, 1e3, 1e6])
    speed.minorticks_off()
    speed.plot(t[1:], fastest[1:sound], color=VIOLATION)
    speed.plot(t[-1:], fastest[sound - 1 : sound], "x", color=VIOLATION, markersize=9, markeredgewidth=2)
    speed.annotate("overflow", (t[-1], fastest[sound - 1]), xytext=(-8, 0), textcoords="offset points", ha="right")
    figure.description = (
        f"The crank angle starts at {np.rad2deg(q[0, 0]):.0f}° and rises to {np.rad2deg(q[200, 0]):.0f}° in the first 0.2 s. The fastest "
        f"bar turns with {fastest[200]:.0f} rad/s then; from about 0.25 s on its speed grows without bound, and overflows."
    )
    return figure


def sketch(system):
    """The four-bar with its angles, centres of mass, weights and motor; and cut at C, with λ and the ground's forces."""
    q = system.assemble("open", theta2=np.deg2rad(60))
    points = system.points(q)
    figure = Figure(figsize=(7.5, 3.5))
    for place, limits, side in (
        ([0.0, 0.0, 0.45, 1.0], (-0.17, 0.66), _closed),
        ([0.46, 0.0, 0.54, 1.0], (-0.22, 0.776), _cut),
    ):
        axes = figure.add_axes(place, xlim=limits, ylim=(-0.25, 0.611), aspect="equal")
        axes.axis("off")
        side(axes, points, q)
    figure.description = (
        "Left: the four-bar. The crank AB turns about A on the ground, the rocker DC about D, to the right of A; the coupler BC joins "
        "them. θ₂, θ₃, θ₄ are the angles of crank, coupler and rocker from the direction of x, counter-clockwise. G₂, G₃, G₄ are the "
        "centres of mass, in the middles, where the weights pull down. A motor at A turns the crank counter-clockwise with τ₂. "
        "Right: the joint C is cut. What is left are the arm A B C and the rocker D C. λ acts on the coupler's end at C, −λ on the "
        "rocker's end. The ground acts with F_A on the crank and with F_D on the rocker."
    )
    return figure


def _closed(axes, points, q):
    A, B, C, D = (points[name] for name in JOINTS)
    for foot in (A, D):
        ground(axes, foot, size=0.03)
    bars = (
        (A, B, CRANK, "₂", (-0.03, 0.035), (0.075, -0.115)),
        (B, C, COUPLER, "₃", (-0.015, 0.045), (0.055, -0.045)),
        (D, C, ROCKER, "₄", (0.045, 0.02), (-0.055, -0.045)),
    )
    for (start, end, colour, index, aside, weight_at), angle in zip(bars, q):
        axes.plot(*zip(start, end), color=colour, linewidth=4, solid_capstyle="round", zorder=2)
        middle = (start + end) / 2
        axes.plot([start[0], start[0] + 0.13], [start[1]] * 2, color=GROUND, linewidth=1.0)
        turned = np.linspace(0, angle, 30)
        arc = start[:, None] + 0.1 * np.array([np.cos(turned), np.sin(turned)])
        axes.plot(*arc[:, :-2], color=colour, linewidth=1.5)
        arrow(axes, arc[:, -4], arc[:, -1], colour)
        label(axes, start + 0.135 * np.array([np.cos(angle / 2), np.sin(angle / 2)]), f"θ{index}", color=colour)
        axes.plot(*middle, "o", color=PLATFORM, markersize=4, zorder=4)
        label(axes, middle + aside, f"G{index}")
        arrow(axes, middle, middle + (0, -0.09), FORCE)
        label(axes, middle + weight_at, f"m{index} g", color=FORCE)
    turned = np.linspace(np.deg2rad(150), np.deg2rad(325), 40)
    arc = 0.075 * np.array([np.cos(turned), np.sin(turned)])
    axes.plot(*arc[:, :-3], color=PLATFORM, linewidth=1.5)
    arrow(axes, arc[:, -5], arc[:, -1], PLATFORM)
    label(axes, (-0.12, -0.02), "τ₂")
    for name, place in zip(JOINTS, (A, B, C, D)):
        axes.plot(*place, "o", color="white", markeredgecolor=PLATFORM, markersize=8, zorder=3)
    for place, name, aside in (
        (A, "A", (-0.05, 0.035)),
        (B, "B", (-0.035, 0.03)),
        (C, "C", (0.0, 0.04)),
        (D, "D", (0.05, 0.02)),
    ):
        label(axes, place + aside, name)
    for tip, name in (((0.09, 0), "x"), ((0, 0.09), "y")):
        arrow(axes, (-0.12, 0.38), np.add((-0.12, 0.38), tip), PLATFORM)
        label(axes, np.add((-0.12, 0.38), np.multiply(tip, 1.3)), name)


def _cut(axes, points, q):
    apart = np.array([0.1, 0.0])
    A, B, C = (points[name] for name in "ABC")
    D, end = points["D"] + apart, C + apart
    for start, tip, colour in ((A, B, CRANK), (B, C, COUPLER), (D, end, ROCKER)):
        axes.plot(*zip(start, tip), color=colour, linewidth=4, solid_capstyle="round", zorder=2)
    for place in (A, B, C, D, end):
        axes.plot(*place, "o", color="white", markeredgecolor=PLATFORM, markersize=8, zorder=3)
    push = np.array([-0.08, 0.1])
    for tail, tip, at, words in (
        (C, C + push, C + push + (0.0, 0.035), "λ, on the coupler"),
        (end, end - push, end - push + (0.06, -0.04), "−λ, on\nthe rocker"),
        (A - (0.06, 0.12), A, A - (0.06, 0.155), "$F_A$, on the crank"),
        (D + (0.05, -0.12), D, D + (0.0, -0.155), "$F_D$, on the rocker"),
    ):
        arrow(axes, tail, tip, FORCE)
        label(axes, at, words, color=FORCE)
    for place, name, aside in (
        (A, "A", (-0.05, 0.02)),
        (B, "B", (-0.04, 0.03)),
        (C, "C", (0.0, -0.05)),
        (end, "C", (0.04, 0.03)),
        (D, "D", (0.055, 0.02)),
    ):
        label(axes, place + aside, name)


def start_and_assembled(system, guess, closed):
    """Static figure: bars at guessed angles, with the gap at C, and a configuration that closes."""
    figure = Figure(figsize=(7.5, 2.9))
    gap = system.phi(guess)
    for column, (q, words) in enumerate(((guess, "as guessed"), (closed, "assembled"))):
        axes = figure.add_axes([0.07 + 0.5 * column, 0.17, 0.42, 0.7], aspect="equal")
        axes.set(xlim=(-0.15, 0.85), ylim=(-0.1, 0.45), title=f"{words} (m): " + ", ".join(_angles(q)))
        points = system.points(q)
        rocker_end = points["C"] - system.phi(q)
        artists = linkage(axes)
        put(artists, {name: points[name] for name in JOINTS})
        artists["rocker"].set_data(*np.transpose([points["D"], rocker_end]))
        if column == 0:
            axes.plot(*zip(rocker_end, points["C"]), "--", color=VIOLATION, linewidth=2)
            axes.plot(*rocker_end, "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=4)
            axes.annotate(
                f"{np.hypot(*gap):.2f} m",
                (rocker_end + points["C"]) / 2,
                xytext=(6, 6),
                textcoords="offset points",
                color=VIOLATION,
            )
    figure.description = (
        f"Left: at {', '.join(_angles(guess))} the end of the coupler and the end of the rocker are {np.hypot(*gap):.2f} m apart. "
        f"Right: at {', '.join(_angles(closed))} they meet in C."
    )
    return figure


def _angles(q):
    return [f"θ{index} = {angle:.0f}°".replace("-", "−") for index, angle in zip("₂₃₄", np.rad2deg(q))]


def repair_log(table, columns):
    """Static figure: which gauge sees which mistake. A value beyond the tolerance of its gauge is marked.

    Parameters
    ----------
    table : dict
        Mistake to a list of numbers, one per column.
    columns : list of (str, str, float)
        What each gauge measures, its unit, and what is tolerated.
    """
    figure = Figure(figsize=(7.5, 1.25 + 0.36 * len(table)))
    axes = figure.add_axes([0.0, 0.0, 1.0, 1.0], xlim=(0, 1), ylim=(len(table) + 1.15, -1.9))
    axes.axis("off")
    places = np.linspace(0.37, 0.94, len(columns))
    half = 0.46 * (places[1] - places[0])
    for x, (name, unit, tolerance) in zip(places, columns):
        axes.text(x, -0.95, f"{name}\n({unit})", ha="center", va="center", fontsize=9)
        axes.text(x, len(table) + 0.6, f"{tolerance:g}", ha="center", va="center", color="0.35")
    axes.text(0.01, len(table) + 0.6, "tolerated", va="center", color="0.35")
    for line in (-0.05, len(table) + 0.1):
        axes.axhline(line, color=GROUND, linewidth=1.0)
    words = []
    for k, (row, values) in enumerate(table.items()):
        axes.text(0.01, k + 0.5, row, va="center")
        seen = []
        for x, value, (name, _, tolerance) in zip(places, values, columns):
            digits = f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}"
            text = "0" if abs(value) < 1e-6 else digits.replace("-", "−")
            if abs(value) > tolerance:
                axes.add_patch(Rectangle((x - half, k + 0.08), 2 * half, 0.84, facecolor=VIOLATION, alpha=0.25))
                text = f"● {text}"
                seen.append(name.replace("\n", " "))
            axes.text(x, k + 0.5, text, ha="center", va="center")
        words.append(f"{row}: {', '.join(seen) or 'no gauge'}")
    figure.description = "Which gauge sees which mistake. " + "; ".join(words) + "."
    return figure


def hidden_mistake(t, right, wrong):
    """Static figure: crank angle and λ of two runs, where a mistake is not in the motion but in λ.

    Parameters
    ----------
    t : array, (N,)
        Time (s).
    right, wrong : (q, lam), arrays (N, 3) and (N, 2)
    """
    figure = Figure(figsize=(7.5, 2.9))
    turn = figure.add_axes([0.09, 0.19, 0.38, 0.68], xlim=(0, t[-1]))
    turn.set(title="crank angle θ₂ (°)", xlabel="time (s)")
    force = figure.add_axes([0.59, 0.19, 0.38, 0.68], xlim=(0, t[-1]))
    force.set(title="λ, upward part (N)", xlabel="time (s)")
    for (q, lam), name, style in ((right, "right", dict(color=FORCE)), (wrong, "with the wrong sign", REFERENCE)):
        turn.plot(t, np.rad2deg(q[:, 0]), **(style if style is REFERENCE else dict(color=CRANK)), label=name)
        force.plot(t, lam[:, 1], **style, label=name)
    turn.legend(loc="lower left")
    force.set_ylim(top=1.35 * max(right[1][:, 1].max(), wrong[1][:, 1].max()))
    force.legend(loc="upper left")
    apart = np.rad2deg(np.abs(right[0] - wrong[0]).max())
    figure.description = (
        f"Left: the crank angles of the two runs over {t[-1]:g} s, at most {apart:.2g}° apart. Right: the upward part of λ goes from "
        f"{right[1][0, 1]:.1f} N to {right[1][-1, 1]:.1f} N in the right run, and to {wrong[1][-1, 1]:.1f} N in the one with the wrong sign."
    ).replace("-", "−")
    return figure


def redundant(system, q, choices):
    """Static figure: the parallelogram with a fifth bar, and the forces at C and F on the coupler for some multipliers.

    Parameters
    ----------
    system : System
    q : array, (4,)
    choices : dict
        Name to λ, (4,) (N).
    """
    points = system.points(q)
    figure = Figure(figsize=(7.5, 2.9))
    scale = 0.015
    words = []
    for column, (name, lam) in enumerate(choices.items()):
        axes = figure.add_axes([0.01 + 0.5 * column, 0.01, 0.48, 0.88], aspect="equal")
        axes.set(xlim=(-0.08, 0.78), ylim=(-0.09, 0.5))
        axes.set_title(name)
        axes.axis("off")
        for foot in "AED":
            ground(axes, points[foot], size=0.025)
        for start, end, colour in (("A", "B", CRANK), ("E", "F", PLATFORM), ("D", "C", ROCKER), ("B", "C", COUPLER)):
            axes.plot(*zip(points[start], points[end]), color=colour, linewidth=4, solid_capstyle="round", zorder=2)
        for letter in "ABCDEF":
            axes.plot(*points[letter], "o", color="white", markeredgecolor=PLATFORM, markersize=7, zorder=3)
            label(axes, points[letter] + ((-0.045, 0.0) if letter in "ABE" else (0.045, -0.025)), letter)
        for letter, force in (("C", lam[:2]), ("F", lam[2:])):
            axes.plot(*arrow_line(points[letter], scale * force), color=FORCE, linewidth=2.4, zorder=6)
            beside = (-0.03, 0.0) if force[1] < 0 else (0.03, 0.01)
            at = points[letter] + scale * force + beside
            label(axes, at, f"{np.hypot(*force):.1f} N", color=FORCE, ha="right" if force[1] < 0 else "left")
        words.append(f"{name}: {_pair(lam[:2])} N at C and {_pair(lam[2:])} N at F")
    figure.description = (
        "Three parallel bars AB, EF and DC carry the coupler BC. Forces on the coupler, along x and y, "
        + "; ".join(words)
        + "."
    )
    return figure


def _pair(force):
    return f"({force[0]:.1f}, {force[1]:.1f})".replace("-", "−")


def forces_over_time(t, forces, weight):
    """Static figure: how large the forces in the four joints are over a motion.

    Parameters
    ----------
    t : array, (N,)
        Time (s).
    forces : dict
        Joint to forces, (N, 2) (N).
    weight : float
        Of all bars together (N).
    """
    figure = Figure(figsize=(7.5, 3.2))
    axes = figure.add_axes([0.08, 0.17, 0.67, 0.74], xlim=(0, t[-1]))
    axes.set(xlabel="time (s)", ylabel="size of the force (N)")
    words = []
    for joint, body, colour, style in FORCES:
        size = np.hypot(*forces[joint].T)
        axes.plot(t, size, style, color=colour, label=f"{joint}, on the {body}")
        words.append(f"{joint} {size.min():.1f} to {size.max():.1f} N")
    axes.axhline(weight, **REFERENCE, label="weight of all bars")
    axes.set_ylim(0)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    beyond = [joint for joint in forces if np.hypot(*forces[joint].T).max() > weight]
    figure.description = (
        f"Forces in the joints over {t[-1]:g} s: {', '.join(words)}. All bars together weigh {weight:.1f} N. The mechanism starts "
        f"from rest; when the bars swing through, the forces at {' and '.join(beyond) or 'no joint'} grow beyond the weight."
    )
    return figure


def setup(figure):
    """Axes and artists of the explorer: the four-bar with its forces, and how they go on; made once."""
    picture = figure.add_axes([0.06, 0.1, 0.52, 0.83], aspect="equal", xlim=(-0.5, 0.95), ylim=(-0.64, 0.72))
    picture.set(title="four-bar (m) and the forces in its joints", xticks=[-0.5, 0, 0.5])
    picture.set_yticks([-0.5, 0, 0.5])
    artists = linkage(picture)
    for joint, *_ in FORCES:
        thick = 2.4 if joint in "BC" else 1.4
        (artists[f"force {joint}"],) = picture.plot(
            [], [], color=FORCE, linewidth=thick, solid_joinstyle="miter", zorder=6
        )
        (artists[f"letter {joint}"],) = picture.plot(
            [], [], marker=f"${joint}$", color=PLATFORM, markersize=8, linestyle="", zorder=7
        )
    (artists["scale"],) = picture.plot([], [], color=FORCE, linewidth=2.4, marker="|", markersize=9)
    (artists["scale in N"],) = picture.plot([], [], color=FORCE, linestyle="", markersize=30)
    over_time = dict(xlim=(0, 2), xticks=[0, 0.5, 1, 1.5, 2])
    size = figure.add_axes([0.66, 0.6, 0.31, 0.33], yscale="log", ylim=FORCE_LIMITS, **over_time)
    size.set(title="size of the forces (N)", yticks=[0.1, 1, 10, 100, 1000])
    size.minorticks_off()
    for joint, _, colour, style in FORCES:
        (artists[joint],) = size.plot([], [], style, color=colour, linewidth=1.4, label=joint)
    size.legend(loc="upper center", bbox_to_anchor=(0.46, -0.14), ncols=4, handlelength=2.2, columnspacing=1.0)
    turn = figure.add_axes([0.66, 0.12, 0.31, 0.25], ylim=(-190, 190), **over_time)
    turn.set(title="crank angle θ₂ (°)", xlabel="time (s)", yticks=[-180, 0, 180])
    (artists["turn"],) = turn.plot([], [], ".", color=CRANK, markersize=2)
    for name, axes in (("now, forces", size), ("now, turn", turn)):
        (artists[name],) = axes.plot([], [], color=PLATFORM, linewidth=1.0)
    return artists


def draw(instant, artists):
    """Put an instant of a run, with its joint forces, into the artists of `setup`."""
    put(artists, {name: instant.points[name] for name in JOINTS})
    for joint, *_ in FORCES:
        start, force = instant.points[joint], instant.forces[joint]
        artists[f"force {joint}"].set_data(*arrow_line(start, LENGTH / instant.scale * force))
        artists[f"letter {joint}"].set_data(*np.transpose([start + LETTER_AT[joint]]))
        shown = _thinned(len(instant.t))
        artists[joint].set_data(instant.t[shown], np.clip(np.hypot(*instant.over_time[joint][shown].T), *FORCE_LIMITS))
    artists["scale"].set_data([0.74, 0.74 + LENGTH], [-0.52, -0.52])
    if (words := f"${instant.scale:g}\\,\\mathrm{{N}}$") != artists["scale in N"].get_marker():
        artists["scale in N"].set_marker(words)
    artists["scale in N"].set_data([0.74 + LENGTH / 2], [-0.44])
    shown = _thinned(len(instant.t))
    artists["turn"].set_data(instant.t[shown], np.rad2deg(np.angle(np.exp(1j * instant.q[shown, 0]))))
    now = [instant.t[instant.index]] * 2
    artists["now, forces"].set_data(now, FORCE_LIMITS)
    artists["now, turn"].set_data(now, [-180, 180])


def arrow_line(start, vector):
    """Points of one line that looks like an arrow; without a head where it is short; (2, 5)."""
    tip, length = start + vector, np.hypot(*vector)
    if length < 1e-9:
        return np.repeat(np.reshape(start, (2, 1)), 5, axis=1)
    back = min(HEAD, length) * vector / length
    side = 0.5 * np.array([-back[1], back[0]])
    return np.transpose([start, tip, tip - back + side, tip - back - side, tip])


def _thinned(count):
    """Indices of at most `POINTS` out of count, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, POINTS).astype(int))
