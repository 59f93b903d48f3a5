"""Run a mechanism in time, and watch the three gauges on the way."""

import numpy as np

from chain_lib.codegen import (
    ENERGY,
    MULTIPLIERS,
    PHI_SQUARED,
    RATE_SQUARED,
    REASON,
    TAU,
    WORK,
    Q,
    V,
    compiled,
    plain,
)
from chain_lib.dynamics import accelerations
from chain_lib.integrators import stepper
from chain_lib.linear import SingularConfiguration
from chain_lib.stabilization import (
    ROUNDING,
    SETTLED,
    SINGULAR,
    Baumgarte,
    Projection,
    growth_per_step,
    largest_stable_step,
    settle,
)
from chain_lib.trajectory import Trajectory

CONSISTENT = 1e-6  # largest residual of a start, against the constraint's scale (per second for velocities)
DIVERGED = 1e3  # a run has diverged when ‖φ‖ is this large against the constraint's scale,
DIVERGED_RATE = 1e6  # or ‖J v + φ_t‖ against the scale per second
CHUNK = 20_000  # steps between two moments at which the notebook can interrupt

FINISHED, AT_STATE, IN_STEP, GROWN, PROJECTION_SINGULAR, PROJECTION_LOST = range(6)


class InconsistentStart(ValueError):
    """The initial state violates the constraints."""


@compiled("march")
def march(
    step, accelerate, torque, correct, times, state, p, alpha, beta, mass, position, velocity, tolerance,
    largest, fastest, change, record, coordinates, velocities, multipliers, gauges, work,
):  # fmt: skip
    """Advance from times[0] to times[-1]; return how many states are sound, the reason in the record."""
    for k in range(len(times)):
        t = times[k]
        if torque is not None:
            torque(t, state)
        solved = accelerate(t, state, p, alpha, beta, record)
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
            multipliers[k, i] = record[MULTIPLIERS + i]
        gauges[k, 0] = position_residual
        gauges[k, 1] = velocity_residual
        gauges[k, 2] = record[ENERGY] - record[WORK]
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
    system, q0, v0, *, t_end, dt, method="rk4", stabilize=None, torque=None, consistent_start=True
):  # fmt: skip
    """Simulate a mechanism from t = 0.

    Parameters
    ----------
    system : System
    q0, v0 : array, (n,)
        Initial coordinates and velocities.
    t_end, dt : float
        Duration and step (s). The last step is shortened to end at t_end.
    method : str
        ``"rk4"`` or ``"semi_implicit_euler"``.
    stabilize : None, Baumgarte or Projection
    torque : array, (n,), or function (q, v, t) -> (n,), optional
        Applied generalized forces, added to the mechanism's own f. A function is called at every
        stage, which is slower than a constant.
    consistent_start : bool
        Refuse a start that is off its constraints. False runs it as it is given.

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
    times = _times(t_end, dt)
    step = stepper(method)
    scale = system.constraint_scale(q)
    if consistent_start:
        _refuse_inconsistent(system, q, v, scale)
    alpha, beta, mass, position, velocity = _stabilization(stabilize)
    tau, torque, failure = _torque(system, torque, q, v)
    n, m, N = system.n, system.m, len(times)
    coordinates, velocities, multipliers, gauges = (
        np.empty((N, n)),
        np.empty((N, n)),
        np.empty((N, m)),
        np.empty((N, 3)),
    )
    state, record = np.array([q, v, tau, np.zeros(n)]), np.zeros(MULTIPLIERS + m)
    change, work = np.zeros((2, n)), np.zeros((4, n))
    size = float(np.linalg.norm(scale)) or 1.0
    _refuse_hopeless(system, state, record, alpha, beta, size)
    numbers = (alpha, beta, mass, position, velocity, ROUNDING * size, DIVERGED * size, DIVERGED_RATE * size)
    run, step = (march, step) if torque is None else (plain(march), plain(step))
    sound = 1
    with np.errstate(all="ignore"):
        for start in range(0, N - 1, CHUNK):
            part = slice(start, start + CHUNK + 1)
            stored = (coordinates[part], velocities[part], multipliers[part], gauges[part])
            sound = start + run(
                step, system.code.accelerate, torque, system.code.correct, times[part], state, system.p, *numbers,
                change, record, *stored, work,
            )  # fmt: skip
            if failure:
                raise failure[0]
            if record[REASON] != FINISHED:
                break
    kept = slice(0, sound)
    gauges[kept, 2] -= gauges[0, 2]
    return Trajectory(
        system, method, times[kept], coordinates[kept], velocities[kept], multipliers[kept], *gauges[kept].T.copy(),
        stopped=_reason(system, record, times, sound, state, dt), notes=_notes(method, stabilize, dt),
    )  # fmt: skip


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


def _refuse_inconsistent(system, q, v, scale):
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


def _refuse_hopeless(system, state, record, alpha, beta, size):
    """Raise where not even the first state can be computed."""
    with np.errstate(all="ignore"):
        solved = system.code.accelerate(0.0, state, system.p, alpha, beta, record)
    phi, rate, energy = np.sqrt(record[PHI_SQUARED]), np.sqrt(record[RATE_SQUARED]), record[ENERGY]
    if not (phi <= DIVERGED * size and rate <= DIVERGED_RATE * size and abs(energy) < np.inf):
        raise InconsistentStart(
            f"The start is too far off to be run: ‖φ‖ = {phi:.2g}, ‖J v + φ_t‖ = {rate:.2g}, energy {energy:.2g} J. "
            "Start from a state that is closer to the constraints and slower."
        )
    if not solved:
        accelerations(system, state[Q], state[V], state[TAU])  # raises, with the rank
        raise SingularConfiguration(
            f"The inertia matrix of {system.mechanism.name} is not positive definite at q = {state[Q]}, and a "
            "simulation needs that; give every coordinate some mass.",
            system.m,
            system.m,
        )


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


def _reason(system, record, times, sound, state, dt):
    if record[REASON] == FINISHED:
        return None
    when = f"Stopped at t = {times[sound - 1]:.4g} s of {times[-1]:g} s: "
    next_time = f"t = {times[sound]:.4g} s"
    if record[REASON] == GROWN:
        return (
            when
            + f"the run diverges. In the next step the residuals reach ‖φ‖ = {np.sqrt(record[PHI_SQUARED]):.2g} and "
            f"‖J v + φ_t‖ = {np.sqrt(record[RATE_SQUARED]):.2g}. Try a smaller step than {dt:g} s, or another stabilization."
        )
    if record[REASON] == PROJECTION_LOST:
        return (
            when
            + f"the projection does not arrive at {next_time}; its residual is {np.sqrt(record[PHI_SQUARED]):.2g}. "
            f"Try a smaller step than {dt:g} s."
        )
    try:
        accelerations(system, state[Q], state[V], t=times[sound])
        cause = f"the equations are singular on the way to {next_time}, near q = {state[Q]}."
    except (SingularConfiguration, ValueError) as error:
        cause = str(error)
    return when + cause


def _notes(method, stabilize, dt):
    if not isinstance(stabilize, Baumgarte) or stabilize == Baumgarte(0, 0):
        return []
    alpha, beta = stabilize.alpha, stabilize.beta
    growth = growth_per_step(method, alpha, beta, dt)
    if growth < 1:
        return []
    if beta == 0 and alpha > 0 and growth < 1 + 1e-12:
        return ["With beta = 0 the feedback neither reduces nor increases a position error; it damps its rate only."]
    limit = largest_stable_step(method, alpha, beta)
    advice = f"these gains need dt below {limit:.3g} s." if limit else "both gains must be positive."
    return [
        f"The gains alpha = {alpha:g}/s, beta = {beta:g}/s at dt = {dt:g} s are outside the stability region of "
        f"{method}: a constraint error is multiplied by {growth:.4g} in each step; {advice}"
    ]
