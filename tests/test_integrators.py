"""Steppers against the exact pendulum: accuracy and order."""

import numpy as np
import pytest

import chain_lib as cl
from chain_lib.integrators import METHODS


def error(bead, pendulum, dt, **how):
    tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=10.0, dt=dt, **how)
    exact = np.array([*pendulum["position"], *pendulum["velocity"]], float)
    return np.abs([*tr.q[-1], *tr.v[-1]] - exact)


def test_rk4_reaches_ten_digits(bead, pendulum):
    for stabilize in (None, cl.Baumgarte(20, 20), cl.Projection()):
        position_error = error(bead, pendulum, 2.5e-4, stabilize=stabilize)[:2]
        assert position_error.max() < 1e-10


@pytest.mark.parametrize(
    "stabilize", [None, cl.Baumgarte(20, 20), cl.Projection()], ids=["none", "Baumgarte", "projection"]
)
def test_rk4_has_order_4(bead, pendulum, stabilize):
    errors = [error(bead, pendulum, dt, stabilize=stabilize).max() for dt in (2e-3, 1e-3, 5e-4)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4.0, atol=0.15)


def test_001_2_semi_implicit_euler_has_order_1(bead):
    """Errata 001-2: it is not velocity Verlet, and of order 1 on a constrained system."""
    exact = cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=2.5e-4).q[-1]
    runs = [
        cl.simulate(
            bead, [-1, 0], [0, 0], t_end=1.0, dt=dt, method="semi_implicit_euler", stabilize=cl.Baumgarte(10, 20)
        )
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    errors = [np.linalg.norm(tr.q[-1] - exact) for tr in runs]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.1)


def test_the_period_of_the_pendulum(bead, pendulum):
    period = float(pendulum["period"])
    tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=period, dt=5e-4, stabilize=cl.Projection())
    np.testing.assert_allclose(tr.q[-1], [-1, 0], atol=1e-9)


def test_an_unknown_method_is_refused_with_the_known_ones(bead):
    with pytest.raises(ValueError, match="method 'euler' is unknown; choose one of semi_implicit_euler, rk4"):
        cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=0.1, method="euler")
    assert set(METHODS) == {"semi_implicit_euler", "rk4"}
