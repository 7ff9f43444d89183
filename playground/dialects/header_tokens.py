"""A header of control tokens names the tool, its arguments follow as JSON or as parameters."""

from typing import Any

from playground.dialects.declared import JSON_LINES, SEQUENCE_TOKENS, DeclaredDialect
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

_THINK = (ReasoningTags("<think>", "</think>"),)


def _header(
    name: str,
    title: str,
    syntax: Syntax,
    models: str,
    dropped: tuple[str, ...] = (),
    **more: object,
) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        title=title,
        syntax=syntax,
        rules=(
            "Write a call with the control tokens of the example, the tool's name between them "
            "and its arguments as a JSON object."
        ),
        dropped=SEQUENCE_TOKENS + dropped,
        tool_docs=JSON_LINES,
        models=models,
        **more,  # type: ignore[arg-type]
    )


def _harmony(recipient: str, body: str, constrain: str, **more: Any) -> tuple[Syntax, ...]:
    """A call to a recipient in the orders of a message's header that models write."""
    heads = (f"<|channel|>{{word}} to={recipient}", f" to={recipient}<|channel|>{{word}}")
    return tuple(
        Syntax(call=f"{head}{word}<|message|>{body}<|call|>", **more)
        for head in heads
        for word in (constrain, "")
    )


_HARMONY_ALSO = (
    *_harmony("functions.{name}", "{args:json}", " <|constrain|>json"),
    *_harmony("browser.{name}", "{args:json}", " <|constrain|>json"),
    *_harmony("python", "{text:code}", " <|constrain|>code", name="python"),
    *_harmony("container.exec", "{text:code}", " <|constrain|>code", name="container.exec"),
)

DIALECTS = (
    _header(
        "kimi-k2",
        "Kimi K2",
        Syntax(
            call=(
                "<|tool_call_begin|>functions.{name}:{index}"
                "<|tool_call_argument_begin|>{args:json}<|tool_call_end|>"
            ),
            section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
            separator="",
            also=(
                Syntax(  # nothing but the call's number
                    call=(
                        "<|tool_call_begin|>{index}"
                        "<|tool_call_argument_begin|>{args:json}<|tool_call_end|>"
                    ),
                    section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
                    separator="",
                    nameless="inferred",
                ),
                Syntax(  # without the word that the id should begin with
                    call=(
                        "<|tool_call_begin|>{name}:{index}"
                        "<|tool_call_argument_begin|>{args:json}<|tool_call_end|>"
                    ),
                    section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
                    separator="",
                ),
            ),
        ),
        "Kimi K2, K2 Thinking (chat templates, 2026-11)",
        dropped=("<|tool_call_argument_begin|>",),
        reasoning=_THINK,
        stops=("<|im_end|>",),
        result="## Return of {id}\n{result}",
        result_role="tool",
    ),
    _header(
        "deepseek-v3",
        "DeepSeek V3",
        Syntax(
            call=(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n"
                "```json\n{args:json}\n```<｜tool▁call▁end｜>"
            ),
            section="<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>",
        ),
        "DeepSeek V3, R1 (chat templates, 2026-11)",
        result="<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>",
        reasoning=_THINK,
        stops=("<｜end▁of▁sentence｜>",),
    ),
    _header(
        "deepseek-v3.1",
        "DeepSeek V3.1",
        Syntax(
            call="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args:json}<｜tool▁call▁end｜>",
            section="<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>",
            separator="",
        ),
        "DeepSeek V3.1 (chat template, 2026-11)",
        dropped=("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
        result="<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>",
        reasoning=_THINK,
        stops=("<｜end▁of▁sentence｜>",),
    ),
    _header(
        "mistral",
        "Mistral",
        Syntax(
            call="[TOOL_CALLS]{name}[ARGS]{args:json}",
            separator="",
            also=(
                Syntax(call="[TOOL_CALLS]{name}{args:json}", separator=""),
                Syntax(call="[TOOL_CALLS]{args:json}", separator="", nameless="empty"),
                Syntax(call="[TOOL_CALLS][ARGS]{args:json}", separator="", nameless="empty"),
                Syntax(
                    call="{call:json}",
                    section="[TOOL_CALLS] [{calls}]",
                    separator=", ",
                    section_required=True,
                ),
            ),
        ),
        "Mistral, Ministral: tokenizer v11 and later, older are read (mistral-common, 2026-11)",
        result="[TOOL_RESULTS]{result}[/TOOL_RESULTS]",
        reasoning=(ReasoningTags("[THINK]", "[/THINK]"),),
        stops=("</s>",),
        switches=Switches(calls_in_reasoning="reasoning"),
    ),
    _header(
        "plamo3",
        "PLaMo 3",
        Syntax(
            call=(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}"
                "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
                "<|plamo:constrain|>json<|plamo:msg|>{args:json}<|plamo:end_tool_arguments:plamo|>"
                "<|plamo:end_tool_request:plamo|>"
            ),
            section=("<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>"),
            separator="",
        ),
        "PLaMo 3 (vLLM's parser, 2026-11)",
        reasoning=(ReasoningTags("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
        stops=("<|plamo:tag|>",),
    ),
    _header(
        "kimi-k3",
        "Kimi K3",
        Syntax(
            call='<|open|>call tool="{name}" index="{number}"<|sep|>{params}<|close|>call<|sep|>',
            param=(
                '<|open|>argument key="{key}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>'
            ),
            section="<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>",
            separator="",
        ),
        "Kimi K3 (chat template, 2026-11)",
        reasoning=(ReasoningTags("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        opens_reasoning=True,
        answer=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        stops=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>"),
    ),
    _header(
        "harmony",
        "Harmony",
        Syntax(
            call=(
                "<|channel|>commentary to=functions.{name} <|constrain|>json"
                "<|message|>{args:json}<|call|>"
            ),
            also=_HARMONY_ALSO,
        ),
        "gpt-oss (openai-harmony, 2026-11)",
        reasoning=(ReasoningTags("<|channel|>analysis<|message|>", "<|end|>"),),
        answer=("<|channel|>final<|message|>", "<|end|>"),
        stops=(
            "<|start|>assistant",
            "<|channel|>commentary to=assistant",
            "<|channel|>final<|message|>",
            "<|channel|>commentary<|message|>",
            "<|end|>",
            "<|return|>",
            "<|call|>",
        ),
        parallel=False,
        result=(
            "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{result}<|end|>"
        ),
        result_role="tool",
    ),
)
