"""Euler's methods: one evaluation a step, order 1."""

from chain_lib.codegen import POWER, WORK, A, Q, V, compiled


@compiled("step")
def explicit_euler_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """q⁺ = q + Δt v and v⁺ = v + Δt q̈(t, q, v)."""
    for i in range(state.shape[1]):
        state[Q, i] += dt * state[V, i]
        state[V, i] += dt * state[A, i]
    record[WORK] += dt * record[POWER]
    return True


@compiled("step")
def semi_implicit_euler_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """v⁺ = v + Δt q̈(t, q, v), then q⁺ = q + Δt v⁺."""
    for i in range(state.shape[1]):
        state[V, i] += dt * state[A, i]
        state[Q, i] += dt * state[V, i]
    record[WORK] += dt * record[POWER]
    return True
