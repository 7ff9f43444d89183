"""Importing: every format by an example of its own, the doctor, and files that are bad."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import pytest
import yaml
from conftest import ROOT
from golden_answers import Golden
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import validator_for
from session_examples import (
    ANSWER,
    ASK,
    EXAMPLES,
    ID,
    NAME,
    OPENAI,
    RESULT,
    SAY,
    TIME,
    Example,
    document,
    lines,
    zipped,
)

import playground as pg
from playground.base.errors import InputFault
from playground.dialects import DeclaredDialect
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.questions.recognition import recognise
from playground.sessions import last_resort
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.checks import check, repair
from playground.sessions.formats import FORMATS, format_names, get_format, recognised
from playground.sessions.formats.atif import dump_atif, without_field
from playground.sessions.importing import Writer, repaired
from playground.sessions.loading import (
    file_bytes,
    first_session,
    load_session,
    load_sessions,
    read_sessions,
)
from playground.sessions.native_format import dump_session
from playground.sessions.session import Compaction, ExpectedReply, RequestRecord, Session
from playground.sessions.shapes.conversations import Conversations
from playground.sessions.shapes.framework_chats import chat_messages, chat_tools
from playground.sessions.shapes.messages import read_messages
from playground.sessions.source import Source

SHARED = ROOT.parent / "shared" / "data" / "session_formats"
beside = pytest.mark.skipif(
    not SHARED.exists(), reason="NOT RUN: ../shared/data is not beside this checkout"
)


def on_disk(example: Example, folder: Path) -> Path:
    path = folder / example.name
    if isinstance(example.content, bytes):
        path.write_bytes(example.content)
        return path
    for name, data in example.content.items():
        inner = path / name
        inner.parent.mkdir(parents=True, exist_ok=True)
        inner.write_bytes(data)
    return path


def said(session: Session, example: Example) -> list[tuple[Any, ...]]:
    """Messages as role, text, calls, results; ids only where the format has them."""

    def part_id(part: ToolCallPart | ToolResultPart) -> str:
        return part.tool_call_id if example.ids else ""

    return [
        (
            message.role,
            message.text,
            [(part_id(c), c.tool_name, c.args) for c in message.tool_calls],
            [(part_id(r), r.tool_name, r.result) for r in message.tool_results],
        )
        for message in session.messages[example.before :]
    ]


def standard(example: Example) -> list[tuple[Any, ...]]:
    given = ID if example.ids else ""
    whole: list[tuple[Any, ...]] = [
        ("user", ASK, [], []),
        ("assistant", example.say, [(given, NAME, example.arguments)], []),
        ("tool", "", [], [(given, NAME, example.result)]),
        ("assistant", ANSWER, [], []),
    ]
    return [whole[index] for index in example.messages]


def read_or_fault(source: Source, form: str | None = None) -> str:
    """Read it all; the one error that is allowed, or nothing."""
    try:
        list(read_sessions(source, form))
    except InputFault as fault:
        return str(fault)
    return ""


def test_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(format_names())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_is_recognised_and_read_whole(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    path = on_disk(example, tmp_path)
    assert recognised(Source.open(path)).name == name
    loaded = next(iter(load_sessions(path)))
    assert loaded.format == name
    if example.messages:
        assert said(loaded.session, example) == standard(example)
    assert [tool.name for tool in loaded.session.tools] == [NAME] * example.tools
    assert any(record.at for record in loaded.session.requests) == example.times
    assert any(record.usage for record in loaded.session.requests) == example.usage
    assert len(loaded.session.recordings) == example.recordings
    assert [found for found in loaded.findings if found.severity != "info"] == []
    assert pg.load_session(path, format=name) == loaded.session


def one_of_each(value: Any) -> Any:
    """Cut each list to its first item."""
    if isinstance(value, dict):
        return {key: one_of_each(item) for key, item in value.items()}
    return [one_of_each(item) for item in value[:1]] if isinstance(value, list) else value


# whose first item is no span of a model, or nothing that only this format has
KNOWN_BY_LATER_ITEMS = {"otel-spans", "posthog-events", "gemini-cli-responses"}


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - KNOWN_BY_LATER_ITEMS))
def test_a_document_with_one_of_each_is_recognised(name: str) -> None:
    example = EXAMPLES[name]
    with suppress(ValueError, TypeError):  # a folder, or lines
        cut = document(one_of_each(json.loads(example.content)))  # type: ignore[arg-type]
        assert recognised(Source(example.name, cut)).name == name


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_read_can_be_written_and_read_again(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    loaded = next(iter(load_sessions(on_disk(EXAMPLES[name], tmp_path))))
    session, findings = loaded.session, [[f.code, f.where, f.message] for f in loaded.findings]
    golden({"session": json.loads(dump_session(session)), "findings": findings})
    again = first_session(Source("again.json", dump_session(session).encode()))
    assert again.session == session
    assert again.format == "playground"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_table_tells_what_a_format_keeps(name: str) -> None:
    """What an example has shows what the format's row must not deny."""
    example, keeps = EXAMPLES[name], get_format(name).keeps
    for has, told in (
        (example.tools, keeps.tools),
        (example.times, keeps.times),
        (example.usage, keeps.usage),
        (bool(example.recordings), keeps.chunks),
    ):
        assert not has or told != "no"


@pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if isinstance(e.content, bytes)])
def test_an_example_cut_off_anywhere_is_read_or_is_one_clear_error(name: str) -> None:
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    for stop in range(0, len(data), max(1, len(data) // 40)):
        message = read_or_fault(Source(EXAMPLES[name].name, data[:stop]))
        assert not message or (EXAMPLES[name].name in message and "\n" not in message)


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_a_spoiled_example_is_read_or_is_one_clear_error(
    name: str, place: int, noise: bytes
) -> None:
    data = EXAMPLES[name].content
    if not isinstance(data, bytes):
        return
    at = place % len(data)
    spoiled = data[:at] + noise + data[at + len(noise) :]
    assert "\n" not in read_or_fault(Source(EXAMPLES[name].name, spoiled))


LINES = st.sampled_from(
    [
        '{"a": 1}',
        '{"b": "é"}\r',
        "[1]",
        "",
        " ",
        "{",
        "x",
        '{"a": 1}{"b": 2}',
        '["\\ud83d"]',
        "1e400",
    ]
)


@given(st.lists(LINES, max_size=12), st.booleans())
def test_every_line_is_a_value_with_its_number_or_is_left_out(
    given_lines: list[str], ended: bool
) -> None:
    def values(line: str) -> list[Any] | None:
        if not line.strip():
            return []
        if line == '{"a": 1}{"b": 2}':  # two writers
            return [{"a": 1}, {"b": 2}]
        with suppress(ValueError):
            return ["1e400"] if line == "1e400" else [json.loads(line.replace("\\ud83d", "\ufffd"))]
        return None

    source = Source("x.jsonl", ("\n".join(given_lines) + "\n" * ended).encode())
    source.left_out = []
    read = list(source.lines())
    expected = [(n, values(line)) for n, line in enumerate(given_lines, 1)]
    assert read == [(n, value) for n, held in expected for value in held or ()]
    left = [fault.line for fault in source.left_out]
    torn = [int(f.where.split()[-1]) for f in source.findings if f.code == "torn-end"]
    assert left + torn == [n for n, held in expected if held is None]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object and list in a JSON value, with each of its keys."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(inner):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 499), st.booleans())
def test_no_odd_value_at_any_field_makes_a_reader_stumble(
    name: str, number: int, by_name: bool
) -> None:
    data = EXAMPLES[name].content
    if not isinstance(data, bytes) or data[:1] not in (b"{", b"["):
        return
    is_lines = EXAMPLES[name].name.endswith(("l", ".responses"))
    values = [json.loads(line) for line in (data.splitlines() if is_lines else [data])]
    fields = [place for place in places(values) if place[0] is not values]
    node, key = fields[number % len(fields)]
    before = node[key]
    for odd in [*ODD, {"a": None}, 10**400, "[", ["x"]]:
        node[key] = odd
        spoilt = "\n".join(map(json.dumps, values)).encode()
        read_or_fault(Source(EXAMPLES[name].name, spoilt), name if by_name else None)
    node[key] = before


TOLD: list[tuple[str, list[str | int], Any, str]] = [
    ("ai-sdk-spans", [0, 1, "attributes", "ai.response.toolCalls"], 7, "a call that is a int: '7'"),
    ("antigravity", ["tool_calls"], "x", "a str where a list is expected"),
    ("atif", ["steps", 1, "tool_calls"], {"a": 1}, "a dict where a list is expected"),
    ("atif", ["steps", 1, "observation", "results"], ["x"], "a str where an object is expected"),
    ("atif", ["steps", 1, "metrics"], "x", "a str where an object is expected"),
    ("gemini-cli-chat", ["toolCalls"], [None], "a NoneType where an object is expected"),
    ("har", ["log", "entries", 0, "response"], "x", "a response that is not a reply: '\"x\"'"),
    ("llama-stack-recording", ["request"], "x", "a request that cannot be read"),
    ("openhands-events", ["tool_call_metadata"], "x", "a str where an object is expected"),
    ("swe-agent", ["info"], "x", "a str where an object is expected"),
    ("tau-bench", [0, 0], "x", "a str where an object is expected"),
    ("zed-thread", ["tool_results"], "x", "a str where a list is expected"),
]


@pytest.mark.parametrize(("name", "path", "odd", "told"), TOLD)
def test_what_an_odd_value_leaves_out_is_a_finding(
    name: str, path: list[str | int], odd: Any, told: str
) -> None:
    """At that path, which begins at the first field of its first name."""
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    is_lines = EXAMPLES[name].name.endswith("l")
    values = [json.loads(line) for line in (data.splitlines() if is_lines else [data])]
    *steps, last = path
    node = next(node for node, key in places(values) if key == path[0])
    for step in steps:
        node = node[step]
    node[last] = odd
    spoilt = "\n".join(map(json.dumps, values)).encode()
    try:
        loaded = list(read_sessions(Source(EXAMPLES[name].name, spoilt), name))
        found = [finding.message for each in loaded for finding in each.findings]
    except InputFault as fault:  # where nothing else is in it
        found = [fault.problem]
    assert any(told in message for message in found), found


_SAID = "a grafted text"
_GRAFTS: list[Any] = [
    {"role": "user", "content": _SAID},
    [{"from": "human", "value": _SAID}],
    [{"messages": [{"role": "user", "content": _SAID}]}],
    _SAID,
]


# An earlier answer's calls are read from the request behind it, which repeats them.
_SAID_AGAIN: Final = {("atof", "tool_calls")}


def shown_whole(session: Session) -> dict[str, object]:
    """All that a session holds; its own text is short."""
    return {field.name: getattr(session, field.name) for field in fields(session)}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_strange_message_in_the_place_of_any_list_is_kept_or_told(name: str) -> None:
    example = EXAMPLES[name]
    if not isinstance(example.content, bytes) or not example.name.endswith(("json", "jsonl")):
        return
    is_lines = example.name.endswith("l")
    values = [
        json.loads(line)
        for line in (example.content.splitlines() if is_lines else [example.content])
    ]
    for node, key in list(places(values)):
        held = node[key]
        if not _is_list_of_messages(held) or (name, key) in _SAID_AGAIN:
            continue
        for graft in _GRAFTS:
            node[key] = graft
            spoilt = "\n".join(map(json.dumps, values)).encode()
            with suppress(InputFault):
                loaded = list(read_sessions(Source(example.name, spoilt)))
                told = any(each.findings for each in loaded)
                assert told or _SAID in repr([shown_whole(each.session) for each in loaded]), (
                    key,
                    graft,
                )
        node[key] = held


def _is_list_of_messages(value: Any) -> bool:
    keys = {"role", "from", "type", "message", "content", "text"}
    found = (
        isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    )
    return found and all(keys & each.keys() for each in value)


def test_what_nobody_foresaw_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_resort, "UNEXPECTED_ERRORS", (KeyError,))
    resort = last_resort.unexpected_as_fault(
        "not in the form of a diary", where="x.json", expected="another"
    )
    with pytest.raises(InputFault) as fault, resort:
        raise KeyError("day")
    told = "x.json: not in the form of a diary (KeyError: 'day'); expected another"
    assert str(fault.value) == told


ODD: list[Any] = [None, True, -1, 1e400, "", "x", "\ud800", [], {}, [None], {"role": "user"}]


def spoiled(value: Any, random: Random) -> Any:
    """A JSON value with one thing in it replaced, taken away or put elsewhere."""
    if isinstance(value, dict) and value:
        key = random.choice(list(value))
        if random.random() < 0.5:
            return {**value, key: spoiled(value[key], random)}
        kept = {k: v for k, v in value.items() if k != key}
        return random.choice([{**value, key: random.choice(ODD)}, kept, {**kept, "x": value[key]}])
    if isinstance(value, list) and value:
        index = random.randrange(len(value))
        if random.random() < 0.5:
            return [*value[:index], spoiled(value[index], random), *value[index + 1 :]]
        return random.choice([value[::-1], value[:index], [*value, random.choice(ODD)]])
    return random.choice(ODD)


@given(st.sampled_from(sorted(EXAMPLES)), st.randoms(use_true_random=False), st.booleans())
def test_an_example_with_values_replaced_and_lines_swapped_is_read_or_refused(
    name: str, random: Random, by_name: bool
) -> None:
    data = EXAMPLES[name].content
    if not isinstance(data, bytes) or data[:1] not in (b"{", b"["):
        return
    if EXAMPLES[name].name.endswith(("l", ".responses")):
        values = [json.loads(line) for line in data.splitlines()]
        random.shuffle(values)
        data = "".join(f"{json.dumps(spoiled(value, random))}\n" for value in values).encode()
    else:
        data = json.dumps(spoiled(json.loads(data), random)).encode()
    message = read_or_fault(Source(EXAMPLES[name].name, data), name if by_name else None)
    assert "\n" not in message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["user", "text", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "parts", "text", "id", "tool_calls", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(FORMATS), JSON)
def test_any_json_asked_for_as_any_format_is_read_or_refused(form: Any, value: Any) -> None:
    for data, name in ((document(value), "x.json"), (lines(value, value), "x.jsonl")):
        assert "\n" not in read_or_fault(Source(name, data), form.name)


# several sessions, writing


def test_all_sessions_of_a_file_are_read_and_the_first_is_said_to_be_one_of_them() -> None:
    data = EXAMPLES["openai-lines"].content
    assert isinstance(data, bytes)
    assert len(list(read_sessions(Source("f.jsonl", data)))) == 2
    loaded = first_session(Source("f.jsonl", data))
    assert [finding.code for finding in loaded.findings] == ["more-sessions"]


@pytest.mark.parametrize(
    ("choice", "said", "lost"),
    [
        ({"finish_reason": "stop"}, "", ["a choice without a message"]),
        ({"message": {"content": "Hi"}}, "Hi", []),
        ({"delta": {"content": "Hi"}}, "Hi", []),
        ({"text": "Hi"}, "Hi", []),
    ],
)
def test_a_choice_is_read_or_said_to_be_without_a_message(
    choice: dict[str, Any], said: str, lost: list[str]
) -> None:
    asked = {"model": "m", "messages": [OPENAI[0]]}
    row = {"request": asked, "response": {"object": "chat.completion", "choices": [choice]}}
    loaded = first_session(Source("r.jsonl", lines(row)))
    assert loaded.session.messages[-1].text == said
    assert [each.message for each in loaded.findings if each.code == "part-lost"] == lost


@pytest.mark.parametrize("key", ["system", "instructions", "system_prompt"])
def test_a_body_may_call_its_system_prompt_as_agents_do(key: str) -> None:
    body = {"messages": [{"role": "user", "content": "When?"}], key: "You keep the harbour."}
    said = [each.text for each in load_session(body).messages]
    assert said == ["You keep the harbour.", "When?"]


def test_one_of_several_sessions_is_chosen_in_the_name_of_the_file(tmp_path: Path) -> None:
    said = ["alpha", "beta", "gamma"]
    odd = tmp_path / "odd#2"  # a file of such a name is that file
    for path in (tmp_path / "chats.jsonl", odd):
        rows = [{"messages": [{"role": "user", "content": text}]} for text in said]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = str(tmp_path / "chats.jsonl")
    for number, text in enumerate(said, 1):
        loaded = first_session(Source.open(f"{file}#{number}"))
        assert loaded.session.messages[0].text == text
        assert "more-sessions" not in [each.code for each in loaded.findings]
        assert [each.session for each in load_sessions(f"{file}#{number}")] == [loaded.session]
    assert load_session(file).messages[0].text == load_session(odd).messages[0].text == "alpha"
    assert load_session(f"{odd}#3").messages[0].text == "gamma"
    with pytest.raises(InputFault, match=r"chats\.jsonl#4: it holds 3 sessions; expected .* 3"):
        load_session(f"{file}#4")
    with pytest.raises(InputFault, match="No such file"):
        load_session(f"{file}#0")


def test_a_file_that_is_read_whole_has_no_session_to_choose(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "look", "input_schema": {"type": "object"}}]))
    with pytest.raises(InputFault, match=r"tools\.json#2: session 2 .* expected .* without #2"):
        pg.load_tools(f"{tools}#2")
    assert [each.name for each in pg.load_tools(tools)] == ["look"]


def test_many_sessions_go_into_a_folder_or_into_lines(tmp_path: Path) -> None:
    sessions = [Session(title="a/b"), Session(title="a/b"), Session()]
    for out in (tmp_path / "folder", tmp_path / "all.jsonl", tmp_path / "some.json"):
        with Writer(str(out)) as writer:
            for session in sessions:
                writer.write(session)
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == [
        "a-b-2.json",
        "a-b.json",
        "session.json",
    ]
    assert [x.session for x in load_sessions(tmp_path / "all.jsonl")] == sessions
    assert pg.load_session(tmp_path / "some.json") == sessions[0]
    assert sorted(p.name for p in (tmp_path / "some").iterdir()) == ["a-b.json", "session.json"]


@given(st.lists(st.sampled_from(["a", "A", "a-2", "a/2", "", "session", "\U00020000" * 90])))
def test_each_session_of_a_folder_has_a_file_of_its_own(titles: list[str]) -> None:
    """A second session `a` is `a-2`: a third one of that title took its place, with --force."""
    with TemporaryDirectory() as folder:
        with Writer(folder, force=True) as writer:
            paths = [writer.write(Session(title=title)) for title in titles]
        names = [Path(path).name for path in paths]
        assert len({name.lower() for name in names}) == len(titles)  # as some systems tell them
        assert [pg.load_session(path).title for path in paths] == titles


def test_lines_are_sessions_and_no_other_form(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="atif") as told, Writer(str(tmp_path / "a.jsonl"), "atif"):
        pass
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_atif_there_and_back(tmp_path: Path) -> None:
    for name in EXAMPLES:
        session = next(iter(load_sessions(on_disk(EXAMPLES[name], tmp_path)))).session
        written = dump_atif(session)
        again = first_session(Source("x.json", written.encode()))
        assert again.format == "atif"
        assert [(m.role, m.parts) for m in again.session.messages] == [
            (m.role, m.parts) for m in session.messages
        ]
        assert again.session.tools == session.tools
        if session.agent.name:
            known = replace(again.session.agent, sub_agent=session.agent.sub_agent)
            assert replace(known, session=session.agent.session) == session.agent
            assert not session.agent.session or known.session == session.agent.session
        lost = {part for m in session.messages for part in m.parts if hasattr(part, "signature")}
        assert bool(without_field(session)) == (
            any(part.signature for part in lost) or any(r.stop_reason for r in session.requests)
        )
        assert [r.usage for r in again.session.requests if r.usage] == [
            r.usage for r in session.requests if r.usage
        ]


def test_atif_takes_an_address_without_a_known_ending_for_a_png() -> None:
    urls = ["https://a.jp", "https://a/b.JPG", "https://a/b.gif", "data:image/webp;base64,AAAA"]
    images = Message("user", tuple(map(ImagePart, urls)))
    content = json.loads(dump_atif(pg.Session(messages=(images,))))["steps"][0]["message"]
    kinds = [part["source"]["media_type"] for part in content]
    assert kinds == ["image/png", "image/jpeg", "image/gif", "image/webp"]


@beside
def test_atif_is_of_its_published_schema(tmp_path: Path) -> None:
    schema = json.loads((SHARED.parent / "session_formats" / "atif.schema.json").read_text())
    validator = validator_for(schema)(schema)
    sessions = [next(iter(load_sessions(on_disk(e, tmp_path)))).session for e in EXAMPLES.values()]
    for session in [*sessions, *pg.sample_sessions().values()]:
        validator.validate(json.loads(dump_atif(session)))


# the doctor


def turn(role: str, *parts: Part) -> Message:
    return Message(role, parts)  # type: ignore[arg-type]


def call(given: str, name: str = "t") -> ToolCallPart:
    return ToolCallPart(given, name, {})


def result(given: str, name: str = "") -> ToolResultPart:
    return ToolResultPart(given, name, "r")


USER = turn("user", TextPart("q"))


def codes(*messages: Message) -> list[str]:
    return [finding.code for finding in check(Session(messages=messages))]


def test_the_doctor_sees_what_is_out_of_order() -> None:
    assert codes(USER, turn("assistant", call("1")), turn("tool", result("1"))) == []
    assert codes(USER, turn("tool", result("9"))) == ["orphan-result"]
    assert codes(USER, turn("assistant", call("1")), USER) == ["missing-result"]
    twice = (turn("assistant", call("1")), turn("tool", result("1")))
    assert codes(USER, *twice, *twice) == ["duplicate-id"]
    assert codes(USER, *twice, turn("tool", result("1"))) == ["duplicate-id"]
    assert codes(USER, turn("assistant", call("")), turn("tool", result(""))) == ["missing-id"] * 2
    assert codes(USER, turn("assistant")) == ["empty-message"]
    assert codes(USER, turn("system", TextPart("s"))) == ["role-order"]
    assert codes(turn("assistant", TextPart("a")), USER) == ["role-order"]


def test_what_is_so_of_all_calls_is_told_once() -> None:
    """Cline sends results as the user's text: forty lines said so of a task."""
    asked = [turn("assistant", call(str(n))) for n in range(40)]
    turns = [each for pair in zip(asked, [USER] * 40, strict=True) for each in pair]
    (found,) = check(Session(messages=(USER, *turns)))
    assert found.code == "missing-result"
    assert found.where == "messages.1"
    assert found.message == "40 calls, and no result at all; the first: the call '0' has no result"
    answered = (turn("assistant", call("x")), turn("tool", result("x")))
    assert codes(USER, *turns, *answered) == ["missing-result"] * 40


def test_a_repair_moves_all_that_names_a_message() -> None:
    """What a reply should have been stayed at the index of another one."""
    session = Session(
        messages=(USER, turn("user"), turn("assistant", TextPart("a")), USER),
        requests=(RequestRecord(reply=2, model="m"),),
        compactions=(Compaction(message=3),),
        expected=(ExpectedReply(message=2), ExpectedReply(message=4)),
    )
    mended, done = repair(session)
    assert len(done) == 1
    assert [each.message for each in mended.expected] == [1, 3]
    assert [each.reply for each in mended.requests] == [1]
    assert [each.message for each in mended.compactions] == [2]


def test_calls_in_text_are_told_of_in_every_dialect_that_marks_them() -> None:
    calls = [ToolCallPart("c", "look", {"path": "a.py"})]
    told: dict[str, bool] = {}
    for name in pg.dialect_names():
        dialect = pg.get_dialect(name)
        if not isinstance(dialect, DeclaredDialect):
            continue
        text = dialect.format_reply(calls, [])
        own = [opener for opener in dialect.syntax.openers if opener in text]
        told[name] = codes(USER, turn("assistant", TextPart(f"I look.\n\n{text}"))) != []
        marks = any(re.search(r"[<\[]\W*\w{3}", opener) for opener in own)
        assert told[name] == (marks and not dialect.syntax.text_keys), text
    assert sum(told.values()) > len(told) / 2
    assert told["hermes"] and told["kimi-k2"] and not told["pythonic"]


def test_no_call_in_text_is_told_of_in_prose_tables_and_code() -> None:
    for text in (
        "It begins with `<tool_call>`, and `</tool_call>` ends it.",
        "The parser waits for <function= and [TOOL_CALLS] before a name.",
        "<html><code>\nprint(1)\n</code><tool/></html>",
        "| opener | of |\n|---|---|\n| `<invoke name=` | Claude |\n| `<|tool_call` | others |",
        "```cpp\nstd::vector<function<void(int)>> calls[3];\n```",
        "A[index] <tools/> [[ ## outputs ## ]] <|endoftext|>",
    ):
        assert codes(USER, turn("assistant", TextPart(text))) == [], text


def test_findings_name_the_line_and_the_field() -> None:
    done = {"role": "tool", "tool_call_id": "9", "content": "r"}
    loaded = first_session(Source("m.jsonl", lines(*({"message": m} for m in [OPENAI[0], done]))))
    assert [(f.code, f.where) for f in loaded.findings] == [
        ("orphan-result", "messages.1 (line 2, message)")
    ]
    odd = {"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "audio"}]}
    loaded = first_session(Source("x.json", document({"messages": [odd]})))
    assert [(f.code, f.where) for f in loaded.findings] == [("part-lost", "messages.0.content.1")]


def test_what_can_be_mended_in_one_way_is_mended() -> None:
    session = Session(
        messages=(
            USER,
            turn("assistant", call("", "a"), call("", "b")),
            turn("tool", result("", "b")),
            turn("tool", result("lost", "a")),
            turn("user"),
        )
    )
    mended, done = repair(session)
    assert check(mended) == []
    assert [c.tool_call_id for m in mended.messages for c in m.tool_calls] == ["call_1", "call_2"]
    assert [r.tool_call_id for m in mended.messages for r in m.tool_results] == ["call_2", "call_1"]
    assert len(done) == 5
    assert repair(mended) == (mended, [])


def test_a_pair_that_is_found_may_leave_only_one_way_for_another() -> None:
    calls, results = turn("assistant", call("", "t"), call("", "u")), turn("tool", result(""))
    messages = (USER, calls, results, turn("tool", result("", "t")))
    mended, _ = repair(Session(messages=messages))
    assert [r.tool_call_id for m in mended.messages for r in m.tool_results] == ["call_2", "call_1"]


def test_what_could_be_mended_in_two_ways_stays() -> None:
    session = Session(
        messages=(USER, turn("assistant", call("1"), call("2")), turn("tool", result("9")))
    )
    assert repair(session) == (session, [])


PARTS = st.one_of(
    st.builds(TextPart, st.sampled_from(["a", "b"])),
    st.builds(call, st.sampled_from(["", "1", "2", "call_1"]), st.sampled_from(["t", "u"])),
    st.builds(result, st.sampled_from(["", "1", "2", "9"]), st.sampled_from(["", "t", "u"])),
)
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.lists(PARTS, max_size=3).map(tuple),
    ),
    max_size=6,
).map(tuple)


@given(MESSAGES)
def test_a_repair_loses_no_part_and_needs_no_other(messages: tuple[Message, ...]) -> None:
    session = Session(messages=messages)
    mended, done = repair(session)
    kinds = [[type(p) for m in s.messages for p in m.parts] for s in (session, mended)]
    assert kinds[0] == kinds[1]
    assert len(check(mended)) <= len(check(session))
    assert bool(done) == (mended != session)
    assert repair(mended) == (mended, [])


def test_a_repaired_import_keeps_its_other_findings() -> None:
    odd = {"role": "user", "content": [{"type": "audio"}]}
    loaded = first_session(Source("x.json", document({"messages": [odd, OPENAI[0]]})))
    assert [f.code for f in loaded.findings] == ["part-lost", "empty-message"]
    mended, done = repaired(loaded)
    assert [f.code for f in mended.findings] == ["part-lost"]
    assert len(done) == 1


# bad files


def fault(name: str, data: bytes) -> str:
    with pytest.raises(InputFault) as caught:
        list(read_sessions(Source(name, data)))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_truncated_zip() -> None:
    data = EXAMPLES["inspect-log"].content
    assert isinstance(data, bytes)
    assert fault("log.eval", data[:-30]).startswith("log.eval: the zip cannot be read")


def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = zipped({"header.json": b"{}", "samples/1.json": b" " * 300_000_000})
    message = fault("log.eval", bomb)
    assert "2 files of 286 MB" in message
    assert "200-fold compression" in message


def test_a_zip_that_lies_about_its_sizes() -> None:
    data = bytearray(zipped({"header.json": b"{}" + b" " * 5_000}))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        info = archive.infolist()[0]
    size = info.file_size.to_bytes(4, "little")
    while size in data:
        data[data.index(size) : data.index(size) + 4] = (7).to_bytes(4, "little")
    assert "the zip cannot be read" in fault("log.eval", bytes(data))


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/evil", "a/../../evil", "C:evil", "..\\evil"]
)
def test_a_name_that_leads_out_of_the_zip(name: str) -> None:
    data = zipped({"header.json": b"{}", name: b"{}"})
    assert "a name that points outside the zip" in fault("log.eval", data)


def test_a_yaml_bomb_and_a_tag() -> None:
    bomb = "interactions:\n- &a0 [x, x]\n" + "".join(
        f"- &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    assert "aliases that expand to too many values" in fault("c.yaml", bomb.encode())
    itself = "interactions: &a\n- *a\n"
    assert "aliases that expand to too many values" in fault("c.yaml", itself.encode())
    tag = "interactions:\n- !!python/object/apply:os.system ['true']\n"
    assert fault("c.yaml", tag.encode()).startswith("c.yaml:2: not plain YAML: could not determine")


def test_what_yaml_says_in_several_lines_is_one_line_here() -> None:
    assert "not plain YAML: " in fault("c.yaml", b"interactions:\n- \0\n")


def test_aliases_that_share_a_value_are_fine() -> None:
    body = json.dumps({"messages": OPENAI[:1]})
    text = f"interactions:\n- request: &r {{body: '{body}'}}\n- request: *r\n"
    sessions = list(read_sessions(Source("c.yaml", text.encode())))
    assert [len(x.session.messages) for x in sessions] == [1, 1]


def test_lines_end_at_line_feeds_alone() -> None:
    text = "a\u2028b\u2029c\u0085d\x1ee\x0bf"
    data = lines({"message": {"role": "user", "content": text}}, {"message": OPENAI[3]})
    assert first_session(Source("m.jsonl", data)).session.messages[0].text == text


def test_a_line_that_is_cut_off_is_a_finding_and_what_is_whole_is_kept() -> None:
    for name in ("openai-lines", "claude-code", "codex-rollout", "message-lines"):
        data = EXAMPLES[name].content
        assert isinstance(data, bytes)
        whole = list(read_sessions(Source("f.jsonl", data)))
        torn = list(read_sessions(Source("f.jsonl", data + b'{"type": "user", "messages": [oo')))
        assert [x.session for x in torn] == [x.session for x in whole], name
        number = data.count(b"\n") + 1
        ends = [f for x in torn for f in x.findings if f.code == "torn-end"]
        assert [(f.severity, f.where) for f in ends] == [("error", f"line {number}")]
        assert "not JSON" in ends[0].message


def test_a_bad_line_between_others_is_named_and_the_others_are_kept() -> None:
    good = lines({"messages": OPENAI})
    sessions = list(read_sessions(Source("f.jsonl", good + b'{"messages": oops\n' + good)))
    assert [len(x.session.messages) for x in sessions] == [4, 4]
    assert [[(f.code, f.where) for f in x.findings] for x in sessions] == [
        [],
        [("unreadable-line", "line 2")],
    ]
    assert "Expecting value, column 14" in sessions[1].findings[0].message
    message = fault("f.jsonl", good + b"oops\n" * 3 + b'{"x": 1}\n')
    assert message.startswith("f.jsonl:2: not JSON")


def test_a_document_that_is_cut_off_keeps_what_is_whole() -> None:
    data = document({"model": "m", "messages": OPENAI})
    cut = data.rindex(b'"role"')
    loaded = first_session(Source("x.json", data[:cut]))
    assert [m.role for m in loaded.session.messages] == ["user", "assistant", "tool"]
    assert "torn-end" in [f.code for f in loaded.findings]
    assert "not JSON" in fault("x.json", b'{"messages": oops}')


def test_a_document_that_is_spoiled_keeps_what_is_whole_before() -> None:
    for before, after in ((b"", b""), (b"[", b"]")):
        data = before + document({"model": "m", "messages": OPENAI}) + after
        place = data.rindex(b'"role"')
        loaded = first_session(Source("x.json", data[:place] + b"oops" + data[place:]))
        assert [m.role for m in loaded.session.messages] == ["user", "assistant", "tool"]
        (spoiled,) = [found for found in loaded.findings if found.code == "spoiled-rest"]
        line = data.count(b"\n", 0, place) + 1
        assert (spoiled.severity, spoiled.where) == ("error", f"line {line}")


def test_a_document_that_is_cut_inside_a_character_keeps_what_is_whole() -> None:
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "é🦊"}]
    data = json.dumps({"messages": said}, ensure_ascii=False).encode()
    for cut in range(data.index("é".encode()), data.index(b'"}]')):
        loaded = first_session(Source("x.json", data[:cut]))
        assert loaded.session.messages[0].text == "a"
        assert "torn-end" in [found.code for found in loaded.findings]


def cassette(count: int) -> bytes:
    def exchange(number: int) -> dict[str, Any]:
        asked = {"role": "user", "content": f"question {number}: {'x ' * 60}"}
        said = {"message": {"role": "assistant", "content": f"answer {number}"}}
        request = {"body": json.dumps({"model": "m", "messages": [asked]}), "method": "POST"}
        response = {"body": {"string": json.dumps({"choices": [said]})}, "status": {"code": 200}}
        return {"request": {**request, "headers": {"Accept": ["*/*"]}}, "response": response}

    whole = {"interactions": [exchange(number) for number in range(count)], "version": 1}
    return yaml.safe_dump(whole).encode()


def test_a_torn_cassette_keeps_the_exchanges_before_the_tear() -> None:
    data = cassette(4)
    items = [match.start() for match in re.finditer(rb"^- request", data, re.M)]
    for cut in range(items[2], data.index(b"version"), 3):
        sessions = list(read_sessions(Source("c.yaml", data[:cut])))
        number = sum(item < cut for item in items)
        asked = [session.session.messages[0].text[:10] for session in sessions]
        assert asked[: number - 1] == [f"question {n}" for n in range(number - 1)]
        codes = {found.code for session in sessions for found in session.findings}
        answered = sum("assistant" in [m.role for m in s.session.messages] for s in sessions)
        told = codes & {"torn-end", "spoiled-rest", "lines-left-out", "part-lost"}
        assert answered == number or told, cut


def test_a_cassette_that_is_spoiled_in_the_middle_keeps_what_is_before() -> None:
    data = cassette(4)
    place = data.index(b"question 2")
    sessions = list(read_sessions(Source("c.yaml", data[:place] + b'"' + data[place:] + b": : {")))
    assert len(sessions) >= 2
    tagged = b"interactions:\n- request: !!python/object:os.system {}\n- request: {}\n"
    assert "not plain YAML" in fault("c.yaml", tagged)


@pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if isinstance(e.content, bytes)])
def test_a_cut_that_can_be_seen_is_told(name: str) -> None:
    """Cut between two lines a file of lines is whole, and so is a last line that only lacks its
    end; anywhere else what is missing shows: there is a finding, or the file is refused."""
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    whole = data.rstrip()
    for stop in range(1, len(whole), max(1, len(whole) // 40)):
        if data[:stop].endswith(b"\n") or data[stop : stop + 1] == b"\n":
            continue
        with suppress(InputFault):
            sessions = list(read_sessions(Source(EXAMPLES[name].name, data[:stop])))
            assert any(loaded.findings for loaded in sessions), data[max(0, stop - 60) : stop]


def without_one(value: Any) -> Iterator[tuple[str, Any]]:
    """A JSON value without any one of the values in it, and which that was."""
    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    pairs = enumerate(value) if isinstance(value, list) else pairs
    for key, held in pairs:
        rest = dict(value) if isinstance(value, dict) else list(value)
        del rest[key]
        yield str(key), rest
        for path, inner in without_one(held):
            rest = dict(value) if isinstance(value, dict) else list(value)
            rest[key] = inner
            yield f"{key}.{path}", rest


# What is said twice in a file: without the one the other is not read.
TWICE = {
    "ai-sdk-spans": "an answer, by the request's span and the program's",
    "request-rows": "what was said, by each request",
    "openhands-events": "what was said beside a call, by the reply and the action",
    "copilot-chat": "an answer, by its round and by what the window shows",
    "claude-ai-export": "a message, by its content and its text",
    "atof": "an answer, by its scope and by the requests behind it",
    "otel-spans": "messages whose attribute has lost its name are no messages",
}


@pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if isinstance(e.content, bytes)])
def test_whatever_is_taken_out_the_rest_is_read_or_told(name: str) -> None:
    """Without any one value of its JSON an example is refused, or has a finding, or every text
    that still stands in it is in the session."""
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    joined: Callable[[Any], bytes] = document
    try:
        value = json.loads(data)
    except ValueError:
        try:
            value, joined = [json.loads(line) for line in data.splitlines()], _as_lines
        except ValueError:
            return  # no JSON
    missed = []
    for path, spoiled in without_one(value):
        text = joined(spoiled)
        with suppress(InputFault):
            sessions = list(read_sessions(Source(EXAMPLES[name].name, text)))
            if not any(loaded.findings for loaded in sessions):
                held = b"".join(dump_session(loaded.session).encode() for loaded in sessions)
                missed += [(path, said) for said in SAID if said in text and said not in held]
    assert len(missed) <= (3 if name in TWICE else 0), missed


SAID = [json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in (ASK, SAY, ANSWER, RESULT)]


def _as_lines(values: list[Any]) -> bytes:
    return lines(*values)


def test_a_line_of_another_format_is_a_finding() -> None:
    data = lines({"messages": OPENAI}, {"conversations": []}, {"messages": OPENAI})
    sessions = list(read_sessions(Source("f.jsonl", data)))
    assert [[f.code for f in x.findings] for x in sessions] == [[], ["mixed-formats"], []]


def test_half_characters_are_replaced_in_every_format() -> None:
    data = b'{"messages": [{"role": "user", "content": "a\\ud83d b"}]}'
    for name, where in (("x.json", "messages.0.content"), ("x.jsonl", "line 1.messages.0.content")):
        loaded = first_session(Source(name, data))
        assert loaded.session.messages[0].text == "a\ufffd b"
        assert [(f.code, f.where) for f in loaded.findings] == [("lone-surrogate", where)]
        assert dump_session(loaded.session).encode()


def test_what_is_odd_in_the_last_line_is_told_once_and_of_that_line() -> None:
    lines = [json.dumps({"role": "user", "content": text}) for text in ("one", "two \ud800")]
    source = Source("x.jsonl", "\n".join(lines).encode())
    assert len(list(source.lines())) == 2
    assert [(f.code, f.where) for f in source.findings] == [("lone-surrogate", "line 2.content")]


def test_a_line_of_a_megabyte_and_a_nul() -> None:
    text = "\0" + "x" * 1_000_000
    data = lines({"messages": [{"role": "user", "content": text}]}, {"messages": OPENAI})
    assert next(read_sessions(Source("f.jsonl", data))).session.messages[0].text == text


def test_nothing_of_a_file_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "{{ cycler.__init__.__globals__.os.system('touch pwned') }}"
    data = document({"messages": [{"role": "user", "content": evil}]})
    session = first_session(Source("x.json", data)).session
    assert session.messages[0].text == evil
    pg.compare(session, ["xml", "native"])
    assert not list(tmp_path.iterdir())


def test_a_format_by_a_wrong_name_and_a_file_of_another_one() -> None:
    with pytest.raises(pg.errors.UnknownNameError, match="unknown format 'x'; the nearest of "):
        first_session(Source("x.json", b"{}"), "x")
    message = fault_as("har", b'{"log": 3}')
    assert message == (
        "x.json, field log.entries: not in the form of HTTP archive (HAR) (no list);"
        " expected the format har, or another one by name"
    )
    assert "not in the form of nock fixture (no list)" in fault_as("nock", b'{"log": 3}')
    assert "not in the form of ATIF trajectory (no object)" in fault_as("atif", b"[]")


def fault_as(form: str, data: bytes) -> str:
    with pytest.raises(InputFault) as caught:
        first_session(Source("x.json", data), form)
    return str(caught.value)


# other projects' files


@beside
def test_every_example_of_the_formats_is_read() -> None:
    paths = [p for p in SHARED.rglob("*") if p.is_file() and ".chatml." not in p.name]
    read = {}
    for path in sorted(paths):
        folder = path.relative_to(SHARED).parts[0]
        if folder in ("other-agents", "dspy-history", "opencode") or path.parent == SHARED:
            continue
        if path.suffix == ".md":
            continue
        loaded = list(load_sessions(path))
        read[path] = loaded
        assert loaded, path
    assert len(read) > 90
    named = {"cline-nock": "nock", "gemini-cli-recorded-responses": "gemini-cli-responses"}
    for path, sessions in read.items():
        folder = path.relative_to(SHARED).parts[0]
        form = sessions[0].format
        alike = named.get(folder, folder)
        assert alike.split("-")[0].removesuffix("s") in form or form == "openai-chat", path
    opencode = list(load_sessions(SHARED / "opencode"))
    assert [len(x.session.messages) for x in opencode] == [3, 5, 3]


def flat(builder: SessionBuilder) -> list[tuple[Any, ...]]:
    """Messages for comparison; results one by one, since formats group them differently."""
    found: list[tuple[Any, ...]] = []
    for message in builder.messages:
        results = [(r.tool_call_id, _value(r.result)) for r in message.tool_results]
        calls = [(c.tool_name, c.args) for c in message.tool_calls]
        if message.text or calls or not results:
            found.append((message.role, message.text, calls))
        found += [("tool", *pair) for pair in results]
    return found


def _value(result: Any) -> Any:
    try:
        return json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return result


# Langfuse's adapter turns this function's result into a user's text; it is a result
LANGFUSE_DIFFERENCES = {
    ("google-adk-2025-08-28", "bded677884f031ce", "input"),
    ("koog-2025-08-26", "e44e72cf2d221781", "input"),  # calls in a tool's message: calls to us
}


@beside
def test_langfuses_own_reading_of_twenty_frameworks() -> None:
    compared = 0
    for path in sorted((SHARED / "langfuse-trace").glob("*.chatml.json")):
        name = path.name.split("__")[1].removesuffix(".chatml.json")
        trace = json.loads(path.with_name(path.name.replace("chatml", "trace")).read_text())
        observations = {item["id"]: item for item in trace["observations"]}
        for known, sides in json.loads(path.read_text()).items():
            for side, role in (("input", "user"), ("output", "assistant")):
                golden = sides.get(side, {})
                chat = [
                    m
                    for m in golden.get("data") or ()
                    if m.get("role") and (m.get("content") is not None or m.get("tool_calls"))
                ]
                if not chat or (name, known, side) in LANGFUSE_DIFFERENCES:
                    continue
                given = observations[known]
                ours, theirs = SessionBuilder(), SessionBuilder()
                read_messages(ours, chat_messages(given[side], role), Place())
                read_messages(theirs, [{**m, "type": None} for m in chat], Place())
                assert flat(ours) == flat(theirs), (name, known, side)
                wanted = {tool["name"] for m in golden["data"] for tool in m.get("tools", ())}
                found = SessionBuilder()
                found.add_tools(chat_tools(given[side], given.get("metadata")), Place())
                assert side == "output" or wanted <= {t.name for t in found.finish().tools}
                compared += 1
    assert compared == 84


def asked(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant") * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def har(requests: list[list[dict[str, str]]]) -> bytes:
    url = "https://x/v1/chat/completions"
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "."}}]})
    entries = [
        {
            "request": {"url": url, "postData": {"text": json.dumps({"messages": said})}},
            "response": {"status": 200, "content": {"text": answer}},
        }
        for said in requests
    ]
    return document({"log": {"version": "1.2", "entries": entries}})


def test_a_request_goes_on_with_the_conversation_that_it_repeats_most_of(tmp_path: Path) -> None:
    """Two began alike, and the one that began later was taken although it had said less."""
    first = [asked("hi"), asked("hi", "a", "b")]
    given = [*first, asked("hi"), asked("hi", "a", "b", "c", "d"), asked("other")]
    (tmp_path / "x.har").write_bytes(har(given))
    sessions = [found.session for found in load_sessions(tmp_path / "x.har")]
    assert [len(found.rows) for found in sessions] == [3, 1, 1]
    assert [len(found.messages) for found in sessions] == [6, 2, 2]


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_request_names_the_answer_that_it_got(name: str, tmp_path: Path) -> None:
    for loaded in load_sessions(on_disk(EXAMPLES[name], tmp_path)):
        messages = loaded.session.messages
        assert {messages[each.reply].role for each in loaded.session.requests} <= {"assistant"}


def test_a_bill_is_the_answers_where_a_tool_of_the_providers_spoke_last() -> None:
    """An answer that paused behind a search: its bill stood with the tool's result."""
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    ]
    reply = {
        "type": "message", "role": "assistant", "model": "m", "stop_reason": "pause_turn",
        "usage": {"input_tokens": 5, "output_tokens": 2}, "content": content,
    }  # fmt: skip
    events = [
        {"type": "message_start", "message": {**reply, "content": []}},
        *(
            {"type": "content_block_start", "index": number, "content_block": block}
            for number, block in enumerate(content)
        ),
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    stream = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)
    for name, data in (("r.json", document(reply)), ("s.sse", stream)):
        session = first_session(Source(name, data)).session
        assert [message.role for message in session.messages] == ["assistant", "tool"]
        assert [each.reply for each in session.requests] == [0]


def _events(*scopes: tuple[str, str, Any, Any]) -> bytes:
    """A log of ATOF: of each scope its category, its call's id, what it was given and made."""
    events = [
        {
            "atof_version": "0.1", "uuid": str(number), "category": category, "data": data,
            "scope_category": step, "name": "t", "category_profile": {"tool_call_id": call_id},
        }
        for number, (category, call_id, given, made) in enumerate(scopes)
        for step, data in (("start", given), ("end", made))
    ]  # fmt: skip
    return lines(*events)


def _many_tools(count: int) -> bytes:
    asked = {"content": {"model": "m", "messages": [{"role": "user", "content": "go"}]}}
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "t", "arguments": "{}"}}
        for n in range(count)
    ]
    answer = {"assistant_message": {"role": "assistant", "content": "", "tool_calls": calls}}
    tools: list[Any] = [("tool", f"c{n}", {}, "gave") for n in range(count)]
    return _events(("llm", "", asked, answer), *tools)


def _hosted_tools(count: int) -> bytes:
    parts = [
        {"type": "server_tool_use", "id": f"s{n}", "name": f"t{n}", "input": {}}
        for n in range(count)
    ]
    return document([{"role": "user", "content": "go"}, {"role": "assistant", "content": parts}])


def _zed_turns(count: int) -> bytes:
    said = [{"User": {"id": "u", "content": []}}, {"Agent": {"content": [{"Text": "a"}]}}]
    usage = {"u": {"input_tokens": 1}}
    return document({"messages": said * count, "request_token_usage": usage})


@pytest.mark.parametrize("many", [_many_tools, _hosted_tools, _zed_turns])
def test_reading_grows_with_the_file(many: Callable[[int], bytes]) -> None:
    """Each tool, or each answer, looked through all that were read before it."""

    def seconds(count: int) -> float:
        source = Source("x.json", many(count))
        start = process_time()
        assert len(first_session(source).session.messages) > 1
        return process_time() - start

    # the least of three: the collector may look at everything in the midst of one
    least, most = (min(seconds(count) for _ in range(3)) for count in (2_000, 8_000))
    assert most < 8 * max(0.05, least)


def test_conversations_are_looked_up_and_not_compared_with_each_other() -> None:
    """20,000 requests of their own took minutes: each was compared with all before it."""
    known: Conversations[int] = Conversations()
    start = process_time()
    for number in range(20_000):
        conversation, digest = known.take(asked(str(number)))
        assert conversation is None
        known.put(number, digest)
    assert known.take(asked("77", "a", "b"))[0] == 77
    assert process_time() - start < 10


def test_a_list_of_formats_and_counts_of_one() -> None:
    from click.testing import CliRunner

    from playground.base import paths
    from playground.cli import main

    formats = CliRunner().invoke(main, ["import", "--formats", "--json"])
    assert json.loads(formats.stdout)[0]["format"] == "playground"
    one = CliRunner().invoke(main, ["import", str(paths.samples()["05-call-in-a-fence"])])
    assert one.stdout == "A call in a code fence: playground, 1 message, 2 tools, 2 recordings\n"


def test_a_zip_whose_places_are_spoiled_is_refused_in_words() -> None:
    """A member that would begin before the file does raised ValueError."""
    content = EXAMPLES["chatgpt-export"].content
    assert isinstance(content, bytes)
    with pytest.raises(InputFault, match="the zip cannot be read"):
        list(read_sessions(Source("export.zip", b"PK\x03\x04" + content[30:])))


def test_a_named_format_that_finds_nothing_says_so() -> None:
    (loaded,) = read_sessions(
        Source("events.jsonl", b'{"type": "session.st'), "managed-agent-events"
    )
    assert [found.code for found in loaded.findings] == ["part-lost"]


def test_a_log_of_droid_is_none_of_claude_code() -> None:
    """Both begin with `system` and `init`; four of its six lines were told to say nothing."""
    at = {"sessionId": "s", "timestamp": 1767812641000}
    lines = [
        {"type": "system", "subtype": "init", **at, "model": "m", "tools": ["Execute"], "id": "0"},
        {"type": "message", **at, "role": "user", "text": "List files", "id": "1"},
        {"type": "tool_call", **at, "id": "c", "toolName": "Execute", "parameters": {"a": "ls"}},
        {"type": "tool_result", **at, "id": "c", "isError": True, "value": "no such folder"},
        {"type": "message", **at, "role": "assistant", "text": "None.", "id": "2"},
    ]
    data = "\n".join(map(json.dumps, lines)).encode() + b"\n"
    (loaded,) = read_sessions(Source("droid.jsonl", data))
    assert [message.role for message in loaded.session.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_a_line_of_a_tool_in_a_transcript_is_its_call_and_its_result() -> None:
    asked = {"tool_name": "Read", "tool_input": {"file": "a"}, "tool_output": "x"}
    lines = [
        {"type": "user", "timestamp": 1, "message": {"role": "user", "content": "Read a"}},
        {"type": "tool", "timestamp": 2, "message": asked},
        {"type": "assistant", "timestamp": 3, "message": {"role": "assistant", "content": "x"}},
    ]
    data = "\n".join(map(json.dumps, lines)).encode() + b"\n"
    (loaded,) = read_sessions(Source("t.jsonl", data))
    assert loaded.format == "claude-code"
    assert [len(m.tool_calls) + len(m.tool_results) for m in loaded.session.messages] == [
        0,
        1,
        1,
        0,
    ]


def test_a_completion_of_one_prompt_in_a_list_is_a_chat() -> None:
    """`"prompt": ["…"]`, as LangChain sends it, was an exchange that belonged to no chat."""
    request = json.dumps({"model": "m", "prompt": ["Say Foo."]})
    reply = {"object": "text_completion", "choices": [{"text": "Foo", "finish_reason": "stop"}]}
    at = {"method": "POST", "uri": "https://api.openai.com/v1/completions", "body": request}
    response = {"status": {"code": 200}, "body": {"string": json.dumps(reply)}}
    cassette = {"interactions": [{"request": at, "response": response}], "version": 1}
    (loaded,) = read_sessions(Source("c.yaml", yaml.safe_dump(cassette).encode()))
    assert [message.text for message in loaded.session.messages] == ["Say Foo.", "Foo"]


WRAPPED = {"messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize(
    "content",
    [
        {"conversations": [WRAPPED]},  # ShareGPT's, whose entries are messages
        {"system": "Be brief.", "conversations": [WRAPPED]},
        [{"task_id": 1, "reward": 1.0, "traj": [WRAPPED]}],
        {"trace": {"id": "t"}, "observations": [WRAPPED]},
    ],
)
def test_what_the_first_to_claim_a_file_finds_no_word_in_is_read_by_another(content: Any) -> None:
    """It was a session without a message."""
    (loaded,) = load_sessions(json.dumps(content))
    assert loaded.format == "any-chat"
    assert [message.text for message in loaded.session.messages] == ["hello"]


def test_a_file_of_which_nothing_is_kept_is_refused_with_its_reason() -> None:
    with pytest.raises(InputFault) as fault:
        list(load_sessions('{"conversations": [{"utterance": "hello"}]}'))
    assert fault.value.problem == (
        "nothing is kept of it as ShareGPT conversations (LLaMA-Factory, Hermes function calling, "
        "ToolACE) (0.conversations.0: a message with the role '')"
    )


def test_an_empty_har_is_refused_as_such() -> None:
    """A HAR's `creator` stands in its `log`, so that the refusal for it never came."""
    with pytest.raises(InputFault) as fault:
        list(load_sessions('{"log": {"version": "1.2", "creator": {}, "entries": []}}'))
    assert fault.value.problem == "a HAR without entries"


def test_a_file_that_says_nothing_is_a_session_that_says_so() -> None:
    (loaded,) = load_sessions('{"conversations": []}')
    assert [found.message for found in loaded.findings] == ["nothing of it is in the session"]


def test_entries_that_say_nothing_stand_where_they_stood() -> None:
    rows = [{"conversations": []}, {"conversations": [{"from": "human", "value": "hello"}]}]
    loaded = list(load_sessions("".join(json.dumps(row) + "\n" for row in rows)))
    assert [len(each.session.messages) for each in loaded] == [0, 1]


def test_pis_user_commands_are_what_the_model_is_told_of_them() -> None:
    """A call in a user's message was sent to nobody, and its result answered none."""
    told = {"role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 2}
    cut = {**told, "output": "", "cancelled": True, "truncated": True, "fullOutputPath": "/o"}
    own = {**told, "command": "env", "excludeFromContext": True}
    ask = {"role": "user", "content": [{"type": "text", "text": "Go on."}]}
    head = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/"}
    rows = [{"type": "message", "timestamp": TIME, "message": m} for m in (told, cut, own, ask)]
    loaded = first_session(Source("pi.jsonl", lines(head, *rows)))
    assert loaded.format == "pi-session"
    assert [
        [part.text for part in message.parts if isinstance(part, TextPart)]
        for message in loaded.session.messages
    ] == [
        ["Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2"],
        ["Ran `ls`\n(no output)\n\n(command cancelled)\n\n[Output truncated. Full output: /o]"],
        ["Go on."],
    ]
    (lost,) = (each for each in loaded.findings if each.code == "part-lost")
    assert "a command that the model does not get: 'env'" in lost.message


CHAT: Final = json.dumps([{"role": "user", "content": "é"}, {"role": "assistant", "content": "a"}])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_windows_writes_is_read_as_what_it_says(encoding: str, tmp_path: Path) -> None:
    """PowerShell's `>` writes UTF-16: a reply in it held no call, and no session was one."""
    path = tmp_path / "a"
    for text in (CHAT, '<tool_call>{"name": "é"}</tool_call>'):
        path.write_bytes(("\ufeff" + text).encode(encoding))
        assert file_bytes(path) == text.encode()
        assert recognise(path.read_bytes()).kind == recognise(text).kind
    path.write_bytes("\ufeff".encode(encoding) + b"\x00\xd8\xd8")
    with pytest.raises(InputFault, match="is not UTF-8"):
        _ = Source.open(path).text


def parts_in(*values: dict[str, Any]) -> tuple[Part, ...]:
    """The parts of the only message that these are."""
    builder = SessionBuilder()
    read_messages(builder, list(values), Place())
    (message,) = builder.messages
    return tuple(message.parts)


def test_what_code_printed_is_no_result_of_mcp() -> None:
    ran = {"type": "code_execution_result", "stdout": "42 is it", "stderr": "boom", "content": []}
    block = {"type": "code_execution_tool_result", "tool_use_id": "c", "content": ran}
    (part,) = parts_in({"role": "assistant", "content": [block]})
    assert isinstance(part, ToolResultPart)
    assert part.result == ran


def test_a_custom_call_in_a_chat_has_its_name_and_its_text() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "cu", "input": "rm -rf x"}}
    (part,) = parts_in({"role": "assistant", "content": None, "tool_calls": [call]})
    (same,) = parts_in(
        {"type": "custom_tool_call", "call_id": "c", "name": "cu", "input": "rm -rf x"}
    )
    assert isinstance(part, ToolCallPart)
    assert (part.tool_call_id, part.tool_name) == ("c", "cu")
    assert "rm -rf x" in str(part.args)
    assert part == same


def test_a_thought_of_the_responses_has_its_summary_and_its_text() -> None:
    summary = [{"type": "summary_text", "text": "In short"}]
    item = {"type": "reasoning", "summary": summary}
    content: list[dict[str, Any]] = [{"type": "reasoning_text", "text": "At length"}]
    (part,) = parts_in({**item, "content": content})
    assert isinstance(part, ReasoningPart)
    assert part.text == "In short\n\nAt length"
    builder = SessionBuilder()
    read_messages(builder, [{**item, "content": [{"type": "strange", "x": "y"}]}], Place())
    assert [each.code for each in builder.findings] == ["part-lost"]


def test_what_an_assistant_spoke_is_its_text() -> None:
    spoken = {"id": "a", "transcript": "spoken words"}
    (part,) = parts_in({"role": "assistant", "content": None, "audio": spoken})
    assert isinstance(part, TextPart)
    assert part.text == "spoken words"
