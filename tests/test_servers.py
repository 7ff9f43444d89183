"""What servers hand over: a table, the laws of every projection, and the declarations."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DIALECTS, TOOLS, streams

import playground as pg
from playground.base.errors import UnknownNameError
from playground.base.findings import CODES
from playground.dialects.declared import DeclaredDialect
from playground.dialects.native import DIALECT
from playground.dialects.reading import parser_for
from playground.nouns.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    Span,
    TextEvent,
    owned_text,
)
from playground.nouns.prompt_data import PromptData
from playground.parsing.result import read_to_end
from playground.parsing.switches import Switches
from playground.questions.server_view import server_view
from playground.recordings.recording import Recording, TextChunk, ToolCallChunk
from playground.servers import ServerReading, View, all_servers, get_server, server_names
from playground.servers.reading import ServerReader
from playground.servers.segments import segments
from playground.servers.view import Server

WEATHER = {"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {}}}}
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Prague"}}\n</tool_call>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Prague"}<|tool_call_end|><|tool_calls_section_end|>'
)
UNNUMBERED = KIMI.replace(":0", "").replace("Prague", ":1")
GLM = "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Prague</arg_value></tool_call>"
MINIMAX = (
    '<minimax:tool_call><invoke name="get_weather"><parameter name="city">Prague</parameter>'
    "</invoke></minimax:tool_call>"
)
XML = "<get_weather><city> Prague </city></get_weather>"
FUNCTION = "<function=get_weather><parameter=city>Prague</parameter></function>"
BLOCK = "```tool\nTOOL_NAME: get_weather\nBEGIN_ARG: city\nPrague\nEND_ARG\n"  # and no fence
AT = 'A\n@get_weather(c1): {"city": "Prague"}'
UNOFFERED_HY = '<tool_call:opensource>f<tool_sep:opensource>{"x": 1}<end_of_tool_call:opensource>'
CALL = [("get_weather", {"city": "Prague"})]
CODE = [("python_interpreter", {"code": "x = 1"})]

NAMED = '{"name": "get_weather", "arguments": {"city": "Prague"}}'
APERTUS = '<|tools_prefix|>[{"get_weather": {"city": "Prague"}}]<|tools_suffix|>'
ARRAY = f"<tool_calls>[{NAMED}]</tool_calls>"
IN_ARRAY = ["<tool_calls>[", NAMED, "]</tool_calls>"]
FUNCTOOLS = f"functools[{NAMED.replace('ague', 'ague]')}]"
GEMMA = "<start_function_call>call:get_weather{city:<escape>Prague<escape>,n:2}<end_function_call>"
DSML = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" '
    'string="true">Prague</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'
)
LFM = 'get_weather(city="Prague")'
BARE = '<invoke name="get_weather"></invoke>'
MINIMAX_BARE = f"<minimax:tool_call>{BARE}</minimax:tool_call>"
ODD = "[TOOL_CALLS]get_weather[ARGS]{'c': 1}"
HORIZON = "<ifm|tool_calls>\n<ifm|tool_call>f\n</ifm|tool_call>\n</ifm|tool_calls>"


LFM_CALL = f"<|tool_call_start|>[{LFM}]<|tool_call_end|>"
IN_ECHO = ["A", "<|tool_call_start|>[", LFM, "]<|tool_call_end|>"]
LISTS = ["[", LFM, "]"]
NONE: list[tuple[str, dict[str, str]]] = [("get_weather", {})]
GEMMA4 = '<|tool_call>call:get_weather{city:<|"|>Prague<|"|>}<tool_call|>'
INTERN = f"<|action_start|><|plugin|>\n{NAMED.replace('arguments', 'parameters')}\n<|action_end|>"
MISTRAL = '[TOOL_CALLS]get_weather[ARGS]{"city": "Prague"}'
FINAL = "<|channel|>final<|message|>A<|end|>"
HARMONY = (
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    '{"city": "Prague"}<|call|>'
)
HUNYUAN = (
    "<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n"
    "<arg_value>Prague</arg_value>\n</tool_call>\n</tool_calls>"
)
HY3 = (
    "<tool_call:opensource>get_weather<tool_sep:opensource>"
    '{"city": "Prague"}<end_of_tool_call:opensource>'
)
ODD_MINIMAX = MINIMAX[19:-20].replace('"', "'")
DOTS = (
    '<dots_function_call><invoke name="get_weather"><parameter name="city">Prague</parameter>'
    "</invoke></dots_function_call>"
)
K3 = (
    '<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument '
    'key="city" type="string"<|sep|>Prague<|close|>argument<|sep|><|close|>call<|sep|>'
    "<|close|>tools<|sep|>"
)
K3_TEXT = "<|open|>response<|sep|>A<|close|>response<|sep|>"


def coder(value: str) -> str:
    parameter = f"<parameter=city>\n{value}\n</parameter>"
    return f"<tool_call>\n<function=get_weather>\n{parameter}\n</function>\n</tool_call>"


def step3(value: str) -> str:
    parameter = f'<steptml:parameter name="city">{value}</steptml:parameter>'
    invoke = f'<steptml:invoke name="get_weather">{parameter}</steptml:invoke>'
    call = f"<｜tool_call_begin｜>function<｜tool_sep｜>{invoke}<｜tool_call_end｜>"
    return f"<｜tool_calls_begin｜>{call}<｜tool_calls_end｜>"


UNENDED = coder("x").replace("</function>\n", "")  # of which the section is closed
UNENDED_PARTS = ["<tool_call>\n", UNENDED[12:-12], "</tool_call>"]
UNOFFERED = '[TOOL_CALLS]get_tides[ARGS]{"city": "Prague"}'
KIMI_PARTS = [
    "<|tool_calls_section_begin|>",
    KIMI.replace("weather", "tides")[28:-26],
    "<|tool_calls_section_end|>",
]
FIRST = (
    [("get_weather", {"city": "x"})],
    [" B", "<tool_call>\n", coder("y")[12:-13], "\n</tool_call>"],
)
COHERE = (
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", '
    '"parameters": {"city": "Prague"}}]<|END_ACTION|>'
)


# dialect, server, reply, content, reasoning, calls, what is dropped
TABLE = [
    ("hermes", "vllm", f"A {HERMES} B", "A ", "", CALL, [" B"]),
    ("hermes", "vllm:hermes", f"A {HERMES} B", "A ", "", CALL, [" B"]),
    ("hermes", "smolagents", f"A {HERMES} B", "A  B", "", CALL, []),
    ("xml", "cline", XML, "", "", CALL, []),
    ("xml", "roo", XML, "", "", CALL, []),
    ("xml", "kodu", XML, "", "", [("get_weather", {"city": " Prague "})], []),
    ("xml", "kodu", f"A {XML[:-14]}", "A ", "", [], [XML[:-14]]),
    ("xml", "kodu", "a <b> is x < 10, y", "a <b> is x ", "", [], ["< 10, y"]),
    ("xml", "kodu", "`x <10`", "whole", "", [], []),
    ("xml", "kodu", "`x <10", "whole", "", [], []),
    ("smolagents-code", "smolagents", "A\n<code>\nx = 1", "A\n", "", CODE, []),
    ("continue", "continue", BLOCK, "", "", CALL, []),
    ("gptme-tool", "gptme", AT[:-3], "whole", "", [], []),
    ("openhands", "openhands", f"A {FUNCTION} B", "A ", "", CALL, [" B"]),
    ("hermes", "vllm", "A <tool_call>{'name': !}</tool_call> B", "whole", "", [], []),
    ("hermes", "sglang", f"{HERMES} B", "", "", CALL, [" B"]),
    ("hermes", "rapid-mlx", f"<think>why</think>{HERMES}", "", "", CALL, ["<think>why</think>"]),
    ("hermes", "rapid-mlx", "<think>why</think>so", "so", "why", [], []),
    ("kimi-k2", "vllm", f"A {KIMI} B", "A ", "", CALL, [" B"]),
    ("kimi-k2", "sglang", f"A {KIMI} B", "A ", "", CALL, [" B"]),
    ("kimi-k2", "vllm", KIMI.replace(":0", ""), "", "", [], [KIMI.replace(":0", "")[28:-26]]),
    ("kimi-k2", "vllm", UNNUMBERED, "", "", [], [UNNUMBERED[28:-26]]),
    ("glm", "vllm", GLM.replace("weather", "tides"), "", "", [], ["whole"]),
    ("minimax-m2", "vllm", f"A {MINIMAX} B", "A ", "", CALL, [" B"]),
    # calls of the first section alone, whose text goes with that after calls
    ("apertus", "vllm", f"{APERTUS}A{APERTUS}", f"A{APERTUS[:-16]}", "", CALL, [APERTUS[-16:]]),
    ("tool-calls-array", "vllm", f"{ARRAY}A{ARRAY}", "", "", CALL, ["A", *IN_ARRAY]),
    ("functools", "vllm", FUNCTOOLS, "", "", [], ["functools[", FUNCTOOLS[10:-1], "]"]),
    ("lfm2", "vllm", f"{LFM_CALL}A{LFM_CALL}B", "B", "", CALL, IN_ECHO),
    ("gemma4", "vllm-mlx", f"{GEMMA4}A{GEMMA4}", "", "", CALL, ["A", GEMMA4]),
    ("internlm2", "vllm", f"A{INTERN}", "A", "", CALL, []),
    ("internlm2", "vllm", f"A{INTERN}{INTERN}", "", "", [], ["A", INTERN, INTERN]),
    ("pythonic", "sglang", f"[get_weather()] A [{LFM}]", f" A [{LFM}]", "", NONE, []),
    ("pythonic", "sglang", f"A [{LFM}] B [{LFM}]", "A ", "", [], [*LISTS, " B ", *LISTS]),
    # what stands behind a call
    ("mistral", "rapid-mlx", f"{MISTRAL} B", "", "", CALL, []),
    ("mistral", "vllm-mlx", f"{MISTRAL} B", "whole", "", [], []),
    ("mistral", "vllm-mlx", f"{MISTRAL} B{MISTRAL}", "", "", CALL, [f"{MISTRAL} B"]),
    ("llama3-json", "sglang", f"<|python_tag|>{NAMED}Bye", "ye", "", CALL, ["B"]),
    # the first text alone, or what ends as it has to
    ("harmony", "rapid-mlx", f"{FINAL}{HARMONY}{FINAL}", "A", "", CALL, ["A"]),
    ("harmony", "vllm-mlx", f"{HARMONY}{FINAL}", "", "", CALL, ["A"]),
    ("harmony", "vllm-mlx", f"{HARMONY}{FINAL[:-7]}<|return|>", "A", "", CALL, []),
    # markers that stay, and calls that end otherwise
    ("lfm2", "rapid-mlx", f"A {LFM_CALL}", f"A {LFM_CALL[:19]}{LFM_CALL[-17:]}", "", CALL, []),
    ("hunyuan", "rapid-mlx", f"A {HUNYUAN}", "whole", "", [], []),
    ("hy3", "rapid-mlx", HY3, "", "", CALL, []),
    # openers in other quotes, sections without their closer
    ("minimax-m2", "sglang", MINIMAX.replace('"', "'"), "", "", [], [ODD_MINIMAX]),
    ("apertus", "vllm", APERTUS.replace('"', "'"), "whole", "", [], []),
    ("minimax-m2", "sglang", f"A {MINIMAX[:-20]}", "whole", "", [], []),
    ("dots", "sglang", f"A {DOTS[:-21]}", "A ", "", [], [DOTS[20:-21]]),
    (
        "llama3-json",
        "vllm",
        "<|python_tag|>{name: 'get_weather', parameters: {}}",
        "whole",
        "",
        [],
        [],
    ),
    # of SGLang's own
    ("deepseek-dsml", "sglang", f"A {DSML} B", "A ", "", CALL, [" B"]),
    ("dots", "sglang", f"A {DOTS} B", "A ", "", CALL, [" B"]),
    ("minimax-m2", "sglang", f"A {MINIMAX} B", "A  B", "", CALL, []),
    ("step3", "sglang", f"A {step3('Prague')} B", "A  B", "", CALL, []),
    ("apertus", "sglang", f"A {APERTUS} B", "A  B", "", CALL, []),
    ("kimi-k3", "sglang", f"{K3}{K3_TEXT}", "", "", CALL, ["A"]),
    ("kimi-k3", "vllm", f"{K3}{K3_TEXT}", "A", "", CALL, []),
    # calls by where they stand
    ("gigachat3", "vllm", f"<|function_call|>{NAMED}", "", "", CALL, []),
    ("gigachat3", "vllm", f"<|function_call|>{NAMED} B", "whole", "", [], []),
    ("xlam", "vllm", f"A [{NAMED}]", "whole", "", [], []),
    ("xlam", "vllm", f"A ```json\n[{NAMED}]\n```", "A ", "", CALL, []),
    # values that stay text, or are left out
    ("functiongemma", "vllm", GEMMA, "", "", CALL, [""]),
    ("step3", "vllm", step3('["Prague"]'), "", "", [("get_weather", {"city": '["Prague"]'})], []),
    ("qwen3-coder", "vllm", coder("{a: 1}"), "", "", [("get_weather", {"city": "{a: 1}"})], []),
    # what our reading mends
    (
        "hermes",
        "vllm",
        "<tool_call>{'name': 'f', 'arguments': {}}</tool_call>",
        "whole",
        "",
        [],
        [],
    ),
    ("ernie45", "vllm", f"A <tool_call>{NAMED}", "A ", "", [], [f"<tool_call>{NAMED}"]),
    ("hermes", "vllm:granite4", f"A <tool_call>{NAMED}", "whole", "", [], []),
    ("hermes", "vllm", f"A <tool_call>{NAMED}", "A ", "", CALL, []),
    # markers, and tools, that the server does not know
    ("deepseek-dsml", "vllm:deepseek_v32", DSML, "<｜DSML｜tool_calls>\n", "", CALL, []),
    ("deepseek-dsml", "vllm", DSML, "", "", CALL, []),
    ("kimi-k2", "vllm", "A <|tool_calls_section_end|> B", "whole", "", [], []),
    ("k2-horizon", "vllm", HORIZON, "whole", "", [], []),
    ("hermes", "vllm", "A <tool_call> B", "whole", "", [], []),
    ("hermes", "vllm", "A<|im_end|>", "A", "", [], []),
    ("qwen3-coder", "vllm", "A <tool_call> B", "A ", "", [], ["<tool_call> B"]),
    ("qwen3-coder", "vllm", "A <tool_call> </tool_call> B", "A  B", "", [], []),
    ("deepseek-dsml", "vllm", "see <|DSML|tool> there", "whole", "", [], []),
    # sections without their closer, calls without arguments
    ("lfm2", "sglang", 'A <|tool_call_start|>[get_weather(city="Prague")', "A ", "", [], [LFM]),
    ("lfm2", "vllm", 'A <|tool_call_start|>[get_weather(city="Prague")', "whole", "", [], []),
    ("minimax-m2", "rapid-mlx", MINIMAX_BARE, "", "", [], [BARE]),
    ("mistral", "sglang", "A [TOOL_CALLS]get_weather[ARGS]{'c': 1}", "A ", "", [], [ODD]),
    # a call that is delivered, although its arguments are no JSON
    ("kimi-k2", "vllm", KIMI.replace('"Pra', "Pra"), "", "", [("get_weather", {})], []),
    (
        "minimax-m2",
        "vllm:minimax_m2_append_think",
        f"why</think>{MINIMAX}",
        "<think>why</think>",
        "",
        CALL,
        [],
    ),
    ("k-exaone-2", "ai-sdk-parser", "<think>why</think>so", "whole", "", [], []),
    ("hermes", "ai-sdk-parser", f"<think>why</think>{HERMES}", "<think>why</think>", "", CALL, []),
    ("hermes", "ai-sdk-parser", "A <tool_call> B", "A ", "", [], ["<tool_call> B"]),
    ("xml", "ai-sdk-parser:morph-xml", "<get_weather><city>Prague", "", "", CALL, []),
    # a closer that is begun, or the line before it, is no section of its own
    ("qwen3-coder", "ollama", f"A {coder('x')[:-12]}", "A ", "", [], [coder("x")[12:-13]]),
    ("qwen3-coder", "ollama", f"A {coder('x')[:-5]}", "A ", "", [], [coder("x")[12:-13]]),
    # a request that ends with an error
    ("qwen3-coder", "ollama", f"A {UNENDED}", "", "", [], ["A ", *UNENDED_PARTS]),
    ("glm", "ollama", f"A {GLM[:-30]}", "", "", [], ["A ", GLM[:-30]]),
    ("glm", "ollama", f"A {GLM[:-12]}", "A ", "", CALL, []),
    ("mistral", "ollama", ODD, "", "", [], [ODD]),
    ("mistral", "ollama", UNOFFERED, "", "", [], [UNOFFERED]),
    # text before an opener, messages without a header, an opener that is markup
    ("llama3-json", "ollama", f"A {NAMED}", "whole", "", [], []),
    ("llama3-json", "ollama", f"{NAMED} B", "", "", CALL, [" B"]),
    ("cohere-action", "ollama", f"A {COHERE}", "whole", "", [], []),
    ("cohere-action", "ollama", f"<|START_TEXT|>A<|END_TEXT|>{COHERE}", "A", "", CALL, []),
    ("harmony", "ollama", "A", "", "", [], ["A"]),
    ("gemma4", "ollama", "A <|tool_call>call: B", "A ", "", [], ["call: B"]),
    # a call in no section, or without its marker
    ("qwen3-coder", "ollama", f"A {coder('x')[12:-13]} B", "whole", "", [], []),
    ("qwen3-coder", "ollama", f"{coder('x')} B", " B", "", [("get_weather", {"city": "x"})], []),
    ("gemma4", "ollama", "A call:get_weather{city:1} B", "whole", "", [], []),
    # a reply that must fit to its end, and one that is read as far as it fits
    ("hermes", "llama.cpp", f"A {HERMES}", "A ", "", CALL, []),
    ("hermes", "llama.cpp", f"A {HERMES} B", "", "", [], ["A ", HERMES, " B"]),
    ("kimi-k2", "llama.cpp", KIMI.replace("weather", "tides"), "", "", [], KIMI_PARTS),
    ("qwen3-coder", "llama.cpp", f"A {coder('x')} B{coder('y')}", "A ", "", *FIRST),
    ("mistral", "llama.cpp", f"A {UNOFFERED} B", "A ", "", [], [UNOFFERED, " B"]),
    # a call of a tool that was not offered is text with its ending
    ("hunyuan", "rapid-mlx", UNOFFERED_HY, "whole", "", [], []),
    # a message to a tool needs a call; one to anybody else is content without its header
    ("muse", "ollama", " to=get_weather<|message|>hi", "", "", [], ["whole"]),
    ("muse", "ollama", " to=get_weather <|message|>hi", "", "", [], ["whole"]),
    ("muse", "ollama", " to=other<|message|>hi", "hi", "", [], [" to=other<|message|>"]),
    ("muse", "ollama", " to=other <|message|>hi", "hi", "", [], [" to=other <|message|>"]),
    # what stands between the tags is read as it is
    ("hermes", "ollama:qwen3", f"A <tool_call>{NAMED}", "A ", "", [], [f"<tool_call>{NAMED}"]),
    ("qwen3-coder", "ollama:qwen3-coder", "<think>A</think>B", "whole", "", [], []),
    ("dots", "vllm", "answer <dots_func", "answer ", "", [], ["<dots_func"]),
    ("aider-editblock", "aider", "only words", "only words", "", [], []),
    ("pythonic", "vllm", 'Yes: [get_weather(city="Prague")]', "whole", "", [], []),
]


@pytest.mark.parametrize(
    ("dialect", "server", "text", "content", "reasoning", "calls", "dropped"), TABLE
)
def test_a_server_hands_over(
    dialect: str,
    server: str,
    text: str,
    content: str,
    reasoning: str,
    calls: list[tuple[str, dict[str, str]]],
    dropped: list[str],
) -> None:
    reading = pg.parse(text, dialect, [WEATHER], server=server)
    assert isinstance(reading, ServerReading)
    assert reading.content == (text if content == "whole" else content)
    assert reading.reasoning == reasoning
    assert [(call.name, call.arguments) for call in reading.tool_calls] == calls
    assert [event.text for event in reading.dropped] == [
        text if lost == "whole" else lost for lost in dropped
    ]


# the laws, for any view at all and for those that are declared


def owned(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if owned_text(event)]


def handed(events: Iterable[Event]) -> set[int]:
    """The places of all characters that a client gets: of content, reasoning and its calls."""
    listed = list(events)
    ended = {event.call_index for event in listed if isinstance(event, CallEndedEvent)}
    places: set[int] = set()
    for event in listed:
        match event:
            case TextEvent() | ReasoningEvent():
                places.update(range(*event.span))
            case ArgumentEvent() | CallNamedEvent() if event.call_index in ended:
                places.update(range(*event.span))
    return places


def check(reading: ServerReading, text: str) -> None:
    assert "".join(map(owned_text, reading.events)) == text
    # those that own no characters stand in their place among the others
    stops = [0, *(event.span.stop for event in reading.events)]
    assert [event.span.start for event in reading.events] == stops[:-1]
    # nothing is handed over that does not stand in the reply
    told_apart = [e for e in reading.events if isinstance(e, TextEvent | ReasoningEvent)]
    assert all(event.text == text[slice(*event.span)] for event in told_apart)
    lost = {place for event in reading.dropped for place in range(*event.span)}
    # nothing that our own reading hands over is silently gone: it is handed over, or dropped
    assert handed(reading.lossless.events) <= handed(reading.events) | lost
    assert not handed(reading.events) & lost
    told = [each.message for each in reading.findings if each.code == "server-delivers"]
    assert len(reading.tool_calls) <= len(reading.lossless.tool_calls) + len(told)
    # who aborts a call and who hands it over is one sentence, and no call is one of none
    assert all("parser aborts the call of" in each and "hands it over" in each for each in told)
    kind = rf"calls? of a {reading.reads}, "
    over, of = map(int, re.findall(rf"(\d+) of (\d+) {kind}", reading.outcome)[0])
    assert over <= of
    # no finding says that a call is delivered which this server does not hand over
    ended = {event.call_index for event in reading.events if isinstance(event, CallEndedEvent)}
    begun = [e for e in reading.lossless.events if isinstance(e, CallStartedEvent)]
    for each in reading.findings:
        if "delivered" in CODES[each.code].meaning + each.message:
            place = re.match(r"(call|character) (\d+)", each.where)
            at = int(place[2]) if place else 0
            earlier = [e for e in begun if e.span.start <= at] or begun[:1]
            is_call = place is not None and place[1] == "call"
            assert (at if is_call else earlier[-1].call_index) in ended, each
    # a whole call that is not handed over is told of, whatever became of it
    if len(reading.tool_calls) < len(reading.lossless.tool_calls):
        assert reading.server_findings


def choices(kind: type) -> dict[str, st.SearchStrategy[object]]:
    """Of each field that has a closed set of values."""
    hints = typing.get_type_hints(kind).items()
    sets = {name: typing.get_args(h) for name, h in hints if typing.get_origin(h) is typing.Literal}
    flags = {name: st.booleans() for name, hint in hints if hint is bool}
    return {name: st.sampled_from(values) for name, values in sets.items()} | flags


# What is no closed set: as servers declare it, as it stands in many a marker, and what none has.
OTHERS: dict[str, st.SearchStrategy[object]] = {
    "assumed_prefill": st.sampled_from(["", "<think>", "no marker"]),
    "header_marker": st.sampled_from(["", "<|message|>", "<", ">", "no marker"]),
    "never_trimmed": st.sampled_from([(), ("a",), ("content", "city")]),
    "values_must_not_hold": st.sampled_from([(), ("]",), ("a", " ")]),
    "unknown_markers": st.sampled_from([(), ("<tool_call>", "<tool_calls>")]),
    "call_must_end_with": st.sampled_from([(), (">",), ("}", ")")]),
    "markers_left_in_content": st.sampled_from([(), ("<tool_calls>",), ("[", ">")]),
    "erased_if_calls": st.sampled_from([(), ("<tool_call>",), ("a", ">")]),
    "text_must_end_with": st.sampled_from(["", "<|return|>", "a"]),
    "unsupported_repairs": st.sampled_from(
        [(), ("missing-closer",), ("relaxed-json", "unexpected-text")]
    ),
    "switches": st.fixed_dictionaries({}, optional=choices(Switches)),
}
views = st.builds(View, **choices(View), **OTHERS)


def test_any_view_is_drawn_from_every_choice() -> None:
    assert {*choices(View), *OTHERS, "source"} == set(typing.get_type_hints(View))


EXAMPLES = 5  # of each dialect: the views differ from one to the next
BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_what_is_handed_over_and_what_is_dropped_is_all_that_there_is(
    dialect: DeclaredDialect,
) -> None:
    """Over every dialect, for every server and for any view at all."""
    data = PromptData(tool_metadata=TOOLS)
    declared = [get_server(name, dialect.name) for name in server_names()]

    @settings(max_examples=EXAMPLES)
    @given(streams(dialect), st.lists(views, min_size=1, max_size=6))
    def law(text: str, drawn: list[View]) -> None:
        for reader in [
            *declared,
            *(ServerReader(Server("any", "", view), None, "") for view in drawn),
        ]:
            opened = reader.prefill("")
            parser = parser_for(reader, dialect, data, opened)
            result = read_to_end(parser, [parser.feed_text(text)])
            check(reader.reading(result, parser, BY_NAME, opened), text)

    law()


@pytest.mark.parametrize("server", all_servers(), ids=lambda server: server.name)
def test_a_call_that_a_server_drops_is_said_to_be_delivered_by_none(server: Server) -> None:
    """Ollama dropped a call that lacks a closer, beside a finding that called it delivered."""
    text = f"<tool_call>{FUNCTION}</tool_call><tool_call>{FUNCTION.replace('</parameter>', '')}"
    for parser in [f"{server.name}:{each.name}" for each in server.parsers] or [server.name]:
        reader = get_server(parser, "qwen3-coder")
        for written in (text, text + "</tool_call>", text.partition("<tool_call>")[2]):
            reading = pg.parse(written, "qwen3-coder", server=parser)
            assert isinstance(reading, ServerReading) and reader.server is server
            check(reading, written)


def test_a_finding_on_a_delivered_call_stays_beside_a_dropped_one() -> None:
    """Ollama delivers an unclosed call before one of a tool that nobody offered, which it drops."""
    calls = '<tool_call>\n{"name": "list_files", "arguments": {}}\n'
    text = calls + '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>'
    reading = pg.parse(text, "hermes", tools=TOOLS, server="ollama")
    assert [call.name for call in reading.tool_calls] == ["list_files"]
    codes = [found.code for found in reading.findings]
    assert "missing-closer" in codes and "server-drops" in codes


def test_the_lossless_view_is_our_own_reading() -> None:
    reading = pg.parse(f"A {HERMES} B", "hermes", server="smolagents")
    assert isinstance(reading, ServerReading)
    assert reading.events == reading.lossless.events == pg.parse(f"A {HERMES} B", "hermes").events


# what is asked for


def test_an_unknown_server_is_an_error_that_lists_the_known() -> None:
    said = r"unknown server 'vlm'; did you mean 'vllm'\?"
    with pytest.raises(UnknownNameError, match=said):
        pg.parse("x", "hermes", server="vlm")


def test_an_unknown_parser_falls_back_on_the_dialects_and_lists_the_known() -> None:
    reading = pg.parse(f"{HERMES} B", "hermes", server="vllm:herms")
    assert isinstance(reading, ServerReading)
    assert (reading.server, reading.parser) == ("vllm", "hermes")
    (told,) = (found for found in reading.findings if found.code == "unknown-parser")
    assert told.message.startswith(
        "vllm has no parser 'herms': 'hermes' is used; did you mean 'hermes'?"
    )
    assert [event.text for event in reading.dropped] == [" B"]


@pytest.mark.parametrize(
    ("server", "dialect", "text"),
    [
        ("vllm", "openhands", "I do.<function=say>\n<parameter=a>\n1\n</parameter>\n</function>"),
        ("sglang", "sweagent", "I look.\n```\nls\n```\n"),
        ("roo", "hermes", f"A {HERMES} B"),
        ("aider", "hermes", f"A {HERMES} B"),
    ],
)
def test_a_dialect_that_no_parser_of_the_server_reads_is_text(
    server: str, dialect: str, text: str
) -> None:
    reading = pg.parse(text, dialect, server=server)
    assert isinstance(reading, ServerReading)
    assert (reading.content, reading.tool_calls) == (text, [])
    assert reading.lossless.tool_calls
    (told,) = reading.server_findings
    assert told.code == "no-parser"
    assert told.message.startswith(f"{server} ")
    assert told.message.endswith(f"no parser that reads {dialect}: calls are handed over as text")


@pytest.mark.parametrize("server", server_names())
def test_calls_that_a_server_has_read_are_handed_over_by_none_as_text(server: str) -> None:
    """They came out as a text that no model wrote: `say{"a":1}`."""
    call = {"index": 0, "id": "c", "function": {"name": "say", "arguments": '{"a":1}'}}
    recording = Recording("r", "native", (TextChunk("Well."), ToolCallChunk(call)))
    reading = server_view(recording, "native", server)
    assert (reading.content, [call.name for call in reading.tool_calls]) == ("Well.", ["say"])
    assert [found.code for found in reading.server_findings] == ["read-before"]
    # by what a dialect says of itself, whatever its name is
    other = server_view(recording, replace(DIALECT, name="gateway"), server)
    assert (other.content, other.tool_calls) == (reading.content, reading.tool_calls)
    assert [found.code for found in other.server_findings] == ["read-before"]


def test_a_dialect_of_which_no_view_is_declared_is_read_all_the_same_and_told() -> None:
    text = '<|channel|>commentary to=functions.say <|constrain|>json<|message|>{"a": 1}<|call|>'
    reading = pg.parse(text, "harmony", server="vllm")
    assert [call.name for call in reading.tool_calls] == ["say"]
    (told,) = reading.findings
    assert (told.code, told.severity, told.where) == ("usual-parser", "warning", "harmony")
    assert told.message.startswith("it is not known how vllm reads harmony: ")
    assert isinstance(reading, ServerReading)
    assert reading.assumed
    known = pg.parse(HERMES, "hermes", server="vllm")
    assert isinstance(known, ServerReading)
    assert not known.assumed
    assert not pg.parse(
        text, "harmony", server="smolagents"
    ).findings  # it has one reading, for all


@pytest.mark.parametrize(
    ("server", "dialect", "text", "told"),
    [
        (  # vllm#49248: the real parser delivers search({})
            "vllm:glm47",
            "glm",
            "<tool_call>search<arg_key>query</arg_key>days left</arg_value></tool_call>",
            "mended-opener",
        ),
        (  # vllm#5649: a call named "["
            "vllm:mistral",
            "mistral",
            "[TOOL_CALLS][{'name': 'say', 'arguments': {'a': 1}}]",
            "relaxed-json",
        ),
        (  # vllm#58227: a call is read out of the reasoning
            "vllm:qwen3_coder",
            "qwen3-coder",
            f"<think>Write <tool_call> first.</think><tool_call>{FUNCTION}</tool_call>",
            "an opener in reasoning",
        ),
        (  # vllm#17790: the whole reply is content
            "vllm:hermes",
            "hermes",
            HERMES.replace("}\n</", '}\n{"name": "say", "arguments": {}}\n</'),
            "missing-closer",
        ),
        (  # a message to a tool without a call is an error, one to anybody else content
            "ollama:glimmer",
            "muse",
            " to=get_weather<|message|>hi",
            "a message to a tool, if it was offered",
        ),
        ("vllm:hermes", "hermes", HERMES.removesuffix("</tool_call>"), ""),
        ("vllm:glm47", "glm", GLM, ""),
        ("vllm:hermes", "hermes", "<tool_call>{'name': 'say', 'arguments': {}}</tool_call>", ""),
    ],
)
def test_what_only_our_reading_mends_is_not_claimed_of_a_server(
    server: str, dialect: str, text: str, told: str
) -> None:
    reading = pg.parse(text, dialect, server=server)
    assert isinstance(reading, ServerReading)
    said = [found.message for found in reading.doubts]
    assert len(said) == bool(told)
    for message in said:
        assert message.startswith(f"no run has shown how {server} reads such a reply (")
        assert told in message
    assert reading.assumed == bool(told)


def test_without_its_section_a_call_is_text_to_who_looks_for_the_section() -> None:
    """ollama#16686 and llama.cpp#24658: real parsers hand all of it over as content."""
    for server, dialect, text in (
        ("sglang:qwen3_coder", "qwen3-coder", f"I look.\n\n{FUNCTION}\n</tool_call>"),
        (
            "vllm:kimi_k2",
            "kimi-k2",
            "<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{}"
            "<|tool_call_end|>",
        ),
    ):
        assert pg.parse(text, dialect).tool_calls
        reading = pg.parse(text, dialect, server=server)
        assert (reading.tool_calls, "get_weather" in reading.content) == ([], True)


@pytest.mark.parametrize(
    ("server", "dialect", "text", "other"),
    [
        ("vllm:hermes", "qwen3-coder", f"A <tool_call>{FUNCTION}</tool_call> B", "qwen3_coder"),
        ("sglang:qwen25", "glm", f"A {GLM}", "glm"),
        ("vllm:mistral", "kimi-k2", f"A {KIMI} B", "kimi_k2"),
        ("sglang:llama3", "hermes", f"A {HERMES[:-20]}", "qwen25"),
    ],
)
def test_a_named_parser_leaves_a_dialect_of_another_family_as_it_stands(
    server: str, dialect: str, text: str, other: str
) -> None:
    reading = pg.parse(text, dialect, [WEATHER], server=server)
    assert isinstance(reading, ServerReading)
    assert (reading.content, reading.tool_calls, reading.dropped) == (text, [], [])
    (told,) = reading.server_findings
    assert (told.code, told.severity, told.where) == ("unread-dialect", "warning", dialect)
    name = server.partition(":")[0]
    assert told.message.endswith(f"handed over as text; {name}:{other} reads it")


@pytest.mark.parametrize(
    ("server", "dialect", "text"),
    [
        ("vllm:hermes", "exaone-4", HERMES),
        ("vllm:granite4", "hermes", HERMES),
        ("vllm:mimo", "mimo", f"<tool_call>{FUNCTION}</tool_call>"),
        ("sglang:poolside_v1", "glm", GLM),
    ],
)
def test_a_named_parser_reads_every_dialect_that_shares_its_form(
    server: str, dialect: str, text: str
) -> None:
    reading = pg.parse(text, dialect, [WEATHER], server=server)
    assert isinstance(reading, ServerReading)
    assert [(call.name, call.arguments) for call in reading.tool_calls] == CALL
    assert not reading.server_findings


def test_a_value_that_may_be_null_is_null_where_the_server_makes_it_so() -> None:
    properties = {"city": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    tool = {"name": "get_weather", "input_schema": {"type": "object", "properties": properties}}
    for server, value in (("sglang", None), ("vllm", "Prague")):
        reading = pg.parse(MINIMAX, "minimax-m2", [tool], server=server)
        assert [call.arguments for call in reading.tool_calls] == [{"city": value}]


def test_texts_inside_of_an_object_are_arguments_where_the_server_looks_for_texts_alone() -> None:
    text = GEMMA.replace("n:2", "n:{a:1,word:<escape>far<escape>}")
    reading = pg.parse(text, "functiongemma", [WEATHER], server="vllm")
    assert [c.arguments for c in reading.tool_calls] == [{"city": "Prague", "word": "far"}]


def test_a_list_that_is_written_as_json_is_text_where_the_server_reads_elements() -> None:
    tags = {"tags": {"type": "array", "items": {"type": "string"}}}
    tool = {"name": "f", "input_schema": {"type": "object", "properties": tags}}
    mark = "]<]minimax[>["
    parameter = f'{mark}<tags>["a"]{mark}</tags>'
    invoke = f'{mark}<invoke name="f">{parameter}{mark}</invoke>'
    text = f"{mark}<tool_call>\n{invoke}\n{mark}</tool_call>"
    for server, value in (("sglang", '["a"]'), ("vllm", ["a"])):
        reading = pg.parse(text, "minimax-m3", [tool], server=server)
        assert [call.arguments for call in reading.tool_calls] == [{"tags": value}]


def test_what_becomes_of_a_parser_that_raises_is_that_nothing_is_handed_over() -> None:
    reading = pg.parse(INTERN.replace("}", "", 1), "internlm2", [WEATHER], server="vllm")
    assert (reading.content, reading.tool_calls) == ("", [])


def test_a_parsers_file_is_another_name_of_it() -> None:
    assert get_server("vllm:llama", "hermes").name == "vllm:llama3_json"
    assert not get_server("vllm:llama", "hermes").unknown_parser


def test_the_switches_of_a_server_set_how_the_reply_is_read() -> None:
    text = "<tool_call><function=say><parameter=a> &lt;b&gt; </parameter></function></tool_call>"
    reading = pg.parse(text, "qwen3-coder", server="ai-sdk-parser")
    assert reading.tool_calls[0].arguments == {"a": "<b>"}


# the declarations


@pytest.mark.parametrize("server", all_servers(), ids=lambda server: server.name)
def test_a_declaration_names_its_parsers_and_their_sources(server: Server) -> None:
    names = [name for parser in server.parsers for name in (parser.name, *parser.aliases)]
    read = [dialect for parser in server.parsers for dialect in parser.default_for]
    assert len(names) == len(set(names))
    assert len(read) == len(set(read))
    shared = [dialect for parser in server.parsers for dialect in parser.also_reads]
    assert {*read, *shared} <= set(pg.dialect_names())
    assert all(parser.default_for or parser.also_reads for parser in server.parsers)
    for view in (server.view, *(parser.view for parser in server.parsers)):
        assert view.source or view == View()


# events


def test_markup_has_a_role_and_does_not_merge_over_it() -> None:
    text = "<think>why</think><tool_call><function=say>\n</function></tool_call>"
    events = pg.parse(text, "qwen3-coder").events
    markup = [(e.role, e.text) for e in events if isinstance(e, MarkupEvent)]
    assert markup == [
        ("reasoning", "<think>"),
        ("reasoning", "</think>"),
        ("section", "<tool_call>"),
        ("call", "<function="),
        ("call", ">\n</function>"),
        ("section", "</tool_call>"),
    ]


def test_a_failed_call_reaches_up_to_its_closer() -> None:
    text = "A <tool_call>{'name': !} oh </tool_call> B"
    events = pg.parse(text, "hermes").events
    found = [(segment.kind, segment.span) for segment in segments(events)]
    assert found == [("text", Span(0, 2)), ("failed", Span(2, 40)), ("text", Span(40, 42))]


def test_a_cut_argument_is_told_from_a_whole_one() -> None:
    start = '<tool_call>{"name": "say", "arguments": {"a": 1'
    (cut,) = pg.parse(start, "hermes").aborted
    (whole,) = pg.parse(start + "}", "hermes").aborted
    assert (whole.argument_open, cut.argument_open) == (False, True)


@pytest.mark.parametrize(
    ("end", "is_open"), [("", True), ("</arg_v", True), ("</arg_value>\n", False)]
)
def test_an_argument_is_closed_by_a_closer_at_the_very_end(end: str, is_open: bool) -> None:
    """Nothing stands behind the closer yet that would show that it is no part of the value."""
    text = f"<tool_call>say<arg_key>a</arg_key><arg_value>x{end}"
    (call,) = pg.parse(text, "glm").aborted
    assert call.argument_open is is_open
    handed = pg.parse(text, "glm", server="vllm")
    assert [call.arguments for call in handed.tool_calls] == [{} if is_open else {"a": "x"}]


def test_an_opener_without_a_call_is_told() -> None:
    events = pg.parse("See <|tool_calls_section_begin|> there", "kimi-k2").events
    told = [e.span for e in events if isinstance(e, FindingEvent)]
    assert told == [Span(4, 4)]


def test_a_named_parser_is_taken_to_read_a_dialect_of_the_users_own() -> None:
    """No declaration knows who reads it: that is said, and nothing is called misread."""
    own = DeclaredDialect(name="harbour", syntax=pg.Syntax(call="!{call:json}"), rules="Hi.")
    found = pg.parse('!{"name": "f", "arguments": {}}', own, server="vllm:hermes")
    assert [call.name for call in found.tool_calls] == ["f"]
    assert isinstance(found, ServerReading) and found.assumed
    assert [each.code for each in found.server_findings] == ["usual-parser"]


@pytest.mark.parametrize(
    ("server", "dialect", "text", "arguments", "told"),
    [
        (  # its arguments stand in one body
            "vllm:functiongemma",
            "functiongemma",
            "é<start_function_call>call:f{a:[1],b:<escape>x<escape>}<end_function_call> ok",
            {"b": "x"},
            ["vllm:functiongemma drops the argument 'a'", "vllm:functiongemma drops text after"],
        ),
        (  # an empty one has no characters that could be dropped
            "vllm:minicpm5",
            "minicpm5",
            '<function name="write_file"><param name="days"></param><param name="path">a</param>'
            '<param name="tides">high</param></function>',
            {"path": "a"},
            ["vllm:minicpm5 drops the argument 'tides'", "vllm:minicpm5 drops the argument 'days'"],
        ),
    ],
)
def test_an_argument_that_is_left_out_is_told_at_its_call(
    server: str, dialect: str, text: str, arguments: dict[str, object], told: list[str]
) -> None:
    reading = pg.parse(text, dialect=dialect, server=server, tools=TOOLS)
    assert isinstance(reading, ServerReading)
    check(reading, text)
    assert [call.arguments for call in reading.tool_calls] == [arguments]
    messages = [event.finding.message for event in reading.dropped]
    assert len(messages) == len(told)
    assert all(message.startswith(start) for message, start in zip(messages, told, strict=True))
