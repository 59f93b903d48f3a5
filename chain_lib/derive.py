"""Derive the equations of motion: pure functions from energies and constraints to M, h, J, φ_t, γ.

The equations are M q̈ + h = τ + Jᵀλ and J q̈ + γ = 0. What these functions return is what a lesson
displays and what `chain_lib.codegen` compiles: there is one derivation.
"""

import sympy as sp
from sympy.simplify.fu import TR8


def kinetic_energy(bodies, q, v):
    """Kinetic energy of rigid bodies in the plane, ½ Σ (m |ċ|² + I ω²).

    c is the centre of mass and I the inertia about it (König's theorem); about another point of the body
    the inertia would be larger by m times the square of its distance from the centre (Steiner's theorem).
    """
    rates = [(body, body.centre.jacobian(q) * sp.Matrix(v), _gradient(body.angle, q).dot(v)) for body in bodies]
    return _sum_of_angles(sum(body.mass * c.dot(c) + body.inertia * omega**2 for body, c, omega in rates) / 2)


def weight(bodies, g):
    """Potential energy of the bodies' weight, Σ m g c_y, with y up."""
    return sum((body.mass * g * body.centre[1] for body in bodies), sp.Integer(0))


def inertia_matrix(T, v):
    """Inertia matrix M = ∂²T/∂v∂v of a kinetic energy T = ½ vᵀ M v; (n, n).

    Raises ValueError if T is not quadratic in the velocities v.
    """
    M = sp.ImmutableMatrix(sp.hessian(T, list(v))).applyfunc(_sum_of_angles)
    at_rest = dict.fromkeys(v, 0)
    rest = [T, *_gradient(T, v)]
    if M.free_symbols & set(v) or any(_sum_of_angles(part.subs(at_rest)) != 0 for part in rest):
        raise ValueError(f"the kinetic energy {T} is not quadratic in the velocities; it must be T = ½ vᵀ M(q) v.")
    return M


def bias(T, V, q, v):
    """Bias h of Lagrange's equations, so that M q̈ + h = τ + Jᵀλ; (n, 1).

    d/dt(∂T/∂v) = M q̈ + ∂(∂T/∂v)/∂q v, hence h = ∂(∂T/∂v)/∂q v − ∂T/∂q + ∂V/∂q: Coriolis and
    centrifugal terms, and +∂V/∂q. Source: Goldstein, Classical Mechanics, 3rd ed., eq. (1.57).
    """
    momentum = _gradient(T, v)
    h = momentum.jacobian(q) * sp.Matrix(v) - _gradient(T, q) + _gradient(V, q)
    return sp.ImmutableMatrix(h).applyfunc(_sum_of_angles)


def slope(T, V, q):
    """∂(T − V)/∂q, by which the momentum ∂T/∂v grows without constraints and applied forces; (n, 1)."""
    return sp.ImmutableMatrix(_gradient(T, q) - _gradient(V, q)).applyfunc(_sum_of_angles)


def constraint_jacobian(phi, q):
    """Constraint Jacobian J = ∂φ/∂q; (m, n)."""
    return sp.ImmutableMatrix(len(phi), len(q), lambda k, j: sp.diff(phi[k], q[j]))


def time_part(phi, t):
    """Explicit time part φ_t of the velocity constraint J v + φ_t = 0; (m, 1)."""
    return sp.ImmutableMatrix(len(phi), 1, lambda k, _: sp.diff(phi[k], t))


def acceleration_part(phi, q, v, t):
    """Everything in φ̈ but J q̈: γ = ∂(Jv)/∂q v + 2 φ_qt v + φ_tt, so that J q̈ + γ = 0; (m, 1).

    The middle term is lost when J̇ is taken as the derivative of J along v alone although the
    constraint depends on time. Source: Haug, Computer Aided Kinematics and Dynamics of Mechanical
    Systems (1989), section 3.6, where γ is the right-hand side, that is −γ here.
    """
    v = sp.Matrix(v)
    Jv = constraint_jacobian(phi, q) * v
    phi_t = time_part(phi, t)
    centripetal = constraint_jacobian(Jv, q) * v
    mixed = constraint_jacobian(phi_t, q) * v
    return sp.ImmutableMatrix(centripetal + 2 * mixed + time_part(phi_t, t))


def kkt_matrix(M, J):
    """The block matrix K = [[M, −Jᵀ], [J, 0]] of the unknowns (q̈, λ); (n+m, n+m)."""
    m = J.rows
    return sp.ImmutableMatrix(sp.BlockMatrix([[M, -J.T], [J, sp.zeros(m, m)]]).as_explicit())


def _sum_of_angles(expression):
    """Products of sines and cosines as sums, so that sin² + cos² and its like fall away."""
    return sp.expand(TR8(sp.expand(expression)))


def _gradient(expression, symbols):
    return sp.Matrix([sp.diff(expression, symbol) for symbol in symbols])
