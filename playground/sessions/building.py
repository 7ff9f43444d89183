"""Collect a session while an importer reads it, with each message's place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

from playground.base.characters import are_whole, replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.json_numbers import finite, is_finite, load_json, number_findings
from playground.base.wording import counted
from playground.nouns.messages import Message, Part, Role, ToolCallPart, ToolResultPart, unchecked
from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.recordings.recording import Recording
from playground.sessions import unvalidated
from playground.sessions.clean_json import are_unchecked_texts_whole, is_clean
from playground.sessions.inner_json import json_or_text as json_or_text
from playground.sessions.message_order import last_answer
from playground.sessions.places import Place as Place
from playground.sessions.session import (
    FORMAT,
    Agent,
    Compaction,
    RequestRecord,
    RequestRow,
    Session,
    with_rows_bound,
)
from playground.sessions.text_parts import text_part as text_part
from playground.sessions.times import utc_time

_LONGEST: Final = 1e12  # seconds, thirty thousand years
# Names that agents write as the model of their own messages about errors.
NO_MODEL: Final = {"<synthetic>", "synthetic"}
_MOST_TOOL_LISTS: Final = 64  # lists of tools that are cached
_NO_AGENT: Final = Agent()
_TEXT_TYPE: Final = frozenset({str})
# shared, because a file may have a hundred thousand sessions without a task
_NO_TASK: Final = TaskConfig(user_agent_prompt="", system_rules=False)
_GEMINI_MODEL: Final = "gemini/gemini-2.5-pro"  # assumed for a body in Gemini's form
_NO_ENVIRONMENT: Final = DynamicTaskConfig(dynamic_environment_details_block="")


@dataclass
class ImportCounter:
    """Counts of what one builder or several added to sessions, and of what they could not keep.
    A reader of lines compares them before and after a line, to see if the line added anything."""

    kept: int = 0
    lost: int = 0


@dataclass
class SessionBuilder:
    """The content of one session as an importer adds it; `finish` makes the session."""

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
    agent: Agent = _NO_AGENT
    compactions: list[Compaction] = field(default_factory=list)
    rows: list[RequestRow] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    counter: ImportCounter = field(default_factory=ImportCounter)
    complete_session: Session | None = None  # set if the file has our own format
    # the JSON of a list of tools -> the tools and their indexes; shared by a file's sessions
    known_tools: dict[bytes, list[tuple[int, ToolMetadata]]] = field(default_factory=dict)
    _tools: dict[str, ToolMetadata] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # call id → tool name
    _doubled_tools: set[str] = field(default_factory=set)  # names with a finding
    _provider_tools: set[str] = field(default_factory=set)  # names with a finding
    # the id of a call without a result → the tools' names of all calls with this id, in order
    _unanswered: dict[str, dict[str, None]] = field(default_factory=dict)
    _new_ids: int = 0
    _additions: dict[str, tuple[Place, int]] = field(default_factory=dict)  # see `note_beside`
    texts: list[str] = field(default_factory=list)  # of calls and results; may have half characters
    is_clean: bool = True  # False once a value held half a surrogate or a number JSON lacks

    def add_message(self, role: Role, parts: Sequence[Part], place: Place) -> None:
        """Add a message, even an empty one, for which `checks.py` has a finding."""
        self.messages.append(unvalidated.message(role, tuple(parts)))
        self.places.append(str(place))
        self.counter.kept += 1

    def add_parts(self, parts: Sequence[Part], index: int = -1) -> None:
        """Add parts to the message at `index`, by default the last message."""
        message = self.messages[index]
        self.messages[index] = unvalidated.message(message.role, (*message.parts, *parts))
        self.counter.kept += 1

    def add_to_answer(self, parts: Sequence[Part], place: Place) -> bool:
        """Add parts to the last message if it is the assistant's, or else as a new message of the
        assistant. Return True if the message is new."""
        is_new = not self.messages or self.messages[-1].role != "assistant"
        if is_new:
            self.add_message("assistant", parts, place)
        else:
            self.add_parts(parts)
        return is_new

    def set_metadata(self, *, title: Any = "", model: Any = "", **agent: Any) -> None:
        """Set the session's title and model, and the agent's `name`, `version`, `session` and
        `sub_agent`. Empty values change nothing."""
        self.title = str(title or "") or self.title
        self.model = str(model or "") or self.model
        fields = {key: str(value) for key, value in agent.items() if value}
        is_new = any(getattr(self.agent, key) != value for key, value in fields.items())
        if is_new:  # thousands of lines only repeat the values
            self.agent = unchecked(Agent, {**vars(self.agent), **fields})
        self.counter.kept += bool(title or model or is_new)

    def set_parameters(self, parameters: dict[str, Any], place: Place) -> None:
        """Replace the parameters by those of a request."""
        self.parameters = self.finite(parameters, place) if parameters else {}
        self.counter.kept += bool(parameters)

    def add_compaction(
        self, at: Any = None, tokens_before: Any = None, place: Place | None = None
    ) -> None:
        """Add a compaction at this point of the session: the next message follows a summary of the
        earlier ones. `tokens_before` is the size of the history that was summarised."""
        tokens = tokens_before if type(tokens_before) is int else None
        self.compactions.append(
            Compaction(len(self.messages), self.read_time(at, place or Place()), tokens)
        )
        self.counter.kept += 1

    def read_time(self, value: Any, place: Place | str) -> str:
        """Return a time in UTC; "" and a finding if it cannot be read."""
        read = utc_time(value)
        if read is None:
            self.findings.append(finding("time-unread", str(place), f"not a time: {value!r:.80}"))
        return read or ""

    def read_seconds(self, value: Any, place: Place | str) -> float | None:
        """Return a duration, or None for None. Return None with a finding if `value` is negative,
        far too large, or not a number."""
        if value is None:
            return None
        if isinstance(value, int | float) and 0 <= value < _LONGEST:
            return float(value)
        message = f"not a number of seconds: {value!r:.80}"
        self.findings.append(finding("time-unread", str(place), message))
        return None

    def _read_tool(self, value: Any, place: Place) -> list[ToolMetadata]:
        """Return the tools of an entry in a list; one that cannot be read gives a finding."""
        from playground.nouns.tool_formats import read_entry  # our own files rarely need it

        try:
            tools, findings = read_entry(value, str(place))
        except InputFault as fault:
            self.findings.append(finding("part-lost", str(place), f"a tool: {fault.problem}"))
            return []
        self.findings += [each for each in findings if each.severity != "info"]
        return tools

    def keep_tools(self, tools: Iterable[tuple[int, ToolMetadata]], place: Place) -> None:
        """Add tools, given with their indexes in a list. A tool is dropped if an earlier one has
        its name; if that one is in the same list, add a finding."""
        names = set[str]()
        for index, tool in tools:
            if tool.name in names and tool.name not in self._doubled_tools:
                self._doubled_tools.add(tool.name)
                words = f"another tool is named {tool.name!r:.60}: the first is kept"
                self.findings.append(finding("duplicate-tool", str(place.at(index)), words))
            names.add(tool.name)
            self._tools.setdefault(tool.name, tool)
            self.counter.kept += 1

    def add_tools(self, values: Any, place: Place) -> None:
        """Add a list of tools, as providers take it or as JSON text. Entries that are only a name
        are not added, and share one finding."""
        if isinstance(values, str):
            values = json_or_text(values)
        if isinstance(values, dict):
            values = values.get("tools") or values.get("functions") or [values]
        if not isinstance(values, list):
            if values:
                self.note_loss(f"tools that are not a list: {values!r:.80}", place)
            return
        names = [value for value in values if isinstance(value, str)]
        if names:
            tools = counted(len(names), "tool")
            words = f"{tools} by name, without a schema: {', '.join(names)!r:.80}"
            self.findings.append(finding("tools-by-name", str(place), words))
            self.counter.kept += 1
        self._add_described([(i, v) for i, v in enumerate(values) if not isinstance(v, str)], place)

    def _add_described(self, entries: list[tuple[int, Any]], place: Place) -> None:
        """Add described tools, given with their indexes in a list. If the list was read before, add
        the tools that were read then."""
        from playground.base.shared_lists import written  # our own files rarely need it

        key = written(entries)
        if (known := self.known_tools.get(key)) is not None:
            self.keep_tools(known, place)
            return
        before = len(self.findings)
        tools = [(i, tool) for i, value in entries for tool in self._read_tool(value, place.at(i))]
        self.keep_tools(tools, place)
        if len(self.findings) == before:  # findings have places: do not cache
            if len(self.known_tools) >= _MOST_TOOL_LISTS:
                self.known_tools.clear()
            self.known_tools[key] = tools

    def call(self, call_id: Any, name: Any, arguments: Any, place: Place) -> ToolCallPart:
        """Return a call. Arguments that are text are read as JSON; None and blank text are no
        arguments. Anything else that is not a JSON object becomes the argument `input`."""
        name = str(name or "")
        if isinstance(arguments, str):
            arguments = self._arguments(arguments, place)
        elif not isinstance(arguments, dict):
            arguments = {} if arguments is None else {"input": arguments}
        return self.clean_call(str(call_id or ""), name, self.finite(arguments, place))

    def clean_call(self, call_id: str, name: str, arguments: dict[str, Any]) -> ToolCallPart:
        """Return a call with arguments whose values the caller has checked."""
        self.texts += (call_id, name)
        self.names[call_id] = name
        self._unanswered.setdefault(call_id, {})[name] = None
        if not _TEXT_TYPE.issuperset(map(type, arguments)):
            return ToolCallPart(call_id, name, arguments)  # raises for a key of YAML, such as 1
        return unvalidated.call(call_id, name, arguments)

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
        """Return the value with texts in place of numbers that JSON lacks, and add a finding for
        these."""
        if is_clean(value):
            return value
        self.is_clean = False  # it has a half surrogate or a number that JSON lacks
        if is_finite(value):
            return value
        self.findings += number_findings(value, str(place))
        return finite(value)

    def _finite_row(self, row: RequestRow, number: int) -> RequestRow:
        """Return the request of index `number` with texts in place of numbers that JSON lacks. The
        messages repeat such numbers, so add a finding only if the session has none for them."""
        if is_clean(row.body) and is_clean(row.reply):
            return row
        if any(each.code in ("not-a-number", "long-integer") for each in self.findings):
            self.is_clean = False
            return replace(row, body=finite(row.body), reply=finite(row.reply))
        body = self.finite(row.body, Place(field=f"request {number}"))
        return replace(row, body=body, reply=self.finite(row.reply, Place(field=f"reply {number}")))

    def result(
        self, call_id: Any, content: Any, name: Any = "", *, is_error: bool = False
    ) -> ToolResultPart:
        """Return a result; `name` is by default the tool of the call that it answers."""
        call_id = str(call_id or "")
        name = str(name or "") or self.names.get(call_id, "")
        if call_id:
            self._unanswered.pop(call_id, None)
        self.texts += (call_id, name)
        if isinstance(content, str):  # most results are texts, which need no check for numbers
            self.texts.append(content)
        else:
            content = self.finite(content, Place(field=f"result {call_id}"))
        return unvalidated.result(call_id, name, content, is_error)

    def note_provider_tool(self, name: str, place: Place) -> None:
        """Add a finding, the first time, for a tool that the provider ran, because a session shows
        its calls and results like those of a client's tool."""
        if name not in self._provider_tools:
            self._provider_tools.add(name)
            self.findings.append(finding("run-by-provider", str(place), f"calls: {name}"))

    def knows_call(self, call_id: str) -> bool:
        return call_id in self.names

    def new_id(self) -> str:
        """Return an ordinal id for a call of a format without ids."""
        self._new_ids += 1
        return f"call_{self._new_ids}"

    @property
    def makes_ids(self) -> bool:
        """True if the calls of the file have no ids, so that results cannot name their calls."""
        return self._new_ids > 0

    def open_call(self, name: str = "") -> str:
        """Return the id of the first call (of the tool `name`) without a result; "" if there is
        none."""
        for call_id, names in self._unanswered.items():
            if not name or name in names:
                return call_id
        return ""

    def add_request(
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
        """Add a record of the request that the message with the index `reply` answers; by default
        the last message that is not a tool's result. The other arguments are the record's fields,
        as the file has them."""
        reply = last_answer(self.messages) if reply is None else reply
        model, version = str(model or ""), str(agent_version or "")
        place = self._place(reply)
        fields: dict[str, Any] = {
            "reply": reply,
            "model": "" if model in NO_MODEL else model,
            "at": self.read_time(at, place),
            "seconds": self.read_seconds(seconds, place),
            "stop_reason": str(stop_reason or ""),
            "usage": usage if isinstance(usage, dict) and usage else None,
            "agent_version": "" if version == self.agent.version else version,
            "diagnostics": diagnostics if isinstance(diagnostics, dict) and diagnostics else None,
        }
        self.requests.append(unvalidated.record(fields))
        self.counter.kept += 1

    def set_usage(self, usage: dict[str, Any]) -> None:
        """Set the usage of the last request, for files in which a usage has its own line."""
        self.requests[-1] = unvalidated.record({**vars(self.requests[-1]), "usage": usage})
        self.counter.kept += 1

    def _place(self, index: int) -> str:
        return self.places[index] if -1 < index < len(self.places) else ""

    def note_loss(self, what: str, place: Place) -> None:
        """Add a finding for something in the file that a session cannot hold; `what` names it."""
        self.findings.append(finding("part-lost", str(place), what))
        self.counter.lost += 1

    def note_beside(self, name: str, place: Place, times: int = 1) -> None:
        """Note that additions to a text, such as citations, are left out. All with the same `name`
        share one finding, which has the first place and the number of times."""
        first, before = self._additions.get(name, (place, 0))
        self._additions[name] = first, before + times

    def note_beside_of(self, other: SessionBuilder) -> None:
        """Copy another builder's notes on additions to texts."""
        for name, (place, times) in other._additions.items():
            self.note_beside(name, place, times)

    def finish(self) -> Session:
        """Return the session; its model is by default the last one that a request names."""
        if self.complete_session is not None:
            return with_rows_bound(self.complete_session)
        for name, (place, times) in self._additions.items():
            message = f"{name} of {counted(times, 'part')}"
            self.findings.append(finding("beside-left-out", str(place), message))
        task = task_of(self._model(), self.agent_prompt)
        requests = self.requests
        if not is_clean([record.usage for record in requests]):
            requests = [*map(self._with_finite_usage, requests)]
        fields: dict[str, Any] = {
            "format": FORMAT,
            "title": self.title,
            "purpose": self.purpose,
            "scripted": False,
            "task": assuming_model(task, (row.body for row in self.rows)),
            "dynamic": dynamic_of(self.environment),
            "tools": tuple(self._tools.values()),
            "messages": tuple(self.messages),
            "requests": tuple(requests),
            "recordings": tuple(_with_unique_names(self.recordings)),
            "agent": self.agent,
            "compactions": tuple(self.compactions),
            "rows": tuple(map(self._finite_row, self.rows, count())),
            "expected": (),
            "parameters": self.parameters,
        }
        # These three fields come unchecked from the file; the methods above checked all others.
        is_plain = type(self.title) is str and type(self.purpose) is str and not self.parameters
        session = unchecked(Session, fields) if is_plain else Session(**fields)
        return with_rows_bound(self._without_halves(session))

    def _model(self) -> str:
        """Return the session's model, or else that of the last request that names one, or ""."""
        models = [record.model for record in self.requests if record.model]
        return self.model or "".join(models[-1:])

    def _without_halves(self, session: Session) -> Session:
        """Replace half surrogates, also in JSON inside texts; add a finding for each."""
        if self.is_clean and are_whole(self.texts) and are_unchecked_texts_whole(session):
            return session  # recordings were checked when they were made
        findings: list[Finding] = []
        session = replace_half_surrogates(session, "", findings)
        for each in findings:
            noun, _, rest = each.where.partition(".")
            index, _, rest = rest.partition(".")
            place = str(self._place(int(index))) if noun == "messages" else ""
            self.findings.append(replace(each, where=f"{place}, {rest}" if place else each.where))
        return session

    def _with_finite_usage(self, record: RequestRecord) -> RequestRecord:
        place = Place(field=self._place(record.reply)).at("usage")
        return replace(record, usage=self.finite(record.usage, place))


def _with_unique_names(recordings: Sequence[Recording]) -> Iterator[Recording]:
    """Add numbers to recordings of the same name, because callers look recordings up by name."""
    seen: Counter[str] = Counter()
    for recording in recordings:
        name = recording.name or "recording"
        seen[name] += 1
        number = f" ({seen[name]})" if seen[name] > 1 else ""
        yield replace(recording, name=name + number)


def task_of(model: str, agent_prompt: str) -> TaskConfig:
    """Return the task of a session with this agent prompt, and with this model if not empty."""
    if not model and not agent_prompt:
        return _NO_TASK
    named = {"model_name": model} if model else {}
    return TaskConfig(user_agent_prompt=agent_prompt, system_rules=False, **named)


def assuming_model(task: TaskConfig, bodies: Iterable[Mapping[str, Any]]) -> TaskConfig:
    """Return the task with a model of Gemini's if it names none and a body has Gemini's form, since
    Gemini's URL, not the body, names the model. The session's `named_model` stays empty."""
    named = task.model_fields_set
    if "model_name" in named or not any("contents" in body for body in bodies):
        return task
    return TaskConfig.model_construct({*named}, **{**dict(task), "model_name": _GEMINI_MODEL})


def dynamic_of(environment: str) -> DynamicTaskConfig:
    if not environment:
        return _NO_ENVIRONMENT
    return DynamicTaskConfig(dynamic_environment_details_block=environment)
