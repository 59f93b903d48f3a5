"""Where no browser is installed, all else runs, and the last lines say what did not and what to install."""

import os
import subprocess
import sys

import pytest

from .conftest import HOW_TO
from .lab import ROOT


@pytest.mark.parametrize("in_ci", [False, True])
def test_a_missing_browser_is_told_and_in_ci_it_is_a_failure(tmp_path, in_ci):
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"PATH": str(tmp_path), **({"CI": "true"} if in_ci else {})}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "lesson_runs", "tests/browser"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    last = "\n".join(done.stdout.splitlines()[-6:])
    assert HOW_TO in (done.stdout if in_ci else last)
    assert done.returncode == (1 if in_ci else 0) and ("skipped" in last) == (not in_ci), done.stdout
