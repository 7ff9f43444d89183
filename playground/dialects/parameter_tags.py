"""Calls as tags, one tag per parameter, raw values: the invoke, function and key families."""

from typing import Any

from playground.dialects.declared import JSON_LINES, SEQUENCE_TOKENS, DeclaredDialect
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

_THINK = (ReasoningTags("<think>", "</think>"),)


def _tags(
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
            "Write a call as the example shows it: one element for the tool, one inside it for "
            "each parameter, its value as it is, nothing escaped, outside of any code fence."
        ),
        dropped=SEQUENCE_TOKENS + dropped,
        tool_docs=JSON_LINES,
        models=models,
        **more,  # type: ignore[arg-type]
    )


def _invoke(section: str, *read: str, prefix: str = "", **more: Any) -> Syntax:
    """`<invoke name="f">` with `<parameter name="k">`, in a section; those of `read` are read."""
    return Syntax(
        call=f'<{prefix}invoke name="{{name}}">\n{{params}}</{prefix}invoke>',
        param=f'<{prefix}parameter name="{{key}}">{{value}}</{prefix}parameter>\n',
        section=section,
        section_also=read,
        **more,
    )


def _dsml(prefix: str, section: str, *also: Syntax) -> Syntax:
    """DeepSeek's: what `string` says decides how a value is read."""
    return Syntax(
        call=f'<{prefix}invoke name="{{name}}">\n{{params}}</{prefix}invoke>',
        param=(
            f'<{prefix}parameter name="{{key}}" string="{{is_text}}">'
            f"{{value}}</{prefix}parameter>\n"
        ),
        section=f"<{prefix}{section}>\n{{calls}}\n</{prefix}{section}>",
        section_also=tuple(
            f"<{prefix}{broken}>\n{{calls}}\n</{prefix}{section}>"
            for broken in ("toolcalls", "tool")
        ),
        reserved=True,
        also=also,
    )


def _function(section: str) -> Syntax:
    """`<function=f>` with `<parameter=k>`, each call in a section of its own."""
    return Syntax(
        call="<function={name}>\n{params}</function>",
        param="<parameter={key}>\n{value}\n</parameter>\n",
        section=f"<{section}>\n{{calls}}\n</{section}>" if section else "",
        one_call_a_section=bool(section),
    )


def _keys(call: str, prefix: str = "", section: str = "", *also: Syntax) -> Syntax:
    """A key element and a value element for each parameter."""
    return Syntax(
        also=also,
        call=call,
        param=(
            f"<{prefix}arg_key>{{key}}</{prefix}arg_key>\n"
            f"<{prefix}arg_value>{{value}}</{prefix}arg_value>\n"
        ),
        section=section,
    )


DIALECTS = (
    _tags(
        "anthropic-invoke",
        "Anthropic invoke",
        _invoke("<function_calls>\n{calls}\n</function_calls>"),
        "Claude 3 in text, gptme (Anthropic's tool use guide, 2024-04)",
        reasoning=(ReasoningTags("<thinking>", "</thinking>"),),
        result="<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>{result}"
        "</stdout>\n</result>\n</function_results>",
    ),
    _tags(
        "anthropic-legacy",
        "Anthropic legacy",
        Syntax(
            call=(
                "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{params}</parameters>\n"
                "</invoke>"
            ),
            param="<{key}>{value}</{key}>\n",
            section="<function_calls>\n{calls}\n</function_calls>",
        ),
        "Claude 2 in text, LiteLLM's anthropic_xml (Anthropic's legacy tool use guide, 2024-02)",
        result="<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{result}\n"
        "</stdout>\n</result>\n</function_results>",
    ),
    _tags(
        "muse",
        "Muse Glimmer",
        _invoke(
            " to={name}<|message|><atem:function_calls>\n{calls}\n</atem:function_calls>",
            "<atem:function_calls>\n{calls}\n</atem:function_calls>",
            prefix="atem:",
            one_call_a_section=True,
            section_required=True,
            separator="<|eom|><|start|>assistant",
            untyped="json",
        ),
        "Muse Glimmer (chat template, 2026-11)",
        answer=(" to=user<|message|>", "<|eom|><|start|>assistant"),
        reasoning=(ReasoningTags(" to=self<|message|>", "<|eom|>"),),
        plain=(ReasoningTags(" to=user<|message|>", "<|eot|>"),),
        stops=("<|start|>assistant", "<|message|>", "<|eom|>", "<|eot|>"),
        switches=Switches(calls_in_reasoning="reasoning"),
    ),
    _tags(
        "minimax-m2",
        "MiniMax M2",
        _invoke(
            "<minimax:tool_call>\n{calls}\n</minimax:tool_call>",
            "<tool_call>\n{calls}\n</tool_call>",
        ),
        "MiniMax M2 (chat template, 2026-11)",
        reasoning=_THINK,
        stops=("[e~[",),
        result="<response>{result}</response>",
        result_role="tool",
    ),
    _tags(
        "dots",
        "dots",
        Syntax(
            call='<invoke name="{name}">{params}</invoke>',
            param='<parameter name="{key}">{value}</parameter>',
            section="<dots_function_call>{calls}</dots_function_call>",
            also=(Syntax(call="<dots_function_call>{call:json}</dots_function_call>"),),
        ),
        "dots.llm (vLLM's parser, 2026-11)",
        dropped=("<dots_function_call>",),
        reasoning=_THINK,
    ),
    _tags(
        "deepseek-dsml",
        "DeepSeek DSML",
        _dsml(
            "｜DSML｜",
            "tool_calls",
            _dsml("｜DSML｜", "function_calls"),  # V3.2
            _dsml("|DSML|", "tool_calls"),  # with ASCII bars, as some servers write it
        ),
        "DeepSeek V3.2 and V4 (encoding documents, 2026-11)",
        reasoning=_THINK,
        stops=("<｜end▁of▁sentence｜>",),
        result="<function_results>\n<result>{result}</result>\n</function_results>",
    ),
    _tags(
        "step3",
        "Step 3",
        Syntax(
            call=(
                "<｜tool_call_begin｜>function<｜tool_sep｜>"
                '<steptml:invoke name="{name}">{params}</steptml:invoke><｜tool_call_end｜>'
            ),
            param='<steptml:parameter name="{key}">{value}</steptml:parameter>',
            section="<｜tool_calls_begin｜>{calls}<｜tool_calls_end｜>",
            separator="",
            also=(
                Syntax(
                    call=(
                        '<｜tool_call_begin｜><steptml:invoke name="{name}">{params}'
                        "</steptml:invoke><｜tool_call_end｜>"
                    ),
                    param='<steptml:parameter name="{key}">{value}</steptml:parameter>',
                    section="<｜tool_calls_begin｜>{calls}<｜tool_calls_end｜>",
                    separator="",
                ),
            ),
        ),
        "Step 3 (chat template, 2026-11)",
        switches=Switches(broken_calls="text"),
        reasoning=_THINK,
    ),
    _tags(
        "minicpm5",
        "MiniCPM 5",
        Syntax(
            call='<function name="{name}">{params}</function>',
            param='<param name="{key}">{value}</param>',
            known_names=True,
            cdata=True,
        ),
        "MiniCPM 5 (chat template, 2026-11)",
        switches=Switches(broken_calls="text", misfits="text"),
        reasoning=_THINK,
    ),
    _tags(
        "minimax-m3",
        "MiniMax M3",
        Syntax(
            call=']<]minimax[>[<invoke name="{name}">{params}]<]minimax[>[</invoke>',
            param="]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>",
            section="]<]minimax[>[<tool_call>\n{calls}\n]<]minimax[>[</tool_call>",
            element="]<]minimax[>[",
        ),
        "MiniMax M3 (chat template, 2026-11)",
        reasoning=(ReasoningTags("<mm:think>", "</mm:think>"),),
    ),
    _tags(
        "seed-oss",
        "Seed OSS",
        _function("seed:tool_call"),
        "Seed OSS 36B (chat template, 2026-11)",
        reasoning=(ReasoningTags("<seed:think>", "</seed:think>"),),
        stops=("<seed:eos>",),
        result="{result}",
        result_role="tool",
    ),
    _tags(
        "openhands",
        "OpenHands",
        _function(""),
        "OpenHands without native calls, SWE-agent (their converters, 2026-11)",
        result="EXECUTION RESULT of [{name}]:\n{result}",
        parallel=False,
    ),
    _tags(
        "k-exaone-2",
        "K-EXAONE 2",
        _function("tool_call"),
        "K-EXAONE 2 (ai-sdk's parser, 2026-11)",
        reasoning=_THINK,
    ),
    _tags(
        "glm",
        "GLM 4.5",
        _keys(
            "<tool_call>{name}\n{params}</tool_call>",
            "",
            "",
            Syntax(call="<tool_call>\n{call:json}\n</tool_call>"),
            Syntax(call="<tool_call>{name}\n{args:json}</tool_call>"),
        ),
        "GLM 4.5 to 4.7, Ling 3, Spark 2.5 (chat templates, 2026-11)",
        reasoning=_THINK,
        stops=("<|observation|>", "<|user|>", "<|role_end|>", "<|endoftext|>"),
        result="<tool_response>\n{result}\n</tool_response>",
    ),
    _tags(
        "hunyuan",
        "Hunyuan 3",
        _keys(
            "<tool_call>{name}<tool_sep>\n{params}</tool_call>",
            section="<tool_calls>\n{calls}\n</tool_calls>",
        ),
        "Hunyuan V3 (vLLM's parser, 2026-11)",
        reasoning=_THINK,
    ),
    _tags(
        "k2-horizon",
        "K2 Horizon",
        _keys(
            "<ifm|tool_call>{name}\n{params}</ifm|tool_call>",
            "ifm|",
            "<ifm|tool_calls>\n{calls}\n</ifm|tool_calls>",
            Syntax(
                call="<ifm|tool_call>{name}\n{params}</ifm|tool_call>",
                param=(
                    "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_type>{type}</ifm|arg_type>\n"
                    "<ifm|arg_value>{value}</ifm|arg_value>\n"
                ),
                section="<ifm|tool_calls>\n{calls}\n</ifm|tool_calls>",
            ),
        ),
        "K2 Horizon (vLLM's parser, 2026-11)",
        reasoning=(ReasoningTags("<ifm|think>", "</ifm|think>"), *_THINK),
    ),
)
