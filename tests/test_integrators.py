"""Steppers: measured orders, energy and constraints over long runs, and what the wrong variants do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl
from chain_lib import simulation
from chain_lib.codegen import INERTIA, LEFT, MULTIPLIERS, PENDING, POWER, WORK, Q, V, compiled
from chain_lib.integrators import ADAPTIVE, METHODS, STAY
from chain_lib.integrators.generalized_alpha import coefficients
from chain_lib.integrators.rattle import ARRIVED, ITERATIONS

ROOT = Path(__file__).parent.parent
SPACING = 1e-3  # of the reference's samples (s)
ORDER = {"explicit_euler": 1, "semi_implicit_euler": 1, "rk4": 4}  # the others have order 2


@pytest.fixture(scope="module")
def runs(bead):
    """System, q₀, v₀ and an accurate motion over 2 s, for the bead and the four-bar."""
    fb = cl.mechanisms.FourBar().system(a=0.2, b=0.5, c=0.4, d=0.45)
    starts = {
        "bead": (bead, np.array([-1.0, 0.0]), np.zeros(2)),
        "four-bar": (fb, fb.assemble("open", theta2=np.deg2rad(10)), np.zeros(3)),
    }
    return {
        name: (*start, cl.simulate(*start, t_end=2.0, dt=SPACING, method="dop853", rtol=1e-13, atol=1e-14))
        for name, start in starts.items()
    }


def largest_error(reference, tr):
    """The largest error of q over the samples that the run and the reference share."""
    shared = np.flatnonzero(np.abs(tr.t / SPACING - np.round(tr.t / SPACING)) < 1e-6)
    return np.abs(tr.q[shared] - reference.q[np.round(tr.t[shared] / SPACING).astype(int)]).max()


def slope(errors):
    """The measured order, from errors at steps that are halved."""
    return -np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0]


@pytest.mark.parametrize("name", ["bead", "four-bar"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_its_order(runs, name, method):
    system, q0, v0, reference = runs[name]
    order = ORDER.get(method, 2)
    largest = 1e-3 if order == 1 else 8e-3 if order == 2 else 4e-3
    errors = [
        largest_error(reference, cl.simulate(system, q0, v0, t_end=2.0, dt=largest / 2**halved, method=method))
        for halved in range(4)
    ]
    assert slope(errors) == pytest.approx(order, abs=0.1), errors


@pytest.mark.parametrize("name", ["bead", "four-bar"])
@pytest.mark.parametrize("stabilize", [cl.Baumgarte(20, 20), cl.Projection()], ids=["Baumgarte", "projection"])
def test_rk4_keeps_its_order_with_a_stabilization(runs, name, stabilize):
    system, q0, v0, reference = runs[name]
    errors = [
        largest_error(reference, cl.simulate(system, q0, v0, t_end=2.0, dt=dt, stabilize=stabilize))
        for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert slope(errors) == pytest.approx(4.0, abs=0.12), errors


@pytest.mark.parametrize("name", ["bead", "four-bar"])
def test_adaptive_methods_reach_their_tolerance(runs, name):
    system, q0, v0, reference = runs[name]
    for method, stabilize in (("radau", None), ("dop853", cl.Baumgarte(20, 20))):
        errors = [
            largest_error(
                reference,
                cl.simulate(system, q0, v0, t_end=2.0, dt=0.01, method=method, rtol=tol, atol=tol, stabilize=stabilize),
            )
            for tol in (1e-5, 1e-9)
        ]
        assert errors[1] < 1e-6 and errors[1] < 1e-2 * errors[0]
    tr = cl.simulate(system, q0, v0, t_end=0.5, dt=0.01, method="dop853", form="reduced", rtol=1e-11, atol=1e-12)
    assert tr.position_residual.max() < 1e-13 and largest_error(reference, tr) < 1e-8


def test_001_2_the_lectures_scheme_has_order_1_and_the_constrained_verlet_method_order_2(bead):
    """Errata 001-2: from (1, 0) at 0.5 m/s, the error after 1 s."""
    start = bead, [1, 0], [0, 0.5]
    exact = cl.simulate(*start, t_end=1.0, dt=1e-4, stabilize=cl.Projection()).q[-1]

    def error(dt, **how):
        return np.linalg.norm(cl.simulate(*start, t_end=1.0, dt=dt, **how).q[-1] - exact)

    lecture = dict(method="semi_implicit_euler", stabilize=cl.Baumgarte(10, 20))
    assert [error(dt, **lecture) for dt in (2e-3, 1e-3, 5e-4)] == pytest.approx([4.42e-3, 2.21e-3, 1.10e-3], rel=5e-3)
    plain = dict(method="semi_implicit_euler")
    assert [error(dt, **plain) for dt in (2e-3, 1e-3)] == pytest.approx([1.98e-2, 9.99e-3], rel=5e-3)
    assert [error(dt, method="rattle") for dt in (2e-3, 1e-3)] == pytest.approx([1.495e-5, 3.738e-6], rel=1e-3)


def test_the_period_of_the_pendulum(bead, pendulum):
    period = float(pendulum["period"])
    tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=period, dt=5e-4, stabilize=cl.Projection())
    np.testing.assert_allclose(tr.q[-1], [-1, 0], atol=1e-9)


def ranges_of_energy(tr):
    """Smallest and largest energy error in the first and in the last quarter of a run."""
    quarter = len(tr.t) // 4
    first, last = tr.energy_balance[:quarter], tr.energy_balance[-quarter:]
    return np.array([first.min(), first.max()]), np.array([last.min(), last.max()])


@pytest.mark.parametrize("name", ["bead", "four-bar"])
def test_rattle_over_a_hundred_thousand_steps(runs, name):
    system, q0, v0, _ = runs[name]
    tr = cl.simulate(system, q0, v0, t_end=100.0, dt=1e-3, method="rattle")
    assert len(tr.t) == 100_001
    assert tr.position_residual.max() <= 1e-12 and tr.velocity_residual.max() <= 1e-12
    first, last = ranges_of_energy(tr)
    np.testing.assert_allclose(first, last, rtol=1e-4, atol=1e-10)
    lowest, highest = {"bead": (-3.7e-5, 1e-10), "four-bar": (-5.3e-5, 6.8e-6)}[name]
    assert lowest < first[0] < first[1] < highest


@compiled("step")
def velocity_form_step(accelerate, torque, t, dt, state, p, alpha, beta, record, work):
    """RATTLE as if M were constant, the mistake: v½ = v₀ + Δt/2 M₀⁻¹(F₀ + J₀ᵀλ), q₁ = q₀ + Δt v½, and so on."""
    n = state.shape[1]
    m = len(state) - INERTIA - n - 2
    M, J, force = state[INERTIA : INERTIA + n], state[INERTIA + n : INERTIA + n + m], state[INERTIA + n + m]
    phi = record[MULTIPLIERS + m : MULTIPLIERS + 2 * m]
    record[WORK] += dt / 2 * record[POWER]
    record[PENDING] = dt / 2
    if not accelerate(t, state, p, 0.0, 0.0, record):
        return False
    along, q0 = np.linalg.solve(M, J.T.copy()), state[Q].copy()
    half = state[V] + dt / 2 * np.linalg.solve(M, force)
    for _ in range(ITERATIONS):
        state[Q], state[V] = q0 + dt * half, half
        if not accelerate(t + dt, state, p, 0.0, 0.0, record):
            return False
        push = along @ np.linalg.solve(J @ along, phi) / dt
        half -= push
        record[LEFT] = dt * np.abs(push).max()
        if record[LEFT] <= ARRIVED:
            break
    v1 = half + dt / 2 * np.linalg.solve(M, force)
    along = np.linalg.solve(M, J.T.copy())
    state[V] = v1 - along @ np.linalg.solve(J @ along, J @ v1)
    return True


def test_rattle_in_velocity_form_is_right_for_a_constant_inertia_alone(runs, monkeypatch):
    """With M(q) it falls to order 1 and loses energy steadily; with the bead's M it is RATTLE."""

    def errors(name):
        system, q0, v0, reference = runs[name]
        steps = (8e-3, 4e-3, 2e-3, 1e-3)
        return [
            largest_error(reference, cl.simulate(system, q0, v0, t_end=2.0, dt=dt, method="rattle")) for dt in steps
        ]

    right = errors("bead")
    monkeypatch.setattr(simulation, "stepper", lambda method: velocity_form_step)
    np.testing.assert_allclose(errors("bead"), right, rtol=1e-7)
    wrong = errors("four-bar")
    assert np.log2(wrong[-2] / wrong[-1]) == pytest.approx(1.0, abs=0.1), wrong
    system, q0, v0, _ = runs["four-bar"]
    tr = cl.simulate(system, q0, v0, t_end=100.0, dt=1e-3, method="rattle")
    first, last = ranges_of_energy(tr)
    assert tr.position_residual.max() < 1e-12, "the gauge that sees nothing"
    assert last[1] < first[0] and tr.energy_balance[-1] < -0.15


@pytest.mark.parametrize("name", ["bead", "four-bar"])
def test_shake_has_the_positions_of_rattle_and_velocities_off_their_constraint(runs, name):
    system, q0, v0, _ = runs[name]
    shake, rattle = (cl.simulate(system, q0, v0, t_end=2.0, dt=2e-3, method=method) for method in ("shake", "rattle"))
    np.testing.assert_allclose(shake.q, rattle.q, rtol=0, atol=1e-11)
    assert rattle.velocity_residual.max() < 1e-12 and shake.velocity_residual.max() > 1e-5


def held_particle():
    """One coordinate of 1 kg, held at zero."""
    q, v = cl.coordinates("x")
    return cl.Mechanism(
        "held particle",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=v[0] ** 2 / 2,
        constraints={"held": (q[0], "m")},
    ).system()


def test_001_12_the_trapezoidal_rule_is_weakly_unstable_on_the_index_3_form():
    """Errata 001-12: v alternates for ever, and λ, here the acceleration, grows by 4e-4 a step."""

    def run(**how):
        return cl.simulate(held_particle(), [0.0], [1e-6], t_end=10.0, dt=0.01, consistent_start=False, **how)

    newmark = run(method="newmark")
    np.testing.assert_allclose(newmark.v[1:, 0], -1e-6 * (-1.0) ** np.arange(1000), rtol=1e-6)
    np.testing.assert_allclose(np.abs(newmark.lam[1:, 0]), 4e-4 * np.arange(1, 1001), rtol=1e-3)
    assert np.abs(newmark.lam[-1, 0]) == pytest.approx(0.4, rel=1e-3)
    for how in (
        *(dict(method="generalized_alpha", rho_inf=rho) for rho in (0.0, 0.5, 0.9)),
        dict(method="hht", rho_inf=0.5),
    ):
        damped = run(**how)
        assert np.abs(damped.lam[-1, 0]) < 1e-6 * np.abs(damped.lam).max() and np.abs(damped.v[-1, 0]) < 1e-12
    for method in ("rattle", "implicit_midpoint", "implicit_midpoint_ggl"):
        assert np.abs(run(method=method).v[1:]).max() < 1e-18, "a projection of v removes it at once"


def test_generalized_alpha_damps_on_the_four_bar_what_newmark_lets_grow(runs):
    """A velocity 1e-6 off its constraint: the multipliers of the trapezoidal rule leave those of the motion."""
    system, q0, v0, _ = runs["four-bar"]
    off = v0 + 1e-6 * np.linalg.pinv(system.J(q0))[:, 0]
    noise = {}
    for how in (dict(method="newmark"), dict(method="generalized_alpha", rho_inf=0.8)):
        clean, disturbed = (
            cl.simulate(system, q0, v, t_end=2.0, dt=1e-3, consistent_start=False, **how) for v in (v0, off)
        )
        noise[how["method"]] = np.linalg.norm(clean.lam - disturbed.lam, axis=1)
    grown = noise["newmark"]
    assert grown[-100:].max() > 5 * grown[:100].max()
    assert noise["generalized_alpha"][-100:].max() < 1e-3 * noise["generalized_alpha"][:100].max()


def test_coefficients_of_the_family():
    for rho in (0.0, 0.5, 1.0):
        alpha_m, alpha_f, beta, gamma = coefficients("generalized_alpha", rho)
        assert gamma == pytest.approx(0.5 - alpha_m + alpha_f) and beta == pytest.approx(
            (1 - alpha_m + alpha_f) ** 2 / 4
        )
    assert coefficients("hht", 1.0) == coefficients("newmark", 1.0) == (0.0, 0.0, 0.25, 0.5)


@pytest.mark.parametrize("method", [*STAY, *ADAPTIVE])
def test_torque_functions_give_what_constants_and_own_forces_give(runs, method):
    system, q0, v0, _ = runs["four-bar"]
    tau = np.array([0.5, 0.0, -0.2])
    constant = cl.simulate(system, q0, v0, t_end=0.1, dt=2e-3, method=method, torque=tau)
    function = cl.simulate(system, q0, v0, t_end=0.1, dt=2e-3, method=method, torque=lambda q, v, t: tau)
    np.testing.assert_allclose(function.q, constant.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(function.energy_balance, constant.energy_balance, rtol=0, atol=1e-11)
    free = damped_bead(0.0)
    damped = cl.simulate(damped_bead(0.3), [-1, 0], [0, 0], t_end=0.2, dt=2e-3, method=method)
    pushed = cl.simulate(free, [-1, 0], [0, 0], t_end=0.2, dt=2e-3, method=method, torque=lambda q, v, t: -0.3 * v)
    np.testing.assert_allclose(pushed.q, damped.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(pushed.energy_balance, damped.energy_balance, rtol=0, atol=1e-10)


def damped_bead(damping):
    """A bead on a circle with a force −c v of its own."""
    (q, v), c = cl.coordinates("x y"), sp.Symbol("c", nonnegative=True)
    return cl.Mechanism(
        "damped bead",
        coordinates=q,
        velocities=v,
        parameters={c: (0.0, "N s/m", "damping")},
        kinetic_energy=(v[0] ** 2 + v[1] ** 2) / 2,
        potential_energy=sp.Float("9.81") * q[1],
        constraints={"on the circle": (q[0] ** 2 + q[1] ** 2 - 1, "m^2")},
        forces=[-c * v[0], -c * v[1]],
    ).system(c=damping)


@pytest.mark.parametrize("method", STAY)
def test_moving_constraints_and_dissipation_keep_order_and_energy_balance(wire, method):
    """The wire that moves does work, and damping takes some: E − E₀ − W goes to zero with Δt²."""
    start = ([0.0, -1.0], [1.2, 0.0])
    exact = cl.simulate(wire, *start, t_end=1.0, dt=5e-4, stabilize=cl.Projection()).q[-1]
    errors, balances = [], []
    for dt in (4e-3, 2e-3, 1e-3):
        tr = cl.simulate(wire, *start, t_end=1.0, dt=dt, method=method)
        assert tr.position_residual.max() < 1e-12
        errors.append(np.abs(tr.q[-1] - exact).max())
        balances.append(np.abs(tr.energy_balance).max())
    assert slope(errors) == pytest.approx(2.0, abs=0.1), errors
    assert slope(balances) == pytest.approx(2.0, abs=0.2) and balances[-1] < 1e-3, balances
    damped = [
        np.abs(cl.simulate(damped_bead(0.5), [-1, 0], [0, 0], t_end=2.0, dt=dt, method=method).energy_balance).max()
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    assert slope(damped) == pytest.approx(2.0, abs=0.2) and damped[-1] < 1e-3, damped


def test_a_torque_in_time_is_taken_at_the_times_of_the_method(bead):
    """A push that depends on t alone: order 2 shows that no stage takes it at the wrong time."""

    def push(q, v, t):
        return np.array([3 * np.sin(7 * t), 0.0])

    exact = cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=1e-3, torque=push, stabilize=cl.Projection())
    for method in STAY:
        ends = [
            cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=dt, torque=push, method=method)
            for dt in (1.6e-2, 8e-3, 4e-3)
        ]
        assert slope([np.abs(tr.q[-1] - exact.q[-1]).max() for tr in ends]) == pytest.approx(2.0, abs=0.15), method


PLAIN = """
import sys
sys.modules["numba"] = None
import numpy as np, chain_lib as cl
from chain_lib import codegen
from chain_lib.integrators import ADAPTIVE, METHODS
assert not codegen.compiles()
np.set_printoptions(precision=17)
fb, wire = cl.mechanisms.FourBar().system(), cl.mechanisms.BeadOnMovingCircle().system()
for system, q, v in (fb, fb.assemble("open", theta2=0.5), [0, 0, 0]), (wire, [0, -1], [1.2, 0]):
    for method in (*METHODS, *ADAPTIVE):
        tr = cl.simulate(system, q, v, t_end=0.05, dt=2.5e-3, method=method)
        print(*tr.q[-1], *tr.v[-1], *tr.lam[-1], tr.energy_balance[-1])
"""


def test_plain_numpy_gives_the_same_for_every_method(wire):
    done = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    fb = cl.mechanisms.FourBar().system()
    for system, q, v in (fb, fb.assemble("open", theta2=0.5), [0, 0, 0]), (wire, [0, -1], [1.2, 0]):
        for method in (*METHODS, *ADAPTIVE):
            tr = cl.simulate(system, q, v, t_end=0.05, dt=2.5e-3, method=method)
            numbers = np.array(next(lines).split(), float)
            here = [*tr.q[-1], *tr.v[-1], *tr.lam[-1], tr.energy_balance[-1]]
            np.testing.assert_allclose(here, numbers, rtol=1e-9, atol=1e-9, err_msg=method)
    assert next(lines, None) is None


@pytest.mark.parametrize("method", STAY)
def test_an_iteration_that_does_not_arrive_is_told_and_the_run_so_far_kept(runs, method):
    system, q0, _, _ = runs["four-bar"]
    _, v0 = cl.project(system, q0, [40.0, 0, 0])
    tr = cl.simulate(system, q0, v0, t_end=10.0, dt=0.1, method=method)
    assert f"the iteration of {method} does not arrive at t = {tr.t[-1] + 0.1:.4g} s" in tr.stopped
    assert (
        "it still moves by" in tr.stopped or "it runs away" in tr.stopped
    ) and "Try a smaller step than 0.1 s" in tr.stopped
    assert len(tr.q) == len(tr.t) and np.isfinite(tr.q).all() and tr.t[-1] < 10.0


@pytest.mark.parametrize("method", ["rattle", "implicit_midpoint", "newmark"])
def test_a_singular_matrix_in_an_implicit_step_ends_the_run_in_a_sentence(method):
    q, v = cl.coordinates("x y")
    crossroads = cl.Mechanism(
        "crossroads",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=(v[0] ** 2 + v[1] ** 2) / 2,
        constraints={"x y": (q[0] * q[1], "m^2")},
    ).system()
    for on_singular in ("stop", "cross"):
        tr = cl.simulate(crossroads, [-1, 0], [1, 0], t_end=2.0, dt=0.125, method=method, on_singular=on_singular)
        assert "singular" in tr.stopped and 0.8 < tr.t[-1] < 1.0 and np.isfinite(tr.q).all()


def test_an_adaptive_method_that_gives_up_is_told_and_the_run_so_far_kept():
    """ẍ = 6x² from x = 1 and ẋ = 2 m/s: x = 1/(1 − t)², without end at 1 s."""
    q, v = cl.coordinates("x y")
    runaway = cl.Mechanism(
        "runaway",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=(v[0] ** 2 + v[1] ** 2) / 2,
        constraints={"level": (q[1], "m")},
        forces=[6 * q[0] ** 2, 0],
    ).system()
    tr = cl.simulate(runaway, [1, 0], [2, 0], t_end=2.0, dt=0.15, method="dop853")
    assert tr.stopped.startswith("Stopped at t = 0.9 s of 2 s: ") and len(tr.q) == len(tr.t) == 7
    np.testing.assert_allclose(tr.q[:, 0], 1 / (1 - tr.t) ** 2, rtol=1e-6)


def test_an_unknown_method_is_refused_with_the_known_ones(bead):
    known = ", ".join([*METHODS, *ADAPTIVE])
    with pytest.raises(ValueError, match=f"method 'euler' is unknown; choose one of {known}"):
        cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=0.1, method="euler")
    assert {"explicit_euler", "semi_implicit_euler", "rk4", "rattle", "shake", "implicit_midpoint", "newmark"} <= {
        *METHODS
    }
    assert {"hht", "generalized_alpha", "implicit_midpoint_ggl"} <= {*METHODS} and set(STAY) <= {*METHODS}


@pytest.mark.parametrize(
    "how, sentence",
    [
        (dict(method="generalized_alpha", rho_inf=1.1), "rho_inf = 1.1 is not possible; .* between 0 and 1"),
        (dict(method="generalized_alpha", rho_inf=-0.1), "rho_inf = -0.1 is not possible"),
        (dict(method="generalized_alpha", rho_inf=float("nan")), "rho_inf = nan is not possible"),
        (dict(method="generalized_alpha", rho_inf="0.8"), "rho_inf = '0.8' is not possible"),
        (dict(method="hht", rho_inf=0.4), "rho_inf = 0.4 is not possible; for hht it is between 0.5 and 1"),
        (dict(method="newmark", rho_inf=0.5), "rho_inf = 0.5 is not possible; for newmark it is 1"),
        (dict(method="rattle", rho_inf=0.5), "method 'rattle' has no rho_inf; leave it out"),
        (dict(method="rattle", stabilize=cl.Projection()), "'rattle' fulfils the constraints by itself"),
        (dict(method="shake", form="reduced"), "'shake' needs form='kkt'"),
        (dict(method="radau", stabilize=cl.Projection()), "'radau' chooses its own steps and cannot project"),
        (dict(method="dop853", rtol=0.0), "rtol = 0.0 is not possible"),
        (dict(method="dop853", rtol="1e-9"), "rtol = '1e-9' is not possible"),
        (dict(method="dop853", atol=float("inf")), "atol = inf is not possible"),
    ],
    ids=str,
)
def test_impossible_options_are_refused_in_a_sentence(bead, how, sentence):
    with pytest.raises(ValueError, match=sentence):
        cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=0.1, **how)


@pytest.mark.parametrize(
    "method, limit", [("explicit_euler", "0.0333"), ("semi_implicit_euler", "0.0138"), ("rk4", "0.046")]
)
def test_gains_outside_the_stability_region_run_and_the_limit_is_noted(bead, method, limit):
    tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=0.2, dt=0.05, method=method, stabilize=cl.Baumgarte(60, 60))
    assert len(tr.t) > 1 and len(tr.notes) == 1
    assert f"outside the stability region of {method}" in tr.notes[0] and f"need dt below {limit}" in tr.notes[0]
