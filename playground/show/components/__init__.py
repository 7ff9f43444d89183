"""The browser side. Each component has an ES module and a style sheet, which follow those of the
shared kit. If a module's default export is called with a component (in Streamlit), it mounts
that; otherwise (in a notebook's anywidget or an HTML export) it returns `{render}`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
# files that come before a component's own
_PARTS = {
    "panes": ("words", "edit", "cells", "search", "heads"),
    "strip": ("rows",),
    "bars": ("rows",),
}
_STYLES = {"strip": ("bars",)}


class ComponentFiles(NamedTuple):
    html: str
    css: str
    js: str


@cache
def component_files(name: str, root_class: str) -> ComponentFiles:
    """Return the text of a component's files, and the element that it draws into."""
    css = _joined(f"{part}.css" for part in ("kit", *_STYLES.get(name, ()), name))
    js = _joined(f"{part}.js" for part in ("kit", *_PARTS.get(name, ()), name))
    return ComponentFiles(f'<div class="{root_class}"></div>', css, js)


def _joined(names: Iterable[str]) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)
