"""Reduced coordinates: agreement with the KKT system, the sign of h_r, and switching at dead centres."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl
from chain_lib.partition import best_independent

CHANGE_POINT = dict(a=0.2, b=0.4, c=0.3, d=0.5)
DEAD_CENTRES = dict(a=0.3, b=0.4, c=0.3, d=0.5)
FOUR_BAR = cl.mechanisms.FourBar()
REST = np.zeros(3)


@pytest.fixture(scope="module")
def change_point():
    return FOUR_BAR.system(**CHANGE_POINT)


@pytest.fixture(scope="module")
def balloon():
    """A point on a sphere that breathes and moves: two free coordinates, and a constraint with time in it."""
    (x, y, z), v = cl.coordinates("x y z")
    omega = sp.Symbol("omega", positive=True)
    radius = 1 + sp.sin(omega * cl.t) / 4
    return cl.Mechanism(
        "point on a balloon",
        coordinates=(x, y, z),
        velocities=v,
        parameters={omega: (3.0, "1/s", "angular frequency")},
        kinetic_energy=sum(rate**2 for rate in v) / 2 + v[0] * v[1] / 5,
        potential_energy=2 * z + x * y,
        constraints={"on the balloon": ((x - sp.cos(cl.t) / 3) ** 2 + y**2 + z**2 - radius**2, "m^2")},
        forces=[-v[0] / 10, 0, -v[2] / 5],
    ).system()


def moving(system, q, speed, name="theta2"):
    """The velocities at which one coordinate moves at this speed."""
    return speed * cl.reduced(system, q, np.zeros(system.n), [name]).S[:, 0]


def agree(system, q, v, tau=None, t=0.0, independent=None):
    """Whether both formulations give the same accelerations, to 1e-10 relative; and J S = 0, J q̈ + γ = 0."""
    a, _ = cl.accelerations(system, q, v, tau, t)
    form = cl.reduced(system, q, v, independent, tau, t)
    J, gamma = system.J(q, t), system.gamma(q, v, t)
    assert np.abs(J @ form.S).max() < 1e-12 * np.abs(J).max() * np.abs(form.S).max()
    assert np.abs(J @ form.bias + gamma).max() <= 1e-12 * (np.abs(J).max() * np.abs(form.bias).max() + 1)
    np.testing.assert_allclose(form.a, a, rtol=0, atol=1e-10 * np.abs(a).max())


def test_both_forms_agree_along_the_reference_path_with_and_without_torque():
    reference = json.loads((Path(__file__).parent / "data" / "four_bar.json").read_text())
    system = FOUR_BAR.system(**reference["geometry"])
    for q, v in zip(reference["q"], reference["qd"]):
        for tau in (None, [1.0, 0.0, 0.0], [0.3, -2.0, 1.5]):
            for independent in (None, ["theta2"]):
                agree(system, q, v, tau, independent=independent)


def test_both_forms_agree_on_the_slider_crank():
    system = cl.mechanisms.SliderCrank().system(e=0.05, m4=3.0)
    for theta2 in np.linspace(-3, 3, 13):
        q = system.assemble("right", theta2=theta2)
        for speed in (0.0, 4.0):
            agree(system, q, moving(system, q, speed), [1.0, -0.5, 7.0])
            agree(system, q, moving(system, q, speed), independent=["theta2"])


def test_both_forms_agree_with_two_free_coordinates_and_a_constraint_that_moves(balloon):
    generator = np.random.default_rng(5)
    for t in np.linspace(0, 2, 20):
        q, v = cl.project(balloon, generator.normal(size=3), generator.normal(size=3), t)
        for independent in (None, ["x", "y"], ["z", "x"]):
            agree(balloon, q, v, generator.normal(size=3), t, independent)
        form = cl.reduced(balloon, q, v, t=t)
        assert form.S.shape == (3, 2) and form.M_r.shape == (2, 2) and form.h_r.shape == form.tau_r.shape == (2,)


def test_both_forms_agree_on_the_moving_circle(wire):
    for t in (0.0, 0.3, 0.9):
        q, v = cl.project(wire, [0.4, -0.8], [1.0, 0.3], t)
        agree(wire, q, v, [0.5, -0.1], t)


def test_000_9_h_r_has_a_plus_where_the_lecture_has_a_minus(change_point):
    """Errata 000-9: at 10°, 3 rad/s and 1 N·m both forms give −15.29596 rad/s², the minus −24.02860."""
    q = change_point.assemble("open", theta2=np.deg2rad(10))
    v, tau = moving(change_point, q, 3.0), [1.0, 0, 0]
    form = cl.reduced(change_point, q, v, ["theta2"], tau)
    assert form.independent == ["theta2"] and form.a_r == pytest.approx([-15.29596], abs=5e-6)
    assert cl.accelerations(change_point, q, v, tau)[0][0] == pytest.approx(-15.29596, abs=5e-6)
    minus = form.S.T @ (change_point.h(q, v) - change_point.M(q) @ form.bias)
    assert (form.tau_r - minus) / form.M_r == pytest.approx(-24.02860, abs=5e-6)


def test_000_9_the_bias_is_S_dot_times_the_speed(change_point):
    q = change_point.assemble("open", theta2=np.deg2rad(10))
    v, step = moving(change_point, q, 3.0), 1e-6

    def S(theta2):
        there = change_point.assemble("open", theta2=theta2)
        return cl.reduced(change_point, there, REST, ["theta2"]).S[:, 0]

    S_dot = (S(q[0] + step) - S(q[0] - step)) / (2 * step) * 3.0
    np.testing.assert_allclose(cl.reduced(change_point, q, v, ["theta2"]).bias, S_dot * 3.0, atol=1e-7)


def test_000_10_the_constraint_forces_do_no_work_along_S(change_point):
    """Errata 000-10: J S = 0 removes λ; τ_r = Sᵀτ is the motor's torque if no other joint has one."""
    q = change_point.assemble("open", theta2=0.7)
    S = cl.reduced(change_point, q, REST, ["theta2"]).S
    np.testing.assert_allclose(change_point.J(q) @ S, np.zeros((2, 1)), atol=1e-15)
    assert S[0, 0] == 1.0
    at_the_motor = cl.reduced(change_point, q, REST, ["theta2"], [2.0, 0, 0])
    with_friction = cl.reduced(change_point, q, REST, ["theta2"], [2.0, 0.5, 0])
    assert at_the_motor.tau_r == pytest.approx([2.0])
    assert with_friction.tau_r == pytest.approx([2.0 + 0.5 * S[1, 0]])


def test_own_forces_of_the_mechanism_are_in_tau_r(balloon):
    q, v = cl.project(balloon, [0.5, 0.6, -0.7], [1.0, -2.0, 0.5])
    form = cl.reduced(balloon, q, v)
    np.testing.assert_allclose(form.tau_r, form.S.T @ [-v[0] / 10, 0, -v[2] / 5])


def test_000_4_at_a_dead_centre_the_crank_determines_nothing_and_another_coordinate_does():
    """Errata 000-4: det J_p = b c sin(θ₃ − θ₄) = 0 with σ_min(J) = 0.166 at least."""
    system = FOUR_BAR.system(**DEAD_CENTRES)
    q = system.assemble("open", theta2=np.deg2rad(120))
    assert np.sin(q[1] - q[2]) == pytest.approx(0, abs=1e-7)
    assert np.linalg.svd(system.J(q))[1][-1] == pytest.approx(0.166, abs=5e-4)
    with pytest.raises(cl.SingularConfiguration, match="of four-bar, theta2 does not determine the other coordinates"):
        cl.reduced(system, q, REST, ["theta2"])
    form = cl.reduced(system, q, REST)
    assert form.independent != ["theta2"] and form.condition < 10
    near = system.assemble("open", theta2=np.deg2rad(119.9))
    assert cl.reduced(system, near, REST, ["theta2"]).condition > 10
    agree(system, near, moving(system, near, 1.0))


def test_the_condition_is_that_of_the_dependent_columns(change_point):
    q = change_point.assemble("open", theta2=0.7)
    form = cl.reduced(change_point, q, REST, ["theta2"])
    assert form.condition == pytest.approx(np.linalg.cond(change_point.J(q)[:, 1:]))


def test_the_dependent_columns_are_chosen_far_from_singular():
    J = np.array([[1.0, 1.0, 0.1, 0.0], [1e-3, 0.0, 1.0, 0.0]])
    assert best_independent(J)[-1] == 3 and len(best_independent(J)) == 2
    assert best_independent(np.array([[0.0, 2.0, 1.0]])) == [0, 2]


@pytest.mark.parametrize("wrong", [[], ["theta2", "theta3"], ["x"], "theta", ["theta2", "theta2"]])
def test_an_impossible_choice_of_coordinates_is_refused(change_point, wrong):
    q = change_point.assemble("open", theta2=0.7)
    with pytest.raises(ValueError, match="four-bar needs 1 of its coordinates, theta2, theta3, theta4"):
        cl.reduced(change_point, q, REST, wrong)


def test_one_name_can_stand_without_a_list(change_point):
    q = change_point.assemble("open", theta2=0.7)
    assert cl.reduced(change_point, q, REST, "theta3").independent == ["theta3"]


def both(system, q, v, **given):
    kkt = cl.simulate(system, q, v, stabilize=cl.Baumgarte(20, 20), **given)
    return kkt, cl.simulate(system, q, v, form="reduced", **given)


def test_a_run_in_reduced_coordinates_is_the_run_of_the_kkt_system():
    system = FOUR_BAR.system()
    q = system.assemble("open", theta2=np.deg2rad(10))
    kkt, reduced = both(system, q, REST, t_end=0.2, dt=1e-3, torque=[0.4, 0, 0])
    for name, tolerance in (("q", 1e-9), ("v", 1e-7), ("lam", 1e-6)):
        np.testing.assert_allclose(getattr(reduced, name), getattr(kkt, name), atol=tolerance)
    assert reduced.position_residual.max() < 1e-14 and reduced.velocity_residual.max() < 1e-13
    assert np.abs(reduced.energy_balance).max() < 1e-8
    assert reduced.notes == ["The independent coordinate was theta2 all the time."]
    for k in (0, 77, 200):
        np.testing.assert_allclose(
            reduced.lam[k], cl.accelerations(system, reduced.q[k], reduced.v[k], [0.4, 0, 0])[1], rtol=1e-10
        )


def test_a_run_in_reduced_coordinates_follows_a_constraint_that_moves(wire, balloon):
    q, v = cl.project(balloon, [0.5, 0.6, -0.7], [1.0, -2.0, 0.5])
    for system, start in ((wire, ([0, -1], [1.2, 0])), (balloon, (q, v))):
        kkt, reduced = both(system, *start, t_end=0.5, dt=5e-3)
        np.testing.assert_allclose(reduced.q, kkt.q, atol=1e-6)
        assert reduced.position_residual.max() < 1e-14 and np.abs(reduced.energy_balance).max() < 1e-7


def test_a_run_in_reduced_coordinates_by_eulers_method_stays_on_the_constraints(change_point):
    q = change_point.assemble("open", theta2=0.7)
    tr = cl.simulate(change_point, q, REST, t_end=0.1, dt=1e-3, form="reduced", method="semi_implicit_euler")
    assert tr.stopped is None and tr.position_residual.max() < 1e-14 and tr.velocity_residual.max() < 1e-13


def test_000_4_a_run_switches_its_coordinate_to_pass_dead_centres():
    system = FOUR_BAR.system(**DEAD_CENTRES)
    q = system.assemble("open", theta2=1.0)
    kkt, reduced = both(system, q, moving(system, q, 10.0), t_end=0.25, dt=5e-4)
    assert reduced.stopped is None and np.ptp(np.sign(np.sin(reduced.q[:, 1] - reduced.q[:, 2]))) == 2
    np.testing.assert_allclose(reduced.q, kkt.q, atol=1e-6)
    assert np.abs(reduced.energy_balance).max() < 1e-5
    assert reduced.notes[0].startswith("The independent coordinate was theta2 at first, then theta")


def test_both_forms_stop_at_the_same_change_point(change_point):
    q = change_point.assemble("open", theta2=np.deg2rad(-150))
    kkt, reduced = both(change_point, q, moving(change_point, q, -7.0), t_end=0.5, dt=1e-3)
    assert 0.02 < reduced.t[-1] < 0.2 and reduced.t[-1] == pytest.approx(kkt.t[-1], abs=1e-6)
    assert reduced.stopped == kkt.stopped and "theta2 = −180.0°" in reduced.stopped


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (dict(form="lagrange"), "form = 'lagrange' is unknown; choose one of 'kkt', 'reduced'"),
        (
            dict(form="reduced", stabilize=cl.Baumgarte(20, 20)),
            "stays on the constraints by itself; leave stabilize out",
        ),
        (dict(form="reduced", stabilize=cl.Projection()), "leave stabilize out"),
        (dict(form="reduced", redundant="minimum_norm"), "needs independent constraints; leave redundant out"),
        (dict(redundant="drop"), "redundant = 'drop' is unknown; choose one of 'raise', 'minimum_norm'"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(change_point, arguments, sentence):
    q = change_point.assemble("open", theta2=0.7)
    with pytest.raises(ValueError, match=sentence):
        cl.simulate(change_point, q, REST, t_end=0.1, dt=1e-3, **arguments)
