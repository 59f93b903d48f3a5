"""Reduced coordinates: the equations of motion in independent coordinates, and which ones to choose."""

from dataclasses import dataclass

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
from chain_lib.linear import SingularConfiguration


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
    kept = best_independent(J / np.sqrt(np.diag(M))) if independent is None else _indices(system, names, independent)
    J_p = np.delete(J, kept, axis=1)
    if np.linalg.matrix_rank(J_p, 1e-9 * np.linalg.norm(J, 2)) < system.m:
        raise SingularConfiguration(
            f"At q = {q} of {system.mechanism.name}, {', '.join(names[i] for i in kept)} does not determine the other "
            "coordinates: the columns of J that belong to those are singular. Keep another coordinate, or leave "
            "independent out.",
            int(np.linalg.matrix_rank(J)),
            system.m,
        )
    S, bias = tangent(J, system.gamma(q, v, t), kept)
    M_r, h_r = S.T @ M @ S, S.T @ (system.h(q, v) + M @ bias)
    tau_r = S.T @ (tau + system.forces(q, v, t))
    return Reduced([names[i] for i in kept], S, bias, M_r, h_r, tau_r, float(np.linalg.cond(J_p)))


def tangent(J, gamma, kept):
    """S, and the accelerations that q̈_r = 0 leaves, where the coordinates of these indices are kept."""
    m, n = J.shape
    passive = np.delete(np.arange(n), kept)
    dependent = -np.linalg.solve(J[:, passive], np.column_stack([J[:, kept], gamma]))
    S, bias = np.zeros((n, n - m)), np.zeros(n)
    S[kept] = np.eye(n - m)
    S[passive], bias[passive] = dependent[:, :-1], dependent[:, -1]
    return S, bias


def best_independent(J):
    """Indices of the coordinates to keep, so that J_p is far from singular.

    Columns are taken into J_p by QR with column pivoting: always the one with the most that is new. Where
    lengths stand beside angles, J's columns are first divided by √M_jj.
    """
    from scipy.linalg import qr

    order = qr(J, mode="r", pivoting=True)[1]
    return sorted(order[len(J) :].tolist())


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
    start of each step coordinates become independent that leave J_p far from singular.
    """

    def __init__(self, system):
        self.system, self.kept, self.switches = system, None, []

    def __call__(self, t, state, p, alpha, beta, record):
        try:
            if record[AT_START]:
                if self.kept is not None:
                    self._follow(t, state, p)
                self._choose(t, state[Q], p)
                record[AT_START] = 0.0
            record[REGULARITY] = self.regularity
            return self._follow(t, state, p) and self._solve(t, state, p, record)
        except np.linalg.LinAlgError:
            return False

    def _follow(self, t, state, p):
        """Dependent coordinates by Newton's iteration, then their velocities; whether it has arrived."""
        code, q, v = self.system.code, state[Q], state[V]
        passive = np.delete(np.arange(self.system.n), self.kept)
        size = np.linalg.norm(_column(code.phi_terms(t, q, None, p)))
        for _ in range(30):
            phi, J = _column(code.phi(t, q, None, p)), np.array(code.J(t, q, None, p))
            if np.linalg.norm(phi) <= 2e-15 * size:
                moved = J[:, self.kept] @ v[self.kept] + _column(code.phi_t(t, q, None, p))
                v[passive] = -np.linalg.solve(J[:, passive], moved)
                return True
            q[passive] -= np.linalg.solve(J[:, passive], phi)
        return False

    def _solve(self, t, state, p, record):
        code, kept, q, v, m = self.system.code, self.kept, state[Q], state[V], self.system.m
        passive = np.delete(np.arange(self.system.n), kept)
        J, phi_t = np.array(code.J(t, q, None, p)), _column(code.phi_t(t, q, None, p))
        M, h = np.array(code.M(t, q, None, p)), _column(code.h(t, q, v, p))
        force = state[TAU] + _column(code.f(t, q, v, p))
        S, bias = tangent(J, _column(code.gamma(t, q, v, p)), kept)
        a_r = np.linalg.solve(S.T @ M @ S, S.T @ (force - h - M @ bias))
        a = state[A] = S @ a_r + bias
        lam = np.linalg.solve(J[:, passive].T, (M @ a + h - force)[passive])
        record[PHI_SQUARED] = np.sum(_column(code.phi(t, q, None, p)) ** 2)
        record[RATE_SQUARED] = np.sum((J @ v + phi_t) ** 2)
        record[ENERGY] = code.energy(t, q, v, p)[0][0]
        record[POWER] = force @ v - lam @ phi_t
        record[MULTIPLIERS : MULTIPLIERS + m] = lam
        return True

    def _choose(self, t, q, p):
        M, J = np.array(self.system.code.M(t, q, None, p)), np.array(self.system.code.J(t, q, None, p))
        J = J / np.sqrt(np.diag(M))
        best = best_independent(J)
        if best != self.kept:
            self.kept = best
            self.switches.append((t, ", ".join(str(self.system.mechanism.q[i]) for i in best)))
        sigma = np.linalg.svd(np.delete(J, best, axis=1), compute_uv=False)
        self.regularity = (sigma[-1] / sigma[0]) ** 2

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
