"""Lesson 08: what it tells of feedback and projection, its drawings and its two explorers."""

import dataclasses
import time

import numpy as np
import pytest

import chain_lib as cl
from chain_lib.draw import stabilization as picture
from chain_lib.draw.figure import Figure
from chain_lib.explore import lesson_stabilization as lesson
from chain_lib.explore.live import LiveExplorer

EULER = {"method": "semi_implicit_euler"}


@pytest.fixture(scope="module")
def free():
    return cl.mechanisms.BeadOnCircle().system(g=0.0)


@pytest.mark.parametrize("method", picture.NAMES)
def test_001_3_the_drawn_edge_is_where_the_linear_error_neither_grows_nor_dies(method):
    a, b = picture.edge(method)[:, 1:]
    np.testing.assert_allclose(cl.growth_per_step(method, a, b, 1.0), 1.0, atol=1e-9)
    assert (cl.growth_per_step(method, 0.99 * a, 0.99 * b, 1.0) < 1).all()
    assert (cl.growth_per_step(method, 1.01 * a, 1.01 * b, 1.0) > 1).all()


def test_growth_takes_whole_grids():
    a, b = np.meshgrid(np.linspace(0.1, 3, 7), np.linspace(0.1, 3, 5))
    for method in picture.NAMES:
        grid = cl.growth_per_step(method, a, b, 0.5)
        assert grid.shape == (5, 7)
        one = cl.growth_per_step(method, a[3, 4], b[3, 4], 0.5)
        assert isinstance(one, float) and one == pytest.approx(grid[3, 4], rel=1e-12)


def test_001_4_ten_and_twenty_overshoot_by_sixteen_percent(free):
    """Errata 001-4: α = 10, β = 20 is underdamped; critical is α = β. Seen in runs of the bead, nearly at rest."""
    over = {}
    for pair in ((10, 20), (20, 20)):
        how = dict(t_end=0.6, dt=1e-4, consistent_start=False, stabilize=cl.Baumgarte(*pair))
        tr = cl.simulate(free, [np.sqrt(1 + 1e-6), 0], [0, 0], **how)
        phi = np.array([free.phi(q)[0] for q in tr.q])
        over[pair] = -phi.min() / phi[0]
    assert over[10, 20] == pytest.approx(np.exp(-np.pi / np.sqrt(3)), abs=1e-4)
    assert over[20, 20] < 1e-6


@pytest.mark.parametrize("method, sign", [("semi_implicit_euler", -1), ("explicit_euler", 1)])
def test_001_5_the_explorer_predicts_the_offset(method, sign):
    explorer = cl.explore.gains()
    values = explorer.complete({"method": method, "dt": 0.002, "alpha": 40.0, "beta": 50.0})
    result = explorer.compute(**values)
    assert np.sign(result.offset) == sign
    speed = np.hypot(*result.trajectory.v[-1])
    phi = lesson._free_bead().phi(result.q[-1])[0]
    assert phi == pytest.approx(result.offset * (speed / lesson.SPEED) ** 2, rel=0.02)


def test_001_5_the_recursion_of_the_lesson_is_exact(free):
    """φ⁺ = φ + Δt ρ⁺ − Δt²|v⁺|² and ρ⁺ = (1 − 2αΔt)ρ − Δtβ²φ + 2Δt(|v⁺|² − |v|²), ρ = J v, for a bead without gravity."""
    alpha, beta, dt = 30.0, 25.0, 0.01
    how = dict(t_end=0.2, dt=dt, stabilize=cl.Baumgarte(alpha, beta), consistent_start=False, **EULER)
    tr = cl.simulate(free, [1.01, 0], [0.2, 3], **how)
    phi, rho = np.array([(free.phi(q)[0], (free.J(q) @ v)[0]) for q, v in zip(tr.q, tr.v)]).T
    square = np.sum(tr.v**2, axis=1)
    np.testing.assert_allclose(phi[1:], phi[:-1] + dt * rho[1:] - dt**2 * square[1:], atol=1e-13)
    right = (1 - 2 * alpha * dt) * rho[:-1] - dt * beta**2 * phi[:-1] + 2 * dt * (square[1:] - square[:-1])
    np.testing.assert_allclose(rho[1:], right, atol=1e-12)


def test_explicit_euler_explodes_along_the_wire_with_any_gains(free):
    """|v|² = |v₀|²/(1 − t/t_end) with t_end = R²/(2Δt|v₀|²): the gains do not occur."""
    dt, speed = 5e-3, 3.0
    predicted = 1 / (2 * dt * speed**2)
    for gain in (30, 60, 120):
        how = dict(t_end=30.0, dt=dt, method="explicit_euler", stabilize=cl.Baumgarte(gain, gain))
        tr = cl.simulate(free, [1, 0], [0, speed], **how)
        assert tr.stopped and tr.t[-1] == pytest.approx(predicted, rel=0.07)
        half = np.searchsorted(tr.t, predicted / 2)
        assert np.hypot(*tr.v[half]) == pytest.approx(speed * np.sqrt(2), rel=0.01)
        assert tr.position_residual[half] < 0.01


def test_001_6_stiffness_comes_from_the_gains():
    """Errata 001-6: ten times the gains, a tenth of the step."""
    limits = [cl.stability_limit("rk4", gain, gain) for gain in (20, 200, 2000)]
    np.testing.assert_allclose(limits, 2.785 / np.array([20, 200, 2000]), rtol=1e-3)


@pytest.mark.parametrize("mu", [0.5, 1.0, 5.0])
def test_001_10_the_explorers_trial_steps_are_those_of_the_library(mu):
    system = cl.mechanisms.BeadWithFlywheel().system(mu=mu)
    for metric in ("mass", "euclidean"):
        fast = lesson.trial_steps((1.0, 0.0), (0.0, 0.5), mu, 50, metric)
        q, v, dt = np.array([1.0, 0.0]), np.array([0.0, 0.5]), 1 / 50
        for k in range(50):
            before = q
            trial = q + dt * (v - dt * np.linalg.solve(system.M(q), system.h(q, v)))
            q = cl.project(system, trial, v, metric=metric)[0]
            v = (q - before) / dt
            np.testing.assert_allclose(fast[k + 1], q, atol=1e-12)


def test_001_10_only_the_metric_of_M_converges_after_a_free_step():
    """Errata 001-10: M = diag(1, 5), steps of 4, 2, 1, 0.5 ms."""
    exact = lesson._runs(5.0, 0.0)[0][-1]
    errors = {
        metric: np.array(
            [
                np.linalg.norm(lesson.trial_steps((1.0, 0.0), (0.0, 0.5), 5.0, n, metric)[-1] - exact)
                for n in (250, 500, 1000, 2000)
            ]
        )
        for metric in ("mass", "euclidean")
    }
    np.testing.assert_allclose(errors["euclidean"], [1.55e-2, 1.72e-2, 1.80e-2, 1.85e-2], rtol=5e-3)
    np.testing.assert_allclose(errors["mass"][:-1] / errors["mass"][1:], 2.0, rtol=0.01)
    system = cl.mechanisms.BeadWithFlywheel().system()
    for metric in ("mass", "euclidean"):
        how = dict(t_end=1.0, stabilize=cl.Projection(metric), **EULER)
        ends = [cl.simulate(system, [1, 0], [0, 0.5], dt=dt, **how).q[-1] for dt in (2e-3, 1e-3)]
        ratio = np.divide(*(np.linalg.norm(end - exact) for end in ends))
        assert ratio == pytest.approx(2.0, rel=0.02), "after a constrained step either metric converges"


def test_001_11_projection_gives_no_good_energy(bead):
    """Errata 001-11: energy balance after 10 s, step 1 ms, m g R = 9.81 J."""
    how = dict(t_end=10.0, dt=1e-3)
    for remedy, energy in (
        (None, -0.876),
        (cl.Projection(velocity=False), -0.572),
        (cl.Projection(), 0.656),
        (cl.Baumgarte(10, 20), 0.042),
    ):
        tr = cl.simulate(bead, [1, 0], [0, 0.5], stabilize=remedy, **how, **EULER)
        assert tr.energy_balance[-1] == pytest.approx(energy, abs=6e-4)
    assert abs(cl.simulate(bead, [1, 0], [0, 0.5], method="rattle", **how).energy_balance[-1]) < 5e-5


def test_feedback_after_a_projection_has_nothing_to_do(bead):
    tr = cl.simulate(bead, [1, 0], [0, 0.5], t_end=2.0, dt=1e-3, stabilize=cl.Projection(), **EULER)
    feedback = [40 * (bead.J(q) @ v)[0] + 400 * bead.phi(q)[0] for q, v in zip(tr.q, tr.v)]
    assert np.abs(feedback).max() < 1e-10


@pytest.fixture(scope="module")
def change_point():
    system = cl.mechanisms.FourBar().system(a=0.2, b=0.4, c=0.3, d=0.5)
    return system, system.assemble(theta2=np.deg2rad(10), branch="open")


def test_000_13_the_normal_equations_square_the_condition(change_point):
    """Errata 000-13: near the singular position JᵀJ loses a rank that J still shows, and accuracy before that."""
    system, _ = change_point
    found = {}
    for off in (1e-6, 1e-8):
        J = system.J([np.pi - off, 0.0, np.pi])
        phi = J @ np.array([1e-3, 2e-3, -1e-3])
        squared, direct = np.linalg.lstsq(J.T @ J, -J.T @ phi), np.linalg.lstsq(J, -phi)
        residuals = [np.linalg.norm(J @ x[0] + phi) / np.linalg.norm(phi) for x in (squared, direct)]
        found[off] = squared[2], direct[2], *residuals
    assert found[1e-6][:2] == (2, 2) and found[1e-6][2] > 1e-12 > 1e-14 > found[1e-6][3]
    assert found[1e-8][:2] == (1, 2)


def test_000_14_without_a_velocity_projection_the_rate_grows_and_decides_about_survival(change_point):
    """Errata 000-14: 4.7e-3 m/s after 0.2 s under 1 N m; and a run that falls through the singular position."""
    system, q = change_point
    alone, both = cl.Projection(velocity=False), cl.Projection()
    rates, falls = [], []
    for remedy in (alone, both):
        how = dict(dt=1e-3, stabilize=remedy, **EULER)
        rates.append(cl.simulate(system, q, [0, 0, 0], t_end=0.2, torque=[1.0, 0, 0], **how).velocity_residual[-1])
        falls.append(cl.simulate(system, q, [0, 0, 0], t_end=1.0, **how))
    assert rates[0] == pytest.approx(4.7e-3, rel=0.01) and rates[1] < 1e-15
    assert np.abs(falls[0].energy_balance).max() > 10 and falls[0].position_residual.max() < 1e-13
    assert "theta2 = −180.0°" in falls[1].stopped and np.abs(falls[1].energy_balance).max() < 0.05


def test_a_velocity_projection_in_the_metric_of_M_never_raises_the_kinetic_energy(rng=np.random.default_rng(5)):
    system = cl.mechanisms.FourBar().system()
    raised = {"mass": 0, "euclidean": 0}
    for _ in range(60):
        q, v = system.assemble(theta2=rng.uniform(-3, 3), branch="open"), rng.normal(size=3)
        M = system.M(q)
        for metric in raised:
            after = cl.project(system, q, v, metric=metric)[1]
            raised[metric] += after @ M @ after > (1 + 1e-12) * (v @ M @ v)
    assert raised["mass"] == 0 and raised["euclidean"] > 0


def test_a_view_that_is_overwritten_stops_the_bead_and_only_the_energy_tells(bead):
    ends = {}
    for name, keep in (("view", lambda q: q), ("copy", np.copy)):
        state = np.array([1.0, 0.0, 0.0, 0.5])
        for _ in range(300):
            q, v = state[:2], state[2:]
            before = keep(q)
            v += 1e-3 * cl.accelerations(bead, q, v)[0]
            q += 1e-3 * v
            q[:] = cl.project(bead, q, v)[0]
            v[:] = (q - before) / 1e-3
        balance = bead.energy(state[:2], state[2:]) - bead.energy([1, 0], [0, 0.5])
        ends[name] = abs(bead.phi(state[:2])[0]), abs((bead.J(state[:2]) @ state[2:])[0]), balance
    assert max(ends["view"][:2]) < 1e-14 and ends["view"][2] < -0.1
    assert abs(ends["copy"][2]) < 0.02


def test_the_point_in_the_map_moves_both_gains():
    live = LiveExplorer(cl.explore.gains())
    (handle,) = live.explorer.handles
    alpha, beta = live.controls["alpha"], live.controls["beta"]
    across, down = live._renderer.to_picture(handle.on, 0.5, 0.9)
    serial = live.picture.serial
    live._moved(None, dict(name="alpha", across=across, down=down), None)
    assert (alpha.value, beta.value) == (50.0, 90.0) and live.picture.serial == serial + 1, "one picture for both"
    (given,) = live.picture.handles
    assert (given["across"], given["down"]) == pytest.approx((across, down))
    assert given["words"] == "gain α 50 1/s, gain β 90 1/s"
    live._moved(None, dict(name="alpha", steps=1, up=True), None)
    assert (alpha.value, beta.value) == (50.0, 91.0)
    live._moved(None, dict(name="alpha", steps=-1, up=False), None)
    assert (alpha.value, beta.value) == (49.0, 91.0)
    live._moved(None, dict(name="alpha", across=2.0, down=-1.0), None)
    assert (alpha.value, beta.value) == (150.0, 150.0), "held at the ends of both sliders"


def test_dragging_over_the_edge_blows_the_run_up_and_freezes_nothing():
    explorer = cl.explore.gains()
    longest = 0.0
    for alpha in (38.0, 40.0, 41.0, 43.0, 45.0, 150.0):
        values = {**explorer.start, "dt": 0.02, "alpha": alpha, "beta": alpha}
        explorer.compute(**values)
        start = time.process_time()
        result = explorer.compute(**values)
        longest = max(longest, time.process_time() - start)
        assert bool(result.trajectory.stopped) == (alpha > 2 * (np.sqrt(2) - 1) / 0.02), alpha
        assert len(result.trajectory.t) <= 2501
    assert longest < 0.1


def test_the_point_inside_with_a_small_beta_is_lost_all_the_same():
    explorer = cl.explore.gains()
    result = explorer.compute(**{**explorer.start, **explorer.presets["small β"]})
    assert result.growth < 1 and result.trajectory.position_residual.max() > 1.0
    assert "Predicted offset -0.45 m²" in explorer.text(result)


def test_the_metric_makes_no_difference_where_the_inertia_is_equal():
    explorer = cl.explore.projection_metric()
    one, other = (
        explorer.compute(**{**explorer.start, "mu": 1.0, "metric": metric}) for metric in ("mass", "euclidean")
    )
    np.testing.assert_allclose(one.q, other.q, atol=1e-12)
    apart = explorer.compute(**explorer.start)
    assert apart.errors["euclidean"][0] > 5 * apart.errors["mass"][0]
    assert dataclasses.is_dataclass(apart) and apart.error[0] == 0.0


def figures(free):
    run = cl.simulate(free, [1, 0], [0, 3], t_end=0.5, dt=0.01, **EULER)
    axis = np.linspace(0.1, 2.5, 12)
    grid = cl.growth_per_step("semi_implicit_euler", *np.meshgrid(axis, axis), 1.0)
    steps = np.array([1e-3, 2e-3])
    yield picture.sketch()
    yield picture.projection_sketch(
        np.array([0.8, 0.9]), {"mass": np.array([0.5, 0.87]), "euclidean": np.array([0.66, 0.75])}, 5.0
    )
    yield picture.opening({"one": run, "other": run})
    yield picture.decay(np.linspace(0, 1, 50), {"one": np.exp(-9 * np.linspace(0, 1, 50))})
    yield picture.region(axis, axis, grid, picture.edge("semi_implicit_euler"))
    yield picture.regions(axis, axis, {"semi_implicit_euler": grid})
    late = np.where(grid < 1, 1e-3, np.nan)
    yield picture.runs_over_region(axis, axis, late, "semi_implicit_euler", offset=lambda a, b: a / b**2)
    yield picture.offset(steps, {"one": (steps, steps)})
    yield picture.convergence(steps, {"mass": steps, "euclidean": 0 * steps + 1e-2})
    yield picture.three_gauges({"one": (run.t, run.position_residual, run.velocity_residual, run.t)})


def test_every_figure_describes_itself_and_names_its_units(free):
    descriptions = set()
    for figure in figures(free):
        assert len(figure.description) > 80 and "nan" not in figure.description
        descriptions.add(figure.description)
        for axes in (axes for axes in figure.axes if axes.axison):
            words = " ".join([axes.get_xlabel(), axes.get_ylabel(), axes.get_title("left")])
            assert "(" in words and ")" in words, words
        assert figure._repr_mimebundle_()[0]["image/png"]
    assert len(descriptions) == 10 and Figure.description not in descriptions
