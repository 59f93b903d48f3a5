"""Make the students' version of every problem set from its source, with nbgrader's own converter.

    python -m uv run exercises/release.py

A second run changes nothing.
"""

import shutil
import tempfile
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

HERE = Path(__file__).resolve().parent


def release(name):
    """The files of a problem set as students get them: name to bytes."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder).resolve()
        unwanted = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(HERE / "source" / name, course / "source" / name, ignore=unwanted)
        config = PyFileConfigLoader("nbgrader_config.py", path=str(HERE)).load_config()
        config.CourseDirectory.root = str(course)
        config.CourseDirectory.assignment_id = name
        config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False  # as with --no-db
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
        made = files(course / "release" / name)
    return {name: _with_newlines(data) if name.endswith(".ipynb") else data for name, data in made.items()}


def files(folder):
    """The files in a folder: relative name to bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _with_newlines(data):
    """Lines that end in the same way on every system, the last one too."""
    return data.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"


def store(made, folder):
    """Put files into a folder and remove all others; return whether anything changed."""
    before = files(folder)
    for name in before.keys() - made.keys():
        (folder / name).unlink()
    for name, data in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return before != made


def main():
    for source in sorted(path for path in (HERE / "source").iterdir() if path.is_dir()):
        changed = store(release(source.name), HERE / "release" / source.name)
        print(f"{source.name}: {'stored anew' if changed else 'unchanged'}")


if __name__ == "__main__":
    main()
