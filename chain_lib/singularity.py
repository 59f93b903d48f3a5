"""Judge a configuration: rank and mobility, and singular configurations on the way of a motion."""

from dataclasses import dataclass

import numpy as np

from chain_lib.linear import constraint_rank, null_space

SAMPLES = 16  # points at which a path is looked at
NEIGHBOUR = 1e-3  # distance (rad or m) of the configurations that are compared
EXACT = 1e-10  # a configuration is singular where J loses rank, and φ = 0, to this relative precision


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom at one configuration: by counting, and by rank.

    Attributes
    ----------
    n, m : int
        Numbers of coordinates and of constraints.
    rank : int
        Rank of the constraint Jacobian here.
    rank_nearby : int
        Its largest rank at neighbouring configurations; n where there are none.
    """

    n: int
    m: int
    rank: int
    rank_nearby: int

    @property
    def counted(self):
        """n − m, the degrees of freedom if all constraints were independent."""
        return self.n - self.m

    @property
    def instantaneous(self):
        """n − rank, the number of independent velocities that the constraints allow here."""
        return self.n - self.rank

    @property
    def degrees_of_freedom(self):
        """n − rank nearby, the degrees of freedom of the motion."""
        return self.n - self.rank_nearby

    def __str__(self):
        text = (
            f"{self.n} coordinates, {self.m} constraints of rank {self.rank}. Degrees of freedom by counting: "
            f"{self.counted}; by rank: {self.instantaneous}."
        )
        if self.degrees_of_freedom == 0:
            return text + " It cannot move: no configuration nearby fulfils the constraints."
        redundant = self.m - self.rank_nearby
        if self.rank < self.rank_nearby:
            text += f" This is a singular configuration: nearby the rank is {self.rank_nearby}."
        if redundant:
            text += f" Here and nearby, {_number(redundant)} of the constraints follow{'s' * (redundant == 1)} from the others."
        return text


def _number(count):
    return {1: "one", 2: "two", 3: "three"}.get(count, str(count))


def mobility(system, q, t=0.0):
    """Degrees of freedom at a configuration, with what the count n − m leaves out.

    The count holds only if J has full row rank. Where it has not, neighbouring configurations tell the
    two cases apart: a rank that is higher nearby means a singular configuration, one that stays means
    redundant constraints.

    Parameters
    ----------
    system : System
    q : array, (n,)
        A configuration that fulfils the constraints.
    t : float
        Time (s).

    Returns
    -------
    Mobility

    Examples
    --------
    >>> import chain_lib as cl
    >>> sys = cl.mechanisms.Parallelogram().system()
    >>> print(mobility(sys, sys.assemble(theta2=1.0)))
    4 coordinates, 4 constraints of rank 3. Degrees of freedom by counting: 0; by rank: 1. Here and nearby, one of the constraints follows from the others.
    """
    q = system.vector(q)
    rank = _rank(system, q, t)
    if rank == system.m:
        return Mobility(system.n, system.m, rank, rank)
    nearby = [_rank(system, other, t) for other in _neighbours(system, q, rank, t)]
    return Mobility(system.n, system.m, rank, max(nearby, default=system.n))


def _neighbours(system, q, rank, t):
    """Configurations at the distance NEIGHBOUR that fulfil the constraints, looked for along the null space of J."""
    from scipy.optimize import least_squares

    scale = NEIGHBOUR**2 * system.constraint_scale(q, t)

    def equations(x):
        return [*(system.phi(q + NEIGHBOUR * x, t) / scale), x @ x - 1.0]

    for direction in null_space(system.J(q, t), rank).T:
        for start in (direction, -direction):
            found = least_squares(equations, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
            if np.abs(found.fun).max() <= 1e-6:
                yield q + NEIGHBOUR * found.x


def _rank(system, q, t):
    return constraint_rank(system.M(q), system.J(q, t), system.units)


def singular_on_the_way(system, path, duration, t, rank):
    """The singular configuration that a short path runs through, if there is one.

    The singular value of J that should not vanish, along the path, says where to look. There the
    equations φ(q) = 0, JᵀW = 0, WᵀW = 1 are solved for a configuration q with dependent combinations W of
    constraints, one more than usual. They have a solution only where such a configuration exists; one
    that is merely near leaves a residual.

    Parameters
    ----------
    system : System
    path : function s -> (n,)
        Configurations at the times s after t, 0 ≤ s ≤ duration (s).
    duration, t : float
        Times (s).
    rank : int
        Rank of J elsewhere.

    Returns
    -------
    (float, array (n,)) or None
        When, after t, and the configuration.
    """
    from scipy.optimize import least_squares, minimize_scalar

    scale = system.constraint_scale(path(0.0), t)
    scale[scale == 0] = 1.0
    largest = np.abs(system.J(path(0.0), t) / scale[:, None]).max()

    def jacobian(q):
        return system.J(q, t) / (largest * scale[:, None])

    def least(s):
        return np.linalg.svd(jacobian(path(s)), compute_uv=False)[rank - 1]

    times = np.linspace(0.0, duration, SAMPLES)
    nearest = int(np.argmin([least(s) for s in times]))
    between = times[max(nearest - 1, 0)], times[min(nearest + 1, SAMPLES - 1)]
    s = minimize_scalar(least, bounds=between, method="bounded", options={"xatol": 1e-9 * duration}).x
    q = path(s)
    n, m = system.n, system.m
    W = np.linalg.svd(jacobian(q))[0][:, rank - 1 :]
    pairs = np.triu_indices(W.shape[1])

    def equations(x):
        q, W = x[:n], x[n:].reshape(m, -1)
        dependent = jacobian(q).T @ W
        return np.concatenate([system.phi(q, t) / scale, dependent.ravel(), (W.T @ W - np.eye(W.shape[1]))[pairs]])

    found = least_squares(equations, np.concatenate([q, W.ravel()]), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if np.abs(found.fun).max() > EXACT:
        return None
    length = np.linalg.norm(path(duration) - path(0.0))
    off = np.linalg.norm(system.phi(q, t) / scale)
    if np.linalg.norm(found.x[:n] - q) > 0.1 * length + 3 * np.sqrt(off):
        return None
    return float(s), found.x[:n]
