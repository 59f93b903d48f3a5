"""The implicit midpoint rule with constraint forces, of order 2."""

import numpy as np

from chain_lib.codegen import INERTIA, LEFT, MULTIPLIERS, PENDING, POWER, WORK, Q, V, compiled, inner
from chain_lib.integrators.rattle import ARRIVED, AT_REST, ITERATIONS


@inner
def _midpoint(accelerate, torque, t, dt, state, p, together, record, work):
    """The step of both methods below: with the velocity constraint inside the iteration (1), or after it (0)."""
    n = state.shape[1]
    m = len(state) - INERTIA - n - 2
    M, J, force = state[INERTIA : INERTIA + n], state[INERTIA + n : INERTIA + n + m], state[INERTIA + n + m]
    phi, phi_t = record[MULTIPLIERS + m : MULTIPLIERS + 2 * m], record[MULTIPLIERS + 2 * m : MULTIPLIERS + 3 * m]
    record[WORK] += dt / 2 * record[POWER]
    record[PENDING] = dt / 2
    q0, v0 = state[Q].copy(), state[V].copy()
    lam, mu = record[MULTIPLIERS : MULTIPLIERS + m].copy(), np.zeros(m)
    q1, v1 = q0 + dt * v0, v0.copy()
    for count in range(1, ITERATIONS + 1):
        state[Q], state[V] = (q0 + q1) / 2, (v0 + v1) / 2
        if torque is not None:
            torque(t + dt / 2, state)
        if not accelerate(t + dt / 2, state, p, 0.0, 0.0, record):
            return False
        left = np.abs(force).max()
        if not left < np.inf:
            break
        earlier, free = v1, np.linalg.solve(M, force)
        along = np.linalg.solve(M, J.T.copy())
        v1 = v0 + dt * (free + along @ lam)
        change = q0 + dt * (v0 + v1) / 2 + along @ mu - q1
        state[Q], state[V] = q1, v1
        if torque is not None:
            torque(t + dt, state)
        if not accelerate(t + dt, state, p, 0.0, 0.0, record):
            return False
        across = J @ along
        left = np.abs(change).max() + dt * np.abs(v1).max()
        if not left < np.inf:
            break
        if together > 0.0:
            kick = np.linalg.solve(across, -(J @ v1 + phi_t))
            v1 = v1 + along @ kick
            lam += kick / dt
            change += dt / 2 * (along @ kick)
            push = np.linalg.solve(across, -phi - J @ change)
            mu += push
            change += along @ push
        else:
            kick = 2 / dt * np.linalg.solve(across, -phi - J @ change)
            v1 = v1 + along @ kick
            lam += kick / dt
            change += dt / 2 * (along @ kick)
        q1 = q1 + change
        left = np.abs(change).max() + dt * np.abs(v1 - earlier).max()
        if not left < np.inf:
            break
        if left <= (ARRIVED if count < ITERATIONS else AT_REST) * (1.0 + np.abs(q1).max()):
            along = np.linalg.solve(M, J.T.copy())
            state[Q], state[V] = q1, v1 - along @ np.linalg.solve(J @ along, J @ v1 + phi_t)
            return True
    record[LEFT] = left
    return False


@compiled("step")
def implicit_midpoint_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """Forces at the midpoint, φ at the end, and then the velocity projected in the metric of M.

        M(q½)(v₁ − v₀) = Δt (τ + f − h + Jᵀλ)(q½, v½),   q₁ = q₀ + Δt v½,   φ(q₁) = 0,

    with q½ = (q₀ + q₁)/2 and v½ = (v₀ + v₁)/2 before the projection.

    Source: Hairer, Lubich and Wanner, Geometric Numerical Integration, 2nd ed. (2006), section VII.1,
    doi:10.1007/3-540-30666-8.
    """
    return _midpoint(accelerate, torque, t, dt, state, p, 0.0, record, work)


@compiled("step")
def implicit_midpoint_ggl_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """As `implicit_midpoint_step`, with J₁v₁ + φ_t = 0 solved along, and q₁ = q₀ + Δt v½ + M⁻¹Jᵀμ.

    The second multiplier μ makes room for both constraints: the index is 2.

    Source: Gear, Leimkuhler and Gupta, J. Comput. Appl. Math. 12–13 (1985) 77–90,
    doi:10.1016/0377-0427(85)90008-1.
    """
    return _midpoint(accelerate, torque, t, dt, state, p, 1.0, record, work)
