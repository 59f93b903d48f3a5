"""How far a long computation is: a line that is cleared in the end, and silent with CHAIN_LIB_QUIET=1."""

import os
import sys
import time

from chain_lib.codegen import _say

AFTER = 2.0  # seconds after which a computation counts as long
EVERY = 0.25  # seconds between two lines


class Progress:
    """A line such as "sweep: 40 %, about 3 s left", shown only where it takes longer than two seconds.

    Parameters
    ----------
    what : str
        What is going on, in a word or two.

    Examples
    --------
    >>> with Progress("sweep") as progress:
    ...     for k in range(10):
    ...         progress(k / 10)
    """

    def __init__(self, what):
        self.what, self.start, self.last, self.clear = what, time.monotonic(), 0.0, None

    def __enter__(self):
        return self

    def __call__(self, part):
        """Tell how far it is, as a part of the whole from 0 to 1."""
        now = time.monotonic()
        if now - self.start < AFTER or now - self.last < EVERY:
            return
        self.last = now
        left = f", about {(now - self.start) * (1 / part - 1):.0f} s left" if part > 0 else ""
        self._show(f"{self.what}: {100 * part:.0f} %{left}")

    def __exit__(self, *_):
        if self.clear:
            self.clear()

    def _show(self, text):
        if os.environ.get("CHAIN_LIB_QUIET") == "1":
            return
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if hasattr(shell, "kernel"):
            self.clear = _say(text)
        elif sys.stderr is not None and sys.stderr.isatty():
            _line(text)
            self.clear = lambda: _line("")


def _line(text):
    """Write over the terminal's last line."""
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
