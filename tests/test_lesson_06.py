"""Lesson 06: its pictures, its explorer, and the moments that errata of the lecture became."""

import json
from pathlib import Path

import numpy as np
import pytest

import chain_lib as cl
from chain_lib.draw import reduced_coordinates as picture
from chain_lib.explore import lesson_reduced_coordinates as lesson
from chain_lib.partition import best_independent, tangent

ROOT = Path(__file__).parent.parent
FOUR_BAR = cl.mechanisms.FourBar()
REST = np.zeros(3)


@pytest.fixture(scope="module")
def regular():
    return FOUR_BAR.system()


@pytest.fixture(scope="module")
def swinging():
    """The triple rocker on a horizontal table."""
    return FOUR_BAR.system(a=0.3, b=0.4, c=0.3, d=0.5, g=0)


@pytest.fixture(scope="module")
def passage(swinging):
    q = swinging.assemble("open", theta2=np.deg2rad(60))
    v = 4.0 * cl.reduced(swinging, q, REST, "theta2").S[:, 0]
    return cl.simulate(swinging, q, v, t_end=1.6, dt=1e-3, form="reduced")


def printed(cell):
    """What a cell of the lesson has stored as text."""
    notebook = json.loads((ROOT / "notebooks" / "06_reduced_coordinates.ipynb").read_text(encoding="utf-8"))
    (found,) = [one for one in notebook["cells"] if one["id"] == f"reduced-{cell}"]
    return "".join(part for output in found["outputs"] for part in output.get("text", ()))


def test_000_9_the_lesson_opens_with_both_signs_and_the_kkt_system_decides():
    opening, witness = printed("opening"), printed("witness")
    assert "minus: -24.02860" in opening and "plus : -15.29596" in opening
    assert "-15.29596" in witness and "below 1e-10: True" in witness
    assert "h_r with −: energy balance at the end -1.182 J; |phi| below 1e-15 m all the time: True" in printed("blind")


def test_000_9_the_second_proof_is_passed_by_the_plus_alone():
    numbers = [float(line.split(":")[1].split()[0]) for line in printed("second-proof").splitlines()]
    half_slope, plus, minus = numbers
    assert plus == pytest.approx(half_slope, abs=1e-5) and abs(minus - half_slope) > 0.3


def test_000_10_the_unconstrained_equations_contradict_each_other_and_friction_counts():
    rows = np.array(printed("rows").split("[")[1].split("]")[0].split(), float)
    assert np.ptp(rows) > 1e3 and np.abs(rows + 15.296).min() > 10
    assert "with friction at D:     tau_r = 0.9681 N m" in printed("power-check")


def test_000_4_at_the_dead_centre_J_keeps_its_rank_in_the_lesson():
    last = printed("dead-table").splitlines()[-1].split()
    assert float(last[-2]) == pytest.approx(0.166, abs=1e-3) and float(last[3]) < 0.002
    assert "theta2 does not determine the other coordinates" in printed("dead-choices")


def test_000_3_a_fixed_branch_jumps_at_the_change_point_in_the_lesson():
    before_open, before_crossed, after_open, after_crossed = (
        line.split("S = ")[1] for line in printed("wrong-branch").splitlines()
    )
    assert before_open == after_crossed != after_open == before_crossed


def test_000_23_the_reduced_form_does_not_drift_in_the_lesson():
    lines = [line for line in printed("agree-runs").splitlines() if "reduced" in line and "ms," in line]
    assert len(lines) == 2 and all(line.count("rounding") == 2 for line in lines)


def test_the_value_by_hand(regular):
    q = regular.assemble("open", theta2=0.0)
    form = cl.reduced(regular, q, REST, "theta2")
    np.testing.assert_allclose(form.S[:, 0], [1, -2 / 3, -2 / 3], rtol=1e-12)
    assert form.M_r[0, 0] == pytest.approx(4 / 75 * (1 + 8 / 9) - 4 / 3 * 3 / 200, rel=1e-12)


def test_the_null_vector_has_the_three_determinants(swinging):
    for theta2 in np.deg2rad([-100, -20, 30, 119]):
        J = swinging.J(swinging.assemble("open", theta2=theta2))
        w = picture.null_vector(J)
        np.testing.assert_allclose(J @ w, 0, atol=1e-16)
        for k in range(3):
            assert abs(np.linalg.det(np.delete(J, k, axis=1))) == pytest.approx(abs(w[k]), rel=1e-10)


def test_P_leaves_the_independent_coordinates_alone():
    J = np.random.default_rng(2).normal(size=(3, 5))
    for kept in ([0, 1], [1, 4], [2, 3]):
        S, P = tangent(J, kept)
        np.testing.assert_allclose(J @ P, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(J @ S, 0, atol=1e-12)
        np.testing.assert_array_equal(S[kept], np.eye(2))
        assert (P[kept] == 0).all()


def test_the_coordinates_that_move_most_are_kept_and_stay_while_they_move_almost_as_much():
    J = np.array([[0.0, -1.0, 1.05], [1.0, 0.0, 0.0]])  # null vector (0, 1.05, 1)
    assert best_independent(J) == [1]
    assert best_independent(J, [2]) == [2], "five per cent slower: it stays"
    assert best_independent(np.array([[0.0, -1.0, 1.2], [1.0, 0.0, 0.0]]), [2]) == [1]


def test_a_run_does_not_change_to_and_fro_and_is_as_good_as_the_kkt_form(swinging, passage):
    """Equal bars of equal mass: the columns of J for coupler and rocker have the same length throughout."""
    assert passage.stopped is None and passage.notes[0].endswith("and 2 changes more.")
    kkt = cl.simulate(swinging, passage.q[0], passage.v[0], t_end=1.6, dt=1e-3)
    exact = cl.simulate(swinging, passage.q[0], passage.v[0], t_end=1.6, dt=1e-4, stabilize=cl.Baumgarte(20, 20))
    errors = [np.abs(run.q[-1] - exact.q[-1]).max() for run in (passage, kkt)]
    assert errors[0] < 2 * errors[1] and errors[0] < 1e-6


def test_the_figure_of_the_switches_shows_the_coordinates_that_the_run_has_used(passage):
    figure = picture.switching(passage)
    order = [figure.description.split("Used are ")[1].split(";")[0]]
    times = [float(word) for word in order[0].replace(",", "").split() if word[0].isdigit()]
    noted = [float(word.split(" s")[0]) for word in passage.notes[0].split("from ")[1:]]
    assert times[0] == 0.0 and times[1 : 1 + len(noted)] == pytest.approx(noted, abs=0.006)
    strong = [line for line in figure.axes[1].lines if line.get_linewidth() == 4]
    lowest = min(np.nanmin(line.get_ydata()) for line in strong)
    assert len(strong) == 3 and lowest > 0.05, "what is used stays far from zero"


def test_every_figure_says_what_it_shows(regular, passage):
    t = np.linspace(0, 1, 11)
    runs = {"h_r with +": (t, t, 0 * t), "h_r with −": (t, t + t**2, t**3)}
    figures = (
        picture.two_signs(runs, 1.0),
        picture.sketch(regular),
        picture.inertia(regular, 0.0),
        picture.switching(passage),
    )
    assert len({figure.description for figure in figures}) == 4
    for figure in figures:
        assert len(figure.description) > 100 and "nan" not in figure.description
        for axes in (axes for axes in figure.axes if axes.axison):
            assert "(" in axes.get_xlabel() + axes.get_title("left")
    assert "1 J are not accounted for" in figures[0].description and "less than 1e-6 J" in figures[0].description
    assert "the reduced inertia is 0.0807 kg m²" in figures[2].description


def view(**values):
    explorer = cl.explore.dead_centres()
    result = explorer.compute(**explorer.complete(values))
    return result, explorer.text(result)


def test_the_explorer_says_where_a_dead_centre_is_and_which_choice_is_best():
    triple = dict(a=0.3, b=0.4, c=0.3, d=0.5)
    result, text = view(**triple, theta2=119.0)
    assert result.near and "Near a dead centre of θ₂: coupler and rocker are almost in one line" in text
    assert "it is smallest with θ₄" in text and "Mᵣ = 0.911 kg m²" in text
    result, text = view(**triple, theta2=119.0, independent="theta3")
    assert not result.near and "dead centre" not in text
    result, text = view(**triple, theta2=120.0)
    assert "θ₂ above 10 000" in text and "The reduced inertia with θ₂ has no bound here." in text
    assert "The loop" not in text and "the loop cannot close" in view(**triple, theta2=121.0)[1]


def test_the_explorer_tells_a_singular_configuration_from_a_dead_centre():
    result, text = view(a=0.2, b=0.4, c=0.3, d=0.5, theta2=180.0)
    assert result.singular and "near a singular configuration, where J itself loses its rank" in text
    assert "dead centre" not in text


@pytest.mark.parametrize("name, crank", [("theta3", 130.54), ("theta4", 41.41)])
def test_the_explorer_marks_the_dead_centres_of_a_rocker(name, crank):
    result, text = view(theta2=float(round(crank)), independent=name)
    (at, size), *_ = result.over_turn[name]
    peaks = at[size == picture.CEILING]
    assert len(peaks) == 2 and peaks.max() == pytest.approx(crank, abs=0.1)
    assert result.near and "Near a dead centre" in text


def test_the_explorer_agrees_with_the_library(regular):
    result, _ = view(theta2=75.0, branch="crossed", independent="theta4")
    q = regular.assemble("crossed", theta2=np.deg2rad(75))
    for name in picture.NAMES:
        assert result.condition[name] == pytest.approx(cl.reduced(regular, q, REST, name).condition)
    assert result.inertia == pytest.approx(cl.reduced(regular, q, REST, "theta4").M_r[0, 0])


@pytest.mark.parametrize(
    "lengths, ranges",
    [((0.2, 0.4, 0.4, 0.5), 1), ((0.3, 0.4, 0.3, 0.5), 1), ((0.4, 0.2, 0.4, 0.5), 2), ((0.1, 0.1, 0.1, 0.6), 0)],
)
def test_curves_are_cut_where_the_loop_cannot_close(lengths, ranges):
    curves = lesson.over_turn(*lengths, "open")
    low, high = np.rad2deg(cl.mechanisms.crank_range(*lengths)) if ranges else (0, 0)
    for name in picture.NAMES:
        assert len(curves[name]) == ranges
        for at, size in curves[name]:
            assert (np.diff(at) >= 0).all() and (size >= 1).all() and (size <= picture.CEILING).all()
            assert (np.abs(at) >= low - 1e-6).all() and (np.abs(at) <= high + 1e-6).all()
