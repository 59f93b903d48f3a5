"""The anatomy of a lesson, read from the notebooks; nothing here knows a lesson by name."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = [path for path in NOTEBOOKS if not path.name.startswith("00")]


def faults(notebook, folder, lesson=True):
    """What a notebook lacks of the anatomy of a lesson, as sentences."""
    cells = notebook.cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = [*_opening(cells[0], lesson), *_links(prose, folder), *_pictures(cells)]
    if lesson:
        found += [*_parts(cells, prose), *_explorers(cells)]
    return found


def _opening(first, lesson):
    if not re.match(r"# \d\d · \S", first.source):
        yield "the first cell is no title of the form '# 07 · Drift'"
    if not re.search(r"\*\*\d+ minutes\.\*\*", first.source):
        yield "the time is not told"
    if not 3 <= len(re.findall(r"^\d\. ", first.source, re.M)) <= 5:
        yield "there are not three to five objectives"
    if lesson and "**Builds on**" not in first.source:
        yield "what the lesson builds on is not told"


def _parts(cells, prose):
    if not any("sketch" in cell.source and _images(cell) for cell in cells):
        yield "there is no sketch"
    for heading in ("## Summary", "## References"):
        if heading not in prose:
            yield f"there is no heading '{heading}'"
    references = prose.partition("## References")[2]
    if not re.search(r"doi\.org/10\.\d{4}", references):
        yield "no reference has a DOI"
    if not re.search(r"[Pp]roblem set \d\d", prose):
        yield "the problem set is not pointed to"
    questions = prose.partition("quick questions")[2].partition("## Summary")[0]
    if len(re.findall(r"^\*\*\d\.\*\*", questions, re.M)) != 3 or questions.count("<details>") != 3:
        yield "there are not three quick questions with folded answers"
    if not any("check" in cell.metadata.get("tags", []) for cell in cells):
        yield "no cell checks a result"
    if not re.search(r"## \d+ · .*goes wrong", prose):
        yield "what goes wrong is not told"
    if not re.search(r"\*\*By hand\.?\*\*", prose):
        yield "nothing is worked out by hand"


def _explorers(cells):
    """Around each widget: a question before, a static figure and a text after, then a folded answer."""
    live = [k for k, cell in enumerate(cells) if cell.cell_type == "code" and ".widget()" in cell.source]
    if not live:
        yield "there is no explorer"
    for k in live:
        name = cells[k].id
        if len([line for line in cells[k].source.splitlines() if line.strip()]) != 1:
            yield f"{name}: the widget is not one call"
        before = cells[k - 1]
        if before.cell_type != "markdown" or "?" not in before.source:
            yield f"{name}: no question stands before the widget"
        after = cells[k + 1 : k + 4]
        static = [cell for cell in after if _images(cell)]
        if not static:
            yield f"{name}: no static figure stands beside the widget"
        if not any(_printed(cell) for cell in static):
            yield f"{name}: no text equivalent stands beside the widget"
        if not any("<details>" in cell.source for cell in after if cell.cell_type == "markdown"):
            yield f"{name}: no folded answer follows the widget"


def _pictures(cells):
    for cell in cells:
        for output in _images(cell):
            if len(output.metadata.get("image/png", {}).get("alt", "")) < 40:
                yield f"{cell.id}: a picture without alternative text"
        if cell.cell_type == "markdown":
            for text in re.findall(r"!\[(.*?)\]\(", cell.source):
                if len(text) < 10:
                    yield f"{cell.id}: a picture without alternative text"


def _links(prose, folder):
    for target in re.findall(r"\]\(((?:[^()\s]|\([^()\s]*\))+)\)", prose):
        if target.startswith("http"):
            if not re.match(r"https://[\w.-]+\.[a-z]+/\S+$", target):
                yield f"the link {target} is no address"
        elif target.startswith("#"):
            if target[1:].lower() not in {_anchor(line) for line in re.findall(r"^#+ (.*)$", prose, re.M)}:
                yield f"the link {target} leads nowhere"
        elif not (folder / target.partition("#")[0]).exists():
            yield f"the link {target} leads nowhere"


def _anchor(heading):
    return heading.strip().replace(" ", "-").lower()


def _images(cell):
    return [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def _printed(cell):
    return [output for output in cell.get("outputs", []) if output.get("name") == "stdout" and len(output.text) > 40]


def load(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_anatomy(path):
    assert list(faults(load(path), path.parent, lesson=path in LESSONS)) == []


def cell_with(notebook, text):
    return next(cell for cell in notebook.cells if text in cell.source)


def without(text):
    """A change that takes a text out of the cell that has it."""

    def change(notebook):
        cell = cell_with(notebook, text)
        cell.source = cell.source.replace(text, "")

    return change


def drop(text):
    """A change that takes out the first cell with a text."""
    return lambda notebook: notebook.cells.remove(cell_with(notebook, text))


def strip_outputs(kind):
    """A change that takes one kind of output out of the cells after the widget."""

    def change(notebook):
        start = notebook.cells.index(cell_with(notebook, ".widget()"))
        for cell in notebook.cells[start : start + 4]:
            cell.outputs = [o for o in cell.get("outputs", []) if kind not in (o.get("name"), *o.get("data", {}))]

    return change


def strip_alt(notebook):
    for cell in notebook.cells:
        for output in _images(cell):
            output.metadata["image/png"].pop("alt")


def before_widget(change):
    """A change of the cell before the widget."""

    def apply(notebook):
        change(notebook.cells[notebook.cells.index(cell_with(notebook, ".widget()")) - 1])

    return apply


TAKEN_OUT = {
    "title": (lambda n: n.cells.pop(0), "title"),
    "time": (lambda n: n.cells[0].update(source=re.sub(r"\*\*\d+ minutes", "**some time", n.cells[0].source)), "time"),
    "objectives": (
        lambda n: n.cells[0].update(source=re.sub(r"^\d\. .*$", "", n.cells[0].source, flags=re.M)),
        "objectives",
    ),
    "builds on": (without("**Builds on**"), "builds on"),
    "sketches": (lambda n: [n.cells.remove(c) for c in [*n.cells] if "sketch(" in c.source], "no sketch"),
    "summary": (without("## Summary"), "## Summary"),
    "references": (without("## References"), "## References"),
    "DOI": (lambda n: [c.update(source=c.source.replace("doi.org", "nowhere.org")) for c in n.cells], "DOI"),
    "a quick question": (without("**2.**"), "three quick questions"),
    "a folded answer": (drop("<summary><b>What you should have seen"), "folded answer"),
    "checks": (lambda n: [c.metadata.pop("tags", None) for c in n.cells], "checks a result"),
    "what goes wrong": (without("What goes wrong"), "goes wrong"),
    "by hand": (lambda n: [c.update(source=c.source.replace("**By hand.**", "")) for c in n.cells], "by hand"),
    "the widgets": (lambda n: [n.cells.remove(c) for c in [*n.cells] if ".widget()" in c.source], "no explorer"),
    "one call": (lambda n: cell_with(n, ".widget()").update(source="a = 1\ncl.explore.x().widget()"), "not one call"),
    "the question": (before_widget(lambda cell: cell.update(source=cell.source.replace("?", "."))), "no question"),
    "the static figure": (strip_outputs("image/png"), "no static figure"),
    "the text equivalent": (strip_outputs("stdout"), "no text equivalent"),
    "alternative text": (strip_alt, "without alternative text"),
    "a file that is linked": (
        lambda n: n.cells[0].update(source=n.cells[0].source + "[x](99_nowhere.ipynb)"),
        "leads nowhere",
    ),
    "an address": (lambda n: n.cells[0].update(source=n.cells[0].source + "[x](http:/broken)"), "no address"),
    "an anchor": (lambda n: n.cells[0].update(source=n.cells[0].source + "[x](#nowhere)"), "leads nowhere"),
    "the problem set": (
        lambda n: [c.update(source=c.source.replace("roblem set", "")) for c in n.cells],
        "problem set",
    ),
}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
@pytest.mark.parametrize("what", TAKEN_OUT)
def test_whatever_is_taken_out_is_missed(path, what):
    change, sentence = TAKEN_OUT[what]
    notebook = load(path)
    change(notebook)
    assert any(sentence in fault for fault in faults(notebook, path.parent)), what


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_no_lesson_calls_one_that_exists_still_to_come(path):
    written = {lesson.name[:2] for lesson in LESSONS}
    for cell in load(path).cells:
        for number in re.findall(r"lesson (\d\d)(?: \(|, )still to come", cell.source, re.IGNORECASE):
            assert number not in written, (cell.id, number)
