"""transformers' parser of response templates, and the templates of `transformers serve`.

The package is installed by its name into a folder for temporary files, once for each version; it
needs no torch for this.
"""

from __future__ import annotations

import subprocess
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from asking import Ask, asking
from server_parsers import Handed, Read

RELEASE: Final = "transformers==5.24.0"


def oracle(python: str = "") -> Ask:
    """Start the parser by this Python, or in an environment that is made for it."""
    if not python:
        folder = Path(tempfile.gettempdir()) / f"playground-{RELEASE.replace('==', '-')}"
        python = str(folder / "bin" / "python")
        if not (folder / "ready").exists():
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", RELEASE], check=True)
            (folder / "ready").touch()
    return asking(python, str(Path(__file__).parent / "transformers_program.py"))


def fallbacks() -> Callable[[str, str, list[dict[str, Any]]], Read]:
    """Return a maker of readers by the templates that `transformers serve` has for models without
    one; the name of a parser is a model's type."""
    ask = oracle()

    def make(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
        def read(text: str, reasoned: bool) -> Handed:
            given = ask({"fallback": parser, "prefix": "", "text": text, "tools": tools})
            calls = [(name, arguments) for name, arguments in given["calls"]]
            return Handed(given["content"], given["reasoning"], calls, given["raises"])

        return read

    return make
