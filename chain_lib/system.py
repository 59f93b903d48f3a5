"""Evaluate a mechanism with numbers."""

from types import MappingProxyType

import numpy as np

from chain_lib import codegen


class System:
    """A mechanism with numbers for its parameters. Immutable: `set` returns another one.

    Parameters
    ----------
    mechanism : Mechanism
    **values : float
        Parameters by name, in their units; the others keep their defaults.

    Attributes
    ----------
    mechanism : Mechanism
    parameters : mapping
        Name to value.
    n, m : int
        Numbers of coordinates and of constraints.

    Examples
    --------
    >>> import chain_lib as cl
    >>> bead = cl.mechanisms.BeadOnCircle().system(R=0.5)
    >>> print(bead.J([0.5, 0.0]))
    [[1. 0.]]
    """

    def __init__(self, mechanism, **values):
        known = {str(symbol): symbol for symbol in mechanism.parameters}
        if unknown := [name for name in values if name not in known]:
            raise ValueError(
                f"{mechanism.name} has no parameter {', '.join(map(repr, unknown))}; it has {', '.join(known) or 'none'}."
            )
        numbers, by_symbol = {}, {}
        for name, symbol in known.items():
            default, unit, meaning = mechanism.parameters[symbol]
            if name in values:
                value = values[name]
            else:
                value = default if isinstance(default, float) else default.xreplace(by_symbol)
            numbers[name] = by_symbol[symbol] = _number(value, symbol, unit, meaning)
        self._mechanism = mechanism
        self._given = values
        self._parameters = MappingProxyType(numbers)
        self._p = np.array(list(numbers.values()))
        self._code = codegen.load(mechanism)

    mechanism = property(lambda self: self._mechanism, doc="The `Mechanism` in symbols.")
    parameters = property(lambda self: self._parameters, doc="Parameter values by name.")
    p = property(lambda self: self._p.copy(), doc="Parameter values in order, as the kernels take them.")
    code = property(lambda self: self._code, doc="The generated module; see `codegen.load`.")
    n = property(lambda self: self._mechanism.n, doc="Number of coordinates.")
    m = property(lambda self: self._mechanism.m, doc="Number of constraints.")

    @property
    def units(self):
        """Units of the constraints, in order."""
        return [unit for _, unit in self.mechanism.constraints.values()]

    def set(self, **values):
        """The same mechanism with some parameters changed; what was never given follows its default."""
        return System(self.mechanism, **{**self._given, **values})

    def is_given(self, name):
        """Whether a parameter was given a value, so that it does not follow its default."""
        return name in self._given

    def branches(self, **held):
        """All configurations in closed form with some coordinates held: name to q; see `assembly.branches`."""
        from chain_lib import assembly

        return assembly.branches(self, **held)

    def assemble(self, branch=None, start=None, t=0.0, **held):
        """A configuration that fulfils the constraints with some coordinates held; see `assembly.assemble`."""
        from chain_lib import assembly

        return assembly.assemble(self, branch, start, t, **held)

    def M(self, q):
        """Inertia matrix; (n, n)."""
        return self._evaluate("M", (self.n, self.n), q)

    def h(self, q, v):
        """Bias: Coriolis, centrifugal and +∂V/∂q; (n,)."""
        return self._evaluate("h", self.n, q, v)

    def forces(self, q, v, t=0.0):
        """The mechanism's own applied forces f(q, v, t), such as damping; (n,)."""
        return self._evaluate("f", self.n, q, v, t)

    def phi(self, q, t=0.0):
        """Constraints φ(q, t), each in its own unit; (m,)."""
        return self._evaluate("phi", self.m, q, t=t)

    def J(self, q, t=0.0):
        """Constraint Jacobian ∂φ/∂q; (m, n)."""
        return self._evaluate("J", (self.m, self.n), q, t=t)

    def phi_t(self, q, t=0.0):
        """Explicit time part of the velocity constraint J v + φ_t = 0; (m,)."""
        return self._evaluate("phi_t", self.m, q, t=t)

    def gamma(self, q, v, t=0.0):
        """Acceleration part of the constraint J q̈ + γ = 0; (m,)."""
        return self._evaluate("gamma", self.m, q, v, t)

    def B(self, q):
        """A column per motor, so that τ = B u; (n, k)."""
        return self._evaluate("B", (self.n, len(self.mechanism.motors)), q)

    def energy(self, q, v):
        """Total energy T + V (J)."""
        return float(self._evaluate("energy", 1, q, v)[0])

    def constraint_scale(self, q, t=0.0):
        """Size of each constraint: the sum of its terms' magnitudes, the largest among equal units; (m,).

        A residual ‖φ‖ is small or large compared with this; its rounding level is 2e-16 of it.
        """
        terms = self._evaluate("phi_terms", self.m, q, t=t)
        return np.array([max(x for x, other in zip(terms, self.units) if other == unit) for unit in self.units])

    def points(self, q, t=0.0):
        """The mechanism's named points (m).

        Parameters
        ----------
        q : array, (n,) or (N, n)
        t : float or array, (N,)

        Returns
        -------
        dict
            Name to (2,), or to (N, 2) for many states.
        """
        q = np.asarray(q, float)
        if q.shape[-1:] != (self.n,) or q.ndim > 2:
            raise ValueError(f"q has shape {q.shape}; {self.mechanism.name} needs ({self.n},) or (N, {self.n}).")
        places = {}
        for name, point in self.code.points.items():
            rows = [np.broadcast_to(row[0], q.shape[:-1]) for row in point(t, q.T, None, self.p)]
            places[name] = np.stack(rows, axis=-1)
        return places

    def vector(self, x, what="q"):
        """``x`` as a finite float vector of n entries, or a sentence about what is wrong with it."""
        try:
            x = np.array(x, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{what} = {x!r} is not a vector of {self.n} real numbers.") from None
        if x.shape != (self.n,):
            names = ", ".join(map(str, self.mechanism.q))
            raise ValueError(
                f"{what} has shape {x.shape}; {self.mechanism.name} needs ({self.n},), in the order {names}."
            )
        if not np.isfinite(x).all():
            raise ValueError(f"{what} = {x} contains a number that is not finite; give {self.n} finite numbers.")
        return x

    def __repr__(self):
        values = ", ".join(f"{name} = {value:g}" for name, value in self.parameters.items())
        return f"{self.mechanism.name} with {values or 'no parameters'}"

    def _evaluate(self, quantity, shape, q, v=None, t=0.0):
        q = self.vector(q)
        v = np.zeros(self.n) if v is None else self.vector(v, "v")
        if not np.isfinite(t):
            raise ValueError(f"t = {t} is not finite; give a time in seconds.")
        with np.errstate(all="ignore"):
            value = np.array(getattr(self.code, quantity)(t, q, v, self.p), dtype=float).reshape(shape)
        if not np.isfinite(value).all():
            raise ValueError(f"{quantity} is not finite at q = {q}, v = {v}, t = {t:g} s of {self.mechanism.name}.")
        return value


def _number(value, symbol, unit, meaning):
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{symbol} = {value!r} is not a number; {meaning} is one number in {unit}.") from None
    if not np.isfinite(number):
        raise ValueError(f"{symbol} = {number} {unit} is not finite; {meaning} must be a finite number.")
    if symbol.is_positive and not number > 0:
        raise ValueError(f"{symbol} = {number:g} {unit} is not possible; {meaning} must be positive.")
    if symbol.is_nonnegative and not number >= 0:
        raise ValueError(f"{symbol} = {number:g} {unit} is not possible; {meaning} must not be negative.")
    return number
