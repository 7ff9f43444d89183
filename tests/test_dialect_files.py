"""Dialects in files: written and read back the same, loaded from folders, bad ones left out."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DIALECTS, TOOLS, calls, streams
from test_laws import read

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files import dialect_of, dump_dialect, parse_dialect
from playground.dialects.files.fields import FIELDS
from playground.dialects.files.folders import VARIABLE
from playground.dialects.files.plain import default_of
from playground.dialects.native import NativeDialect
from playground.dialects.preflight import CreditCheck, JsonLedger
from playground.dialects.raw_prompts import LlamaPrompt
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.parsing.declaration import JsonShape, ReasoningTags
from playground.parsing.switches import Switches
from playground.parsing.syntax import Syntax
from playground.parsing.values import JsonStyle, Literals

DECLARED = [d for d in DIALECTS if type(d) is DeclaredDialect]
USE_TOOL = """\
name = "use-tool"
rules = "Write USE_TOOL and the tool's name, a parameter a line, then END_TOOL."
syntax.call = '''
USE_TOOL: {name}
{params}END_TOOL'''
syntax.param = '''
{key}: {value}
'''
"""


@pytest.mark.parametrize("dialect", DECLARED, ids=lambda dialect: dialect.name)
def test_written_and_read_is_the_same_dialect(dialect: DeclaredDialect) -> None:
    again = parse_dialect(dump_dialect(dialect), "x.json")
    assert again == dialect
    assert again.cache_policy == dialect.cache_policy
    assert dump_dialect(again) == dump_dialect(dialect)

    @settings(max_examples=2)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        call = data.draw(calls(dialect))
        messages = [Message("user", (TextPart("hi"),)), Message("assistant", (call,))]
        messages += [Message("tool", (ToolResultPart("call_1", call.tool_name, "fine"),))]
        prompt = PromptData(messages=messages, tool_metadata=TOOLS)
        assert again.format_messages(prompt) == dialect.format_messages(prompt)
        stream = data.draw(streams(dialect)).encode()
        assert read(again, [stream]) == read(dialect, [stream])

    law()


def test_every_registered_dialect_but_the_native_one_has_a_file() -> None:
    assert {d.name for d in DIALECTS} - {d.name for d in DECLARED} == {"native"}
    with pytest.raises(InputFault, match="NativeDialect has code of its own"):
        dump_dialect(pg.get_dialect("native"))


@given(
    st.text(max_size=20),
    st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=3),
    st.lists(st.text(max_size=5), max_size=3),
    st.booleans(),
    st.sampled_from(["text", "json"]),
)
def test_any_text_survives_a_file(
    text: str, pairs: list[tuple[str, str]], several: list[str], flag: bool, untyped: Any
) -> None:
    """Half surrogates, control characters and braces among them."""
    shape = JsonShape(constants=tuple(pairs), aliases=tuple(several))
    also = Syntax(call="<b>{args:json}</b>", name="f", shape=shape)
    dialect = DeclaredDialect(
        name="any",
        rules=text,
        syntax=Syntax(call="<a>{call:json}</a>", separator=text, untyped=untyped, also=(also,)),
        answer=(text, text),
        reasoning=tuple(ReasoningTags(*pair) for pair in pairs),
        stops=tuple(several),
        parallel=flag,
        switches=Switches(misfits="text" if flag else "call"),
    )
    data = dump_dialect(dialect).encode()
    assert parse_dialect(data, "x.json") == dialect


def test_toml_is_the_same_document() -> None:
    dialect = parse_dialect(USE_TOOL, "use-tool.toml")
    assert parse_dialect(json.dumps(tomllib.loads(USE_TOOL)), "x.json") == dialect
    (call,) = pg.parse("USE_TOOL: f\na: 1\nEND_TOOL", dialect).tool_calls
    assert (call.name, call.arguments) == ("f", {"a": "1"})


def test_every_field_of_a_file_has_a_meaning() -> None:
    made: tuple[tuple[Any, str, set[str]], ...] = (
        (DeclaredDialect, "", {"preflight", "rules_path"}),
        (Syntax, "syntax.", set()),
        (JsonShape, "syntax.shape.", set()),
        (JsonStyle, "syntax.json.", set()),
        (Literals, "syntax.literals.", set()),
        (ReasoningTags, "reasoning.", set()),
        (ReasoningTags, "plain.", set()),
        (Switches, "switches.", set()),
        (LlamaPrompt, "raw_prompt.", set()),
    )
    wanted = {
        f"{prefix}{field.name}"
        for kind, prefix, left_out in made
        for field in dataclasses.fields(kind)
        if field.name not in left_out
    }
    assert set(FIELDS) == wanted
    needed = [
        f.name for f in dataclasses.fields(DeclaredDialect) if default_of(f) is dataclasses.MISSING
    ]
    assert needed == ["name", "syntax", "rules"]


PLAIN: dict[str, Any] = {"name": "a", "rules": "r", "syntax": {"call": "<a>{call:json}</a>"}}
BAD: list[tuple[Any, str]] = [
    ([], "list [] was given; expected an object with fields"),
    ({}, "field name: is not given; expected the dialect's name"),
    (PLAIN | {"sintax": 1}, "field sintax: no such field; expected one of name, syntax, rules"),
    (PLAIN | {"rules": 1}, "field rules: int 1 was given; expected a text"),
    (PLAIN | {"parallel": 1}, "field parallel: int 1 was given; expected true or false"),
    (PLAIN | {"name": "a b"}, "field name: 'a b' is not a name; expected letters, digits"),
    (PLAIN | {"name": "../x"}, "field name: '../x' is not a name"),
    (PLAIN | {"stops": "x"}, "field stops: str 'x' was given; expected a list"),
    (PLAIN | {"stops": ["x", 2]}, "field stops.1: int 2 was given; expected a text"),
    (PLAIN | {"answer": ["x"]}, "field answer: a list of 1; expected a list of 2"),
    (PLAIN | {"result_role": "sys"}, "field result_role: str 'sys' was given; expected one of 'u"),
    (PLAIN | {"result": "{nope}"}, "field result: template '{nope}' has {nope}"),
    (
        PLAIN | {"syntax": {"call": "<a>{x}</a>"}},
        "field syntax.call: template '<a>{x}</a>' has {x}",
    ),
    (PLAIN | {"syntax": {"call": "<a>{params}</a>"}}, "field syntax.param: '<a>{params}</a>' has"),
    (
        PLAIN | {"syntax": {"call": "<a>{params}</a>", "param": "{value}{value}"}},
        "field syntax.param: template '{value}{value}' must have",
    ),
    (
        PLAIN | {"syntax": {"call": "{call:json}", "section": "{calls}]"}},
        "field syntax.section: section '{calls}]' has nothing before",
    ),
    (
        PLAIN | {"syntax": {"call": "{call:json}", "also": [{"call": "{name}{name}{params}"}]}},
        "field syntax.also.0.call: {name} occurs twice",
    ),
    (PLAIN | {"syntax": {"shape": {}}}, "field syntax.call: is not given; expected one call, as"),
    (
        PLAIN | {"cache_policy": "no"},
        "field cache_policy: unknown policy 'no'; did you mean 'none'?",
    ),
    (
        PLAIN | {"tool_docs": "mine"},
        "field tool_docs: 'mine' is not a form; expected one of described",
    ),
    (PLAIN | {"own_tool": {"name": ""}}, "field own_tool.name: "),
    (PLAIN | {"raw_prompt": {"format": "x"}}, "field raw_prompt.format: 'x' is not a format"),
    (PLAIN | {"model_names": ["("]}, "model name '(' is not a regular expression"),
    (PLAIN | {"preflight": []}, "field preflight: no such field"),
    (PLAIN | {"switches": {"typing": True}}, "field switches.typing: bool True was given"),
]


@pytest.mark.parametrize(("document", "told"), BAD, ids=lambda each: str(each)[:60])
def test_a_wrong_field_is_told_by_its_place(document: Any, told: str) -> None:
    with pytest.raises(InputFault) as caught:
        dialect_of(document, "x.json")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("x.json", b'{"name": "a",\n "rules": }', "x.json:2: Expecting value; expected JSON"),
        ("x.json", b'{"name": "a", "name": "b"}', "x.json, field name: is given twice"),
        ("x.toml", b"name = \nrules", "x.toml: Invalid value (at line 1, column 8); expected TOML"),
        ("x.json", b"\xff", "x.json:1: byte 0xff is not UTF-8"),
        ("x.json", b"[" * 90_000, "x.json: it cannot be read: "),
        ("x.json", b" " * 300_000, "x.json: the file is too long; expected 256,000 bytes at most"),
    ],
    ids=range(6),
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputFault) as caught:
        pg.load_dialect(tmp_path / name)
    assert told in str(caught.value)


def test_forms_within_forms_end() -> None:
    syntax: dict[str, Any] = {"call": "{call:json}"}
    for _ in range(9):
        syntax = {"call": "{call:json}", "also": [syntax]}
    with pytest.raises(InputFault, match="too deep"):
        dialect_of(PLAIN | {"syntax": syntax}, "x.json")


def test_what_is_chosen_on_a_machine_is_not_written(tmp_path: Path) -> None:
    hermes = pg.get_dialect("hermes")
    rules = tmp_path / "rules.md"
    rules.write_text("Call.")
    check = CreditCheck(JsonLedger(tmp_path / "ledger.json"), threshold=1)
    for changed in (hermes.with_preflight(check), hermes.with_rules(rules)):
        with pytest.raises(InputFault, match="a setting of this machine"):
            dump_dialect(changed)
    assert isinstance(pg.get_dialect("native"), NativeDialect)


# folders


def test_folders_are_looked_at_and_bad_files_left_out(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "use-tool.toml").write_text(USE_TOOL)
    (tmp_path / "bad.json").write_text('{"name": "bad"}')
    (tmp_path / "taken.json").write_text(json.dumps(PLAIN | {"name": "hermes"}))
    (tmp_path / "wtwice.json").write_text(json.dumps(PLAIN | {"name": "use-tool"}))
    (tmp_path / "notes.md").write_text("no dialect")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    kept = home / "workspace" / "dialects"
    kept.mkdir(parents=True)
    (kept / "kept.json").write_text(json.dumps(PLAIN | {"name": "kept"}))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert pg.dialect_names()[-2:] == ["kept", "use-tool"]
    told = {finding.where: finding.message for finding in pg.dialect_findings()}
    assert {finding.code for finding in pg.dialect_findings()} == {"dialect-left-out"}
    assert list(told) == ["bad", "folder", "pipe", "taken", "wtwice"]
    assert "bad.json, field syntax: is not given; expected how a call is written" in told["bad"]
    assert "field name: another dialect is called 'hermes' already" in told["taken"]
    assert "field name: another dialect is called 'use-tool' already" in told["wtwice"]
    assert "not a regular file; expected a dialect's file" in told["folder"]
    with pytest.raises(InputFault, match=r"bad\.json, field syntax"):
        pg.get_dialect("bad")
    # everything else works, and what was saved a moment ago is there
    assert pg.detect("USE_TOOL: f\na: 1\nEND_TOOL")[0].dialect == "use-tool"
    (tmp_path / "use-tool.toml").write_text(USE_TOOL.replace("USE_TOOL: ", "DO_NOW: "))
    assert pg.detect("DO_NOW: f\na: 1\nEND_TOOL")[0].dialect == "use-tool"
    (tmp_path / "use-tool.toml").unlink()
    (tmp_path / "wtwice.json").unlink()
    assert pg.dialect_names()[-1] == "kept"


def test_a_folder_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pg.dialect_findings() == []
    monkeypatch.setenv(VARIABLE, "/nowhere/at/all")
    (found,) = pg.dialect_findings()
    assert "'/nowhere/at/all': No such file or directory; expected a folder of" in found.message


def test_the_command_line_reads_by_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "use-tool.toml").write_text(USE_TOOL)
    (tmp_path / "bad.json").write_text("{")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    reply = tmp_path / "reply.txt"
    reply.write_text("USE_TOOL: get_tides\nharbour: Brest\nEND_TOOL\n")
    done = CliRunner().invoke(main, ["replay", str(reply), "-d", "use-tool"])
    assert done.exit_code == 0, done.output
    assert '{"harbour": "Brest"}' in done.output
    listed = CliRunner().invoke(main, ["guide", "--list"])
    assert listed.exit_code == 0
    assert "use-tool" in listed.output.split()
    assert "bad.json:1: Expecting property name" in listed.output
    refused = CliRunner().invoke(main, ["render", "02-parallel-calls", "-d", "bad"])
    assert refused.exit_code == 2
    assert "bad.json:1: " in refused.output


def test_a_server_for_others_reads_no_dialects_of_the_workspace(home: Path) -> None:
    kept = home / "workspace" / "dialects"
    kept.mkdir(parents=True)
    (kept / "kept.json").write_text(json.dumps(PLAIN | {"name": "kept"}))
    program = (
        "import streamlit.web.cli as cli, playground as pg\n"
        "from playground.app.serving.launch import launch\n"
        "cli.main = lambda *given, **named: None\n"
        "print('kept' in pg.dialect_names())\n"
        "launch(['--server.address=127.0.0.1'], public=True)\n"
        "print('kept' in pg.dialect_names())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.long
def test_streamlit_by_itself_reads_no_dialects_of_the_workspace_for_others(home: Path) -> None:
    kept = home / "workspace" / "dialects"
    kept.mkdir(parents=True)
    (kept / "kept.json").write_text(json.dumps(PLAIN | {"name": "kept"}))
    program = (
        "import sys, playground as pg\n"
        "from streamlit import config\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from playground.base import paths\n"
        "config.get_config_options(options_from_flags={'server.address': sys.argv[1]})\n"
        "assert not AppTest.from_file(str(paths.app_file())).run(timeout=60).exception\n"
        "print('kept' in pg.dialect_names())\n"
    )
    for address, there in (("127.0.0.1", "True"), ("0.0.0.0", "False")):
        done = subprocess.run(
            [sys.executable, "-c", program, address], capture_output=True, check=True, text=True
        )
        assert done.stdout.split() == [there]


def test_a_call_of_a_file_goes_through_a_whole_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "use-tool.toml").write_text(USE_TOOL)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    dialect = pg.get_dialect("use-tool")
    written = dialect.format_tool_call(ToolCallPart("call_1", "list_files", {"path": "a"}), TOOLS)
    assert pg.parse(written, "use-tool", TOOLS).tool_calls[0].arguments == {"path": "a"}
    session = pg.sample_sessions()["02-parallel-calls"]
    assert [c.dialect.name for c in pg.compare(session, ["use-tool", "xml"]).columns] == [
        "use-tool",
        "xml",
    ]
