"""What a corpus may keep of a session: no secrets ever, and with redaction no texts.

A session is cleaned before the first fact is taken from it. Redaction is of what is stored: a text
becomes its length and a hash; a short one, which its hash would betray, its length alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from playground.json_numbers import is_finite
from playground.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    unchecked,
)
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import Tally, Unsearched, searcher, starred
from playground.recordings.value_scrubbing import BodyScrubber, scrubbed_with
from playground.sessions.rows import bodies, packed
from playground.sessions.session import RequestRow, Session
from playground.tools import ToolMetadata

_GUESSABLE: Final = 24  # characters
# Fields whose texts are words of a format, names or times, and nothing that anybody said.
_STRUCTURE: Final = frozenset(
    {
        "type",
        "role",
        "format",
        "tool_name",
        "tool_call_id",
        "model",
        "model_name",
        "at",
        "stop_reason",
        "name",
        "version",
        "dialect",
        "id",
        "tool_use_id",
        "call_id",
        "ttl",
    }
)
_SHORT: Final = 64  # characters of a text of which thousands are remembered
_LONG: Final = 16_000  # of one that is not
_REMEMBERED: Final = 8 << 20  # characters of bodies that a scrubber knows again


class Cleaner:
    """Takes secrets out of sessions; those of this process's environment too."""

    def __init__(self) -> None:
        self._search = searcher(tuple(environment_secrets()))
        self._tally = Tally()
        self._bodies = BodyScrubber(self._search, _REMEMBERED)
        self._tools = lru_cache(maxsize=256)(self._cleaned_tool)
        self._short = lru_cache(maxsize=4096)(self._cleaned)
        self._long = lru_cache(maxsize=256)(self._cleaned)

    def text(self, text: str) -> str:
        """A text without secrets, of the same length; one that was seen is not searched again."""
        if len(text) > _LONG:
            return self._cleaned(text)
        return self._short(text) if len(text) < _SHORT else self._long(text)

    def session(self, session: Session) -> Session:
        """The session without secrets. Of its recordings nothing is changed: they are not kept."""
        if self._is_clean(session):
            return session
        task = session.task.model_copy(
            update={
                "user_agent_prompt": self.text(session.task.user_agent_prompt),
                "user_prompt": self.text(session.task.user_prompt),
                "dialect_rules": scrubbed_with(self._search, session.task.dialect_rules),
            }
        )
        environment = session.dynamic.dynamic_environment_details_block
        dynamic = session.dynamic.model_copy(
            update={"dynamic_environment_details_block": self.text(environment)}
        )
        agent = replace(
            session.agent,
            **{name: self.text(value) for name, value in vars(session.agent).items()},
        )
        return replace(
            session,
            title=self.text(session.title),
            purpose=self.text(session.purpose),
            task=task,
            dynamic=dynamic,
            agent=agent,
            tools=tuple(self._tool(tool) for tool in session.tools),
            messages=tuple(self._message(message) for message in session.messages),
            rows=self._rows(session.rows),
        )

    def _is_clean(self, session: Session) -> bool:
        """Whether none of its texts holds a secret: they are searched as one text, a line each,
        which takes a third of the time of all those searches. It may find what none of them has."""
        texts, task = Unsearched(), session.task
        said = [session.title, session.purpose, task.user_agent_prompt, task.user_prompt]
        environment = session.dynamic.dynamic_environment_details_block
        for value in (said, environment, task.dialect_rules, *vars(session.agent).values()):
            scrubbed_with(texts, value)
        for message in session.messages:
            for part in message.parts:
                scrubbed_with(texts, _said(part))
        for row in session.rows:
            scrubbed_with(texts, row.body)
            scrubbed_with(texts, row.reply)
        if self._search.search("\n".join(texts.texts)).secrets:
            return False
        return all(self._tool(tool) is tool for tool in session.tools)

    def _cleaned(self, text: str) -> str:
        return starred(text, self._search, self._tally)

    def _tool(self, tool: ToolMetadata) -> ToolMetadata:
        return self._tools(tool.model_dump_json()) or tool

    def _cleaned_tool(self, text: str) -> ToolMetadata | None:
        """The tool of this JSON; None where it has no secrets."""
        plain = ToolMetadata.model_validate_json(text).model_dump(mode="json")
        clean = scrubbed_with(self._search, plain)
        return ToolMetadata.model_validate(clean) if clean != plain else None

    def _message(self, message: Message) -> Message:
        parts = tuple(self._part(part) for part in message.parts)
        return unchecked(Message, role=message.role, parts=parts)

    def _part(self, part: Part) -> Part:
        match part:
            case TextPart(text=text):
                clean = self.text(text)
                return part if clean is text else replace(part, text=clean)
            case ReasoningPart(text=text):
                return replace(part, text=self.text(text))
            case ImagePart(url=url):
                return part if url.startswith("data:") else replace(part, url=self.text(url))
            case ToolCallPart(args=args):
                return replace(part, args=scrubbed_with(self._search, args, self._tally))
            case ToolResultPart(result=str() as text):
                return unchecked(ToolResultPart, **{**vars(part), "result": self.text(text)})
            case ToolResultPart(result=result):
                clean = scrubbed_with(self._search, result, self._tally)
                return unchecked(ToolResultPart, **{**vars(part), "result": clean})

    def _rows(self, rows: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
        if not rows:
            return rows
        found: list[RequestRow] = []
        before: dict[str, Any] | None = None
        for row, body in zip(rows, bodies(rows), strict=True):
            clean = self._bodies.scrubbed(body, self._tally)
            reply = None if row.reply is None else scrubbed_with(self._search, row.reply)
            known = {name: getattr(row, name) for name in ("at", "seconds", "sub_agent")}
            found.append(packed(clean, before, reply=reply, **known))
            before = clean
        return tuple(found)


def _said(part: Part) -> Any:
    """What of a part is searched for secrets."""
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return text
        case ImagePart(url=url):
            return "" if url.startswith("data:") else url
        case ToolCallPart(args=args):
            return args
        case ToolResultPart(result=result):
            return result


def hidden(text: str) -> str:
    """How long a text is, and what it hashes to unless it could be guessed from that."""
    told = f"{len(text)} characters"
    if len(text) < _GUESSABLE:
        return told
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{told}, {digest}"


def redacted(value: Any, key: str = "") -> Any:
    """A JSON value whose texts are hidden, but for words of its format and names."""
    match value:
        case str():
            return value if key in _STRUCTURE or not value else hidden(value)
        case list():
            return [redacted(item, key) for item in value]
        case Mapping():
            return {name: redacted(item, name) for name, item in value.items()}
        case float() if not is_finite(value):
            return None
        case _:
            return value
