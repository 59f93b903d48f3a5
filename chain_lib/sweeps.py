"""Run a mechanism over a grid of gains, steps and parameters, many systems at once, and keep one number of each run."""

import os
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock

import numpy as np

from chain_lib import block
from chain_lib.codegen import compiles
from chain_lib.dynamics import CHOICES
from chain_lib.integrators import ADAPTIVE, METHODS
from chain_lib.progress import Progress
from chain_lib.simulation import (
    DIVERGED,
    DIVERGED_RATE,
    InconsistentStart,
    _refuse_inconsistent,
    _times,
    simulate,
)
from chain_lib.stabilization import Baumgarte

MEASURES = ("stable", "max_position_residual", "energy_error", "end_state")
SHORTEST, LONGEST = 64, 4000  # steps between two moments at which a sweep can be interrupted; doubled on the way
WIDE = 2048  # systems at once in plain NumPy
TICK = 0.05  # seconds between two looks at the threads


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What `sweep` returns: one value for each cell of a grid.

    Attributes
    ----------
    system : System
    method, measure : str
    t_end : float
        Duration of each run (s).
    axes : dict
        Name to values, in the order of the grid's axes: (N_i,) each, or arrays of the grid's shape.
    values : array
        Of the grid's shape: true or false for ``stable``, a number else; for ``end_state`` the grid's
        shape and (2, n), that is q and v. Infinite where a run ended before t_end, and not a number where a
        sweep was interrupted before the cell was done.
    done : array of bool
        Of the grid's shape: false where a sweep was interrupted before the cell was done.
    reached : array
        Of the grid's shape: the time (s) up to which each run is sound; t_end where it was finished.
    """

    system: object
    method: str
    measure: str
    t_end: float
    axes: dict
    values: np.ndarray
    done: np.ndarray
    reached: np.ndarray

    def __repr__(self):
        axes = " × ".join(
            f"{name} ({x.size} from {x.min():g} to {x.max():g})"
            if x.ndim == 1
            else f"{name} ({x.min():g} to {x.max():g})"
            for name, x in self.axes.items()
        )
        cells, done = self.done.size, int(self.done.sum())
        over = f" over {axes}" if axes else ""
        text = f"{self.system.mechanism.name}, {self.measure} of {self.t_end:g} s of {self.method}{over}: "
        finished = int((self.reached[self.done] >= self.t_end).sum())
        if self.measure == "stable":
            text += f"{int(self.values.sum())} of {done} runs are stable."
        else:
            text += f"{finished} of {done} runs reach {self.t_end:g} s."
            if self.measure != "end_state" and finished:
                sound = self.values[self.done & np.isfinite(self.values)]
                unit = " J" if self.measure == "energy_error" else ""
                text += f" Their values lie between {sound.min():.2g}{unit} and {sound.max():.2g}{unit}."
        return text + (f" Interrupted: {cells - done} of {cells} cells are not done." if done < cells else "")


def sweep(
    system, q0, v0, *, t_end, dt, method="rk4", alpha=0.0, beta=0.0, measure="stable", limit=0.1,
    redundant="raise", consistent_start=True, cores=None, **parameters,
):  # fmt: skip
    """Simulate a mechanism in every cell of a grid, and keep one number of each run.

    Each run is what `simulate` computes with these numbers. An interruption from the keyboard ends the
    sweep and keeps the cells that are done.

    Parameters
    ----------
    system : System
    q0, v0 : array, (n,)
        Initial coordinates and velocities; or of the grid's shape and (n,), where they differ.
    t_end : float
        Duration (s).
    dt : float or array
        Step (s).
    method : str
        ``"explicit_euler"``, ``"semi_implicit_euler"`` or ``"rk4"``.
    alpha, beta : float or array
        Baumgarte's gains (1/s).
    measure : str
        ``"stable"``: the run reaches t_end, and ‖φ‖ never exceeds ``limit`` times the constraints' scale (see
        `System.constraint_scale`) at the start; ``"max_position_residual"``: the largest ‖φ‖;
        ``"energy_error"``: the largest magnitude of the energy balance (J); ``"end_state"``: q and v.
    limit : float
        Of ``"stable"``.
    redundant, consistent_start
        As for `simulate`.
    cores : int, optional
        How many to use; all by default. Without numba it is one.
    **parameters : float or array
        The mechanism's parameters by name; defaults that depend on them follow, as in `System.set`.

    Arrays of one dimension span the grid, an axis each: alpha first, then beta, dt and the parameters in
    the order given. Arrays of more dimensions are grids already; they are taken together cell by
    cell, as NumPy broadcasts them.

    Returns
    -------
    Sweep

    Raises
    ------
    ValueError
        Where an argument is not possible, or the grid has no cells.
    InconsistentStart
        Where a start is off its constraints.
    SingularConfiguration
        Where all runs start alike and the equations have no unique solution there. Where starts differ,
        such a run has reached 0 s.

    Examples
    --------
    >>> import numpy as np
    >>> import chain_lib as cl
    >>> bead = cl.mechanisms.BeadOnCircle().system()
    >>> gains = np.array([10.0, 50.0])
    >>> cl.sweep(bead, [-1, 0], [0, 0], t_end=2.0, dt=0.02, method="semi_implicit_euler",
    ...          alpha=gains, beta=gains).values
    array([[ True,  True],
           [False, False]])
    """
    given = {"alpha": alpha, "beta": beta, "dt": dt, **parameters}
    plan = _Plan(system, q0, v0, t_end, given, method, measure, limit, redundant)
    cores = _cores(cores)
    with Progress("sweep") as progress:
        try:
            plan.prepare(consistent_start, progress)
            plan.run(cores, progress)
        except KeyboardInterrupt:
            pass
    return plan.result()


class _Plan:
    """The cells of a sweep, one after the other, and what is known of them."""

    def __init__(self, system, q0, v0, t_end, given, method, measure, limit, redundant):
        _refuse_unknown(method, measure, limit, redundant)
        _times(t_end, t_end)
        self.system, self.t_end, self.method, self.measure = system, float(t_end), method, measure
        self.limit, self.redundant = limit, redundant
        self.axes, self.shape, columns = _grid(given)
        self.alpha, self.beta, self.dt = (columns.pop(name) for name in ("alpha", "beta", "dt"))
        if (bad := ~((self.dt > 0) & (self.dt <= t_end))).any():
            _times(t_end, float(self.dt[bad][0]))  # raises
        self.swept = {name: column for name, column in columns.items() if name in self.axes}
        self.system = system.set(**{name: column[0] for name, column in columns.items() if name not in self.axes})
        self.cells = len(self.dt)
        self.steps = np.ceil(self.t_end / self.dt * (1 - 1e-12))
        self.alike = not self.swept and np.ndim(q0) <= 1 and np.ndim(v0) <= 1
        self.q, self.v = self._start(q0, "q0"), self._start(v0, "v0")
        self.p, self.size = self._numbers(), np.ones(self.cells)
        self.done, self.reached = np.zeros(self.cells, bool), np.zeros(self.cells)
        tail = (2, system.n) if measure == "end_state" else ()
        self.values = np.zeros(self.cells, bool) if measure == "stable" else np.full((self.cells, *tail), np.nan)
        self.stop, self.advanced, self.total = False, 0.0, float(self.steps.sum() + self.cells)

    def _start(self, x, what):
        """Initial coordinates or velocities of all cells; (cells, n)."""
        n = self.system.n
        if np.ndim(x) <= 1:
            return np.broadcast_to(self.system.vector(x, what), (self.cells, n))
        x = np.asarray(x, float)
        try:
            x = np.broadcast_to(x, (*self.shape, n)).reshape(self.cells, n)
        except ValueError:
            raise ValueError(
                f"{what} has shape {x.shape}; it is ({n},), or the grid's shape and n, {(*self.shape, n)}."
            ) from None
        if not np.isfinite(x).all():
            raise ValueError(f"{what} contains a number that is not finite.")
        return x

    def _numbers(self):
        """Parameters of all cells as the kernels take them, (P, cells); what was never given follows its default."""
        system, known = self.system, {}
        self._of_cell(0)  # says what is wrong with a name
        if not self.swept:
            return np.broadcast_to(system.p[:, None], (len(system.p), self.cells))
        for symbol, (default, _, _) in system.mechanism.parameters.items():
            name = str(symbol)
            if name in self.swept:
                known[symbol] = self.swept[name]
            elif isinstance(default, float) or system.is_given(name):
                known[symbol] = system.parameters[name]
            else:
                import sympy as sp

                with np.errstate(all="ignore"):
                    known[symbol] = sp.lambdify(list(known), default, "numpy")(*known.values())
        return np.array([np.broadcast_to(x, self.cells) for x in known.values()], dtype=float)

    def _of_cell(self, cell):
        return self.system.set(**{name: column[cell] for name, column in self.swept.items()})

    def prepare(self, consistent_start, progress):
        """Find the constraints' scale at every start, and refuse a start that cannot be run."""
        if self.alike:
            q, v, dt = self.q[0], self.v[0], float(self.dt.min())
            simulate(
                self.system, q, v, t_end=dt, dt=dt, method=self.method, redundant=self.redundant,
                consistent_start=consistent_start,
            )  # fmt: skip
            self.size[:] = _size(self.system, q)
            return
        starts = np.column_stack([*self.p, self.q, self.v])
        _, first, which = np.unique(starts, axis=0, return_index=True, return_inverse=True)
        size = np.empty(len(first))
        names = list(self.system.parameters)
        for k, cell in enumerate(first):
            system = self.system.set(**dict(zip(names, self.p[:, cell])))
            if consistent_start:
                try:
                    _refuse_inconsistent(system, self.q[cell], self.v[cell])
                except InconsistentStart as error:
                    where = ", ".join(f"{name} = {column[cell]:g}" for name, column in self.swept.items())
                    at = f"cell {tuple(int(i) for i in np.unravel_index(cell, self.shape))}"
                    raise InconsistentStart(f"In {at}{where and f', {where}'}: {error}") from None
            size[k] = _size(system, self.q[cell])
            progress(0.0)
        self.size = size[which.reshape(-1)]

    def run(self, cores, progress):
        """Run all blocks, on some cores; an interruption leaves what is done."""
        code = block.load_block(self.system.mechanism, self.method, self.redundant)
        width = block.WIDTH if compiles() else WIDE
        order = np.argsort(self.steps, kind="stable")  # equal runs end together
        blocks, lock = iter([order[i : i + width] for i in range(0, self.cells, width)]), Lock()

        def work():
            try:
                with np.errstate(all="ignore"):
                    while not self.stop:
                        with lock:
                            cells = next(blocks, None)
                        if cells is None:
                            return
                        self._run_block(code, cells, width)
            except BaseException:
                self.stop = True
                raise

        with ThreadPoolExecutor(cores) as pool:
            try:
                workers = [pool.submit(work) for _ in range(cores)]
                while wait(workers, timeout=TICK).not_done:
                    progress(self.advanced / self.total)
            finally:
                self.stop = True
        for worker in workers:
            worker.result()

    def _run_block(self, code, cells, width):
        n, count, last = self.system.n, len(cells), int(self.steps[cells].max())
        lanes = np.resize(cells, width) if compiles() else cells
        b = np.zeros((code.rows, len(lanes)))
        b[block.DT], b[block.STEPS], b[block.SOLVED] = self.dt[lanes], self.steps[lanes], 1.0
        b[block.ALPHA], b[block.BETA] = self.alpha[lanes], self.beta[lanes]
        b[block.LIMIT], b[block.FASTEST] = (DIVERGED * self.size[lanes]) ** 2, (DIVERGED_RATE * self.size[lanes]) ** 2
        q, v = (slice(block.FIRST + i * n, block.FIRST + (i + 1) * n) for i in range(2))
        p = slice(block.FIRST + block.STATES * n, block.FIRST + block.STATES * n + len(self.p))
        b[q], b[v], b[p] = self.q[lanes].T, self.v[lanes].T, self.p[:, lanes]
        flat = b.reshape(-1) if compiles() else b
        code.prepare(flat)
        done, chunk, status = 0, SHORTEST, b[block.STATUS]
        while done <= last and (status == block.RUNNING).any() and not self.stop:
            end = min(done + chunk, last + 1)
            code.advance(done, end, self.t_end, flat)
            self.advanced += (end - done) * count
            done, chunk = end, min(2 * chunk, max(SHORTEST, LONGEST // n))
        if not self.stop:
            self.advanced += float(self.steps[cells].sum()) + count - done * count
        status = status[:count]
        here = np.flatnonzero((status == block.FINISHED) | (status >= block.FAILED))
        sound = np.maximum(status[here] - block.FAILED - 1, 0.0)  # the last sound step of a run that failed
        finished, ended = status[here] == block.FINISHED, cells[here]
        self._keep(
            ended, finished, np.where(finished, self.t_end, sound * self.dt[ended]), np.sqrt(b[block.WORST, here]),
            b[block.LOST, here], np.stack([b[q, here], b[v, here]]).transpose(2, 0, 1),
        )  # fmt: skip
        for cell in cells[np.flatnonzero(status == block.NEAR_SINGULAR)]:
            if self.stop:
                return
            self._run_one(cell)

    def _run_one(self, cell):
        """Run a cell that comes close to a singular configuration by `simulate`, which looks whether it meets one."""
        tr = simulate(
            self._of_cell(cell), self.q[cell], self.v[cell], t_end=self.t_end, dt=float(self.dt[cell]),
            method=self.method, stabilize=Baumgarte(float(self.alpha[cell]), float(self.beta[cell])),
            redundant=self.redundant, consistent_start=False,
        )  # fmt: skip
        self._keep(
            cell, tr.stopped is None, tr.t[-1], tr.position_residual.max(), np.abs(tr.energy_balance).max(),
            np.array([tr.q[-1], tr.v[-1]]),
        )  # fmt: skip

    def _keep(self, cells, finished, reached, worst, lost, state):
        if self.measure == "stable":
            value = finished & (worst <= self.limit * self.size[cells])
        else:
            value = {"max_position_residual": worst, "energy_error": lost, "end_state": state}[self.measure]
            failed = np.reshape(~np.asarray(finished), np.shape(finished) + (1,) * (np.ndim(value) - np.ndim(finished)))
            value = np.where(np.isnan(value) | failed, np.inf, value)
        self.values[cells], self.reached[cells], self.done[cells] = value, reached, True

    def result(self):
        values, done, reached = (x.reshape(self.shape + x.shape[1:]) for x in (self.values, self.done, self.reached))
        return Sweep(self.system, self.method, self.measure, self.t_end, self.axes, values, done, reached)


def _size(system, q):
    return float(np.linalg.norm(system.constraint_scale(q))) or 1.0


def _grid(given):
    """Axes, shape, and a flat column of every quantity, from numbers and arrays by name."""
    arrays = {}
    for name, value in given.items():
        try:
            arrays[name] = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} = {value!r} is not possible; it is a number or an array of numbers.") from None
        if arrays[name].size == 0:
            raise ValueError(
                f"{name} has no values, shape {arrays[name].shape}, so the grid has no cells; give one or more."
            )
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} contains a number that is not finite; give finite numbers.")
    axes = {name: x for name, x in arrays.items() if x.ndim}
    if all(x.ndim == 1 for x in axes.values()):
        shape = tuple(len(x) for x in axes.values())
        spread = {name: x.reshape([-1 if other == name else 1 for other in axes]) for name, x in axes.items()}
    elif any(x.ndim == 1 for x in axes.values()):
        shapes = ", ".join(f"{name} {x.shape}" for name, x in axes.items())
        raise ValueError(
            f"The shapes {shapes} do not say one grid. Give arrays of one dimension, which span it, or arrays of "
            "the grid's number of dimensions, as np.meshgrid(…, indexing='ij') makes them."
        )
    else:
        try:
            shape, spread = np.broadcast_shapes(*(x.shape for x in axes.values())), axes
        except ValueError:
            shapes = ", ".join(f"{name} {x.shape}" for name, x in axes.items())
            raise ValueError(f"The shapes {shapes} do not fit together; give arrays of one shape.") from None
        axes = {name: np.broadcast_to(x, shape) for name, x in axes.items()}
    columns = {name: np.broadcast_to(spread.get(name, x), shape).reshape(-1) for name, x in arrays.items()}
    return axes, shape, columns


def _refuse_unknown(method, measure, limit, redundant):
    if method not in block.STEPPERS:
        known = ", ".join(map(repr, block.STEPPERS))
        if method in METHODS or method in ADAPTIVE:
            raise ValueError(
                f"method {method!r} cannot be swept; choose one of {known}, or call cl.simulate for each cell."
            )
        raise ValueError(f"method {method!r} is unknown; choose one of {known}.")
    if measure not in MEASURES:
        raise ValueError(f"measure {measure!r} is unknown; choose one of {', '.join(map(repr, MEASURES))}.")
    if not (np.isscalar(limit) and np.isreal(limit) and limit > 0):
        raise ValueError(
            f"limit = {limit!r} is not possible; it is a part of the constraints' scale, greater than zero."
        )
    if redundant not in CHOICES:
        raise ValueError(f"redundant = {redundant!r} is unknown; choose one of {', '.join(map(repr, CHOICES))}.")


def _cores(cores):
    if not compiles():
        return 1
    if cores is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not (isinstance(cores, (int, np.integer)) and cores >= 1):
        raise ValueError(f"cores = {cores!r} is not possible; it is a whole number, 1 or more.")
    return int(cores)
