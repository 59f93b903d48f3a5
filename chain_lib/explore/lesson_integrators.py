"""Explorer of lesson 09: which method, with which step, for how long."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import radians

import numpy as np

from chain_lib import codegen, mechanisms
from chain_lib.draw import integrators as picture
from chain_lib.explore.controls import Choice, Stops
from chain_lib.explore.explorer import Explorer
from chain_lib.integrators import METHODS, STAY
from chain_lib.simulation import simulate
from chain_lib.stabilization import Baumgarte, Projection

STEPS = tuple(1e-3 * step for step in (0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50))
DURATIONS = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 70.0, 100.0)
REMEDIES = {"none": None, "gains 20": Baumgarte(20, 20), "gains 2": Baumgarte(2, 2), "projection": Projection()}
RHO = {"generalized-α, ρ∞ = 0.8": 0.8, "generalized-α, ρ∞ = 0.5": 0.5, "generalized-α, ρ∞ = 0": 0.0}

MOST = {"euler": 20_000, "runge_kutta": 20_000, "generalized_alpha": 3000, "rattle": 1250, "midpoint": 1250}
"""Steps of the four-bar, by family, that take some hundredths of a second; of the bead, twice as many."""

MOST_WITHOUT_NUMBA = {"euler": 800, "runge_kutta": 200, "generalized_alpha": 40, "rattle": 20, "midpoint": 20}
COARSE, LONGEST_WITHOUT_NUMBA = 4e-3, 5.0  # step and duration of the reference without numba (s)
PIECE = 50  # steps between two looks at the energy, which ends a run that is lost,
LOST = {"bead": 5.0, "four-bar": 0.5}  # when it is off by this (J)
FINE = {"bead": 5e-4, "four-bar": 2.5e-4}  # steps of the reference (s)
DISTINCT = 1e-6  # errors below this are not told, since the reference is not better
SHOWN = 500


@dataclass(frozen=True, eq=False)
class Run:
    """A run of a mechanism, with the state of a fine reference at its end.

    ``frame`` is the centre (m) and the half width (m) of what is drawn; ``shown`` the indices of the instants that
    are drawn; ``error`` the largest difference of a coordinate from the reference at the end.
    """

    mechanism: str
    words: str
    dt: float
    asked: float
    t: np.ndarray
    q: np.ndarray
    position_residual: np.ndarray
    velocity_residual: np.ndarray
    energy_balance: np.ndarray
    points: dict
    true: dict
    path: np.ndarray
    error: float
    remarks: tuple
    length: float

    @property
    def shortened(self):
        """Whether the run is complete, and shorter than it was asked for."""
        return self.length < self.asked - 1e-9 and abs(self.t[-1] - self.length) < self.dt / 2

    @property
    def frame(self):
        return ((0.0, 0.0), 1.3) if self.mechanism == "bead" else ((0.27, 0.0), 0.57)

    @property
    def shown(self):
        last = len(self.t) - 1
        return np.unique(np.concatenate([np.geomspace(1, last, SHOWN), np.linspace(1, last, SHOWN)]).astype(int))


def integrators():
    """A bead or a four-bar, run with any method of the library that has steps of one length.

    Controls: mechanism, method, dt (s), duration (s), and the remedy against drift, which rests where the method
    fulfils φ = 0 by itself. A run is shortened to so many steps that it is done in some hundredths of a second.
    """
    for mechanism in FINE:
        _reference(mechanism)  # once, so that no move has to wait for it
    named = {picture.STYLES[name][3]: name for name in METHODS if name != "generalized_alpha"}
    return Explorer(
        title="Which method for how long",
        controls=(
            Choice("mechanism", "mechanism", {"bead on a wire": "bead", "four-bar": "four-bar"}, "bead"),
            Choice("method", "method", {**named, **{name: name for name in RHO}}, "rk4"),
            Stops("dt", "Δt", STEPS, start=0.02, words=lambda dt: f"{1e3 * dt:.4g} ms"),
            Stops("duration", "duration", DURATIONS, start=20.0, words=lambda duration: f"{duration:g} s"),
            Choice("remedy", "remedy", {name: name for name in REMEDIES}, "gains 20"),
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        presets={
            "RATTLE, long": dict(mechanism="bead", method="rattle", dt=0.02, duration=50.0),
            "Newmark breaks": dict(mechanism="bead", method="newmark", dt=0.02, duration=20.0),
            "Euler, projected": dict(
                mechanism="bead", method="semi_implicit_euler", dt=0.001, duration=20.0, remedy="projection"
            ),
            "four-bar, RATTLE": dict(mechanism="four-bar", method="rattle", dt=0.005, duration=5.0),
        },
    )


@cache
def _problem(mechanism):
    """System, start, and the constraint's unit."""
    if mechanism == "bead":
        return mechanisms.BeadOnCircle().system(), np.array([-1.0, 0.0]), "m²"
    system = mechanisms.FourBar().system()
    return system, system.assemble("open", theta2=radians(60)), "m"


@cache
def _reference(mechanism):
    """A fine run: its spacing (s), coordinates and velocities."""
    system, q0, _ = _problem(mechanism)
    fine, spacing = (FINE[mechanism], STEPS[0]) if codegen.compiles() else (COARSE, COARSE)
    tr = simulate(system, q0, 0 * q0, t_end=_longest(), dt=fine, stabilize=Baumgarte(20, 20))
    every = round(spacing / fine)
    return spacing, tr.q[::every].copy(), tr.v[::every].copy()


def _longest():
    """Duration of the reference (s); no run is longer."""
    return DURATIONS[-1] if codegen.compiles() else LONGEST_WITHOUT_NUMBA


def _true(mechanism, t):
    """Coordinates of the reference at a time, by a cubic between two of its states."""
    spacing, q, v = _reference(mechanism)
    k = min(int(t / spacing), len(q) - 2)
    s = t / spacing - k
    return (
        (1 + 2 * s) * (1 - s) ** 2 * q[k]
        + s**2 * (3 - 2 * s) * q[k + 1]
        + spacing * s * (1 - s) * ((1 - s) * v[k] - s * v[k + 1])
    )


def _compute(*, mechanism, method, dt, duration, remedy):
    name = "generalized_alpha" if method in RHO else method
    return _run(mechanism, method, dt, duration, "none" if name in STAY else remedy)


@lru_cache(maxsize=256)
def _run(mechanism, method, dt, duration, remedy):
    system, q0, _ = _problem(mechanism)
    name = "generalized_alpha" if method in RHO else method
    most = (MOST if codegen.compiles() else MOST_WITHOUT_NUMBA)[METHODS[name]] * (2 if mechanism == "bead" else 1)
    length = min(duration, most * dt, _longest())
    how = dict(dt=dt, method=name, rho_inf=RHO.get(method), stabilize=REMEDIES[remedy])
    t, q, gauges, remarks = (
        _piece(system, q0, 0 * q0, length, **how)
        if name in STAY
        else _pieces(system, q0, length, LOST[mechanism], **how)
    )
    true = _true(mechanism, t[-1])
    words = method if method in RHO else picture.STYLES[method][3]
    if name not in STAY:
        words += "" if remedy == "none" else f" with {remedy}"
    place = "bead" if mechanism == "bead" else "P"
    some = np.unique(np.linspace(0, len(q) - 1, 2 * SHOWN).astype(int))
    return Run(
        mechanism, words, dt, duration, t, q, *gauges, system.points(q[-1]), system.points(true), system.points(q[some])[place],
        float(np.abs(q[-1] - true).max()), tuple(remarks), length,
    )  # fmt: skip


def _piece(system, q, v, length, **how):
    """One run: times, coordinates, gauges, and what is worth telling."""
    tr = simulate(system, q, v, t_end=length, consistent_start=False, **how)
    gauges = tr.position_residual, tr.velocity_residual, tr.energy_balance
    return tr.t, tr.q, gauges, [*([_short(tr)] if tr.stopped else []), *tr.notes]


def _pieces(system, q, length, most, dt, **how):
    """A run in pieces, which ends where the energy is lost; its steps are as those of one run."""
    v, start, balance, parts, remarks = 0 * q, 0.0, 0.0, [], []
    size = PIECE
    while start < length - dt / 2:
        tr = simulate(system, q, v, t_end=min(size * dt, length - start), dt=dt, consistent_start=False, **how)
        energy = balance + tr.energy_balance
        lost = np.abs(energy) > most
        end = int(np.argmax(lost)) + 1 if lost.any() else len(tr.t)
        kept = slice(1 if parts else 0, end)
        parts.append(
            (start + tr.t[kept], tr.q[kept], tr.position_residual[kept], tr.velocity_residual[kept], energy[kept])
        )
        remarks = [*([_short(tr, start)] if tr.stopped and not lost.any() else []), *tr.notes]
        if lost.any():
            remarks.insert(
                0, f"Ended at t = {start + tr.t[end - 1]:.3g} s, since the energy is off by more than {most:g} J."
            )
        if lost.any() or tr.stopped:
            break
        q, v, start, balance = tr.q[-1], tr.v[-1], start + tr.t[-1], energy[-1]
        size = min(2 * size, 5000)
    t, q, *gauges = (np.concatenate(part) for part in zip(*parts))
    return t, q, gauges, remarks


def _short(tr, start=0.0):
    """The reason why a run stopped, in a sentence that is short enough for a line under a picture."""
    when = f"Stopped at t = {start + tr.t[-1]:.4g} s: "
    if "does not arrive" in tr.stopped:
        return f"{when}the iteration does not arrive. Try a smaller step."
    if "singular configuration" in tr.stopped:
        return f"{when}the run reaches a singular configuration."
    return f"{when}the run diverges. Try a smaller step."


def _text(run):
    unit, size = ("m²", "m") if run.mechanism == "bead" else ("m", "rad")
    phi, rate = _size(run.position_residual.max(), unit), _size(run.velocity_residual.max(), f"{unit}/s")
    low, high = (f"{x:+.1e}" if abs(x) > 1e-9 else "0" for x in (run.energy_balance.min(), run.energy_balance.max()))
    what = "the bead" if run.mechanism == "bead" else "an angle of the four-bar"
    error = f"{run.error:.2g} {size}" if run.error > DISTINCT else f"less than {DISTINCT:.0e} {size}"
    words = [
        f"{run.words}, Δt = {1e3 * run.dt:.4g} ms, {len(run.t) - 1} steps to t = {run.t[-1]:.4g} s.",
        f"Largest position residual: {phi}, velocity residual: {rate}; energy balance from {low} to {high} J.".replace(
            "-", "−"
        ),
        f"At the end {what} is off by {error} from a fine reference.",
    ]
    if run.shortened:
        why = "so that the picture keeps up" if codegen.compiles() else "since numba is not installed"
        words.append(f"Shortened from {run.asked:g} s to {len(run.t) - 1} steps, {why}.")
    return " ".join([*words, *run.remarks])


def _size(residual, unit):
    return f"{residual:.1e} {unit}" if residual > 1e-12 else "rounding level"
