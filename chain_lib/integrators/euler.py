"""Euler's methods: one evaluation a step, order 1."""

from chain_lib.codegen import compiled


@compiled("step")
def semi_implicit_euler_step(accelerate, torque, t, dt, q, v, p, tau, alpha, beta, a, lam, record, work):
    """v⁺ = v + Δt q̈(t, q, v), then q⁺ = q + Δt v⁺."""
    for i in range(len(q)):
        v[i] += dt * a[i]
        q[i] += dt * v[i]
    record[4] += dt * record[3]
    return True
