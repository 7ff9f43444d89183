"""Raw prompts: Llama as Meta writes it, and chat templates as transformers renders them."""

from __future__ import annotations

import datetime
import json
import time
from typing import Any, Literal

import jinja2
import pytest
from click.testing import CliRunner
from conftest import ROOT

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.raw_prompts import (
    LLAMA3,
    LLAMA4,
    ChatTemplate,
    LlamaFormat,
    LlamaTurn,
    chat_template,
)
from playground.dialects.raw_prompts.chat_template import question_budget
from playground.dialects.raw_prompts.llama import turns_of
from playground.dialects.reading import parse
from playground.nouns.messages import ImagePart, Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.plugins.own_dialects.audit import prompt_warnings

ORACLES = ROOT.parent / "shared" / "conformance"
needs_oracle = pytest.mark.skipif(
    not ORACLES.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
IMAGE = ImagePart(url="data:image/png;base64,eA==")
CALL = ToolCallPart("c", "get_tides", {"harbour": "Brest"})
TOOL = ToolMetadata(name="get_tides", description="Tides.", parameters={"harbour": "where"})


def test_a_round_trip_has_its_roles_and_stops() -> None:
    search = ToolMetadata(name="brave_search", parameters={"query": "what"})
    query = ToolCallPart("c", "brave_search", {"query": "tides"})
    messages = [
        Message("user", (TextPart("When?"),)),
        Message("assistant", (query,)),
        Message("tool", (ToolResultPart("c", "brave_search", "04:12"),)),
    ]
    task = TaskConfig(user_agent_prompt="Be brief.")
    data = PromptData(messages=messages, tool_metadata=[search], task_config=task)
    assert LLAMA3.render(turns_of(data)) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nEnvironment: ipython\n"
        "Tools: brave_search\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nWhen?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
        'brave_search.call(query="tides")<|eom_id|>'
        "<|start_header_id|>ipython<|end_header_id|>\n\n04:12<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )


@pytest.mark.parametrize(
    ("tool_format", "dialect"),
    [("json", "llama3-json"), ("function_tag", "llama3-function"), ("python_list", "pythonic")],
)
def test_a_call_in_each_format_is_read_by_its_dialect(tool_format: Any, dialect: str) -> None:
    (call,) = parse(LLAMA3.call(CALL, tool_format), dialect, [TOOL]).tool_calls
    assert (call.name, call.arguments) == ("get_tides", {"harbour": "Brest"})


def test_code_stands_behind_the_python_tag() -> None:
    call = ToolCallPart("c", "code_interpreter", {"code": "print(1)"})
    assert LLAMA3.call(call) == "<|python_tag|>print(1)"
    (read,) = parse(LLAMA3.call(call) + "<|eom_id|>", "llama3-code").tool_calls
    assert read.arguments == {"code": "print(1)"}


def prompt(llama: LlamaFormat, *turns: LlamaTurn, tool_format: Any = "json") -> str:
    text = llama.render(turns, tool_format)
    return text.removeprefix(llama.begin).removesuffix(
        f"{llama.start_header}assistant{llama.end_header}\n\n"
    )


CODE = ToolCallPart("c", "code_interpreter", {"code": "print(1)"})


def test_llama_4_ends_calls_and_results_as_messages_that_go_on() -> None:
    head = "<|header_start|>{}<|header_end|>\n\n"
    called = prompt(LLAMA4, LlamaTurn("assistant", "Well.", (CALL,)), tool_format="python_list")
    assert called == f'{head.format("assistant")}Well.[get_tides(harbour="Brest")]<|eom|>'
    assert prompt(LLAMA4, LlamaTurn("tool", "04:12")) == f"{head.format('ipython')}04:12<|eom|>"
    assert prompt(LLAMA4, LlamaTurn("assistant", "Hi")) == f"{head.format('assistant')}Hi<|eot|>"


def test_only_llama_3_tags_code_and_before_the_text() -> None:
    turn = LlamaTurn("assistant", "I compute.", (CODE,))
    assert prompt(LLAMA3, turn) == (
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
        "<|python_tag|>I compute.print(1)<|eot_id|>"
    )
    assert prompt(LLAMA4, turn) == (
        "<|header_start|>assistant<|header_end|>\n\nI compute.print(1)<|eom|>"
    )
    assert LLAMA4.call(CODE) == "print(1)"


@pytest.mark.parametrize(
    ("tool_format", "text"),
    [
        ("json", '{"type": "function", "name": "f", "parameters": {"a": "\\u03c0", "b": ["x"]}}'),
        ("function_tag", '<function=f>{"a": "\\u03c0", "b": ["x"]}</function>'),
        ("python_list", '[f(a="π", b=["x"])]'),
    ],
)
def test_arguments_are_escaped_as_meta_escapes_them(tool_format: Any, text: str) -> None:
    assert LLAMA3.call(ToolCallPart("c", "f", {"a": "π", "b": ["x"]}), tool_format) == text


def test_the_environment_in_the_agents_own_prompt_counts() -> None:
    task = TaskConfig(user_agent_prompt="Environment: ipython\nBe brief.")
    messages = [Message("user", (TextPart("When?"),)), Message("assistant", (CALL,))]
    turns = turns_of(PromptData(messages=messages, tool_metadata=[TOOL], task_config=task))
    assert turns[0].content == "Environment: ipython\nBe brief."
    assert turns[-1].stop_reason == "end_of_message"
    assert LLAMA3.render(turns).count("<|eom_id|>") == 1


@pytest.mark.parametrize("template", ["llama3", "llama4"])
@pytest.mark.parametrize("tool_format", ["json", "function_tag", "python_list"])
@pytest.mark.parametrize("system", ["Be brief.", "Environment: ipython\nBe brief.", "a\n\nb\n"])
@pytest.mark.parametrize("builtin", [[], ["brave_search"]])
def test_a_system_text_is_the_same_prompt_wherever_the_session_has_it(
    template: str, tool_format: Any, system: str, builtin: list[str]
) -> None:
    tools = [TOOL, *(ToolMetadata(name=name) for name in builtin)]
    messages = [Message("user", (TextPart("When?"),)), Message("assistant", (CALL,))]
    task = TaskConfig(user_agent_prompt=system)
    of_the_task = PromptData(messages=messages, tool_metadata=tools, task_config=task)
    spoken = [Message("system", (TextPart(system),)), *messages]
    said = pg.raw_prompt(PromptData(messages=spoken, tool_metadata=tools), template, tool_format)
    assert said.text == pg.raw_prompt(of_the_task, template, tool_format).text
    assert said.text.index("Be brief." if "Be" in system else "a\n\nb") < said.text.index(
        "function"
    )
    assert said.text.count("<|eom_id|>") == (
        template == "llama3" and tool_format == "json" and ("Env" in system or bool(builtin))
    )


def test_system_messages_that_lead_are_one_turn_and_later_ones_their_own() -> None:
    texts = [("system", "b"), ("system", "c"), ("user", "d"), ("system", "e")]
    messages = [Message(role, (TextPart(text),)) for role, text in texts]  # type: ignore[arg-type]
    task = TaskConfig(user_agent_prompt="a")
    turns = turns_of(PromptData(messages=messages, task_config=task))
    assert [turn.role for turn in turns] == ["system", "user", "system"]
    assert turns[0].content == "a\nb\nc"


@pytest.mark.parametrize(
    ("template", "tool_format", "dialect", "call"),
    [
        ("llama3", None, "llama3-json", '"name": "get_tides"'),
        ("llama3", "function_tag", "llama3-function", "<function=get_tides>"),
        ("llama3", "python_list", "pythonic", "[get_tides("),
        ("llama4", None, "llama4-pythonic", "[get_tides("),
        ("llama4", "json", "llama3-json", '"name": "get_tides"'),
        ("llama4", "function_tag", "llama3-function", "<function=get_tides>"),
    ],
)
def test_raw_prompts_offer_the_three_tool_formats(
    template: str, tool_format: Any, dialect: str, call: str
) -> None:
    messages = [Message("user", (TextPart("When?"),)), Message("assistant", (CALL,))]
    data = PromptData(messages=messages, tool_metadata=[TOOL])
    made = pg.raw_prompt(data, template, tool_format)
    assert made.dialect == dialect
    assert call in made.text.rpartition("When?")[2]


def test_the_command_takes_a_tool_format() -> None:
    given = ["raw", "02-parallel-calls", "--llama", "3", "--tool-format", "function_tag"]
    assert "<function=" in CliRunner().invoke(main, given).stdout
    with pytest.raises(InputFault, match="has its own tool format; expected llama3 or llama4"):
        pg.raw_prompt(PromptData(), "chatml", "json")
    with pytest.raises(InputFault, match="is not a format of custom tools"):
        pg.raw_prompt(PromptData(), "llama3", "yaml")  # type: ignore[arg-type]


def recorded() -> list[Any]:
    path = ORACLES / "llama_usecases_llamastack_last.json"
    if not path.exists():
        return []
    rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if row.get("rendered")]
    return [pytest.param(row, id=f"{row['module']}-{row['index']}") for row in rows]


def turn_of(message: dict[str, Any]) -> LlamaTurn:
    content = message["content"]
    if isinstance(content, list):
        content = [IMAGE if part["type"] == "image" else part["text"] for part in content]
    calls = tuple(
        ToolCallPart(c["call_id"], c["tool_name"], json.loads(c["arguments"]))
        for c in message["tool_calls"]
    )
    reason: Literal["end_of_turn", "end_of_message"] = message["stop_reason"] or "end_of_turn"
    return LlamaTurn(message["role"], content, calls, reason)


@needs_oracle
@pytest.mark.parametrize("row", recorded())
def test_llama_prompts_are_those_of_metas_code(row: dict[str, Any]) -> None:
    llama = LLAMA4 if row["module"].startswith("llama4") else LLAMA3
    if row["kind"] == "text_completion":
        content: Any = row["input"]
        if content == "<media content>":  # an image and a text, which the record does not spell
            content = [IMAGE, row["rendered"].partition("<|image|>")[2]]
        assert llama.completion(content) == row["rendered"]
        return
    turns = [turn_of(message) for message in row["messages"]]
    assert llama.render(turns, row["tool_prompt_format"]) == row["rendered"]


# chat templates

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HI = [{"role": "user", "content": "hi"}]
ASKED = PromptData(messages=[Message("user", (TextPart("When?"),))])


def test_a_template_is_rendered_with_its_generation_prompt() -> None:
    template = ChatTemplate(CHATML)
    assert template.render(HI) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert template.render(HI, add_generation_prompt=False).endswith("<|im_end|>\n")


def test_a_tokenizer_config_brings_its_tokens(tmp_path: Any) -> None:
    config = {"chat_template": "{{ bos_token }}{{ messages[0].content }}", "bos_token": "<s>"}
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(config))
    assert ChatTemplate.load(path).render(HI) == "<s>hi"


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["default", "tool_use", "rag"], "tool_use"),
        (["tool_use", "default"], "tool_use"),
        (["rag", "default"], "default"),
    ],
)
def test_of_several_templates_the_one_for_tools_is_used(names: list[str], chosen: str) -> None:
    listed = [{"name": name, "template": f"of {name}"} for name in names]
    assert ChatTemplate.loads(json.dumps({"chat_template": listed})).render(HI) == f"of {chosen}"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{% for %}", "not a Jinja template"),
        ("{{ raise_exception('roles must alternate') }}", "refuses: roles must alternate"),
        ("{{ raise_exception('\x1b[2Jboo \u202e') }}", r"refuses: \\x1b\[2Jboo \\u\{202e\}"),
        ("{{ messages.append(1) }}", "fails: SecurityError"),
        ("{{ ''.__class__.__mro__[0]() }}", "fails: "),
        ("{{ 'x' * 10**9 }}", "too large"),
        ("{{ 2 ** 1000000000 }}", "too large"),
        ("{{ '%1000000000d' % 1 }}", "too large"),
        ("{{ 'x'|center(10**9) }}", "10,000"),
        ("{% for i in range(10**9) %}{% endfor %}", "Range too big"),
        ("{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}", "more than 20,000,000"),
    ],
)
def test_a_hostile_template_ends_in_one_clear_error(source: str, words: str) -> None:
    with pytest.raises(InputFault, match=words):
        ChatTemplate(source).render(HI)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'a b c d'|wordwrap(3) }}",
        "{{ 'abcdef'|wordwrap(width=2, break_long_words=false) }}",
        "{{ 'a b'|center(9) }}",
        "{{ 'a b'|center }}",
        "{{ 99999|center(9) }}",
        "{{ 'a\nb'|indent(2) }}",
        "{{ 'a\nb'|indent(width=2, first=true) }}",
    ],
)
def test_a_filter_with_a_bound_writes_what_jinjas_own_does(source: str) -> None:
    assert ChatTemplate(source).render(HI) == jinja2.Environment().from_string(source).render()


@pytest.mark.parametrize("name", ["center(99999)", "indent(99999)", "wordwrap(99999)"])
def test_a_filter_with_a_bound_keeps_it(name: str) -> None:
    with pytest.raises(InputFault, match="a width of more than 10,000 characters"):
        ChatTemplate("{{ 'a'|" + name + " }}").render(HI)


def test_a_template_that_loops_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "TIME_LIMIT", 0.3)
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    start = time.monotonic()
    with pytest.raises(InputFault, match="more than 0.3 s"):
        ChatTemplate(loop).render(HI)
    assert time.monotonic() - start < 20


NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
WITH_CALLS = "{% for m in messages if m.tool_calls %}" + NESTED + "{% endfor %}"


def test_all_that_a_question_renders_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    pg.raw_prompt(ASKED, ChatTemplate("warm"))
    monkeypatch.setattr(chat_template, "TIME_LIMIT", 1.0)
    start = time.monotonic()
    with pytest.raises(InputFault, match="the template runs for more than 1 s"):
        pg.raw_prompt(ASKED, ChatTemplate(NESTED))
    made = pg.raw_prompt(ASKED, ChatTemplate("Hi. " + WITH_CALLS))  # its probes never end
    assert (made.text, made.dialect, made.findings) == ("Hi. ", "", [])
    assert time.monotonic() - start < 6  # two seconds and two starts; it was seven and seven


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("{", "a.json", "not JSON"),
        ("{}", "a.json", "no chat_template"),
        ("[]", "b.json", "no chat"),
        ('{"chat_template": ["no object"]}', "c.json", "no chat_template"),
        pytest.param("[" * 100_000, "d.json", "not JSON", id="nested too deeply"),
    ],
)
def test_a_file_that_is_no_template_is_refused(text: str, name: str, words: str) -> None:
    with pytest.raises(InputFault, match=words):
        ChatTemplate.loads(text, name)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["pasted", "pasted.jinja", "tokenizer_config.json"])
def test_a_tokenizer_config_is_read_as_one_whatever_its_name(indent: int | None, name: str) -> None:
    config = json.dumps({"bos_token": "<s>", "chat_template": "\n{{ bos_token }}"}, indent=indent)
    assert ChatTemplate.loads(config, name).render([]) == "\n<s>"
    assert (
        ChatTemplate.loads('{ "role": {{ 1 + 1 }} }', name="a.jinja").render([]) == '{ "role": 2 }'
    )


def test_what_a_template_does_with_tools_is_said() -> None:
    one = (
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}"
        "{% if loop.index > 1 %}{{ raise_exception('one call only') }}{% endif %}"
        "{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}"
    )
    codes = {f.code: f.message for f in prompt_warnings(ChatTemplate(one), question_budget(), True)}
    assert set(codes) == {
        "template-ignores-tools",
        "template-one-call",
        "template-prints-none",
        "template-encodes-twice",
    }
    assert "one call only" in codes["template-one-call"]


def goldens() -> list[Any]:
    path = ORACLES / "hfjs_e2e_goldens.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [pytest.param(row, id=f"{row['group']}-{row['name']}") for row in rows]


# its target was written for a JavaScript engine, which prints Python's dicts as JSON
NOT_OURS = {"MadeAgents/Hammer2.1"}


@needs_oracle
@pytest.mark.parametrize("row", goldens())
def test_templates_render_as_their_goldens(row: dict[str, Any]) -> None:
    data = dict(row["data"])
    messages, tools = data.pop("messages"), data.pop("tools", None)
    prompt = data.pop("add_generation_prompt", None)
    template = ChatTemplate(row["chat_template"], now=datetime.datetime(2025, 7, 10))
    text = template.render(messages, tools, prompt, **data)
    assert (text == row["target"]) == (row["name"] not in NOT_OURS)


@pytest.mark.parametrize("template", ["llama3", "llama4"])
def test_the_reader_of_code_is_named_for_the_code_interpreter(template: str) -> None:
    """`llama3-json` was named, which leaves `<|python_tag|>print(7)` as text."""
    code = ToolMetadata(name="code_interpreter", input_schema={"type": "object"})
    alone = pg.raw_prompt(PromptData(messages=ASKED.messages, tool_metadata=[code]), template)
    assert alone.dialect == "llama3-code"
    (call,) = pg.parse("<|python_tag|>print(7)<|eom_id|>", alone.dialect, [code]).tool_calls
    assert call.arguments == {"code": "print(7)"}
    assert not alone.findings
    tools = [code, *ASKED.tool_metadata, ToolMetadata(name="get_tides")]
    both = pg.raw_prompt(PromptData(messages=ASKED.messages, tool_metadata=tools), template)
    assert [finding.code for finding in both.findings] == ["code-not-read"]
    asked = [{"role": "user", "content": "Is 7 prime?"}]
    implied = pg.session(messages=asked, system="Environment: ipython")
    assert pg.raw_prompt(implied, template).dialect == "llama3-code"
    named = pg.session(messages=asked, system="Environment: ipython\nTools: brave_search")
    found = pg.raw_prompt(named, template)
    assert found.dialect != "llama3-code"
    assert [finding.code for finding in found.findings] == ["code-not-read"]
    assert not pg.raw_prompt(pg.session(messages=asked), template).findings
