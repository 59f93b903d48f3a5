"""Describe a mechanism: coordinates, energies, forces and constraints, as sympy expressions.

Everything else follows from this description; `chain_lib.derive` does the following.
"""

import re
from collections.abc import Mapping
from functools import cached_property

import sympy as sp

t = sp.Symbol("t", real=True)
"""Time (s), for constraints and points that move."""


def coordinates(names):
    """Symbols for generalized coordinates and their velocities.

    Parameters
    ----------
    names : str
        Names separated by blanks or commas, for example ``"x y"`` or ``"theta2 theta3"``.

    Returns
    -------
    q, v : sympy.Matrix, (n, 1)
        Real symbols; the velocity of ``theta2`` is named ``thetadot2`` and shown as θ̇₂.

    Examples
    --------
    >>> q, v = coordinates("x theta2")
    >>> list(v)
    [xdot, thetadot2]
    """
    split = names.replace(",", " ").split() if isinstance(names, str) else names
    if not split:
        raise ValueError("coordinates needs at least one name, for example 'x y'.")
    q = sp.Matrix([sp.Symbol(name, real=True) for name in split])
    v = sp.Matrix([sp.Symbol(_velocity_name(name), real=True) for name in split])
    return q, v


def _velocity_name(name):
    stem, index = re.fullmatch(r"(.*?)(_?\d*)", name).groups()
    return f"{stem}dot{index}"


class Mechanism:
    """A mechanism in symbols.

    Parameters
    ----------
    name : str
        What it is called in messages.
    coordinates, velocities : sequence of sympy.Symbol, (n,)
        q and v, as `coordinates` makes them.
    parameters : dict
        ``{symbol: (default, unit, meaning)}``. A symbol declared ``positive=True`` (or
        ``nonnegative=True``) refuses other values later.
    kinetic_energy, potential_energy : sympy expression
        T(q, v), quadratic in v, and V(q), both in J.
    constraints : dict, optional
        ``{name: (expression, unit)}``: each expression φ(q, t) is zero when the constraint holds.
    forces : sequence of sympy expression, optional
        Generalized forces f(q, v, t) such as damping and friction; (n,).
    points : dict, optional
        ``{name: (x, y)}``: points to draw, in m, functions of q and t.

    Attributes
    ----------
    M, h, f : sympy.Matrix
        Inertia matrix (n, n), bias (n, 1) and applied forces (n, 1).
    phi, J, phi_t, gamma : sympy.Matrix
        Constraints (m, 1), their Jacobian (m, n), explicit time part (m, 1) and
        acceleration part (m, 1), so that J q̈ + γ = 0.
    K : sympy.Matrix, (n+m, n+m)
        The block matrix [[M, −Jᵀ], [J, 0]] of M q̈ + h = τ + Jᵀλ and J q̈ + γ = 0.
    """

    def __init__(
        self,
        name,
        *,
        coordinates,
        velocities,
        parameters,
        kinetic_energy,
        potential_energy=0,
        constraints=None,
        forces=None,
        points=None,
    ):
        self.name = name
        self.q = sp.ImmutableMatrix(list(coordinates))
        self.v = sp.ImmutableMatrix(list(velocities))
        self.parameters = {symbol: _parameter(symbol, entry) for symbol, entry in parameters.items()}
        self.kinetic_energy = sp.sympify(kinetic_energy)
        self.potential_energy = sp.sympify(potential_energy)
        self.constraints = {label: _constraint(label, entry) for label, entry in (constraints or {}).items()}
        self.f = sp.ImmutableMatrix(n := len(self.q), 1, list(forces) if forces is not None else [0] * n)
        self.points = {label: sp.ImmutableMatrix(list(point)) for label, point in (points or {}).items()}
        self._check()

    @property
    def n(self):
        """Number of coordinates."""
        return len(self.q)

    @property
    def m(self):
        """Number of constraint equations."""
        return len(self.constraints)

    @property
    def phi(self):
        return sp.ImmutableMatrix(self.m, 1, [expression for expression, _ in self.constraints.values()])

    @cached_property
    def M(self):
        from chain_lib import derive

        return derive.inertia_matrix(self.kinetic_energy, self.v)

    @cached_property
    def h(self):
        from chain_lib import derive

        return derive.bias(self.kinetic_energy, self.potential_energy, self.q, self.v)

    @cached_property
    def J(self):
        from chain_lib import derive

        return derive.constraint_jacobian(self.phi, self.q)

    @cached_property
    def phi_t(self):
        from chain_lib import derive

        return derive.time_part(self.phi, t)

    @cached_property
    def gamma(self):
        from chain_lib import derive

        return derive.acceleration_part(self.phi, self.q, self.v, t)

    @property
    def K(self):
        from chain_lib import derive

        return derive.kkt_matrix(self.M, self.J)

    def system(self, **values):
        """This mechanism with numbers.

        Parameters
        ----------
        **values : float
            Parameters by name, in their units; the others keep their defaults.

        Returns
        -------
        System
        """
        from chain_lib.system import System

        return System(self, **values)

    def __repr__(self):
        parameters = ", ".join(
            f"{symbol} = {default:g} {unit} ({meaning})" for symbol, (default, unit, meaning) in self.parameters.items()
        )
        constraints = ", ".join(f"'{label}' ({unit})" for label, (_, unit) in self.constraints.items())
        return (
            f"{self.name}: coordinates {', '.join(map(str, self.q))}; "
            f"constraints {constraints or 'none'}; parameters {parameters or 'none'}"
        )

    def _check(self):
        if len(self.v) != self.n:
            raise ValueError(f"{self.name}: {self.n} coordinates need {self.n} velocities, not {len(self.v)}.")
        names = [str(symbol) for symbol in (*self.q, *self.v, *self.parameters)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{self.name}: {', '.join(twice)} is declared twice; every symbol needs its own name.")
        q, v, p = set(self.q), set(self.v), set(self.parameters)
        self._allow("kinetic_energy", self.kinetic_energy, q | v | p)
        self._allow("potential_energy", self.potential_energy, q | p)
        for label, (expression, _) in self.constraints.items():
            self._allow(f"constraint '{label}'", expression, q | p | {t})
        for coordinate, force in zip(self.q, self.f):
            self._allow(f"force along {coordinate}", force, q | v | p | {t})
        for label, point in self.points.items():
            self._allow(f"point '{label}'", point, q | p | {t})

    def _allow(self, what, expression, allowed):
        if unknown := sorted(map(str, expression.free_symbols - allowed)):
            names = ", ".join(sorted(map(str, allowed)))
            raise ValueError(
                f"{self.name}: {what} contains {', '.join(unknown)}; it may contain only {names}. "
                "A constant belongs into parameters={symbol: (default, unit, meaning)}."
            )


def _parameter(symbol, entry):
    try:
        default, unit, meaning = entry
    except (TypeError, ValueError):
        raise ValueError(
            f"parameter {symbol} was given as {entry!r}; give (default, unit, meaning), "
            f"for example (1.0, 'kg', 'mass')."
        ) from None
    return float(default), unit, meaning


def _constraint(label, entry):
    if not isinstance(entry, (tuple, list)) or len(entry) != 2 or isinstance(entry, Mapping):
        raise ValueError(
            f"constraint '{label}' was given as {entry!r}; give (expression, unit), for example (x - y, 'm')."
        )
    return sp.sympify(entry[0]), str(entry[1])
