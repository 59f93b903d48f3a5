"""Speed, as ratios or budgets measured in one run; the figures are printed at the end of the test run."""

import os
import subprocess
import sys
import time
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
    for _ in range(3):
        lean, _ = used(lambda: numpy_sweep(alpha, beta, 1e-3, steps, with_energy=False))
        full, expected = used(lambda: numpy_sweep(alpha, beta, 1e-3, steps, with_energy=True))
        for measure, values in zip(("max_position_residual", "energy_error"), expected):
            ours, found = used(lambda: cl.sweep(bead, [-1, 0], [0, 0], t_end=10.0, measure=measure, **arguments))
            np.testing.assert_allclose(found.values.ravel(), values, rtol=1e-6)
        taken.append((lean, full, ours))
    lean, full, ours = np.median(taken, axis=0)
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
