"""The catalogue: one file per mechanism, each made with nothing but `Mechanism`."""

from chain_lib.mechanisms.bead import BeadOnCircle, BeadOnMovingCircle

__all__ = ["BeadOnCircle", "BeadOnMovingCircle"]
