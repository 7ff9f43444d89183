"""What models get wrong, and what is read of it: never a call without what stood in it.

A row is a reply, the calls that are delivered, what is content, and the findings that say so. Each
is read whole and byte by byte.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from playground.dialects.reading import parse
from playground.parsing.switches import Switches

TOOLS: Final = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        },
    }
]
ROME: Final = ("get_weather", {"city": "Rome"})
OSLO: Final = ("get_weather", {"city": "Oslo"})
_JSON: Final = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
_OSLO_JSON: Final = _JSON.replace("Rome", "Oslo")
_KIMI: Final = (
    "<|tool_calls_section_begin|><|tool_call_begin|>%s<|tool_call_argument_begin|>"
    '{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>'
)
Row = tuple[str, str, list[tuple[str, dict[str, Any]]], str, list[str]]

NO_ARGUMENT_IS_THROWN_AWAY: Final[list[Row]] = [
    *(
        (d, f'{before}get_weather{end}{{"city": "Rome"}}{after}', [ROME], "", ["arguments-as-json"])
        for d, before, end, after in (
            ("openhands", "<function=", ">", "</function>"),
            ("qwen3-coder", "<tool_call><function=", ">", "</function></tool_call>"),
            ("k-exaone-2", "<tool_call><function=", ">", "</function></tool_call>"),
            ("seed-oss", "<seed:tool_call><function=", ">", "</function></seed:tool_call>"),
            (
                "minimax-m2",
                '<minimax:tool_call><invoke name="',
                '">',
                "</invoke></minimax:tool_call>",
            ),
            (
                "anthropic-invoke",
                '<function_calls><invoke name="',
                '">',
                "</invoke></function_calls>",
            ),
            ("dots", '<dots_function_call><invoke name="', '">', "</invoke></dots_function_call>"),
            ("minicpm5", '<function name="', '">', "</function>"),
        )
    ),
    (
        "openhands",
        "<function=get_weather>Rome</function> ok",
        [],
        " ok",
        ["unexpected-text", "malformed-arguments"],
    ),
    (
        "openhands",
        "<function=get_weather><parameter=city=Rome</parameter></function>",
        [ROME],
        "",
        ["mended-opener"],
    ),
    (
        "openhands",
        "<function=f>\n<parameter=a>\n1\n<parameter=b>\n2\n</parameter>\n</function>",
        [("f", {"a": "1", "b": "2"})],
        "",
        ["missing-closer", "unknown-tool"],
    ),
    (
        "deepseek-dsml",
        '<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather"><｜DSML｜parameter name="city">Rome'
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
        [ROME],
        "",
        ["mended-opener"],
    ),
    (
        "anthropic-invoke",
        '<function_calls><invoke name = " get_weather " ><parameter name="city" >Rome</parameter>'
        '<parameter name="/a b">1</parameter></invoke></function_calls>',
        [("get_weather", {"city": "Rome", "/a b": "1"})],
        "",
        ["mended-name"],
    ),
    (
        "qwen3-coder",
        "<function=get_weather><parameter=tags>a</parameter><parameter=tags>b</parameter></function>",
        [("get_weather", {"tags": ["a", "b"]})],
        "",
        ["type-mismatch", "type-mismatch", "duplicate-argument"],
    ),
]

OPENERS: Final[list[Row]] = [
    ("openhands", "<function=get_weather/> ok", [("get_weather", {})], " ok", []),
    ("llama3-function", "<function=get_weather/> ok", [("get_weather", {})], " ok", []),
    (
        "qwen3-coder",
        "<tool_call><function=get_weather</function></tool_call>",
        [("get_weather", {})],
        "",
        ["mended-opener"],
    ),
    (
        "llama3-function",
        "The marker is <function=f> here.",
        [],
        "The marker is <function=f> here.",
        [],
    ),
    (
        "glm",
        "Now <tool_call>get_weather<arg_key>city</arg_key>",
        [],
        "Now ",
        ["unreadable-call", "unexpected-text"],
    ),
    (
        "deepseek-v3.1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        [],
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ["bare-opener", "orphan-closer"],
    ),
    (
        "qwen3-coder",
        "<tool_call>nothing to read</tool_call>",
        [],
        "<tool_call>nothing to read</tool_call>",
        ["bare-opener", "orphan-closer"],
    ),
    (
        "minicpm5",
        '<functionĠname="get_weather"><paramname="city">Rome</param></function>',
        [ROME],
        "",
        [],
    ),
    (
        "glm",
        "<tool_call>get_weather\\n<arg_key>city</arg_key>\\n<arg_value>Rome</arg_value></tool_call>",
        [ROME],
        "",
        [],
    ),
    ("mistral", '[TOOL_CALLS]get_weather[CALL_ID]a1[ARGS]{"city": "Rome"}', [ROME], "", []),
    *(
        ("kimi-k2", _KIMI % head, [ROME], "", findings)
        for head, findings in (
            ("get_weather", []),
            ("functions.get_weather", []),
            ("get_weather:1", []),
            (":0", ["mended-name"]),
            ("call_0", ["mended-name"]),
        )
    ),
    ("harmony", "<|start|><|channel|>final<|message|>Hi<|return|>", [], "Hi", []),
    ("gemma4", "call:get_weather{city:Rome}", [ROME], "", ["missing-closer"]),
    ("gemma4", 'call:get_weather{"city":"Rome"}', [ROME], "", ["missing-closer"]),
    ("gemma4", "recall:x{y}", [], "recall:x{y}", []),
    ("gemma4", "<|tool_call>call:get_weather(city='Rome')<tool_call|>", [ROME], "", []),
    ("gemma4", "```tool_code\nget_weather(city='Rome')\n```", [ROME], "", []),
    ("gemma3", "```tool_code\nprint(get_weather(city='Rome'))\n```", [ROME], "", []),
]

JSON: Final[list[Row]] = [
    ("hermes", f"<tool_call>{text}</tool_call>", [("get_weather", {"city": city})], "", findings)
    for text, city, findings in (
        (_JSON.replace("Rome", r"\$a \'b\'"), "$a 'b'", ["relaxed-json"]),
        (_JSON.replace("Rome", "a\\\nb"), "ab", ["relaxed-json"]),
        (_JSON.replace("Rome", r"\d+\.\w"), r"\d+\.\w", ["relaxed-json"]),
        (_JSON.replace('"Rome"', "/etc/hosts"), "/etc/hosts", ["relaxed-json"]),
        (_JSON.replace('"Rome"', "https://x.y/z"), "https://x.y/z", ["relaxed-json"]),
        (_JSON.replace(",", ", // don't\n"), "Rome", ["relaxed-json"]),
        (_JSON.replace('"', '\\"'), "Rome", ["relaxed-json"]),
    )
]

SEVERAL: Final[list[Row]] = [
    *(
        (
            "hermes",
            f"<tool_call>{_JSON}{between}{_OSLO_JSON}</tool_call>",
            [ROME, OSLO],
            "",
            ["missing-closer"],
        )
        for between in ("", "\n", ", ")
    ),
    *(
        (
            "hermes",
            f"<tool_call>{_JSON[:cut]}</tool_call><tool_call>{_OSLO_JSON}</tool_call>",
            [OSLO],
            "",
            ["malformed-json"],
        )
        for cut in (-3, -2)  # the string never ends, the objects never do
    ),
    (
        "harmony",
        '<|channel|>commentary to=functions.get_weather<|message|>{"city": "Rome"\n'
        "<|channel|>final<|message|>Done<|return|>",
        [],
        "Done",
        ["malformed-json"],
    ),
]


@pytest.mark.parametrize(
    ("dialect", "text", "calls", "content", "findings"),
    [*NO_ARGUMENT_IS_THROWN_AWAY, *OPENERS, *JSON, *SEVERAL],
)
def test_what_a_model_got_wrong_is_read_or_told(
    dialect: str,
    text: str,
    calls: list[tuple[str, dict[str, Any]]],
    content: str,
    findings: list[str],
) -> None:
    tools = [] if "unknown-tool" in findings else TOOLS
    result = parse(text, dialect, tools)
    assert [(call.name, call.arguments) for call in result.tool_calls] == calls
    assert result.content == content
    assert [f.code for f in result.findings] == [f for f in findings if f != "unknown-tool"]
    data = text.encode()
    assert parse([data[i : i + 1] for i in range(len(data))], dialect, tools) == result


def test_entities_are_read_where_the_switch_says_so() -> None:
    text = "<function=get_weather><parameter=city>&lt;Rome&gt;</parameter></function>"
    decoded = parse(text, "openhands", TOOLS, switches=Switches(entities="decoded"))
    assert decoded.tool_calls[0].arguments == {"city": "<Rome>"}
    assert parse(text, "openhands", TOOLS).tool_calls[0].arguments == {"city": "&lt;Rome&gt;"}
