"""What a chat template does to a conversation: one small template for each finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.raw_prompts.chat_template import ChatTemplate
from playground.plugins.own_dialects.asking import RequestForm, find_form
from playground.plugins.own_dialects.audit import audit_template

# Tools, roles, thoughts, calls with ids, results with ids: nothing is lost in it.
WHOLE = (
    "{%- if tools %}{{ '<tools>' + (tools | tojson) + '</tools>' }}{% endif %}"
    "{%- for m in messages %}{{ '<|' + m.role + '|>' }}"
    "{%- if m.role == 'tool' %}{{ m.tool_call_id + ': ' }}{% endif %}"
    "{%- if m.reasoning_content %}{{ '<think>' + m.reasoning_content + '</think>' }}{% endif %}"
    "{%- if m.content is string %}{{ m.content }}{% else %}"
    "{%- for part in m.content or [] %}{{ part.text }}{% endfor %}{% endif %}"
    "{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}"
    "{{- '<call ' + c.id + '>' + c.function.name + ' ' }}"
    "{{- (a if a is string else a | tojson) + '</call>' }}{% endfor %}{{ '<|end|>' }}"
    "{%- endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def but(*changes: tuple[str, str]) -> str:
    """The whole template with some of its words replaced."""
    source = WHOLE
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


DRILL = ROOT.parent / "shared" / "audit" / "drill"
ARGUMENTS = "(a if a is string else a | tojson)"
CALLS = "{%- for c in m.tool_calls or [] %}"
CONTENT = "{%- if m.content is string %}"
RAISE = "{{ raise_exception('no') }}"
FAULTS = {
    "template-drops-calls": but((CALLS, "{%- for c in [] %}")),
    "template-drops-text": but((CONTENT, "{%- if m.tool_calls %}{% elif m.content is string %}")),
    "template-text-or-calls": but((CALLS, "{%- for c in m.tool_calls if not m.content %}")),
    "template-drops-results": but(
        (CONTENT, "{%- if m.role == 'tool' %}{% elif m.content is string %}")
    ),
    "template-ignores-tools": but(("(tools | tojson)", "'some'")),
    "template-needs-tools": but(("{%- if tools %}", "{%- if not tools %}" + RAISE + "{% else %}")),
    "template-ignores-system": but(
        ("{%- for m in messages %}", "{%- for m in messages if m.role != 'system' %}")
    ),
    "template-merges-system": but(
        ("{{ '<|' + m.role + '|>' }}",
         "{% if m.role == 'system' %}{{ '<|user|>' }}{% elif loop.previtem is not defined or "
         "loop.previtem.role != 'system' %}{{ '<|' + m.role + '|>' }}{% endif %}"),
        ("{{ '<|end|>' }}", "{% if m.role != 'system' %}{{ '<|end|>' }}{% endif %}"),
    ),
    "template-one-call": but((CALLS, CALLS + "{% if not loop.first %}" + RAISE + "{% endif %}")),
    "template-drops-ids": but(("{{ m.tool_call_id + ': ' }}", "")),
    "template-prints-none": but((CONTENT, "{{ m.content if m.content is none }}" + CONTENT)),
    "template-refuses-null": but(
        (CONTENT, "{% if m.content is none %}" + RAISE + "{% endif %}" + CONTENT)
    ),
    "template-wants-no-content": but((CALLS, "{%- for c in m.tool_calls if m.content is none %}")),
    "template-wants-content": but((CONTENT, "{{ m.content[0].thinking }}" + CONTENT)),
    "template-refuses-parts": but((CONTENT, "{{ m.content + '' if m.content }}{% if true %}")),
    "template-encodes-twice": but((ARGUMENTS, "(a | tojson)")),
    "template-refuses-text": but((ARGUMENTS, "(a.items() | list | tojson)")),
    "template-wants-text": but((ARGUMENTS, "a")),
    "template-name-in-id": but(
        ("c.id", "'1'"), ("c.function.name", "c.id.split('.')[1].split(':')[0]")
    ),
    "template-breaks-prefix": but(
        ("{%- if m.reasoning_content %}",
         "{%- if loop.last and m.role == 'assistant' %}{{ '<think></think>' }}{% endif %}"
         "{%- if m.reasoning_content %}")
    ),
    "template-no-generation-prompt": but(("{{ '<|assistant|>' }}", "")),
    "template-drops-thoughts": but(
        ("{%- if m.reasoning_content %}", "{%- if m.reasoning_content and not m.tool_calls %}")
    ),
    "template-ignores-thoughts": but(("{%- if m.reasoning_content %}", "{%- if false %}")),
    "template-forgets-thoughts": but(
        ("{%- if m.reasoning_content %}",
         "{%- if m.reasoning_content and (loop.last or m.tool_calls) %}")
    ),
    "template-date": "{{ strftime_now('%d %b %Y') }}" + WHOLE,
    "template-writes-bos": "{{ bos_token }}" + WHOLE,
    "template-trims": but(("{{ m.content }}", "{{ m.content | trim }}")),
    "template-mutates": "{% set seen = [] %}{% set _ = seen.append(1) %}" + WHOLE,
}  # fmt: skip


def codes(source: str) -> set[str]:
    return {found.code for found in audit_template(source).findings}


def test_a_template_that_loses_nothing_can_be_forged_and_no_more() -> None:
    assert codes(WHOLE) == {"template-forged-turn"}


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_found_and_shown(code: str) -> None:
    found = audit_template(FAULTS[code])
    fault = next(each for each in found.faults if each.finding.code == code)
    assert fault.shown
    for rendering in fault.shown:
        assert (rendering.text is None) == bool(rendering.refused)


def test_thoughts_beside_calls_alone_are_forgotten_and_not_ignored() -> None:
    """As Kimi K2 Thinking writes them."""
    beside_calls = "{%- if m.reasoning_content and m.tool_calls %}"
    found = codes(but(("{%- if m.reasoning_content %}", beside_calls)))
    assert found == {"template-forged-turn", "template-forgets-thoughts"}


def test_a_template_that_fails_without_text_beside_calls_is_audited_with_text() -> None:
    """As Command A Reasoning does; it was said to write no calls."""
    found = codes(FAULTS["template-wants-content"])
    assert found == {"template-forged-turn", "template-wants-content"}


def test_markers_that_are_escaped_in_a_users_text_forge_no_turn() -> None:
    safe = but(("{{ m.content }}", "{{ m.content | replace('<|', '< |') }}"))
    assert codes(safe) == set()


def test_a_broken_prefix_is_shown_by_both_turns_and_the_place() -> None:
    found = audit_template(FAULTS["template-breaks-prefix"])
    fault = next(each for each in found.faults if each.finding.code == "template-breaks-prefix")
    before, after = (str(rendering.text) for rendering in fault.shown)
    assert not after.startswith(before)
    assert fault.finding.message.endswith("the prompts differ from character 33 on")


def test_only_a_template_that_renders_words_is_audited() -> None:
    with pytest.raises(InputFault, match="cannot be audited: the template refuses: never"):
        audit_template("{{ raise_exception('never') }}")
    with pytest.raises(InputFault, match="what a user says is not in the prompt"):
        audit_template("{% if messages %}hello{% endif %}")


def test_a_template_that_takes_all_memory_is_stopped_once() -> None:
    """It was asked in every other form, each time until it was stopped: 100 seconds."""
    greedy = (
        "{% set n = namespace(a='a') %}"
        "{% for i in range(40) %}{% set n.a = n.a ~ n.a %}{% endfor %}"
        "{{ messages[0].content }}{{ n.a }}"
    )
    with pytest.raises(InputFault, match="needs more than"):
        audit_template(greedy)
    with pytest.raises(InputFault, match="needs more than"):
        pg.dialect_from_template(greedy)


def test_the_command_tells_findings_and_what_shows_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(FAULTS["template-drops-results"])
    run = CliRunner().invoke(main, ["chat-template", "audit", str(file), "--shown"])
    assert run.exit_code == 0
    assert '"content": "Jyolc"' in run.stdout
    told = json.loads(
        CliRunner().invoke(main, ["chat-template", "audit", str(file), "--json"]).stdout
    )
    fault = next(each for each in told["faults"] if each["code"] == "template-drops-results")
    assert fault["severity"] == "error"
    assert "Jyolc" not in fault["shown"][0]["text"]


def test_an_audit_is_a_table_and_a_page() -> None:
    found = pg.audit_template(FAULTS["template-trims"])
    assert list(found.frame()["code"]) == ["template-forged-turn", "template-trims"]
    assert "template-trims" in found.html()


@pytest.mark.skipif(
    not DRILL.exists(), reason="NOT RUN: ../shared/audit is not beside this checkout"
)
@pytest.mark.parametrize("name", ["pow", "dbl", "ljust"])
def test_hostile_templates_are_refused_in_words(name: str) -> None:
    with pytest.raises(InputFault):
        audit_template(DRILL / f"{name}.jinja")


def test_of_forms_that_a_template_writes_equally_badly_the_commonest_is_asked_for() -> None:
    written = "<call>{{ c.function.name }} {'{{ k }}': '{{ v }}'}</call>"
    keys = "{% for k, v in c.function.arguments.items() %}" + written + "{% endfor %}"
    calls = "{% for c in m.tool_calls or [] %}" + keys + "{% endfor %}"
    source = "{% for m in messages %}{{ m.content }}" + calls + "{% endfor %}"
    assert find_form(ChatTemplate(source)).form == RequestForm()
