"""Flink-Agents' events. An action listens to the types of some events, and sends others. An event's
values are in `attributes`. Its `id` is at first a hash of its content. Assigning a field renews the
id; `set_attr` does not, and `from_event` copies the id. Events can be created as in release 0.3.1
and as in the design document. Source: Apache Flink-Agents 0.3.1, `api/events/`, and its discussion
75."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Self
from uuid import UUID

from pydantic import BaseModel, Field, PrivateAttr, model_validator
from pydantic_core import PydanticSerializationError

from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    called_function,
    read_message,
)

_NOT_GIVEN: Final = object()


class Event(BaseModel, extra="allow"):
    """An event. A subclass may have fields, or keep its values in `attributes`."""

    REQUIRED: ClassVar[tuple[str, ...]] = ()  # the attributes that `from_event` needs

    id: UUID = Field(default=None)  # type: ignore[assignment]  # as in Flink-Agents
    type: str = ""
    attributes: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.type:
            if type(self) is Event:
                raise ValueError("an event without a type")
            object.__setattr__(self, "type", event_type(type(self)))
        if self.id is None:
            object.__setattr__(self, "id", self._content_id())
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name != "id" and not name.startswith("_"):
            object.__setattr__(self, "id", self._content_id())

    def _content_id(self) -> UUID:
        """Return a UUID (version 3) of the event's JSON without its id.

        If JSON cannot hold a value, the hash is of the type and of the `repr` of the values.
        """
        try:
            text = super().model_dump_json(exclude={"id"}, fallback=repr)
        except (PydanticSerializationError, ValueError, RecursionError):
            text = f"{self.type} {self.attributes!r} {self.model_extra!r}"
        digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
        return UUID(bytes=digest, version=3)

    def get_type(self) -> str:
        return self.type

    def get_attr(self, name: str) -> Any:
        """Return an attribute, or None."""
        return self.attributes.get(name)

    def set_attr(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    @classmethod
    def from_event(cls, event: Event) -> Self:
        """Return `event` itself if it is of this class, or else a new event of this class with the
        same attributes.

        Raises InputFault if an attribute is missing or does not fit.
        """
        if isinstance(event, cls):
            return event
        missing = [name for name in cls.REQUIRED if name not in event.attributes]
        if missing:
            names = ", ".join(event.attributes) or "none"
            problem = f"not of the class {cls.__name__}: its attributes are {names}"
            raise InputFault(problem, expected=", ".join(cls.REQUIRED))
        try:
            converted = cls(**event.attributes)
        except (TypeError, ValueError) as error:
            raise InputFault(f"not a {cls.__name__}: {error}", field="attributes") from error
        converted.id = event.id
        return converted

    @classmethod
    def from_json(cls, json_str: str) -> Event:
        """Read an event from JSON. Raises ValueError for JSON that is no event, or has no type."""
        return cls.model_validate_json(json_str)


def event_type(event: type[Event] | str) -> str:
    """Return the type of a class of events, or a type unchanged. Raises InputFault for anything
    else, and for the name of one of Flink-Agents' classes, which is not a type."""
    if isinstance(event, str) and event:
        named: Any = globals().get(event)
        if own_type := getattr(named, "EVENT_TYPE", ""):
            expected = f"{event} without quotes, or its type {own_type!r}"
            raise InputFault(f"{event!r} is the name of a class", expected=expected)
        return event
    if isinstance(event, type) and issubclass(event, Event):
        name: str = getattr(event, "EVENT_TYPE", "") or f"{event.__module__}.{event.__qualname__}"
        return name
    raise InputFault(
        f"not an event: {event!r:.80}", expected="a class of events, or a type as text"
    )


class InputEvent(Event):
    """An input that arrives at the agent; `value` is the design document's name for `input`."""

    EVENT_TYPE: ClassVar[str] = "_input_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("input",)

    def __init__(self, input: Any = None, *, value: Any = None) -> None:
        input_value = value if input is None else input
        super().__init__(type=InputEvent.EVENT_TYPE, attributes={"input": input_value})

    @property
    def input(self) -> Any:
        return self.get_attr("input")

    @property
    def value(self) -> Any:
        return self.input


class OutputEvent(Event):
    """A result of the agent."""

    EVENT_TYPE: ClassVar[str] = "_output_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("output",)

    def __init__(self, output: Any) -> None:
        super().__init__(type=OutputEvent.EVENT_TYPE, attributes={"output": output})

    @property
    def output(self) -> Any:
        return self.get_attr("output")


class ChatRequestEvent(Event):
    """A request to a chat model by its name."""

    EVENT_TYPE: ClassVar[str] = "_chat_request_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("model", "messages")

    def __init__(
        self,
        model: str,
        messages: Sequence[ChatMessage | Mapping[str, Any]],
        prompt_args: Mapping[str, Any] | None = None,
        output_schema: Any = None,
    ) -> None:
        sent = [read_message(message, f"messages.{i}") for i, message in enumerate(messages)]
        attributes = {
            "model": model,
            "messages": sent,
            "prompt_args": dict(prompt_args or {}),
            "output_schema": output_schema,
        }
        super().__init__(type=ChatRequestEvent.EVENT_TYPE, attributes=attributes)

    @property
    def model(self) -> str:
        return str(self.get_attr("model"))

    @property
    def messages(self) -> list[ChatMessage]:
        messages: list[ChatMessage] = self.get_attr("messages")
        return messages

    @property
    def prompt_args(self) -> dict[str, Any]:
        return self.get_attr("prompt_args") or {}

    @property
    def output_schema(self) -> Any:
        return self.get_attr("output_schema")


class _Response(Event):
    """An event that answers another event: `request`, or None if only its id was passed."""

    _request: Event | None = PrivateAttr(default=None)

    @property
    def request(self) -> Any:
        return self._request

    @property
    def request_id(self) -> UUID:
        value = self.get_attr("request_id")
        return UUID(value) if isinstance(value, str) else value


class ChatResponseEvent(_Response):
    """The model's answer to a ChatRequestEvent, and the number of retries before it."""

    EVENT_TYPE: ClassVar[str] = "_chat_response_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("request_id", "response")

    def __init__(
        self,
        request_id: UUID | str | None = None,
        response: ChatMessage | Mapping[str, Any] | None = None,
        retry_count: int = 0,
        total_retry_wait_sec: int = 0,
        *,
        request: Event | None = None,
    ) -> None:
        attributes = {
            "request_id": request.id if request is not None else request_id,
            "response": read_message(response, "response"),
            "retry_count": retry_count,
            "total_retry_wait_sec": total_retry_wait_sec,
        }
        super().__init__(type=ChatResponseEvent.EVENT_TYPE, attributes=attributes)
        self._request = request

    @property
    def response(self) -> ChatMessage:
        response: ChatMessage = self.get_attr("response")
        return response

    @property
    def retry_count(self) -> int:
        return int(self.get_attr("retry_count"))

    @property
    def total_retry_wait_sec(self) -> int:
        return int(self.get_attr("total_retry_wait_sec"))


class ToolRequestEvent(Event):
    """The model's tool calls. The design document has a single call, in `name` and `kwargs`."""

    EVENT_TYPE: ClassVar[str] = "_tool_request_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("model", "tool_calls")

    def __init__(
        self,
        model: str = "",
        tool_calls: Sequence[Mapping[str, Any]] = (),
        *,
        name: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if name is not None:
            tool_calls = [_call_of(name, dict(kwargs or {}))]
        # ChatMessage checks the calls, and makes their fields readable as `.id` and as `["id"]`
        calls = ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[*map(dict, tool_calls)])
        attributes = {"model": model, "tool_calls": calls.tool_calls}
        super().__init__(type=ToolRequestEvent.EVENT_TYPE, attributes=attributes)

    @property
    def model(self) -> str:
        return str(self.get_attr("model"))

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = self.get_attr("tool_calls")
        return calls

    @property
    def name(self) -> str:
        """The name of the first call's tool."""
        return str(self._first["name"])

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """The arguments of the first call."""
        return self._first.get("arguments") or {}

    @property
    def _first(self) -> Mapping[str, Any]:
        if not self.tool_calls:
            raise InputFault("a request without a tool call", field="tool_calls")
        return called_function(self.tool_calls[0])


def _call_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.md5(repr((name, arguments)).encode("utf-8", "surrogatepass")).digest()
    call_id = str(UUID(bytes=digest, version=3))
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


class ToolResponseEvent(_Response):
    """The results of a ToolRequestEvent.

    `responses` and `external_ids` are keyed by the calls' ids, as in Flink-Agents. `results` lists
    the results of all calls in order, also of calls with the same id; `response` is the first.
    `success` says for each call if it succeeded; `errors` holds the errors of the others.
    `findings` name arguments that were converted to another type, and (once in a chat) keywords of
    a tool's schema that could not be checked.
    """

    EVENT_TYPE: ClassVar[str] = "_tool_response_event"
    REQUIRED: ClassVar[tuple[str, ...]] = ("request_id", "responses", "external_ids")

    _results: list[Any] = PrivateAttr(default_factory=list)
    _success: list[bool] = PrivateAttr(default_factory=list)
    _errors: list[str] = PrivateAttr(default_factory=list)
    _findings: list[Finding] = PrivateAttr(default_factory=list)

    def __init__(
        self,
        request_id: UUID | str | None = None,
        responses: Mapping[Any, Any] | None = None,
        external_ids: Mapping[Any, str | None] | None = None,
        *,
        request: Event | None = None,
        response: Any = _NOT_GIVEN,
        success: Sequence[bool] | None = None,
        errors: Sequence[str] = (),
        findings: Sequence[Finding] = (),
        results: Sequence[Any] | None = None,
    ) -> None:
        calls = request.tool_calls if isinstance(request, ToolRequestEvent) else []
        if response is not _NOT_GIVEN:
            results = [response]
        if results is not None:
            answered = list(zip(calls, results, strict=False))
            responses = {call_id(call, i): value for i, (call, value) in enumerate(answered)}
            external_ids = {
                call_id(call, i): call.get("original_id") for i, (call, _) in enumerate(answered)
            }
        attributes = {
            "request_id": request.id if request is not None else request_id,
            "responses": dict(responses or {}),
            "external_ids": dict(external_ids or {}),
        }
        super().__init__(type=ToolResponseEvent.EVENT_TYPE, attributes=attributes)
        self._request = request
        self._results = list(results if results is not None else self.responses.values())
        self._success = list(success) if success is not None else [True] * len(self._results)
        self._errors, self._findings = list(errors), list(findings)

    @property
    def responses(self) -> dict[Any, Any]:
        return self.get_attr("responses") or {}

    @property
    def external_ids(self) -> dict[Any, str | None]:
        return self.get_attr("external_ids") or {}

    @property
    def results(self) -> list[Any]:
        return self._results

    @property
    def response(self) -> Any:
        return self._results[0] if self._results else None

    @property
    def success(self) -> list[bool]:
        return self._success

    @property
    def errors(self) -> list[str]:
        return self._errors

    @property
    def findings(self) -> list[Finding]:
        return self._findings


def call_id(call: Mapping[str, Any], index: int) -> Any:
    """Return a call's `id`, or else its `original_id`, or else its index as text."""
    return call.get("id") or call.get("original_id") or str(index)
