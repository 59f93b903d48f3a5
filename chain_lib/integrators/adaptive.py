"""Adaptive methods of SciPy on q̇ = v, v̇ = q̈(t, q, v), Ẇ = power: a reference for the others."""

import numpy as np

from chain_lib.codegen import AT_START, POWER, A, Q, V

SOLVERS = {"dop853": "DOP853", "radau": "Radau"}


def leap(method, accelerate, torque, times, state, p, alpha, beta, record, rtol, atol):
    """States at the given times, rows (q, v, work), as far as the solver comes; and why it ends before, or None.

    Parameters
    ----------
    method : str
        ``"dop853"``, explicit, of order 8; ``"radau"``, implicit, of order 5.
    accelerate, torque, state, p, alpha, beta, record
        As for a step.
    times : array, (N,)
    rtol, atol : float

    Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I and II.
    """
    import scipy.integrate

    n = state.shape[1]

    def rate(t, y):
        state[Q], state[V] = y[:n], y[n : 2 * n]
        if torque is not None:
            torque(t, state)
        record[AT_START] = 1.0
        if not accelerate(t, state, p, alpha, beta, record):
            raise ArithmeticError(f"the equations are singular at t = {t:.4g} s, near q = {y[:n]}")
        return np.concatenate([y[n : 2 * n], state[A], [record[POWER]]])

    start = np.concatenate([state[Q], state[V], [0.0]])
    reached = [start]
    solver = getattr(scipy.integrate, SOLVERS[method])(rate, times[0], start, times[-1], rtol=rtol, atol=atol)
    with np.errstate(all="ignore"):
        while len(reached) < len(times):
            try:
                failed = solver.step()
            except ArithmeticError as error:
                return np.array(reached), str(error)
            if solver.status == "failed":
                return np.array(reached), failed
            between = solver.dense_output()
            while len(reached) < len(times) and times[len(reached)] <= solver.t:
                reached.append(between(times[len(reached)]))
    return np.array(reached), None
