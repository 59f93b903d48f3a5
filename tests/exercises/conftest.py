"""A problem set's cells run in this process, and a class that hands in to nbgrader."""

import contextlib
import importlib.util
import io
import linecache
import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
EXERCISES = ROOT / "exercises"


@pytest.fixture
def releasing(monkeypatch):
    """The module `exercises/release.py`."""
    keep_environment(monkeypatch)
    spec = importlib.util.spec_from_file_location("release", EXERCISES / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def keep_environment(monkeypatch):
    """What the settings of nbgrader change for its kernels ends with the test."""
    for name in ("PATH", "PYTHONWARNINGS", "CHAIN_LIB_QUIET"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


class Sheet:
    """The cells of a problem set by id: `source` has the solutions and the hidden tests, `release` has neither."""

    def __init__(self, name):
        self.name = name
        self.source = nbformat.read(EXERCISES / "source" / name / f"{name}.ipynb", as_version=4)
        self.release = nbformat.read(EXERCISES / "release" / name / f"{name}.ipynb", as_version=4)

    def text(self, cell, version):
        return next(c.source for c in getattr(self, version).cells if c.id == cell)

    def run(self, test, answer=None, version="source"):
        """What a test says to an answer: the printed text, or the error."""
        namespace = {}
        cells = [(self.text("ps07-setup", version), "setup"), (answer, "answer"), (self.text(test, version), test)]
        said = io.StringIO()
        try:
            for source, name in cells:
                if source is not None:
                    file = f"<cell {name}>"
                    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
                    with contextlib.redirect_stdout(said):
                        exec(compile(source, file, "exec"), namespace)
        except AssertionError as wrong:
            return wrong
        return said.getvalue()

    def answered(self, answers):
        """The release with some answer cells filled in: id to source."""
        notebook = nbformat.from_dict(self.release)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        return notebook


@pytest.fixture(scope="session")
def sheet():
    return Sheet("07_drift")


@pytest.fixture
def hidden_only(monkeypatch):
    """Skip the visible tests, so that the hidden ones speak."""
    from chain_lib import feedback

    check = feedback.check

    def only_hidden(name, *arguments, hidden=False, **options):
        if hidden:
            check(sys._getframe(1).f_globals[name], *arguments, hidden=True, **options)

    monkeypatch.setattr(feedback, "check", only_hidden)


@pytest.fixture(scope="session")
def grade(tmp_path_factory):
    """Hand in notebooks and have nbgrader grade them: name to notebook -> name to (score, outputs by cell, HTML)."""
    from nbgrader.api import Gradebook
    from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    def graded(sheet, submissions):
        course = tmp_path_factory.mktemp("course")
        (course / "_grading").mkdir()
        shutil.copy(EXERCISES / "nbgrader_config.py", course)
        shutil.copytree(EXERCISES / "source", course / "source")
        for student, notebook in submissions.items():
            folder = course / "_grading" / "submitted" / student / sheet.name
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{sheet.name}.ipynb")
        with pytest.MonkeyPatch.context() as patch:
            keep_environment(patch)
            config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
            config.CourseDirectory.assignment_id = sheet.name
            for converter in (GenerateAssignment, Autograde, GenerateFeedback):
                converter(coursedir=CourseDirectory(config=config), config=config).start()
        results = {}
        with Gradebook(config.CourseDirectory.db_url) as gradebook:
            for student in submissions:
                place = course / "_grading" / "autograded" / student / sheet.name / f"{sheet.name}.ipynb"
                outputs = {c.id: c.outputs for c in nbformat.read(place, as_version=4).cells if c.cell_type == "code"}
                html = (course / "_grading" / "feedback" / student / sheet.name / f"{sheet.name}.html").read_text("utf-8")
                submission = gradebook.find_submission(sheet.name, student)
                results[student] = submission.score, submission.max_score, outputs, html
        return results

    return graded
