"""A JSON object, or an array of them, behind a marker: many families, two markers apart."""

from playground.dialects.declared import JSON_LINES, SEQUENCE_TOKENS, DeclaredDialect
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, ReasoningTags, Syntax

_THINK = (ReasoningTags("<think>", "</think>"),)
_PARAMETERS = JsonShape(arguments=("parameters",))


def _tagged(name: str, title: str, call: str, models: str, **more: object) -> DeclaredDialect:
    """One JSON object a call, between the markers that `call` shows."""
    fields: dict[str, object] = {"syntax": Syntax(call=call), **more}
    return DeclaredDialect(
        name=name,
        title=title,
        rules=(
            "Write one JSON object for each call, with the function's name and its arguments, "
            "between the markers of the example and outside of any code fence."
        ),
        dropped=SEQUENCE_TOKENS,
        tool_docs=JSON_LINES,
        models=models,
        **fields,  # type: ignore[arg-type]
    )


def _array(
    name: str,
    title: str,
    section: str,
    models: str,
    shape: JsonShape | None = None,
    read: tuple[str, ...] = (),
    **more: object,
) -> DeclaredDialect:
    """All calls of a reply in one JSON array, between the markers that `section` shows; those of
    `read` are read too."""
    syntax = Syntax(
        call="{call:json}",
        section=section,
        section_also=read,
        separator=", ",
        shape=shape or JsonShape(),
        section_required=True,
    )
    return DeclaredDialect(
        name=name,
        title=title,
        syntax=syntax,
        rules=(
            "Write all calls of a reply as one JSON array, between the markers of the example and "
            "outside of any code fence."
        ),
        dropped=SEQUENCE_TOKENS,
        tool_docs=JSON_LINES,
        models=models,
        **more,  # type: ignore[arg-type]
    )


DIALECTS = (
    _tagged(
        "longcat",
        "LongCat",
        "<longcat_tool_call>\n{call:json}\n</longcat_tool_call>",
        "LongCat Flash (chat template, 2026-11)",
        reasoning=(ReasoningTags("<longcat_think>", "</longcat_think>"), *_THINK),
    ),
    _tagged(
        "granite-20b-fc",
        "Granite 20B function calling",
        "<function_call> {call:json}",
        "Granite 20B Function Calling (vLLM's parser, 2026-11)",
        stops=("<|endoftext|>",),
        result="{result}",
        result_role="tool",
    ),
    _tagged(
        "gigachat3",
        "GigaChat 3",
        "<|function_call|>{call:json}",
        "GigaChat 3 (chat template, 2026-11)",
        switches=Switches(broken_calls="text"),
        syntax=Syntax(
            call="<|function_call|>{call:json}",
            also=(Syntax(call="<|message_sep|>\n\nfunction call<|role_sep|>\n{call:json}"),),
        ),
        stops=("<|message_sep|>", "</s>", "<|end_of_text|>"),
        parallel=False,
        result="{result}",
        result_role="tool",
    ),
    _tagged(
        "internlm2",
        "InternLM 2",
        "<|action_start|><|plugin|>\n{call:json}\n<|action_end|>",
        "InternLM 2 and 2.5, Intern-S1 (chat templates, 2026-11)",
        syntax=Syntax(
            call="<|action_start|><|plugin|>\n{call:json}\n<|action_end|>", shape=_PARAMETERS
        ),
        reasoning=_THINK,
        stops=("<|im_end|>",),
        result="{result}",
        result_role="tool",
    ),
    _tagged(
        "inkling",
        "Inkling",
        "<|content_invoke_tool_json|>{call:json}<|end_message|>",
        "Inkling (vLLM's parser, 2026-11)",
        syntax=Syntax(
            call="<|content_invoke_tool_json|>{call:json}<|end_message|>",
            separator="<|message_model|>",
            shape=JsonShape(arguments=("args",), aliases=("args",)),
        ),
        reasoning=(ReasoningTags("<|content_thinking|>", "<|end_message|>"),),
        stops=(
            "<|message_model|>",
            "<|content_text|>",
            "<|content_invoke_tool_text|>",
            "<|content_tool_error|>",
            "<|end_message|>",
        ),
    ),
    _tagged(
        "gptme-tool",
        "gptme @tool",
        "@{name}({id}): {args:json}",
        "gptme with --tool-format tool (its source, 2026-11)",
        syntax=Syntax(call="@{name}({id}): {args:json}", line_start=True),
        reasoning=(ReasoningTags("<thinking>", "</thinking>"), *_THINK),
        result="{result}",
    ),
    _array(
        "tool-calls-array",
        "Array in <tool_calls>",
        "<tool_calls>[{calls}]</tool_calls>",
        "Jamba 1.5, Hunyuan A13B, Apriel (chat templates, 2026-11)",
        reasoning=_THINK,
        stops=("<answer>", "</answer>"),
        result="{result}",
        result_role="tool",
    ),
    _array(
        "nemotron-v2",
        "Nemotron Nano 2",
        "<TOOLCALL>[{calls}]</TOOLCALL>",
        "Nemotron Nano 2 (chat template, 2026-11)",
        reasoning=_THINK,
        result="<TOOL_RESPONSE>[{result}]</TOOL_RESPONSE>",
    ),
    _array(
        "functools",
        "functools array",
        "functools[{calls}]",
        "Phi-4 mini, FireFunction 2 (chat templates, 2026-11)",
        result="{result}",
        result_role="tool",
    ),
    _array(
        "granite",
        "Granite 3",
        "<|tool_call|>[{calls}]",
        "Granite 3.0 to 3.3 (chat templates, 2026-11)",
        read=("<tool_call>[{calls}]",),
        reasoning=(ReasoningTags("Here is my thought process:", "Here is my response:"), *_THINK),
        stops=("<|end_of_text|>",),
        result="{result}",
        result_role="tool",
    ),
    _array(
        "xlam",
        "xLAM",
        "[{calls}]",
        "xLAM 2 (chat template, 2026-11)",
        read=(
            "<tool_call>[{calls}]</tool_call>",
            "[TOOL_CALLS][{calls}]",
            "```json\n[{calls}]\n```",
        ),
        reasoning=_THINK,
        result="{result}",
        result_role="tool",
    ),
    _array(
        "apertus",
        "Apertus",
        "<|tools_prefix|>[{calls}]<|tools_suffix|>",
        "Apertus 8B and 70B (chat template, 2026-11)",
        shape=JsonShape(name_is_key=True),
        reasoning=(ReasoningTags("<|inner_prefix|>", "<|inner_suffix|>"),),
        stops=("<|assistant_end|>",),
    ),
    _array(
        "cohere-action",
        "Cohere action list",
        "<|START_ACTION|>[\n{calls}\n]<|END_ACTION|>",
        "Command R7B, Command A (chat templates, 2026-11)",
        shape=JsonShape(id="tool_call_id", name=("tool_name",), arguments=("parameters",)),
        reasoning=(ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>"),),
        stops=(
            "<|START_RESPONSE|>",
            "<|END_RESPONSE|>",
            "<|START_TEXT|>",
            "<|END_TEXT|>",
            "<|END_OF_TURN_TOKEN|>",
        ),
    ),
)
