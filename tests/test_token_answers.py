"""Requests as each model's tokenizer reads them, piece by piece, and whole estimates: goldens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from zlib import crc32

import pytest
import tokenizers
from golden_answers import Golden, plain

from playground.dialects.raw_prompts import ChatTemplate
from playground.tokens import count_request
from playground.tokens.gguf import CUTS, Cut, merging_model, word_piece_model
from playground.tokens.models import rule_for
from playground.tokens.pieces import Framed, Piece
from playground.tokens.registry import PACKAGED
from playground.tokens.sentencepiece import CONTROL, NORMAL, SPACE, USER, Word
from playground.tokens.templates import frame_by_template

PICTURE: Final = {"type": "image_url", "image_url": {"url": "https://tides.example/a.png"}}
SCHEMA: Final = {
    "title": "Berth",
    "type": "object",
    "properties": {
        "ship": {"title": "Ship", "type": "string", "description": "Its name\nas painted"},
        "side": {"enum": ["port", "starboard", 3], "default": "port"},
        "nights": {"type": ["integer", "null"], "minimum": 1, "multipleOf": 2},
        "crew": {"type": "array", "items": {"$ref": "#/$defs/sailor"}},
        "cargo": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {
            "tons": {"type": "number", "description": "metric"}}}]},
    },
    "required": ["ship", "crew"],
    "$defs": {"sailor": {"type": "object", "properties": {"name": {"type": "string"}}}},
}  # fmt: skip
BOOK: Final = {"name": "book", "description": "Books a berth.", "parameters": SCHEMA}
WAIT: Final = {"name": "wait", "parameters": {"type": "object", "properties": {}}}
TOOLS: Final = [{"type": "function", "function": function} for function in (BOOK, WAIT)]
RULES: Final = {"role": "system", "content": "Be terse."}
ASK: Final = {"role": "user", "content": " When? "}
SAY: Final = {"role": "assistant", "content": " At noon."}
_BERTH: Final = {"name": "berth", "description": "A berth", "schema": SCHEMA}
FORM: Final = {"type": "json_schema", "json_schema": _BERTH}


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def _calls(content: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def _result(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


ONE: Final = [_calls(None, _call("c1", "book", '{"ship": "Ada",  "crew": []}')), _result("c1", "5")]
TWO: Final = [
    _calls("Both.", _call("c1", "book", '{"ship": 1}'), _call("c2", "wait", "{}")),
    _result("c2", "späť"),
    _result("c1", '{"a":[1,2]}'),
]
CHATS: Final[dict[str, dict[str, Any]]] = {
    "turns": {"messages": [RULES, ASK, SAY, ASK]},
    "no system": {"messages": [ASK, SAY, {"role": "critic", "content": "No."}]},
    "names": {"messages": [{**RULES, "name": "example_user"}, {**ASK, "name": "user"},
                           {**ASK, "name": "Ada"}, {"role": "developer", "content": "Rhyme."}]},
    "tools": {"messages": [RULES, ASK], "tools": TOOLS},
    "tools alone": {"messages": [ASK], "functions": [WAIT]},
    "a call": {"messages": [RULES, ASK, *ONE, SAY, ASK], "tools": TOOLS},
    "calls at once": {"messages": [ASK, *TWO, SAY, *TWO, ASK], "tools": TOOLS},
    "a call of 2023": {"messages": [ASK, {"role": "assistant", "content": None,
                       "function_call": {"name": "wait", "arguments": "{not json"}},
                       {"role": "function", "name": "wait", "content": "done"}]},
    "a form": {"messages": [RULES, ASK], "response_format": FORM},
    "a form and tools": {"messages": [ASK, *ONE], "tools": TOOLS, "response_format": FORM},
    "a named tool": {"messages": [ASK], "tools": TOOLS, "safe_prompt": True,
                     "tool_choice": {"type": "function", "function": {"name": "wait"}}},
    "no tool": {"messages": [ASK], "tools": TOOLS, "tool_choice": "none", "prompt_mode": "x"},
    "an unknown choice": {"messages": [ASK], "tools": TOOLS, "tool_choice": {"type": "any"}},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, "b", PICTURE,
                            {"type": "input_audio"}, 4]}, _result("c9", [PICTURE])]},
    "json": {"messages": [ASK], "response_format": {"type": "json_object"}},
}  # fmt: skip
_CALLED: Final = {"type": "function_call", "call_id": "c1", "name": "book", "arguments": '{"a": 1}'}
_GAVE: Final = {"type": "function_call_output", "call_id": "c1", "output": "5"}
_THOUGHT: Final = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x" * 400}
_FUNCTIONS: Final = [{"type": "function", **BOOK}, {"type": "function", **WAIT}]
_SECOND: Final = [{**_CALLED, "call_id": "c2", "id": "f2"}, {**_GAVE, "call_id": "c2"}]
RESPONSES: Final[dict[str, dict[str, Any]]] = {
    "text": {"input": "When?", "instructions": "Be terse."},
    "turns": {"input": [RULES, ASK, {"type": "message", **SAY}, ASK], "store": False},
    "tools": {"input": "When?", "tools": _FUNCTIONS},
    "the required tool": {"input": "When?", "tools": _FUNCTIONS[1:], "tool_choice": "required"},
    "a call": {"input": [ASK, _CALLED, _GAVE, ASK], "tools": _FUNCTIONS},
    "a kept call": {"input": [ASK, {**_CALLED, "id": "f1"}, _GAVE], "tools": _FUNCTIONS,
                    "instructions": "Be terse."},
    "calls at once": {"input": [ASK, {**_CALLED, "id": "f1"}, *_SECOND, _GAVE], "store": False},
    "thoughts": {"input": [ASK, _THOUGHT, _CALLED, _GAVE, ASK, _THOUGHT, _CALLED, _GAVE]},
    "a form": {"input": "When?", "text": {"format": {"type": "json_schema", **_BERTH}}},
    "more": {"input": [ASK, {"type": "web_search_call"}, {"type": "item_reference", "id": "x"}],
             "previous_response_id": "r", "conversation": "c", "truncation": "auto",
             "tools": [{"type": "web_search_preview"}, {"type": "mcp"}]},
    "pictures": {"input": [{"role": "user", "content": [
        {"type": "input_image", "image_url": "https://tides.example/a.png"},
        {"type": "input_text", "text": "And?"}, {"type": "input_file"}]}]},
}  # fmt: skip
PROMPTS: Final[dict[str, dict[str, Any]]] = {
    "prompt": {"prompt": "When?", "system": "Be terse."},
    "raw": {"prompt": "<|eot_id|>When?", "raw": True},
    "several": {"prompt": ["When?", 7, [1, 2, 3]]},
    "chat": CHATS["calls at once"],
}
MODELS: Final = (
    "gpt-4o", "gpt-5", "gpt-5.4", "o3", "gpt-4", "llama3.1", "Llama-3.3-70B", "mistral-tiny",
    "mistral-7b-instruct-v0.2", "mistral-small-latest", "davinci-002",
)  # fmt: skip
VARIANTS: Final = (  # framings that are those of a model above but for tools, calls or forms
    "gpt-4.1-mini", "openai/gpt-4o", "openai/gpt-5", "openai.gpt-5.4", "llama3.2", "llama3",
    "llama3.1-8b", "Meta-Llama-3-8B", "mistral-large-latest",
)  # fmt: skip
VARIED: Final = ("a call", "tools", "a form", "raw", "prompt")


def _framed() -> Iterator[tuple[str, str, str]]:
    for model in (*MODELS, *VARIANTS):
        rule = rule_for(model)
        assert rule is not None
        for api in rule.framings:
            bodies = RESPONSES if api == "openai-responses" else CHATS
            if api in ("openai-completions", "ollama-generate"):
                bodies = PROMPTS
            names = [name for name in bodies if model in MODELS or name in VARIED]
            yield from ((model, api, name) for name in names if api != "bedrock-converse")


def _body(api: str, name: str) -> dict[str, Any]:
    for bodies in (RESPONSES,) if api == "openai-responses" else (PROMPTS, CHATS):
        if name in bodies:
            return bodies[name]
    raise AssertionError(name)


def _written(piece: Piece) -> str:
    place = "" if piece.message is None else f" {piece.message}"
    marks = [f" of {piece.tool}"] * bool(piece.tool) + [" medium"] * piece.medium
    marks += [f" sure {piece.sure}"] * (piece.sure != 1)
    text = piece.text
    if len(text) > 60:
        text = f"{text[:40]}… {len(text)} {crc32(text.encode('utf-8', 'surrogatepass')):08x}"
    return f"{piece.origin}{place}{''.join(marks)} +{piece.fixed}: {text}"


def _read(framed: Framed) -> dict[str, Any]:
    rows = [[_written(piece) for piece in row] for row in framed.rows]
    return {
        "rows": rows,
        "unknown": [*framed.unknown.values()],
        "flags": [framed.control, framed.forgets],
    }


@pytest.mark.parametrize(("model", "api", "name"), list(_framed()))
def test_a_tokenizer_reads_the_pieces_of_a_request(
    model: str, api: str, name: str, golden: Golden
) -> None:
    rule = rule_for(model)
    assert rule is not None
    golden(_read(rule.framings[api](_body(api, name))))


ANTHROPIC: Final[dict[str, dict[str, Any]]] = {
    "a call": {"system": [{"type": "text", "text": "Be terse."}], "messages": [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s" * 400},
            {"type": "text", "text": "<think>so</think>I look."},
            {"type": "tool_use", "id": "t1", "name": "book", "input": {"ship": "Ada 12345"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "5"},
            {"type": "text", "text": "And <|endoftext|> now?"}]}],
        "tools": [{"name": "book", "description": "Books.", "input_schema": SCHEMA}]},
    "thinking": {"messages": [ASK], "thinking": {"type": "enabled"}, "output_config": {"a": 1}},
    "compaction": {"messages": [ASK], "context_management": {"edits": []}},
    "a search": {"messages": [ASK], "tools": [{"type": "web_search_20250305", "name": "s"}]},
    "citations": {"messages": [{"role": "user", "content": [
        {"type": "document", "source": {"data": "QUJD" * 90}, "citations": {"enabled": True}}]}]},
    "a picture": {"messages": [{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image"}]}]}]},
}  # fmt: skip
GEMINI: Final[dict[str, dict[str, Any]]] = {
    "turns": {"systemInstruction": {"parts": [{"text": "Be terse."}]}, "contents": [
        {"role": "user", "parts": [{"text": "When, 1234567?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "wait", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "wait", "response": {"b": 2}}}]}],
        "tools": [{"functionDeclarations": [WAIT]}],
        "generationConfig": {"responseSchema": SCHEMA, "thinkingConfig": {"thinkingBudget": 9}}},
    "code": {"contents": [{"parts": [{"text": "2?"}]}], "tools": [{"codeExecution": {}}]},
    "kept": {"contents": [{"parts": [{"text": "2?"}]}], "cachedContent": "c"},
}  # fmt: skip
ESTIMATES: Final = (
    *(("claude-sonnet-4-5", "", ANTHROPIC, name) for name in ANTHROPIC),
    ("claude-opus-4-7", "", ANTHROPIC, "a call"),
    *(("gemini-2.5-pro", "", GEMINI, name) for name in GEMINI),
    *(("somebody/new", "", CHATS, name) for name in CHATS),
    *((model, "", CHATS, "a call") for model in ("nova-2", "nova", "grok-4", "sonar", "llama4")),
    *(("gpt-4o-search-preview", "", CHATS, name) for name in ("a call", "names", "parts")),
    *(("llama3.2", "", PROMPTS, name) for name in PROMPTS),
    *(("mistral-large-latest", "", CHATS, name) for name in ("calls at once", "tools", "parts")),
    *(("gpt-4o", "", CHATS, name) for name in CHATS),
    *(("gpt-5", "", RESPONSES, name) for name in RESPONSES),
    *(("phi3", api, PROMPTS, "prompt") for api in ("ollama-generate", "tgi-generate")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "api", "bodies", "name"),
    ESTIMATES,
    ids=[f"{model}-{api}-{name}" for model, api, _, name in ESTIMATES],
)
def test_a_request_is_counted(
    model: str, api: str, bodies: dict[str, dict[str, Any]], name: str, golden: Golden
) -> None:
    rule = rule_for(model)
    if rule and PACKAGED[rule.tokenizer].package != "litellm" and PACKAGED[rule.tokenizer].path():
        pytest.skip("the model's own tokenizer is installed: the golden is an estimate")
    found = plain(count_request(bodies[name], model, api))
    del found["source"]  # it names an installed version
    found["notes"] = len(found["notes"])
    found["findings"] = [[finding["code"], finding["where"]] for finding in found["findings"]]
    golden(found)


@pytest.mark.parametrize("name", ["turns", "a call", "calls at once", "parts", "tools"])
def test_a_template_frames_a_request(name: str, golden: Golden) -> None:
    """Messages without a text of their own, or with one that the template leaves out, too."""
    template = ChatTemplate.loads(
        "<s>{{ tools | length if tools else 0 }}{% for m in messages if m.role != 'system' %}"
        "<{{ m.role }}>{{ m.content | trim if m.content is string else 'parts' }}{% endfor %}"
    )
    golden(_read(frame_by_template(CHATS[name], template)))


TIDES: Final = "Ebb's low, 1234 tides: low.\n\n  Flut über <turn>Größe</turn> 満潮12 don't"


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.names[0])
def test_a_vocabulary_of_gguf_cuts_a_text(cut: Cut, golden: Golden) -> None:
    letters = sorted({*TIDES, SPACE} if cut.plain else _alphabet())
    space = SPACE if cut.plain else "Ġ"
    merges = ["l o", "lo w", f"{space} low", "1 2", "12 3", "3 4", ". \n", "Ċ Ċ", "i d", "id e"]
    words = [Word(text, 0.0, NORMAL) for text in (*letters, *(m.replace(" ", "") for m in merges))]
    words += [Word("tides", 0.0, NORMAL), Word("</turn>", 0.0, CONTROL), Word("don", 0.0, USER)]
    known = {word.text for word in words}
    merges = [merge for merge in merges if {*merge.split(" ")} <= known]
    model = merging_model(words, merges, cut)
    golden("|".join(model.encode(TIDES, add_special_tokens=False).tokens))


def _alphabet() -> list[str]:
    return list(tokenizers.pre_tokenizers.ByteLevel.alphabet())


def test_a_vocabulary_of_bert_marks_what_begins_a_word(golden: Golden) -> None:
    texts = ("[UNK]", "[CLS]", f"{SPACE}low", f"{SPACE}tide", "s", f"{SPACE}.", "water")
    types = {"[CLS]": CONTROL}
    model = word_piece_model([Word(text, 0.0, types.get(text, NORMAL)) for text in texts])
    golden(model.encode("[CLS]Low tides. Lówwater high").tokens)
