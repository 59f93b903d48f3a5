"""The problem sets with what the tests know about each: `mistakes_NN.py` has the points and the typical mistakes.

A module of mistakes has `NAME`, the folder of its set, `POINTS`, test cell to points in the order of the sheet, and
`MISTAKES`, test cell to pairs of an answer as a student would write it and a piece of the sentence that names it.
"""

import contextlib
import importlib
import io
import linecache
from functools import cached_property
from pathlib import Path

import nbformat

from chain_lib import feedback

ROOT = Path(__file__).parent.parent.parent
EXERCISES = ROOT / "exercises"


def function(head, *lines):
    """The source of a function."""
    return "\n    ".join([f"def {head}:", *lines])


class Sheet:
    """The cells of a problem set by id: `source` has the solutions and the hidden tests, `release` has neither."""

    def __init__(self, name, points, mistakes):
        self.name, self.points, self.mistakes = name, points, mistakes
        self.number = name[:2]
        self.answers = {test: test.removeprefix("test-") for test in points}
        self._checks = {}

    def __repr__(self):
        return self.name

    @cached_property
    def source(self):
        return self._read("source")

    @cached_property
    def release(self):
        return self._read("release")

    def _read(self, version):
        return nbformat.read(EXERCISES / version / self.name / f"{self.name}.ipynb", as_version=4)

    def text(self, cell, version):
        return next(c.source for c in getattr(self, version).cells if c.id == cell)

    def stub(self, test):
        return self.text(self.answers[test], "release")

    def solution(self, test):
        return self.text(self.answers[test], "source")

    def run(self, test, answer=None, version="source"):
        """What a test says to an answer: the printed text, or the error."""
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                self._execute(version, answer=answer, **{test: self.text(test, version)})
        except AssertionError as wrong:
            return wrong
        return said.getvalue()

    def written(self, test, answer):
        """The function that an answer defines."""
        return self._execute("source", answer=answer)[self.check(test, hidden=False).name]

    def _execute(self, version, **cells):
        """Run the setup and cells of a notebook, as name to source, in a new namespace."""
        namespace = {}
        for name, source in {"setup": self.text(f"ps{self.number}-setup", version), **cells}.items():
            if source is not None:
                file = f"<cell {name}>"
                linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
                exec(compile(source, file, "exec"), namespace)
        return namespace

    def check(self, test, hidden):
        """How a test calls `check`: a `Check`, for its visible or its hidden inputs."""
        if test not in self._checks:
            made, check = [], feedback.check
            feedback.check = lambda *arguments, **options: made.append(Check(*arguments, **options))
            try:
                self._execute("source", **{test: self.text(test, "source")})
            finally:
                feedback.check = check
            self._checks[test] = {one.hidden: one for one in made}
            assert len(made) == 2 == len(self._checks[test]), "a test calls check once, and once more with hidden=True"
        return self._checks[test][hidden]

    def answered(self, answers):
        """The release with some answer cells filled in: id to source."""
        notebook = nbformat.from_dict(self.release)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        return notebook


class Check:
    """A call of `chain_lib.feedback.check` that was noted and not made."""

    def __init__(self, name, reference, cases, mistakes=None, *, hidden=False, **options):
        self.name, self.cases, self.mistakes = name, cases, mistakes or {}
        self.arguments, self.hidden, self.options = (reference, cases, mistakes), hidden, options

    def says(self, student):
        """What it says to a student's function: the printed text, or the error."""
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                feedback.check(student, *self.arguments, hidden=self.hidden, **self.options)
        except feedback.Wrong as wrong:
            return wrong
        return said.getvalue()


def said(outputs):
    """The text of a cell's outputs, on one line."""
    return " ".join(" ".join([*x.get("traceback", []), *x.get("text", "").split()]) for x in outputs)


def _sheet(path):
    module = importlib.import_module(path.stem)
    return Sheet(module.NAME, module.POINTS, module.MISTAKES)


SHEETS = [_sheet(path) for path in sorted(Path(__file__).parent.glob("mistakes_*.py"))]
