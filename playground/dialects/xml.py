"""XML: the tool's name is the tag, each parameter a tag inside it.

Cline, Roo and Kodu use it with any instruct model (their system prompts, read 2026-11).
"""

from playground.dialects.declared import THINK, DeclaredDialect
from playground.parsing.syntax import ReasoningTags, Syntax

DIALECT = DeclaredDialect(
    name="xml",
    title="XML tags",
    syntax=Syntax(
        call="<{name}>\n{params}</{name}>",
        param="<{key}>{value:block}</{key}>\n",
        known_names=True,  # any other tag is HTML in the model's prose
    ),
    rules="""\
Write the tool's name as an XML tag and each parameter as a tag inside it, with its value as the \
tag's text. Do not escape anything in a value and do not wrap the call in a code fence. A value \
of several lines stands on lines of its own. The result comes back in the next message, inside \
<tool_result> tags; never write that tag yourself.""",
    result='<tool_result tool="{name}">\n{result}\n</tool_result>',
    reasoning=(ReasoningTags("<thinking>", "</thinking>"), THINK),
    models="any instruct model: Cline, Roo, Kodu (their system prompts, read 2026-11)",
)

DIALECTS = (DIALECT,)
