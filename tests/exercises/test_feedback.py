"""The check of a student's function: each kind of wrong answer has its sentence, and none passes."""

import contextlib
import io
import random
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import sympy as sp

from chain_lib.feedback import Wrong, check

CASES = [
    {"x": np.array([1.0, 2.0]), "k": 3.0},
    {"x": np.array([0.0, 0.0]), "k": 1.0},
    {"x": np.array([-4.0, 0.5]), "k": 0.5},
]


def right(x, k):
    return k * x


def sentence(answer, reference=right, cases=CASES, *arguments, **options):
    """What is said to a wrong answer."""
    with pytest.raises(Wrong) as caught, contextlib.redirect_stdout(io.StringIO()) as out:
        check(answer, reference, cases, *arguments, **options)
    assert out.getvalue() == "" and caught.value.__cause__ is None and caught.value.__suppress_context__
    text = str(caught.value)
    assert "\n" not in text and text[-1] in ".?)"
    return text


# --- right ----------------------------------------------------------------------------------------------------------


def test_a_right_answer_is_told_so(capfd):
    def answer(x, k):
        return [k * x[0], k * x[1]]

    assert check(answer, right, CASES) is None
    assert check(answer, right, CASES[:1], hidden=True) is None
    assert capfd.readouterr() == ("answer is right for 3 inputs.\nanswer is right for 1 hidden input.\n", "")


@pytest.mark.parametrize("kind", [int, np.int64, np.float32, float, np.array, np.longdouble])
def test_every_real_number_counts(kind):
    check(lambda x: kind(2 * x), lambda x: 2 * x, [{"x": 1.0}, {"x": -3.0}])


def test_answers_may_be_a_list_and_several_results():
    answers = [(np.eye(2), 1.0), (np.ones((2, 2)), 2.0)]
    check(lambda i: answers[i], answers, [{"i": 0}, {"i": 1}], results=("matrix", "number"))
    check(lambda i: list(answers[i]), answers, [{"i": 0}, {"i": 1}], results=("matrix", "number"))


def test_rounding_is_no_mistake_also_where_zero_is_wanted():
    check(lambda x, k: k * x + 1e-12, right, CASES)
    assert "is wrong" in sentence(lambda x, k: k * x + 1e-6 * (x[0] == 0))


def test_the_tolerance_is_relative_to_the_answer():
    check(lambda x, k: k * x * 1.0001, right, CASES, tolerance=2e-4)
    assert "is wrong" in sentence(lambda x, k: k * x * 1.0001, tolerance=5e-5)


def test_the_name_is_looked_up_where_check_is_called():
    namespace = {"check": check, "right": right, "cases": CASES, "answer": right, "number": 3.0}
    exec("check('answer', right, cases)", namespace)
    with pytest.raises(Wrong, match="^missing is not defined: run the cell in which you write it"):
        exec("check('missing', right, cases)", namespace)
    with pytest.raises(Wrong, match="^number is an object of type float, not a function: run the cell"):
        exec("check('number', right, cases)", namespace)


def test_a_reference_that_compares_nothing_is_refused():
    with pytest.raises(ValueError, match="a right answer is not finite"):
        check(right, lambda x, k: x / 0.0, CASES)
    for answers in ([k * 1.0 for k in range(2)], [1.0] * 4):
        with pytest.raises(ValueError, match="zip"):
            check(lambda x, k: 1.0, answers, CASES)


# --- no answer ------------------------------------------------------------------------------------------------------


def test_a_stub_is_not_written_yet():
    def stub(x, k):
        raise NotImplementedError("write your answer here")

    assert sentence(stub).startswith("stub is not written yet: put your answer in place of the line")


def test_an_error_of_the_same_kind_from_elsewhere_is_an_error():
    def answer(x, k):
        return inner(x)

    namespace = {}
    exec(compile("def inner(x):\n    raise NotImplementedError", "<elsewhere>", "exec"), namespace)
    inner = namespace["inner"]
    assert "answer stops with NotImplementedError (no message), in line" in sentence(answer)


def test_an_error_is_told_with_its_line_and_its_input():
    def answer(x, k):
        k = k + 1
        return x[2]

    line = answer.__code__.co_firstlineno + 2
    said = sentence(answer)
    assert f"stops with IndexError (index 2 is out of bounds for axis 0 with size 2), in line {line} of its cell" in said
    assert said.endswith("`return x[2]`, for x = [1, 2], k = 3.")


def test_the_line_is_the_students_own_when_another_module_raises():
    def answer(x, k):
        return np.linalg.solve(np.zeros((2, 2)), x)

    assert "LinAlgError (Singular matrix)" in (said := sentence(answer))
    assert "`return np.linalg.solve(np.zeros((2, 2)), x)`" in said


def test_an_error_of_a_later_case_is_told_with_that_case():
    assert "for x = [0, 0], k = 1" in sentence(lambda x, k: k * x if x[0] else x[5])


def test_wrong_arguments_recursion_and_exit():
    def answer(x):
        return x

    def again(x, k):
        return again(x, k)

    assert "takes 1 positional argument but 2 were given" in sentence(answer)
    assert "again stops with RecursionError" in sentence(again)
    assert "stops with SystemExit (3)" in sentence(lambda x, k: sys.exit(3))


def test_a_long_error_message_is_cut():
    def answer(x, k):
        raise ValueError("long\n" * 10_000)

    assert len(sentence(answer)) < 500


# --- no numbers -----------------------------------------------------------------------------------------------------


class Friendly(np.ndarray):
    """An array that says it equals everything."""

    def __eq__(self, other):
        return True

    def __array_ufunc__(self, *arguments, **options):
        return np.zeros(self.shape)


VALUES = {
    "nothing": (None, r"returns None, for x = \[1, 2\], k = 3: does every way"),
    "text": ("[3, 6]", r"returns an object of type str, for .*; wanted is an array of shape \(2,\), of real numbers\."),
    "a truth": (True, "returns an object of type bool,"),
    "a truth of NumPy": (np.True_, "returns an object of type bool"),
    "truths": ([True, False], r"returns a list of bool, .*, of real numbers"),
    "an array of truths": (np.array([True, False]), r"returns an array of shape \(2,\) and type bool,"),
    "complex": (np.array([3j, 6]), r"and type complex128,"),
    "objects": (np.array([3.0, None]), r"and type object,"),
    "symbols": (sp.Matrix([3, 6]), "returns an object of type MutableDenseMatrix"),
    "a list of symbols": ([sp.Symbol("a"), 1.0], "returns a list of Symbol and float,"),
    "a dictionary": ({}, "returns an object of type dict"),
    "rows of different length": ([[1.0], [1.0, 2.0]], "returns a list of list,"),
    "a function": (right, "returns an object of type function"),
    "a generator": ((i for i in range(2)), "returns an object of type generator"),
    "times": (np.array([3, 6], "timedelta64[s]"), r"type timedelta64\[s\]"),
    "one number": (3.0, r"returns a single number, .*; wanted is an array of shape \(2,\)\."),
    "a row": (np.array([[3.0, 6.0]]), r"returns an array of shape \(1, 2\), .*; wanted is an array of shape \(2,\)\."),
    "an empty list": ([], r"returns an array of shape \(0,\)"),
    "nan": ([3.0, np.nan], r"returns a number that is not finite, for x = \[1, 2\], k = 3: \[3, nan\]\."),
    "infinity": ([3.0, -np.inf], r"not finite, .*: \[3, -inf\]\."),
    "an array that equals everything": (np.ones(2).view(Friendly), r"is \[1, 1\], wanted is \[3, 6\]"),
}


@pytest.mark.parametrize("value, said", VALUES.values(), ids=VALUES)
def test_what_is_no_answer_is_refused(value, said):
    assert re.search(said, text := sentence(lambda x, k: value)), text


def test_an_array_where_one_number_is_wanted():
    said = sentence(lambda x: np.array([2 * x]), lambda x: 2 * x, [{"x": 1.0}])
    assert said.endswith("returns an array of shape (1,), for x = 1; wanted is a single number.")


def test_several_results():
    def pair(x, k):
        return k * x, np.array(k)

    options = {"reference": pair, "results": ("a", "lam")}
    one = sentence(right, **options)
    assert "returns an array of shape (2,), for x = [1, 2], k = 3; wanted are 2 results, `return a, lam`." in one
    assert "returns a tuple of float and ndarray" in sentence(lambda x, k: (x, x, k), **options)
    assert "returns as lam an array of shape (1,)" in sentence(lambda x, k: (k * x, np.array([k])), **options)
    assert "its lam is 4, wanted is 3." in sentence(lambda x, k: (k * x, k + 1), **options)


# --- inputs ---------------------------------------------------------------------------------------------------------


def test_a_changed_input_is_named():
    def answer(x, k):
        x *= k
        return x

    said = sentence(answer)
    assert "answer changes its input x, for x = [1, 2], k = 3: make a new array," in said
    assert said.endswith("`x = x + …` and not `x += …`.")

    def both(a, b):
        a.append(1.0)
        b[0] = 5.0
        return 1.0

    assert "changes its input a and b" in sentence(both, lambda a, b: 1.0, [{"a": [2.0], "b": np.zeros(1)}])


def test_an_input_may_be_returned_and_the_cases_stay_as_they_are():
    check(lambda x: x, lambda x: x, [{"x": np.ones(2)}])
    before = [case["x"].copy() for case in CASES]
    sentence(lambda x, k: x.fill(7.0))
    assert all((case["x"] == x).all() for case, x in zip(CASES, before))


def test_a_reference_that_changes_its_input_changes_no_case():
    def careless(x, k):
        x *= k
        return x

    check(right, careless, CASES)
    assert CASES[0]["x"].tolist() == [1.0, 2.0]


# --- wrong values ---------------------------------------------------------------------------------------------------

MISTAKES = {
    "the sign is wrong": lambda x, k: -k * x,
    "k is missing": lambda x, k: x,
    "k stands twice": lambda x, k: k**2 * x,
    "it is impossible": lambda x, k: x[7],
    "it has another shape": lambda x, k: k,
    "it has two results": lambda x, k: (x, k),
}


@pytest.mark.parametrize("name", list(MISTAKES)[:3])
def test_a_typical_mistake_is_named(name):
    for hidden in (False, True):
        assert sentence(MISTAKES[name], right, CASES, MISTAKES, hidden=hidden) == f"<lambda> is wrong: {name}."


def test_a_mistake_may_be_a_list_of_answers():
    answers = [2 * right(**case) for case in CASES]
    assert "is wrong: twice too large." in sentence(lambda x, k: 2 * k * x, right, CASES, {"twice too large": answers})


def test_all_mistakes_that_fit_are_said():
    said = sentence(lambda x, k: x, right, CASES[1:2] + [{"x": np.ones(1), "k": -1.0}], MISTAKES)
    assert said == "<lambda> is wrong: the sign is wrong; or k is missing; or k stands twice."


def test_a_mistake_that_fits_in_some_cases_only_is_not_said():
    said = sentence(lambda x, k: -k * x if k == 3 else k * x, right, CASES, MISTAKES)
    assert said == "<lambda> is wrong for x = [1, 2], k = 3: its result is [-3, -6], wanted is [3, 6]."


def test_the_first_case_that_differs_is_shown():
    assert "for x = [-4, 0.5], k = 0.5: its result is [-2, 0.3], wanted is [-2, 0.25]." in sentence(
        lambda x, k: k * x + [0, 0.05 * (x[1] == 0.5)]
    )


def test_a_hidden_case_does_not_show_what_is_wanted():
    said = sentence(lambda x, k: x, hidden=True)
    assert said.startswith("<lambda> is wrong for a hidden input, for x = [1, 2], k = 3: its result is [1, 2].")
    assert "[3, 6]" not in said and "wanted" not in said


def test_a_small_difference_is_shown_with_enough_digits():
    assert "its result is 1.0001, wanted is 1." in sentence(lambda x: 1.0001, lambda x: 1.0, [{"x": 0.0}])


def test_of_a_long_array_the_first_entry_that_differs_is_shown():
    t = np.linspace(0, 1, 101)
    said = sentence(lambda t: np.where(t < 0.5, t, 0), lambda t: t, [{"t": t}])
    assert said == "<lambda> is wrong for t = (101 numbers): its result[50] is 0, wanted is 0.5."
    said = sentence(lambda t: np.outer(t, [1, 2]), lambda t: np.outer(t, [1, 3]), [{"t": t}])
    assert "its result[1, 1] is 0.02, wanted is 0.03." in said


def test_an_answer_that_changes_from_call_to_call():
    rng = random.Random(1)
    assert "answers differently when it is called again" in sentence(lambda x, k: k * x * (1 + rng.random()))
    calls = []

    def wears_out(x, k):
        calls.append(1)
        return k * x if len(calls) < 4 else 0 * x

    assert "answers differently when it is called again with the same input, x = [1, 2], k = 3" in sentence(wears_out)


# --- noise ----------------------------------------------------------------------------------------------------------


def test_what_is_printed_is_thrown_away_and_told_only_if_the_answer_is_wrong(capfd):
    def loud(x, k):
        print("x" * 2**20, flush=True)
        print("y" * 2**20, file=sys.stderr)
        return k * x

    check(loud, right, CASES)
    assert capfd.readouterr() == ("loud is right for 3 inputs.\n", "")
    said = sentence(lambda x, k: print("five!") or x)
    assert said.endswith("(It also printed 24 characters, which are not shown.)")
    assert "printed" not in sentence(lambda x, k: x)


def test_the_streams_come_back():
    before = sys.stdout, sys.stderr
    sentence(lambda x, k: print(1 / 0))
    assert (sys.stdout, sys.stderr) == before


# --- time -----------------------------------------------------------------------------------------------------------


def endless(x, k):
    while True:
        pass


def endless_and_loud(x, k):
    while True:
        print("and on")


def endless_and_stubborn(x, k):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def endless_and_very_stubborn(x, k):
    try:
        while True:
            pass
    except:  # noqa: E722
        pass
    while True:
        pass


@pytest.mark.parametrize("answer", [endless, endless_and_loud, endless_and_stubborn, endless_and_very_stubborn])
def test_an_endless_loop_is_stopped(answer, capfd):
    handler, threads, started = signal.getsignal(signal.SIGINT), threading.active_count(), time.monotonic()
    said = sentence(answer, seconds=0.1)
    assert f"{answer.__name__} needs more than 0.1 s and was stopped, for x = [1, 2], k = 3: does a loop" in said
    assert time.monotonic() - started < 5.0
    assert signal.getsignal(signal.SIGINT) is handler and threading.active_count() == threads
    assert capfd.readouterr() == ("", "")


def test_the_time_is_for_all_calls_together():
    started = time.monotonic()
    assert "needs more than 0.3 s" in sentence(lambda x, k: [time.sleep(0.01) for _ in range(20)] and k * x, seconds=0.3)
    assert time.monotonic() - started < 1.0


def test_no_interrupt_is_left_behind():
    """Functions that end at about the moment at which their time is up: right or stopped, and nothing comes later."""
    outcomes = set()
    for i in range(80):
        end = 2e-4 * (i % 40)

        def answer(x, end=end):
            until = time.perf_counter() + end
            while time.perf_counter() < until:
                pass
            return x

        try:
            with contextlib.redirect_stdout(io.StringIO()):
                check(answer, lambda x: x, [{"x": 1.0}], seconds=0.008)
            outcomes.add("right")
        except Wrong:
            outcomes.add("stopped")
        for _ in range(2000):
            pass
    time.sleep(0.1)
    assert outcomes == {"right", "stopped"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_users_own_interrupt_goes_through():
    def answer(x, k):
        signal.raise_signal(signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        check(answer, right, CASES)
    assert signal.getsignal(signal.SIGINT) is handler


def test_in_another_thread_it_checks_without_a_limit():
    said = []

    def work():
        try:
            check(lambda x, k: x, right, CASES)
        except Wrong as wrong:
            said.append(str(wrong))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "is wrong for x = [1, 2]" in said[0]


# --- in a notebook --------------------------------------------------------------------------------------------------


def test_a_notebook_shows_the_sentence_alone():
    from IPython.core.interactiveshell import InteractiveShell

    shown = []
    shell = InteractiveShell()
    shell._showtraceback = lambda kind, value, lines: shown.extend(lines)
    shell.run_cell("from chain_lib.feedback import check\nf = lambda x: 2 * x + 1")
    shell.run_cell("check('f', lambda x: 2 * x, [{'x': 1.0}] * 2)")
    assert shown == ["f is wrong for x = 1: its result is 3, wanted is 2."]
    lines = Wrong("word " * 60)._render_traceback_()
    assert len(lines) > 3 and max(map(len, lines)) <= 80  # nbgrader's validator cuts lines at 83 characters


def test_importing_it_loads_numpy_alone():
    code = "import sys, chain_lib.feedback; print({'sympy', 'scipy', 'numba', 'IPython'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_the_measured_time(report):
    started = time.perf_counter()
    check(lambda x: 2 * x, lambda x: 2 * x, [{"x": np.ones(3)}] * 10)
    spent = time.perf_counter() - started
    report(f"feedback: 11 calls of a student's function in {1e3 * spent:.1f} ms")
    assert spent < 0.5
