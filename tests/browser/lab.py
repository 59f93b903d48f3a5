"""A real JupyterLab in a real browser, and what a reader does with a notebook in it."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
ROOT = Path(__file__).parent.parent.parent

# Counts pictures and remembers when the last one came and when the reader last moved something.
WATCH = """
() => {
  window.seen = { pictures: 0, shown: 0, moved: 0 };
  const explorer = document.querySelector('.chain-lib-explorer');
  explorer.querySelector('img').addEventListener('load', () => {
    window.seen.pictures += 1;
    window.seen.shown = performance.now();
  });
  for (const kind of ['keydown', 'pointermove', 'pointerdown', 'change', 'click']) {
    explorer.addEventListener(kind, () => { window.seen.moved = performance.now(); }, true);
  }
}
"""
CONNECTED = """
() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.connectionStatus === 'connected'
"""
IDLE = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
QUIET = """
() => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  let open = 0;
  for (const cell of cells) {
    if (cell.type === 'code' && cell.sharedModel.getSource().trim() && cell.executionState !== 'idle') open += 1;
  }
  return open === 0;
}
"""


def browser():
    """Path of an installed browser, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextlib.contextmanager
def jupyterlab(folder, home, **environment):
    """JupyterLab on a folder, with settings of its own in another; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "config" / "lab" / "user-settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "CHAIN_LIB_QUIET": "1",
        **environment,
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    command += ["--allow-root", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    with open(home / "server.log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api", timeout=2).close()
                break
            time.sleep(0.25)
        else:
            raise RuntimeError("JupyterLab does not answer: " + (home / "server.log").read_text()[-2000:])
        yield address
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        server.kill()


class Notebook:
    """A notebook opened in JupyterLab."""

    def __init__(self, page, address, name):
        self.page = page
        self.complaints = []
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{address}/lab/workspaces/{Path(name).stem}/tree/{name}?reset")
        page.wait_for_function(CONNECTED, timeout=60_000)
        self.command("application:toggle-left-area")

    def command(self, name):
        """Run a command of JupyterLab."""
        self.page.evaluate("name => { window.jupyterapp.commands.execute(name) }", name)

    def run_all(self):
        """Run all cells and wait for the last."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_timeout(300)
        self.page.wait_for_function(f"() => ({IDLE})() && ({QUIET})()", timeout=120_000)

    def run(self, cell):
        """Run one cell, given by its id, and wait for it."""
        self.page.evaluate(
            """async id => {
                const content = window.jupyterapp.shell.currentWidget.content;
                content.activeCellIndex = [...content.model.cells].findIndex(cell => cell.id === id);
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            cell,
        )
        self.page.wait_for_function(IDLE, timeout=60_000)

    def restart(self):
        """Restart the kernel, without asking."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")

    def shut_down(self):
        """End the kernel."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.shutdown()")

    def show(self, selector=".chain-lib-explorer"):
        """Scroll to the first element of a kind and wait until its picture is there."""
        count = self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
        for index in range(count):
            if self.page.locator(selector).count():
                break
            self.page.evaluate("i => window.jupyterapp.shell.currentWidget.content.scrollToItem(i, 'start')", index)
            self.page.wait_for_timeout(30)
        found = self.page.locator(selector).first
        found.scroll_into_view_if_needed()
        return found

    def errors(self):
        """Errors in the outputs of all cells."""
        return self.page.evaluate(
            """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].flatMap(cell =>
                cell.type === 'code' ? cell.outputs.toJSON().filter(output => output.output_type === 'error'
                    || output.name === 'stderr').map(output => output.evalue || output.text) : [])"""
        )

    def screenshot(self, name):
        """Keep a picture of the page as an artefact of the run."""
        folder = ROOT / "tests" / "artefacts"
        folder.mkdir(exist_ok=True)
        self.page.wait_for_timeout(800)  # JupyterLab draws cells as they come into view
        self.page.screenshot(path=folder / f"{name}.png")


class LiveExplorer:
    """An explorer in the page: its sliders, its picture and its line of text."""

    def __init__(self, notebook):
        self.notebook, self.page = notebook, notebook.page
        self.box = notebook.show()
        self.page.wait_for_function("() => document.querySelector('.chain-lib-explorer img')?.naturalWidth > 0")
        self.page.evaluate(WATCH)

    @property
    def title(self):
        """What the explorer is called."""
        return self.box.locator("img").first.get_attribute("alt").split(".")[0]

    @property
    def knobs(self):
        """Handles of the sliders and of the picture."""
        return self.box.locator(".noUi-handle, .chain-lib-handle").all()

    @property
    def buttons(self):
        """The buttons that set controls; those that play have a test of their own."""
        return self.box.locator(".widget-button:not(.widget-play *)").all()

    def text(self):
        """The line of text under the picture."""
        return self.box.locator("[role=status]").inner_text()

    def seen(self):
        """How many pictures came, and when (ms)."""
        return self.page.evaluate("() => window.seen")

    def after(self, move, timeout=5000):
        """Move something; return the time (ms) until the picture that follows, once it has settled."""
        before = self.seen()["pictures"]
        move()
        self.page.wait_for_function("n => window.seen.pictures > n", arg=before, timeout=timeout)
        self.settle()
        seen = self.seen()
        return seen["shown"] - seen["moved"]

    def settle(self, quiet=250):
        """Wait until no picture has come for a while."""
        count = -1
        while count != (now := self.seen()["pictures"]):
            count = now
            self.page.wait_for_timeout(quiet)

    def drag(self, knob, to, moves=30, pause=33):
        """Drag a knob by so many pixels in small moves; return pictures per second and the lag (ms) at the end."""
        box = knob.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        begin, before = self.page.evaluate("() => performance.now()"), self.seen()["pictures"]
        for k in range(1, moves + 1):
            self.page.mouse.move(x + to[0] * k / moves, y + to[1] * k / moves)
            self.page.wait_for_timeout(pause)
        end, during = self.page.evaluate("() => performance.now()"), self.seen()["pictures"]
        self.page.mouse.up()
        self.settle()
        seen = self.seen()
        return 1e3 * (during - before) / (end - begin), max(0.0, seen["shown"] - end)
