"""Explicit Runge–Kutta methods."""

from chain_lib.codegen import POWER, WORK, A, Q, V, compiled

Q0, V0, Q_RATE, V_RATE = range(4)  # rows of work: the state at t, and the weighted sums of its rates


@compiled("step")
def rk4_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """The classical method of order 4, on q̇ = v, v̇ = q̈(t, q, v), Ẇ = power.

    Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, table II.1.2.
    """
    n = state.shape[1]
    power = record[POWER]
    for i in range(n):
        work[Q0, i] = state[Q, i]
        work[V0, i] = state[V, i]
        work[Q_RATE, i] = state[V, i]
        work[V_RATE, i] = state[A, i]
    for stage in range(1, 4):
        c = 0.5 if stage < 3 else 1.0
        weight = 2.0 if stage < 3 else 1.0
        for i in range(n):
            state[Q, i] = work[Q0, i] + c * dt * state[V, i]
            state[V, i] = work[V0, i] + c * dt * state[A, i]
        if torque is not None:
            torque(t + c * dt, state)
        if not accelerate(t + c * dt, state, p, alpha, beta, record):
            return False
        for i in range(n):
            work[Q_RATE, i] += weight * state[V, i]
            work[V_RATE, i] += weight * state[A, i]
        power += weight * record[POWER]
    for i in range(n):
        state[Q, i] = work[Q0, i] + dt / 6 * work[Q_RATE, i]
        state[V, i] = work[V0, i] + dt / 6 * work[V_RATE, i]
    record[WORK] += dt / 6 * power
    return True
