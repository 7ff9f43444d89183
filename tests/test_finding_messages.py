"""A finding names what was written and what was expected, however the stream is cut."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints

import click
import pytest
from terminals import run

import playground as pg
from playground.app.shared.widgets import SWITCHES
from playground.base.fixes import FIXES
from playground.cli import main

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
            "the key 'tool', not 'name'",
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


def command_of(words: list[str]) -> click.Command:
    """Return the command that a remedy names by its words."""
    command: click.Command = main
    while words and isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words.pop(0))
        assert below is not None
        command = below
    return command


@pytest.mark.parametrize("code", FIXES)
def test_what_a_remedy_names_is_there(code: str) -> None:
    """A command with its options, a name of the library, or a switch of the command, the library
    and the page."""
    remedy = FIXES[code]
    values = {name: get_args(kind) for name, kind in get_type_hints(pg.Switches).items()}
    offered = {name: options for name, _, options in SWITCHES}
    for name, value in re.findall(r"\b(\w+_\w+)=['\"]?(\w+)", remedy):
        assert value in values[name]
        assert value in offered[name]
        assert run("replay", "05-call-in-a-fence", "--switch", f"{name}={value}").returncode == 0
    for words in re.findall(r"`playground ([^`]+)`", remedy):
        command = command_of([word for word in words.split() if word.islower()])
        options = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", words)) <= options, (command.name, words)
        if re.search(r"\b[A-Z]{2,}\b", words):  # written out, so it must run as it stands
            required = [each for each in command.params if isinstance(each, click.Argument)]
            assert {each.human_readable_name for each in required if each.required} <= {
                *words.split()
            }
    for name in re.findall(r"`playground\.(\w+)`", remedy):
        assert hasattr(pg, name)
    assert "--" not in re.sub(r"`playground [^`]+`", "", remedy), "an option without its command"


@pytest.mark.parametrize(
    ("switch", "message"),
    [
        ("calls_in_fence=call", "unknown switch 'calls_in_fence'; did you mean 'calls_in_fences'"),
        ("calls_in_fences=cal", "unknown value of calls_in_fences 'cal'; did you mean 'call'?"),
        ("calls_in_fences", "unknown value of calls_in_fences ''; known: text, call"),
    ],
)
def test_a_wrong_switch_is_refused_with_near_names(switch: str, message: str) -> None:
    done = run("replay", "05-call-in-a-fence", "--switch", switch)
    assert done.returncode == 2
    assert message in done.stderr
    assert (
        "=== call" in run("replay", "05-call-in-a-fence", "--switch", "calls_in_fences=call").stdout
    )
