"""What hosts of open models write of a request, control tokens and all: no tokenizer is needed."""

from __future__ import annotations

from typing import Any, Final

from playground.tokens.count import count_request
from playground.tokens.models import rule_for
from playground.tokens.ollama import extra_of_old_versions, tool_text

ASKED: Final = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "When is high water?"},
]
WEATHER: Final[dict[str, Any]] = {
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


def _called(*calls: tuple[str, str]) -> dict[str, Any]:
    functions = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {
        "role": "assistant",
        "content": "A moment.",
        "tool_calls": [{"type": "function", "function": each} for each in functions],
    }


def test_ollama_writes_calls_in_place_of_what_was_said_and_results_as_ipython() -> None:
    """The same templates; arguments are a map of Go's: sorted, three letters escaped. Tools stand
    in the last turn only where that is the user's."""
    start, end = "<|start_header_id|>", "<|end_header_id|>\n\n"
    asked = [
        {"role": "user", "content": "Ebb & flood?"},
        _called(("tide", '{"pier": "a < b", "at": 7}'), ("moon", "{}")),
        {"role": "tool", "content": "11:40"},
        {"role": "tool", "content": [{"type": "text", "text": "full"}]},
    ]
    text, unknown = written("llama3.2", {"messages": asked, "tools": [WEATHER]})
    assert unknown == []
    assert written("llama3.1", {"messages": asked})[1] == [
        "the template of 2024 wrote calls differently"
    ]
    assert text.partition(f"{start}user{end}")[2] == (
        f"Ebb & flood?<|eot_id|>{start}assistant{end}"
        '{"name": "tide", "parameters": {"at":7,"pier":"a \\u003c b"}}\n'
        '{"name": "moon", "parameters": {}}<|eot_id|>'
        f"{start}ipython{end}11:40<|eot_id|>{start}ipython{end}full<|eot_id|>"
        f"{start}assistant{end}"
    )
    again = [*asked, {"role": "assistant", "content": "Noon."}, {"role": "user", "content": "So?"}]
    text, _unknown = written("llama3.1", {"messages": again, "tools": [WEATHER]})
    question = text[text.rindex(f"{start}user{end}") :]
    assert "get_weather" in question and text.count("get_weather") == 1


def test_ollama_joins_turns_of_one_role_and_makes_a_turn_of_each_part() -> None:
    parts = [{"type": "text", "text": "Ebb?"}, {"type": "text", "text": "Flood?"}]
    asked = [{"role": "user", "content": parts}, {"role": "user", "content": "And?"}]
    text, unknown = written("llama3.2", {"messages": asked})
    assert "<|end_header_id|>\n\nEbb?\n\nFlood?\n\nAnd?<|eot_id|>" in text
    assert unknown == []
    lost = [{"role": "assistant", "content": "A"}, _called(("tide", "{}"))]
    assert written("llama3.2", {"messages": lost})[1] == [
        "Ollama loses the calls of a turn that it joins to another"
    ]


def test_a_long_prompt_may_be_cut_by_ollama() -> None:
    body = {"messages": [{"role": "user", "content": "tide " * 2000}]}
    assert written("llama3.1", body)[1] == ["Ollama cuts off what does not fit into its context"]


def _written_tool(parameters: dict[str, Any], **more: str) -> tuple[str, int]:
    function = {"name": "f", "parameters": parameters, **more}
    whole = tool_text(function)
    head = '{"type":"function","function":{"name":"f","description":'
    assert whole.startswith(head)
    return whole.removeprefix(head), extra_of_old_versions(function)


def test_ollama_keeps_of_a_tool_what_its_structs_have() -> None:
    """ollama's api/types.go and template/template.go, 0.30: properties sorted, a type of one alone;
    the structs of 2025 wrote what is empty too."""
    assert _written_tool({}) == (
        '"","parameters":{"type":"","properties":null}}}',
        len('"required":null,'),
    )
    count = {"type": ["integer"], "title": "N", "enum": [1, 2], "description": "N"}
    inner = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    plain = {
        "type": "object",
        "properties": {"n": count, "a": {"anyOf": [{"type": "string"}], "description": "A"}},
        "required": ["n"],
    }
    assert _written_tool({**plain, "properties": {"n": count}}, description="F") == (
        '"F","parameters":{"type":"object","required":["n"],"properties":'
        '{"n":{"type":"integer","description":"N","enum":[1,2]}}}}}',
        0,
    )
    text, more = _written_tool(plain, description="F")
    assert text.index('"a":{"anyOf":[{"type":"string"}],"description":"A"}') < text.index('"n":')
    assert more > 0
    text, more = _written_tool({"type": "object", "properties": {"o": inner}, "required": ["o"]})
    assert '{"o":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}' in text
    assert more > 0
    defined = {"type": "object", "$defs": {"B": {"type": "x"}, "A": {}}, "required": ["o"],
               "properties": {"o": {"$ref": "#/$defs/B", "description": "O"}}}  # fmt: skip
    text, _more = _written_tool(defined)
    assert '"$defs":{"A":{},"B":{"type":"x"}},"required":["o"]' in text


def test_bedrock_adds_six_to_requests_with_tools() -> None:
    body = {"input": [{"role": "user", "content": "Ebb?"}],
            "tools": [{**WEATHER["function"], "type": "function"}]}  # fmt: skip
    at_openai = count_request(body, "gpt-5.6", "openai-responses")
    on_bedrock = count_request(body, "openai.gpt-5.6-luna", "openai-responses")
    assert (at_openai.kind, on_bedrock.kind) == ("exact", "exact")
    assert on_bedrock.tokens == at_openai.tokens + 6


def test_a_client_of_2024_asks_for_models_of_2024() -> None:
    """Mistral's client of then sends `safe_prompt`; `mistral-small-latest` had no settings, and
    three bills are 9 to 12 less."""
    asked = {"messages": [{"role": "user", "content": "Ebb?"}]}
    assert written("mistral-small-latest", asked)[1] == []
    for safe in (True, False):
        assert len(written("mistral-small-latest", asked | {"safe_prompt": safe})[1]) == 1


def test_what_ollama_calls_otherwise_is_not_framed_as_llama_is() -> None:
    """A raw prompt is what it is (22 bills of llama-guard3); other templates are not known."""
    for model in ("llama-guard3:1b", "llama3.3:70b", "llama3.2-vision:11b", "llama3-groq-tool-use"):
        rule = rule_for(model)
        assert rule is not None and rule.tokenizer == "llama3"
        assert written(model, {"prompt": "Hi", "raw": True}, "ollama-generate") == ("Hi", [])
        assert list(rule.framings) == ["ollama-generate"]
    asked = {"messages": [{"role": "user", "content": "Hi"}]}
    assert written("meta-llama/Llama-3.3-70B-Instruct", asked)[1] == []


def test_a_host_that_is_asked_for_json_is_not_called_exact() -> None:
    body = {"messages": ASKED, "response_format": {"type": "json_object"}}
    assert written("llama-3.3-70b-versatile", {"messages": ASKED})[1] == []
    assert "JSON" in written("llama-3.3-70b-versatile", body)[1][0]


def test_mistral_tiny_is_a_model_of_2024() -> None:
    alone = {"messages": [{"role": "user", "content": "When?"}]}
    assert written("mistral-tiny", alone) == ("When?", [])
    assert written("mistral-tiny", {"messages": ASKED})[1]
