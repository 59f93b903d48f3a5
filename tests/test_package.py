"""Set-up: what an import costs, and that the two lists of packages agree."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import chain_lib as cl
from chain_lib.draw.start import LESSONS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = ("numpy", "scipy", "sympy", "numba", "matplotlib", "ipywidgets", "anywidget")


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, chain_lib; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr


def test_a_run_loads_neither_widgets_nor_pictures():
    code = (
        "import sys, chain_lib as cl; s = cl.mechanisms.BeadOnCircle().system();"
        "cl.simulate(s, [-1, 0], [0, 0], t_end=0.1, dt=0.01);"
        f"print([name for name in {('matplotlib', 'ipywidgets', 'anywidget')} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_can_be_had():
    for name in cl.__all__:
        assert getattr(cl, name) is not None
    with pytest.raises(AttributeError, match="chain_lib has no 'simulation_of'; it offers"):
        cl.simulation_of
    for module in (cl.explore, cl.draw):
        with pytest.raises(AttributeError, match="it offers .*drift"):
            module.nothing
    assert cl.draw.start.LESSONS is LESSONS


def test_every_public_name_is_documented():
    for name in cl.__all__:
        value = getattr(cl, name)
        assert name == "t" or len(value.__doc__.strip()) > 20, name


def ranges(requirements):
    """Package to its version range, without extras and markers."""
    parsed = [re.match(r"([\w-]+)\s*([^;]*)", requirement).groups() for requirement in requirements]
    return {name.lower(): versions.strip() for name, versions in parsed}


def test_conda_installs_the_same_packages_and_ranges():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    conda = ranges(entry for entry in environment["dependencies"] if isinstance(entry, str))
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert pip.pop() == "-e .", "the project itself"
    assert conda.pop("python") == PROJECT["project"]["requires-python"]
    assert conda.pop("pip") == ""
    project = PROJECT["project"]
    assert conda | ranges(pip) == ranges([*project["dependencies"], *project["optional-dependencies"]["test"]])
    assert "nbval" in conda


def test_known_good_versions_are_within_the_ranges_and_name_no_address():
    from packaging.requirements import Requirement

    pins = {}
    for pin in PROJECT["tool"]["uv"]["constraint-dependencies"]:
        name, version = re.fullmatch(r"([\w-]+)==([\w.]+)", pin).groups()
        pins[name] = version
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    for requirement in map(Requirement, [*project["dependencies"], *extras["test"], *extras["peers"]]):
        assert requirement.specifier.contains(pins[requirement.name]), requirement
    assert not re.search(r"https?://|index-url|\[\[tool\.uv\.index", (ROOT / "pyproject.toml").read_text())


def test_the_group_dev_is_the_extra_test():
    assert PROJECT["dependency-groups"]["dev"] == ["chain-lib[test]"]


def test_the_full_run_has_the_peers_of_the_benchmarks():
    assert "-m uv run --extra peers pytest" in (ROOT / ".ci" / "run").read_text()


def test_the_readme_gives_the_two_commands_in_one_line_each():
    readme = (ROOT / "README.md").read_text()
    for command in (
        "python -m pip install uv && python -m uv run jupyter lab notebooks/00_start_here.ipynb",
        "python -m uv run pytest",
    ):
        assert f"\n{command}\n" in readme, command
    for lesson in LESSONS:
        written = (ROOT / "notebooks" / f"{lesson.notebook}.ipynb").exists()
        name = f"[{lesson.title}](notebooks/{lesson.notebook}.ipynb)" if written else f"{lesson.title} *(to come)*"
        assert f"| {lesson.number} | {name} | {lesson.question} |" in readme
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target
