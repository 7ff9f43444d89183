"""Gemma: `call:name{key:value}` between control tokens, and texts between marks."""

from dataclasses import replace

from playground.dialects.declared import SEQUENCE_TOKENS, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

_RULES = (
    "Write a call with the control tokens of the example: the tool's name, then its arguments in "
    "braces, every text between the marks that the example shows and nothing escaped."
)


def _declare_syntax(mark: str, opener: str, closer: str, *markers: tuple[str, str]) -> Syntax:
    """Declare a call between its opener and closer; the pairs in `markers` are read too.

    Models also write keyword arguments in parentheses, and Python in a fence, as Gemma 3 was
    taught.
    """
    forms = [
        Syntax(
            call=f"{form_opener}{{name}}{body}{form_closer}",
            separator="",
            string_mark=marks,
            slip=form_opener != opener or not marks,
        )
        for form_opener, form_closer in ((opener, closer), *markers)
        for body, marks in (("{args:marked}", mark), ("({args:python})", ""))
    ]
    return replace(forms[0], also=(*forms[1:], PRINTED, TOOL_CODE, *ASSIGNED))


TOOL_CODE = Syntax(
    call="{name}({args:python})",
    section="```tool_code\n{calls}\n```",
    separator="\n",
    section_required=True,
    known_names=True,
)
PRINTED = replace(TOOL_CODE, call="print({name}({args:python}))")
# Small models leave out the fence, and print what they assigned.
ASSIGNED = tuple(
    Syntax(call=f"tool_code = {call}", known_names=True, line_start=True, slip=True)
    for call in (
        "{name}({args:python})\nprint(tool_code)",
        "print({name}({args:python}))",
        "{name}({args:python})",
    )
)

DIALECTS = (
    DeclaredDialect(
        name="gemma3",
        title="Gemma 3",
        syntax=replace(
            TOOL_CODE,
            also=(
                PRINTED,
                replace(TOOL_CODE, call="default_api.{name}({args:python})"),
                replace(TOOL_CODE, section="[{calls}]", separator=", "),
            ),
        ),
        rules=(
            "Write calls as Python function calls with keyword arguments, literals only, in a code "
            "fence of the language tool_code."
        ),
        result="```tool_output\n{result}\n```",
        stops=("<end_of_turn>",),
        dropped=SEQUENCE_TOKENS,
        tool_docs=JSON_LINES,
        switches=Switches(broken_calls="text"),
        models="Gemma 3 (Google's guides to function calling with Gemma, 2025-03)",
        model_names=(r"gemma-?3",),
    ),
    DeclaredDialect(
        name="gemma4",
        title="Gemma 4",
        syntax=_declare_syntax(
            '<|"|>',
            "<|tool_call>call:",
            "<tool_call|>",
            ("<|tool_call>:call:", "<tool_call|>"),
            ("<|tool_call>:", "<tool_call|>"),
            ("<call>", "<tool_call|>"),
            ("call:", "<tool_call|>"),  # if the server removed the tokens
        ),
        rules=_RULES,
        switches=Switches(broken_calls="text"),
        result='<|tool_response>response:{name}{{value:<|"|>{result}<|"|>}}<tool_response|>',
        reasoning=(
            ReasoningTags("<|channel>thought", "<channel|>"),
            ReasoningTags("<|channel>", "<channel|>"),
        ),
        stops=(
            "<turn|>",
            "<|tool_response>",
            # channels of an answer, which models open instead of closing the reasoning
            "<|channel>content",
            "<|channel>final",
            "<|channel>response",
        ),
        dropped=(*SEQUENCE_TOKENS, "<|tool_call>", "<tool_call|>"),
        tool_docs=JSON_LINES,
        models="Gemma 4 (chat template, 2026-11)",
        model_names=("gemma-?4",),
    ),
    DeclaredDialect(
        name="functiongemma",
        title="FunctionGemma",
        syntax=_declare_syntax(
            "<escape>",
            "<start_function_call>call:",
            "<end_function_call>",
            ("call:", "<end_function_call>"),
        ),
        rules=_RULES,
        result=(
            "<start_function_response>response:{name}{{value:<escape>{result}<escape>}}"
            "<end_function_response>"
        ),
        stops=("<end_of_turn>",),
        dropped=(*SEQUENCE_TOKENS, "<start_function_call>", "<end_function_call>"),
        tool_docs=JSON_LINES,
        models="FunctionGemma 270M (chat template, 2026-11)",
        model_names=("functiongemma",),
    ),
)
