"""The generalized-α method on the index-3 form, with Newmark's and the HHT method as special cases."""

import numpy as np

from chain_lib.codegen import INERTIA, LEFT, MULTIPLIERS, OWN, PENDING, POWER, WORK, A, Q, V, compiled
from chain_lib.integrators.rattle import ARRIVED, AT_REST, ITERATIONS

ALGORITHMIC, STEPPED, ACCELERATION, MULTIPLIER = range(4)  # rows of work: what a step hands to the next one


def coefficients(method, rho_inf):
    """α_m, α_f, β and γ of a method of the family.

    Parameters
    ----------
    method : str
        ``"generalized_alpha"`` with any spectral radius at infinity ρ∞ in [0, 1]; ``"hht"`` with
        ρ∞ in [½, 1]; ``"newmark"``, the trapezoidal rule, where ρ∞ is 1.
    rho_inf : float
        What is left of a fast oscillation after a step.

    Source: Chung and Hulbert, J. Appl. Mech. 60 (1993) 371–375, doi:10.1115/1.2900803.

    Examples
    --------
    >>> coefficients("newmark", 1.0)
    (0.0, 0.0, 0.25, 0.5)
    """
    alpha_m, alpha_f = 0.0, 0.0
    if method == "generalized_alpha":
        alpha_m, alpha_f = (2 * rho_inf - 1) / (rho_inf + 1), rho_inf / (rho_inf + 1)
    elif method == "hht":
        alpha_f = (1 - rho_inf) / (1 + rho_inf)
    gamma = 0.5 + alpha_f - alpha_m
    return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma


@compiled("step")
def generalized_alpha_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """M v̇₁ + h = τ + f + J₁ᵀλ₁ and φ(q₁) = 0, with

        (1 − α_m) a₁ + α_m a₀ = (1 − α_f) v̇₁ + α_f v̇₀,
        q₁ = q₀ + Δt v₀ + Δt² ((½ − β) a₀ + β a₁),   v₁ = v₀ + Δt ((1 − γ) a₀ + γ a₁).

    The iteration solves [[M, −J₁ᵀ], [J₁, 0]] for changes of v̇₁ and λ₁, with φ divided by Δt² so that its
    condition does not depend on the step. a is the algorithmic acceleration; at the start a = v̇.

    Source: Arnold and Brüls, Multibody Syst. Dyn. 18 (2007) 185–202, doi:10.1007/s11044-007-9084-0.
    """
    n = state.shape[1]
    m = len(state) - INERTIA - n - 2
    M, J, force = state[INERTIA : INERTIA + n], state[INERTIA + n : INERTIA + n + m], state[INERTIA + n + m]
    phi, lam = record[MULTIPLIERS + m : MULTIPLIERS + 2 * m], record[MULTIPLIERS : MULTIPLIERS + m].copy()
    alpha_m, alpha_f, beta, gamma = record[-4], record[-3], record[-2], record[-1]
    record[WORK] += dt / 2 * record[POWER]
    record[PENDING] = dt / 2
    q0, v0 = state[Q].copy(), state[V].copy()
    if work[STEPPED, 0] == 0.0:
        work[ALGORITHMIC], work[ACCELERATION] = state[A], state[A]
    a0, rate0 = work[ALGORITHMIC].copy(), work[ACCELERATION].copy()
    rate1, K = rate0.copy(), np.zeros((n + m, n + m))
    share = (1 - alpha_f) / (1 - alpha_m)
    for count in range(1, ITERATIONS + 1):
        a1 = share * rate1 + (alpha_f * rate0 - alpha_m * a0) / (1 - alpha_m)
        state[Q] = q0 + dt * v0 + dt**2 * ((0.5 - beta) * a0 + beta * a1)
        state[V] = v0 + dt * ((1 - gamma) * a0 + gamma * a1)
        if torque is not None:
            torque(t + dt, state)
        if not accelerate(t + dt, state, p, 0.0, 0.0, record):
            return False
        K[:n, :n], K[:n, n:], K[n:, :n] = M, -J.T, J
        right = np.concatenate((force + J.T @ lam - M @ rate1, -phi / (beta * share * dt**2)))
        left = np.abs(right).max()
        if not left < np.inf:
            break
        change = np.linalg.solve(K, right)
        rate1 += change[:n]
        lam += change[n:]
        left = dt**2 * np.abs(change[:n]).max()
        if not left < np.inf:
            break
        if left <= (ARRIVED if count < ITERATIONS else AT_REST) * (1.0 + np.abs(state[Q]).max()):
            work[ALGORITHMIC], work[ACCELERATION], work[STEPPED, 0] = a1, rate1, 1.0
            work[MULTIPLIER, :m] = lam
            record[OWN] = 1.0
            return True
    record[LEFT] = left
    return False
