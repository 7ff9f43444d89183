"""Calls as people write them: labelled lines, fences and blocks, whose arguments are plain text."""

from playground.dialects.declared import DeclaredDialect
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, ReasoningTags, Syntax

_FENCED = Switches(calls_in_fences="call")
_THOUGHT = (ReasoningTags("Thought:", ""),)
_EDIT = "<<<<<<< SEARCH\n{text:search}=======\n{text:replace}>>>>>>> REPLACE\n```"


def _text(
    name: str, title: str, syntax: Syntax, rules: str, models: str, **more: object
) -> DeclaredDialect:
    return DeclaredDialect(
        name=name,
        title=title,
        syntax=syntax,
        rules=rules,
        models=models,
        parallel=False,
        **more,  # type: ignore[arg-type]
    )


DIALECTS = (
    _text(
        "react",
        "ReAct",
        Syntax(
            call="Action: {name}\nAction Input: {text:input}",
            line_start=True,
            objects=True,
        ),
        "Think on a line that begins with Thought:, name the tool on a line that begins with "
        "Action:, and give its input behind Action Input:. The result comes back behind "
        "Observation:. When you know the answer, write it behind Final Answer:.",
        "any instructed model: LangChain, LlamaIndex (langchain-classic 1.0.8, 2026-11)",
        result="Observation: {result}",
        reasoning=_THOUGHT,
        stops=("Final Answer:",),
    ),
    _text(
        "react-json",
        "ReAct with JSON",
        Syntax(
            call="Action:\n```\n{call:json}\n```",
            shape=JsonShape(
                name=("action",),
                arguments=("action_input",),
                aliases=("action_input",),
                text_key="input",
            ),
            also=(
                Syntax(
                    call="```{word}\n{call:json}\n```",
                    shape=JsonShape(
                        name=("action",),
                        arguments=("action_input",),
                        aliases=("action_input",),
                        text_key="input",
                    ),
                ),
            ),
        ),
        'Write one JSON object with the keys "action" and "action_input" in a code fence behind '
        "Action:. The result comes back behind Observation:. When you know the answer, write it "
        "behind Final Answer:.",
        "any instructed model: LangChain structured chat (langchain-classic 1.0.8, 2026-11)",
        result="Observation: {result}",
        reasoning=_THOUGHT,
        stops=("Final Answer:",),
        switches=_FENCED,
    ),
    _text(
        "langchain-xml",
        "LangChain XML agent",
        Syntax(call="<tool>{name}</tool><tool_input>{text:input}</tool_input>", objects=True),
        "Name the tool between <tool> tags and give its input between <tool_input> tags. The "
        "result comes back between <observation> tags. Write the answer between <final_answer> "
        "tags.",
        "any instructed model: LangChain's XML agent (langchain-classic 1.0.8, 2026-11)",
        result="<observation>{result}</observation>",
        stops=("<final_answer>", "</final_answer>"),
    ),
    _text(
        "gptme-xml",
        "gptme XML",
        Syntax(
            call="<{name}>\n{text:content}\n</{name}>",
            section="<tool-use>\n{calls}\n</tool-use>",
            section_required=True,
            also=(
                Syntax(
                    call='<invoke name="{name}">\n{text:content}\n</invoke>',
                    section="<function_calls>\n{calls}\n</function_calls>",
                    section_required=True,
                ),
            ),
        ),
        "Write the tool's name as a tag inside <tool-use> tags, and its content inside that tag.",
        "any instructed model: gptme with --tool-format xml (its source, 2026-11)",
        reasoning=(
            ReasoningTags("<thinking>", "</thinking>"),
            ReasoningTags("<think>", "</think>"),
        ),
        result="{result}",
    ),
    _text(
        "smolagents-code",
        "smolagents code",
        Syntax(
            call="<code>\n{text:code}\n</code>",
            separator="\n\n",
            name="python_interpreter",
            joined="\n\n",
        ),
        "Write Python code in the tags of the example; tools are functions that it may call. The "
        "result comes back behind Observation:.",
        "any instructed model: smolagents' CodeAgent (its source, 2026-11)",
        result="Observation:\n{result}",
        reasoning=_THOUGHT,
    ),
    _text(
        "aider-editblock",
        "Aider edit block",
        Syntax(
            call="{line:path}\n```{word}\n" + _EDIT,
            name="edit",
            line_start=True,
            also=(Syntax(call="```{word}\n{line:path}\n" + _EDIT, name="edit", line_start=True),),
        ),
        "Write the file's path on a line of its own and below it a code fence with the lines to "
        "search for and the lines to put in their place, between the markers of the example.",
        "any instructed model: Aider's diff format (its source, 2026-11)",
        switches=_FENCED,
        result="{result}",
    ),
    _text(
        "sweagent",
        "SWE-agent thought and action",
        Syntax(call="```\n{text:command}\n```", name="bash", line_start=True),
        "Discuss what you will do, then write one command in a code fence. Its output comes back "
        "behind OBSERVATION:.",
        "any instructed model: SWE-agent's thought_action parser (its source, 2026-11)",
        result="OBSERVATION:\n{result}",
        reasoning=(ReasoningTags("DISCUSSION\n", ""),),
        switches=_FENCED,
    ),
    _text(
        "continue",
        "Continue tool block",
        Syntax(
            call="TOOL_NAME: {name}\n{params}",
            param="BEGIN_ARG: {key}\n{value}\nEND_ARG\n",
            section="```tool\n{calls}```",
            one_call_a_section=True,
            line_start=True,
            untyped="json",
        ),
        "Write a fenced block of the language tool: the tool's name behind TOOL_NAME:, then each "
        "argument between BEGIN_ARG: with its name and END_ARG, on lines of its own.",
        "any instructed model: Continue's system message tools (its source, 2026-11)",
        result="Tool output for {name} tool call:\n\n{result}",
    ),
)
