"""Lesson 05: the program that fails is wrong in the ways that the lesson says, and each gauge sees what it should.

The numbers in brackets are the items of the list of mistakes that the lesson teaches.
"""

from pathlib import Path

import nbformat
import numpy as np
import pytest

import chain_lib as cl
from chain_lib.draw import constrained_dynamics as picture
from chain_lib.explore import lesson_constrained_dynamics as lesson
from chain_lib.linear import solve_kkt

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "05_constrained_dynamics.ipynb"
CELLS = ("program", "opening", "sketch", "start-gap", "release", "rate-check", "log-run", "gauges", "matrix")
TEN_DEGREES = np.deg2rad(10)


@pytest.fixture(scope="module")
def nb():
    """Names that the lesson's cells define."""
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    names = {"display": lambda *_: None}
    for name in CELLS:
        exec(cells[f"dynamics-{name}"], names)
    return names


@pytest.fixture(scope="module")
def change_point(nb):
    return nb["change_point"]


def steps(nb, **repairs):
    """How many steps of 1000 the listing makes with some parts repaired."""
    q, _, _, reason = nb["collect"]({**nb["listing"], **{part: nb["right"][part] for part in repairs}})
    return len(q) - 1 if reason else len(q)


def test_the_listing_is_short(nb):
    source = next(c.source for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.id == "dynamics-program")
    assert len([line for line in source.splitlines() if line.strip()]) <= 40


def test_the_start_does_not_close_and_the_first_step_moves_the_crank(nb):  # [000-1]
    np.testing.assert_allclose(nb["loop"](nb["listing"]["start"]), [-0.362846, 0.231140], atol=1e-6)
    np.testing.assert_allclose(np.rad2deg(nb["closed"]), [10, 41.538327, 90.693969], atol=1e-6)
    q, *_ = nb["collect"](nb["listing"], steps=2)
    assert np.rad2deg(q[1, 0]) == pytest.approx(21.11, abs=0.005)


def test_the_listing_dies_and_survival_proves_nothing(nb):  # [000-2]
    assert steps(nb) == 291
    assert steps(nb, start=True) == 297
    assert steps(nb, settle=True) == 1000, "with five mistakes left"
    assert steps(nb, start=True, inertia=True, bias=True) < steps(nb, start=True, inertia=True)


def test_a_projected_velocity_hides_a_wrong_rate_in_the_motion_and_not_in_lambda(nb):  # [000-2]
    right, wrong = (nb["collect"]({**nb["right"], **mistake}, 301) for mistake in ({}, {"gamma": nb["gamma"]}))
    assert np.abs(right[0] - wrong[0]).max() < 1e-4 and np.abs(right[1] - wrong[1]).max() < 5e-3
    assert np.abs(right[2][-1] - wrong[2][-1]).max() > 4.0
    loose = [
        nb["collect"]({**nb["right"], "settle": nb["settle"], **mistake}, 301)
        for mistake in ({}, {"gamma": nb["gamma"]})
    ]
    assert np.abs(loose[0][0] - loose[1][0]).max() > 1e-2 and np.abs(loose[0][1] - loose[1][1]).max() > 5


def test_the_program_has_a_change_point_where_counting_fails(change_point):  # [000-3] [000-4]
    flat = cl.mobility(change_point, [np.pi, 0.0, np.pi])
    assert (flat.rank, flat.rank_nearby, flat.counted, flat.instantaneous) == (1, 2, 1, 2)
    run = cl.simulate(change_point, change_point.assemble("open", theta2=TEN_DEGREES), np.zeros(3), t_end=1.0, dt=1e-3)
    assert run.stopped.startswith("Stopped at t = 0.3929 s")


def test_one_entry_of_the_rate_has_a_wrong_sign(nb, change_point):  # [000-5]
    q, v = np.deg2rad([40, 20, 70]), np.array([3.0, -2.0, 4.0])
    off = nb["gamma"](q, v) - change_point.gamma(q, v)
    np.testing.assert_allclose(off, [0, -2 * 0.3 * np.sin(q[2]) * v[2] ** 2], atol=1e-12)
    assert nb["rate_error"](nb["gamma"]) == pytest.approx(9.02, abs=0.01)


def test_the_weight_has_a_minus_and_the_crank_does_not_carry_the_coupler(nb, change_point):  # [000-6]
    assert nb["released_rocker"](change_point.M, change_point.h) == pytest.approx(-3 * 9.81 / (2 * 0.3))
    assert nb["released_rocker"](nb["inertia"], nb["bias"]) == pytest.approx(4 * 3 * 9.81 / (2 * 0.3))
    closed, rest = nb["closed"], np.zeros(3)
    carried = change_point.h(closed, rest) + nb["bias"](closed, rest)
    np.testing.assert_allclose(carried, [0.2 * 9.81 * np.cos(TEN_DEGREES), 0, 0], atol=1e-12)
    assert cl.reduced(change_point, closed, rest, ["theta2"]).h_r[0] == pytest.approx(1.949, abs=5e-4)
    run = cl.simulate(change_point, closed, rest, t_end=0.2, dt=1e-3, torque=[1.0, 0, 0])
    assert np.rad2deg(run.q[-1, 0]) == pytest.approx(-13.72, abs=0.005)


def test_the_inertia_is_about_the_centres_and_uncoupled(nb, change_point):  # [000-7]
    M, listed = change_point.M(nb["closed"]), nb["inertia"](nb["closed"])
    assert M[2, 2] == pytest.approx(4 * listed[2, 2]) and M[0, 1] == pytest.approx(0.0341, abs=5e-5)
    assert np.count_nonzero(listed - np.diag(np.diag(listed))) == 0


def test_the_bias_has_no_velocity_terms(nb, change_point):  # [000-8]
    q, v = nb["closed"], np.array([3.0, -2.0, 4.0])
    np.testing.assert_array_equal(nb["bias"](q, v), nb["bias"](q, 0 * v))
    assert np.abs(change_point.h(q, v) - change_point.h(q, 0 * v)).max() > 0.1


def test_lambda_is_the_force_at_c_alone():  # [000-12]
    system = cl.mechanisms.FourBar().system()
    q = system.assemble("open", theta2=1.0)
    forces = cl.joint_forces(system, q, np.zeros(3))
    _, lam = cl.accelerations(system, q, np.zeros(3))
    np.testing.assert_allclose(forces["C"]["coupler"], lam, atol=1e-12)
    assert np.abs(forces["B"]["coupler"] + lam).max() > 1


def test_without_putting_the_velocity_back_it_leaves_the_loop(nb):  # [000-14]
    q, v, *_ = nb["collect"]({**nb["right"], "settle": nb["settle"]}, 201)
    assert np.linalg.norm(nb["jacobian"](q[-1]) @ v[-1]) == pytest.approx(4.7e-3, abs=2e-4)


def test_least_squares_is_silent_about_a_contradiction():  # [000-16]
    J, wanted = np.array([[1.0, 0, 0], [2.0, 0, 0]]), np.array([0.0, -1.0])
    K = np.block([[np.eye(3), -J.T], [J, np.zeros((2, 2))]])
    silent = np.linalg.lstsq(K, np.concatenate([np.zeros(3), wanted]), rcond=None)[0]
    assert np.abs(J @ silent[:3] - wanted).max() > 0.1
    with pytest.raises(cl.SingularConfiguration, match="contradict"):
        solve_kkt(np.eye(3), J, np.zeros(3), wanted, redundant="minimum_norm")


SEEN = {
    "nothing wrong": "",
    "1 guessed start": "start energy",
    "2 inertia of the listing": "released driven energy rocker",
    "3 weight with a minus": "released energy rocker",
    "4 velocity terms missing": "energy",
    "5 sign in the rate of J": "rate rocker",
    "6 velocity not put back": "velocity",
    "5 and 6 together": "rate velocity energy rocker",
}


def test_each_mistake_is_seen_by_the_gauges_that_the_lesson_names(nb):
    short = ("start", "released", "driven", "rate", "velocity", "energy", "rocker")
    for name, values in nb["table"].items():
        seen = [gauge for gauge, value, (_, _, most) in zip(short, values, nb["columns"]) if abs(value) > most]
        assert " ".join(seen) == SEEN[name], name
    assert set(SEEN) == set(nb["table"])
    single = [gauges for name, gauges in SEEN.items() if gauges and name != "5 and 6 together"]
    assert len(set(single)) == len(single) == 6, "no two mistakes light the same gauges"


def test_the_table_marks_what_is_beyond_its_tolerance():
    columns = [("one\nthing", "m", 0.1), ("other", "J", 1.0)]
    figure = picture.repair_log({"right": [0.05, 0.5], "wrong": [-0.2, 0.5]}, columns)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert "● −0.2" in words and "0.05" in words and sum("●" in word for word in words) == 1
    assert figure.description.endswith("right: no gauge; wrong: one thing.")


def test_figures_describe_themselves(nb, change_point):
    q, v, lam, _ = nb["collect"](nb["right"], 301)
    t = 1e-3 * np.arange(301)
    bars = cl.mechanisms.Parallelogram().system()
    figures = [
        picture.opening(*nb["collect"](nb["listing"])[:2], dt=1e-3),
        picture.sketch(cl.mechanisms.FourBar().system()),
        picture.start_and_assembled(change_point, nb["listing"]["start"], nb["closed"]),
        picture.hidden_mistake(t, (q, lam), (q, 2 * lam)),
        picture.redundant(bars, bars.assemble(theta2=1.0), {"one": np.ones(4), "other": -np.ones(4)}),
        picture.forces_over_time(t, {joint: lam for joint in "ABCD"}, 29.43),
    ]
    assert len({figure.description for figure in figures}) == len(figures)
    for figure in figures:
        data, _ = figure._repr_mimebundle_()
        assert len(data["image/png"]) > 10_000 and len(figure.description) > 80


def test_an_arrow_of_one_line_has_its_tip_at_the_end():
    start, vector = np.array([0.1, 0.2]), np.array([0.3, -0.4])
    line = picture.arrow_line(start, vector)
    np.testing.assert_allclose(line[:, [0, 1, 4]].T, [start, start + vector, start + vector])
    middle = line[:, 2:4].mean(axis=1)
    np.testing.assert_allclose(start + vector - middle, picture.HEAD * vector / 0.5)
    np.testing.assert_array_equal(picture.arrow_line(start, np.zeros(2)), np.repeat(start[:, None], 5, axis=1))


def compute(**values):
    explorer = cl.explore.joint_forces()
    return explorer.compute(**explorer.complete(values))


def test_forces_over_time_are_those_of_joint_forces():
    seen = compute(m2=0.5, m3=2.0, m4=1.5, torque=1.0)
    for k in (0, len(seen.t) // 2, len(seen.t) - 1):
        run = seen.run
        q, v = cl.project(run.system, run.q[k], run.v[k])
        forces = cl.joint_forces(run.system, q, v, [1.0, 0, 0])
        for joint, body, *_ in picture.FORCES:
            np.testing.assert_allclose(seen.over_time[joint][k], forces[joint][body], rtol=1e-4, atol=1e-6)


def test_what_the_lesson_predicts_about_the_explorer():
    start, heavy, fast = compute(), compute(m2=2.0, m3=2.0, m4=2.0), compute(g=19.62)
    np.testing.assert_allclose(heavy.q, start.q, atol=1e-9)
    np.testing.assert_allclose(heavy.over_time["A"], 2 * start.over_time["A"], rtol=1e-6, atol=1e-6)
    for joint in "ABCD":
        largest = [np.hypot(*seen.over_time[joint].T).max() for seen in (start, fast)]
        assert largest[1] == pytest.approx(2 * largest[0], rel=1e-3)

    def to_the_rocker(seen):
        rocker, force = seen.points["C"] - seen.points["D"], seen.forces["C"]
        return np.rad2deg(np.arccos(abs(force @ rocker) / np.linalg.norm(force) / np.linalg.norm(rocker)))

    assert to_the_rocker(compute(m4=0.1)) < 4 < 20 < to_the_rocker(start)
    held = compute(torque=0.8)
    assert (held.forces["A"] + held.forces["D"])[1] == pytest.approx(3 * 9.81, abs=0.5)
    assert np.hypot(*compute(g=0.0, torque=0.5).over_time["A"].T).max() == pytest.approx(408, abs=1)


def test_a_run_that_becomes_too_fast_is_cut_and_says_so():
    light = compute(m2=0.1, m3=0.1, m4=0.1, torque=5.0, instant=2.0)
    assert light.t[-1] < 0.2 and np.abs(light.run.v[:, 0]).max() <= lesson.FAST and light.index == len(light.t) - 1
    for torque in (1.2, 2.0, -2.0):
        cut = compute(torque=torque)
        assert cut.t[-1] < 2.0 and np.diff(cut.t).max() < 1.5 * lesson.STEP, "what is shown has no gap"
    assert "The run is shown up to" in cl.explore.joint_forces().text(light)
    assert "shown up to" not in cl.explore.joint_forces().text(compute())


def test_the_scale_of_the_arrows_is_round_and_told():
    seen = compute()
    assert seen.scale == 10.0 and "0.1 m stands for 10 N" in cl.explore.joint_forces().text(seen)
    artists = picture.setup(picture.Figure())
    picture.draw(seen, artists)
    tip = artists["force C"].get_xydata()[1]
    np.testing.assert_allclose((tip - seen.points["C"]) / 0.1 * seen.scale, seen.forces["C"], atol=1e-9)
