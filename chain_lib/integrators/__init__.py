"""Steppers, a short file per family. Each advances one step from accelerations already known.

A stepper is called as

    step(accelerate, torque, t, dt, q, v, p, tau, alpha, beta, a, lam, record, work) -> bool

with the state q, v at time t, the applied force tau there, and what ``accelerate`` found there:
a and the power in ``record[3]``. It leaves the state at t + dt in q and v, adds the work done on
the way to ``record[4]``, and returns False where the equations have no solution. ``torque`` is None
or a function (t, q, v, tau) that fills tau.
"""

from importlib import import_module

METHODS = {"semi_implicit_euler": "euler", "rk4": "runge_kutta"}
"""Name of a method, and the module that holds its stepper ``<name>_step``."""


def stepper(method):
    """The stepper of a method; compiled on first use."""
    if method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; choose one of {', '.join(METHODS)}.")
    return getattr(import_module(f"{__name__}.{METHODS[method]}"), f"{method}_step")
