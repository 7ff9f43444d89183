"""Dialects of tags with raw values: `<function=f>` with `<parameter=k>`, or elements for keys."""

from dataclasses import replace
from functools import partial

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.invoke_tags import TAG_RULES
from playground.dialects.prompts import JSON_LINES
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

_tags = partial(DeclaredDialect, rules=TAG_RULES, dropped=SEQUENCE_TOKENS, tool_docs=JSON_LINES)


def _function(section: str, *also_sections: str) -> Syntax:
    """Declare `<function=f>` with `<parameter=k>`, each call in a section of its own.

    Sections with the tags in `also_sections` are read too.
    """
    return Syntax(
        call="<function={name}>\n{params}</function>",
        param="<parameter={key}>\n{value}\n</parameter>\n",
        section=f"<{section}>\n{{calls}}\n</{section}>" if section else "",
        section_also=tuple(f"<{tag}>\n{{calls}}\n</{tag}>" for tag in also_sections),
        one_call_a_section=bool(section),
    )


def _keys(
    call: str, prefix: str = "", section: str = "", *also: Syntax, suffix: str = ""
) -> Syntax:
    """Declare a key element and a value element for each parameter, `arg_key` and `arg_value` with
    this prefix and suffix."""
    key, value = f"{prefix}arg_key{suffix}", f"{prefix}arg_value{suffix}"
    return Syntax(
        also=also,
        call=call,
        param=f"<{key}>{{key}}</{key}>\n<{value}>{{value}}</{value}>\n",
        section=section,
    )


def _labelled(label: str) -> tuple[Syntax, ...]:
    """Declare Hunyuan's three forms; each tag has the model's label.

    They are parameters, a JSON object, and one array with all calls, as A13B writes it.
    """
    section = f"<tool_calls{label}>\n{{calls}}\n</tool_calls{label}>"
    opener, closer = f"<tool_call{label}>", f"</tool_call{label}>"
    parameters = f"{opener}{{name}}<tool_sep{label}>\n{{params}}{closer}"
    return (
        _keys(parameters, "", section, suffix=label),
        Syntax(call=f"{opener}\n{{call:json}}\n{closer}", section=section),
        Syntax(
            call="{call:json}",
            section=f"<tool_calls{label}>[{{calls}}]</tool_calls{label}>",
            separator=", ",
            section_required=True,
        ),
    )


def _unseparated(label: str) -> Syntax:
    """Declare Hy4's form, which has nothing between name and parameters, or between parameters."""
    key, value = f"arg_key{label}", f"arg_value{label}"
    return Syntax(
        call=f"<tool_call{label}>{{name}}{{params}}</tool_call{label}>",
        param=f"<{key}>{{key}}</{key}><{value}>{{value}}</{value}>",
        section=f"<tool_calls{label}>{{calls}}</tool_calls{label}>",
        separator="",
    )


_HUNYUAN, _HY3 = _labelled(""), _labelled(":opensource")
_HY3_THINK = ReasoningTags("<think:opensource>", "</think:opensource>")
# Some models write `<end_of_tool_call…>` as the closer, in place of the template's.
_HY3_STOPS = ("<｜hy_eos:opensource｜>", "<end_of_tool_call:opensource>", "<end_of_tool_call>")

DIALECTS = (
    _tags(
        name="seed-oss",
        title="Seed OSS",
        syntax=_function("seed:tool_call", "tool_call"),
        reasoning=(ReasoningTags("<seed:think>", "</seed:think>"),),
        stops=("<seed:eos>",),
        result="{result}",
        result_role="tool",
        models="Seed OSS 36B (chat template, 2026-11)",
        model_names=("seed-oss",),
    ),
    _tags(
        name="openhands",
        title="OpenHands",
        syntax=_function(""),
        result="EXECUTION RESULT of [{name}]:\n{result}",
        parallel=False,
        models="OpenHands without native calls, SWE-agent (their converters, 2026-11)",
    ),
    _tags(
        name="mimo",
        title="MiMo V2",
        syntax=Syntax(
            call="<function={name}>{params}</function>",
            param="<parameter={key}>{value}</parameter>",
            section="<tool_call>{calls}</tool_call>",
            one_call_a_section=True,
        ),
        reasoning=(THINK,),
        stops=("<|im_end|>",),
        result="<tool_response>\n{result}\n</tool_response>",
        models="MiMo V2 (its template as llama.cpp's users quote it, xgrammar 0.2.8; 2026-11)",
        model_names=(r"mimo(?!-?(vl|7b))",),
    ),
    _tags(
        name="k-exaone-2",
        title="K-EXAONE 2",
        syntax=_function("tool_call"),
        reasoning=(THINK,),
        models="K-EXAONE 2 (ai-sdk's parser, 2026-11)",
        model_names=(r"k-exaone-?2(?!\d)",),
    ),
    _tags(
        name="glm",
        title="GLM 4.5",
        syntax=_keys(
            "<tool_call>{name}\n{params}</tool_call>",
            "",
            "",
            Syntax(call="<tool_call>\n{call:json}\n</tool_call>"),
            Syntax(call="<tool_call>{name}\n{args:json}</tool_call>"),
            Syntax(call="<tool_call>{name}({args:python})</tool_call>"),
        ),
        reasoning=(THINK,),
        stops=("<|observation|>", "<|user|>", "<|role_end|>", "<|endoftext|>"),
        result="<tool_response>\n{result}\n</tool_response>",
        models=(
            "GLM 4.5 to 5, Ling 3, Spark 2.5 and 3, HyperCLOVAX SEED Think (chat templates, "
            "vLLM's and SGLang's parsers, 2026-11; GLM 5 by SGLang's issue 22922, where it runs "
            "with glm47)"
        ),
        model_names=(
            r"glm-?4\.?[5-9]",
            "glm-?5",
            "ling-?3",
            "laguna",
            "spark-?[23]",
            "hyperclovax-seed-think(?!-14b)",
        ),
    ),
    _tags(
        name="hunyuan",
        title="Hunyuan 3",
        syntax=replace(_HUNYUAN[0], also=_HUNYUAN[1:] + _HY3),
        reasoning=(THINK, _HY3_THINK),
        switches=Switches(broken_calls="text"),
        stops=_HY3_STOPS,
        models="Hunyuan 3, Hy3 preview (vLLM's parser, 2026-11)",
        model_names=("hunyuan(?!-a13b)", "^hy-?v?3.*preview"),
    ),
    _tags(
        name="hy3",
        title="Hy3",
        syntax=replace(_HY3[0], also=_HY3[1:] + _HUNYUAN),
        reasoning=(_HY3_THINK, THINK),
        switches=Switches(broken_calls="text"),
        stops=_HY3_STOPS,
        result="<tool_response:opensource>\n{result}\n</tool_response:opensource>",
        result_role="tool",
        models="Hy3 (chat template, 2026-11)",
        model_names=("^hy-?v?3",),
    ),
    _tags(
        name="hy4",
        title="Hy4",
        syntax=replace(
            _unseparated(":opensource"), also=(_unseparated(""), *_HY3[:2], *_HUNYUAN[:2])
        ),
        reasoning=(_HY3_THINK, THINK),
        switches=Switches(broken_calls="text"),
        stops=_HY3_STOPS,
        models="Hy4 preview (vLLM's parser, with the label of its suite, 2026-11)",
        model_names=("^hy-?v?4",),
    ),
    _tags(
        name="solar-open2",
        title="Solar Open 2",
        syntax=Syntax(
            call="<|tool_call:start|>{name}\n{params}<|tool_call:end|>",
            param="<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n",
            reserved=True,
        ),
        models="Solar Open 2 (vLLM's parser, 2026-11)",
        model_names=("solar-open-?2",),
    ),
    _tags(
        name="k2-horizon",
        title="K2 Horizon",
        syntax=_keys(
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
        reasoning=(ReasoningTags("<ifm|think>", "</ifm|think>"), THINK),
        models="K2 Horizon, K2 V3 (vLLM's and SGLang's parsers, 2026-11)",
        model_names=("k2-?horizon", r"\bk2-?v3"),
    ),
    _tags(
        name="iquest-coder",
        title="IQuest Coder V2",
        syntax=_keys("<iquestcoder_tool_call>{name}\n{params}</iquestcoder_tool_call>"),
        models="IQuest Coder V2 (vLLM's parser, 2026-11)",
        model_names=("iquest-?coder-?v2",),
    ),
    _tags(
        name="iquest-q1",
        title="IQuest Q1",
        syntax=_keys("<iquest_tool_call>{name}\n{params}</iquest_tool_call>"),
        reasoning=(THINK,),
        stops=("<|iquest_end|>",),
        models="IQuest Q1 (SGLang's parsers, 2026-11)",
        model_names=("iquest-?q1",),
    ),
    _tags(
        name="telechat4",
        title="TeleChat 4",
        syntax=Syntax(
            call="<tool_call>{name}\n{params}</tool_call>",
            param="<param_key>{key}</param_key>\n<param_value>{value}</param_value>\n",
            also=(
                Syntax(call="<tool_call>\n{call:json}\n</tool_call>"),
                Syntax(call="<tool_call>{name}\n{args:json}</tool_call>"),
            ),
        ),
        models="TeleChat 4, Xing 4.0 (TensorRT-LLM's parsers, 2026-11)",
        model_names=("telechat-?4", r"xing(?:chen)?-?4"),
    ),
)
