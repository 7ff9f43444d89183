"""Store a session as blocks, and read it back. Equal texts are stored once.

The skeleton of a session is the session in our file format, with block numbers in place of tools,
messages, the system prompt, replies and the contents of request bodies. It has no recordings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, cast

from playground.base.findings import Finding, Severity
from playground.plugins.corpus.blocks import BlockReader, BlockWriter
from playground.plugins.corpus.cleaning import CleanSession, redact
from playground.plugins.corpus.requests import SeenRequest
from playground.sessions.native_format import parse_session
from playground.sessions.session import Session

Blocks = list[tuple[int, bytes]]  # a number and a hash for each block
_MOST_TOOL_LISTS: Final = 256  # the most lists of tools whose blocks are cached
SKELETON: Final = "session"  # the kind of a skeleton's block
_FILE_FACTS: Final = "noticed"  # the skeleton's key for `FileFacts`
_LIST_FIELDS: Final = ("messages", "input", "contents")  # fields of a body: each entry is a block
# Fields of a body that are one block.
_HEAD_FIELDS: Final = ("tools", "system", "instructions", "systemInstruction")


@dataclass(slots=True)
class StoredRequest:
    """The blocks of a request: the first `kept` blocks of the previous request, then those with the
    numbers `added`, whose hashes are `hashes`."""

    kept: int
    added: list[int]
    hashes: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about a session that only its file shows.

    They are the file's format, the import's findings (code, severity, place, message), and the
    indexes of the messages with a call whose arguments are text, not a JSON object.
    """

    form: str
    findings: list[list[str]]
    kept_as_text: list[int]
    recorded: bool = False  # True if the session has recordings, whose calls are among the facts

    @property
    def plain(self) -> dict[str, Any]:
        """The fields as a dict."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def import_findings(self) -> Iterator[Finding]:
        """The import's findings."""
        for code, severity, where, message in self.findings:
            yield Finding(code, cast(Severity, severity), where, message)


class SessionStore:
    """A store of sessions in the blocks of a shard."""

    def __init__(self, blocks: BlockWriter, *, redacts: bool) -> None:
        self._blocks, self._redacts = blocks, redacts
        self._known_tools: dict[bytes, Blocks] = {}  # by the key of a list of tools

    def store(
        self, clean: CleanSession, requests: Iterable[SeenRequest], file_facts: FileFacts
    ) -> tuple[int, list[StoredRequest]]:
        """Store a session; return its skeleton's block number, and the blocks of each request."""
        session, plain = clean.session, {**clean.plain, _FILE_FACTS: file_facts.plain}
        task = plain.get("task", {})
        head = self._tools(plain.get("tools", []), clean.tools_key)
        if "user_agent_prompt" in task:
            head.append(self._add("system", task["user_agent_prompt"]))
            plain["task"] = {**task, "user_agent_prompt": head[-1][0]}
        pairs = zip(session.messages, clean.messages, strict=True)
        messages = [self._message(message.role, text) for message, text in pairs]
        plain["tools"] = [number for number, _ in head[: len(session.tools)]]
        plain["messages"] = [number for number, _ in messages]
        rows = [self._row(row) for row in plain.get("rows", ())]
        plain["rows"] = [row for row, _, _ in rows]
        if rows:
            main = [each for each, row in zip(rows, session.rows, strict=True) if not row.sub_agent]
            stored = _requests_of_rows(main)
        else:
            stored = _requests_of_replies(head, messages, requests)
        return self._add(SKELETON, plain)[0], list(stored)

    def _tools(self, tools: list[Any], key: bytes | None) -> Blocks:
        """Store a list of tools and return its blocks; lists that sessions share are cached."""
        if key is None or key not in self._known_tools:
            blocks = [self._add("tool", tool) for tool in tools]
            if key is None or len(self._known_tools) >= _MOST_TOOL_LISTS:
                return blocks
            self._known_tools[key] = blocks
        return [*self._known_tools[key]]

    def _add(self, kind: str, value: Any) -> tuple[int, bytes]:
        return self._blocks.add(kind, redact(value) if self._redacts else value)

    def _message(self, role: str, text: str) -> tuple[int, bytes]:
        if self._redacts:
            return self._add(role, json.loads(text))
        return self._blocks.add_text(role, text)

    def _row(
        self, row: dict[str, Any]
    ) -> tuple[dict[str, Any], list[tuple[int, bytes]], list[tuple[int, bytes]]]:
        """Store a row's texts. Return the row with block numbers instead of texts, the blocks of
        `_HEAD_FIELDS`, and those of messages."""
        body = dict(row.get("body", {}))
        heads: list[tuple[int, bytes]] = []
        messages: list[tuple[int, bytes]] = []
        for key in _HEAD_FIELDS:
            if key in body:
                heads.append(self._add(key, body[key]))
                body[key] = heads[-1][0]
        for key in _LIST_FIELDS:
            if isinstance(body.get(key), list):
                messages = [self._add("message", each) for each in body[key]]
                body[key] = [number for number, _ in messages]
        stored = {**row, "body": body}
        if "reply" in row:
            stored["reply"] = self._add("reply", row["reply"])[0]
        return stored, heads, messages


def _requests_of_rows(
    rows: Iterable[tuple[dict[str, Any], Blocks, Blocks]],
) -> Iterator[StoredRequest]:
    head: Blocks = []
    messages: Blocks = []
    for number, (row, heads, new) in enumerate(rows):
        shared = row.get("shared", 0)
        previous = [*head, *messages]
        messages = [*messages[:shared], *new]
        head = heads or head
        current = [*head, *messages]
        pairs = zip(previous, current, strict=False)
        shared_blocks = next((i for i, (block, each) in enumerate(pairs) if block != each), None)
        shared_blocks = min(len(previous), len(current)) if shared_blocks is None else shared_blocks
        shared_blocks = 0 if number == 0 else shared_blocks
        yield _stored_request(shared_blocks, current[shared_blocks:])


def _stored_request(kept: int, blocks: Blocks) -> StoredRequest:
    """Return a request: the first `kept` blocks of the previous one, then these new `blocks`."""
    return StoredRequest(kept, [number for number, _ in blocks], [key for _, key in blocks])


def _requests_of_replies(
    head: Blocks, messages: Blocks, requests: Iterable[SeenRequest]
) -> Iterator[StoredRequest]:
    """Yield the requests of a transcript. Each adds the messages since the request before it.

    The first request, and the first one after each compaction, add the head and all their
    messages.
    """
    previous: SeenRequest | None = None
    for request in requests:
        order = request.stretch.order if request.stretch else ()
        is_restart = previous is None or request.stretch is not previous.stretch
        first = 0 if previous is None or is_restart else previous.length
        added = [messages[i] for i in order[first : request.length]]
        blocks = [*(head if is_restart else ()), *added]
        yield _stored_request(0 if is_restart else len(head) + first, blocks)
        previous = request


def renumber(plain: dict[str, Any], numbers: Sequence[int] | memoryview) -> dict[str, Any]:
    """Return a skeleton with `numbers[old]` in place of each block's old number."""
    result = dict(plain)
    task = plain.get("task", {})
    if "user_agent_prompt" in task:
        result["task"] = {**task, "user_agent_prompt": numbers[task["user_agent_prompt"]]}
    for key in ("tools", "messages"):
        result[key] = [numbers[number] for number in plain.get(key, ())]
    result["rows"] = [_renumber_row(row, numbers) for row in plain.get("rows", ())]
    return result


def _renumber_row(row: dict[str, Any], numbers: Sequence[int] | memoryview) -> dict[str, Any]:
    body = dict(row["body"])
    for key in _HEAD_FIELDS:
        if isinstance(body.get(key), int):
            body[key] = numbers[body[key]]
    for key in _LIST_FIELDS:
        if isinstance(body.get(key), list):
            body[key] = [numbers[number] for number in body[key]]
    reply = {"reply": numbers[row["reply"]]} if "reply" in row else {}
    return {**row, "body": body, **reply}


def stored_session(blocks: BlockReader, skeleton: int) -> tuple[Session, FileFacts]:
    """Read a session, and the facts about its file, from the block of its skeleton.

    Raises InputFault if the blocks are damaged.
    """
    plain = blocks.value(skeleton)
    file_facts = FileFacts(**plain.pop(_FILE_FACTS))
    task = plain.get("task", {})
    if "user_agent_prompt" in task:
        task["user_agent_prompt"] = blocks.value(task["user_agent_prompt"])
    for key in ("tools", "messages"):
        plain[key] = [blocks.value(number) for number in plain.get(key, ())]
    plain["rows"] = [_read_row(blocks, row) for row in plain.get("rows", ())]
    return parse_session(plain, "", f"session in block {skeleton}"), file_facts


def _read_row(blocks: BlockReader, row: Mapping[str, Any]) -> dict[str, Any]:
    body = dict(row.get("body", {}))
    for key in _HEAD_FIELDS:
        if isinstance(body.get(key), int):
            body[key] = blocks.value(body[key])
    for key in _LIST_FIELDS:
        if isinstance(body.get(key), list):
            body[key] = [blocks.value(number) for number in body[key]]
    result = {**row, "body": body}
    if "reply" in row:
        result["reply"] = blocks.value(row["reply"])
    return result
