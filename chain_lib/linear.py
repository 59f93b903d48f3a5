"""Linear algebra of constrained dynamics: the KKT system and its rank.

    [ M  −Jᵀ ] [ q̈ ]   [ r ]
    [ J   0  ] [ λ ] = [ s ]

It has one solution if, and only if, J has full row rank and M is positive definite on the null
space of J (Nocedal and Wright, Numerical Optimization, 2nd ed., lemma 16.1).

It is solved twice in this library: here for one state, with a report of what is wrong; and as
`ldlt_lines` writes it for a mechanism's compiled code, where every zero of M and J is known.
"""

import numpy as np

RANK_TOLERANCE = 1e-6
"""A constraint counts as dependent where this or less is left of its gradient, relative to the
largest gradient of a constraint with the same unit, after the others' share is taken off. Gradients
are measured in the metric of M⁻¹, so the number has no unit. The pivots of `ldlt_lines` see its square."""


CONTRADICTION = 1e-6  # dependent constraints agree when their residual is this small against their size


class SingularConfiguration(ArithmeticError):
    """The KKT system has no unique solution at this state.

    Attributes
    ----------
    rank, rows : int
        Rank of the constraint Jacobian and its number of rows.
    """

    def __init__(self, message, rank, rows):
        super().__init__(message)
        self.rank = rank
        self.rows = rows


def solve_kkt(M, J, r, s, units=None, redundant="raise"):
    """Accelerations and multipliers from M q̈ − Jᵀλ = r and J q̈ = s.

    Constraints that depend on others leave Jᵀλ and q̈ unique, and λ not: with ``minimum_norm`` the
    shortest λ is returned, provided that the constraints do not contradict each other.

    Parameters
    ----------
    M : array, (n, n)
        Inertia matrix; positive definite on the null space of J.
    J : array, (m, n)
        Constraint Jacobian of full row rank.
    r, s : array, (n,) and (m,)
    units : sequence of str, (m,), optional
        Units of the constraints; rows of one unit are compared with each other.
    redundant : "raise" or "minimum_norm"
        What to do where J has not full row rank.

    Returns
    -------
    a, lam : array, (n,) and (m,)

    Raises
    ------
    SingularConfiguration
        With the rank of J, or the free direction that carries no inertia, or how far the constraints
        contradict each other.

    Examples
    --------
    A bead of 1 kg at rest at the bottom of a circle of 1 m: the wire carries m g, with J = (2x, 2y).

    >>> a, lam = solve_kkt(np.eye(2), [[0.0, -2.0]], [0.0, -9.81], [0.0])
    >>> print(lam.round(3))
    [-4.905]
    """
    M, J = np.atleast_2d(np.asarray(M, float)), np.asarray(J, float).reshape(-1, len(M))
    m, n = J.shape
    rank = constraint_rank(M, J, units)
    if rank < m and redundant == "raise":
        raise SingularConfiguration(
            f"The KKT system is singular: the constraint Jacobian has rank {rank} of {m} "
            f"(relative tolerance {RANK_TOLERANCE:g}), so the multipliers are not determined here.",
            rank,
            m,
        )
    Z = null_space(J, rank)
    free = np.linalg.eigvalsh(Z.T @ M @ Z)
    if len(free) and not free[0] > 1e-13 * np.abs(M).max():
        raise SingularConfiguration(
            "The KKT system is singular: along a direction that the constraints leave free the "
            f"inertia is {free[0]:.3g}, and it must be positive there.",
            rank,
            m,
        )
    if rank == m:
        K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
        x = np.linalg.solve(K, np.concatenate([r, s]))
        return x[:n], x[n:]
    U, sigma, Vt = np.linalg.svd(J)
    J_inverse = Vt[:rank].T / sigma[:rank] @ U[:, :rank].T
    a = J_inverse @ s
    a = a + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (r - M @ a))
    if (off := np.abs(J @ a - s).max()) > CONTRADICTION * (np.abs(J) @ np.abs(a) + np.abs(s)).max():
        raise SingularConfiguration(
            f"The constraints contradict each other: the Jacobian has rank {rank} of {m}, and no acceleration "
            f"fulfils all rows of J q̈ = s; the best one misses by {off:.3g}.",
            rank,
            m,
        )
    return a, J_inverse.T @ (M @ a - r)


def constraint_rank(M, J, units=None):
    """Rank of the constraint Jacobian, by singular values in the metric of M⁻¹.

    Rows are divided by the largest row of the same unit, so that neither the units nor the masses
    decide. Where M is not positive definite its unit matrix takes its place.
    """
    if not len(J):
        return 0
    try:
        gradients = np.linalg.solve(np.linalg.cholesky(M), J.T).T
    except np.linalg.LinAlgError:
        gradients = J.copy()
    size = np.linalg.norm(gradients, axis=1)
    largest = {}
    units = [""] * len(J) if units is None else units
    for unit, length in zip(units, size):
        largest[unit] = max(length, largest.get(unit, 0.0))
    scale = np.array([largest[unit] or 1.0 for unit in units])
    sigma = np.linalg.svd(gradients / scale[:, None], compute_uv=False)
    return int(np.sum(sigma > RANK_TOLERANCE))


def null_space(J, rank=None):
    """Orthonormal basis of the null space of a J of this rank, or of full row rank; (n, n − rank)."""
    return np.linalg.svd(J)[2][len(J) if rank is None else rank :].T


def ldlt_lines(M, J, right_sides, units, drop, block=False):
    """Source lines that solve the KKT system by L D Lᵀ, unrolled for one pattern of zeros.

    With −λ as unknown the block matrix is symmetric, [[M, Jᵀ], [J, 0]]. Eliminating in the order
    of M first needs no row exchange: M gives n positive pivots, and −J M⁻¹ Jᵀ gives m negative
    ones. A pivot of the wrong sign or too small means that a hypothesis has failed, and the
    generated code then returns False; or, for a constraint and with ``drop`` above zero, it goes on
    without that constraint.

    Parameters
    ----------
    M, J : list of lists of str
        Names or numbers in the source; ``"0"`` is a zero by structure.
    right_sides : list of (r, s)
        Lists of names, n and m long; ``"0"`` again is a zero.
    units : list of str, (m,)
    drop : str
        Name of a number: 0, or the squared relative distance at which a constraint is left out. Up to
        RANK_TOLERANCE² that happens in passing only, and ``regularity`` tells it by a zero.
    block : bool
        Lines for many systems side by side, which cannot return one by one: they leave in ``solved``
        what holds for each of them, and choose where the others branch.

    Yields
    ------
    str
        Lines that leave the solutions in ``x{c}_{i}``, c counting right sides: i < n the
        accelerations, i ≥ n the multipliers with the sign of M q̈ = r + Jᵀλ; and ``regularity``, the
        least pivot of a constraint that was used, relative to the largest squared gradient.
    """
    n, m = len(M), len(J)
    N = n + m
    K = [[M[i][k] if i < n else J[i - n][k] if k < n else "0" for k in range(i + 1)] for i in range(N)]
    full = {}  # (i, k) -> K_ik less the columns before k, a name

    def minus(start, products):
        head = "" if start == "0" and products else start
        return head + "".join(f"-{x}*{y}" for x, y in products)

    yield "regularity = 1.0"
    for k in range(N):
        if k == n:
            yield from _gradient_sizes(n, m, full, units, block)
            yield f"floor = {_largest([repr(RANK_TOLERANCE**2), drop], block)}"
        for i in range(k, N):
            value = minus(K[i][k], [(f"L{i}_{j}", f"W{k}_{j}") for j in range(k) if {(i, j), (k, j)} <= full.keys()])
            if value == "0" and i > k:
                continue
            full[i, k] = value
            yield f"W{i}_{k} = {value}"
            if i == k < n:
                positive = f"W{k}_{k} > {RANK_TOLERANCE**2!r}*({K[k][k]})"
                yield from [f"solved = solved & ({positive})"] if block else [f"if not {positive}:", "    return False"]
                yield f"I{k} = 1.0/W{k}_{k}"
            elif i == k and block:
                size = f"size{units.index(units[k - n])}"
                yield f"used = -W{k}_{k} > floor*{size}"
                yield f"solved = solved & (used | ({drop} > 0.0))"
                yield f"I{k} = choose(used, 1.0/W{k}_{k}, 0.0)" if drop != "0.0" else f"I{k} = 1.0/W{k}_{k}"
                if m > 1:  # else it is compared with itself
                    yield f"regularity = choose(used & (-W{k}_{k}/{size} < regularity), -W{k}_{k}/{size}, regularity)"
            elif i == k:
                size = f"size{units.index(units[k - n])}"
                yield f"if -W{k}_{k} > floor*{size}:"
                yield f"    I{k} = 1.0/W{k}_{k}"
                yield f"    regularity = min(regularity, -W{k}_{k}/{size})"
                yield f"elif {drop} > 0.0:"
                yield f"    I{k} = 0.0"
                yield f"    regularity = regularity if {drop} > {RANK_TOLERANCE**2!r} else 0.0"
                yield "else:"
                yield "    return False"
            else:
                yield f"L{i}_{k} = W{i}_{k}*I{k}"
    for c, (r, s) in enumerate(right_sides):
        zero = set()
        for i, start in enumerate([*r, *s]):
            pairs = [(f"L{i}_{j}", f"y{c}_{j}") for j in range(i) if (i, j) in full and j not in zero]
            if (value := minus(start, pairs)) == "0":
                zero.add(i)
            else:
                yield f"y{c}_{i} = {value}"
        for i in reversed(range(N)):
            start = "0" if i in zero else f"y{c}_{i}*I{i}"
            yield f"u{c}_{i} = {minus(start, [(f'L{j}_{i}', f'u{c}_{j}') for j in range(i + 1, N) if (j, i) in full])}"
        yield from (f"x{c}_{i} = {'' if i < n else '-'}u{c}_{i}" for i in range(N))


def _gradient_sizes(n, m, full, units, block):
    """Lines for the largest squared gradient, in the metric of M⁻¹, among constraints of one unit."""
    for k in range(m):
        terms = [f"L{n + k}_{j}*W{n + k}_{j}" for j in range(n) if (n + k, j) in full]
        yield f"S{k} = {'+'.join(terms) or '0.0'}"
    for unit in dict.fromkeys(units):
        rows = [f"S{k}" for k in range(m) if units[k] == unit]
        yield f"size{units.index(unit)} = {_largest(rows, block)}"


def _largest(names, block):
    """The largest of some numbers, in source; of each system of a block by itself."""
    if len(names) == 1:
        return names[0]
    if not block:
        return f"max({', '.join(names)})"
    *others, last = names
    return f"larger({_largest(others, block)}, {last})"
