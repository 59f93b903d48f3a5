"""The four-bar by this library's methods and by other libraries; the table is printed at the end of the run.

All run 10 s from rest under gravity. The others are the optional extra ``peers``; one that is not installed is
left out. Their equations come from the same description: as Python functions for the DAE solvers, by JAX for
diffrax, and from Exudyn's own bodies and joints.
"""

import importlib.util
import time
import warnings

import numpy as np
import pytest

import chain_lib as cl

LENGTHS = dict(a=0.2, b=0.5, c=0.4, d=0.45)
T_END, DT = 10.0, 1e-3


@pytest.fixture(scope="module")
def four_bar():
    system = cl.mechanisms.FourBar().system(**LENGTHS)
    return system, system.assemble("open", theta2=np.deg2rad(10))


@pytest.fixture(scope="module")
def exact(four_bar):
    """q after 10 s."""
    system, q0 = four_bar
    tr = cl.simulate(
        system, q0, np.zeros(3), t_end=T_END, dt=0.1, method="dop853", form="reduced", rtol=1e-12, atol=1e-13
    )
    return tr.q[-1]


def ours(dt=DT, **how):
    """A run of this library."""

    def prepare(system, q0):
        def run():
            tr = cl.simulate(system, q0, np.zeros(3), t_end=T_END, dt=dt, **how)
            return tr.q[-1], tr.v[-1]

        return run

    return prepare


def arrays(system):
    """M, h, φ and J of a state, as arrays, from the generated Python functions."""
    code, p = system.code, system.p

    def evaluate(q, v):
        return (
            np.array(code.M(0.0, q, v, p)),
            np.array(code.h(0.0, q, v, p))[:, 0],
            np.array(code.phi(0.0, q, v, p))[:, 0],
            np.array(code.J(0.0, q, v, p)),
        )

    return evaluate


def sundials(system, q0):
    """IDA on the stabilized index-2 form of Gear, Gupta and Leimkuhler: y = (q, v, λ, μ)."""
    from sksundae.ida import IDA

    evaluate, (a, lam) = arrays(system), cl.accelerations(system, q0, np.zeros(3))

    def residual(t, y, yp, res):
        q, v = y[:3], y[3:6]
        M, h, phi, J = evaluate(q, v)
        res[:3] = yp[:3] - v - J.T @ y[8:]
        res[3:6] = M @ yp[3:6] + h - J.T @ y[6:8]
        res[6:8], res[8:] = phi, J @ v

    def run():
        solver = IDA(
            residual, algebraic_idx=[6, 7, 8, 9], rtol=1e-8, atol=[1e-8] * 6 + [1e3] * 4, max_num_steps=1_000_000
        )
        y = np.concatenate([q0, np.zeros(3), lam, np.zeros(2)])
        yp = np.concatenate([np.zeros(3), a, np.zeros(4)])
        solution = solver.solve(np.array([0.0, T_END]), y, yp)
        return solution.y[-1][:3], solution.y[-1][3:6]

    return run


def scipy_dae(system, q0):
    """Radau IIA on the stabilized index-1 form: the multipliers are the rates of two more unknowns."""
    from scipy_dae.integrate import solve_dae

    evaluate, (a, lam) = arrays(system), cl.accelerations(system, q0, np.zeros(3))

    def residual(t, y, yp):
        q, v = y[:3], y[3:6]
        M, h, phi, J = evaluate(q, v)
        return np.concatenate([yp[:3] - v - J.T @ yp[8:], M @ yp[3:6] + h - J.T @ yp[6:8], phi, J @ v])

    def run():
        y, yp = np.concatenate([q0, np.zeros(7)]), np.concatenate([np.zeros(3), a, lam, np.zeros(2)])
        end = solve_dae(residual, (0.0, T_END), y, yp, method="Radau", rtol=1e-8, atol=1e-8).y[:, -1]
        return end[:3], end[3:6]

    return run


def diffrax(system, q0):
    """Dopri8 on the index-1 form with gains of 20/s, compiled by JAX."""
    import diffrax as dx
    import jax
    import jax.numpy as jnp
    import sympy as sp

    jax.config.update("jax_enable_x64", True)
    mechanism = system.mechanism
    symbols = [list(mechanism.q), list(mechanism.v), list(mechanism.parameters)]
    quantities = [mechanism.M, mechanism.h, mechanism.phi, mechanism.J, mechanism.gamma]
    evaluate, p = sp.lambdify(symbols, quantities, "jax", cse=True), system.p

    def rate(t, y, _):
        q, v = y[:3], y[3:]
        M, h, phi, J, gamma = evaluate(q, v, p)
        K = jnp.block([[M, -J.T], [J, jnp.zeros((2, 2))]])
        right = jnp.concatenate([-h[:, 0], -gamma[:, 0] - 40 * J @ v - 400 * phi[:, 0]])
        return jnp.concatenate([v, jnp.linalg.solve(K, right)[:3]])

    @jax.jit
    def solve(y):
        return dx.diffeqsolve(
            dx.ODETerm(rate), dx.Dopri8(), 0.0, T_END, 1e-3, y, max_steps=100_000,
            stepsize_controller=dx.PIDController(rtol=1e-9, atol=1e-9),
        ).ys[-1]  # fmt: skip

    def run():
        end = np.array(solve(jnp.concatenate([jnp.array(q0), jnp.zeros(3)])))
        return end[:3], end[3:]

    return run


def exudyn(system, q0):
    """Generalized-α with ρ∞ = 0.8 at 1 ms on its own bodies: three rods with the coordinates x, y and angle."""
    import exudyn as exu
    from exudyn.itemInterface import (
        LoadForceVector,
        MarkerBodyPosition,
        NodeRigidBody2D,
        ObjectGround,
        ObjectJointRevolute2D,
        ObjectRigidBody2D,
    )

    A, B, D = (np.append(system.points(q0)[name], 0.0) for name in "ABD")

    def run():
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        ground = mbs.AddObject(ObjectGround())

        def rod(foot, angle, length):
            centre = foot + length / 2 * np.array([np.cos(angle), np.sin(angle), 0.0])
            node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[centre[0], centre[1], angle]))
            body = mbs.AddObject(ObjectRigidBody2D(physicsMass=1.0, physicsInertia=length**2 / 12, nodeNumber=node))
            weight = mbs.AddMarker(MarkerBodyPosition(bodyNumber=body))
            mbs.AddLoad(LoadForceVector(markerNumber=weight, loadVector=[0, -9.81, 0]))
            return node, [
                mbs.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[side * length / 2, 0, 0]))
                for side in (-1, 1)
            ]

        (a, crank), (b, coupler), (c, rocker) = (
            rod(foot, q0[i], LENGTHS[name]) for i, (foot, name) in enumerate(((A, "a"), (B, "b"), (D, "c")))
        )
        pivots = [mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=place)) for place in (A, D)]
        for pair in ((pivots[0], crank[0]), (crank[1], coupler[0]), (coupler[1], rocker[1]), (pivots[1], rocker[0])):
            mbs.AddObject(ObjectJointRevolute2D(markerNumbers=list(pair)))
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = round(T_END / DT), T_END
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        settings.timeIntegration.verboseMode, settings.solutionSettings.writeSolutionToFile = 0, False
        mbs.SolveDynamic(settings)
        angle, rate = exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t
        return (
            q0 + np.array([mbs.GetNodeOutput(node, angle)[2] for node in (a, b, c)]),
            np.array([mbs.GetNodeOutput(node, rate)[2] for node in (a, b, c)]),
        )

    return run


BAUMGARTE = cl.Baumgarte(20, 20)
OURS = {
    "semi-implicit Euler, Baumgarte": (ours(method="semi_implicit_euler", stabilize=BAUMGARTE), 1.0),
    "RK4, Baumgarte": (ours(method="rk4", stabilize=BAUMGARTE), 1e-6),
    "RATTLE": (ours(method="rattle"), 1e-2),
    "implicit midpoint": (ours(method="implicit_midpoint"), 1e-2),
    "implicit midpoint, GGL": (ours(method="implicit_midpoint_ggl"), 1e-2),
    "generalized-α, ρ∞ = 0.8": (ours(method="generalized_alpha"), 1e-2),
    "DOP853 1e-9, Baumgarte": (ours(dt=0.1, method="dop853", stabilize=BAUMGARTE), 1e-5),
    "Radau 1e-8, Baumgarte": (ours(dt=0.1, method="radau", stabilize=BAUMGARTE, rtol=1e-8, atol=1e-8), 1e-3),
}
PEERS = {
    "scipy_dae": ("scipy-dae, Radau 1e-8, stabilized index 1", scipy_dae, 1e-4),
    "sksundae": ("SUNDIALS IDA 1e-8, stabilized index 2", sundials, 1e-4),
    "diffrax": ("diffrax, Dopri8 1e-9, Baumgarte", diffrax, 1e-5),
    "exudyn": ("Exudyn, generalized-α, ρ∞ = 0.8", exudyn, 1e-2),
}


def row(name, prepare, four_bar, exact, repeat):
    """Median CPU time after a first call, and what is left at the end."""
    system, q0 = four_bar
    run = prepare(system, q0)
    q, v = run()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    error = np.abs(q - exact).max()
    energy = abs(system.energy(q, v) - system.energy(q0, np.zeros(3)))
    return error, (
        f"{name:44} {1e3 * np.median(times):9.1f} {error:9.1e} {np.linalg.norm(system.phi(q)):9.1e} {energy:9.1e}"
    )


def test_the_four_bar_by_many_methods(four_bar, exact, report):
    installed = [name for name in PEERS if importlib.util.find_spec(name)]
    if not installed:
        pytest.skip("none of the other libraries is installed; the extra 'peers' has them")
    rows = {name: (prepare, largest, 5) for name, (prepare, largest) in OURS.items()}
    rows |= {label: (prepare, largest, 3) for label, prepare, largest in (PEERS[name] for name in installed)}
    head = f"{'four-bar, 10 s (1 ms, or adaptive)':44} {'CPU ms':>9} {'rad':>9} {'m':>9} {'J':>9}"
    report(f"{head}   (errors at the end: angle, ‖φ‖, energy)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (prepare, largest, repeat) in rows.items():
            error, line = row(name, prepare, four_bar, exact, repeat)
            report(line)
            assert error < largest, name
    if missing := sorted(set(PEERS) - set(installed)):
        report(f"not installed: {', '.join(missing)}")
