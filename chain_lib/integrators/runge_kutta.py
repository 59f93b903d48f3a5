"""Explicit Runge–Kutta methods."""

from chain_lib.codegen import compiled


@compiled("step")
def rk4_step(accelerate, torque, t, dt, q, v, p, tau, alpha, beta, a, lam, record, work):
    """The classical method of order 4, on q̇ = v, v̇ = q̈(t, q, v), Ẇ = power.

    Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, table II.1.2.
    """
    q0, v0, q_rate, v_rate = 0, 1, 2, 3  # rows of work
    power = record[3]
    for i in range(len(q)):
        work[q0, i] = q[i]
        work[v0, i] = v[i]
        work[q_rate, i] = v[i]
        work[v_rate, i] = a[i]
    for stage in range(1, 4):
        c = 0.5 if stage < 3 else 1.0
        weight = 2.0 if stage < 3 else 1.0
        for i in range(len(q)):
            q[i] = work[q0, i] + c * dt * v[i]
            v[i] = work[v0, i] + c * dt * a[i]
        if torque is not None:
            torque(t + c * dt, q, v, tau)
        if not accelerate(t + c * dt, q, v, p, tau, alpha, beta, a, lam, record):
            return False
        for i in range(len(q)):
            work[q_rate, i] += weight * v[i]
            work[v_rate, i] += weight * a[i]
        power += weight * record[3]
    for i in range(len(q)):
        q[i] = work[q0, i] + dt / 6 * work[q_rate, i]
        v[i] = work[v0, i] + dt / 6 * work[v_rate, i]
    record[4] += dt / 6 * power
    return True
