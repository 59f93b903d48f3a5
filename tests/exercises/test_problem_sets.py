"""Every problem set: the release is what its source gives, right answers pass, wrong ones are told their mistake."""

import ast
import functools
import json
import re
import xml.etree.ElementTree as ET

import nbformat
import numpy as np
import pytest
from sheets import EXERCISES, SHEETS, said

from chain_lib import feedback

EACH_SET = pytest.mark.parametrize("sheet", SHEETS, ids=repr)
EACH_TEST = pytest.mark.parametrize(
    "sheet, test", [pytest.param(s, test, id=f"{s.number}-{test}") for s in SHEETS for test in s.points]
)
EACH_MISTAKE = pytest.mark.parametrize(
    "sheet, test, answer, named",
    [
        pytest.param(s, test, *mistake, id=f"{s.number}-{test}-{mistake[1]}")
        for s in SHEETS
        for test, mistakes in s.mistakes.items()
        for mistake in mistakes
    ],
)


# --- what is stored -------------------------------------------------------------------------------------------------


def test_every_source_has_a_release_and_is_tested():
    names = [{path.name for path in (EXERCISES / step).iterdir()} for step in ("source", "release")]
    assert names[0] == names[1] == {sheet.name for sheet in SHEETS}


@pytest.mark.filterwarnings("ignore")
@EACH_SET
def test_the_release_is_what_the_source_gives(releasing, sheet):
    made, stored = releasing.release(sheet.name), releasing.files(EXERCISES / "release" / sheet.name)
    assert made.keys() == stored.keys() >= {f"{sheet.name}.ipynb"}
    assert made == stored, "run exercises/release.py"


def test_storing_again_changes_nothing_and_removes_what_is_no_longer_there(releasing, tmp_path):
    (tmp_path / "old.ipynb").write_bytes(b"old")
    files = {"a.ipynb": b"1\n", "sub/b.svg": b"2\n"}
    assert releasing.store(files, tmp_path)
    assert not releasing.store(files, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.ipynb", "b.svg"]


@EACH_SET
def test_a_student_finds_no_solution_and_no_hidden_test(sheet):
    released = "\n".join(cell.source for cell in sheet.release.cells).splitlines()
    for secret in ("SOLUTION", "HIDDEN", "hidden=True", "hidden ="):
        assert secret not in json.dumps(sheet.release)
    for test, answer in sheet.answers.items():
        body = ast.parse(sheet.stub(test)).body[-1].body
        assert ast.unparse(body[1:]) == "raise NotImplementedError('write your answer here')"
        for cell in (test, answer):
            hidden = set(sheet.text(cell, "source").splitlines()) - set(sheet.text(cell, "release").splitlines())
            assert len(hidden) >= 3 and not [line for line in hidden if len(line.strip()) > 20 and line in released]


@pytest.mark.parametrize("version", ["source", "release"])
@EACH_SET
def test_the_cells_are_in_order(sheet, version):
    notebook = getattr(sheet, version)
    nbformat.validate(notebook)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    assert notebook.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    points, answers, code = {}, [], [cell.id for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:
        mark = cell.metadata.nbgrader
        assert mark.grade_id == cell.id and mark.schema_version == 3
        assert mark.locked == (not mark.solution)
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
        if mark.solution:
            answers.append(cell.id)
        elif not mark.grade:
            assert cell.id.startswith(f"ps{sheet.number}-")
        if mark.grade:
            points[cell.id] = mark.points
            assert cell.metadata.tags == ["raises-exception"]  # Run All goes on after a test that fails
            assert cell.metadata.jupyter == {"source_hidden": True}
            assert cell.source.startswith("# Test of problem ") and ": select this cell" in cell.source
    assert list(points.items()) == list(sheet.points.items()) and sum(points.values()) == 20
    assert answers == [*sheet.answers.values()]
    assert code == [f"ps{sheet.number}-setup", *(cell for pair in zip(answers, points, strict=True) for cell in pair)]


@EACH_SET
def test_the_title_tells_time_and_points(sheet):
    title = sheet.release.cells[0].source
    assert title.startswith(f"# Problem set {sheet.number} · ")
    assert re.search(rf"\*\*\d+ minutes, {sum(sheet.points.values())} points\.\*\*", title)
    table = re.findall(r"^\| \d \|.*\| ([\d +]+) \|$", title, re.MULTILINE)
    assert [int(x) for row in table for x in row.split("+")] == [*sheet.points.values()]


@EACH_TEST
def test_every_stub_says_shapes_and_what_is_returned(sheet, test):
    (definition,) = ast.parse(sheet.stub(test)).body
    words = ast.get_docstring(definition)
    described = words.split("Parameters")[1]
    for argument in definition.args.args:
        assert re.search(rf"\b{argument.arg}\b.* : (array, \(.+\)|float|int|str|bool)$", described, re.MULTILINE)
    assert re.search(r"Returns\n-+\n\w+(, \w+)* : (array, \(|float)", words)


@EACH_SET
def test_the_links_lead_somewhere_and_pictures_have_words(sheet):
    folder = EXERCISES / "release" / sheet.name
    text = "".join(cell.source for cell in sheet.release.cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert f"../../../notebooks/{sheet.name}.ipynb" in links
    assert all((folder / link).resolve().exists() for link in links)
    pictures = re.findall(r"!\[(.*?)\]\((.+?)\)", text)
    assert pictures and {name for _, name in pictures} == {path.name for path in folder.iterdir()} - {
        f"{sheet.name}.ipynb"
    }
    for words, name in pictures:
        assert len(words) > 100
        assert ET.parse(folder / name).getroot().get("viewBox")


@EACH_SET
def test_the_voice(sheet):
    text = " ".join(cell.source for cell in sheet.source.cells)
    assert not re.findall(r"\b(simply|just|obviously|powerful)\b", text, re.IGNORECASE)
    for test in sheet.points:
        for sentence in sheet.check(test, hidden=False).mistakes:
            assert sentence[-1] not in ".?!;" and "\n" not in sentence  # `check` ends the sentence


# --- answers, in this process ---------------------------------------------------------------------------------------


@EACH_TEST
def test_the_solution_is_right(sheet, test):
    words = sheet.run(test, sheet.solution(test))
    assert isinstance(words, str), words
    assert re.fullmatch(r"(\w+) is right for \d+ inputs\.\n\1 is right for \d+ hidden inputs\.\n", words)


@EACH_TEST
def test_the_stub_is_not_written_yet(sheet, test):
    for version in ("source", "release"):
        words = sheet.run(test, sheet.stub(test), version)
        assert isinstance(words, feedback.Wrong) and "is not written yet" in str(words)


@EACH_TEST
def test_names_that_a_student_overwrites_do_not_disturb_the_test(sheet, test):
    solution = sheet.solution(test)
    needed = {node.id for node in ast.walk(ast.parse(solution)) if isinstance(node, ast.Name)}
    names = {"list", "sum", "max", "min", "abs", "tuple", "sp", "cl", "check", "right", "cases", "x", "y", "k"} - needed
    words = sheet.run(test, f"{solution}\n{' = '.join(sorted(names))} = None\n")
    assert isinstance(words, str), words


@EACH_TEST
def test_a_cell_that_was_not_run(sheet, test):
    assert "is not defined: run the cell" in str(sheet.run(test))


@EACH_MISTAKE
def test_a_mistake_is_named(sheet, test, answer, named):
    words = sheet.run(test, answer, "release")
    assert isinstance(words, feedback.Wrong) and named in str(words)
    assert " is wrong: " in str(words) and "; or " not in str(words)


@EACH_MISTAKE
def test_a_mistake_is_named_by_the_hidden_test_too(sheet, test, answer, named):
    words = sheet.check(test, hidden=True).says(sheet.written(test, answer))
    assert isinstance(words, feedback.Wrong) and named in str(words)
    assert " is wrong: " in str(words) and "; or " not in str(words)


@EACH_TEST
def test_every_mistake_of_the_sheet_is_tried(sheet, test):
    pieces = [named for _, named in sheet.mistakes[test]]
    assert len(pieces) >= 3
    for hidden in (False, True):
        sentences = [*sheet.check(test, hidden).mistakes]
        assert len(sentences) == len(pieces)
        assert all(sum(named in sentence for sentence in sentences) == 1 for named in pieces)


@EACH_TEST
def test_numbers_of_the_visible_test_do_not_pass_the_hidden_one_nor_show_its_answer(sheet, test):
    visible, hidden = (sheet.check(test, hidden) for hidden in (False, True))
    seen = [_key(case.values()) for case in visible.cases]
    assert not [case for case in hidden.cases if _key(case.values()) in seen]
    solution = sheet.written(test, sheet.solution(test))

    @functools.wraps(solution)
    def memorised(*arguments):
        return solution(*arguments) if _key(arguments) in seen else wrong(*arguments)

    def wrong(*arguments):
        answer = solution(*arguments)
        parts = [1.23 * np.array(part) + 0.789 for part in (answer if isinstance(answer, tuple) else [answer])]
        return tuple(parts) if isinstance(answer, tuple) else parts[0]

    assert "is right" in visible.says(memorised)
    words = str(hidden.says(memorised))
    assert "is wrong for a hidden input, for " in words and "wanted" not in words
    assert re.search(r" is wrong for .+: its .+ is .+, wanted is ", str(visible.says(wrong)))  # and no mistake is named


def _key(arguments):
    return repr([np.asarray(argument).tolist() for argument in arguments])


# --- through nbgrader -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(grade):
    """Two submissions of a set through nbgrader: the solutions, and nothing."""
    return functools.cache(lambda sheet: grade(sheet, {"solved": sheet.source, "empty": sheet.release}))


@pytest.mark.filterwarnings("ignore")
@EACH_SET
def test_the_solutions_get_full_marks(graded, sheet):
    score, most, outputs, _ = graded(sheet)["solved"]
    assert score == most == sum(sheet.points.values())
    for test in sheet.points:
        assert re.fullmatch(r"\w+ is right for \d+ inputs. \w+ is right for \d+ hidden inputs.", said(outputs[test]))


@pytest.mark.filterwarnings("ignore")
@EACH_SET
def test_no_answer_gets_no_mark(graded, sheet):
    score, _, outputs, html = graded(sheet)["empty"]
    assert score == 0
    for test in sheet.points:
        assert "is not written yet: put your answer" in said(outputs[test])
    assert html.count("is not written yet") == len(sheet.points)
