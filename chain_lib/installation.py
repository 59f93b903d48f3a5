"""Is this installation sound? The answer in a sentence, from a run that is compared with a known value."""

import numpy as np


def check_installation():
    """Simulate a bead for 10 s and compare it with the exact pendulum.

    Returns
    -------
    str
        One sentence; it says what to do if something is wrong.

    Source of the exact position: Jacobi's elliptic functions, evaluated to 30 digits.
    """
    from chain_lib import codegen, mechanisms
    from chain_lib.simulation import simulate
    from chain_lib.stabilization import Baumgarte

    exact = np.array([-0.275087462576116860, -0.961419205099125064])
    bead = mechanisms.BeadOnCircle().system()
    run = simulate(bead, [-1, 0], [0, 0], t_end=10.0, dt=1e-3, stabilize=Baumgarte(20, 20))
    error = np.abs(run.q[-1] - exact).max()
    if not error < 1e-7:
        return (
            f"Something is wrong: a pendulum of 10 s ends {error:.1e} m from where it should. "
            "Install the course anew, as the README says, and run this again."
        )
    speed = "numba compiles it" if codegen.compiles() else "it runs in plain NumPy, since numba is not installed"
    return f"Your installation is sound: a pendulum of 10 s ends within 1e-7 m of the exact place, and {speed}."
