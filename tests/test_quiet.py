"""A chunk that nothing can begin in passes by the walk: nobody can tell by what the parser says.

The walk alone (`fast_path=False`) is the oracle: the same events and the same state at every chunk.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import widened
from strategies import DIALECTS, TOOLS, own_markers, streams
from test_laws import EXAMPLES, cut

from playground.dialects.declared import DeclaredDialect
from playground.dialects.rendering import message_text
from playground.nouns.events import Event, TextEvent
from playground.nouns.messages import Message, ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.parsing import choice_point
from playground.parsing.choice_pattern import Begin, ChoicePattern, choice_pattern
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.parser import SyntaxParser
from playground.parsing.patterns import LINE_START, NO_NAME, SPACE
from playground.parsing.plan import Plan, compile_plan
from playground.parsing.result import gather
from playground.parsing.switches import Switches

each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
PLAIN = "The tide is high, and the berth is free. Nobody is due before noon.\n"
SWITCHES = (None, Switches(text_after_calls="finding", calls_in_reasoning="reasoning"))


GROUPS = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:[^()\[\]\\]|(?R))*\)", regex.DOTALL)


def parser(
    dialect: DeclaredDialect, prefill: str, switches: Switches | None, fast_path: bool
) -> SyntaxParser:
    return SyntaxParser(
        dialect.syntax,
        dialect.markers,
        switches or dialect.switches,
        TOOLS,
        native=dialect.is_native_toolcalling(),
        prefill=prefill,
        fast_path=fast_path,
    )


def assert_the_same(
    dialect: DeclaredDialect,
    pieces: list[bytes],
    prefill: str = "",
    switches: Switches | None = None,
) -> None:
    quick = parser(dialect, prefill, switches, fast_path=True)
    slow = parser(dialect, prefill, switches, fast_path=False)
    for piece in pieces:
        events = quick.feed(piece)
        assert events == slow.feed(piece)
        assert quick.state == slow.state
        assert all(event.text for event in events if isinstance(event, TextEvent))
    assert quick.finish() == slow.finish()
    assert quick.state == slow.state


def try_any_cutting(dialect: DeclaredDialect, examples: int) -> None:
    @settings(max_examples=examples)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        parts = st.one_of(
            streams(dialect), st.sampled_from([PLAIN, "a  b", "\n", *own_markers(dialect)])
        )
        stream = "".join(data.draw(st.lists(parts, max_size=4))).encode()
        for place in data.draw(st.lists(st.integers(0, len(stream)), max_size=2)):
            stream = stream[:place] + data.draw(st.binary(max_size=3)) + stream[place:]
        size = data.draw(st.sampled_from([1, 2, 3, 4, 7, 13]))
        places = data.draw(st.lists(st.integers(0, 10_000), max_size=12))
        prefill = data.draw(st.sampled_from(["", *(tag.open for tag in dialect.reasoning)]))
        switches = data.draw(st.sampled_from(SWITCHES))
        even = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert_the_same(dialect, even, prefill, switches)
        assert_the_same(dialect, cut(stream, places), prefill, switches)

    law()


@pytest.fixture(autouse=True)
def no_earlier_beginnings() -> None:
    """A cache that other tests have filled would be cleared in the middle of a comparison."""
    choice_point._decided_cache.clear()
    choice_point._undecided_cache.clear()


@each_dialect
def test_passing_by_changes_nothing(dialect: DeclaredDialect) -> None:
    try_any_cutting(dialect, -(-EXAMPLES // 10))  # each reads a stream four times


@pytest.mark.long
@each_dialect
def test_passing_by_changes_nothing_in_many_streams(dialect: DeclaredDialect) -> None:
    try_any_cutting(dialect, EXAMPLES)


@each_dialect
@pytest.mark.parametrize("size", widened([4, 1, 3, 16], at_once=1))
def test_a_long_argument_passes_by(dialect: DeclaredDialect, size: int) -> None:
    text = PLAIN * 4 + 'a "quote", a \\ and a <b> {c} [d] `e`\n' + "é" * 9 + PLAIN * 2
    arguments = {"path": "a", "content": text}
    if dialect.syntax.text_keys:
        arguments = dialect.syntax.sample_texts | {dialect.syntax.text_keys[-1]: text}
    call = ToolCallPart("c", dialect.syntax.name or "write_file", arguments)
    stream = f"{PLAIN}{dialect.format_tool_call(call, TOOLS)}\n{PLAIN}".encode()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    for switches in SWITCHES:
        assert_the_same(dialect, pieces, switches=switches)
        assert_the_same(dialect, [piece + b"\xff\xe9" for piece in pieces], switches=switches)


@each_dialect
def test_text_takes_the_same_path_as_bytes(dialect: DeclaredDialect) -> None:
    """Whoever feeds text, as pages and commands do, had each chunk walked: a seventh of the speed
    of bytes."""
    arguments = {"path": "a", "content": PLAIN * 3 + "é <b> {c}\n" + PLAIN}
    if dialect.syntax.text_keys:
        arguments = dialect.syntax.sample_texts | {dialect.syntax.text_keys[-1]: PLAIN * 4}
    call = ToolCallPart("c", dialect.syntax.name or "write_file", arguments)
    # a call in open reasoning is held back, and walked
    thought = dialect.reasoning[0].close if dialect.opens_reasoning else ""
    stream = f"{thought}{PLAIN}{dialect.format_tool_call(call, TOOLS)}\n{PLAIN}"
    pieces = [stream[at : at + 4] for at in range(0, len(stream), 4)]
    encoded = [piece.encode() for piece in pieces]
    assert work(dialect, pieces) == work(dialect, encoded)
    assert saved(dialect, encoded) > 2.5  # measured: 3.2 to 6.3
    by_text, by_bytes = (parser(dialect, "", None, fast_path=True) for _ in range(2))
    for piece, data in zip(pieces, encoded, strict=True):
        assert by_text.feed_text(piece) == by_bytes.feed(data)
        assert by_text.state == by_bytes.state
    assert by_text.finish() == by_bytes.finish()


@each_dialect
def test_half_surrogates_in_text_are_found_whatever_is_skipped(dialect: DeclaredDialect) -> None:
    """They cannot be encoded, and so take no fast path; the text around them does."""
    pieces = ["The ti", "de \ud83d is", " high", "\ud83d", "\ude00 and", "\ud83d\ude00.", " No"]
    quick, slow = (parser(dialect, "", None, fast_path=fast_path) for fast_path in (True, False))
    events: list[Event] = []
    for piece in pieces:
        here = quick.feed_text(piece)
        assert here == slow.feed_text(piece)
        assert quick.state == slow.state
        events += here
    end = quick.finish()
    assert end == slow.finish()
    result = gather([*events, *end])
    text = result.content + result.reasoning  # a reply may begin inside reasoning
    assert text == "The tide \ufffd is high\ufffd\ufffd and\ufffd\ufffd. No"
    codes = [found.code for found in result.findings]
    assert codes[:5] == ["lone-surrogate"] * 5
    assert "lone-surrogate" not in codes[5:]


def test_text_ends_a_character_of_which_bytes_are_missing() -> None:
    quick, slow = (
        parser(dialect_of("hermes"), "", None, fast_path=fast_path) for fast_path in (True, False)
    )
    for reader in (quick, slow):
        events = [*reader.feed(b"caf\xc3"), *reader.feed_text("e is "), *reader.feed_text("open")]
        result = gather([*events, *reader.finish()])
        assert result.content == "caf\ufffde is open"
        assert [found.code for found in result.findings] == ["invalid-utf8"]


@each_dialect
def test_prose_passes_by(dialect: DeclaredDialect) -> None:
    reader = parser(dialect, "", Switches(), fast_path=True)
    words = [f"{word} " for word in PLAIN.split(" ") * 20]
    walked = 0
    for word in words:
        walked += reader._feed_held is None
        reader.feed(word.encode())
    assert walked <= 1  # what looks like the beginning of a marker is held without a walk


def dialect_of(name: str) -> DeclaredDialect:
    return next(each for each in DIALECTS if each.name == name)


def work(dialect: DeclaredDialect, pieces: Sequence[bytes | str], fast_path: bool = True) -> int:
    """Count the function calls that pieces take: the same in every run, whatever the machine."""
    first, reader = (parser(dialect, "", None, fast_path) for _ in range(2))
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    for piece in pieces:  # what is made once is made here
        first.feed(piece) if isinstance(piece, bytes) else first.feed_text(piece)
    before = sys.getprofile()
    gc.disable()  # whose callbacks are calls too
    sys.setprofile(count)
    try:
        for piece in pieces:
            reader.feed(piece) if isinstance(piece, bytes) else reader.feed_text(piece)
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls


def saved(dialect: DeclaredDialect, pieces: Sequence[bytes]) -> float:
    """Return how many times more work the pieces take if each of them is walked."""
    return work(dialect, pieces, fast_path=False) / work(dialect, pieces)


STRINGS = ("hermes", "granite", "harmony", "native", "llama3-builtin", "gemma4", "functiongemma")


@pytest.mark.parametrize("name", STRINGS)
def test_what_ends_a_chunk_in_a_string_is_held_without_a_walk(name: str) -> None:
    """A backslash or the first character of a call's opener at each chunk's end took two walks:
    three times the time of the same argument cut elsewhere."""
    dialect = dialect_of(name)
    call = ToolCallPart("c", "write_file", {"path": "a", "content": "high\n<b> tide\n" * 40})
    pieces = re.split(r"(?<=[\\<])", dialect.format_tool_call(call, TOOLS))
    assert len(pieces) > 40
    assert saved(dialect, [piece.encode() for piece in pieces]) > 2  # measured: 2.2 to 4.1


@pytest.mark.parametrize("name", ["hermes", "harmony", "deepseek-v3", "kimi-k2", "native"])
def test_what_opens_and_closes_in_json_takes_no_walk(name: str) -> None:
    """Each quote and each bracket resumed the walk, though what a chunk opens and closes follows
    from the chunk: two fifths of the time of a small call."""
    call = ToolCallPart("c", "write_file", {"path": "a", "tags": [{"é": ["a", "b"]}] * 40})
    text = dialect_of(name).format_tool_call(call, TOOLS)
    for size in (1, 3, 4, 7):
        pieces = [text[at : at + size].encode() for at in range(0, len(text), size)]
        assert_the_same(dialect_of(name), pieces)
        assert saved(dialect_of(name), pieces) > 2.5  # measured: 2.8 to 6.8


ODD_JSON = (
    '{"a": "x\\"y\\\\", \'b\': [1, {"c": "}"}], "d": \'it"s\'} x',
    '{"a": [[], {}, ""], // a "b"\n "c": /* } */ "http://x"}} x',
    '{"a": "<tool_call>{", "b": "\\\\\\"]"}\n``` x',
    '"{\\"a\\": [1]}" x',
    '{"a": {"b": [}, "c"]} <x',
)


@pytest.mark.parametrize("json", ODD_JSON)
@pytest.mark.parametrize("name", ["hermes", "deepseek-v3", "qwen3-coder", "llama3-json"])
def test_odd_json_is_read_alike_whatever_passes_by(name: str, json: str) -> None:
    call = ToolCallPart("c", "write_file", {"path": "@"})
    text = dialect_of(name).format_tool_call(call, TOOLS)
    for stream in (text.replace('{"path": "@"}', json), text.replace("@", json)):
        for size in (1, 2, 3, 4, 5, 9, 17, 70):
            pieces = [stream[at : at + size].encode() for at in range(0, len(stream), size)]
            assert_the_same(dialect_of(name), pieces)


@each_dialect
def test_a_call_that_begins_anew_in_a_text_is_seen_at_the_same_piece(
    dialect: DeclaredDialect,
) -> None:
    """The walk aborts the first call at once; what passed by waited for what cannot change that."""
    if not dialect.syntax.sample_texts:  # a form of its own texts calls no tool
        call = ToolCallPart("c", "write_file", {"path": "a/b.txt", "content": "x = 1"})
        written = dialect.format_tool_call(call, TOOLS)
        place = written.find("/b.txt")  # a notation may encode its texts
        half = written[: place if place > 0 else written.index("write_file") + 16]
        for text in (half + written, f"{half}{written} Done."):
            for size in (1, 2, 3, 7):
                pieces = [text[at : at + size].encode() for at in range(0, len(text), size)]
                assert_the_same(dialect, pieces)


@pytest.mark.parametrize("name", ["deepseek-v3", "kimi-k2", "qwen3-coder", "glm"])
def test_a_marker_that_is_awaited_is_held_without_a_walk(name: str) -> None:
    """Between two calls the walk waits for what separates them: each piece of the next call's
    opener resumed it, to hold one piece more."""
    call = ToolCallPart("c", "write_file", {"path": "a"})
    calls = [Message("user"), Message("assistant", (call,) * 20)]
    data = PromptData(messages=calls, tool_metadata=list(TOOLS))
    text = message_text(dialect_of(name).render(data).messages[-1])
    pieces = [char.encode() for char in text]
    assert_the_same(dialect_of(name), pieces)
    assert saved(dialect_of(name), pieces) > 2  # measured: 2.2 to 2.4


def test_a_marker_is_the_same_whatever_stands_behind_it() -> None:
    """What a marker says was made anew for each value that began in the same chunk."""
    dialect = dialect_of("qwen3-coder")
    plan = compile_plan(dialect.syntax, dialect.markers, Switches(), ())
    param = replace(plan.forms[0].body[0])  # it has learned nothing from other tests
    for met in range(9):  # the eighth meeting is learned from
        opener, undecided = param.match_at(f"<parameter=path>\nB{met}rest", 0)
        assert opener is not None and not undecided
    assert opener is not None
    assert (opener.text, opener.named) == ("<parameter=path>\n", {"key": "path"})
    assert opener.places == {"key": (11, 15)}
    assert param.match_at("<parameter=path>\nBordeaux, at noon", 0) == (opener, False)
    again, undecided = param.match_at("x <parameter=path>\n<b> it is", 2)
    assert again is not None and not undecided
    assert (again.text, again.named) == (opener.text, opener.named)


@each_dialect
def test_what_has_passed_by_in_one_place_is_looked_at_in_another(
    dialect: DeclaredDialect,
) -> None:
    """Chunks that have passed by are remembered, but what is text here is a marker there."""
    halves = " < </ <| [ { ` ' \" \\ to\nto \n< x\n y\n"
    text = PLAIN + halves * 2 + PLAIN
    arguments = {"path": text, "content": text}
    if dialect.syntax.text_keys:
        arguments = dialect.syntax.sample_texts | {dialect.syntax.text_keys[-1]: text}
    call = ToolCallPart("c", dialect.syntax.name or "write_file", arguments)
    tags = "".join(tag.open + text + tag.close for tag in dialect.reasoning)
    stream = f"{text}{tags}{text}{dialect.format_tool_call(call, TOOLS)}\n{text}" * 2
    pieces = [piece.encode() for piece in re.findall(r"\w+ ?|[^\w ]+|\s", stream)]
    for switches in SWITCHES:
        assert_the_same(dialect, pieces, switches=switches)


def test_half_a_marker_that_is_refused_is_given_out_at_once() -> None:
    """A value's closer before what cannot follow it was held by what passes by, and by nobody
    else."""
    call = "<tool_use><write_file>\n<path>a</path>\n<content>x</content>\n"
    for size in (1, 3, 7, 16):
        stream = f"{call}<path>a b</path>\n<content>\nx <y> \\".encode()
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert_the_same(dialect_of("xml"), pieces)


def test_any_line_that_may_be_a_marker_is_held_without_a_walk() -> None:
    """Where a call begins with a path on a line of its own, each chunk of prose took a walk, and
    one more partial match of the whole line."""
    dialect, lines = dialect_of("aider-editblock"), PLAIN * 20 + "  indented\n\nx\n" + "y" * 300
    for size in (1, 4, 7):
        pieces = [lines[at : at + size].encode() for at in range(0, len(lines), size)]
        assert_the_same(dialect, pieces)
        reader, walked = parser(dialect, "", None, fast_path=True), 0
        for piece in pieces:
            walked += reader._feed_held is None
            reader.feed(piece)
        assert walked == 1


@pytest.mark.parametrize("name", ["gemma3", "gemma4", "pythonic", "functionary-v3.2"])
def test_a_line_break_wakes_no_walk_where_tools_are_known(name: str) -> None:
    """What may begin a line is the name of a tool: other lines were looked at one by one."""
    dialect = dialect_of(name)
    text = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",)).text
    assert not text.any_line
    assert [
        found[0] for found in text.chunk_pattern.finditer("\nwrite_file(\n  x write_file(")
    ] == ["write"]


@each_dialect
def test_prose_is_searched_for_whole_beginnings(dialect: DeclaredDialect) -> None:
    """Each blank and each t of prose was asked by partial matching: a thousand times the floor in
    dialects whose markers begin with a blank (harmony, muse, hyperclovax)."""
    text = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",)).text
    assert (
        len(text.chunk_pattern.findall(PLAIN)) <= 1
    )  # the line break, where any line may be a marker


@each_dialect
def test_what_was_seen_before_changes_nothing(dialect: DeclaredDialect) -> None:
    """Nothing tells a fence in the middle of a line from one on its own but what stands before."""
    point = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",)).text
    for mark in ("```", "~~~~", *own_markers(dialect)):
        for before in ("", "\n", "x", "x ", "  ", "x\n  ", "x" + " " * 7):
            text = before + mark[: len(mark) - 1]
            marker, undecided = point.match_at(text, len(before))
            asked = point.match(text, len(before), partial=True)
            assert (marker is None) == (asked is None)
            expected = asked is not None and point.is_undecided(point.marker_of(asked), text)
            assert undecided == expected


def waits_of(plan: object) -> Iterator[ChoicePoint]:
    """Every place of a plan where something is waited for."""
    if isinstance(plan, ChoicePoint):
        yield plan
    elif isinstance(plan, Plan):
        outer = (plan.text, plan.fenced, plan.reasoning, plan.plain, plan.opened, plan.fence)
        yield from waits_of((plan.forms, *outer))
    elif isinstance(plan, tuple):
        for each in plan:
            yield from waits_of(each)


@lru_cache(maxsize=1024)  # that of `regex` is smaller
def compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def assert_as_asked_one_by_one(point: ChoicePoint, text: str, place: int, partial: bool) -> None:
    """Every choice is asked, whatever it begins with: that is the oracle."""
    asked = [
        (match.partial, number, match.span())
        for number, each in enumerate(point.choices)
        if (match := compiled(each.pattern).match(text, place, partial=partial))
    ]
    match = point.match(text, place, partial)
    if not asked:
        assert match is None, (text, place)
    else:  # the first that is whole, or else the first
        half, number, span = min(asked)
        assert match is not None, (text, place)
        assert (match.partial, match.span()) == (half, span)
        group = point.choices[number].group
        assert point.marker_of(match).group == (None if half else group)


@each_dialect
def test_a_bracket_before_a_blank_holds_no_text(dialect: DeclaredDialect) -> None:
    """`regex` took a look-behind of two characters for the beginning of a match: xlam held all
    text after `[ ` up to the end of the stream."""
    reader = parser(dialect, "", None, fast_path=True)
    pieces = ["see [ x] and ", "more [\n  y ", "words follow, and follow, ", "and so on. "]
    events = [event for piece in pieces for event in reader.feed(piece.encode())]
    assert events[-1].span.stop >= sum(map(len, pieces)) - 1


@each_dialect
def test_no_pattern_has_alternatives_outside_of_its_groups(dialect: DeclaredDialect) -> None:
    """A pattern is ruled out by the literals at its start: `a|b` would never be matched with b."""
    plan = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",))
    patterns = {p for point in waits_of(plan) for each in point.choices for p in each.patterns}
    assert patterns
    for pattern in patterns:
        assert "|" not in GROUPS.sub("", pattern), pattern


@pytest.mark.parametrize(
    ("pattern", "text", "begin"),
    [
        ("<a>b", "<a>x", "no"),
        ("<a>b", "<a", "cut"),
        ("<a>b", "<a>bc", "may"),
        (rf"<a>{SPACE}b", "<a>  ", "cut"),
        (rf"<a>{SPACE}b", "<a> c", "no"),
        (rf"<a>{SPACE}b", "<a>Ġb", "may"),
        (rf"<a>{SPACE}<b", "<a> <c", "no"),
        (rf"<a>{SPACE}b", "<a> <", "cut"),  # white space that leaked may begin so
        (rf"<a>{SPACE}<(?=b)", "<a> <", "cut"),
        (r"(?:[ \t]{0,16}+\r?\n)?+<a>", " \nb", "no"),
        (r"(?:[ \t]{0,16}+\r?\n)?+<a>", "\r\n<a>", "may"),
        ("(?:a|b)?c", "dc", "no"),
        ("a(?:b)c", "abd", "no"),
        (f"a(?P<name>(?!/)(?:[^{NO_NAME}]){{1,9}})", "a{", "no"),
        (r"<a>\s{1,8}+(?P<name>x)", "<a>x", "no"),
        (rf"(?P<doubled><a>{SPACE})?<[ ]{{1,2}}+a>", "<a>", "may"),  # the engine knows only [ \t]
        (rf"(?P<doubled><a>{SPACE})?<[ \t]{{1,2}}+a>", "<a>x", "no"),
        (rf"(?P<doubled><a>{SPACE})?<[ \t]{{1,2}}+a>", "<a>  < a>", "may"),
        ("a(?=b|c)", "ad", "no"),
        ("a(?:b|c)?", "ad", "may"),
        (rf"{LINE_START}a", "b", "no"),
        ("(?P<name>a)", "b", "may"),
    ],
)
def test_literals_rule_a_pattern_out(pattern: str, text: str, begin: str) -> None:
    assert choice_pattern(pattern).begin(text, 0).value == begin
    whole = regex.compile(pattern)
    if begin == "no":
        assert whole.match(text, partial=True) is None
    if begin == "cut":
        match = whole.match(text, partial=True)
        assert match is not None and match.partial


uncompiled = lru_cache(maxsize=1024)(ChoicePattern)


def assert_beginnings_rule_out_no_match(pattern: str, text: str, place: int) -> None:
    beginning = uncompiled(pattern)._beginning.compare(text, place, every=True)
    if beginning is not Begin.MAY:
        match = compiled(pattern).match(text, place, partial=True)
        assert match is None or (beginning is Begin.CUT and match.partial), (pattern, text, place)


def texts_of(dialect: DeclaredDialect) -> list[str]:
    """Calls, whole and torn, and each marker after what may stand before it."""
    sample = dialect.syntax.sample_texts or {"path": "a/b.txt", "content": "x <y>\n1"}
    call = ToolCallPart("c", dialect.syntax.name or "write_file", dict(sample))
    written = dialect.format_tool_call(call, TOOLS)
    torn = written.replace("\n", " \n ").replace(">", "> Ġ", 2).replace("=", " = '", 1)
    marks = own_markers(dialect)
    loose = "".join(f"{mark}{mark[:2]}\n {mark[:4]}\\n{mark} " for mark in marks)
    return [f"{written}\n{written[: len(written) // 2]}", torn, loose[:400]]


def try_all_waits(dialect: DeclaredDialect, step: int) -> None:
    plan = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",))
    for point, text, partial in product(waits_of(plan), texts_of(dialect), (True, False)):
        for place in range(0, len(text) + 1, step):
            assert_as_asked_one_by_one(point, text, place, partial)
            for pattern in (p for each in point.choices for p in each.patterns if partial):
                assert_beginnings_rule_out_no_match(pattern, text, place)


@pytest.mark.parametrize(
    "name", ["hermes", "qwen3-coder", "apertus", "command-r", "kimi-k2", "xml"]
)
def test_no_choice_is_left_out_that_may_begin_at_a_place(name: str) -> None:
    """Each is compiled when a text first asks for it, by its first characters."""
    try_all_waits(dialect_of(name), 5)


@pytest.mark.long
@each_dialect
def test_no_choice_is_left_out_in_any_dialect(dialect: DeclaredDialect) -> None:
    try_all_waits(dialect, 1)


@each_dialect
@pytest.mark.parametrize("size", widened([3, 1, 4], at_once=1))
def test_what_stands_before_a_marker_decides_alike(dialect: DeclaredDialect, size: int) -> None:
    """A look back ends at a letter; at blanks, a colon or a line break it goes on, into the chunk
    before or into what is held."""
    befores = ("x", "x ", "x" + " " * 7, "\n", "x\n  ", '":', '":\n ', '": ', ": ", "é", ".", "> ")
    marks = ("```", "~~~~", "t", "to", " ", *own_markers(dialect))
    stream = "".join(before + mark[:cut] for before in befores for mark in marks for cut in (1, 9))
    pieces = [stream[at : at + size].encode() for at in range(0, len(stream), size)]
    assert_the_same(dialect, pieces)
    assert_the_same(dialect, [b"x " + piece for piece in pieces])
