"""Requests and their tools as markup: in several dialects, at a provider, as one raw prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from playground.base.display import draws
from playground.base.findings import Finding
from playground.base.wording import counted
from playground.dialects.rendering import message_text
from playground.parsing.values import dump_json
from playground.questions.comparison import Column, Comparison
from playground.questions.provider_payload import ProviderPayload
from playground.questions.raw_prompt import RawPrompt
from playground.questions.tool_schemas import Portability, ToolCosts
from playground.show import payloads, rows
from playground.show.grid import grid
from playground.show.heads import heads
from playground.show.markup import Markup, code, escaped, markup_table, table

# The most dialects and messages that a notebook stores; a page has all of them.
_PANES: Final = 8
_MESSAGES: Final = 50
_COLUMNS: Final = 4  # in plain markup, where more columns would be too narrow
_ROWS: Final = 40
_BEGINNING: Final = 400  # characters of a cell
_COUNTED: Final = 1_000_000  # characters, beyond which counting tokens takes seconds
_RAW: Final = 20_000  # the most characters of a raw prompt
_MOST_NAMES: Final = 3  # of dialects in a sentence


@draws("picture", Comparison)
def comparison(value: Comparison) -> Markup:
    """Return the panes; in plain markup, a column for each dialect and a row for each origin."""
    title = value.session.title or "A session"
    return Markup(
        f"{title} in {counted(len(value.columns), 'dialect')}",
        _line(value.columns),
        # with few dialects the component has the figures; with many, they stay above it
        head="" if len(value.columns) <= _PANES else _figures(value.columns),
        static=f"{_figures(value.columns) if len(value.columns) <= _PANES else ''}"
        f"{_columns(value.columns[:_COLUMNS], value.columns[_COLUMNS:])}",
        component="panes",
        data=lambda: _panes(value.columns),
        brief=lambda: _panes(value.columns[:_PANES], _MESSAGES),
    )


@draws("picture", Column)
def column(value: Column) -> Markup:
    """Return the pane of one dialect."""
    return comparison(Comparison(value.session, [value]))


def _line(columns: Sequence[Column]) -> str:
    named = [f"{c.dialect.name} {sum(c.characters.values()):,}" for c in columns[:_MOST_NAMES]]
    more = len(columns) - _MOST_NAMES
    return f"characters: {', '.join(named)}" + (f" and {more} more" if more > 0 else "")


def _figures(columns: Sequence[Column]) -> str:
    """Return a row of figures for each dialect. With many dialects, the schema facts are left
    out, because they are slow."""
    with_facts = len(columns) <= _PANES
    head = ["dialect", "characters", "messages", *["schema facts kept"] * with_facts, "findings"]
    rows = []
    for column in columns:
        row = [column.dialect.name, f"{sum(column.characters.values()):,}"]
        row.append(str(len(column.rendering.messages)))
        if with_facts:
            facts = column.schema_facts
            row.append(f"{sum(fact.kept for fact in facts)} of {len(facts)}")
        row.append(", ".join(sorted({finding.code for finding in column.findings})) or "none")
        rows.append(row)
    return table("characters of what is sent, tools included", head, rows)


def _columns(columns: Sequence[Column], hidden: Sequence[Column]) -> str:
    """Return a column for each dialect; the caption names dialects that only a script shows."""
    origins = payloads.origins(columns)
    rows = (
        [escaped(origin), *(code(column.texts.get(origin, ""), _BEGINNING) for column in columns)]
        for origin in origins[:_ROWS]
    )
    left = len(origins) - _ROWS
    more = f"; {left:,} more parts are not shown" if left > 0 else ""
    if hidden:
        others = ", ".join(column.dialect.name for column in hidden[:_MOST_NAMES])
        rest = f" and {len(hidden) - _MOST_NAMES} more" if len(hidden) > _MOST_NAMES else ""
        more += f"; without scripts {others}{rest} {'is' if len(hidden) == 1 else 'are'} left out"
    names = [column.dialect.name for column in columns]
    return markup_table(f"what each part is in {', '.join(names)}{more}", ["", *names], rows)


def _panes(columns: Sequence[Column], most: int | None = None) -> dict[str, Any]:
    """Return the panes' data; with few columns, add the figures above them, as on the page."""
    data = grid([payloads.comparison_pane(column, most) for column in columns])
    if len(columns) > _PANES:
        return data
    is_short = sum(sum(column.characters.values()) for column in columns) <= _COUNTED
    counts = [column.tokens if is_short else None for column in columns]
    return {**data, "figures": heads(columns, counts, [True] * len(columns))}


@draws("picture", ProviderPayload)
def provider_payload(value: ProviderPayload) -> Markup:
    """Return two panes, rendered and sent, below a table of the differences."""
    return Markup(
        f"{value.dialect} as {value.model} gets it",
        f"{counted(len(value.messages), 'message')}, "
        f"{counted(len(value.differences), 'difference')} from what was rendered",
        head=findings("what is different", value.grouped),
        static=_messages_table(value),
        component="panes",
        data=lambda: _two_panes(value, None),
        brief=lambda: _two_panes(value, _MESSAGES),
    )


def _two_panes(value: ProviderPayload, most: int | None) -> dict[str, Any]:
    sent = payloads.payload_pane("as sent", value, most)
    return grid([payloads.rendered_pane(value.dialect, value.rendering, most), sent])


def _messages_table(value: ProviderPayload) -> str:
    rendered = [("", str(m["role"]), message_text(m)) for m in value.rendering.messages]
    if value.rendering.tools:
        rendered.insert(0, ("", "tools (request field)", dump_json(value.rendering.tools)))
    sent = [(m.field, m.role, m.text) for m in value.messages]
    rows = [
        [name, *(escaped(cell) for cell in row[:2]), code(row[2], _BEGINNING)]
        for name, shown in (("rendered", rendered), ("sent", sent))
        for row in shown[:_ROWS]
    ]
    return markup_table("messages as rendered and as sent", ["", "field", "role", "text"], rows)


@draws("picture", RawPrompt)
def raw_prompt(value: RawPrompt) -> Markup:
    """Return the prompt's text, with its warnings."""
    warned = findings("what the template leaves out", value.findings) if value.findings else ""
    reads = f"{value.dialect} reads the reply" if value.dialect else "no dialect reads the reply"
    line = f"{len(value.text):,} characters; {reads}; {counted(len(value.findings), 'warning')}"
    return Markup(f"Raw prompt by {value.format}", line, warned, code(value.text, _RAW))


@draws("picture", ToolCosts)
def tool_costs(value: ToolCosts) -> Markup:
    """Return the table of tokens by tool."""
    lines = [
        {"tool": cost.tool, **cost.by_model, **cost.by_dialect, **cost.shorter}
        for cost in [*value.tools, value.total]
    ]
    exact = ", ".join(value.exact) or "none"
    return Markup(
        "What tools cost",
        f"{counted(len(value.tools), 'tool')}; exact for: {exact}",
        static=table("tokens", list(lines[0]), [list(map(str, line.values())) for line in lines]),
    )


@draws("picture", Portability)
def portability(value: Portability) -> Markup:
    """Return the findings by provider."""
    return Markup(
        "Which provider takes these tools",
        counted(len(value.findings), "finding"),
        static=table("findings", *rows.portability(value).texts()),
    )


def findings(caption: str, shown_findings: Sequence[Finding]) -> str:
    """Return findings as a table, or a line if there are none."""
    if not shown_findings:
        return f"<p>{escaped(caption)}: nothing</p>"
    rows = ([each.code, each.where, each.message] for each in shown_findings)
    return table(caption, ["what", "where", "how"], rows)
