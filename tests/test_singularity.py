"""Mobility by rank, and runs that reach a singular configuration or only come near one."""

import numpy as np
import pytest

import chain_lib as cl

CHANGE_POINT = dict(a=0.2, b=0.4, c=0.3, d=0.5)
FOUR_BAR = cl.mechanisms.FourBar()
PARALLELOGRAM = cl.mechanisms.Parallelogram()
REMEDIES = [None, cl.Baumgarte(20, 20), cl.Projection()]
REST = np.zeros(3)


@pytest.fixture(scope="module")
def change_point():
    return FOUR_BAR.system(**CHANGE_POINT)


def started(system, degrees, speed=0.0, branch="open"):
    """A start at this crank angle and crank speed."""
    q = system.assemble(branch, theta2=np.deg2rad(degrees))
    return q, speed * cl.reduced(system, q, REST, ["theta2"]).S[:, 0]


def told(system, q):
    found = cl.mobility(system, q)
    return found.counted, found.instantaneous, found.degrees_of_freedom


def test_000_4_the_count_is_right_where_the_constraints_are_independent(change_point, bead):
    assert told(change_point, change_point.assemble("open", theta2=1.0)) == (1, 1, 1)
    assert told(bead, [-1, 0]) == (1, 1, 1)
    dead_centre = FOUR_BAR.system(a=0.3, b=0.4, c=0.3, d=0.5).assemble("open", theta2=np.deg2rad(120))
    assert told(FOUR_BAR.system(a=0.3, b=0.4, c=0.3, d=0.5), dead_centre) == (1, 1, 1)


def test_000_3_at_the_change_point_two_velocities_are_possible_and_one_motion(change_point):
    """Errata 000-3: with all bars in one line J has rank 1, and n − m = 1 is false."""
    flat = np.array([np.pi, 0.0, np.pi])
    np.testing.assert_allclose(change_point.J(flat), [[0, 0, 0], [-0.2, 0.4, 0.3]], atol=1e-15)
    assert told(change_point, flat) == (1, 2, 1)
    assert "This is a singular configuration: nearby the rank is 2." in str(cl.mobility(change_point, flat))


def test_000_3_the_kkt_system_degrades_with_the_square_of_the_distance(change_point):
    """Errata 000-3: at 1e-2, 1e-3 and 1e-4 rad its condition is about 1e3, 1e5 and 1e7."""
    conditions = []
    for off in (1e-2, 1e-3, 1e-4):
        q = change_point.assemble("open", theta2=np.pi - off)
        J = change_point.J(q)
        conditions.append(np.linalg.cond(np.block([[change_point.M(q), -J.T], [J, np.zeros((2, 2))]])))
    assert 5e2 < conditions[0] < 2e3
    np.testing.assert_allclose(np.diff(np.log10(conditions)), [2, 2], atol=0.02)


def test_000_3_it_is_the_only_singular_crank_angle_and_the_regular_geometry_has_none(change_point):
    """Errata 000-3: σ_min(J) ≥ 0.274 for (0.2, 0.4, 0.4, 0.5)."""

    def least(system, degrees):
        return [np.linalg.svd(system.J(system.assemble("open", theta2=x)))[1][-1] for x in np.deg2rad(degrees)]

    assert min(least(change_point, np.arange(-175, 176))) > 2e-2 and max(least(change_point, [180])) < 1e-7
    assert min(least(FOUR_BAR.system(), np.arange(-180, 181))) == pytest.approx(0.274, abs=5e-4)


def test_a_redundant_constraint_is_told_from_a_singular_configuration():
    system = PARALLELOGRAM.system()
    assert told(system, system.assemble(theta2=1.0)) == (0, 1, 1)
    assert "one of the constraints follows from the others" in str(cl.mobility(system, system.assemble(theta2=1.0)))
    for flat in (0.0, np.pi):
        found = cl.mobility(system, system.assemble(theta2=flat))
        assert (found.rank, found.rank_nearby, found.instantaneous, found.degrees_of_freedom) == (2, 3, 2, 1)
        assert "singular configuration: nearby the rank is 3. Here and nearby, one of the constraints" in str(found)


def test_bars_that_close_in_one_line_only_do_not_move():
    """0.9 = 0.2 + 0.3 + 0.4: the count gives 1, the rank 2, and there is no other configuration at all."""
    structure = FOUR_BAR.system(a=0.2, b=0.3, c=0.4, d=0.9)
    assert told(structure, [0, 0, np.pi]) == (1, 2, 0)
    assert "It cannot move" in str(cl.mobility(structure, [0, 0, np.pi]))


def test_a_constraint_that_moves_is_judged_at_its_time(wire):
    centre = [0.3 * np.sin(4 * 0.2), 0.0]
    assert cl.mobility(wire, centre, t=0.2).rank == 0 and cl.mobility(wire, centre, t=0.1).rank == 1


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
@pytest.mark.parametrize("stabilize", REMEDIES, ids=["none", "Baumgarte", "projection"])
def test_000_3_the_change_point_ends_a_run_at_the_same_time_whatever_the_step(change_point, dt, stabilize):
    """From 10°, open, at rest: θ₂ = −180° at t = 0.39289 s."""
    tr = cl.simulate(change_point, *started(change_point, 10), t_end=2.0, dt=dt, stabilize=stabilize)
    assert tr.stopped.startswith(
        "Stopped at t = 0.3929 s: the run reaches a singular configuration, "
        "theta2 = −180.0°, theta3 = 0.0°, theta4 = 180.0°, where the constraint Jacobian has rank 1 of 2."
    )
    assert "End the run before it, start from another state, or change the geometry" in tr.stopped
    assert 0.39289 - 2 * dt < tr.t[-1] < 0.3929 and (np.diff(tr.t) > 0).all()
    assert np.rad2deg(tr.q[-1, 0]) == pytest.approx(-180, abs=2 * dt * 1000) and tr.q[-1, 0] > -np.pi
    for name in ("q", "v", "lam", "position_residual", "velocity_residual", "energy_balance"):
        assert len(getattr(tr, name)) == len(tr.t) and np.isfinite(getattr(tr, name)).all(), name
    assert np.abs(tr.energy_balance).max() < 1e-4


def test_the_change_point_is_found_from_either_side_on_either_branch_at_any_speed(change_point):
    for degrees, speed, branch in ((10, 12, "open"), (10, 12, "crossed"), (-10, -12, "open"), (170, 3, "crossed")):
        tr = cl.simulate(change_point, *started(change_point, degrees, speed, branch), t_end=2.0, dt=1e-3)
        assert "singular configuration" in tr.stopped, (degrees, speed, branch)
        assert abs(np.rad2deg(tr.q[-1, 0])) == pytest.approx(180, abs=3), (degrees, speed, branch)


def test_a_slow_passage_and_one_in_a_few_steps_are_found(change_point):
    slow = cl.simulate(change_point.set(g=0), *started(change_point, 179.9, 0.01), t_end=1.0, dt=1e-3)
    assert "theta2 = 180.0°" in slow.stopped and slow.t[-1] == pytest.approx(np.deg2rad(0.1) / 0.01, abs=0.01)
    fast = cl.simulate(change_point, *started(change_point, 90, 30), t_end=1.0, dt=5e-3)
    assert "theta2 = 180.0°" in fast.stopped


@pytest.mark.parametrize("dt", [5e-3, 1e-3])
def test_a_method_of_first_order_stops_there_too_when_it_is_kept_on_the_constraints(change_point, dt):
    given = dict(t_end=2.0, dt=dt, method="semi_implicit_euler", stabilize=cl.Projection())
    tr = cl.simulate(change_point, *started(change_point, 10), **given)
    assert "theta2 = −180.0°" in tr.stopped and tr.t[-1] == pytest.approx(0.3929, abs=dt)


@pytest.mark.parametrize("d", [0.501, 0.499, 0.4999])
@pytest.mark.parametrize("stabilize", REMEDIES, ids=["none", "Baumgarte", "projection"])
def test_a_geometry_a_millimetre_or_less_off_the_change_point_is_not_stopped(change_point, d, stabilize):
    near = change_point.set(d=d)
    tr = cl.simulate(near, *started(near, 10), t_end=2.0, dt=1e-3, stabilize=stabilize)
    assert tr.stopped is None and tr.t[-1] == 2.0
    assert np.rad2deg(tr.q[:, 0].min()) < -170


def test_sound_runs_are_never_stopped(bead, wire):
    regular = FOUR_BAR.system()
    reference = FOUR_BAR.system(a=0.2, b=0.5, c=0.4, d=0.45)
    dead_centres = FOUR_BAR.system(a=0.3, b=0.4, c=0.3, d=0.5)
    for system, speed in ((regular, 0), (regular, 25), (reference, 0), (reference, -20), (dead_centres, 5)):
        tr = cl.simulate(system, *started(system, 10, speed), t_end=10.0, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
        assert tr.stopped is None and tr.t[-1] == 10.0, (system, speed)
    for system, v in ((bead, [0, 0]), (bead, [0, 7.0]), (wire, [1.2, 0])):
        q, v = cl.project(system, [-1, 0] if system is bead else [0, -1], v)
        assert cl.simulate(system, q, v, t_end=20.0, dt=1e-3).stopped is None


@pytest.mark.parametrize("stabilize", REMEDIES, ids=["none", "Baumgarte", "projection"])
def test_the_redundant_parallelogram_stops_only_where_it_lies_flat(stabilize):
    system = PARALLELOGRAM.system()

    def run(theta2, speed, t_end=2.0):
        q = system.assemble(theta2=theta2)
        given = dict(dt=1e-3, redundant="minimum_norm", stabilize=stabilize)
        return cl.simulate(system, q, speed * np.array([1.0, 0, 1, 1]), t_end=t_end, **given)

    swinging = run(-2.0, 0.0)
    assert swinging.stopped is None and np.ptp(swinging.q[:, 0]) > 0.5
    falling = run(1.0, 0.0)
    assert "theta2 = 0.0°, theta3 = 0.0°, theta4 = 0.0°, theta5 = 0.0°" in falling.stopped
    assert "rank 2 of 4" in falling.stopped and 0 < falling.q[-1, 0] < 0.01
    turning = run(-1.0, -10.0)
    assert "theta2 = −180.0°" in turning.stopped


def test_a_start_at_the_singular_configuration_is_refused(change_point):
    flat = np.array([-np.pi, 0.0, np.pi])
    with pytest.raises(cl.SingularConfiguration, match="rank 1 of 2") as error:
        cl.simulate(change_point, flat, REST, t_end=1.0, dt=1e-3)
    assert (error.value.rank, error.value.rows) == (1, 2)
    with pytest.raises(cl.SingularConfiguration, match="is a singular configuration of four-bar: .* rank 1 of 2"):
        cl.simulate(change_point, flat, REST, t_end=1.0, dt=1e-3, redundant="minimum_norm")
    with pytest.raises(cl.SingularConfiguration, match="rank 1 of 2; reduced coordinates need independent constraints"):
        cl.reduced(change_point, flat, REST)


def test_a_near_miss_is_told_in_a_note():
    """1e-6 m off the change point nothing is singular, but what comes after depends on the step."""
    system = cl.mechanisms.FourBar().system(a=0.2, b=0.4, c=0.3, d=0.5 + 1e-6)
    q = system.assemble("open", theta2=np.deg2rad(10))
    tr = cl.simulate(system, q, np.zeros(3), t_end=0.45, dt=1e-3, stabilize=cl.Baumgarte(20, 20))
    assert tr.stopped is None or "singular" not in tr.stopped
    assert any("very close to a singular configuration, at t = 0.39" in note for note in tr.notes)
    regular = cl.mechanisms.FourBar().system()
    tr = cl.simulate(regular, regular.assemble("open", theta2=0.2), np.zeros(3), t_end=1.0, dt=1e-3)
    assert tr.notes == []
