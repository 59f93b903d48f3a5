"""Generated code: the same numbers with and without numba, and a cache that knows when it is stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl
from chain_lib import codegen

ROOT = Path(__file__).parent.parent

RUN = """
import sys
{before}
import numpy as np
import chain_lib as cl
from chain_lib import codegen, derive
{patch}
np.set_printoptions(precision=17)
bead, wire = cl.mechanisms.BeadOnCircle().system(), cl.mechanisms.BeadOnMovingCircle().system()
starts = (bead, [-1, 0], [0, 0]), (wire, [0, -1], [1.2, 0])
for system, q, v in starts:
    for method in ("rk4", "semi_implicit_euler"):
        for stabilize in (None, cl.Baumgarte(20, 20), cl.Projection(), cl.Projection("euclidean", velocity=False)):
            tr = cl.simulate(system, q, v, t_end=0.05, dt=1e-3, method=method, stabilize=stabilize, torque=[0.1, 0.2])
            print(*tr.q[-1], *tr.v[-1], *tr.lam[-1], tr.energy_balance[-1])
print(codegen.compiles(), codegen.build_directory().name, flush=True)
"""


def run_fresh(cache, before="", patch="", cwd=ROOT, quiet="1"):
    """The output lines and stderr of `RUN` in a process of its own."""
    environment = {**os.environ, "CHAIN_LIB_CACHE": str(cache), "CHAIN_LIB_QUIET": quiet, "PYTHONPATH": str(cwd)}
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(before=before, patch=patch)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


NO_NUMBA = "sys.modules['numba'] = None"
NO_DERIVING = """
def refuse(*_):
    raise AssertionError("a warm start derives")
derive.inertia_matrix = derive.bias = derive.constraint_jacobian = derive.acceleration_part = refuse
if codegen.compiles():
    import numba.core.compiler
    numba.core.compiler.compile_extra = refuse
"""


def test_plain_numpy_and_numba_give_the_same_numbers(tmp_path):
    compiled, _ = run_fresh(tmp_path)
    plain, _ = run_fresh(tmp_path, before=NO_NUMBA)
    assert compiled[-1].split()[0] == str(codegen.compiles()) and plain[-1].startswith("False")
    for one, other in zip(compiled[:-1], plain[:-1], strict=True):
        np.testing.assert_allclose(*[np.array(line.split(), float) for line in (one, other)], rtol=1e-12, atol=1e-13)


def test_a_warm_start_neither_derives_nor_compiles(tmp_path):
    cold, message = run_fresh(tmp_path, quiet="0")
    assert message.count("deriving and compiling") == 1 and len(message.splitlines()) == 1
    warm, silence = run_fresh(tmp_path, patch=NO_DERIVING, quiet="0")
    assert warm == cold and silence == ""


def test_in_a_notebook_the_message_stands_in_the_cell_that_waits_and_is_cleared(tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    class Watching(NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                shown.append((index, message["msg_type"], message["content"]["data"]["text/plain"]))
            return super().process_message(message, cell, index)

    shown = []
    monkeypatch.setenv("CHAIN_LIB_CACHE", str(tmp_path))
    monkeypatch.setenv("CHAIN_LIB_QUIET", "0")
    cells = [
        f"import chain_lib as cl; cl.mechanisms.{name}().system()" for name in ("BeadOnCircle", "BeadOnMovingCircle")
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    Watching(notebook, timeout=60).execute()
    if codegen.compiles():
        for index in (0, 1):
            mine = [(kind, text) for at, kind, text in shown if at == index]
            assert mine[0][0] == "display_data" and "deriving and compiling" in mine[0][1]
            assert mine[-1] == ("update_display_data", "")
    for cell in notebook.cells:
        assert not any(output.get("name") == "stderr" for output in cell.outputs)


def test_quiet_means_no_line_on_stderr(tmp_path):
    assert run_fresh(tmp_path)[1] == ""


def test_a_change_of_derive_leads_to_a_rebuild(tmp_path):
    shutil.copytree(ROOT / "chain_lib", tmp_path / "copy" / "chain_lib", ignore=shutil.ignore_patterns("__pycache__"))
    before, _ = run_fresh(tmp_path / "cache", cwd=tmp_path / "copy")
    source = tmp_path / "copy" / "chain_lib" / "derive.py"
    text = source.read_text()
    assert text.count("2 * mixed") == 1
    source.write_text(text.replace("2 * mixed", "0 * mixed"))
    after, _ = run_fresh(tmp_path / "cache", cwd=tmp_path / "copy")
    assert before[:8] == after[:8], "the fixed circle has no mixed term"
    assert all(one != other for one, other in zip(before[8:-1], after[8:-1], strict=True))
    assert before[-1].split()[1] != after[-1].split()[1]


@pytest.mark.parametrize(
    "change",
    [
        dict(constraints={"on the circle": (sp.Symbol("x", real=True) - 1, "m^2")}),
        dict(constraints={"on the circle": (sp.Symbol("x", real=True) - 1, "m")}),
        dict(forces=[0, 1]),
        dict(potential_energy=0),
        dict(points={}),
    ],
)
def test_every_part_of_a_definition_is_in_its_key(change):
    q, v = cl.coordinates("x y")
    definition = dict(
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=v.dot(v) / 2,
        potential_energy=q[1],
        constraints={"on the circle": (q.dot(q) - 1, "m^2")},
        points={"bead": q},
    )
    one, other = cl.Mechanism("one", **definition), cl.Mechanism("other", **{**definition, **change})
    assert codegen._definition_key(one) != codegen._definition_key(other)
    assert codegen._definition_key(one) == codegen._definition_key(cl.Mechanism("another name", **definition))


def test_what_is_displayed_is_what_is_computed():
    """The numeric functions against the symbolic objects, for a mechanism with forces, time and functions."""
    q, v = cl.coordinates("x theta")
    k, c = sp.symbols("k c", positive=True)
    mechanism = cl.Mechanism(
        "a test",
        coordinates=q,
        velocities=v,
        parameters={k: (1.3, "N/m", "stiffness"), c: (0.2, "N s/m", "damping")},
        kinetic_energy=(2 + sp.cos(q[1])) * v[0] ** 2 / 2 + v[0] * v[1] * sp.sin(q[1]) / 3 + v[1] ** 2,
        potential_energy=k * q[0] ** 2 / 2 + sp.exp(q[1]),
        forces=[-c * v[0], -sp.tanh(v[1]) + sp.sin(cl.t)],
        constraints={"one": (sp.sqrt(1 + q[0] ** 2) - sp.atan2(q[1], 1 + cl.t), "m")},
    )
    system = mechanism.system()
    state = {**dict(zip(q, (0.3, 0.4))), **dict(zip(v, (-0.5, 0.6))), cl.t: 0.7, k: 1.3, c: 0.2}
    numbers = {
        "M": system.M([0.3, 0.4]),
        "h": system.h([0.3, 0.4], [-0.5, 0.6]),
        "f": system.forces([0.3, 0.4], [-0.5, 0.6], 0.7),
        "phi": system.phi([0.3, 0.4], 0.7),
        "J": system.J([0.3, 0.4], 0.7),
        "phi_t": system.phi_t([0.3, 0.4], 0.7),
        "gamma": system.gamma([0.3, 0.4], [-0.5, 0.6], 0.7),
    }
    for name, value in numbers.items():
        symbolic = np.array(getattr(mechanism, name).subs(state), dtype=float).reshape(value.shape)
        np.testing.assert_allclose(value, symbolic, rtol=1e-13, err_msg=name)
    energy = float((mechanism.kinetic_energy + mechanism.potential_energy).subs(state))
    assert system.energy([0.3, 0.4], [-0.5, 0.6]) == pytest.approx(energy, rel=1e-14)


def test_the_kernel_agrees_with_the_reference_solution():
    """One stage of the compiled code against `accelerations`, which solves the block system with LAPACK."""
    system = cl.mechanisms.BeadOnMovingCircle().system(m=2.0)
    q, v, t, tau = np.array([0.3, -0.9]), np.array([0.7, 0.2]), 0.4, np.array([0.5, -0.1])
    state, record = np.array([q, v, tau, 0 * q]), np.zeros(codegen.MULTIPLIERS + 1)
    assert system.code.accelerate(t, state, system.p, 0.0, 0.0, record)
    expected_a, expected_lam = cl.accelerations(system, q, v, tau, t)
    np.testing.assert_allclose(
        [*state[codegen.A], *record[codegen.MULTIPLIERS :]], [*expected_a, *expected_lam], rtol=1e-13
    )
    power = tau @ v - expected_lam @ system.phi_t(q, t)
    residual = system.phi(q, t)[0] ** 2, (system.J(q, t) @ v + system.phi_t(q, t))[0] ** 2
    np.testing.assert_allclose(record[:4], [*residual, system.energy(q, v), power], rtol=1e-12)


def test_a_cache_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHAIN_LIB_CACHE", str(tmp_path / "file"))
    directory = codegen.build_directory.__wrapped__()
    assert directory.is_dir() and tmp_path not in directory.parents


def test_an_expression_without_a_numeric_form_is_refused_in_a_sentence():
    q, v = cl.coordinates("x")
    unknown = sp.Function("g")(q[0])
    mechanism = cl.Mechanism(
        "a test", coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2, potential_energy=unknown
    )
    with pytest.raises(ValueError, match=r"a test: .*g\(.* has no numeric form; use functions"):
        mechanism.system()


def test_any_name_is_possible():
    q, v = cl.coordinates("x")
    name = 'a "quoted" \\ name\nwith """ in it'
    system = cl.Mechanism(name, coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2).system()
    assert system.M([0.0])[0, 0] == 2.0
