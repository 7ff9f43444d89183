"""Show the request that would be sent to a provider, next to what the dialect rendered.

LiteLLM makes the body (`llm/payloads.py`). This body is searched for the rendered messages, tools,
marks and parameters, to find what was dropped or changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.base.arguments import formerly_positional, takes
from playground.base.display import Live
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.cache.answers.wire import lost_marks, marks_not_placed
from playground.dialects import Dialect, get_dialect
from playground.dialects.checking import check_session
from playground.dialects.request_messages import Rendering
from playground.llm.completion_arguments import merge_parameters
from playground.llm.payloads import WireCall, is_known, wire_calls, with_provider
from playground.nouns.tool_formats.forms import read_tools_and_findings
from playground.nouns.tools import Schema, ToolMetadata
from playground.questions.provider_models import PROVIDERS
from playground.questions.provider_parameters import (
    TOOL_FIELDS,
    as_json,
    parameter_differences,
    parameters_not_passed,
)
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session

_SYSTEM: Final = ("system", "systemInstruction", "system_instruction", "instructions")
_HISTORY: Final = ("messages", "contents", "input", "prompt")
_DATA: Final = ("default", "const", "enum", "examples")  # keywords that hold values, not schemas
_NO_PARAMETERS: Final = (*_SYSTEM, *_HISTORY, "tools", "model", "images")
_MOST_NAMED: Final = 8  # the most places that one line names
_OWN: Final = "parameters."  # begins the place of a keyword at the top of a tool's schema
_DETAILS: Final = frozenset({"detail", "mediaResolution", "media_resolution"})
_SAME_ROLE: Final = {"model": "assistant", "developer": "system", "": "user", "function": "tool"}


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message of the body, or a field such as `system` that holds a message; `text` is its JSON.
    `rendered` are the indexes of the rendered messages that were found in `text`; `flat` is True if
    the content is one text without parts."""

    field: str
    role: str
    text: str
    flat: bool = False
    rendered: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProviderPayload(Live):
    """A request as it would be sent, and its differences from the session and from what the dialect
    rendered.

    It is shown as two panes, rendered and sent. Its table has a row for each difference.
    """

    dialect: str
    model: str
    rendering: Rendering
    calls: list[WireCall]
    messages: list[WireMessage]
    differences: list[Finding] = field(default_factory=list)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the last request, which gets the answer."""
        return self.calls[-1].body

    @property
    def grouped(self) -> list[Finding]:
        """The differences, with equal ones joined: `messages 3, 4, 8`."""
        places: dict[tuple[str, str], list[Finding]] = {}
        for difference in self.differences:
            places.setdefault((difference.code, difference.message), []).append(difference)
        return [_joined(findings) for findings in places.values()]


def _joined(findings: Sequence[Finding]) -> Finding:
    if len(findings) == 1:
        return findings[0]
    owner, word, _ = findings[0].where.partition("message ")
    kind = f"{owner}messages " if word else ""
    numbers = [each.where.removeprefix(f"{owner}message ") for each in findings]
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return replace(findings[0], where=f"{kind}{', '.join(numbers[:_MOST_NAMED])}{more}")


@formerly_positional(2, "model", "parameters")
@takes(session=(Session, str), model="text", parameters="object or nothing")
def provider_payload(
    session: Session | str,
    dialect: str | Dialect,
    *,
    model: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> ProviderPayload:
    """Return the session's next request as the provider of `model` would read it; nothing is sent.

    `model` is a LiteLLM name or a provider in PROVIDERS. For a provider, the session's own model is
    used if its name is of the provider, otherwise the model in PROVIDERS. `parameters` are those of
    `litellm.completion`; they override the session's own.

    Raises UnknownNameError for an unknown dialect. Raises InputFault for an unknown model, for a
    model whose LiteLLM adapter might use the network, and for a session without a user message.
    """
    session = session_or_sample(session)
    chosen = get_dialect(dialect)
    providers = {provider.lower(): name for provider, name in PROVIDERS.items()}
    if model.lower() not in providers and model and not is_known(model):
        raise InputFault(
            f"there is no provider {model!r}",
            expected=f"{', '.join(PROVIDERS)}, or a LiteLLM model name, such as openai/{model}",
        )
    wire_model = with_provider(providers.get(model.lower(), model) or session.task.model_name)
    if model.lower() in providers and session.named_model:
        own_model = with_provider(session.named_model)
        wire_model = own_model if _provider(own_model) == _provider(wire_model) else wire_model
    session = session.with_model(wire_model)
    name = session.task.model_name
    rendering = chosen.render(session.prompt_data())
    wire_parameters = merge_parameters(session.parameters, parameters or {}, rendering.tools)
    calls = wire_calls(rendering.messages, name, rendering.tools or (), wire_parameters)
    bodies = [call.body for call in calls if call.method == "POST"]
    wire_messages = _wire_messages_with_origins(rendering.messages, bodies)
    settings = {name: value for name, value in bodies[-1].items() if name not in _NO_PARAMETERS}
    unsent = check_session(chosen, session.prompt_data(), lambda *_: [])
    differences = [
        *(replace(each, where=f"the session's {each.where}") for each in unsent),
        *_message_differences(rendering.messages, wire_messages),
        *_image_differences(rendering.messages, bodies),
        *_tool_differences(rendering.tools or [], bodies),
        *lost_marks(rendering, calls),
        *marks_not_placed(session, rendering, chosen.marking_policy.name),
        *parameter_differences(wire_parameters, settings),
        *parameters_not_passed(session.parameters, wire_parameters, settings),
    ]
    return ProviderPayload(chosen.name, name, rendering, calls, wire_messages, differences)


def _provider(model: str) -> str:
    return model.partition("/")[0]


# messages


def _wire_messages_with_origins(
    rendered: Sequence[Mapping[str, Any]], bodies: list[dict[str, Any]]
) -> list[WireMessage]:
    """Return the body's messages in order, each with the rendered messages that are found in it.
    Both lists are read once, in order, so that each copy of a repeated text gets its own place."""
    wire = [message for body in bodies for message in _wire_messages(body)]
    origins: list[list[int]] = [[] for _ in wire]
    system = [message for message in wire if message.field in _SYSTEM]
    position, offset = 0, 0
    for index, message in enumerate(rendered):
        keys = _keys(message)
        place = _find_first(wire, keys, position, offset)
        if place is not None:
            position, offset = place[0], _end(wire[place[0]].text, keys, place[1])
            origins[position].append(index)
        # One exception to the order: a system message in the middle of a conversation may have
        # moved to the front, into the provider's own field.
        elif message.get("role") == "system" and (moved := _find_first(system, keys)):
            origins[wire.index(system[moved[0]])].append(index)
    return [
        replace(message, rendered=tuple(origin))
        for message, origin in zip(wire, origins, strict=True)
    ]


def _find_first(
    wire: Sequence[WireMessage], keys: Sequence[str], start: int = 0, offset: int = 0
) -> tuple[int, int] | None:
    """Return the place of the first key found: a message's index, and an offset in its text."""
    places = (_find_text(wire, key, start, offset) for key in keys)
    return next((place for place in places if place), None)


def _find_text(
    wire: Sequence[WireMessage], key: str, first: int, offset: int
) -> tuple[int, int] | None:
    for index in range(first, len(wire)):
        start = wire[index].text.find(key, offset if index == first else 0)
        if start >= 0:
            return index, start
    return None


def _end(text: str, keys: Sequence[str], offset: int) -> int:
    """Return the end of the rendered message that begins at `offset`: after all its keys."""
    for key in keys:
        start = text.find(key, offset)
        offset = start + len(key) if start >= 0 else offset
    return offset


def _keys(message: Mapping[str, Any]) -> list[str]:
    """Return the texts and tool names by which a rendered message can be found on the wire."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    names = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    keys = [_escaped(text.strip()) for text in [*texts, *names] if text and text.strip()]
    if message.get("role") == "tool" and isinstance(content, str):
        with suppress(ValueError, RecursionError):  # Gemini's adapter sends results as JSON values
            keys.append(as_json(json.loads(content)))
    return keys


def _escaped(text: str) -> str:
    """Escape a text as in a JSON string, because wire messages are searched as JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _wire_messages(body: Mapping[str, Any]) -> Iterator[WireMessage]:
    for key in _SYSTEM:
        if body.get(key):
            yield WireMessage(key, "system", as_json(body[key]))
    for key in _HISTORY:
        history = body.get(key)
        if isinstance(history, str):
            yield WireMessage(key, "", as_json(history), flat=True)
        for message in history if isinstance(history, list) else []:
            role, flat = str(message.get("role") or ""), isinstance(message.get("content"), str)
            yield WireMessage(key, _SAME_ROLE.get(role, role), as_json(message), flat)


def _message_differences(
    rendered: Sequence[Mapping[str, Any]], sent: Sequence[WireMessage]
) -> Iterator[Finding]:
    wire_of = {index: wire for wire in sent for index in wire.rendered}
    for index, message in enumerate(rendered):
        name = f"message {index}"
        if index in wire_of:
            yield from _changes(name, message, wire_of[index])
        elif _keys(message):
            yield finding("message-dropped", name, "its text is not in the body")
    for wire in sent:
        if len(wire.rendered) > 1:
            numbers = ", ".join(map(str, wire.rendered))
            place = f"with the role {wire.role}" if wire.role else f"in the field {wire.field}"
            as_one = f"messages {numbers} are sent as one message, {place}"
            yield finding("messages-merged", f"message {wire.rendered[0]}", as_one)


def _changes(name: str, message: Mapping[str, Any], wire: WireMessage) -> Iterator[Finding]:
    """Yield the ways in which a sent message differs from the rendered one."""
    role, content = str(message["role"]), message.get("content")
    if wire.field in _SYSTEM and role == "system":
        yield finding("system-moved", name, f"it is not a message, but the field {wire.field}")
    elif wire.role and wire.role != role:
        yield finding("role-changed", name, f"{role} is sent as {wire.role}")
    if isinstance(content, list) and len(content) > 1 and wire.flat:
        yield finding("content-flattened", name, f"{len(content)} parts are sent as one text")


def _image_differences(
    rendered: Sequence[Mapping[str, Any]], bodies: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    """Yield a difference for each image, and each `detail` of an image, that no body has."""
    sent = "".join(map(as_json, bodies))
    detailed = [text for body in bodies for text in _detailed(body)]
    for index, message in enumerate(rendered):
        parts = message.get("content")
        for part in parts if isinstance(parts, list) else ():
            image = part.get("image_url")
            given = image if isinstance(image, dict) else {"url": image}
            url, detail = str(given.get("url") or ""), given.get("detail")
            data = _escaped(url.partition(";base64,")[2] or url)
            if url and data not in sent:
                yield finding("message-dropped", f"message {index}", "its image is not in the body")
            elif detail and not any(data in text for text in detailed):
                how = f"its image is sent without detail: {detail}"
                yield finding("parameter-dropped", f"message {index}", how)


def _detailed(node: Any) -> Iterator[str]:
    """Yield each object that sets the detail of images, as JSON: an image's own object, or a body
    that sets it for all its images."""
    if isinstance(node, dict):
        settings = node.get("generationConfig")
        if not _DETAILS.isdisjoint(node) or "mediaResolution" in (settings or ()):
            yield as_json(node)
    if isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _detailed(inner)


# tools


def _tool_differences(
    rendered: Sequence[Mapping[str, Any]], bodies: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    given_tools = {tool.name: tool for tool in read_tools_and_findings(list(rendered))[0]}
    sent_tools = {tool.name: tool for body in bodies for tool in _sent_tools(body)}
    for name in sent_tools:
        if name not in given_tools:
            yield finding("tool-added", f"tool {name}", "the adapter adds it")
    for name, tool in given_tools.items():
        if name in sent_tools:
            yield from _schema_changes(tool, sent_tools[name])
        elif any(_escaped(name) in as_json(body) for body in bodies):
            yield finding("tools-in-prompt", f"tool {name}", "it is written into the prompt's text")
        else:
            yield finding("message-dropped", f"tool {name}", "it is not in the body")


def _sent_tools(body: Mapping[str, Any]) -> list[ToolMetadata]:
    for key in TOOL_FIELDS:
        if body.get(key):
            return read_tools_and_findings({"tools": body[key]} if key == "tools" else body[key])[0]
    return []


def _schema_changes(tool: ToolMetadata, sent: ToolMetadata) -> Iterator[Finding]:
    given_keywords, sent_keywords = _keywords(tool.input_schema), _keywords(sent.input_schema)
    lost = sorted(given_keywords.keys() - sent_keywords.keys())
    added = sorted(sent_keywords.keys() - given_keywords.keys())
    changes: list[str] = []
    if lost:
        changes.append(f"without {', '.join(lost)}")
    if added:
        changes.append(f"with {', '.join(added)}")
    for name in sorted(given_keywords.keys() & sent_keywords.keys()):
        if given_keywords[name] != sent_keywords[name]:
            new, old = ", ".join(sent_keywords[name]), ", ".join(given_keywords[name])
            changes.append(f"with {name} {new:.80} instead of {old:.80}")
    if tool.description.strip() != sent.description.strip():
        changes.append("with a different description")
    if changes:
        yield finding("schema-changed", f"tool {tool.name}", f"it is sent {'; '.join(changes)}")


def _keywords(schema: Schema) -> dict[str, list[str]]:
    """Return the values of every keyword of a schema by its place (`unit.enum`), as sorted JSON.

    Keywords at the top begin with `parameters.`, so that `parameters.description` is not mistaken
    for the tool's own. If branches of `anyOf` have one place, the place has the values of all. A
    keyword that holds schemas (`items`, `anyOf`) has no value.
    """
    values_by_place: dict[str, list[str]] = {}
    stack: list[tuple[Any, str]] = [(schema, "")]
    while stack:
        node, place = stack.pop()
        if isinstance(node, list):
            stack += [(item, place) for item in node]
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            # The keys of these objects are names and not keywords; they become parts of the place.
            if key in ("properties", "$defs") and isinstance(value, dict):
                stack += [(inner, f"{place}{name}.") for name, inner in value.items()]
                continue
            values = values_by_place.setdefault(f"{place or _OWN}{key}", [])
            # The keywords in _DATA hold values, in which a key `type` is not a keyword.
            if key not in _DATA:
                stack.append((value, place))
            if key in _DATA or not _holds_schemas(value):
                values.append(_normal_form(key, value))
    return {name: sorted(values) for name, values in values_by_place.items()}


def _holds_schemas(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def _normal_form(key: str, value: Any) -> str:
    """Return a keyword's value in a normal form, so that only its content counts."""
    if key == "type":  # Gemini writes types in upper case
        kinds = value if isinstance(value, list) else [value]
        value = sorted(str(kind).lower() for kind in kinds)
        return as_json(value if len(value) != 1 else value[0])
    if key == "required" and isinstance(value, list):
        value = sorted(map(str, value))
    return as_json(value)
