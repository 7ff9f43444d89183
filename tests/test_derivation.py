"""A dialect read off a chat template: templates of forms of our own, and what is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.parsing.syntax import JsonShape, JsonStyle, Literals, ReasoningTags
from playground.plugins.own_dialects.derivation import DerivedDialect, dialect_from_template
from playground.plugins.own_dialects.derivation.alignment import (
    joints,
    snap_end,
    snap_start,
    splits,
)
from playground.plugins.own_dialects.derivation.proof import reads


def template(call: str, between: str = "", opened: str = "", closed: str = "") -> str:
    """A template that writes calls so; `call` is Jinja over `c.name` and `c.arguments`."""
    return (
        "{%- for m in messages %}{{ '<|turn|>' + m.role + '\\n' }}"
        "{%- if m.role == 'tool' %}{{ '<out>' + m.content + '</out>' }}"
        "{%- elif m.tool_calls %}{{ m.content or '' }}" + opened + "{%- for t in m.tool_calls %}"
        "{%- set c = t.function %}" + call + "{%- if not loop.last %}" + between + "{%- endif %}"
        "{%- endfor %}" + closed + "{%- else %}{{ m.content }}{%- endif %}{{ '<|over|>\\n' }}"
        "{%- endfor %}{%- if add_generation_prompt %}{{ '<|turn|>assistant\\n' }}{%- endif %}"
    )


JSON_IN_TAGS = template(
    "{{ '<do>\\n' + ({'tool': c.name, 'with': c.arguments} | tojson) + '\\n</do>' }}", "{{ '\\n' }}"
)
LISTED = template(
    "{{ {'name': c.name, 'arguments': c.arguments} | tojson }}", "{{ ', ' }}", "{{ '<all>[' }}",
    "{{ ']</all>' }}",
)  # fmt: skip
NAMED = template(
    "{{ '<go ' + t.id + ' ' + c.name + '|' + (c.arguments | tojson) + '|go>' }}",
    opened="{{ '<list>' }}", closed="{{ '</list>' }}",
)  # fmt: skip
TAGGED = template(
    "{{ '<use tool=\"' + c.name + '\">\\n' }}{%- for k, v in c.arguments.items() %}"
    "{{ '<with key=\"' + k + '\">' + (v if v is string else v | tojson) + '</with>\\n' }}"
    "{%- endfor %}{{ '</use>' }}", "{{ '\\n' }}",
)  # fmt: skip
TYPED = template(
    "{{ '<use tool=\"' + c.name + '\">' }}{%- for k, v in c.arguments.items() %}"
    "{{ '<with key=\"' + k + '\" text=\"' + ('true' if v is string else 'false') + '\">'"
    " + (v if v is string else v | tojson) + '</with>' }}{%- endfor %}{{ '</use>' }}",
)


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        (JSON_IN_TAGS, {"call": "<do>\n{call:json}\n</do>", "separator": "\n", "section": ""}),
        (LISTED, {"call": "{call:json}", "section": "<all>[{calls}]</all>", "separator": ", "}),
        (
            NAMED,
            {"call": "<go {id} {name}|{args:json}|go>", "section": "<list>{calls}</list>"},
        ),
        (
            TAGGED,
            {
                "call": '<use tool="{name}">\n{params}</use>',
                "param": '<with key="{key}">{value}</with>\n',
            },
        ),
        (
            TYPED,
            {
                "call": '<use tool="{name}">{params}</use>',
                "param": '<with key="{key}" text="{is_text}">{value}</with>',
            },
        ),
    ],
    ids=["JSON in tags", "an array", "name and id outside", "parameters", "parameters with types"],
)
def test_a_declaration_is_read_off_a_template_and_proven(source: str, fields: Any) -> None:
    dialect = dialect_from_template(source)
    assert {name: getattr(dialect.syntax, name) for name in fields} == fields
    proof = dialect.derivation.proof
    assert len(proof.trials) >= 28
    assert [t.probe for t in proof.trials if not (t.read and t.written)] == []
    assert (dialect.derivation.broken, dialect.findings()) == ((), [])


ATTRIBUTES = template(
    "{{ '<call name=\"' + c.name + '\"' }}{%- for k, v in c.arguments.items() %}"
    "{{ ' ' + k + '=' + (v | tojson) }}{%- endfor %}{{ '/>' }}",
)
LIKE_YAML = template(
    "{{ '---call ' + c.name + '\n' }}{%- for k, v in c.arguments.items() %}"
    "{{ k + ': ' + (v | tojson) + '\n' }}{%- endfor %}{{ '---end' }}", "{{ '\n' }}",
)  # fmt: skip
FLAGS = template(
    "{{ '$ ' + c.name }}{%- for k, v in c.arguments.items() %}"
    "{{ ' --' + k + ' ' + (v | tojson) }}{%- endfor %}{{ ' ;\n' }}",
)
FRAMED = template(
    "{{ '>>> ' + c.name + ' ' + t.id + '\n\n' }}{%- for k, v in c.arguments.items() %}"
    "{{ '@' + k + '\n' + (v if v is string else v | tojson) + '\n' }}{%- endfor %}"
    "{{ '<<<\n' }}",
)
SPACED_CLOSER = template(
    "{{ '«' + c.name + '»\n' }}{%- for k, v in c.arguments.items() %}{{ '· ' + k + ' (' }}"
    "{{ ('text' if v is string else 'json') + ') ' + (v if v is string else v | tojson) }}"
    "{{ ' ·\n' }}{%- endfor %}{{ '«/»' }}",
)
TAG_IS_NAME = template(
    "{{ '<' + c.name }}{%- for k, v in c.arguments.items() %}"
    "{{ ' ' + k + '=\"' + (v | string) + '\"' }}{%- endfor %}{{ '/>' }}",
)
DEEP = template(
    "{{ '[[ACT]]' + ({'input': {'params': c.arguments}, 'meta': {'tool': c.name}} | tojson)"
    " + '[[/ACT]]' }}",
)


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        (
            ATTRIBUTES,
            {"call": '<call name="{name}"{params}/>', "param": " {key}={value:json}"},
        ),
        (
            LIKE_YAML,
            {"call": "---call {name}\n{params}---end", "param": "{key}: {value:json}\n"},
        ),
        (FLAGS, {"param": "--{key} {value:json} "}),
        (
            FRAMED,
            {"call": ">>> {name} {id}\n\n{params}<<<", "param": "@{key}\n{value}\n"},
        ),
        (SPACED_CLOSER, {"param": "· {key} ({type}) {value} ·\n"}),
        (
            TAG_IS_NAME,
            {"call": "<{name}{params}/>", "param": ' {key}="{value}"', "known_names": True},
        ),
        (
            DEEP,
            {
                "shape": JsonShape(
                    ("meta", "tool"),
                    ("input", "params"),
                    ("params", "arguments", "parameters"),
                    order=("input", "meta"),
                )
            },
        ),
    ],
    ids=[
        "attributes", "like YAML", "flags", "angles that are no tags", "a blank before a closer",
        "a tag is the name", "arguments in an object of their own",
    ],
)  # fmt: skip
def test_odd_forms_are_read_off_and_proven(source: str, fields: Any) -> None:
    dialect = dialect_from_template(source)
    assert {name: getattr(dialect.syntax, name) for name in fields} == fields
    proof = dialect.derivation.proof
    assert [t.probe for t in proof.trials if not (t.read and t.written)] == []
    assert dialect.findings() == []


def result_as_user(written: str) -> str:
    """A template whose results stand in a user's turn so; `m.content` are the tool's words."""
    return (
        "{%- for m in messages %}{%- if m.role == 'tool' %}{{ '<|turn|>user\n' }}" + written + "{{"
        " '<|over|>\n' }}{%- else %}{{ '<|turn|>' + m.role + '\n' }}{%- for t in m.tool_calls or []"
        " %}{{ '<do>' + (t.function | tojson) + '</do>' }}{%- endfor %}{{ m.content or '' }}"
        "{{ '<|over|>\n' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{ '<|turn|>assistant\n' }}{%- endif %}"
    )


def test_results_that_a_user_s_turn_holds_otherwise_are_told() -> None:
    plain = dialect_from_template(result_as_user("{{ '<out>\n' + m.content + '\n</out>\n' }}"))
    assert (plain.result, plain.result_role) == ("<out>\n{result}\n</out>\n", "user")
    assert plain.findings() == []
    encoded = dialect_from_template(result_as_user("{{ {'out': m.content} | tojson }}"))
    (found,) = encoded.findings()
    assert (found.code, found.message) == ("derived-result", "quotes, two lines, JSON")


INDENTED = template(
    "{{ {'id': t.id, 'name': c.name, 'arguments': c.arguments}"
    " | tojson(indent=2, ensure_ascii=true) | indent(1) }}", "{{ ',\n ' }}", "{{ '<all>[\n ' }}",
    "{{ '\n]</all>' }}",
)  # fmt: skip
ID_LAST = template(
    "{{ '<do>' + ({'name': c.name, 'arguments': c.arguments, 'call_id': loop.index0 | string}"
    " | tojson(separators=(',', ':'))) + '</do>' }}", "{{ '\n' }}"
)  # fmt: skip
WORDS = template(
    "{{ '<use ' + c.name + '>' }}{%- for k, v in c.arguments.items() %}"
    "{{ '<' + k + '>' + (('<![CDATA[' + v + ']]>') if v is string and '&' in v else v | string)"
    " + '</' + k + '>' }}{%- endfor %}{{ '</use>' }}",
)
MARKED = template(
    "{{ '<do>' + c.name + '{' }}{%- for k, v in c.arguments.items() %}"
    "{{ k + ':' + ('<e>' + v + '<e>' if v is string else 'nil' if v is none else v | tojson) }}"
    "{{ ',' if not loop.last else '' }}{%- endfor %}{{ '}</do>' }}",
)
NUMBERED = template(
    "{{ '<use ' + c.name + '>\n' }}{%- for k, v in c.arguments.items() %}"
    "{{ '\n' if not loop.first else '' }}{{ '<with key=\"' + k + '\" is=\"' }}"
    "{{ 'str' if v is string else 'num' if v is number and v is not boolean else 'any' }}"
    "{{ '\">' + (v if v is string else v | tojson) + '</with>' }}{%- endfor %}{{ '\n</use>' }}",
)


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        (INDENTED, {"json": JsonStyle(2, 1, ascii=True), "separator": ",\n "}),
        (
            ID_LAST,
            {
                "json": JsonStyle(comma=",", colon=":"),
                "shape": JsonShape(
                    id="call_id", order=("name", "arguments", "call_id"), id_is="index"
                ),
            },
        ),
        (
            WORDS,
            {
                "literals": Literals("True", "False", "None", "python"),
                "cdata_for": "&",
                "param": "<{key}>{value}</{key}>",
            },
        ),
        (
            NUMBERED,
            {
                "type_words": (
                    ("string", "str"),
                    ("integer", "num"),
                    ("number", "num"),
                    ("boolean", "any"),
                    ("null", "any"),
                    ("array", "any"),
                    ("object", "any"),
                ),
                "param_separator": "\n",
            },
        ),
    ],
    ids=["indented", "the id last", "Python's words", "types of its own"],
)
def test_how_values_are_written_is_read_off_too(source: str, fields: Any) -> None:
    dialect = dialect_from_template(source)
    assert {name: getattr(dialect.syntax, name) for name in fields} == fields
    proof = dialect.derivation.proof
    assert [t.probe for t in proof.trials if not (t.read and t.written)] == []
    assert dialect.derivation.broken == ()


def test_words_of_an_object_with_marks_are_read_off_too() -> None:
    dialect = dialect_from_template(MARKED)
    syntax = dialect.syntax
    assert (syntax.string_mark, syntax.literals) == ("<e>", Literals(null="nil"))
    assert [t.probe for t in dialect.derivation.proof.trials if not t.read] == []


THOUGHTS = (
    "{%- for m in messages %}{{ '<|start|>' + m.role }}"
    "{%- if m.reasoning %}{{ '<|think|>' + m.reasoning + '<|end|><|start|>' + m.role }}{%- endif %}"
    "{%- if m.tool_calls %}{%- for t in m.tool_calls %}{{ '<|call|>' }}"
    "{{ {'name': t.function.name, 'arguments': t.function.arguments} | tojson }}{%- endfor %}"
    "{%- else %}{{ '<|say|>' + m.content }}{%- endif %}{{ '<|end|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{%- endif %}"
)


def test_thoughts_and_answers_have_their_markers() -> None:
    dialect = dialect_from_template(THOUGHTS)
    assert dialect.reasoning == (ReasoningTags("<|think|>", "<|end|>"),)
    assert dialect.answer == ("<|say|>", "")
    reply = "<|think|>Brest.<|end|><|start|>assistant<|say|>High tide at six.<|end|>"
    result = pg.parse(reply, dialect)
    assert (result.reasoning, result.content) == ("Brest.", "High tide at six.")


@pytest.mark.parametrize(
    ("dropping", "opened", "tags"),
    [
        ("m.content.split('</think>')[-1]", "", ("<think>", "</think>")),
        ("m.content.split('[/THINK]')[-1]", "", ("[THINK]", "[/THINK]")),
        ("m.content", "<think>\\n", ("<think>", "</think>")),
    ],
)
def test_a_thought_that_history_drops_is_known_by_its_tags(
    dropping: str, opened: str, tags: tuple[str, str]
) -> None:
    source = JSON_IN_TAGS.replace("{{ m.content }}", f"{{{{ {dropping} }}}}")
    source = source.replace("assistant\\n'", f"assistant\\n{opened}'")
    dialect = dialect_from_template(source)
    assert dialect.reasoning == (ReasoningTags(*tags),)
    assert dialect.opens_reasoning is bool(opened)
    result = pg.parse(f"{tags[0]}So.{tags[1]}Six.", dialect)
    assert (result.reasoning, result.content) == ("So.", "Six.")


def test_an_answer_that_is_read_otherwise_is_a_finding() -> None:
    source = JSON_IN_TAGS.replace("{{ m.content }}", "{{ 'all\\n' + m.content }}")
    (found,) = dialect_from_template(source).findings()
    assert (found.code, found.message) == ("derived-answer", "an answer")


def test_what_is_derived_goes_wherever_a_dialect_goes() -> None:
    dialect = dialect_from_template(JSON_IN_TAGS, "mine")
    reply = 'So.\n<do>\n{"tool": "tides", "with": {"port": "Brest"}}\n</do><|over|>'
    result = pg.parse(reply, dialect)
    assert (result.content, result.findings) == ("So.\n", [])
    (call,) = result.tool_calls
    assert (call.name, call.arguments) == ("tides", {"port": "Brest"})
    assert pg.carry([dialect]).refused("mine") == []
    (message,) = [
        each
        for each in dialect.format_messages(pg.sample_sessions()["02-parallel-calls"].prompt_data())
        if "get_weather" in str(each["content"]) and each["role"] == "assistant"
    ]
    assert '<do>\n{"tool": "get_weather"' in str(message["content"]).replace("\\n", "\n")
    assert dialect.stops == ("<|over|>",)
    lines = dialect.format_dialect_rules(pg.sample_sessions()["02-parallel-calls"].prompt_data())
    announced = [text for line, text in pairwise(lines.split("\n")) if line.endswith(":")]
    assert announced == [""]  # before the example; nothing else is announced and left out


def test_a_result_that_names_its_tool_and_its_call_has_holes_for_them() -> None:
    source = JSON_IN_TAGS.replace(
        "'<|turn|>' + m.role + '\\n'",
        "'<|turn|>' + ('user' if m.role == 'tool' else m.role) + '\\n'",
    ).replace("'<out>' + m.content", "'<out ' + m.name + ' ' + m.tool_call_id + '>' + m.content")
    dialect = dialect_from_template(source)
    assert (dialect.result, dialect.result_role) == ("<out {name} {id}>{result}</out>", "user")


def test_what_the_proof_cannot_show_is_a_finding() -> None:
    spaced = template(
        "{{ '<do>{ \"name\": \"' + c.name + '\", ' }}"
        "{{ '\"arguments\": ' + (c.arguments | tojson) + ' }</do>' }}", "{{ '\n' }}",
    )  # fmt: skip
    dialect = dialect_from_template(spaced)
    (found,) = dialect.findings()
    assert found.code == "derived-bytes"
    assert found.message.startswith("32 of 32 probes: one call, two parameters, two calls")
    upper = template("{{ '<do>' + ({'name': c.name, 'arguments': c.arguments} | tojson"
                     " | replace('src', 'SRC') | replace('one', 'two')) + '</do>' }}")  # fmt: skip
    with pytest.raises(InputFault, match="does not read the template's own 'plain text'"):
        dialect_from_template(upper)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "the template writes no calls"),
        ("{{ raise_exception('no') }}", r"writes no calls \(the template refuses: no\)"),
        ("{% for m in messages %", "writes no calls .*is not a Jinja template"),
        ("{{ 1 }}\n" * 3, "the template writes no calls"),
        (
            template(
                "{{ '%%' + c.name + '\n' }}{%- for k, v in c.arguments.items() %}"
                "{{ k ~ '[' ~ (v | string | length) ~ ']' ~ v ~ '\n' }}{%- endfor %}{{ '%%\n' }}"
            ),
            "does not read the template's own 'plain text': .*vessel.11.src/main.py",
        ),
        (
            template(
                "{%- if loop.first %}{{ '<a>' + ({'name': c.name, 'arguments': c.arguments}"
                " | tojson) + '</a>' }}{%- else %}{{ '[b]' + c.name + (c.arguments | tojson)"
                " + '[/b]' }}{%- endif %}"
            ),
            "does not read the template's own 'one call'",  # it writes calls in two ways
        ),
        ("nowhere/tokenizer_config.json", "No such file or directory; expected a .jinja file"),
    ],
)
def test_what_cannot_be_derived_is_refused_in_words(source: str, words: str) -> None:
    with pytest.raises(InputFault, match=words):
        dialect_from_template(source)


def test_calls_without_a_marker_are_said_to_have_none() -> None:
    bare = template("{{ {'name': c.name, 'parameters': c.arguments} | tojson }}", "{{ ';' }}")
    dialect = dialect_from_template(bare)
    assert dialect.syntax.shape.arguments == ("parameters",)
    assert [finding.code for finding in dialect.findings()] == ["derived-unmarked"]


def test_a_template_that_changes_lists_is_rendered_and_that_is_said() -> None:
    changing = JSON_IN_TAGS.replace(
        "{%- for m", "{%- set l = [] %}{{ l.append(1) or '' }}{%- for m", 1
    )
    with pytest.raises(InputFault, match="append"):
        pg.ChatTemplate(changing).render([{"role": "user", "content": "x"}])
    codes = [finding.code for finding in dialect_from_template(changing).findings()]
    assert codes == ["template-mutates"]


def test_a_stop_of_its_own_is_no_section() -> None:
    source = JSON_IN_TAGS.replace(
        "{%- else %}{{ m.content", "{{ '<|call|>' }}{%- else %}{{ m.content", 1
    )
    dialect = dialect_from_template(source)
    assert (dialect.syntax.section, "<|call|>" in dialect.stops) == ("", True)


def test_the_nearest_registered_dialect_is_named_with_what_differs() -> None:
    hermes = template(
        "{{ '<tool_call>\\n' + ({'name': c.name, 'arguments': c.arguments} | tojson)"
        " + '\\n</tool_call>' }}", "{{ '\\n' }}",
    )  # fmt: skip
    dialect = dialect_from_template(hermes)
    nearest = dialect.derivation.nearest(dialect)
    assert (nearest[0].reads, nearest[0].writes, nearest[0].differs) == (3, 3, ())
    assert "hermes" in [each.dialect for each in nearest]


def test_only_the_declarations_up_to_the_first_perfect_one_are_counted_as_tried() -> None:
    """All guesses were: 'alike' is 0 then, because nothing else was tried."""
    derivation = dialect_from_template(JSON_IN_TAGS).derivation
    assert derivation.proof.written == len(derivation.proof.trials)
    assert (derivation.tried, derivation.alike) == (1, 0)


def test_the_same_template_gives_the_same_dialect() -> None:
    one, other = dialect_from_template(TAGGED), dialect_from_template(TAGGED)
    assert one == other
    assert one.derivation.proof == other.derivation.proof


def test_the_command_prints_the_declaration_and_the_proof(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps({"chat_template": NAMED, "eos_token": "<|end|>"}))
    done = CliRunner().invoke(main, ["dialect", "from", str(file)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "probes read back" in done.stdout
    data = json.loads(CliRunner().invoke(main, ["dialect", "from", str(file), "--json"]).stdout)
    fields = {each["field"]: each["value"] for each in data["declaration"]}
    assert fields["call"] == "'<go {id} {name}|{args:json}|go>'"
    assert fields["stops"] == "'<|over|>', '<|end|>'"
    # the template writes the turn around a result, which no field of the dialect holds
    assert r"turns into '<|turn|>tool\n<out>{result}</out><|over|>\n'" in fields["result"]
    file.write_text("{}")
    done = CliRunner().invoke(main, ["dialect", "from", str(file)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


# the pieces


def test_cuts_fall_neither_into_tags_nor_into_words() -> None:
    assert snap_start("\n<tool_call>", "\n<t") == "\n"
    assert snap_start("assistant to=f", "assistant to=") == "assistant"
    assert snap_start("fetching", "fetch") == ""
    assert snap_end("x<|eom_id|>", "m_id|>") == ""
    assert next(splits("</v>\n<k>", "<c>\n<k>", "</v>\n</c>")) == ("</v>\n", "<k>")
    assert next(joints("</c>\n<c>", "<all><c>", "</c></all>")) == ("</c>", "\n", "<c>")


def test_a_dialect_that_reads_something_else_is_no_proof() -> None:
    dialect: DerivedDialect = dialect_from_template(JSON_IN_TAGS)
    trial = dialect.derivation.proof.trials[0]
    assert reads(dialect, trial.theirs, trial.calls)
    assert not reads(dialect, trial.theirs + " and text", trial.calls)
    assert not reads(dialect, trial.theirs.replace("Qopax", "Qopay"), trial.calls)


# templates of models, where they lie beside the checkout


def goldens() -> list[tuple[str, str]]:
    """Each template of the recorded renderings once, with the name of a model that has it."""
    path = ROOT.parent / "shared" / "conformance" / "hfjs_e2e_goldens.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    return list({row["chat_template"]: row["name"] for row in rows}.items())


QUICK = [
    ("Qwen/Qwen2.5-7B-Instruct", "hermes"),
    ("moonshotai/Kimi-K2-Thinking", "kimi-k2"),
    ("zai-org/GLM-5.1", "glm"),
]


@pytest.mark.skipif(not goldens(), reason="NOT RUN: ../shared/conformance is not beside this")
@pytest.mark.parametrize(("name", "near"), QUICK)
def test_models_templates_give_dialects_that_read_all_they_write(name: str, near: str) -> None:
    source = next(source for source, model in goldens() if model == name)
    dialect = dialect_from_template(pg.ChatTemplate(source, name=name))
    assert [trial.probe for trial in dialect.derivation.proof.trials if not trial.read] == []
    assert near in [each.dialect for each in dialect.derivation.nearest(dialect)]


def test_a_gguf_file_needs_the_package_that_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(InputFault, match="package gguf, which is not installed|cannot be read"):
        dialect_from_template(file)


def test_a_gguf_file_says_its_template_and_its_tokens(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    file = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_chat_template(NAMED)
    writer.add_token_list(["<s>", "</s>"])
    writer.add_eos_token_id(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    dialect = dialect_from_template(file)
    assert (dialect.syntax.call, dialect.stops) == (
        "<go {id} {name}|{args:json}|go>",
        ("<|over|>", "</s>"),
    )
