"""JSON in text: a call is one JSON object that begins a line."""

from playground.dialects.declared import DeclaredDialect
from playground.parsing.syntax import JsonShape, Syntax

DIALECT = DeclaredDialect(
    name="json",
    title="JSON in text",
    syntax=Syntax(
        call="{call:json}",
        shape=JsonShape(name=("tool_name",), arguments=("args",), aliases=("args",)),
        line_start=True,  # JSON inside a sentence is an example
    ),
    rules="""\
Write a JSON object with the keys "tool_name" and "args", in this order, beginning on a line of \
its own and outside of any code fence. "args" holds every argument by its name, typed as the \
tool's documentation says. The result comes back in the next message, below a JSON object with \
the key "tool_result".""",
    result='{{"tool_result": "{name}"}}\n{result}',
    models="any instruct model (the form that this project teaches, 2026-11)",
)

DIALECTS = (DIALECT,)
