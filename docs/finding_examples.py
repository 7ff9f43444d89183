"""Examples of replies, each with a finding: read when `docs/findings.md` is written.

An example whose reply no longer has its finding stops the writing.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

from playground.base.fixes import FIXES
from playground.dialects.reading import parse
from playground.parsing.switches import Switches

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["city"],
        },
    }
]
ROME = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
CALL = f"<tool_call>\n{ROME}\n</tool_call>"
TAGS = "<function=get_weather><parameter=city>Rome</parameter></function>"
INVOKE = '<invoke name="get_weather"><parameter name="city">Rome</parameter></invoke>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>'
)


class Example(NamedTuple):
    """A reply in a dialect, read with `TOOLS`, and by these switches if any are given."""

    dialect: str
    reply: str | bytes
    switches: Switches | None = None


EXAMPLES: dict[str, Example] = {
    "call-in-fence": Example("hermes", f"For example:\n```\n{CALL}\n```"),
    "call-in-reasoning": Example("hermes", f"<think>I look. {CALL}"),
    "draft-in-reasoning": Example("hermes", f"<think>Perhaps {CALL}? No.</think>It rains."),
    "mended-form": Example("kimi-k2", KIMI.replace("functions.get_weather:0", "get_weather")),
    "missing-section": Example("qwen3-coder", TAGS),
    "mended-opener": Example("anthropic-invoke", INVOKE.replace("<invoke", "< invoke")),
    "doubled-opener": Example("hermes", f"<tool_call>\n{CALL}"),
    "doubled-closer": Example("openhands", TAGS.replace("Rome", "Rome</parameter>")),
    "wrapped-body": Example("hermes", f"<tool_call>\n```json\n{ROME}\n```\n</tool_call>"),
    "missing-closer": Example("hermes", f"<tool_call>\n{ROME}"),
    "truncated-call": Example("hermes", CALL[:60]),
    "open-ended": Example("react", "Action: get_weather\nAction Input: Rome"),
    "unreadable-call": Example("mistral", "[TOOL_CALLS]get_weather[ARGS] Rome"),
    "malformed-json": Example("hermes", '<tool_call>\n{"name" "get_weather"}\n</tool_call>'),
    "malformed-arguments": Example("openhands", "<function=get_weather>Rome</function>"),
    "malformed-python": Example("hermes", "<tool_call>get_weather(Rome!)</tool_call>"),
    "too-deep": Example("hermes", CALL.replace('"Rome"', "[" * 5000 + "]" * 5000)),
    "arguments-not-object": Example("hermes", CALL.replace('{"city": "Rome"}', "7")),
    "relaxed-json": Example("hermes", CALL.replace('"city"', "city")),
    "relaxed-python": Example("hermes", '<tool_call>get_weather(city: "Rome")</tool_call>'),
    "arguments-wrapped": Example(
        "hermes", CALL.replace('{"city": "Rome"}', '{"arguments": {"city": "Rome"}}')
    ),
    "no-arguments": Example("hermes", CALL.replace(', "arguments": {"city": "Rome"}', "")),
    "arguments-elsewhere": Example(
        "hermes", '<tool_call>\n{"name": "get_weather", "city": "Rome"}\n</tool_call>'
    ),
    "marker-in-value": Example("openhands", TAGS.replace("Rome", "a</parameter>b")),
    "arguments-as-json": Example("openhands", '<function=get_weather>{"city": "Rome"}</function>'),
    "arguments-as-text": Example(
        "hermes", CALL.replace('{"city": "Rome"}', r'"{\"city\": \"Rome\"}"')
    ),
    "other-recipient": Example(
        "muse",
        " to=tell_time<|message|><atem:function_calls>\n"
        '<atem:invoke name="get_weather">\n</atem:invoke>\n</atem:function_calls>',
    ),
    "missing-argument": Example("hermes", CALL.replace('{"city": "Rome"}', "{}")),
    "unknown-argument": Example("hermes", CALL.replace('"Rome"', '"Rome", "sky": "clear"')),
    "mended-name": Example("hermes", CALL.replace("get_weather", "functions.get_weather")),
    "text-after-call": Example("hermes", f"{CALL}\nI wait.", Switches(text_after_calls="finding")),
    "missing-name": Example("hermes", '<tool_call>\n{"arguments": {}}\n</tool_call>'),
    "unexpected-text": Example("openhands", TAGS.replace("</function>", " so</function>")),
    "duplicate-argument": Example(
        "openhands",
        TAGS.replace("</function>", "<parameter=city>Oslo</parameter></function>"),
    ),
    "type-mismatch": Example("hermes", CALL.replace('"Rome"', '"Rome", "days": "two"')),
    "orphan-closer": Example("hermes", f"{ROME}\n</tool_call>"),
    "unclosed-reasoning": Example("hermes", "<think>It rains in Rome"),
    "unclosed-section": Example("minimax-m2", f"<minimax:tool_call>\n{INVOKE}"),
    "fabricated-result": Example("hermes", f"{CALL}\n<tool_response>\nRain\n</tool_response>"),
    "invalid-utf8": Example("hermes", b"caf\xe9"),
    "lone-surrogate": Example("hermes", "half a sign: \ud83d"),
    "foreign-markup": Example("gemma4", CALL),
    "near-marker": Example("hermes", "<TOOL_CALL> get_weather </TOOL_CALL>"),
    "unread-call": Example("native", '[Calling get_weather with {"city": "Rome"}]'),
    "foreign-closer": Example("native", "It is done.\n</invoke>"),
    "filtered-tokens": Example("harmony", "analysisTwo and two.assistantfinalFour."),
    "printed-response": Example("native", "ChatCompletion(id='c1', choices=[])"),
    "unknown-tool": Example("hermes", CALL.replace("get_weather", "tell_time")),
    "missing-opener": Example("hermes", ROME),
    "bare-opener": Example("hermes", "The marker is <tool_call> here."),
}


def example_rows() -> list[str]:
    """Return a row of Markdown for each example: its code, the reply, and the finding's words."""
    return [_row(code, example) for code, example in EXAMPLES.items()]


def _row(code: str, example: Example) -> str:
    result = parse(example.reply, example.dialect, TOOLS, switches=example.switches)
    about = next((finding for finding in result.findings if finding.code == code), None)
    if about is None:
        found = [finding.code for finding in result.findings]
        raise SystemExit(f"the example of {code} has {found}: correct finding_examples.py")
    cells = (
        f"`{code}`",
        _reading(example),
        _cell(example.reply),
        _plain(about.message),
        FIXES.get(code, ""),
    )
    return f"| {' | '.join(cells)} |"


def _reading(example: Example) -> str:
    """Return the dialect of an example, and the switches that are not as usual."""
    chosen = asdict(example.switches or Switches())
    usual = asdict(Switches())
    switches = [f"`{key}={value!r}`" for key, value in chosen.items() if value != usual[key]]
    return "<br>".join([example.dialect, *switches])


def _cell(reply: str | bytes) -> str:
    text = repr(reply) if isinstance(reply, bytes) else reply
    text = text.encode("ascii", "backslashreplace").decode() if "\ud83d" in text else text
    shown = text if len(text) <= 200 else f"{text[:80]} … {text[-40:]}"
    marks = "````" if "```" in shown else "```"  # a longer mark may hold a code fence
    return f"{marks} {_plain(shown.replace(chr(10), '⏎'))} {marks}"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
