"""A row of equal four-bars side by side: all loops become singular at once, and the motion goes through."""

import numpy as np
import sympy as sp

from chain_lib.mechanism import Mechanism, coordinates
from chain_lib.mechanisms.four_bar import along

L = sp.Symbol("L", positive=True)
m, inertia, g = sp.symbols("m I g", nonnegative=True)


class NFourBar(Mechanism):
    """N four-bars in a row: N + 1 bars on the ground pivots Aᵢ = (iL, 0), and N couplers between their ends Bᵢ.

    q = (θ₀, …, θ_N, ψ₁, …, ψ_N): absolute angles of the bars AᵢBᵢ and of the couplers Bᵢ₋₁Bᵢ. All bars are
    equal, uniform rods by default. Loop i closes Aᵢ₋₁→Bᵢ₋₁→Bᵢ minus Aᵢ₋₁→Aᵢ→Bᵢ (m). Where all bars lie on the
    ground line the constraint Jacobian has rank N of 2N: each loop could go on as a parallelogram or fold.

    Parameters
    ----------
    N : int
        Number of loops.

    Source: problem A02 of the multibody benchmark library of the University of A Coruña; of the library:
    González, Lugrís, Gutiérrez and Cuadrado (2005), doi:10.1115/DETC2005-85035.

    Examples
    --------
    >>> system = NFourBar(2).system()
    >>> print(system.assemble(theta0=1.0))
    [1. 1. 1. 0. 0.]
    """

    def __init__(self, N):
        if isinstance(N, bool) or not isinstance(N, (int, np.integer)) or N < 1:
            raise ValueError(f"N = {N!r} is not possible; it is the number of four-bars in the row, 1 or more.")
        bars, couplers = range(N + 1), range(1, N + 1)
        q, v = coordinates([*(f"theta{i}" for i in bars), *(f"psi{i}" for i in couplers)])
        theta, psi = q[: N + 1], [None, *q[N + 1 :]]
        A = [sp.Matrix([i * L, 0]) for i in bars]
        B = [A[i] + L * along(theta[i]) for i in bars]
        loops = [B[i - 1] + L * along(psi[i]) - B[i] for i in couplers]
        super().__init__(
            f"row of {N} four-bars" if N > 1 else "row of one four-bar",
            coordinates=q,
            velocities=v,
            parameters={
                L: (1.0, "m", "length of every bar, and distance of the ground pivots"),
                m: (1.0, "kg", "mass of every bar"),
                inertia: (m * L**2 / 12, "kg m^2", "inertia of every bar about its centre of mass"),
                g: (9.81, "m/s^2", "gravity"),
            },
            constraints={f"loop {i}, {axis}": (loops[i - 1][k], "m") for i in couplers for k, axis in enumerate("xy")},
            motors={f"A{i}": theta[i] for i in bars},
            points={**{f"A{i}": A[i] for i in bars}, **{f"B{i}": B[i] for i in bars}},
            bodies=[
                *((f"bar {i}", m, A[i] + L / 2 * along(theta[i]), theta[i], inertia) for i in bars),
                *((f"coupler {i}", m, B[i - 1] + L / 2 * along(psi[i]), psi[i], inertia) for i in couplers),
            ],
            branches=lambda p, held: _branches(N, held),
        )


def _branches(N, held):
    """All bars parallel and all couplers level, as the benchmark runs."""
    if set(held) != {"theta0"}:
        raise ValueError(
            f"The row of four-bars has a closed form with theta0 held, not with {', '.join(held) or 'nothing'}; "
            "hold theta0, or give start=q for an iteration."
        )
    return {"parallel": np.array([held["theta0"]] * (N + 1) + [0.0] * N)}
