"""Keep a simulation on its constraints: Baumgarte's feedback, and projection."""

from dataclasses import dataclass

import numpy as np

from chain_lib.codegen import MULTIPLIERS, PHI_SQUARED, Q, V, compiled
from chain_lib.linear import SingularConfiguration

SETTLED, SINGULAR, NOT_CONVERGED = 1, 0, -1
ITERATIONS = 30
ROUNDING = 2e-15  # a projection has arrived when ‖φ‖ is this small against the size of φ's terms


@dataclass(frozen=True)
class Baumgarte:
    """Feedback on the constraint: φ̈ + 2α φ̇ + β² φ = 0 takes the place of φ̈ = 0.

    Parameters
    ----------
    alpha, beta : float
        Gains (1/s). β = α is critically damped. Which gains are stable depends on the method and
        its step: see `growth_per_step`.

    Source: Baumgarte, Comput. Methods Appl. Mech. Eng. 1 (1972) 1–16, doi:10.1016/0045-7825(72)90018-7.
    """

    alpha: float
    beta: float

    def __post_init__(self):
        for name in ("alpha", "beta"):
            _finite(f"Baumgarte's {name}", getattr(self, name), "a rate in 1/s")


@dataclass(frozen=True)
class Projection:
    """After each step, the smallest change that puts position and velocity back on the constraints.

    Parameters
    ----------
    metric : "mass" or "euclidean"
        How the size of a change is measured: by M, or by the plain sum of squares.
    position, velocity : bool
        What is projected.
    """

    metric: str = "mass"
    position: bool = True
    velocity: bool = True

    def __post_init__(self):
        if self.metric not in ("mass", "euclidean"):
            raise ValueError(f"metric {self.metric!r} is unknown; choose 'mass' or 'euclidean'.")
        if not (self.position or self.velocity):
            raise ValueError("This projection would do nothing; let it act on position, velocity or both.")


@compiled("settle")
def settle(correct, t, state, p, mass, position, velocity, tolerance, change, record):
    """Newton's steps to φ = 0, each the smallest in the metric; then the velocity, which is linear."""
    for _ in range(ITERATIONS):
        if not correct(t, state, p, mass, change, record):
            return SINGULAR
        if position == 0.0 or record[PHI_SQUARED] <= tolerance * tolerance:
            for i in range(state.shape[1]):
                state[V, i] += velocity * change[V, i]
            return SETTLED
        for i in range(state.shape[1]):
            state[Q, i] += change[Q, i]
    return NOT_CONVERGED


def project(system, q, v, t=0.0, metric="mass"):
    """A state near the given one that fulfils φ = 0 and J v + φ_t = 0.

    Newton's steps, each the smallest in the metric for the constraint as it is linear there. Their sum is
    close to the shortest way, and not the shortest way itself.

    Parameters
    ----------
    system : System
    q, v : array, (n,)
    t : float
        Time (s).
    metric : "mass" or "euclidean"
        "Smallest" is measured by M, or by the plain sum of squares.

    Returns
    -------
    q, v : array, (n,)

    Raises
    ------
    SingularConfiguration
        Where the constraint Jacobian loses rank on the way.
    ArithmeticError
        Where Newton's iteration does not arrive, with the residual it stops at.

    Examples
    --------
    >>> import chain_lib as cl
    >>> q, v = cl.project(cl.mechanisms.BeadOnCircle().system(), q=[-1.2, 0], v=[0.1, 0.5])
    >>> print(q, v)
    [-1.  0.] [0.  0.5]
    """
    metric = Projection(metric).metric
    state = np.array([system.vector(q), system.vector(v, "v")])
    tolerance = ROUNDING * np.linalg.norm(system.constraint_scale(q, t))
    change, record = np.zeros((2, system.n)), np.zeros(MULTIPLIERS)
    mass = float(metric == "mass")
    with np.errstate(all="ignore"):
        outcome = settle(system.code.correct, float(t), state, system.p, mass, 1.0, 1.0, tolerance, change, record)
    if outcome == SINGULAR:
        raise SingularConfiguration(
            f"The projection of {system.mechanism.name} met a singular configuration near q = {state[Q]}; "
            "start from a state that is closer to the constraints.",
            None,
            system.m,
        )
    if outcome == NOT_CONVERGED:
        raise ArithmeticError(
            f"The projection of {system.mechanism.name} did not arrive in {ITERATIONS} steps: its residual is "
            f"{np.sqrt(record[PHI_SQUARED]):.2g}; start from a state that is closer to the constraints."
        )
    return tuple(state + 0.0)


def growth_per_step(method, alpha, beta, dt):
    """Factor by which a constraint error grows in one step, for large numbers of steps.

    It is the spectral radius of the method's map of (φ, φ̇) for φ̈ + 2α φ̇ + β² φ = 0. Below 1 the
    error dies out; at 1 it stays, or, for α = β = 0, drifts.

    Parameters
    ----------
    method : str
    alpha, beta : float or array
        Gains (1/s).
    dt : float or array
        Step (s).

    Returns
    -------
    float or array
        An array where one of the three is one; they are broadcast against each other.

    Examples
    --------
    >>> round(growth_per_step("rk4", 20.0, 20.0, 1e-3), 6)
    0.980199
    """
    a, b = np.broadcast_arrays(np.multiply(alpha, dt), np.multiply(beta, dt))
    one, zero, unit = np.ones_like(a), np.zeros_like(a), np.eye(2)
    if method == "explicit_euler":
        rows = [[one, one], [-(b**2), 1 - 2 * a]]
    elif method == "semi_implicit_euler":
        rows = [[1 - b**2, 1 - 2 * a], [-(b**2), 1 - 2 * a]]
    elif method == "rk4":
        rows = [[zero, one], [-(b**2), -2 * a]]
    else:
        raise ValueError(
            f"the stability region of {method!r} is not known; it is for explicit_euler, semi_implicit_euler and rk4."
        )
    error_map = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    if method == "rk4":
        A = error_map
        error_map = unit + A @ (unit + A @ (unit + A @ (unit + A / 4) / 3) / 2)
    growth = np.abs(np.linalg.eigvals(error_map)).max(axis=-1)
    return growth if growth.ndim else float(growth)


def stability_limit(method, alpha, beta):
    """The step (s) below which a constraint error dies out with these gains; 0 if none does.

    With a = αΔt and b = βΔt the error dies out, by Jury's criterion on the map of `growth_per_step`, for
    semi-implicit Euler where 0 < a < 1 and b² < 4(1 − a), for explicit Euler where b² < 2a and
    4a < 4 + b². For RK4 the first crossing of its region is found numerically.

    Source of the criterion: Jury, Theory and Application of the z-Transform Method (1964).

    Examples
    --------
    >>> round(stability_limit("semi_implicit_euler", 20.0, 20.0), 6) == round(2 * (2**0.5 - 1) / 20, 6)
    True
    """
    if not (alpha > 0 and beta > 0):
        return 0.0
    if method == "semi_implicit_euler":
        return float(2 / (alpha + np.hypot(alpha, beta)))
    if method == "explicit_euler":
        turning = 2 * alpha / beta**2
        return float(turning if alpha <= beta else min(turning, 2 / (alpha + np.sqrt(alpha**2 - beta**2))))
    from scipy.optimize import brentq

    unit = 1 / np.hypot(alpha, beta)
    grid = np.linspace(0.01, 10.0, 1000) * unit
    outside = int(np.argmax(growth_per_step(method, alpha, beta, grid) >= 1))
    return float(brentq(lambda dt: growth_per_step(method, alpha, beta, dt) - 1, grid[outside - 1], grid[outside]))


def _finite(what, value, meaning):
    if not (np.isscalar(value) and np.isreal(value) and np.isfinite(value)):
        raise ValueError(f"{what} = {value!r} is not possible; it is {meaning}, a finite number.")
