"""Dialects in which a header of control tokens names the tool; JSON or parameters follow."""

from dataclasses import replace
from functools import partial
from typing import Literal

from playground.dialects.declared import SEQUENCE_TOKENS, THINK, DeclaredDialect
from playground.dialects.prompts import JSON_LINES
from playground.parsing.switches import Switches
from playground.parsing.syntax import ReasoningTags, Syntax

_header = partial(
    DeclaredDialect,
    rules=(
        "Write a call with the control tokens of the example, the tool's name between them "
        "and its arguments as a JSON object."
    ),
    dropped=SEQUENCE_TOKENS,
    tool_docs=JSON_LINES,
)


_KIMI_ID = "functions.{name}:{index}"


def _kimi(head: str, nameless: Literal["", "inferred"] = "", slip: bool = True) -> Syntax:
    """Declare a call with an id in place of a name; `head` is the form of the id."""
    return Syntax(
        call=f"<|tool_call_begin|>{head}<|tool_call_argument_begin|>{{args:json}}<|tool_call_end|>",
        section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
        separator="",
        id_form=head if head == _KIMI_ID else "",
        nameless=nameless,
        slip=slip,
    )


def _harmony(recipient: str, body: str, constrain: str, name: str = "") -> tuple[Syntax, ...]:
    """Declare calls to a recipient, one syntax for each form of header that models write. `name`
    is the tool's name if the recipient does not hold it."""
    heads = (f"<|channel|>{{word}} to={recipient}", f" to={recipient}<|channel|>{{word}}")
    return tuple(
        Syntax(call=f"{head}{word}<|message|>{body}<|call|>", name=name)
        for head in heads
        for word in (constrain, " json", " code", "")
    )


_DEEPSEEK = "<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>"
_HARMONY_ALSO = (
    *_harmony("functions.{name}", "{args:json}", " <|constrain|>json"),
    *_harmony("browser.{name}", "{args:json}", " <|constrain|>json"),
    *_harmony("python", "{text:code}", " <|constrain|>code", name="python"),
    *_harmony("container.exec", "{text:code}", " <|constrain|>code", name="container.exec"),
    # a tool without its namespace
    *_harmony("{name}", "{args:json}", " <|constrain|>json"),
    # if the server removed the tokens
    *(
        Syntax(call=f"{start}commentary to=functions.{{name}} {word}{{args:json}}", slip=True)
        for start in ("assistant", "")
        for word in ("json", "code", "")
    ),
)

DIALECTS = (
    _header(
        name="kimi-k2",
        title="Kimi K2",
        syntax=replace(
            _kimi(_KIMI_ID, slip=False),
            also=(
                # an id that names no tool, or whose form is slightly wrong
                *(_kimi(head, "inferred") for head in ("{index}", ":{index}", "call_{index}")),
                *map(_kimi, ("functions.{name}", "{name}:{index}", "{name}")),
                # if the server removed the tokens
                Syntax(call=f"{_KIMI_ID}{{args:json}}", slip=True, id_form=_KIMI_ID),
                # a complete JSON call instead of a header and its arguments
                Syntax(
                    call="<|tool_call_begin|>{call:json}<|tool_call_end|>",
                    section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
                    slip=True,
                ),
                Syntax(
                    call="{call:json}",
                    section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
                    slip=True,
                    section_required=True,
                ),
            ),
        ),
        dropped=(*SEQUENCE_TOKENS, "<|tool_call_argument_begin|>"),
        reasoning=(THINK,),
        stops=("<|im_end|>",),
        result="## Return of {id}\n{result}",
        result_role="tool",
        models="Kimi K2, K2 Thinking (chat templates, 2026-11)",
        model_names=("kimi(?!.*k3)", r"^k2\.\d"),
    ),
    _header(
        name="deepseek-v3",
        title="DeepSeek V3",
        syntax=Syntax(
            call=(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n"
                "```json\n{args:json}\n```<｜tool▁call▁end｜>"
            ),
            section=_DEEPSEEK,
            also=(
                Syntax(
                    call=(
                        "<｜tool▁call▁begin｜>function<{name}>\n"
                        "```json\n{args:json}\n```<｜tool▁call▁end｜>"
                    ),
                    section=_DEEPSEEK,
                ),
            ),
        ),
        result="<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>",
        reasoning=(THINK,),
        switches=Switches(broken_calls="text"),
        stops=("<｜end▁of▁sentence｜>",),
        models="DeepSeek V3, R1 (chat templates, 2026-11)",
        model_names=(r"deepseek.*(v3(?!\.[12])|r1)", "cogito.*671b"),
    ),
    _header(
        name="deepseek-v3.1",
        title="DeepSeek V3.1",
        syntax=Syntax(
            call="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args:json}<｜tool▁call▁end｜>",
            section=_DEEPSEEK,
            separator="",
            also=(
                Syntax(  # the form of V3
                    call=(
                        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n"
                        "```json\n{args:json}\n```<｜tool▁call▁end｜>"
                    ),
                    section=_DEEPSEEK,
                ),
            ),
        ),
        dropped=(*SEQUENCE_TOKENS, "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
        result="<｜tool▁output▁begin｜>{result}<｜tool▁output▁end｜>",
        reasoning=(THINK,),
        stops=("<｜end▁of▁sentence｜>",),
        models="DeepSeek V3.1 (chat template, 2026-11)",
        model_names=(r"deepseek.*v3\.1",),
    ),
    _header(
        name="mistral",
        title="Mistral",
        syntax=Syntax(
            call="[TOOL_CALLS]{name}[ARGS]{args:json}",
            separator="",
            also=(
                Syntax(call="[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{args:json}"),
                Syntax(call="[TOOL_CALLS]{name}{args:json}"),
                Syntax(call="[TOOL_CALLS]{args:json}", nameless="empty", slip=True),
                Syntax(call="[TOOL_CALLS][ARGS]{args:json}", nameless="empty", slip=True),
                Syntax(
                    call="{call:json}",
                    section="[TOOL_CALLS] [{calls}]",
                    separator=", ",
                    section_required=True,
                ),
            ),
        ),
        result="[TOOL_RESULTS]{result}[/TOOL_RESULTS]",
        reasoning=(ReasoningTags("[THINK]", "[/THINK]"),),
        stops=("</s>",),
        switches=Switches(calls_in_reasoning="reasoning"),
        models=(
            "Mistral, Ministral: form of tokenizer v11 and later; older forms are read, too "
            "(mistral-common, 2026-11)"
        ),
        model_names=("mistral", "ministral", "devstral", "magistral", "mixtral-8x22b"),
    ),
    _header(
        name="functionary-v3.2",
        title="functionary 3.2",
        syntax=Syntax(
            call=">>>{name}\n{args:json}",
            # the generation prompt of its template ends with the first opener
            also=(Syntax(call="{name}\n{args:json}", known_names=True, line_start=True),),
        ),
        answer=(">>>all\n", ""),
        stops=(">>>all\n", "<|eot_id|>"),
        models="functionary v3.2 (chat template, 2026-11; no parser of it was at hand)",
        model_names=(r"functionary.*v3\.2",),
    ),
    _header(
        name="plamo3",
        title="PLaMo 3",
        syntax=Syntax(
            call=(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}"
                "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
                "<|plamo:constrain|>json<|plamo:msg|>{args:json}<|plamo:end_tool_arguments:plamo|>"
                "<|plamo:end_tool_request:plamo|>"
            ),
            section=("<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>"),
            separator="",
        ),
        reasoning=(ReasoningTags("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
        stops=("<|plamo:tag|>",),
        models="PLaMo 3 (vLLM's parser, 2026-11)",
        model_names=("plamo-?3",),
    ),
    _header(
        name="kimi-k3",
        title="Kimi K3",
        syntax=Syntax(
            call='<|open|>call tool="{name}" index="{number}"<|sep|>{params}<|close|>call<|sep|>',
            param=(
                '<|open|>argument key="{key}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>'
            ),
            section="<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>",
            separator="",
            type_words=(("integer", "number"),),
            escaped_names=True,
            object_block=('<|open|>json type="object"<|sep|>', "<|close|>json<|sep|>"),
            also=(
                Syntax(  # if the server removed the tokens
                    call='call tool="{name}" index="{number}"{params}call',
                    param='argument key="{key}" type="{type}"{value}argument',
                    type_words=(("integer", "number"),),
                    escaped_names=True,
                    slip=True,
                ),
            ),
        ),
        rules=(
            "Write a call with the control tokens of the example: the tool's name, the call's "
            "number, and each argument with its name, its type and its value. A text is written as "
            "it is, any other value as JSON."
        ),
        reasoning=(ReasoningTags("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        opens_reasoning=True,
        answer=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        stops=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>"),
        models="Kimi K3 (chat template, 2026-11)",
        model_names=("kimi.*k3",),
    ),
    _header(
        name="solar-open",
        title="Solar Open",
        syntax=Syntax(
            call=(
                "<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{args:json}"
                "<|tool_call:end|>"
            ),
            section="<|tool_calls|>{calls}<|calls|>",
            separator="",
        ),
        reasoning=(ReasoningTags("<|think|>", "<|end|>"),),
        answer=("<|content|>", "<|end|>"),
        stops=("<|begin|>assistant", "<|content|>", "<|end|>"),
        result=(
            "<|tool_response:begin|>{id}<|tool_response:name|>{name}<|tool_response:result|>"
            "{result}<|tool_response:end|>"
        ),
        result_role="tool",
        models="Solar Open 100B (chat template, 2026-11)",
        model_names=("solar-open(?!-?2)",),
    ),
    _header(
        name="harmony",
        title="Harmony",
        syntax=Syntax(
            call=(
                "<|channel|>commentary to=functions.{name} <|constrain|>json"
                "<|message|>{args:json}<|call|>"
            ),
            also=_HARMONY_ALSO,
        ),
        reasoning=(ReasoningTags("<|channel|>analysis<|message|>", "<|end|>"),),
        answer=("<|channel|>final<|message|>", "<|end|>"),
        stops=(
            "<|start|>assistant",
            "<|start|>",
            "<|channel|>commentary to=assistant",
            "<|channel|>final<|message|>",
            "<|channel|>commentary<|message|>",
            "<|end|>",
            "<|return|>",
            "<|call|>",
        ),
        parallel=False,
        result=(
            "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{result}<|end|>"
        ),
        result_role="tool",
        models="gpt-oss (openai-harmony, 2026-11)",
        model_names=("gpt-oss",),
    ),
)
