"""Benchmarks with known answers: the pendulum, the row of four-bars through its singular position, the squeezer."""

import json
from pathlib import Path

import numpy as np
import pytest

import chain_lib as cl

DATA = Path(__file__).parent / "data"
ROW = json.loads((DATA / "n_four_bar.json").read_text())
SQUEEZER = json.loads((DATA / "squeezer.json").read_text())


def upright(N):
    """The row of four-bars as the benchmark starts it: upright, B₀ at 1 m/s along +x."""
    row = cl.mechanisms.NFourBar(N).system()
    return row, row.assemble(theta0=np.pi / 2), np.array([-1.0] * (N + 1) + [0.0] * N)


def end_of_first_bar(tr):
    """Position and velocity of B₀ at the end, against the exact ones."""
    theta, rate = tr.q[-1, 0], tr.v[-1, 0]
    N = (tr.system.n - 1) // 2
    exact = [float(ROW["exact"][str(N)][name]) for name in ("B0x", "B0y", "B0vx", "B0vy")]
    return np.abs([np.cos(theta), np.sin(theta), -rate * np.sin(theta), rate * np.cos(theta)] - np.array(exact))


@pytest.mark.parametrize("stabilize", [None, cl.Baumgarte(20, 20), cl.Projection()], ids=str)
def test_a01_the_pendulum_to_ten_digits(bead, pendulum, stabilize):
    tr = cl.simulate(bead, [-1, 0], [0, 0], t_end=10.0, dt=2.5e-4, stabilize=stabilize)
    np.testing.assert_allclose(tr.q[-1], np.array(pendulum["position"], float), rtol=0, atol=1e-10)
    np.testing.assert_allclose(tr.v[-1], np.array(pendulum["velocity"], float), rtol=0, atol=5e-10)


@pytest.mark.parametrize("N", [1, 2, 5, 10])
def test_a02_the_row_goes_through_its_singular_position(N):
    row, q0, v0 = upright(N)
    tr = cl.simulate(row, q0, v0, t_end=10.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20), on_singular="cross")
    assert tr.stopped is None and end_of_first_bar(tr).max() < 1e-8
    assert np.abs(tr.energy_balance).max() < 1e-8 and np.abs(tr.q[:, : N + 1] - tr.q[:, :1]).max() < 1e-9
    times, places = zip(*tr.passages)
    assert len(times) == int(ROW["exact"][str(N)]["singular_passes"])
    np.testing.assert_allclose(places, np.outer(-np.pi * np.arange(10), [1] * (N + 1) + [0] * N), atol=1e-8)
    np.testing.assert_allclose(np.interp(times, tr.t, tr.q[:, 0]), -np.pi * np.arange(10), atol=1e-5)


@pytest.mark.parametrize("N", [1, 2, 10])
def test_without_being_asked_to_cross_the_run_ends_there_also_where_the_rank_drops_by_an_even_number(N):
    row, q0, v0 = upright(N)
    for stabilize in (None, cl.Baumgarte(20, 20)):
        tr = cl.simulate(row, q0, v0, t_end=10.0, dt=1e-3, stabilize=stabilize)
        assert f"rank {N} of {2 * N}" in tr.stopped and "on_singular='cross'" in tr.stopped and tr.passages == []
        assert 0.7 < tr.t[-1] < 0.73 and np.abs(tr.q[-1, 0]) < 1e-3


@pytest.mark.parametrize("how", ["rattle", "implicit_midpoint", "generalized_alpha", cl.Projection()], ids=str)
@pytest.mark.parametrize("N", [1, 2])
def test_the_methods_that_stay_on_the_constraints_cross_by_themselves(N, how):
    row, q0, v0 = upright(N)
    how = {"stabilize": how} if isinstance(how, cl.Projection) else {"method": how}
    tr = cl.simulate(row, q0, v0, t_end=10.0, dt=2e-3, on_singular="cross", **how)
    assert tr.stopped is None and len(tr.passages) == 10
    assert end_of_first_bar(tr).max() < (2e-9 if "stabilize" in how else 3e-4)
    assert tr.position_residual.max() < 1e-12


def test_the_change_point_four_bar_crosses_at_the_place_and_time_that_are_known():
    fb = cl.mechanisms.FourBar().system(a=0.2, b=0.4, c=0.3, d=0.5)
    ends = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        q0 = fb.assemble("open", theta2=np.deg2rad(10))
        tr = cl.simulate(fb, q0, np.zeros(3), t_end=0.6, dt=dt, stabilize=cl.Projection(), on_singular="cross")
        ((time, place),) = tr.passages
        assert time == pytest.approx(0.39289, abs=1e-5)
        np.testing.assert_allclose(place, [-np.pi, 0, np.pi], atol=1e-6)
        ends.append(tr.q[-1])
        assert np.abs(tr.energy_balance).max() < 1e-6
    assert np.abs(ends[2] - ends[1]).max() < 1e-7


def crossroads():
    """A point that may move along either axis, φ = x y: at the origin J = 0."""
    q, v = cl.coordinates("x y")
    return cl.Mechanism(
        "crossroads",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=(v[0] ** 2 + v[1] ** 2) / 2,
        constraints={"x y": (q[0] * q[1], "m^2")},
    ).system()


@pytest.mark.parametrize("stabilize", [cl.Baumgarte(2, 2), cl.Projection()], ids=str)
def test_a_stage_on_the_singular_configuration_itself_is_crossed_too(stabilize):
    """With dt = 1/8 s the eighth step ends at the origin exactly, in binary arithmetic too."""
    tr = cl.simulate(crossroads(), [-1, 0], [1, 0], t_end=2.0, dt=0.125, stabilize=stabilize, on_singular="cross")
    assert tr.stopped is None and tr.q[8].tolist() == [0, 0] and tr.q[-1].tolist() == [1, 0]
    ((time, place),) = tr.passages
    assert time == pytest.approx(1.0, abs=1e-6) and np.abs(place).max() < 1e-9


@pytest.mark.parametrize(
    "how, sentence",
    [
        ({}, "'cross' needs a stabilization, .* pass stabilize="),
        ({"stabilize": cl.Baumgarte(0, 0)}, "'cross' needs a stabilization"),
        ({"method": "dop853"}, "'dop853' chooses its own steps .* method='rk4'"),
        ({"form": "reduced"}, "needs form='kkt' and independent constraints"),
        ({"redundant": "minimum_norm", "stabilize": cl.Projection()}, "needs form='kkt' and independent constraints"),
    ],
    ids=str,
)
def test_what_cannot_cross_is_refused_in_a_sentence(how, sentence):
    row, q0, v0 = upright(1)
    with pytest.raises(ValueError, match=sentence):
        cl.simulate(row, q0, v0, t_end=1.0, dt=0.01, on_singular="cross", **how)
    with pytest.raises(ValueError, match="on_singular = 'jump' is unknown; choose one of 'stop', 'cross'"):
        cl.simulate(row, q0, v0, t_end=1.0, dt=0.01, on_singular="jump")


def test_a_start_in_the_singular_position_is_refused_with_the_rank():
    row, q0, v0 = upright(2)
    with pytest.raises(cl.SingularConfiguration, match="rank 2 of 4"):
        cl.simulate(row, 0 * q0, 0 * v0, t_end=1.0, dt=0.01, stabilize=cl.Projection(), on_singular="cross")


@pytest.mark.parametrize("N", [0, -1, 2.0, "2", True])
def test_an_impossible_number_of_loops_is_refused(N):
    with pytest.raises(ValueError, match=f"N = {N!r} is not possible; it is the number of four-bars"):
        cl.mechanisms.NFourBar(N)


def test_the_row_assembles_with_its_first_bar_held():
    row = cl.mechanisms.NFourBar(2).system(L=0.5)
    np.testing.assert_array_equal(row.assemble(theta0=0.4), [0.4, 0.4, 0.4, 0, 0])
    with pytest.raises(ValueError, match="closed form with theta0 held, not with theta1"):
        row.assemble(theta1=0.4)


def numbers(name):
    return np.array(SQUEEZER[name], float)


def test_a03_the_squeezer_starts_with_the_published_accelerations():
    squeezer = cl.mechanisms.Squeezer().system()
    a, lam = cl.accelerations(squeezer, squeezer.mechanism.start, np.zeros(7))
    np.testing.assert_allclose(a, numbers("start_acceleration"), rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(lam, -numbers("start_lambda"), rtol=1e-11, atol=1e-10)


def test_a03_the_squeezer_after_thirty_milliseconds():
    """The crank turns two and a half times; then q, v, accelerations and multipliers against 80-bit arithmetic."""
    squeezer = cl.mechanisms.Squeezer().system()
    tr = cl.simulate(
        squeezer, squeezer.mechanism.start, np.zeros(7), t_end=0.03, dt=1e-3, method="dop853", rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(tr.q[-1], numbers("q"), rtol=0, atol=1e-10)
    np.testing.assert_allclose(tr.v[-1], numbers("v"), rtol=0, atol=1e-7)
    a, lam = cl.accelerations(squeezer, tr.q[-1], tr.v[-1])
    np.testing.assert_allclose(a, numbers("acceleration"), rtol=1e-9)
    np.testing.assert_allclose(lam, -numbers("lambda"), rtol=1e-9)
    assert np.abs(tr.energy_balance).max() < 1e-10, "the work of the motor is counted"


def test_a03_the_squeezer_by_methods_of_order_two():
    """RATTLE and generalized-α on the same stretch: their errors fall by four with half the step."""
    squeezer = cl.mechanisms.Squeezer().system()
    for method in ("rattle", "generalized_alpha"):
        errors = []
        for dt in (2e-5, 1e-5):
            tr = cl.simulate(squeezer, squeezer.mechanism.start, np.zeros(7), t_end=0.03, dt=dt, method=method)
            errors.append(np.abs(tr.q[-1] - numbers("q")).max())
            assert tr.stopped is None and tr.position_residual.max() < 1e-12
        assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)
