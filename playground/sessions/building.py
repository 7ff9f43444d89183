"""A session while an importer puts it together: every part keeps the place that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

from playground.base.characters import are_whole, replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.json_numbers import finite, is_finite, load_json, number_findings
from playground.base.wording import counted
from playground.nouns.messages import Message, Part, Role, ToolCallPart, ToolResultPart, unchecked
from playground.nouns.tools import ToolMetadata
from playground.recordings.recording import Recording, named_apart
from playground.sessions import unvalidated
from playground.sessions.clean_json import is_sound, is_whole_beside
from playground.sessions.configuration import dynamic_of, task_of
from playground.sessions.import_counter import ImportCounter as ImportCounter
from playground.sessions.inner_json import json_or_text as json_or_text
from playground.sessions.message_order import last_answer
from playground.sessions.place import Place as Place
from playground.sessions.session import (
    FORMAT,
    Agent,
    Compaction,
    RequestRecord,
    RequestRow,
    Session,
)
from playground.sessions.text_parts import text_part as text_part
from playground.sessions.times import utc_time

_LONGEST: Final = 1e12  # seconds, thirty thousand years
# What agents write where no model answered: messages of their own about an error or an abort.
NO_MODEL: Final = {"<synthetic>", "synthetic"}
_NOBODY: Final = Agent()
_TEXTS: Final = frozenset({str})


@dataclass
class SessionBuilder:
    """Collects what one session is made of; `finish` gives it with its findings."""

    title: str = ""
    purpose: str = ""
    model: str = ""
    agent_prompt: str = ""
    environment: str = ""
    messages: list[Message] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    requests: list[RequestRecord] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    agent: Agent = _NOBODY
    compactions: list[Compaction] = field(default_factory=list)
    rows: list[RequestRow] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    kept: ImportCounter = field(default_factory=ImportCounter)
    given: Session | None = None  # a session that was read whole
    _tools: dict[str, ToolMetadata] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # call id → tool name
    _by_provider: set[str] = field(default_factory=set)  # tools
    _unanswered: dict[str, dict[str, None]] = field(default_factory=dict)  # id → names, in order
    _made: int = 0
    _beside: dict[str, tuple[Place, int]] = field(default_factory=dict)  # name → first, how many
    texts: list[str] = field(default_factory=list)  # in calls and results, to be looked at
    is_sound: bool = True  # no half surrogate in what calls, results and requests hold

    def say(self, role: Role, parts: Sequence[Part], place: Place) -> None:
        """Add a message; one without parts is added too, for the doctor to see."""
        self.messages.append(unvalidated.message(role, tuple(parts)))
        self.places.append(str(place))
        self.kept.times += 1

    def add_parts(self, parts: Sequence[Part], index: int = -1) -> None:
        """Add parts to a message, the last or another one, when an answer comes in pieces."""
        message = self.messages[index]
        self.messages[index] = unvalidated.message(message.role, (*message.parts, *parts))
        self.kept.times += 1

    def known(self, *, title: Any = "", model: Any = "", **agent: Any) -> None:
        """Set what a file says about the whole session; empty values change nothing.

        That is its title, its model, and of the agent its `name`, `version`, `session` and
        `sub_agent`.
        """
        self.title = str(title or "") or self.title
        self.model = str(model or "") or self.model
        given = {key: str(value) for key, value in agent.items() if value}
        told = any(getattr(self.agent, key) != value for key, value in given.items())
        if told:  # which lines by the thousand do not
            self.agent = unchecked(Agent, {**vars(self.agent), **given})
        self.kept.times += bool(title or model or told)

    def asked(self, parameters: dict[str, Any], place: Place) -> None:
        """The parameters of a request, in the place of those of the request before it."""
        self.parameters = self.finite(parameters, place) if parameters else {}
        self.kept.times += bool(parameters)

    def compacted(
        self, at: Any = None, tokens_before: Any = None, place: Place | None = None
    ) -> None:
        """The history ends here: what is said next stands after a summary."""
        tokens = tokens_before if type(tokens_before) is int else None
        self.compactions.append(
            Compaction(len(self.messages), self.time(at, place or Place()), tokens)
        )
        self.kept.times += 1

    def time(self, value: Any, place: Place | str) -> str:
        """Return a time in UTC; one that cannot be read is none, and a finding."""
        read = utc_time(value)
        if read is None:
            self.findings.append(finding("time-unread", str(place), f"not a time: {_short(value)}"))
        return read or ""

    def seconds(self, value: Any, place: Place | str) -> float | None:
        """Return a duration; None and a finding if the value is no such number."""
        if value is None:
            return None
        if isinstance(value, int | float) and 0 <= value < _LONGEST:
            return float(value)
        message = f"no number of seconds: {_short(value)}"
        self.findings.append(finding("time-unread", str(place), message))
        return None

    def tool(self, value: Any, place: Place) -> None:
        """An entry of a list of tools in any known form; what is no tool is a finding."""
        from playground.nouns.tool_formats import (
            read_entry,  # most files of our own need none of it
        )

        try:
            tools, found = read_entry(value, str(place))
        except InputFault as fault:
            self.findings.append(finding("part-lost", str(place), f"a tool: {fault.problem}"))
            return
        self.findings += [each for each in found if each.severity != "info"]
        for tool in tools:
            self._tools.setdefault(tool.name, tool)
            self.kept.times += 1

    def tools(self, values: Any, place: Place) -> None:
        """A list of tools, as providers take them, or that list as JSON text; tools by name alone
        are one finding."""
        if isinstance(values, str):
            values = json_or_text(values)
        if isinstance(values, dict):
            values = values.get("tools") or values.get("functions") or [values]
        if not isinstance(values, list):
            if values:
                self.lost(f"tools that are not a list: {_short(values)}", place)
            return
        names = [value for value in values if isinstance(value, str)]
        if names:
            message = f"{len(names)} tools by name, without a schema: {_short(', '.join(names))}"
            self.findings.append(finding("tools-by-name", str(place), message))
            self.kept.times += 1
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self.tool(value, place.at(index))

    def call(self, call_id: Any, name: Any, arguments: Any, place: Place) -> ToolCallPart:
        """Return a call; arguments given as text are read, and kept as text where they are no
        object.
        """
        name = str(name or "")
        if isinstance(arguments, str):
            arguments = self._arguments(arguments, place)
        elif not isinstance(arguments, dict):
            arguments = {} if arguments is None else {"input": arguments}
        return self.sound_call(str(call_id or ""), name, self.finite(arguments, place))

    def sound_call(self, given: str, name: str, arguments: dict[str, Any]) -> ToolCallPart:
        """Return a call by arguments in which nothing is odd: none of them has to be told of."""
        self.texts += (given, name)
        self.names[given] = name
        self._unanswered.setdefault(given, {})[name] = None
        if not _TEXTS.issuperset(map(type, arguments)):  # YAML has others; pydantic tells
            return ToolCallPart(given, name, arguments)
        return unvalidated.call(given, name, arguments)

    def _arguments(self, text: str, place: Place) -> dict[str, Any]:
        if not text.strip():
            return {}
        try:
            value = load_json(text, strict=True)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        message = "arguments that are not a JSON object, kept as text under `input`"
        self.findings.append(finding("arguments-kept-as-text", str(place), message))
        return {"input": text}

    def finite(self, value: Any, place: Place) -> Any:
        """Return a value of the file without numbers that JSON has not, which become texts."""
        if is_sound(value):
            return value
        self.is_sound = False  # as far as is known: it may be a number alone
        if is_finite(value):
            return value
        self.findings += number_findings(value, str(place))
        return finite(value)

    def _finite_row(self, row: RequestRow, number: int) -> RequestRow:
        """Return the same for a request that is kept beside its messages, which have told it
        already.
        """
        if is_sound(row.body) and is_sound(row.reply):
            return row
        if any(each.code in ("not-a-number", "long-integer") for each in self.findings):
            self.is_sound = False
            return replace(row, body=finite(row.body), reply=finite(row.reply))
        body = self.finite(row.body, Place(field=f"request {number}"))
        return replace(row, body=body, reply=self.finite(row.reply, Place(field=f"reply {number}")))

    def result(
        self, call_id: Any, content: Any, name: Any = "", *, is_error: bool = False
    ) -> ToolResultPart:
        """Return a result; its tool's name is that of the call which it answers."""
        given = str(call_id or "")
        name = str(name or "") or self.names.get(given, "")
        if given:
            self._unanswered.pop(given, None)
        self.texts += (given, name)
        if isinstance(content, str):  # as most are: a text holds no number
            self.texts.append(content)
        else:
            content = self.finite(content, Place(field=f"result {given}"))
        return unvalidated.result(given, name, content, is_error)

    def by_provider(self, name: str, place: Place) -> None:
        """A tool that the provider ran itself: told of once, since a session lists its calls and
        results like a client's."""
        if name not in self._by_provider:
            self._by_provider.add(name)
            self.findings.append(finding("run-by-provider", str(place), f"calls: {name}"))

    def knows_call(self, call_id: str) -> bool:
        """Return True if a call with this id was made."""
        return call_id in self.names

    def new_id(self) -> str:
        """Return an ordinal id for a format whose calls have none."""
        self._made += 1
        return f"call_{self._made}"

    @property
    def makes_ids(self) -> bool:
        """Return True if calls of the file have no ids, so that its results cannot name one."""
        return self._made > 0

    def open_call(self, name: str = "") -> str:
        """Return the id of the first call (of that tool) that has no result yet; "" if there is
        none.
        """
        for call_id, names in self._unanswered.items():
            if not name or name in names:
                return call_id
        return ""

    def request(
        self,
        reply: int | None = None,
        *,
        model: Any = "",
        at: Any = None,
        seconds: Any = None,
        stop_reason: Any = "",
        usage: Any = None,
        agent_version: Any = "",
        diagnostics: Any = None,
    ) -> None:
        """Record what is known of the request that message `reply`, by default the last,
        answered.
        """
        reply = last_answer(self.messages) if reply is None else reply
        model, version = str(model or ""), str(agent_version or "")
        place = self._place(reply)
        fields: dict[str, Any] = {
            "reply": reply,
            "model": "" if model in NO_MODEL else model,
            "at": self.time(at, place),
            "seconds": None if seconds is None else self.seconds(seconds, place),
            "stop_reason": str(stop_reason or ""),
            "usage": usage if isinstance(usage, dict) and usage else None,
            "agent_version": "" if version == self.agent.version else version,
            "diagnostics": diagnostics if isinstance(diagnostics, dict) and diagnostics else None,
        }
        self.requests.append(unvalidated.record(fields))
        self.kept.times += 1

    def used(self, usage: dict[str, Any]) -> None:
        """The usage of the last request, where it is told by itself."""
        self.requests[-1] = unvalidated.record({**vars(self.requests[-1]), "usage": usage})
        self.kept.times += 1

    def _place(self, index: int) -> str:
        return self.places[index] if -1 < index < len(self.places) else ""

    def lost(self, what: str, place: Place) -> None:
        """Something that a session has no room for."""
        self.findings.append(finding("part-lost", str(place), what))
        self.kept.lost += 1

    def beside(self, name: str, place: Place, times: int = 1) -> None:
        """Something that stands beside a text, as its citations do: told of once for each name."""
        first, before = self._beside.get(name, (place, 0))
        self._beside[name] = first, before + times

    def beside_too(self, other: SessionBuilder) -> None:
        """What another builder met beside texts."""
        for name, (place, times) in other._beside.items():
            self.beside(name, place, times)

    def finish(self) -> Session:
        """Return the collected session; a reply's model becomes the session's if nothing else
        names one.
        """
        if self.given is not None:
            return self.given
        for name, (place, times) in self._beside.items():
            message = f"{name} of {counted(times, 'part')}"
            self.findings.append(finding("beside-left-out", str(place), message))
        requests = self.requests
        if not is_sound([record.usage for record in requests]):
            requests = [*map(self._with_finite_usage, requests)]
        fields: dict[str, Any] = {
            "format": FORMAT,
            "title": self.title,
            "purpose": self.purpose,
            "scripted": False,
            "task": task_of(self._model(), self.agent_prompt),
            "dynamic": dynamic_of(self.environment),
            "tools": tuple(self._tools.values()),
            "messages": tuple(self.messages),
            "requests": tuple(requests),
            "recordings": tuple(named_apart(self.recordings)),
            "agent": self.agent,
            "compactions": tuple(self.compactions),
            "rows": tuple(map(self._finite_row, self.rows, count())),
            "expected": (),
            "parameters": self.parameters,
        }
        # All else was made by the methods above; these stand as a file has them.
        is_plain = type(self.title) is str and type(self.purpose) is str and not self.parameters
        return self._whole(unchecked(Session, fields) if is_plain else Session(**fields))

    def _model(self) -> str:
        """Return the session's model, or else that of its last reply."""
        models = [record.model for record in self.requests if record.model]
        return self.model or "".join(models[-1:])

    def _whole(self, session: Session) -> Session:
        """Return the session without half surrogates, which JSON inside a text may hold, too."""
        if self.is_sound and are_whole(self.texts) and is_whole_beside(session):
            return session  # its recordings are whole since they were made
        found: list[Finding] = []
        session = replace_half_surrogates(session, "", found)
        for each in found:
            noun, _, rest = each.where.partition(".")
            index, _, rest = rest.partition(".")
            place = str(self._place(int(index))) if noun == "messages" else ""
            self.findings.append(replace(each, where=f"{place}, {rest}" if place else each.where))
        return session

    def _with_finite_usage(self, record: RequestRecord) -> RequestRecord:
        place = Place(field=self._place(record.reply)).at("usage")
        return replace(record, usage=self.finite(record.usage, place))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
