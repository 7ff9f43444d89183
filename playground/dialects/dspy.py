"""DSPy's adapters as tool loops: the fields of dspy.ReAct between markers, as JSON, or as XML."""

from playground.dialects.declared import DeclaredDialect
from playground.parsing.syntax import JsonShape, ReasoningTags, Syntax


def _react(
    name: str, title: str, syntax: Syntax, rules: str, result: str, *reasoning: ReasoningTags
) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        title=title,
        syntax=syntax,
        rules=rules,
        result=result,
        reasoning=reasoning,
        parallel=False,
        models="any instructed model through dspy.ReAct (dspy 3.4.1, 2026-11)",
    )


DIALECTS = (
    _react(
        "dspy-chat",
        "DSPy ChatAdapter",
        Syntax(
            call=(
                "[[ ## next_tool_name ## ]]\n{name}\n\n"
                "[[ ## next_tool_args ## ]]\n{args:json}\n\n[[ ## completed ## ]]"
            ),
            separator="\n\n",
        ),
        "Structure your reply in fields. Think in the field next_thought, name the tool in "
        "next_tool_name, give its arguments as a JSON object in next_tool_args, and end with the "
        "marker [[ ## completed ## ]].",
        "[[ ## observation ## ]]\n{result}",
        ReasoningTags("[[ ## next_thought ## ]]", ""),
    ),
    _react(
        "dspy-json",
        "DSPy JSONAdapter",
        Syntax(
            call="{call:json}",
            shape=JsonShape(
                name=("next_tool_name",),
                arguments=("next_tool_args",),
                aliases=("next_tool_args",),
                thought="next_thought",
            ),
            line_start=True,
        ),
        "Answer with one JSON object: your thought in next_thought, the tool's name in "
        "next_tool_name and its arguments as an object in next_tool_args.",
        "[[ ## observation ## ]]\n{result}",
    ),
    _react(
        "dspy-xml",
        "DSPy XMLAdapter",
        Syntax(
            call=(
                "<next_tool_name>\n{name}\n</next_tool_name>\n"
                "<next_tool_args>\n{args:json}\n</next_tool_args>"
            ),
        ),
        "Write each field as an element: your thought in next_thought, the tool's name in "
        "next_tool_name and its arguments as a JSON object in next_tool_args.",
        "<observation>\n{result}\n</observation>",
        ReasoningTags("<next_thought>", "</next_thought>"),
    ),
)
