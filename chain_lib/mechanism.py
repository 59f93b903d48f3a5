"""Describe a mechanism: coordinates, energies, forces and constraints, as sympy expressions.

Everything else follows from this description; `chain_lib.derive` does the following.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Body:
    """A rigid body in the plane: mass (kg), centre of mass (x, y) (m), angle (rad), inertia about the centre (kg m²)."""

    name: str
    mass: sp.Expr
    centre: sp.Matrix
    angle: sp.Expr
    inertia: sp.Expr


@dataclass(frozen=True)
class Joint:
    """What holds a body to another one, or to the ground, at a point: a pin, or a slide along a direction."""

    point: str
    body: str
    other: str
    along: sp.Matrix | None = None


class Mechanism:
    """A mechanism in symbols.

    Parameters
    ----------
    name : str
        What it is called in messages.
    coordinates, velocities : sequence of sympy.Symbol, (n,)
        q and v, as `coordinates` makes them.
    parameters : dict
        ``{symbol: (default, unit, meaning)}``. A default may be an expression of the parameters before
        it. A symbol declared ``positive=True`` (or ``nonnegative=True``) refuses other values later.
    kinetic_energy, potential_energy : sympy expression, optional
        T(q, v), quadratic in v, and V(q), both in J. Where they are not given they are those of the
        bodies, with gravity along −y where there is a parameter named g.
    constraints : dict, optional
        ``{name: (expression, unit)}``: each expression φ(q, t) is zero when the constraint holds.
    forces : sequence of sympy expression, optional
        Generalized forces f(q, v, t) such as damping and friction; (n,).
    motors : dict, optional
        ``{name: angle or length}``: what each motor turns or extends, a function of q.
    points : dict, optional
        ``{name: (x, y)}``: points to draw, in m, functions of q and t.
    bodies : sequence of (name, mass, centre, angle, inertia), optional
        Rigid bodies of a planar mechanism: centre of mass (x, y) and angle as functions of q, and the
        inertia about the centre of mass. Joint forces need them, and drawing.
    joints : sequence of (point, body, other) or (point, body, other, direction), optional
        Pins, by the name of a point, and slides along a direction; ``other`` is a body or "ground".
    branches : function (parameters, held) -> {name: q}, optional
        Closed-form assembly: all configurations with some coordinates held. Both arguments are dicts
        by name; an impossible one raises ValueError.

    Attributes
    ----------
    M, h, f : sympy.Matrix
        Inertia matrix (n, n), bias (n, 1) and applied forces (n, 1).
    B : sympy.Matrix, (n, k)
        A column per motor: the gradient of its angle or length, so that τ = B u.
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
        kinetic_energy=None,
        potential_energy=None,
        constraints=None,
        forces=None,
        motors=None,
        points=None,
        bodies=(),
        joints=(),
        branches=None,
    ):
        self.name = name
        self.q = sp.ImmutableMatrix(list(coordinates))
        self.v = sp.ImmutableMatrix(list(velocities))
        self.parameters = {symbol: _parameter(symbol, entry) for symbol, entry in parameters.items()}
        self.bodies = {body[0]: _body(body) for body in bodies}
        if twice := _twice([body[0] for body in bodies]):
            raise ValueError(f"{name}: two bodies are named '{twice[0]}'; every body needs its own name.")
        self.joints = tuple(_joint(joint) for joint in joints)
        if kinetic_energy is None and not self.bodies:
            raise ValueError(f"{name} has neither a kinetic energy nor bodies; give one of them.")
        self.kinetic_energy = sp.sympify(self._kinetic_energy() if kinetic_energy is None else kinetic_energy)
        self.potential_energy = sp.sympify(self.weight if potential_energy is None else potential_energy)
        self.constraints = {label: _constraint(label, entry) for label, entry in (constraints or {}).items()}
        self.f = sp.ImmutableMatrix(n := len(self.q), 1, list(forces) if forces is not None else [0] * n)
        self.motors = {label: sp.sympify(turned) for label, turned in (motors or {}).items()}
        self.points = {label: sp.ImmutableMatrix(list(point)) for label, point in (points or {}).items()}
        self.branches = branches
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

    @property
    def B(self):
        return sp.ImmutableMatrix(self.n, len(self.motors), lambda j, k: sp.diff([*self.motors.values()][k], self.q[j]))

    @property
    def weight(self):
        """Potential energy (J) of the bodies' weight, with the parameter named g; 0 without it."""
        from chain_lib import derive

        g = next((symbol for symbol in self.parameters if str(symbol) == "g"), 0)
        return derive.weight(self.bodies.values(), g)

    @property
    def angles(self):
        """The coordinates that turn a body; the others are lengths."""
        turning = set().union(*(body.angle.free_symbols for body in self.bodies.values()))
        return [symbol for symbol in self.q if symbol in turning]

    def _kinetic_energy(self):
        from chain_lib import derive

        return derive.kinetic_energy(self.bodies.values(), self.q, self.v)

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
            f"{symbol} = {f'{default:g}' if isinstance(default, float) else default} {unit} ({meaning})"
            for symbol, (default, unit, meaning) in self.parameters.items()
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
        if twice := _twice(names):
            raise ValueError(f"{self.name}: {', '.join(twice)} is declared twice; every symbol needs its own name.")
        q, v, p = set(self.q), set(self.v), set(self.parameters)
        self._allow("kinetic_energy", self.kinetic_energy, q | v | p)
        self._allow("potential_energy", self.potential_energy, q | p)
        for label, (expression, _) in self.constraints.items():
            self._allow(f"constraint '{label}'", expression, q | p | {t})
        for coordinate, force in zip(self.q, self.f):
            self._allow(f"force along {coordinate}", force, q | v | p | {t})
        for label, turned in self.motors.items():
            self._allow(f"motor '{label}'", turned, q | p)
        for label, point in self.points.items():
            self._allow(f"point '{label}'", point, q | p | {t})
        for body in self.bodies.values():
            self._allow(f"body '{body.name}'", sp.Matrix([*body.centre, body.angle]), q | p)
            self._allow(f"the mass or inertia of body '{body.name}'", sp.Matrix([body.mass, body.inertia]), p)
        for joint in self.joints:
            for body in (joint.body, joint.other):
                if body not in self.bodies and body != "ground":
                    known = ", ".join([*self.bodies, "ground"])
                    raise ValueError(f"{self.name}: joint '{joint.point}' names '{body}'; the bodies are {known}.")
            if joint.point not in self.points:
                known = ", ".join(self.points) or "none"
                raise ValueError(f"{self.name}: joint '{joint.point}' is at no known point; the points are {known}.")
        if twice := _twice([joint.point for joint in self.joints]):
            raise ValueError(
                f"{self.name}: two joints are at the point '{twice[0]}'; forces are told by its name, so give the second "
                "joint a point of its own at the same place."
            )
        declared = set()
        for symbol, (default, *_) in self.parameters.items():
            self._allow(f"the default of {symbol}", sp.sympify(default), declared)
            declared.add(symbol)

    def _allow(self, what, expression, allowed):
        if unknown := sorted(map(str, expression.free_symbols - allowed)):
            names = ", ".join(sorted(map(str, allowed)))
            raise ValueError(
                f"{self.name}: {what} contains {', '.join(unknown)}; it may contain only {names}. "
                "A constant belongs into parameters={symbol: (default, unit, meaning)}."
            )


def _twice(names):
    return sorted({name for name in names if names.count(name) > 1})


def _parameter(symbol, entry):
    try:
        default, unit, meaning = entry
    except (TypeError, ValueError):
        raise ValueError(
            f"parameter {symbol} was given as {entry!r}; give (default, unit, meaning), "
            f"for example (1.0, 'kg', 'mass')."
        ) from None
    return (default if isinstance(default, sp.Expr) and default.free_symbols else float(default)), unit, meaning


def _body(entry):
    name, mass, centre, angle, inertia = entry
    return Body(name, sp.sympify(mass), sp.ImmutableMatrix(list(centre)), sp.sympify(angle), sp.sympify(inertia))


def _joint(entry):
    point, body, other, *along = entry
    return Joint(point, body, other, sp.ImmutableMatrix(list(along[0])) if along else None)


def _constraint(label, entry):
    if not isinstance(entry, (tuple, list)) or len(entry) != 2 or isinstance(entry, Mapping):
        raise ValueError(
            f"constraint '{label}' was given as {entry!r}; give (expression, unit), for example (x - y, 'm')."
        )
    return sp.sympify(entry[0]), str(entry[1])
