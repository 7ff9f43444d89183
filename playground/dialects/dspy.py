"""DSPy's adapters as tool loops: the fields of dspy.ReAct between markers, as JSON, or as XML."""

from functools import partial

from playground.dialects.declared import DeclaredDialect
from playground.parsing.syntax import JsonShape, ReasoningTags, Syntax

_react = partial(
    DeclaredDialect,
    parallel=False,  # dspy.ReAct runs one tool in each turn of its loop
    models="any instruct model through dspy.ReAct (dspy 3.4.1, 2026-11)",
)

DIALECTS = (
    _react(
        name="dspy-chat",
        title="DSPy ChatAdapter",
        syntax=Syntax(
            call=(
                "[[ ## next_tool_name ## ]]\n{name}\n\n"
                "[[ ## next_tool_args ## ]]\n{args:json}\n\n[[ ## completed ## ]]"
            ),
            separator="\n\n",
        ),
        rules=(
            "Structure your reply in fields. Think in the field next_thought, name the tool in "
            "next_tool_name, give its arguments as a JSON object in next_tool_args, and end with "
            "the marker [[ ## completed ## ]]."
        ),
        result="[[ ## observation ## ]]\n{result}",
        reasoning=(ReasoningTags("[[ ## next_thought ## ]]", ""),),
    ),
    _react(
        name="dspy-json",
        title="DSPy JSONAdapter",
        syntax=Syntax(
            call="{call:json}",
            shape=JsonShape(
                name=("next_tool_name",),
                arguments=("next_tool_args",),
                aliases=("next_tool_args",),
                thought="next_thought",
            ),
            line_start=True,
        ),
        rules=(
            "Answer with one JSON object: your thought in next_thought, the tool's name in "
            "next_tool_name and its arguments as an object in next_tool_args."
        ),
        result="[[ ## observation ## ]]\n{result}",
    ),
    _react(
        name="dspy-xml",
        title="DSPy XMLAdapter",
        syntax=Syntax(
            call=(
                "<next_tool_name>\n{name}\n</next_tool_name>\n"
                "<next_tool_args>\n{args:json}\n</next_tool_args>"
            )
        ),
        rules=(
            "Write each field as an element: your thought in next_thought, the tool's name in "
            "next_tool_name and its arguments as a JSON object in next_tool_args."
        ),
        result="<observation>\n{result}\n</observation>",
        reasoning=(ReasoningTags("<next_thought>", "</next_thought>"),),
    ),
)
