"""Hermes: a JSON object inside <tool_call> tags, as NousResearch trained it."""

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.syntax import Syntax

DIALECT = DeclaredDialect(
    name="hermes",
    title="Hermes",
    syntax=Syntax(
        call="<tool_call>\n{call:json}\n</tool_call>",
        also=(
            Syntax(call="<tool_call>\n{name}({args:python})\n</tool_call>", slip=True),
            Syntax(
                call="{call:json}",
                section="<tool_call>\n[{calls}]\n</tool_call>",
                section_required=True,
                slip=True,
            ),
        ),
    ),
    rules="""\
Write a JSON object with the function's "name" and its "arguments" between <tool_call> and \
</tool_call> tags. The result comes back between <tool_response> tags.""",
    result="<tool_response>\n{result}\n</tool_response>",
    result_role="tool",
    reasoning=(THINK,),
    stops=("<|im_end|>",),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
    models=(
        "Hermes 2 Pro, Hermes 3, Qwen 2.5, Qwen 3, MiMo VL (model cards and chat templates); "
        "Arch-Function (a request to it in katanemo's Plano, api_model_server.rest, read 2026-11); "
        "Ring and Ling 2 (reported, no template of theirs was read)"
    ),
    # A Hermes model writes this form whatever its base model is: vLLM's hermes parser also reads
    # those based on Llama. Newer Qwen models write qwen3-coder. Granite writes hermes since
    # version 4.
    model_names=(
        "hermes",
        r"qwen-?2(?!\d)",
        r"qwen-?3(?!\d|-?coder|\.[5-9])",
        "qwq",
        r"granite-?4(?!\.2)",
        "arch-function",
        "mimo-?(vl|7b)",
        r"k-exaone(?!-?2(?!\d))",
        "smollm-?3",
        "trinity",
        r"^(ring|ling)-(1t|flash|mini|2)",
    ),
)

DIALECTS = (DIALECT,)
