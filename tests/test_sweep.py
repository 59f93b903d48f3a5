"""Sweeps: every cell is the run that `simulate` makes, whatever happens in it."""

import _thread
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl
from chain_lib import block, codegen, progress
from chain_lib.sweeps import MEASURES

ROOT = Path(__file__).parent.parent
GAINS = np.array([0.0, 5.0, 20.0, 150.0, 400.0])
STEPS = np.array([0.02, 0.005])
T_END = 1.003  # not a multiple of the steps


@pytest.fixture(scope="module")
def four_bar():
    system = cl.mechanisms.FourBar().system()
    return system, system.assemble(theta2=0.3, branch="open"), np.zeros(3)


@pytest.fixture(params=["bead", "wire", "four-bar"])
def start(request, bead, wire, four_bar):
    return {"bead": (bead, [-1, 0], [0, 0]), "wire": (wire, [0, -1], [1.2, 0]), "four-bar": four_bar}[request.param]


def one_by_one(system, q0, v0, method, cells, **more):
    """The measures of runs of `simulate`, a row each: stable, residual, energy, end state, time reached."""
    rows = []
    for alpha, beta, dt in cells:
        tr = cl.simulate(
            system, q0, v0, t_end=T_END, dt=dt, method=method, stabilize=cl.Baumgarte(alpha, beta), **more
        )  # fmt: skip
        residual, lost = tr.position_residual.max(), np.abs(tr.energy_balance).max()
        scale = np.linalg.norm(system.constraint_scale(q0))
        end = np.array([tr.q[-1], tr.v[-1]])
        sound = tr.stopped is None
        rows.append(
            (
                sound and residual <= 0.1 * scale,
                *((x if sound else x * 0 + np.inf) for x in (residual, lost, end)),
                tr.t[-1],
            )
        )
    return [np.array(column) for column in zip(*rows)]


@pytest.mark.parametrize("method", block.STEPPERS)
def test_each_cell_is_a_run_of_simulate(start, method):
    system, q0, v0 = start
    alpha, beta, dt = np.meshgrid(GAINS, GAINS, STEPS, indexing="ij")
    *expected, reached = one_by_one(system, q0, v0, method, zip(alpha.flat, beta.flat, dt.flat))
    assert 0 < np.sum(~expected[0]) < expected[0].size, "both kinds of cells"
    for measure, values in zip(MEASURES, expected, strict=True):
        found = cl.sweep(
            system, q0, v0, t_end=T_END, dt=STEPS, method=method, alpha=GAINS, beta=GAINS, measure=measure
        )  # fmt: skip
        assert found.values.shape == (5, 5, 2) + values.shape[1:] and found.done.all()
        assert list(found.axes) == ["alpha", "beta", "dt"] and not np.isnan(found.values).any()
        np.testing.assert_allclose(found.values.reshape(values.shape), values, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.reached.reshape(-1), reached, rtol=1e-14)


def test_axes_stand_in_the_order_alpha_beta_dt_parameters(bead):
    arguments = dict(t_end=0.5, method="semi_implicit_euler", measure="max_position_residual", consistent_start=False)
    found = cl.sweep(
        bead, [-1, 0], [0, 0], g=[9.81, 1.62, 0.0, 5.0], m=[1.0, 2.0, 3.0, 4.0, 5.0], dt=[0.01, 0.02, 0.03],
        beta=[1.0, 20.0], **arguments,
    )  # fmt: skip
    assert list(found.axes) == ["beta", "dt", "g", "m"] and found.values.shape == (2, 3, 4, 5)
    for cell in ((0, 0, 0, 0), (1, 2, 3, 4), (1, 0, 2, 1), (0, 1, 1, 3)):
        beta, dt, g, m = (axis[i] for axis, i in zip(found.axes.values(), cell))
        alone = cl.sweep(bead.set(g=g, m=m), [-1, 0], [0, 0], dt=dt, beta=beta, **arguments)
        assert alone.values.shape == () and alone.values == found.values[cell]
    assert len(np.unique(found.values[:, :, [0, 1, 3], 0])) == 18


def test_arrays_of_more_dimensions_are_the_grid(bead):
    common = dict(t_end=0.5, measure="max_position_residual")
    alpha, beta = np.array([1.0, 10.0, 50.0]), np.array([2.0, 20.0])
    outer = cl.sweep(bead, [-1, 0], [0, 0], dt=0.01, alpha=alpha, beta=beta, **common)
    mesh = np.meshgrid(alpha, beta, indexing="ij")
    for one, other in (mesh, (alpha[:, None], beta[None, :])):
        given = cl.sweep(bead, [-1, 0], [0, 0], dt=0.01, alpha=one, beta=other, **common)
        assert (given.values == outer.values).all() and given.axes["alpha"].shape == (3, 2)
    with pytest.raises(ValueError, match=r"shapes alpha \(3, 2\), beta \(2,\) do not say one grid"):
        cl.sweep(bead, [-1, 0], [0, 0], dt=0.01, alpha=mesh[0], beta=beta, **common)
    with pytest.raises(ValueError, match=r"do not fit together"):
        cl.sweep(bead, [-1, 0], [0, 0], dt=0.01, alpha=mesh[0], beta=mesh[1].T, **common)


def test_parameters_take_their_dependent_defaults_along_and_starts_can_differ(four_bar):
    system = four_bar[0].set(s3=0.1)
    cranks, masses = np.array([0.15, 0.2]), np.array([0.5, 1.0, 2.0])
    q0 = np.array([[system.set(a=a).assemble(theta2=0.3, branch="open") for _ in masses] for a in cranks])
    found = cl.sweep(system, q0, [0, 0, 0], t_end=0.3, dt=1e-3, a=cranks, m3=masses, measure="end_state")
    assert found.values.shape == (2, 3, 2, 3)
    for i, a in enumerate(cranks):
        for j, m3 in enumerate(masses):
            tr = cl.simulate(system.set(a=a, m3=m3), q0[i, j], [0, 0, 0], t_end=0.3, dt=1e-3)
            np.testing.assert_allclose(found.values[i, j], [tr.q[-1], tr.v[-1]], rtol=1e-13)
    with pytest.raises(cl.InconsistentStart, match=r"In cell \(0, 0\), a = 0.15, m3 = 0.5: The start is off"):
        cl.sweep(system, q0[1, 0], [0, 0, 0], t_end=0.3, dt=1e-3, a=cranks, m3=masses)


def test_singular_positions_end_a_run_as_in_simulate():
    """The change-point four-bar comes to its singular position, at any gain; at 0.2 s it has not yet."""
    system = cl.mechanisms.FourBar().system(b=0.4, c=0.3)
    q0 = system.assemble(theta2=1.0, branch="open")
    v0 = cl.project(system, q0, [-8.0, 0.0, 0.0])[1]
    tr = cl.simulate(system, q0, v0, t_end=0.5, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
    assert tr.stopped and "singular configuration" in tr.stopped
    common = dict(dt=1e-3, alpha=[10.0, 20.0], beta=20.0, measure="end_state")
    found = cl.sweep(system, q0, v0, t_end=0.5, **common)
    assert np.isinf(found.values).all() and found.reached[1] == tr.t[-1]
    before = cl.sweep(system, q0, v0, t_end=0.5 * tr.t[-1], **common)
    assert np.isfinite(before.values).all()


def test_redundant_constraints_can_be_left_out():
    system = cl.mechanisms.Parallelogram().system()
    q0, v0 = system.assemble(theta2=1.0, branch="parallel"), np.zeros(system.n)
    with pytest.raises(cl.SingularConfiguration):
        cl.sweep(system, q0, v0, t_end=0.2, dt=1e-3, alpha=[5.0, 20.0])
    common = dict(t_end=0.2, dt=1e-3, redundant="minimum_norm")
    found = cl.sweep(system, q0, v0, alpha=[5.0, 20.0], beta=20.0, measure="end_state", **common)
    for alpha, state in zip((5.0, 20.0), found.values):
        tr = cl.simulate(system, q0, v0, stabilize=cl.Baumgarte(alpha, 20.0), **common)
        np.testing.assert_allclose(state, [tr.q[-1], tr.v[-1]], rtol=1e-12, atol=1e-14)


def odd_bead(potential, force):
    (x, y), (vx, vy) = cl.coordinates("x y")
    return cl.Mechanism(
        "odd bead", coordinates=[x, y], velocities=[vx, vy], parameters={}, kinetic_energy=(vx**2 + vy**2) / 2,
        potential_energy=potential(x, y), forces=force(x, y, vx, vy), constraints={"on the circle": (x**2 + y**2 - 1, "m^2")},
    ).system()  # fmt: skip


def test_forces_with_cases_are_chosen_system_by_system():
    def friction(x, y, vx, vy):
        drag = sp.Piecewise((-vx, vx > 0.5), (-2 * vx, sp.And(vx < -0.5, y < 0)), (0, True))
        return [drag + sp.Min(0, -y, 0.3), sp.Max(-vy, -1) - sp.sign(vy) / 10 - sp.Abs(vy) * vy]

    system = odd_bead(lambda x, y: 10 * y, friction)
    for method in ("rk4", "semi_implicit_euler"):
        found = cl.sweep(
            system, [-1, 0], [0, 0], t_end=2.0, dt=[0.01, 0.02], alpha=10.0, beta=[5.0, 10.0], method=method, measure="end_state"
        )  # fmt: skip
        for (i, beta), (j, dt) in ((x, y) for x in enumerate((5.0, 10.0)) for y in enumerate((0.01, 0.02))):
            tr = cl.simulate(
                system, [-1, 0], [0, 0], t_end=2.0, dt=dt, method=method, stabilize=cl.Baumgarte(10.0, beta)
            )
            np.testing.assert_allclose(found.values[i, j], [tr.q[-1], tr.v[-1]], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_not_a_number_does_not_hide(measure):
    """The root has no value below the ground: each run ends there, and none of its numbers looks sound."""
    system = odd_bead(lambda x, y: 10 * sp.sqrt(y), lambda *_: [0, 0])
    start = [-0.6, 0.8], [0, 0]
    ended = cl.simulate(system, *start, t_end=2.0, dt=0.01, stabilize=cl.Baumgarte(5, 5))
    assert ended.stopped and ended.t[-1] < 2.0
    found = cl.sweep(system, *start, t_end=2.0, dt=0.01, alpha=[5.0, 10.0], beta=5.0, measure=measure)
    assert found.done.all() and (found.reached < 2.0).all() and found.reached[0] == ended.t[-1]
    assert not found.values.any() if measure == "stable" else np.isinf(found.values).all()


def test_stable_has_a_limit(bead):
    common = dict(t_end=1.0, dt=0.01, method="semi_implicit_euler", alpha=5.0, beta=[2.0, 10.0])
    residual = cl.sweep(bead, [-1, 0], [0, 0], measure="max_position_residual", **common).values
    scale = np.linalg.norm(bead.constraint_scale([-1, 0]))
    limit = residual.mean() / scale
    assert (
        cl.sweep(bead, [-1, 0], [0, 0], limit=limit, **common).values.tolist() == (residual < residual.mean()).tolist()
    )


def test_the_result_says_what_it_is(bead):
    common = dict(t_end=2.0, dt=0.02, method="semi_implicit_euler", alpha=[10.0, 50.0], beta=[10.0, 50.0])
    assert repr(cl.sweep(bead, [-1, 0], [0, 0], **common)) == (
        "bead on a circle, stable of 2 s of semi_implicit_euler over alpha (2 from 10 to 50) × beta (2 from 10 to 50): "
        "2 of 4 runs are stable."
    )
    text = repr(cl.sweep(bead, [-1, 0], [0, 0], measure="energy_error", **common))
    assert "runs reach 2 s. Their values lie between" in text and " J" in text
    assert "over" not in repr(cl.sweep(bead, [-1, 0], [0, 0], t_end=0.1, dt=0.01))


@pytest.mark.parametrize(
    "given, sentence",
    [
        (dict(alpha=[]), r"alpha has no values, shape \(0,\), so the grid has no cells"),
        (dict(dt=np.zeros((3, 0))), r"dt has no values, shape \(3, 0\)"),
        (dict(beta=[1.0, np.nan]), "beta contains a number that is not finite"),
        (dict(beta="much"), "beta = 'much' is not possible; it is a number or an array"),
        (dict(dt=[0.01, 0.0]), "dt = 0.0 is not possible; it is a time in seconds"),
        (dict(dt=[0.01, 2.0]), "dt = 2 s is longer than the run"),
        (dict(t_end=-1.0), "t_end = -1.0 is not possible"),
        (dict(method="rattle"), "method 'rattle' cannot be swept; choose one of 'explicit_euler'"),
        (dict(method="leapfrog"), "method 'leapfrog' is unknown"),
        (dict(measure="speed"), "measure 'speed' is unknown; choose one of 'stable'"),
        (dict(limit=0.0), "limit = 0.0 is not possible"),
        (dict(redundant="drop"), "redundant = 'drop' is unknown"),
        (dict(length=[1.0]), "has no parameter 'length'; it has m, R, g"),
        (dict(m=[1.0, -1.0]), "m = -1 kg is not possible; mass must be positive"),
        (dict(q0=[[-1.0, 0.0]] * 3), r"q0 has shape \(3, 2\); it is \(2,\), or the grid's shape and n, \(2, 2\)"),
        (dict(q0=[-1.0]), r"q0 has shape \(1,\)"),
        (dict(q0=[[np.nan, 0.0], [0.0, 1.0]]), "q0 contains a number that is not finite"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_bad_input_is_answered_in_a_sentence(bead, given, sentence):
    arguments = dict(q0=[-1, 0], v0=[0, 0], t_end=1.0, dt=0.01, alpha=[1.0, 2.0]) | given
    with pytest.raises(ValueError, match=sentence):
        cl.sweep(bead, **arguments)


@pytest.mark.skipif(not codegen.compiles(), reason="without numba there is one core, whatever is asked for")
@pytest.mark.parametrize("cores", [0, 1.5, "two"])
def test_cores_are_a_whole_number(bead, cores):
    with pytest.raises(ValueError, match="cores = .* is not possible"):
        cl.sweep(bead, [-1, 0], [0, 0], t_end=1.0, dt=0.01, cores=cores)


def test_a_start_that_cannot_be_run_raises(bead):
    with pytest.raises(cl.InconsistentStart, match="The start is off"):
        cl.sweep(bead, [-2, 0], [0, 0], t_end=1.0, dt=0.01, alpha=[1.0, 2.0])
    with pytest.raises(cl.SingularConfiguration):
        cl.sweep(bead, [0, 0], [0, 0], t_end=1.0, dt=0.01, alpha=[1.0, 2.0], consistent_start=False)
    found = cl.sweep(
        bead, [[0, 0], [-1, 0]], [0, 0], t_end=1.0, dt=0.01, alpha=[5.0, 5.0], beta=5.0, consistent_start=False
    )  # fmt: skip
    assert found.values.tolist() == [False, True] and found.reached.tolist() == [0.0, 1.0]


def test_an_interruption_keeps_what_is_done(bead, monkeypatch):
    """Control-C after the quick cells, in the middle of runs of ten million steps."""
    told = []

    def look(self, part):
        if part > 2e-3 and not told:
            told.append(part)
            _thread.interrupt_main()

    monkeypatch.setattr(progress.Progress, "__call__", look)
    arguments = dict(alpha=np.linspace(1.0, 20.0, 64), beta=20.0, measure="max_position_residual")
    found = cl.sweep(bead, [-1, 0], [0, 0], t_end=10.0, dt=[1e-2, 1e-6], cores=1, **arguments)
    assert told and found.done[:, 0].all() and not found.done[:, 1].any()
    quick = cl.sweep(bead, [-1, 0], [0, 0], t_end=10.0, dt=[1e-2], **arguments)
    assert (found.values[:, 0] == quick.values[:, 0]).all() and np.isnan(found.values[:, 1]).all()
    assert "Interrupted: 64 of 128 cells are not done." in repr(found)


def test_an_error_in_a_thread_is_raised(bead, monkeypatch):
    from chain_lib import sweeps

    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(sweeps._Plan, "_run_block", fail)
    with pytest.raises(MemoryError, match="no room"):
        cl.sweep(bead, [-1, 0], [0, 0], t_end=1.0, dt=0.01, alpha=[1.0, 2.0])


@pytest.mark.skipif(not codegen.compiles(), reason="without numba there is one core")
def test_cores_and_places_in_a_block_make_no_difference(wire):
    arguments = dict(
        t_end=1.0, dt=[0.01, 0.03], alpha=np.linspace(0, 120, 31), beta=np.linspace(0, 120, 7), measure="energy_error"
    )
    one = cl.sweep(wire, [0, -1], [1.2, 0], cores=1, **arguments)
    many = cl.sweep(wire, [0, -1], [1.2, 0], cores=5, **arguments)
    assert (one.values == many.values).all() and np.isinf(one.values).any() and np.isfinite(one.values).any()
    part = cl.sweep(wire, [0, -1], [1.2, 0], **arguments | dict(alpha=arguments["alpha"][17:18]))
    assert (part.values[0] == one.values[17]).all()


PLAIN = """
import sys
sys.modules["numba"] = None
import numpy as np
import chain_lib as cl
from chain_lib import codegen
wire = cl.mechanisms.BeadOnMovingCircle().system()
gains = [0.0, 20.0, 150.0, 400.0]
print(codegen.compiles())
for method in ("explicit_euler", "semi_implicit_euler", "rk4"):
    for measure in ("stable", "energy_error", "end_state"):
        found = cl.sweep(wire, [0, -1], [1.2, 0], t_end=0.5, dt=[0.005, 0.02], alpha=gains, beta=gains,
                         method=method, measure=measure, cores=3)
        print(*found.values.astype(float).ravel())
"""


def test_plain_numpy_gives_the_same_cells(tmp_path):
    environment = {**os.environ, "CHAIN_LIB_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "False" and done.stderr == ""
    gains, wire = [0.0, 20.0, 150.0, 400.0], cl.mechanisms.BeadOnMovingCircle().system()
    for method in ("explicit_euler", "semi_implicit_euler", "rk4"):
        for measure in ("stable", "energy_error", "end_state"):
            found = cl.sweep(
                wire, [0, -1], [1.2, 0], t_end=0.5, dt=[0.005, 0.02], alpha=gains, beta=gains, method=method, measure=measure
            )  # fmt: skip
            plain = np.array(lines.pop(0).split(), float)
            np.testing.assert_allclose(plain, found.values.astype(float).ravel(), rtol=1e-9, atol=1e-12)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_speaks_after_two_seconds_and_is_cleared(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    said = {}
    for quiet in ("0", "1"):
        monkeypatch.setenv("CHAIN_LIB_QUIET", quiet)
        monkeypatch.setattr(sys, "stderr", Terminal())
        clock[0] = 0.0
        with progress.Progress("sweep") as tell:
            for clock[0] in (1.0, 1.9):
                tell(0.2)
            assert sys.stderr.getvalue() == ""
            for clock[0] in (3.0, 3.1, 6.0):
                tell(clock[0] / 12)
        said[quiet] = sys.stderr.getvalue()
    assert said["1"] == ""
    lines = said["0"].split("\r\033[K")[1:]
    assert lines == ["sweep: 25 %, about 9 s left", "sweep: 50 %, about 6 s left", ""]


def test_progress_in_a_notebook_is_cleared(monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    class Watching(NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                shown.append(message["content"]["data"]["text/plain"])
            return super().process_message(message, cell, index)

    shown = []
    monkeypatch.setenv("CHAIN_LIB_QUIET", "0")
    source = (
        "from chain_lib import progress; progress.AFTER = 0.0; progress.EVERY = 0.0\n"
        "with progress.Progress('sweep') as tell:\n    tell(0.25); tell(0.5)"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    Watching(notebook, timeout=60).execute()
    assert [text.split(",")[0] for text in shown] == ["sweep: 25 %", "sweep: 50 %", ""]
