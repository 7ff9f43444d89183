"""What hosts of open models write of a request, control tokens and all: no tokenizer is needed."""

from __future__ import annotations

from typing import Any, Final

from playground.tokens.models import rule_for

ASKED: Final = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "When is high water?"},
]
WEATHER: Final = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def written(model: str, body: dict[str, Any], api: str = "openai-chat") -> tuple[str, list[str]]:
    """What a rule writes of a request, control tokens and all, and what it does not know."""
    rule = rule_for(model)
    assert rule is not None
    found = rule.framings[api](body)
    return "".join(piece.text for row in found.rows for piece in row), list(found.unknown)


def test_ollama_writes_llama_by_its_own_templates() -> None:
    """https://ollama.com/library/llama3.2, layer "template": one date, tools in the last question;
    3.1 has no system turn where there is nothing to say. A prompt alone is written so too."""
    start, end = "<|start_header_id|>", "<|end_header_id|>\n\n"
    asked = [{"role": "user", "content": "Hi"}]
    question = f"{start}user{end}Hi<|eot_id|>{start}assistant{end}"
    dated = f"<|begin_of_text|>{start}system{end}Cutting Knowledge Date: December 2023\n\n"
    assert written("llama3.2:3b-instruct-fp16", {"messages": asked}) == (
        f"{dated}<|eot_id|>{question}",
        [],
    )
    for api in ("openai-completions", "ollama-generate"):
        assert written("llama3.2", {"prompt": "Hi"}, api)[0] == f"{dated}<|eot_id|>{question}"
    raw = {"prompt": "Hi", "raw": True}
    assert written("llama3.2", raw, "ollama-generate")[0] == "Hi"
    assert written("llama3.1", {"messages": asked})[0] == f"<|begin_of_text|>{question}"
    begun = [{"role": "system", "content": "Rhyme"}, *asked, {"role": "assistant", "content": "A"}]
    assert written("llama3.2", {"messages": begun})[0] == (
        f"{dated}Rhyme<|eot_id|>{start}user{end}Hi<|eot_id|>{start}assistant{end}A"
    )
    text, unknown = written("llama3.2", {"messages": asked, "tools": [WEATHER]})
    assert unknown == ["how Ollama writes such a tool differs by its version"]  # not described
    assert "Respond in the format" in text and text.endswith(
        '"properties":{"city":{"type":"string"}}}}}\n\n'
        + question.removeprefix(f"{start}user{end}")
    )
    told = {
        "type": "function",
        "function": {
            "name": "f",
            "description": "F",
            "parameters": {
                "type": "object",
                "required": ["a"],
                "title": "T",
                "properties": {"a": {"type": "string", "description": "A", "title": "A"}},
            },
        },
    }
    text, unknown = written("llama3.2", {"messages": asked, "tools": [told]})
    assert unknown == []
    kept = (
        '{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"A"}}}'
    )
    assert f'{{"name":"f","description":"F","parameters":{kept}}}' in text


def test_a_host_that_is_asked_for_json_is_not_called_exact() -> None:
    body = {"messages": ASKED, "response_format": {"type": "json_object"}}
    assert written("llama-3.3-70b-versatile", {"messages": ASKED})[1] == []
    assert "JSON" in written("llama-3.3-70b-versatile", body)[1][0]


def test_mistral_tiny_is_a_model_of_2024() -> None:
    alone = {"messages": [{"role": "user", "content": "When?"}]}
    assert written("mistral-tiny", alone) == ("When?", [])
    assert written("mistral-tiny", {"messages": ASKED})[1]
