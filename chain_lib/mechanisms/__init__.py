"""The catalogue: one file per mechanism, each made with nothing but `Mechanism`."""

from chain_lib.mechanisms.bead import BeadOnCircle, BeadOnMovingCircle
from chain_lib.mechanisms.four_bar import FourBar, crank_range, grashof
from chain_lib.mechanisms.parallelogram import Parallelogram
from chain_lib.mechanisms.slider_crank import SliderCrank

__all__ = [
    "BeadOnCircle",
    "BeadOnMovingCircle",
    "FourBar",
    "Parallelogram",
    "SliderCrank",
    "crank_range",
    "grashof",
]
