"""Close the loops: configurations that fulfil the constraints, with some coordinates held.

A mechanism with a closed form gives all of its branches. For any other, and for other coordinates held,
a damped Gauss–Newton iteration finds the one near a start.
"""

import numpy as np

ARRIVED = 2e-15  # the iteration has arrived when ‖φ‖ is this small against the size of φ's terms
ITERATIONS = 100
SAME = 1e-6  # configurations that differ by less than this (rad or m) are one


def branches(system, **held):
    """All configurations in closed form with some coordinates held.

    Parameters
    ----------
    system : System
    **held : float
        Coordinates by name and their values (rad or m).

    Returns
    -------
    dict
        Name of the branch to q, (n,).

    Raises
    ------
    ValueError
        Where there is no closed form, or no configuration; the sentence says what can be reached.

    Examples
    --------
    >>> import chain_lib as cl
    >>> poses = cl.mechanisms.FourBar().system().branches(theta2=np.deg2rad(10))
    >>> for name, q in poses.items():
    ...     print(name, np.rad2deg(q).round(2))
    open [ 10.    61.05 105.87]
    crossed [  10.    -74.13 -118.95]
    """
    if system.mechanism.branches is None:
        raise ValueError(f"{system.mechanism.name} has no closed-form assembly; give start=q for an iteration.")
    return system.mechanism.branches(dict(system.parameters), _numbers(system, held))


def assemble(system, branch=None, start=None, t=0.0, **held):
    """A configuration that fulfils the constraints with some coordinates held.

    Without ``start`` the closed form is used; with it, an iteration that changes the other coordinates
    as little as it can. Each step is the smallest one that solves J_free Δ = −φ, halved until ‖φ‖ falls.

    Parameters
    ----------
    system : System
    branch : str, optional
        Name of the branch; needed where there are several and no start.
    start : array, (n,), optional
        Where the iteration begins; the held coordinates take their own values.
    t : float
        Time (s).
    **held : float
        Coordinates by name and their values (rad or m).

    Returns
    -------
    q : array, (n,)

    Raises
    ------
    ValueError
        Where the configuration does not exist, lies on another branch than asked for, or the choice
        is not unique.
    ArithmeticError
        Where the iteration does not arrive, with the residual that is left.

    Examples
    --------
    >>> import chain_lib as cl
    >>> sys = cl.mechanisms.FourBar().system()
    >>> print(np.rad2deg(sys.assemble("open", theta2=np.deg2rad(10))).round(4))
    [ 10.      61.0493 105.875 ]
    """
    if start is None:
        poses = branches(system, **held)
        if branch is None and len(poses) > 1:
            raise ValueError(f"{system.mechanism.name} closes in {len(poses)} ways here; choose branch={_or(poses)}.")
        return poses[_known(branch, poses) if branch is not None else next(iter(poses))]
    q = _iterate(system, system.vector(start, "start"), _numbers(system, held), t)
    if branch is not None:
        poses = branches(system, **{name: q[_names(system).index(name)] for name in held})
        wanted = poses[_known(branch, poses)]
        if not _same(system, q, wanted):
            found = [name for name, pose in poses.items() if _same(system, q, pose)]
            raise ValueError(
                f"From this start {system.mechanism.name} assembles on the branch {_or(found) or 'that has no name'}, "
                f"and {branch!r} was asked for; leave start out, or start closer to q = {wanted.round(4)}."
            )
    return q


def _iterate(system, q, held, t):
    names = _names(system)
    free = np.array([name not in held for name in names])
    for name, value in held.items():
        q[names.index(name)] = value
    phi = system.phi(q, t)
    for _ in range(ITERATIONS):
        if np.linalg.norm(phi) <= ARRIVED * np.linalg.norm(system.constraint_scale(q, t)):
            return q
        step = np.zeros(system.n)
        step[free] = np.linalg.lstsq(system.J(q, t)[:, free], -phi, rcond=None)[0]
        length = 1.0
        while not np.linalg.norm(after := system.phi(q + length * step, t)) < np.linalg.norm(phi):
            length /= 2
            if length < 1e-8:
                break
        if length < 1e-8:
            break
        q, phi = q + length * step, after
    if np.linalg.norm(phi) <= 1e3 * ARRIVED * np.linalg.norm(system.constraint_scale(q, t)):
        return q
    raise ArithmeticError(
        f"{system.mechanism.name} did not close from this start with {', '.join(held) or 'nothing'} held: "
        f"‖φ‖ = {np.linalg.norm(phi):.3g} is left at q = {q.round(4)}. There may be no such configuration; "
        "try another start, or hold another value."
    )


def _same(system, q, other):
    """Whether two configurations are one; angles may differ by full turns."""
    turns = np.array([symbol in system.mechanism.angles for symbol in system.mechanism.q])
    apart = np.where(turns, np.angle(np.exp(1j * (q - other))), q - other)
    return np.abs(apart).max() <= SAME


def _numbers(system, held):
    names, numbers = _names(system), {}
    for name, value in held.items():
        if name not in names:
            raise ValueError(f"{system.mechanism.name} has no coordinate {name!r}; it has {', '.join(names)}.")
        if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value)):
            raise ValueError(
                f"{name} = {value!r} is not a finite number; hold a coordinate at one number, in rad or m."
            )
        numbers[name] = float(value)
    return numbers


def _names(system):
    return [str(symbol) for symbol in system.mechanism.q]


def _known(branch, poses):
    if branch not in poses:
        raise ValueError(f"branch {branch!r} is unknown; choose {_or(poses)}.")
    return branch


def _or(names):
    return " or ".join(repr(name) for name in names)
