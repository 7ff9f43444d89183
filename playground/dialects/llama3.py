"""Llama 3.x: a bare JSON object, a <function=…> tag around the arguments, a method call, or code.

<|python_tag|> precedes a method call or code, and may precede a JSON object (Meta: llama3_3).
"""

from dataclasses import replace

from playground.dialects.declared import DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.dialects.raw_prompts import LLAMA3, LlamaPrompt
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, Syntax

_STOPS = ("<|eom_id|>", "<|eot_id|>")
_SEARCH = ToolMetadata(
    name="brave_search",
    description="Search the web.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for."}},
        "required": ["query"],
    },
    examples=(ToolExample(parameters={"query": "storm warning Brest"}),),
)

_METHOD = Syntax(
    call="{name}.call({args:python})",
    section="<|python_tag|>{calls}",
    section_required=True,
    separator="; ",
)

JSON = DeclaredDialect(
    name="llama3-json",
    title="Llama 3 JSON",
    syntax=Syntax(
        call="{call:json}",
        section="<|python_tag|>{calls}",
        section_optional=True,  # the template omits it for tools that are not built in
        separator="; ",
        shape=JsonShape(arguments=("parameters",), constants=(("type", "function"),)),
        also=(_METHOD,),  # with both kinds of tools in its prompt, a model writes both forms
    ),
    rules="""\
Answer with a JSON object that holds the function's "name" and its "parameters", a dictionary \
from argument name to value, and with nothing else.""",
    result="{result}",
    result_role="ipython",
    stops=_STOPS,
    parallel=False,
    switches=Switches(broken_calls="text"),
    tool_docs=JSON_LINES,
    models="Llama 3.1, 3.2, 3.3 (Meta's prompt format documents, 2024-12)",
    # Not ToolACE and the small models of 3.2, which write Python lists: see python_calls.py.
    model_names=(r"^(?!.*(toolace|nemotron-super-49b-v1[_.]5)).*llama-?v?3(?!\.2-[13]b)",),
    raw_prompt=LlamaPrompt(LLAMA3, "json"),
)

BUILTIN = DeclaredDialect(
    name="llama3-builtin",
    title="Llama 3 built-in tools",
    syntax=replace(
        _METHOD,
        also=(
            Syntax(
                call="{call:json}",
                section="<|python_tag|>{calls}",
                section_required=True,
                shape=JsonShape(arguments=("parameters",)),
            ),
        ),
    ),
    rules="""\
Call a tool after the token of the example, as a method of the tool's name with keyword \
arguments.""",
    result="{result}",
    result_role="ipython",
    stops=_STOPS,
    parallel=False,
    tool_docs=JSON_LINES,
    models="Llama 3.1, 3.3 with `Environment: ipython` (Meta's prompt format documents, 2024-12)",
    raw_prompt=LlamaPrompt(LLAMA3, "json"),
    own_tool=_SEARCH,
)

CODE = DeclaredDialect(
    name="llama3-code",
    title="Llama 3 code interpreter",
    syntax=Syntax(call="<|python_tag|>{text:code}", name="code_interpreter"),
    rules="""\
Write Python code after the token of the example; it is run, and its output comes back.""",
    result="{result}",
    result_role="ipython",
    stops=_STOPS,
    parallel=False,
    models="Llama 3.1, 3.3 with `Environment: ipython` (Meta's prompt format documents, 2024-12)",
    raw_prompt=LlamaPrompt(LLAMA3, "json"),
)

FUNCTION = DeclaredDialect(
    name="llama3-function",
    title="Llama 3 function tag",
    syntax=Syntax(
        call="<function={name}>{args:json}</function>",
        # slips of the model, from failed generations that its hosts report
        also=tuple(
            Syntax(call=f"<function{slipped}</function>", slip=True)
            for slipped in (
                "={name}({args:json})",
                "={name},{args:json}",
                "={name}{args:json}",
                "({name}){args:json}",
                ">{name}{args:json}",
            )
        ),
    ),
    rules="""\
Name the function in an opening function tag, write its arguments as a JSON object after it and \
close the tag, all on one line. Required arguments must be given.""",
    result="{result}",
    result_role="ipython",
    stops=_STOPS,
    parallel=False,
    tool_docs=JSON_LINES,
    models="Llama 3.1 custom tools, functionary 3.1 (Meta's prompt format documents, 2024-12)",
    model_names=(r"functionary(?!.*v3\.2)",),
    raw_prompt=LlamaPrompt(LLAMA3, "function_tag"),
)

DIALECTS = (JSON, FUNCTION, BUILTIN, CODE)
