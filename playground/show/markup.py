"""Show answers as HTML: plain markup, which a script then replaces by the app's own component.
Sites that show saved notebooks, nbconvert and mail may remove scripts. Then only the plain markup
remains, so it contains everything that matters. Session text is hostile: `escaped` makes it safe
within our own sentences, `exact` for reading and copying, and `embedded` inside a script element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from playground.base.display import Bundle
from playground.base.extras import missing_package
from playground.base.wording import keep_order, keep_order_as
from playground.show.components import component_files

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>{tab}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; font-family: system-ui, sans-serif; color: #1b1f24; background: #fff; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #e6e6e6; background: #14171c; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{line}
<main>
{shown}
</main>
</body>
</html>
"""

# The component draws in a shadow tree, which separates its style rules from the notebook's. The
# script is no module, because only a classic script knows its own element (`currentScript`).
_LIVE: Final = """<div class="playground">{static}</div>
<script type="application/json">{data}</script>
<script>
(() => {{
"use strict"
const given = document.currentScript.previousElementSibling
const place = given.previousElementSibling
{js}
const data = JSON.parse(given.textContent)
const shadow = place.attachShadow({{ mode: "open" }})
const style = document.createElement("style")
style.textContent = {css}
const el = document.createElement("div")
shadow.append(style, el)
place.replaceChildren()
host().render({{ model: {{ get: () => data }}, el }})
}})()
</script>"""

_LONE: Final = re.compile("[\ud800-\udfff]")
_TABLE: Final = "border-collapse: collapse; font-size: 0.85em; margin-bottom: 1em"
_CELL: Final = "padding: 0.2em 0.6em; text-align: left; vertical-align: top"
# `monospace` is named twice, because browsers draw a single `monospace` smaller than other text.
CODE_STYLE: Final = (
    "margin: 0; white-space: pre-wrap; overflow-wrap: anywhere;"
    " font-family: monospace, monospace; font-size: 0.9em"
)


@dataclass(frozen=True)
class Markup:
    """An answer as markup: `head` stays; if scripts run, the component replaces `static`. `line`
    sums the answer up in figures; a component that `draws_line` replaces it, too. `data` returns
    the component's data; `brief` returns less data, to keep notebooks small. `more` returns markup
    that only a page has."""

    title: str
    line: str
    head: str = ""
    static: str = ""
    component: str = ""
    data: Callable[[], Any] = dict
    brief: Callable[[], Any] | None = None
    more: Callable[[], str] = str
    draws_line: bool = False

    def page(self) -> str:
        """Return a complete HTML page."""
        title, line = escaped(self.title), "" if self.draws_line else f"<p>{escaped(self.line)}</p>"
        tab = escape(keep_order(self.title))  # `escaped` adds <bdi>; a <title> has no elements
        shown = self._markup(self.data) + self.more()
        return _PAGE.format(tab=tab, title=title, line=line, shown=shown)

    def bundle(self) -> Bundle:
        """Return the bundle that a notebook stores."""
        line = "" if self.draws_line else f": {escaped(self.line)}"
        line = f"<p><b>{escaped(self.title)}</b>{line}</p>"
        shown = self._markup(self.brief or self.data)
        return {"text/plain": self._plain(), "text/html": f"{line}\n{shown}"}

    def widget(self) -> Any:
        """Return the component as an anywidget. Raises InputFault if that is not installed."""
        try:
            import anywidget
            import traitlets
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from error
        _, css, js = component_files(self.component, self.component)
        line = self._plain()

        class ComponentWidget(anywidget.AnyWidget):
            _esm = js
            _css = css
            data = traitlets.Dict().tag(sync=True)

            def __repr__(self) -> str:
                return line

        return ComponentWidget(data=self.data())

    def _plain(self) -> str:
        return keep_order(" ".join(f"{self.title}: {self.line}".split()))

    def _markup(self, data: Callable[[], Any]) -> str:
        if not self.component:
            return self.head + self.static
        _, css, js = component_files(self.component, self.component)
        line = f"<p>{escaped(self.line)}</p>" if self.draws_line else ""
        return self.head + _LIVE.format(
            static=line + self.static,
            data=embedded(data()),
            css=embedded(css),
            js=js.replace("export default function host", "function host"),
        )


def escaped(text: str) -> str:
    """Escape one of our own sentences for HTML. Right-to-left text in it is isolated with <bdi>,
    so that it cannot reorder the rest."""
    return keep_order_as(escape, text)


def exact(text: str) -> str:
    """Escape a text for an element that holds only this text. Only lone surrogates are changed,
    because no file can hold them."""
    return escape(_LONE.sub("\ufffd", text))


def embedded(value: Any) -> str:
    """Return ASCII JSON for a script element; no tag in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return texts as a table."""
    return markup_table(caption, head, ([escaped(cell) for cell in row] for row in rows))


def markup_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are markup; caption and head are text."""
    top = "".join(f'<th scope="col" style="{_CELL}">{escaped(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f'<table style="{_TABLE}"><caption style="{_CELL}">{escaped(caption)}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def code(text: str, most: int | None = None) -> str:
    """Return a text as preformatted markup, cut after `most` characters."""
    shown = text if most is None or len(text) <= most else text[:most]
    left = len(text) - len(shown)
    more = f"<div>… {left:,} more characters</div>" if left else ""
    return f'<pre style="{CODE_STYLE}">{exact(shown)}</pre>{more}'


def coloured(text: str, colour: str) -> str:
    """Return a piece of text on a pale colour, readable with dark and light text."""
    return f'<span style="background: {colour}40">{exact(text)}</span>'


def folded(title: str, inner: str) -> str:
    """Return markup that is shown when its title is clicked."""
    return f"<details><summary>{escaped(title)}</summary>{inner}</details>"
