"""Explorers: sliders around a picture, one function per lesson."""

from importlib import import_module

_LESSONS = {
    "dead_centres": "reduced_coordinates",
    "drift": "drift",
    "four_bar": "loop_closure",
    "gains": "stabilization",
    "integrators": "integrators",
    "joint_forces": "constrained_dynamics",
    "projection_metric": "stabilization",
}

__all__ = sorted(_LESSONS)


def __getattr__(name):
    if name in _LESSONS:
        return getattr(import_module(f"{__name__}.lesson_{_LESSONS[name]}"), name)
    raise AttributeError(f"chain_lib.explore has no {name!r}; it offers {', '.join(__all__)}")
