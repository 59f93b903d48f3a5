"""A mechanism with numbers: values, shapes, and sentences for what is not possible."""

import numpy as np
import pytest

import chain_lib as cl


def test_values_of_the_bead(bead):
    q, v = [0.6, -0.8], [0.8, 0.6]
    np.testing.assert_array_equal(bead.M(q), np.eye(2))
    np.testing.assert_array_equal(bead.h(q, v), [0.0, 9.81])
    np.testing.assert_array_equal(bead.J(q), [[1.2, -1.6]])
    np.testing.assert_allclose(bead.phi(q), [0.0], atol=1e-15)
    np.testing.assert_allclose(bead.gamma(q, v), [2.0])
    assert bead.energy(q, v) == pytest.approx(0.5 - 9.81 * 0.8)
    assert bead.constraint_scale(q) == pytest.approx([2.0])


def test_set_returns_another_system_and_leaves_the_first(bead):
    other = bead.set(R=0.5, g=0.0)
    assert (other.parameters["R"], bead.parameters["R"]) == (0.5, 1.0)
    assert other.set(m=2.0).parameters == {"m": 2.0, "R": 0.5, "g": 0.0}
    with pytest.raises(TypeError):
        bead.parameters["R"] = 2.0
    with pytest.raises(AttributeError):
        bead.n = 3
    bead.p[0] = 7.0
    assert bead.parameters["m"] == bead.p[0] == 1.0


def test_points_of_one_state_and_of_many(wire):
    one = wire.points([0.3, -0.9], t=0.2)
    many = wire.points([[0.3, -0.9], [0.1, 0.2]], t=np.array([0.2, 0.5]))
    np.testing.assert_allclose(one["centre"], [0.3 * np.sin(0.8), 0.0])
    assert many["bead"].shape == many["centre"].shape == (2, 2)
    np.testing.assert_allclose(many["centre"][:, 0], 0.3 * np.sin([0.8, 2.0]))
    with pytest.raises(ValueError, match=r"needs \(2,\) or \(N, 2\)"):
        wire.points([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda s: s.set(mass=2.0), "no parameter 'mass'; it has m, R, g"),
        (lambda s: s.set(m=-1.0), "m = -1 kg is not possible; mass must be positive"),
        (lambda s: s.set(R=0.0), "R = 0 m is not possible; radius must be positive"),
        (lambda s: s.set(g=-1.0), "gravity must not be negative"),
        (lambda s: s.set(m=float("nan")), "m = nan kg is not finite"),
        (lambda s: s.set(m="heavy"), "m = 'heavy' is not a number"),
        (lambda s: s.M([1.0]), r"q has shape \(1,\); bead on a circle needs \(2,\), in the order x, y"),
        (lambda s: s.M([[1.0, 2.0]]), r"q has shape \(1, 2\)"),
        (lambda s: s.h([1.0, 0.0], [0.0, np.nan]), r"v = \[ 0. nan\] contains a number that is not finite"),
        (lambda s: s.J(["a", "b"]), "is not a vector of 2 real numbers"),
        (lambda s: s.J([1.0, 2.0j]), "is not a vector of 2 real numbers"),
        (lambda s: s.phi([1.0, 0.0], t=np.inf), "t = inf is not finite"),
        (lambda s: s.phi([1e200, 0.0]), "phi is not finite at q"),
    ],
)
def test_impossible_input_is_refused_in_a_sentence(bead, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(bead)


def test_a_system_says_what_it_is(bead):
    assert repr(bead) == "bead on a circle with m = 1, R = 1, g = 9.81"


def test_the_scale_of_a_constraint_is_shared_by_equal_units():
    q, v = cl.coordinates("x y z")
    mechanism = cl.Mechanism(
        "a test",
        coordinates=q,
        velocities=v,
        parameters={},
        kinetic_energy=v.dot(v) / 2,
        constraints={"a": (q[0] - 3, "m"), "b": (q[1], "m"), "c": (q[2] * q[0], "m^2")},
    )
    np.testing.assert_allclose(mechanism.system().constraint_scale([3.0, 0.0, -2.0]), [6.0, 6.0, 6.0])
    np.testing.assert_allclose(mechanism.system().constraint_scale([1.0, 0.0, -2.0]), [4.0, 4.0, 2.0])
