"""A figure that carries its own description, and the colours, each with one meaning in the course."""

from io import BytesIO

import matplotlib.figure

CRANK = "#0072B2"
COUPLER = "#E69F00"
ROCKER = "#009E73"
PLATFORM = "#333333"
GROUND = "#BBBBBB"
VIOLATION = "#D55E00"
ENERGY = "#56B4E9"
FORCE = "#CC79A7"
REFERENCE = dict(color="black", linewidth=0.9, linestyle="--")

NOTEBOOK_DPI = 200


class Figure(matplotlib.figure.Figure):
    """A matplotlib figure with its text equivalent in ``description``.

    A notebook shows the picture at high density with the description as alternative text, and
    whoever has no picture reads the description.
    """

    description = "A figure without a description."

    def _repr_mimebundle_(self, include=None, exclude=None):
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=NOTEBOOK_DPI, metadata={"Software": None})
        width, height = (int(round(inches * 100)) for inches in self.get_size_inches())
        data = {"image/png": buffer.getvalue(), "text/plain": f"Figure. {self.description}"}
        return data, {"image/png": {"width": width, "height": height, "alt": self.description}}
