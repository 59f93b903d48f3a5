"""Runs: gauges, drift, forces, and every way in which a run can be refused or can end."""

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl
from chain_lib import simulation

REST = [-1.0, 0.0], [0.0, 0.0]


def test_001_6_an_error_of_the_start_grows_in_a_straight_line(bead):
    """Errata 001-6: φ = φ₀ + φ̇₀ t exactly; 2e-3 m² after 10 s for φ̇₀ = 2e-4 m²/s."""
    tr = cl.simulate(bead, [-1, 0], [-1e-4, 0], t_end=10.0, dt=1e-3, consistent_start=False)
    phi = np.array([bead.phi(q)[0] for q in tr.q[::1000]])
    np.testing.assert_allclose(phi, 2e-4 * tr.t[::1000], atol=1e-7)


def test_001_6_linearised_at_rest_the_equations_have_a_double_zero_and_nothing_stiff():
    """Errata 001-6: eigenvalues ±3.13 i, 0, 0, with one eigenvector for the zero."""
    bead = cl.mechanisms.BeadOnCircle()
    m, R, g = bead.parameters
    acceleration = bead.K.LUsolve(sp.Matrix([*-bead.h, *-bead.gamma]))[:2]
    state = [*bead.q, *bead.v]
    A = sp.Matrix([*bead.v, *acceleration]).jacobian(state).subs(dict(zip(state, (0, -R, 0, 0))))
    assert A.eigenvals() == {sp.I * sp.sqrt(g / R): 1, -sp.I * sp.sqrt(g / R): 1, 0: 2}
    assert len(A.nullspace()) == 1


def test_drift_grows_as_a_parabola_until_the_run_ends_itself(bead):
    tr = cl.simulate(bead, *REST, t_end=300.0, dt=0.02)
    inside = 1 - np.linalg.norm(tr.q, axis=1)
    assert inside[500] == pytest.approx(0.6e-3, rel=0.1) and inside[5000] == pytest.approx(0.06, rel=0.05)
    assert tr.energy_balance[5000] == pytest.approx(0.83, rel=0.01)
    assert 240 < tr.t[-1] < 255 and tr.stopped.startswith("Stopped at t = 24")
    assert "the run diverges" in tr.stopped and "Try a smaller step than 0.02 s" in tr.stopped


def test_001_7_energy_balance_of_the_moving_circle_counts_the_work_of_the_wire(wire):
    """Errata 001-7: with the full γ the wire is kept, and the balance closes only with its work."""
    tr = cl.simulate(wire, [0, -1], [1.2, 0], t_end=1.0, dt=1e-3)
    assert np.abs(tr.energy_balance).max() < 1e-9
    assert wire.energy(tr.q[-1], tr.v[-1]) - wire.energy(tr.q[0], tr.v[0]) == pytest.approx(2.313, abs=1e-3)
    assert tr.position_residual.max() < 1e-11 and tr.velocity_residual.max() < 1e-10


def test_001_7_without_the_mixed_term_the_bead_leaves_the_wire(wire):
    """Errata 001-7: the lecture's γ, in an integrator that is not ours."""
    from scipy.integrate import solve_ivp

    def rate(t, state):
        q, v = state[:2], state[2:]
        gamma = wire.gamma(q, v, t) + 4 * v[0] * 0.3 * 4 * np.cos(4 * t)
        J = wire.J(q, t)
        K = np.block([[wire.M(q), -J.T], [J, np.zeros((1, 1))]])
        return [*v, *np.linalg.solve(K, [*-wire.h(q, v), *-gamma])[:2]]

    motion = solve_ivp(rate, (0, 0.7), [0, -1, 1.2, 0], method="DOP853", rtol=1e-11, atol=1e-12)
    assert wire.phi(motion.y[:2, -1], 0.7)[0] == pytest.approx(-0.7775, abs=1e-4)


def test_001_8_a_frozen_program_satisfies_every_gauge(bead):
    """Errata 001-8: a stepper that rebinds its arguments reports φ = 0 for ever; only motion tells."""

    def advance(q, v, dt):
        a, _ = cl.accelerations(bead, q, v)
        v = v + dt * a
        q = q + dt * v

    q, v = np.array([1.0, 0.0]), np.array([0.0, 0.5])
    for _ in range(10):
        advance(q, v, 1e-3)
    assert bead.phi(q)[0] == 0.0 and (bead.J(q) @ v)[0] == 0.0 and bead.energy(q, v) == 0.125
    assert not moves_as_v_says(np.array([q, q]), np.array([v, v]), 10e-3)

    tr = cl.simulate(bead, [1.0, 0.0], [0.0, 0.5], t_end=10e-3, dt=1e-3)
    assert moves_as_v_says(tr.q, tr.v, 10e-3)


def moves_as_v_says(q, v, duration):
    mean = (v[0] + v[-1]) / 2 * duration
    return np.linalg.norm(q[-1] - q[0] - mean) < 0.01 * np.linalg.norm(mean)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_motion_and_velocity_belong_together(bead, method):
    tr = cl.simulate(bead, *REST, t_end=1.0, dt=1e-3, method=method)
    middle, change = (tr.v[1:] + tr.v[:-1]) / 2, np.abs(np.diff(tr.v, axis=0))
    assert (np.abs(np.diff(tr.q, axis=0) / 1e-3 - middle) <= 0.501 * change + 1e-5).all()


def test_001_11_a_projection_alone_does_not_conserve_energy(bead):
    """Errata 001-11: 10 s, 1 ms, semi-implicit Euler: none −0.876, q −0.572, q and v +0.656, Baumgarte(10, 20) +0.042 J."""
    remedies = {
        None: -0.876,
        cl.Projection(velocity=False): -0.572,
        cl.Projection(): 0.656,
        cl.Baumgarte(10, 20): 0.042,
    }
    for stabilize, expected in remedies.items():
        tr = cl.simulate(bead, [1, 0], [0, 0.5], t_end=10.0, dt=1e-3, method="semi_implicit_euler", stabilize=stabilize)
        assert tr.energy_balance[-1] == pytest.approx(expected, abs=2e-3), stabilize


def test_what_a_trajectory_holds(wire):
    tr = cl.simulate(wire, [0, -1], [1.2, 0], t_end=0.1, dt=0.01)
    assert tr.t.shape == (11,) and tr.q.shape == tr.v.shape == (11, 2) and tr.lam.shape == (11, 1)
    assert tr.stopped is None and tr.notes == []
    for k, t in enumerate(tr.t):
        phi, rate = wire.phi(tr.q[k], t), wire.J(tr.q[k], t) @ tr.v[k] + wire.phi_t(tr.q[k], t)
        assert tr.position_residual[k] == pytest.approx(np.linalg.norm(phi), abs=1e-15)
        assert tr.velocity_residual[k] == pytest.approx(np.linalg.norm(rate), abs=1e-14)


@pytest.mark.parametrize("stabilize", [None, cl.Baumgarte(20, 20), cl.Projection()])
def test_stored_multipliers_are_those_of_accelerations_without_the_remedys_share(wire, stabilize):
    tr = cl.simulate(wire, [0, -1], [1.2, 0.1], t_end=0.2, dt=0.01, stabilize=stabilize, consistent_start=False)
    for k in (0, 7, 20):
        np.testing.assert_allclose(tr.lam[k], cl.accelerations(wire, tr.q[k], tr.v[k], t=tr.t[k])[1], rtol=1e-12)


def test_the_last_step_is_shortened_to_end_in_time(bead):
    tr = cl.simulate(bead, *REST, t_end=0.25, dt=0.1)
    np.testing.assert_allclose(tr.t, [0, 0.1, 0.2, 0.25])
    whole = cl.simulate(bead, *REST, t_end=0.3, dt=0.1)
    np.testing.assert_allclose(whole.t, [0, 0.1, 0.2, 0.3])
    tiny = cl.simulate(bead, *REST, t_end=0.1, dt=0.1)
    np.testing.assert_allclose(tiny.t, [0, 0.1])


def test_a_run_in_chunks_is_the_run_in_one_piece(bead, monkeypatch):
    whole = cl.simulate(bead, *REST, t_end=1.0, dt=1e-3, stabilize=cl.Projection(), torque=[0.3, 0.0])
    monkeypatch.setattr(simulation, "CHUNK", 7)
    parts = cl.simulate(bead, *REST, t_end=1.0, dt=1e-3, stabilize=cl.Projection(), torque=[0.3, 0.0])
    for name in ("t", "q", "v", "lam", "position_residual", "energy_balance"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_a_torque_function_and_the_same_constant_give_the_same_run(bead, method):
    how = dict(t_end=1.0, dt=0.01, method=method, stabilize=cl.Projection())
    constant = cl.simulate(bead, *REST, torque=[0.5, -0.2], **how)
    function = cl.simulate(bead, *REST, torque=lambda q, v, t: np.array([0.5, -0.2]), **how)
    np.testing.assert_allclose(function.q, constant.q, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(function.energy_balance, constant.energy_balance, atol=1e-12)


def test_work_of_applied_forces_counts_in_the_balance(bead):
    """Damping as torque and as the mechanism's own force, and a force that depends on time."""
    x, y = cl.coordinates("x y")[0]
    v = cl.coordinates("x y")[1]
    m, R, g, c = sp.symbols("m R g c", positive=True)
    damped = cl.Mechanism(
        "damped bead",
        coordinates=(x, y),
        velocities=v,
        parameters={
            m: (1, "kg", "mass"),
            R: (1, "m", "radius"),
            g: (9.81, "m/s^2", "gravity"),
            c: (0.4, "N s/m", "damping"),
        },
        kinetic_energy=m * (v[0] ** 2 + v[1] ** 2) / 2,
        potential_energy=m * g * y,
        forces=-c * v,
        constraints={"on the circle": (x**2 + y**2 - R**2, "m^2")},
    ).system()
    own = cl.simulate(damped, *REST, t_end=3.0, dt=1e-3)
    applied = cl.simulate(bead, *REST, t_end=3.0, dt=1e-3, torque=lambda q, v, t: -0.4 * v)
    np.testing.assert_allclose(own.q, applied.q, atol=1e-12)
    lost = bead.energy(*REST) - bead.energy(own.q[-1], own.v[-1])
    assert lost > 3.0 and np.abs(own.energy_balance).max() < 1e-8 and np.abs(applied.energy_balance).max() < 1e-8
    driven = cl.simulate(bead, *REST, t_end=3.0, dt=1e-3, torque=lambda q, v, t: np.array([np.sin(3 * t), 0.0]))
    assert abs(bead.energy(driven.q[-1], driven.v[-1])) > 0.1 and np.abs(driven.energy_balance).max() < 1e-8


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (dict(q0=[1.0]), r"q0 has shape \(1,\); bead on a circle needs \(2,\)"),
        (dict(v0=[np.nan, 0]), "v0 = .* contains a number that is not finite"),
        (dict(dt=0.0), "dt = 0.0 is not possible; it is a time in seconds, greater than zero"),
        (dict(dt=-1e-3), "dt = -0.001 is not possible"),
        (dict(dt=float("nan")), "dt = nan is not possible"),
        (dict(t_end=0.0), "t_end = 0.0 is not possible"),
        (dict(t_end="10"), "t_end = '10' is not possible"),
        (dict(dt=2.0), r"dt = 2 s is longer than the run, t_end = 1 s"),
        (dict(stabilize=20), "choose None, cl.Baumgarte"),
        (dict(torque=[1.0]), r"torque has shape \(1,\)"),
        (dict(torque=lambda q, v, t: [1.0]), r"torque\(q, v, t\) has shape \(1,\)"),
    ],
)
def test_impossible_arguments_are_refused_in_a_sentence(bead, changes, sentence):
    given = {**dict(q0=REST[0], v0=REST[1], t_end=1.0, dt=1e-2), **changes}
    with pytest.raises(ValueError, match=sentence):
        cl.simulate(bead, given.pop("q0"), given.pop("v0"), **given)


def test_a_start_off_the_constraint_is_refused_and_can_be_projected(bead):
    with pytest.raises(
        cl.InconsistentStart, match=r"φ = 0.44 m\^2, where 2e-06 is allowed. Start from q0, v0 = cl.project"
    ) as error:
        cl.simulate(bead, [-1.2, 0], [0, 0], t_end=1.0, dt=0.01)
    assert "consistent_start=False" in str(error.value)
    tr = cl.simulate(bead, *cl.project(bead, [-1.2, 0], [0, 0]), t_end=1.0, dt=0.01)
    np.testing.assert_allclose(tr.q[0], [-1, 0])
    tr = cl.simulate(bead, [-1.2, 0], [0, 0], t_end=1.0, dt=0.01, consistent_start=False)
    assert tr.position_residual[0] == pytest.approx(0.44) and len(tr.t) == 101


def test_a_start_whose_velocity_violates_the_constraint_is_refused(bead, wire):
    with pytest.raises(cl.InconsistentStart, match=r"J v \+ φ_t = -0.2 m\^2/s"):
        cl.simulate(bead, [-1, 0], [0.1, 0], t_end=1.0, dt=0.01)
    with pytest.raises(cl.InconsistentStart, match=r"J v \+ φ_t = "):
        cl.simulate(wire, [1, 0], [0, 0], t_end=1.0, dt=0.01)
    assert cl.simulate(bead, [0.6, -0.8], [1e-16, 0], t_end=0.1, dt=0.01).stopped is None


def test_a_singular_start_is_an_error_with_the_rank(bead):
    with pytest.raises(cl.SingularConfiguration, match="rank 0 of 1"):
        cl.simulate(bead, [0, 0], [0, 0], t_end=1.0, dt=0.01, consistent_start=False)


def test_a_hopeless_start_is_refused_even_if_consistency_is_not_asked_for(bead):
    for q0, v0 in (([-1.0, 0.0], [1e7, 0.0]), ([-1.0, 0.0], [0.0, 1e200])):
        with pytest.raises(cl.InconsistentStart, match="too far off to be run"):
            cl.simulate(bead, q0, v0, t_end=1.0, dt=0.01, consistent_start=False)


def test_a_coordinate_without_inertia_is_refused_in_a_sentence():
    q, v = cl.coordinates("x y")
    massless = cl.Mechanism(
        "massless", coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2, constraints={"c": (q[1], "m")}
    ).system()
    cl.accelerations(massless, [0, 0], [0, 0])
    with pytest.raises(cl.SingularConfiguration, match="not positive definite .* give every coordinate some mass"):
        cl.simulate(massless, [0, 0], [0, 0], t_end=1.0, dt=0.1)


def crossing_the_centre():
    """Two points on a line whose constraint loses its gradient at x = 0, where the run arrives exactly."""
    q, v = cl.coordinates("x y")
    return cl.Mechanism(
        "cusp",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=(v[0] ** 2 + v[1] ** 2) / 2,
        constraints={"cusp": (q[0] * q[1], "m^2")},
    ).system()


def test_a_run_into_a_singular_state_keeps_what_it_has_and_tells_the_rank():
    tr = cl.simulate(crossing_the_centre(), [-1.0, 0.0], [1.0, 0.0], t_end=2.0, dt=0.125, method="semi_implicit_euler")
    assert 0.98 < tr.t[-1] < 1 and abs(tr.q[-1][0] + 1 - tr.t[-1]) < 1e-12 and len(tr.q) == len(tr.lam) == 9
    assert tr.stopped.startswith("Stopped at t = 1.0000 s: the run reaches a singular configuration, x = 0, y = 0,")
    assert "rank 0 of 1" in tr.stopped
    assert np.isfinite(tr.q).all() and np.isfinite(tr.energy_balance).all()


def test_gains_beyond_the_limit_run_and_leave_a_note(bead):
    tr = cl.simulate(bead, *REST, t_end=1.0, dt=0.02, method="semi_implicit_euler", stabilize=cl.Baumgarte(45, 45))
    assert len(tr.notes) == 1
    assert (
        "outside the stability region of semi_implicit_euler" in tr.notes[0] and "need dt below 0.0184 s" in tr.notes[0]
    )
    rate_only = cl.simulate(bead, *REST, t_end=1.0, dt=0.02, stabilize=cl.Baumgarte(2, 0))
    assert rate_only.notes == [
        "With beta = 0 the feedback neither reduces nor increases a position error; it damps its rate only."
    ]
    one_sided = cl.simulate(bead, *REST, t_end=1.0, dt=0.02, stabilize=cl.Baumgarte(0, 45))
    assert cl.growth_per_step("rk4", 0, 45, 0.02) < 1 or "both gains must be positive" in one_sided.notes[0]
    assert cl.simulate(bead, *REST, t_end=1.0, dt=0.02, stabilize=cl.Baumgarte(20, 20)).notes == []
    assert cl.simulate(bead, *REST, t_end=1.0, dt=0.02, stabilize=cl.Baumgarte(0, 0)).notes == []


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_a_run_that_diverges_is_stopped_and_returned_with_the_reason(bead, method):
    tr = cl.simulate(bead, *REST, t_end=10.0, dt=0.02, method=method, stabilize=cl.Baumgarte(400, 400))
    assert 0 < tr.t[-1] < 10.0 and "the run diverges" in tr.stopped and f"t = {tr.t[-1]:.4g} s" in tr.stopped
    for name in ("t", "q", "v", "lam", "position_residual", "velocity_residual", "energy_balance"):
        assert len(getattr(tr, name)) == len(tr.t) and np.isfinite(getattr(tr, name)).all(), name


def test_a_projection_that_cannot_arrive_ends_the_run(wire):
    """The wire jumps away faster than Newton can follow: r sin ωt with a huge frequency and one long step."""
    far = wire.set(r=1e9, omega=1.0)
    tr = cl.simulate(far, *cl.project(far, [0, -1], [0, 0]), t_end=4.0, dt=1.0, stabilize=cl.Projection())
    assert "projection" in tr.stopped and len(tr.t) >= 1 and np.isfinite(tr.q).all()


def test_an_error_in_a_torque_function_reaches_the_caller(bead):
    def torque(q, v, t):
        if t > 0.5:
            raise RuntimeError("the motor is off")
        return np.zeros(2)

    with pytest.raises(RuntimeError, match="the motor is off"):
        cl.simulate(bead, *REST, t_end=1.0, dt=0.01, torque=torque)


def test_a_torque_function_cannot_change_the_state(bead):
    def torque(q, v, t):
        q[:], v[:] = 7.0, 7.0
        return np.zeros(2)

    disturbed = cl.simulate(bead, *REST, t_end=0.5, dt=0.01, torque=torque)
    np.testing.assert_allclose(disturbed.q, cl.simulate(bead, *REST, t_end=0.5, dt=0.01).q, rtol=1e-12)


def test_a_run_leaves_its_arguments_alone(bead):
    q0, v0 = np.array(REST[0]), np.array(REST[1])
    cl.simulate(bead, q0, v0, t_end=0.5, dt=0.01)
    np.testing.assert_array_equal([q0, v0], REST)


def test_a_trajectory_sums_itself_up(bead):
    text = repr(
        cl.simulate(bead, *REST, t_end=1.0, dt=0.02, method="semi_implicit_euler", stabilize=cl.Baumgarte(45, 45))
    )
    assert text.startswith("bead on a circle, 1 s in 50 steps of semi_implicit_euler: position residual ")
    assert "outside the stability region" in text


def test_a_run_may_end_where_a_singular_configuration_seems_near():
    """The last state of this run is a least distance from the singular configurations, and none is there."""
    light = cl.mechanisms.FourBar().system(m2=0.1, m3=0.1, m4=0.1, g=20.0)
    start = light.assemble("open", theta2=np.pi / 3)
    tr = cl.simulate(light, start, np.zeros(3), t_end=0.4, dt=1e-3, stabilize=cl.Baumgarte(20, 20), torque=[-5.0, 0, 0])
    assert tr.stopped is None and tr.t[-1] == 0.4
