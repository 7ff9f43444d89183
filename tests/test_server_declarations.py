"""The files that declare servers: what is misspelt is refused, and nothing is read too early."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from conftest import ROOT

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.servers import View, all_servers, server_names
from playground.servers.declarations import read_server

FOLDER = paths.server_declarations()
HEAD = '[default]\nsource = "base.py:1"\n'
PARSER = HEAD + '[[parsers]]\nname = "hermes"\nsource = "hermes.py:1"\n'


def fault(tmp_path: Path, text: str) -> str:
    """The message with which a declaration is refused."""
    path = tmp_path / "harbour.toml"
    path.write_text(text)
    with pytest.raises(InputFault) as caught:
        read_server(path, "harbour")
    return str(caught.value)


def test_a_declaration_becomes_a_server(tmp_path: Path) -> None:
    path = tmp_path / "harbour.toml"
    path.write_text(
        'version = "1.2"\nsource_prefix = "harbour 1.2 "\nother_dialects = ["glm"]\n'
        '[default]\nsource = "base.py:1"\non_truncated = "dropped"\n'
        '[presets.own]\npresets = ["strict-json"]\ntext_after_calls = "error"\n'
        '[[parsers]]\nname = "hermes"\nsource = "hermes.py:1"\naliases = ["nous"]\n'
        'default_for = ["hermes"]\nalso_reads = ["xml"]\nalso_reads_forms = ["function-in-tags"]\n'
        'presets = ["text-before-calls-only", "own", "closer-required"]\n'
        'text_between_calls = "kept"\nunsupported_repairs = ["mended-opener"]\n'
        'switches = { entities = "decoded" }\n'
        "[suite]\nlanguage = \"python\"\ntext = '{{calls}}'\n"
    )
    server = read_server(path, "harbour")
    assert (server.name, server.version, server.other_dialects) == ("harbour", "1.2", ("glm",))
    assert server.view == View(source="harbour 1.2 base.py:1", on_truncated="dropped")
    (parser,) = server.parsers
    assert (parser.name, parser.aliases, parser.default_for) == ("hermes", ("nous",), ("hermes",))
    assert parser.also_reads == ("xml", "qwen3-coder", "mimo", "k-exaone-2")
    assert parser.view == View(
        source="harbour 1.2 hermes.py:1",
        text_between_calls="kept",  # its own choice counts more than a preset
        text_after_calls="error",  # the later preset counts more than the earlier one
        unsupported_repairs=(  # these add up
            "relaxed-json",
            "unexpected-text",
            "missing-closer",
            "mended-opener",
        ),
        switches={"entities": "decoded"},
    )
    assert server.suite is not None
    assert server.suite.asserted == ("calls",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PARSER + 'stray_markers = "droped"',
            "harbour.toml, field parsers.hermes.stray_markers: 'droped'; expected 'dropped', or"
            " another one of 'dropped', 'kept', 'closers kept', 'kept without calls',"
            " 'all kept without calls'",
        ),
        (
            PARSER + 'stray_marker = "kept"',
            "harbour.toml, field parsers.hermes.stray_marker: no field is called 'stray_marker';"
            " expected 'stray_markers', or another one of 'source', 'presets', 'name', 'aliases',",
        ),
        (
            HEAD + 'text_after_calls = "gone"',
            "harbour.toml, field default.text_after_calls: 'gone'; expected one of 'kept',"
            " 'dropped', 'reading stops', 'error'",
        ),
        (
            HEAD + '[[parsers]]\nname = "hermes"',
            "harbour.toml, field parsers.hermes.source: nothing; expected a value: this field has"
            " to be there",
        ),
        (
            HEAD + '[[parsers]]\nname = "hermes"\nsource = ""',
            "harbour.toml, field parsers.hermes.source: '': String should have at least 1",
        ),
        (
            HEAD + '[[parsers]]\nsource = "hermes.py:1"',
            "harbour.toml, field parsers.0.name: nothing; expected a value",
        ),
        ('version = "1"', "harbour.toml, field default: nothing; expected a value"),
        (
            HEAD + 'aliases = ["nous"]',
            "harbour.toml, field default.aliases: no field is called 'aliases'; expected one of"
            " 'source', 'presets', 'reasoning',",
        ),
        (
            f'verion = "1"\n{HEAD}',
            "harbour.toml, field verion: no field is called 'verion'; expected 'version', or",
        ),
        (
            PARSER + 'presets = ["strict-jsn"]',
            "harbour.toml, field parsers.hermes.presets: 'strict-jsn' is not declared; expected"
            " 'strict-json', or another one of 'text-before-calls-only',",
        ),
        (
            PARSER + 'also_reads_forms = ["json-in-tag"]',
            "harbour.toml, field parsers.hermes.also_reads_forms: 'json-in-tag' is not declared;"
            " expected 'json-in-tags', or another one of 'json-in-tags', 'function-in-tags'",
        ),
        (
            HEAD + '[presets.own]\non_truncated = "droped"',
            "harbour.toml, field presets.own.on_truncated: 'droped'; expected 'dropped', or",
        ),
        (
            HEAD + '[presets.own]\npresets = ["own"]',
            "harbour.toml, field presets.own.presets: 'own' is not declared; expected one of",
        ),
        (
            PARSER + 'unsupported_repairs = ["relaxed-jsn"]',
            "harbour.toml, field parsers.hermes.unsupported_repairs: ('relaxed-jsn',): no finding"
            " has the code 'relaxed-jsn'",
        ),
        (
            PARSER + 'switches = { entity = "decoded" }',
            "harbour.toml, field parsers.hermes.switches: {'entity': 'decoded'}: no"
            " switch is called 'entity'; known: calls_in_fences,",
        ),
        (
            PARSER + 'switches = { entities = "decode" }',
            "harbour.toml, field parsers.hermes.switches: {'entities': 'decode'}: "
            "entities is 'decode'; expected one of text, decoded",
        ),
        (
            HEAD + '[suite]\nlanguage = "pyhton"\ntext = "x"',
            "harbour.toml, field suite.language: 'pyhton'; expected 'python', or another one of",
        ),
        (
            PARSER + '[[parsers]]\nname = "other"\nsource = "o.py:1"\naliases = ["hermes"]',
            "harbour.toml, field parsers.other.name: 'hermes' is in parsers.hermes, too",
        ),
        (
            PARSER + '[[parsers]]\nname = "hermes"\nsource = "o.py:1"',
            "harbour.toml, field parsers.hermes.name: 'hermes' is in parsers.hermes, too",
        ),
        (
            f'{PARSER}default_for = ["glm"]\n[[parsers]]\nname = "other"\nsource = "o.py:1"\n'
            'default_for = ["glm"]',
            "harbour.toml, field parsers.other.default_for: 'glm' is in parsers.hermes, too",
        ),
        (
            PARSER + "on_truncated = dropped",
            "harbour.toml: Invalid value (at line 6, column 16); expected a file in TOML",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_place_and_what_would_be_right(
    tmp_path: Path, text: str, message: str
) -> None:
    given = fault(tmp_path, text)
    assert given.startswith(message)


@pytest.mark.parametrize("field", [field.name for field in fields(View)])
def test_no_choice_takes_a_misspelt_value(tmp_path: Path, field: str) -> None:
    wrong = "[1]" if isinstance(getattr(View(), field), str) else '"wrong"'
    text = PARSER.replace('source = "hermes.py:1"\n', "") if field == "source" else PARSER
    given = fault(tmp_path, f"{text}{field} = {wrong}\n")
    assert given.startswith(f"harbour.toml, field parsers.hermes.{field}: ")


@pytest.mark.parametrize(
    "field", [f.name for f in fields(View) if "Literal" in str(f.type) or f.name.startswith("on_")]
)
def test_a_choice_of_words_lists_them_where_it_is_misspelt(tmp_path: Path, field: str) -> None:
    given = fault(tmp_path, f'{PARSER}{field} = "droped"\n')
    assert "'droped'; expected " in given
    assert "one of '" in given


def test_every_server_has_a_file_and_every_file_is_a_servers() -> None:
    assert {*server_names(), "presets"} == {path.stem for path in FOLDER.glob("*.toml")}
    assert [server.name for server in all_servers()] == server_names()


def test_every_name_of_a_parser_is_listed() -> None:
    """`vllm:glm45` was read, and in no list."""
    assert {"vllm:glm47", "vllm:glm45"} <= {*server_names("vllm")}
    for server in all_servers():
        for name in server_names(server.name):
            assert server.parser_named(name.removeprefix(f"{server.name}:"))
        aliases = {alias for parser in server.parsers for alias in parser.aliases}
        assert {f"{server.name}:{alias}" for alias in aliases} <= {*server_names(server.name)}


def test_every_preset_and_every_form_is_used() -> None:
    texts = {path.stem: path.read_text() for path in FOLDER.glob("*.toml")}
    for text in texts.values():
        for name in re.findall(r"^\[presets\.(.+)\]$", text, re.MULTILINE):
            assert any(f'"{name}"' in each for each in texts.values()), name
    forms = re.findall(r"^([\w-]+) = \[", texts["presets"].partition("[forms]")[2], re.MULTILINE)
    assert forms == ["json-in-tags", "function-in-tags"]
    for form in forms:
        assert any(f'also_reads_forms = ["{form}"' in each for each in texts.values())


def test_the_dialects_that_a_server_reads_without_a_view_are_ours() -> None:
    others = {name for server in all_servers() for name in server.other_dialects or ()}
    assert {"harmony", "cohere-action"} <= others <= set(pg.dialect_names())


def test_the_example_in_contributing_is_a_server(tmp_path: Path) -> None:
    recipe = (ROOT / "docs" / "contributing" / "data.md").read_text()
    chapter = recipe.partition("## A new server")[2]
    (text,) = re.findall(r"```toml\n(.*?)```", chapter.partition("\n## ")[0], re.DOTALL)
    path = tmp_path / "harbour.toml"
    path.write_text(text)
    (parser,) = read_server(path, "harbour").parsers
    assert parser.view.text_after_calls == parser.view.on_truncated == "dropped"


def printed(program: str) -> Sequence[str]:
    """The lines that a program of its own prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_reply_that_is_read_without_a_server_loads_none_of_them() -> None:
    program = (
        "import sys, playground as pg\n"
        "pg.parse('x', 'hermes')\n"
        "print(sum(name.startswith('playground.servers') for name in sys.modules))\n"
        "pg.parse('x', 'hermes', server='vllm')\n"
        "print(sum(name.startswith('playground.servers') for name in sys.modules) > 5)\n"
    )
    assert printed(program) == ["0", "True"]


def test_a_server_that_is_asked_for_is_read_once_and_no_other_is() -> None:
    program = (
        "import sys, playground as pg\n"
        "from pathlib import Path\n"
        "def note(event, details):\n"
        "    if event == 'open' and str(details[0]).endswith('.toml'):\n"
        "        print(Path(details[0]).name)\n"
        "sys.addaudithook(note)\n"
        "from playground.servers import server_names\n"
        "print(len(server_names()))\n"
        "for _ in range(2): pg.parse('x', 'hermes', server='roo')\n"
    )
    assert printed(program) == ["17", "roo.toml", "presets.toml"]


def test_every_choice_has_a_comment() -> None:
    source = (ROOT / "playground" / "servers" / "view.py").read_text()
    body = source.partition("class View:")[2].partition("@property")[0].splitlines()
    for field in fields(View):
        (line,) = (n for n, text in enumerate(body) if text.startswith(f"    {field.name}: "))
        assert body[line - 1].startswith("    # "), field.name
        assert not body[line - 1].startswith("    # ---"), field.name
