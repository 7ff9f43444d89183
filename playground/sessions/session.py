"""A session: tools, messages, configuration, requests and recordings of one conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import field, replace
from functools import cached_property
from itertools import islice, takewhile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from playground.base.arguments import plain_faults, wrong
from playground.base.display import Shown
from playground.base.errors import UnknownNameError
from playground.base.findings import Finding
from playground.base.wording import counted
from playground.nouns.messages import Message
from playground.nouns.prompt_data import DynamicTaskConfig, PromptData, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.recordings.recording import Recording, Seconds

if TYPE_CHECKING:
    from playground.sessions.receipts.receipt import Receipt

FORMAT: Final = "playground-session/1"
_STRICT = ConfigDict(extra="forbid")
_READ_RECEIPT: Final = "_read_receipt"  # an attribute, no field, because it is not written to files
_FINDINGS: Final = "_findings"  # likewise
_SENT_WITH: Final = "_sent_with"  # an attribute of the first row (`with_rows_bound`)
_Index = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config=_STRICT)
class Agent:
    """The program that led the conversation, as its transcript names it. `session` is the program's
    id for the conversation, which an agent shares with its sub-agents. `sub_agent` is the
    sub-agent's id or name, empty for the agent itself."""

    name: str = ""
    version: str = ""
    session: str = ""
    sub_agent: str = ""


@dataclass(frozen=True, config=_STRICT)
class Compaction:
    """A place where a summary replaced the history. `message` is the index of the first new message
    after it; `tokens_before` is the size of the replaced history in tokens, if the source states
    it. `history` are the indexes of the messages that later requests send before `message`: a
    summary and kept messages, in the order of sending. It is None if the source does not say what
    was kept; a summary is then a message like any other."""

    message: _Index
    at: str = ""
    tokens_before: int | None = None
    history: tuple[_Index, ...] | None = None

    @property
    def begins(self) -> int:
        """The least `stop` for which the request before message `stop` had the compacted history.

        With `history` None it is one more than `message`, because the summary is then a message of
        that request.
        """
        return self.message + (self.history is None)


@plain_faults('pg.expect("get_tides", harbour="Brest")')
@dataclass(frozen=True, config=_STRICT)
class ExpectedCall:
    """A call that a reply should make; `args` None allows any arguments."""

    tool_name: str
    args: dict[str, Any] | None = None


@dataclass(frozen=True, config=_STRICT)
class ExpectedReply:
    """The calls, in any order, that a model should make after the messages before index `message`.

    If `calls` is empty, the model should make no call. `name` is the case's name in tables.
    """

    message: int
    calls: tuple[ExpectedCall, ...] = ()
    name: str = ""


@dataclass(frozen=True, config=_STRICT)
class RequestRow:
    """One request as its provider got it, with its own system prompt and tools.

    It stores only the differences from the previous row's body (`rows.py` rebuilds the bodies).
    `shared` is the number of leading messages that both have; `gone` names the previous row's
    fields that this one lacks or has in another order. `reply` is the provider's complete reply.
    `url` is the request's address, without user and query, which may hold a key.
    """

    body: dict[str, Any] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    shared: int = 0
    at: str = ""
    seconds: Seconds | None = None
    reply: dict[str, Any] | None = None
    sub_agent: str = ""
    url: str = ""


@dataclass(frozen=True, config=_STRICT)
class RequestRecord:
    """The known facts of one request.

    `reply` is the index of the message that answered it, -1 if none did (it was cut off, say). `at`
    is the time of sending, in ISO 8601 and UTC; `usage` and `diagnostics` (of the cache) are the
    provider's statements. `agent_version` is set if it differs from the session's.
    """

    reply: int
    model: str = ""
    at: str = ""
    seconds: Seconds | None = None
    stop_reason: str = ""
    usage: dict[str, Any] | None = None
    agent_version: str = ""
    diagnostics: dict[str, Any] | None = None


@plain_faults("a session's fields; pg.session(messages, tools) takes any provider's dicts")
@dataclass(frozen=True, repr=False, config=_STRICT)
class Session(Shown):
    """A conversation with everything that the playground examines.

    `scripted` is True if a person wrote it. `parameters` are those of its last request, under the
    names of OpenAI's chat API, which LiteLLM takes (`temperature`, `max_tokens`, `tool_choice` …).
    A parameter that this API lacks has the provider's name.
    """

    format: Literal["playground-session/1"] = FORMAT
    title: str = ""
    purpose: str = ""
    scripted: bool = False
    task: TaskConfig = field(default_factory=TaskConfig)
    dynamic: DynamicTaskConfig = field(default_factory=DynamicTaskConfig)
    tools: tuple[ToolMetadata, ...] = ()
    messages: tuple[Message, ...] = ()
    requests: tuple[RequestRecord, ...] = ()
    recordings: tuple[Recording, ...] = ()
    agent: Agent = field(default_factory=Agent)
    compactions: tuple[Compaction, ...] = ()
    rows: tuple[RequestRow, ...] = ()
    expected: tuple[ExpectedReply, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Drop the rows if `replace` changed the messages, tools, prompts or parameters."""
        sent_with = vars(self.rows[0]).get(_SENT_WITH) if self.rows else None
        if sent_with and sent_with != _sent_with(self):
            vars(self).update(rows=())

    def __repr__(self) -> str:
        parts = [counted(len(self.messages), "message"), counted(len(self.tools), "tool")]
        parts += [counted(len(self.requests), "request")] if self.requests else []
        parts += [counted(len(self.recordings), "recording")] if self.recordings else []
        parts += [counted(len(self.findings), "finding")] if self.findings else []
        return f"Session({self.title!r}, {', '.join(parts)})"

    @cached_property
    def replies(self) -> list[int]:
        """The indexes of the messages that answered the session's requests.

        These are the assistant's messages from the first one that a recorded request names, because
        earlier ones are examples in a prompt. Without recorded requests, all of the assistant's
        messages count. A message that a compaction repeats is no answer unless a request names it.
        """
        answers = [i for i, each in enumerate(self.messages) if each.role == "assistant"]
        recorded = {record.reply for record in self.requests}
        first = next((i for i in answers if i in recorded), 0)
        repeated = {i for each in self.compactions for i in each.history or () if i >= each.message}
        return [i for i in answers if i >= first and (i in recorded or i not in repeated)]

    def compaction_at(self, stop: int) -> Compaction | None:
        """Return the compaction that shapes the request sent before message `stop`, or None."""
        earlier = [each for each in self.compactions if each.begins <= stop]
        return max(reversed(earlier), key=lambda each: each.begins) if earlier else None

    def history(self, stop: int | None = None) -> list[int]:
        """Return the messages, by index, of the request sent before message `stop`.

        By default it is the next request. It holds all messages before `stop`; after a compaction,
        the leading system messages, the messages that the compaction kept, and those after it.
        """
        stop = len(self.messages) if stop is None else stop
        return request_messages(self.messages, self.compaction_at(stop), stop)

    def prompt_data(self, stop: int | None = None) -> PromptData:
        """Return the data that a dialect needs for the next request, or for the request before
        message `stop`.

        Each call returns a new object.
        """
        are_all = stop is None and not self.compactions
        messages = self.messages if are_all else [self.messages[i] for i in self.history(stop)]
        return PromptData.model_construct(  # no check: the session's values were checked
            messages=list(messages),
            tool_metadata=list(self.tools),
            task_config=self.task,
            dynamic_task_config=self.dynamic,
        )

    @property
    def named_model(self) -> str:
        """The model that the session names; "" if the task's model is only a default."""
        return self.task.model_name if "model_name" in self.task.model_fields_set else ""

    def with_model(self, model: str) -> Session:
        """Return the session for a model by its LiteLLM name, unchanged if the name is empty.

        Recordings and requests stay unchanged, although they are of another model.
        """
        if not isinstance(model, str):
            raise wrong("with_model(model=…)", model, "a text")
        if not model:
            return self
        return replace(self, task=self.task.model_copy(update={"model_name": model}))

    def with_explicit_caching(self, on: bool | None = True) -> Session:
        """Return the same session with Gemini's explicit caching switched on or off.

        The policy "azad" marks a Gemini request only if it is on. Policies that are named after a
        program ignore the switch, because the program has none. With `on` None nothing changes.
        """
        if on is None:
            return self
        changed = self.dynamic.model_copy(update={"enable_explicit_caching": on})
        return replace(self, dynamic=changed)

    def without_environment(self) -> Session:
        """Return the same session with an empty environment block; nothing is validated again."""
        bare = copy(self)
        update = {"dynamic_environment_details_block": ""}
        vars(bare)["dynamic"] = self.dynamic.model_copy(update=update)
        return bare

    @property
    def receipt(self) -> Receipt | None:
        """The receipt of the session's file, which is read again for it. None for an edited
        session, or one that `load_session` or `load_sessions` did not return."""
        read: Callable[[], Receipt] | None = self.__dict__.get(_READ_RECEIPT)
        return None if read is None else read()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings from when the session was read, such as a result without its call, or a
        field that is left out. Empty for an edited session."""
        found: tuple[Finding, ...] = self.__dict__.get(_FINDINGS, ())
        return found

    def recording(self, name: str) -> Recording:
        """Return a recording by name. Raises UnknownNameError, which names similar ones."""
        for recording in self.recordings:
            if recording.name == name:
                return recording
        raise UnknownNameError("recording", name, [r.name for r in self.recordings])


def _sent_with(session: Session) -> SimpleNamespace:
    """Return the values from which requests are made, in a plain object, because code that walks
    over a session's fields skips such an object."""
    task = session.task
    prompt = task.user_agent_prompt, task.user_prompt, task.system_rules
    return SimpleNamespace(of=(session.messages, session.tools, prompt, session.parameters))


def with_rows_bound(session: Session) -> Session:
    """Bind a session's rows to its content, so that they are dropped when the content changes."""
    if session.rows:
        vars(session.rows[0])[_SENT_WITH] = _sent_with(session)
    return session


def request_messages(
    messages: Sequence[Message], compaction: Compaction | None, stop: int
) -> list[int]:
    """Return the messages before `stop`, by index, that a request after a compaction holds; without
    a compaction, all messages before `stop`."""
    if compaction is None:
        return list(range(stop))
    leads = takewhile(lambda each: each.role == "system", islice(messages, compaction.message))
    head = range(sum(1 for _ in leads))
    kept = [i for i in compaction.history or () if i not in head and i < len(messages)]
    included = {*head, *kept}
    return [*head, *kept, *(i for i in range(compaction.message, stop) if i not in included)]


def with_receipt(
    session: Session, read: Callable[[], Receipt] | None, findings: Iterable[Finding]
) -> Session:
    """Set the findings of a session that was read, and the function that computes its receipt."""
    session.__dict__.update({_READ_RECEIPT: read, _FINDINGS: tuple(findings)})
    return session
