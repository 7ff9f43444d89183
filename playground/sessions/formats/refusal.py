"""Build the error for a file of no known format, with its likely kind and a way to import it."""

from __future__ import annotations

from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.registry import plugins
from playground.sessions.documents import parse_json
from playground.sessions.lines import kind_of
from playground.sessions.source import Source

_LISTED: Final = "a session in one of the formats that `playground import --formats` lists"
_MISSING: Final = (
    "; the plugin 'importers', which reads files of other programs, is not installed here"
)
_FOLDER_EXPECTED: Final = (
    'its files, one after another (`for file in FOLDER/*; do playground import "$file"; done`),'
    " or the folder of one session, as opencode and Cline keep it"
)
_MOST_OTHERS: Final = 3  # a message names at most so many pipes and devices of a folder
_UNKNOWN: Final = "not in any known session format"
# Beginnings of files that may hold sessions in another form than JSON or text.
_BEGINNINGS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (
        b"SQLite format 3\0",
        "a SQLite database, as Cursor, Goose, opencode, claude-tap and LLM keep",
        "an export of that tool: `goose session export`, `opencode export`, `llm logs --json`",
    ),
    (b"PAR1", "a Parquet file", "its rows as JSON lines: `duckdb -c \"COPY … TO 'x.jsonl'\"`"),
    (b"ARROW1", "an Arrow file", "its rows as JSON lines"),
    (b"\x1f\x8b", "a gzip file", "what is in it: `gunzip FILE`"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "what is in it: `unzstd FILE`"),
    (b"%PDF", "a PDF", "the tool's own export as JSON or Markdown"),
    (b"<!DOCTYPE", "a web page, an export for reading only", "`conversations.json` beside it"),
    (b"<html", "a web page, an export for reading only", "`conversations.json` beside it"),
)
_CLINE: Final = "what Cline's window shows of a task (`ui_messages.json`)"
# Fields of JSON objects that no format reads, what they are, and what to import instead.
_FIELDS: Final[tuple[tuple[frozenset[str], str, str], ...]] = (
    (frozenset({"projectID", "id"}), "opencode's record of a session", "its folder `storage`"),
    (frozenset({"workDir", "agents"}), "Kimi Code's state", "`wire.jsonl`, which lies beside it"),
    (frozenset({"session_summary", "info"}), "Grok's summary", "`chat_history.jsonl` beside it"),
    (frozenset({"openapi", "paths"}), "an API's description", "a session; its tools: `--tools`"),
    (
        frozenset({"step_index", "source"}),
        "Antigravity's log of steps",
        "SpecStory's history of it",
    ),
    (frozenset({"ts", "say"}), _CLINE, "its folder, or `api_conversation_history.json` beside it"),
    (frozenset({"ts", "ask"}), _CLINE, "its folder, or `api_conversation_history.json` beside it"),
    (frozenset({"composerData"}), "Cursor's store", "Cursor's own export, or SpecStory's history"),
    (frozenset({"text"}), "texts without roles", "rows with `messages`"),
)


def refusal(source: Source) -> InputFault:
    """Return the error for a file that no format recognises. If a file with the suffix `.json` or
    without a suffix is not valid JSON, raises the InputFault of the JSON reader."""
    for beginning, what, way_out in _BEGINNINGS:
        if source.start(16).lstrip().startswith(beginning):
            return InputFault(what, where=source.name, expected=way_out)
    if source.is_folder:
        others = [found for found in source.findings if found.code == "not-a-file"]
        names = "".join(f"; {found.where}: {found.message}" for found in others[:_MOST_OTHERS])
        problem = f"a folder {_UNKNOWN}{names}"
        return InputFault(problem, where=source.name, expected=_FOLDER_EXPECTED)
    if source.is_lines:
        return _of_lines(source)
    if not source.is_zip and source.suffix in (".json", ""):
        return _of_value(source, parse_json(source.text, source.name))
    return InputFault(f"a file {_UNKNOWN}", where=source.name, expected=_listed())


def _listed() -> str:
    """Return the expected formats, and if the plugin importers is missing, a note about it."""
    missing = "" if "importers" in plugins() else _MISSING
    return f"{_LISTED}{missing}"


def _of_lines(source: Source) -> InputFault:
    first = next((value for value in source.head if isinstance(value, dict)), {})
    if kind := _known_kind(first):
        return InputFault(kind[0], where=source.name, line=1, expected=kind[1])
    kinds = ", ".join(dict.fromkeys(repr(kind_of(value)) for value in source.head[:6]))
    problem = f"JSON lines {_UNKNOWN} (their kinds: {kinds})"
    return InputFault(problem, where=source.name, line=1, expected=_listed())


def _of_value(source: Source, value: Any) -> InputFault:
    first = value[0] if isinstance(value, list) and value else value
    if known := _known_kind(first):
        return InputFault(known[0], where=source.name, expected=known[1])
    kind = _KINDS.get(type(value), "a JSON value")
    names = ", ".join(sorted(map(str, first))[:8]) if isinstance(first, dict) else ""
    problem = f"{kind} {_UNKNOWN}" + (f" (its fields: {names})" if names else "")
    return InputFault(problem, where=source.name, expected=_listed())


def _known_kind(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    for names, what, way_out in _FIELDS:
        if names <= value.keys():
            return f"likely {what}", way_out
    return None


_KINDS: Final[dict[type[Any], str]] = {
    dict: "a JSON object",
    list: "a JSON list",
    str: "a JSON string",
}
