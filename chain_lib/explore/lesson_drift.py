"""Explorer of lesson 07: how the step, the method and the remedies change the drift of a bead."""

from functools import cache
from math import atan2, cos, degrees, radians, sin

from chain_lib import codegen, mechanisms
from chain_lib.draw import drift as picture
from chain_lib.explore.controls import Choice, Handle, Slider, Stops
from chain_lib.explore.explorer import Explorer
from chain_lib.simulation import simulate
from chain_lib.stabilization import Baumgarte, Projection

DURATION = 10.0
STEPS_WITHOUT_NUMBA = 2000  # a run of about 0.1 s in plain NumPy

STEPS = tuple(1e-3 * step for step in (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100))

PROJECTIONS = {
    "none": None,
    "velocity": Projection(position=False),
    "position": Projection(velocity=False),
    "position and velocity": Projection(),
}


def drift():
    """The bead on a circle, from rest, for 10 s.

    Controls: method, dt (s), alpha and beta (1/s), projection, and the start as an angle from the
    lowest point (°). With a projection the gains rest, since doing both is redundant.
    """
    return Explorer(
        title="Drift of a bead on a wire",
        controls=(
            Choice("method", "method", {"RK4": "rk4", "semi-implicit Euler": "semi_implicit_euler"}, "rk4"),
            Stops("dt", "Δt", STEPS, start=0.02, words=lambda dt: f"{1e3 * dt:.4g} ms"),
            Slider("alpha", "gain α", "1/s", 0.0, 200.0, start=0.0, step=1.0, special=(10.0,)),
            Slider("beta", "gain β", "1/s", 0.0, 200.0, start=0.0, step=1.0, special=(20.0,)),
            Choice("projection", "projection", {name: name for name in PROJECTIONS}, "none"),
            Slider("start", "start ϑ₀", "°", -170.0, 170.0, start=-90.0, step=1.0, special=(0.0,)),
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        handles=(
            Handle(
                "start",
                "start of the bead",
                "bead",
                place=lambda values: _place(values["start"]),
                value=lambda x, y: degrees(atan2(x, -y)),
                wraps=True,
            ),
        ),
        presets={
            "critical damping": {"alpha": 20.0, "beta": 20.0, "projection": "none"},
            "beyond the limit": {
                "method": "semi_implicit_euler",
                "dt": 0.02,
                "alpha": 45.0,
                "beta": 45.0,
                "projection": "none",
            },
        },
    )


@cache
def _bead():
    return mechanisms.BeadOnCircle().system()


def _place(angle):
    """Point of the wire at an angle (°) from the lowest point, positive to the right (m)."""
    return sin(radians(angle)), -cos(radians(angle))


def _compute(*, method, dt, alpha, beta, projection, start):
    stabilize = PROJECTIONS[projection] or (Baumgarte(alpha, beta) if alpha or beta else None)
    duration = DURATION if codegen.compiles() else min(DURATION, STEPS_WITHOUT_NUMBA * dt)
    return simulate(_bead(), _place(start), (0.0, 0.0), t_end=duration, dt=dt, method=method, stabilize=stabilize)


def _text(run):
    short = run.stopped is None and run.t[-1] < DURATION
    note = f" Shortened to {run.t[-1]:.3g} s, since numba is not installed." if short else ""
    return picture.describe(run) + note
