"""A generator of recorded sessions whose answers are known: what it plants is what a corpus finds.

    python benchmarks/corpus_data.py OUT 10000      # sessions; writes OUT/… and OUT.truth.json

Three kinds, as corpora have them: replies with calls in their text (files of lines in our own
format), transcripts of Claude Code with its bills (a file each), and a gateway's log with one
request a line, its sessions interleaved. Each session follows from its number alone.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from playground.dialects import get_dialect
from playground.nouns.messages import ToolCallPart
from playground.nouns.tool_formats import read_tools

BATCH: Final = 500  # sessions of a file of lines
START: Final = datetime(2026, 9, 7, tzinfo=UTC)  # a Monday
WEEKS: Final = 8
DRIFT_WEEK: Final = 4  # from here on quotes are single more often
AGENTS: Final = ("harbour", "mender", "scribe")
VERSIONS: Final = ("1.0", "1.1")
SPOILED: Final = {"1.0": 0.02, "1.1": 0.05}  # of the calls of a version, malformed
RELAXED: Final = (0.01, 0.04)  # of the calls, before and after the drift
TEXT_MODELS: Final = {
    "hermes": "openai/hermes-4-70b",
    "qwen3-coder": "openai/qwen3-coder",
    "mistral": "openai/devstral-small",
}
CLAUDE: Final = "claude-sonnet-4-5"
OTHER: Final = "claude-haiku-4-5"
DUPLICATE: Final = 97  # every so many text sessions one is told again, a few words aside
UNUSED: Final = ("drop_anchor", "hoist_flag")
ERRORS: Final = (
    "Error: no such file: /srv/harbour/{n}.md",
    "Error: permission denied for user {n}",
    'Traceback (most recent call last):\n  File "tool.py", line {n}\nTimeoutError: after {n} s',
)
_TOOLS: Final = [
    {
        "name": name,
        "description": f"{name.replace('_', ' ').capitalize()} of the harbour's books.",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["path"],
        },
    }
    for name in ("read_file", "write_file", "list_berths", *UNUSED)
]
MISSPELT: Final = "read_fil"
USED: Final = ("read_file", "write_file", "list_berths")
_METADATA: Final = read_tools(_TOOLS)
_WORDS: Final = re.findall(
    r"\w+",
    "tide berth quay pilot ledger crane cargo anchor buoy mooring keel draft harbour signal lamp "
    "rope chart depth vessel master port stern bow hull deck mast sail wind storm calm fog dawn",
)


@dataclass
class Truth:
    """The planted facts, by the questions that have to find them."""

    sessions: int = 0
    requests: int = 0
    calls: Counter[str] = field(default_factory=Counter)  # dialect|model|ok
    weeks: Counter[str] = field(default_factory=Counter)  # week|ok
    findings: Counter[str] = field(default_factory=Counter)  # code|window
    malformed: Counter[str] = field(default_factory=Counter)  # finding
    versions: Counter[str] = field(default_factory=Counter)  # agent|version|ok
    tools: Counter[str] = field(default_factory=Counter)  # tool|failed
    errors: Counter[str] = field(default_factory=Counter)  # which of ERRORS
    breaks: Counter[str] = field(default_factory=Counter)  # cause
    lost_tokens: int = 0  # of those that were billed
    duplicates: int = 0

    def add(self, other: Truth) -> None:
        """Add what another process planted."""
        for name, value in vars(other).items():
            if isinstance(value, Counter):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)


class Words:
    """A maker of random texts for one session, seeded by the session's number."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)

    def text(self, count: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=count)) + f" {self.random.randrange(10**6)}."

    def chance(self, share: float) -> bool:
        return self.random.random() < share


def _at(number: int) -> datetime:
    """Return the time at which a session begins: the days are spread over the weeks, and the time
    of day is early enough for the session to end on that day."""
    return START + timedelta(days=number % (WEEKS * 7), seconds=number * 7 % 40_000)


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


# replies with calls in their text


def text_session(number: int, truth: Truth) -> dict[str, Any]:
    """Return a session in the project's own format, whose calls a dialect writes."""
    told = number - 1 if number % DUPLICATE == 1 else number
    words = Words(told)
    dialect = list(TEXT_MODELS)[told % len(TEXT_MODELS)]
    agent, version = AGENTS[told % 3], VERSIONS[told // 3 % 2]
    who = _Who(dialect, TEXT_MODELS[dialect], agent, version, _at(told))
    task = words.text(60)
    if told != number:
        task = f"{task} Please."
        truth.duplicates += 1
    messages, requests = [_said("user", task)], []
    for turn in range(2 + told % 4):
        said = _turn_of_text(words, truth, who)
        requests.append({"reply": len(messages), "at": who.time(turn)})
        messages += said
    requests.append({"reply": len(messages), "at": who.time(2 + told % 4)})
    messages.append(_said("assistant", words.text(20)))
    truth.requests += len(requests)
    truth.sessions += 1
    return {
        "format": "playground-session/1",
        "title": f"text {number}",
        "task": {
            "model_name": who.model,
            "user_agent_prompt": f"You keep the {agent}'s books, version {version}. " * 8,
            "system_rules": False,
        },
        "tools": _TOOLS,
        "messages": messages,
        "requests": requests,
        "agent": {"name": agent, "version": version, "session": f"text-{number}"},
    }


@dataclass(frozen=True)
class _Who:
    """The agent and model of a session, its dialect, and the time at which it began."""

    dialect: str
    model: str
    agent: str
    version: str
    at: datetime

    def time(self, turn: int) -> str:
        return _time(self.at + timedelta(seconds=30 * turn))


def _turn_of_text(words: Words, truth: Truth, who: _Who) -> list[dict[str, Any]]:
    """Return a reply with a call, and the call's result unless the call is cut off."""
    tool = words.random.choice(USED)
    reply, finding, window = _reply(words, who.dialect, tool, who.version, who.at)
    tool = MISSPELT if finding == "unknown-tool" else tool
    ok = finding not in _BROKEN
    _note_call(truth, who.dialect, who.model, who.agent, who.version, who.at, ok)
    if finding:
        truth.findings[f"{finding}|{window}"] += finding in _NOTED
    if not ok:
        truth.malformed[finding] += 1
    said = [_said("assistant", reply)]
    if finding != "truncated-call":
        part = {"type": "tool_result", **_result(words, truth, tool)}
        said.append({"role": "tool", "parts": [part]})
    return said


_BROKEN: Final = {"truncated-call", "unknown-tool", "invalid-arguments"}
_NOTED: Final = {"truncated-call", "unknown-tool", "relaxed-json"}  # by the parser


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def _reply(
    words: Words, dialect: str, tool: str, version: str, at: datetime
) -> tuple[str, str, str]:
    """Return a reply with one call, the finding that a parser has about it, and `before` or `after`
    the drift."""
    late = at >= START + timedelta(weeks=DRIFT_WEEK)
    window = "after" if late else "before"
    arguments: dict[str, Any] = {"path": words.text(3), "count": words.random.randrange(90)}
    kind = ""
    if words.chance(SPOILED[version]):
        kind = words.random.choice(sorted(_BROKEN))
    elif dialect == "hermes" and words.chance(RELAXED[late]):
        kind = "relaxed-json"
    name = MISSPELT if kind == "unknown-tool" else tool
    if kind == "invalid-arguments":
        del arguments["path"]
    call = get_dialect(dialect).format_tool_call(ToolCallPart("", name, arguments), _METADATA)
    if kind == "truncated-call":
        call = call[: call.index("path") + 8]
    if kind == "relaxed-json":
        call = call.replace(f'"{name}"', f"'{name}'")
    return f"{words.text(30)}\n\n{call}", kind, window


def _result(words: Words, truth: Truth, tool: str) -> dict[str, Any]:
    failed = words.chance(0.06 if tool == "write_file" else 0.02)
    text = words.text(120)
    if failed:
        which = words.random.randrange(len(ERRORS))
        text = ERRORS[which].replace("{n}", str(words.random.randrange(10**4)))
        truth.errors[str(which)] += 1
    truth.tools[f"{tool}|{failed}"] += 1
    return {"tool_call_id": "", "tool_name": tool, "result": text, "is_error": failed}


def _note_call(
    truth: Truth,
    dialect: str,
    model: str,
    agent: str,
    version: str,
    at: datetime,
    ok: bool,
) -> None:
    truth.calls[f"{dialect}|{model}|{ok}"] += 1
    truth.weeks[f"{_time(at - timedelta(days=at.weekday()))[:10]}|{ok}"] += 1
    truth.versions[f"{agent}|{version}|{ok}"] += 1


# transcripts of Claude Code


def claude_session(number: int, truth: Truth) -> list[dict[str, Any]]:
    """Return the lines of a transcript, with a bill for each reply."""
    transcript = _Transcript(number, truth)
    kind = ("", "", "", "expired", "model_changed")[transcript.words.random.randrange(5)]
    transcript.line("user", {"role": "user", "content": transcript.words.text(80)})
    turns = 3 + number % 4
    for turn in range(turns):
        transcript.turn(turn, kind if turn == 2 else "", is_last=turn == turns - 1)
    truth.sessions += 1
    return transcript.lines


class _Transcript:
    """Claude Code's lines, one after another; `left` is what the cache holds."""

    def __init__(self, number: int, truth: Truth) -> None:
        self.number, self.truth, self.words = number, truth, Words(number)
        self.at, self.model, self.left = _at(number), CLAUDE, 0
        self.version = VERSIONS[number // 3 % 2]
        self.lines: list[dict[str, Any]] = []

    def line(self, kind: str, message: dict[str, Any]) -> None:
        known = {"sessionId": f"claude-{self.number}", "version": self.version, "cwd": "/srv"}
        before = self.lines[-1]["uuid"] if self.lines else None
        uuid = f"{self.number:08x}-0000-4000-8000-{len(self.lines):012x}"
        more = {"type": kind, "uuid": uuid, "parentUuid": before, "timestamp": _time(self.at)}
        self.lines.append({**known, "isSidechain": False, **more, "message": message})

    def turn(self, turn: int, breaks: str, *, is_last: bool) -> None:
        """Add a reply with its bill; unless it is the last one, add a call and its result, too."""
        self.at += timedelta(seconds=40)
        usage = self._usage(turn, breaks)
        tool, call_id = self.words.random.choice(USED), f"toolu_{self.number}_{turn}"
        content: list[dict[str, Any]] = [{"type": "text", "text": self.words.text(20)}]
        if not is_last:
            arguments = {"path": self.words.text(2)}
            content.append({"type": "tool_use", "id": call_id, "name": tool, "input": arguments})
            _note_call(self.truth, "native", self.model, "claude-code", self.version, self.at, True)
        message = {
            "id": f"msg_{self.number}_{turn}",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": "end_turn" if is_last else "tool_use",
            "usage": usage,
        }
        self.line("assistant", message)
        self.truth.requests += 1
        if not is_last:
            result = _result(self.words, self.truth, tool)
            part = {"type": "tool_result", "tool_use_id": call_id, "content": result["result"]}
            part["is_error"] = result["is_error"]
            self.line("user", {"role": "user", "content": [part]})

    def _usage(self, turn: int, breaks: str) -> dict[str, int]:
        written, read = 900 + turn, self.left
        if breaks:
            self.truth.breaks[breaks] += 1
            self.truth.lost_tokens += self.left
            read, written = 0, self.left + written
            self.at += timedelta(minutes=20) if breaks == "expired" else timedelta()
            self.model = OTHER if breaks == "model_changed" else self.model
        self.left = read + written
        return {
            "input_tokens": 4,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": 60,
        }


# a gateway's log

_LONG: Final = " ".join(_WORDS * 80)
CAUSES: Final = ("tools_changed", "system_changed", "model_changed", "expired", "messages_changed")


_MARK: Final = {"cache_control": {"type": "ephemeral"}}


def gateway_session(number: int, truth: Truth) -> list[dict[str, Any]]:
    """Return one row for each request, marked as Anthropic's agents mark theirs."""
    words, at = Words(number), _at(number)
    kind = words.random.choice(CAUSES) if words.chance(0.4) else ""
    body: dict[str, Any] = {
        "model": CLAUDE,
        "max_tokens": 1024,
        "system": [{"type": "text", "text": f"{_LONG} {number}", **_MARK}],
        "tools": list(_TOOLS),
        "messages": [_turn("user", words.text(60)), _turn("assistant", "I will look.")],
    }
    rows: list[dict[str, Any]] = []
    for turn in range(4):
        body["messages"] = [*body["messages"], _turn("user", words.text(40))]
        at += timedelta(seconds=45)
        if turn == 2 and kind:
            truth.breaks[kind] += 1
            at += timedelta(minutes=30) if kind == "expired" else timedelta()
            body |= _changed(body, kind)
        said = words.text(30)
        rows.append(_row(number, turn, _time(at), body, said))
        body["messages"] = [*body["messages"], _turn("assistant", said)]
        truth.requests += 1
    truth.sessions += 1
    return rows


def _changed(body: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return those fields of a body that a cause of a break (`kind`) changes, with their new
    values."""
    system, messages = body["system"][0], body["messages"]
    found: dict[str, dict[str, Any]] = {
        "tools_changed": {"tools": body["tools"][::-1]},
        "model_changed": {"model": OTHER},
        "system_changed": {"system": [{**system, "text": f"Now: {system['text']}"}]},
        "messages_changed": {"messages": [messages[0], _split(messages[1]), *messages[2:]]},
    }
    return found.get(kind, {})


def _row(number: int, turn: int, at: str, body: dict[str, Any], said: str) -> dict[str, Any]:
    """Return a request as the gateway logs it, with its last message marked, and its reply."""
    *before, last = body["messages"]
    marked = {**last, "content": [{**last["content"][0], **_MARK}]}
    agent, version = AGENTS[number % 3], VERSIONS[number // 3 % 2]
    reply = {
        "id": f"msg_g{number}_{turn}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
    }
    return {
        "session_id": f"gateway-{number}",
        "timestamp": at,
        "request": {
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages",
            "headers": {"user-agent": f"{agent}/{version}"},
            "body": {**body, "messages": [*before, marked]},
        },
        "response": {"status": 200, "body": reply},
    }


def _split(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its text as two blocks, as an agent that streams its history back may
    write it."""
    (part,) = message["content"]
    head, _, rest = part["text"].partition(" ")
    return {**message, "content": [_text(f"{head} "), _text(rest)]}


def _turn(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [_text(text)]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# files


def write_batch(out: str, batch: int, count: int) -> Truth:
    """Write `count` sessions, from number `batch * BATCH` on: 75 % text, 15 % Claude Code, 10 % of
    a gateway. Return what is planted in them."""
    truth, folder = Truth(), Path(out)
    numbers = list(range(batch * BATCH, batch * BATCH + count))
    kinds: dict[str, list[int]] = {"text": [], "claude": [], "gateway": []}
    for number in numbers:
        share = number // 2 % 20  # in pairs, so that a session told twice is of one kind
        kinds["text" if share < 15 else "claude" if share < 18 else "gateway"].append(number)
    _write(folder / f"text-{batch:05}.jsonl", (text_session(n, truth) for n in kinds["text"]))
    for number in kinds["claude"]:
        place = folder / "claude" / f"{batch:05}" / f"{number}.jsonl"
        _write(place, iter(claude_session(number, truth)))
    rows = [iter(gateway_session(number, truth)) for number in kinds["gateway"]]
    _write(folder / f"gateway-{batch:05}.jsonl", _interleaved(rows))
    return truth


def _interleaved(rows: list[Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of three sessions at a time, one row of each by turns."""
    waiting = iter(rows)
    while some := list(islice(waiting, 3)):
        for each in zip(*some, strict=True):
            yield from each


def _write(path: Path, values: Iterator[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(value) + "\n" for value in values]
    if lines:
        path.write_text("".join(lines))


def write_sessions(
    out: Path, sessions: int, processes: int = 1, progress: Callable[[int], None] | None = None
) -> Truth:
    """Write so many sessions into a folder; return what was planted in them."""
    truth = Truth()
    batches = [
        (str(out), number, min(BATCH, sessions - number * BATCH))
        for number in range(-(-sessions // BATCH))
    ]
    if processes == 1:
        for batch in batches:
            truth.add(write_batch(*batch))
        return truth
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(write_batch, *zip(*batches, strict=True)):
            truth.add(found)
            if progress is not None:
                progress(truth.sessions)
    return truth


def planted_in(folder: Path, sessions: int) -> Truth:
    """Return what is planted in a folder of so many sessions; write the folder first if it is
    new."""
    told = folder.with_suffix(".truth.json")
    if told.exists():
        truth = _truth(json.loads(told.read_text()))
        if truth.sessions != sessions:
            raise SystemExit(f"{folder} holds {truth.sessions:,} sessions; expected {sessions:,}")
        return truth
    truth = write_sessions(folder, sessions, processes=2)
    told.write_text(json.dumps(vars(truth), indent=1))
    return truth


def _truth(told: dict[str, Any]) -> Truth:
    counted = {key: Counter(value) for key, value in told.items() if isinstance(value, dict)}
    return Truth(**{**told, **counted})


if __name__ == "__main__":
    place = Path(sys.argv[1])
    planted = planted_in(place, int(sys.argv[2]))
    print(f"{planted.sessions:,} sessions, {planted.requests:,} requests in {place}")
