"""A finding names what was written and what was expected, however the stream is cut."""

from __future__ import annotations

import pytest

import playground as pg

_GLM = "<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>Rome"
_TAGS = "<function=f><parameter=city>Rome</parameter>"
_KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>f<|tool_call_argument_begin|>{}"
_HERMES = "<tool_call>\n%s\n</tool_call>"


@pytest.mark.parametrize(
    ("dialect", "reply", "code", "fragment"),
    [
        ("glm", f"{_GLM}\n</tool_call>", "truncated-call", "before '</arg_value>'"),
        ("glm", f"{_GLM}</arg_value>\n", "truncated-call", "before '</tool_call>'"),
        ("xml", "<f>\n<a>1</a>\n", "truncated-call", "before '</f>'"),
        ("openhands", _TAGS, "truncated-call", "before '</function>'"),
        ("openhands", f"{_TAGS}<parameter=b>", "truncated-call", "before '</parameter>'"),
        (
            "openhands",
            f"{_TAGS}<parameter=city>Oslo</parameter></function>",
            "duplicate-argument",
            "read as a list",
        ),
        (
            "hermes",
            _HERMES % '{"name": "f", "arguments": {"a": }}',
            "malformed-json",
            "expecting value after '{\"a\":'",
        ),
        (
            "hermes",
            _HERMES % '{"name": "f", "arguments": {"a": 1 "b": 2}}',
            "relaxed-json",
            "expecting ',' delimiter after '{\"a\": 1'",
        ),
        (
            "hermes",
            _HERMES % '{"tool": "f", "arguments": {}}',
            "mended-name",
            "under 'tool', not 'name'",
        ),
        (
            "kimi-k2",
            f"{_KIMI}<|tool_call_end|><|tool_calls_section_end|>",
            "mended-form",
            "declared is '<|tool_call_begin|>functions.{name}:{index}",
        ),
        (
            "hermes",
            "<tool_call>\nf with a\n",
            "bare-opener",
            "written '<tool_call>\\n{call:json}\\n</tool_call>'",
        ),
        ("hermes", "<TOOL_CALL> f </TOOL_CALL>", "near-marker", "'<TOOL_CALL>' is nearly"),
    ],
)
def test_a_finding_names_what_was_written_and_expected(
    dialect: str, reply: str, code: str, fragment: str
) -> None:
    data = reply.encode()
    for size in (1, 3, len(data)):
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        messages = [f.message for f in pg.parse(pieces, dialect).findings if f.code == code]
        assert [fragment in message for message in messages] == [True], messages
