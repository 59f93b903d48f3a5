"""Accelerations, multipliers and joint forces of a constrained mechanism at one state."""

import numpy as np

from chain_lib.linear import SingularConfiguration, constraint_rank, solve_kkt

CHOICES = ("raise", "minimum_norm")
OPEN = 1e-6  # a loop may be open by this part of its size: the arms of a joint's force then differ by the gap


class Accelerations(tuple):
    """The pair (a, lam), with the rank of the constraint Jacobian in ``rank``, of ``rows``."""

    def __new__(cls, a, lam, rank):
        pair = super().__new__(cls, (a, lam))
        pair.rank, pair.rows = rank, len(lam)
        return pair

    @property
    def note(self):
        """What is worth knowing about λ, or an empty text."""
        return not_unique(self.rank, self.rows) if self.rank < self.rows else ""


def not_unique(rank, rows):
    """The sentence about λ where constraints depend on each other."""
    return (
        f"The constraint Jacobian has rank {rank} of {rows}: accelerations and Jᵀλ are unique, λ is not. "
        "The λ given is the shortest."
    )


def accelerations(system, q, v, tau=None, t=0.0, redundant="raise"):
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
    redundant : "raise" or "minimum_norm"
        What to do where constraints depend on each other. Accelerations and Jᵀλ are unique all the
        same; λ is not, and ``minimum_norm`` returns the shortest.

    Returns
    -------
    a : array, (n,)
        Accelerations.
    lam : array, (m,)
        Multipliers; +Jᵀλ is what the constraints do to the mechanism.

        The pair also has ``rank``, ``rows`` and a ``note``; see `Accelerations`.

    Raises
    ------
    SingularConfiguration
        Where the two equations have no unique solution, with the rank; with ``minimum_norm`` only
        where the constraints contradict each other, or a free direction has no inertia.

    Examples
    --------
    A bead of 1 kg at rest at the lowest point of a wire of 1 m is held up by m g.

    >>> import chain_lib as cl
    >>> bead = cl.mechanisms.BeadOnCircle().system()
    >>> a, lam = cl.accelerations(bead, q=[0, -1], v=[0, 0])
    >>> print(bead.J([0, -1]).T @ lam)
    [0.   9.81]
    """
    if redundant not in CHOICES:
        raise ValueError(f"redundant = {redundant!r} is unknown; choose one of {', '.join(map(repr, CHOICES))}.")
    q, v = system.vector(q), system.vector(v, "v")
    tau = np.zeros(system.n) if tau is None else system.vector(tau, "tau")
    M, J = system.M(q), system.J(q, t)
    r = tau + system.forces(q, v, t) - system.h(q, v)
    try:
        a, lam = solve_kkt(M, J, r, -system.gamma(q, v, t), system.units, redundant)
    except SingularConfiguration as reason:
        where = f"At q = {q.round(4)}, t = {t:g} s of {system.mechanism.name}: "
        raise SingularConfiguration(where + str(reason), reason.rank, reason.rows) from None
    return Accelerations(a, lam, constraint_rank(M, J, system.units))


def joint_forces(system, q, v, tau=None, t=0.0, redundant="raise"):
    """Force on each body at each joint, from the balances of force and moment of every body.

    The accelerations are those of `accelerations`. Then Newton's and Euler's equations of all bodies are
    linear in the joint forces. A generalized force acts as moments on the bodies that its coordinate
    turns, and as a force on those that it moves: a motor between two bodies gives opposite moments.

    Parameters
    ----------
    system : System
        Of a mechanism with bodies and joints.
    q, v, tau, t, redundant
        As for `accelerations`.

    Returns
    -------
    dict
        Name of the joint to {body: force}, forces (N) in ground axes: (2,) at a pin; at a slide (3,), with
        the moment about its point (N m) as third entry. The two bodies of a joint get opposite forces.

    Raises
    ------
    SingularConfiguration
        Where the joint forces are not unique and ``redundant`` is "raise".
    ValueError
        Where the mechanism has no bodies, or these do not belong to its energies and constraints; where the
        loop is open at this state.

    Examples
    --------
    A rocker hangs at rest: half of the coupler's weight rests on its upper end.

    >>> import chain_lib as cl
    >>> sys = cl.mechanisms.FourBar().system()
    >>> q = sys.assemble("open", theta2=1.0)
    >>> forces = joint_forces(sys, q, np.zeros(3))
    >>> print(abs(forces["C"]["coupler"] - cl.accelerations(sys, q, np.zeros(3))[1]).max() < 1e-12)
    True
    """
    mechanism, code, p = system.mechanism, system.code, system.p
    if not mechanism.joints:
        raise ValueError(f"{mechanism.name} has no bodies and joints; give them to Mechanism(bodies=…, joints=…).")
    a, _ = accelerations(system, q, v, tau, t, redundant)
    q, v = system.vector(q), system.vector(v, "v")
    tau = np.zeros(system.n) if tau is None else system.vector(tau, "tau")
    state = t, q, v, p
    twists, bias = np.array(code.twists(*state), float), np.array(code.twist_bias(*state), float)[:, 0]
    mass, inertia, weight = np.array(code.masses(*state), float).T
    wrench = np.stack([mass, mass, inertia], axis=1).ravel() * (twists @ a + bias)
    wrench[1::3] += weight
    spring = np.array(code.springs(*state), float)[:, 0]
    wrench -= _applied(twists, tau + system.forces(q, v, t) + spring)
    columns, entries = _joint_columns(system, state)
    sigma = np.linalg.svd(columns, compute_uv=False)
    rank = int(np.sum(sigma > 1e-9 * sigma[0]))
    if rank < columns.shape[1] and redundant == "raise":
        raise SingularConfiguration(
            f"The joint forces of {mechanism.name} are not unique at q = {q}: {columns.shape[1]} unknowns, and balances "
            f"of rank {rank}. redundant='minimum_norm' gives the smallest ones.",
            rank,
            columns.shape[1],
        )
    unknowns = np.linalg.lstsq(columns, wrench, rcond=1e-9)[0]
    gap, largest = np.linalg.norm(system.phi(q, t)), OPEN * np.linalg.norm(system.constraint_scale(q, t))
    allowed = 1e-8 * max(np.abs(wrench).max(), 1e-300) + 2 * min(gap, largest) * np.abs(unknowns).max()
    if (off := np.abs(columns @ unknowns - wrench).max()) > allowed:
        reason = "its bodies and joints do not belong to its energies and constraints."
        if gap > largest:
            reason = f"the loop is open, ‖φ‖ = {gap:.3g}. Take a state from cl.project(system, q, v)."
        raise ValueError(
            f"The balances of the bodies of {mechanism.name} do not close, they miss by {off:.3g}: {reason}"
        )
    forces = {}
    for joint, entry in zip(mechanism.joints, entries):
        force = entry @ unknowns
        forces[joint.point] = {joint.body: force, joint.other: -force}
    return forces


def _applied(twists, generalized):
    """Forces and moments on the bodies (3 each) with these generalized forces: moments as far as they can."""
    turning, moving = twists[2::3], np.delete(twists, slice(2, None, 3), axis=0)
    moments = np.linalg.lstsq(turning.T, generalized, rcond=1e-9)[0]
    pushes = np.linalg.lstsq(moving.T, generalized - turning.T @ moments, rcond=1e-9)[0]
    return np.hstack([pushes.reshape(-1, 2), moments[:, None]]).ravel()


def _joint_columns(system, state):
    """Columns of the bodies' balances, one per unknown; and the matrix from unknowns to each joint's force."""
    mechanism, code = system.mechanism, system.code
    centres, points = np.array(code.centres(*state), float), np.array(code.joint_points(*state), float)
    slides = np.array(code.slides(*state), float)
    bodies = list(mechanism.bodies)
    shapes = [
        np.eye(2) if joint.along is None else np.array([[-y, 0], [x, 0], [0, 1]])
        for joint, (x, y) in zip(mechanism.joints, slides)
    ]
    columns, entries = np.zeros((3 * len(bodies), 2 * len(shapes))), []
    for k, (joint, point, shape) in enumerate(zip(mechanism.joints, points, shapes)):
        entry = np.zeros((len(shape), columns.shape[1]))
        entry[:, 2 * k : 2 * k + 2] = shape
        entries.append(entry)
        for name, sign in ((joint.body, 1.0), (joint.other, -1.0)):
            if name == "ground":
                continue
            i = bodies.index(name)
            arm = point - centres[i]
            moment = arm[0] * entry[1] - arm[1] * entry[0] + (entry[2] if len(entry) == 3 else 0.0)
            columns[3 * i : 3 * i + 3] += sign * np.array([entry[0], entry[1], moment])
    return columns, entries
