"""Pictures of lesson 06: two signs, reduced inertia, and how far each choice of a coordinate is from a dead centre."""

import numpy as np

from chain_lib.draw.figure import COUPLER, CRANK, FORCE, GROUND, PLATFORM, REFERENCE, ROCKER, VIOLATION, Figure
from chain_lib.draw.linkage import JOINTS, hide, linkage, misses, put, put_open
from chain_lib.draw.marks import arrow, ground, label
from chain_lib.partition import best_independent

CHOICES = (
    # coordinate, its sign, colour of its bar, line style, joint about which the bar turns
    ("theta2", "θ₂", CRANK, "-", "A"),
    ("theta3", "θ₃", COUPLER, "--", "B"),
    ("theta4", "θ₄", ROCKER, "-.", "D"),
)
NAMES = [name for name, *_ in CHOICES]
CEILING = 1e4  # condition numbers above are drawn here
AHEAD = 0.13  # length of the line from which an angle is measured (m)


def two_signs(runs, torque):
    """Static figure: crank angle and energy balance of the runs with either sign.

    Parameters
    ----------
    runs : dict
        Label to (t, θ₂, balance): times (s), crank angle (rad), energy that is not accounted for (J).
    torque : float
        Of the motor on the crank (N m).
    """
    figure = Figure(figsize=(7.5, 3.0))
    turn = figure.add_axes([0.08, 0.19, 0.38, 0.66])
    turn.set(title="crank angle θ₂ (°)", xlabel="time (s)")
    balance = figure.add_axes([0.58, 0.19, 0.38, 0.66])
    balance.set(title="energy balance E − E₀ − W (J)", xlabel="time (s)")
    words = []
    for (name, (t, theta2, energy)), (colour, style) in zip(runs.items(), ((CRANK, "-"), (VIOLATION, "--"))):
        turn.plot(t, np.rad2deg(theta2), style, color=colour, label=name.replace("h_r", "$h_r$"))
        balance.plot(t, energy, style, color=colour)
        worst = np.abs(energy).max()
        size = f"{worst:.2g}" if worst > 1e-6 else "less than 1e-6"
        words.append(f"With {name} the crank ends at {_degrees(theta2[-1])}, and {size} J are not accounted for.")
        for axes in (turn, balance):
            axes.set_xlim(0, t[-1])
    turn.legend(loc="lower left")
    figure.description = f"Two runs over {t[-1]:g} s with a motor torque of {torque:g} N m. " + " ".join(words)
    return figure


def sketch(system):
    """The four-bar cut at C: a tree. One independent angle, two passive ones, and λ on both ends."""
    q = system.assemble("open", theta2=np.deg2rad(60))
    A, B, C, D = (system.points(q)[name] for name in JOINTS)
    apart = np.array([0.09, 0.0])
    D, end = D + apart, C + apart
    figure = Figure(figsize=(6.2, 4.1))
    axes = figure.add_axes([0.0, 0.0, 1.0, 1.0], aspect="equal", xlim=(-0.2, 0.96), ylim=(-0.15, 0.617))
    axes.axis("off")
    for foot in (A, D):
        ground(axes, foot, size=0.03)
    for (start, tip), angle, (_, sign, colour, _, _) in zip(((A, B), (B, C), (D, end)), q, CHOICES):
        independent = sign == "θ₂"
        axes.plot(*zip(start, tip), color=colour, linewidth=4, solid_capstyle="round", zorder=2)
        axes.plot([start[0], start[0] + AHEAD], [start[1]] * 2, color=GROUND, linewidth=1.0)
        arc = _arc(start, angle, 0.1)[:, 1:]
        axes.plot(
            *arc[:, :-3], color=colour, linewidth=2.4 if independent else 1.2, linestyle="-" if independent else ":"
        )
        arrow(axes, arc[:, -5], arc[:, -1], colour)
        label(axes, start + 0.14 * np.array([np.cos(angle / 2), np.sin(angle / 2)]), sign, color=colour)
    push = np.array([-0.08, 0.1])
    for tail, tip, at, words in (
        (C, C + push, C + push + (-0.02, 0.03), "λ, on the coupler"),
        (end, end - push, end - push + (0.015, -0.01), "−λ, on the rocker"),
    ):
        arrow(axes, tail, tip, FORCE)
        label(axes, at, words, color=FORCE, ha="left" if tail is end else "center")
    turned = np.linspace(np.deg2rad(150), np.deg2rad(325), 40)
    motor = 0.075 * np.array([np.cos(turned), np.sin(turned)])
    axes.plot(*motor[:, :-3], color=PLATFORM, linewidth=1.5)
    arrow(axes, motor[:, -5], motor[:, -1], PLATFORM)
    label(axes, (-0.12, -0.02), "τ₂")
    for place in (A, B, C, D, end):
        axes.plot(*place, "o", color="white", markeredgecolor=PLATFORM, markersize=8, zorder=3)
    for place, name, aside in (
        (A, "A", (-0.04, 0.03)),
        (B, "B", (-0.035, 0.03)),
        (C, "C", (-0.01, -0.04)),
        (end, "C", (0.035, 0.025)),
        (D, "D", (-0.04, 0.025)),
    ):
        label(axes, place + aside, name)
    for tip, name in (((0.09, 0), "x"), ((0, 0.09), "y")):
        arrow(axes, (-0.15, 0.4), np.add((-0.15, 0.4), tip), PLATFORM)
        label(axes, np.add((-0.15, 0.4), np.multiply(tip, 1.25)), name)
    label(axes, (0.69, 0.56), "independent:  θ₂", ha="left", color=CRANK)
    label(axes, (0.69, 0.505), "passive:  θ₃, θ₄", ha="left")
    figure.description = (
        "The four-bar, cut at C. What is left is a tree: the arm A B C on the left and the rocker D C on the right. θ₂, θ₃ and θ₄ "
        "are the angles of crank, coupler and rocker from the direction of x, counter-clockwise. θ₂ is independent, a motor at A "
        "acts on it with τ₂; θ₃ and θ₄ are passive. λ acts on the coupler's end at C, and −λ on the rocker's end."
    )
    return figure


def inertia(system, at):
    """Static figure: the passive rates and the reduced inertia over a turn of the crank, open branch.

    Parameters
    ----------
    system : System
        Of a `FourBar` whose crank turns fully.
    at : float
        Crank angle (rad) that is marked.
    """
    angles = np.deg2rad(np.arange(-180, 181, 2))
    S, M_r = _over(system, angles)
    marked_S, marked_M = _over(system, [at])
    figure = Figure(figsize=(7.5, 3.0))
    rates = figure.add_axes([0.08, 0.19, 0.38, 0.66])
    rates.set(title="passive rates for 1 rad/s of the crank (rad/s)")
    for column, (_, sign, colour, style, _) in zip((1, 2), CHOICES[1:]):
        rates.plot(
            np.rad2deg(angles),
            S[:, column],
            style,
            color=colour,
            label=f"coupler, {sign}" if column == 1 else f"rocker, {sign}",
        )
    rates.plot([np.rad2deg(at)], marked_S[:, 1], "o", color=PLATFORM, markerfacecolor="none", markersize=9)
    rates.set(ylim=(-0.8, 0.95), yticks=[-0.5, 0, 0.5])
    rates.legend(loc="upper center", ncols=2, handlelength=2.6, columnspacing=1.0)
    reduced = figure.add_axes([0.58, 0.19, 0.38, 0.66], ylim=(0, 1.12 * M_r.max()))
    reduced.set(title="reduced inertia M_r (kg m²)".replace("M_r", "$M_r$"))
    reduced.plot(np.rad2deg(angles), M_r, color=CRANK)
    reduced.plot([np.rad2deg(at)], marked_M, "o", color=PLATFORM, markerfacecolor="none", markersize=9)
    reduced.annotate("by hand", (np.rad2deg(at), marked_M[0]), xytext=(8, 6), textcoords="offset points")
    for axes in (rates, reduced):
        axes.set(xlabel="crank angle θ₂ (°)", xlim=(-180, 180), xticks=[-180, -90, 0, 90, 180])
    figure.description = (
        f"Over a turn of the crank: the rates of coupler and rocker for 1 rad/s of the crank, between {S[:, 1:].min():.2f} and "
        f"{S[:, 1:].max():.2f} rad/s; and the reduced inertia, between {M_r.min():.3f} kg m² at θ₂ = {_degrees(angles[M_r.argmin()])} "
        f"and {M_r.max():.3f} kg m² at {_degrees(angles[M_r.argmax()])}. At θ₂ = {_degrees(at)} the rates are "
        f"{marked_S[0, 1]:.3f} and {marked_S[0, 2]:.3f}, and the reduced inertia is {marked_M[0]:.4f} kg m²."
    ).replace(" -", " −")
    return figure


def _over(system, angles):
    """S and M_r for the crank as independent coordinate, at crank angles (rad) of the open branch."""
    q = [system.assemble("open", theta2=angle) for angle in angles]
    S = np.array([null_vector(system.J(one)) for one in q])
    S /= S[:, :1]
    return S, np.array([column @ system.M(one) @ column for one, column in zip(q, S)])


def null_vector(J):
    """The cross product of the two rows: no velocity but its multiples is possible, and its entries are ±det J_p; (3,)."""
    return np.cross(J[0], J[1])


def switching(trajectory):
    """Static figure: the angles over time, and σ_min of J_p for each choice; strong where the reduced form uses it.

    Parameters
    ----------
    trajectory : Trajectory
        Of a `FourBar` with form="reduced".
    """
    system, t, q = trajectory.system, trajectory.t, trajectory.q
    J, M = np.array([system.J(one) for one in q]), np.array([system.M(one) for one in q])
    sigma = np.array([
        np.linalg.svd(np.delete(J, k, axis=2), compute_uv=False)[:, -1] for k in range(3)
    ])  # fmt: skip
    regular = np.linalg.svd(J, compute_uv=False)[:, -1]
    used = _used(J, M)
    figure = Figure(figsize=(7.5, 4.6))
    turn = figure.add_axes([0.09, 0.62, 0.78, 0.3])
    turn.set(title="angles (°), strong where independent", yticks=[-180, -90, 0, 90, 180, 270])
    size = figure.add_axes([0.09, 0.11, 0.78, 0.38], yscale="log", ylim=(2e-3, 2))
    size.set(title="smallest singular value of J_p (m)".replace("J_p", "$J_p$"), xlabel="time (s)")
    for k, (_, sign, colour, style, _) in enumerate(CHOICES):
        for axes, curve in ((turn, np.rad2deg(q[:, k])), (size, np.maximum(sigma[k], 1e-4))):
            axes.plot(t, curve, style, color=colour, linewidth=1.1)
            axes.plot(t, np.where(used == k, curve, np.nan), "-", color=colour, linewidth=4, alpha=0.6)
        turn.annotate(
            sign, (t[-1], np.rad2deg(q[-1, k])), xytext=(6, 0), textcoords="offset points", va="center", color=colour
        )
        size.plot([], [], style, color=colour, label=f"{sign} independent")
    size.plot(t, regular, **REFERENCE, label="all of J")
    size.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=4, handlelength=2.4, columnspacing=1.2)
    for axes in (turn, size):
        axes.set_xlim(0, t[-1])
    changes = [0, *(np.flatnonzero(np.diff(used)) + 1)]
    order = ", ".join(f"{CHOICES[used[k]][1]} from {t[k]:.2f} s" for k in changes)
    figure.description = (
        f"Over {t[-1]:g} s: the three angles, and for each as independent coordinate the smallest singular value of Jₚ. Each "
        f"comes down to zero where its coordinate turns back. Used are {order}; there Jₚ has at least {sigma[used, range(len(t))].min():.2f} m. "
        f"The smallest singular value of all of J stays above {np.floor(1e3 * regular.min()) / 1e3:.3f} m."
    )
    return figure


def _used(J, M):
    """Index of the coordinate that the reduced form keeps at each state of a run."""
    kept, used = None, []
    for one, inertia_there in zip(J, M):
        kept = best_independent(one / np.sqrt(np.diag(inertia_there)), kept)
        used.append(kept[0])
    return np.array(used)


def setup(figure):
    """Axes and artists of the explorer: the four-bar, and the condition number of J_p over the crank angle; made once."""
    axes = figure.add_axes([0.06, 0.08, 0.54, 0.86], aspect="equal", xlim=(-0.7, 1.1), ylim=(-0.85, 0.85))
    axes.set(title="four-bar (m)", xticks=[-0.5, 0, 0.5, 1], yticks=[-0.5, 0, 0.5])
    artists = misses(axes)
    for name in ("in line", "in line too"):
        (artists[name],) = axes.plot([], [], color=VIOLATION, linewidth=1.2, linestyle="--", zorder=1)
    artists |= linkage(axes)
    (artists["angle"],) = axes.plot([], [], color=PLATFORM, linewidth=1.4, zorder=5)
    condition = figure.add_axes([0.69, 0.24, 0.29, 0.64], xlim=(-180, 180), ylim=(1, CEILING), yscale="log")
    condition.set(title="condition number of J_p (1)".replace("J_p", "$J_p$"), xlabel="crank angle θ₂ (°)")
    condition.set(xticks=[-180, -90, 0, 90, 180], yticks=[1, 10, 100, 1e3, 1e4])
    condition.minorticks_off()
    for name, sign, colour, style, _ in CHOICES:
        for piece in range(2):
            (artists[name, piece],) = condition.plot([], [], style, color=colour, label=None if piece else sign)
    (artists["crank line"],) = condition.plot([], [], color=GROUND, linewidth=1.2)
    (artists["now"],) = condition.plot(
        [], [], "o", color=VIOLATION, markersize=8, markerfacecolor="none", markeredgewidth=2
    )
    condition.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, handlelength=2.6, columnspacing=1.0)
    return artists


def draw(choice, artists):
    """Put a `Choice` of the explorer into the artists of `setup`."""
    for name in NAMES:
        for piece in range(2):
            curves = choice.over_turn[name]
            artists[name, piece].set_data(*(curves[piece] if piece < len(curves) else ([], [])))
            artists[name, piece].set_linewidth(3.2 if name == choice.independent else 1.4)
    artists["crank line"].set_data([choice.theta2, choice.theta2], [1, CEILING])
    if choice.points is None:
        hide(artists, "in line", "in line too", "angle", "now")
        put_open(artists, choice.lengths, choice.B, choice.gap)
        return
    hide(artists, "reach of B", "reach of D", "gap")
    put(artists, choice.points)
    index = NAMES.index(choice.independent)
    artists["now"].set_data([choice.theta2], [min(choice.condition[choice.independent], CEILING)])
    artists["angle"].set_data(*_arc(choice.points[CHOICES[index][4]], choice.q[index], 0.1))
    others = [k for k in range(3) if k != index] if choice.near else []
    for name, k in zip(("in line", "in line too"), others or (None, None)):
        artists[name].set_data(*(([], []) if k is None else _line(choice, k)))


def _line(choice, k):
    """A line along a bar, beyond both of its ends."""
    start = choice.points[CHOICES[k][4]]
    along = np.array([np.cos(choice.q[k]), np.sin(choice.q[k])])
    return np.transpose([start - 1.5 * along, start + 1.5 * along])


def _arc(vertex, angle, radius):
    """A short line along x from a point, and the arc from there to an angle (rad)."""
    turned = np.linspace(0, angle, 40)
    arc = vertex[:, None] + radius * np.array([np.cos(turned), np.sin(turned)])
    return np.column_stack([vertex, arc])


def _degrees(angle):
    return f"{np.rad2deg(angle):.0f}°".replace("-", "−")
