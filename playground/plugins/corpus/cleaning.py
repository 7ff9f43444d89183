"""Clean a session for a corpus: remove its secrets and, if the corpus is redacted, its texts.

A session is cleaned before the first fact is taken from it. Redaction replaces each text (not
names, times and words of a format) by its length. A text too long to be guessed from its hash gets
the hash, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from hashlib import blake2b
from operator import is_
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel

from playground.base.json_numbers import dump_again, is_finite
from playground.nouns.messages import unchecked
from playground.nouns.tools import ToolMetadata
from playground.plugins.corpus.clues import clues_in
from playground.plugins.corpus.json_text import json_of
from playground.plugins.corpus.plain import PlainSessions, message_json, tools_key
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import Searcher, Tally, searcher, star_secrets
from playground.recordings.value_scrubbing import BodyScrubber, scrubbed_with
from playground.sessions.rows import bodies, row_after
from playground.sessions.session import RequestRow, Session

_LEAST_HASHED: Final = 24  # characters; a shorter text could be guessed from its hash
# Fields whose texts are words of a format, names or times, which redaction does not change.
_STRUCTURE_FIELDS: Final = frozenset((
    "type", "role", "format", "tool_name", "tool_call_id", "model", "model_name", "at",
    "stop_reason", "name", "version", "dialect", "cache_dialect", "id", "tool_use_id", "call_id",
    "ttl",
))  # fmt: skip
# Fields with free content, in which every text is redacted.
_FREE_FIELDS: Final = frozenset(
    ("args", "arguments", "result", "json", "metadata", "default", "const", "enum", "examples")
)
# Fields with free content if they hold an object.
_FREE_OBJECT_FIELDS: Final = frozenset(("input", "output", "response"))
# Fields that hold an object whose keys are names that a user chose, not fields of a format.
_NAME_FIELDS: Final = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_SHORT_CHARACTERS: Final = 64  # more results are cached for texts shorter than this
_MOST_CACHED_CHARACTERS: Final = 16_000  # the result for a longer text is not cached
_CACHED_BODY_CHARACTERS: Final = 8 << 20  # of request bodies, in the cache of a scrubber
# Characters of a session that are searched for words near secrets. A longer session is assumed to
# have such words.
_MOST_SEARCHED: Final = 1 << 20
_MOST_TOOL_LISTS: Final = 256  # the most lists of tools that are remembered as clean
_PACKED_FIELDS: Final = ("body", "gone", "shared")  # fields from which a row's body is unpacked
# The end of a key such as `"input_tokens": 3`, which every bill has. Its word `token` is no sign of
# a secret; if it counted as one, the whole session would be searched in detail. (A text that quotes
# such a key has its quotation mark escaped, and does not match.)
_TOKEN_COUNT: Final = re.compile('tokens(?=": ?[0-9])')
Value = TypeVar("Value")


class CleanSession(NamedTuple):
    """A session, and the same as JSON. If `Cleaner.session` returned it, it has no secrets.

    `plain` holds the session's fields as JSON values, with no recordings and no messages.
    `messages` are its messages, each as JSON text.
    """

    session: Session
    plain: dict[str, Any]
    messages: list[str]
    tools_key: bytes | None  # the key of its list of tools (`plain.py`)


class Cleaner:
    """A cleaner of sessions. It removes secrets of known forms and of the environment variables."""

    def __init__(self) -> None:
        # `_searcher` is narrowed to the secrets that may be in a session, while it is cleaned
        self._full_searcher = self._searcher = searcher(tuple(environment_secrets()))
        self._tally = Tally()
        self._bodies = BodyScrubber(self._full_searcher, _CACHED_BODY_CHARACTERS)
        self._tools = lru_cache(maxsize=256)(self._clean_tool)
        self._clean_tools: set[bytes] = set()  # keys of lists of tools without secrets
        self._sessions = PlainSessions()
        self._short = lru_cache(maxsize=4096)(self._clean_text)
        self._long = lru_cache(maxsize=256)(self._clean_text)

    @property
    def counts(self) -> dict[str, int]:
        """The number of secrets that were starred out, by kind."""
        return self._tally.counts

    def text(self, text: str) -> str:
        """Return the text with stars in place of secrets. Results are cached."""
        if len(text) > _MOST_CACHED_CHARACTERS:
            return self._clean_text(text)
        return self._short(text) if len(text) < _SHORT_CHARACTERS else self._long(text)

    def session(self, session: Session) -> CleanSession:
        """Return a session without secrets in any field.

        Its recordings are not cleaned, because a corpus does not store them.
        """
        parts = self._plain_parts(session)
        clean = self._without_secrets(parts)
        return parts if clean is session else self._plain_parts(clean)

    def _plain_parts(self, session: Session) -> CleanSession:
        key = tools_key(session.tools)
        messages = [*map(message_json, session.messages)]
        return CleanSession(session, self._sessions.of(session, key), messages, key)

    def _without_secrets(self, parts: CleanSession) -> Session:
        """Return the session without secrets; the same object if there are none.

        The fields are searched in detail only if their JSON has the beginning of a secret, or a
        word that occurs near secrets. Otherwise only the tools are searched, with a cache.
        """
        session, plain, messages, _ = parts
        rest = {key: value for key, value in plain.items() if key not in ("tools", "messages")}
        search = _searcher_for(self._full_searcher, [dump_again(rest), *messages])
        if search is None:
            return self._with_clean_tools(session, parts.tools_key)
        requests = [dump_again(value) for value in plain.get("requests", ())]
        cleaners: dict[str, Callable[[Any], Any]] = {
            "messages": partial(self._clean_items, messages),
            "requests": partial(self._clean_items, requests),
            "rows": self._rows,
            "recordings": _unchanged,
        }
        self._searcher = search
        try:
            return self._record(session, cleaners)
        finally:
            self._searcher = self._full_searcher

    def _with_clean_tools(self, session: Session, key: bytes | None) -> Session:
        """Return a session with clean tools. Its other fields are known to have no secrets.

        Clean lists of tools are cached, because most sessions share one list.
        """
        if key is not None and key in self._clean_tools:
            return session
        tools = self._value(session.tools)
        if tools is not session.tools:
            return replace(session, tools=tools)
        if key is not None and len(self._clean_tools) < _MOST_TOOL_LISTS:
            self._clean_tools.add(key)
        return session

    def _clean_items(self, texts: Sequence[str], items: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return items without secrets; `texts` are the items as JSON."""
        pairs = zip(texts, items, strict=True)
        clean = tuple(
            self._value(item) if self._searcher.may_be_in(text) else item for text, item in pairs
        )
        return items if all(map(is_, items, clean)) else clean

    def _value(self, value: Any) -> Any:
        """Return a value without secrets; the same object if it has none."""
        match value:
            case Enum():
                return value
            case str():
                return self.text(value)
            case dict() | list():
                if not self._searcher.may_be_in(json_of(value)):
                    return value
                clean = scrubbed_with(self._searcher, value, self._tally)
                return value if clean == value else clean
            case tuple():
                items = tuple(map(self._value, value))
                return value if all(map(is_, items, value)) else items
            case ToolMetadata():  # `_tools` returns None for a tool without secrets
                return self._tools(value.model_dump_json()) or value
            case _ if is_dataclass(value) or isinstance(value, BaseModel):
                return self._record(value, {})
        return value

    def _record(self, record: Value, cleaners: Mapping[str, Callable[[Any], Any]]) -> Value:
        """Return a record with each field cleaned by its function in `cleaners`, or else by
        `_value`. A new field of a record is therefore cleaned without a change here."""
        fields = vars(record)
        clean = {name: cleaners.get(name, self._value)(value) for name, value in fields.items()}
        if all(clean[name] is fields[name] for name in fields):
            return record
        if isinstance(record, BaseModel):
            return record.model_copy(update=clean)
        return unchecked(type(record), clean)

    def _clean_text(self, text: str) -> str:
        return star_secrets(text, self._searcher, self._tally)

    def _clean_tool(self, text: str) -> ToolMetadata | None:
        """Return the clean tool for a tool's JSON, or None if it has no secrets."""
        plain = ToolMetadata.model_validate_json(text).model_dump(mode="json")
        clean = scrubbed_with(self._full_searcher, plain, self._tally)
        return ToolMetadata.model_validate(clean) if clean != plain else None

    def _rows(self, rows: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
        clean = rows if self._are_clean(rows) else tuple(self._repack(rows))
        return tuple(self._record(row, dict.fromkeys(_PACKED_FIELDS, _unchanged)) for row in clean)

    def _repack(self, rows: tuple[RequestRow, ...]) -> Iterator[RequestRow]:
        """Yield the rows with clean bodies; other fields are unchanged."""
        previous: dict[str, Any] | None = None
        for row, body in zip(rows, bodies(rows), strict=True):
            clean = self._bodies.scrubbed(body, self._tally)
            pack = row_after(clean, previous)
            yield replace(row, **{name: getattr(pack, name) for name in _PACKED_FIELDS})
            previous = clean

    def _are_clean(self, rows: tuple[RequestRow, ...]) -> bool:
        """Return True if no body holds a secret.

        Bodies share most of their content as the same objects, so each object is searched once.
        """
        searched: dict[Any, Any] = {}  # id -> object; keeping the object keeps its id unique
        for body in bodies(rows):
            lists = {key for key, value in body.items() if _is_of_objects(value)}
            new: dict[Any, Any] = {
                id(item): item for key in lists for item in body[key] if id(item) not in searched
            }
            rest = {key: None if key in lists else value for key, value in body.items()}
            key_ids = tuple((key, id(value)) for key, value in rest.items())
            if key_ids not in searched:
                new[key_ids] = rest
            if any(self._value(item) is not item for item in new.values()):
                return False
            searched |= new
        return True


def _unchanged(value: Any) -> Any:
    return value


def _searcher_for(search: Searcher, texts: Sequence[str]) -> Searcher | None:
    """Return a searcher for the secrets that may be in texts; None if there can be none."""
    if sum(map(len, texts)) > _MOST_SEARCHED:
        return search
    text = _TOKEN_COUNT.sub("counts", "\n".join(texts))
    return search.narrowed_to(text, clues_in(text))


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and set(map(type, value)) == {dict}


def hide_text(text: str) -> str:
    """Return a text's length and hash in words; for a short text, which the hash would give away,
    only the length."""
    length = f"{len(text)} characters"
    if len(text) < _LEAST_HASHED:
        return length
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{length}, {digest}"


def redact(value: Any, key: str = "", is_free: bool = False) -> Any:
    """Return a JSON value with its texts hidden, except for names, times and words of a format.

    If the value `is_free`, as a call's arguments are, every text in it is hidden.
    """
    match value:
        case str():
            is_word = key in _STRUCTURE_FIELDS and not is_free
            return value if is_word or not value else hide_text(value)
        case list():
            return [redact(item, key, is_free) for item in value]
        case Mapping():
            if is_free or key in _NAME_FIELDS:
                return {name: redact(item, "", is_free) for name, item in value.items()}
            return {
                name: redact(item, name, _is_free_field(name, item)) for name, item in value.items()
            }
        case float() if not is_finite(value):
            return None
        case _:
            return value


def _is_free_field(name: str, value: Any) -> bool:
    return name in _FREE_FIELDS or (name in _FREE_OBJECT_FIELDS and isinstance(value, Mapping))
