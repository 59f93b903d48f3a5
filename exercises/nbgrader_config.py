"""Settings of nbgrader for this course. Run nbgrader's commands in this folder."""

import os
import sysconfig
from pathlib import Path

os.environ["PATH"] = os.pathsep.join(
    [sysconfig.get_path("scripts"), os.environ["PATH"]]
)  # nbgrader calls alembic by name
os.environ["PYTHONWARNINGS"] = "ignore"  # a line on stderr in a test cell would give zero points
os.environ["CHAIN_LIB_QUIET"] = "1"

grading = Path(__file__).resolve().parent / "_grading"
grading.mkdir(exist_ok=True)

c = get_config()  # noqa: F821, nbgrader defines it

c.CourseDirectory.course_id = "closed_chains"
c.CourseDirectory.root = str(grading.parent)
c.CourseDirectory.submitted_directory = "_grading/submitted"
c.CourseDirectory.autograded_directory = "_grading/autograded"
c.CourseDirectory.feedback_directory = "_grading/feedback"
c.CourseDirectory.db_url = f"sqlite:///{grading / 'gradebook.db'}"

c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("write your answer here")'}
c.OverwriteCells.add_missing_cells = True  # a test that a student deleted counts as failed, not as absent
c.Execute.timeout = 60  # s, per cell
