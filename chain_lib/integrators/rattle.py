"""RATTLE and SHAKE: Störmer–Verlet with constraints, in momentum form, of order 2 and symplectic."""

import numpy as np

from chain_lib.codegen import INERTIA, LEFT, MULTIPLIERS, PENDING, POWER, WORK, Q, V, compiled, inner

ITERATIONS = 60
ARRIVED = 2e-15  # an iteration has arrived when it moves the coordinates less than this, relative to their size,
AT_REST = 2e-12  # or, at its end, less than this: near a singular configuration rounding keeps it moving


@inner
def _shake(accelerate, torque, t, dt, state, p, record):
    """The step of both methods below, without the projection of the velocity."""
    n = state.shape[1]
    m = len(state) - INERTIA - n - 2
    M, J, slope = state[INERTIA : INERTIA + n], state[INERTIA + n : INERTIA + n + m], state[INERTIA + n + m + 1]
    phi = record[MULTIPLIERS + m : MULTIPLIERS + 2 * m]
    record[WORK] += dt / 2 * record[POWER]
    record[PENDING] = dt / 2
    q0, J0T, inverse0 = state[Q].copy(), J.T.copy(), np.linalg.inv(M)
    momentum = M @ state[V]
    lam = record[MULTIPLIERS : MULTIPLIERS + m].copy()
    half = momentum + dt / 2 * (slope + J0T @ lam)
    q1, speed1 = q0 + dt * (inverse0 @ half), inverse0 @ half
    for count in range(1, ITERATIONS + 1):
        state[Q], state[V] = q0, inverse0 @ half
        if torque is not None:
            torque(t, state)
        if not accelerate(t, state, p, 0.0, 0.0, record):
            return False
        earlier, half = half, momentum + dt / 2 * (slope + J0T @ lam)
        state[Q], state[V] = q1, speed1
        if torque is not None:
            torque(t + dt, state)
        if not accelerate(t + dt, state, p, 0.0, 0.0, record):
            return False
        inverse1 = np.linalg.inv(M)
        both = dt / 2 * (inverse0 + inverse1)
        change = q0 + both @ half - q1
        left = np.abs(change).max()
        if not left < np.inf:
            break
        push = np.linalg.solve(J @ (both @ J0T), -phi - J @ change)
        lam += 2 / dt * push
        half += J0T @ push
        change += both @ (J0T @ push)
        q1, speed1 = q1 + change, inverse1 @ half
        left = np.abs(change).max() + dt * np.abs(inverse0 @ (half - earlier)).max()
        if not left < np.inf:
            break
        if left <= (ARRIVED if count < ITERATIONS else AT_REST) * (1.0 + np.abs(q1).max()):
            state[Q], state[V] = q1, speed1
            if torque is not None:
                torque(t + dt, state)
            if not accelerate(t + dt, state, p, 0.0, 0.0, record):
                return False
            state[V] = np.linalg.solve(M, half + dt / 2 * (slope + J.T @ lam))
            return True
    record[LEFT] = left
    return False


@compiled("step")
def shake_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """The step of RATTLE without its last line: the same positions, velocities off their constraint.

    With the momentum p = M v, the slope F = τ + f + ∂(T − V)/∂q and J₀ = J(q₀), λ is such that φ(q₁) = 0:

        p½ = p₀ + Δt/2 (F(q₀, p½) + J₀ᵀλ),   q₁ = q₀ + Δt/2 (M₀⁻¹ + M₁⁻¹) p½,   p₁ = p½ + Δt/2 (F(q₁, p½) + J₁ᵀλ).

    Source: Leimkuhler and Skeel, J. Comput. Phys. 112 (1994) 117–125, doi:10.1006/jcph.1994.1085.
    """
    return _shake(accelerate, torque, t, dt, state, p, record)


@compiled("step")
def rattle_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """A step of `shake_step`, and then v₁ = M₁⁻¹(p₁ + J₁ᵀμ) with J₁v₁ + φ_t = 0.

    Source: Jay, SIAM J. Numer. Anal. 33 (1996) 368–387, doi:10.1137/0733019.
    """
    if not _shake(accelerate, torque, t, dt, state, p, record):
        return False
    n = state.shape[1]
    m = len(state) - INERTIA - n - 2
    M, J = state[INERTIA : INERTIA + n], state[INERTIA + n : INERTIA + n + m]
    phi_t = record[MULTIPLIERS + 2 * m : MULTIPLIERS + 3 * m]
    along = np.linalg.solve(M, J.T.copy())
    state[V] -= along @ np.linalg.solve(J @ along, J @ state[V] + phi_t)
    return True
