"""Lesson 09: what it claims of the methods, its figures, and its explorer. Errata in the names of the tests."""

from io import BytesIO
from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy as sp
from matplotlib.text import Text
from PIL import Image

import chain_lib as cl
from chain_lib import codegen
from chain_lib.draw import integrators as picture
from chain_lib.explore import lesson_integrators as lesson
from chain_lib.integrators import METHODS, STAY

LEFT, REST = np.array([-1.0, 0.0]), np.zeros(2)
GAINS = cl.Baumgarte(20, 20)
STORED = Path(__file__).parent.parent / "notebooks" / "09_integrators.ipynb"


@pytest.fixture(scope="module")
def four_bar():
    return cl.mechanisms.FourBar().system()


@pytest.fixture(scope="module")
def start(four_bar):
    return four_bar.assemble("open", theta2=np.pi / 3)


@pytest.fixture(scope="module")
def said():
    """Cell to stored text of the notebook."""
    cells = nbformat.read(STORED, as_version=4).cells
    return {
        cell.id.removeprefix("integrators-"): "".join(output.get("text", "") for output in cell.get("outputs", []))
        for cell in cells
    }


def run(system, q0, method="rk4", **how):
    return cl.simulate(system, q0, 0 * q0, method=method, **how)


def test_000_15_the_listing_is_semi_implicit_and_not_explicit(bead, said):
    q, v = LEFT, np.array([0.0, 0.5])
    a, _ = cl.accelerations(bead, q, v)
    v = v + 0.1 * a
    q = q + 0.1 * v
    ends = {
        method: cl.simulate(bead, LEFT, [0, 0.5], t_end=0.1, dt=0.1, method=method).q[-1]
        for method in ("explicit_euler", "semi_implicit_euler")
    }
    np.testing.assert_allclose(q, ends["semi_implicit_euler"], atol=1e-15)
    assert np.abs(q - ends["explicit_euler"]).max() > 0.09
    listing, explicit, semi_implicit = (line.partition("q = ")[2] for line in said["which-euler"].splitlines())
    assert listing == semi_implicit != explicit


def test_001_2_both_euler_methods_have_order_1_and_rattle_has_2(said):
    orders = {line.split()[0]: line.split() for line in said["orders-table"].splitlines()}
    assert set(orders) == set(METHODS)
    for method, words in orders.items():
        theory = 4 if method == "rk4" else 1 if "euler" in method else 2
        assert abs(float(words[2]) - theory) < 0.1 and abs(float(words[6]) - theory) < 0.1, method


def test_001_11_projection_gives_no_good_energy(bead, said):
    balance = {
        remedy: run(bead, LEFT, "semi_implicit_euler", t_end=10.0, dt=1e-3, stabilize=how).energy_balance[-1]
        for remedy, how in {"none": None, "q": cl.Projection(velocity=False), "both": cl.Projection()}.items()
    }
    assert balance["none"] < balance["q"] < -0.5 and balance["both"] > 0.6
    assert abs(run(bead, LEFT, "rattle", t_end=10.0, dt=1e-3).energy_balance[-1]) < 1e-4
    assert "projection of q and v  +0.652 J" in said["energy-remedies"]


def test_001_11_after_an_hour_only_rattle_is_in_its_band(bead):
    hour = dict(t_end=3600.0, dt=0.02)
    energy = run(bead, LEFT, "rattle", **hour).energy_balance
    quarter = len(energy) // 4
    first, last = energy[:quarter], energy[-quarter:]
    assert last.min() == pytest.approx(first.min(), rel=0.01) and abs(last.max() - first.max()) < 1e-6
    assert run(bead, LEFT, stabilize=GAINS, **hour).energy_balance[-1] > 0.4
    assert run(bead, LEFT, "implicit_midpoint", **hour).energy_balance[-1] < -1


def test_001_6_stiffness_comes_from_the_gains(said):
    lines = said["stiffness"].splitlines()
    fastest = [float(line.partition("eigenvalue")[2].partition("/s")[0]) for line in lines]
    explicit = [float(line.partition("DOP853 ")[2].partition(",")[0]) for line in lines]
    implicit = [float(line.partition("Radau ")[2]) for line in lines]
    assert fastest == [3.1, 20.0, 200.0, 2000.0]
    assert explicit[-1] / explicit[0] > 100 > 20 > implicit[-1] / implicit[0]


def slot():
    (x, y), v = cl.coordinates("x y")
    m = sp.Symbol("m", positive=True)
    return cl.Mechanism(
        "mass in a slot", coordinates=(x, y), velocities=v, parameters={m: (1.0, "kg", "mass")},
        kinetic_energy=m * (v[0] ** 2 + v[1] ** 2) / 2, potential_energy=sp.Integer(0), constraints={"slot": (x, "m")},
    ).system()  # fmt: skip


@pytest.mark.parametrize("rho_inf", [0.0, 0.5, 0.8, 1.0])
def test_001_12_newmark_grows_and_damping_forgets(rho_inf):
    how = dict(method="newmark") if rho_inf == 1 else dict(method="generalized_alpha", rho_inf=rho_inf)
    tr = cl.simulate(slot(), [0, 0], [1e-6, 0], t_end=10.0, dt=0.01, consistent_start=False, **how)
    if rho_inf == 1:
        n = np.arange(1, 1001)
        np.testing.assert_allclose(np.abs(tr.lam[1:, 0]), 4e-4 * n, rtol=1e-6)
        np.testing.assert_allclose(np.abs(tr.v[:, 0]), 1e-6, rtol=1e-6)
    else:
        assert np.abs(tr.lam[500:]).max() < 1e-8 and np.abs(tr.v[500:]).max() < 1e-12


def test_001_12_newmark_breaks_on_the_bead_and_generalized_alpha_does_not(bead, said):
    broken = run(bead, LEFT, "newmark", t_end=10.0, dt=0.02)
    assert broken.t[-1] < 6 and "does not arrive" in broken.stopped
    assert run(bead, LEFT, "generalized_alpha", t_end=10.0, dt=0.02).stopped is None
    assert "arrives at 10 s" in said["newmark-bead"]


def test_the_velocity_form_is_rattle_on_the_bead_and_of_order_1_on_the_four_bar(said):
    bead_line, bar_line = said["velocity-form-run"].splitlines()
    assert "by 4.0 and 4.0; at 1 ms it is 1.0 times" in bead_line
    assert 1.9 < float(bar_line.partition(" and ")[2].partition(";")[0]) < 2.2
    wrong, good = (
        [float(x) for x in line.rpartition("):")[2].split(",")] for line in said["velocity-form-energy"].splitlines()
    )
    assert wrong[-1] < 4 * wrong[0] < 0 and max(good) - min(good) < 0.1


@pytest.mark.parametrize("method", STAY)
def test_a_step_that_is_far_too_long_ends_in_a_sentence(four_bar, start, method):
    for dt in (0.1, 0.05, 0.02, 0.01):
        tr = run(four_bar, start, method, t_end=20 * dt if method == "rattle" else 3.0, dt=dt)
        assert np.isfinite(tr.q).all() and (tr.stopped is None or tr.stopped.startswith("Stopped at t = "))


def figures(bead):
    runs = {m: run(bead, LEFT, m, t_end=2.0, dt=0.02) for m in ("rattle", "generalized_alpha")}
    steps = np.array([4e-3, 2e-3, 1e-3])
    yield picture.sketch()
    yield picture.energies({"one": runs["rattle"], "other": runs["generalized_alpha"]})
    yield picture.gauges(runs, "m²")
    yield picture.orders({"bead (m)": {"rattle": (steps, steps**2)}, "four-bar (rad)": {"rk4": (steps, steps**4)}})
    yield picture.work_precision({"rk4": (1 / steps, steps**4), "rattle": (9 / steps, steps)}, "m")
    yield picture.growth({"one": (runs["rattle"].t, 1e-3 + runs["rattle"].t)}, "N/m", limit=15.0)


def test_every_figure_has_a_picture_and_a_description_of_its_own(bead):
    descriptions = set()
    for figure in figures(bead):
        data, _ = figure._repr_mimebundle_()
        assert Image.open(BytesIO(data["image/png"])).width == round(200 * figure.get_figwidth())
        descriptions.add(figure.description)
        for axes in (axes for axes in figure.axes if axes.axison):
            assert "(" in axes.get_xlabel() + axes.get_ylabel() + axes.get_title("left")
    assert len(descriptions) == 6 and all(len(words) > 40 for words in descriptions)


def test_the_descriptions_tell_slopes_and_winners(bead):
    _, _, _, orders, work, _ = figures(bead)
    assert "RATTLE 2.0; four-bar (rad): RK4 4.0" in orders.description
    assert "For an error of 1e-06 m" not in work.description or "RK4" in work.description


def test_the_labels_of_curves_do_not_cover_each_other(bead):
    for figure in figures(bead):
        figure.savefig(BytesIO(), dpi=100)
        for axes in figure.axes:
            boxes = sorted(Text.get_window_extent(text).y0 for text in axes.texts if text.get_position()[0] == 1.07)
            assert all(upper - lower > 10 for lower, upper in zip(boxes, boxes[1:]))


def test_the_step_of_the_sketch_is_a_step_of_rattle(bead):
    step, dt = picture.one_step(), 0.22
    v0 = 3.2 * np.array([-step["q0"][1], step["q0"][0]])
    tr = cl.simulate(bead, step["q0"], v0, t_end=dt, dt=dt, method="rattle")
    np.testing.assert_allclose([tr.q[-1], tr.v[-1]], [step["q1"], step["v1"]], atol=1e-12)


def test_bands_hold_the_extremes():
    t = np.arange(1001.0)
    middle, low, high = picture.bands(t, np.sin(t))
    assert len(middle) == 100 and low.min() == np.sin(t).min() and high.max() == np.sin(t).max()


def explored(**values):
    explorer = cl.explore.integrators()
    result = explorer.compute(**explorer.complete(values))
    return result, explorer.text(result)


def test_a_run_in_pieces_is_the_run_in_one():
    result, _ = explored(mechanism="four-bar", dt=0.005, duration=10.0)
    system, q0, _ = lesson._problem("four-bar")
    whole = run(system, q0, t_end=10.0, dt=0.005, stabilize=GAINS)
    np.testing.assert_allclose(result.t, whole.t, atol=1e-12)
    np.testing.assert_allclose(result.q, whole.q, atol=1e-11)
    np.testing.assert_allclose(result.energy_balance, whole.energy_balance, atol=1e-12)


def test_a_long_run_of_a_costly_method_is_shortened_and_says_so():
    result, text = explored(mechanism="four-bar", method="rattle", dt=5e-4, duration=100.0)
    assert len(result.t) - 1 == lesson.MOST["rattle"] == 1250
    assert text.endswith("Shortened from 100 s to 1250 steps, so that the picture keeps up.")


def test_without_numba_it_is_shorter(monkeypatch):
    monkeypatch.setattr(codegen, "compiles", lambda: False)
    for kept in (lesson._run, lesson._reference):
        kept.cache_clear()
    try:
        result, text = explored(method="rattle", dt=0.001, duration=100.0)
        assert len(result.t) - 1 == 40 and text.endswith("to 40 steps, since numba is not installed.")
        result, text = explored(method="rk4", dt=0.02, duration=100.0)
        assert result.t[-1] == pytest.approx(5.0) and "Shortened from 100 s to 250 steps" in text
        assert result.error < 1e-3
    finally:
        for kept in (lesson._run, lesson._reference):
            kept.cache_clear()


def test_a_run_whose_energy_is_lost_ends_there():
    result, text = explored(mechanism="four-bar", method="explicit_euler", dt=0.01, duration=100.0)
    assert abs(result.energy_balance[-1]) > 0.5 >= np.abs(result.energy_balance[:-1]).max()
    assert "since the energy is off by more than 0.5 J" in text


def test_the_error_is_the_distance_from_the_exact_pendulum(pendulum):
    result, text = explored(method="rattle", dt=0.02, duration=10.0)
    exact = np.array(pendulum["position"], float)
    assert result.error == pytest.approx(np.abs(result.q[-1] - exact).max(), rel=1e-6)
    assert f"the bead is off by {result.error:.2g} m" in text


@pytest.mark.parametrize("mechanism", ["bead", "four-bar"])
def test_the_reference_is_as_good_as_the_text_says(mechanism):
    system, q0, _ = lesson._problem(mechanism)
    finer = run(system, q0, t_end=100.0, dt=lesson.FINE[mechanism] / 2, stabilize=GAINS).q[-1]
    assert np.abs(lesson._true(mechanism, 100.0) - finer).max() < lesson.DISTINCT


def test_the_reference_between_its_states():
    system, q0, _ = lesson._problem("bead")
    finer = run(system, q0, t_end=1.00025, dt=2.5e-4, stabilize=GAINS).q[-1]
    assert np.abs(lesson._true("bead", 1.00025) - finer).max() < 1e-10


def test_the_remedy_rests_where_the_method_stays_by_itself():
    runs = [explored(method="rattle", remedy=remedy)[0] for remedy in ("none", "projection")]
    assert runs[0] is runs[1] and runs[0].words == "RATTLE"
