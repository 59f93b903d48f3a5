"""A class that hands in to nbgrader, and the making of releases."""

import importlib.util
import os
import shutil

import nbformat
import pytest
from sheets import EXERCISES


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


@pytest.fixture(scope="session")
def grade(tmp_path_factory):
    """Hand in notebooks and have nbgrader grade them: name to notebook -> name to (score, outputs by cell, HTML).

    All sets are in one course, because a gradebook takes seconds to make.
    """
    from nbgrader.api import Gradebook
    from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    course = tmp_path_factory.mktemp("course")
    grading = course / "_grading"
    grading.mkdir()
    shutil.copy(EXERCISES / "nbgrader_config.py", course)
    shutil.copytree(EXERCISES / "source", course / "source")

    def graded(sheet, submissions):
        for student, notebook in submissions.items():
            folder = grading / "submitted" / student / sheet.name
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{sheet.name}.ipynb")
        with pytest.MonkeyPatch.context() as patch:
            keep_environment(patch)
            config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
            config.CourseDirectory.assignment_id = sheet.name
            for converter in (GenerateAssignment, Autograde, GenerateFeedback):  # what there is already is left alone
                converter(coursedir=CourseDirectory(config=config), config=config).start()
        results = {}
        with Gradebook(config.CourseDirectory.db_url) as gradebook:
            for student in submissions:
                autograded, feedback = (grading / step / student / sheet.name for step in ("autograded", "feedback"))
                cells = nbformat.read(autograded / f"{sheet.name}.ipynb", as_version=4).cells
                outputs = {cell.id: cell.outputs for cell in cells if cell.cell_type == "code"}
                html = (feedback / f"{sheet.name}.html").read_text("utf-8")
                submission = gradebook.find_submission(sheet.name, student)
                results[student] = submission.score, submission.max_score, outputs, html
        return results

    return graded
