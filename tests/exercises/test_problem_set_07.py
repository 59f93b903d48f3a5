"""Problem set 07 stands for all: every kind of bad answer, in this process and through nbgrader."""

import re

import pytest
from mistakes_07 import BALANCE, GAMMA, JACOBIAN, baumgarte, driven, kkt
from sheets import SHEETS, function, said

from chain_lib import feedback

SHEET = next(sheet for sheet in SHEETS if sheet.number == "07")

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


@pytest.mark.parametrize("lines, named", BAD.values(), ids=BAD)
def test_a_bad_answer_gets_one_sentence(monkeypatch, capfd, lines, named):
    monkeypatch.setitem(feedback.check.__kwdefaults__, "seconds", 0.2)
    for version in ("release", "source"):
        wrong = SHEET.run("test-parabola-gamma", function(GAMMA, *lines), version)
        assert isinstance(wrong, feedback.Wrong)
        assert re.fullmatch(f"parabola_gamma .*{named}.*", str(wrong))
    assert capfd.readouterr().err == ""


def test_a_right_answer_that_prints_a_megabyte_is_right(capfd):
    words = SHEET.run("test-parabola-gamma", function(GAMMA, "print('x' * 10**6)", f"return {GOOD}"))
    assert len(words) < 200 and "is right" in words and capfd.readouterr() == ("", "")


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


@pytest.mark.filterwarnings("ignore")
def test_good_and_bad_answers_get_their_marks_and_their_sentences(grade):
    score, _, outputs, html = grade(SHEET, {"mixed": SHEET.answered(MIXED)})["mixed"]
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
