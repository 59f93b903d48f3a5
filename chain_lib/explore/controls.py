"""What a reader can move: a slider or a choice, declared with its unit, its range and its special values."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Slider:
    """A number that the reader moves.

    Parameters
    ----------
    name, label, unit : str
        Keyword of `Explorer.compute`; what stands beside the slider.
    low, high, start, step : float
        For ``log=True`` the step is in decades.
    log : bool
        Whether equal distances are equal factors.
    special : tuple of float
        Values between the ends that deserve a test, such as a limit.
    """

    name: str
    label: str
    unit: str
    low: float
    high: float
    start: float
    step: float
    log: bool = False
    special: tuple = ()

    @property
    def ends(self):
        """The values that a test must visit."""
        return (self.low, *self.special, self.high)

    @property
    def range(self):
        """What is possible, in words."""
        return f"a number from {self.low:g} to {self.high:g} {self.unit}"

    def admits(self, value):
        """Whether the slider can stand at this value."""
        number = np.isscalar(value) and not isinstance(value, str) and np.isfinite(value)
        return bool(number and self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9))


@dataclass(frozen=True)
class Choice:
    """One of several named options.

    Parameters
    ----------
    name, label : str
    options : dict
        What is shown, and the value it stands for.
    start : object
        The value at first.
    """

    name: str
    label: str
    options: dict
    start: object

    @property
    def ends(self):
        """The values that a test must visit."""
        return tuple(self.options.values())

    @property
    def range(self):
        """What is possible, in words."""
        return "one of " + ", ".join(map(repr, self.options.values()))

    def admits(self, value):
        """Whether this value is among the options."""
        return value in self.options.values()
