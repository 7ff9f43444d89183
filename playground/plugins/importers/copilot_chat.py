"""Read VS Code's Copilot Chat: an export, or its files `chatSessions/*.json` and `*.jsonl`.

A `.jsonl` file is a journal: its first line is a session, the others are changes at paths in the
session. A request's rounds hold the model's answers; the request's `response` holds only what the
window shows. Source: VS Code's chatModel.ts and chatSessionOperationLog.ts (2026), and the files of
copilot-chat-analyzer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_or_finding, listed, mapping, object_in, text_of
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source
from playground.sessions.times import in_seconds

_MARKS: Final = {"responderUsername", "requesterUsername", "creationDate", "initialLocation"}
_WHOLE, _SET, _PUSH, _DELETE = range(4)  # kinds of a journal's lines; _WHOLE is a whole session
_NODE_FIELDS: Final = {"children", "node", "text", "value", "type", "ctor", "kind", "$mid"}
# Parts of the window that are not texts, thoughts or calls: progress, files, questions to the user.
_SKIPPED_KINDS: Final = {
    "prepareToolInvocation", "undoStop", "codeblockUri", "textEditGroup", "mcpServersStarting",
    "progressTaskSerialized", "progressMessage", "confirmation", "references", "notebookEditGroup",
    "elicitation", "elicitationSerialized", "command", "multiDiffData", "pullRequest", "warning",
    "codeCitation", "treeData", "usedContext", "extensions", "externalEdits", "hook",
}  # fmt: skip


class CopilotChat(SessionFormat):
    name = "copilot-chat"
    title = "Copilot Chat in VS Code (`Chat: Export Chat…`, chatSessions)"
    keeps = Keeps(
        times="yes",
        usage="if the file has it",
        missing="the file has no tools and no system prompt; edits and references that the "
        "window shows are not read",
    )

    def recognises(self, source: Source) -> bool:
        if not source.is_lines:
            return _is_session(source.document)
        first = source.head[0] if source.head else None
        return isinstance(first, dict) and first.get("kind") == _WHOLE and _is_session(first["v"])

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        session = _replay(source, builder) if source.is_lines else object_in(source)
        title = session.get("customTitle") or session.get("name")
        builder.set_metadata(name="copilot-chat", title=title, session=session.get("sessionId"))
        place = Place(field="requests")
        for index, request in enumerate(list_or_finding(builder, session.get("requests"), place)):
            _request(builder, request, place.at(index))
        yield builder


def _is_session(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("requests"), list):
        return False
    return bool(_MARKS & value.keys())


# the journal


def _replay(source: Source, builder: SessionBuilder) -> dict[str, Any]:
    """Return the session after all changes of a journal. A change whose path does not exist becomes
    a finding."""
    session: dict[str, Any] = {"requests": []}
    for line, value in source.lines():
        change = value if isinstance(value, dict) else {}
        if change.get("kind") == _WHOLE and _is_session(change.get("v")):
            session = change["v"]
            continue
        try:
            _change(session, change)
        except (LookupError, TypeError, AttributeError, ValueError):
            builder.note_loss(f"a change at {str(change.get('k'))[:60]}", Place(line))
    return session


def _change(session: dict[str, Any], change: dict[str, Any]) -> None:
    """Make one change. Raises LookupError, TypeError, ValueError or AttributeError."""
    *steps, last = change["k"]
    holder: Any = session
    for step in steps:
        holder = holder[step]
    kind = change["kind"]
    if kind == _SET:
        holder[last] = change.get("v")
    elif kind == _DELETE:
        del holder[last]
    elif kind == _PUSH:
        if isinstance(holder, dict) and holder.get(last) is None:
            holder[last] = []
        if "i" in change:  # the length to which the list is cut before the push
            del holder[last][change["i"] :]
        holder[last].extend(change.get("v") or ())
    else:
        raise KeyError(kind)


# one request


def _request(builder: SessionBuilder, request: Any, place: Place) -> None:
    if not isinstance(request, dict):
        builder.note_loss(f"a request that is a {type(request).__name__}", place)
        return
    prompt = request.get("message")
    text = prompt.get("text") if isinstance(prompt, dict) else prompt
    if isinstance(text, str) and text:
        builder.add_message("user", [TextPart(text)], place.at("message"))
    result = mapping(request.get("result"))
    metadata = mapping(result.get("metadata"))
    start = len(builder.messages)
    rounds = [each for each in listed(metadata.get("toolCallRounds")) if isinstance(each, dict)]
    results = dict(mapping(metadata.get("toolCallResults")))
    if rounds:
        _rounds(builder, rounds, results, place.at("result", "metadata", "toolCallRounds"))
    else:
        _displayed_response(builder, listed(request.get("response")), place.at("response"))
    for call_id, found in results.items():  # results whose calls are not in the file
        where = place.at("result", "metadata", "toolCallResults", call_id)
        content = _text(builder, mapping(found).get("content"), where)
        builder.add_message("tool", [builder.result(call_id, content)], where)
    if isinstance(error := mapping(result.get("errorDetails")).get("message"), str):
        builder.note_loss(f"an error: {error[:80]}", place.at("result", "errorDetails"))
    answers = range(start, len(builder.messages))
    last = next((i for i in reversed(answers) if builder.messages[i].role == "assistant"), None)
    if last is not None:
        elapsed = mapping(result.get("timings")).get("totalElapsed")
        builder.add_request(
            reply=last,
            model=str(request.get("modelId") or "").removeprefix("copilot/"),
            at=request.get("timestamp"),
            seconds=in_seconds(elapsed),
            usage=_usage(result, metadata),
        )


def _usage(*holders: dict[str, Any]) -> dict[str, Any]:
    """Return the `usage` of the first object that has one, or else the counts in the fields of all
    objects."""
    for holder in holders:
        if isinstance(holder.get("usage"), dict):
            return dict(holder["usage"])
    names = ("promptTokens", "outputTokens", "completionTokens")
    return {key: each[key] for each in holders for key in names if each.get(key) is not None}


def _rounds(
    builder: SessionBuilder, rounds: list[dict[str, Any]], results: dict[str, Any], place: Place
) -> None:
    """Add each round's answer and the results of its calls; remove these results from `results`."""
    for index, each in enumerate(rounds):
        where = place.at(index)
        parts: list[Part] = []
        thought = each.get("thinking")
        text = thought.get("text") if isinstance(thought, dict) else thought
        text = "\n".join(map(str, text)) if isinstance(text, list) else text
        if isinstance(text, str) and text:
            parts.append(ReasoningPart(text))
        if answer := text_of(each.get("response")):
            parts.append(TextPart(answer))
        calls = [call for call in listed(each.get("toolCalls")) if isinstance(call, dict)]
        for call in calls:
            name, arguments = call.get("name"), call.get("arguments")
            parts.append(builder.call(call.get("id"), name, arguments, where.at("toolCalls")))
        if parts:
            builder.add_message("assistant", parts, where)
        for call in calls:
            if (call_id := str(call.get("id"))) in results:
                content = _text(builder, mapping(results.pop(call_id)).get("content"), where)
                builder.add_message("tool", [builder.result(call_id, content)], where)


def _text(builder: SessionBuilder, value: Any, place: Place) -> str:
    """Return all text of a tree. Nodes of an unknown form become findings."""
    unknown: list[Any] = []
    text = "".join(_texts(value, unknown))
    for node in unknown:
        builder.note_loss(f"a node of no known form: {str(node)[:60]}", place)
    return text


def _texts(value: Any, unknown: list[Any] | None = None) -> Iterator[str]:
    """Yield the texts of a tree in order; append nodes of an unknown form to `unknown`."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, list):
            waiting += reversed(node)
        elif isinstance(node, dict):
            inner = (node.get(key) for key in ("children", "node", "text", "value"))
            waiting += [each for each in inner if each is not None]
            if unknown is not None and not node.keys() & _NODE_FIELDS:
                unknown.append(node)


def _displayed_response(builder: SessionBuilder, response: list[Any], place: Place) -> None:
    """Read the response that the window shows, for a request whose rounds are not stored. It lists
    parts of texts, thoughts, and states of calls; only the last state of each call is read."""
    parts: dict[str, list[Part]] = {}
    for index, item in enumerate(response):
        where = place.at(index)
        item = {"value": item} if isinstance(item, str) else item
        kind = item.get("kind") if isinstance(item, dict) else ""
        if kind in ("toolInvocationSerialized", "toolInvocation"):
            parts[str(item.get("toolCallId") or index)] = _invocation(builder, item, where)
        elif kind == "thinking":
            parts[f"{index}"] = [ReasoningPart(t)] if (t := "".join(_texts(item))) else []
        elif kind in (None, "markdownContent", "inlineReference"):
            _add_text(parts, f"{index}", _shown_text(item))
        elif str(kind) not in _SKIPPED_KINDS:
            builder.note_loss(f"a part of the kind {kind!r}", where)
    if answer := [part for each in parts.values() for part in each]:
        add_with_results(builder, "assistant", answer, place)


def _add_text(parts: dict[str, list[Part]], key: str, text: str) -> None:
    """Append a piece of text to the last part if this is a text, or else add it as a part."""
    last = next(reversed(parts), "")
    previous = parts[last][-1] if last and parts[last] else None
    if isinstance(previous, TextPart):
        parts[last] = [TextPart(previous.text + text)]
    elif text:
        parts[key] = [TextPart(text)]


def _shown_text(item: dict[str, Any]) -> str:
    if item.get("kind") == "inlineReference":
        file = mapping(item.get("inlineReference"))
        path = str(file.get("fsPath") or file.get("path") or mapping(file.get("uri")).get("path"))
        return f"`{item.get('name') or path.rpartition('/')[2]}`"
    return "".join(_texts(item.get("content") if "content" in item else item.get("value")))


def _invocation(builder: SessionBuilder, item: dict[str, Any], place: Place) -> list[Part]:
    """Return a call as the window shows it, with its result if it has one."""
    call_id = item.get("toolCallId") or builder.new_id()
    details, more = mapping(item.get("resultDetails")), mapping(item.get("toolSpecificData"))
    command = mapping(more.get("commandLine")).get("original") or more.get("command")
    arguments = details.get("input") or more.get("rawInput")
    arguments = {"command": command} if arguments is None and command else arguments
    parts: list[Part] = [builder.call(call_id, item.get("toolId"), arguments, place)]
    output = details.get("output") if details else more.get("terminalCommandOutput")
    text = _text(builder, output, place)
    if text or item.get("isComplete"):
        failed = bool(details.get("isError"))
        parts.append(builder.result(call_id, text, is_error=failed))
    return parts
