"""Response templates: what transformers reads by them is what our parser reads."""

from __future__ import annotations

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import regex
from click.testing import CliRunner
from grammar_walk import read, tools_for
from strategies import DIALECTS

import playground as pg
from playground.cli import main
from playground.dialects import DeclaredDialect
from playground.servers import ServerReading

RECORDED = json.loads(
    (Path(__file__).parent / "cases" / "response_templates.json").read_text("utf-8")
)["dialects"]
EVERY = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
PROVEN = pytest.mark.parametrize("name", RECORDED)
ANCHOR = "<assistant>\n"


def by_name(name: str) -> DeclaredDialect:
    dialect = pg.get_dialect(name)
    assert isinstance(dialect, DeclaredDialect)
    return dialect


@EVERY
def test_each_dialect_has_a_template_or_a_reason(dialect: DeclaredDialect) -> None:
    made = dialect.response_template(ANCHOR)
    codes = {found.code for found in made.findings}
    assert bool(made.template) == ("no-response-template" not in codes)
    assert made.template or dialect.name not in RECORDED
    if not made.template:
        assert made.json == "" and len(made.findings) == 1
        return
    assert json.loads(made.json) == made.template
    fields = made.template["fields"]
    assert [
        name for name, field in fields.items() if not {"open", "open_pattern"} & set(field)
    ] == ["content"]
    for field in fields.values():
        opened = regex.compile(field.get("open_pattern", ""))
        regex.compile(field.get("close_pattern", ""))
        # a captured group that no transform names, and a name without its group, are refused
        used = regex.findall(r"\{(\w+)", json.dumps(field.get("transform")))
        own = (
            {"name", "arguments", "tool_name", "parameters"} if "transform_each" in field else set()
        )
        assert set(opened.groupindex) <= set(used) <= {*opened.groupindex, "content", *own}


@PROVEN
def test_the_template_is_the_one_that_was_run(name: str) -> None:
    """If it changed: `python benchmarks/against_transformers.py --record`."""
    made = by_name(name).response_template(ANCHOR).json
    assert hashlib.sha256(made.encode()).hexdigest()[:12] == RECORDED[name]["template"]


@PROVEN
def test_what_transformers_read_is_what_we_read(name: str) -> None:
    dialect, replies = by_name(name), RECORDED[name]["replies"]
    assert replies
    for reply in replies:
        mine = read(dialect, reply["text"], tools_for(dialect))
        assert [[call.name, call.arguments] for call in mine.tool_calls] == reply["calls"]
        assert mine.content.split() == reply["content"].split()


@PROVEN
def test_transformers_itself_reads_so(name: str) -> None:
    pytest.importorskip("transformers")
    reader: Any = importlib.import_module("transformers.utils.chat_parsing")
    dialect = by_name(name)
    tools = [
        {"function": {"name": tool.name, "parameters": tool.input_schema}}
        for tool in tools_for(dialect)
    ]
    template = dialect.response_template(ANCHOR).template
    for reply in RECORDED[name]["replies"]:
        message = reader.parse_response(reply["text"], template, prefix=ANCHOR, tools=tools)
        calls = [call["function"] for call in message["tool_calls"]]
        assert [[call["name"], call["arguments"]] for call in calls] == reply["calls"]


def test_almost_all_well_formed_replies_are_read_alike() -> None:
    counts = [fact["alike"] for fact in RECORDED.values()]
    equal, total = (sum(numbers) for numbers in zip(*counts, strict=True))
    assert len(counts) >= 67 and sum(same == of for same, of in counts) >= 52
    assert equal / total > 0.99


def test_a_closer_inside_a_text_ends_no_call() -> None:
    close = by_name("hermes").response_template().template["fields"]["tool_calls"]["close_pattern"]
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "x </tool_call> y"}}\n</tool_call>'
    found = regex.search(close, text)
    assert found is not None and found.start() == text.rindex("</tool_call>")


@EVERY
def test_a_portable_template_has_no_recursion_and_says_what_it_loses(
    dialect: DeclaredDialect,
) -> None:
    whole, portable = dialect.response_template(), dialect.response_template(portable=True)
    assert "(?1)" not in portable.json
    losses = {found.message for found in portable.findings} - {f.message for f in whole.findings}
    assert bool(losses) == ("(?1)" in whole.json)


def test_the_header_of_a_turn_is_given_or_assumed_or_told() -> None:
    hermes = by_name("hermes")
    given = hermes.response_template("<|im_start|>assistant\n")
    assert "response-template-anchor" not in {found.code for found in given.findings}
    assert given.template["start_anchor"] == "<|im_start|>assistant\n"
    assumed = hermes.response_template()
    assert "response-template-anchor" in {found.code for found in assumed.findings}
    pattern = regex.compile(assumed.template["start_anchor_pattern"], regex.DOTALL)
    prompt = "<|im_start|>assistant\nHi.<|im_end|>\n<|im_start|>assistant\n<think>\n"
    # of a prompt without the header nothing is read: all of it would be otherwise
    ends = [[m.end() for m in pattern.finditer(text)][-1] for text in (prompt, "Human: Hi.")]
    assert (prompt[ends[0] :], ends[1]) == ("<think>\n", len("Human: Hi."))
    unknown = by_name("mistral").response_template()
    assert unknown.template["start_anchor_pattern"] == r"\Z"
    assert "start_anchor" in {found.where for found in unknown.findings}


def test_the_command_line_prints_json_alone_on_stdout() -> None:
    runner = CliRunner()
    shown = runner.invoke(main, ["dialect", "show", "hermes", "--to", "response-template"])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == by_name("hermes").response_template().template
    assert "response-template-narrower (calls)" in shown.stderr
    none = runner.invoke(main, ["dialect", "show", "xml", "--to", "response-template"])
    assert (none.exit_code, none.stdout) == (1, "")
    misused = runner.invoke(main, ["dialect", "show", "hermes", "--portable"])
    assert misused.exit_code == 2 and "--to response-template" in misused.stderr


# transformers as a server


def served(text: str, dialect: str) -> ServerReading:
    tool = {"name": "f", "input_schema": {"properties": {"a": {"type": "string"}}}}
    reading = pg.parse(text, dialect, [tool], server="transformers")
    assert isinstance(reading, ServerReading)
    return reading


def test_a_later_text_replaces_the_text_before_a_call() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert served(f"I look.\n{call}", "hermes").content == "I look.\n"
    both = served(f"I look.\n{call}\nDone.", "hermes")
    assert both.content == "\nDone." and [call.name for call in both.tool_calls] == ["f"]
    assert [event.text for event in both.dropped] == ["I look.\n"]


def test_a_call_that_is_cut_off_raises_or_is_delivered_in_part() -> None:
    cut = served('I look.\n<tool_call>\n{"name": "f", "argu', "hermes")
    assert "server-fails" in {found.code for found in cut.findings} and not cut.content
    text = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=b>\ny"
    assert [call.arguments for call in served(text, "qwen3-coder").tool_calls] == [{"a": "x"}]


def test_a_reply_in_another_dialect_is_text() -> None:
    reading = served("[TOOL_CALLS]f[ARGS]{}", "mistral")
    assert reading.content == "[TOOL_CALLS]f[ARGS]{}" and not reading.tool_calls
    assert "no-parser" in {found.code for found in reading.findings}
