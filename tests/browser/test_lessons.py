"""Every lesson in JupyterLab: it runs, every control moves its picture by mouse and by keyboard, nothing complains."""

import nbformat
import pytest

from .lab import ROOT, LiveExplorer

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
WITH_EXPLORER = [name for name in LESSONS if ".widget()" in (ROOT / "notebooks" / name).read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_and_every_control_moves_its_picture(opened, name):
    notebook = opened(name)
    notebook.run_all()
    assert notebook.errors() == []
    if name in WITH_EXPLORER:
        explorer = LiveExplorer(notebook)
        notebook.screenshot(f"{name}_explorer")
        for knob in explorer.knobs:
            assert knob.get_attribute("aria-label"), "every handle has a name"
            for key in ("ArrowRight", "PageUp", "ArrowLeft", "PageDown"):
                before = knob.get_attribute("aria-valuetext")
                knob.focus()
                explorer.after(lambda key=key: explorer.page.keyboard.press(key))
                assert knob.get_attribute("aria-valuetext") != before, (knob.get_attribute("aria-label"), key)
            before = explorer.seen()["pictures"]
            explorer.drag(knob, to=(45, 0), moves=6)
            assert explorer.seen()["pictures"] > before, knob.get_attribute("aria-label")
        for box in explorer.box.locator("select").all():
            for option in range(box.locator("option").count())[::-1]:
                before = explorer.text()
                explorer.after(lambda box=box, option=option: box.select_option(index=option))
                assert explorer.text() != before
        for button in explorer.buttons:
            explorer.after(button.click)
        image = explorer.box.locator("img").first
        assert explorer.text() in image.get_attribute("alt")
        notebook.screenshot(f"{name}_moved")
    assert notebook.complaints == []


def test_the_map_of_the_course_opens_the_lessons(opened):
    notebook = opened("00_start_here.ipynb")
    notebook.run_all()
    link = notebook.show("a[href*='07_drift.ipynb'][title]")
    notebook.screenshot("00_map")
    link.click()
    notebook.page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.context?.path?.endsWith('07_drift.ipynb')", timeout=20_000
    )
    assert notebook.complaints == []


@pytest.mark.parametrize("name", WITH_EXPLORER)
def test_cells_run_out_of_order(opened, name):
    """An explorer shares nothing with other cells: it runs right after the first one, and before all others."""
    cells = nbformat.read(ROOT / "notebooks" / name, as_version=4).cells
    code = [cell.id for cell in cells if cell.cell_type == "code"]
    widget = next(cell.id for cell in cells if ".widget()" in cell.source)
    notebook = opened(name)
    for cell in (code[0], widget, code[-1]):
        notebook.run(cell)
    assert notebook.errors() == []
    explorer = LiveExplorer(notebook)
    explorer.knobs[0].focus()
    explorer.after(lambda: explorer.page.keyboard.press("ArrowRight"))
