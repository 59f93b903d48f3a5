"""Problem set 07: the release is what its source gives, right answers pass, and wrong ones are told their mistake."""

import ast
import json
import re
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest

from chain_lib import feedback

ROOT = Path(__file__).parent.parent.parent
POINTS = {
    "test-parabola-jacobian": 2,
    "test-parabola-gamma": 3,
    "test-kkt": 5,
    "test-baumgarte": 4,
    "test-driven-gamma": 3,
    "test-energy-balance": 3,
}
ANSWERS = {test: test.removeprefix("test-") for test in POINTS}


def function(head, *lines):
    return "\n    ".join([f"def {head}:", *lines])


JACOBIAN, GAMMA, KKT = "parabola_jacobian(q, k)", "parabola_gamma(q, v, k)", "kkt(M, h, J, gamma, tau)"
BAUMGARTE = "baumgarte_right_side(phi, phi_t, J, v, gamma, alpha, beta)"
DRIVEN = "driven_gamma(q, v, t, k, r, omega)"
BALANCE = "energy_balance(t, E, v, tau, lam, phi_t)"


def kkt(matrix="[[M, -J.T], [J, Z]]", right="tau - h, -gamma"):
    return function(
        KKT,
        "n = len(M)",
        "Z = np.zeros((len(J), len(J)))",
        f"x = np.linalg.solve(np.block({matrix}), np.concatenate([{right}]))",
        "return x[:n], x[n:]",
    )


def baumgarte(returned):
    return function(BAUMGARTE, f"return {returned}")


def driven(returned):
    return function(
        DRIVEN,
        "s, sd, sdd = r * np.sin(omega * t), r * omega * np.cos(omega * t), -r * omega**2 * np.sin(omega * t)",
        "u, xd = q[0] - s, v[0]",
        f"return np.array([{returned}])",
    )


def balance(returned, power="np.einsum('ij,ij->i', tau, v) - np.einsum('ij,ij->i', lam, phi_t)"):
    return function(
        BALANCE,
        f"P = {power}",
        "W = np.zeros(len(t))",
        "for i in range(1, len(t)):",
        "    W[i] = W[i - 1] + (t[i] - t[i - 1]) * (P[i] + P[i - 1]) / 2",
        f"return {returned}",
    )


# Each as a student would write it, with a piece of the sentence that names it.
MISTAKES = {
    "test-parabola-jacobian": [
        (function(JACOBIAN, "return np.array([[2 * k * q[0], -1]])"), "the Jacobian of k x² − y"),
        (function(JACOBIAN, "return np.array([[2 * k * q[0], 1]])"), "x has the wrong sign"),
        (function(JACOBIAN, "return np.array([[-k * q[0], 1]])"), "lacks the factor 2"),
        (function(JACOBIAN, "return np.array([[-2 * k, 1]])"), "does not contain x"),
        (function(JACOBIAN, "return np.array([[1, -2 * k * q[0]]])"), "in the order y, x"),
    ],
    "test-parabola-gamma": [
        (function(GAMMA, "return np.zeros(1)"), "γ is not zero"),
        (function(GAMMA, "return np.array([2 * k * v[0] ** 2])"), "its sign is wrong"),
        (function(GAMMA, "return np.array([-k * v[0] ** 2])"), "a factor 2 is missing"),
        (function(GAMMA, "return np.array([-4 * k * v[0] ** 2])"), "twice too large"),
        (function(GAMMA, "return np.array([v[1] - 2 * k * q[0] * v[0]])"), "this is φ̇ = J v"),
        (function(GAMMA, "return np.array([-2 * k * q[0] ** 2])"), "uses the coordinates"),
    ],
    "test-kkt": [
        (kkt(matrix="[[M, J.T], [J, Z]]"), "λ has the wrong sign"),
        (kkt(right="tau - h, np.zeros(len(J))"), "γ is missing"),
        (kkt(right="tau - h, gamma"), "γ has the wrong sign"),
        (kkt(right="tau + h, -gamma"), "h has the wrong sign"),
        (kkt(right="tau, -gamma"), "h is missing"),
        (kkt(right="-h, -gamma"), "τ is missing"),
    ],
    "test-baumgarte": [
        (baumgarte("-gamma - alpha * (J @ v + phi_t) - beta**2 * phi"), "α stands where 2α belongs"),
        (baumgarte("-gamma - 2 * alpha * (J @ v + phi_t) - beta * phi"), "β stands where β² belongs"),
        (baumgarte("-gamma - 2 * beta * (J @ v + phi_t) - alpha**2 * phi"), "are interchanged"),
        (baumgarte("-gamma + 2 * alpha * (J @ v + phi_t) + beta**2 * phi"), "the feedback has the wrong sign"),
        (baumgarte("-gamma - 2 * alpha * (J @ v) - beta**2 * phi"), "φ_t is missing"),
        (baumgarte("-gamma - 2 * alpha * (J @ v - phi_t) - beta**2 * phi"), "φ_t has the wrong sign"),
        (baumgarte("-2 * alpha * (J @ v + phi_t) - beta**2 * phi"), "γ is missing"),
        (baumgarte("gamma - 2 * alpha * (J @ v + phi_t) - beta**2 * phi"), "γ has the wrong sign"),
    ],
    "test-driven-gamma": [
        (driven("-2 * k * xd**2 - 2 * k * sd**2 + 2 * k * u * sdd"), "2 φ_qt v is missing"),
        (driven("-2 * k * xd**2 + 2 * k * sd * xd - 2 * k * sd**2 + 2 * k * u * sdd"), "is there once"),
        (driven("-2 * k * (xd + sd) ** 2 + 2 * k * u * sdd"), "the mixed term has the wrong sign"),
        (driven("-2 * k * xd**2 + 4 * k * sd * xd"), "φ_tt is missing"),
        (driven("-2 * k * (xd - sd) ** 2"), "φ_tt lacks the acceleration"),
        (driven("-2 * k * (xd - sd) ** 2 - 2 * k * u * sdd"), "the acceleration of the wire has the wrong sign"),
        (driven("-2 * k * xd**2"), "γ of a wire at rest"),
        (driven("2 * k * (xd - sd) ** 2 - 2 * k * u * sdd"), "its sign is wrong"),
    ],
    "test-energy-balance": [
        (balance("E - E[0] - W", power="(tau * v).sum(axis=1) + (lam * phi_t).sum(axis=1)"), "wire has the wrong sign"),
        (balance("E - E[0] - W", power="(tau * v).sum(axis=1)"), "the work of the moving wire is missing"),
        (balance("E - E[0] - W", power="-(lam * phi_t).sum(axis=1)"), "the work of the applied force is missing"),
        (balance("E - W"), "the energy at the start is not taken off"),
        (balance("E - E[0] + W"), "the work has the wrong sign as a whole"),
        (balance("W - (E - E[0])"), "the whole balance has the wrong sign"),
        (balance("E - E[0] - W[-1]"), "the work of the whole run"),
    ],
}
EACH_MISTAKE = [pytest.param(test, *m, id=m[1]) for test, mistakes in MISTAKES.items() for m in mistakes]
EACH_TEST = pytest.mark.parametrize("test", POINTS)


# --- what is stored -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_the_release_is_what_the_source_gives(releasing):
    folder = ROOT / "exercises" / "release" / "07_drift"
    stored = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    made = releasing.release("07_drift")
    assert made.keys() == stored.keys() >= {"07_drift.ipynb"}
    assert made == stored, "run exercises/release.py"


def test_every_source_has_a_release():
    names = [{path.name for path in (ROOT / "exercises" / step).iterdir()} for step in ("source", "release")]
    assert names[0] == names[1]


def test_storing_again_changes_nothing_and_removes_what_is_no_longer_there(releasing, tmp_path):
    (tmp_path / "old.ipynb").write_bytes(b"old")
    files = {"a.ipynb": b"1\n", "sub/b.svg": b"2\n"}
    assert releasing.store(files, tmp_path)
    assert not releasing.store(files, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.ipynb", "b.svg"]


def test_a_student_finds_no_solution_and_no_hidden_test(sheet):
    text = json.dumps(sheet.release, ensure_ascii=False)
    for secret in ("SOLUTION", "HIDDEN", "hidden=True", "hidden =", "BeadOnMovingCircle"):
        assert secret not in text
    for cell in ANSWERS.values():
        body = ast.parse(sheet.text(cell, "release")).body[-1].body
        assert ast.unparse(body[1:]) == "raise NotImplementedError('write your answer here')"


@pytest.mark.parametrize("version", ["source", "release"])
def test_the_cells_are_in_order(sheet, version):
    notebook = getattr(sheet, version)
    nbformat.validate(notebook)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    assert notebook.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    points = {}
    for cell in notebook.cells:
        mark = cell.metadata.nbgrader
        assert mark.grade_id == cell.id and mark.schema_version == 3
        assert mark.locked == (not mark.solution)
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
        if mark.grade:
            points[cell.id] = mark.points
            assert cell.metadata.tags == ["raises-exception"]  # Run All goes on after a test that fails
            assert cell.metadata.jupyter == {"source_hidden": True}
    assert points == POINTS
    assert f"**90 minutes, {sum(points.values())} points.**" in notebook.cells[0].source
    table = re.findall(r"^\| \d \|.*\| ([\d +]+) \|$", notebook.cells[0].source, re.MULTILINE)
    assert [int(x) for row in table for x in row.split("+")] == list(points.values())


@pytest.mark.parametrize("cell", ANSWERS.values())
def test_every_stub_says_shapes_and_what_is_returned(sheet, cell):
    (definition,) = ast.parse(sheet.text(cell, "release")).body
    words = ast.get_docstring(definition)
    described = words.split("Parameters")[1]
    for argument in definition.args.args:
        assert re.search(rf"\b{argument.arg}\b.* : ", described)
    assert re.search(r"Returns\n-+\n\w+ : array, \(", words)


def test_the_links_lead_somewhere(sheet):
    folder = ROOT / "exercises" / "release" / "07_drift"
    text = "".join(cell.source for cell in sheet.release.cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == 2 and all((folder / link).resolve().exists() for link in links)


# --- answers, in this process ---------------------------------------------------------------------------------------


@EACH_TEST
def test_the_solution_is_right(sheet, test):
    said = sheet.run(test, sheet.text(ANSWERS[test], "source"))
    assert re.fullmatch(r"(\w+) is right for \d inputs\.\n\1 is right for \d hidden inputs\.\n", said)


@EACH_TEST
def test_the_stub_is_not_written_yet(sheet, test):
    for version in ("source", "release"):
        said = sheet.run(test, sheet.text(ANSWERS[test], "release"), version)
        assert isinstance(said, feedback.Wrong) and "is not written yet" in str(said)


@EACH_TEST
def test_names_that_a_student_overwrites_do_not_disturb_the_test(sheet, test):
    overwritten = "list = sum = max = min = abs = tuple = sp = cl = check = x = y = k = None\n"
    said = sheet.run(test, sheet.text(ANSWERS[test], "source") + "\n" + overwritten)
    assert isinstance(said, str), said


@EACH_TEST
def test_a_cell_that_was_not_run(sheet, test):
    assert "is not defined: run the cell" in str(sheet.run(test))


@pytest.mark.parametrize("test, answer, named", EACH_MISTAKE)
def test_a_mistake_is_named(sheet, test, answer, named):
    said = sheet.run(test, answer, "release")
    assert isinstance(said, feedback.Wrong) and named in str(said)
    assert "; or " not in str(said) and "wanted" not in str(said)


@pytest.mark.parametrize("test, answer, named", EACH_MISTAKE)
def test_a_mistake_is_named_by_the_hidden_test_too(sheet, hidden_only, test, answer, named):
    said = sheet.run(test, answer)
    assert isinstance(said, feedback.Wrong) and named in str(said)
    assert "; or " not in str(said)


def test_every_mistake_of_the_sheet_is_tried(sheet):
    for test, mistakes in MISTAKES.items():
        sentences = [line for line in sheet.text(test, "source").splitlines() if re.match(r' +"[^"]*": ', line)]
        sentences = [line for line in sentences if " " in line.split('"')[1]]
        assert len(sentences) == len(mistakes) >= 3
        assert all(sum(named in line for line in sentences) == 1 for _, named in mistakes)


MEMORISED = {
    "test-parabola-jacobian": function(JACOBIAN, "return np.array([[{0.5: -2.0, 0.0: 0.0}.get(q[0], 0.9), 1]])"),
    "test-parabola-gamma": function(GAMMA, "return np.array([{1.0: -4.0, -0.8: -2.56, 0.0: 0.0}.get(v[0], 7.0)])"),
    "test-driven-gamma": driven("-2 * 1.5 * (xd - sd) ** 2 + 2 * 1.5 * u * sdd"),
    "test-kkt": kkt().replace("Z =", "if len(J) == 1: M = np.eye(2)\n    Z ="),
    "test-baumgarte": function(
        BAUMGARTE,
        "phi_t = phi_t if abs(phi_t[0]) in (0.0, 0.2, 0.5) else phi_t + 1",
        "return -gamma - 2 * alpha * (J @ v + phi_t) - beta**2 * phi",
    ),
    "test-energy-balance": balance("E - E[0] - W if len(t) > 1500 or tau[0, 0] == 2 else 0 * W"),
}


@EACH_TEST
def test_numbers_of_the_visible_test_do_not_pass_the_hidden_one_nor_show_its_answer(sheet, test):
    assert "is right" in sheet.run(test, MEMORISED[test], "release")
    said = str(sheet.run(test, MEMORISED[test]))
    assert "is wrong for a hidden input, for " in said and "wanted" not in said


# --- bad answers ----------------------------------------------------------------------------------------------------

GOOD = "np.array([-2 * k * v[0] ** 2])"
STATE = r"for q = \[0, 0\], v = \[1, 0\], k = 2"
BAD = {
    "raises": (
        ["k = k + 1", "return q[7]"],
        rf"stops with IndexError \(.*\), in line 3 of its cell, `return q\[7\]`, {STATE}\.",
    ),
    "returns None": (["gamma = -2 * k * v[0] ** 2"], rf"returns None, {STATE}: does .* `return`\?"),
    "one number": ([f"return {GOOD}[0]"], r"returns a single number, .*; wanted is an array of shape \(1,\)\."),
    "wrong shape": ([f"return {GOOD}[None]"], r"an array of shape \(1, 1\), .*; wanted is an array of shape \(1,\)\."),
    "text": (["return 'zero'"], "returns an object of type str"),
    "nan": (["return np.array([float('nan')])"], rf"returns a number that is not finite, {STATE}: \[nan\]\."),
    "changes its input": (["v **= 2", "return -2 * k * v[:1]"], r"changes its input v, .*, v = \[-0.8, 0.3\]"),
    "never ends": (["while True: pass"], rf"needs more than 0\.2 s and was stopped, {STATE}: does a loop never end\?"),
    "prints, and is wrong": (
        ["print('x' * 10**6)", "return np.array([1.0])"],
        r"its result is \[1\], wanted is \[-4\]\. \(It also printed 4000004 characters, which are not shown\.\)",
    ),
}


@pytest.mark.parametrize("lines, said", BAD.values(), ids=BAD)
def test_a_bad_answer_gets_one_sentence(sheet, monkeypatch, capfd, lines, said):
    monkeypatch.setitem(feedback.check.__kwdefaults__, "seconds", 0.2)
    for version in ("release", "source"):
        wrong = sheet.run("test-parabola-gamma", function(GAMMA, *lines), version)
        assert isinstance(wrong, feedback.Wrong)
        assert re.fullmatch(f"parabola_gamma .*{said}.*", str(wrong))
    assert capfd.readouterr().err == ""


def test_a_right_answer_that_prints_a_megabyte_is_right(sheet, capfd):
    said = sheet.run("test-parabola-gamma", function(GAMMA, "print('x' * 10**6)", f"return {GOOD}"))
    assert len(said) < 200 and "is right" in said and capfd.readouterr() == ("", "")


# --- through nbgrader -----------------------------------------------------------------------------------------------

MIXED = {
    "parabola-jacobian": function(JACOBIAN, "print('x' * 10**6)", "return np.array([[-2 * k * q[0], 1.0]])"),  # right
    "parabola-gamma": function(GAMMA, "while True:", "    pass"),
    "kkt": kkt(matrix="[[M, J.T], [J, Z]]"),
    "baumgarte": baumgarte("-gamma - alpha * (J @ v + phi_t) - beta**2 * phi"),
    "driven-gamma": driven("-2 * k * (xd - sd) ** 2 + 2 * k * u * sdd").replace(  # right
        "    return", "    import sys\n    print(u, file=sys.stderr)\n    return"
    ),
    "energy-balance": function(BALANCE, "return undefined"),
}


@pytest.fixture(scope="module")
def graded(sheet, grade):
    """Three submissions through nbgrader: the solutions, nothing, and good and bad answers."""
    return grade(sheet, {"solved": sheet.source, "empty": sheet.release, "mixed": sheet.answered(MIXED)})


def said(outputs):
    """The text of a cell's outputs, on one line."""
    return " ".join(" ".join([*x.get("traceback", []), *x.get("text", "").split()]) for x in outputs)


@pytest.mark.filterwarnings("ignore")
def test_the_solutions_get_full_marks(graded):
    score, most, outputs, _ = graded["solved"]
    assert score == most == sum(POINTS.values())
    for test in POINTS:
        assert re.fullmatch(r"\w+ is right for \d inputs. \w+ is right for \d hidden inputs.", said(outputs[test]))


@pytest.mark.filterwarnings("ignore")
def test_no_answer_gets_no_mark(graded):
    score, _, outputs, html = graded["empty"]
    assert score == 0
    for test in POINTS:
        assert "is not written yet: put your answer" in said(outputs[test])
    assert html.count("is not written yet") == len(POINTS)


@pytest.mark.filterwarnings("ignore")
def test_good_and_bad_answers_get_their_marks_and_their_sentences(graded):
    score, _, outputs, html = graded["mixed"]
    assert score == 2 + 3  # the Jacobian, and the wire that moves: no print costs a mark
    for test, sentence in {
        "test-parabola-jacobian": "parabola_jacobian is right for 3 hidden inputs.",
        "test-parabola-gamma": "parabola_gamma needs more than 5 s and was stopped, for q = [0, 0], v = [1, 0], k = 2:",
        "test-kkt": "kkt is wrong: λ has the wrong sign; in M q̈",
        "test-baumgarte": "baumgarte_right_side is wrong: α stands where 2α belongs.",
        "test-driven-gamma": "driven_gamma is right for 3 hidden inputs.",
        "test-energy-balance": "NameError (name 'undefined' is not defined), in line 2 of its cell, `return undefined`",
    }.items():
        assert sentence in said(outputs[test])
        assert len(outputs[test]) == 1 and "Traceback" not in said(outputs[test])
        assert "stderr" not in [output.get("name") for output in outputs[test]]
    words = " ".join(html.split())
    assert "α stands where 2α belongs" in words and "kkt is wrong: λ has" in words
    assert len(html) < 2_000_000


def test_the_measured_time(report):
    started = time.perf_counter()
    feedback.check(lambda x: 2 * x, lambda x: 2 * x, [{"x": np.ones(3)}] * 10)
    spent = time.perf_counter() - started
    report(f"feedback: 11 calls of a student's function in {1e3 * spent:.1f} ms")
    assert spent < 0.5
