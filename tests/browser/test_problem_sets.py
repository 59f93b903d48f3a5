"""A problem set as a student takes it: opened in JupyterLab, typed into, run, and read."""

import nbformat
import pytest

from .lab import ROOT

SETS = sorted(path.name for path in (ROOT / "exercises" / "release").iterdir() if path.is_dir())
PUT = """([id, source]) => {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  cells.find(cell => cell.id === id).sharedModel.setSource(source);
}"""
SAID = """id => {
  const cell = [...window.jupyterapp.shell.currentWidget.content.model.cells].find(cell => cell.id === id);
  return cell.outputs.toJSON().map(output => [output.text, ...(output.traceback ?? [])].flat().join(' ')).join(' ');
}"""


def solutions(name):
    """Id of the first code cell, and each answer with its test: [(answer id, test id, solution)]."""
    cells = nbformat.read(ROOT / "exercises" / "source" / name / f"{name}.ipynb", as_version=4).cells
    answers = [k for k, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("solution")]
    first = next(cell.id for cell in cells if cell.cell_type == "code")
    return first, [(cells[k].id, cells[k + 1].id, cells[k].source) for k in answers]


@pytest.mark.parametrize("name", SETS)
def test_a_problem_set_is_taken(opened, name):
    notebook = opened(f"{name}/{name}.ipynb")
    first, tasks = solutions(name)
    notebook.run(first)
    for answer, test, _ in tasks:
        notebook.run(answer)
        notebook.run(test)
        assert "is not written yet" in notebook.page.evaluate(SAID, test)
    notebook.screenshot(f"problem_set_{name}_unanswered")

    answer, test, source = tasks[0]
    typed_into(notebook, answer, source.replace("return ", "return 2 * "))
    notebook.run(answer)
    notebook.run(test)
    said = notebook.page.evaluate(SAID, test)
    assert "is wrong" in said and "is not written yet" not in said and "Traceback" not in said
    notebook.screenshot(f"problem_set_{name}_wrong")

    for answer, _, source in tasks:
        notebook.page.evaluate(PUT, [answer, source])
    notebook.run_all()
    for _, test, _ in tasks:
        assert "is right for" in notebook.page.evaluate(SAID, test)
    assert notebook.errors() == [] and notebook.complaints == []


def typed_into(notebook, cell, text):
    """Click into a cell, select all, and type over it."""
    index = notebook.page.evaluate(
        "id => [...window.jupyterapp.shell.currentWidget.content.model.cells].findIndex(cell => cell.id === id)", cell
    )
    notebook.page.evaluate("i => window.jupyterapp.shell.currentWidget.content.scrollToItem(i, 'center')", index)
    notebook.page.wait_for_timeout(800)
    editor = notebook.page.locator(f".jp-Cell[data-windowed-list-index='{index}'] .cm-content")
    editor.click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.insert_text(text)
    notebook.page.wait_for_timeout(200)
