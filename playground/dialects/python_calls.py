"""Dialects whose calls are Python: a function and its keyword arguments, only literals inside."""

from functools import partial

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.dialects.raw_prompts import LLAMA3, LLAMA4, LlamaPrompt
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, Syntax

_python = partial(
    DeclaredDialect,
    rules=(
        "Write calls as Python function calls with keyword arguments, literals only, as in the "
        "example and outside of any code fence."
    ),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
)


def _calls_in(section: str, *also: Syntax, separator: str = ", ") -> Syntax:
    """Declare function calls in a section; outside of the section `f(x=1)` is text."""
    return Syntax(
        call="{name}({args:python})",
        section=section,
        separator=separator,
        known_names=True,
        section_required=True,
        also=also,
    )


DIALECTS = (
    _python(
        name="pythonic",
        title="Pythonic list",
        syntax=_calls_in("[{calls}]"),
        stops=("<|python_start|>", "<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eot|>"),
        result_role="ipython",
        result="{result}",
        models=(
            "Llama 3.2 and 4, ToolACE (Meta's documents, 2025-04); watt-tool (reported, no "
            "template was read)"
        ),
        model_names=(r"llama-?3\.2-[13]b", "toolace", "watt-tool"),
        raw_prompt=LlamaPrompt(LLAMA3, "python_list"),
    ),
    _python(
        name="llama4-pythonic",
        title="Llama 4 pythonic",
        syntax=_calls_in(
            "<|python_start|>[{calls}]<|python_end|>",
            _calls_in("[{calls}]"),  # models may leave out the tokens
            # the form of Llama 3
            *(
                Syntax(
                    call="{call:json}",
                    section=section,
                    separator="; ",
                    section_required=bool(section),
                    shape=JsonShape(arguments=("parameters",), constants=(("type", "function"),)),
                )
                for section in ("<|python_start|>{calls}<|python_end|>", "")
            ),
        ),
        stops=("<|eom|>", "<|eot|>"),
        result_role="ipython",
        result="{result}",
        models="Llama 4 Scout and Maverick (Meta's prompt format document, 2025-04)",
        model_names=("llama-?4",),
        raw_prompt=LlamaPrompt(LLAMA4, "python_list"),
    ),
    _python(
        name="lfm2",
        title="LFM 2",
        syntax=_calls_in(
            "<|tool_call_start|>[{calls}]<|tool_call_end|>",
            _calls_in("[{calls}]"),
            Syntax(call="<|tool_call_start|>{call:json}<|tool_call_end|>", slip=True),
            Syntax(
                call="{call:json}",
                section="<|tool_call_start|>[{calls}]<|tool_call_end|>",
                section_required=True,
                slip=True,
            ),
        ),
        result="<|tool_response_start|>{result}<|tool_response_end|>",
        result_role="tool",
        reasoning=(THINK,),
        stops=("<|im_end|>",),
        switches=Switches(broken_calls="text"),
        models="LFM 2 and 2.5 (chat templates, 2026-11)",
        model_names=("lfm-?2",),
    ),
    _python(
        name="granite-pythonic",
        title="Granite pythonic",
        syntax=Syntax(call="{name}({args:python})", known_names=True, line_start=True),
        result_role="tool",
        stops=("<|end_of_text|>",),
        result="{result}",
        models="Granite 3.3 and 4.0 H with vLLM's granite_pythonic parser (its source, 2026-11)",
    ),
    _python(
        name="olmo3",
        title="OLMo 3",
        syntax=_calls_in("<function_calls>{calls}</function_calls>", separator="\n"),
        result_role="tool",
        reasoning=(THINK,),
        stops=("<|im_end|>",),
        result="{result}",
        models="OLMo 3 (chat template, 2026-11)",
        model_names=("olmo-?3",),
    ),
)
