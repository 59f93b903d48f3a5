"""Baumgarte's stability regions and steady offset; projections and their metric."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import chain_lib as cl
from chain_lib.stabilization import stability_limit


def jury(method, a, b):
    """Where a constraint error dies out, with a = αΔt and b = βΔt, by a criterion of its own."""
    if method == "explicit_euler":
        return (b**2 < 2 * a) & (4 * a < 4 + b**2)
    if method == "semi_implicit_euler":
        return (0 < a) & (a < 1) & (b**2 < 4 * (1 - a))
    root = np.sqrt((a**2 - b**2).astype(complex))
    return np.all([abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24) < 1 for z in (-a + root, -a - root)], axis=0)


def dies_out(method, a, b, doublings=17):
    """Whether the linear recursion of (φ, Δt φ̇) is small after 2¹⁷ steps: from both unit starts, and squared over and over."""
    one, zero = np.ones(a.shape), np.zeros(a.shape)
    columns = [one_step(method, *start, a, b) for start in ((one, zero), (zero, one))]
    power = np.moveaxis(np.array(columns), (1, 0), (-2, -1))
    with np.errstate(all="ignore"):
        for _ in range(doublings):
            power = power @ power
    return np.abs(power).max(axis=(-2, -1)) < 0.1


def one_step(method, x, y, a, b):
    def rate(x, y):
        return y, -2 * a * y - b**2 * x

    if method == "explicit_euler":
        return x + y, y + rate(x, y)[1]
    if method == "semi_implicit_euler":
        y = y + rate(x, y)[1]
        return x + y, y
    k1 = rate(x, y)
    k2 = rate(x + k1[0] / 2, y + k1[1] / 2)
    k3 = rate(x + k2[0] / 2, y + k2[1] / 2)
    k4 = rate(x + k3[0], y + k3[1])
    return tuple(s + (p + 2 * q + 2 * r + w) / 6 for s, p, q, r, w in zip((x, y), k1, k2, k3, k4))


@pytest.mark.parametrize("method", ["explicit_euler", "semi_implicit_euler", "rk4"])
def test_001_3_formula_and_recursion_agree_on_a_map(method):
    """Errata 001-3: on 200 × 200 gains they differ at most in cells on the edge; so does `growth_per_step`."""
    a, b = np.meshgrid((np.arange(200) + 0.5) * 3.0 / 200, (np.arange(200) + 0.5) * 3.2 / 200)
    formula = jury(method, a, b)
    assert 0.1 < formula.mean() < 0.6
    edge = np.zeros_like(formula)
    for axis in (0, 1):
        for shift in (1, -1):
            edge |= formula != np.roll(formula, shift, axis)
    for other in (dies_out(method, a, b), cl.growth_per_step(method, a, b, 1.0) < 1):
        assert not np.any((formula != other) & ~edge)
    for i, k in [(3, 5), (20, 40), (60, 30), (90, 120), (150, 80), (199, 199), (40, 180), (10, 120)]:
        alpha, beta = a[i, k], b[i, k]
        limit = stability_limit(method, alpha, beta)
        np.testing.assert_array_equal(
            jury(method, *np.outer([alpha, beta], limit * np.array([1e-3, 0.5, 0.999, 1.001]))),
            [True, True, True, False],
        )


def test_001_3_numbers():
    """Errata 001-3: the limits of single gains."""
    assert stability_limit("semi_implicit_euler", 10.0, 20.0) == pytest.approx(0.0618, abs=5e-5)
    assert stability_limit("semi_implicit_euler", 20.0, 20.0) * 20.0 == pytest.approx(2 * (np.sqrt(2) - 1), abs=1e-12)
    assert stability_limit("semi_implicit_euler", 20.0, 20.0) * 20.0 == pytest.approx(0.828, abs=5e-4)
    assert stability_limit("rk4", 20.0, 20.0) * 20.0 == pytest.approx(2.785, abs=5e-4)
    beta = np.geomspace(0.1, 100, 50)
    assert (cl.growth_per_step("explicit_euler", 0.0, beta, 1e-3) > 1).all(), "explicit Euler needs damping"
    assert stability_limit("explicit_euler", 0.0, 5.0) == 0.0


def test_001_4_ten_and_twenty_are_underdamped():
    """Errata 001-4: α = 10/s, β = 20/s overshoots by 16.3 %; β = α does not."""
    dt = 1e-3

    def deepest(alpha, beta):
        x, y, smallest = 1.0, 0.0, 1.0
        for _ in range(2000):
            x, y = one_step("rk4", x, y, alpha * dt, beta * dt)
            smallest = min(smallest, x)
        return smallest

    assert deepest(10, 20) == pytest.approx(-0.163, abs=5e-4)
    assert deepest(20, 20) > 0


@given(st.sampled_from(["explicit_euler", "semi_implicit_euler", "rk4"]), st.floats(0.1, 200), st.floats(0.1, 200))
def test_the_stability_limit_is_where_growth_passes_one(method, alpha, beta):
    limit = stability_limit(method, alpha, beta)
    assert (
        cl.growth_per_step(method, alpha, beta, 0.999 * limit)
        < 1
        < cl.growth_per_step(method, alpha, beta, 1.001 * limit)
    )


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("beta", [10.0, 20.0, 40.0])
def test_the_limit_is_seen_in_the_nonlinear_run(bead, method, beta):
    limit = stability_limit(method, 20.0, beta)
    free = bead.set(g=0.0)
    start = [1.0 + 1e-6, 0.0], [0.0, 1e-3]
    ends = []
    for dt in (0.97 * limit, 1.03 * limit):
        tr = cl.simulate(
            free,
            *start,
            t_end=400 * limit,
            dt=dt,
            method=method,
            stabilize=cl.Baumgarte(20.0, beta),
            consistent_start=False,
        )
        ends.append(tr.position_residual[-1] / tr.position_residual[0])
    assert ends[0] < 0.5 and ends[1] > 2.0


def test_001_5_the_feedback_settles_at_an_offset(bead):
    """Errata 001-5: with semi-implicit Euler φ settles at −2αΔt|v|²/β², not at zero."""
    free = bead.set(g=0.0)
    for dt, measured in ((1e-3, -4.5020e-4), (2e-3, -9.0082e-4)):
        tr = cl.simulate(
            free, [1, 0], [0, 3.0], t_end=10.0, dt=dt, method="semi_implicit_euler", stabilize=cl.Baumgarte(10, 20)
        )
        offset = free.phi(tr.q[-1])[0]
        assert offset == pytest.approx(-2 * 10 * dt * 9.0 / 400, rel=5e-3)
        assert offset == pytest.approx(measured, rel=1e-3)


def test_projection_keeps_both_residuals_at_rounding(wire):
    tr = cl.simulate(wire, [0, -1], [1.2, 0], t_end=2.0, dt=0.01, stabilize=cl.Projection())
    assert tr.position_residual.max() < 1e-14 and tr.velocity_residual.max() < 2e-14


@pytest.mark.parametrize("what", ["position", "velocity"])
def test_a_projection_can_act_on_one_level_alone(bead, what):
    tr = cl.simulate(
        bead,
        [-1, 0],
        [0, 0],
        t_end=5.0,
        dt=0.02,
        stabilize=cl.Projection(position=what == "position", velocity=what == "velocity"),
    )
    kept, drifting = tr.position_residual.max(), tr.velocity_residual.max()
    if what == "velocity":
        kept, drifting = drifting, kept
    assert kept < 1e-13 and drifting > 1e-6


def heavy_in_y():
    """A point on a circle whose inertia is 1 kg along x and 5 kg along y."""
    q, v = cl.coordinates("x y")
    return cl.Mechanism(
        "anisotropic point",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=(v[0] ** 2 + 5 * v[1] ** 2) / 2,
        constraints={"circle": (q[0] ** 2 + q[1] ** 2 - sp.Integer(1), "m^2")},
    ).system()


def test_001_10_the_metric_of_a_projection_is_physics():
    """Errata 001-10: the velocity change of a projection lies along M⁻¹Jᵀ in the metric of M, along Jᵀ in the plain one."""
    system = heavy_in_y()
    q, v = np.array([0.6, 0.8]), np.array([1.0, 1.0])
    for metric, direction in (("mass", np.array([0.6, 0.8 / 5])), ("euclidean", q)):
        _, projected = cl.project(system, q, v, metric=metric)
        change = projected - v
        assert abs(system.J(q) @ projected)[0] < 1e-14
        assert abs(change[0] * direction[1] - change[1] * direction[0]) < 1e-14 and np.linalg.norm(change) > 0.5
    _, by_mass = cl.project(system, q, v, metric="mass")
    lost = v - by_mass
    assert abs(by_mass @ system.M(q) @ lost) < 1e-14, "the lost part is orthogonal in the metric of M"


@given(st.floats(0.5, 2.0), st.floats(-3.1, 3.1), st.tuples(st.floats(-2, 2), st.floats(-2, 2)), st.floats(0, 1))
def test_project_returns_a_consistent_state(distance, angle, v, t):
    wire = cl.mechanisms.BeadOnMovingCircle().system()
    q = [distance * np.cos(angle) + 0.3 * np.sin(4 * t), distance * np.sin(angle)]
    q, v = cl.project(wire, q, v, t=t)
    assert abs(wire.phi(q, t))[0] < 1e-14
    assert abs(wire.J(q, t) @ v + wire.phi_t(q, t))[0] < 1e-13
    assert np.arctan2(q[1], q[0] - 0.3 * np.sin(4 * t)) == pytest.approx(angle, abs=1e-12), "nearest point of a circle"


def test_project_says_when_it_cannot(bead):
    with pytest.raises(cl.SingularConfiguration, match="singular configuration near"):
        cl.project(bead, [0, 0], [1, 0])
    q, v = cl.coordinates("x")
    never = cl.Mechanism(
        "impossible",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=v[0] ** 2,
        constraints={"c": (q[0] ** 2 + 1, "m^2")},
    ).system()
    with pytest.raises(ArithmeticError, match="did not arrive in 30 steps: its residual is"):
        cl.project(never, [0.7], [0.0])


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: cl.Baumgarte(float("nan"), 1), "Baumgarte's alpha = nan is not possible"),
        (lambda: cl.Baumgarte(1, "b"), "Baumgarte's beta = 'b' is not possible"),
        (lambda: cl.Projection("energy"), "metric 'energy' is unknown; choose 'mass' or 'euclidean'"),
        (lambda: cl.Projection(position=False, velocity=False), "would do nothing"),
        (lambda: cl.growth_per_step("rattle", 1, 1, 1), "stability region of 'rattle' is not known"),
    ],
)
def test_impossible_remedies_are_refused_in_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
