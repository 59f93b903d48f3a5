"""Pictures of lesson 07: the bead on its wire, and the three gauges over time."""

import numpy as np
from matplotlib.patches import Circle

from chain_lib.draw.figure import CRANK, ENERGY, FORCE, GROUND, PLATFORM, REFERENCE, VIOLATION, Figure
from chain_lib.draw.marks import arrow, ground, label

GAUGES = (
    # attribute, title, colour, line style, limits
    ("position_residual", "position residual |φ| (m²)", VIOLATION, "-", (1e-17, 1e3)),
    ("velocity_residual", "velocity residual |J v + φₜ| (m²/s)", VIOLATION, "--", (1e-17, 1e5)),
    ("energy_balance", "energy balance |E − E₀ − W| (J)", ENERGY, "-", (1e-17, 1e5)),
)
FLOOR = 1e-17  # zeros of a log axis are drawn here
POINTS = 1000  # enough for a line as wide as the screen


def sketch(moving=False):
    """The bead on its wire, fixed or driven to and fro, with every sign that the lesson uses."""
    figure = Figure(figsize=(5.0, 4.1))
    axes = figure.add_axes([0.02, 0.02, 0.96, 0.96])
    axes.set(aspect="equal", xlim=(-1.3, 2.1), ylim=(-1.45, 1.4))
    axes.axis("off")
    shift = 0.3 if moving else 0.0
    centre = np.array([shift, 0.0])
    bead = centre + [np.cos(np.deg2rad(50)), np.sin(np.deg2rad(50))]
    axes.add_patch(Circle(centre, 1.0, fill=False, color=PLATFORM, linewidth=2.5))
    axes.plot(*centre, "o", color=PLATFORM, markersize=4)
    axes.plot([shift, shift - 1], [0, 0], color=GROUND, linewidth=1.2)
    label(axes, (shift - 0.6, 0.1), "R")
    for corner in ((bead[0], 0), (0, bead[1])):
        axes.plot(*zip(bead, corner), color=GROUND, linewidth=1.0, linestyle=":")
    for tip, name, at in (((bead[0], 0), "x", (bead[0] - 0.12, -0.12)), ((0, bead[1]), "y", (-0.12, bead[1] / 2))):
        arrow(axes, (0, 0), tip, PLATFORM)
        label(axes, at, name)
    axes.plot(*bead, "o", color=CRANK, markersize=13)
    label(axes, bead + (0.14, -0.06), "bead, m", ha="left")
    outward = 1.55 * (bead - centre) + centre
    arrow(axes, bead, outward, FORCE)
    label(axes, outward + (0.08, 0.03), "Jᵀλ for λ > 0", color=FORCE, ha="left")
    arrow(axes, bead, bead + (0, -0.55), FORCE)
    label(axes, bead + (0.06, -0.48), "m g", color=FORCE, ha="left")
    if moving:
        arrow(axes, (0, -0.32), (shift, -0.32), PLATFORM)
        axes.plot([0, 0], [-0.4, 0], color=GROUND, linewidth=1.0)
        axes.plot([shift, shift], [-0.4, 0], color=GROUND, linewidth=1.0)
        label(axes, (shift + 0.06, -0.32), "r sin ωt", ha="left")
        label(axes, (0.0, -1.25), "wire: φ = (x − r sin ωt)² + y² − R² = 0")
        wire = "The wire is driven to and fro: its centre is at r sin ωt, to the right for a positive sine."
    else:
        ground(axes, (0, -1))
        label(axes, (0.35, -1.3), "wire: φ = x² + y² − R² = 0", ha="left")
        wire = "The wire is fixed to the ground."
    figure.description = (
        f"A bead of mass m on a circular wire of radius R in a vertical plane. {wire} x points right and y up, both from "
        "a fixed origin. Gravity m g points down. A positive multiplier pushes the bead outward."
    )
    return figure


def setup(figure, title="path of the bead (m)"):
    """Axes and artists of the bead's path and the three gauges, made once."""
    artists = {}
    path = figure.add_axes([0.07, 0.12, 0.43, 0.79], aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.7, 1.3))
    path.set(title=title, xlabel="x (m)", ylabel="y (m)", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    angle = np.linspace(0, 2 * np.pi, 200)
    path.plot(np.cos(angle), np.sin(angle), **REFERENCE, label="wire", zorder=1)
    (artists["earlier"],) = path.plot([], [], color=CRANK, alpha=0.3, linewidth=1.0, label="path")
    (artists["last"],) = path.plot([], [], color=CRANK, label="last second")
    (artists["bead"],) = path.plot([], [], "o", color=CRANK, markersize=9, markeredgecolor="white")
    (artists["start"],) = path.plot([], [], "o", color="white", markersize=7, markeredgecolor=CRANK, label="start")
    path.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0.13), ncols=4, handlelength=1.2, handletextpad=0.4, columnspacing=0.8
    )
    for row, (name, heading, colour, style, limits) in enumerate(GAUGES):
        axes = figure.add_axes([0.60, 0.71 - 0.295 * row, 0.38, 0.20], yscale="log", xlim=(0, 10), ylim=limits)
        axes.set_title(heading)
        axes.set_yticks([1e-15, 1e-10, 1e-5, 1])
        axes.minorticks_off()
        axes.axhline(2e-16, color="0.6", linewidth=0.8, linestyle=":")
        axes.annotate(
            "rounding level", (0.99, 3e-14), xycoords=("axes fraction", "data"), ha="right", fontsize=8, color="0.4"
        )
        (artists[name],) = axes.plot([], [], color=colour, linestyle=style)
        if row < 2:
            axes.tick_params(labelbottom=False)
    axes.set_xlabel("time (s)")
    return artists


def draw(trajectory, artists, points=POINTS):
    """Put a trajectory of the bead into the artists of `setup`, thinned to a number of points."""
    shown = _thinned(len(trajectory.t), points)
    t, (x, y) = trajectory.t[shown], trajectory.q[shown].T
    last = t >= t[-1] - 1.0
    artists["earlier"].set_data(x, y)
    artists["last"].set_data(x[last], y[last])
    artists["start"].set_data(x[:1], y[:1])
    artists["bead"].set_data(x[-1:], y[-1:])
    for name, *_ in GAUGES:
        gauge = np.abs(getattr(trajectory, name)[shown])
        artists[name].set_data(t, np.maximum(gauge, FLOOR))


def _thinned(count, points):
    """Indices of so many points out of count, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, points).astype(int))


def describe(trajectory):
    """A run of the bead on a circle of 1 m in words and numbers: where it ends, and the largest residuals."""
    step = 1e3 * (trajectory.t[1] - trajectory.t[0])
    return " ".join(
        [
            f"After {trajectory.t[-1]:.4g} s with Δt = {step:.3g} ms the bead is {_place(np.hypot(*trajectory.q[-1]) - 1.0)}.",
            f"Largest values: position residual {trajectory.position_residual.max():.2e} m²,",
            f"velocity residual {trajectory.velocity_residual.max():.2e} m²/s,",
            f"energy balance {np.abs(trajectory.energy_balance).max():.2e} J.",
            *([trajectory.stopped] if trajectory.stopped else []),
            *trajectory.notes,
        ]
    )


def _place(outside):
    """Where a bead is that is so many metres outside the wire, in words."""
    for unit, size, least in (
        ("m", 1.0, 0.1),
        ("cm", 1e-2, 1e-2),
        ("mm", 1e-3, 1e-4),
        ("µm", 1e-6, 1e-7),
        ("nm", 1e-9, 1e-10),
    ):
        if abs(outside) >= least:
            return f"{abs(outside) / size:.2g} {unit} {'outside' if outside > 0 else 'inside'} the wire"
    return "within 0.1 nm of the wire"


def path_and_gauges(trajectory):
    """Static figure of one run of a bead on a circle of 1 m: its path and the three gauges."""
    figure = Figure()
    artists = setup(figure)
    for name, *_ in GAUGES:
        artists[name].axes.set_xlim(0, trajectory.t[-1])
    draw(trajectory, artists, points=20 * POINTS)
    for name, *_ in GAUGES:
        last = max(abs(getattr(trajectory, name)[-1]), FLOOR)
        words = f"at the end {last:.1g}" if last > 1e-13 else "at the end: rounding"
        artists[name].axes.annotate(words, (0.5, 0.35), xycoords="axes fraction", ha="center")
    figure.description = describe(trajectory)
    return figure


def growth(trajectory, slope):
    """φ over time of a run that drifts, and the parabola ½ slope t² that its steps add up to.

    Parameters
    ----------
    trajectory : Trajectory
        Of a mechanism with one constraint.
    slope : float
        Growth of φ̇ per second.
    """
    shown = _thinned(len(trajectory.t), POINTS)
    t, phi = trajectory.t[shown], [trajectory.system.phi(q)[0] for q in trajectory.q[shown]]
    figure = Figure(figsize=(7.5, 2.8))
    axes = figure.add_axes([0.1, 0.18, 0.87, 0.76])
    axes.plot(t, phi, color=VIOLATION, label="φ of the run")
    axes.plot(t, slope / 2 * t**2, **REFERENCE, label="parabola")
    axes.set(xlabel="time (s)", ylabel="φ (m²)", xlim=(0, t[-1]))
    axes.legend(loc="lower left")
    figure.description = (
        f"φ over {t[-1]:g} s. It starts flat, bends down and ends at {phi[-1]:.3g} m². "
        f"The parabola {slope / 2:.3g} t² follows it, to {slope / 2 * t[-1] ** 2:.3g} m²."
    )
    return figure


def residuals(runs):
    """|φ| over time of several runs on one logarithmic axis.

    Parameters
    ----------
    runs : dict
        Label to (t, φ), arrays of one length.
    """
    figure = Figure(figsize=(7.5, 3.0))
    axes = figure.add_axes([0.1, 0.17, 0.87, 0.76], yscale="log")
    words = []
    for (name, (t, phi)), style in zip(runs.items(), ("-", "--", ":")):
        size = np.maximum(np.abs(phi), FLOOR)
        axes.plot(t, size, style, color=VIOLATION)
        axes.annotate(name, (t[-1], size[-1]), xytext=(-6, -20), textcoords="offset points", ha="right")
        most = f"{size.max():.2g}" if size.max() > 1e-6 else f"1e{int(np.ceil(np.log10(size.max())))}"
        words.append(f"{name}: at most {most} m²")
    axes.set(xlabel="time (s)", ylabel="|φ| (m²)", xlim=(0, max(t[-1] for t, _ in runs.values())))
    figure.description = f"|φ| over {t[-1]:g} s on a logarithmic axis. " + "; ".join(words) + "."
    return figure
