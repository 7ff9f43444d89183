"""VS Code's Copilot Chat: `Chat: Export Chat…`, and `chatSessions/*.json` or `*.jsonl` on its disk.

A file of lines is a journal: a whole session, then changes at paths in it, which are made again
here. What the model was sent and answered stands in the rounds beside what the window shows.
Source: VS Code's chatModel.ts and chatSessionOperationLog.ts (2026), copilot-chat-analyzer's files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_or_finding, object_in
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source
from playground.sessions.times import in_seconds

_MARKS: Final = {"responderUsername", "requesterUsername", "creationDate", "initialLocation"}
_WHOLE, _SET, _PUSH, _DELETE = range(4)  # kinds of a journal's lines
# What the window shows beside texts, thoughts and calls: progress, files, questions to the user.
_NODE: Final = {"children", "node", "text", "value", "type", "ctor", "kind", "$mid"}
_SHOWN: Final = {
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
        usage="where it has one",
        missing="tools and system prompt are not in it; edits and references that the window shows",
    )

    def recognises(self, source: Source) -> bool:
        if not source.is_lines:
            return _is_session(source.document)
        first = source.head[0] if source.head else None
        return isinstance(first, dict) and first.get("kind") == _WHOLE and _is_session(first["v"])

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        session = _replayed(source, builder) if source.is_lines else object_in(source)
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


def _replayed(source: Source, builder: SessionBuilder) -> dict[str, Any]:
    """Return the session after all changes of a journal; one that fits nowhere is a finding."""
    session: dict[str, Any] = {"requests": []}
    for line, value in source.lines():
        change = value if isinstance(value, dict) else {}
        if change.get("kind") == _WHOLE and _is_session(change.get("v")):
            session = change["v"]
            continue
        try:
            _change(session, change)
        except (KeyError, IndexError, TypeError, AttributeError):
            builder.note_loss(f"a change at {str(change.get('k'))[:60]}", Place(line))
    return session


def _change(session: dict[str, Any], change: dict[str, Any]) -> None:
    """Make one change; raises KeyError, IndexError, TypeError or AttributeError where it fits
    nowhere."""
    *steps, last = change["k"]
    held: Any = session
    for step in steps:
        held = held[step]
    kind = change["kind"]
    if kind == _SET:
        held[last] = change.get("v")
    elif kind == _DELETE:
        del held[last]
    elif kind == _PUSH:
        if held.get(last) is None if isinstance(held, dict) else False:
            held[last] = []
        if "i" in change:  # the list is as long as this before the push
            del held[last][change["i"] :]
        held[last].extend(change.get("v") or ())
    else:
        raise KeyError(kind)


# one request


def _request(builder: SessionBuilder, request: Any, place: Place) -> None:
    if not isinstance(request, dict):
        builder.note_loss(f"a request that is a {type(request).__name__}", place)
        return
    asked = request.get("message")
    text = asked.get("text") if isinstance(asked, dict) else asked
    if isinstance(text, str) and text:
        builder.add_message("user", [TextPart(text)], place.at("message"))
    result = _object(request.get("result"))
    metadata = _object(result.get("metadata"))
    before = len(builder.messages)
    rounds = [each for each in _list(metadata.get("toolCallRounds")) if isinstance(each, dict)]
    results = dict(_object(metadata.get("toolCallResults")))
    if rounds:
        _rounds(builder, rounds, results, place.at("result", "metadata", "toolCallRounds"))
    else:
        _shown(builder, _list(request.get("response")), place.at("response"))
    for call_id, given in results.items():  # of calls that are not kept
        where = place.at("result", "metadata", "toolCallResults", call_id)
        builder.add_message(
            "tool", [builder.result(call_id, _result_text(builder, given, where))], where
        )
    if isinstance(error := _object(result.get("errorDetails")).get("message"), str):
        builder.note_loss(f"an error: {error[:80]}", place.at("result", "errorDetails"))
    answers = range(before, len(builder.messages))
    last = next((i for i in reversed(answers) if builder.messages[i].role == "assistant"), None)
    if last is not None:
        elapsed = _object(result.get("timings")).get("totalElapsed")
        builder.add_request(
            reply=last,
            model=str(request.get("modelId") or "").removeprefix("copilot/"),
            at=request.get("timestamp"),
            seconds=in_seconds(elapsed),
            usage=_usage(result, metadata),
        )


def _usage(*holders: dict[str, Any]) -> dict[str, Any]:
    """Tokens, which later versions keep beside the rounds."""
    for holder in holders:
        if isinstance(holder.get("usage"), dict):
            return dict(holder["usage"])
    names = ("promptTokens", "outputTokens", "completionTokens")
    return {k: held[k] for held in holders for k in names if held.get(k) is not None}


def _rounds(
    builder: SessionBuilder, rounds: list[dict[str, Any]], results: dict[str, Any], place: Place
) -> None:
    """Return the model's answers, one message each, and the results of its calls, taken out."""
    for index, each in enumerate(rounds):
        where = place.at(index)
        parts: list[Part] = []
        thought = each.get("thinking")
        text = thought.get("text") if isinstance(thought, dict) else thought
        text = "\n".join(map(str, text)) if isinstance(text, list) else text
        if isinstance(text, str) and text:
            parts.append(ReasoningPart(text))
        if isinstance(said := each.get("response"), str) and said:
            parts.append(TextPart(said))
        calls = [call for call in _list(each.get("toolCalls")) if isinstance(call, dict)]
        for call in calls:
            name, arguments = call.get("name"), call.get("arguments")
            parts.append(builder.call(call.get("id"), name, arguments, where.at("toolCalls")))
        if parts:
            builder.add_message("assistant", parts, where)
        for call in calls:
            if (call_id := str(call.get("id"))) in results:
                given = _result_text(builder, results.pop(call_id), where)
                builder.add_message("tool", [builder.result(call_id, given)], where)


def _result_text(builder: SessionBuilder, result: Any, place: Place) -> str:
    """Return the text of a result: of its pieces, each a text, or a tree of what a prompt was made
    of.
    """
    return _told_text(builder, _object(result).get("content"), place)


def _told_text(builder: SessionBuilder, value: Any, place: Place) -> str:
    odd: list[Any] = []
    text = "".join(_texts(value, odd))
    for node in odd:
        builder.note_loss(f"a node of no known form: {str(node)[:60]}", place)
    return text


def _texts(value: Any, odd: list[Any] | None = None) -> Iterator[str]:
    """Return all texts of a tree of nodes with children and leaves with a text, in order.

    `odd` gets everything else.
    """
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, list):
            waiting += reversed(found)
        elif isinstance(found, dict):
            inner = (found.get(key) for key in ("children", "node", "text", "value"))
            waiting += [each for each in inner if each is not None]
            if odd is not None and not found.keys() & _NODE:
                odd.append(found)


def _shown(builder: SessionBuilder, response: list[Any], place: Place) -> None:
    """Read what the window shows, for requests whose rounds were not stored.

    That is pieces of text, thoughts, and calls, which are written again while they go on.
    """
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
            _join(parts, f"{index}", _shown_text(item))
        elif kind not in _SHOWN:
            builder.note_loss(f"a part of the kind {kind!r}", where)
    if whole := [part for each in parts.values() for part in each]:
        add_with_results(builder, "assistant", whole, place)


def _join(parts: dict[str, list[Part]], key: str, text: str) -> None:
    """A piece of text belongs to the text before it."""
    last = next(reversed(parts), "")
    before = parts[last][-1] if last and parts[last] else None
    if isinstance(before, TextPart):
        parts[last] = [TextPart(before.text + text)]
    elif text:
        parts[key] = [TextPart(text)]


def _shown_text(item: dict[str, Any]) -> str:
    if item.get("kind") == "inlineReference":
        held = _object(item.get("inlineReference"))
        path = str(held.get("fsPath") or held.get("path") or _object(held.get("uri")).get("path"))
        return f"`{item.get('name') or path.rpartition('/')[2]}`"
    return "".join(_texts(item.get("content") if "content" in item else item.get("value")))


def _invocation(builder: SessionBuilder, item: dict[str, Any], place: Place) -> list[Part]:
    """Return a call as the window shows it, with its result where it has one."""
    call_id = item.get("toolCallId") or builder.new_id()
    details, more = _object(item.get("resultDetails")), _object(item.get("toolSpecificData"))
    command = _object(more.get("commandLine")).get("original") or more.get("command")
    arguments = details.get("input") or more.get("rawInput")
    arguments = {"command": command} if arguments is None and command else arguments
    parts: list[Part] = [builder.call(call_id, item.get("toolId"), arguments, place)]
    output = details.get("output") if details else more.get("terminalCommandOutput")
    text = _told_text(builder, output, place)
    if text or item.get("isComplete"):
        failed = bool(details.get("isError"))
        parts.append(builder.result(call_id, text, is_error=failed))
    return parts


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
