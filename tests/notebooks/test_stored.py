"""What is stored in the notebooks: executed, honest, rounded, and the same when executed again."""

import base64
import importlib.metadata
import importlib.util
import io
import json
import re
import tomllib
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = [path for path in NOTEBOOKS if not path.name.startswith("00")]


def load(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def text_of(cell):
    pieces = [output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(pieces)


def faults(notebook):
    """Everything that would let a notebook pass by comparing nothing, or not pass again."""
    found = []
    cells = code(notebook)
    for number, cell in enumerate(cells, start=1):
        if cell.execution_count != number:
            found.append(f"{cell.id}: execution count {cell.execution_count}, not {number}")
        if not cell.outputs:
            found.append(f"{cell.id}: no output")
        if cell.source.rstrip().endswith(";"):
            found.append(f"{cell.id}: ends in a semicolon")
        for output in cell.outputs:
            if output.output_type == "error" and "raises-exception" not in tags(cell):
                found.append(f"{cell.id}: stores an error")
            if output.get("name") == "stderr":
                found.append(f"{cell.id}: stores a line of stderr")
            if any("widget" in kind for kind in output.get("data", {})):
                found.append(f"{cell.id}: stores a widget's view")
        ignored = {"nbval-ignore-output", "nbval-skip"} & set(tags(cell))
        if ignored and ".widget()" not in cell.source:
            found.append(f"{cell.id}: compares nothing, and is no widget")
        if "check" in tags(cell):
            if not text_of(cell).strip():
                found.append(f"{cell.id}: a check without a stored text")
            if long := re.findall(r"\d\.\d{7,}", text_of(cell)):
                found.append(f"{cell.id}: not rounded: {long[0]}")
    if len([cell for cell in cells if "check" in tags(cell)]) < 1:
        found.append("no check cell")
    if notebook.metadata != {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }:
        found.append("metadata that changes from machine to machine")
    return found


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS][:1] == ["00_start_here.ipynb"] and LESSONS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_notebook_passes_by_comparing_nothing(path):
    assert faults(load(path)) == []


SPOILED = {
    "not executed": lambda cell: cell.update(execution_count=None),
    "no output": lambda cell: cell.update(outputs=[]),
    "semicolon": lambda cell: cell.update(source=cell.source + ";"),
    "ignored": lambda cell: cell.metadata.update(tags=["nbval-ignore-output"]),
    "stderr": lambda cell: cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text="a warning")),
    "error": lambda cell: cell.outputs.append(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])),
    "not rounded": lambda cell: cell.update(outputs=[nbformat.v4.new_output("stream", text="0.123456789012")]),
    "view": lambda cell: cell.outputs[0].update(data={"application/vnd.jupyter.widget-view+json": {}}),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_each_fault_is_found(spoil):
    notebook = load(NOTEBOOKS[0])
    cell = next(cell for cell in code(notebook) if "check" in tags(cell))
    spoil(cell)
    assert any(fault.startswith(cell.id) for fault in faults(notebook))


def test_a_notebook_without_a_check_is_found():
    notebook = load(NOTEBOOKS[0])
    for cell in code(notebook):
        cell.metadata.pop("tags", None)
    assert "no check cell" in faults(notebook)


def known_good():
    """The differences between the installed and the known-good versions."""
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    differing = []
    for pin in pins:
        name, version = pin.split("==")
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version and name in ("sympy", "numpy", "scipy", "matplotlib", "numba", "nbformat"):
            differing.append(f"{name} {installed} instead of {version}")
    return differing


def execute():
    spec = importlib.util.spec_from_file_location("execute", ROOT / "notebooks" / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_executing_again_changes_nothing(path):
    if differing := known_good():
        pytest.skip(f"compared with the known-good versions only; here: {', '.join(differing)}")
    again, stored = execute().executed(path), path.read_text(encoding="utf-8")
    if again != stored:  # another processor may round a curve at the rounding level differently
        one, other = json.loads(again), json.loads(stored)
        pairs = list(zip(pictures(one), pictures(other), strict=True))
        assert one == other, "text or structure changed: run notebooks/execute.py and look at the difference"
        for first, second in pairs:
            assert first.shape == second.shape and np.mean(np.abs(first - second) > 30) < 0.005


def test_the_picture_of_the_readme_is_the_opening_of_lesson_07():
    assert (ROOT / "notebooks" / "drift.png").read_bytes() == execute().readme_picture()


def pictures(notebook):
    """Take the pictures out of a notebook, as arrays."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).pop("image/png", None):
                png = png if isinstance(png, str) else "".join(png)
                yield np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("L"), dtype=int)
