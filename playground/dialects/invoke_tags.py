"""Dialects with tags like `<invoke>`: most name the tool and parameters in attributes."""

from dataclasses import replace
from functools import partial
from typing import Final

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

TAG_RULES: Final = (
    "Write a call as the example shows it: one element for the tool, one inside it for "
    "each parameter, its value as it is, nothing escaped, outside of any code fence."
)
_invoked = partial(DeclaredDialect, rules=TAG_RULES, dropped=SEQUENCE_TOKENS, tool_docs=JSON_LINES)


def _invoke_syntax(section: str, *also_sections: str) -> Syntax:
    """Declare `<invoke name="f">` with `<parameter name="k">`; sections in `also_sections` are read
    too."""
    return Syntax(
        call='<invoke name="{name}">\n{params}</invoke>',
        param='<parameter name="{key}">{value}</parameter>\n',
        section=section,
        section_also=also_sections,
    )


def _dsml(prefix: str, section: str, *also: Syntax) -> Syntax:
    """Declare DeepSeek's form, in which the attribute `string` decides how a value is read."""
    return Syntax(
        call=f'<{prefix}invoke name="{{name}}">\n{{params}}</{prefix}invoke>',
        param=(
            f'<{prefix}parameter name="{{key}}" string="{{is_text}}">'
            f"{{value}}</{prefix}parameter>\n"
        ),
        section=f"<{prefix}{section}>\n{{calls}}\n</{prefix}{section}>",
        section_slips=tuple(
            f"<{prefix}{broken}>\n{{calls}}\n</{prefix}{section}>"
            for broken in ("toolcalls", "tool")
        ),
        reserved=True,
        also=also,
    )


_ATEM: Final = Syntax(  # Muse's call without the section and the recipient before it
    call='<atem:invoke name="{name}">\n{params}</atem:invoke>',
    param='<atem:parameter name="{key}">{value}</atem:parameter>\n',
    untyped="json",
)

DIALECTS = (
    _invoked(
        name="anthropic-invoke",
        title="Anthropic invoke",
        syntax=_invoke_syntax("<function_calls>\n{calls}\n</function_calls>"),
        reasoning=(ReasoningTags("<thinking>", "</thinking>"),),
        result=(
            "<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>{result}"
            "</stdout>\n</result>\n</function_results>"
        ),
        models="Claude 3 in text, gptme (Anthropic's tool use guide, 2024-04)",
    ),
    _invoked(
        name="anthropic-legacy",
        title="Anthropic legacy",
        syntax=Syntax(
            call=(
                "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{params}</parameters>\n"
                "</invoke>"
            ),
            param="<{key}>{value}</{key}>\n",
            section="<function_calls>\n{calls}\n</function_calls>",
        ),
        result=(
            "<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{result}\n"
            "</stdout>\n</result>\n</function_results>"
        ),
        models=(
            "Claude 2 in text, LiteLLM's anthropic_xml (Anthropic's legacy tool use guide, 2024-02)"
        ),
        model_names=("claude-?v?2",),
    ),
    _invoked(
        name="muse",
        title="Muse Glimmer",
        syntax=Syntax(
            call=_ATEM.call,
            param=_ATEM.param,
            section=" to={name}<|message|><atem:function_calls>\n{calls}\n</atem:function_calls>",
            section_also=("<atem:function_calls>\n{calls}\n</atem:function_calls>",),
            one_call_a_section=True,
            section_required=True,
            separator="<|eom|><|start|>assistant",
            untyped="json",
            also=(_ATEM,),
        ),
        answer=(" to=user<|message|>", "<|eom|><|start|>assistant"),
        reasoning=(ReasoningTags(" to=self<|message|>", "<|eom|>"),),
        plain=(
            ReasoningTags(" to=user<|message|>", "<|eot|>"),
            ReasoningTags(" to=commentary<|message|>", "<|eom|>"),
        ),
        stops=(
            "<|start|>assistant",
            " to=<|message|>",  # without a recipient
            "<|message|>",
            "<|eom|>",
            "<|eot|>",
            "<|end_of_text|>",
        ),
        switches=Switches(calls_in_reasoning="reasoning"),
        models="Muse Glimmer (chat template, 2026-11)",
        model_names=("muse", "glimmer"),
    ),
    _invoked(
        name="minimax-m2",
        title="MiniMax M2",
        syntax=replace(
            _invoke_syntax(
                "<minimax:tool_call>\n{calls}\n</minimax:tool_call>",
                "<tool_call>\n{calls}\n</tool_call>",
            ),
            also=(
                # M2.5 writes this form now and then
                Syntax(
                    call='[TOOL_CALL]\n{{tool => "{name}", args => {{ {params}}}}}\n[/TOOL_CALL]',
                    param='--{key} "{value}"\n',
                    slip=True,
                ),
                Syntax(
                    call='[TOOL_CALL]\n{{tool => "{name}", args => {args:json}}}\n[/TOOL_CALL]',
                    slip=True,
                ),
            ),
        ),
        reasoning=(THINK,),
        stops=("[e~[",),
        result="<response>{result}</response>",
        result_role="tool",
        models="MiniMax M2 (chat template, 2026-11)",
        model_names=("minimax-?m2",),
    ),
    _invoked(
        name="dots",
        title="dots",
        syntax=Syntax(
            call='<invoke name="{name}">{params}</invoke>',
            param='<parameter name="{key}">{value}</parameter>',
            section="<dots_function_call>{calls}</dots_function_call>",
            also=(Syntax(call="<dots_function_call>{call:json}</dots_function_call>"),),
        ),
        dropped=(*SEQUENCE_TOKENS, "<dots_function_call>"),
        reasoning=(THINK,),
        models="dots.llm (vLLM's parser, 2026-11)",
        model_names=("dots",),
    ),
    _invoked(
        name="deepseek-dsml",
        title="DeepSeek DSML",
        syntax=_dsml(
            "｜DSML｜",
            "tool_calls",
            _dsml("｜DSML｜", "function_calls"),  # V3.2
            # with ASCII bars, as some servers write it
            replace(_dsml("|DSML|", "tool_calls"), slip=True),
        ),
        reasoning=(THINK,),
        stops=("<｜end▁of▁sentence｜>",),
        result="<function_results>\n<result>{result}</result>\n</function_results>",
        models="DeepSeek V3.2 and V4 (encoding documents, 2026-11)",
        model_names=(r"deepseek.*(v3\.2|v4(?!\.1))",),
    ),
    _invoked(
        name="deepseek-v4.1",
        title="DeepSeek V4.1",
        syntax=_dsml("｜DSML｜ ", "calls"),  # the marker is a token of its own, so a blank follows
        reasoning=(THINK,),
        stops=("<｜end▁of▁sentence｜>",),
        result="<tool_result>{result}</tool_result>",
        models="DeepSeek V4.1 (its encoding's tests in public engines, xgrammar 0.2.8; 2026-11)",
        model_names=(r"deepseek.*v4\.1",),
    ),
    _invoked(
        name="gigachat3.5",
        title="GigaChat 3.5",
        syntax=_dsml("｜GCML｜", "tool_calls"),
        stops=("</s>",),
        models="GigaChat 3.5 (vLLM's parser, 2026-11)",
        model_names=(r"gigachat-?3\.5",),
    ),
    _invoked(
        name="step3",
        title="Step 3",
        syntax=Syntax(
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
                ),
            ),
        ),
        switches=Switches(broken_calls="text"),
        reasoning=(THINK,),
        models="Step 3 (chat template, 2026-11)",
        model_names=(r"step-?3(?!\.[57])",),
    ),
    _invoked(
        name="minicpm5",
        title="MiniCPM 5",
        syntax=Syntax(
            call='<function name="{name}">{params}</function>',
            param='<param name="{key}">{value}</param>',
            cdata=True,
        ),
        switches=Switches(broken_calls="text", misfits="text"),
        reasoning=(THINK,),
        models="MiniCPM 5 (chat template, 2026-11)",
        model_names=("minicpm-?5",),
    ),
    _invoked(
        name="minimax-m3",
        title="MiniMax M3",
        syntax=Syntax(
            call=']<]minimax[>[<invoke name="{name}">{params}]<]minimax[>[</invoke>',
            param="]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>",
            section="]<]minimax[>[<tool_call>\n{calls}\n]<]minimax[>[</tool_call>",
            element="]<]minimax[>[",
            also=(
                Syntax(  # if the server removed the token before each tag
                    call='<invoke name="{name}">{params}</invoke>',
                    param="<{key}>{value}</{key}>",
                    section="<tool_call>\n{calls}\n</tool_call>",
                    slip=True,
                ),
            ),
        ),
        reasoning=(ReasoningTags("<mm:think>", "</mm:think>"),),
        models="MiniMax M3 (chat template, 2026-11)",
        model_names=("minimax-?m3",),
    ),
)
