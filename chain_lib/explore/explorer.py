"""What an explorer is: controls, a pure computation, a picture and a line of text."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from chain_lib.draw.figure import Figure


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


@dataclass(frozen=True)
class Explorer:
    """Sliders around a picture.

    Parameters
    ----------
    title : str
        What is explored.
    controls : tuple of Slider and Choice
    compute : function (**values) -> result
        Pure: the same values give the same result, and nothing else is read.
    setup : function (figure) -> dict of artists
        Makes axes and artists once; limits are fixed here.
    draw : function (result, artists)
        Updates the artists.
    text : function (result) -> str
        The state in words and numbers.
    presets : dict
        Button label to the values it sets.

    Examples
    --------
    >>> import chain_lib as cl
    >>> explorer = cl.explore.drift()
    >>> result = explorer.compute(**{**explorer.start, "dt": 0.05})
    >>> explorer.text(result)[:24]
    'After 10 s with Δt = 50 '
    """

    title: str
    controls: tuple
    compute: Callable
    setup: Callable
    draw: Callable
    text: Callable
    presets: dict = field(default_factory=dict)
    figsize: tuple = (7.5, 4.4)

    @property
    def start(self):
        """Values of all controls at first."""
        return {control.name: control.start for control in self.controls}

    def complete(self, values):
        """The given values with the others at their start; a sentence if one is not possible."""
        controls = {control.name: control for control in self.controls}
        for name, value in values.items():
            if name not in controls:
                raise ValueError(f"{self.title}: there is no control {name!r}; there are {', '.join(controls)}.")
            if not controls[name].admits(value):
                raise ValueError(f"{self.title}: {name} = {value!r} is not possible; it is {controls[name].range}.")
        return {**self.start, **values}

    def figure(self, **values):
        """The static figure for some values; the other controls stand at their start.

        Returns
        -------
        Figure
            With `text` as its description.
        """
        result = self.compute(**self.complete(values))
        figure = Figure(figsize=self.figsize)
        self.draw(result, self.setup(figure))
        figure.description = self.text(result)
        return figure

    def widget(self):
        """The live explorer, for the last line of a notebook cell."""
        from chain_lib.explore.live import LiveExplorer

        return LiveExplorer(self)
