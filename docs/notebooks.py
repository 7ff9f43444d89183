"""Run the example notebooks, and keep their outputs as a page without scripts shows them.

`python docs/notebooks.py [NAME…]`; the scripts of a live display would be a megabyte each.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
_SCRIPT: Final = re.compile(r"<script.*?</script>\n?", re.DOTALL)
_WAIT: Final = re.compile(r"^playground: loading .*\n", re.MULTILINE)  # said on slow machines
_LIVE: Final = ("application/vnd.jupyter.widget-view+json", "application/vnd.plotly.v1+json")


def executed(name: str, first: int = 0) -> Any:
    """Return a notebook that was run, from a cell on, without words about a wait."""
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    notebook.cells = notebook.cells[first:]
    where = {"metadata": {"path": str(EXAMPLES)}}
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources=where, record_timing=False
    )
    run = client.execute()
    for cell in run.cells:
        if "outputs" in cell:
            for output in cell.outputs:
                if output.output_type == "stream":
                    output.text = _WAIT.sub("", output.text)
            cell.outputs = [output for output in cell.outputs if output.get("text") != ""]
    return run


def outputs(notebook: Any) -> list[Any]:
    """Return the outputs of all cells, in order."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def save(name: str) -> None:
    """Run a notebook, and write it with its outputs."""
    notebook = executed(name)
    notebook.metadata.pop("widgets", None)
    for output in outputs(notebook):
        data = output.get("data", {})
        for live in _LIVE:
            data.pop(live, None)
        if "text/html" in data:
            data["text/html"] = _SCRIPT.sub("", data["text/html"])
    nbformat.write(notebook, EXAMPLES / name)


if __name__ == "__main__":
    for given in sys.argv[1:] or [path.name for path in sorted(EXAMPLES.glob("*.ipynb"))]:
        save(given)
