"""The reference of a dialect: an example, its grammar, its readers, its limits and its slips.

Every page is made from the registry, the servers' declarations and readings of replies, so that it
cannot contradict the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from playground.base.wording import fenced
from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import Message, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.parsing.result import ParseResult, read_to_end
from playground.plugins.guides.library import RESULT, example
from playground.plugins.guides.slips import Slip, fate, slip_replies, tools_of
from playground.questions.carry import OWN, VALUES, carry
from playground.servers import Parser, Server, all_servers
from playground.servers.declarations import proofs, proven_slips

_TRIED: Final = (
    "a leading line break",
    "a trailing line break",
    "blanks around",
    "a lone surrogate",
    "an integer",
    "an object",
)
"""Values that are tried, besides values that hold the dialect's own markers."""


def reference_lines(dialect: DeclaredDialect) -> list[str]:
    """Return the lines of the reference, in Markdown."""
    parts = {
        "Looks like": _example,
        "Grammar": _grammar,
        "Cannot express": _limits,
        "Read by": _readers,
        "Slips": _slips,
        "Sources": _sources,
    }
    return [
        line for title, part in parts.items() for line in ("", f"## {title}", "", *part(dialect))
    ]


def _example(dialect: DeclaredDialect) -> Iterator[str]:
    call, tool = example(dialect)
    arguments = json.dumps(call.args, ensure_ascii=False)
    yield f"A call of {_code(call.tool_name)} with {_code(arguments)}:"
    yield from ("", fenced(dialect.format_reply([call], [tool])), "")
    yield f"Its result, in the role `{dialect.result_role}`:"
    ids = dialect.written_ids([Message("assistant", (call,))]) or [[call.tool_call_id]]
    result = ToolResultPart(ids[0][0], call.tool_name, RESULT)
    yield from ("", fenced(dialect.format_tool_result(result)))


def _grammar(dialect: DeclaredDialect) -> Iterator[str]:
    grammar = dialect.grammar([example(dialect)[1]], choice="required")
    missing = [each.message for each in grammar.findings if each.code == "no-grammar"]
    if missing:
        yield f"None: {missing[0]}."
        return
    yield "In Lark, for this tool, if a call is required (`playground grammar`: also GBNF, EBNF):"
    yield from ("", fenced(grammar.lark.rstrip("\n")))


def _limits(dialect: DeclaredDialect) -> Iterator[str]:
    grammar = dialect.grammar([example(dialect)[1]], choice="required")
    limits = [] if dialect.parallel else ["more than one call in a reply"]
    codes = ("grammar-narrower", "grammar-wider")
    found = [each.message for each in grammar.findings if each.code in codes]
    limits += [f"by its grammar: {message}" for message in dict.fromkeys(found)]
    values = {name: make(dialect) for name, make in OWN.items()}
    tried = values | {name: VALUES[name] for name in _TRIED}
    refused = carry(dialect, values=tried).refused(dialect.name)
    if refused:
        limits.append(f"these values of an argument: {', '.join(refused)}")
    yield from (f"- {limit}" for limit in limits)
    carried = len(tried) - len(refused)
    yield f"- no other limits are known: {carried} of {len(tried)} values came back unchanged"


def _readers(dialect: DeclaredDialect) -> Iterator[str]:
    if dialect.is_native_toolcalling():
        yield "Every server: the calls come in a field of the response, already read."
        return
    rows = [row for server in all_servers() for row in _reader_rows(server, dialect.name)]
    if not rows:
        yield "No parser of the servers that this project knows."
        return
    yield "A server's default parser for the dialect, and (named) those that must be asked for."
    yield "Run: the kinds of slips for which the server's own parser read every reply as declared."
    yield from ("", "| parser | version, day | run | read in |", "|---|---|---|---|", *rows)


def _reader_rows(server: Server, dialect: str) -> Iterator[str]:
    for parser in server.parsers:
        if parser.can_read(dialect):
            named = "" if dialect in parser.default_for else " (named)"
            name = f"{_code(f'{server.name}:{parser.name}')}{named}"
            cells = (name, _version(server), _runs(server, parser, dialect), parser.view.source)
            yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
    if dialect in (server.other_dialects or ()):
        assumed = "assumed: its parser is not declared; " if server.parsers else ""
        cells = (_code(server.name), _version(server), "", f"{assumed}{server.view.source}")
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _version(server: Server) -> str:
    run = proofs().get(server.name, {})
    return f"{server.version or 'no version noted'}, {run.get('date') or server.date}"


def _runs(server: Server, parser: Parser, dialect: str) -> str:
    recorded = proofs().get(server.name, {}).get("slips", {}).get(f"{parser.name} {dialect}", {})
    if not recorded:
        return "none"
    return f"{len(proven_slips(server, parser.name, dialect))} of {len(recorded)}"


def _slips(dialect: DeclaredDialect) -> Iterator[str]:
    rows = [
        f"| {slip.name} | {_our_fate(reply_fate, result)} | {codes} |"
        for slip, reply_fate, result in _readings(dialect)
        if (codes := ", ".join(f"`{each.code}`" for each in result.findings))
    ]
    if not rows:
        yield "None that was tried."
        return
    yield "Replies that this project's parser reads with a finding; docs/slips.md has the servers."
    yield from ("", "| slip | read as | findings |", "|---|---|---|", *rows)


def _readings(dialect: DeclaredDialect) -> Iterator[tuple[Slip, str, ParseResult]]:
    data = PromptData(tool_metadata=tools_of(dialect))
    for slip, reply in slip_replies(dialect):
        parser = dialect.create_parser(data)
        result = read_to_end(parser, [parser.feed_text(reply.content)])
        yield slip, fate(reply, result), result


def _our_fate(reply_fate: str, result: ParseResult) -> str:
    return "aborted" if reply_fate == "dropped" and result.aborted else reply_fate


def _sources(_: DeclaredDialect) -> Iterator[str]:
    yield "- models and form: as *used by* says, with source and date"
    yield "- servers: their code, in the version and at the place in the table"
    yield "- example, grammar, limits and slips: computed by this project when the page is written"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
