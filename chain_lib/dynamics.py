"""Accelerations and multipliers of a constrained mechanism at one state."""

import numpy as np

from chain_lib.linear import SingularConfiguration, solve_kkt


def accelerations(system, q, v, tau=None, t=0.0):
    """Solve M q̈ + h = τ + f + Jᵀλ and J q̈ + γ = 0 at one state.

    Parameters
    ----------
    system : System
    q, v : array, (n,)
        Coordinates and velocities.
    tau : array, (n,), optional
        Applied generalized forces, added to the mechanism's own f.
    t : float
        Time (s).

    Returns
    -------
    a : array, (n,)
        Accelerations.
    lam : array, (m,)
        Multipliers; +Jᵀλ is what the constraints do to the mechanism.

    Raises
    ------
    SingularConfiguration
        Where the two equations have no unique solution, with the rank.

    Examples
    --------
    A bead of 1 kg at rest at the lowest point of a wire of 1 m is held up by m g.

    >>> import chain_lib as cl
    >>> bead = cl.mechanisms.BeadOnCircle().system()
    >>> a, lam = cl.accelerations(bead, q=[0, -1], v=[0, 0])
    >>> print(bead.J([0, -1]).T @ lam)
    [0.   9.81]
    """
    q, v = system.vector(q), system.vector(v, "v")
    tau = np.zeros(system.n) if tau is None else system.vector(tau, "tau")
    r = tau + system.forces(q, v, t) - system.h(q, v)
    try:
        return solve_kkt(system.M(q), system.J(q, t), r, -system.gamma(q, v, t), system.units)
    except SingularConfiguration as reason:
        where = f"At q = {q}, t = {t:g} s of {system.mechanism.name}: "
        raise SingularConfiguration(where + str(reason), reason.rank, reason.rows) from None
