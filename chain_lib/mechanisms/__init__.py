"""The catalogue: one file per mechanism, each made with nothing but `Mechanism`."""

from chain_lib.mechanisms.bead import BeadOnCircle, BeadOnMovingCircle, BeadWithFlywheel
from chain_lib.mechanisms.four_bar import FourBar, crank_range, grashof
from chain_lib.mechanisms.n_four_bar import NFourBar
from chain_lib.mechanisms.parallelogram import Parallelogram
from chain_lib.mechanisms.slider_crank import SliderCrank
from chain_lib.mechanisms.squeezer import Squeezer

__all__ = [
    "BeadOnCircle",
    "BeadOnMovingCircle",
    "BeadWithFlywheel",
    "FourBar",
    "NFourBar",
    "Parallelogram",
    "SliderCrank",
    "Squeezer",
    "crank_range",
    "grashof",
]
