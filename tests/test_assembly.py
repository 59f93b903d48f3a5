"""Assembly: the iteration with coordinates held, its step, and the sentences where it does not arrive."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import chain_lib as cl
from chain_lib import assembly

CHANGE_POINT = dict(a=0.2, b=0.4, c=0.3, d=0.5)
FOUR_BAR = cl.mechanisms.FourBar()


@given(st.floats(-3.14, 3.14), st.sampled_from(["open", "crossed"]), st.tuples(*[st.floats(-0.2, 0.2)] * 2))
def test_the_iteration_arrives_where_the_closed_form_is(theta2, branch, off):
    system = FOUR_BAR.system()
    q = system.assemble(branch, theta2=theta2)
    start = q + [0.3, *off]
    np.testing.assert_allclose(system.assemble(branch, start=start, theta2=theta2), q, atol=1e-12)
    assert system.assemble(start=start, theta2=theta2)[0] == theta2


@given(st.floats(0.2, 2.5), st.sampled_from(["theta3", "theta4"]))
def test_any_coordinate_can_be_held(theta2, name):
    system = FOUR_BAR.system()
    q = system.assemble("open", theta2=theta2)
    i = 1 if name == "theta3" else 2
    found = system.assemble(start=q + 0.05, **{name: q[i]})
    assert found[i] == q[i] and np.abs(system.phi(found)).max() < 1e-14


def test_the_start_is_left_alone():
    start = np.array([0.1, 0.9, 1.7])
    FOUR_BAR.system().assemble(start=start, theta2=0.3)
    np.testing.assert_array_equal(start, [0.1, 0.9, 1.7])


def test_nothing_held_changes_the_angles_as_little_as_it_can():
    """Near the constraint the step is normal to it: the change has next to nothing along the null space."""
    system = FOUR_BAR.system()
    q = system.assemble("open", theta2=1.0)
    start = q + 1e-4 * np.array([1.0, -0.5, 0.8])
    change = system.assemble(start=start) - start
    S = cl.reduced(system, q, np.zeros(3)).S[:, 0]
    assert abs(change @ S) / np.linalg.norm(S) < 1e-3 * np.linalg.norm(change)


def test_a_damped_iteration_arrives_from_where_full_steps_wander_for_ever():
    system = FOUR_BAR.system(**CHANGE_POINT)
    start = np.array([0.4, 2.0, -1.2])
    q = start.copy()
    for _ in range(100):
        q[1:] -= np.linalg.solve(system.J(q)[:, 1:], system.phi(q))
    assert np.linalg.norm(system.phi(q)) > 0.1
    assert np.abs(system.phi(system.assemble(start=start, theta2=0.4))).max() < 1e-14


@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-8])
def test_000_13_near_a_singularity_the_step_from_J_is_exact_where_the_one_from_JTJ_is_not(off):
    """Errata 000-13: relative residual 1.7e-10 against 6e-17 at 1e-6 rad; rank 1 of 2 at 1e-8 rad."""
    system = FOUR_BAR.system(**CHANGE_POINT)
    q = system.assemble("open", theta2=np.pi - off)
    J, phi = system.J(q), system.J(q) @ np.array([1e-3, -2e-3, 3e-3])
    by_J, _, rank_of_J, _ = np.linalg.lstsq(J, -phi, rcond=None)
    by_JTJ, _, rank_of_JTJ, _ = np.linalg.lstsq(J.T @ J, -J.T @ phi, rcond=None)
    residual = [np.linalg.norm(J @ step + phi) / np.linalg.norm(phi) for step in (by_J, by_JTJ)]
    assert rank_of_J == 2 and residual[0] < 1e-14
    if off == 1e-3:
        np.testing.assert_allclose(by_J, by_JTJ, rtol=1e-4)
    elif off == 1e-6:
        assert residual[1] > 1e-12
    else:
        assert rank_of_JTJ == 1


def test_000_13_the_iteration_closes_the_loop_right_beside_the_singularity():
    system = FOUR_BAR.system(**CHANGE_POINT)
    for off in (1e-3, 1e-6, 1e-8):
        q = system.assemble("open", theta2=np.pi - off)
        found = system.assemble(start=q + off / 10 * np.array([0, 1.0, -1.0]), theta2=np.pi - off)
        assert np.abs(system.phi(found)).max() < 1e-14


def test_000_13_two_constraints_that_are_1e_8_apart_are_two():
    """JᵀJ has lost the second one at this angle, and an iteration with it never moves y."""
    (x, y, z), v = cl.coordinates("x y z")
    nearly_parallel = cl.Mechanism(
        "nearly parallel",
        coordinates=(x, y, z),
        velocities=v,
        parameters={},
        kinetic_energy=v.dot(v) / 2,
        constraints={"first": (x, "m"), "second": (x + sp.Float(1e-8) * (y - 1), "m")},
    ).system()
    np.testing.assert_allclose(nearly_parallel.assemble(start=[1.0, 5.0, 2.0]), [0, 1, 2], atol=1e-7)


def test_a_moving_constraint_is_closed_at_its_time(wire):
    q = wire.assemble(start=[0.1, -0.9], t=0.3)
    assert abs(wire.phi(q, 0.3)[0]) < 1e-14 < abs(wire.phi(q, 0.0)[0])


def test_without_a_closed_form_a_start_is_asked_for(bead):
    with pytest.raises(ValueError, match="bead on a circle has no closed-form assembly; give start=q"):
        bead.assemble(x=0.5)
    np.testing.assert_allclose(bead.assemble(start=[0, -1], x=0.6), [0.6, -0.8], rtol=1e-14)


def test_what_cannot_close_is_an_error_with_the_residual_that_is_left(bead):
    with pytest.raises(ArithmeticError, match=r"did not close from this start with x held: ‖φ‖ = 0.44 is left"):
        bead.assemble(start=[0.0, -1.0], x=1.2)
    with pytest.raises(ArithmeticError, match="did not close from this start with theta2 held"):
        FOUR_BAR.system(a=0.3, b=0.4, c=0.3, d=0.5).assemble(start=[2.5, 0.4, 1.9], theta2=2.5)


def test_angles_that_differ_by_full_turns_are_one_configuration_and_lengths_are_not():
    slider = cl.mechanisms.SliderCrank().system()
    q = slider.assemble("right", theta2=0.5)
    turned = slider.assemble("right", start=q + [0, 2 * np.pi, 0], theta2=0.5)
    np.testing.assert_allclose(turned, q + [0, 2 * np.pi, 0], atol=1e-12)
    assert not assembly._same(slider, q, q + [0, 0, 2 * np.pi])
    with pytest.raises(ValueError, match="assembles on the branch 'left', and 'right' was asked for"):
        slider.assemble("right", start=slider.assemble("left", theta2=0.5), theta2=0.5)


def test_one_branch_needs_no_name():
    parallelogram = cl.mechanisms.Parallelogram().system()
    np.testing.assert_array_equal(parallelogram.assemble(theta2=0.7), [0.7, 0, 0.7, 0.7])
    with pytest.raises(ValueError, match="The parallelogram has a closed form with theta2 held, not with theta3"):
        parallelogram.assemble(theta3=0.7)
