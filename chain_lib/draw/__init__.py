"""Drawing: one function per picture, for the static figure and for the live one."""

from importlib import import_module
from pathlib import Path

import matplotlib.style

matplotlib.style.use(Path(__file__).with_name("chain_lib.mplstyle"))

_LESSONS = (
    "constrained_dynamics",
    "drift",
    "integrators",
    "loop_closure",
    "reduced_coordinates",
    "stabilization",
    "start",
)


def __getattr__(name):
    if name in _LESSONS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"chain_lib.draw has no {name!r}; it offers {', '.join(_LESSONS)}")
