"""The slider-crank: the piston's motion from textbooks, its branches, and its equations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chain_lib as cl

SLIDER_CRANK = cl.mechanisms.SliderCrank()
angles = st.floats(-3.14, 3.14)


@given(angles, st.floats(-0.25, 0.25))
def test_the_piston_of_the_textbook_on_both_branches(theta2, e):
    """x = a cos θ ± √(b² − (a sin θ − e)²)."""
    poses = SLIDER_CRANK.system(e=e).branches(theta2=theta2)
    reach = np.sqrt(0.5**2 - (0.2 * np.sin(theta2) - e) ** 2)
    for name, side in (("right", 1), ("left", -1)):
        q = poses[name]
        assert q[2] == pytest.approx(0.2 * np.cos(theta2) + side * reach, abs=1e-14)
        assert np.abs(SLIDER_CRANK.system(e=e).phi(q)).max() < 1e-15


@given(angles, st.floats(-6, 6))
def test_speed_and_acceleration_of_the_piston(theta2, omega):
    """Against derivatives of the textbook's x(θ₂), with the crank driven at a constant speed."""
    system = SLIDER_CRANK.system()
    sine, cosine = np.sin(theta2), np.cos(theta2)
    reach = np.sqrt(0.5**2 - 0.2**2 * sine**2)
    slope = -0.2 * sine - 0.2**2 * sine * cosine / reach
    bend = -0.2 * cosine - 0.2**2 * (cosine**2 - sine**2) / reach - 0.2**4 * (sine * cosine) ** 2 / reach**3
    q = system.assemble("right", theta2=theta2)
    form = cl.reduced(system, q, np.zeros(3), ["theta2"])
    assert form.S[2, 0] == pytest.approx(slope, abs=1e-13)
    form = cl.reduced(system, q, form.S[:, 0] * omega, ["theta2"])
    assert form.bias[2] == pytest.approx(bend * omega**2, abs=1e-11)


def test_a_motor_at_the_slide_pushes_the_slider():
    assert [*SLIDER_CRANK.motors] == ["A", "B", "slide"]
    np.testing.assert_array_equal(SLIDER_CRANK.system().B([0.1, 0.2, 0.3]), [[1, -1, 0], [0, 1, 0], [0, 0, 1]])
    assert [str(symbol) for symbol in SLIDER_CRANK.angles] == ["theta2", "theta3"]


@given(angles, angles, st.floats(-6, 6), st.floats(-6, 6), st.floats(-6, 6))
def test_energy_is_that_of_two_rods_and_a_mass(theta2, theta3, w2, w3, speed):
    system = SLIDER_CRANK.system(m2=1.5, m3=0.7, m4=2.5)
    B = 0.2 * w2 * np.array([-np.sin(theta2), np.cos(theta2)])
    middle = B + 0.25 * w3 * np.array([-np.sin(theta3), np.cos(theta3)])
    kinetic = 1.5 * 0.2**2 / 3 * w2**2 + 0.7 * middle @ middle + 0.7 * 0.5**2 / 12 * w3**2 + 2.5 * speed**2
    height = 1.5 * 0.1 * np.sin(theta2) + 0.7 * (0.2 * np.sin(theta2) + 0.25 * np.sin(theta3))
    expected = kinetic / 2 + 9.81 * height
    assert system.energy([theta2, theta3, 0.4], [w2, w3, speed]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_run_keeps_its_energy_and_passes_its_dead_centres():
    system = SLIDER_CRANK.system()
    q = system.assemble("right", theta2=1.0)
    v = 8 * cl.reduced(system, q, np.zeros(3), ["theta2"]).S[:, 0]
    tr = cl.simulate(system, q, v, t_end=2.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
    assert tr.stopped is None and tr.q[-1, 0] > 4 * np.pi
    assert np.abs(tr.energy_balance).max() < 1e-6 and tr.position_residual.max() < 1e-8


def test_a_crank_that_the_rod_cannot_follow_is_refused_in_a_sentence():
    short = SLIDER_CRANK.system(b=0.15)
    with pytest.raises(
        ValueError, match="theta2 = 90° cannot be reached: B is 0.2 m from the slider's line, and the rod"
    ):
        short.assemble("right", theta2=np.pi / 2)
    with pytest.raises(ValueError, match="The slider-crank has a closed form with theta2 held, not with x"):
        short.assemble("right", x=0.3)
