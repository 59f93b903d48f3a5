"""What a reader can move: a slider, a choice, a point of the picture; each declared with what it can be."""

from collections.abc import Callable
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
    special: tuple = ()

    @property
    def ends(self):
        """The values that a test must visit."""
        return (self.low, *self.special, self.high)

    @property
    def range(self):
        """What is possible, in words."""
        return f"a number from {self.low:g} to {self.high:g} {self.unit}"

    @property
    def full_turn(self):
        """Whether the two ends are one and the same angle."""
        return self.unit == "°" and self.high - self.low == 360

    def admits(self, value):
        """Whether the slider can stand at this value."""
        number = np.isscalar(value) and not isinstance(value, str) and np.isfinite(value)
        rounding = 1e-9 * (self.high - self.low)
        return bool(number and self.low - rounding <= value <= self.high + rounding)

    def nearest(self, value):
        """The possible value that is closest to some number."""
        steps = round((float(value) - self.low) / self.step)
        return min(max(self.low + steps * self.step, self.low), self.high)


@dataclass(frozen=True)
class Stops:
    """A number that the reader moves from one round value to the next, for a quantity that spans decades.

    Parameters
    ----------
    name, label : str
        Keyword of `Explorer.compute`; what stands beside the slider.
    values : tuple of float
        In rising order.
    start : float
    words : function (value) -> str
        A value with its unit.
    """

    name: str
    label: str
    values: tuple
    start: float
    words: Callable

    @property
    def ends(self):
        """The values that a test must visit."""
        return (self.values[0], self.start, self.values[-1])

    @property
    def range(self):
        """What is possible, in words."""
        return f"a number from {self.words(self.values[0])} to {self.words(self.values[-1])}, in SI units"

    def admits(self, value):
        """Whether this value is in the range; a static figure may stand between two stops."""
        number = np.isscalar(value) and not isinstance(value, str) and np.isfinite(value)
        return bool(number and self.values[0] <= value <= self.values[-1])


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


@dataclass(frozen=True)
class Handle:
    """A point of the picture that moves a slider, or two of them, by pointer or by arrow keys.

    Parameters
    ----------
    name : str
        The slider that it moves.
    label : str
        What it is called for readers without eyes.
    on : str
        Name of an artist on the axes that the handle belongs to.
    place : function (values) -> (x, y)
        Where it stands, in the axes' data units, for the values of all controls.
    value : function (x, y) -> value
        The slider's value when it is dragged to a place. Where the handle moves two sliders: function
        (x, y, values) -> pair, with the values of all controls.
    wraps : bool
        Whether the two ends of the slider are neighbours in the picture, as those of an angle are, but not
        the same place. The handle then stops at an end instead of jumping to the other.
    upward : str, optional
        A second slider, which the handle moves with the arrow keys up and down.
    """

    name: str
    label: str
    on: str
    place: Callable
    value: Callable
    wraps: bool = False
    upward: str | None = None
