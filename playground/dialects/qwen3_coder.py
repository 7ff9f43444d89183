"""Qwen3-Coder: one tag per parameter, raw values, a <tool_call> section around each call."""

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.syntax import Syntax

DIALECT = DeclaredDialect(
    name="qwen3-coder",
    title="Qwen3-Coder",
    syntax=Syntax(
        call="<function={name}>\n{params}</function>",
        param="<parameter={key}>\n{value}\n</parameter>\n",
        section="<tool_call>\n{calls}\n</tool_call>",
        one_call_a_section=True,
        also=(
            Syntax(call="<tool_call>\n{call:json}\n</tool_call>", slip=True),
            Syntax(call="<tool_call>\n{name}({args:python})\n</tool_call>", slip=True),
        ),
    ),
    rules="""\
Write each call inside tool_call tags: the function's name in the opening function tag and every \
parameter in a parameter tag with its value as it is, on lines of its own, nothing escaped. \
Reasoning may stand before a call, nothing after it. The result comes back between \
tool_response tags.""",
    result="<tool_response>\n{result}\n</tool_response>",
    reasoning=(THINK,),
    stops=("<|im_end|>",),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
    models=(
        "Qwen3-Coder, Qwen 3.5, 3.6 and 3.8, Step 3.5, 3.7, Nemotron 3 (chat templates; Qwen 3.6 "
        "and Step 3.7: by the parser that SMG and TabbyAPI choose for them, 2026-11); UI-TARS "
        "(ai-sdk-tool-call-middleware, 2026-11); IQuest Coder V1, Granite 4.2 (vLLM's parsers, "
        "2026-11); Ornith (Ollama's parser, 2026-11)"
    ),
    model_names=(
        "qwen-?3-?coder",
        "iquest-?coder-?v1",
        r"qwen-?3\.[568]",
        r"step-?3\.[57]",
        "nemotron-?3",
        "ui-tars",
        "intellect-3",
        r"granite-?4\.2",
        "ornith",
    ),
)

DIALECTS = (DIALECT,)
