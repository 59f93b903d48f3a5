"""Accelerations and multipliers: equations, signs and singular states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chain_lib as cl

angles, speeds = st.floats(-3.1, 3.1), st.floats(-5, 5)


@given(angles, speeds, st.floats(0.1, 5), st.floats(0.2, 3), st.tuples(speeds, speeds), st.floats(0, 2))
def test_accelerations_fulfil_both_equations_of_a_moving_constraint(angle, speed, mass, radius, tau, t):
    wire = cl.mechanisms.BeadOnMovingCircle().system(m=mass, R=radius)
    q = radius * np.array([np.cos(angle), np.sin(angle)]) + [0.3 * np.sin(4 * t), 0]
    v = speed * np.array([-np.sin(angle), np.cos(angle)])
    a, lam = cl.accelerations(wire, q, v, tau, t)
    force = np.array(tau) + wire.J(q, t).T @ lam
    np.testing.assert_allclose(wire.M(q) @ a + wire.h(q, v), force, atol=1e-10 * (1 + np.abs(force).max()))
    np.testing.assert_allclose(wire.J(q, t) @ a + wire.gamma(q, v, t), [0.0], atol=1e-9 * (1 + np.abs(a).max()))


def test_001_1_the_multiplier_has_the_sign_of_the_equation_of_motion(bead):
    """Errata 001-1: at (1, 0) m with v = ½ m/s the wire pulls with m v²/R inward, so λ = −0.125 N/m."""
    _, lam = cl.accelerations(bead, [1, 0], [0, 0.5])
    np.testing.assert_allclose(lam, [-0.125])
    np.testing.assert_allclose(bead.J([1, 0]).T @ lam, [-0.25, 0.0])


def test_001_1_a_resting_weight_needs_its_weight_upward(bead):
    a, lam = cl.accelerations(bead, [0, -1], [0, 0])
    np.testing.assert_allclose(a, [0, 0], atol=1e-15)
    np.testing.assert_allclose(bead.J([0, -1]).T @ lam, [0.0, 9.81])


def test_001_1_the_other_sign_of_the_block_gives_the_same_motion_and_the_opposite_force(bead):
    q, v = [0.6, -0.8], [0.8, 0.6]
    a, lam = cl.accelerations(bead, q, v)
    misprinted = np.block([[bead.M(q), bead.J(q).T], [bead.J(q), np.zeros((1, 1))]])
    solution = np.linalg.solve(misprinted, [*-bead.h(q, v), *-bead.gamma(q, v)])
    np.testing.assert_allclose(solution, [*a, *-lam], rtol=1e-14)


def test_the_multiplier_is_the_force_of_the_exact_pendulum(bead, pendulum):
    """Independent of J: the wire's force on a pendulum is m g cos ϑ + m v²/R toward the centre."""
    position, velocity = (np.array(pendulum[name], float) for name in ("position", "velocity"))
    _, lam = cl.accelerations(bead, position, velocity)
    tension = -9.81 * position[1] + velocity @ velocity
    np.testing.assert_allclose(bead.J(position).T @ lam, -tension * position, rtol=1e-12)


def test_a_singular_state_is_an_error_that_tells_rank_and_place(bead):
    with pytest.raises(
        cl.SingularConfiguration, match=r"At q = \[0. 0.\], t = 0 s of bead on a circle.*rank 0 of 1"
    ) as error:
        cl.accelerations(bead, [0, 0], [1, 0])
    assert (error.value.rank, error.value.rows) == (0, 1)


def test_forces_of_the_mechanism_act_and_add_to_tau():
    q, v = cl.coordinates("x")
    damped = cl.Mechanism(
        "a damper", coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2, forces=[-3 * v[0]]
    ).system()
    a, _ = cl.accelerations(damped, [0.0], [2.0], tau=[1.0])
    np.testing.assert_allclose(a, [(1.0 - 6.0) / 2.0])
    np.testing.assert_array_equal(damped.h([0.0], [2.0]), [0.0])
