"""A Markdown extension: `\\|` in the code of a table's cell is a bar, as it is on GitHub.

Python-Markdown needs no escape there, and would show the backslash.
"""

from __future__ import annotations

import re
from typing import Any

from markdown import Extension
from markdown.preprocessors import Preprocessor


class TableBars(Preprocessor):  # type: ignore[misc]
    """A pass over the lines that are left when fenced code has been taken out."""

    def run(self, lines: list[str]) -> list[str]:
        return [_unescaped(line) if line.startswith("|") else line for line in lines]


class TablePipes(Extension):  # type: ignore[misc]
    """The extension, as Markdown loads it."""

    def extendMarkdown(self, md: Any) -> None:  # noqa: N802 (Markdown's own name)
        md.preprocessors.register(TableBars(md), "table_pipes", 15)


def _unescaped(line: str) -> str:
    return re.sub(r"(`+).+?\1", lambda code: code[0].replace("\\|", "|"), line)


def makeExtension(**options: Any) -> TablePipes:  # noqa: N802
    """Return the extension for Markdown's list of extensions."""
    return TablePipes(**options)
