"""The derivation, against sympy.physics.mechanics and against differentiation along a motion."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import chain_lib as cl
from chain_lib import derive

numbers = st.floats(-2.0, 2.0).map(lambda value: round(value, 3))
lengths = st.floats(0.2, 2.0).map(lambda value: round(value, 3))


def open_chain(masses, lengths, relative):
    """Point masses on a chain of massless bars: q, v, T, V, position of the tip."""
    q, v = cl.coordinates([f"theta{i}" for i in range(len(masses))])
    x = y = T = V = sp.Integer(0)
    angle = sp.Integer(0)
    for theta, mass, length in zip(q, masses, lengths):
        angle = angle + theta if relative else theta
        x, y = x + length * sp.cos(angle), y + length * sp.sin(angle)
        velocity = sp.Matrix([x, y]).jacobian(q) * v
        T += mass * velocity.dot(velocity) / 2
        V += mass * sp.Float(9.81) * y
    return q, v, T, V, (x, y)


@settings(max_examples=12)
@given(
    st.lists(st.tuples(lengths, lengths), min_size=1, max_size=3),
    st.booleans(),
    st.lists(numbers, min_size=6, max_size=6),
)
def test_M_and_h_agree_with_lagranges_method_of_sympy(bars, relative, state):
    q, v, T, V, _ = open_chain(*zip(*bars), relative)
    n = len(q)
    functions = dynamicsymbols(f"q:{n}")
    rates = [sp.diff(function, dynamicsymbols._t) for function in functions]
    swap = dict(zip([*q, *v], [*functions, *rates]))
    peer = LagrangesMethod((T - V).xreplace(swap), functions)
    peer.form_lagranges_equations()
    values = state[:n] + state[3 : 3 + n]
    at = dict(zip([*q, *v], values))
    at_peer = list(zip(rates, values[n:])) + list(zip(functions, values[:n]))
    M = np.array(derive.inertia_matrix(T, v).subs(at), dtype=float)
    h = np.array(derive.bias(T, V, q, v).subs(at), dtype=float)[:, 0]
    np.testing.assert_allclose(M, np.array(peer.mass_matrix.subs(at_peer), dtype=float), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(h, -np.array(peer.forcing.subs(at_peer), dtype=float)[:, 0], rtol=1e-10, atol=1e-10)


coefficients = st.lists(numbers, min_size=6, max_size=6)


@settings(max_examples=15)
@given(coefficients, coefficients, numbers)
def test_J_and_gamma_are_what_differentiation_along_a_motion_gives(first, second, instant):
    q, v = cl.coordinates("x y")
    x, y = q
    a, b, c, d, e, f = map(sp.Rational, map(str, first))
    phi = [(x - a * sp.sin(b * cl.t)) ** 2 + y**2 * (1 + c * cl.t) - 1, sp.cos(d * x + cl.t) + e * x * y + f * cl.t**2]
    p = list(map(sp.Rational, map(str, second)))
    motion = [p[0] + p[1] * cl.t + p[2] * cl.t**2, p[3] + p[4] * cl.t + p[5] * sp.sin(cl.t)]
    along = dict(zip(q, motion))
    rates, accelerations = sp.Matrix(motion).diff(cl.t), sp.Matrix(motion).diff(cl.t, 2)
    at = {**along, **dict(zip(v, rates))}
    moment = {cl.t: sp.Rational(str(instant))}
    J, gamma = derive.constraint_jacobian(phi, q), derive.acceleration_part(phi, q, v, cl.t)
    phi_t = derive.time_part(phi, cl.t)
    once = sp.Matrix(phi).subs(along).diff(cl.t) - (J * v + phi_t).subs(at)
    twice = sp.Matrix(phi).subs(along).diff(cl.t, 2) - (J.subs(at) * accelerations + gamma.subs(at))
    assert max(abs(sp.N(entry.subs(moment), 30)) for entry in [*once, *twice]) < 1e-20


def test_001_7_the_mixed_term_of_a_moving_constraint_is_in_gamma():
    """Errata 001-7: J̇ along v alone loses 2 φ_qt v, here −4 ẋ r ω cos ωt."""
    wire = cl.mechanisms.BeadOnMovingCircle()
    along_v = (wire.J * wire.v).jacobian(wire.q) * wire.v
    lost = sp.simplify(wire.gamma - along_v - wire.phi_t.diff(cl.t))
    symbols = {symbol.name: symbol for symbol in wire.parameters}
    r, omega, xdot = symbols["r"], symbols["omega"], wire.v[0]
    assert sp.simplify(lost[0] + 4 * xdot * r * omega * sp.cos(omega * cl.t)) == 0


def test_a_mechanism_without_constraints_has_empty_parts():
    q, v = cl.coordinates("x")
    mechanism = cl.Mechanism("a mass", coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2 / 2)
    assert mechanism.J.shape == (0, 1) and mechanism.gamma.shape == (0, 1)
    assert mechanism.K == mechanism.M
    tr = cl.simulate(mechanism.system(), [0.0], [2.0], t_end=1.0, dt=0.1)
    np.testing.assert_allclose(tr.q[-1], [2.0], rtol=1e-14)
    assert tr.lam.shape == (11, 0) and tr.position_residual.max() == 0.0


@pytest.mark.parametrize("what", ["M", "h"])
def test_equal_symbols_give_the_same_object_twice(what):
    bead = cl.mechanisms.BeadOnCircle()
    assert getattr(bead, what) is getattr(bead, what)
