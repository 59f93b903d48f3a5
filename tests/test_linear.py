"""The KKT system: its solution in both forms, and the report where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chain_lib.linear import RANK_TOLERANCE, SingularConfiguration, constraint_rank, ldlt_lines, null_space, solve_kkt

entries = st.floats(-3, 3).map(lambda value: round(value, 2))


@st.composite
def problems(draw):
    """M positive definite and J of full row rank, both with zeros, and a right side."""
    n = draw(st.integers(1, 6))
    m = draw(st.integers(0, n - 1))
    root = draw(arrays(float, (n, n), elements=entries))
    J = draw(arrays(float, (m, n), elements=entries))
    J[np.arange(m), np.arange(m)] = 4.0 + np.abs(J).sum(axis=1)
    r, s = draw(arrays(float, n, elements=entries)), draw(arrays(float, m, elements=entries))
    return root @ root.T + np.eye(n), J, r, s


def unrolled(M, J, sides, units=None, drop=0.0):
    """Run the lines of `ldlt_lines` for given numbers; None where they report a singular system."""
    return run_lines(M, J, sides, units, drop)[0]


def run_lines(M, J, sides, units=None, drop=0.0):
    """The solutions, or None, and the regularity."""
    numbers = {}

    def names(label, matrix):
        for index, value in np.ndenumerate(matrix):
            numbers[f"{label}_{'_'.join(map(str, index))}"] = value
        shape = [
            [f"{label}_{i}_{j}" if matrix[i, j] else "0" for j in range(matrix.shape[1])] for i in range(len(matrix))
        ]
        return shape

    rows = [
        ([f"r{c}_{i}" for i in range(len(r))], [f"s{c}_{k}" for k in range(len(s))]) for c, (r, s) in enumerate(sides)
    ]
    for c, (r, s) in enumerate(sides):
        numbers |= {f"r{c}_{i}": value for i, value in enumerate(r)} | {f"s{c}_{k}": value for k, value in enumerate(s)}
    N = len(M) + len(J)
    result = "[" + ", ".join("[" + ", ".join(f"x{c}_{i}" for i in range(N)) + "]" for c in range(len(sides))) + "]"
    lines = [
        *ldlt_lines(names("M", M), names("J", J), rows, units or ["m"] * len(J), repr(drop)),
        f"return {result}, regularity",
    ]
    source = f"def solve({', '.join(numbers)}):\n" + "\n".join(f"    {line}" for line in lines)
    scope = {}
    exec(source, scope)
    solution = scope["solve"](**numbers)
    return (None, None) if solution is False else (np.array(solution[0]), solution[1])


@given(problems())
def test_both_solutions_fulfil_the_two_equations(problem):
    M, J, r, s = problem
    n = len(M)
    a, lam = solve_kkt(M, J, r, s)
    first, second = unrolled(M, J, [(r, s), (2 * r, -s)])
    tolerance = 1e-9 * (1 + np.abs(a).max() + np.abs(lam).sum())
    np.testing.assert_allclose(M @ a - J.T @ lam, r, atol=tolerance)
    np.testing.assert_allclose(J @ a, s, atol=tolerance)
    np.testing.assert_allclose(first, [*a, *lam], atol=tolerance)
    np.testing.assert_allclose(M @ second[:n] - J.T @ second[n:], 2 * r, atol=tolerance)
    np.testing.assert_allclose(J @ second[:n], -s, atol=tolerance)


@given(problems(), st.integers(-6, 6), st.integers(-6, 6))
def test_the_rank_depends_neither_on_units_nor_on_masses(problem, mass_exponent, unit_exponent):
    M, J, r, s = problem
    scaled = 10.0**mass_exponent * M, 10.0**unit_exponent * J
    assert constraint_rank(*scaled) == len(J)
    assert unrolled(*scaled, [(r, s)]) is not None
    if len(J):
        twice = np.vstack([J, J[:1]])
        assert constraint_rank(scaled[0], 10.0**unit_exponent * twice) == len(J)
        assert unrolled(scaled[0], 10.0**unit_exponent * twice, [(r, [*s, 0.0])]) is None


@pytest.mark.parametrize("angle, rank", [(100 * RANK_TOLERANCE, 2), (RANK_TOLERANCE / 100, 1)])
def test_two_nearly_parallel_gradients_are_judged_by_the_stated_tolerance(angle, rank):
    M, J = np.diag([1.0, 2.0, 3.0]), np.array([[1.0, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    assert constraint_rank(M, J) == rank
    assert (unrolled(M, J, [(np.ones(3), np.ones(2))]) is not None) == (rank == 2)


def test_rows_of_different_units_are_not_compared():
    M, J = np.eye(2), np.array([[1.0, 0.0], [0.0, 1e-9]])
    assert constraint_rank(M, J, ["m", "rad"]) == 2 and constraint_rank(M, J, ["m", "m"]) == 1
    side = [(np.ones(2), np.ones(2))]
    assert unrolled(M, J, side, ["m", "rad"]) is not None and unrolled(M, J, side, ["m", "m"]) is None


def test_rank_loss_is_an_error_that_tells_the_rank():
    with pytest.raises(SingularConfiguration, match="rank 1 of 2") as error:
        solve_kkt(np.eye(3), [[1, 0, 0], [2, 0, 0]], np.zeros(3), [0, 1])
    assert (error.value.rank, error.value.rows) == (1, 2)


def test_a_free_direction_without_inertia_is_an_error():
    with pytest.raises(SingularConfiguration, match="inertia is 0"):
        solve_kkt(np.diag([1.0, 0.0]), [[1.0, 0.0]], [0, 0], [0])


def test_inertia_may_be_missing_where_the_constraints_hold():
    a, lam = solve_kkt(np.diag([1.0, 0.0]), [[0.0, 1.0]], [3.0, 5.0], [2.0])
    np.testing.assert_allclose([*a, *lam], [3.0, 2.0, -5.0], atol=1e-14)


@given(problems())
def test_null_space_is_orthonormal_and_annihilated(problem):
    _, J, _, _ = problem
    Z = null_space(J)
    assert Z.shape == (J.shape[1], J.shape[1] - len(J))
    np.testing.assert_allclose(J @ Z, np.zeros((len(J), Z.shape[1])), atol=1e-12 * (1 + np.abs(J).sum()))
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-13)


@given(problems(), st.integers(0, 5), st.floats(-2, 2))
def test_a_constraint_that_depends_on_others_is_left_out_when_that_is_allowed(problem, which, factor):
    """Accelerations and Jᵀλ are those of the shortest λ; the constraint left out has λ = 0."""
    M, J, r, s = problem
    if not len(J):
        return
    n, m = len(M), len(J)
    which %= m
    J, s = np.vstack([J, J[which] + factor * J[0]]), np.append(s, s[which] + factor * s[0])
    assert unrolled(M, J, [(r, s)]) is None
    left = unrolled(M, J, [(r, s)], drop=1e-8)[0]
    a, lam = solve_kkt(M, J, r, s, redundant="minimum_norm")
    tolerance = 1e-8 * (1 + np.abs(a).max() + np.abs(lam).sum())
    np.testing.assert_allclose(left[:n], a, atol=tolerance)
    np.testing.assert_allclose(J.T @ left[n:], J.T @ lam, atol=tolerance * np.abs(J).sum())
    assert left[-1] == 0.0 or np.abs(J[-1]).max() > np.abs(J[:-1]).max()
    assert np.linalg.norm(lam) <= np.linalg.norm(left[n:]) + tolerance
    np.testing.assert_allclose(M @ a - J.T @ lam, r, atol=tolerance)


@pytest.mark.parametrize("angle", [1e-1, 1e-3, 1e-5])
def test_regularity_is_the_squared_distance_of_a_gradient_from_the_others(angle):
    M, J = np.eye(3), np.array([[1.0, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    side = [(np.ones(3), np.ones(2))]
    assert run_lines(M, J, side)[1] == pytest.approx(np.sin(angle) ** 2, rel=1e-5)
    dropped, regularity = run_lines(M, J, side, drop=1e-8)
    if angle > 1e-4:
        assert regularity == pytest.approx(np.sin(angle) ** 2, rel=1e-5) and dropped[0, 4] != 0
    else:
        assert regularity == pytest.approx(1.0) and dropped[0, 4] == 0.0


def test_regularity_does_not_depend_on_masses_or_units_and_is_one_without_constraints():
    J = np.array([[1.0, 0, 0], [1.0, 0.1, 0]])
    side = [(np.ones(3), np.ones(2))]
    expected = run_lines(np.eye(3), J, side)[1]
    assert run_lines(1e3 * np.eye(3), 1e-4 * J, side)[1] == pytest.approx(expected)
    assert run_lines(np.eye(3), J * [[1.0], [1e5]], side, ["m", "rad"])[1] < 1
    assert run_lines(np.eye(2), np.zeros((0, 2)), [(np.ones(2), [])])[1] == 1.0


def test_constraints_that_contradict_each_other_are_refused_and_rounding_is_not():
    M, J = np.eye(3), np.array([[1.0, 0, 0], [2.0, 0, 0]])
    for s, sound in (([1.0, 2.0], True), ([1.0, 2.0 + 1e-9], True), ([1.0, 2.001], False), ([0.0, 1e-3], False)):
        if sound:
            a, _ = solve_kkt(M, J, np.zeros(3), s, redundant="minimum_norm")
            np.testing.assert_allclose(a, [1.0, 0, 0], atol=1e-8)
        else:
            with pytest.raises(SingularConfiguration, match="contradict each other: the Jacobian has rank 1 of 2"):
                solve_kkt(M, J, np.zeros(3), s, redundant="minimum_norm")
    coupled = np.array([[1.0, 1.0, 0], [1.0, 1.0, 0]])
    a, _ = solve_kkt(M, coupled, [3.0, -3.0, 0], [0.0, 1e-17], redundant="minimum_norm")
    np.testing.assert_allclose(a, [3.0, -3.0, 0], atol=1e-14)


def test_minimum_norm_needs_inertia_along_free_directions_too():
    with pytest.raises(SingularConfiguration, match="inertia is 0"):
        solve_kkt(np.diag([1.0, 0.0]), [[1.0, 0.0], [2.0, 0.0]], [0, 0], [0, 0], redundant="minimum_norm")


def test_null_space_of_a_given_rank():
    J = np.array([[1.0, 0, 0], [2.0, 0, 0]])
    Z = null_space(J, 1)
    assert Z.shape == (3, 2)
    np.testing.assert_allclose(J @ Z, np.zeros((2, 2)), atol=1e-15)
