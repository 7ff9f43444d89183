"""DSPy's ChatAdapter as a tool loop: fields between [[ ## name ## ]] markers, as in dspy.ReAct."""

from playground.dialects.declared import DeclaredDialect
from playground.parsing.syntax import ReasoningTags, Syntax

DIALECT = DeclaredDialect(
    name="dspy-chat",
    title="DSPy ChatAdapter",
    syntax=Syntax(
        call=(
            "[[ ## next_tool_name ## ]]\n{name}\n\n"
            "[[ ## next_tool_args ## ]]\n{args:json}\n\n[[ ## completed ## ]]"
        ),
        separator="\n\n",
    ),
    rules="""\
Structure your reply in fields. Think in the field next_thought, name the tool in next_tool_name, \
give its arguments as a JSON object in next_tool_args, and end with the marker \
[[ ## completed ## ]].""",
    result="[[ ## observation ## ]]\n{result}",
    reasoning=(ReasoningTags("[[ ## next_thought ## ]]", ""),),
    parallel=False,
    models="any instructed model through dspy.ReAct (dspy 3.4.1, 2026-11)",
)
