"""What an explorer is: controls, a pure computation, a picture and a line of text."""

from collections.abc import Callable
from dataclasses import dataclass, field

from chain_lib.draw.figure import Figure


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
    handles : tuple of Handle
        Points of the picture that can be dragged.
    play : str, optional
        The slider that moves by itself at the push of a button.

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
    handles: tuple = ()
    play: str | None = None
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
