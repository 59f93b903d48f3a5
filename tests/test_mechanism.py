"""Describing a mechanism, and the sentences for a description that is not possible."""

import numpy as np
import pytest
import sympy as sp

import chain_lib as cl


def describe(**changes):
    q, v = cl.coordinates("x y")
    m = sp.Symbol("m", positive=True)
    given = dict(
        coordinates=q,
        velocities=v,
        parameters={m: (1.0, "kg", "mass")},
        kinetic_energy=m * (v[0] ** 2 + v[1] ** 2) / 2,
        potential_energy=m * q[1],
        constraints={"on the line": (q[0] - q[1], "m")},
    )
    return cl.Mechanism("a test", **{**given, **changes})


def test_a_velocity_is_shown_with_a_dot():
    q, v = cl.coordinates("x theta2, phi_1")
    assert [str(symbol) for symbol in v] == ["xdot", "thetadot2", "phidot_1"]
    assert [sp.latex(symbol) for symbol in v] == [r"\dot{x}", r"\dot{\theta}_{2}", r"\dot{\phi}_{1}"]
    assert all(symbol.is_real for symbol in (*q, *v))


def test_symbols_are_sympy_objects_with_the_shapes_of_the_conventions():
    bead = cl.mechanisms.BeadOnMovingCircle()
    shapes = {
        "q": (2, 1),
        "v": (2, 1),
        "M": (2, 2),
        "h": (2, 1),
        "phi": (1, 1),
        "J": (1, 2),
        "phi_t": (1, 1),
        "gamma": (1, 1),
    }
    for name, shape in {**shapes, "f": (2, 1), "K": (3, 3)}.items():
        assert getattr(bead, name).shape == shape, name
    assert bead.K[:2, 2] == -bead.J.T and bead.K[2, :2] == bead.J


x, xdot, y, k, m = sp.symbols("x xdot y k m", real=True)
LIGHT = dict(kinetic_energy=xdot**2, potential_energy=0)
ROD = dict(bodies=[("rod", 1, (x, 0), x, 1)], points={"A": (x, 0)})


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (dict(potential_energy=k * x), "potential_energy contains k"),
        (dict(potential_energy=xdot), "potential_energy contains xdot"),
        (dict(kinetic_energy=cl.t * xdot**2), "kinetic_energy contains t"),
        (dict(constraints={"rolling": (xdot, "m/s")}), "constraint 'rolling' contains xdot"),
        (dict(forces=[k, 0]), "force along x contains k"),
        (dict(points={"tip": (k, 0)}), "point 'tip' contains k"),
        (dict(velocities=[xdot]), "2 coordinates need 2 velocities, not 1"),
        (dict(coordinates=[x, x]), "x is declared twice"),
        (dict(constraints={"on the line": x}), r"give \(expression, unit\)"),
        (dict(parameters={m: 1.0}), r"give \(default, unit, meaning\)"),
        (dict(motors={"M": k * x}), "motor 'M' contains k"),
        (dict(motors={"M": xdot}), "motor 'M' contains xdot"),
        (dict(bodies=[("rod", 1, (k, 0), x, 1)]), "body 'rod' contains k"),
        (dict(bodies=[("rod", 1, (x, 0), xdot, 1)]), "body 'rod' contains xdot"),
        (dict(bodies=[("rod", x, (x, 0), x, 1)]), "the mass or inertia of body 'rod' contains x"),
        (dict(bodies=[("rod", 1, (x, 0), x, k)]), "the mass or inertia of body 'rod' contains k"),
        (dict(ROD, joints=[("A", "rod", "wall")]), "joint 'A' names 'wall'; the bodies are rod, ground"),
        (dict(ROD, joints=[("A", "bar", "ground")]), "joint 'A' names 'bar'; the bodies are rod, ground"),
        (dict(ROD, joints=[("B", "rod", "ground")]), "joint 'B' is at no known point; the points are A"),
        (dict(joints=[("A", "ground", "ground")]), "joint 'A' is at no known point; the points are none"),
        (dict(LIGHT, parameters={m: (2 * k, "kg", "mass")}), "the default of m contains k"),
        (dict(LIGHT, parameters={m: (2 * y, "kg", "mass")}), "the default of m contains y"),
        (dict(kinetic_energy=None, potential_energy=0), "neither a kinetic energy nor bodies; give one of them"),
    ],
)
def test_an_impossible_description_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        describe(**changes)


@pytest.mark.parametrize("T", [xdot, xdot**3, xdot**2 + x, xdot**4])
def test_a_kinetic_energy_that_is_not_quadratic_is_refused(T):
    with pytest.raises(ValueError, match="not quadratic in the velocities"):
        describe(kinetic_energy=T).system()


def test_no_coordinates():
    with pytest.raises(ValueError, match="at least one name"):
        cl.coordinates("  ")


def test_a_mechanism_says_what_it_is():
    assert repr(describe()) == "a test: coordinates x, y; constraints 'on the line' (m); parameters m = 1 kg (mass)"


def test_a_default_may_follow_from_parameters_before_it_and_from_no_others():
    length, mass, inertia = sp.symbols("length mass inertia", positive=True)
    q, v = cl.coordinates("x")
    given = {length: (0.6, "m", "length"), mass: (2.0, "kg", "mass")}
    follows = {inertia: (mass * length**2 / 12, "kg m^2", "inertia")}
    rod = cl.Mechanism(
        "a rod", coordinates=q, velocities=v, parameters=given | follows, kinetic_energy=inertia * v[0] ** 2 / 2
    )
    assert rod.system().parameters["inertia"] == pytest.approx(0.06)
    assert rod.system(length=1.2).parameters["inertia"] == pytest.approx(0.24)
    assert rod.system(length=1.2, inertia=0.5).set(mass=9.0).parameters["inertia"] == 0.5
    assert "inertia = length**2*mass/12 kg m^2 (inertia)" in repr(rod)
    with pytest.raises(ValueError, match="the default of inertia contains length, mass; it may contain only "):
        cl.Mechanism("a rod", coordinates=q, velocities=v, parameters=follows | given, kinetic_energy=v[0] ** 2)


def test_energies_of_bodies_are_those_of_koenigs_theorem_and_of_weight():
    (x, theta), v = cl.coordinates("x theta")
    m, g = sp.symbols("m g", positive=True)
    given = dict(
        coordinates=(x, theta),
        velocities=v,
        parameters={m: (3.0, "kg", "mass"), g: (9.81, "m/s^2", "gravity")},
        bodies=[("rod", m, (x + sp.cos(theta), sp.sin(theta)), theta, m / 3)],
    )
    rod = cl.Mechanism("a rod", **given)
    speed, turn = v
    expected = m * (speed**2 - 2 * speed * turn * sp.sin(theta) + turn**2) / 2 + m / 3 * turn**2 / 2
    assert sp.simplify(rod.kinetic_energy - expected) == 0
    assert sp.simplify(rod.potential_energy - m * g * sp.sin(theta)) == 0 and rod.weight == rod.potential_energy
    assert rod.angles == [theta]
    weightless = cl.Mechanism("a rod", **{**given, "parameters": {m: (3.0, "kg", "mass")}})
    assert weightless.potential_energy == 0
    sprung = cl.Mechanism("a rod", **given, potential_energy=x**2)
    assert sprung.potential_energy == x**2 and sprung.weight == m * g * sp.sin(theta)


def test_two_bodies_of_one_name_are_refused_and_two_joints_at_one_point():
    with pytest.raises(ValueError, match="two bodies are named 'rod'; every body needs its own name"):
        describe(bodies=[("rod", 1, (x, 0), x, 1), ("rod", 2, (x, 1), x, 1)])
    with pytest.raises(ValueError, match="two joints are at the point 'A'; .* a point of its own at the same place"):
        describe(**ROD, joints=[("A", "rod", "ground"), ("A", "rod", "ground", (1, 0))])


def test_a_motor_turns_what_it_says():
    mechanism = describe(motors={"first": x - 2 * y, "second": x * y})
    assert mechanism.B == sp.Matrix([[1, y], [-2, x]])
    assert describe().B.shape == (2, 0) and describe().system().B([1.0, 2.0]).shape == (2, 0)
    np.testing.assert_array_equal(mechanism.system().B([3.0, 5.0]), [[1, 5], [-2, 3]])
