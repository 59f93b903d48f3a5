"""Execute the course's notebooks and store them, so that doing it again changes nothing.

python -m uv run notebooks/execute.py                    # all of them
python -m uv run notebooks/execute.py 07_drift.ipynb     # some
"""

import base64
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def executed(path):
    """The notebook at a path as JSON text, executed from top to bottom in a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    os.environ["CHAIN_LIB_QUIET"] = "1"
    NotebookClient(
        notebook,
        timeout=120,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET_VIEW, None)
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4) + "\n"


def _joined(outputs):
    """Outputs with neighbouring pieces of one stream in one piece: how they are cut depends on timing."""
    joined = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def readme_picture():
    """The opening figure of lesson 07 as PNG; the README shows it."""
    notebook = nbformat.read(HERE / "07_drift.ipynb", as_version=4)
    opening = next(cell for cell in notebook.cells if cell.id == "drift-opening")
    return base64.b64decode(opening.outputs[0].data["image/png"])


def main(names):
    paths = [HERE / name for name in names] or sorted(HERE.glob("*.ipynb"))
    for path in paths:
        text, before = executed(path), path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {'unchanged' if text == before else 'stored anew'}")
    (HERE / "drift.png").write_bytes(readme_picture())


if __name__ == "__main__":
    main(sys.argv[1:])
