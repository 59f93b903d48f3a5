"""Pictures of lesson 08: the feedback's region, the runs laid over it, and the metric of a projection."""

from functools import cache

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.patches import Circle

from chain_lib.draw.figure import CRANK, ENERGY, FORCE, GROUND, PLATFORM, REFERENCE, ROCKER, VIOLATION, Figure
from chain_lib.draw.marks import arrow, ground, label
from chain_lib.stabilization import stability_limit

NAMES = {"explicit_euler": "explicit Euler", "semi_implicit_euler": "semi-implicit Euler", "rk4": "RK4"}
STYLES = ("-", "--", ":", "-.")
FLOOR = 1e-17  # zeros of a log axis are drawn here
LARGEST = 1e4  # and this is as far as a run that blows up is drawn (m²)
MAP = 3.0  # end of the axes αΔt and βΔt
POINTS = 600  # of a run, enough for its width in the picture
BLOWN = "#F6D0B8"  # ground of a map where nothing dies out


@cache
def edge(method, rays=121):
    """The edge of a method's stability region in the plane of αΔt and βΔt, (2, rays + 1), from `stability_limit`."""
    angles = np.linspace(2e-3, np.pi / 2 - 2e-3, rays)
    reach = [stability_limit(method, np.cos(angle), np.sin(angle)) for angle in angles]
    return np.hstack([np.zeros((2, 1)), reach * np.array([np.cos(angles), np.sin(angles)])])


def sketch():
    """A bead off its wire, with the sign of φ, the direction of J and what the feedback does."""
    figure = Figure(figsize=(5.0, 4.1))
    axes = figure.add_axes([0.02, 0.02, 0.96, 0.96], aspect="equal", xlim=(-1.45, 2.05), ylim=(-1.45, 1.45))
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1.0, fill=False, color=PLATFORM, linewidth=2.5))
    axes.plot(0, 0, "o", color=PLATFORM, markersize=4)
    axes.plot([0, -1], [0, 0], color=GROUND, linewidth=1.2)
    label(axes, (-0.55, 0.1), "R")
    ground(axes, (0, -1))
    outward = np.array([np.cos(np.deg2rad(35)), np.sin(np.deg2rad(35))])
    across = np.array([-outward[1], outward[0]])
    bead = 1.25 * outward
    axes.plot(*zip(0 * bead, bead), color=GROUND, linewidth=1.0, linestyle=":")
    arrow(axes, bead, bead + 0.55 * outward, VIOLATION)
    label(axes, bead + 0.6 * outward + (0.05, 0.05), "Jᵀ: φ̇ > 0", color=VIOLATION, ha="left")
    arrow(axes, bead, bead - 0.5 * outward, FORCE)
    label(axes, bead - 0.5 * outward + (-0.08, 0.1), "−2αφ̇ − β²φ", color=FORCE, ha="right")
    arrow(axes, bead, bead + 0.5 * across, CRANK)
    label(axes, bead + 0.55 * across + (0.0, 0.06), "v", color=CRANK)
    axes.plot(*bead, "o", color=CRANK, markersize=13)
    label(axes, (1.22, -0.2), "φ > 0 outside", ha="left")
    label(axes, (-0.45, -0.45), "φ < 0 inside")
    label(axes, (0.3, -1.3), "wire: φ = x² + y² − R² = 0", ha="left")
    figure.description = (
        "A bead outside its wire of radius R, where φ is positive; inside it is negative. The gradient Jᵀ of φ points outward, and φ̇ is "
        "positive when the bead moves outward. The feedback −2αφ̇ − β²φ then pulls inward. The velocity v lies along the wire."
    )
    return figure


def projection_sketch(trial, landings, mu):
    """A point off the wire, the lines of equal distance in two metrics, and where each metric puts it back.

    Parameters
    ----------
    trial : array, (2,)
        A point outside the circle of 1 m.
    landings : dict
        "mass" and "euclidean" to the projected point, (2,).
    mu : float
        M = diag(1, mu).
    """
    figure = Figure(figsize=(5.4, 4.0))
    axes = figure.add_axes([0.11, 0.13, 0.87, 0.84], aspect="equal", xlim=(-0.35, 1.35), ylim=(0.2, 1.35))
    angle = np.linspace(-0.2, np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color=PLATFORM, linewidth=2.5)
    full = np.linspace(0, 2 * np.pi, 400)
    places = {}
    for name, weight, colour, style in (("euclidean", 1.0, VIOLATION, "--"), ("mass", mu, ROCKER, "-")):
        change = landings[name] - trial
        size = np.sqrt(change[0] ** 2 + weight * change[1] ** 2)
        axes.plot(
            trial[0] + size * np.cos(full),
            trial[1] + size / np.sqrt(weight) * np.sin(full),
            style,
            color=colour,
            linewidth=1,
        )
        arrow(axes, trial, landings[name], colour)
        axes.plot(*landings[name], "s" if name == "euclidean" else "D", color=colour, markersize=7)
        places[name] = f"({landings[name][0]:.3f}, {landings[name][1]:.3f}) m"
    axes.plot(*trial, "o", color=CRANK, markersize=9)
    label(axes, trial + (0.05, 0.06), "trial point", color=CRANK, ha="left")
    label(axes, landings["euclidean"] + (-0.04, -0.11), "Euclidean, along Jᵀ", color=VIOLATION, ha="right")
    label(axes, landings["mass"] + (-0.06, -0.07), "metric of M, along M⁻¹Jᵀ", color=ROCKER, ha="right")
    axes.set(xlabel="x (m)", ylabel="y (m)")
    figure.description = (
        f"A trial point at ({trial[0]:.3f}, {trial[1]:.3f}) m outside the circle of 1 m. The nearest point in the plain metric lies on "
        f"the radius, at {places['euclidean']}: there a circle about the trial point touches the wire. In the metric of M = diag(1, {mu:g}) it is at "
        f"{places['mass']}: there a flat ellipse touches the wire. Moving along y costs more, so the point goes more along x."
    )
    return figure


def opening(runs):
    """|φ| over time of some runs of the bead, on one logarithmic axis; label to Trajectory."""
    figure = Figure(figsize=(7.5, 3.0))
    axes = figure.add_axes([0.1, 0.17, 0.87, 0.71], yscale="log", ylim=(1e-5, 1e3))
    words = []
    for (name, tr), style in zip(runs.items(), STYLES):
        axes.plot(tr.t, np.maximum(tr.position_residual, FLOOR), style, color=VIOLATION, label=name)
        end = f"stops after {tr.t[-1]:.3g} s" if tr.stopped else "runs to its end"
        words.append(f"{name}: {end}, |φ| at most {tr.position_residual.max():.2g} m²")
    axes.set(xlabel="time (s)", ylabel="|φ| (m²)", xlim=(0, max(tr.t[-1] for tr in runs.values())))
    axes.legend(loc="lower right", ncols=len(runs), bbox_to_anchor=(1.0, 0.98))
    figure.description = f"|φ| over time on a logarithmic axis, for three gains α = β. {'; '.join(words)}."
    return figure


def decay(t, curves):
    """φ over time, as a share of its first value, for several pairs of gains.

    Parameters
    ----------
    t : array, (N,)
        Time (s).
    curves : dict
        Label to φ/φ₀, (N,).
    """
    figure = Figure(figsize=(7.5, 3.0))
    axes = figure.add_axes([0.1, 0.17, 0.87, 0.76])
    axes.axhline(0, color="0.6", linewidth=0.8)
    words = []
    for (name, phi), style in zip(curves.items(), STYLES):
        axes.plot(t, phi, style, color=VIOLATION, label=name)
        least, late = phi.min(), t[np.abs(phi) > 0.01][-1]
        over = f"overshoots by {-100 * least:.1f} %" if least < -1e-9 else "does not overshoot"
        words.append(f"{name}: {over} and is below 1 % after {late:.2g} s")
    axes.set(xlabel="time (s)", ylabel="φ / φ₀ (-)", xlim=(0, t[-1]))
    axes.legend(loc="upper right")
    figure.description = f"An error that starts at φ₀ with no rate. {'; '.join(words)}."
    return figure


def region(a, b, radius, formula):
    """The spectral radius of the error's map over (αΔt, βΔt), and an edge that was derived.

    Parameters
    ----------
    a, b : array, (A,) and (B,)
        αΔt and βΔt.
    radius : array, (B, A)
        Factor of a step, for many steps.
    formula : array, (2, K)
        Points of the edge.
    """
    figure = Figure(figsize=(6.2, 4.2))
    axes = figure.add_axes([0.11, 0.13, 0.68, 0.83])
    shown = _radii(axes, a, b, radius)
    axes.plot(*formula, **{**REFERENCE, "linewidth": 2.0})
    bar = figure.colorbar(shown, cax=figure.add_axes([0.82, 0.13, 0.03, 0.83]))
    bar.set_label("factor of an error in each step (-)")
    axes.set(xlabel="αΔt (-)", ylabel="βΔt (-)", xlim=(a[0], a[-1]), ylim=(b[0], b[-1]))
    label(axes, (0.33, 0.8), "dies out")
    label(axes, (0.98, 1.6), "grows", color=VIOLATION)
    best = np.unravel_index(np.argmin(radius), radius.shape)
    figure.description = (
        f"A map over αΔt and βΔt. An error dies out below the curve from (0, 2) to (1, 0) and grows beyond it. The factor is least, "
        f"{radius[best]:.2f}, at αΔt = {a[best[1]]:.2f}, βΔt = {b[best[0]]:.2f}. The dashed curve, the formula, lies on the computed edge."
    )
    return figure


def regions(a, b, radii):
    """The spectral radius of several methods side by side, with `edge` over each; method to (B, A)."""
    figure = Figure(figsize=(7.5, 2.9))
    for k, (method, radius) in enumerate(radii.items()):
        axes = figure.add_axes([0.08 + 0.315 * k, 0.17, 0.28, 0.73])
        _radii(axes, a, b, radius)
        axes.plot(*edge(method), **{**REFERENCE, "linewidth": 1.5})
        axes.plot([0, b[-1]], [0, b[-1]], color=CRANK, linewidth=1.0, linestyle=":")
        axes.set(xlabel="αΔt (-)", xlim=(a[0], a[-1]), ylim=(b[0], b[-1]))
        axes.set_title(NAMES[method])
        axes.set(xticks=[0, 1, 2, 3], yticks=[0, 1, 2, 3], ylabel="" if k else "βΔt (-)")
    ends = "; ".join(f"{NAMES[method]} to αΔt = {stability_limit(method, 1.0, 1.0):.3f}" for method in radii)
    figure.description = (
        f"Three maps over αΔt and βΔt. White and grey is where an error dies out. Along α = β, the dotted line, that is: {ends}. "
        "The region of explicit Euler does not touch the axis α = 0; that of RK4 is the largest."
    )
    return figure


def _radii(axes, a, b, radius):
    axes.set_facecolor(BLOWN)
    axes.grid(False)
    levels = np.linspace(0, 1, 11)
    return axes.contourf(a, b, np.where(radius < 1, radius, np.nan), levels=levels, cmap="Greys", vmax=1.5)


def runs_over_region(a, b, residual, method, offset=None):
    """What is left of φ in runs of the bead, over (αΔt, βΔt), with the edge of the linear error.

    Parameters
    ----------
    a, b : array, (A,) and (B,)
        αΔt and βΔt.
    residual : array, (B, A)
        Largest |φ| (m²) late in the run; nan where the run has stopped.
    method : str
    offset : function (a, b) -> |φ| (m²), optional
        A prediction; where it is 0.1 m² a line is drawn.
    """
    figure = Figure(figsize=(6.2, 4.2))
    axes = figure.add_axes([0.11, 0.13, 0.68, 0.83], facecolor=BLOWN)
    axes.grid(False)
    shown = axes.pcolormesh(a, b, residual, cmap="cividis_r", norm=LogNorm(1e-4, 1.0), rasterized=True)
    axes.plot(*edge(method), **{**REFERENCE, "linewidth": 2.0})
    if offset is not None:
        fine = np.linspace(a[0], a[-1], 200), np.linspace(b[0], b[-1], 400)
        lines = axes.contour(*fine, offset(*np.meshgrid(*fine)), levels=[0.1], colors="white", linewidths=1.5)
        axes.clabel(lines, fmt=lambda value: "offset 0.1 m²", fontsize=8, manual=[(0.6, 0.2)])
    bar = figure.colorbar(shown, cax=figure.add_axes([0.82, 0.13, 0.03, 0.83]), extend="both")
    bar.set_label("|φ| late in the run (m²)")
    label(axes, (0.95, 1.6), "run stopped", color=VIOLATION)
    axes.set(xlabel="αΔt (-)", ylabel="βΔt (-)", xlim=(a[0], a[-1]), ylim=(b[0], b[-1]))
    lost = np.isnan(residual)
    figure.description = (
        f"{residual.size} runs with {NAMES[method]}. About {10 * round(10 * lost.mean())} % have stopped: nearly all that lie outside the "
        "dashed edge, and a strip at small βΔt. Where they run, |φ| late in the run grows from about "
        f"{np.nanmin(residual):.0e} m² at small αΔt to more than 0.3 m² at small βΔt, and at a few places on the edge."
    )
    return figure


def offset(steps, runs):
    """Where φ settles, against the step, on logarithmic axes: label to (measured, predicted), arrays in m²."""
    figure = Figure(figsize=(6.0, 3.2))
    axes = figure.add_axes([0.14, 0.16, 0.83, 0.8], xscale="log", yscale="log")
    words = []
    for (name, (measured, predicted)), marker in zip(runs.items(), "os^"):
        axes.plot(1e3 * steps, np.abs(predicted), **REFERENCE)
        axes.plot(1e3 * steps, np.abs(measured), marker, color=VIOLATION, label=name, linestyle="none")
        words.append(
            f"{name}: {abs(measured[0]):.2g} m² at {1e3 * steps[0]:g} ms to {abs(measured[-1]):.2g} m² at {1e3 * steps[-1]:g} ms"
        )
    axes.set(xlabel="step Δt (ms)", ylabel="|φ| that remains (m²)")
    _steps(axes, steps, [1e-4, 1e-3, 1e-2])
    axes.legend(loc="upper left")
    figure.description = (
        f"The offset against the step: {'; '.join(words)}. The points lie on the predicted straight lines."
    )
    return figure


def convergence(steps, errors):
    """Error at the end against the step on logarithmic axes; "mass" and "euclidean" to (N,)."""
    figure = Figure(figsize=(6.0, 3.2))
    axes = figure.add_axes([0.14, 0.16, 0.83, 0.8], xscale="log", yscale="log")
    axes.plot(1e3 * steps, errors["mass"][-1] * steps / steps[-1], **REFERENCE, label="slope 1")
    for (name, words), (marker, colour) in zip(
        (("euclidean", "Euclidean, along Jᵀ"), ("mass", "metric of M, along M⁻¹Jᵀ")),
        (("s--", VIOLATION), ("D-", ROCKER)),
    ):
        axes.plot(1e3 * steps, errors[name], marker, color=colour, label=words)
    axes.set(xlabel="step Δt (ms)", ylabel="error after 1 s (m)")
    _steps(axes, steps, [1e-4, 1e-3, 1e-2, 1e-1])
    axes.legend(loc="lower right")
    listed = {name: ", ".join(f"{error:.2g}" for error in row) for name, row in errors.items()}
    figure.description = (
        f"Error against the step, for steps of {', '.join(f'{1e3 * dt:g}' for dt in steps)} ms. Euclidean projection: {listed['euclidean']} m, "
        f"which does not fall. Projection in the metric of M: {listed['mass']} m, in proportion to the step."
    )
    return figure


def _steps(axes, steps, levels):
    """Name the steps that were taken on a logarithmic axis, and the powers of ten on the other."""
    axes.set(
        xticks=1e3 * steps, xticklabels=[f"{1e3 * dt:g}" for dt in steps], yticks=levels, ylim=(levels[0], levels[-1])
    )
    axes.minorticks_off()


def three_gauges(runs):
    """The three gauges of several runs, side by side: label to (t, |φ|, |J v|, |E − E₀|), arrays of one length."""
    figure = Figure(figsize=(7.5, 2.9))
    panels = (("|φ| (m²)", VIOLATION), ("|J v| (m²/s)", VIOLATION), ("|E − E₀| (J)", ENERGY))
    for k, (title, colour) in enumerate(panels):
        axes = figure.add_axes([0.075 + 0.32 * k, 0.17, 0.245, 0.66], yscale="log", ylim=(1e-11, 1.0))
        for (name, run), style in zip(runs.items(), STYLES):
            axes.plot(run[0], np.maximum(run[1 + k], FLOOR), style, color=colour, linewidth=1.2, label=name)
        axes.set_title(title)
        axes.set(xlabel="time (s)", xlim=(0, max(run[0][-1] for run in runs.values())))
        if k == 0:
            axes.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.12), ncols=len(runs))
    words = [
        f"{name}: |φ| up to {run[1].max():.0e} m², |J v| up to {run[2].max():.0e} m²/s, energy off by up to {run[3].max():.0e} J"
        for name, run in runs.items()
    ]
    figure.description = f"Three gauges over time on logarithmic axes. {'; '.join(words)}."
    return figure


def gains_setup(figure):
    """Axes and artists of the explorer of the gains: the map, φ over time and the path; made once."""
    artists = {}
    plane = figure.add_axes([0.08, 0.12, 0.42, 0.80], xlim=(0, MAP), ylim=(0, MAP))
    plane.set(title="stability region", xlabel="αΔt (-)", ylabel="βΔt (-)")
    plane.plot([0, MAP], [0, MAP], color=CRANK, linewidth=0.8, linestyle=":")
    plane.annotate("α = β", (2.6, 2.66), color=CRANK, fontsize=9, ha="right")
    for method in NAMES:
        plane.plot(*edge(method), color="0.75", linewidth=0.8)
    for words, place in (("RK4", (0.12, 2.7)), ("semi-implicit", (0.4, 1.72)), ("explicit", (1.12, 1.84))):
        plane.annotate(words, place, color="0.45", fontsize=8)
    (artists["edge"],) = plane.plot([], [], color="black", linewidth=1.8, label="edge")
    (artists["ray"],) = plane.plot([], [], color=CRANK, linewidth=1.0, linestyle="--", label="other Δt")
    (artists["point"],) = plane.plot([], [], "o", color=CRANK, markersize=10, markeredgecolor="white", label="now")
    (artists["limit"],) = plane.plot([], [], "x", color=VIOLATION, markersize=8, markeredgewidth=2, label="limit")
    plane.legend(loc="lower right", handlelength=1.4)
    error = figure.add_axes([0.60, 0.57, 0.38, 0.35], yscale="log", xlim=(0, 5), ylim=(1e-10, LARGEST))
    error.set_title("|φ| (m²)")
    error.set(xlabel="time (s)", yticks=[1e-8, 1e-4, 1, 1e4])
    error.minorticks_off()
    (artists["offset"],) = error.plot([], [], **REFERENCE, label="predicted offset")
    (artists["phi"],) = error.plot([], [], color=VIOLATION, linewidth=1.2)
    error.legend(loc="upper right", handlelength=1.6)
    path = figure.add_axes([0.62, 0.12, 0.34, 0.335], aspect="equal", xlim=(-2.4, 2.4), ylim=(-1.6, 1.6))
    path.set(xlabel="x (m)", ylabel="y (m)", yticks=[-1, 0, 1])
    angle = np.linspace(0, 2 * np.pi, 200)
    path.plot(np.cos(angle), np.sin(angle), **REFERENCE)
    (artists["path"],) = path.plot([], [], color=CRANK, alpha=0.5, linewidth=1.0)
    (artists["bead"],) = path.plot([], [], "o", color=CRANK, markersize=8, markeredgecolor="white")
    return artists


def gains_draw(result, artists):
    """Put a run under feedback, and where its gains stand, into the artists of `gains_setup`."""
    tr, point = result.trajectory, np.array([result.alpha, result.beta])
    artists["edge"].set_data(*edge(result.method))
    artists["point"].set_data(*(result.dt * point)[:, None])
    artists["limit"].set_data(*(result.limit * point)[:, None] if result.limit else ([], []))
    artists["ray"].set_data(*np.outer(point, (0.0, 2 * MAP / max(np.hypot(*point), 1e-9))))
    shown = np.unique(np.linspace(0, len(tr.t) - 1, POINTS).astype(int))
    artists["phi"].set_data(tr.t[shown], np.clip(tr.position_residual[shown], FLOOR, LARGEST))
    settled = abs(result.offset) if result.offset is not None else None
    artists["offset"].set_data(*(([0, 5], [settled, settled]) if settled else ([], [])))
    artists["path"].set_data(*np.clip(tr.q[shown], -10, 10).T)
    artists["bead"].set_data(*np.clip(tr.q[-1:], -10, 10).T)


def metric_setup(figure):
    """Axes and artists of the explorer of the metric: the place after 1 s, the error over time and against the step."""
    artists = {}
    path = figure.add_axes([0.07, 0.12, 0.45, 0.80], aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
    path.set(title="after 1 s", xlabel="x (m)", ylabel="y (m)", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    angle = np.linspace(0, 2 * np.pi, 200)
    path.plot(np.cos(angle), np.sin(angle), color=GROUND, linewidth=1.5)
    (artists["path"],) = path.plot([], [], ".-", color=CRANK, markersize=4, linewidth=1.0, label="projected steps")
    (artists["true"],) = path.plot(
        [], [], "o", color="none", markeredgecolor="black", markersize=13, label="exact motion"
    )
    (artists["bead"],) = path.plot([], [], "o", color=CRANK, markersize=8, markeredgecolor="white", label="bead")
    path.legend(loc="center", handlelength=1.4)
    error = figure.add_axes([0.63, 0.60, 0.35, 0.32], yscale="log", xlim=(0, 1), ylim=(1e-6, 3))
    error.set_title("error (m)")
    error.set(xlabel="time (s)", yticks=[1e-6, 1e-4, 1e-2, 1])
    error.minorticks_off()
    (artists["error"],) = error.plot([], [], color=VIOLATION)
    order = figure.add_axes([0.63, 0.12, 0.35, 0.32], xscale="log", yscale="log", xlim=(1.6, 50), ylim=(1e-4, 60))
    order.set_title("error after 1 s (m)")
    order.set(xlabel="step Δt (ms)", xticks=[2, 4, 8, 20, 40], yticks=[1e-4, 1e-2, 1])
    order.set_xticklabels(["2", "4", "8", "20", "40"])
    order.minorticks_off()
    (artists["euclidean"],) = order.plot([], [], "s--", color=VIOLATION, markersize=4, label="Euclidean")
    (artists["mass"],) = order.plot([], [], "D-", color=ROCKER, markersize=4, label="metric of M")
    (artists["now"],) = order.plot([], [], "o", color="none", markeredgecolor=CRANK, markersize=11)
    order.legend(loc="upper left", handlelength=1.8, ncols=2)
    return artists


def metric_draw(result, artists):
    """Put a run of trial steps and projections into the artists of `metric_setup`."""
    artists["path"].set_data(*result.q.T)
    artists["bead"].set_data(*result.q[-1:].T)
    artists["true"].set_data(*result.exact[-1:].T)
    artists["error"].set_data(result.t, np.clip(result.error, 1e-9, 10))
    for name in ("euclidean", "mass"):
        artists[name].set_data(1e3 * result.steps, np.clip(result.errors[name], 1e-9, 10))
    artists["now"].set_data([1e3 * result.dt], [np.clip(result.error[-1], 1e-9, 10)])
