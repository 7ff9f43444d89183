"""Dialects whose calls are a JSON object, or an array of them, after a marker."""

from dataclasses import replace
from functools import partial

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape, JsonStyle, ReasoningTags, Syntax

_PARAMETERS = JsonShape(arguments=("parameters",))
_ARGS = JsonShape(arguments=("args",), aliases=("args",))

# Each call is a JSON object after a marker, or between two, unless `rules` says otherwise.
_tagged = partial(
    DeclaredDialect,
    rules=(
        "Write one JSON object for each call, with the function's name and its arguments, "
        "with the markers of the example and outside of any code fence."
    ),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
)
# All calls of a reply in one JSON array, between markers.
_array = partial(
    DeclaredDialect,
    rules=(
        "Write all calls of a reply as one JSON array, with the markers of the example and "
        "outside of any code fence."
    ),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
)


def _object(opener: str, closer: str, *also: Syntax) -> Syntax:
    """Declare one object between two tags; a Python call between them is read too."""
    python_call = Syntax(call=f"{opener}\n{{name}}({{args:python}})\n{closer}", slip=True)
    return Syntax(call=f"{opener}\n{{call:json}}\n{closer}", also=(python_call, *also))


def _one_array(
    section: str, shape: JsonShape | None = None, also_sections: tuple[str, ...] = ()
) -> Syntax:
    """Declare an array between the markers of `section`; those in `also_sections` are read too."""
    return Syntax(
        call="{call:json}",
        section=section,
        section_also=also_sections,
        separator=", ",
        shape=shape or JsonShape(),
        section_required=True,
    )


DIALECTS = (
    _tagged(
        name="exaone-4",
        title="EXAONE 4",
        syntax=Syntax(
            call="<tool_call>{call:json}</tool_call>",
            also=(Syntax(call="<tool_call>{name}({args:python})</tool_call>", slip=True),),
        ),
        reasoning=(THINK,),
        stops=("[|endofturn|]",),
        result="<tool_result>{result}</tool_result>",
        result_role="tool",
        models="EXAONE 4 (chat template as BFCL's handler quotes it, 2026-11)",
        model_names=(r"^exaone-?4",),
    ),
    _tagged(
        name="longcat",
        title="LongCat",
        syntax=_object(
            "<longcat_tool_call>",
            "</longcat_tool_call>",
            Syntax(
                call="<longcat_tool_call>{name}\n{params}</longcat_tool_call>",
                param="<longcat_arg_key>{key}</longcat_arg_key>\n"
                "<longcat_arg_value>{value}</longcat_arg_value>\n",
                untyped="json",
            ),
        ),
        reasoning=(ReasoningTags("<longcat_think>", "</longcat_think>"), THINK),
        models="LongCat Flash (chat template; mlx-lm's parser for tags, 2026-11)",
        model_names=("longcat",),
    ),
    _tagged(
        name="granite-20b-fc",
        title="Granite 20B function calling",
        syntax=Syntax(call="<function_call> {call:json}"),
        stops=("<|endoftext|>",),
        result="{result}",
        result_role="tool",
        models="Granite 20B Function Calling (vLLM's parser, 2026-11)",
        model_names=("granite-20b",),
    ),
    _tagged(
        name="gigachat3",
        title="GigaChat 3",
        syntax=Syntax(
            call="<|function_call|>{call:json}",
            also=(
                Syntax(call="<|message_sep|>\n\nfunction call<|role_sep|>\n{call:json}"),
                # if the server removed the tokens
                Syntax(call="function call{call:json}", slip=True),
            ),
        ),
        switches=Switches(broken_calls="text"),
        stops=("<|message_sep|>", "</s>", "<|end_of_text|>"),
        parallel=False,
        result="{result}",
        result_role="tool",
        models="GigaChat 3 (chat template, 2026-11)",
        model_names=(r"gigachat-?3(?!\.5)",),
    ),
    _tagged(
        name="internlm2",
        title="InternLM 2",
        syntax=Syntax(
            call="<|action_start|><|plugin|>\n{call:json}\n<|action_end|>", shape=_PARAMETERS
        ),
        reasoning=(THINK,),
        stops=("<|im_end|>",),
        result="{result}",
        result_role="tool",
        models="InternLM 2 and 2.5, Intern-S1 (chat templates, 2026-11)",
        model_names=("internlm", "intern-s1"),
    ),
    _tagged(
        name="inkling",
        title="Inkling",
        syntax=Syntax(
            call="<|content_invoke_tool_json|>{call:json}<|end_message|>",
            separator="<|message_model|>",
            shape=_ARGS,
            also=(
                Syntax(
                    call="<|message_model|>{name}<|content_invoke_tool_json|>{call:json}"
                    "<|end_message|>",
                    shape=_ARGS,
                ),
                # the same call if the prompt already ends with its first token
                Syntax(
                    call="{name}<|content_invoke_tool_json|>{call:json}<|end_message|>",
                    shape=_ARGS,
                    known_names=True,
                    line_start=True,
                ),
                # A call whose body is free text. vLLM delivers it as text, SGLang calls no tool. We
                # read a call if the body is a call's JSON after all, or else text with a finding.
                Syntax(call="<|content_invoke_tool_text|>{call:json}<|end_message|>", shape=_ARGS),
            ),
        ),
        reasoning=(ReasoningTags("<|content_thinking|>", "<|end_message|>"),),
        stops=(
            "<|message_model|>",
            "<|content_text|>",
            "<|content_tool_error|>",
            "<|end_message|>",
            "<|content_model_end_sampling|>",
        ),
        dropped=("<|content_invoke_tool_text|>",),
        models="Inkling (vLLM's parser; for names in headers, the gateway SMG's parser; 2026-11)",
        model_names=("inkling",),
    ),
    _tagged(
        name="gptme-tool",
        title="gptme @tool",
        syntax=Syntax(call="@{name}({id}): {args:json}", line_start=True),
        rules=(
            "Write each call on a line of its own: @, the function's name, an id of your choice in "
            "parentheses, a colon, and the arguments as a JSON object. Write no code fence around "
            "it."
        ),
        reasoning=(ReasoningTags("<thinking>", "</thinking>"), THINK),
        result="{result}",
        models="gptme with --tool-format tool (its source, 2026-11)",
    ),
    _tagged(
        name="ernie45",
        title="ERNIE 4.5",
        syntax=_object("<tool_call>", "</tool_call>"),
        reasoning=(THINK,),
        stops=("<response>", "</response>", "</s>"),
        models="ERNIE 4.5 Thinking (vLLM's parser, 2026-11)",
        model_names=(r"ernie-?(4\.5|x1)",),
    ),
    _tagged(
        name="rwkv7",
        title="RWKV-7",
        syntax=Syntax(call="**Tool Call:**\n```json\n{call:json}\n```"),
        rules=(
            "Write the marker of the example, and after it one JSON object in a code fence, with "
            "the function's name and its arguments."
        ),
        switches=Switches(calls_in_fences="call"),
        reasoning=(THINK,),
        result="{result}",
        result_role="tool",
        models="RWKV-7 (the parser of a branch of vLLM, read 2026-11)",
        model_names=("rwkv-?v?7",),
    ),
    _tagged(
        name="step-audio-2",
        title="Step-Audio 2",
        syntax=Syntax(call="<tool_call>function\n{name}\n{args:json}</tool_call>", separator=""),
        rules=(
            "Write the word function after the opening tag, the function's name on the next line "
            "and its arguments as a JSON object on the line after that."
        ),
        stops=("<|EOT|>",),
        result="{result}",
        result_role="tool",
        models="Step-Audio 2 (vLLM's and SGLang's parsers in public branches, read 2026-11)",
        model_names=("step-audio-?2",),
    ),
    _array(
        name="tool-calls-array",
        title="Array in <tool_calls>",
        syntax=_one_array("<tool_calls>[{calls}]</tool_calls>"),
        reasoning=(
            THINK,
            ReasoningTags("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),  # Apriel's
        ),
        stops=("<answer>", "</answer>", "[END FINAL RESPONSE]"),
        result="{result}",
        result_role="tool",
        models="Jamba 1.5, Hunyuan A13B, Apriel (chat templates, 2026-11)",
        model_names=("jamba", "hunyuan-a13b", "apriel"),
    ),
    _array(
        name="pangu",
        title="openPangu",
        syntax=_one_array(
            "[unused11][{calls}][unused12]",
            also_sections=("<|tool_call_start|>[{calls}]<|tool_call_end|>",),
        ),
        models="openPangu (vLLM's parser, 2026-11)",
        model_names=("pangu",),
    ),
    _array(
        name="hyperclovax",
        title="HyperCLOVA X",
        syntax=_one_array(" -> tool/function_call\n[{calls}]"),
        reasoning=(ReasoningTags("/think\n", "<|im_end|>"),),
        stops=("<|im_end|>", "<|im_start|>assistant"),
        models="HyperCLOVAX SEED Think 14B (vLLM's parsers, 2026-11)",
        model_names=("hyperclovax.*14b",),
    ),
    _array(
        name="nemotron-v2",
        title="Nemotron Nano 2",
        syntax=_one_array("<TOOLCALL>[{calls}]</TOOLCALL>"),
        reasoning=(THINK,),
        result="<TOOL_RESPONSE>[{result}]</TOOL_RESPONSE>",
        models="Nemotron Nano 2 (chat template, 2026-11)",
        model_names=("nemotron-?nano", r"nemotron-super-49b-v1[_.]5"),
    ),
    _array(
        name="functools",
        title="functools array",
        syntax=_one_array("functools[{calls}]"),
        result="{result}",
        result_role="tool",
        models="Phi-4 mini, FireFunction 2 (chat templates, 2026-11)",
        model_names=("phi-?4-mini", "firefunction"),
    ),
    _array(
        name="granite",
        title="Granite 3",
        syntax=_one_array("<|tool_call|>[{calls}]", also_sections=("<tool_call>[{calls}]",)),
        reasoning=(ReasoningTags("Here is my thought process:", "Here is my response:"), THINK),
        stops=("<|end_of_text|>",),
        result="{result}",
        result_role="tool",
        models="Granite 3.0 to 3.3 (chat templates, 2026-11)",
        model_names=(r"granite(?!-\d+b|-?4)",),
    ),
    _array(
        name="xlam",
        title="xLAM",
        syntax=replace(
            _one_array(
                "[{calls}]",
                also_sections=(
                    "<tool_call>[{calls}]</tool_call>",
                    "[TOOL_CALLS][{calls}]",
                    "```json\n[{calls}]\n```",
                ),
            ),
            also=(Syntax(call="<tool_call>\n{call:json}\n</tool_call>"),),  # a single call
        ),
        result="{result}",
        result_role="tool",
        models="xLAM 2 (chat template, 2026-11)",
        model_names=("xlam",),
    ),
    _array(
        name="apertus",
        title="Apertus",
        syntax=_one_array(
            "<|tools_prefix|>[{calls}]<|tools_suffix|>", shape=JsonShape(name_is_key=True)
        ),
        reasoning=(ReasoningTags("<|inner_prefix|>", "<|inner_suffix|>"),),
        stops=("<|assistant_end|>",),
        models="Apertus 8B and 70B (chat template, 2026-11)",
        model_names=("apertus",),
    ),
    _array(
        name="cohere-action",
        title="Cohere action list",
        syntax=_one_array(
            "<|START_ACTION|>[\n{calls}\n]<|END_ACTION|>",
            shape=JsonShape(id="tool_call_id", name=("tool_name",), arguments=("parameters",)),
        ),
        reasoning=(ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>"),),
        stops=(
            "<|START_RESPONSE|>",
            "<|END_RESPONSE|>",
            "<|START_TEXT|>",
            "<|END_TEXT|>",
            "<|END_OF_TURN_TOKEN|>",
        ),
        models="Command R7B, Command A (chat templates, 2026-11)",
        model_names=("command-?(r7b|a)",),
    ),
    _array(
        name="command-r",
        title="Command R and R+",
        rules=(
            "Write all calls of a reply as one JSON array, in a code fence after the word Action, "
            "as in the example."
        ),
        syntax=Syntax(
            call="{call:json}",
            section="Action:\n```json\n[\n    {calls}\n]```",
            separator=",\n    ",
            shape=JsonShape(name=("tool_name",), arguments=("parameters",)),
            json=JsonStyle(indent=4, margin=4),
            section_required=True,
        ),
        result="<results>\n{result}</results>",
        result_role="tool",
        stops=("<|END_OF_TURN_TOKEN|>",),
        models="Command R, Command R+ (chat template of c4ai-command-r-plus, 2026-11)",
        model_names=(r"command-?r(?!7b|\d)",),
    ),
)
