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
from chain_lib.explore.explorer import Choice


class Picture(anywidget.AnyWidget):
    """An image with a description that follows it, and a line of text that is announced."""

    _esm = Path(__file__).with_name("picture.js")
    png = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    serial = traitlets.Int().tag(sync=True)

    def show(self, png, title, text):
        """Show an image; the serial number tells the browser that all of it has arrived."""
        with self.hold_sync():
            self.png, self.alt, self.text = png, f"{title}. {text}", text
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


def live(explorer):
    """Controls in a column, the picture to the right, one line of text under it.

    Returns
    -------
    ipywidgets.Box
        With the controls by name in ``controls`` and the `Picture` in ``picture``.
    """
    renderer = Renderer(explorer)
    picture = Picture()
    controls = {control.name: _control(control) for control in explorer.controls}
    held = False

    def show(_=None):
        if not held:
            result = explorer.compute(**{name: control.value for name, control in controls.items()})
            picture.show(renderer.png(result), explorer.title, explorer.text(result))

    def set_to(values):
        nonlocal held
        held = True
        try:
            for name, value in values.items():
                controls[name].value = value
        finally:
            held = False
        show()

    for control in controls.values():
        control.observe(show, "value")
    buttons = []
    for label, values in {"Reset": explorer.start, **explorer.presets}.items():
        button = widgets.Button(description=label, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _, values=values: set_to(values))
        buttons.append(button)
    show()
    row = widgets.HBox(buttons, layout=widgets.Layout(flex_flow="row wrap"))
    column = widgets.VBox([*controls.values(), row], layout=widgets.Layout(width="290px"))
    box = widgets.Box([column, picture], layout=widgets.Layout(display="flex", flex_flow="row wrap"))
    box.add_class("chain-lib-explorer")
    box.controls, box.picture = controls, picture
    return box


def _control(control):
    style, layout = {"description_width": "105px"}, widgets.Layout(width="280px")
    if isinstance(control, Choice):
        return widgets.Dropdown(
            options=list(control.options.items()), value=control.start, description=control.label, style=style, layout=layout
        )
    from math import log10

    label = f"{control.label} ({control.unit})"
    tip = f"{control.label}, {control.range}"
    shared = dict(value=control.start, step=control.step, description=label, description_allow_html=False)
    shared |= dict(style=style, layout=layout, tooltip=tip)
    if control.log:
        return widgets.FloatLogSlider(min=log10(control.low), max=log10(control.high), readout_format=".3g", **shared)
    return widgets.FloatSlider(min=control.low, max=control.high, readout_format=".3g", **shared)
