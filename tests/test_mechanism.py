"""Describing a mechanism, and the sentences for a description that is not possible."""

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
