"""NaN, Infinity and 1e400, wherever they stand: a finding, kept as text, never a bare NaN."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from session_examples import EXAMPLES
from test_terminal import run

import playground as pg
from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.base.json_numbers import (
    NotANumber,
    dump_again,
    finite,
    is_finite,
    load_json,
    number_findings,
)
from playground.cli import main
from playground.nouns.events import CallEndedEvent, FindingEvent
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.sessions.clean_json import is_clean
from playground.sessions.loading import load_sessions
from playground.sessions.native_format import dump_session

SHARED = ROOT.parent / "shared" / "audit"


def strict(text: str) -> Any:
    """JSON as every other program reads it."""

    def refuse(word: str) -> None:
        raise AssertionError(f"a bare {word}")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", "NaN"),
        ("[Infinity, -Infinity]", ["Infinity", "-Infinity"]),
        ('{"a": 1e400, "b": -1E999}', {"a": "1e400", "b": "-1E999"}),
        (f'{{"a": {"9" * 310}.5}}', {"a": f"{'9' * 310}.5"}),
        (f'{{"a": {"9" * 290}e20, "b": "1e+400"}}', {"a": f"{'9' * 290}e20", "b": "1e+400"}),
        ("[1e308, 0.1, 12]", [1e308, 0.1, 12]),
    ],
)
def test_what_is_no_number_stays_its_text(text: str, value: Any) -> None:
    read = load_json(text)
    assert read == finite(read) == value
    assert is_finite(finite(read))
    assert is_finite(read) is ("308" in text)


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,5}|[1-9][0-9]{280,320})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,4})?",
    fullmatch=True,
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])).map(json.dumps)
JSON_TEXTS = st.recursive(
    NUMBERS | TEXTS | st.sampled_from(["true", "null", "NaN", "-Infinity", "-1", "127", "255"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda held: f"[{','.join(held)}]")
        | st.lists(st.tuples(TEXTS, inner), max_size=4).map(
            lambda held: f"{{{','.join(f'{key}: {each}' for key, each in held)}}}"
        )
    ),
    max_leaves=8,
)


@given(JSON_TEXTS)
def test_every_number_is_read_as_python_reads_it_or_is_none(text: str) -> None:
    def number(given: str) -> float | NotANumber:
        return float(given) if math.isfinite(float(given)) else NotANumber(given)

    expected = json.loads(text, parse_constant=NotANumber, parse_float=number)
    assert repr(load_json(text, strict=True)) == repr(expected)


def test_values_are_made_finite_whatever_holds_them() -> None:
    value = {"a": [math.nan, (math.inf,)], "b": 1.5}
    assert not is_finite(value)
    assert finite(value) == {"a": ["NaN", ["Infinity"]], "b": 1.5}


def test_keys_and_numbers_beyond_all_digits_are_made_texts_too() -> None:
    huge = 16**4000
    value = {math.nan: 1, "deep": {math.inf: [huge]}, "plain": 10**4299, 1.5: -huge}
    assert not is_finite(value)
    assert not any(is_finite({key: 0}) for key in (math.nan, huge, load_json("1e400")))
    told = finite(value)
    assert told == {
        "NaN": 1,
        "deep": {"Infinity": ["0x1" + "0" * 4000]},
        "plain": 10**4299,
        1.5: "-0x1" + "0" * 4000,
    }
    strict(json.dumps(told, allow_nan=False))
    assert load_json("[" + "9" * 5000 + ", 12]") == ["9" * 5000, 12]


ODD = ["NaN", "Infinity", "-Infinity", "1e400", "9" * 5000]
TOOL = ToolMetadata(
    name="f",
    description="Takes numbers.",
    input_schema={
        "type": "object",
        "properties": {f"n{at}": {"type": "number"} for at in range(len(ODD))},
    },
)
TOLD = {"not-a-number", "long-integer", "type-mismatch"}


@pytest.mark.parametrize("name", pg.dialect_names())
def test_no_dialect_hands_on_a_number_that_json_has_not(name: str, tmp_path: Path) -> None:
    """A law over all of them: the output is JSON, a finding stands, and nothing is raised."""
    call = ToolCallPart("c", "f", {f"n{at}": 77120 + at for at in range(len(ODD))})
    dialect = pg.get_dialect(name)
    written = dialect.format_tool_call(call)
    if "77120" not in str(written) or not pg.parse(written, name, [TOOL]).tool_calls:
        pytest.skip("it writes no arguments of this kind")
    everything = written
    for at, text in enumerate(ODD):
        odd = written.replace(str(77120 + at), text)
        everything = everything.replace(str(77120 + at), text)
        result = pg.parse(odd, name, [TOOL])
        calls = [found.arguments for found in result.tool_calls]
        strict(json.dumps(calls, allow_nan=False))
        codes = {found.code for found in result.findings}
        if not calls or f"n{at}" in calls[0]:
            assert TOLD & codes, (text, calls)
        assert "malformed-python" not in codes
        assert not {"not-a-number", "long-integer"} & codes or text in json.dumps(calls)
        assert "not-a-number" not in codes or not text.isdecimal()
    assert replayed(name, everything, tmp_path)["events"]


def replayed(dialect: str, text: str, folder: Path) -> Any:
    """What `replay --json` prints of an answer, which is JSON."""
    recording = {"name": "odd", "dialect": dialect, "chunks": [{"text": text, "at": 0.1}]}
    tools = [{"name": TOOL.name, "description": "", "input_schema": TOOL.input_schema}]
    value = {"format": "playground-session/1", "tools": tools, "recordings": [recording]}
    path = folder / "odd.json"
    path.write_text(json.dumps(value))
    done = CliRunner().invoke(main, ["replay", str(path), "-d", dialect, "--json"])
    assert done.exit_code in (0, 1), done.stderr
    return strict(done.stdout)


@pytest.mark.parametrize("text", ODD, ids=[text[:9] for text in ODD])
def test_native_calls_hand_on_no_such_number_either(text: str) -> None:
    parser = pg.get_dialect("native").create_parser(PromptData())
    function = {"name": "f", "arguments": f'{{"x": {text}, "y": [{{"z": {text}}}]}}'}
    parser.feed_tool_call_delta({"index": 0, "id": "c", "function": function})
    found, ended = parser.finish()
    assert isinstance(found, FindingEvent)
    assert found.finding.code == ("long-integer" if text.isdecimal() else "not-a-number")
    assert isinstance(ended, CallEndedEvent)
    assert ended.arguments == {"x": text, "y": [{"z": text}]}
    assert all(type(value) is str for value in (ended.arguments["x"],))


@pytest.mark.parametrize("more", ["", ", z='a' 'b'"], ids=["our reader", "Python's"])
def test_pythons_words_for_such_numbers_are_kept_as_they_stand(more: str) -> None:
    """They are names and no literals: the whole call was aborted."""
    found = pg.parse(f"[f(x=NaN, y=[-inf, {{'a': nan}}], w=-1e400{more})]", "pythonic")
    (call,) = found.tool_calls
    assert "not-a-number" in {each.code for each in found.findings}
    call.arguments.pop("z", "")
    assert call.arguments == {"x": "NaN", "y": ["-inf", {"a": "nan"}], "w": "-1e400"}


def test_a_number_in_hexadecimal_may_be_beyond_all_digits() -> None:
    """Python reads it, and cannot write it: the output of the call was an error of ours."""
    found = pg.parse(f"[f(x=0x1{'0' * 4000})]", "pythonic").tool_calls
    strict(json.dumps([call.arguments for call in found]))


@pytest.mark.parametrize("number", [math.nan, math.inf, 16**4000], ids=["nan", "inf", "huge"])
def test_what_is_rendered_has_no_such_number(number: Any) -> None:
    for name in ("hermes", "xml", "native"):
        text = str(pg.get_dialect(name).format_tool_call(ToolCallPart("c", "f", {"x": number})))
        assert not re.search(r"(?<!\")(NaN|Infinity)", text), name


def session(tmp_path: Path, arguments: str) -> Path:
    call = (
        f'{{"id": "c", "type": "function", "function": {{"name": "f", "arguments": {arguments}}}}}'
    )
    path = tmp_path / "s.json"
    path.write_text(
        '{"model": "m", "messages": [{"role": "user", "content": "hi"}, '
        f'{{"role": "assistant", "content": "", "tool_calls": [{call}]}}]}}'
    )
    return path


@pytest.mark.parametrize("arguments", ['{"x": NaN, "y": 1e400}', json.dumps('{"x": NaN}')])
def test_arguments_of_a_session_are_told_and_kept(tmp_path: Path, arguments: str) -> None:
    path = session(tmp_path, arguments)
    call = pg.load_session(path).messages[1].parts[0]
    assert isinstance(call, ToolCallPart)
    assert call.args["x"] == "NaN"
    out = tmp_path / "out.json"
    done = run("import", str(path), "-o", str(out))
    assert done.returncode == 0
    assert "not-a-number" in done.stderr
    strict(out.read_text())
    done = run("import", str(path), "--json")
    assert [f["code"] for f in strict(done.stdout)[0]["findings"]] == ["not-a-number"]


@pytest.mark.parametrize(
    "name", ["drill/otlp_inf.json", "drill/span_inf.json", "drill/spans_inf.json", "wild/inf.json"]
)
def test_the_drills_files_are_read_with_a_finding(name: str, tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("../shared/audit is not here")
    out = tmp_path / "out.json"
    done = run("import", str(SHARED / name), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert "not-a-number" in done.stderr or "time-unread" in done.stderr
    strict(out.read_text())


def test_a_time_of_a_recording_that_is_none_is_a_finding(tmp_path: Path) -> None:
    def line(at: str, text: str) -> str:
        delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
        return f'{{"t": {at}, "raw": {json.dumps(f"data: {json.dumps(delta)}" + chr(10) * 2)}}}'

    lines = [
        '{"format": "playground-recording/1", "name": "x", "api": "openai-chat"}',
        line("NaN", "a"),
        line("1e400", "b"),
        '{"end": 1}',
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(lines))
    recording = pg.load_recording(path)
    assert recording.reply.content == "ab"
    told = [found.message for found in recording.findings if found.code == "unreadable-frame"]
    assert told == ["a time of NaN", "a time of 1e400"]
    done = run("replay", str(path), "--json")
    strict(done.stdout)


def test_a_usage_keeps_the_text_of_a_number_that_is_none(tmp_path: Path) -> None:
    """1e400 was kept as "Infinity", which nobody had sent."""
    choice = '"choices": [{"index": 0, "delta": {"content": "a NaN"}, "finish_reason": "stop"}]'
    usage = '"usage": {"prompt_tokens": 1e400, "completion_tokens": NaN, "cost": -1E999}'
    sent = f"data: {{{choice}, {usage}}}\n\ndata: [DONE]\n\n"
    recording = pg.decode_stream([sent.encode()])
    assert recording.reply.content == "a NaN"
    kept = {"prompt_tokens": "1e400", "completion_tokens": "NaN", "cost": "-1E999"}
    assert recording.usage == kept
    assert [found.code for found in recording.findings] == ["unreadable-frame"]
    path = tmp_path / "r.sse"
    path.write_text(sent)
    done = run("replay", str(path), "--json")
    strict(done.stdout)
    assert "a usage with NaN or infinite numbers, kept as text" in done.stderr


def test_a_time_beyond_all_floats_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    header = '{"format": "playground-recording/1", "name": "x"}'
    path.write_text(f'{header}\n{{"t": 1{"0" * 400}, "raw": "data: 1\\n\\n"}}\n')
    with pytest.raises(InputFault, match="field t"):
        pg.load_recording(path)


# not a choice's index, which is no value, nor a version, which is kept as a text whatever it is
_NUMBER = re.compile(
    r"(?<=[:\[,\s])(?<!index\": )(?<!version\": )(?<!index\\\": )-?\d+(?:\.\d+)?(?=\s*[,}\]\n])"
)
_TOLD = {"not-a-number", "time-unread", "unreadable-frame"}
# numbers that stand in a title, as texts; a wire that is cut within its names (tested above); a
# file that only the app writes, refused in one line
_OTHERS = {"tau-bench", "recording", "workspace"}
_ODD = {"claude-agent-sdk": (".nan", "1.0e+400")}  # YAML's, where the bare words are texts


def imported(path: Path, text: str) -> tuple[list[str], set[str]]:
    path.write_text(text)
    found = list(load_sessions(path))
    dumped = [dump_session(loaded.session) for loaded in found]
    return dumped, {each.code for loaded in found for each in loaded.findings}


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in _OTHERS])
def test_every_number_of_a_file_that_is_none_is_told(name: str, tmp_path: Path) -> None:
    """Whatever number a format keeps: where NaN or 1e400 stands in its place, a finding says so."""
    example = EXAMPLES[name]
    if not isinstance(example.content, bytes) or example.content.startswith(b"PK"):
        pytest.skip("not one text")
    text, path = example.content.decode(), tmp_path / example.name
    before, _ = imported(path, text)
    for match in list(_NUMBER.finditer(text))[:8]:
        for odd in _ODD.get(name, ("NaN", "1e400")):
            after, codes = imported(path, text[: match.start()] + odd + text[match.end() :])
            assert after == before or codes & _TOLD, (text[: match.start()][-60:], odd)
            strict(f"[{','.join(after)}]")


ARGUMENTS = '{"x": 1e400, "y": [NaN, -1E999]}'


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", '
        '"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": %s}}]}]}',
        '{"format": "playground-session/1", "messages": [{"role": "assistant", "parts": [{"type": '
        '"tool_call", "tool_call_id": "c", "tool_name": "f", "args": %s}]}]}',
        '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": '
        '[{"type": "tool_use", "id": "c", "name": "f", "input": %s}]}',
    ],
    ids=["openai", "our own", "lines"],
)
def test_arguments_that_are_objects_keep_the_raw_text_of_such_numbers(text: str) -> None:
    (loaded,) = load_sessions(text % ARGUMENTS)
    (call,) = (p for m in loaded.session.messages for p in m.parts if isinstance(p, ToolCallPart))
    assert call.args == {"x": "1e400", "y": ["NaN", "-1E999"]}
    assert "not-a-number" in {found.code for found in loaded.findings}


def test_a_span_whose_end_is_no_time_is_told(tmp_path: Path) -> None:
    example = EXAMPLES["openinference-spans"]
    assert isinstance(example.content, bytes)
    text, ends = re.subn(r'"end_time": "[^"]+"', '"end_time": NaN', example.content.decode())
    assert ends
    _, codes = imported(tmp_path / example.name, text)
    assert "time-unread" in codes


@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, 10**5000, NotANumber("1e400"), "\ud800"],
    ids=["nan", "inf", "huge", "text", "half"],
)
def test_one_look_finds_odd_numbers_and_half_surrogates(odd: Any) -> None:
    plain = {"a": [1, -(10**4000), 0.5, True, None, "x", "ö"], "ö": {}}
    assert is_clean(plain)
    for value in ({"a": [odd]}, [{"b": odd}], odd):
        assert not is_clean(value)
    assert not is_clean({"\ud800": 1})


LONG = "7" * 10_000
TOLD_OF_IT = "an integer of 10,000 digits, more than Python reads by default: kept as text"


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_ten_thousand_digits_is_told_as_what_it_is(sign: str, tmp_path: Path) -> None:
    """It was called a number that JSON does not have. All of its digits are kept."""
    path = session(tmp_path, f'{{"x": {sign}{LONG}, "y": 1}}')
    (loaded,) = load_sessions(path)
    call = loaded.session.messages[1].parts[0]
    assert isinstance(call, ToolCallPart)
    assert call.args == {"x": sign + LONG, "y": 1}
    told = [(found.code, found.message) for found in loaded.findings]
    assert told == [("long-integer", TOLD_OF_IT)]
    again = tmp_path / "again.json"
    assert run("import", str(path), "-o", str(again)).returncode == 0
    (once_more,) = load_sessions(again)
    assert once_more.session == loaded.session
    assert once_more.findings == []


def test_two_kinds_of_odd_numbers_are_two_findings() -> None:
    read = load_json(f'{{"a": [{LONG}, NaN], "b": {LONG}7}}')
    assert number_findings(read, "here") == [
        finding("not-a-number", "here"),
        finding(
            "long-integer",
            "here",
            "2 integers of up to 10,001 digits, more than Python reads by default: kept as text",
        ),
    ]
    assert [len(read["a"][0]), read["a"][1]] == [10_000, "NaN"]
    assert number_findings({"x": 16**4000}, "here")[0].message.startswith(
        "an integer of 4,817 digits"
    )
    assert number_findings({"x": 10**4300}, "here")[0].message.startswith(
        "an integer of 4,301 digits"
    )
    assert number_findings({"x": 10**4300 - 1, "y": 1.5}, "here") == []


def test_the_longest_integer_that_python_reads_is_a_number() -> None:
    for text in ("7" * 4300, "-" + "7" * 4300):
        assert load_json(text) == int(text)


def test_what_is_written_again_keeps_every_odd_number_as_it_was() -> None:
    """Of a long integer Infinity was left."""
    odd = f'{{"a": {LONG}, "b": [1e400, NaN, -Infinity, -{LONG}], "c": "text", "d": 1.5}}'
    assert dump_again(load_json(odd)) == odd
    assert dump_again({"c": "text", "d": [1]}) == '{"c":"text","d":[1]}'
    hostile = load_json(f'{{"a": {LONG}, "b": "\\u0000\\u00010"}}')
    assert json.loads(dump_again(hostile)) == {"a": LONG, "b": "\0\0010"}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("dialect show @.json", '{"name": %s}'),
        ("dialect show @.toml", "name = %s"),
        (f"raw {ROOT}/sample_sessions/01-plain-chat.json --template @.json", '{"a": %s}'),
        ("template run @.yaml", "- %s"),
        ("signature q->a --demos @", '{"q": %s, "a": "b"}'),
        ("tools @.json --mcp", '{"mcpServers": %s}'),
        ("tokens 01-plain-chat --tokenizer @", '{"default_num_special_tokens": %s}'),
    ],
)
def test_where_it_cannot_be_kept_the_error_tells_what_it_is(
    command: str, text: str, tmp_path: Path
) -> None:
    """The words were Python's, which told the user to call a function of Python's."""
    words = []
    for word in command.split():
        path = tmp_path / f"file{word[1:]}"
        if word.startswith("@"):
            path.write_text(text % LONG)
        words.append(str(path) if word.startswith("@") else word)
    done = run(*words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "an integer of 10,000 digits, more than Python reads by default (4,300)" in done.stderr
    assert "set_int_max_str_digits" not in done.stderr
    assert "not JSON" not in done.stderr


def test_a_bill_with_a_long_integer_tells_of_it() -> None:
    choice = '"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]'
    sent = f'data: {{{choice}, "usage": {{"prompt_tokens": {LONG}}}}}\n\ndata: [DONE]\n\n'
    recording = pg.decode_stream([sent.encode()])
    assert recording.usage == {"prompt_tokens": LONG}
    told = [found.message for found in recording.findings]
    assert told == ["a usage with an integer of 10,000 digits, kept as text"]
