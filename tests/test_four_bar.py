"""The four-bar: its equations against other derivations, its branches and classes, and an exact motion."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import chain_lib as cl
from chain_lib.mechanisms import crank_range, grashof

CHANGE_POINT = dict(a=0.2, b=0.4, c=0.3, d=0.5)
DEAD_CENTRES = dict(a=0.3, b=0.4, c=0.3, d=0.5)
FOUR_BAR = cl.mechanisms.FourBar()
angles = st.floats(-3.14, 3.14)
length = st.integers(1, 12).map(lambda number: number / 10)


@pytest.fixture(scope="module")
def change_point():
    return FOUR_BAR.system(**CHANGE_POINT)


@pytest.fixture(scope="module")
def at_10_degrees(change_point):
    return change_point.assemble("open", theta2=np.deg2rad(10))


@pytest.fixture(scope="module")
def reference():
    """Motion over 10 s in extended precision, with its source in the file."""
    return json.loads((Path(__file__).parent / "data" / "four_bar.json").read_text())


@pytest.fixture(scope="module")
def reference_system(reference):
    return FOUR_BAR.system(**reference["geometry"])


@pytest.fixture(scope="module")
def runs(reference, reference_system):
    """The reference motion by RK4 with gains of 20/s, by the number of steps in a millisecond."""
    q0 = np.array(reference["q0"], float)
    return {
        steps: cl.simulate(
            reference_system, q0, np.zeros(3), t_end=10.0, dt=1e-3 / steps, stabilize=cl.Baumgarte(20, 20)
        )
        for steps in (0.25, 0.5, 1, 10)
    }


def random_states(seed, number):
    """Systems with every parameter at random, and states that need not fulfil the constraints."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        values = {str(symbol): generator.uniform(0.1, 2.0) for symbol in FOUR_BAR.parameters}
        values |= {name: generator.uniform(-3, 3) for name in ("delta2", "delta3", "delta4", "s2", "s3", "s4")}
        yield FOUR_BAR.system(**values), generator.uniform(-3, 3, 3), generator.uniform(-5, 5, 3)


def kanes_tree():
    """M and forcing of the arm A–B–C and the rocker by Kane's method, as functions of (parameters, q, v)."""
    q, u = dynamicsymbols("q2:5"), dynamicsymbols("u2:5")
    p = {str(symbol): symbol for symbol in FOUR_BAR.parameters}
    ground, A = ReferenceFrame("N"), Point("A")
    A.set_vel(ground, 0)
    D = A.locatenew("D", p["d"] * ground.x)
    D.set_vel(ground, 0)
    bodies, loads, joint = [], [], A
    for i, (angle, rate, start) in enumerate(zip(q, u, (A, None, D)), start=2):
        frame = ground.orientnew(f"bar{i}", "Axis", (angle, ground.z))
        frame.set_ang_vel(ground, rate * ground.z)
        joint = start or joint
        arm = p[f"s{i}"] * (sp.cos(p[f"delta{i}"]) * frame.x + sp.sin(p[f"delta{i}"]) * frame.y)
        centre = joint.locatenew(f"G{i}", arm)
        centre.v2pt_theory(joint, ground, frame)
        about_centre = (inertia(frame, 0, 0, p[f"I{i}"]), centre)
        bodies.append(RigidBody(f"body{i}", centre, frame, p[f"m{i}"], about_centre))
        loads.append((centre, -p[f"m{i}"] * p["g"] * ground.y))
        if i == 2:
            B = joint.locatenew("B", p["a"] * frame.x)
            B.v2pt_theory(joint, ground, frame)
            joint = B
    kane = KanesMethod(ground, q, u, kd_eqs=[rate - angle.diff() for angle, rate in zip(q, u)])
    kane.kanes_equations(bodies, loads)
    return sp.lambdify([list(FOUR_BAR.parameters), list(q), list(u)], (kane.mass_matrix, kane.forcing))


def test_M_and_h_are_those_of_kanes_method_with_any_masses_centres_and_inertias():
    kane = kanes_tree()
    for system, q, v in random_states(1, 30):
        M, forcing = kane([*system.parameters.values()], q, v)
        np.testing.assert_allclose(system.M(q), M, rtol=1e-12, atol=1e-13 * np.abs(M).max())
        np.testing.assert_allclose(system.h(q, v), -forcing[:, 0], rtol=1e-11, atol=1e-12 * np.abs(forcing).max())


def loop(q, p):
    """A→B→C minus A→D→C, written by hand; for complex angles too."""
    a, b, c, d = (p[name] for name in "abcd")
    return np.array([
        a * np.cos(q[0]) + b * np.cos(q[1]) - d - c * np.cos(q[2]),
        a * np.sin(q[0]) + b * np.sin(q[1]) - c * np.sin(q[2]),
    ])  # fmt: skip


def loop_jacobian(q, p):
    a, b, c = (p[name] for name in "abc")
    return np.array([
        [-a * np.sin(q[0]), -b * np.sin(q[1]), c * np.sin(q[2])],
        [a * np.cos(q[0]), b * np.cos(q[1]), -c * np.cos(q[2])],
    ])  # fmt: skip


def test_000_5_J_and_gamma_against_a_complex_step():
    """Errata 000-5: a hand-written J̇ is wrong in a sign; J̇v by differentiation along v has none to get wrong."""
    for system, q, v in random_states(2, 30):
        p = system.parameters
        np.testing.assert_allclose(system.phi(q), loop(q, p), atol=1e-14)
        by_step = [np.imag(loop(q + 1e-30j * direction, p)) / 1e-30 for direction in np.eye(3)]
        np.testing.assert_allclose(system.J(q), np.transpose(by_step), atol=1e-14)
        along_v = np.imag(loop_jacobian(q + 1e-30j * v, p)) / 1e-30
        np.testing.assert_allclose(system.gamma(q, v), along_v @ v, atol=1e-12)


def test_000_5_the_lectures_sign_misses_by_2_c_sin_theta4_times_its_rate_squared(change_point, at_10_degrees):
    v = np.array([0.3, -0.7, 1.1])
    rate = np.imag(loop_jacobian(at_10_degrees + 1e-30j * v, CHANGE_POINT)) / 1e-30
    rate[1, 2] *= -1
    missed = change_point.gamma(at_10_degrees, v) - rate @ v
    np.testing.assert_allclose(missed, [0.0, 2 * 0.3 * np.sin(at_10_degrees[2]) * 1.1**2], atol=1e-14)


def test_000_6_a_single_bar_released_horizontally_falls():
    """Errata 000-6: −3 g/2 l = −73.6 rad/s²; the lecture's bar rises with +294."""
    crank_alone = FOUR_BAR.system(**CHANGE_POINT, m3=0, m4=0)
    q = crank_alone.assemble("open", theta2=0.0)
    a, lam = cl.accelerations(crank_alone.set(I3=1e-9, I4=1e-9), q, np.zeros(3))
    assert a[0] == pytest.approx(-3 * 9.81 / (2 * 0.2), rel=1e-4) and a[0] == pytest.approx(-73.6, abs=0.1)
    a, lam = cl.accelerations(crank_alone, q, np.zeros(3))
    assert a[0] == pytest.approx(-3 * 9.81 / (2 * 0.2), rel=1e-13)
    np.testing.assert_allclose(lam, [0, 0], atol=1e-13)


def test_000_6_000_7_the_reduced_weight_and_inertia_at_10_degrees(change_point, at_10_degrees):
    """Errata 000-6 and 000-7: Sᵀh = +1.949 N·m (lecture −0.016), M_r = 0.03792 kg m² (lecture 0.01060)."""
    form = cl.reduced(change_point, at_10_degrees, np.zeros(3), ["theta2"])
    assert form.h_r == pytest.approx([1.949], abs=5e-4)
    assert form.M_r == pytest.approx(0.03792, abs=5e-6)


def test_000_6_one_newton_metre_cannot_lift_the_linkage(change_point, at_10_degrees):
    """Errata 000-6: the crank falls from 10° to −13.72° in 0.2 s."""
    tr = cl.simulate(change_point, at_10_degrees, np.zeros(3), t_end=0.2, dt=1e-3, torque=[1.0, 0, 0])
    assert np.rad2deg(tr.q[-1, 0]) == pytest.approx(-13.72, abs=0.01)


def test_000_7_uniform_rods_by_default(change_point, at_10_degrees):
    a, b, c, _ = CHANGE_POINT.values()
    coupling = a * b * np.cos(at_10_degrees[0] - at_10_degrees[1]) / 2
    expected = [[a**2 * (1 / 3 + 1), coupling, 0], [coupling, b**2 / 3, 0], [0, 0, c**2 / 3]]
    np.testing.assert_allclose(change_point.M(at_10_degrees), expected, atol=1e-15)
    assert coupling == pytest.approx(0.0341, abs=5e-5) and expected[0][0] == pytest.approx(0.0533, abs=5e-5)


def test_000_7_a_bar_of_another_length_stays_a_uniform_rod(change_point):
    longer = change_point.set(a=0.4, m2=2.0)
    assert longer.parameters["s2"] == 0.2 and longer.parameters["I2"] == pytest.approx(2 * 0.4**2 / 12)
    fixed = change_point.set(I2=0.01, s2=0.0).set(a=0.4)
    assert fixed.parameters["s2"] == 0.0 and fixed.parameters["I2"] == 0.01


def test_000_8_the_coriolis_terms_of_crank_and_coupler(change_point, at_10_degrees):
    q, v = at_10_degrees, np.array([1.5, -2.5, 0.7])
    terms = change_point.h(q, v) - change_point.h(q, np.zeros(3))
    expected = 0.2 * 0.4 * np.sin(q[0] - q[1]) / 2 * np.array([v[1] ** 2, -(v[0] ** 2), 0])
    np.testing.assert_allclose(terms, expected, atol=1e-14)


def test_000_1_both_branches_at_10_degrees(change_point):
    poses = {name: np.rad2deg(q) for name, q in change_point.branches(theta2=np.deg2rad(10)).items()}
    assert poses["open"] == pytest.approx([10, 41.538327, 90.693969], abs=1e-6)
    assert poses["crossed"] == pytest.approx([10, -54.614013, -103.769655], abs=1e-6)


def test_000_1_the_lectures_start_is_further_off_than_the_crank_is_long(change_point):
    """Errata 000-1: ‖φ‖ = 0.430 m, and a projection of all angles moves the crank to 17.231°."""
    start = np.deg2rad([10, 60, 30])
    np.testing.assert_allclose(change_point.phi(start), [-0.362846, 0.231140], atol=1e-6)
    with pytest.raises(cl.InconsistentStart, match="The start is off the constraint 'loop, x': φ = -0.363 m"):
        cl.simulate(change_point, start, np.zeros(3), t_end=1.0, dt=1e-3)
    for q in (change_point.assemble(start=start), cl.project(change_point, start, np.zeros(3), metric="euclidean")[0]):
        assert np.rad2deg(q) == pytest.approx([17.231, 36.971, 87.976], abs=1e-3)
    in_the_metric_of_M, _ = cl.project(change_point, start, np.zeros(3))
    assert np.rad2deg(in_the_metric_of_M[0]) > 16 and np.linalg.norm(change_point.phi(in_the_metric_of_M)) < 1e-14
    held = change_point.assemble(start=start, theta2=start[0])
    assert np.rad2deg(held) == pytest.approx([10, 41.538327, 90.693969], abs=1e-6)


@given(length, length, length, length, angles)
def test_000_1_every_crank_angle_has_its_two_branches_or_the_range_in_words(a, b, c, d, theta2):
    assume(2 * max(a, b, c, d) < a + b + c + d)
    system = FOUR_BAR.system(a=a, b=b, c=c, d=d)
    to_D = np.array([d - a * np.cos(theta2), -a * np.sin(theta2)])
    between = np.linalg.norm(to_D)
    assume(abs(between - abs(b - c)) > 1e-6 and abs(between - b - c) > 1e-6)
    smallest, largest = crank_range(a, b, c, d)
    if not abs(b - c) < between < b + c:
        assert not smallest <= abs(theta2) <= largest
        with pytest.raises(ValueError, match="cannot be reached: with a = .* the crank moves .*°"):
            system.branches(theta2=theta2)
        return
    assert smallest <= abs(theta2) <= largest
    poses = system.branches(theta2=theta2)
    for name, sign in (("open", -1), ("crossed", 1)):
        q = poses[name]
        assert q[0] == theta2 and np.abs(loop(q, system.parameters)).max() < 1e-13
        assert np.sign(np.sin(q[1] - q[2])) == sign
        np.testing.assert_array_equal(system.assemble(name, theta2=theta2), q)
    mirror = 2 * np.arctan2(to_D[1], to_D[0])
    for first, second in zip(poses["open"][1:], poses["crossed"][1:]):
        assert np.cos(first + second - mirror) == pytest.approx(1)


@pytest.mark.parametrize(
    "lengths, degrees, words",
    [
        (dict(a=0.2, b=0.4, c=0.4, d=0.5), (0, 180), None),
        (DEAD_CENTRES, (0, 120), "between −120.0° and 120.0°"),
        (dict(a=0.5, b=0.2, c=0.9, d=0.5), (88.85, 180), "from 88.9° over 180° to 271.1°"),
        (dict(a=0.5, b=0.3, c=0.6, d=0.5), (34.92, 128.32), "from 34.9° to 128.3°, or from −128.3° to −34.9°"),
    ],
)
def test_the_range_of_the_crank(lengths, degrees, words):
    assert np.rad2deg(crank_range(**lengths)) == pytest.approx(degrees, abs=0.01)
    if words:
        outside = degrees[1] + 1 if degrees[1] < 180 else degrees[0] - 1
        with pytest.raises(ValueError, match=f"theta2 = {outside:g}° cannot be reached: .* the crank moves {words}"):
            FOUR_BAR.system(**lengths).assemble("open", theta2=np.deg2rad(outside))


def test_the_ends_of_the_range_are_reached(change_point):
    system = FOUR_BAR.system(**DEAD_CENTRES)
    poses = system.branches(theta2=crank_range(**DEAD_CENTRES)[1])
    np.testing.assert_allclose(poses["open"], poses["crossed"], atol=1e-7)
    assert np.abs(system.phi(poses["open"])).max() < 1e-9
    for theta2 in (np.pi, -np.pi, 3 * np.pi):
        assert np.abs(change_point.phi(change_point.assemble("open", theta2=theta2))).max() < 1e-15


def test_a_parallelogram_that_lies_flat_has_no_closed_form():
    with pytest.raises(ValueError, match="B lies on D, so that coupler and rocker can point anywhere"):
        FOUR_BAR.system(a=0.3, b=0.4, c=0.4, d=0.3).branches(theta2=0.0)


def turns_fully(crank, coupler, rocker, ground):
    """Whether the loop closes at every one of many crank angles, the two on the ground line among them."""
    theta = np.linspace(0, 2 * np.pi, 61)
    between = np.hypot(ground - crank * np.cos(theta), crank * np.sin(theta))
    return bool(((abs(coupler - rocker) <= between + 1e-12) & (between <= coupler + rocker + 1e-12)).all())


@settings(max_examples=300)
@given(length, length, length, length)
def test_grashofs_class_is_what_a_turn_of_every_bar_shows(a, b, c, d):
    assume(2 * max(a, b, c, d) < a + b + c + d - 1e-9)
    found = grashof(a, b, c, d)
    if any(abs(a + i * b + j * c + k * d) < 1e-9 for i in (1, -1) for j in (1, -1) for k in (1, -1)):
        assert found == "change point", "all bars can lie in one line"
        return
    against_the_ground = turns_fully(a, b, c, d) + turns_fully(c, b, a, d)
    coupler_against_the_crank = turns_fully(b, c, d, a)
    if against_the_ground == 2:
        assert found == "double crank"
    elif against_the_ground == 1:
        assert found == "crank-rocker"
    else:
        assert found == ("double rocker" if coupler_against_the_crank else "triple rocker")


@pytest.mark.parametrize(
    "lengths, expected",
    [
        ((0.2, 0.4, 0.4, 0.5), "crank-rocker"),
        ((0.4, 0.4, 0.2, 0.5), "crank-rocker"),
        ((0.4, 0.5, 0.4, 0.2), "double crank"),
        ((0.4, 0.2, 0.4, 0.5), "double rocker"),
        ((0.3, 0.4, 0.3, 0.5), "triple rocker"),
        ((0.2, 0.4, 0.3, 0.5), "change point"),
        ((0.2, 0.4, 0.3, 0.5 + 1e-9), "change point"),
        ((0.2, 0.4, 0.3, 0.5 + 2e-9), "triple rocker"),
        ((0.2, 0.4, 0.3, 0.5 - 2e-9), "crank-rocker"),
        ((200, 400, 300, 500 + 1e-6), "change point"),
    ],
)
def test_000_3_grashofs_classes_and_the_tolerance_of_a_change_point(lengths, expected):
    assert grashof(*lengths) == expected


def test_points_and_the_coupler_point(change_point, at_10_degrees):
    system = change_point.set(rP=0.25, deltaP=0.5)
    q, points = at_10_degrees, system.points(at_10_degrees)
    across = np.array([0.5, 0]) + 0.3 * np.array([np.cos(q[2]), np.sin(q[2])])
    np.testing.assert_allclose(points["C"], across, atol=1e-15)
    np.testing.assert_allclose(points["A"], [0, 0])
    np.testing.assert_allclose(points["D"], [0.5, 0])
    B, C, P = (complex(*points[name]) for name in "BCP")
    assert abs(B) == pytest.approx(0.2) and abs(C - B) == pytest.approx(0.4)
    assert (P - B) / (C - B) == pytest.approx(0.25 / 0.4 * np.exp(0.5j))


def test_motors_turn_angles_at_A_and_D_and_differences_at_B_and_C(change_point, at_10_degrees):
    expected = {"A": [1, 0, 0], "B": [-1, 1, 0], "C": [0, -1, 1], "D": [0, 0, 1]}
    assert list(FOUR_BAR.motors) == list(expected)
    np.testing.assert_array_equal(change_point.B(at_10_degrees).T, [*expected.values()])


def test_the_exact_start_of_the_reference(reference, reference_system):
    q0 = np.array(reference["q0"], float)
    np.testing.assert_allclose(reference_system.assemble("open", theta2=np.deg2rad(10)), q0, atol=1e-15)
    assert reference_system.energy(q0, np.zeros(3)) == pytest.approx(float(reference["E0"]), rel=1e-14)
    a, _ = cl.accelerations(reference_system, q0, np.zeros(3))
    np.testing.assert_allclose(a, np.array(reference["qdd0"], float), rtol=1e-13)


def test_the_reference_motion_at_a_tenth_of_a_millisecond(reference, runs):
    """Every sample of q and v over 10 s within 1e-8."""
    tr = runs[10]
    q, v = np.array(reference["q"]), np.array(reference["qd"])
    assert len(q) == 101 and tr.stopped is None and tr.t[::1000] == pytest.approx(np.array(reference["t"]))
    np.testing.assert_allclose(tr.q[::1000], q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(tr.v[::1000], v, rtol=0, atol=1e-8)


def test_the_reference_motion_at_a_millisecond(reference, runs):
    """The end within 2e-7, speeds against their largest value; energy within 1e-8 of the largest kinetic one."""
    tr = runs[1]
    assert tr.stopped is None and tr.notes == [] and len(tr.t) == 10_001
    fastest = np.abs(reference["qd"]).max()
    np.testing.assert_allclose(tr.q[-1], np.array(reference["q_end"], float), rtol=0, atol=2e-7)
    np.testing.assert_allclose(tr.v[-1], np.array(reference["qd_end"], float), rtol=0, atol=2e-7 * fastest)
    assert np.abs(tr.energy_balance).max() <= 1e-8 * reference["T_max"]
    energy = reference_energy(tr) - float(reference["E0"])
    assert np.abs(energy).max() <= 1e-8 * reference["T_max"]


def reference_energy(tr):
    return np.array([tr.system.energy(q, v) for q, v in zip(tr.q[::100], tr.v[::100])])


def test_the_order_is_four(reference, runs):
    end = np.array([*reference["q_end"], *reference["qd_end"]], float)
    errors = [np.abs([*runs[steps].q[-1], *runs[steps].v[-1]] - end).max() for steps in (0.25, 0.5, 1)]
    assert 3.7 < np.log2(errors[0] / errors[1]) < 4.6 and 3.7 < np.log2(errors[1] / errors[2]) < 4.6


@pytest.mark.parametrize(
    "lengths, sentence",
    [
        (dict(a=1.3), r"cannot close: a ≤ b \+ c \+ d fails, since a = 1.3 m and b \+ c \+ d = 1.2 m. Shorten a"),
        (dict(b=1.2), r"cannot close: b ≤ a \+ c \+ d fails"),
        (dict(c=1.2), r"cannot close: c ≤ a \+ b \+ d fails"),
        (dict(d=1.2), r"cannot close: d ≤ a \+ b \+ c fails, since d = 1.2 m and a \+ b \+ c = 0.9 m. Shorten d"),
    ],
)
def test_lengths_that_cannot_close_are_told_by_the_inequality_that_fails(lengths, sentence):
    lengths = CHANGE_POINT | lengths
    system = FOUR_BAR.system(**lengths)
    for refused in (
        lambda: grashof(**lengths),
        lambda: crank_range(**lengths),
        lambda: system.assemble("open", theta2=0.1),
    ):
        with pytest.raises(ValueError, match=sentence):
            refused()


@pytest.mark.parametrize("wrong", [0.0, -0.2, np.nan, np.inf, "0.2", [0.2]])
def test_a_length_is_a_positive_number(wrong):
    with pytest.raises(ValueError, match="b = .* is not possible; the length of a bar is a number of metres above 0"):
        grashof(0.2, wrong, 0.3, 0.5)


def test_a_start_on_the_other_branch_than_asked_for_is_refused(change_point):
    poses = change_point.branches(theta2=1.0)
    assert change_point.assemble("open", start=poses["open"] + 0.1, theta2=1.0) == pytest.approx(poses["open"])
    with pytest.raises(ValueError, match="four-bar assembles on the branch 'open', and 'crossed' was asked for"):
        change_point.assemble("crossed", start=poses["open"] + 0.1, theta2=1.0)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (dict(theta2=1.0), "closes in 2 ways here; choose branch='open' or 'crossed'"),
        (dict(branch="upper", theta2=1.0), "branch 'upper' is unknown; choose 'open' or 'crossed'"),
        (dict(branch="open", theta3=1.0), "closed form with theta2 held, not with theta3"),
        (dict(branch="open"), "closed form with theta2 held, not with nothing"),
        (dict(branch="open", theta5=1.0), "no coordinate 'theta5'; it has theta2, theta3, theta4"),
        (dict(branch="open", theta2=np.nan), "theta2 = nan is not a finite number"),
        (dict(branch="open", theta2="1"), "theta2 = '1' is not a finite number"),
    ],
)
def test_an_assembly_that_is_not_determined_is_refused_in_a_sentence(change_point, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        change_point.assemble(**arguments)


def test_bars_without_any_mass_are_refused(change_point, at_10_degrees):
    massless = change_point.set(m2=0, m3=0, m4=0)
    with pytest.raises(cl.SingularConfiguration, match="along a direction that the constraints leave free the inertia"):
        cl.accelerations(massless, at_10_degrees, np.zeros(3))
    with pytest.raises(cl.SingularConfiguration, match="it must be positive there"):
        cl.simulate(massless, at_10_degrees, np.zeros(3), t_end=1.0, dt=1e-3)
    with pytest.raises(cl.SingularConfiguration, match="give every coordinate some mass"):
        cl.simulate(change_point.set(m4=0), at_10_degrees, np.zeros(3), t_end=1.0, dt=1e-3)
    with pytest.raises(ValueError, match="m3 = -1 kg is not possible; mass of the coupler must not be negative"):
        change_point.set(m3=-1)


def test_cutting_the_loop_leaves_a_tree_and_no_open_chain_of_three_bars():
    """000-11: with absolute angles and the cut at C, crank and coupler are coupled, and the rocker stands alone."""
    M = cl.mechanisms.FourBar().M
    assert M[0, 1] != 0 and M[0, 2] == M[1, 2] == 0
