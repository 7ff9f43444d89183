"""The browser side: one ES module and one style sheet per component, each after the shared kit.

Each module's default export mounts when it is called with a component (Streamlit) and gives
`{render}` when it is called without (a notebook's anywidget, an HTML export).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
_PARTS = {
    "panes": ("words", "edit", "cells", "search", "heads")
}  # of a component, that stand before it


class ComponentFiles(NamedTuple):
    html: str
    css: str
    js: str


@cache
def component_files(name: str, root_class: str) -> ComponentFiles:
    """Return the text of a component's files and the one element that it draws into."""
    css = _joined(f"{part}.css" for part in ("kit", name))
    js = _joined(f"{part}.js" for part in ("kit", *_PARTS.get(name, ()), name))
    return ComponentFiles(f'<div class="{root_class}"></div>', css, js)


def _joined(names: Iterable[str]) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
