"""Reduced coordinates: the equations of motion in independent coordinates, and which ones to choose."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from chain_lib.codegen import (
    AT_START,
    ENERGY,
    MULTIPLIERS,
    PHI_SQUARED,
    POWER,
    RATE_SQUARED,
    REGULARITY,
    TAU,
    A,
    Q,
    V,
)
from chain_lib.linear import RANK_TOLERANCE, SingularConfiguration, constraint_rank, null_space

FASTER = 1.1  # another coordinate becomes independent when it moves this much faster than one that is kept


@dataclass(frozen=True, eq=False)
class Reduced:
    """The equations of motion in independent coordinates, M_r q̈_r + h_r = τ_r, at one state.

    Attributes
    ----------
    independent : list of str
        Names of the independent coordinates q_r.
    S : array, (n, n−m)
        Basis of the null space of J with the unit matrix in the rows of q_r: v = S v_r + what a moving
        constraint adds.
    bias : array, (n,)
        The accelerations that q̈_r = 0 leaves; Ṡ v_r where the constraints do not move.
    M_r, h_r, tau_r : array
        M_r = Sᵀ M S, h_r = Sᵀ(h + M bias), τ_r = Sᵀ(τ + f).
    condition : float
        Condition number of J_p, the columns of the dependent coordinates; without bound at a dead centre.
    """

    independent: list
    S: np.ndarray
    bias: np.ndarray
    M_r: np.ndarray
    h_r: np.ndarray
    tau_r: np.ndarray
    condition: float

    @property
    def a_r(self):
        """Accelerations of the independent coordinates; (n−m,)."""
        return np.linalg.solve(self.M_r, self.tau_r - self.h_r)

    @property
    def a(self):
        """Accelerations of all coordinates; (n,)."""
        return self.S @ self.a_r + self.bias


def reduced(system, q, v, independent=None, tau=None, t=0.0):
    """The equations of motion in independent coordinates, at one state.

    The dependent velocities and accelerations follow from J_r v_r + J_p v_p + φ_t = 0 and
    J_r q̈_r + J_p q̈_p + γ = 0, with J_p the columns of the dependent coordinates. Multiplying M q̈ + h =
    τ + f + Jᵀλ from the left by Sᵀ removes the multipliers, since J S = 0.

    Parameters
    ----------
    system : System
    q, v : array, (n,)
        A state that fulfils the constraints.
    independent : list of str, optional
        Names of the n − m coordinates to keep; by default such that J_p is far from singular.
    tau : array, (n,), optional
        Applied generalized forces, added to the mechanism's own f.
    t : float
        Time (s).

    Returns
    -------
    Reduced

    Raises
    ------
    SingularConfiguration
        Where J_p is singular: a dead centre, at which these coordinates do not determine the others, or
        a singular configuration.
    ValueError
        Where the choice is not possible, or there are no constraints.

    Examples
    --------
    >>> import chain_lib as cl
    >>> sys = cl.mechanisms.FourBar().system()
    >>> q = sys.assemble("open", theta2=1.0)
    >>> form = reduced(sys, q, np.zeros(3), ["theta2"])
    >>> print(abs(form.a - cl.accelerations(sys, q, np.zeros(3))[0]).max() < 1e-12)
    True
    """
    q, v = system.vector(q), system.vector(v, "v")
    tau = np.zeros(system.n) if tau is None else system.vector(tau, "tau")
    M, J = system.M(q), system.J(q, t)
    names = [str(symbol) for symbol in system.mechanism.q]
    _refuse_unconstrained(system)
    if (rank := constraint_rank(M, J, system.units)) < system.m:
        raise SingularConfiguration(
            f"At q = {q} of {system.mechanism.name} the constraint Jacobian has rank {rank} of {system.m}; "
            "reduced coordinates need independent constraints.",
            rank,
            system.m,
        )
    kept = best_independent(J / np.sqrt(np.diag(M))) if independent is None else _indices(system, names, independent)
    J_p = np.delete(J, kept, axis=1)
    if np.linalg.matrix_rank(J_p, RANK_TOLERANCE * np.linalg.norm(J, 2)) < system.m:
        raise SingularConfiguration(
            f"At q = {q} of {system.mechanism.name}, {', '.join(names[i] for i in kept)} does not determine the other "
            "coordinates: the columns of J that belong to those are singular. Keep another coordinate, or leave "
            "independent out.",
            rank,
            system.m,
        )
    S, P = tangent(J, kept)
    bias = -P @ system.gamma(q, v, t)
    M_r, h_r = S.T @ M @ S, S.T @ (system.h(q, v) + M @ bias)
    tau_r = S.T @ (tau + system.forces(q, v, t))
    return Reduced([names[i] for i in kept], S, bias, M_r, h_r, tau_r, float(np.linalg.cond(J_p)))


@cache
def _places(n, kept):
    """Indices of the dependent coordinates, and the columns of the unit matrix that belong to the others."""
    return np.delete(np.arange(n), kept), np.eye(n)[:, kept]


def tangent(J, kept):
    """S, and the P with J P = 1 that leaves the coordinates of these indices alone: J_p⁻¹ in the other rows.

    What the constraints demand is P times it: −P φ is a Newton step, −P γ the accelerations at q̈_r = 0; and
    λ = Pᵀ(M q̈ + h − τ − f).
    """
    m, n = J.shape
    passive, unit = _places(n, tuple(kept))
    P = np.zeros((n, m))
    P[passive] = np.linalg.inv(J[:, passive])
    return unit - P @ J[:, kept], P


def best_independent(J, present=None):
    """Indices of the coordinates to keep, so that J_p is far from singular.

    They are those that move most: of the null space of J, rows are taken by QR with pivoting, always the one
    with the most that is new. (With one degree of freedom the entries of the null vector are in the ratio of
    the determinants of J_p.) Coordinates that are kept at present stay, unless another one is FASTER. Where
    lengths stand beside angles, J's columns are first divided by √M_jj.
    """
    from scipy.linalg import qr

    if present is not None and np.abs(tangent(J, present)[0]).max() <= FASTER:
        return present
    order = qr(null_space(J).T, mode="r", pivoting=True)[1]
    return sorted(order[: J.shape[1] - len(J)].tolist())


def _refuse_unconstrained(system):
    if not system.m:
        raise ValueError(f"{system.mechanism.name} has no constraints, so that all of its coordinates are independent.")


def _indices(system, names, independent):
    wanted = [independent] if isinstance(independent, str) else list(independent)
    if sorted(set(wanted)) != sorted(wanted) or len(wanted) != system.n - system.m or not set(wanted) <= set(names):
        raise ValueError(
            f"independent = {independent!r} is not possible; {system.mechanism.name} needs {system.n - system.m} of "
            f"its coordinates, {', '.join(names)}."
        )
    return [names.index(name) for name in wanted]


class ReducedForm:
    """Accelerations for the steppers from the reduced equations: the same call as a compiled kernel.

    The dependent coordinates and velocities of a state are computed anew from the independent ones. At the
    start of each step others become independent if they move faster, so that J_p stays far from singular.
    """

    def __init__(self, system):
        _refuse_unconstrained(system)
        self.system, self.kept, self.switches = system, None, []

    def __call__(self, t, state, p, alpha, beta, record):
        try:
            if self.kept is None:
                self._choose(t, state[Q], p)
            there = self._follow(t, state, p, record)
            if record[AT_START] and there and self._choose(t, state[Q], p):
                there = self._follow(t, state, p, record)
            record[AT_START], record[REGULARITY] = 0.0, self.regularity
            return there is not None and self._solve(t, state, p, record, *there)
        except np.linalg.LinAlgError:
            return False

    def _choose(self, t, q, p):
        """Change to coordinates that move faster than the present ones; whether there are any."""
        M, J = np.array(self.system.code.M(t, q, None, p)), np.array(self.system.code.J(t, q, None, p))
        J /= np.sqrt(np.diag(M))
        sigma = np.linalg.svd(J, compute_uv=False)
        self.regularity = (sigma[-1] / sigma[0]) ** 2
        if (best := best_independent(J, self.kept)) == self.kept:
            return False
        self.kept = best
        self.switches.append((t, ", ".join(str(self.system.mechanism.q[i]) for i in best)))
        return True

    def _follow(self, t, state, p, record):
        """Dependent coordinates by Newton's iteration, then velocities; S, P and φ_t there, None if it does not arrive."""
        code, q, v = self.system.code, state[Q], state[V]
        size = _column(code.phi_terms(t, q, None, p))
        for _ in range(30):
            phi, J = _column(code.phi(t, q, None, p)), np.array(code.J(t, q, None, p))
            S, P = tangent(J, self.kept)
            if phi @ phi <= (2e-15) ** 2 * (size @ size):
                phi_t = _column(code.phi_t(t, q, None, p))
                v[:] = S @ v[self.kept] - P @ phi_t
                rate = J @ v + phi_t
                record[PHI_SQUARED], record[RATE_SQUARED] = phi @ phi, rate @ rate
                return S, P, phi_t
            q -= P @ phi
        return None

    def _solve(self, t, state, p, record, S, P, phi_t):
        code, q, v = self.system.code, state[Q], state[V]
        M, h, gamma = np.array(code.M(t, q, None, p)), _column(code.h(t, q, v, p)), _column(code.gamma(t, q, v, p))
        force, bias = state[TAU] + _column(code.f(t, q, v, p)), -P @ gamma
        a_r = np.linalg.solve(S.T @ M @ S, S.T @ (force - h - M @ bias))
        a = state[A] = S @ a_r + bias
        lam = P.T @ (M @ a + h - force)
        record[ENERGY] = code.energy(t, q, v, p)[0][0]
        record[POWER] = force @ v - lam @ phi_t
        record[MULTIPLIERS : MULTIPLIERS + len(lam)] = lam
        return True

    def notes(self):
        """A sentence about the independent coordinates."""
        (_, first), *later = self.switches
        if not later:
            return [f"The independent coordinate was {first} all the time."]
        changes = ", ".join(f"{names} from {t:.3g} s" for t, names in later[:4])
        more = f", and {len(later) - 4} changes more" if len(later) > 4 else ""
        return [f"The independent coordinate was {first} at first, then {changes}{more}."]


def _column(rows):
    return np.array([row[0] for row in rows])
