"""What all tests share: quiet notebooks, reproducible random examples, two beads."""

import json
import os
from pathlib import Path

import pytest

os.environ["CHAIN_LIB_QUIET"] = "1"  # a line on stderr would count as a notebook's output

from hypothesis import settings  # noqa: E402

import chain_lib as cl  # noqa: E402

settings.register_profile("course", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("course")


@pytest.fixture(scope="session")
def bead():
    return cl.mechanisms.BeadOnCircle().system()


@pytest.fixture(scope="session")
def wire():
    """The bead on the moving circle."""
    return cl.mechanisms.BeadOnMovingCircle().system()


@pytest.fixture(scope="session")
def pendulum():
    """Exact state of the bead after 10 s, with its source in the file."""
    return json.loads((Path(__file__).parent / "data" / "pendulum.json").read_text())


FIGURES = pytest.StashKey[list]()


@pytest.fixture
def report(request):
    """Note a measured figure; all of them are printed at the end of the run."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(terminalreporter, config):
    if figures := config.stash.get(FIGURES, []):
        terminalreporter.section("measured")
        for line in figures:
            terminalreporter.write_line(line)
