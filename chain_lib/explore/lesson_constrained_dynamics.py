"""Explorer of lesson 05: the forces in the joints of a four-bar, over a motion and at one instant."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import radians

import numpy as np

from chain_lib import codegen
from chain_lib.draw import constrained_dynamics as picture
from chain_lib.dynamics import joint_forces as forces_at
from chain_lib.explore.controls import Slider
from chain_lib.explore.explorer import Explorer
from chain_lib.explore.linkage import four_bar
from chain_lib.simulation import simulate
from chain_lib.stabilization import Baumgarte, project

DURATION, FIRST = 2.0, 0.1  # of the run, and of the first piece it is computed in; each piece doubles it (s)
STEP, STEP_WITHOUT_NUMBA = 1e-3, 4e-3  # (s)
FAST = 60.0  # the run ends when the crank turns as fast as this (rad/s): ten turns a second
START = radians(60)


@dataclass(frozen=True, eq=False)
class Run:
    """A run from rest: states, the forces of `picture.FORCES` over time, the energy that is not accounted for."""

    system: object
    torque: float
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    over_time: dict
    energy: float

    @cached_property
    def scale(self):
        """Force (N) that 0.1 m of an arrow stands for: a round number, so that usual arrows are about 0.2 m long."""
        largest = np.max([np.hypot(*force.T) for force in self.over_time.values()], axis=0)
        power = 10.0 ** np.floor(np.log10(wanted := max(np.median(largest) / 2, 1e-3)))
        return float(min((power * step for step in (1, 2, 5, 10)), key=lambda scale: abs(np.log(scale / wanted))))


@dataclass(frozen=True, eq=False)
class Instant:
    """One instant of a run, with the forces (N) in the joints: of the ground at A and D, on the coupler at B and C."""

    run: Run
    index: int
    points: dict
    forces: dict

    t = property(lambda self: self.run.t)
    q = property(lambda self: self.run.q)
    over_time = property(lambda self: self.run.over_time)
    scale = property(lambda self: self.run.scale)


def joint_forces():
    """The four-bar of the course, released at rest at θ₂ = 60°, with a motor at A, for 2 s.

    Controls: masses m2, m3, m4 (kg), gravity g (m/s²), torque of the motor (N m), and the instant (s) at
    which the forces are drawn.
    """
    mass = dict(unit="kg", low=0.1, high=5.0, start=1.0, step=0.1)
    return Explorer(
        title="Forces in the joints",
        controls=(
            Slider("instant", "instant", "s", 0.0, DURATION, start=0.2, step=0.01),
            Slider("m2", "crank m₂", **mass),
            Slider("m3", "coupler m₃", **mass),
            Slider("m4", "rocker m₄", **mass),
            Slider("g", "gravity g", "m/s²", 0.0, 20.0, start=9.81, step=0.01),
            Slider("torque", "motor at A", "N m", -5.0, 5.0, start=0.0, step=0.1, special=(0.8,)),
        ),
        compute=_compute,
        setup=picture.setup,
        draw=picture.draw,
        text=_text,
        presets={
            "light rocker": {"m2": 1.0, "m3": 1.0, "m4": 0.1, "g": 9.81, "torque": 0.0},
            "nearly held": {"m2": 1.0, "m3": 1.0, "m4": 1.0, "g": 9.81, "torque": 0.8},
            "motor, no gravity": {"m2": 1.0, "m3": 1.0, "m4": 1.0, "g": 0.0, "torque": 0.5},
        },
        play="instant",
    )


@lru_cache(maxsize=16)
def _run(m2, m3, m4, g, torque):
    """The run, in pieces, up to the first instant at which the crank is too fast or the run fails."""
    system = four_bar().system(m2=m2, m3=m3, m4=m4, g=g)
    q, v = system.assemble("open", theta2=START), np.zeros(3)
    step = STEP if codegen.compiles() else STEP_WITHOUT_NUMBA
    pieces, start, balance, energy = [], 0.0, 0.0, 0.0
    while start < DURATION - 1e-9:
        tr = simulate(
            system, q, v, t_end=min(max(FIRST, start), DURATION - start), dt=step, stabilize=Baumgarte(20, 20),
            torque=[torque, 0.0, 0.0], consistent_start=False,
        )  # fmt: skip
        slow = len(tr.t) if (fast := np.abs(tr.v[:, 0]) > FAST).sum() == 0 else int(np.argmax(fast))
        kept = slice(1 if pieces else 0, slow)
        pieces.append((start + tr.t[kept], tr.q[kept], tr.v[kept], tr.lam[kept]))
        energy = max(energy, np.abs(balance + tr.energy_balance[:slow]).max(initial=0.0))
        balance += tr.energy_balance[-1]
        if slow < len(tr.t) or tr.stopped:
            break
        q, v, start = tr.q[-1], tr.v[-1], start + tr.t[-1]
    t, q, v, lam = (np.concatenate(parts) for parts in zip(*pieces))
    return Run(system, torque, t, q, v, forces_over(system, q, v, lam, [torque, 0.0, 0.0]), energy)


def forces_over(system, q, v, lam, tau):
    """Forces in the joints of a four-bar at many states at once, by Newton's law from C inwards.

    Parameters
    ----------
    system : System
        Of a `FourBar`.
    q, v : array, (N, 3)
    lam : array, (N, 2)
        Force at C on the coupler (N).
    tau : array, (3,)

    Returns
    -------
    dict
        Joint to forces (N, 2): at A on the crank, at B and C on the coupler, at D on the rocker.
    """
    state = 0.0, q.T, v.T, system.p

    def many(rows):
        return np.stack([np.stack([np.broadcast_to(x, len(q)) for x in row], -1) for row in rows], 1)

    M, h, J = (many(getattr(system.code, name)(*state)) for name in ("M", "h", "J"))
    constraint = np.einsum("kmn,km->kn", J, lam)
    a = np.linalg.solve(M, (np.asarray(tau) - h[:, :, 0] + constraint)[:, :, None])
    bodies = many(system.code.twists(*state)) @ a + many(system.code.twist_bias(*state))
    crank, coupler, rocker = bodies[:, :, 0].reshape(-1, 3, 3)[:, :, :2].transpose(1, 0, 2)
    mass = [system.parameters[name] for name in ("m2", "m3", "m4")]
    lift = np.array([0.0, system.parameters["g"]])
    B = mass[1] * (coupler + lift) - lam
    return {"A": mass[0] * (crank + lift) + B, "B": B, "C": lam, "D": mass[2] * (rocker + lift) + lam}


def _compute(*, instant, m2, m3, m4, g, torque):
    run = _run(m2, m3, m4, g, torque)
    index = min(int(np.searchsorted(run.t, instant - 1e-9)), len(run.t) - 1)
    q, v = project(run.system, run.q[index], run.v[index])
    forces = forces_at(run.system, q, v, [torque, 0.0, 0.0])
    named = {joint: forces[joint][body] for joint, body, *_ in picture.FORCES}
    return Instant(run, index, run.system.points(q), named)


def _text(instant):
    run, k = instant.run, instant.index
    A, B, C, D = (f"({force[0]:.1f}, {force[1]:.1f})" for force in (instant.forces[name] for name in "ABCD"))
    largest = {name: np.hypot(*force.T).max() for name, force in run.over_time.items()}
    turn = np.rad2deg(np.angle(np.exp(1j * run.q[k, 0])))
    p = run.system.parameters
    words = [
        f"m₂ = {p['m2']:.1f}, m₃ = {p['m3']:.1f}, m₄ = {p['m4']:.1f} kg, g = {p['g']:.2f} m/s², motor {run.torque:.1f} N m.",
        f"At t = {run.t[k]:.2f} s: θ₂ = {turn:.1f}°, θ̇₂ = {run.v[k, 0]:.1f} rad/s.",
        f"Forces in N, along x and y: λ at C on the coupler {C}, at B on the coupler {B},",
        f"from the ground {A} at A and {D} at D. In the picture 0.1 m stands for {run.scale:g} N.",
        "Largest in this run: " + ", ".join(f"{name} {size:.3g} N" for name, size in largest.items()) + ".",
        f"Energy balance: below {_round_up(run.energy)} J.",
    ]
    if run.t[-1] < DURATION - 1e-6:
        words.append(
            f"The run is shown up to {run.t[-1]:.2f} s, where the crank turns {FAST / (2 * np.pi):.0f} times a second."
        )
    return " ".join(words).replace("-0.0", "0.0").replace("-", "−")


def _round_up(energy):
    """The next power of ten, in words."""
    return f"1e{int(np.ceil(np.log10(max(energy, 1e-13))))}"
