"""Frame OpenAI's Chat Completions: what messages, tools and calls cost in addition to their text.

All costs are in tokens. A message costs 4 (`<|im_start|>role<|im_sep|>…<|im_end|>`), a name 1 more,
the beginning of the answer 3 (OpenAI Cookbook, How_to_count_tokens_with_tiktoken, 2023-2024). Tools
are written in the first system message, or without one in a message of their own. A call has an
address (`to=functions.NAME`); several at once are one call of `multi_tool_use.parallel`. All other
rules follow from recorded bills of gpt-3.5-turbo, gpt-4, gpt-4o, gpt-4o-mini and gpt-4.1 of 2024 to
2026, counted by `benchmarks/tokens.py`.

Models that reason are framed as in harmony (openai/harmony, docs/format.md): the beginning of the
answer costs 2, and tools cost 82 more than with Responses (with o1 to o4 only 4 more).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.nouns.wire_bodies import has_pictures, messages_of
from playground.tokens.answer_forms import AnswerForm, answer_form
from playground.tokens.pictures import Tiles
from playground.tokens.pieces import (
    Framed,
    Piece,
    calls_of,
    compact,
    functions_of,
    origin_of,
    text_of,
)
from playground.tokens.reasoning import Reasoning
from playground.tokens.typescript import add_tools

_MESSAGE: Final = 4
_REPLY: Final = 3
_REASONING_REPLY: Final = 2
_TOOLS_AFTER_SYSTEM: Final = 5  # heading of the tools after a system prompt
_TOOLS_ALONE: Final = 9  # heading of the tools in a message of its own
_INSTRUCTIONS: Final = 3  # harmony's heading in the message with the tools
_SECTION: Final = 1  # blank line before another section
_NAME: Final = 1  # additional, for a name other than the role (5 of 5 bills)
_OPEN: Final = 1  # additional, for a form that is neither strict nor closed
_DESCRIBED: Final = 1  # additional, for a form with a description, with a model that reasons
_ADDRESS: Final = 2  # control tokens around the address of an answer or a call
_REASONING_CALL: Final = 6  # additional, for a turn with calls (in Responses, for each call)
_ANSWER_CHANNEL: Final = 2  # additional, for an answer
_SYSTEM: Final = ("system", "developer")
_FREE: Final = ({"type": "text"}, {"type": "json_object"}, ["text"])  # values that cost nothing
_HIDDEN: Final = (  # fields for which the provider adds unseen text
    "response_format", "web_search_options", "audio", "prediction", "modalities",
)  # fmt: skip
_ESCAPED: Final = 6  # tokens of a letter as `\\u00e9`
_RESULT_LIST: Final = 8  # tokens around a message with several results
# Before gpt-5.2 with error 400; later models answer without having seen it (openai-openapi#523).
_PICTURE_ELSEWHERE: Final = "a picture that is not in a user's message is refused or not read"


def chat(
    body: Mapping[str, Any], reasoning: Reasoning | None, legacy: bool, tiles: Tiles | None = None
) -> Framed:
    """Frame a request; `reasoning` is for models that reason, `legacy` for those before gpt-4o.
    `tiles` is the cost of pictures, if known."""
    source = "Chat Completions framing (Cookbook, and bills of 2024 to 2026)"
    framed = Framed(source=source, pictures=tiles)
    messages = messages_of(dict(body))
    tools = body.get("tools") or body.get("functions")
    functions = list(functions_of(tools))
    _note_unknown_parts(framed, body, tools, functions)
    form = answer_form(body.get("response_format"))
    _add_form_cost(framed, form, bool(reasoning), bool(functions))
    names = names_of_calls(messages)
    result_indexes = add_parallel_results(framed, messages, names)
    system_index = next((i for i, m in enumerate(messages) if m.get("role") in _SYSTEM), None)
    if functions and (reasoning or system_index is None):
        fixed = _TOOLS_ALONE
        if reasoning:
            fixed = reasoning.chat_tools - without_descriptions(framed, functions)
        add_tools(framed, functions, fixed)
    if form and (reasoning or system_index is None):
        fixed_around = 0 if reasoning else _SECTION if functions else _MESSAGE
        framed.add(Piece(form.section, fixed=fixed_around))
    for index, message in enumerate(messages):
        if index in result_indexes:
            continue
        if index == system_index and reasoning and functions:
            text, _ = text_of(message.get("content"))
            framed.add(Piece(f"{text}\n\n", "system", index, fixed=_INSTRUCTIONS))
        elif index == system_index and not reasoning and (functions or form):
            _add_system(framed, index, message, functions, form)
        else:
            _message(framed, index, message, names)
    if form:
        _add_answer_addresses(framed, messages, form, bool(functions))
    if reasoning:
        _add_turn_costs(framed, messages, reasoning.harmony)
    else:
        _add_choice(framed, body.get("tool_choice") or body.get("function_call"), legacy)
    framed.add(Piece(fixed=_REASONING_REPLY if reasoning else _REPLY))
    return framed


def _add_system(
    framed: Framed,
    index: int,
    message: Mapping[str, Any],
    functions: Sequence[Mapping[str, Any]],
    form: AnswerForm | None,
) -> None:
    """Frame the first system message, with the tools and the answer's form after it."""
    text, _ = text_of(message.get("content"))
    row = [Piece(text, "system", index, fixed=_MESSAGE)]
    if functions:
        framed.add(*row, Piece("\n\n", "system", index))
        add_tools(framed, functions, _TOOLS_AFTER_SYSTEM)
        row = [Piece(fixed=_SECTION)]
    elif form:
        row.append(Piece("\n\n"))
    if form:
        framed.add(*row, Piece(form.section))


def _add_answer_addresses(
    framed: Framed, messages: Sequence[Mapping[str, Any]], form: AnswerForm, tools: bool
) -> None:
    """Frame the addresses of earlier answers in the required form. Without tools, the next answer
    has an address too."""
    for index, message in enumerate(messages):
        if message.get("role") == "assistant" and not calls_of(message):
            framed.add(Piece(f" {form.name}", "assistant", index, fixed=_ADDRESS))
    if not tools:
        framed.add(Piece(f" {form.name}", fixed=_ADDRESS))


def _note_unknown_parts(
    framed: Framed, body: Mapping[str, Any], tools: Any, functions: Sequence[Any]
) -> None:
    """Note the parts of a request whose cost is not known."""
    others = [each for each in messages_of(dict(body)) if each.get("role") != "user"]
    if has_pictures([each.get("content") for each in others]):
        framed.add_reason(_PICTURE_ELSEWHERE, 0)
    for key in _HIDDEN:
        if body.get(key) and body[key] not in _FREE and not answer_form(body[key]):
            framed.add_reason(f"what {key} adds is not known")
    if isinstance(tools, list) and len(functions) < len(tools):
        framed.add_reason("what a tool that is no function adds is not known")


def _add_form_cost(framed: Framed, form: AnswerForm | None, reasoning: bool, tools: bool) -> None:
    """Add what a form costs in addition to its text, according to bills of Chat Completions.

    An open form costs 1 (4 of 4 bills of three projects), a closed one nothing (22 of 22 bills). A
    description costs 1 more with a model that reasons (8 of 8 bills).
    """
    if form and form.open and (tools or reasoning):
        framed.add_reason("what a schema that is open costs here is not known", 1)
    elif form and form.open:
        framed.add(Piece(fixed=_OPEN))
    if form and form.description and reasoning:
        if "description" in form.schema:
            framed.add_reason("a form that is described twice: bills differ by 1", 1)
        else:
            framed.add(Piece(fixed=_DESCRIBED))
    note_unknown_keywords(framed, form)


def note_unknown_keywords(framed: Framed, form: AnswerForm | None) -> None:
    """Note the keywords of a schema whose cost no bill shows."""
    if form and form.unknown:
        names = ", ".join(form.unknown)
        framed.add_reason(f"what {names} add in the schema of the answer is not known", 400)


def without_descriptions(framed: Framed, functions: Sequence[Mapping[str, Any]]) -> int:
    """Return the tokens to subtract: 1 if no function has a description (bills of gpt-5 and 5.5),
    else 0. Add a reason of inexactness if only some functions have one."""
    described = [bool(function.get("description")) for function in functions]
    if any(described) and not all(described):
        reason = "some tools have a description and some not: no bill is known"
        framed.add_reason(reason, len(described))
    return int(not any(described))


def _message(
    framed: Framed, index: int, message: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Frame one message; `names` are the tools of earlier calls (see `names_of_calls`)."""
    text, _ = text_of(message.get("content"))
    role, origin = message.get("role"), origin_of(message.get("role"))
    framed.add(Piece(text, origin, index, fixed=_MESSAGE))
    framed.add_other_parts(message.get("content"), origin, index)
    name = message.get("name")
    if role in ("tool", "function"):
        tool = names.get(str(message.get("tool_call_id")), str(name or ""))
        framed.add(Piece(tool, "results", index, tool))
    elif isinstance(name, str) and name:
        framed.add(Piece(name, origin, index, fixed=_NAME * (name != role)))
    calls = calls_of(message)
    if calls:
        add_calls(framed, index, calls)


def _add_choice(framed: Framed, choice: Any, legacy: bool) -> None:
    """Add the cost of `tool_choice`: 1 for `none`, the beginning of a call for a named tool.

    Source: counts for gpt-3.5-turbo and gpt-4 of 2024 (openai-messages-token-helper), and for a
    named tool 17 bills of gpt-4o and gpt-4o-mini. `auto` and `required` are free.
    """
    function = choice.get("function", choice) if isinstance(choice, dict) else {}
    name = function.get("name") if isinstance(function, dict) else None
    if choice in (None, "auto", "required"):
        return
    if not isinstance(name, str) and (choice != "none" or not legacy):
        framed.add_reason("what this tool_choice adds is not known", 20)
    if isinstance(name, str):
        framed.add(Piece(f".{name}", "tools", tool=name, fixed=7))
    elif choice == "none":
        framed.add(Piece(fixed=1, origin="tools"))


def _add_turn_costs(framed: Framed, messages: Sequence[Mapping[str, Any]], harmony: bool) -> None:
    """Add what a reasoning model's own turns cost, once for all calls of a turn. 8 of 8 bills of
    gpt-5 and 5.4 with two or three calls show this cost; 6 bills of o3 and o4 do not."""
    for index, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        calls = calls_of(message)
        if harmony:
            fixed = _REASONING_CALL if calls else _ANSWER_CHANNEL
            framed.add(Piece(origin="assistant", message=index, fixed=fixed))
        if (calls and message.get("content")) or not harmony:
            framed.add_reason("what such a turn of a reasoning model costs is not known", 12)


def names_of_calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tool of each call by the call's id; "" for a call that was made together with
    others."""
    names: dict[str, str] = {}
    for calls in map(calls_of, messages):
        for call in calls:
            name = str(call["function"].get("name") or "")
            names[str(call.get("id"))] = name if len(calls) == 1 else ""
    return names


def add_calls(framed: Framed, index: int, calls: Sequence[Mapping[str, Any]]) -> None:
    """Frame the calls of one message."""
    functions = [call["function"] for call in calls]
    if len(functions) == 1:
        name = str(functions[0].get("name") or "")
        address = f" to=functions.{name}"
        arguments = compact(functions[0].get("arguments"))
        framed.add(Piece(address, "calls", index, name, _ADDRESS))
        framed.add(Piece(arguments, "calls", index, name))
        return
    framed.add(Piece(" to=multi_tool_use.parallel", "calls", index, fixed=_ADDRESS))
    framed.add(*_parallel(index, functions))


def _parallel(index: int, functions: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """Write several calls as the arguments of one call."""
    pieces = [Piece('{"tool_uses":[', "calls", index)]
    for place, function in enumerate(functions):
        name = str(function.get("name") or "")
        address = json.dumps(f"functions.{name}", ensure_ascii=False)
        arguments = compact(function.get("arguments"))
        start = "}," if place else ""
        text = f'{start}{{"recipient_name":{address},"parameters":{arguments}'
        pieces.append(Piece(text, "calls", index, name))
    return [*pieces, Piece("}]}", "calls", index)]


def add_parallel_results(
    framed: Framed, messages: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> set[int]:
    """Frame the results of calls that were made at once; return the indexes of their messages."""
    indexes_by_call: dict[int, list[int]] = {}
    call = -1
    for index, message in enumerate(messages):
        if len(calls_of(message)) > 1:
            call = index
        elif message.get("role") == "tool" and names.get(str(message.get("tool_call_id"))) == "":
            indexes_by_call.setdefault(call, []).append(index)
    for indexes in indexes_by_call.values():
        _list_of_results(framed, messages, indexes)
    return {index for indexes in indexes_by_call.values() for index in indexes}


def _list_of_results(
    framed: Framed, messages: Sequence[Mapping[str, Any]], indexes: Sequence[int]
) -> None:
    pieces = [Piece("[", "results", fixed=_RESULT_LIST)]
    letters = 0  # letters beyond ASCII
    for index in indexes:
        text, _ = text_of(messages[index].get("content"))
        framed.add_other_parts(messages[index].get("content"), "results", index)
        letters += sum(not letter.isascii() for letter in text)
        separator = "" if index == indexes[0] else ", "
        pieces.append(Piece(separator + _value(text), "results", index))
    framed.add(*pieces, Piece("]", "results"))
    if letters:
        reason = "several results: gpt-4o-mini reads letters escaped, gpt-4o does not"
        framed.add_reason(reason, _ESCAPED * letters)


def _value(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return json.dumps(value, ensure_ascii=False)
