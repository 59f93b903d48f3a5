"""Accelerations, multipliers and joint forces: equations, signs, redundant and singular states."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import chain_lib as cl
from chain_lib.linear import solve_kkt

FOUR_BAR, PARALLELOGRAM = cl.mechanisms.FourBar(), cl.mechanisms.Parallelogram()
angles, speeds = st.floats(-3.1, 3.1), st.floats(-5, 5)


@given(angles, speeds, st.floats(0.1, 5), st.floats(0.2, 3), st.tuples(speeds, speeds), st.floats(0, 2))
def test_accelerations_fulfil_both_equations_of_a_moving_constraint(angle, speed, mass, radius, tau, t):
    wire = cl.mechanisms.BeadOnMovingCircle().system(m=mass, R=radius)
    q = radius * np.array([np.cos(angle), np.sin(angle)]) + [0.3 * np.sin(4 * t), 0]
    v = speed * np.array([-np.sin(angle), np.cos(angle)])
    a, lam = cl.accelerations(wire, q, v, tau, t)
    force = np.array(tau) + wire.J(q, t).T @ lam
    np.testing.assert_allclose(wire.M(q) @ a + wire.h(q, v), force, atol=1e-10 * (1 + np.abs(force).max()))
    np.testing.assert_allclose(wire.J(q, t) @ a + wire.gamma(q, v, t), [0.0], atol=1e-9 * (1 + np.abs(a).max()))


def test_001_1_the_multiplier_has_the_sign_of_the_equation_of_motion(bead):
    """Errata 001-1: at (1, 0) m with v = ½ m/s the wire pulls with m v²/R inward, so λ = −0.125 N/m."""
    _, lam = cl.accelerations(bead, [1, 0], [0, 0.5])
    np.testing.assert_allclose(lam, [-0.125])
    np.testing.assert_allclose(bead.J([1, 0]).T @ lam, [-0.25, 0.0])


def test_001_1_a_resting_weight_needs_its_weight_upward(bead):
    a, lam = cl.accelerations(bead, [0, -1], [0, 0])
    np.testing.assert_allclose(a, [0, 0], atol=1e-15)
    np.testing.assert_allclose(bead.J([0, -1]).T @ lam, [0.0, 9.81])


def test_001_1_the_other_sign_of_the_block_gives_the_same_motion_and_the_opposite_force(bead):
    q, v = [0.6, -0.8], [0.8, 0.6]
    a, lam = cl.accelerations(bead, q, v)
    misprinted = np.block([[bead.M(q), bead.J(q).T], [bead.J(q), np.zeros((1, 1))]])
    solution = np.linalg.solve(misprinted, [*-bead.h(q, v), *-bead.gamma(q, v)])
    np.testing.assert_allclose(solution, [*a, *-lam], rtol=1e-14)


def test_the_multiplier_is_the_force_of_the_exact_pendulum(bead, pendulum):
    """Independent of J: the wire's force on a pendulum is m g cos ϑ + m v²/R toward the centre."""
    position, velocity = (np.array(pendulum[name], float) for name in ("position", "velocity"))
    _, lam = cl.accelerations(bead, position, velocity)
    tension = -9.81 * position[1] + velocity @ velocity
    np.testing.assert_allclose(bead.J(position).T @ lam, -tension * position, rtol=1e-12)


def test_a_singular_state_is_an_error_that_tells_rank_and_place(bead):
    with pytest.raises(
        cl.SingularConfiguration, match=r"At q = \[0. 0.\], t = 0 s of bead on a circle.*rank 0 of 1"
    ) as error:
        cl.accelerations(bead, [0, 0], [1, 0])
    assert (error.value.rank, error.value.rows) == (0, 1)


def test_forces_of_the_mechanism_act_and_add_to_tau():
    q, v = cl.coordinates("x")
    damped = cl.Mechanism(
        "a damper", coordinates=q, velocities=v, parameters={}, kinetic_energy=v[0] ** 2, forces=[-3 * v[0]]
    ).system()
    a, _ = cl.accelerations(damped, [0.0], [2.0], tau=[1.0])
    np.testing.assert_allclose(a, [(1.0 - 6.0) / 2.0])
    np.testing.assert_array_equal(damped.h([0.0], [2.0]), [0.0])


def in_motion(system, branch, theta2, speed):
    """A configuration, and velocities with this speed of the crank."""
    q = system.assemble(branch, theta2=theta2)
    return q, speed * cl.reduced(system, q, np.zeros(system.n), ["theta2"]).S[:, 0]


def test_000_16_a_consistent_system_of_lower_rank_is_solved_when_asked_for_and_an_inconsistent_one_never():
    """Errata 000-16: J = [1 0 0; 2 0 0] with γ = (0, 1) has no solution, and full-pivot LU answers all the same."""
    with pytest.raises(cl.SingularConfiguration, match="rank 1 of 2"):
        solve_kkt(np.eye(3), [[1, 0, 0], [2, 0, 0]], [0, 0, -9.81], [1, 2])
    a, lam = solve_kkt(np.eye(3), [[1, 0, 0], [2, 0, 0]], [0, 0, -9.81], [1, 2], redundant="minimum_norm")
    np.testing.assert_allclose(a, [1, 0, -9.81], atol=1e-14)
    np.testing.assert_allclose(lam, [0.2, 0.4], atol=1e-14)
    for redundant in ("raise", "minimum_norm"):
        with pytest.raises(cl.SingularConfiguration) as error:
            solve_kkt(np.eye(3), [[1, 0, 0], [2, 0, 0]], np.zeros(3), [0, -1], redundant=redundant)
        assert (error.value.rank, error.value.rows) == (1, 2)
    assert "contradict each other: the Jacobian has rank 1 of 2" in str(error.value) and "misses by 0.4" in str(
        error.value
    )


def test_a_redundant_fifth_bar_without_mass_changes_nothing():
    """The parallelogram with EF, and the four-bar of the same lengths without it."""
    five = PARALLELOGRAM.system(m5=0, I5=0, m2=1.3, m3=0.8, m4=2.0)
    four = FOUR_BAR.system(a=0.3, b=0.5, c=0.3, d=0.5, m2=1.3, m3=0.8, m4=2.0)
    for theta2, speed in ((1.0, 0.0), (-2.0, 3.0), (2.5, -7.0)):
        q, v = five.assemble(theta2=theta2), speed * np.array([1.0, 0, 1, 1])
        tau = np.array([0.7, -0.2, 0.4, 0.0])
        with pytest.raises(cl.SingularConfiguration, match="parallelogram with a fifth bar: .* rank 3 of 4"):
            cl.accelerations(five, q, v, tau)
        found = cl.accelerations(five, q, v, tau, redundant="minimum_norm")
        a, lam = found
        expected, force = cl.accelerations(four, q[:3], v[:3], tau[:3])
        np.testing.assert_allclose(a, [*expected, expected[0]], atol=1e-11 * np.abs(expected).max())
        np.testing.assert_allclose((five.J(q).T @ lam)[:3], four.J(q[:3]).T @ force, atol=1e-11)
        assert (found.rank, found.rows) == (3, 4)
        assert found.note.startswith(
            "The constraint Jacobian has rank 3 of 4: accelerations and Jᵀλ are unique, λ is not"
        )


def test_the_shortest_multipliers_are_shorter_than_any_others():
    system = PARALLELOGRAM.system()
    q, v = system.assemble(theta2=1.0), 2 * np.array([1.0, 0, 1, 1])
    a, lam = cl.accelerations(system, q, v, redundant="minimum_norm")
    J = system.J(q)
    np.testing.assert_allclose(system.M(q) @ a + system.h(q, v), J.T @ lam, atol=1e-12)
    np.testing.assert_allclose(J @ a + system.gamma(q, v), np.zeros(4), atol=1e-12)
    free = np.linalg.svd(J.T)[2][3]
    np.testing.assert_allclose(J.T @ free, np.zeros(4), atol=1e-14)
    assert abs(free @ lam) < 1e-12 * np.linalg.norm(lam)


def test_redundant_constraints_that_contradict_each_other_are_refused():
    """All bars in one line: two rows of J vanish, and what bars at different speeds need there is not zero."""
    system = PARALLELOGRAM.system()
    with pytest.raises(cl.SingularConfiguration, match="contradict each other: the Jacobian has rank 2 of 4") as error:
        cl.accelerations(system, np.zeros(4), [1.0, 0, 2.0, 3.0], redundant="minimum_norm")
    assert error.value.rank == 2
    with pytest.raises(ValueError, match="redundant = 'drop' is unknown; choose one of 'raise', 'minimum_norm'"):
        cl.accelerations(system, np.zeros(4), np.zeros(4), redundant="drop")


def test_with_independent_constraints_minimum_norm_changes_nothing(bead):
    for redundant in ("raise", "minimum_norm"):
        found = cl.accelerations(bead, [0.6, -0.8], [0.8, 0.6], redundant=redundant)
        assert (found.rank, found.rows, found.note) == (1, 1, "")
    one, other = (cl.accelerations(bead, [0.6, -0.8], [0.8, 0.6], redundant=x) for x in ("raise", "minimum_norm"))
    np.testing.assert_array_equal(np.concatenate(one), np.concatenate(other))


def test_a_redundant_run_is_the_run_without_the_fifth_bar():
    five, four = PARALLELOGRAM.system(m5=1e-6), FOUR_BAR.system(a=0.3, b=0.5, c=0.3, d=0.5)
    q = five.assemble(theta2=-2.0)
    given = dict(t_end=1.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
    tr = cl.simulate(five, q, np.zeros(4), redundant="minimum_norm", **given)
    plain = cl.simulate(four, q[:3], np.zeros(3), **given)
    assert tr.stopped is None and np.ptp(tr.q[:, 0]) > 0.5
    np.testing.assert_allclose(tr.q[:, :3], plain.q, atol=1e-5)
    np.testing.assert_allclose(tr.q[:, 3], tr.q[:, 0], atol=1e-9)
    assert np.abs(tr.energy_balance).max() < 1e-8
    assert any("rank 3 of 4: accelerations and Jᵀλ are unique, λ is not" in note for note in tr.notes)
    for k in (0, 500, 1000):
        lam = cl.accelerations(five, tr.q[k], tr.v[k], redundant="minimum_norm")[1]
        np.testing.assert_allclose(tr.lam[k], lam, atol=1e-8)
    with pytest.raises(cl.SingularConfiguration, match="rank 3 of 4"):
        cl.simulate(five, q, np.zeros(4), **given)


def test_a_run_whose_redundant_constraints_begin_to_contradict_each_other_is_stopped():
    """x = t² twice, and the second time with t³ more: at t = 0 both ask for the same acceleration."""
    (x, y), v = cl.coordinates("x y")
    t = cl.t
    torn = cl.Mechanism(
        "torn",
        coordinates=(x, y),
        velocities=v,
        parameters={},
        kinetic_energy=v.dot(v) / 2,
        constraints={"one": (x - t**2, "m"), "other": (2 * x - 2 * t**2 - t**3, "m")},
    ).system()
    rest = np.zeros(2)
    assert cl.accelerations(torn, rest, rest, redundant="minimum_norm")[0] == pytest.approx([2, 0])
    tr = cl.simulate(torn, rest, rest, t_end=1.0, dt=0.1, redundant="minimum_norm")
    assert tr.t[-1] == 0.0 and "The constraints contradict each other: the Jacobian has rank 1 of 2" in tr.stopped


def centres_by_hand(system, q, v, a):
    """Accelerations of the four-bar's three centres of mass: each r e(θ) has r (α n − ω² e)."""
    p = system.parameters

    def turning(r, i, delta=0.0):
        e = np.array([np.cos(q[i] + delta), np.sin(q[i] + delta)])
        return r * (a[i] * np.array([-e[1], e[0]]) - v[i] ** 2 * e), r * e

    (a2, r2), (a3, r3), (a4, r4) = (turning(p[f"s{i + 2}"], i, p[f"delta{i + 2}"]) for i in range(3))
    aB, rB = turning(p["a"], 0)
    return [a2, aB + a3, a4], [r2, rB + r3, np.array([p["d"], 0.0]) + r4]


MOTORS = np.array([1.5, -0.7, 0.9, 0.4])  # torques of the motors at A, B, C and D (N m)


@pytest.fixture(scope="module")
def driven():
    """A four-bar with unequal bars, moving, with a motor on every joint: system, q, v, τ, joint forces."""
    system = FOUR_BAR.system(m2=1.4, m3=2.2, m4=0.8, s3=0.25, delta3=0.6, s4=0.1, delta4=-0.4, I3=0.05)
    q, v = in_motion(system, "open", 0.8, 6.0)
    tau = system.B(q) @ MOTORS
    return system, q, v, tau, cl.joint_forces(system, q, v, tau)


def test_000_12_lambda_is_the_force_at_C_on_the_coupler(driven):
    """Errata 000-12: λ is the force at the cut joint alone."""
    system, q, v, tau, forces = driven
    lam = cl.accelerations(system, q, v, tau)[1]
    np.testing.assert_allclose(forces["C"]["coupler"], lam, rtol=1e-12)
    np.testing.assert_array_equal(forces["C"]["rocker"], -forces["C"]["coupler"])
    assert {name: set(on) for name, on in forces.items()} == {
        "A": {"crank", "ground"}, "B": {"coupler", "crank"}, "C": {"coupler", "rocker"}, "D": {"rocker", "ground"},
    }  # fmt: skip


def test_000_12_the_balances_of_every_bar_with_motors_on_every_joint(driven):
    """Newton and Euler by hand, bar by bar; a motor turns one bar with +u and its neighbour with −u."""
    system, q, v, tau, forces = driven
    p, points = system.parameters, system.points(q)
    a, _ = cl.accelerations(system, q, v, tau)
    accelerations, centres = centres_by_hand(system, q, v, a)
    ends = {"crank": "AB", "coupler": "BC", "rocker": "CD"}
    torques = {"crank": MOTORS[0] - MOTORS[1], "coupler": MOTORS[1] - MOTORS[2], "rocker": MOTORS[2] + MOTORS[3]}
    for i, (name, joints) in enumerate(ends.items()):
        m, inertia = p[f"m{i + 2}"], p[f"I{i + 2}"]
        total = sum(forces[joint][name] for joint in joints) - [0, m * 9.81]
        np.testing.assert_allclose(total, m * accelerations[i], atol=1e-11)
        arms = [points[joint] - centres[i] for joint in joints]
        moment = sum(np.linalg.det([arm, forces[joint][name]]) for arm, joint in zip(arms, joints))
        assert moment + torques[name] == pytest.approx(inertia * a[i], abs=1e-11)


def test_000_12_the_balance_of_the_whole_closes_to_1e_9_of_the_weight(driven):
    """Forces and moments of the ground alone against the rates of momentum, along a motion."""
    system, _, _, _, _ = driven
    p, weight = system.parameters, 9.81 * (1.4 + 2.2 + 0.8)
    q, v = in_motion(system, "open", 0.8, 6.0)
    run = cl.simulate(system, q, v, t_end=1.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20), torque=[0.5, 0, 0])
    for q, v in zip(run.q[::100], run.v[::100]):
        tau = system.B(q) @ MOTORS
        forces = cl.joint_forces(system, q, v, tau)
        a, _ = cl.accelerations(system, q, v, tau)
        accelerations, centres = centres_by_hand(system, q, v, a)
        masses = [p[f"m{i}"] for i in (2, 3, 4)]
        ground = forces["A"]["crank"] + forces["D"]["rocker"] - [0, weight]
        momentum = sum(m * c for m, c in zip(masses, accelerations))
        np.testing.assert_allclose(ground, momentum, rtol=0, atol=1e-9 * weight)
        about_A = MOTORS[0] + MOTORS[3] + p["d"] * forces["D"]["rocker"][1]
        about_A -= sum(9.81 * m * c[0] for m, c in zip(masses, centres))
        spin = sum(m * np.linalg.det([c, c2]) for m, c, c2 in zip(masses, centres, accelerations))
        spin += sum(p[f"I{i + 2}"] * a[i] for i in range(3))
        assert about_A == pytest.approx(spin, abs=1e-9 * weight)


def test_000_12_a_motor_at_B_or_C_is_not_felt_as_one_at_the_ground(driven):
    """Equal generalized forces give equal motions and equal joint forces; a moment elsewhere gives other ones."""
    system, q, v, _, _ = driven
    at_B, by_hand = system.B(q)[:, 1], np.array([-1.0, 1.0, 0.0])
    np.testing.assert_array_equal(at_B, by_hand)
    one, other = cl.joint_forces(system, q, v, at_B), cl.joint_forces(system, q, v, [0.0, 1.0, 0.0])
    assert np.abs(one["A"]["crank"] - other["A"]["crank"]).max() > 0.1


def test_joint_forces_at_a_slide():
    """The slide bears the slider's weight and the rod, no force along its line, and no moment about C."""
    system = cl.mechanisms.SliderCrank().system(m4=2.0, e=0.05)
    q, v = in_motion(system, "right", 0.9, 5.0)
    push = 7.0
    tau = np.array([0.5, 0.0, push])
    forces, (a, lam) = cl.joint_forces(system, q, v, tau), cl.accelerations(system, q, v, tau)
    slide = forces["slide"]["slider"]
    assert slide.shape == (3,) and slide[0] == 0.0 and slide[2] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(forces["C"]["rod"], lam, rtol=1e-11)
    assert -lam[0] + push == pytest.approx(2.0 * a[2])
    assert slide[1] == pytest.approx(2.0 * 9.81 + lam[1])
    np.testing.assert_array_equal(forces["slide"]["ground"], -slide)


def test_a_slide_that_is_off_its_point_bears_a_moment():
    """A block on a rail, pushed up at its centre of mass 0.1 m beside the rail's point."""
    (x,), (speed,) = cl.coordinates("x")
    g = sp.Symbol("g", positive=True)
    rail = cl.Mechanism(
        "block on a rail",
        coordinates=[x],
        velocities=[speed],
        parameters={g: (10.0, "m/s^2", "gravity")},
        points={"rail": (x * sp.Rational(3, 5), x * sp.Rational(4, 5))},
        bodies=[("block", 2, (x * sp.Rational(3, 5) + sp.Rational(1, 10), x * sp.Rational(4, 5)), 0, 1)],
        joints=[("rail", "block", "ground", (sp.Rational(3, 5), sp.Rational(4, 5)))],
        forces=[-speed],
    ).system()
    a, _ = cl.accelerations(rail, [0.3], [2.0])
    assert a == pytest.approx([-10 * 0.8 - 2.0 / 2.0])
    np.testing.assert_allclose(cl.joint_forces(rail, [0.3], [2.0])["rail"]["block"], [-9.6, 7.2, 0.72], atol=1e-12)


def test_joint_forces_that_are_not_unique_are_refused_or_the_smallest():
    system = PARALLELOGRAM.system()
    q, v = system.assemble(theta2=1.0), 2 * np.array([1.0, 0, 1, 1])
    with pytest.raises(cl.SingularConfiguration, match="rank 3 of 4"):
        cl.joint_forces(system, q, v)
    forces = cl.joint_forces(system, q, v, redundant="minimum_norm")
    a, _ = cl.accelerations(system, q, v, redundant="minimum_norm")
    ground = sum(forces[joint][body] for joint, body in (("A", "crank"), ("D", "rocker"), ("E", "fifth bar")))
    arm = np.array([np.cos(1.0), np.sin(1.0)])
    momentum = (3 * 0.15 + 0.3) * (a[0] * np.array([-arm[1], arm[0]]) - 4 * arm)
    np.testing.assert_allclose(ground - [0, 4 * 9.81], momentum, atol=1e-11)


def pendulum_with(**changes):
    """A rod that swings about A, with bodies; changes make them wrong."""
    q, v = cl.coordinates("theta")
    g, length = sp.symbols("g l", positive=True)
    centre = (length / 2 * sp.cos(q[0]), length / 2 * sp.sin(q[0]))
    given = dict(
        coordinates=q,
        velocities=v,
        parameters={length: (0.6, "m", "length"), g: (9.81, "m/s^2", "gravity")},
        points={"A": (0, 0), "tip": (length * sp.cos(q[0]), length * sp.sin(q[0]))},
        bodies=[("rod", 1, centre, q[0], length**2 / 12)],
        joints=[("A", "rod", "ground")],
    )
    return cl.Mechanism("a rod", **{**given, **changes})


def test_bodies_that_do_not_belong_to_the_energies_are_refused():
    q, v = cl.coordinates("theta")
    right = pendulum_with().system()
    np.testing.assert_allclose(cl.accelerations(right, [0.0], [0.0])[0], [-3 * 9.81 / (2 * 0.6)])
    np.testing.assert_allclose(cl.joint_forces(right, [0.0], [0.0])["A"]["rod"], [0, 9.81 / 4], atol=1e-12)
    heavier = pendulum_with(kinetic_energy=v[0] ** 2).system()
    with pytest.raises(ValueError, match="The balances of the bodies of a rod do not close, they miss by .*its bodies"):
        cl.joint_forces(heavier, [0.0], [0.0])
    elsewhere = pendulum_with(joints=[("tip", "rod", "ground")]).system()
    with pytest.raises(ValueError, match="joints do not belong to its energies and constraints"):
        cl.joint_forces(elsewhere, [0.0], [0.0])


def test_a_spring_in_the_potential_energy_is_a_moment_on_its_body():
    q, v = cl.coordinates("theta")
    weight = pendulum_with().potential_energy
    sprung = pendulum_with(potential_energy=weight + 5 * q[0] ** 2).system()
    a, _ = cl.accelerations(sprung, [0.4], [0.0])
    assert a == pytest.approx([-(9.81 * 0.3 * np.cos(0.4) + 10 * 0.4) / 0.12])
    centre = 0.3 * a[0] * np.array([-np.sin(0.4), np.cos(0.4)])
    np.testing.assert_allclose(cl.joint_forces(sprung, [0.4], [0.0])["A"]["rod"], centre + [0, 9.81], atol=1e-11)


def test_joint_forces_need_bodies(bead):
    with pytest.raises(ValueError, match="bead on a circle has no bodies and joints; give them to Mechanism"):
        cl.joint_forces(bead, [0, -1], [0, 0])


def test_joint_forces_of_an_open_loop_are_refused(driven):
    system, q, v, _, _ = driven
    with pytest.raises(ValueError, match=r"do not close, they miss by .*: the loop is open, ‖φ‖ = .* cl.project"):
        cl.joint_forces(system, q + [0, 0.1, 0], v)
    drifted = cl.joint_forces(system, q + [0, 1e-8, 0], v)
    np.testing.assert_allclose(drifted["A"]["crank"], cl.joint_forces(system, q, v)["A"]["crank"], rtol=1e-4)
