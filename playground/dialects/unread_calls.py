"""Find text that was probably meant as a call, although it has no marker of the dialect.

These are the last checks of a reply. They find a tool's name next to its argument, arguments
without a tool, closers that nothing opens, and the words of control tokens that a server removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from playground.base.findings import Finding, finding
from playground.base.json_numbers import load_json
from playground.dialects import as_dialects
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.misspelled_markers import NearDialect, nearest_dialect
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult

SEARCH_LIMIT: Final = 20_000  # leading characters that are searched; more would take too long
_REACH: Final = 240  # most characters between a tool's name and its first argument
_MOST_MENTIONS: Final = 4  # most mentions of one tool that are examined
_IN_SENTENCE: Final = re.compile(r"[^\W\d_][ \t]{1,4}`?\Z")  # a word before a tool's name
# A closing tag in prose does not count: only tags and brackets may share its line.
_CLOSER: Final = re.compile(r"(?m)(?:^[ \t]*|(?<=[>}\])]))</([\w:|｜▁.\-]{2,60})>(?=[ \t]*(?:$|<))")
# words in the names of tags that are not HTML
_CALL_WORDS: Final = re.compile(r"(?i)tool|func|invo[ck]|param|call|arg_|argument")
_FENCED: Final = re.compile(r"\A```\w{0,12}\n(.*)\n```\Z", re.DOTALL)
_TOKEN: Final = re.compile(r"<[|｜][^<>|｜]{1,40}[|｜]>")  # a control token


def unread_call(result: ParseResult, dialect: Dialect, prompt_data: PromptData) -> Finding | None:
    """Return a finding for a reply without a call in which one of a tool's arguments follows the
    tool's name as in a call, or which consists of the arguments of one tool."""
    if result.tool_calls or result.aborted:
        return None
    text = result.content[:SEARCH_LIMIT]
    tools = prompt_data.tool_metadata
    # a call that lost its special tokens directly touches the words around it
    has_tokens = isinstance(dialect, DeclaredDialect) and bool(_TOKEN.search(dialect.syntax.call))
    for tool in tools:
        if (key := _argument_after(text, tool, has_tokens)) is not None:
            nearest = _nearest(text)
            at = f"; {nearest}" if nearest.dialect not in ("", dialect.name) else ""
            message = (
                f"{tool.name!r} and its argument {key!r} are here as in a call, in a form that"
                f" {dialect.name} does not have{at}: kept as text"
            )
            return finding("unread-call", "the whole reply", message)
    name = _tool_of_arguments(text, tools)
    if not name:
        return None
    message = f"only arguments, which fit {name!r}, without the tool's name: kept as text"
    return finding("unread-call", "the whole reply", message)


def _argument_after(text: str, tool: ToolMetadata, has_tokens: bool) -> str | None:
    """Return an argument that follows the tool's name as in a call, or None."""
    if tool.name not in text or not tool.parameter_names:
        return None
    names = tuple(sorted(tool.parameter_names))
    if not any(key in text for key in names):
        return None
    name = re.escape(tool.name) if has_tokens else _word(tool.name)
    for count, mention in enumerate(re.finditer(name, text)):
        if count == _MOST_MENTIONS:
            return None
        in_sentence = bool(_IN_SENTENCE.search(text, 0, mention.start()))
        keys = _keys_pattern(names, in_sentence, has_tokens)
        stop = mention.end() + _REACH
        if not any(text.find(key, mention.end(), stop) >= 0 for key in names):
            continue
        if match := keys.search(text, mention.end(), stop):
            return next(key for key in match.groups() if key)
    return None


@lru_cache(maxsize=4)  # all dialects ask about one reply
def _nearest(text: str) -> NearDialect:
    return nearest_dialect(text)


def _word(name: str) -> str:
    return rf"(?<![\w\-]){re.escape(name)}(?![\w\-])"


@lru_cache(maxsize=256)
def _keys_pattern(names: tuple[str, ...], in_sentence: bool, has_tokens: bool) -> re.Pattern[str]:
    """Build a pattern of a parameter's name as only a call has it: a quoted key, a tag, an option.
    Outside of a sentence, it may also be a keyword with a literal, or a label at a line's start."""
    key = f"({'|'.join(map(re.escape, names))})"
    forms = [
        rf"""[\"']{key}\\?[\"']\s{{0,4}}(?::|=>)""",
        rf"<{key}>|name\s?=\s?[\"']?{key}[\"']?\s?/?>|=\s?{key}>",
        rf"""--{key}[\s=:]{{1,3}}[\"'\d\[{{]""",
    ]
    if not in_sentence:
        forms += [
            rf"""\b{key}\s?=\s?[\"'\d\[{{]""",
            rf"""[(,{{]\s{{0,4}}{key}\s?:\s?[\"'\d\[{{]""",
            rf"(?m:^[ \t\-*]{{0,8}}{key}:[ \t]\S)",
        ]
    if has_tokens and not in_sentence:
        forms.append(rf"(?m:^{key}\S)")
    return re.compile("|".join(forms))


def _tool_of_arguments(text: str, tools: Sequence[ToolMetadata]) -> str:
    """Return the tool that alone takes the JSON object in `text` as arguments; "" without one."""
    bare = text.strip()
    fenced = _FENCED.match(bare)
    bare = fenced[1].strip() if fenced else bare
    if not (bare.startswith("{") and bare.endswith("}")):
        return ""
    try:
        value = load_json(bare)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict) or not value:
        return ""
    fits = [
        tool.name
        for tool in tools
        if value.keys() <= tool.parameter_names and set(tool.required_parameters) <= value.keys()
    ]
    return fits[0] if len(fits) == 1 else ""


def foreign_closer(result: ParseResult) -> Finding | None:
    """Return a finding if the text has a closing tag of calls without an opening tag before it."""
    text = result.content[:SEARCH_LIMIT]
    if "</" not in text:
        return None
    for match in _CLOSER.finditer(text):
        closer, name = match[0].strip(), match[1]
        if not _CALL_WORDS.search(name) or f"<{name}" in text[: match.start()]:
            continue
        owners = _closers().get(closer, ())
        owner = f"a closer of {', '.join(owners[:3])}" if owners else "no dialect's closer"
        message = f"{closer!r} is {owner}, and nothing here opens it: kept as text"
        return finding("foreign-closer", "the whole reply", message)
    return None


@cache
def _closers() -> dict[str, tuple[str, ...]]:
    """Return the closers of calls, sections and parameters, with the dialects that have them."""
    owners: dict[str, list[str]] = {}
    for dialect in as_dialects(""):
        if not isinstance(dialect, DeclaredDialect):
            continue
        param = dialect.syntax.param_template
        pieces = param.after if param else ()
        inner = [piece.strip() for piece in pieces if isinstance(piece, str)]
        for closer in {*dialect.syntax.closers, *inner}:
            owners.setdefault(closer, []).append(dialect.name)
    return {closer: tuple(names) for closer, names in owners.items()}


def filtered_tokens(result: ParseResult, dialect: Dialect) -> Finding | None:
    """Return a finding if the text begins with a reasoning opener and has its closer, both without
    their control tokens. A server has removed these, so that reasoning and answer are one text."""
    if not isinstance(dialect, DeclaredDialect):
        return None
    for opener, closer in _bare_words(dialect):
        if result.content.startswith(opener) and closer in result.content:
            message = (
                f"{opener!r} and {closer!r} are here without their control tokens, which a"
                " server has removed: reasoning and answer are one text"
            )
            return finding("filtered-tokens", "the whole reply", message)
    return None


@lru_cache(maxsize=256)
def _bare_words(dialect: DeclaredDialect) -> tuple[tuple[str, str], ...]:
    """Return each opener of reasoning, and the text from its closer to the beginning of the answer,
    both without control tokens."""
    return tuple(_without_tokens(dialect))


def _without_tokens(dialect: DeclaredDialect) -> Iterator[tuple[str, str]]:
    ends = [_TOKEN.sub("", text).strip() for text in (*dialect.stops, dialect.answer[0])]
    for tags in dialect.reasoning:
        opener, closer = (_TOKEN.sub("", text).strip() for text in (tags.open, tags.close))
        if opener == tags.open or len(opener) < 5:
            continue
        for start in (end for end in ends if len(end) > 3):
            yield opener, closer + start + _TOKEN.sub("", dialect.answer[0]).strip()
