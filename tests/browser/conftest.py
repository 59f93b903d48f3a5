"""One JupyterLab and one browser for all lessons; said aloud if there is no browser."""

import contextlib
import os
import shutil

import nbformat
import pytest

import chain_lib as cl

from .lab import FLAGS, ROOT, LiveExplorer, Notebook, browser, jupyterlab

HOW_TO = "no Chromium found: install it (Debian: apt-get install chromium) to run the browser tests"


def pytest_collection_modifyitems(items):
    if browser() is None and not os.environ.get("CI"):
        for item in items:
            if "tests/browser" in item.path.as_posix():
                item.add_marker(pytest.mark.skip(reason=HOW_TO))


@pytest.fixture(scope="package", autouse=True)
def a_browser():
    """In CI a missing browser is a failure of every browser test."""
    if browser() is None:
        pytest.fail(HOW_TO)


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    """Address of a JupyterLab with copies of the notebooks and problem sets, and each explorer alone in one."""
    folder, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder)
    for path in (ROOT / "exercises" / "release").iterdir():
        shutil.copytree(path, folder / path.name)
    for name in cl.explore.__all__:
        cell = nbformat.v4.new_code_cell(f"import chain_lib as cl\n\ncl.explore.{name}().widget()")
        kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        nbformat.write(
            nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel}), folder / f"{name}.ipynb"
        )
    with jupyterlab(folder, home) as address:
        yield address


@pytest.fixture(scope="package")
def chromium(tmp_path_factory):
    """A browser with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=browser(),
            args=FLAGS,
            viewport=dict(width=1300, height=1000),
        )
        yield context
        context.close()


@pytest.fixture
def opened(lab, chromium):
    """Open a notebook in a page of its own; its kernel ends with the test."""
    with pages(lab, chromium) as open_notebook:
        yield open_notebook


@contextlib.contextmanager
def pages(lab, chromium):
    """A function that opens notebooks; their pages are closed at the end."""
    opened = []

    def open_notebook(name):
        page = chromium.new_page()
        opened.append(page)
        return Notebook(page, lab, name)

    yield open_notebook
    for page in opened:
        page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
        page.close()


@pytest.fixture(scope="module", params=cl.explore.__all__)
def each(request, lab, chromium):
    """Each explorer alone in a notebook, running; tests share its page and leave it alive."""
    with pages(lab, chromium) as open_notebook:
        notebook = open_notebook(f"{request.param}.ipynb")
        notebook.run_all()
        live = LiveExplorer(notebook)
        live.explorer = getattr(cl.explore, request.param)()
        yield live


@pytest.fixture
def fresh(opened):
    """One explorer in a page of its own, for what concerns all explorers alike and may end it."""
    notebook = opened(f"{cl.explore.__all__[0]}.ipynb")
    notebook.run_all()
    return LiveExplorer(notebook)


@pytest.fixture
def lab_copy(tmp_path_factory, chromium):
    """A folder with lesson 07, and a function that opens a notebook at another JupyterLab."""
    folder = tmp_path_factory.mktemp("cold")
    shutil.copy(ROOT / "notebooks" / "07_drift.ipynb", folder)
    return folder, lambda address, name: Notebook(chromium.new_page(), address, name)
