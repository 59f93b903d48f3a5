"""Steppers, a short file per family. Each advances one step from accelerations already known.

A stepper is called as

    step(accelerate, torque, t, dt, state, p, alpha, beta, record, work) -> bool

with the rows Q, V, TAU and A of ``state`` as they are at time t, and the power there in ``record``.
It leaves the state of t + dt in Q and V, adds the work done on the way to the record, and returns
False where the equations have no solution. ``torque`` is None or a function (t, state) that fills
the row TAU; ``work`` offers four rows to keep numbers in.
"""

from importlib import import_module

METHODS = {
    "explicit_euler": "euler",
    "semi_implicit_euler": "euler",
    "rk4": "runge_kutta",
    "rattle": "rattle",
    "shake": "rattle",
    "implicit_midpoint": "midpoint",
    "implicit_midpoint_ggl": "midpoint",
    "newmark": "generalized_alpha",
    "hht": "generalized_alpha",
    "generalized_alpha": "generalized_alpha",
}
"""Name of a method with steps of one length, and the module that holds its stepper."""

STAY = ("rattle", "shake", "implicit_midpoint", "implicit_midpoint_ggl", "newmark", "hht", "generalized_alpha")
"""Methods that fulfil φ = 0 at the end of every step by themselves; they need M, J and φ, not only accelerations."""

ADAPTIVE = ("dop853", "radau")
"""Methods that choose their own steps."""


def stepper(method):
    """The stepper of a method; compiled on first use."""
    if method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; choose one of {', '.join([*METHODS, *ADAPTIVE])}.")
    family = "generalized_alpha" if METHODS[method] == "generalized_alpha" else method
    return getattr(import_module(f"{__name__}.{METHODS[method]}"), f"{family}_step")
