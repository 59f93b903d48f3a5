"""Speed, as ratios or budgets measured in one run; the figures are printed at the end of the test run."""

import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import chain_lib as cl
from chain_lib import codegen
from chain_lib.explore.live import Renderer

ROOT = Path(__file__).parent.parent.parent
needs_numba = pytest.mark.skipif(
    not codegen.compiles(), reason="numba is not installed: compiled speed cannot be measured"
)


def typical_run(steps, dt, m=1.0, g=9.81, R=1.0, alpha=20.0, beta=20.0):
    """The bead as one finds it written: small functions, small NumPy arrays, a dense solve, semi-implicit Euler."""

    def phi(q):
        x, y = q
        return x * x + y * y - R * R

    def jacobian(q):
        x, y = q
        return np.array([[2 * x, 2 * y]])

    def jacobian_rate(v):
        vx, vy = v
        return np.array([[2 * vx, 2 * vy]])

    def step(q, v):
        J = jacobian(q)
        K = np.zeros((3, 3))
        K[:2, :2] = m * np.eye(2)
        K[:2, 2] = -J[0]
        K[2, :2] = J[0]
        right = np.zeros(3)
        right[:2] = -np.array([0.0, m * g])
        right[2] = -jacobian_rate(v).dot(v)[0] - 2 * alpha * J.dot(v)[0] - beta**2 * phi(q)
        v = v + dt * np.linalg.solve(K, right)[:2]
        return q + dt * v, v

    q, v = np.array([-1.0, 0.0]), np.zeros(2)
    stored = []
    for _ in range(steps):
        stored.append(q.copy())
        q, v = step(q, v)
    return np.array(stored)


def seconds(function, repeat):
    """The median time of some calls, after one that is not counted."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


@needs_numba
def test_rk4_against_the_typical_numpy_step(bead, report):
    """10 s of the bead at 1 ms: RK4 with Baumgarte, gauges and all, against 10 000 typical first-order steps."""

    def ours():
        cl.simulate(bead, [-1, 0], [0, 0], t_end=10.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))

    interleaved = [(seconds(lambda: typical_run(10_000, 1e-3), 1), seconds(ours, 15)) for _ in range(3)]
    slow, fast = np.median(interleaved, axis=0)
    report(
        f"bead, 10 s at 1 ms: RK4 {1e3 * fast:.1f} ms, typical NumPy step {1e3 * slow:.0f} ms, ratio {slow / fast:.0f}"
    )
    assert slow / fast >= 50


def typical_four_bar(q, v, steps, dt, a, b, c, d, m=1.0, g=9.81, alpha=20.0, beta=20.0):
    """The four-bar as one finds it written: small functions, small NumPy arrays, a dense KKT solve, RK4."""

    def phi(q):
        th2, th3, th4 = q
        return np.array([
            a * np.cos(th2) + b * np.cos(th3) - d - c * np.cos(th4),
            a * np.sin(th2) + b * np.sin(th3) - c * np.sin(th4),
        ])  # fmt: skip

    def jacobian(q):
        th2, th3, th4 = q
        return np.array([
            [-a * np.sin(th2), -b * np.sin(th3), c * np.sin(th4)],
            [a * np.cos(th2), b * np.cos(th3), -c * np.cos(th4)],
        ])  # fmt: skip

    def jacobian_rate(q, v):
        th2, th3, th4 = q
        return np.array([
            [-a * np.cos(th2) * v[0], -b * np.cos(th3) * v[1], c * np.cos(th4) * v[2]],
            [-a * np.sin(th2) * v[0], -b * np.sin(th3) * v[1], c * np.sin(th4) * v[2]],
        ])  # fmt: skip

    def mass_matrix(q):
        th2, th3, _ = q
        coupling = m * a * b * np.cos(th2 - th3) / 2
        return np.array([
            [m * a**2 * (1 / 3 + 1), coupling, 0.0],
            [coupling, m * b**2 / 3, 0.0],
            [0.0, 0.0, m * c**2 / 3],
        ])  # fmt: skip

    def bias(q, v):
        th2, th3, th4 = q
        coriolis = m * a * b * np.sin(th2 - th3) / 2 * np.array([v[1] ** 2, -(v[0] ** 2), 0.0])
        gravity = m * g * np.array([1.5 * a * np.cos(th2), b / 2 * np.cos(th3), c / 2 * np.cos(th4)])
        return coriolis + gravity

    def acceleration(q, v):
        J = jacobian(q)
        K = np.zeros((5, 5))
        K[:3, :3] = mass_matrix(q)
        K[:3, 3:] = -J.T
        K[3:, :3] = J
        right = np.zeros(5)
        right[:3] = -bias(q, v)
        right[3:] = -jacobian_rate(q, v).dot(v) - 2 * alpha * J.dot(v) - beta**2 * phi(q)
        return np.linalg.solve(K, right)[:3]

    stored = []
    for _ in range(steps):
        stored.append((q.copy(), v.copy()))
        q, v = rk4(acceleration, q, v, dt)
    return np.array([q, v])


def rk4(acceleration, q, v, dt):
    """One step, for functions that return a new array."""
    k1 = acceleration(q, v)
    v2 = v + dt / 2 * k1
    k2 = acceleration(q + dt / 2 * v, v2)
    v3 = v + dt / 2 * k2
    k3 = acceleration(q + dt / 2 * v2, v3)
    v4 = v + dt * k3
    k4 = acceleration(q + dt * v3, v4)
    return q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def pinocchio_four_bar(pin, q, v, steps, dt, a, b, c, d, gain=20.0):
    """The same run by Pinocchio: arm A–B–C and rocker, closed at C; its joint angle at B is θ₃ − θ₂."""
    model = pin.Model()
    model.gravity.linear = np.array([0, -9.81, 0])

    def at(x):
        return pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))

    def rod(parent, x, length, name):
        joint = model.addJoint(parent, pin.JointModelRZ(), at(x), name)
        about_centre = np.diag([0.0, length**2 / 12, length**2 / 12])
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([length / 2, 0, 0]), about_centre), at(0))
        return joint

    coupler, rocker = rod(rod(0, 0.0, a, "A"), a, b, "B"), rod(0, d, c, "D")
    loop = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, coupler, at(b), rocker, at(c), pin.ReferenceFrame.LOCAL
    )
    loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(gain**2, 2 * gain))
    loops, loop_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    loops.append(loop)
    loop_data.append(loop.createData())
    data, tau = model.createData(), np.zeros(3)
    pin.initConstraintDynamics(model, data, loops, loop_data)
    once = pin.ProximalSettings(1e-12, 1e-12, 1)  # the third row of the closure is zero in the plane

    def acceleration(q, v):
        return pin.constraintDynamics(model, data, q, v, tau, loops, loop_data, once).copy()

    q, v = (np.array([x[0], x[1] - x[0], x[2]]) for x in (q, v))
    for _ in range(steps):
        q, v = rk4(acceleration, q, v, dt)
    return np.array([[x[0], x[0] + x[1], x[2]] for x in (q, v)])


@pytest.fixture(scope="module")
def four_bar():
    """A run of 10 s by this library, that of a peer from the same start, and the end of the first."""
    lengths = dict(a=0.2, b=0.5, c=0.4, d=0.45)
    system = cl.mechanisms.FourBar().system(**lengths)
    q0, v0 = system.assemble("open", theta2=np.deg2rad(10)), np.zeros(3)

    def ours():
        return cl.simulate(system, q0, v0, t_end=10.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))

    tr = ours()
    return ours, lambda peer, *more: peer(*more, q0, v0, 10_000, 1e-3, **lengths), np.array([tr.q[-1], tr.v[-1]])


@needs_numba
def test_the_four_bar_against_the_typical_numpy_kkt_step(four_bar, report):
    """10 s at 1 ms, both by RK4 with gains of 20/s; ours with all gauges."""
    ours, run, end = four_bar
    np.testing.assert_allclose(run(typical_four_bar), end, atol=1e-9)
    interleaved = [(seconds(lambda: run(typical_four_bar), 1), seconds(ours, 15)) for _ in range(3)]
    slow, fast = np.median(interleaved, axis=0)
    report(
        f"four-bar, 10 s at 1 ms by RK4: {1e3 * fast:.1f} ms, typical NumPy KKT step {1e3 * slow:.0f} ms, "
        f"ratio {slow / fast:.0f}"
    )
    assert slow / fast >= 80


@needs_numba
def test_the_four_bar_against_pinocchio(four_bar, report):
    """The same run by `constraintDynamics`, driven from Python."""
    if not os.environ.get("CI"):
        pytest.importorskip("pinocchio", reason="Pinocchio is not installed; the extra 'peers' has it")
    pin = import_module("pinocchio")
    ours, run, end = four_bar
    np.testing.assert_allclose(run(pinocchio_four_bar, pin), end, atol=1e-8)
    interleaved = [(seconds(lambda: run(pinocchio_four_bar, pin), 3), seconds(ours, 15)) for _ in range(5)]
    slow, fast = np.median(interleaved, axis=0)
    report(
        f"four-bar, 10 s at 1 ms by RK4: {1e3 * fast:.1f} ms, Pinocchio {pin.__version__} {1e3 * slow:.0f} ms, "
        f"ratio {slow / fast:.0f}"
    )
    assert slow / fast >= 12


def numpy_sweep(alpha, beta, dt, steps, with_energy, m=1.0, g=9.81, R=1.0):
    """Many beads at once, as NumPy arrays: semi-implicit Euler with λ in closed form; the largest |φ| of each, and
    the largest error of the energy."""
    x, y = np.full_like(alpha, -1.0), np.zeros_like(alpha)
    vx, vy = np.zeros_like(alpha), np.zeros_like(alpha)
    worst, lost = np.zeros_like(alpha), np.zeros_like(alpha)
    for _ in range(steps + 1):  # the last state is looked at too
        phi = x * x + y * y - R * R
        squared_speed = vx * vx + vy * vy
        np.maximum(worst, np.abs(phi), out=worst)
        if with_energy:
            np.maximum(lost, np.abs(0.5 * m * squared_speed + m * g * y), out=lost)
        rate = 2 * (x * vx + y * vy)
        wanted = -2 * squared_speed - 2 * alpha * rate - beta * beta * phi
        lam = (wanted + 2 * g * y) * m / (4 * (x * x + y * y))
        vx += dt * 2 * x * lam / m
        vy += dt * (2 * y * lam / m - g)
        x += dt * vx
        y += dt * vy
    return worst, lost


@needs_numba
def test_a_sweep_against_vectorised_numpy(bead, report):
    """1e8 steps of 10 000 beads over a grid of gains, on one core each, by processor time; NumPy keeps as much as we do."""
    gains, steps = np.linspace(1.0, 100.0, 100), 10_000
    alpha, beta = (x.ravel() for x in np.meshgrid(gains, gains, indexing="ij"))
    arguments = dict(dt=1e-3, method="semi_implicit_euler", alpha=gains, beta=gains, cores=1)
    cl.sweep(bead, [-1, 0], [0, 0], t_end=0.01, **arguments)

    def used(function):
        start = time.process_time()
        result = function()
        return time.process_time() - start, result

    taken = []
    for _ in range(5):
        lean, _ = used(lambda: numpy_sweep(alpha, beta, 1e-3, steps, with_energy=False))
        full, expected = used(lambda: numpy_sweep(alpha, beta, 1e-3, steps, with_energy=True))
        for measure, values in zip(("max_position_residual", "energy_error"), expected):
            ours, found = used(lambda: cl.sweep(bead, [-1, 0], [0, 0], t_end=10.0, measure=measure, **arguments))
            np.testing.assert_allclose(found.values.ravel(), values, rtol=1e-6)
        taken.append((lean, full, ours))
    lean, full, ours = np.min(taken, axis=0)  # what else the computer does only adds to each
    report(
        f"1e8 bead steps over a 100 × 100 grid of gains, one core: sweep {ours:.2f} s, vectorised NumPy {full:.2f} s, "
        f"ratio {full / ours:.1f}; NumPy that looks at φ alone {lean:.2f} s, ratio {lean / ours:.1f}"
    )
    assert full / ours >= 5


def test_render_and_encode_the_drift_explorer(report):
    explorer = cl.explore.drift()
    renderer = Renderer(explorer)
    result = explorer.compute(**explorer.complete(dict(dt=1e-3)))
    median = seconds(lambda: renderer.png(result), 40)
    report(f"drift explorer, four axes: render and encode {1e3 * median:.0f} ms")
    assert median <= 0.030


def test_compute_of_the_drift_explorer_at_its_slowest(report):
    explorer = cl.explore.drift()
    values = explorer.complete(dict(dt=1e-3, projection="position and velocity"))
    median = seconds(lambda: explorer.compute(**values), 10)
    report(f"drift explorer: slowest computation {1e3 * median:.0f} ms")
    assert median <= 0.050 or not codegen.compiles()


FIRST_RUN = """
import time
start = time.perf_counter()
import {imports}
{numba_start}
ready = time.perf_counter()
import chain_lib as cl
imported = time.perf_counter()
bead = cl.mechanisms.BeadOnCircle().system()
cl.simulate(bead, [-1, 0], [0, 0], t_end=1.0, dt=1e-3)
done = time.perf_counter()
print(ready - start, imported - ready, done - ready, done - start)
"""
NUMBA_START = """
@numba.njit(numba.float64(numba.float64), cache=True)
def nothing(x):
    return x
nothing(1.0)
"""


def fresh(cache, tmp_path, baseline=True):
    """Times (s) in a new process: packages and numba's own start, import of chain_lib, our share, all."""
    environment = {
        **os.environ,
        "CHAIN_LIB_CACHE": str(cache),
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    script = tmp_path / f"first_run_{baseline}.py"
    imports, start = ("numpy, sympy, numba", NUMBA_START) if baseline else ("sys", "")
    script.write_text(FIRST_RUN.format(imports=imports, numba_start=start))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return np.array(done.stdout.split(), dtype=float)


@needs_numba
def test_start_up(tmp_path, report):
    fresh(tmp_path / "other", tmp_path)  # byte code of all packages
    cold = fresh(tmp_path / "cache", tmp_path, baseline=False)[3]
    warm = np.median([fresh(tmp_path / "cache", tmp_path, baseline=False) for _ in range(3)], axis=0)
    share = np.median([fresh(tmp_path / "cache", tmp_path) for _ in range(3)], axis=0)[2]
    report(
        f"start-up: import chain_lib {warm[1]:.3f} s; first simulation with a warm cache {warm[3]:.2f} s, "
        f"of which {share:.2f} s beyond the packages and numba's start; cold {cold:.1f} s"
    )
    assert warm[1] <= 0.5 and warm[3] <= 2.5 and share <= 0.3 and cold < 15
