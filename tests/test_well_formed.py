"""Law 14: what is not well-formed and read all the same is told; what is well-formed is not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from conftest import ROOT
from grammar_walk import Engine, read, right_calls, tools_for
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import WITH_GRAMMAR

import playground as pg
from playground.base.errors import UnknownNameError
from playground.base.findings import MENDING
from playground.dialects import DeclaredDialect
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import SECTION_BODY
from playground.parsing.outside_text import markers_of_words
from playground.parsing.rendering import render_call
from playground.parsing.template import declared_text, fill
from playground.servers import ServerReading
from playground.servers.declarations import load_server, proofs, proven_slips

EVERY = pytest.mark.parametrize("dialect", WITH_GRAMMAR, ids=lambda d: d.name)
_PIECE = re.compile(r"<[^<>]*>|\[[^\[\]\s]*\]|\w+|[^\w\s]|\n+")
_EDGE = re.compile(r"(?<=>)(?=<)|(?<=[{},:\[\]])(?=[\"'{\[])|\n+")


@cache
def engine(dialect: DeclaredDialect) -> Engine:
    grammar = dialect.grammar(tools_for(dialect), choice="required", accepts="well-formed")
    return Engine(grammar.lark)


def told(dialect: DeclaredDialect, text: str) -> tuple[int, set[str]]:
    """The number of calls that are delivered, and the codes of all findings."""
    result = read(dialect, text, tools_for(dialect))
    return len(result.tool_calls), {found.code for found in result.findings}


def broken(dialect: DeclaredDialect, text: str) -> str:
    """Name what breaks the law in a reply; "" if nothing does."""
    delivered, codes = told(dialect, text)
    if not delivered:
        return ""
    if engine(dialect).accepts(text):
        mended = codes & MENDING
        return f"well-formed, and told: {sorted(mended)}" if mended else ""
    return "" if codes else "not well-formed, and read in silence"


@st.composite
def replies(draw: st.DrawFn, dialect: DeclaredDialect) -> str:
    """A call as the dialect writes it, its parameters in any order."""
    call = draw(st.sampled_from(right_calls(dialect)))
    arguments = dict(draw(st.permutations(list(call.args.items()))))
    if dialect.syntax.text_keys:
        arguments = dict(call.args)
    part = ToolCallPart("call_1", call.tool_name, arguments)
    return dialect.format_tool_call(part, tools_for(dialect))


@st.composite
def spaced(draw: st.DrawFn, text: str) -> str:
    """A reply with other white space where two pieces touch, or where there is some."""
    places = [match.span() for match in _EDGE.finditer(text)]
    if not places:
        return text
    start, stop = draw(st.sampled_from(places))
    return text[:start] + draw(st.sampled_from(["\n", " ", "\n  ", ""])) + text[stop:]


@st.composite
def several(draw: st.DrawFn, dialect: DeclaredDialect) -> str:
    """One call, or up to three if the dialect writes several in one reply."""
    most = 3 if dialect.parallel else 1
    calls = draw(st.lists(st.sampled_from(right_calls(dialect)), min_size=1, max_size=most))
    return dialect.format_reply(calls, tools_for(dialect))


def slips(dialect: DeclaredDialect, text: str) -> list[str]:
    """A reply with one piece of its calls (a tag, a word, a sign, a line break) left out, doubled,
    cut short, split, in capitals, or followed by what does not belong there.

    The tokens that end an answer or a turn are no part of a call.
    """
    ends = (*dialect.stops, *filter(None, dialect.answer))
    taken = [m.span() for end in ends for m in re.finditer(re.escape(end), text)]
    found: list[str] = []
    for match in _PIECE.finditer(text):
        start, stop = match.span()
        if any(start < end and begin < stop for begin, end in taken):
            continue
        piece = match[0]
        spoiled = ["", piece * 2, piece.upper(), f"{piece[:1]} {piece[1:]}", piece[1:], piece[:-1]]
        spoiled += [piece + extra for extra in (",", '"', "}", "\n", "\t")]
        found += [text[:start] + other + text[stop:] for other in spoiled if other != piece]
    return found


@EVERY
def test_what_is_rendered_is_well_formed(dialect: DeclaredDialect) -> None:
    for call in right_calls(dialect):
        text = dialect.format_tool_call(call, tools_for(dialect))
        assert engine(dialect).accepts(text), text
        assert not told(dialect, text)[1] & MENDING, text
        assert not engine(dialect).accepts("No call at all.")


@EVERY
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_white_space_and_order_are_free(dialect: DeclaredDialect, data: st.DataObject) -> None:
    text = data.draw(replies(dialect))
    assert engine(dialect).accepts(text), text
    for reply in (text, data.draw(spaced(text))):
        wrong = broken(dialect, reply)
        assert not wrong, (wrong, reply)


_MARK = re.compile(r"[{}:,]")


@EVERY
def test_blanks_that_json_does_not_have_are_told(dialect: DeclaredDialect) -> None:
    """JSON has four; the rest are white space for Python alone. In a text all are escaped."""
    if not dialect.syntax.notation.hole.endswith(":json"):
        return
    text = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    for blank in ("\t", "\r\n", "\xa0", "\x0b", r"\n", r"\u0020", r"\u000a", r"\u00A0"):
        for match in _MARK.finditer(text, text.index("{")):
            reply = text[: match.end()] + blank + text[match.end() :]
            wrong = broken(dialect, reply)
            assert not wrong, (wrong, reply)


def test_json_in_a_text_may_escape_any_character() -> None:
    dialect = pg.get_dialect("native")
    assert isinstance(dialect, DeclaredDialect)
    call = ToolCallPart("call_1", "weather", {"city": "é/x", "days": 12, "metric": True})
    text = dialect.format_tool_call(call, tools_for(dialect))
    start = text.index("{", text.index('"arguments"'))
    for at, char in enumerate(text[start:-3], start):
        for escape in (rf"\u{ord(char):04x}", rf"\u{ord(char):04X}", "\\" + char):
            reply = text[:at] + escape + text[at + 1 :]
            wrong = broken(dialect, reply) if text[at - 1] != "\\" != char else ""
            assert not wrong, (wrong, reply)


# a marker with a blank in it is read, but it is text to the grammar, and what follows needs none
_TWO_READINGS = {"muse": {"mended-form"}, "granite-20b-fc": {"mended-opener"}}


def law_14(dialect: DeclaredDialect, text: str) -> str:
    """Name what breaks the law in a reply that is read with all findings about its text."""
    result = pg.parse(text, dialect, list(tools_for(dialect)))
    if not result.tool_calls:
        return ""
    codes = {found.code for found in result.findings}
    if not engine(dialect).accepts(text):
        return "" if codes else "not well-formed, and read in silence"
    mended = codes & MENDING - _TWO_READINGS.get(dialect.name, set())
    return f"well-formed, and told: {sorted(mended)}" if mended else ""


@EVERY
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_slip_is_told_and_not_well_formed(dialect: DeclaredDialect, data: st.DataObject) -> None:
    """A slip in one of several calls, too: beside the others it is no text."""
    text = data.draw(st.sampled_from(slips(dialect, data.draw(several(dialect)))))
    assert not (wrong := law_14(dialect, text)), (wrong, text)


@EVERY
def test_an_opener_of_words_is_told_in_text_and_not_well_formed(
    dialect: DeclaredDialect,
) -> None:
    call = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    names = [tool.name for tool in tools_for(dialect)]
    for opener in markers_of_words(dialect.syntax, names):
        for after in (" and so.", "!\n", ": 3}\n\nThen.\n\n", ' is it."\n'):
            text = f"I see.\n{opener}{after}\n{call}"
            assert not (wrong := law_14(dialect, text)), (wrong, text)


def sections(dialect: DeclaredDialect) -> list[tuple[str, str]]:
    """A call in each section of the dialect, in all its forms, and the section's closer."""
    call, found = right_calls(dialect)[0], []
    for form in (dialect.syntax, *dialect.syntax.also):
        if form.slip:
            continue
        one = render_call(form, call.tool_name, call.args)
        for section in form.sections:
            text = fill(section.pieces, {SECTION_BODY: one, "name": call.tool_name})
            found.append((text, declared_text(section.after).strip()))
    return found


@EVERY
def test_a_reply_may_have_any_number_of_calls(dialect: DeclaredDialect) -> None:
    """With text, a token that ends a turn, or an odd closer between them: told or well-formed."""
    one = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    ends = tuple(end for pair in dialect.reasoning for end in (pair.open + "x" + pair.close,))
    for between in ("", "\n", "\n\nand\n\n", *dialect.stops, *ends):
        for reply in (one + between + one, between + one):
            wrong = broken(dialect, reply)
            assert not wrong, (wrong, reply)


@EVERY
def test_two_calls_in_a_section_for_one_are_told(dialect: DeclaredDialect) -> None:
    calls = [render_call(dialect.syntax, c.tool_name, c.args) for c in right_calls(dialect)[:2]]
    for section in dialect.syntax.sections:
        values = {SECTION_BODY: "\n".join(calls), "name": right_calls(dialect)[0].tool_name}
        wrong = broken(dialect, fill(section.pieces, values))
        assert not wrong, (wrong, fill(section.pieces, values))


@EVERY
def test_a_section_without_its_closer_is_told(dialect: DeclaredDialect) -> None:
    """At the reply's end, before the token that ends the turn, before a section of any spelling."""
    listed = sections(dialect)
    for text, closer in listed:
        begun = text.removesuffix(closer)
        if not closer or not told(dialect, text)[0]:
            continue
        for more in ("", *dialect.stops[:1], *(text for text, _ in listed)):
            delivered, codes = told(dialect, begun + more)
            # a fence that opens again is read as a closer, and what follows it is told
            is_told = codes if more.startswith(closer) else "unclosed-section" in codes
            assert not delivered or is_told, begun + more


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("gemma4", "<|tool_call>call:weather{days:1,}<tool_call|>", "relaxed-json"),
        ("gemma4", "<|tool_call>call:weather{days:[1,]}<tool_call|>", "relaxed-json"),
        ("gemma4", '<|tool_call>call:weather{days":1}<tool_call|>', "relaxed-json"),
        (
            "qwen3-coder",
            "<tool_call>\n<function=weather>\n<parameter=days>\n1\n</parameter>\n</function>\n"
            "<tool_call>\n<function=weather>\n<parameter=days>\n1\n</parameter>\n</function>\n"
            "</tool_call>",
            "unclosed-section",
        ),
        ("hermes", '<tool_call>\n{"name": "weather"}\n</tool_call>', "no-arguments"),
        *(
            (
                "hermes",
                f'<tool_call>\n{{"name": "weather", "arguments": {nothing}}}\n</tool_call>',
                "no-arguments",
            )
            for nothing in ("null", '""', '" "', '"null"')
        ),
        ("gemma4", '<|tool_call>call:weather{city:"Oslo"}<tool_call|>', "relaxed-json"),
        ("gemma4", '<|tool_call>call:weather{cities:["Oslo"]}<tool_call|>', "relaxed-json"),
        ("qwen3-coder", "<tool_call><function=weather/></tool_call>", "mended-form"),
        (
            "hermes",
            '<tool_call>\n{"name": "weather", "arguments": {"city": "a\nb"}}\n</tool_call>',
            "relaxed-json",
        ),
        (
            "nemotron-v2",
            '<TOOLCALL>[{"name": "weather", "arguments": {"days": 1}},]</TOOLCALL>',
            "mended-form",
        ),
        (
            "nemotron-v2",
            '<TOOLCALL>[{"name": "weather", "arguments": {"days": 1}} '
            '{"name": "weather", "arguments": {"days": 1}}]</TOOLCALL>',
            "mended-form",
        ),
    ],
)
def test_slips_that_were_read_in_silence(name: str, text: str, code: str) -> None:
    result = pg.parse(text, name)
    assert result.tool_calls
    assert code in {found.code for found in result.findings}


@cache
def written(dialect: DeclaredDialect) -> Engine:
    return Engine(dialect.grammar(tools_for(dialect), choice="required").lark)


@EVERY
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_what_a_model_should_not_write_is_told_or_a_variation(
    dialect: DeclaredDialect, data: st.DataObject
) -> None:
    """A server may be strict where no finding tells of anything: its view has to know."""
    text = data.draw(spaced(data.draw(replies(dialect))))
    parser = dialect.create_parser(PromptData(tool_metadata=list(tools_for(dialect))))
    result = read(dialect, text, tools_for(dialect))
    if dialect.syntax.text_keys or dialect.is_native_toolcalling():
        return  # white space belongs to the texts of a call, or the server wrote it
    if result.tool_calls and not result.findings and not written(dialect).accepts(text):
        assert parser.variations(result.events), text


@EVERY
def test_what_is_rendered_has_no_variation(dialect: DeclaredDialect) -> None:
    parser = dialect.create_parser(PromptData(tool_metadata=list(tools_for(dialect))))
    for call in right_calls(dialect):
        text = dialect.format_tool_call(call, tools_for(dialect))
        events = read(dialect, text, tools_for(dialect)).events
        assert parser.variations(events) <= {"order of parameters"}, text


def test_text_without_the_header_that_texts_have_is_a_variation() -> None:
    """vLLM's parser of Muse drops such a text before a call."""
    dialect = pg.get_dialect("muse")
    assert isinstance(dialect, DeclaredDialect)
    call = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    parser = dialect.create_parser(PromptData(tool_metadata=list(tools_for(dialect))))
    for before, found in (
        ("", set()),
        ("I look. ", {"another form"}),
        (f"{dialect.answer[0]}I look.{dialect.answer[1]}", set()),
    ):
        result = read(dialect, before + call, tools_for(dialect))
        assert result.tool_calls
        assert parser.variations(result.events) - {"order of parameters"} == found, before


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        # half an opener, a stop token cut in two, a line break of a byte-level tokenizer
        ("step-audio-2", "<tool_call>{}So it is.", {"near-marker"}),
        ("internlm2", "<|action_start|> I look. {}", {"near-marker"}),
        ("muse", "{}<|start|>>assistant", {"near-marker"}),
        ("xml", "<weather> I look. {}", {"near-marker"}),
        ("cwm", "<tool: function>Ċweather {{}}\n</tool>", {"mended-form", "missing-argument"}),
        # a model's own token before a call
        ("inkling", "<|content_text|>I look.<|end_message|><|message_model|>{}", set()),
    ],
)
def test_parts_of_markers_are_told_and_tokens_are_not(
    name: str, text: str, codes: set[str]
) -> None:
    dialect = pg.get_dialect(name)
    assert isinstance(dialect, DeclaredDialect)
    call = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    reply = text.format(call)
    result = pg.parse(reply, dialect, list(tools_for(dialect)))
    assert result.tool_calls
    assert {found.code for found in result.findings} == codes
    assert engine(dialect).accepts(reply) == (not codes)


def test_no_parameter_is_the_closer_of_a_call() -> None:
    dialect = pg.get_dialect("anthropic-legacy")
    assert isinstance(dialect, DeclaredDialect)
    call = dialect.format_reply(right_calls(dialect)[:2], tools_for(dialect))
    assert engine(dialect).accepts(call)
    assert not engine(dialect).accepts(call.replace("</tool_name>", "< /tool_name>", 1))
    last = call.rpartition("</tool_name>")
    assert not engine(dialect).accepts(f"{last[0]}< /tool_name>{last[2]}")


def test_text_and_a_missing_section_around_calls() -> None:
    dialect = pg.get_dialect("qwen3-coder")
    assert isinstance(dialect, DeclaredDialect)
    call = dialect.format_tool_call(right_calls(dialect)[0], tools_for(dialect))
    assert engine(dialect).accepts(f"I read it.\n{call}\nAnd now?")
    bare = call.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
    assert not engine(dialect).accepts(bare)
    assert told(dialect, bare) == (1, {"missing-section"})


def test_an_unknown_kind_of_grammar_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="well-formed"):
        pg.get_dialect("hermes").grammar([], accepts="all")


_COMMAND = "<tool_call>\n<function=bash>\n<parameter=command>\n{}\n{}</function>\n</tool_call>"
_BASH = {"name": "bash", "input_schema": {"properties": {"command": {"type": "string"}}}}


@pytest.mark.parametrize("server", ["vllm", "ollama"])
@pytest.mark.parametrize(
    ("value", "closer"),
    [
        ("/tmp/a.txt\n</parameter>", "</parameter>\n"),
        ("echo '</parameter>' > x", "</parameter>\n"),
        ("ls -la", ""),
        ("echo '</tool_call>'", "</parameter>\n"),
    ],
)
def test_a_server_is_only_assumed_to_read_what_was_not_run_through_it(
    server: str, value: str, closer: str
) -> None:
    reading = pg.parse(_COMMAND.format(value, closer), "qwen3-coder", [_BASH], server=server)
    assert isinstance(reading, ServerReading)
    fails = "server-fails" in {found.code for found in reading.findings}  # as Ollama's own code
    assert reading.assumed or (fails and not closer), reading.findings


def test_what_was_run_through_a_servers_parser_is_claimed() -> None:
    server = load_server("vllm")
    proven = [
        (place, slip)
        for place, slips in proofs()["vllm"]["slips"].items()
        for slip, (equal, of) in slips.items()
        if equal == of and slip in MENDING
    ]
    assert proven
    for place, slip in proven[:20]:
        parser, dialect = place.split()
        known = proven_slips(server, parser, dialect)
        assert (slip in known) == (proofs()["vllm"]["slips"][place][slip][1] >= 3)
        assert not proven_slips(replace(server, version="0.0"), parser, dialect)


_ATOMS = (
    *(
        "0",
        "-1",
        "- 1",
        "1.",
        ".5",
        "-.5",
        "- .5",
        "1e5",
        "1E+5",
        "True",
        "None",
        "''",
        "'x'",
        '"é"',
    ),
    *("01", "00", "+1", "1_000", "1_0.5", "0x10", "٣", "true", "(1,2)", "(1)", "()", "'x' 'y'"),
    *(r"'\)'", r"'\n'", r"'\\)'", r"'\x41'", r"'\101'", r"'\8'", r"'\N{DASH}'", r"'\N{BULLET}'"),
    *("r'x'", "'a\\\nb'", "'a\nb'", "'\t'", "'''x\ny'''", "1 # one\n", "'\"'", "'\r'"),
)
_VALUES = st.recursive(
    st.sampled_from(_ATOMS),
    lambda value: (
        st.lists(value, min_size=1, max_size=2).map(lambda items: f"[{' , '.join(items)}]")
        | value.map(lambda item: f"{{'k': {item},}}")
    ),
    max_leaves=3,
)
_KEYS = st.sampled_from(["a", "b", "día", "été", "from", "None", "a²", "a٣", "٣a"])
_FREE = ToolMetadata(name="f", input_schema={"type": "object"})


@cache
def engine_of(name: str) -> tuple[DeclaredDialect, Engine]:
    """A dialect, and the engine of what is well-formed with one tool of any arguments."""
    dialect = pg.get_dialect(name)
    assert isinstance(dialect, DeclaredDialect)
    return dialect, Engine(dialect.grammar([_FREE], choice="required", accepts="well-formed").lark)


def reading(name: str, text: str) -> tuple[bool, set[str]]:
    """Return True if a call is delivered that the grammar refuses, or one that it takes and a
    finding calls mended; and the findings."""
    dialect, walker = engine_of(name)
    result = read(dialect, text, [_FREE])
    codes = {found.code for found in result.findings}
    is_silent = bool(codes & MENDING) if walker.accepts(text) else not codes
    return bool(result.tool_calls) and is_silent, codes


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_KEYS, _VALUES), min_size=1, max_size=2), st.sampled_from(["", ","]))
def test_python_is_told_where_it_is_no_plain_literal(
    pairs: list[tuple[str, str]], last: str
) -> None:
    text = f"[f({', '.join(f'{key}={value}' for key, value in pairs)}{last})]"
    breaks_law, codes = reading("pythonic", text)
    assert not breaks_law, (text, codes)


def test_each_python_literal_is_told_or_well_formed() -> None:
    wrong = [atom for atom in _ATOMS if reading("pythonic", f"[f(a={atom})]")[0]]
    assert not wrong


@pytest.mark.parametrize("value", ["1", '<|"|>x<|"|>', "[1]", "{da-ys:1}", '"x"', "x"])
@pytest.mark.parametrize(
    "key", ["days", "da-ys", "da.ys", "día", "été", "a²", "٣", "1", "“a”", "_"]
)
def test_marked_arguments_are_told_or_well_formed(key: str, value: str) -> None:
    breaks_law, codes = reading("gemma4", f"<|tool_call>call:f{{{key}:{value}}}<tool_call|>")
    assert not breaks_law, codes


def test_an_argument_that_python_refuses_twice_is_told() -> None:
    assert reading("pythonic", "[f(a=1, a=2)]")[1] == {"duplicate-argument"}


@pytest.mark.parametrize(
    ("written", "is_told"), [(r"'\)'", True), ("r'x'", True), (r"'\\)'", False), (r"'\n'", False)]
)
def test_a_python_string_that_is_no_plain_literal_is_told(written: str, is_told: bool) -> None:
    result = pg.parse(f"[f(a={written})]", "pythonic", [{"name": "f", "input_schema": {}}])
    assert result.tool_calls
    assert ("relaxed-python" in {found.code for found in result.findings}) is is_told


# the cases of other projects: their replies, and no example of ours

CASES = ROOT.parent / "shared" / "conformance"
_MOST_TOOLS = 5  # of one grammar: compiling it takes longer than reading the replies


@cache
def strangers() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The replies of other projects' test suites, by dialect, each once."""
    found: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {}
    for name in ("law_cases.jsonl", "parse_cases.jsonl"):
        for line in (CASES / name).read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            found.setdefault(case["dialect"], {})[case["text"], case["prefill"]] = case
    return {dialect: list(cases.values()) for dialect, cases in found.items()}


@pytest.mark.skipif(
    not CASES.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 12])
@EVERY
def test_replies_of_other_projects_are_told_or_well_formed(
    dialect: DeclaredDialect, step: int
) -> None:
    """A grammar has the tools of several cases, those too that a case calls and does not list."""
    groups: list[tuple[dict[str, ToolMetadata], list[tuple[Mapping[str, Any], set[str]]]]] = []
    for case in strangers().get(dialect.name, ())[::step]:
        result = pg.parse(case["text"], dialect, case["tools"] or [], prefill=case["prefill"])
        if not result.tool_calls:
            continue
        tools = {tool.name: tool for tool in pg.session(messages=[], tools=case["tools"]).tools}
        for name in filter(None, (call.name for call in result.tool_calls)):
            tools.setdefault(name, ToolMetadata(name=name, input_schema={}))
        fitting = (
            group
            for group in groups
            if len(group[0]) < _MOST_TOOLS and {**group[0], **tools} == {**tools, **group[0]}
        )
        known, cases = next(fitting, ({}, []))
        if not cases:
            groups.append((known, cases))
        known.update(tools)
        cases.append((case, {finding.code for finding in result.findings}))
    wrong = []
    for tools, cases in groups:
        grammar = dialect.grammar(tools.values(), choice="required", accepts="well-formed")
        walker = Engine(grammar.lark)
        for case, codes in cases:
            texts = {case["text"], case["prefill"] + case["text"]}
            try:
                is_well_formed = any(map(walker.accepts, texts))
            except ValueError:
                continue  # too long for the engine
            if codes & MENDING if is_well_formed else not codes:
                wrong.append((case["id"], case["text"], codes))
    assert not wrong
