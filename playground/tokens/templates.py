"""Frame requests whose prompt is known: Llama 3's, Mistral's, raw, or by a user's template.

`raw_prompts` writes the prompts of Llama 3. From 3.1 on, they begin with Hugging Face's system
turn and its dates, as with all recorded hosts (Bedrock, Crusoe, Hugging Face, 2024 to 2026).
Mistral's control tokens are those of mistral-common 1.13 (tokens/tokenizers/instruct.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.dialects.raw_prompts import LLAMA3, ChatTemplate
from playground.dialects.raw_prompts.llama import LlamaFormat
from playground.nouns.wire_bodies import messages_of, parts_of, system_of, tools_of
from playground.tokens.pictures import Rows
from playground.tokens.pieces import (
    Framed,
    Piece,
    calls_of,
    functions_of,
    origin_of,
    spaced,
    text_of,
)

_DATES: Final = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
_CALL_KEYS: Final = ("tool_calls", "function_call", "toolUse", "tool_call_id")


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    text: str
    message: int | None = None

    def piece(self, text: str | None = None, fixed: int = 0) -> Piece:
        words = self.text if text is None else text
        return Piece(words, origin_of(self.role), self.message, fixed=fixed)


def _turns(framed: Framed, body: Mapping[str, Any]) -> list[_Turn]:
    """Return the conversation of any API as turns. Parts without text are noted as unknown."""
    request = dict(body)
    system, other_kinds = text_of(list(parts_of(system_of(request))))
    turns = [_Turn("system", system)] if system else []
    for index, message in enumerate(messages_of(request)):
        text, kinds = text_of(message.get("content"))
        other_kinds += kinds
        if any(message.get(key) for key in _CALL_KEYS) or message.get("role") == "tool":
            framed.add_reason("what calls and results cost here is not known")
        turns.append(_Turn(str(message.get("role") or "user"), text, index))
    for kind in other_kinds:
        framed.add_reason(f"what a part of type {kind} costs is not known")
    return turns


def llama3(body: Mapping[str, Any], dated: bool) -> Framed:
    """Frame for Llama 3; `dated` is for 3.1 and later, which always have a system turn."""
    framed = Framed(source="the model's chat template, as Hugging Face publishes it", control=True)
    turns = _turns(framed, body)
    if tools_of(dict(body)):
        framed.add_reason("how this host writes tools is not known")
    if _asks_for_json(body):
        framed.add_reason("how this host asks for JSON is not known", 400)
    if dated:
        system = turns.pop(0) if turns and turns[0].role == "system" else _Turn("system", "")
        framed.add(Piece(LLAMA3.begin), *_llama_turn(LLAMA3, system, _DATES))
    else:
        framed.add(Piece(LLAMA3.begin))
    for turn in turns:
        framed.add(*_llama_turn(LLAMA3, turn))
    framed.add(Piece(f"{LLAMA3.start_header}assistant{LLAMA3.end_header}\n\n"))
    return framed


def _llama_turn(form: LlamaFormat, turn: _Turn, prefix: str = "") -> Sequence[Piece]:
    head = f"{form.start_header}{turn.role}{form.end_header}\n\n{prefix}"
    return [Piece(head), turn.piece(turn.text.strip()), Piece(form.end_of_turn)]


_FIRST_KEYS: Final = ("type", "properties", "required")
_SAFE_PROMPT: Final = 60  # most tokens of Mistral's own system prompt
_SETTINGS: Final = 12  # `{"reasoning_effort": "none"}`, or "high", between two control tokens


def mistral(body: Mapping[str, Any], settings: bool) -> Framed:
    """Frame for models with a Tekken tokenizer, like InstructTokenizerV13 of mistral-common 1.13.
    `settings` is True for models whose prompt states the reasoning effort (V15)."""
    source = "control tokens of mistral-common 1.13, V13 and V15"
    framed = Framed(source=source, pictures=Rows(28, 1024))
    _note_unknown_parts(framed, body)
    framed.add(Piece(fixed=1))
    if settings and not _asks_for_json(body):
        framed.add(Piece(fixed=_SETTINGS))
    messages = messages_of(dict(body))
    first_user = next((i for i, m in enumerate(messages) if m.get("role") == "user"), -1)
    for index, message in enumerate(messages):
        if index == first_user and body.get("tool_choice") != "none":
            _mistral_tools(framed, body)
        _mistral_turn(framed, index, message)
    return framed


def _note_unknown_parts(framed: Framed, body: Mapping[str, Any]) -> None:
    """Note the parts of a request whose cost no bill shows."""
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        framed.add_reason("what this tool_choice adds is not known", 8)
    if body.get("prompt_mode"):
        framed.add_reason("what prompt_mode adds is not known")
    if body.get("safe_prompt") is not None:
        most = _SAFE_PROMPT if body["safe_prompt"] else 0
        reason = "safe_prompt is from clients of 2024, when the name was another model's"
        framed.add_reason(reason, most)


def _asks_for_json(body: Mapping[str, Any]) -> bool:
    """Return True if the answer must be JSON: the prompt then states no reasoning effort (16 bills
    of 2026)."""
    form = body.get("response_format")
    return isinstance(form, dict) and form.get("type") not in (None, "text")


def _mistral_turn(framed: Framed, index: int, message: Mapping[str, Any]) -> None:
    text, _ = text_of(message.get("content"))
    role = str(message.get("role") or "user")
    framed.add_other_parts(message.get("content"), origin_of(role), index)
    calls = calls_of(message)
    if role != "assistant":
        framed.add(Piece(text, origin_of(role), index, fixed=2))
        return
    framed.add(Piece(text, "assistant", index, fixed=1))
    for call in calls:
        name = str(call["function"].get("name") or "")
        framed.add(Piece(name, "calls", index, name, fixed=2))
        framed.add(Piece(spaced(call["function"].get("arguments")), "calls", index, name))


def _mistral_tools(framed: Framed, body: Mapping[str, Any]) -> None:
    """Frame the tools as one JSON text before the first question."""
    functions = list(functions_of(tools_of(dict(body))))
    if not functions:
        return
    # in one bill with a named tool the other tools are missing
    sure = 0.0 if isinstance(body.get("tool_choice"), dict) else 1.0
    pieces = [Piece("[", "tools", fixed=2)]
    for place, function in enumerate(functions):
        fields = {
            "name": function["name"],
            "description": function.get("description") or "",
            "parameters": _in_mistrals_order(function.get("parameters") or {}),
        }
        tool = json.dumps({"type": "function", "function": fields}, ensure_ascii=False)
        text = f", {tool}" if place else tool
        pieces.append(Piece(text, "tools", tool=str(function["name"]), sure=sure))
    framed.add(*pieces, Piece("]", "tools"))


def _in_mistrals_order(schema: Any, keys_are_names: bool = False) -> Any:
    """Return a JSON Schema with type, properties and required first in each object, as bills of
    2025 and 2026 show for the API."""
    if isinstance(schema, list):
        return [_in_mistrals_order(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    first = () if keys_are_names else tuple(key for key in _FIRST_KEYS if key in schema)
    keys = (*first, *(key for key in schema if key not in first))
    return {
        key: _in_mistrals_order(schema[key], not keys_are_names and key in ("properties", "$defs"))
        for key in keys
    }


def mistral_first(body: Mapping[str, Any]) -> Framed:
    """Frame for Mistral 7B up to v0.2, by Mistral's v1 template, in which [INST] is ordinary text.

    The template is in llama.cpp's tests/test-chat-template.cpp.
    """
    framed = Framed(source="the model's chat template, Mistral's v1")
    turns = _turns(framed, body)
    if any(turn.role == "system" for turn in turns) or tools_of(dict(body)):
        framed.add_reason("how this host writes more than a conversation is not known")
    framed.add(Piece(fixed=1))
    row: list[Piece] = []
    for turn in turns:
        if turn.role == "assistant":
            row += [Piece(" "), turn.piece(fixed=1)]
        else:
            row += [Piece(" [INST] "), turn.piece(), Piece(" [/INST]")]
    framed.add(*row)
    return framed


def prompt_alone(body: Mapping[str, Any]) -> Framed:
    """Frame a prompt that is sent as it is; a list of numbers already consists of tokens."""
    framed = Framed(source="the prompt alone")
    value = body.get("prompt")
    for prompt in value if isinstance(value, list) else [value]:
        if isinstance(prompt, str):
            framed.add(Piece(prompt, "user"))
        elif isinstance(prompt, int):
            framed.add(Piece(origin="user", fixed=1))
        elif isinstance(prompt, list):
            framed.add(Piece(origin="user", fixed=len(prompt)))
    return framed


def prompt_after_bos(body: Mapping[str, Any]) -> Framed:
    """Frame a prompt that is sent as it is, after a BOS that the server adds (vLLM, Llama 3.2)."""
    framed = prompt_alone(body)
    framed.add(Piece(fixed=1))
    return framed


def raw_prompt(body: Mapping[str, Any]) -> Framed:
    """Frame a prompt with its control tokens, after a BOS that the server adds (Ollama)."""
    framed = Framed(source="a raw prompt, and the BOS that Ollama puts before it", control=True)
    if not body.get("raw"):
        framed.add_reason("the template that the server writes around the prompt is not known")
    framed.add(Piece(fixed=1))
    framed.add(Piece(str(body.get("prompt") or ""), "user"))
    return framed


def frame_by_template(body: Mapping[str, Any], template: ChatTemplate) -> Framed:
    """Frame a request by a chat template. Raises InputFault if the template refuses the request."""
    framed = Framed(source=f"the chat template {template.name}", control=True)
    messages = [dict(message) for message in messages_of(dict(body))]
    tools = tools_of(dict(body))
    prompt = template.render(messages, tools if isinstance(tools, list) else None)
    row, offset = [], 0
    for index, message in enumerate(messages):
        text = text_of(message.get("content"))[0].strip()
        start = prompt.find(text, offset) if text else -1
        if start < 0:
            continue
        row += [Piece(prompt[offset:start]), Piece(text, origin_of(message.get("role")), index)]
        offset = start + len(text)
    framed.add(*row, Piece(prompt[offset:]))
    return framed
