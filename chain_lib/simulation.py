"""Run a mechanism in time, and watch the three gauges on the way."""

import numpy as np

from chain_lib.codegen import (
    AT_START,
    DROP,
    ENERGY,
    INERTIA,
    LEFT,
    MULTIPLIERS,
    OWN,
    PENDING,
    PHI_SQUARED,
    POWER,
    RATE_SQUARED,
    REASON,
    REGULARITY,
    TAU,
    WORK,
    A,
    Q,
    V,
    compiled,
    load,
    plain,
)
from chain_lib.dynamics import CHOICES, accelerations, not_unique
from chain_lib.integrators import ADAPTIVE, METHODS, STAY, stepper
from chain_lib.integrators.adaptive import leap
from chain_lib.linear import RANK_TOLERANCE, SingularConfiguration, constraint_rank
from chain_lib.partition import ReducedForm
from chain_lib.singularity import singular_on_the_way
from chain_lib.stabilization import (
    ROUNDING,
    SETTLED,
    SINGULAR,
    Baumgarte,
    Projection,
    growth_per_step,
    settle,
    stability_limit,
)
from chain_lib.trajectory import Trajectory

CONSISTENT = 1e-6  # largest residual of a start, against the constraint's scale (per second for velocities)
DIVERGED = 1e3  # a run has diverged when ‖φ‖ is this large against the constraint's scale,
DIVERGED_RATE = 1e6  # or ‖J v + φ_t‖ against the scale per second
FORMS = ("kkt", "reduced")
AT_SINGULAR = ("stop", "cross")
DEPENDENT = 1e-8  # squared relative distance from the others at which a redundant constraint is left out,
VANISHING = RANK_TOLERANCE**2  # and one that only loses its independence in passing: where it would be an error
FAR = 1e6  # an iteration runs away when the coordinates become this large against what they were
SHORT = 0.05  # a run ends this part of a step before a singular configuration
CLOSE = 1e-4  # squared relative distance of the constraints from dependence that deserves a note
ASTRAY = 0.03  # a run this far off its constraints is not asked whether it meets a singular configuration
TOLD = 7  # coordinates of a configuration that a sentence names
CHUNK = 20_000  # steps between two moments at which the notebook can interrupt

FINISHED, AT_STATE, IN_STEP, GROWN, PROJECTION_SINGULAR, PROJECTION_LOST, NEAR_SINGULAR = range(7)


class InconsistentStart(ValueError):
    """The initial state violates the constraints."""


@compiled("march")
def march(
    step, accelerate, torque, correct, first, times, state, p, alpha, beta, mass, position, velocity, tolerance,
    largest, fastest, change, record, coordinates, velocities, multipliers, gauges, work,
):  # fmt: skip
    """Advance from times[first] to times[-1]; return how many states are sound, the reason in the record."""
    for k in range(first, len(times)):
        t = times[k]
        if torque is not None:
            torque(t, state)
        record[AT_START] = 1.0
        solved = accelerate(t, state, p, alpha, beta, record)
        record[WORK] += record[PENDING] * record[POWER]
        record[PENDING] = 0.0
        position_residual, velocity_residual = np.sqrt(record[PHI_SQUARED]), np.sqrt(record[RATE_SQUARED])
        if not (position_residual <= largest and velocity_residual <= fastest and abs(record[ENERGY]) < np.inf):
            record[REASON] = GROWN
            return k
        if not solved:
            record[REASON] = AT_STATE
            return k
        for i in range(state.shape[1]):
            coordinates[k, i] = state[Q, i]
            velocities[k, i] = state[V, i]
        for i in range(multipliers.shape[1]):
            multipliers[k, i] = work[3, i] if record[OWN] > 0.0 else record[MULTIPLIERS + i]
        gauges[k, 0] = position_residual
        gauges[k, 1] = velocity_residual
        gauges[k, 2] = record[ENERGY] - record[WORK]
        gauges[k, 3] = record[REGULARITY]
        if k >= 2 and k > first and gauges[k - 2, 3] > gauges[k - 1, 3] <= gauges[k, 3]:
            # a parabola through the three comes down to zero within a step or so
            if 3.0 * gauges[k - 1, 3] <= gauges[k - 2, 3] + gauges[k, 3]:
                record[REASON] = NEAR_SINGULAR
                return k + 1
        if k + 1 == len(times):
            break
        if not step(accelerate, torque, t, times[k + 1] - t, state, p, alpha, beta, record, work):
            record[REASON] = IN_STEP
            return k + 1
        if position + velocity > 0.0:
            outcome = settle(correct, times[k + 1], state, p, mass, position, velocity, tolerance, change, record)
            if outcome != SETTLED:
                record[REASON] = PROJECTION_SINGULAR if outcome == SINGULAR else PROJECTION_LOST
                return k + 1
    record[REASON] = FINISHED
    return len(times)


def simulate(
    system, q0, v0, *, t_end, dt, method="rk4", stabilize=None, torque=None, form="kkt", redundant="raise",
    on_singular="stop", consistent_start=True, rho_inf=None, rtol=1e-9, atol=1e-12,
):  # fmt: skip
    """Simulate a mechanism from t = 0.

    A run ends at a singular configuration, because the motion can go on from there in more than one way,
    unless it is asked to go on.

    Parameters
    ----------
    system : System
    q0, v0 : array, (n,)
        Initial coordinates and velocities.
    t_end, dt : float
        Duration and step (s). The last step is shortened to end at t_end.
    method : str
        One of `integrators.METHODS`. The methods in `integrators.STAY` fulfil φ = 0 at the end of every
        step; those in `integrators.ADAPTIVE` choose their own steps, and dt is the spacing of what is kept.
    stabilize : None, Baumgarte or Projection
    torque : array, (n,), or function (q, v, t) -> (n,), optional
        Applied generalized forces, added to the mechanism's own f. A function is called at every
        stage, which is slower than a constant.
    form : "kkt" or "reduced"
        Solve for all accelerations and λ together, or integrate independent coordinates alone and
        compute the others from the constraints, which is slower; see `partition.reduced`.
    redundant : "raise" or "minimum_norm"
        What to do where constraints depend on each other; see `accelerations`.
    on_singular : "stop" or "cross"
        End the run at a singular configuration; or go on, as a rule along the smooth path, and list each
        passage. That needs a stabilization, or a method that fulfils φ = 0 by itself, because close to it
        an error of φ is multiplied; and steps of one length. A stage that falls on the singular
        configuration is solved without the constraints that depend on others there.
    consistent_start : bool
        Refuse a start that is off its constraints. False runs it as it is given.
    rho_inf : float, optional
        For ``generalized_alpha`` and ``hht``: what is left of a fast oscillation after a step; 0.8 if it
        is not given.
    rtol, atol : float
        Tolerances of an adaptive method.

    Returns
    -------
    Trajectory
        If the run could not be finished, up to the last sound state, with the reason in ``stopped``.

    Raises
    ------
    InconsistentStart
        Where the start is off the constraints; the sentence says how far.
    SingularConfiguration
        Where the equations have no unique solution at the start.
    ValueError
        Where an argument is not possible.

    Examples
    --------
    >>> import chain_lib as cl
    >>> bead = cl.mechanisms.BeadOnCircle().system()
    >>> tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
    >>> print(tr.q[-1].round(6))
    [ 0.986292 -0.165011]
    """
    q, v = system.vector(q0, "q0"), system.vector(v0, "v0")
    times, step = _times(t_end, dt), stepper("rk4" if method in ADAPTIVE else method)
    _refuse_unknown(method, form, redundant, stabilize, on_singular)
    options = _options(method, rho_inf, rtol, atol)
    if consistent_start:
        _refuse_inconsistent(system, q, v)
    crossing = on_singular == "cross"
    run = _Run(system, q, v, times, dt, method, step, stabilize, torque, form, redundant, crossing, options, rtol, atol)
    run.advance()
    kept = slice(0, run.sound)
    q, v, lam, gauges = (stored[kept] for stored in run.stored)
    notes = _notes(method, stabilize, dt) + run.notes()
    if run.rank < system.m:
        lam = _shortest(system, run.times[kept], q, lam)
        notes.append(not_unique(run.rank, system.m))
    return Trajectory(
        system, method, run.times[kept], q, v, lam, gauges[:, 0].copy(), gauges[:, 1].copy(),
        gauges[:, 2] - gauges[0, 2], stopped=run.reason(), notes=notes, passages=run.passages,
    )  # fmt: skip


class _Run:
    """One simulation: the arrays that the kernels fill, and how far they have come."""

    def __init__(
        self, system, q, v, times, dt, method, step, stabilize, torque, form, redundant, crossing, options, rtol, atol
    ):  # fmt: skip
        n, m, N = system.n, system.m, len(times)
        self.system, self.times, self.dt, self.redundant, self.method = system, times, dt, redundant, method
        self.rank = constraint_rank(system.M(q), system.J(q), system.units)
        self.numbers = _stabilization(stabilize)
        tau, self.torque, self.failure = _torque(system, torque, q, v)
        self.state = np.zeros((INERTIA + n + m + 2, n))
        self.state[Q], self.state[V], self.state[TAU] = q, v, tau
        self.record = np.concatenate([np.zeros(MULTIPLIERS + 3 * m), options])
        self.record[DROP] = VANISHING if crossing else DEPENDENT if redundant == "minimum_norm" else 0.0
        self.stored = np.empty((N, n)), np.empty((N, n)), np.empty((N, m)), np.full((N, 4), np.nan)
        self.room = np.zeros((2, n)), np.zeros((4, max(n, m)))
        self.size = float(np.linalg.norm(system.constraint_scale(q))) or 1.0
        self.reduced = ReducedForm(system) if form == "reduced" else None
        self.code = load(system.mechanism, full=True) if method in STAY else system.code
        self.accelerate = self.reduced or self.code.accelerate
        as_python = self.torque is not None or self.reduced is not None
        self.kernel, self.step = (plain(march), plain(step)) if as_python else (march, step)
        self.sound, self.singular, self.failed, self.tolerances = 1, None, None, (rtol, atol)
        self.crossing, self.passages, self.close = crossing, [], []
        self._refuse_hopeless()

    def advance(self):
        """March to the end, to a singular configuration, or to where the run fails."""
        if self.method in ADAPTIVE:
            return self._leap()
        while self.sound < len(self.times):
            self._march(self.sound - 1, min(self.sound - 1 + CHUNK, len(self.times) - 1))
            if self.record[REASON] == FINISHED:
                continue
            near = self.record[REASON] == NEAR_SINGULAR
            if self._ends_here(self.sound - (3 if near else 2)):
                return self._end_before(self.singular[0])
            if not near:
                return None
            self.record[REASON] = FINISHED  # a false alarm, perhaps in the last step

    def _march(self, first, last):
        """Advance from one index of the times to another."""
        change, work = self.room
        limits = ROUNDING * self.size, DIVERGED * self.size, DIVERGED_RATE * self.size
        try:
            with np.errstate(all="ignore"):
                self.sound = self.kernel(
                    self.step, self.accelerate, self.torque, self.system.code.correct, first, self.times[: last + 1],
                    self.state, self.system.p, *self.numbers, *limits, change, self.record, *self.stored, work,
                )  # fmt: skip
        except np.linalg.LinAlgError:  # an implicit step met a singular matrix
            self.record[REASON], self.record[LEFT] = IN_STEP, 0.0
            self.sound = int(np.isfinite(self.stored[3][:, 0]).sum())
        if self.failure:
            raise self.failure[0]

    def _leap(self):
        """Let an adaptive method find the states at all times, and then measure them."""
        states, self.failed = leap(
            self.method, self.accelerate, self.torque, self.times, self.state, self.system.p, *self.numbers[:2],
            self.record, *self.tolerances,
        )  # fmt: skip
        if self.failure:
            raise self.failure[0]
        if self.reduced:  # independent coordinates that fit the samples, not the solver's last stage
            self.reduced = self.accelerate = ReducedForm(self.system)
        n, regularity = self.system.n, self.stored[3][:, 3]
        for k, y in enumerate(states):
            self.state[Q], self.state[V], self.record[WORK] = y[:n], y[n : 2 * n], y[-1]
            self._march(k, k)
            if self.record[REASON] != FINISHED:
                return
            if k >= 2 and 3 * regularity[k - 1] <= regularity[k - 2] + regularity[k]:
                if self._ends_here(k - 2):
                    self.sound = int(np.searchsorted(self.times[: k + 1], self.singular[0]))
                    return

    def _ends_here(self, first):
        """Whether a singular configuration within two steps of a stored state ends the run; if not, it is listed."""
        found = self._singular(first)
        if found is None:
            if first >= 0 and self.stored[3][first + 1, 3] < CLOSE:
                self.close.append(self.times[first + 1])
            return False
        if not self.crossing:
            self.singular = found
            return True
        self.passages.append(found)
        return False

    def _singular(self, first):
        """A singular configuration within two steps of a stored state: its time and q; or None.

        Far off the constraints the question has no meaning, and is not asked.
        """
        if first < 0 or not self.stored[3][first, 0] <= ASTRAY * self.size:
            return None
        q, v = self.stored[0][first], self.stored[1][first : first + 2]
        start, step = self.times[first], self.times[first + 1] - self.times[first]

        def path(s):
            return q + s * v[0] + s**2 * (v[1] - v[0]) / (2 * step)

        found = singular_on_the_way(self.system, path, 2 * step, start, self.rank)
        return None if found is None else (float(start) + found[0], found[1])

    def _end_before(self, singular):
        """Keep what comes before a singular time, and add a state shortly before it."""
        last = int(np.searchsorted(self.times[: self.sound], singular)) - 1
        end = singular - SHORT * self.dt
        self.sound = last + 1
        if end - self.times[last] < SHORT * self.dt:
            return
        q, v, _, gauges = (stored[last] for stored in self.stored)
        self.state[Q], self.state[V], self.state[A] = q, v, 0.0
        self.record[WORK] = self.system.energy(q, v) - gauges[2]
        self.times = np.append(self.times[: last + 1], end)
        self._march(last, last + 1)

    def notes(self):
        """What is worth knowing of the run."""
        notes = self.reduced.notes() if self.reduced else []
        if self.close:
            times = ", ".join(f"{time:.4g}" for time in self.close[:TOLD]) + (" …" if len(self.close) > TOLD else "")
            notes.append(
                f"The run passes very close to a singular configuration, at t = {times} s: what comes after depends on "
                "the step. Compare with a smaller one."
            )
        return notes

    def reason(self):
        """Why the run ended before its time, or None."""
        if self.singular is not None:
            return self._singular_reason(*self.singular)
        if self.sound == len(self.times):
            return None
        phi, rate = np.sqrt(self.record[[PHI_SQUARED, RATE_SQUARED]])
        when = f"Stopped at t = {self.times[self.sound - 1]:.4g} s of {self.times[-1]:g} s: "
        next_time = f"t = {self.times[self.sound]:.4g} s"
        if self.failed is not None:
            return f"{when}{self.failed.rstrip('.')}."
        far = not np.abs(self.state[Q]).max() < FAR * (1 + np.abs(self.stored[0][self.sound - 1]).max())
        if self.method in STAY and self.record[REASON] == IN_STEP and (far or self.record[LEFT] > 0):
            moves = "runs away" if far else f"still moves by {self.record[LEFT]:.2g}"
            return (
                f"{when}the iteration of {self.method} does not arrive at {next_time}; it {moves}. "
                f"Try a smaller step than {self.dt:g} s."
            )
        if self.record[REASON] == GROWN:
            return (
                f"{when}the run diverges. In the next step the residuals reach ‖φ‖ = {phi:.2g} and ‖J v + φ_t‖ = "
                f"{rate:.2g}. Try a smaller step than {self.dt:g} s, or another stabilization."
            )
        if self.record[REASON] == PROJECTION_LOST:
            return (
                f"{when}the projection does not arrive at {next_time}; its residual is {phi:.2g}. "
                f"Try a smaller step than {self.dt:g} s."
            )
        q, v = self.state[Q], self.state[V]
        try:
            accelerations(self.system, q, v, t=self.times[self.sound], redundant=self.redundant)
            return f"{when}the equations are singular on the way to {next_time}, near q = {q}."
        except (SingularConfiguration, ValueError) as error:
            return when + str(error)

    def _singular_reason(self, time, q):
        mechanism, J = self.system.mechanism, self.system.J(q, time)
        words = [
            f"{symbol} = {f'{np.rad2deg(x).round(1) + 0:.1f}°' if symbol in mechanism.angles else f'{x:.4g}'}"
            for symbol, x in zip(mechanism.q, q)
        ]
        place = ", ".join([*words[:TOLD], *(["…"] if len(words) > TOLD else [])]).replace("-", "−")
        return (
            f"Stopped at t = {time:.4f} s: the run reaches a singular configuration, {place}, where the "
            f"constraint Jacobian has rank {np.linalg.matrix_rank(J, 1e-6 * np.abs(J).max())} of {self.system.m}. More "
            "than one motion goes on from there, and the equations do not say which. End the run before it, start "
            "from another state, or change the geometry so that it has no such configuration; on_singular='cross' "
            "with a stabilization goes on along the smooth path."
        )

    def _refuse_hopeless(self):
        """Raise where not even the first state can be computed."""
        system, state, record = self.system, self.state, self.record
        alpha, beta, *_ = self.numbers
        with np.errstate(all="ignore"):
            solved = self.code.accelerate(0.0, state, system.p, alpha, beta, record)
        phi, rate, energy = np.sqrt(record[PHI_SQUARED]), np.sqrt(record[RATE_SQUARED]), record[ENERGY]
        if not (phi <= DIVERGED * self.size and rate <= DIVERGED_RATE * self.size and abs(energy) < np.inf):
            raise InconsistentStart(
                f"The start is too far off to be run: ‖φ‖ = {phi:.2g}, ‖J v + φ_t‖ = {rate:.2g}, energy {energy:.2g} J. "
                "Start from a state that is closer to the constraints and slower."
            )
        if not solved or (self.crossing and self.rank < system.m):
            accelerations(system, state[Q], state[V], state[TAU], redundant=self.redundant)  # raises, with the rank
            if self.rank < system.m:
                raise SingularConfiguration(
                    f"The start, q = {state[Q]}, is a singular configuration of {system.mechanism.name}: the constraint "
                    f"Jacobian has rank {self.rank} of {system.m}. Start from another one.",
                    self.rank,
                    system.m,
                )
            raise SingularConfiguration(
                f"The inertia matrix of {system.mechanism.name} is not positive definite at q = {state[Q].round(4)}, and a "
                "simulation needs that; give every coordinate some mass.",
                system.m,
                system.m,
            )


def _shortest(system, times, q, lam):
    """The shortest multipliers with the same Jᵀλ, at every stored state."""
    return np.array([
        np.linalg.lstsq(J.T, J.T @ one, rcond=1e-6)[0]
        for J, one in ((system.J(place, t), one) for t, place, one in zip(times, q, lam))
    ])  # fmt: skip


def _times(t_end, dt):
    for name, value in (("t_end", t_end), ("dt", dt)):
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value) and value > 0):
            raise ValueError(f"{name} = {value!r} is not possible; it is a time in seconds, greater than zero.")
    if dt > t_end:
        raise ValueError(f"dt = {dt:g} s is longer than the run, t_end = {t_end:g} s; choose a smaller step.")
    steps = int(np.ceil(t_end / dt * (1 - 1e-12)))
    times = dt * np.arange(steps + 1.0)
    times[-1] = t_end
    return times


def _refuse_inconsistent(system, q, v):
    scale = system.constraint_scale(q)
    phi, J, phi_t = system.phi(q), system.J(q), system.phi_t(q)
    rate = J @ v + phi_t
    moving = np.abs(J) @ np.abs(v) + np.abs(phi_t)
    offer = "Start from q0, v0 = cl.project(system, q0, v0), or pass consistent_start=False to run it as it is."
    for k, (name, (_, unit)) in enumerate(system.mechanism.constraints.items()):
        if not abs(phi[k]) <= CONSISTENT * scale[k]:
            raise InconsistentStart(
                f"The start is off the constraint '{name}': φ = {phi[k]:.3g} {unit}, "
                f"where {CONSISTENT * scale[k]:.1g} is allowed. {offer}"
            )
        if not abs(rate[k]) <= CONSISTENT * (scale[k] + moving[k]):
            raise InconsistentStart(
                f"The start's velocity violates the constraint '{name}': J v + φ_t = {rate[k]:.3g} {unit}/s, "
                f"where {CONSISTENT * (scale[k] + moving[k]):.1g} is allowed. {offer}"
            )


def _options(method, rho_inf, rtol, atol):
    """The four numbers of a method of the generalized-α family; zeros for the others."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value) and 0 < value < 1):
            raise ValueError(f"{name} = {value!r} is not possible; it is a tolerance between 0 and 1, such as 1e-9.")
    if METHODS.get(method) != "generalized_alpha":
        if rho_inf is not None:
            raise ValueError(f"method {method!r} has no rho_inf; leave it out.")
        return np.zeros(4)
    lowest, highest, usual = {"newmark": (1.0, 1.0, 1.0), "hht": (0.5, 1.0, 0.8)}.get(method, (0.0, 1.0, 0.8))
    rho_inf = usual if rho_inf is None else rho_inf
    if not (np.isscalar(rho_inf) and np.isreal(rho_inf) and np.isfinite(rho_inf) and lowest <= rho_inf <= highest):
        possible = "1" if lowest == highest else f"between {lowest:g} and {highest:g}"
        raise ValueError(f"rho_inf = {rho_inf!r} is not possible; for {method} it is {possible}.")
    from chain_lib.integrators.generalized_alpha import coefficients  # compiles its kernels, so only here

    return np.array(coefficients(method, rho_inf))


def _refuse_unknown(method, form, redundant, stabilize, on_singular):
    if form not in FORMS:
        raise ValueError(f"form = {form!r} is unknown; choose one of {', '.join(map(repr, FORMS))}.")
    if redundant not in CHOICES:
        raise ValueError(f"redundant = {redundant!r} is unknown; choose one of {', '.join(map(repr, CHOICES))}.")
    if on_singular not in AT_SINGULAR:
        raise ValueError(
            f"on_singular = {on_singular!r} is unknown; choose one of {', '.join(map(repr, AT_SINGULAR))}."
        )
    if on_singular == "cross":
        if form == "reduced" or redundant != "raise":
            raise ValueError("on_singular = 'cross' needs form='kkt' and independent constraints.")
        if method in ADAPTIVE:
            raise ValueError(
                f"method {method!r} chooses its own steps and makes them ever smaller before a singular configuration; "
                "cross it with a step of one length, such as method='rk4'."
            )
        if method not in STAY and (stabilize is None or stabilize == Baumgarte(0, 0)):
            raise ValueError(
                "on_singular = 'cross' needs a stabilization, since a singular configuration multiplies what is left of "
                "φ and J v + φ_t: pass stabilize=cl.Baumgarte(20, 20) or cl.Projection()."
            )
    if method in STAY and stabilize is not None:
        raise ValueError(f"method {method!r} fulfils the constraints by itself; leave stabilize out.")
    if method in STAY and (form == "reduced" or redundant != "raise"):
        raise ValueError(f"method {method!r} needs form='kkt' and independent constraints.")
    if method in ADAPTIVE and isinstance(stabilize, Projection):
        raise ValueError(f"method {method!r} chooses its own steps and cannot project after them; use cl.Baumgarte.")
    if form == "reduced" and stabilize is not None:
        raise ValueError("form = 'reduced' stays on the constraints by itself; leave stabilize out.")
    if form == "reduced" and redundant != "raise":
        raise ValueError("form = 'reduced' needs independent constraints; leave redundant out.")


def _stabilization(stabilize):
    """alpha, beta, mass, position, velocity as the kernels take them."""
    if stabilize is None:
        return 0.0, 0.0, 1.0, 0.0, 0.0
    if isinstance(stabilize, Baumgarte):
        return float(stabilize.alpha), float(stabilize.beta), 1.0, 0.0, 0.0
    if isinstance(stabilize, Projection):
        mass = float(stabilize.metric == "mass")
        return 0.0, 0.0, mass, float(stabilize.position), float(stabilize.velocity)
    raise ValueError(
        f"stabilize = {stabilize!r} is not possible; choose None, cl.Baumgarte(alpha, beta) or cl.Projection()."
    )


def _torque(system, torque, q, v):
    """The force at the start; a kernel's torque function, or None if it is constant; and where a failure is kept."""
    if not callable(torque):
        return (np.zeros(system.n) if torque is None else system.vector(torque, "torque")), None, []
    tau = system.vector(torque(q.copy(), v.copy(), 0.0), "torque(q, v, t)")
    failure = []

    def fill(t, state):
        q, v = state[Q].copy(), state[V].copy()
        state[TAU] = np.nan
        if not failure and np.isfinite(q).all() and np.isfinite(v).all():
            try:
                state[TAU] = system.vector(torque(q, v, t), "torque(q, v, t)")
            except Exception as error:
                failure.append(error)

    return tau, fill, failure


def _notes(method, stabilize, dt):
    if method in ADAPTIVE or not isinstance(stabilize, Baumgarte) or stabilize == Baumgarte(0, 0):
        return []
    alpha, beta = stabilize.alpha, stabilize.beta
    growth = growth_per_step(method, alpha, beta, dt)
    if growth < 1:
        return []
    if beta == 0 and alpha > 0 and growth < 1 + 1e-12:
        return ["With beta = 0 the feedback neither reduces nor increases a position error; it damps its rate only."]
    limit = stability_limit(method, alpha, beta)
    advice = f"these gains need dt below {limit:.3g} s." if limit else "both gains must be positive."
    return [
        f"The gains alpha = {alpha:g}/s, beta = {beta:g}/s at dt = {dt:g} s are outside the stability region of "
        f"{method}: a constraint error is multiplied by {growth:.4g} in each step; {advice}"
    ]
