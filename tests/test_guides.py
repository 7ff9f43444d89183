"""Guides: every example is read back, the committed pages are those of the code."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from strategies import DIALECTS

from playground.base.errors import InputFault
from playground.base.paths import samples
from playground.base.wording import fenced
from playground.cli import main
from playground.dialects import DeclaredDialect, dialect_names
from playground.dialects.models import dialect_for, trained_on
from playground.dialects.raw_prompts import LLAMA3, LLAMA4, LlamaPrompt
from playground.lab import guides
from playground.lab.guides import Dialog, TextCompletion, UseCase, guide_for
from playground.nouns.messages import Message, TextPart
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.parsing.syntax import Syntax
from playground.plugins.guides.guide import Guide
from playground.plugins.guides.library import use_cases

SYSTEM = Message("system", (TextPart("You are a helpful assistant"),))
USER = Message("user", (TextPart("Who are you?"),))


def guide_of(name: str) -> Guide:
    """A guide that there is: of a declared dialect."""
    found = guide_for(name)
    assert isinstance(found, Guide)
    return found


each = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])


@each
def test_every_example_is_read_back(name: str) -> None:
    guide = guide_of(name)
    calls = 0
    for _, dialog in guide.dialogs():
        result = guide.reading(dialog)
        assert result.aborted == []
        calls += len(result.tool_calls)
        if not result.tool_calls:
            assert result.content.strip() == "High water is at 04:12."
        for call in result.tool_calls:
            assert call.name in {tool.name for tool in dialog.tools}
            properties = {p for t in dialog.tools for p in t.parameters}
            assert set(call.arguments) <= properties
            assert call.arguments
    general = guide.dialect.parallel and not guide.dialect.syntax.text_keys
    assert calls == (3 if general else 1)


@each
def test_a_guide_has_its_five_use_cases_or_says_why_not(name: str) -> None:
    guide = guide_of(name)
    titles = [case.title for case in guide.use_cases]
    assert titles[-4:] == [
        "A conversation without tools",
        "One tool call",
        "A full round trip",
        "Several calls in one reply",
    ]
    page = guide.markdown()
    assert page.count("##### Input Prompt Format") == sum(
        not isinstance(dialog, str) for case in guide.use_cases for dialog in case.dialogs
    )
    assert guide.dialect.models, "`models` says who writes the dialect, with source and date"


def test_the_prompt_of_a_llama_guide_is_raw_and_ends_with_the_generation_header() -> None:
    guide = guide_of("llama3-json")
    prompts = [guide.prompt(case, dialog) for case, dialog in guide.dialogs()]
    assert all(p.endswith("<|start_header_id|>assistant<|end_header_id|>\n\n") for p in prompts)
    assert guide.prompt(guide.use_cases[0], TextCompletion("a")) == "<|begin_of_text|>a"
    tokens = [
        token for token in LLAMA3.tokens if f"`{token}`".replace("|", "\\|") in guide.markdown()
    ]
    assert tokens == list(LLAMA3.tokens)


def test_what_a_guide_shows_is_what_its_dialect_says() -> None:
    """A raw prompt and a tool of its own are fields: no guide knows a dialect's name."""
    tool = ToolMetadata(name="dial", examples=(ToolExample(parameters={"number": "7"}),))
    dialect = DeclaredDialect(
        name="mine",
        syntax=Syntax(call="{call:json}"),
        rules="",
        raw_prompt=LlamaPrompt(LLAMA4, "function_tag"),
        own_tool=tool,
    )
    guide = Guide(dialect, use_cases(dialect))
    assert guide.llama is LLAMA4
    assert guide.use_cases[0].title == "A base model"
    assert {case.tool_prompt_format for case in guide.use_cases} == {"function_tag"}
    case, single = list(guide.dialogs())[1]
    assert "Use the function 'dial'" in guide.prompt(case, single)
    assert [call.arguments for call in guide.reading(single).tool_calls] == [{"number": "7"}]


def test_texts_stand_as_they_are_and_empty_parts_have_no_heading() -> None:
    dialect = guide_of("xml").dialect
    case = UseCase("T", "", ("Just words.", Dialog(())))
    page = Guide(dialect, [case]).markdown()
    assert "\nJust words.\n" in page
    assert "No recorded response." in page
    assert "Notes" not in page
    noted = Guide(dialect, [UseCase("T", notes=("one", "two"))]).markdown()
    assert "##### Notes\n\n- one\n- two\n" in noted


def test_a_fence_is_longer_than_any_in_its_text() -> None:
    assert fenced("a ```` b").startswith("`````\n")
    assert fenced("plain").startswith("```\n")


def test_the_command_prints_lists_writes_and_checks(tmp_path: object) -> None:
    run = CliRunner().invoke
    assert run(main, ["guide", "xml"]).output.startswith("# XML tags")
    assert run(main, ["guide", "--list"]).output.split() == dialect_names()
    assert run(main, ["guide", "nope"]).exit_code == 2
    assert run(main, ["guide"]).exit_code == 2
    out = ["guide", "xml", "--out", str(tmp_path)]
    assert run(main, [*out, "--check"]).exit_code == 1
    assert run(main, out).exit_code == 0
    assert run(main, [*out, "--check"]).exit_code == 0


def test_the_raw_command_needs_one_format() -> None:
    run = CliRunner().invoke
    sample = next(iter(samples()))
    assert run(main, ["raw", sample]).exit_code == 2
    assert run(main, ["raw", sample, "--llama", "3"]).output.startswith("<|begin_of_text|>")


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "llama3-json"),
        ("meta-llama/Llama-4-Scout-17B", "llama4-pythonic"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder"),
        ("Qwen/Qwen2.5-72B-Instruct", "hermes"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-dsml"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
        ("zai-org/GLM-4.6", "glm"),
        ("moonshotai/Kimi-K2-Instruct", "kimi-k2"),
        ("openai/gpt-oss-120b", "harmony"),
        ("anthropic/claude-sonnet-4-5", "native"),
        ("gpt-5", "native"),
        ("gemini/gemini-2.5-pro", "native"),
        ("google/gemma-4-27b-it", "gemma4"),
        ("mistralai/Devstral-Small", "mistral"),
        ("zai-org/GLM-5", "glm"),
        ("tencent/Hy3-preview", "hunyuan"),
        ("tencent/Hy3", "hy3"),
        ("tencent/Hy4-preview", "hy4"),
        ("upstage/Solar-Open-100B", "solar-open"),
        ("upstage/Solar-Open-2-102B", "solar-open2"),
        ("CohereForAI/c4ai-command-r-plus", "command-r"),
        ("CohereForAI/c4ai-command-r7b-12-2024", "cohere-action"),
        ("meetkai/functionary-small-v3.2", "functionary-v3.2"),
        ("baidu/ERNIE-4.5-21B-A3B-Thinking", "ernie45"),
        ("LGAI-EXAONE/EXAONE-4.0-32B", "exaone-4"),
        ("XiaomiMiMo/MiMo-V2-Flash", "mimo"),
        ("XiaomiMiMo/MiMo-VL-7B-RL", "hermes"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "deepseek-v4.1"),
        ("watt-ai/watt-tool-8B", "pythonic"),
        ("katanemo/Arch-Function-3B", "hermes"),
        ("inclusionAI/Ring-1T", "hermes"),
        ("ai-sage/GigaChat3.5-Ultra", "gigachat3.5"),
        ("google/gemma-3-27b-it", "gemma3"),
        ("naver-hyperclovax/HyperCLOVAX-SEED-Think-14B", "hyperclovax"),
        ("IQuestLab/IQuest-Coder-V2-40B", "iquest-coder"),
        ("IQuestLab/IQuest-Q1", "iquest-q1"),
        ("iFlytek/Spark-3", "glm"),
        ("Tele-AI/Xing4.0", "telechat4"),
        ("LLM360/K2-V3-Instruct", "k2-horizon"),
        ("Tele-AI/TeleChat4-36B", "telechat4"),
    ],
)
def test_a_model_gets_its_dialect_with_a_reason(model: str, dialect: str) -> None:
    choice = dialect_for(model)
    assert choice.dialect == dialect
    assert len(choice.reason) > 20


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("Gemma 4", "gemma4"),
        ("Gemma 3", "gemma3"),
        ("MiniMax M2", "minimax-m2"),
        ("MiniMax M3", "minimax-m3"),
        ("Qwen3 Coder", "qwen3-coder"),
        ("Qwen 3", "hermes"),
        ("K-EXAONE 2", "k-exaone-2"),
        ("DeepSeek V3", "deepseek-v3"),
        ("DeepSeek V3.2", "deepseek-dsml"),
        ("Kimi K2", "kimi-k2"),
        ("Llama 3.1 8B", "llama3-json"),
        ("GLM 4.6", "glm"),
        ("Claude 2.1", "anthropic-legacy"),
        ("Claude Sonnet 4.5", "native"),
        ("NousHermes 2 Pro", "hermes"),
    ],
)
def test_a_name_with_blanks_is_the_name_with_hyphens(model: str, dialect: str) -> None:
    """So people and model cards write it; "Qwen3 Coder" was taken for a Qwen 3."""
    assert dialect_for(model).dialect == dialect


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("openrouter/anthropic/claude-sonnet-4", "native"),
        ("openrouter/x-ai/grok-4", "native"),
        ("deepseek/deepseek-chat", "native"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "native"),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", "native"),
        ("bedrock/anthropic.claude-v2", "anthropic-legacy"),
        ("amazon.nova-lite-v1:0", "native"),
        ("dashscope/qwen-max", "native"),
        ("openrouter/openai/gpt-oss-20b", "harmony"),
        ("acme/gemini-3-distill-Qwen3-8B", "hermes"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-v3"),
        ("Qwen/Qwen-32B", None),
        ("ibm-granite/granite-3b-code-instruct", None),
    ],
)
def test_a_router_s_prefix_changes_no_hosted_model(model: str, dialect: str | None) -> None:
    assert dialect_for(model).dialect == dialect


@pytest.mark.parametrize(
    ("model", "nearest"), [("some/unknown-7b", "xml"), ("Qwen/Qwen9-2B", "qwen3-coder")]
)
def test_an_unknown_model_has_no_dialect_but_one_to_try(model: str, nearest: str) -> None:
    choice = dialect_for(model)
    assert (choice.dialect, choice.nearest, choice.usable) == (None, nearest, nearest)
    assert "no form is known" in choice.reason


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("NousResearch/Hermes-2-Pro-Mistral-7B", "hermes"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes"),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "hermes"),
        ("nvidia/Llama-3.1-Nemotron-Nano-8B-v1", "llama3-json"),
        ("Team-ACE/ToolACE-2-Llama-3.1-8B", "pythonic"),
        ("meta-llama/Llama-3.2-3B-Instruct", "pythonic"),
        ("Qwen/Qwen3.5-397B", "qwen3-coder"),
        ("Qwen/Qwen3.6-27B", "qwen3-coder"),
        ("Qwen/Qwen3.7-27B", None),
        ("qwen/qwen3.8-max", "native"),
        ("qwen3-coder-plus-latest", "native"),
        ("Qwen/Qwen3-Coder-Plus-GGUF", "qwen3-coder"),
        ("ibm-granite/granite-4.2-h-small", "qwen3-coder"),
        ("kimi-coding/k2p5", "kimi-k2"),
        ("accounts/fireworks/models/glm-4p7", "glm"),
        ("accounts/fireworks/models/llama-v3p3-70b-instruct", "llama3-json"),
        ("stepfun-ai/Step-3.7-Flash", "qwen3-coder"),
        ("stepfun-ai/Step-3.5-Flash", "qwen3-coder"),
        ("stepfun-ai/step3", "step3"),
        ("ibm-granite/granite-4.0-h-small", "hermes"),
        ("ibm-granite/granite-20b-functioncalling", "granite-20b-fc"),
        ("ibm-granite/granite-3.3-8b-instruct", "granite"),
        ("tencent/Hunyuan-A13B-Instruct", "tool-calls-array"),
        ("tencent/Hunyuan-7B-Instruct", "hunyuan"),
        ("moonshotai/Kimi-K3", "kimi-k3"),
        ("google/functiongemma-270m-it", "functiongemma"),
        ("openrouter/anthropic/claude-2", "anthropic-legacy"),
        ("claude-2.1", "anthropic-legacy"),
        ("anthropic/claude-2", "anthropic-legacy"),
        ("ByteDance-Seed/UI-TARS-1.5-7B", "qwen3-coder"),
        ("groq/openai/gpt-oss-120b", "native"),
        ("zai-org/GLM-4.6", "glm"),
        ("zai-org/GLM-4-9B-chat", None),
        ("LGAI-EXAONE/K-EXAONE-236B-A23B", "hermes"),
        ("LGAI-EXAONE/K-EXAONE-2", "k-exaone-2"),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "nemotron-v2"),
        ("deepcogito/cogito-v2-preview-deepseek-671B-MoE", "deepseek-v3"),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", "mistral"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", None),
        ("HuggingFaceTB/SmolLM3-3B", "hermes"),
        ("arcee-ai/Trinity-Mini", "hermes"),
        ("PrimeIntellect/INTELLECT-3", "qwen3-coder"),
    ],
)
def test_a_name_of_two_families_gets_one_dialect(model: str, dialect: str | None) -> None:
    """A general pattern leaves to others what they know better, wherever it is registered."""
    assert dialect_for(model).dialect == dialect


@each
def test_what_a_dialect_says_of_its_models_is_what_it_claims(name: str) -> None:
    """`models` tells people, `model_names` tells `dialect_for`: neither without the other."""
    dialect = guide_of(name).dialect
    families = re.split(r", | and ", dialect.models.partition(" (")[0].lower())
    claimed = [trained_on(family.replace(" ", "-")) for family in families]
    assert (dialect in claimed) == bool(dialect.model_names)


def test_a_model_name_that_is_no_pattern_is_told_where_it_is_declared() -> None:
    with pytest.raises(InputFault, match="dialect 'mine', field model_names.*'foo\\('"):
        DeclaredDialect(
            name="mine", syntax=Syntax(call="{call:json}"), rules="", model_names=("foo(",)
        )


@pytest.mark.parametrize("odd", [7, None, [UseCase("T")], {"title": "T"}])
def test_what_is_no_use_case_or_dialog_is_told_by_its_place(odd: Any) -> None:
    """A number among the use cases was an AttributeError deep inside."""
    dialect = guide_of("llama3-json").dialect
    with pytest.raises(InputFault, match=r"cases\.1.* was given; expected a UseCase, or a text"):
        Guide(dialect, ["a text", odd])
    with pytest.raises(InputFault, match=r"use case 'T', dialogs\.1.*expected Dialog\(messages\)"):
        UseCase("T", dialogs=("a text", odd))


def test_a_generator_of_use_cases_or_dialogs_is_read_once() -> None:
    """The check at the door had read it to its end: the page was silently without them."""
    dialect = guide_of("llama3-json").dialect
    messages: Any = (message for message in [USER])
    dialogs: Any = (Dialog(each) for each in [messages, [USER]])
    notes: Any = iter(["one"])
    case = UseCase("T", dialogs=dialogs, notes=notes)
    assert case.dialogs == (Dialog((USER,)), Dialog((USER,)))
    assert case.notes == ("one",)
    cases: Any = (each for each in [case])
    page = Guide(dialect, cases).markdown()
    assert page.count("##### Input Prompt Format") == 2


def test_a_list_of_messages_is_a_dialog() -> None:
    """Meta's own form of a use case."""
    metas: Any = [[SYSTEM, USER]]
    guide = Guide(guide_of("llama3-json").dialect, [UseCase("T", dialogs=metas)])
    ((case, dialog),) = guide.dialogs()
    assert dialog == Dialog((SYSTEM, USER))
    assert guide.prompt(case, dialog) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
        "You are a helpful assistant<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
        "Who are you?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_a_use_case_given_lists_can_be_a_key() -> None:
    listed = UseCase("T", dialogs=[Dialog([USER])], notes=["one"])
    assert {listed: 1}[UseCase("T", dialogs=(Dialog((USER,)),), notes=("one",))] == 1


@pytest.mark.parametrize("given", ["some text", None, 7, {"a": 1}])
def test_what_is_no_list_is_told_by_the_name_of_its_field(given: Any) -> None:
    dialect = guide_of("llama3-json").dialect
    with pytest.raises(InputFault, match="a guide's cases: .* expected a list"):
        Guide(dialect, given)
    with pytest.raises(InputFault, match="use case 'T', dialogs: .* expected a list"):
        UseCase("T", dialogs=given)
    with pytest.raises(InputFault, match="a dialog's messages: .* expected a list"):
        Dialog(given)
    with pytest.raises(InputFault, match="a dialog's tools: .* expected a list"):
        Dialog((), given)


def test_what_is_no_message_or_note_is_told_where_it_is_given() -> None:
    """It was a ValidationError when the page was written."""
    odd: Any = ["x"]
    with pytest.raises(InputFault, match=r"a dialog's messages\.0: str 'x' .* a Message"):
        Dialog(odd)
    with pytest.raises(InputFault, match=r"a dialog's tools\.0: str 'x' .* a ToolMetadata"):
        Dialog((), odd)
    with pytest.raises(InputFault, match=r"a dialog's messages\.1: str 'x'"):
        UseCase("T", dialogs=[Dialog([USER, *odd])])
    wrong_note: Any = [7]
    with pytest.raises(InputFault, match=r"use case 'T', notes\.0: int 7"):
        UseCase("T", notes=wrong_note)
    nothing: Any = None
    with pytest.raises(InputFault, match="use case 'T', notes: NoneType None"):
        UseCase("T", notes=nothing)


def test_notes_may_be_one_text() -> None:
    """As Meta writes them; each letter was a line of a list."""
    case = UseCase("T", notes="\n- Note start special tag\n- Another\n")
    assert case.notes == ("Note start special tag", "Another")
    page = Guide(guide_of("llama3-json").dialect, [case, UseCase("U", notes="\n")]).markdown()
    assert "\n##### Notes\n\n- Note start special tag\n- Another\n" in page
    assert page.count("Notes") == 1


def test_texts_between_use_cases_stand_in_the_guide_as_they_are() -> None:
    guide = guide_of("llama3-json")
    assert isinstance(guide, Guide)
    text = "\n## Tool Calling Formats\n\nThree *kinds*.\n"
    mixed = replace(guide, cases=[text, guide.use_cases[0], "# Last\n"])
    page = mixed.markdown()
    assert "\n\n## Tool Calling Formats\n\nThree *kinds*.\n\n## A base model\n" in page
    assert "\n\n# Last\n" in page
    assert list(mixed.dialogs()) == []
    assert [case.title for case in mixed.use_cases] == ["A base model"]


# the first 16 digits of the SHA-256 of the texts that llama-stack 0.2.12 wrote, as a JSON list
META_DIALOGS = {
    ("llama3_1_builtin_tool_call_dialog", "json"): "070a7b3eb7ad469b",
    ("llama3_1_builtin_code_interpreter_dialog", "json"): "a4dab85450ad5028",
    ("llama3_1_custom_tool_call_dialog", "json"): "bd76bf444cd785a3",
    ("llama3_1_custom_tool_call_dialog", "function_tag"): "fba0aeda0d582f3c",
}


@pytest.mark.parametrize(("name", "tool_format"), META_DIALOGS)
def test_metas_own_dialogs_have_metas_texts(name: str, tool_format: str) -> None:
    dialog: list[Message] = getattr(guides, name)(guides.ToolPromptFormat(tool_format))
    texts = json.dumps([message.text for message in dialog]).encode()
    assert hashlib.sha256(texts).hexdigest()[:16] == META_DIALOGS[name, tool_format]
    assert guides.llama_dates() in dialog[0].text
    case = UseCase(title="JSON based tool calling", dialogs=[Dialog(dialog)])
    prompt = guide_of("llama3-json").prompt(case, case.dialogs[0])  # type: ignore[arg-type]
    for message in dialog:
        assert f"<|end_header_id|>\n\n{message.text}<|eot_id|>" in prompt


def test_metas_dialogs_know_two_tool_formats() -> None:
    with pytest.raises(InputFault, match="expected json or function_tag"):
        guides.llama3_1_custom_tool_call_dialog("python_list")


def test_use_cases_run_as_meta_writes_them() -> None:
    """Only the line of the import is another one than in Meta's file."""
    system = "Environment: ipython\nTools: brave_search, wolfram_alpha\n"
    cases = [
        UseCase(
            title="Base",
            dialogs=[guides.TextCompletionContent(content="Color of sky is blue but")],
        ),
        UseCase(
            title="Built-in tools full interaction",
            dialogs=[
                [  # type: ignore[list-item]  # a list of messages becomes a Dialog
                    guides.RawMessage(role="system", content=system),
                    guides.RawMessage(role="user", content="What is the 100th decimal of pi?"),
                    guides.RawMessage(
                        content="",
                        stop_reason=guides.StopReason.end_of_message,
                        tool_calls=[
                            guides.ToolCall(
                                call_id="tool_call_id",
                                tool_name=guides.BuiltinTool.wolfram_alpha,
                                arguments={"query": "100th decimal of pi"},
                            )
                        ],
                    ),
                    guides.RawMessage(role="tool", content="7"),
                ]
            ],
            notes="- Note the tag.",
        ),
    ]
    shown = guide_of("llama3-json")
    base, full = (shown.prompt(case, case.dialogs[0]) for case in cases)  # type: ignore[arg-type]
    assert base == "<|begin_of_text|>Color of sky is blue but"
    head, end = "<|start_header_id|>", "<|end_header_id|>\n\n"
    call = 'wolfram_alpha.call(query="100th decimal of pi")'
    assert full == (
        f"<|begin_of_text|>{head}system{end}{system}<|eot_id|>"
        f"{head}user{end}What is the 100th decimal of pi?<|eot_id|>"
        f"{head}assistant{end}{call}<|eom_id|>{head}ipython{end}7<|eot_id|>{head}assistant{end}"
    )
