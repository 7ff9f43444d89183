"""Read aider's two histories: of the chat (Markdown), and of the model's requests and responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Role, TextPart
from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import note_torn_text
from playground.sessions.source import Source

_REQUEST: Final = re.compile(r"^TO LLM (\S+)[ \t]*$", re.MULTILINE)
_RESPONSE: Final = re.compile(r"^LLM RESPONSE (\S+)[ \t]*$", re.MULTILINE)
_RULE: Final = re.compile(r"^-------[ \t]*\n?", re.MULTILINE)
_ROLES: Final = ("SYSTEM", "USER", "ASSISTANT", "TOOL", "FUNCTION")
_STARTED: Final = re.compile(r"^# aider chat started at (.*)$")
_TOKENS: Final = re.compile(
    r"Tokens: ([\d.,]+k?) sent,(?:.*?([\d.,]+k?) cache hit,)?.*?([\d.,]+k?) received"
)


class AiderLlmHistory(SessionFormat):
    name = "aider-llm-history"
    title = "aider's history of requests (.aider.llm.history)"
    keeps = Keeps(times="yes", missing="the file has no model and no usage")
    left_aside = {"^(?:TO LLM|LLM RESPONSE) [0-9T:.-]+$": "lines that only mark the log's parts"}

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return False
        start = source.start(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        return start.startswith((b"TO LLM ", b"LLM RESPONSE "))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        note_torn_text(source)
        sessions = list(read_turns(_turns(source.text), source.stem))
        for builder in sessions:
            builder.set_metadata(name="aider")
        yield from sessions


def _turns(text: str) -> list[Turn]:
    """Return a turn for each request with its first response, and for each further response."""
    marks = [*_REQUEST.finditer(text), *_RESPONSE.finditer(text)]
    marks.sort(key=lambda mark: mark.start())
    turns: list[Turn] = []
    for number, mark in enumerate(marks):
        stop = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        body = text[mark.end() : stop].strip("\n")
        line = text.count("\n", 0, mark.start()) + 1
        if mark[0].startswith("TO LLM"):
            messages = [_message(block) for block in _RULE.split(body) if block.strip()]
            turns.append(Turn(messages, [], Place(line), at=mark[1]))
        elif turns and not turns[-1].after:
            turns[-1].after = [_message(body)]
        else:
            turns.append(Turn([], [_message(body)], Place(line), at=mark[1]))
    return turns


def _message(block: str) -> dict[str, Any]:
    """Return the message in a block of the log. Each line begins with the message's role, except in
    a response."""
    lines = block.strip("\n").split("\n")
    role = next((role for role in _ROLES if lines[0].startswith(role)), "")
    if not role:
        return {"role": "assistant", "content": block}
    content = "\n".join(line.removeprefix(f"{role} ").removeprefix(role) for line in lines)
    return {"role": role.lower(), "content": content}


class AiderChatHistory(SessionFormat):
    name = "aider-chat-history"
    title = "aider's history of the chat (.aider.chat.history.md)"
    left_aside = {"^(?:# aider chat started at|>) ": "lines of aider's interface"}
    keeps = Keeps(
        times="only of the chat's start",
        usage="rounded, as aider showed it",
        missing="the file has no system prompt and no files; lines of aider's interface are not "
        "read",
    )

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return False
        start = source.start(65536)
        named = source.name.endswith(".aider.chat.history.md") and b"\n#### " in b"\n" + start
        return named or b"# aider chat started at" in start

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        note_torn_text(source)
        chat: _Chat | None = None
        for number, line in enumerate(source.text.split("\n"), 1):
            if started := _STARTED.match(line):
                if chat is not None:
                    yield chat.finish()
                chat = _Chat(source.stem, started[1], number)
            elif chat is not None or line.strip():
                chat = chat or _Chat(source.stem, "", number)
                chat.line(line, number)
        if chat is not None:
            yield chat.finish()


class _Chat:
    """A chat that is being read: consecutive lines of one speaker become a message."""

    def __init__(self, stem: str, at: str, number: int) -> None:
        self.builder = SessionBuilder(title=f"{stem} {at}".strip())
        self.builder.set_metadata(name="aider")
        self._at = self.builder.read_time(at.strip(), Place(number)) if at else ""
        self._speaker, self._lines, self._first = "", [""], number
        self._interface_lines = 0
        self._is_fenced = False

    def line(self, line: str, number: int) -> None:
        speaker, text = self._speaker_and_text(line)
        if line.startswith("```") and speaker == "assistant":
            self._is_fenced = not self._is_fenced
        if speaker != self._speaker and (line.strip() or speaker != "assistant"):
            self._add_message()
            self._speaker, self._lines, self._first = speaker, [], number
            self._is_fenced = self._is_fenced and speaker == "assistant"
        self._lines.append(text)

    def finish(self) -> SessionBuilder:
        self._add_message()
        if self._interface_lines:
            message = f"{self._interface_lines} lines of the interface"
            self.builder.findings.append(finding("bookkeeping", self.builder.title, message))
        return self.builder

    def _speaker_and_text(self, line: str) -> tuple[str, str]:
        if self._is_fenced:  # inside a code block, `####` and `>` name no speaker
            return "assistant", line
        if line.startswith("#### "):
            return "user", line[5:].rstrip()
        return ("interface", line[1:].strip()) if line.startswith(">") else ("assistant", line)

    def _add_message(self) -> None:
        text = "\n".join(self._lines).strip("\n")
        if self._speaker == "interface":
            self._interface_lines += len(self._lines)
            self._read_usage(text)
        elif text.strip() and self._speaker in ("user", "assistant"):
            role: Role = "user" if self._speaker == "user" else "assistant"
            self.builder.add_message(role, [TextPart(text)], Place(self._first))
            if role == "assistant":
                self.builder.add_request(at=self._at)

    def _read_usage(self, text: str) -> None:
        counts = _TOKENS.search(text)
        if counts and self.builder.requests:
            usage = {"prompt_tokens": _count(counts[1]), "completion_tokens": _count(counts[3])}
            if counts[2]:
                usage["cached_tokens"] = _count(counts[2])
            self.builder.set_usage(usage)


def _count(text: str) -> int:
    number = float(text.replace(",", "").removesuffix("k") or 0)
    return int(number * 1000) if text.endswith("k") else int(number)
