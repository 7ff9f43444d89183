"""Small answers as markup: for each a line that sums it up, and its table."""

from __future__ import annotations

from playground.base.display import draw, draws
from playground.base.wording import counted
from playground.dialects.models import DialectChoice
from playground.questions.comparison import LineDiff
from playground.recordings.recording import Recording
from playground.sessions.receipts.receipt import Receipt
from playground.sessions.session import Session
from playground.show.markup import Markup, table
from playground.tokens.count import TokenCount

_ROWS = 50  # the most rows of a table
_LONGEST = 300  # characters of a cell


@draws("picture", Session)
def session(value: Session) -> Markup:
    """Return the counts of everything in the session, and the first messages."""
    counts = [
        counted(len(value.messages), "message"),
        counted(len(value.tools), "tool"),
        counted(len(value.requests), "request"),
        counted(len(value.recordings), "recording"),
    ]
    model = f" for {value.task.model_name}" if value.task.model_name else ""
    line = f"{', '.join(counts)}{model}"
    return Markup(value.title or "A session", line, static=rows_table("messages", value))


@draws("picture", Recording)
def recording(value: Recording) -> Markup:
    """Return where the reply comes from, how it ended, and its chunks."""
    line = f"in {value.dialect or 'an unknown dialect'}, {counted(len(value.chunks), 'chunk')}"
    line = ", ".join(filter(None, (line, value.model, value.broken_off)))
    return Markup(f"Recording: {value.name}", line, static=rows_table("chunks", value))


@draws("picture", LineDiff)
def line_diff(value: LineDiff) -> Markup:
    """Return the lines that differ."""
    changed = LineDiff(line for line in value if line.change != "same")
    return Markup("Two requests", value.summary, static=rows_table("lines that differ", changed))


@draws("picture", TokenCount)
def token_count(value: TokenCount) -> Markup:
    """Return the count, its certainty, and its parts."""
    low, high = value.range
    bounds = "" if value.kind == "exact" else f", {low:,} to {'?' if high is None else f'{high:,}'}"
    line = f"{value.tokens:,} tokens ({value.kind}{bounds}) for {value.model or 'no model'}"
    return Markup("Tokens of a request", line, static=rows_table(value.source, value))


@draws("picture", DialectChoice)
def dialect_choice(value: DialectChoice) -> Markup:
    """Return the dialect, or else the dialect to try, with the reason."""
    title = value.dialect or f"unknown; one to try: {value.nearest}"
    return Markup(f"Dialect: {title}", value.reason, static=rows_table("choice", value))


@draws("picture", Receipt)
def receipt(value: Receipt) -> Markup:
    """Return the parts of a file that are in no session."""
    return Markup("Receipt of a file", value.words, static=rows_table("missing", value))


def rows_table(caption: str, value: object) -> str:
    """Return the first rows of an answer as a table."""
    head, cells = draw("rows", value).texts()
    more = f"{caption}; the first {_ROWS} of {len(cells):,}" if len(cells) > _ROWS else caption
    return table(more, head, [[text[:_LONGEST] for text in row] for row in cells[:_ROWS]])
