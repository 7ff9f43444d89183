"""The laws of the house, each over every registered dialect: a new one is tested at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import (
    DIALECTS,
    GENERAL,
    TOOLS,
    calls,
    declared_literals,
    held,
    nearly_markers,
    own_markers,
    prose,
    streams,
)

from playground.dialects import get_dialect
from playground.dialects.checking import check_tool_call
from playground.dialects.declared import DeclaredDialect
from playground.dialects.prompts import sample_arguments
from playground.dialects.reading import parse
from playground.dialects.rendering import message_text
from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    merged,
    owned_text,
)
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData, TaskConfig
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.parsing.parser import SyntaxParser
from playground.parsing.result import gather
from playground.parsing.syntax import Hole
from playground.parsing.values import read_value, same
from playground.plugins.own_dialects.laws.examples import bodies_of_other_types
from playground.questions.experiments import read_recording
from playground.questions.timeline import replay
from playground.recordings.recording import Recording, TextChunk

each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
each_general = pytest.mark.parametrize("dialect", GENERAL, ids=lambda dialect: dialect.name)
EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "10"))


def read(dialect: DeclaredDialect, pieces: list[bytes], prefill: str = "") -> list[Event]:
    parser = dialect.create_parser(PromptData(tool_metadata=TOOLS), prefill)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.finish()])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    at = sorted({place % (len(data) + 1) for place in places})
    edges = [0, *at, len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:], strict=False)]


@each_dialect
def test_law_1_any_chunking_gives_the_same_events(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        stream = data.draw(streams(dialect)).encode()
        places = data.draw(st.lists(st.integers(0, 10_000), max_size=12))
        prefill = data.draw(st.sampled_from(["", *(tag.open for tag in dialect.reasoning)]))
        whole = read(dialect, [stream], prefill)
        assert read(dialect, cut(stream, places), prefill) == whole
        assert read(dialect, [stream[i : i + 1] for i in range(len(stream))], prefill) == whole

    law()


@each_dialect
def test_law_1_holds_for_runs_that_are_longer_than_what_is_held(dialect: DeclaredDialect) -> None:
    """A marker again and again, in a name, a key or a value: a limit is met at another place by
    each cutting, and what is told has to be the same."""
    arguments = dialect.syntax.sample_texts or {"path": "a", "content": "one two"}
    call = ToolCallPart("call_1", dialect.syntax.name or "write_file", {"path": "a", **arguments})
    stream = dialect.format_tool_call(call, TOOLS)
    places = [stream.find(text) for text in (call.tool_name, *arguments, *arguments.values())]
    markers = {text.strip() for text in declared_literals(dialect)}
    for run in sorted(markers - {""}, key=len)[-4:]:
        for place in places:
            data = f"{stream[: place + 1]}{run * (300 // len(run) + 1)}{stream[place + 1 :]}"
            sized = [data[at : at + 50].encode() for at in range(0, len(data), 50)]
            assert read(dialect, sized) == read(dialect, [data.encode()]), (run, place)


@each_dialect
def test_law_1_holds_for_a_long_gap_before_a_call(dialect: DeclaredDialect) -> None:
    """More blanks than a marker has before it: which of them is its first was another one where the
    gap came in pieces."""
    arguments = dialect.syntax.sample_texts or {"path": "a"}
    call = ToolCallPart("call_1", dialect.syntax.name or "write_file", arguments)
    written = dialect.format_tool_call(call, TOOLS).strip()
    for prefill in ("", *(tag.open for tag in dialect.reasoning)):
        for gap in (66, 71, 140):
            stream = f"x{' ' * gap}{written}".encode()
            whole = read(dialect, [stream], prefill)
            for size in (1, 7, 65):
                pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
                assert read(dialect, pieces, prefill) == whole, (prefill, gap, size)


@each_dialect
def test_law_1_holds_for_bytes_that_are_no_utf8(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        held = ["", *(text[:-1] for text in own_markers(dialect)[:1]), "Well <"]
        prefill = data.draw(st.sampled_from(held))  # half a marker may be left of it
        fragment = st.binary(max_size=6) | st.sampled_from([b"<", b"{", "é".encode()[:1], b"a\xff"])
        pieces = data.draw(st.lists(fragment))
        whole = read(dialect, [b"".join(pieces)], prefill)
        assert read(dialect, pieces, prefill) == whole
        stream = b"".join(pieces).decode("utf-8", "surrogateescape")
        assert_tiles(whole, len(stream))
        shown = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in stream)
        assert "".join(map(owned_text, whole)) == shown

    law()


@each_dialect
def test_law_1_holds_for_reasoning_that_comes_apart(dialect: DeclaredDialect) -> None:
    """Of the reasoning that an API keeps apart each half surrogate is one finding, too."""

    @settings(max_examples=EXAMPLES // 5 + 1)
    @given(st.lists(st.sampled_from(["\ud800", "\udfff", "a", "é", "<"]), min_size=1))
    @example(["\ud800", "a"])
    def law(pieces: list[str]) -> None:
        text = "".join(pieces)
        parser = dialect.create_parser(PromptData())
        events = merged([*parser.feed_reasoning(text), *parser.finish()])
        assert_tiles(events, len(text))
        assert "".join(map(owned_text, events)) == re.sub("[\ud800-\udfff]", "\ufffd", text)
        found = [event.span.start for event in events if isinstance(event, FindingEvent)]
        assert found == [place for place, char in enumerate(text) if "\ud800" <= char <= "\udfff"]

    law()


def test_law_4_a_reply_of_bytes_that_are_no_utf8_takes_linear_time() -> None:
    """Each of them is a finding, at which the text was cut in two: what was left was copied."""

    def seconds(size: int) -> float:
        parser = get_dialect("native").create_parser(PromptData())
        began = time.process_time()
        parser.feed_reasoning("\ud800" * size)
        parser.feed(b"\xff" * size)
        return time.process_time() - began

    seconds(100)
    # the least of three: the collector may look at everything in the midst of one
    least, most = (min(seconds(size) for _ in range(3)) for size in (4_000, 16_000))
    assert most < 10 * least + 0.2  # it was 16 times as long, and 1.2 s


@pytest.mark.parametrize(
    "value",
    ['["' + '\\"' * 6_000 + "\\", "{" + ":a" * 3_000],
    ids=["a text without an end", "colons"],
)
def test_law_4_a_value_that_is_not_quite_json_takes_linear_time(value: str) -> None:
    """What never ends was looked for again from each of its characters on."""

    def seconds() -> float:
        began = time.process_time()
        assert read_value(value, {"type": "array"}) == (value, "")
        return time.process_time() - began

    # the least of three: the first compiles, and the collector may look at everything in one
    assert min(seconds() for _ in range(3)) < 0.2  # it was 0.4 and 1.2 s


@each_dialect
def test_law_1_holds_for_text_that_is_no_utf8_however_it_comes(dialect: DeclaredDialect) -> None:
    """Half surrogates are one finding each, whether text is given whole, replayed or compared."""

    @settings(max_examples=EXAMPLES // 50 + 1)
    @given(st.lists(streams(dialect) | st.sampled_from(["\ud800", "a\udfffb"]), max_size=4))
    def law(pieces: list[str]) -> None:
        whole = parse("".join(pieces), dialect, TOOLS)
        chunks = tuple(TextChunk(piece) for piece in pieces)
        recording = Recording("halves", dialect.name, chunks)
        assert replay(recording, dialect, TOOLS).result == whole
        assert read_recording(recording, dialect, TOOLS) == whole

    law()


def assert_tiles(events: list[Event], length: int) -> None:
    position = 0
    for event in events:
        assert event.span.start == position, event
        assert event.span.stop >= position, event
        position = event.span.stop
    assert position == length


@each_dialect
def test_law_2_spans_tile_the_stream_and_hold_its_text(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        stream = data.draw(streams(dialect))
        events = read(dialect, [stream.encode()])
        assert_tiles(events, len(stream))
        for event in events:
            if hasattr(event, "text"):
                assert event.text == stream[event.span.start : event.span.stop]

    law()


@each_dialect
def test_law_3_a_call_is_carried_or_the_argument_is_named(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(calls(dialect))
    def law(call: ToolCallPart) -> None:
        found = check_tool_call(dialect, call, TOOLS)
        result = parse(dialect.format_tool_call(call, TOOLS), dialect, TOOLS)
        carried = (
            [c.name for c in result.tool_calls] == [call.tool_name]
            and same(result.tool_calls[0].arguments, call.args)
            and not result.content.strip()
        )
        assert carried or [f.code for f in found] == ["cannot-carry"] * len(found) != []
        assert not (carried and found)
        for finding in found:
            assert any(f"argument {key}" in finding.where for key in [*call.args, "("])

    law()


@each_general
def test_law_3_plain_typed_values_are_always_carried(dialect: DeclaredDialect) -> None:
    args = {
        "path": "src/ä.py",
        "content": 'def f(x):\n    return {"a": [x, "<b>"]}\n',
        "mode": 10**22,
        "ratio": 1.10,
        "force": False,
        "tags": ["", "3", "true"],
        "meta": {"deep": {"null": None}},
        "note": None,
    }
    call = ToolCallPart("call_1", "write_file", held(dialect, args))
    assert check_tool_call(dialect, call, TOOLS) == []


@pytest.mark.parametrize(
    "dialect",
    [d for d in GENERAL if d.syntax.param_template and d.syntax.call_template.after],
    ids=lambda dialect: dialect.name,
)
def test_law_3_a_value_holds_the_text_of_its_own_closer(dialect: DeclaredDialect) -> None:
    """Where the call has a closer too, a value's own counts only before what may follow it."""
    assert dialect.syntax.param_template
    after = dialect.syntax.param_template.after
    closer = "".join(piece if isinstance(piece, str) else "content" for piece in after)
    call = ToolCallPart("call_1", "write_file", {"path": "a", "content": f"one{closer}two"})
    assert check_tool_call(dialect, call, TOOLS) == []


IDS = [["toolu_Q", "toolu_R"], ["toolu_Q"], ["functions.write_file:9"], ["toolu_S"]]


@each_dialect
def test_law_3_a_result_has_the_id_that_its_call_has(dialect: DeclaredDialect) -> None:
    """The second reply begins its ids anew, as some providers do."""
    name = dialect.syntax.name or "write_file"
    args = dialect.syntax.sample_texts or {"path": "a", "content": "b"}
    messages, replied = [Message("user", (TextPart("go"),))], IDS
    if dialect.syntax.joined:  # calls of one reply become one
        replied = [ids[:1] for ids in IDS]
    for ids in replied:
        call_parts = [ToolCallPart(each, name, dict(args)) for each in ids]
        results = [ToolResultPart(each, name, f"for {each}") for each in ids]
        messages += [Message("assistant", (*call_parts,)), Message("tool", (*results,))]
    items = dialect.format_messages(PromptData(messages=messages, tool_metadata=TOOLS))
    if dialect.is_native_toolcalling():
        written = [call["id"] for item in items for call in item.get("tool_calls") or ()]
        assert written == [item["tool_call_id"] for item in items if item["role"] == "tool"]
        return
    replies = [item["content"] for item in items if item["role"] == "assistant"]
    read_ids = [call.call_id for text in replies for call in parse(text, dialect, TOOLS).tool_calls]
    shown = "\n".join(message_text(item) for item in items[1:])
    for call_id, sent_id in zip(read_ids, sum(replied, []), strict=True):
        result = dialect.format_tool_result(ToolResultPart(call_id, name, f"for {sent_id}"))
        assert shown.find(result) >= 0, result
        shown = shown[shown.find(result) :]
    if Hole("id") in dialect.syntax.call_template.before or dialect.syntax.shape.id:
        assert read_ids == sum(IDS, [])
    if dialect.name == "kimi-k2":  # counted over the conversation, as Moonshot's guide has it
        assert read_ids == [f"functions.write_file:{number}" for number in (0, 1, 2, 9, 10)]


def test_law_3_calls_that_share_an_id_get_their_own_and_their_own_results() -> None:
    """The results of two calls with one id stood under the last call's; a foreign id got the id
    that a later call had."""
    dialect = get_dialect("kimi-k2")
    pairs = (("x", "f"), ("x", "g"), ("", "f"), ("", "f"), ("functions.f:0", "f"))
    shown = []
    for asked in permutations(pairs[:2]):
        rounds = [asked, pairs[2:4], pairs[4:], pairs[4:], (("functions.f:" + "9" * 20, "f"),)]
        messages = [Message("user", (TextPart("go"),))]
        for number, round_ in enumerate(rounds):
            results = [ToolResultPart(each, name, f"{number} {name}") for each, name in round_]
            messages += [
                Message("assistant", tuple(ToolCallPart(each, name, {}) for each, name in round_)),
                Message("tool", tuple(reversed(results) if number == 0 else results)),
            ]
        items = dialect.format_messages(PromptData(messages=messages))
        shown.append("\n".join(map(message_text, items[1:])))
        numbers = (0, 1, 2, 3, 4, 5) if asked == pairs[:2] else (0, 1, 2, 3, 0, 4)
        calls_made = zip(sum(rounds[:4], ()), numbers, strict=True)
        ids = [f"functions.{name}:{number}" for (_, name), number in calls_made]
        for each in [*ids, "functions.f:" + "9" * 20]:
            assert shown[-1].count(f"{each}<|tool_call_argument_begin|>") == 1, each
            assert shown[-1].count(f"## Return of {each}\n") == 1, each
        assert f"## Return of {ids[0]}\n0 {asked[0][1]}" in shown[-1]
        assert f"## Return of {ids[1]}\n0 {asked[1][1]}" in shown[-1]


@each_general
def test_law_4_the_window_stays_small_whatever_the_value(dialect: DeclaredDialect) -> None:
    """What is claimed is forgotten at the next chunk, and what is held is at most a marker."""
    value = "if a < b: ['x', \"y\"] </ \n" * 30
    call = ToolCallPart("call_1", "write_file", {"path": "a", "content": value})
    data = dialect.format_tool_call(call, TOOLS)
    parser = dialect.create_parser(PromptData(tool_metadata=TOOLS))
    assert isinstance(parser, SyntaxParser)
    windows = []
    for place in range(0, len(data), 4):
        parser.feed_text(data[place : place + 4])
        windows.append(len(parser._engine.scanner.text))
    assert max(windows) < 400 < len(data)


@each_dialect
def test_law_4_memory_is_a_few_times_the_open_argument(dialect: DeclaredDialect) -> None:
    """Its text and its value have to be given at the end; all pieces of it were kept beside them,
    and once more what had passed by: up to seven times its characters."""
    value = "TheTideIsHigh." * 4_000
    arguments = {"path": "a", "content": value}
    if dialect.syntax.text_keys:
        arguments = dialect.syntax.sample_texts | {dialect.syntax.text_keys[-1]: value + "\n"}
    call = ToolCallPart("c", dialect.syntax.name or "write_file", arguments)
    data = dialect.format_tool_call(call, TOOLS).encode()
    pieces = [data[at : at + 64] for at in range(0, len(data), 64)]
    read(dialect, pieces)  # what is made once
    parser = dialect.create_parser(PromptData(tool_metadata=TOOLS))
    assert most_memory(parser.feed, pieces, parser.finish) < 4 * len(data)


def test_law_4_memory_is_a_few_times_a_native_argument() -> None:
    value = json.dumps({"path": "a", "content": "The tide is high.\n" * 5_000})
    deltas = [{"index": 0, "function": {"name": "write_file"}}]
    deltas += [
        {"index": 0, "function": {"arguments": value[i : i + 16]}} for i in range(0, len(value), 16)
    ]
    parser = get_dialect("native").create_parser(PromptData(tool_metadata=TOOLS))
    assert most_memory(parser.feed_tool_call_delta, deltas, parser.finish) < 4 * len(value)


def most_memory(
    feed: Callable[[Any], list[Event]], pieces: Sequence[Any], finish: Callable[[], list[Event]]
) -> int:
    """The most bytes that are held while pieces are read, their events forgotten at once."""
    tracemalloc.start()
    try:
        for piece in pieces:
            feed(piece)
        finish()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_dialect
def test_law_5_no_bytes_at_all_make_a_parser_raise(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        stream = data.draw(streams(dialect)).encode() + data.draw(st.binary(max_size=30))
        events = read(dialect, [stream])
        started = sum(isinstance(event, CallStartedEvent) for event in events)
        ended = sum(isinstance(event, CallEndedEvent | CallAbortedEvent) for event in events)
        assert started == ended

    law()


@each_dialect
def test_law_5_hostile_runs_end_in_events(dialect: DeclaredDialect) -> None:
    call = dialect.format_tool_call(ToolCallPart("call_1", "write_file", {"meta": {}}), TOOLS)
    for text in ("[" * 5_000, "<" * 100_000, '{"a":' * 5_000, "`" * 10_000):
        for stream in (text, call.replace("{}", text, 1)):
            assert_tiles(read(dialect, [stream.encode()]), len(stream))


@each_dialect
def test_law_5_a_body_of_another_type_than_an_object_is_read(dialect: DeclaredDialect) -> None:
    """JSON is valid that is no object: a list, a text, a number, a bool, null."""
    for text in bodies_of_other_types(dialect.syntax):
        for stream in (text, f"So:\n{text}\nDone."):
            assert_tiles(read(dialect, [stream.encode()]), len(stream))


@each_dialect
def test_law_6_a_call_cut_off_is_never_delivered_changed(dialect: DeclaredDialect) -> None:
    @settings(max_examples=EXAMPLES)
    @given(calls(dialect), st.integers(0, 10_000))
    def law(call: ToolCallPart, place: int) -> None:
        stream = dialect.format_tool_call(call, TOOLS)
        if check_tool_call(dialect, call, TOOLS):
            return
        result = gather(read(dialect, cut(stream.encode("utf-8", "surrogatepass"), [place])[:1]))
        if "open-ended" in [finding.code for finding in result.findings]:
            return  # nothing closes such a call, and the finding says so
        for read_call in result.tool_calls:
            assert same(read_call.arguments, call.args)

    law()


@each_general
def test_law_6_the_end_inside_a_call_aborts_it(dialect: DeclaredDialect) -> None:
    call = ToolCallPart("call_1", "write_file", {"path": "a.py", "content": "one two three"})
    stream = dialect.format_tool_call(call, TOOLS)
    middle = (stream.index(call.tool_name) + len(call.tool_name) + len(stream)) // 2
    stop = stream.index("two") if "two" in stream else middle  # a notation may encode its texts
    result = parse(stream[:stop], dialect, TOOLS)
    assert result.tool_calls == []
    assert [aborted.reason for aborted in result.aborted] == ["truncated-call"]
    assert result.aborted[0].name == "write_file"
    # as it is written: a notation may escape the blank
    begin = stream.index("one") if "one" in stream else stop - 1
    assert stream[begin:stop] in "".join(text for _, text in result.aborted[0].raw)
    assert "truncated-call" in [finding.code for finding in result.findings]


@each_general
def test_law_7_every_example_in_the_prompt_is_read_back(dialect: DeclaredDialect) -> None:
    example = ToolExample(explanation="Write two lines.", parameters={"path": "a", "mode": 420})
    tools = [TOOL_WITH_EXAMPLE.model_copy(update={"examples": (example,)}), *TOOLS[1:]]
    prompt_data = PromptData(tool_metadata=tools)
    system = dialect.format_system_prompt(prompt_data)["content"][0]["text"]
    for tool in tools:
        for arguments in (sample_arguments(tool), *(e.parameters for e in tool.examples)):
            text = dialect.format_example(tool.name, arguments, tool)
            result = parse(text, dialect, tools)
            assert [(c.name, c.arguments) for c in result.tool_calls] == [(tool.name, arguments)]
            assert result.findings == []
    template = dialect.syntax.call_template
    # a text that nothing closes is ended by a result alone
    closed = not template.body.startswith("text:") or template.after
    if closed and not dialect.is_native_toolcalling():
        shown = parse(system, dialect, tools)
        first = dialect.format_example(tools[0].name, sample_arguments(tools[0]), tools[0])
        assert first in system
        assert {c.name for c in shown.tool_calls} == {tools[0].name}


TOOL_WITH_EXAMPLE = ToolMetadata(
    name="write_file", description="Write a file.", input_schema=TOOLS[0].input_schema
)


@each_dialect
def test_law_8_rendering_and_parsing_are_deterministic(dialect: DeclaredDialect) -> None:
    call = ToolCallPart("call_1", "write_file", {"path": "a", "meta": {"b": 1, "a": 2}})
    prompt_data = PromptData(
        messages=[
            Message("user", (TextPart("hi"),)),
            Message("assistant", (TextPart("go"), call)),
        ],
        tool_metadata=TOOLS,
        task_config=TaskConfig(user_agent_prompt="You code."),
    )
    assert dialect.format_messages(prompt_data) == dialect.format_messages(prompt_data)


def test_law_8_the_bytes_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import json, playground as pg\n"
        "from playground.nouns.prompt_data import PromptData\n"
        "from playground.nouns.tools import ToolMetadata\n"
        "tools = [ToolMetadata(name=n, parameters={'a': 'x', 'b': 'y'}) for n in 'pqrs']\n"
        "for n in pg.dialect_names():\n"
        "    d = pg.get_dialect(n)\n"
        "    print(json.dumps(d.format_messages(PromptData(tool_metadata=tools))))\n"
        "    print(pg.parse('a <p>\\n<a>1</a>\\n</p> {\"', n, tools))\n"
        "from playground.parsing.grammars.texts import not_beginning_with\n"
        "print(not_beginning_with(('true', 'false', 'null', 'None')))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "77")
    }
    assert len(outputs) == 1


def test_law_9_the_core_is_light() -> None:
    program = (
        "import sys, playground as pg\n"
        "pg.parse('x', 'hermes')\n"
        "heavy = {'streamlit', 'litellm', 'pandas', 'plotly', 'numpy', 'rich', 'click'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


_PYTHON = {d.name for d in DIALECTS if d.syntax.notation.hole == "args:python"}
_RUNNING = _PYTHON | {d.name for d in DIALECTS if not d.syntax.notation.ends_itself}
_CLOSED = {d.name for d in DIALECTS if d.syntax.call_template.after}
# Nothing in the text of these says where a call ends but its own closer: without it, what follows
# is still the call's (or its last argument's), and the call is aborted or open-ended.
RUN_TO_THEIR_CLOSER = _RUNNING & _CLOSED
# These have no closer at all: their last argument is all text up to the next marker.
RUN_TO_THE_END = {"react", "llama3-code"}
# Of these only the section ends a call. One without arguments whose section is not closed is
# aborted before prose: that may be an argument whose opener was forgotten.
ENDED_BY_THEIR_SECTION = {"continue"}


@each_dialect
def test_law_10_only_what_is_declared_is_markup(dialect: DeclaredDialect) -> None:
    """The rule for white space: what touches a call or a marker may be the call's; white space
    between two words never is."""

    @settings(max_examples=EXAMPLES)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        texts = data.draw(st.lists(prose(dialect), min_size=2, max_size=4))
        call = data.draw(st.sampled_from(plain_calls(dialect)))
        written = data.draw(st.sampled_from([call, *without_closers(dialect, call)]))
        stream = f"\n{written}\n".join(texts)
        if dialect.opens_reasoning:
            stream = dialect.reasoning[0].close + stream
        result = parse(stream, dialect, TOOLS)
        if dialect.name not in RUN_TO_THE_END:
            aborted = result.aborted if dialect.name in ENDED_BY_THEIR_SECTION else ()
            assert all(not call.raw for call in aborted)
            assert len(result.tool_calls) + len(aborted) == len(texts) - 1
            expected = r"\s*".join(["", *(re.escape(text.strip()) for text in texts), ""])
            assert re.fullmatch(expected, result.content), stream
        else:
            assert result.content.strip() == texts[0].strip()

    law()


@each_dialect
def test_law_10_what_is_nearly_a_marker_is_prose(dialect: DeclaredDialect) -> None:
    """Also where a repair takes it for an opener: before what is no call's, it is none."""
    thought = dialect.reasoning[0].close if dialect.opens_reasoning else ""

    @settings(max_examples=EXAMPLES * 4)
    @given(nearly_markers(dialect))
    def law(text: str) -> None:
        result = parse(thought + text, dialect, TOOLS)
        assert (result.content, result.tool_calls, result.aborted) == (text, [], [])

    law()


# Of a separator that is a token of the model's, nobody would say that it is prose.
PUNCTUATED = [d for d in DIALECTS if re.search(r"^\s*[^\w\s]\s*$", d.syntax.separator)]


@pytest.mark.parametrize("dialect", PUNCTUATED, ids=lambda dialect: dialect.name)
def test_law_10_a_separator_before_prose_is_prose(dialect: DeclaredDialect) -> None:
    for call in plain_calls(dialect):
        text = f"{dialect.syntax.separator.strip()} and so on"
        result = parse(call + text, dialect, TOOLS)
        assert (len(result.tool_calls), result.content) == (1, text)


def test_law_10_names_the_forms_that_nothing_ends() -> None:
    assert (
        _RUNNING - _CLOSED == RUN_TO_THE_END | ENDED_BY_THEIR_SECTION
    )  # whose values have closers
    assert {"xml", "react", "hermes"} & RUN_TO_THEIR_CLOSER == {"xml"}


@cache
def plain_calls(dialect: DeclaredDialect) -> list[str]:
    """Calls as the dialect writes them, without anything in them that prose could look like."""
    name = dialect.syntax.name or "write_file"
    given = [dialect.syntax.sample_texts]
    if not dialect.syntax.text_keys:
        given = [{"path": "one", "content": "two\n"}, {"path": "one"}]
        given += [{}] if dialect.switches.misfits == "call" else []
    return [dialect.format_tool_call(ToolCallPart("call_1", name, args), TOOLS) for args in given]


def without_closers(dialect: DeclaredDialect, call: str) -> list[str]:
    """The call with the section's closer left out, with its own left out, and with neither."""
    syntax = dialect.syntax
    section = syntax.section_template
    outer = "".join(map(str, section.after)).strip() if section else ""
    own = [p for p in syntax.call_template.after if isinstance(p, str)]
    inner = "".join(own).strip() if dialect.name not in RUN_TO_THEIR_CLOSER else ""
    bare = call.rstrip().removesuffix(outer)
    if syntax.call_template.after and inner:
        inner_less = "".join(call.rpartition(inner)[::2])
        return [bare, inner_less, inner_less.rstrip().removesuffix(outer)]
    return [bare]


@pytest.mark.parametrize(
    "dialect", [d for d in DIALECTS if d.syntax.text_keys], ids=lambda dialect: dialect.name
)
def test_law_7_the_example_of_a_text_dialect_is_read_back(dialect: DeclaredDialect) -> None:
    name = dialect.syntax.name or TOOLS[0].name
    rules = dialect.format_dialect_rules(PromptData(tool_metadata=TOOLS))
    (call,) = parse(rules, dialect, TOOLS).tool_calls
    assert (call.name, call.arguments) == (name, dialect.syntax.sample_texts)
