"""Explorers of lesson 08: the gains on the map of what is stable, and the metric of a projection."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import atan2, cos, degrees, radians, sin, sqrt

import numpy as np

from chain_lib import codegen, mechanisms
from chain_lib.draw import stabilization as picture
from chain_lib.explore.controls import Choice, Handle, Slider, Stops
from chain_lib.explore.explorer import Explorer
from chain_lib.simulation import simulate
from chain_lib.stabilization import Baumgarte, growth_per_step, stability_limit
from chain_lib.trajectory import Trajectory

DURATION, SPEED, AWAY = 5.0, 3.0, 1e-3  # of the run (s), of the bead (m/s), and φ at its start (m²)
STEPS_WITHOUT_NUMBA = 1000  # a run of about 50 ms in plain NumPy
OFFSETS = {"explicit_euler": 1.0, "semi_implicit_euler": -1.0}  # sign of the offset that a method leaves

SPAN, TANGENT = 1.0, 0.5  # of the projected run (s), and its speed at the start (m/s)
COUNTS = (500, 250, 125, 50, 25)  # steps of a projected run
REFERENCE_STEPS = 1000  # of RK4, whose error is far below what is shown; each of COUNTS divides it


@dataclass(frozen=True, eq=False)
class Feedback:
    """A run of the bead under feedback, and what the linear error does with the same gains.

    ``growth`` is the factor of an error in one step, ``limit`` the step that these gains bear (s; 0 if
    none), ``offset`` where φ is predicted to settle (m²; None where it does not).
    """

    method: str
    dt: float
    alpha: float
    beta: float
    trajectory: Trajectory
    growth: float
    limit: float
    offset: float | None

    @property
    def q(self):
        """Where the bead has been, (N, 2)."""
        return self.trajectory.q


def gains():
    """The gains against the step, on the map of what is stable, and a bead that runs with them.

    The bead circles without gravity at 3 m/s and starts half a millimetre outside its wire. Controls:
    method, dt (s), alpha and beta (1/s). The point (αΔt, βΔt) can be dragged.
    """
    gain = dict(unit="1/s", low=0.0, high=150.0, start=20.0, step=1.0)
    critical = {"method": "semi_implicit_euler", "dt": 0.02}
    return Explorer(
        title="Gains against the step",
        controls=(
            Choice("method", "method", {name: key for key, name in picture.NAMES.items()}, "semi_implicit_euler"),
            Stops(
                "dt",
                "Δt",
                tuple(1e-3 * dt for dt in (2, 3, 5, 7, 10, 15, 20)),
                start=0.01,
                words=lambda dt: f"{1e3 * dt:.4g} ms",
            ),
            Slider("alpha", "gain α", special=(40.0,), **gain),
            Slider("beta", "gain β", special=(4.0, 82.0), **gain),
        ),
        compute=_feedback,
        setup=picture.gains_setup,
        draw=picture.gains_draw,
        text=_feedback_text,
        handles=(
            Handle(
                "alpha",
                "gains in the map",
                "point",
                place=lambda values: (values["dt"] * values["alpha"], values["dt"] * values["beta"]),
                value=lambda x, y, values: (x / values["dt"], y / values["dt"]),
                upward="beta",
            ),
        ),
        presets={
            "within the limit": {**critical, "alpha": 41.0, "beta": 41.0},
            "beyond it": {**critical, "alpha": 43.0, "beta": 43.0},
            "small β": {**critical, "alpha": 20.0, "beta": 4.0},
            "explicit Euler": {"method": "explicit_euler", "dt": 0.01, "alpha": 20.0, "beta": 20.0},
        },
    )


@cache
def _free_bead():
    return mechanisms.BeadOnCircle().system(g=0.0)


def _feedback(*, method, dt, alpha, beta):
    duration = DURATION if codegen.compiles() else min(DURATION, STEPS_WITHOUT_NUMBA * dt)
    start, v = (sqrt(1.0 + AWAY), 0.0), (0.0, SPEED)
    feedback = Baumgarte(alpha, beta)
    run = simulate(
        _free_bead(), start, v, t_end=duration, dt=dt, method=method, stabilize=feedback, consistent_start=False
    )
    growth, limit = float(growth_per_step(method, alpha, beta, dt)), stability_limit(method, alpha, beta)
    settles = growth < 1 and beta > 0 and method in OFFSETS
    offset = OFFSETS[method] * 2 * alpha * dt * SPEED**2 / beta**2 if settles else None
    return Feedback(method, dt, alpha, beta, run, growth, limit, offset)


def _feedback_text(result):
    run, dt = result.trajectory, result.dt
    words = [
        f"{picture.NAMES[result.method]}, Δt = {1e3 * dt:g} ms, α = {result.alpha:g}/s, β = {result.beta:g}/s: "
        f"αΔt = {dt * result.alpha:.2f}, βΔt = {dt * result.beta:.2f}.",
        f"A small error is multiplied by {result.growth:.3f} in each step.",
        f"These gains need Δt below {1e3 * result.limit:.3g} ms."
        if result.limit
        else "No step makes such an error die out.",
    ]
    if run.stopped:
        words.append(f"The run blows up after {run.t[-1]:.3g} s.")
    else:
        words.append(
            f"After {run.t[-1]:.3g} s: |φ| = {run.position_residual[-1]:.2g} m², speed {np.hypot(*run.v[-1]):.2f} m/s."
        )
    if result.offset is not None:
        words.append(f"Predicted offset {result.offset:.2g} m².")
    return " ".join(words)


@dataclass(frozen=True, eq=False)
class Projected:
    """A run of free trial steps, each projected back, beside the exact motion, (N, 2), and its errors (m)."""

    mu: float
    dt: float
    metric: str
    t: np.ndarray
    q: np.ndarray
    exact: np.ndarray
    error: np.ndarray
    steps: np.ndarray
    errors: dict


def projection_metric():
    """Free trial steps that are projected back onto the wire, in two metrics: does the error fall with the step?

    Controls: mu, the inertia along y (kg) beside 1 kg along x; dt (s); metric; start, an angle (°) from x.
    """
    return Explorer(
        title="The metric of a projection",
        controls=(
            Choice("metric", "metric", {"Euclidean": "euclidean", "mass": "mass"}, "euclidean"),
            Stops("mu", "μ", (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0), start=5.0, words=lambda mu: f"{mu:g} kg"),
            Stops(
                "dt",
                "Δt",
                tuple(SPAN / count for count in COUNTS),
                start=SPAN / 250,
                words=lambda dt: f"{1e3 * dt:g} ms",
            ),
            Slider("start", "start", "°", -180.0, 180.0, start=0.0, step=1.0, special=(-90.0, 90.0)),
        ),
        compute=_projected,
        setup=picture.metric_setup,
        draw=picture.metric_draw,
        text=_projected_text,
        handles=(
            Handle(
                "start",
                "start of the bead",
                "bead",
                place=lambda values: (cos(radians(values["start"])), sin(radians(values["start"]))),
                value=lambda x, y: degrees(atan2(y, x)),
            ),
        ),
        presets={"equal inertia, μ = 1": {"mu": 1.0}, "smallest step": {"dt": SPAN / COUNTS[0]}},
    )


@cache
def _flywheel():
    return mechanisms.BeadWithFlywheel()


def trial_steps(q, v, mu, count, metric, duration=SPAN, g=9.81):
    """A bead of 1 kg with the inertia mu (kg) along y: free steps, each projected back onto the circle of 1 m.

    A free step is one of semi-implicit Euler without the wire. Newton's iteration then moves the point along
    M⁻¹Jᵀ or Jᵀ, and the velocity follows from the places. Returns q after each step, (count + 1, 2).
    """
    dt, (x, y), (vx, vy) = duration / count, q, v
    along_y = 1 / mu if metric == "mass" else 1.0
    path = [(x, y)]
    for _ in range(count):
        vy -= dt * g / mu
        X, Y = x + dt * vx, y + dt * vy
        for _ in range(30):
            phi = X * X + Y * Y - 1
            if abs(phi) < 1e-15:
                break
            share = phi / (2 * (X * X + along_y * Y * Y))
            X, Y = X - share * X, Y - share * along_y * Y
        vx, vy, x, y = (X - x) / dt, (Y - y) / dt, X, Y
        path.append((x, y))
    return np.array(path)


@lru_cache(maxsize=32)
def _runs(mu, start):
    """The exact motion, (REFERENCE_STEPS + 1, 2), and the projected runs by metric and number of steps."""
    q = cos(radians(start)), sin(radians(start))
    v = -TANGENT * q[1], TANGENT * q[0]
    exact = simulate(_flywheel().system(mu=mu), q, v, t_end=SPAN, dt=SPAN / REFERENCE_STEPS).q
    return exact, {
        (metric, count): trial_steps(q, v, mu, count, metric) for metric in ("mass", "euclidean") for count in COUNTS
    }


def _projected(*, mu, dt, metric, start):
    exact, runs = _runs(mu, start)
    count = min(COUNTS, key=lambda count: abs(SPAN / count - dt))
    q, exact_then = runs[metric, count], exact[:: REFERENCE_STEPS // count]
    errors = {
        name: np.array([np.hypot(*(runs[name, count][-1] - exact[-1])) for count in COUNTS])
        for name in ("mass", "euclidean")
    }
    t, steps = np.linspace(0, SPAN, count + 1), SPAN / np.array(COUNTS)
    return Projected(mu, SPAN / count, metric, t, q, exact_then, np.hypot(*(q - exact_then).T), steps, errors)


def _projected_text(result):
    how = "in the metric of M" if result.metric == "mass" else "in the plain metric"
    ends = {
        name: f"{errors[-1]:.2g} m at 40 ms and {errors[0]:.2g} m at 2 ms" for name, errors in result.errors.items()
    }
    return (
        f"M = diag(1, {result.mu:g}) kg, Δt = {1e3 * result.dt:g} ms, projected {how}: after 1 s the bead is at "
        f"({result.q[-1, 0]:.3f}, {result.q[-1, 1]:.3f}) m, {result.error[-1]:.2g} m from its place. Error after 1 s in the metric of M: "
        f"{ends['mass']}; Euclidean: {ends['euclidean']}."
    )
