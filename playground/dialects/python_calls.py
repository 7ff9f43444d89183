"""Calls as Python writes them: a function and its keyword arguments, only literals inside."""

from playground.dialects.declared import JSON_LINES, SEQUENCE_TOKENS, DeclaredDialect
from playground.parsing.syntax import ReasoningTags, Syntax

_THINK = (ReasoningTags("<think>", "</think>"),)


def _python(
    name: str,
    title: str,
    section: str,
    separator: str,
    models: str,
    also: tuple[Syntax, ...] = (),
    **more: object,
) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        title=title,
        syntax=Syntax(
            call="{name}({args:python})",
            section=section,
            separator=separator,
            known_names=True,
            section_required=True,
            also=also,
        ),
        rules=(
            "Write calls as Python function calls with keyword arguments, literals only, as in the "
            "example and outside of any code fence."
        ),
        dropped=SEQUENCE_TOKENS,
        tool_docs=JSON_LINES,
        models=models,
        **more,  # type: ignore[arg-type]
    )


DIALECTS = (
    _python(
        "pythonic",
        "Pythonic list",
        "[{calls}]",
        ", ",
        "Llama 3.2 and 4, ToolACE (Meta's prompt format documents, 2025-04)",
        stops=("<|python_start|>", "<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eot|>"),
        result_role="ipython",
        result="{result}",
    ),
    _python(
        "llama4-pythonic",
        "Llama 4 pythonic",
        "<|python_start|>[{calls}]<|python_end|>",
        ", ",
        "Llama 4 Scout and Maverick (Meta's prompt format document, 2025-04)",
        stops=("<|eom|>", "<|eot|>"),
        result_role="ipython",
        also=(
            Syntax(
                call="{name}({args:python})",
                section="[{calls}]",
                separator=", ",
                known_names=True,
                section_required=True,
            ),
        ),
        result="{result}",
    ),
    _python(
        "lfm2",
        "LFM 2",
        "<|tool_call_start|>[{calls}]<|tool_call_end|>",
        ", ",
        "LFM 2 and 2.5 (chat templates, 2026-11)",
        also=(
            Syntax(
                call="{name}({args:python})",
                section="[{calls}]",
                separator=", ",
                known_names=True,
                section_required=True,
            ),
            Syntax(call="<|tool_call_start|>{call:json}<|tool_call_end|>"),
            Syntax(
                call="{call:json}",
                section="<|tool_call_start|>[{calls}]<|tool_call_end|>",
                separator=", ",
                section_required=True,
            ),
        ),
        result="<|tool_response_start|>{result}<|tool_response_end|>",
        result_role="tool",
        reasoning=_THINK,
        stops=("<|im_end|>",),
    ),
    _python(
        "olmo3",
        "OLMo 3",
        "<function_calls>{calls}</function_calls>",
        "\n",
        "OLMo 3 (chat template, 2026-11)",
        result_role="tool",
        reasoning=_THINK,
        stops=("<|im_end|>",),
        result="{result}",
    ),
)
