"""The live explorer: ipywidgets controls beside a picture of our own on anywidget."""

from io import BytesIO
from pathlib import Path

import anywidget
import ipywidgets as widgets
import numpy as np
import traitlets
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from chain_lib.draw.figure import Figure
from chain_lib.explore.controls import Choice, Stops

PLAY_STEPS, PLAY_INTERVAL = 3, 80  # steps of a slider from picture to picture, and the time between two (ms)


class Picture(anywidget.AnyWidget):
    """An image with a description that follows it, and a line of text that is announced."""

    _esm = Path(__file__).with_name("picture.js")
    _css = Path(__file__).with_name("picture.css")
    png = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    handles = traitlets.List().tag(sync=True)
    serial = traitlets.Int().tag(sync=True)

    def show(self, png, title, text, handles):
        """Show an image; the serial number tells the browser that all of it has arrived."""
        with self.hold_sync():
            self.png, self.alt, self.text, self.handles = png, f"{title}. {text}", text, handles
            self.serial += 1


class Renderer:
    """Draws an explorer's results into one image, over a kept background of axes and labels."""

    def __init__(self, explorer):
        self.explorer = explorer
        self.figure = Figure(figsize=explorer.figsize)
        self.canvas = FigureCanvasAgg(self.figure)
        self.artists = explorer.setup(self.figure)
        for artist in self.artists.values():
            artist.set_animated(True)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(self.figure.bbox)

    def png(self, result):
        """The picture of a result, as PNG."""
        self.explorer.draw(result, self.artists)
        self.canvas.restore_region(self.background)
        for artist in self.artists.values():
            artist.axes.draw_artist(artist)
        buffer = BytesIO()
        Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3]).save(buffer, format="png", compress_level=1)
        return buffer.getvalue()

    def to_picture(self, on, x, y):
        """Place in the picture, as fractions from its upper left corner, of a point in an artist's axes."""
        across, up = self.artists[on].axes.transData.transform((x, y)) / self.figure.bbox.size
        return float(across), float(1 - up)

    def from_picture(self, on, across, down):
        """Point in an artist's axes of a place in the picture."""
        pixels = (across, 1 - down) * self.figure.bbox.size
        return tuple(map(float, self.artists[on].axes.transData.inverted().transform(pixels)))


class LiveExplorer(widgets.Box):
    """Controls in a column, the picture to the right, one line of text under it.

    Attributes
    ----------
    controls : dict
        The ipywidgets controls by name.
    picture : Picture
    """

    def __init__(self, explorer):
        self.explorer = explorer
        self.controls = {control.name: _control(control) for control in explorer.controls}
        self.picture = Picture()
        self._renderer = Renderer(explorer)
        self._held = False
        for control in self.controls.values():
            control.observe(self._show, "value")
        buttons = [
            self._button(label, values) for label, values in {"Reset": explorer.start, **explorer.presets}.items()
        ]
        row = widgets.HBox(buttons, layout=widgets.Layout(flex_flow="row wrap"))
        column = widgets.VBox([*self.controls.values(), *self._play(), row], layout=widgets.Layout(width="370px"))
        super().__init__([column, self.picture], layout=widgets.Layout(display="flex", flex_flow="row wrap"))
        self.add_class("chain-lib-explorer")
        self.picture.on_msg(self._moved)
        self._show()

    def set(self, values):
        """Move several controls and draw once."""
        self._held = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._held = False
        self._show()

    def _show(self, _=None):
        if not self._held:
            result = self.explorer.compute(**{name: control.value for name, control in self.controls.items()})
            handles = [self._handle(handle) for handle in self.explorer.handles]
            self.picture.show(self._renderer.png(result), self.explorer.title, self.explorer.text(result), handles)

    def _handle(self, handle):
        """What the browser needs to place a handle and to announce it."""
        control, value = self._declared(handle.name), self.controls[handle.name].value
        values = {name: slider.value for name, slider in self.controls.items()}
        across, down = self._renderer.to_picture(handle.on, *handle.place(values))
        words = f"{value:g} {control.unit}"
        if handle.upward:
            other = self._declared(handle.upward)
            words = f"{control.label} {words}, {other.label} {values[other.name]:g} {other.unit}"
        limits = dict(low=control.low, high=control.high, value=value, words=words)
        return dict(name=handle.name, label=handle.label, across=across, down=down, **limits)

    def _moved(self, _, message, __):
        """A handle was dragged to a place, or moved by some steps with the keys."""
        handle = next(handle for handle in self.explorer.handles if handle.name == message["name"])
        if "steps" in message:
            name = handle.upward if handle.upward and message.get("up") else handle.name
            control = self._declared(name)
            value = self.controls[name].value + message["steps"] * control.step
            if control.full_turn and not control.admits(value):
                value = (value - control.low) % 360 + control.low
            values = {name: control.nearest(value)}
        else:
            values = self._dragged(handle, *self._renderer.from_picture(handle.on, message["across"], message["down"]))
        before = self.picture.serial
        if any(self.controls[name].value != value for name, value in values.items()):
            self.set(values)
        if self.picture.serial == before:
            self.picture.serial += 1  # nothing has moved; the browser waits for an answer all the same

    def _dragged(self, handle, x, y):
        """The values of a handle's sliders at a point of its axes."""
        if handle.upward:
            pair = handle.value(x, y, {name: slider.value for name, slider in self.controls.items()})
            return {
                name: self._declared(name).nearest(value) for name, value in zip((handle.name, handle.upward), pair)
            }
        value = handle.value(x, y)
        control, now = self._declared(handle.name), self.controls[handle.name].value
        if handle.wraps and abs(value - now) > (control.high - control.low) / 2:
            value = control.low if now < (control.low + control.high) / 2 else control.high
        return {handle.name: control.nearest(value)}

    def _play(self):
        """Buttons that move the explorer's main slider by themselves, to its end and again from its start."""
        if self.explorer.play is None:
            return []
        control, slider = self._declared(self.explorer.play), self.controls[self.explorer.play]

        def stands_at():
            return round((slider.value - control.low) / control.step)

        def played(change):
            if change["new"] != stands_at():
                slider.value = control.nearest(control.low + change["new"] * control.step)

        steps = round((control.high - control.low) / control.step)  # a Play counts in whole numbers
        play = widgets.Play(min=0, max=steps, step=PLAY_STEPS, value=stands_at(), interval=PLAY_INTERVAL)
        play.observe(played, "value")
        slider.observe(lambda _: setattr(play, "value", stands_at()), "value")
        return [widgets.HBox([widgets.Label(f"play {control.label}"), play])]

    def _declared(self, name):
        return next(control for control in self.explorer.controls if control.name == name)

    def _button(self, label, values):
        button = widgets.Button(description=label, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _: self.set(values))
        return button

    def __repr__(self):
        return f"{self.explorer.title}: sliders, alive when the notebook runs"


def _control(control):
    style, layout = {"description_width": "165px"}, widgets.Layout(width="360px")
    if isinstance(control, Choice):
        return widgets.Dropdown(
            options=list(control.options.items()),
            value=control.start,
            description=control.label,
            style=style,
            layout=layout,
        )
    if isinstance(control, Stops):
        options = [(control.words(value), value) for value in control.values]
        label = f"{control.label} ({options[0][0]} … {options[-1][0]})"
        return widgets.SelectionSlider(
            options=options, value=control.start, description=label, style=style, layout=layout
        )
    label = f"{control.label} ({control.low:g} … {control.high:g} {control.unit})".replace("-", "−")
    shared = dict(value=control.start, step=control.step, description=label, style=style, layout=layout)
    return widgets.FloatSlider(min=control.low, max=control.high, readout_format=".3g", **shared)
