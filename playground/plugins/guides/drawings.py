"""A guide as a table of its summary, and as markup: each use case with the events of its reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import pandas as pd

from playground.base.display import draws
from playground.base.wording import counted
from playground.dialects.raw_prompts import LlamaFormat
from playground.nouns.events import event_name
from playground.plugins.guides.guide import Guide
from playground.plugins.guides.use_case import Dialog, TextCompletion, UseCase
from playground.show.frames import frame
from playground.show.markup import Markup, code, escaped, folded, markup_table, table
from playground.show.rows import AnswerRows, rows_of
from playground.show.wire import event_text


@draws("rows", Guide)
def guide_summary(value: Guide) -> AnswerRows:
    """Return a row for each fact of the dialect, with line breaks as ↵."""
    facts = [(name, text.replace("\n", "↵")) for name, text in value.summary()]
    return rows_of("fact value", facts)


def special_tokens(value: LlamaFormat) -> pd.DataFrame:
    """Return a row for each token of a raw format, with its meaning."""
    return frame(rows_of("token meaning", value.tokens.items()))


@draws("picture", Guide)
def guide(value: Guide) -> Markup:
    """Draw the guide, with the same content as the Markdown page."""
    rows = ([escaped(name), code(text)] for name, text in value.summary())
    cases = "".join(piece for case in value.cases for piece in _case(value, case))
    also = "".join(f"<li>{code(form)}</li>" for form in value.variants())
    return Markup(
        value.dialect.title or value.dialect.name,
        f"dialect {value.dialect.name}, {counted(len(value.cases), 'use case')}",
        static=markup_table("at a glance", ["", ""], rows)
        + cases
        + (f"<h3>Also read</h3><ul>{also}</ul>" if also else ""),
    )


def _case(value: Guide, case: UseCase | str) -> Iterator[str]:
    if isinstance(case, str):  # a text between two use cases
        yield f"<p>{escaped(case)}</p>"
        return
    yield f"<h3>{escaped(case.title)}</h3><p>{escaped(case.description)}</p>"
    for dialog in case.dialogs:
        match dialog:
            case str():
                yield f"<p>{escaped(dialog)}</p>"
            case TextCompletion():
                yield folded("What the model reads", code(value.prompt(case, dialog)))
            case Dialog():
                yield folded("What the model reads", code(value.prompt(case, dialog)))
                yield _response(value, dialog)
            case _:
                assert_never(dialog)
    yield "".join(f"<p>{escaped(note)}</p>" for note in case.notes)


def _response(value: Guide, dialog: Dialog) -> str:
    if not dialog.response:
        return "<p>No recorded response.</p>"
    events = value.reading(dialog).events
    read = table("read as", ["event", "text"], ([event_name(e), event_text(e)] for e in events))
    return f"<h4>What it answers ({dialog.origin})</h4>{code(dialog.response)}{read}"
