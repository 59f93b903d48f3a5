"""Check a student's function, and say in one sentence what is wrong with it.

Answers are compared as arrays of floats, never by the student's own ``==``, and inputs are copies. This
guards against mistakes; it is no fence against fraud, since the student's code runs in the same process.
"""

import _thread
import contextlib
import copy
import inspect
import io
import signal
import sys
import textwrap
import threading
import time
import traceback

import numpy as np

FEW = 12  # an array with more entries is not shown in full


class Wrong(AssertionError):
    """What is wrong with an answer; a notebook shows this sentence and no traceback."""

    def _render_traceback_(self):
        return textwrap.wrap(str(self), 80, break_long_words=False, break_on_hyphens=False)


def check(function, reference, cases, mistakes=None, *, results=None, tolerance=1e-6, seconds=5.0, hidden=False):
    """Compare a student's function with a reference, and print one sentence if it is right.

    Parameters
    ----------
    function : function or str
        The student's function, or its name in the notebook that calls `check`.
    reference : function, or list with an answer per case
        Right answers: a number, an array, or a tuple of arrays where several results are wanted.
    cases : list of dict
        Inputs, name to value, in the order of the function's arguments.
    mistakes : dict, optional
        Sentence to function, or to list of answers. Where a mistake gives the student's own answers in all
        cases, its sentence is said.
    results : tuple of str, optional
        Names of the results where there are several.
    tolerance : float
        Largest difference allowed, relative to the largest number of the right answer.
    seconds : float
        Time for all calls together (s). Python code in the main thread is stopped, compiled code is not.
    hidden : bool
        Do not tell the right answer.

    Raises
    ------
    Wrong
        With the sentence. What the function printed is thrown away.
    ValueError
        Where a right answer is not finite, or there are not as many as cases.

    Examples
    --------
    >>> def half(x):
    ...     return x / 2
    >>> check(half, lambda x: 0.5 * x, [{"x": 1.0}, {"x": -3.0}])
    half is right for 2 inputs.
    """
    name, printed = function if isinstance(function, str) else getattr(function, "__name__", "The answer"), _Sink()
    try:
        if isinstance(function, str):
            function = _found(function, sys._getframe(1).f_globals)
        _compare(function, reference, cases, mistakes or {}, results, tolerance, seconds, hidden, printed)
    except Wrong as wrong:
        noise = f" (It also printed {printed.size} characters, which are not shown.)" if printed.size else ""
        raise Wrong(f"{name} {wrong}{noise}") from None
    print(f"{name} is right for {len(cases)} {'hidden ' if hidden else ''}input{'s' * (len(cases) > 1)}.")


def _found(name, namespace):
    if name not in namespace:
        raise Wrong("is not defined: run the cell in which you write it, and look for an error below that cell.")
    if not callable(namespace[name]):
        raise Wrong(f"is {_kind(namespace[name])}, not a function: run the cell in which you define it.")
    return namespace[name]


def _compare(function, reference, cases, mistakes, results, tolerance, seconds, hidden, printed):
    wanted = _answers(reference, cases)
    if not all(np.isfinite(part).all() for parts in wanted for part in parts):
        raise ValueError(f"a right answer is not finite: {wanted}; choose other inputs.")
    results = results or ("result",) * len(wanted[0])
    largest = [max(np.abs(part).max(initial=0.0) for part in parts) for parts in zip(*wanted)]

    def allowed(case, part):
        size = np.abs(wanted[case][part]).max(initial=0.0)
        return tolerance * (max(size, 1e-3 * largest[part]) or 1.0)

    def differing(answers):
        """Case and part of the first difference from what the student's function gives."""
        for case, parts in enumerate(got):
            for part, (mine, other) in enumerate(zip(parts, answers[case], strict=True)):
                if mine.shape != other.shape or not np.all(np.abs(mine - other) <= allowed(case, part)):
                    return case, part

    deadline = time.monotonic() + seconds
    got = []
    for case, right in zip([*cases, cases[0]], [*wanted, wanted[0]], strict=True):
        got.append(_student_answer(_call(function, case, deadline, seconds, printed), right, results, case))
    again = got.pop()
    if differing([again, *got[1:]]):
        raise Wrong(f"answers differently when it is called again with the same input, {_shown(cases[0])}.")
    if (first := differing(wanted)) is None:
        return
    fitting = []
    for sentence, mistake in mistakes.items():
        with contextlib.suppress(Exception):  # a mistake may not be possible for every input
            if differing(_answers(mistake, cases)) is None:
                fitting.append(sentence)
    if fitting:
        raise Wrong(f"is wrong: {'; or '.join(fitting)}.")
    case, part = first
    entry, mine, right = _difference(got[case][part], wanted[case][part], allowed(case, part))
    what = f"for {_shown(cases[case])}: its {results[part]}{entry} is {mine}"
    if hidden:
        raise Wrong(f"is wrong for a hidden input, {what}. Does it use its arguments, and no numbers of one example?")
    raise Wrong(f"is wrong {what}, wanted is {right}.")


def _answers(source, cases):
    """What a function or a list of answers gives for each case: a tuple of arrays."""
    if callable(source):
        with np.errstate(all="ignore"):
            source = [source(*copy.deepcopy(list(case.values()))) for case in cases]
    return [tuple(np.array(x, dtype=float) for x in (a if isinstance(a, tuple) else (a,))) for a in source]


def _call(function, case, deadline, seconds, printed):
    arguments = copy.deepcopy(list(case.values()))
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            value = _within(deadline - time.monotonic(), function, arguments)
    except KeyboardInterrupt:
        raise
    except _TimeIsUp:
        place = f"for {_shown(case)}: does a loop never end?"
        raise Wrong(f"needs more than {seconds:g} s and was stopped, {place}") from None
    except BaseException as error:
        raise Wrong(_raised(error, function, case)) from None
    if changed := [name for name, after in zip(case, arguments) if not _same(case[name], after)]:
        raise Wrong(
            f"changes its input {' and '.join(changed)}, for {_shown(case)}: make a new array, "
            f"`{changed[0]} = {changed[0]} + …` and not `{changed[0]} += …`."
        )
    return value


def _same(before, after):
    if isinstance(before, np.ndarray):
        return isinstance(after, np.ndarray) and before.shape == after.shape and before.tobytes() == after.tobytes()
    return repr(before) == repr(after)


def _raised(error, function, case):
    file = getattr(getattr(inspect.unwrap(function), "__code__", None), "co_filename", None)
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if step.filename == file]
    if isinstance(error, NotImplementedError) and own and own[-1] is steps[-1]:
        return "is not written yet: put your answer in place of the line with NotImplementedError."
    where = f", in line {own[-1].lineno} of its cell" + (f", `{own[-1].line}`" if own[-1].line else "") if own else ""
    reason = textwrap.shorten(str(error), 200, placeholder=" …") or "no message"
    return f"stops with {type(error).__name__} ({reason}){where}, for {_shown(case)}."


def _student_answer(value, right, results, case):
    place = f"for {_shown(case)}"
    if value is None:
        raise Wrong(f"returns None, {place}: does every way through it end with `return`?")
    if len(right) == 1:
        return (_numbers(value, right[0].shape, "returns", place),)
    if not isinstance(value, (tuple, list)) or len(value) != len(right):
        raise Wrong(f"returns {_kind(value)}, {place}; wanted are {len(right)} results, `return {', '.join(results)}`.")
    return tuple(_numbers(x, r.shape, f"returns as {n}", place) for x, r, n in zip(value, right, results))


def _numbers(value, shape, returns, place):
    """The student's value as a new array of floats, or a sentence about what it is instead."""
    array = np.array(None)
    if isinstance(value, (int, float, list, tuple, np.ndarray, np.number)):
        with contextlib.suppress(ValueError):  # rows of different lengths
            array = np.array(value)
    if array.dtype.kind not in "iuf":
        raise Wrong(f"{returns} {_kind(value)}, {place}; wanted is {_form(shape)}, of real numbers.")
    if array.shape != shape:
        raise Wrong(f"{returns} {_form(array.shape)}, {place}; wanted is {_form(shape)}.")
    if not np.isfinite(array).all():
        raise Wrong(f"{returns} a number that is not finite, {place}: {_text(array)}.")
    return array.astype(float)


def _kind(value):
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {' and '.join(sorted({type(x).__name__ for x in value})) or 'nothing'}"
    if isinstance(value, np.ndarray):
        return f"{_form(value.shape)}" + (f" and type {value.dtype}" if value.dtype.kind not in "iuf" else "")
    return f"an object of type {type(value).__name__}"


def _form(shape):
    return f"an array of shape {tuple(shape)}" if shape else "a single number"


def _shown(case):
    return ", ".join(f"{name} = {_text(value)}" for name, value in case.items())


def _text(value, digits=4):
    """A value as a student would write it, to so many significant digits."""
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value):
        many = np.size(value) > FEW
        return f"({np.size(value)} numbers)" if many else f"[{', '.join(_text(x, digits) for x in value)}]"
    return f"{value:.{digits}g}" if isinstance(value, (int, float, np.number, np.ndarray)) else repr(value)[:60]


def _difference(mine, right, allowed):
    """Two arrays as texts that differ; of long ones the first entry that does, and its index."""
    entry = ""
    if right.size > FEW:
        index = tuple(int(i) for i in np.argwhere(~(np.abs(mine - right) <= allowed))[0])
        mine, right, entry = mine[index], right[index], f"[{', '.join(map(str, index))}]"
    texts = [(_text(mine, digits), _text(right, digits)) for digits in (4, 8, 16)]
    return entry, *next((pair for pair in texts if pair[0] != pair[1]), texts[-1])


class _Sink(io.TextIOBase):
    """Counts what is printed, and keeps none of it."""

    size = 0

    def write(self, text):
        self.size += len(text)
        return len(text)


class _TimeIsUp(BaseException):
    """Raised inside a student's function; not an Exception, so that ``except Exception`` lets it pass."""


def _within(seconds, function, arguments):
    """Call a function, and interrupt it after so many seconds.

    The timer's interrupt is told from the user's, and ignored when it comes too late. It is repeated, because a
    bare ``except:`` in the student's code may swallow one. Python interrupts the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    running, late = True, False

    def interrupt():
        nonlocal late
        while running:
            late = True
            _thread.interrupt_main()
            time.sleep(0.01)

    def on_interrupt(number, frame):
        if not late:
            raise KeyboardInterrupt
        if running:
            raise _TimeIsUp

    timer = threading.Timer(max(seconds, 0.0), interrupt)
    timer.daemon = True
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        try:
            timer.start()
            return function(*arguments)
        finally:
            running = False
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)  # first shows a pending interrupt to the handler above
