"""Closed-chain mechanisms and constrained robot dynamics, as the course computes them.

A mechanism goes one way through the library: described (`mechanism`), derived (`derive`), compiled
(`codegen`), evaluated (`system`), solved (`linear`, `dynamics`), advanced (`integrators`,
`stabilization`), run (`simulation`) and shown (`draw`, `explore`).

Importing the package loads none of that: each name below loads its module on first use.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "Mechanism": "mechanism",
    "coordinates": "mechanism",
    "t": "mechanism",
    "System": "system",
    "SingularConfiguration": "linear",
    "accelerations": "dynamics",
    "reduced": "partition",
    "joint_forces": "dynamics",
    "mobility": "singularity",
    "Baumgarte": "stabilization",
    "Projection": "stabilization",
    "project": "stabilization",
    "growth_per_step": "stabilization",
    "stability_limit": "stabilization",
    "InconsistentStart": "simulation",
    "simulate": "simulation",
    "sweep": "sweeps",
    "Sweep": "sweeps",
    "Trajectory": "trajectory",
    "check_installation": "installation",
}
_MODULES = ("draw", "explore", "mechanisms")

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name):
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"chain_lib has no {name!r}; it offers {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__():
    return [*globals(), *__all__]
