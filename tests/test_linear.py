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


def unrolled(M, J, sides, units=None):
    """Run the lines of `ldlt_lines` for given numbers; None where they report a singular system."""
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
    lines = [*ldlt_lines(names("M", M), names("J", J), rows, units or ["m"] * len(J), "0.0"), f"return {result}"]
    source = f"def solve({', '.join(numbers)}):\n" + "\n".join(f"    {line}" for line in lines)
    scope = {}
    exec(source, scope)
    solution = scope["solve"](**numbers)
    return None if solution is False else np.array(solution)


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
