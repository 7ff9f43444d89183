"""What models get wrong, and what is read of it: never a call without what stood in it.

A row is a reply, the calls that are delivered, what is content, and the findings that say so. Each
is read whole and byte by byte.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from strategies import DIALECTS, GENERAL

from playground.base.findings import MENDING
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.messages import ToolCallPart
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.switches import Switches
from playground.parsing.syntax import Syntax

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
_FUNCTION: Final = "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>"
_JSON: Final = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
_OSLO_JSON: Final = _JSON.replace("Rome", "Oslo")
_KIMI: Final = (
    "<|tool_calls_section_begin|><|tool_call_begin|>%s<|tool_call_argument_begin|>"
    '{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>'
)
Row = tuple[str, str, list[tuple[str, dict[str, Any]]], str, list[str]]

# in an open section, what is left of a call is text, and so is what follows it
_BROKEN: Final = '[{"name"%s "f", "arguments": {"name": "get_weather", "city": "Oslo"}}]'
_REST: Final = '%s "arguments": {"name": "get_weather", "city": "Oslo"}}'
_MINIMAX: Final = '<minimax:tool_call>\n<invoke name="get_weather">\n</invoke>'
_LEGACY: Final = (
    "<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n"
    "<city>Rome</city>\n</parameters>\n</invoke>"
)
LEFT_IN_A_SECTION: Final[list[Row]] = [
    *(
        (d, opener + _BROKEN % ",:" + closer, [], _REST % ',: "f",' + end, findings)
        for d, opener, closer, end, findings in (
            (
                "functools",
                "functools",
                "",
                "]",
                ["malformed-json", "missing-opener", "unclosed-section"],
            ),
            (
                "nemotron-v2",
                "<TOOLCALL>",
                "</TOOLCALL>",
                "",
                ["malformed-json", "missing-opener"],
            ),
        )
    ),
    (
        "nemotron-v2",
        f"<TOOLCALL>{_BROKEN}</TOOLCALL>".replace('%s "f', ': "<f'),
        [],
        _REST % '<f",',
        ["missing-name", "missing-opener"],
    ),
    (
        "minimax-m2",
        f'{_MINIMAX}\nSee <invoke name="<too',
        [("get_weather", {})],
        '\nSee <invoke name="<too',
        ["bare-opener", "unclosed-section"],
    ),
    (
        "anthropic-legacy",
        f"{_LEGACY}\n</parameters></invoke><invoke>\n<tool_name>",
        [ROME],
        "<invoke>\n<tool_name>",
        ["orphan-closer", "bare-opener", "unclosed-section"],
    ),
]

_INKLING: Final = '<|content_invoke_tool_json|>{"name": "get_weather", "args": {"city": "%s"}}'

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
        ["unknown-tool", "missing-closer"],
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
        ["mended-name", "unknown-argument"],
    ),
    (
        "qwen3-coder",
        "<function=get_weather><parameter=tags>a</parameter><parameter=tags>b</parameter></function>",
        [("get_weather", {"tags": ["a", "b"]})],
        "",
        ["duplicate-argument"],
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
        ["bare-opener"],
    ),
    *(
        (d, f"The marker is {opener} here.", [], f"The marker is {opener} here.", ["bare-opener"])
        for d, opener in (
            ("qwen3-coder", "<function=f>"),
            ("minimax-m2", '<invoke name="f">'),
            ("minicpm5", '<function name="f">'),
            ("hermes", "<tool_call>"),
            ("longcat", "<longcat_tool_call>"),
            ("internlm2", "<|action_start|><|plugin|>"),
        )
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
        ["bare-opener", "bare-opener", "orphan-closer", "orphan-closer"],
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
    (
        "kimi-k3",
        '<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument '
        'key="a&amp;b&quot;" type="string"<|sep|>&lt;<|close|>argument<|sep|><|close|>call<|sep|>'
        "<|close|>tools<|sep|>",
        [("get_weather", {'a&b"': "&lt;"})],
        "",
        ["unknown-argument"],
    ),
    (
        "minimax-m2",
        "It ends with </tool_call> here.",
        [],
        "It ends with </tool_call> here.",
        ["near-marker"],
    ),
    # the beginning of a second call was markup, in silence
    (
        "react",
        'Action: get_weather\nAction Input: {"city": "Rome"}\nAction: get_weather!',
        [ROME],
        "Action: get_weather!",
        ["near-marker"],
    ),
    # only a call ends this reasoning, so one that could not be read was reasoning, in silence
    *(
        ("dspy-chat", f"[[ ## next_thought ## ]]\nI look.\n{text}", [], "", [code])
        for text, code in (
            ('[[ ## next_tool_name ## ]]\nget_weather\n{"city": "Rome"}', "near-marker"),
            ('[[ ## next_tool ## ]]\nget_weather\n{"city": "Rome"}', "unread-call"),
            ('<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>', "foreign-markup"),
        )
    ),
    ("dspy-chat", "[[ ## next_thought ## ]]\nI look for the city.", [], "", []),
    ("gemma4", "tool_code = get_weather(city='Rome')\nprint(tool_code)", [ROME], "", []),
    ("harmony", "<|start|><|channel|>final<|message|>Hi<|return|>", [], "Hi", []),
    ("gemma4", "call:get_weather{city:Rome}", [ROME], "", ["missing-closer"]),
    ("gemma4", 'call:get_weather{"city":"Rome"}', [ROME], "", ["missing-closer"]),
    ("gemma4", "recall:x{y}", [], "recall:x{y}", []),
    ("gemma4", "<|tool_call>call:get_weather(city='Rome')<tool_call|>", [ROME], "", []),
    ("gemma4", "```tool_code\nget_weather(city='Rome')\n```", [ROME], "", []),
    ("gemma3", "```tool_code\nprint(get_weather(city='Rome'))\n```", [ROME], "", []),
]

# A tool that the session does not have: told, where its name alone would make it text.
UNKNOWN: Final[list[Row]] = [
    *(
        (dialect, text, [], text, ["unknown-tool"])
        for dialect, text in (
            ("xml", "So <get_wether>\n<city>Rome</city>\n</get_wether> ok"),
            ("xml", "So <forecast>\n<city>Rome</city>\n</forecast> ok"),  # by its parameter
            ("xml", "So <weatherGet></weatherGet> ok"),
            ("xml", "So <get_wether>\n<city>Rome"),
            ("pythonic", "So [get_wether(city='Rome')] ok"),
            ("lfm2", "So <|tool_call_start|>[get_wether()]<|tool_call_end|> ok"),
            ("granite-pythonic", "get_wether(city='Rome')"),
            ("gemma3", "```tool_code\nget_wether(city='Rome')\n```\nok"),
        )
    ),
    *(
        (dialect, text, [], text, [])
        for dialect, text in (
            ("xml", "<ul>\n<li>Rome</li>\n</ul> and <p></p>"),
            ("pythonic", "[f(x=1)] is a list"),
        )
    ),
    (
        "xml",
        "<get_wether>\n<city>\n<get_weather>\n<city>Rome</city>\n</get_weather>",
        [ROME],
        "<get_wether>\n<city>\n",
        ["unknown-tool"],
    ),
    (
        "muse",
        ' to=get_news<|message|><atem:function_calls><atem:invoke name="get_weather">'
        '<atem:parameter name="city">Rome</atem:parameter></atem:invoke></atem:function_calls>',
        [],
        "",
        ["other-recipient"],
    ),
    (
        "minicpm5",
        '<function name="outer"><function name="get_weather"><param name=" city ">Rome</param>'
        "</function>",
        [ROME],
        '<function name="outer">',
        ["unknown-tool", "unreadable-call"],
    ),
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
        (_JSON.replace(",", ", // don't\r"), "Rome", ["relaxed-json"]),
        (_JSON.replace('"', '\\"'), "Rome", ["relaxed-json"]),
    )
]

# Arguments that stand where the form has none: beside the name, under another key, twice.
ELSEWHERE: Final[list[Row]] = [
    ("hermes", f"<tool_call>{{{text}}}</tool_call> ok", calls, " ok", findings)
    for text, calls, findings in (
        ('"name": "get_weather", "city": "Rome", "id": "x"', [ROME], ["arguments-elsewhere"]),
        ('"name": "get_weather", "args": {"city": "Rome"}', [ROME], ["arguments-elsewhere"]),
        (
            '"name": "get_weather", "arguments": {"city": "Rome"}, "parameters": {}',
            [ROME],
            ["duplicate-argument"],
        ),
        ('"name": get_weather, "arguments": {"city": "Rome"}', [ROME], ["relaxed-json"]),
        (
            '"name": "get_weather", "arguments": {"city": New York}',
            [("get_weather", {"city": "New York"})],
            ["relaxed-json"],
        ),
        (
            '"name": "get_weather", "arguments": {"city": 2026-11-02}',
            [("get_weather", {"city": "2026-11-02"})],
            ["relaxed-json"],
        ),
        ('"name": "get_weather", "arguments": just text', [], ["malformed-json"]),
        ('"name": "get_weather", "arguments": {"city": "Rome"}}', [ROME], ["unexpected-text"]),
        ('"name": "get_weather:0", "arguments": {"city": "Rome"}', [ROME], ["mended-name"]),
        ('"name": "get_weather[1]", "arguments": {"city": "Rome"}', [ROME], ["mended-name"]),
        ('"name": "functions.get_weather", "arguments": {"city": "Rome"}', [ROME], ["mended-name"]),
    )
]

_NEXT: Final = "<function=get_weather><parameter=city>Oslo</parameter></function>"
# A parameter that never ended, or held what looked like its end.
VALUES: Final[list[Row]] = [
    (
        "openhands",
        f"<function=get_weather><parameter=city>Ro{_NEXT} ok",
        [OSLO],
        " ok",
        ["malformed-arguments"],
    ),
    *(
        (
            "openhands",  # what is no text is put right, as JSON is in a call of JSON
            f"<function=get_weather><parameter={key}>{text}</parameter></function>",
            [("get_weather", {key: value})],
            "",
            findings,
        )
        for key, text, value, findings in (
            ("days", "3,", 3, ["relaxed-json"]),
            ("days", "```\n3\n```", 3, ["relaxed-json"]),
            ("tags", '["a", "b"', ["a", "b"], ["relaxed-json"]),
            ("tags", '["a", "b"]]', ["a", "b"], ["relaxed-json"]),
            ("tags", '```json\n["a"]\n```', ["a"], ["relaxed-json"]),
            ("tags", '["a"] and ["b"]', '["a"] and ["b"]', ["type-mismatch"]),
            ("days", "3 4", "3 4", ["type-mismatch"]),
            ("days", "3</parameter>", 3, ["doubled-closer"]),
            ("city", "Rome</parameter>", "Rome", ["doubled-closer"]),
        )
    ),
    (
        "anthropic-invoke",  # an argument whose opener was forgotten is no text to leave out
        '<invoke name="get_weather">\ndays">3</parameter>\n'
        '<parameter name="city">Rome</parameter>\n</invoke>',
        [],
        "",
        ["unexpected-text", "malformed-arguments"],
    ),
    (
        "minimax-m2",  # a closer in another case
        _MINIMAX.replace(
            "\n</invoke>",
            '<parameter name="city">Oslo</Parameter>\n<parameter name="days">3</parameter>'
            "</invoke>",
        )
        + "</minimax:tool_call>",
        [("get_weather", {"city": "Oslo", "days": 3})],
        "",
        ["missing-closer"],
    ),
    *(
        (
            "granite-20b-fc",  # its own opener: the call before it was cut off
            f'<function_call> {{"name": "get_weather", "arguments": {cut}<function_call> '
            '{"name": "get_weather", "arguments": {"city": "Rome"}}',
            [("get_weather", {"city": "Rome"})],
            "",
            ["malformed-json"],
        )
        for cut in ("", "[", '{"days": ')
    ),
    (
        "muse",  # a call in a value
        ' to=get_weather<|message|><atem:function_calls><atem:invoke name="get_weather">'
        '<atem:parameter name="city">a <atem:invoke name="f"></atem:parameter></atem:invoke>'
        "</atem:function_calls>",
        [("get_weather", {"city": 'a <atem:invoke name="f">'})],
        "",
        ["marker-in-value"],
    ),
    *(
        (dialect, text, [], text if whole else text[text.index('": {"') :], findings)
        for dialect, text, whole, findings in (  # a value of a broken call is no call of its own
            (
                "llama3-json",
                '<|python_tag|>{"name":"f",t": {"meta": {"name": "get_weather", "parameters": {}}}',
                True,
                ["unknown-tool", "malformed-json", "missing-opener"],
            ),
            (
                "granite",
                '<|tool_call|>[{"name":"f",t": {"tags": [{"name": "get_weather", "arguments": {}}]',
                False,
                ["unknown-tool", "malformed-json", "missing-opener", "unclosed-section"],
            ),
            (
                "xlam",
                '[{"name": "f" "arguments": {"tags": [{"name": "get_weather", "arguments": {}}]}}]',
                True,
                ["missing-opener"],
            ),
        )
    ),
    (
        "inkling",  # a call by free text, which is a call of no tool
        "<|content_invoke_tool_text|>look it up<|end_message|>",
        [],
        "look it up",
        ["bare-opener"],
    ),
    (
        "openhands",  # a value may speak of other functions
        "<function=get_weather><parameter=city>a <function=f><parameter=b></parameter></function>",
        [("get_weather", {"city": "a <function=f><parameter=b>"})],
        "",
        ["marker-in-value"],
    ),
    (
        "qwen3-coder",
        "<tool_call><function=get_weather><parameter=city>Rome</parameter> x </function>"
        "</tool_call>",
        [ROME],
        "",
        ["unexpected-text"],
    ),
    (
        "glm",
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>a</arg_value> b</arg_value>"
        "</tool_call>",
        [("get_weather", {"city": "a</arg_value> b"})],
        "",
        ["marker-in-value"],
    ),
    *(
        (
            "qwen3-coder",
            f"<tool_call>{_FUNCTION}</tool_call>".replace("=city>", end),
            [ROME],
            "",
            [],
        )
        for end in ("=city >", "= city>", "= city >", " = city >")
    ),
    (
        "minimax-m3",
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Rome'
        "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
        [ROME],
        "",
        ["missing-closer"],
    ),
    (
        "qwen3-coder",
        "<tool_call>\r\n<function=get_weather>\r\n<parameter=city>\r\nRome\r\n</parameter>\r\n"
        "</function>\r\n</tool_call>",
        [ROME],
        "",
        [],
    ),
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

# bodies in a list or a fence, in Python, and in forms that models know from other APIs
OTHER_BODIES: Final[list[Row]] = [
    *(
        (d, f"{before}{body}{after} ok", [ROME], " ok", ["wrapped-body"])
        for d, before, after in (
            ("hermes", "<tool_call>\n", "\n</tool_call>"),
            ("longcat", "<longcat_tool_call>", "</longcat_tool_call>"),
            ("glm", "<tool_call>", "</tool_call>"),
            ("qwen3-coder", "<tool_call>", "</tool_call>"),
        )
        for body in (f"```json\n{_JSON}\n```", f"[{_JSON}]", f"```\n[{_JSON}]\n```")
    ),
    (
        "longcat",
        f"<longcat_tool_call>[{_JSON}, {_OSLO_JSON}]</longcat_tool_call>",
        [ROME, OSLO],
        "",
        ["wrapped-body"],
    ),
    *(
        (d, f'{before}get_weather(city="Rome"){after}', [ROME], "", [])
        for d, before, after in (
            ("hermes", "<tool_call>\n", "\n</tool_call>"),
            ("ernie45", "<tool_call>", "</tool_call>"),
            ("glm", "<tool_call>", "</tool_call>"),
            ("qwen3-coder", "<tool_call>", "</tool_call>"),
        )
    ),
    *(
        ("hermes", f"<tool_call>{body}</tool_call>", [ROME], "", [code])
        for body, code in (
            (f'{{"type": "function", "function": {_JSON}}}', "arguments-wrapped"),
            ('{"get_weather": {"city": "Rome"}}', "mended-name"),
            ('{"tool": "get_weather", "arguments": {"city": "Rome"}}', "mended-name"),
        )
    ),
    (
        "hermes",
        f'<tool_call>{_JSON[:-1]}, "why": "so"}}</tool_call>',
        [ROME],
        "",
        ["unexpected-text"],
    ),
    (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {}, "city": "Rome"}</tool_call>',
        [ROME],
        "",
        ["arguments-elsewhere"],
    ),
    (
        "inkling",
        '<|content_invoke_tool_json|>{"name": "get_weather", "arguments": ["Rome"]}<|end_message|>',
        [],
        "",
        ["arguments-elsewhere", "arguments-not-object"],
    ),
    (
        "openhands",
        "<function=get_weather><parameter=city>Rome</parameter> I think.</function>",
        [ROME],
        "",
        ["unexpected-text"],
    ),
    ("gemma4", "<|tool_call><tool_call|>", [], "", ["bare-opener", "orphan-closer"]),
    (
        "gptme-xml",
        "<tool-use><tool-use>\n<write>\nx\n</write>\n</tool-use>",
        [("write", {"content": "x"})],
        "",
        ["doubled-opener", "unknown-tool"],
    ),
]


_HEADED: Final = {
    "deepseek-v3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>%s"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "kimi-k2": _KIMI.replace('{"city": "Rome"}', "%%s") % "functions.get_weather:0",
    "mistral": "[TOOL_CALLS]get_weather[ARGS]%s</s>",
    "harmony": "<|channel|>commentary to=functions.get_weather<|message|>%s<|call|>",
    "llama3-function": "<function=get_weather>%s</function>",
    "hermes": '<tool_call>{"name": "get_weather", "arguments": %s}</tool_call>',
}
_ODD_ARGUMENTS: Final[list[tuple[str, dict[str, Any], list[str]]]] = [
    # an object in a text, or nothing at all
    ('"{\\"city\\": \\"Rome\\"}"', {"city": "Rome"}, ["arguments-as-text"]),
    ("null", {}, []),
    ('""', {}, []),
    # one level of escaping too many
    ('{\\"city\\": \\"a\\\\\\"}\\"}', {"city": 'a"}'}, ["relaxed-json"]),
    ("{&quot;city&quot;: &quot;Rome&quot;}", {"city": "Rome"}, ["relaxed-json"]),
    # an object inside one that only wraps it
    ('{"arguments": {"city": "Rome"}}', {"city": "Rome"}, ["arguments-wrapped"]),
    # quotes that nobody escaped, and a comma that is not there
    ('{"city": "the "big" one"}', {"city": 'the "big" one'}, ["relaxed-json"]),
    ('{"city": "Rome" "days": 3}', {"city": "Rome", "days": 3}, ["relaxed-json"]),
]
ARGUMENTS: Final[list[Row]] = [
    (dialect, text % odd, [("get_weather", meant)], "", findings)
    for dialect, text in _HEADED.items()
    for odd, meant, findings in _ODD_ARGUMENTS
]

_CUT: Final = '{"city": "Ro'
CUT: Final[list[Row]] = [
    # a call that was cut, and the whole one behind it
    (
        "deepseek-v3.1",
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{_CUT}"
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        '{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [OSLO],
        "",
        ["malformed-json"],
    ),
    (
        "mistral",
        f'[TOOL_CALLS]get_weather[ARGS]{_CUT}[TOOL_CALLS]get_weather[ARGS]{{"city": "Oslo"}}',
        [OSLO],
        "",
        ["malformed-json"],
    ),
    (
        "nemotron-v2",
        f"<TOOLCALL>[{_JSON[:50]}\n<TOOLCALL>[{_OSLO_JSON}]</TOOLCALL>",
        [OSLO],
        "",
        ["malformed-json"],
    ),
    # in its name
    (
        "hermes",
        f"<tool_call>{_JSON[:15]}\n<tool_call>{_OSLO_JSON}</tool_call>",
        [OSLO],
        "",
        ["missing-name", "unexpected-text"],
    ),
]
_FUNCTION_CALL: Final = '<function=get_weather>{"city": "Rome"}</function>'
_NEST: Final = f"{'[' * 5_000}{']' * 5_000}"
_INVOKE: Final = (
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n'
    "</invoke>\n</function_calls>"
)
_MENDED: Final = ["mended-opener", "mended-opener"]
ATTRIBUTES: Final[list[Row]] = [
    ("anthropic-invoke", _INVOKE.replace('"', "'"), [ROME], "", _MENDED),
    ("anthropic-invoke", _INVOKE.replace('"', ""), [ROME], "", _MENDED),
    (
        "anthropic-invoke",
        '<function_calls>\n<invoke name="get_weather"/>\n</function_calls>',
        [("get_weather", {})],
        "",
        [],
    ),
    ("openhands", _FUNCTION.replace("=get_weather", '="get_weather"'), [ROME], "", _MENDED[1:]),
    ("openhands", _FUNCTION.replace("=get_weather", " = get_weather"), [ROME], "", []),
    ("openhands", _FUNCTION.replace("=city", ' name="city"'), [ROME], "", _MENDED[1:]),
    (
        "deepseek-dsml",
        "<｜DSML｜tool_calls><｜DSML｜invoke name='get_weather'>"
        "<｜DSML｜parameter name='days' string='false'>3</｜DSML｜parameter>"
        "</｜DSML｜invoke></｜DSML｜tool_calls>",
        [("get_weather", {"days": 3})],
        "",
        _MENDED,
    ),
]

NAMES: Final[list[Row]] = [
    # a namespace before a name that the form looks for
    *(
        (dialect, text, [ROME], "", ["mended-name"])
        for dialect, text in (
            ("xml", "<functions.get_weather><city>Rome</city></functions.get_weather>"),
            ("lfm2", '<|tool_call_start|>[tools.get_weather(city="Rome")]<|tool_call_end|>'),
        )
    ),
    # an opener twice that goes on with a name
    *(
        (dialect, text, [ROME], "", ["doubled-opener"])
        for dialect, text in (
            ("mistral", '[TOOL_CALLS][TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}'),
            ("llama3-function", f"<function={_FUNCTION_CALL}"),
        )
    ),
    # an object in a list
    (
        "hermes",
        _HEADED["hermes"] % '[{"city": "Rome"}]',
        [ROME],
        "",
        ["arguments-wrapped"],
    ),
]
DEEP: Final[list[Row]] = [
    # what is too deep to read is the text that it is, and the rest of the call is read
    (
        dialect,
        f"{opener}get_weather{{city:{mark}Rome{mark},tags:{_NEST}}}{closer}",
        [("get_weather", {"city": "Rome", "tags": _NEST})],
        "",
        ["too-deep", "type-mismatch"],
    )
    for dialect, opener, mark, closer in (
        ("gemma4", "<|tool_call>call:", '<|"|>', "<tool_call|>"),
        ("functiongemma", "<start_function_call>call:", "<escape>", "<end_function_call>"),
    )
]
_M3: Final = "]<]minimax[>["
ELEMENTS: Final[list[Row]] = [
    # text beside elements is in no value that they could make
    (
        "minimax-m3",
        f'{_M3}<tool_call>\n{_M3}<invoke name="get_weather">{_M3}<tags>first {_M3}<b>x{_M3}</b>'
        f"{_M3}</tags>{_M3}</invoke>\n{_M3}</tool_call>",
        [("get_weather", {"tags": f"first {_M3}<b>x{_M3}</b>"})],
        "",
        ["type-mismatch"],
    ),
]

PYTHON: Final[list[Row]] = [
    # prose behind a call's bracket is no part of its last string
    (
        "granite-pythonic",
        "get_weather(city='Rome')It is so.\nget_weather(city='Oslo', days=1)\nDone.",
        [ROME, ("get_weather", {"city": "Oslo", "days": 1})],
        "It is so.\n\nDone.",
        [],
    ),
    # but quotes that nobody escaped are
    (
        "granite-pythonic",
        "get_weather(city='print('a') or so', days=1)",
        [("get_weather", {"city": "print('a') or so", "days": 1})],
        "",
        ["relaxed-python"],
    ),
]


ALSO_WRITTEN: Final[list[Row]] = [  # what other servers' parsers read of the same models
    (
        "inkling",
        f"Well.<|end_message|><|message_model|>get_weather{_INKLING % 'Rome'}<|end_message|>"
        f"<|message_model|>get_weather{_INKLING % 'Oslo'}<|end_message|>"
        "<|content_model_end_sampling|>",
        [ROME, OSLO],
        "Well.",
        [],
    ),
    (
        "longcat",
        "<longcat_tool_call>get_weather\n<longcat_arg_key>city</longcat_arg_key>\n"
        "<longcat_arg_value>Rome</longcat_arg_value>\n</longcat_tool_call>",
        [ROME],
        "",
        [],
    ),
    (
        "hermes",
        f"{_JSON}\n</tool_call>",
        [],
        f"{_JSON}\n</tool_call>",
        ["missing-opener", "orphan-closer"],
    ),
    ("functools", f"[{_JSON}]", [], f"[{_JSON}]", ["missing-opener"]),
    ("pythonic", "get_weather(city='Rome')", [], "get_weather(city='Rome')", ["missing-opener"]),
    ("olmo3", "[get_weather(city='Rome')]", [], "[get_weather(city='Rome')]", ["missing-opener"]),
    ("pythonic", "It is get_weather(city='Rome').", [], "It is get_weather(city='Rome').", []),
    ("pythonic", "[configure(on=True)]", [], "[configure(on=True)]", ["unknown-tool"]),
    ("lfm2", "[configure(on=True)]\nOK", [], "[configure(on=True)]\nOK", ["unknown-tool"]),
    # a form that is read beside the first one knows the tools, too
    ("functionary-v3.2", "hello {x}", [], "hello {x}", []),
    ("functionary-v3.2", ">>>all\nhello {x}", [], "\nhello {x}", []),
    ("functionary-v3.2", '>>>all\n\n{"a": 1}', [], '\n\n{"a": 1}', []),
    (
        "pythonic",
        f"[get_weather(city='Rome', {'k' * 90}=1)]",
        [("get_weather", {"city": "Rome", "k" * 90: 1})],
        "",
        ["unknown-argument"],
    ),
]


_BARE: Final = "get_weather{city:%s}"
STRIPPED: Final[
    list[Row]
] = [  # what is left where a server strips what its tokenizer calls special
    (
        "mistral",
        'get_weather[ARGS]{"city": "Rome"}',
        [],
        'get_weather[ARGS]{"city": "Rome"}',
        ["missing-opener"],
    ),
    (
        "glm",
        "get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value>",
        [],
        "get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value>",
        ["missing-opener", "orphan-closer"],
    ),
    (
        "qwen3-coder",
        "<parameter=city>\nRome\n</parameter>",
        [],
        "<parameter=city>\nRome\n</parameter>",
        ["missing-opener", "orphan-closer"],
    ),
]
SPACED: Final[list[Row]] = [
    ("mistral", '[TOOL_CALLS] get_weather [ARGS] {"city": "Rome"}', [ROME], "", ["mended-opener"]),
    (
        "mistral",
        "[TOOL_CALLS] get_weather is one",
        [],
        "[TOOL_CALLS] get_weather is one",
        ["bare-opener"],
    ),
    (
        "glm",
        "<tool_call>\nget_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
        [ROME],
        "",
        ["mended-opener"],
    ),
    (
        "gemma4",
        '<|tool_call>call: get_weather{city:<|"|>Rome<|"|>}<tool_call|>',
        [ROME],
        "",
        ["mended-opener"],
    ),
]
WHOLE_CALLS: Final[list[Row]] = [  # where only arguments, or only double quotes, are expected
    (
        "mistral",
        '[TOOL_CALLS]{"name": "get_weather", "arguments": {"city": "Rome"}} So.',
        [ROME],
        " So.",
        ["arguments-wrapped"],
    ),
    ("mistral", '[TOOL_CALLS]{"city": "Rome"}', [("", {"city": "Rome"})], "", ["missing-name"]),
    (
        "llama3-json",
        "{'name': 'get_weather', 'parameters': {'city': 'Rome'}}",
        [ROME],
        "",
        ["relaxed-json"],
    ),
    (
        "llama3-json",
        '{"function": "get_weather", "parameters": {"city": "Rome"}}',
        [ROME],
        "",
        ["mended-name"],
    ),
    *(
        (d, f'{before}"function": {{"name": "get_weather", "{key}": {{"city": "Rome"}}}}}}{after}')
        + ([ROME], "So  it is.", ["arguments-wrapped"])
        for d, key, before, after in (
            ("llama3-json", "parameters", 'So {"type": "function", ', " it is."),
            ("llama3-json", "arguments", 'So {"id": "1", "type": "function", ', " it is."),
            ("llama3-json", "parameters", "So {", " it is."),
            ("xlam", "arguments", 'So [{"type": "function", ', "] it is."),
        )
    ),
]

# An object around a whole call may lack its own end.
TORN_WRAPPERS: Final[list[Row]] = [
    (d, text + end, [ROME], end.lstrip(), ["arguments-wrapped", "missing-closer"])
    for d, text in (
        (
            "llama3-json",
            f'{{"type": "function", "function": {_JSON}'.replace("arguments", "parameters"),
        ),
        ("granite-20b-fc", f'<function_call> {{"function": {_JSON}'),
    )
    for end in ("", "\n\nDone.")
]

# Where nothing shows that a call is meant, what a repair takes for an opener is prose.
NO_CALL: Final[list[Row]] = [
    *(
        (d, text, [], text, findings)
        for d, text, findings in (
            ("functools", "the module functools{The file} is", ["bare-opener"]),
            ("functools", 'the module functools{"a": 1} is', ["bare-opener"]),
            ("granite", 'see <|tool_call|>{"a": 1} there', ["bare-opener"]),
            ("apertus", "see <|tools_prefix|>{x} there", ["bare-opener"]),
            ("react-json", "The style:\n```\n{ color: red }\n```\nand so on", []),
            ("react-json", 'The file:\n```\n{"a": [1, 2]}\n```\nand so on', []),
        )
    ),
]

_MARK: Final = "]<]minimax[>["
_WEATHER: Final = f'{_MARK}<invoke name="get_weather">'
# A call that begins in a value is seen, though its tag may be a key's as far as it has come.
CALL_IN_A_VALUE: Final[list[Row]] = [
    (
        "minimax-m3",
        f"{_MARK}<tool_call>\n{_WEATHER}{_MARK}<city>Rome{_WEATHER}{_MARK}<city>Oslo{_MARK}</city>"
        f"{_MARK}</invoke>\n{_MARK}</tool_call>",
        [OSLO],
        "",
        ["malformed-arguments"],
    ),
    ("minimax-m3", f"{_WEATHER}{_MARK}<city>{_MARK}<invoke n", [], "", ["truncated-call"]),
]

# What a value holds up to its closer is the value's own, half an opener too.
HALF_AN_OPENER: Final[list[Row]] = [
    (
        d,
        f"{section}{call}get_weather{named}{param}city{value}one {half}{after}",
        [("get_weather", {"city": f"one {half}"})],
        "",
        findings,
    )
    for d, section, call, named, param, value, after, findings in (
        (
            "dots",
            "<dots_function_call>",
            '<invoke name="',
            '">',
            '<parameter name="',
            '">',
            "</parameter></invoke></dots_function_call>",
            ["marker-in-value"],
        ),
        (
            "minicpm5",
            "",
            '<function name="',
            '">',
            '<param name="',
            '">',
            "</param></function>",
            ["marker-in-value"],
        ),
        (
            "kimi-k3",
            "<|close|>think<|sep|><|open|>tools<|sep|>",
            '<|open|>call tool="',
            '" index="1"<|sep|>',
            '<|open|>argument key="',
            '" type="string"<|sep|>',
            "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
            ["marker-in-value"],
        ),
    )
    for half in (call, f"{call}get_w")
]
UNMARKED: Final[list[Row]] = [  # Gemma's texts without their marks
    (
        "gemma4",
        f"<|tool_call>call:{_BARE % 'Rome, Italy,days:2'}<tool_call|>",
        [("get_weather", {"city": "Rome, Italy", "days": 2})],
        "",
        ["relaxed-json"],
    ),
    (
        "gemma4",
        f"<|tool_call>call:{_BARE % 'at 10:00, 11:00 or f(a, [1])'}<tool_call|>",
        [("get_weather", {"city": "at 10:00, 11:00 or f(a, [1])"})],
        "",
        ["relaxed-json"],
    ),
    (
        "gemma4",
        '<|tool_call>call:get_weather{city:say "Rome, days: 3",days:2}<tool_call|>',
        [("get_weather", {"city": 'say "Rome, days: 3"', "days": 2})],
        "",
        ["relaxed-json"],
    ),
    (
        "gemma4",
        "<|tool_call>call:get_weather{Rome}<tool_call|>",
        [],
        "<|tool_call>call:get_weather{Rome}<tool_call|>",
        ["malformed-arguments"],
    ),
]
FENCED: Final[list[Row]] = [  # a fence right behind reasoning: text begins there
    (
        "hermes",
        f"<think>So.</think>```json\n{{}}\n```\n<tool_call>\n{_JSON}\n</tool_call>",
        [ROME],
        "```json\n{}\n```\n",
        [],
    ),
    (
        "hermes",
        f"<think>So.</think>```json\n<tool_call>\n{_JSON}\n</tool_call>\n```",
        [],
        f"```json\n<tool_call>\n{_JSON}\n</tool_call>\n```",
        ["call-in-fence"],
    ),
    ("hermes", "<think>So.</think>```\nx\n```<|im_end|>", [], "```\nx\n```", []),
]
_FENCED_PYTHON: Final = '```tool_code\nget_weather(city="Rome")\n```'
_BRACE_BEFORE: Final = (
    "Use it, and {x}, here.\n" + "word " * 3997 + f"\n<tool_call>\n{_JSON}\n</tool_call>"
)
FOREIGN: Final[list[Row]] = [  # a call of another dialect is text, and never silently
    ("gemma4", f"Well: {_JSON}", [], f"Well: {_JSON}", ["foreign-markup"]),
    (
        "deepseek-dsml",
        '<invoke name="get_weather"><parameter name="city">Rome</parameter></invoke>',
        [],
        '<invoke name="get_weather"><parameter name="city">Rome</parameter></invoke>',
        ["foreign-markup"],
    ),
    (
        "gemma4",
        '{\n  "name": "get_weather",\n  "arguments": {\n    "city": "Rome"\n  }\n}',
        [],
        '{\n  "name": "get_weather",\n  "arguments": {\n    "city": "Rome"\n  }\n}',
        ["foreign-markup"],
    ),
    ("hermes", "call:get_other{city:Rome}", [], "call:get_other{city:Rome}", []),
    ("gemma4", f"```json\n{_JSON}\n```", [], f"```json\n{_JSON}\n```", ["foreign-markup"]),
    ("hermes", "Call the arguments <b>tools</b>.", [], "Call the arguments <b>tools</b>.", []),
    *((d, _FENCED_PYTHON, [], _FENCED_PYTHON, ["foreign-markup"]) for d in ("hermes", "xml")),
    # a brace far before the first marker moves no marker out of what is looked at
    ("xml", _BRACE_BEFORE, [], _BRACE_BEFORE, ["foreign-markup"]),
]

STUTTERED: Final[list[Row]] = [  # closers once more, braces twice, as templates write them
    ("hermes", f"<tool_call>{_JSON}</tool_call></tool_call> ok", [ROME], " ok", ["orphan-closer"]),
    (
        "openhands",
        "<function=f></function></function>",
        [("f", {})],
        "",
        ["unknown-tool", "orphan-closer"],
    ),
    (
        "hermes",
        '<tool_call>{{"name": "get_weather", "arguments": {{"city": "Rome"}}}}</tool_call>',
        [ROME],
        "",
        ["relaxed-json"],
    ),
    ("mistral", '[TOOL_CALLS]get_weather[ARGS]{{"city": "Rome"}}', [ROME], "", ["relaxed-json"]),
    (
        "hermes",
        '<tool_call>{{{"name": "get_weather", "arguments": {}}}}</tool_call>',
        [],
        "",
        ["malformed-json", "unexpected-text"],
    ),
]
SERVERS_SAW: Final[list[Row]] = [  # forms that the suites of other servers have
    *(
        ("llama3-function", f"<function{slipped}</function>", [ROME], "", [])
        for slipped in (
            '=get_weather{"city": "Rome"}',
            '=get_weather({"city": "Rome"})',
            '=get_weather,{"city": "Rome"}',
            '(get_weather){"city": "Rome"}',
            '>get_weather{"city": "Rome"}',
        )
    ),
    (
        "glm",
        "<tool_call>  get_weather\n  <arg_key>  city </arg_key>\n  <arg_value>Rome</arg_value>\n"
        "  </tool_call>",
        [ROME],
        "",
        ["mended-opener"],
    ),
    *(
        (d, f"<tool_call{s}>{_JSON}</tool_call{s}>", [ROME], "", [])
        for d, s in (("hunyuan", ""), ("hy3", ":opensource"))
    ),
    (
        "hunyuan",
        '<tool_call>get_weather<tool_sep>\n{"city": "Rome"}\n</tool_call>',
        [ROME],
        "",
        ["arguments-as-json"],
    ),
    (
        "hunyuan",
        '<tool_call>get_weather<tool_sep>{"city": "Rome"}{"days": 3}</tool_call>',
        [],
        '<tool_call>get_weather<tool_sep>{"city": "Rome"}{"days": 3}</tool_call>',
        ["arguments-as-json", "unexpected-text", "malformed-arguments"],
    ),
    (
        "muse",
        " to=commentary<|message|>First.<|eom|><|start|>assistant to=user<|message|>Then.<|eot|>",
        [],
        "First.Then.",
        [],
    ),
    (
        "muse",
        " to=developer<|message|>First.<|eom|><|start|>assistant to=user<|message|>Then.<|eot|>",
        [],
        " to=developer<|message|>First.Then.",
        ["bare-opener"],
    ),
    ("kimi-k2", 'So functions.get_weather:0{"city": "Rome"} ok', [ROME], "So  ok", []),
    ("kimi-k2", "So functions.get_weather:0 it is", [], "So functions.get_weather:0 it is", []),
    (
        "deepseek-v3",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<get_weather>\n```json\n"
        '{"city": "Rome"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [ROME],
        "",
        [],
    ),
    (
        "deepseek-v3.1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        '{"city": "Rome"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [ROME],
        "",
        [],
    ),
    (
        "gemma4",
        '<|tool_call>:call:get_weather{city:<|"|>Rome<|"|>}<tool_call|>',
        [ROME],
        "",
        [],
    ),
    ("gemma4", '<call>get_weather{city:<|"|>Rome<|"|>}', [ROME], "", ["missing-closer"]),
    ("react", 'Action: get_weather\n{"city": "Rome"}', [ROME], "", []),
    (
        "qwen3-coder",
        "<tool_call><function=get_weather>\n<parameter=city>Rome\n</function></tool_call>",
        [ROME],
        "",
        ["missing-closer"],
    ),
]
HALVED: Final[list[Row]] = [  # a call that lacks a part of it behind a whole one
    (
        "kimi-k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|><|tool_call_begin|>{"city": ',
        [ROME],
        "",
        ["truncated-call", "unclosed-section"],
    ),
    (
        "hermes",
        f'get_weather", "arguments": {{"city": "Rome"}}}} <tool_call>{_OSLO_JSON}</tool_call>',
        [OSLO],
        'get_weather", "arguments": {"city": "Rome"}} ',
        ["missing-opener"],
    ),
    (
        "continue",
        "```tool\nTOOL_NAME: get_weather\n\nRome\nEND_ARG\nBEGIN_ARG: days\n3\nEND_ARG\n```",
        [],
        "Rome\nEND_ARG\nBEGIN_ARG: days\n3\nEND_ARG",
        ["malformed-arguments", "orphan-closer", "missing-opener", "orphan-closer"],
    ),
    (
        "continue",
        "```tool\nTOOL_NAME: get_weather\nBEGIN_ARG: days\n3\nEND_ARG\ncity\nRome\nEND_ARG\n```",
        [("get_weather", {"days": 3})],
        "city\nRome\nEND_ARG",
        ["orphan-closer"],
    ),
    ("continue", "```tool\nTOOL_NAME: get_weather\n\n```", [("get_weather", {})], "", []),
    (
        "anthropic-invoke",
        '<parameter name="city">Rome</parameter>',
        [],
        '<parameter name="city">Rome</parameter>',
        ["missing-opener", "orphan-closer"],
    ),
    (
        "xml",
        "<get_weather>\n<city>Rome\n</get_weather>\n\nWell.\n\n<get_weather>\n"
        "<city>Oslo</city>\n</get_weather>",
        [
            (
                "get_weather",
                {"city": "Rome\n</get_weather>\n\nWell.\n\n<get_weather>\n<city>Oslo"},
            )
        ],
        "",
        ["marker-in-value"],
    ),
    (
        "command-r",
        '\n\n    {\n        "tool_name": "get_weather",\n        "parameters": {}\n    }\n]',
        [],
        '\n\n    {\n        "tool_name": "get_weather",\n        "parameters": {}\n    }\n]',
        ["missing-opener"],
    ),
    (
        "llama3-builtin",
        'Well.\nget_weather.call(city="Rome")',
        [],
        'Well.\nget_weather.call(city="Rome")',
        ["missing-opener"],
    ),
    (
        "gptme-tool",
        'Well.\nget_weather(call_1): {"city": "Rome"}',
        [],
        'Well.\nget_weather(call_1): {"city": "Rome"}',
        ["missing-opener"],
    ),
    (
        "aider-editblock",
        "a.py\n\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        [],
        "a.py\n\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        ["missing-opener"],
    ),
    (
        "xml",
        "<get_weather><city>Rome\n</get_weather>\n<get_weather><city>Oslo</city></get_weather>",
        [ROME, OSLO],
        "",
        ["missing-closer"],
    ),
    (
        "anthropic-legacy",
        "<function_calls><invoke><tool_name>get_weather</tool_name><parameters><city>Rome\n"
        "</parameters></invoke><invoke><tool_name>get_weather</tool_name><parameters>"
        "<city>Oslo</city></parameters></invoke></function_calls>",
        [ROME, OSLO],
        "",
        ["missing-closer"],
    ),
    (
        "gemma4",
        'get_weather{city:<|"|>Rome<|"|>}<tool_call|>',
        [],
        'get_weather{city:<|"|>Rome<|"|>}',
        ["orphan-closer"],
    ),
]


def _keyed(dialect: str, *params: str) -> str:
    """A call whose parameters are an element for the key and one for the value."""
    label = "ifm|" if dialect == "k2-horizon" else ""
    body = re.sub(r"<(/?)(?=arg)", rf"<\1{label}", "\n".join(params))
    if dialect == "hunyuan":
        return f"<tool_calls>\n<tool_call>get_weather<tool_sep>\n{body}</tool_call>\n</tool_calls>"
    text = f"<{label}tool_call>get_weather\n{body}\n</{label}tool_call>"
    return f"<ifm|tool_calls>\n{text}\n</ifm|tool_calls>" if label else text


_CITY: Final = "<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>"
_ROME_3: Final = [("get_weather", {"city": "Rome", "days": 3})]
# One of the tags between a key and its value is missing (ollama's glm46 repairs four of them; a
# tenth of GLM 5.2's calls lack the third, vllm#49248) or stands there twice (vllm#54971): the value
# before it, whose closer it would hide, ends where it ends.
TAGS_MISSING: Final[list[Row]] = [
    *(
        (dialect, _keyed(dialect, _CITY, param), _ROME_3, "", ["mended-opener"])
        for dialect in ("glm", "hunyuan", "k2-horizon")
        for param in (
            "<arg_key>days<arg_value>3</arg_value>",
            "<arg_key>days\n<arg_value>3</arg_value>",
            "<arg_key>days</arg_key>3</arg_value>",
            "<arg_key>days</arg_key>\n3</arg_value>",
            "<arg_key>days</arg_key></arg_key><arg_value>3</arg_value>",
            "<arg_key><arg_key>days</arg_key>\n<arg_value>3</arg_value>",
        )
    ),
    (
        "k2-horizon",
        _keyed(
            "k2-horizon",
            "<arg_key>city<arg_type>string</arg_type><arg_value>Rome</arg_value>",
            "<arg_key>days</arg_key><arg_type>integer<arg_value>3</arg_value>",
        ),
        _ROME_3,
        "",
        ["mended-opener", "mended-opener"],
    ),
    (
        "glm",  # a key without a value is none: what is left of the call says so
        _keyed("glm", "<arg_key>city</arg_key>", "<arg_key>days</arg_key>"),
        [],
        "",
        ["unreadable-call", "unexpected-text"],
    ),
    (
        "glm",  # of a parameter that the tool does not have
        _keyed("glm", _CITY.replace("Rome", "a <arg_key>b<arg_value> c")),
        [("get_weather", {"city": "a <arg_key>b<arg_value> c"})],
        "",
        [],
    ),
]

# What a model wrote in the place of Python's keyword arguments, between markers that tell a call;
# a list that nothing tells may be code that somebody shows.
LISTED: Final[list[Row]] = [
    *(
        (
            dialect,
            f"{before}get_weather({given}){after}",
            [("get_weather", read)],
            "",
            ["relaxed-python", *(["type-mismatch"] if None in read.values() else [])],
        )
        for dialect, before, after in (
            ("lfm2", "<|tool_call_start|>[", "]<|tool_call_end|>"),
            ("llama4-pythonic", "<|python_start|>[", "]<|python_end|>"),
            ("olmo3", "<function_calls>", "</function_calls>"),
            ("hermes", "<tool_call>", "</tool_call>"),
        )
        for given, read in (
            ('{"city": "Rome", "days": 3}', {"city": "Rome", "days": 3}),
            ('**{"city": "\\ud83d\\ude00", "days": null}', {"city": "😀", "days": None}),
            ("{'city': 'Rome', 'days': None}", {"city": "Rome", "days": None}),
            ("city=Rome", {"city": "Rome"}),
            ("city=New York, days=3", {"city": "New York", "days": 3}),
            ("city=none of them", {"city": "none of them"}),
        )
    ),
    *(
        (dialect, f"{before}get_weather({given}){after}", [], "", ["malformed-python"])
        for dialect, before, after in (
            ("llama4-pythonic", "<|python_start|>[", "]<|python_end|>"),
            ("pythonic", "[", "]"),
        )
        for given in (
            "city=f(1)",
            "city=a + b",
            "tags=[a]",
            '{"city": "Rome"}, days=3',
            "**given",
            "{1}",
        )
    ),
    *(
        ("pythonic", f"[get_weather({given})]", [], "", ["malformed-python"])
        for given in ("city=Rome", '{"city": "Rome"}', "**{'city': 'Rome'}")
    ),
]

# Objects with texts between marks: no value, no comma, no key.
UNVALUED: Final[list[Row]] = [
    *(
        (
            dialect,
            f"{opener}get_weather{{{body.replace('~', mark)}}}{closer}",
            [("get_weather", read)],
            "",
            ["relaxed-json"],
        )
        for dialect, opener, closer, mark in (
            ("gemma4", "<|tool_call>call:", "<tool_call|>", '<|"|>'),
            ("functiongemma", "<start_function_call>call:", "<end_function_call>", "<escape>"),
        )
        for body, read in (
            ("city:", {"city": ""}),
            ("city:,days:3", {"city": "", "days": 3}),
            ("days:3,city: ,", {"days": 3, "city": ""}),
            ("city:~Rome~ days:3", {"city": "Rome", "days": 3}),
            ("city:~Rome~\ndays:3", {"city": "Rome", "days": 3}),
            ("city:~Rome~days:3", {"city": "Rome", "days": 3}),
            ("tags:[~a~] city:~Rome~", {"tags": ["a"], "city": "Rome"}),
        )
    ),
    (
        "functiongemma",
        "<start_function_call>call:get_weather{:}<end_function_call>",
        [],
        "",
        ["malformed-arguments"],
    ),
]

# Meta's two forms in one model: a JSON object, and the built-in tools' method call.
METHODS: Final[list[Row]] = [
    (
        "llama3-json",
        '<|python_tag|>get_weather.call(city="Rome"); get_weather.call(city="Oslo")',
        [ROME, OSLO],
        "",
        [],
    ),
    (
        "llama3-json",
        'get_weather.call(city="Rome")',
        [],
        'get_weather.call(city="Rome")',
        ["missing-opener"],
    ),
]


ESCAPED_BODIES: Final[list[Row]] = [  # the whole of a call escaped once more, its arguments empty
    ("hermes", f"<tool_call>{body}</tool_call>", [("get_weather", {})], "", ["relaxed-json"])
    for body in (
        r"{\"name\": \"get_weather\", \"arguments\": {}}",
        r"{\"name\": \"get_weather\", \"arguments\": null}",
        r"{\"name\": \"get_weather\"}",
    )
]
RAN_TOGETHER: Final[list[Row]] = [  # two calls of which the brackets between them are missing
    (
        "hermes",
        f"<tool_call>\n{_JSON[:-1]}, {_OSLO_JSON[1:]}\n</tool_call> Done.",
        [],
        " Done.",
        ["malformed-json", "unexpected-text"],
    ),
    (
        "minimax-m3",
        f'{_M3}<invoke name="get_weather">{_M3}<city>Rome{_M3}</days>'
        f'{_M3}<invoke name="get_weather"',
        [],
        "",
        ["truncated-call"],
    ),
]
JSON_IN_TOKENS: Final[list[Row]] = [  # a whole call where a header and its arguments should stand
    (dialect, f"So.{opener}{_JSON}{closer}", [ROME], "So.", [])
    for dialect, opener, closer in (
        (
            "kimi-k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>",
            "<|tool_call_end|><|tool_calls_section_end|>",
        ),
        ("kimi-k2", "<|tool_call_begin|>", "<|tool_call_end|>"),
        ("kimi-k2", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    )
]
_QUOTE: Final = '<|"|>'
HALF_MARKED: Final[list[Row]] = [  # Gemma's texts whose first mark is missing, and odd keys
    (
        "gemma4",
        f"<|tool_call>call:get_weather{{{body}}}<tool_call|>",
        [("get_weather", arguments)],
        "",
        ["relaxed-json"] * len(arguments.keys() - {"days"})
        + ["unknown-argument"] * ("where" in arguments),
    )
    for body, arguments in (
        (f"city:Rome{_QUOTE}", {"city": "Rome"}),
        (f"city:Rome, Italy{_QUOTE},days:2", {"city": "Rome, Italy", "days": 2}),
        (f"where:{{city:Rome{_QUOTE}}},days:2", {"where": {"city": "Rome"}, "days": 2}),
        (f"tags:[{_QUOTE}a{_QUOTE},b{_QUOTE}],days:2", {"tags": ["a", "b"], "days": 2}),
        (f"tags:[a{_QUOTE},{_QUOTE}b{_QUOTE}]", {"tags": ["a", "b"]}),
        ("city:'Rome, days: 3',days:2", {"city": "Rome, days: 3", "days": 2}),
        ("tags:['a, b','c'],city:'it''", {"tags": ["a, b", "c"], "city": "it'"}),
    )
]


@pytest.mark.parametrize(
    ("dialect", "text", "calls", "content", "findings"),
    [
        *TAGS_MISSING,
        *LISTED,
        *UNVALUED,
        *METHODS,
        *STUTTERED,
        *SERVERS_SAW,
        *HALVED,
        *NO_ARGUMENT_IS_THROWN_AWAY,
        *OPENERS,
        *UNKNOWN,
        *JSON,
        *ELSEWHERE,
        *VALUES,
        *SEVERAL,
        *OTHER_BODIES,
        *ARGUMENTS,
        *CUT,
        *ATTRIBUTES,
        *NAMES,
        *DEEP,
        *ELEMENTS,
        *PYTHON,
        *ALSO_WRITTEN,
        *STRIPPED,
        *SPACED,
        *WHOLE_CALLS,
        *UNMARKED,
        *FENCED,
        *FOREIGN,
        *LEFT_IN_A_SECTION,
        *CALL_IN_A_VALUE,
        *TORN_WRAPPERS,
        *NO_CALL,
        *HALF_AN_OPENER,
        *ESCAPED_BODIES,
        *HALF_MARKED,
        *RAN_TOGETHER,
        *JSON_IN_TOKENS,
    ],
)
def test_what_a_model_got_wrong_is_read_or_told(
    dialect: str,
    text: str,
    calls: list[tuple[str, dict[str, Any]]],
    content: str,
    findings: list[str],
) -> None:
    result = parse(text, dialect, TOOLS)
    assert [(call.name, call.arguments) for call in result.tool_calls] == calls
    assert result.content == content
    # Law 14 tells of what only the grammar of well-formed replies knows; its own tests try that.
    more = (MENDING | {"marker-in-value"}) - set(findings)
    codes = dict.fromkeys(f.code for f in result.findings if f.code not in more)
    assert list(codes) == list(dict.fromkeys(findings))
    assert not [f for f in result.findings if f.where.endswith("argument ")]  # names none
    data = text.encode()
    assert parse([data[i : i + 1] for i in range(len(data))], dialect, TOOLS) == result


BRACKETS: Final = [
    (dialect, opener)
    for dialect in DIALECTS
    if (opener := dialect.syntax.section.partition("{calls}")[0].rstrip()).endswith("[")
]
LISTS: Final = [dialect for dialect, opener in BRACKETS if any(map(str.isalpha, opener))]


@pytest.mark.parametrize("dialect", LISTS, ids=lambda dialect: dialect.name)
def test_a_single_call_without_the_brackets_of_its_list_is_read(dialect: DeclaredDialect) -> None:
    call = ToolCallPart("call_1", "get_weather", {"city": "Rome"})
    tools = [ToolMetadata.model_validate({**TOOLS[0], "description": ""})]
    written = dialect.format_tool_call(call, tools)
    opener, _, closer = dialect.syntax.section.partition("{calls}")
    inside = written.removeprefix(opener).removesuffix(closer)
    assert written == opener + inside + closer
    bare = opener.rstrip()[:-1] + inside + closer.lstrip()[1:]
    result = parse(f"Well. {bare}", dialect, tools)
    assert [(c.name, c.arguments) for c in result.tool_calls] == [ROME]
    assert result.content.strip() == "Well."
    codes = [finding.code for finding in result.findings]
    assert codes[:1] == ["mended-opener"]
    assert set(codes[1:]) <= {"unclosed-section", "mended-form"}


@pytest.mark.parametrize("dialect", [each for each, _ in BRACKETS], ids=lambda each: each.name)
def test_no_call_is_delivered_out_of_a_broken_calls_argument(dialect: DeclaredDialect) -> None:
    call = ToolCallPart("call_1", "note", {"name": "get_weather", "city": "Oslo"})
    tools = read_tools([*TOOLS, {"name": "note", "parameters": {"type": "object"}}])
    written = dialect.format_reply([call], tools)
    assert parse(written, dialect, tools).tool_calls[0].arguments == call.args
    for place in range(written.index("get_weather")):
        for slip in ("", ",", "<"):
            text = written[:place] + slip + written[place + (not slip) :]
            result = parse(text, dialect, tools)
            assert "get_weather" not in {each.name for each in result.tool_calls}, text


UNTOLD: Final = {
    "harmony": "<|channel|>",  # what is left are stop tokens, which end any message
}


# Where a parameter is an element of any name, another call in a call may be one.
ANY_ELEMENT: Final = ("xml", "anthropic-legacy")
CLOSED: Final = [
    dialect
    for dialect in GENERAL
    if dialect.syntax.call_template.body == "params"
    and dialect.syntax.call_template.after
    and dialect.parallel
    and dialect.name not in ANY_ELEMENT
]


@pytest.mark.parametrize("dialect", CLOSED, ids=lambda dialect: dialect.name)
def test_a_call_whose_closer_alone_is_missing_is_whole_before_the_next(
    dialect: DeclaredDialect,
) -> None:
    calls = [
        ToolCallPart("call_1", "get_weather", {"city": "Rome", "days": 3}),
        ToolCallPart("call_2", "get_weather", {"city": "Oslo", "days": 4}),
    ]
    tools = read_tools(TOOLS)
    written = dialect.format_reply(calls, tools)
    closer = "".join(str(piece) for piece in dialect.syntax.call_template.after).strip()
    left = written.replace(closer, "", 1)
    assert left != written
    for text in (f"{left}\nThen?", left):
        result = parse(text, dialect, tools)
        assert [call.arguments for call in result.tool_calls] == [call.args for call in calls]
        assert "missing-closer" in [f.code for f in result.findings]
        assert parse([c.encode() for c in text], dialect, tools) == result


@pytest.mark.parametrize("dialect", GENERAL, ids=lambda dialect: dialect.name)
def test_no_marker_that_is_left_out_loses_a_call_in_silence(dialect: DeclaredDialect) -> None:
    call = ToolCallPart("call_1", "get_weather", {"city": "Rome", "days": 3})
    other = ToolCallPart("call_2", "get_weather", {"city": "Oslo", "days": 4})
    tools = read_tools(TOOLS)
    spared = UNTOLD.get(dialect.name)
    for calls in ([call], [call, other] if dialect.parallel else [call]):
        written = dialect.format_reply(calls, tools)
        found = re.finditer(r"<[^<>]*>", written)
        # what is left of `]<]minimax[>[` is punctuation
        markers = [m.span() for m in found if m[0] != spared and m[0][1] != "]"]
        for start, stop in markers:
            result = parse(f"Well.\n{written[:start]}{written[stop:]}", dialect, tools)
            given = [each.arguments for each in result.tool_calls]
            assert given == [each.args for each in calls] or result.findings, written[start:stop]


def test_entities_are_read_where_the_switch_says_so() -> None:
    text = "<function=get_weather><parameter=city>&lt;Rome&gt;</parameter></function>"
    decoded = parse(text, "openhands", TOOLS, switches=Switches(entities="decoded"))
    assert decoded.tool_calls[0].arguments == {"city": "<Rome>"}
    assert parse(text, "openhands", TOOLS).tool_calls[0].arguments == {"city": "&lt;Rome&gt;"}


def test_an_argument_that_comes_twice_without_a_type_is_a_list() -> None:
    text = "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>"
    assert parse(text, "openhands").tool_calls[0].arguments == {"a": ["1", "2"]}


@pytest.mark.parametrize("number", ["NaN", "1e400", "-Infinity"])
def test_a_number_that_json_has_not_stays_text(number: str) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}
    text = f"<function=f><parameter=a>{number}</parameter></function>"
    result = parse(text, "openhands", [tool])
    assert result.tool_calls[0].arguments == {"a": number}
    assert [finding.code for finding in result.findings] == ["not-a-number"]


def test_a_key_with_blanks_that_the_tool_has_ends_a_text_without_marks() -> None:
    keys = {"force": {"type": "boolean"}, "time of day": {"type": "integer"}}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": keys}}]
    text = "<|tool_call>call:f{force:false,time of day:7}<tool_call|>"
    assert parse(text, "gemma4", tools).tool_calls[0].arguments == {
        "force": False,
        "time of day": 7,
    }
    loose = parse(text, "gemma4").tool_calls[0].arguments
    assert loose == {"force": "false,time of day:7"}


def test_a_union_behind_a_reference_gives_the_type() -> None:
    size = {"anyOf": [{"$ref": "#/$defs/size"}, {"type": "null"}]}
    owner = {"allOf": [{"$ref": "#/$defs/owner"}]}
    schema = {
        "type": "object",
        "$defs": {
            "size": {"type": "integer"},
            "owner": {"type": "object", "properties": {"width": size}},
        },
        "properties": {"size": size, "owner": owner},
    }
    tool = {"name": "f", "parameters": schema}
    text = "<function=f><parameter=size>7</parameter></function>"
    assert parse(text, "openhands", [tool]).tool_calls[0].arguments == {"size": 7}
    mark = "]<]minimax[>["  # nested elements are read by the same schemas
    inside = f"{mark}<width>7{mark}</width>"
    text = (
        f'{mark}<tool_call>{mark}<invoke name="f">{mark}<owner>{inside}{mark}</owner>'
        f"{mark}</invoke>{mark}</tool_call>"
    )
    assert parse(text, "minimax-m3", [tool]).tool_calls[0].arguments == {"owner": {"width": 7}}


def test_the_text_of_a_broken_call_has_no_marker_that_stands_beside_it() -> None:
    call = '<function name="get_weather"><param name="city">Rome'
    assert parse(f"<think>so</think>{call}", "minicpm5", TOOLS).content == call


def test_another_tools_closer_and_a_call_behind_it_are_the_values_own() -> None:
    """They were taken for a forgotten closer of this call, which was broken off."""
    value = "see </read_file><weather><city>, as sent"
    tools = [
        ToolMetadata(name="weather", parameters={"city": "where"}),
        ToolMetadata(name="read_file"),
    ]
    text = f"<weather>\n<city>{value}</city>\n</weather>"
    (call,) = parse(text, dialect="xml", tools=tools).tool_calls
    assert call.arguments == {"city": value}
    forgotten = "<weather>\n<city>Brest\n</weather>\n<weather>\n<city>Faro</city>\n</weather>"
    read = parse(forgotten, dialect="xml", tools=tools)
    assert [call.arguments for call in read.tool_calls] == [{"city": "Brest"}, {"city": "Faro"}]
    assert [each.code for each in read.findings] == ["missing-closer"]


def test_where_any_tag_may_be_a_call_a_parameters_closer_is_its_own() -> None:
    """Before the next parameter it looks like a call's closer before the next call."""
    syntax = Syntax(call="<{name}>\n{params}</{name}>", param="<{key}>{value}</{key}>\n")
    dialect = DeclaredDialect(name="tags", syntax=syntax, rules="")
    arguments = {"harbour": "Brest", "day": "monday"}
    tools = ToolMetadata(name="get_tides", parameters={"harbour": "where", "day": "when"})
    text = dialect.format_tool_call(ToolCallPart("1", "get_tides", arguments))
    for known in ([], [tools]):
        read = parse(f"{text}\n{text}", dialect, known)
        assert [call.arguments for call in read.tool_calls] == [arguments] * 2
        assert not read.findings


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"name": "f", "arguments": {}\n', "expected `,` or `}`, not '<'"),
        ('{"name": "f", "arguments": ', "expected a value, not '<'"),
        ('{"name": "f", "arguments": {}, \n', "expected a key in double quotes, not '<'"),
    ],
)
def test_a_call_that_breaks_off_is_told_what_it_lacks(body: str, expected: str) -> None:
    """A brace that was forgotten was told as a key that is none: the words of another fault."""
    result = parse(f"<tool_call>\n{body}</tool_call>", "hermes")
    assert [(found.code, found.message) for found in result.findings] == [
        ("malformed-json", expected)
    ]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', []),
        ('{"arguments": {"a": 1}, "name": "f", "id": "x"}', []),
        ('{"name": "f" "arguments": {"a": 1}}', ["relaxed-json"]),
        ('{"name": "f", "arguments": {"a": 1},}', ["relaxed-json"]),
        ('{"name": "f",, "arguments": {"a": 1}}', ["relaxed-json"]),
    ],
)
def test_a_comma_around_name_and_arguments_is_mended_and_told(body: str, told: list[str]) -> None:
    result = parse(f"<tool_call>{body}</tool_call>", "hermes")
    assert [(call.name, call.arguments) for call in result.tool_calls] == [("f", {"a": 1})]
    assert [found.code for found in result.findings] == told
