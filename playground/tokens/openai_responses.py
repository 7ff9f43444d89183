"""Frame OpenAI's Responses: like Chat Completions, except for tools, calls and stored items. Tools
are written as in openai/harmony. They cost 3 tokens in addition to their text, with models that
reason 9 (o1 to o4: 6). A call and its result cost 11 together (with models that reason 17), and the
tokens of the tool's name (twice), the arguments and the result. The call costs 3 more with the id
under which the server stores it, or with some models if its reasoning is not in the request. The
rules follow from recorded bills of gpt-4o, gpt-4.1 and gpt-5 to 5.6 of 2025 and 2026, counted by
`benchmarks/tokens.py`. Bills of March 2025, the API's first weeks, have some 220 tokens more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.nouns.wire_bodies import messages_of
from playground.tokens.answer_forms import AnswerForm, answer_form
from playground.tokens.openai_chat import note_unknown_keywords, without_descriptions
from playground.tokens.pictures import Tiles
from playground.tokens.pieces import Framed, Piece, compact, functions_of, origin_of, text_of
from playground.tokens.reasoning import Reasoning
from playground.tokens.typescript import add_tools

_MESSAGE: Final = 4
_REPLY: Final = 3
_REASONING_REPLY: Final = 2
_TOOLS: Final = 3
_SECTION: Final = 1  # the blank line before the form of the answer
_CALL: Final = 5
_REASONING_CALL: Final = 11
_STORED: Final = 3  # additional, for a call with the id under which the server stores it
_REQUIRED_TOOL: Final = 7  # in addition to the name of a tool that must be called
_RESULT: Final = 6
_ANSWER_CHANNEL: Final = 2  # `<|channel|>final` before an answer of a model that reasons
_SEARCH: Final = 294  # `web_search_preview`; its results are free (8 bills of 2025 and 2026)
_KEEPS_THOUGHTS: Final = "gpt-5.6"  # the model whose bills include earlier reasoning
_SERVER_FIELDS: Final = ("previous_response_id", "conversation", "prompt")  # refer to stored data
_SAMPLED: Final = 8  # at most so many tokens more if answers are billed as the model wrote them


def responses(
    body: Mapping[str, Any], reasoning: Reasoning | None, tiles: Tiles | None = None
) -> Framed:
    """Frame a request; `reasoning` is for models that reason, `tiles` is the cost of pictures."""
    source = "Responses framing (harmony, and bills of 2025 and 2026)"
    framed = Framed(source=source, pictures=tiles)
    _note_unknown_parts(framed, body, bool(reasoning))
    functions = list(functions_of(body.get("tools")))
    if functions:
        fixed = _TOOLS
        if reasoning:
            fixed = reasoning.tools - without_descriptions(framed, functions)
        add_tools(framed, functions, fixed)
    if form := _form(body):
        framed.add(Piece(form.section, fixed=0 if reasoning else _SECTION))
    instructions = body.get("instructions")
    if isinstance(instructions, str) and instructions:
        framed.add(Piece(instructions, "system", fixed=_MESSAGE))
    _add_conversation(framed, body, reasoning)
    if not reasoning and (tool_name := _required_tool(body, functions)):
        framed.add(Piece(f".{tool_name}", "tools", tool=tool_name, fixed=_REQUIRED_TOOL))
    framed.add(Piece(fixed=_REASONING_REPLY if reasoning else _REPLY))
    return framed


def _add_conversation(framed: Framed, body: Mapping[str, Any], reasoning: Reasoning | None) -> None:
    """Frame the conversation's items, without earlier reasoning that the model does not read."""
    items = messages_of(dict(body))
    stored = body.get("store") is not False
    _note_calls(framed, items, stored, bool(reasoning))
    if _KEEPS_THOUGHTS in str(body.get("model")) and any(map(_is_reasoning, items)):
        framed.add_reason("earlier reasoning is billed again, and its text is not in the body")
    calls = [item for item in items if item.get("type") == "function_call"]
    names = {str(item.get("call_id")): str(item.get("name") or "") for item in calls}
    newest = max((i for i, item in enumerate(items) if item.get("role") == "user"), default=-1)
    for index, item in enumerate(items):
        if index < newest and _is_reasoning(item) and reasoning:
            continue  # models do not read reasoning before the newest question
        if item.get("type") == "function_call":
            is_stored = bool(item.get("id")) and stored and not _is_simultaneous(items, index)
            extra = reasoning.bare_call if reasoning and not _has_reasoning(items, index) else 0
            fixed = _REASONING_CALL if reasoning else _CALL
            _call(framed, index, item, fixed + (_STORED if is_stored else extra), bool(reasoning))
        else:
            _add_item(framed, index, item, names, bool(reasoning))


def _required_tool(body: Mapping[str, Any], functions: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the tool that must be called (the chosen or the only one), or ""."""
    choice = body.get("tool_choice")
    if choice == "required" and len(functions) == 1:
        return str(functions[0]["name"])
    if isinstance(choice, dict) and choice.get("type") == "function":
        return str(choice.get("name") or "")
    return ""


def _note_unknown_parts(framed: Framed, body: Mapping[str, Any], thinks: bool) -> None:
    """Note the parts of a request whose cost is not known."""
    for key in _SERVER_FIELDS:
        if body.get(key):
            framed.add_reason(f"what {key} stands for is on the server")
    if body.get("context_management"):
        _note_compaction(framed, body)
    if body.get("instructions") == "":
        framed.add_reason("ten recorded bills with empty instructions follow no known rule", 230)
    text = body.get("text")
    form = _form(body)
    note_unknown_keywords(framed, form)
    if form and _has_stored_calls(body):
        framed.add_reason("stored calls together with a form: of 24 bills 10 differ", 3)
    if isinstance(text, dict) and text.get("verbosity") not in (None, "medium"):
        framed.add_reason("what another verbosity adds is not known", 20)
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("mode"):
        framed.add_reason("what a mode of reasoning adds is not known")
    _note_tool_costs(framed, body, thinks)


def _note_compaction(framed: Framed, body: Mapping[str, Any]) -> None:
    """Note that the server may compact the request, unless the request is below the threshold.

    Source: OpenAI, "Compaction": "when the rendered token count crosses". Below the threshold,
    earlier answers may be billed by the tokens that the model produced. These may be more or fewer
    than the tokens of the text: six bills differ by up to 4.
    """
    settings = body["context_management"]
    edits = settings if isinstance(settings, list) else []
    limits = [edit.get("compact_threshold") for edit in edits if isinstance(edit, dict)]
    items = messages_of(dict(body))
    size = len(json.dumps([items, body.get("instructions")], ensure_ascii=False).encode())
    if not all(isinstance(limit, int) and size < limit for limit in limits) or not limits:
        framed.add_reason("what context_management stands for is on the server")
        framed.forgets = True
    elif any(item.get("role") != "user" for item in items):
        framed.add_reason("earlier answers may be billed as they were sampled", _SAMPLED)


def _has_stored_calls(body: Mapping[str, Any]) -> bool:
    """Return True if a call has the id under which the server stores it."""
    items = messages_of(dict(body)) if body.get("store") is not False else []
    return any(item.get("type") == "function_call" and item.get("id") for item in items)


def _form(body: Mapping[str, Any]) -> AnswerForm | None:
    text = body.get("text")
    return answer_form(text.get("format")) if isinstance(text, dict) else None


def _note_tool_costs(framed: Framed, body: Mapping[str, Any], thinks: bool) -> None:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind == "web_search_preview" and not thinks:
            framed.add(Piece(origin="tools", tool=kind, fixed=_SEARCH))
        elif kind != "function":
            framed.add_reason(f"what the tool {kind} adds, and what it reads, is not known")
        elif tool.get("defer_loading"):
            framed.add_reason("what a deferred tool costs is not known")
    if body.get("tool_choice") == "none" and tools and not thinks:
        framed.add_reason("one bill of tool_choice none is 1 higher: no rule is known", 1)
    if thinks and tools and body.get("parallel_tool_calls") is False:
        framed.add_reason("what parallel_tool_calls: false adds is not known", 100)


def _is_simultaneous(items: Sequence[Mapping[str, Any]], index: int) -> bool:
    """Return True if the call was made together with another."""
    neighbours = (items[i] for i in (index - 1, index + 1) if 0 <= i < len(items))
    return any(item.get("type") == "function_call" for item in neighbours)


def _note_simultaneous_calls(
    framed: Framed, items: Sequence[Mapping[str, Any]], thinks: bool
) -> None:
    """Note simultaneous calls whose cost no bill shows. With a model that does not reason, each
    costs as much as a single call that is not stored (two stored calls: 18 of 19 bills). No bill
    has more than two stored calls."""
    run = 0
    for item in items:
        run = run + 1 if item.get("type") == "function_call" else 0
        if run > 1 and (thinks or (run > 2 and item.get("id"))):
            framed.add_reason("what several calls at once cost here is not known", 20 * len(items))


def _note_calls(
    framed: Framed, items: Sequence[Mapping[str, Any]], stored: bool, thinks: bool
) -> None:
    if stored or thinks:
        _note_simultaneous_calls(framed, items, thinks)
    if thinks:
        _note_missing_reasoning(framed, items, stored)


def _note_missing_reasoning(
    framed: Framed, items: Sequence[Mapping[str, Any]], stored: bool
) -> None:
    """Note calls that have neither reasoning nor an id, in a request with `store: false` whose
    other calls have one of the two: only one bill is of such a request. If no call has reasoning,
    the cost is known (63 bills, 60 of them with `store: false`)."""
    calls = [i for i, item in enumerate(items) if item.get("type") == "function_call"]
    lone_calls = [i for i in calls if not items[i].get("id") and not _has_reasoning(items, i)]
    if lone_calls and not stored and len(lone_calls) < len(calls):
        framed.add_reason("some calls have their reasoning and some not: bills differ", 8)


def _has_reasoning(items: Sequence[Mapping[str, Any]], index: int) -> bool:
    return index > 0 and _is_reasoning(items[index - 1])


def _is_reasoning(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "reasoning"


def _add_item(
    framed: Framed, index: int, item: Mapping[str, Any], names: Mapping[str, str], reasoning: bool
) -> None:
    match item.get("type", "message"):
        case "message":
            _add_message(framed, index, item, reasoning)
        case "function_call_output":
            name = names.get(str(item.get("call_id")), "")
            text, _ = text_of(item.get("output"))
            framed.add_other_parts(item.get("output"), "results", index)
            framed.add(Piece(f".{name}", "results", index, name, _RESULT))
            framed.add(Piece(text, "results", index, name))
        case other:
            framed.add_reason(f"what an item of type {other} costs is not known")
            text, _ = text_of(item.get("content"))
            framed.add(Piece(text, "other messages", index))


def _call(framed: Framed, index: int, item: Mapping[str, Any], fixed: int, reasoning: bool) -> None:
    name = str(item.get("name") or "")
    framed.add(Piece(f".{name}", "calls", index, name, fixed))
    arguments = str(item.get("arguments") or "")
    framed.add(Piece(compact(arguments) if reasoning else arguments, "calls", index, name))


def _add_message(framed: Framed, index: int, item: Mapping[str, Any], reasoning: bool) -> None:
    text, _ = text_of(item.get("content"))
    role = item.get("role")
    channel = _ANSWER_CHANNEL if reasoning and role == "assistant" else 0
    framed.add(Piece(text, origin_of(role), index, fixed=_MESSAGE + channel))
    framed.add_other_parts(item.get("content"), origin_of(role), index)
