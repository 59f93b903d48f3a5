"""What a simulation returns: states, multipliers and the three gauges, at every stored instant."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A simulated motion.

    Attributes
    ----------
    system : System
    method : str
    t : array, (N,)
        Time (s).
    q, v : array, (N, n)
    lam : array, (N, m)
        Multipliers of `accelerations` at the stored states, without a stabilization's share.
    position_residual, velocity_residual : array, (N,)
        ‖φ‖ and ‖J v + φ_t‖, in the constraints' unit and that per second.
    energy_balance : array, (N,)
        E − E₀ − W (J): zero when no energy appears or is lost unaccounted for. W = ∫ (τᵀv − λᵀφ_t) dt
        is the work of all applied forces and of constraints that move.
    stopped : str or None
        Why the run ended before its time, in words.
    notes : list of str
        What is worth knowing and did not end the run.
    passages : list of (float, array (n,))
        Singular configurations that the run crossed: when (s), and where.
    """

    system: object
    method: str
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    position_residual: np.ndarray
    velocity_residual: np.ndarray
    energy_balance: np.ndarray
    stopped: str | None = None
    notes: list = field(default_factory=list)
    passages: list = field(default_factory=list)

    def __repr__(self):
        text = (
            f"{self.system.mechanism.name}, {self.t[-1]:g} s in {len(self.t) - 1} steps of {self.method}: "
            f"position residual {self.position_residual.max():.2g}, "
            f"velocity residual {self.velocity_residual.max():.2g}, "
            f"energy balance {np.abs(self.energy_balance).max():.2g} J (largest values)"
        )
        return " ".join([text + ".", *([self.stopped] if self.stopped else []), *self.notes])
