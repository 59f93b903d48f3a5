"""Pictures of lesson 09: one step of RATTLE, energies and gauges of long runs, orders, work and precision."""

import numpy as np

from chain_lib.draw.figure import CRANK, ENERGY, FORCE, GROUND, PLATFORM, REFERENCE, VIOLATION, Figure
from chain_lib.draw.linkage import BARS, hide, linkage, put
from chain_lib.draw.marks import arrow, label

GAUGES = (
    # attribute, title, colour, lowest and highest value shown
    ("position_residual", "position residual ‖φ‖", VIOLATION, (1e-17, 1e1)),
    ("velocity_residual", "velocity residual ‖J v + φₜ‖", VIOLATION, (1e-17, 1e3)),
    ("energy_balance", "energy balance E − E₀ − W (J)", ENERGY, (-30.0, 30.0)),
)
FLOOR = 1e-17  # zeros of a log axis are drawn here
LINEAR = 1e-6  # energies (J) below this stand on a linear part of the axis
LONGEST = 100.0  # right end of the explorer's time axis (s)

STYLES = {
    # what tells the methods apart, since the course's colours mean other things: grey, line style, marker
    "explicit_euler": ("0.6", ":", "v", "explicit Euler"),
    "semi_implicit_euler": ("0.6", "--", "^", "semi-implicit Euler"),
    "rk4": ("black", "-", "s", "RK4"),
    "rattle": ("0.3", "-", "o", "RATTLE"),
    "shake": ("0.3", ":", ".", "SHAKE"),
    "implicit_midpoint": ("0.5", "-.", "D", "implicit midpoint"),
    "implicit_midpoint_ggl": ("0.5", "-", "d", "midpoint, GGL"),
    "newmark": ("0.15", ":", "x", "Newmark"),
    "hht": ("0.15", "--", "+", "HHT"),
    "generalized_alpha": ("0.15", "-.", "*", "generalized-α"),
    "dop853": ("black", "--", "P", "DOP853"),
    "radau": ("black", "-.", "X", "Radau"),
}


def sketch():
    """One step of RATTLE on the wire: what λ does to the place, and μ to the velocity."""
    figure = Figure(figsize=(6.4, 4.4))
    axes = figure.add_axes([0.01, 0.01, 0.98, 0.98], aspect="equal", xlim=(-1.35, 1.15), ylim=(-1.52, 0.18))
    axes.axis("off")
    step = one_step()
    q0, q1, free = step["q0"], step["q1"], step["free"]
    before, after = (q1 + 0.13 * step[name] for name in ("v before", "v1"))
    angle = np.linspace(np.pi, 2 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color=PLATFORM, linewidth=2)
    axes.plot(0, 0, "o", color=PLATFORM, markersize=4)
    for place in (q0, q1):
        axes.plot([0, place[0]], [0, place[1]], color=GROUND, linewidth=1.0, linestyle=":")
    for start, end, colour in (
        (q0, free, GROUND),
        (free, q1, FORCE),
        (q0, q1, CRANK),
        (q1, before, GROUND),
        (before, after, FORCE),
        (q1, after, CRANK),
    ):
        arrow(axes, start, end, colour)
    for place, words, colour, side in (
        ((free + q0) / 2 + (-0.06, -0.06), "without λ", "0.4", "right"),
        (free + (0.08, -0.1), "along J₀ᵀ: λ", FORCE, "left"),
        ((q0 + q1) / 2 + (0.07, 0.07), "Δt M⁻¹p½", CRANK, "left"),
        ((q1 + before) / 2 + (-0.05, -0.12), "without μ", "0.4", "right"),
        ((before + after) / 2 + (0.05, -0.03), "along J₁ᵀ: μ", FORCE, "left"),
        (after + (0.05, 0.05), "v₁", CRANK, "left"),
        ((0.03, -0.04), "centre", PLATFORM, "left"),
        ((0.72, -0.52), "wire: φ(q) = 0", PLATFORM, "right"),
        (q0 + (-0.06, 0.05), "q₀", PLATFORM, "right"),
        (q1 + (0.05, 0.09), "q₁", PLATFORM, "left"),
    ):
        label(axes, place, words, color=colour, ha=side)
    for place in (q0, q1):
        axes.plot(*place, "o", color=CRANK, markersize=11)
    figure.description = (
        "One step of RATTLE for the bead on its wire. From q₀ the momentum alone would carry the bead to a point outside the "
        "wire. λ times J₀ᵀ, the direction from the centre to q₀, brings it back onto the wire, at q₁. There μ times J₁ᵀ, the "
        "direction from the centre to q₁, takes away the part of the velocity that leaves the wire; v₁ is along the wire."
    )
    return figure


def one_step(dt=0.22, speed=3.2, gravity=9.81):
    """The step of the sketch, a real one: places and velocities with and without the multipliers."""
    q0 = np.array([-0.94, -np.sqrt(1 - 0.94**2)])
    fall = np.array([0.0, -gravity])
    half = speed * np.array([-q0[1], q0[0]]) + dt / 2 * fall
    free = q0 + dt * half
    along = free @ q0
    back = -along + np.sqrt(along**2 - free @ free + 1)  # |free + back q0| = 1
    q1 = free + back * q0
    before = (q1 - q0) / dt + dt / 2 * fall
    return {"q0": q0, "free": free, "q1": q1, "v before": before, "v1": before - (before @ q1) * q1}


def energies(runs, title="energy balance E − E₀ − W (J)"):
    """Energy balance over time of several runs: the band in which it swings, a label at its end.

    Parameters
    ----------
    runs : dict
        Label to Trajectory, of one duration; three at most.
    """
    figure = Figure(figsize=(7.5, 3.2))
    axes = figure.add_axes([0.1, 0.16, 0.62, 0.74])
    words, ends = [], []
    for (name, run), style in zip(runs.items(), ("-", "--", ":")):
        t, low, high = bands(run.t, run.energy_balance)
        axes.fill_between(t, low, high, color=ENERGY, alpha=0.35, linewidth=0)
        axes.plot(t, (low + high) / 2, style, color=ENERGY)
        ends.append((t[-1], (low[-1] + high[-1]) / 2, name))
        words.append(f"{name}: between {_signed(low[-1])} and {_signed(high[-1])} J in the last hundredth")
    last = max(run.t[-1] for run in runs.values())
    axes.set(title=title, xlabel="time (s)", xlim=(0, last))
    _labels(figure, axes, ends)
    figure.description = f"Energy balance over {last:g} s. " + "; ".join(words) + "."
    return figure


def bands(t, values, count=100):
    """Smallest and largest value in each of so many equal pieces of a run: middle times, low, high."""
    pieces = np.array_split(np.arange(len(t)), min(count, len(t)))
    low, high = (np.array([pick(values[piece]) for piece in pieces]) for pick in (np.min, np.max))
    return np.array([t[piece].mean() for piece in pieces]), low, high


def gauges(runs, unit):
    """The three gauges over time of several long runs: the largest value in each hundredth of the run.

    Parameters
    ----------
    runs : dict
        Method to Trajectory.
    unit : str
        Of the constraint.
    """
    figure = Figure(figsize=(7.5, 5.6))
    words = []
    titles = (f"position residual ‖φ‖ ({unit})", f"velocity residual ‖J v + φₜ‖ ({unit}/s)", "|E − E₀ − W| (J)")
    for row, ((name, *_), title) in enumerate(zip(GAUGES, titles)):
        axes = figure.add_axes([0.1, 0.72 - 0.315 * row, 0.62, 0.22], yscale="log", title=title)
        ends = []
        for method, run in runs.items():
            grey, style, _, words_of = STYLES[method]
            t, _, high = bands(run.t, np.abs(getattr(run, name)))
            axes.plot(t, np.maximum(high, FLOOR), style, color=grey)
            ends.append((t[-1], max(high[-1], FLOOR), words_of))
            words.append(f"{words_of} {_power_of_ten(high.max())}")
        axes.set_xlim(0, max(run.t[-1] for run in runs.values()))
        axes.minorticks_off()
        if row < 2:
            axes.tick_params(labelbottom=False)
        if axes.get_ylim()[0] < 1e-13:
            axes.axhline(2e-16, color="0.6", linewidth=0.8, linestyle=":")
        _labels(figure, axes, ends)
    axes.set_xlabel("time (s)")
    count = len(runs)
    rows = [f"{title}: {', '.join(words[count * k : count * (k + 1)])}" for k, title in enumerate(titles)]
    figure.description = "Orders of magnitude of the largest values, for each method. " + "; ".join(rows) + "."
    return figure


def orders(errors):
    """Largest error over the step, both axes logarithmic, one panel a mechanism.

    Parameters
    ----------
    errors : dict
        Mechanism with its unit, as the title, to a dict of method to (steps, errors).
    """
    figure = Figure(figsize=(7.5, 3.8))
    words = []
    for column, (title, curves) in enumerate(errors.items()):
        axes = figure.add_axes([0.075 + 0.37 * column, 0.14, 0.285, 0.76], xscale="log", yscale="log")
        axes.set(title=title, xlabel="Δt (s)")
        for method, (dt, error) in curves.items():
            grey, style, marker, name = STYLES[method]
            axes.plot(dt, error, style, color=grey, marker=marker, markersize=5, linewidth=1.1, label=name)
            words.append(f"{name} {np.polyfit(np.log(dt), np.log(error), 1)[0]:.1f}")
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), handlelength=2.6)
    count = len(words) // len(errors)
    rows = [f"{title}: {', '.join(words[count * k : count * (k + 1)])}" for k, title in enumerate(errors)]
    figure.description = "Straight lines, with the slopes " + "; ".join(rows) + "."
    return figure


def work_precision(points, unit):
    """Error against the number of evaluations, both axes logarithmic.

    Parameters
    ----------
    points : dict
        Method to (evaluations, errors).
    unit : str
        Of the error.
    """
    figure = Figure(figsize=(7.5, 4.4))
    axes = figure.add_axes([0.1, 0.13, 0.62, 0.83], xscale="log", yscale="log")
    ends = []
    for method, (work, error) in points.items():
        grey, style, marker, name = STYLES[method]
        axes.plot(work, error, style, color=grey, marker=marker, markersize=6, linewidth=1.1)
        ends.append((work[-1], error[-1], name))
    axes.set(xlabel="evaluations of the equations of motion", ylabel=f"largest error ({unit})")
    _labels(figure, axes, ends)
    best = {goal: method for goal in (1e-2, 1e-6) if (method := _cheapest(points, goal))}
    figure.description = "Error over work, a falling line for each method. " + " ".join(
        f"For an error of {goal:.0e} {unit}, {STYLES[method][3]} needs the fewest evaluations."
        for goal, method in best.items()
    )
    return figure


def _cheapest(points, goal):
    """The method that reaches an error with the fewest evaluations, between two of its points; None if none does."""
    work = {}
    for method, (count, error) in points.items():
        order = np.argsort(error)
        if np.min(error) <= goal <= np.max(error):
            work[method] = np.interp(np.log(goal), np.log(np.take(error, order)), np.log(np.take(count, order)))
    return min(work, key=work.get, default=None)


def growth(runs, unit, limit=None):
    """Error of the multipliers over time, on a logarithmic axis.

    Parameters
    ----------
    runs : dict
        Label to (t, error).
    unit : str
    limit : float, optional
        Size of the multipliers themselves, drawn as a reference.
    """
    figure = Figure(figsize=(7.5, 3.0))
    axes = figure.add_axes([0.1, 0.17, 0.62, 0.74], yscale="log", title=f"error of λ ({unit})")
    ends, words = [], []
    for (name, (t, error)), style in zip(runs.items(), ("-", "--", ":")):
        middle, _, high = bands(t, error)
        axes.plot(middle, np.maximum(high, FLOOR), style, color=FORCE)
        ends.append((middle[-1], high[-1], name))
        words.append(f"{name} ends at {t[-1]:.0f} s with {_power_of_ten(high[-1])}")
    if limit is not None:
        axes.axhline(limit, **REFERENCE)
        axes.annotate("largest λ", (0.01, limit * 1.3), xycoords=("axes fraction", "data"), fontsize=9)
    axes.set(xlabel="time (s)", xlim=(0, max(t[-1] for t, _ in runs.values())))
    axes.minorticks_off()
    _labels(figure, axes, ends)
    figure.description = f"Error of the multiplier in {unit}, orders of magnitude: " + "; ".join(words) + "."
    return figure


def _labels(figure, axes, ends):
    """A column of words to the right of the axes, in the order of the curves' ends, each with a line to its own."""
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # what follows needs limits that stay
    to_axes = axes.transData + axes.transAxes.inverted()
    places = [to_axes.transform((x, y)) for x, y, _ in ends]
    height = axes.get_position().height * figure.get_figheight()
    least = 0.17 / height
    ranked = sorted(range(len(ends)), key=lambda k: places[k][1])
    spots = []
    for k in ranked:
        spots.append(max(places[k][1], spots[-1] + least if spots else -0.05))
    over = max(0.0, spots[-1] - 1.05)
    for place in reversed(range(len(spots))):
        spots[place] = min(spots[place], 1.05 - least * (len(spots) - 1 - place)) if over else spots[place]
    for k, spot in zip(ranked, spots):
        axes.annotate(
            ends[k][2], places[k], xytext=(1.07, spot), xycoords="axes fraction", textcoords="axes fraction", va="center",
            fontsize=9, arrowprops=dict(arrowstyle="-", color="0.75", linewidth=0.7, shrinkA=1, shrinkB=2), annotation_clip=False,
        )  # fmt: skip


def setup(figure):
    """Axes and artists of the explorer: the mechanism at the end of its run, and the gauges over time; made once."""
    axes = figure.add_axes([0.01, 0.08, 0.45, 0.80], aspect="equal", xlim=(-1.02, 1.02), ylim=(-1.02, 1.02))
    axes.set(title="at the end of the run; the grey bar is 0.2 m", xticks=[], yticks=[])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    artists = {}
    (artists["wire"],) = axes.plot([], [], color=GROUND, linewidth=2, zorder=1)
    (artists["path"],) = axes.plot([], [], color=CRANK, alpha=0.35, linewidth=0.8, zorder=1)
    artists |= linkage(axes)
    (artists["true"],) = axes.plot([], [], **REFERENCE, marker="o", markersize=5, markerfacecolor="none", zorder=6)
    (artists["bead"],) = axes.plot([], [], "o", color=CRANK, markersize=10, zorder=5)
    (artists["scale"],) = axes.plot([], [], color=GROUND, linewidth=4, solid_capstyle="butt")
    figure.text(0.235, 0.03, "dashed, or a ring: where it should be", ha="center", fontsize=9)
    for row, (name, title, colour, limits) in enumerate(GAUGES):
        gauge = figure.add_axes([0.58, 0.71 - 0.295 * row, 0.40, 0.20], xscale="log", xlim=(1e-2, LONGEST), title=title)
        if row < 2:
            gauge.set(yscale="log", ylim=limits, yticks=[1e-15, 1e-10, 1e-5, 1])
            gauge.axhline(2e-16, color="0.6", linewidth=0.8, linestyle=":")
            gauge.tick_params(labelbottom=False)
        else:
            gauge.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
            gauge.set(ylim=limits, yticks=[-1, -1e-3, 0, 1e-3, 1], xlabel="time (s)")
        gauge.minorticks_off()
        (artists[name],) = gauge.plot([], [], color=colour, linewidth=1.2)
    return artists


def draw(run, artists):
    """Put a run of the explorer (see `explore.lesson_integrators.Run`) into the artists of `setup`."""
    centre, size = run.frame

    def scaled(points):
        return np.clip((np.asarray(points) - centre) / size, -1.02, 1.02).T

    shown = run.shown
    artists["scale"].set_data([-0.95, -0.95 + 0.2 / size], [-0.98, -0.98])
    points = {name: scaled(point) for name, point in run.points.items()}
    if "bead" in points:
        hide(artists, "ground", "feet", "plate", "joints", *(name for name, *_ in BARS))
        angle = np.linspace(0, 2 * np.pi, 120)
        artists["wire"].set_data(*scaled(np.transpose([np.cos(angle), np.sin(angle)])))
        artists["bead"].set_data(points["bead"][:1], points["bead"][1:])
        artists["true"].set_data(*scaled([run.true["bead"]]))
    else:
        hide(artists, "wire", "bead")
        put(artists, {name: points[name] for name in "ABCD"})
        artists["true"].set_data(*scaled([run.true[name] for name in "ABCD"]))
    artists["path"].set_data(*scaled(run.path))
    for name, _, _, (low, high) in GAUGES:
        least = FLOOR if low > 0 else low
        artists[name].set_data(run.t[shown], np.clip(getattr(run, name)[shown], least, high))


def _signed(value):
    """A number with its sign and three digits; zero where it is nothing but rounding."""
    return "0" if abs(value) < 1e-7 else f"{value:+.3g}".replace("-", "−")


def _power_of_ten(value):
    """The power of ten next above, in words; rounding where there is nothing else."""
    return "rounding" if value < 1e-12 else f"below 1e{int(np.ceil(np.log10(value)))}"
