"""Dialects of labelled lines, fences and blocks; the arguments of most are plain text."""

from functools import partial

from playground.dialects.declared import THINK, DeclaredDialect
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, ReasoningTags, Syntax

_FENCED = Switches(calls_in_fences="call")
_THOUGHT = (ReasoningTags("Thought:", ""),)
_EDIT = "<<<<<<< SEARCH\n{text:search}=======\n{text:replace}>>>>>>> REPLACE\n```"

_text = partial(DeclaredDialect, parallel=False)

DIALECTS = (
    _text(
        name="react",
        title="ReAct",
        syntax=Syntax(
            call="Action: {name}\nAction Input: {text:input}",
            line_start=True,
            objects=True,  # a JSON object in place of the text is read as the arguments
            also=(Syntax(call="Action: {name}\n{args:json}", line_start=True),),
        ),
        rules=(
            "Think on a line that begins with Thought:, name the tool on a line that begins with "
            "Action:, and give its input after Action Input:. The result comes back after "
            "Observation:. When you know the answer, write it after Final Answer:."
        ),
        result="Observation: {result}",
        reasoning=_THOUGHT,
        stops=("Final Answer:",),
        models="any instruct model: LangChain, LlamaIndex (langchain-classic 1.0.8, 2026-11)",
    ),
    _text(
        name="react-json",
        title="ReAct with JSON",
        syntax=Syntax(
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
        rules=(
            'Write one JSON object with the keys "action" and "action_input" in a code fence '
            "after Action:. The result comes back after Observation:. When you know the answer, "
            "write it after Final Answer:."
        ),
        result="Observation: {result}",
        reasoning=_THOUGHT,
        stops=("Final Answer:",),
        switches=_FENCED,
        models="any instruct model: LangChain structured chat (langchain-classic 1.0.8, 2026-11)",
    ),
    _text(
        name="langchain-xml",
        title="LangChain XML agent",
        syntax=Syntax(
            call="<tool>{name}</tool><tool_input>{text:input}</tool_input>", objects=True
        ),
        rules=(
            "Name the tool between <tool> tags and give its input between <tool_input> tags. The "
            "result comes back between <observation> tags. Write the answer between "
            "<final_answer> tags."
        ),
        result="<observation>{result}</observation>",
        stops=("<final_answer>", "</final_answer>"),
        models="any instruct model: LangChain's XML agent (langchain-classic 1.0.8, 2026-11)",
    ),
    _text(
        name="cwm",
        title="CWM tool tag",
        syntax=Syntax(call="<tool: function>\n{name} {text:command}\n</tool>", objects=True),
        rules=(
            "Name the tool in a tool tag and give its input after the name: a command, or a JSON "
            "object with its arguments."
        ),
        reasoning=(THINK,),
        result="{result}",
        models="CWM (vLLM's cwm parser, 2026-11)",
        model_names=(r"\bcwm\b",),
    ),
    _text(
        name="gptme-xml",
        title="gptme XML",
        syntax=Syntax(
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
        rules=(
            "Write the tool's name as a tag inside <tool-use> tags, and its content inside that "
            "tag."
        ),
        reasoning=(ReasoningTags("<thinking>", "</thinking>"), THINK),
        result="{result}",
        models="any instruct model: gptme with --tool-format xml (its source, 2026-11)",
    ),
    _text(
        name="smolagents-code",
        title="smolagents code",
        syntax=Syntax(
            call="<code>\n{text:code}\n</code>",
            separator="\n\n",
            name="python_interpreter",
            joined="\n\n",  # blocks in a row are read as one call, with this between them
        ),
        rules=(
            "Write Python code in the tags of the example; tools are functions that it may call. "
            "The result comes back after Observation:."
        ),
        result="Observation:\n{result}",
        reasoning=_THOUGHT,
        models="any instruct model: smolagents' CodeAgent (its source, 2026-11)",
    ),
    _text(
        name="aider-editblock",
        title="Aider edit block",
        syntax=Syntax(
            call="{line:path}\n```{word}\n" + _EDIT,
            name="edit",
            line_start=True,
            also=(Syntax(call="```{word}\n{line:path}\n" + _EDIT, name="edit", line_start=True),),
        ),
        rules=(
            "Write the file's path on a line of its own and below it a code fence with the lines "
            "to search for and the lines to put in their place, between the markers of the "
            "example."
        ),
        switches=_FENCED,
        result="{result}",
        models="any instruct model: Aider's diff format (its source, 2026-11)",
    ),
    _text(
        name="sweagent",
        title="SWE-agent thought and action",
        syntax=Syntax(call="```{word}\n{text:command}\n```", name="bash", line_start=True),
        rules=(
            "Discuss what you will do, then write one command in a code fence. Its output comes "
            "back after OBSERVATION:."
        ),
        result="OBSERVATION:\n{result}",
        reasoning=(ReasoningTags("DISCUSSION\n", ""),),
        switches=_FENCED,
        models="any instruct model: SWE-agent's thought_action parser (its source, 2026-11)",
    ),
    _text(
        name="continue",
        title="Continue tool block",
        syntax=Syntax(
            call="TOOL_NAME: {name}\n{params}",
            param="BEGIN_ARG: {key}\n{value}\nEND_ARG\n",
            section="```tool\n{calls}```",
            one_call_a_section=True,
            line_start=True,
            untyped="json",
        ),
        rules=(
            "Write a fenced block of the language tool: the tool's name after TOOL_NAME:, then "
            "each argument between BEGIN_ARG: with its name and END_ARG, on lines of its own."
        ),
        result="Tool output for {name} tool call:\n\n{result}",
        models="any instruct model: Continue's system message tools (its source, 2026-11)",
    ),
)
