"""Provider streams: every API, framed in every way, cut anywhere, gives the reply back whole."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wires import FRAMINGS, NO_REASONING, TEXT_ALONE, WRITERS, Said, event_stream, packed

import playground as pg
from playground.base.errors import UnknownNameError
from playground.nouns.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent
from playground.recordings.apis import api_names
from playground.recordings.decoding import StreamDecoder, decode_stream
from playground.recordings.feeding import feed
from playground.recordings.recording import (
    UNREADABLE,
    Recording,
    ReplyCall,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
)
from playground.sessions.loading import load_session
from playground.sessions.native_format import dump_session
from playground.sessions.session import Session
from playground.show.replays import player

HALF = "\ud83d"
WHOLE_CALLS = {"gemini-generate", "gemini-live", "ollama-chat", "cohere-v1"}  # never in pieces
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ARGUMENTS = '{"path": "a\\\\b\\n", "text": "“ü” </tool_call> 🦊"}'
SAID = Said(
    reasoning=("I look ", "it up."),
    text=("Grüße, ", "🦊\n", "data: no frame\n\n"),
    calls=(
        ("read_file", (ARGUMENTS[:11], ARGUMENTS[11:12], ARGUMENTS[12:])),
        ("now", ("{}",)),
    ),
)


def adapted(said: Said, api: str) -> Said:
    """What of a reply the API can say at all."""
    return Said(
        () if api in NO_REASONING else said.reasoning,
        said.text,
        () if api in TEXT_ALONE else said.calls,
        said.stop,
    )


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def seen(recording: Recording) -> tuple[str, str, list[tuple[str, Any]]]:
    reply = recording.reply
    return (
        reply.reasoning,
        reply.content,
        [(call.name, json.loads(call.arguments_text)) for call in reply.tool_calls],
    )


def expected(said: Said) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = [(name, json.loads("".join(pieces))) for name, pieces in said.calls]
    return "".join(said.reasoning), "".join(said.text), calls


def test_every_api_has_a_writer() -> None:
    assert set(WRITERS) == set(api_names())


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("api", WRITERS)
def test_a_reply_comes_out_whole(api: str, framing: str) -> None:
    said = adapted(SAID, api)
    data = FRAMINGS[framing](WRITERS[api](said))
    for pieces in (bytearray(data), cut(data, 1), cut(data, 7), cut(data, 64)):
        recording = decode_stream(pieces)
        assert recording.api == api
        assert seen(recording) == expected(said)
        places = [c.tool_call["index"] for c in recording.chunks if isinstance(c, ToolCallChunk)]
        assert list(dict.fromkeys(places)) == list(range(len(said.calls)))
        assert recording.stop_reason == "stop"
        assert recording.error is None
        assert recording.findings == []
        assert recording == decode_stream(pieces, api=api)


@pytest.mark.parametrize("api", WRITERS)
def test_deltas_stay_what_they_were(api: str) -> None:
    """As many text chunks as the provider sent: a player shows them one by one."""
    said = adapted(SAID, api)
    recording = decode_stream([FRAMINGS["events"](WRITERS[api](said))])
    texts = [chunk.text for chunk in recording.chunks if isinstance(chunk, TextChunk)]
    assert texts == list(said.text)


# No sign of theirs tells a call's end before the reply's: a later delta may go on with it.
_ENDS_TOGETHER = {"dashscope", "openai-chat", "openai-assistants", "cohere-v1"}


@pytest.mark.parametrize("api", sorted(set(WRITERS) - set(TEXT_ALONE)))
def test_a_call_ends_where_its_api_says_so(api: str) -> None:
    """In the player a call is whole at its block's end, and not when the stream is over."""
    said = Said(text=("Hi",), calls=(("one", ('{"x": ', "1}")), ("two", ("{}",))))
    recording = decode_stream([FRAMINGS["events"](WRITERS[api](said))])
    parser = pg.get_dialect("native").create_parser(pg.PromptData())
    events = [event for chunk in recording.chunks for event in feed(parser, chunk)]
    told = [type(e) for e in events if isinstance(e, CallStartedEvent | CallEndedEvent)]
    late = [type(event) for event in parser.finish()]
    if api in _ENDS_TOGETHER:
        assert (told, late) == ([CallStartedEvent] * 2, [CallEndedEvent] * 2)
    else:
        assert (told, late) == ([CallStartedEvent, CallEndedEvent] * 2, [])


def test_a_call_that_its_block_cuts_off_is_aborted_there() -> None:
    frames = WRITERS["anthropic-messages"](Said(calls=(("one", ('{"x": ',)),), stop="max_tokens"))
    recording = decode_stream([FRAMINGS["events"](frames)])
    parser = pg.get_dialect("native").create_parser(pg.PromptData())
    events = [event for chunk in recording.chunks for event in feed(parser, chunk)]
    assert isinstance(events[-1], CallAbortedEvent)
    assert parser.finish() == []


def test_an_aws_stream_that_breaks_off() -> None:
    data = event_stream(WRITERS["bedrock-converse"](SAID))
    broken = decode_stream([data[:-5]])
    assert [f.code for f in broken.findings] == ["unreadable-frame"]
    assert broken.reply.content == "".join(SAID.text)


@given(
    st.sampled_from(sorted(WRITERS)),
    st.sampled_from(sorted(FRAMINGS)),
    st.lists(TEXTS.filter(bool), max_size=4),
    st.lists(TEXTS.filter(bool), max_size=3),
    st.lists(st.dictionaries(TEXTS, TEXTS, max_size=2), max_size=2),
    st.integers(1, 40),
)
def test_any_reply_cut_anywhere(
    api: str,
    framing: str,
    texts: list[str],
    thoughts: list[str],
    arguments: list[dict[str, str]],
    size: int,
) -> None:
    calls = []
    for number, values in enumerate(arguments):
        whole = json.dumps(values)
        half = len(whole) // 2
        calls.append((f"tool{number}", (whole[:half], whole[half:])))
    said = adapted(Said(tuple(thoughts), tuple(texts), tuple(calls)), api)
    data = FRAMINGS[framing](WRITERS[api](said))
    whole_stream = decode_stream([data], api)
    assert seen(whole_stream) == expected(said)
    assert decode_stream(cut(data, size), api) == whole_stream


@given(st.binary(max_size=300), st.integers(1, 9))
def test_no_bytes_at_all_raise_and_cuts_change_nothing(data: bytes, size: int) -> None:
    assert decode_stream(cut(data, size)) == decode_stream([data])


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(
        [1e400, float("nan"), HALF, f"a{HALF}", f'{{"a": "{HALF}"}}', '"\\ud83d"', "["]
    )
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(st.sampled_from(sorted(WRITERS)), st.integers(0, 40), JSON_VALUES, st.data(), st.booleans())
def test_a_frame_of_another_shape_is_kept_and_never_raises(
    api: str, place: int, value: Any, data: st.DataObject, by_name: bool
) -> None:
    """Any value at any field of a frame: the rest of the stream is read all the same, and what is
    read can be written and read again."""
    frames = WRITERS[api](adapted(SAID, api))
    index = place % len(frames)
    frame = json.loads(json.dumps(frames[index]))
    node: Any = frame
    for _ in range(data.draw(st.integers(0, 4))):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        inner = [key for key in keys if isinstance(node[key], dict | list) and node[key]]
        if not inner:
            break
        node = node[data.draw(st.sampled_from(inner))]
    key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
    node[key] = value
    wire = FRAMINGS["escaped"]([*frames[:index], frame, *frames[index + 1 :]])
    recording = decode_stream([wire], api if by_name else None)
    assert isinstance(recording.reply.content, str)
    assert decode_stream(cut(wire, 5), api if by_name else None) == recording
    written = dump_session(Session(recordings=(recording,))).encode()
    assert load_session(written).recordings == (recording,)


@pytest.mark.parametrize("key", ["type", "object", "stream", "chunk", "event", "data", "error"])
@given(value=JSON_VALUES, other=JSON_VALUES)
def test_no_value_of_a_frame_that_nobody_knows_raises(key: str, value: Any, other: Any) -> None:
    recording = decode_stream(FRAMINGS["escaped"]([{key: value, "message": other}]))
    written = dump_session(Session(recordings=(recording,))).encode()
    assert load_session(written).recordings == (recording,)


def test_half_characters_in_a_stream_are_told_where_they_stand() -> None:
    """A pair may be cut into two deltas; what stays half of one can be written by nobody."""
    recording = decode_stream(
        events(
            {"model": f"m{HALF}", "choices": [{"delta": {"content": f"a{HALF}"}}]},
            {"choices": [{"delta": {"content": "\ude00b"}}]},
            {"choices": [{"delta": {"content": f"c{HALF}d"}}]},
            {"choices": [{"delta": call(index=0, id="1", function={"name": "t"})}]},
            {"choices": [{"delta": call(index=0, function={"arguments": f'{{"a": "{HALF}'})}]},
            {"choices": [{"delta": call(index=0, function={"arguments": '\ude00"}'})}]},
            {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {HALF: 1}},
        )
    )
    assert recording.reply.content == "a\U0001f600bc\ufffdd"
    assert recording.reply.tool_calls[0].arguments_text == '{"a": "\U0001f600"}'
    assert (recording.model, recording.usage) == ("m\ufffd", {"\ufffd": 1})
    assert [(found.code, found.message) for found in recording.findings] == [
        ("lone-surrogate", "text, replaced by U+FFFD"),
        ("lone-surrogate", "model, replaced by U+FFFD"),
        ("lone-surrogate", "usage, replaced by U+FFFD"),
    ]


# what providers do


def chat(*deltas: dict[str, Any], finish: str = "stop", **more: Any) -> bytes:
    frames = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}], **more}
        for delta in deltas
    ]
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    if finish:
        frames.append({"object": "chat.completion.chunk", "choices": [last]})
    return FRAMINGS["events"](frames)


def calls_of(data: bytes) -> list[tuple[str, str]]:
    return [(c.name, c.arguments_text) for c in decode_stream([data]).reply.tool_calls]


def call(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [fields]}


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    a = {"name": "a", "arguments": "{}"}
    b = {"name": "b", "arguments": "{}"}
    assert calls_of(chat(call(id="1", function=a), call(id="2", function=b))) == [
        ("a", "{}"),
        ("b", "{}"),
    ]


def test_calls_that_all_have_index_zero_are_told_apart_by_their_ids() -> None:
    a = {"name": "a", "arguments": '{"x":'}
    b = {"name": "b", "arguments": "{}"}
    rest = {"arguments": "1}"}
    data = chat(
        call(index=0, id="1", function=a),
        call(index=0, function=rest),
        call(index=0, id="2", function=b),
    )
    assert calls_of(data) == [("a", '{"x":1}'), ("b", "{}")]


def test_interleaved_calls_and_names_that_come_late() -> None:
    data = chat(
        call(index=1, id="2", function={"arguments": ""}),
        call(index=0, id="1", function={"name": "a", "arguments": "{"}),
        call(index=1, function={"name": "b", "arguments": "{"}),
        call(index=0, function={"arguments": "}"}),
        call(index=1, function={"arguments": "}"}),
    )
    assert calls_of(data) == [("b", "{}"), ("a", "{}")]


def test_arguments_given_as_an_object_and_the_old_function_call() -> None:
    whole = call(index=0, id="1", function={"name": "a", "arguments": {"x": "ü"}})
    assert calls_of(chat(whole)) == [("a", '{"x": "ü"}')]
    old = chat(
        {"function_call": {"name": "a", "arguments": "{"}}, {"function_call": {"arguments": "}"}}
    )
    assert calls_of(old) == [("a", "{}")]


def test_free_text_arguments_stay_text_and_replay_as_a_call() -> None:
    patch = "*** Begin Patch\n+\\n{not json"
    custom = {"index": 0, "id": "1", "type": "custom", "custom": {"name": "patch", "input": patch}}
    recording = decode_stream([chat({"tool_calls": [custom]})])
    assert recording.reply.tool_calls == (ReplyCall("patch", patch, "1"),)
    timeline = pg.replay(recording, "native")
    assert [(c.name, c.arguments) for c in timeline.result.tool_calls] == [
        ("patch", {"input": patch})
    ]
    assert timeline.result.findings == []


def test_content_as_parts_with_thinking_inside() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = decode_stream([chat({"content": [thinking, {"type": "text", "text": "yes"}]})]).reply
    assert (reply.reasoning, reply.content) == ("hm", "yes")


def test_half_characters_in_two_deltas_become_one() -> None:
    data = b"".join(
        b'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": '
        b'"%s"}}]}\n\n' % half
        for half in (b"\\ud83e", b"\\udd8a")
    )
    assert decode_stream([data]).reply.content == "🦊"


def test_gemini_arguments_in_pieces() -> None:
    def part(**call_part: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call_part}]}}]}

    def piece(path: str, text: str, more: bool) -> dict[str, Any]:
        return {"jsonPath": path, "stringValue": text, "willContinue": more}

    frames = [
        part(name="cook", willContinue=True),
        part(partialArgs=[piece("$.dish.name", "Lasa", True)], willContinue=True),
        part(partialArgs=[piece("$.dish.name", "gne", False)], willContinue=True),
        part(partialArgs=[{"jsonPath": "$.steps[1]", "numberValue": 2}], willContinue=True),
        part(),
    ]
    end = {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}
    whole = decode_stream([FRAMINGS["events"]([*frames, end])])
    assert json.loads(whole.reply.tool_calls[0].arguments_text) == {
        "dish": {"name": "Lasagne"},
        "steps": [None, 2],
    }
    cut_off = pg.replay(decode_stream([FRAMINGS["events"](frames[:3])]), "native")
    assert cut_off.result.tool_calls == []
    assert [call.name for call in cut_off.result.aborted] == ["cook"]


def test_hosted_and_client_tools_of_responses() -> None:
    def item(kind: str, **fields: Any) -> list[dict[str, Any]]:
        whole = {"type": kind, "call_id": "1", **fields}
        return [
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": kind}},
            {"type": "response.output_item.done", "output_index": 0, "item": whole},
        ]

    shell = item("local_shell_call", action={"command": ["ls é"]})
    assert calls_of(FRAMINGS["events"](shell)) == [("local_shell_call", '{"command": ["ls é"]}')]
    search = item("web_search_call", action={"query": "x"})
    assert calls_of(FRAMINGS["events"](search)) == [("web_search_call", "{}")]


# several answers in one stream


def chat_choices() -> list[dict[str, Any]]:
    """Three choices whose deltas come in turns, as `n` = 3 streams them; each has a call."""
    deltas: list[list[dict[str, Any]]] = []
    for index in range(3):
        named = {"name": f"tool{index}", "arguments": "{"}
        deltas.append(
            [
                {"role": "assistant", "content": f"{index}a"},
                {"content": f"{index}b", "reasoning_content": f"{index}?"},
                call(index=0, id=f"id{index}", function=named),
                call(index=0, function={"arguments": "}"}),
            ]
        )
    frames = []
    for turn in zip(*deltas, strict=True):
        frames += [{"choices": [{"index": i, "delta": d}]} for i, d in enumerate(turn)]
    ends: list[dict[str, Any]] = [
        {"index": i, "delta": {}, "finish_reason": f"end{i}"} for i in (2, 0, 1)
    ]
    return [*frames, *({"choices": [end]} for end in ends), {"choices": [], "usage": {"total": 9}}]


@pytest.mark.parametrize("framing", FRAMINGS)
def test_choices_are_never_mixed(framing: str) -> None:
    data = FRAMINGS[framing](chat_choices())
    for pieces in ([data], cut(data, 1), cut(data, 7)):
        recording = decode_stream(pieces)
        assert recording.reply == recording.replies[0]
        assert [reply.content for reply in recording.replies] == ["0a0b", "1a1b", "2a2b"]
        assert [reply.reasoning for reply in recording.replies] == ["0?", "1?", "2?"]
        assert [reply.tool_calls for reply in recording.replies] == [
            (ReplyCall(f"tool{index}", "{}", f"id{index}"),) for index in range(3)
        ]
        assert recording.stop_reason == "end0"
        assert [choice.stop_reason for choice in recording.other_choices] == ["end1", "end2"]
        assert recording.usage == {"total": 9}
        found = [(f.code, f.severity, f.message) for f in recording.findings]
        assert found == [("other-choices", "info", "choice 1, 2")]


def test_only_the_first_choice_is_replayed() -> None:
    timeline = pg.replay(decode_stream([FRAMINGS["events"](chat_choices())]), "native")
    assert timeline.result.content == "0a0b"
    assert [c.name for c in timeline.result.tool_calls] == ["tool0"]


def test_choices_keep_their_times_and_whole_characters() -> None:
    halves = [{"choices": [{"index": 1, "delta": {"content": half}}]} for half in "\ud83e\udd8a"]
    decoder = StreamDecoder()
    for at, frame in enumerate(halves):
        decoder.feed(json.dumps(frame).encode() + b"\n", at / 2)
    (choice,) = decoder.finish().other_choices
    assert [chunk.at for chunk in choice.chunks] == [0.0, 0.5]
    assert decoder.finish().replies[1].content == "🦊"


def test_the_answers_to_several_prompts_are_kept_apart() -> None:
    frames = [
        {"object": "text_completion", "choices": [{"index": index, "text": text}]}
        for index, text in [(0, "red"), (1, "one"), (0, ", blue"), (1, ", two")]
    ]
    both = [{"index": i, "text": "", "finish_reason": "stop"} for i in (0, 1)]
    data = FRAMINGS["events"]([*frames, {"object": "text_completion", "choices": both}])
    recording = decode_stream([data])
    assert [reply.content for reply in recording.replies] == ["red, blue", "one, two"]


def test_the_candidates_of_gemini_are_kept_apart() -> None:
    def chunk(index: int, part: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"candidates": [{"index": index, "content": {"parts": [part]}, **more}]}

    going_on = {"name": "cook", "willContinue": True}
    piece = {"partialArgs": [{"jsonPath": "$.dish", "stringValue": "Pie"}]}
    frames = [
        chunk(0, {"text": "a"}),
        chunk(1, {"functionCall": going_on}),
        chunk(0, {"functionCall": {"name": "now", "args": {}}}, finishReason="STOP"),
        chunk(1, {"functionCall": piece}, finishReason="STOP"),
    ]
    first, second = decode_stream([FRAMINGS["events"](frames)]).replies
    assert (first.content, first.tool_calls) == ("a", (ReplyCall("now", "{}"),))
    assert (second.content, second.tool_calls) == ("", (ReplyCall("cook", '{"dish": "Pie"}'),))


# items of responses that say too little of themselves


def responses(*events: dict[str, Any]) -> bytes:
    end = {"type": "response.completed", "response": {"status": "completed"}}
    given = [{**event, "type": f"response.{event['type']}"} for event in events]
    return FRAMINGS["events"]([*given, end])


def message(text: str = "ab", **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}], **more}


def delta(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "output_text.delta", "delta": text, **more}


def ended(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "output_item.done", "item": item, **more}


def begun(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "output_item.added", "item": {**item, "content": []}, **more}


@pytest.mark.parametrize(
    "events",
    [
        [delta("a", item_id="i"), delta("b", item_id="i"), ended(message(id="i"))],
        [begun(message(id="i")), delta("a", item_id="i"), delta("b"), ended(message(id="i"))],
        [begun(message(id="i"), output_index=0), delta("ab", item_id="i"), ended(message(id="i"))],
        [begun(message(), output_index=0), delta("ab", item_id="i"), ended(message(id="i"))],
        [delta("a", output_index=1), delta("b"), ended(message(id="i"))],
        [delta("a"), delta("b"), ended(message(id="i"), output_index=0)],
        [delta("a"), delta("b"), ended(message())],
        [delta("a"), delta("b"), {"type": "output_text.done", "text": "ab"}, ended(message())],
        [{"type": "output_text.done", "text": "ab", "item_id": "i"}, ended(message(id="i"))],
        [delta("ab", item_id="x", output_index=0), ended(message(id="y"), output_index=0)],
        [ended(message("a")), ended(message("b"))],
        [delta("a"), ended(message("a")), delta("b"), ended(message("b"))],
        [ended(message(id="i"))],
    ],
)
def test_a_text_without_its_place_is_there_once(events: list[dict[str, Any]]) -> None:
    assert decode_stream([responses(*events)]).reply.content == "ab"


def arguments(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call_arguments.delta", "delta": text, **more}


def function(name: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": text, "call_id": name, **more}


@pytest.mark.parametrize(
    "events",
    [
        [
            begun(function("a", id="i")),
            arguments("{}", item_id="i"),
            ended(function("a", "{}", id="i")),
            begun(function("b", id="j")),
            arguments('{"x":1}', item_id="j"),
            ended(function("b", '{"x":1}', id="j")),
        ],
        [
            begun(function("a")),
            arguments("{}"),
            ended(function("a", "{}")),
            begun(function("b")),
            arguments('{"x":'),
            arguments("1}"),
            ended(function("b", '{"x":1}')),
        ],
        [  # every place is 0
            begun(function("a", id="i"), output_index=0),
            begun(function("b", id="j"), output_index=0),
            arguments('{"x":1}', item_id="j", output_index=0),
            arguments("{}", item_id="i", output_index=0),
            ended(function("a", "{}", id="i"), output_index=0),
            ended(function("b", '{"x":1}', id="j"), output_index=0),
        ],
        [  # the end alone says them
            begun(function("a", id="i"), output_index=0),
            {
                "type": "function_call_arguments.done",
                "arguments": "{}",
                "output_index": 0,
                "name": "a",
            },
            {
                "type": "function_call_arguments.done",
                "arguments": '{"x":1}',
                "item_id": "j",
                "call_id": "b",
                "name": "b",
            },
            ended(function("b", '{"x":1}', id="j")),
        ],
    ],
)
def test_calls_without_their_places_are_told_apart(events: list[dict[str, Any]]) -> None:
    assert calls_of(responses(*events)) == [("a", "{}"), ("b", '{"x":1}')]


def test_what_only_the_whole_response_says_is_taken_from_it() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        message("yes"),
        function("a", "{}"),
    ]
    end = {"type": "response.completed", "response": {"status": "completed", "output": output}}
    alone = decode_stream([FRAMINGS["events"]([end])]).reply
    assert (alone.reasoning, alone.content) == ("hm", "yes")
    assert [c.name for c in alone.tool_calls] == ["a"]
    streamed = responses(delta("yes"), ended(function("a", "{}"))).removesuffix(b"data: [DONE]\n\n")
    both = decode_stream([streamed + FRAMINGS["events"]([end])]).reply
    assert (both.content, len(both.tool_calls)) == ("yes", 1)


# what Bedrock, Cohere and Google pack and name otherwise


@pytest.mark.parametrize("api", ["bedrock-converse", "bedrock-invoke"])
def test_an_aws_stream_of_each_kind(api: str) -> None:
    data = event_stream(WRITERS[api](SAID))
    for pieces in ([data], cut(data, 1), cut(data, 13)):
        recording = decode_stream(pieces)
        assert (recording.api, recording.findings) == (api, [])
        assert seen(recording) == expected(SAID)


_COUNTED = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 4, "outputTokenCount": 2}}
_INVOKED: dict[str, list[dict[str, Any]]] = {
    "Titan": [
        {"outputText": "Hel", "index": 0, "completionReason": None, "inputTextTokenCount": 4},
        {"outputText": "lo", "completionReason": "FINISH", "totalOutputTextTokenCount": 2},
    ],
    "Llama": [
        {"generation": "Hel", "prompt_token_count": 4, "stop_reason": None},
        {"generation": "lo", "prompt_token_count": None, "generation_token_count": 2},
        {"generation": "", "generation_token_count": 2, "stop_reason": "FINISH", **_COUNTED},
    ],
    "Mistral": [
        {"outputs": [{"text": "Hel", "stop_reason": None}]},
        {"outputs": [{"text": "lo", "stop_reason": "FINISH"}], **_COUNTED},
    ],
    "Cohere Command": [
        {"text": "Hel", "is_finished": False, "index": 0},
        {"text": "lo", "is_finished": False, "index": 0},
        {"is_finished": True, "finish_reason": "FINISH", "index": 0, **_COUNTED},
    ],
    "Cohere Command R": [
        {"event_type": "text-generation", "text": "Hel", "is_finished": False},
        {"event_type": "text-generation", "text": "lo", "is_finished": False},
        {"event_type": "stream-end", "is_finished": True, "finish_reason": "FINISH", **_COUNTED},
    ],
    "Nova": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hel"}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": "lo"}, "contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "FINISH"}},
        {"metadata": {"usage": {}, "metrics": {}}, **_COUNTED},
    ],
    "DeepSeek": [
        {"choices": [{"index": 0, "text": "Hel"}]},
        {"choices": [{"index": 0, "text": "lo", "finish_reason": "FINISH"}], **_COUNTED},
    ],
}


@pytest.mark.parametrize("model", _INVOKED)
def test_each_models_chunks_come_out_of_bedrocks_frames(model: str) -> None:
    frames: list[dict[str, Any]] = [{"chunk": {"bytes": packed(one)}} for one in _INVOKED[model]]
    binary, lines = event_stream(frames), FRAMINGS["JSON lines"](frames)
    unpacked = [{"chunk": {"bytes": json.dumps(one)}} for one in _INVOKED[model]]  # as SDKs do
    for data in (binary, lines, FRAMINGS["JSON lines"](unpacked)):
        for pieces in ([data], cut(data, 1)):
            recording = decode_stream(pieces)
            assert (recording.api, recording.reply.content) == ("bedrock-invoke", "Hello")
            assert (recording.stop_reason, recording.findings) == ("FINISH", [])
            assert recording.usage == {"inputTokenCount": 4, "outputTokenCount": 2}


def test_bedrocks_errors_in_mid_stream_and_at_once() -> None:
    error = {"throttlingException": {"message": "slow down"}}
    frames = [{"chunk": {"bytes": packed(_INVOKED["Llama"][0])}}]
    for stream in ([*frames, error], [error]):
        recording = decode_stream([event_stream(stream)])
        assert recording.error == {"type": "throttlingException", "message": "slow down"}
        assert [finding.code for finding in recording.findings] == ["stream-error"]


def test_other_headers_of_an_aws_message_and_an_error_of_the_transport() -> None:
    def header(name: str, kind: int, value: bytes) -> bytes:
        return bytes([len(name)]) + name.encode() + bytes([kind]) + value

    def string(name: str, text: str) -> bytes:
        return header(name, 7, len(text).to_bytes(2, "big") + text.encode())

    def binary(headers: bytes, payload: bytes) -> bytes:
        lengths = (16 + len(headers) + len(payload), len(headers))
        start = b"".join(length.to_bytes(4, "big") for length in lengths)
        return start + bytes(4) + headers + payload + bytes(4)

    before = header("flag", 0, b"") + header("when", 8, bytes(8)) + header("raw", 6, b"\x00\x01x")
    said = b'{"contentBlockIndex": 0, "delta": {"text": "a"}}'
    data = binary(before + string(":event-type", "contentBlockDelta"), said)
    data += binary(string(":error-code", "gone") + string(":error-message", "bye"), b"")
    recording = decode_stream([data])
    assert recording.reply.content == "a"
    assert recording.error == {"code": "gone", "message": "bye"}


def test_a_cohere_answer_that_is_only_in_its_last_line() -> None:
    calls = [{"name": "t", "parameters": {"x": 1}}]
    response = {"text": "Hi", "tool_calls": calls, "finish_reason": "COMPLETE"}
    last = {"event_type": "stream-end", "is_finished": True, "response": response}
    recording = decode_stream([FRAMINGS["JSON lines"]([last])])
    assert (recording.reply.content, recording.stop_reason) == ("Hi", "COMPLETE")
    assert recording.reply.tool_calls == (ReplyCall("t", '{"x": 1}'),)


def test_interactions_as_they_were_before_there_were_steps() -> None:
    call_part = {"type": "function_call", "id": "1", "name": "t", "arguments": {"x": "ü"}}
    frames: list[dict[str, Any]] = [
        {"event_type": "interaction.start", "interaction": {"model": "g", "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "thought"}},
        {
            "event_type": "content.delta",
            "index": 0,
            "delta": {"type": "thought_summary", "content": {"type": "text", "text": "hm"}},
        },
        {"event_type": "content.stop", "index": 0},
        {"event_type": "content.delta", "index": 1, "delta": {"type": "text", "text": "yes"}},
        {"event_type": "content.delta", "index": 2, "delta": call_part},
        {"event_type": "content.stop", "index": 2},
        {"event_type": "interaction.complete", "interaction": {"status": "requires_action"}},
    ]
    recording = decode_stream([FRAMINGS["events"](frames)])
    assert (recording.api, recording.model) == ("gemini-interactions", "g")
    assert (recording.reply.reasoning, recording.reply.content) == ("hm", "yes")
    assert recording.reply.tool_calls == (ReplyCall("t", '{"x": "ü"}', "1"),)
    assert (recording.stop_reason, recording.findings) == ("requires_action", [])


def test_interactions_that_start_with_content_and_tools_of_the_server() -> None:
    search = {"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}}
    summary = {"type": "thought", "summary": [{"type": "text", "text": "hm"}]}
    said = {"type": "model_output", "content": [{"type": "text", "text": "a"}]}
    frames: list[dict[str, Any]] = [
        {"event_type": "step.start", "index": 0, "step": summary},
        {"event_type": "step.start", "index": 1, "step": {"type": "google_search_call"}},
        {"event_type": "step.delta", "index": 1, "delta": search},
        {"event_type": "step.stop", "index": 1},
        {"event_type": "step.start", "index": 2, "step": said},
        {"event_type": "step.delta", "delta": {"type": "text", "text": "b"}},
        {"event_type": "interaction.completed", "interaction": {"status": "completed"}},
    ]
    reply = decode_stream([FRAMINGS["events"](frames)]).reply
    assert (reply.reasoning, reply.content) == ("hm", "ab")
    assert [(c.name, c.arguments_text) for c in reply.tool_calls] == [
        ("google_search_call", '{"queries": ["x"]}')
    ]
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "whole"}]}]
    end = {"event_type": "interaction.completed", "interaction": {"steps": steps}}
    assert decode_stream([FRAMINGS["events"]([end])]).reply.content == "whole"


def test_gemini_live_as_the_python_sdk_writes_it_with_a_transcript() -> None:
    audio = {"inline_data": {"mime_type": "audio/pcm", "data": "AAAA"}}
    frames: list[dict[str, Any]] = [
        {"setup_complete": {}},
        {"server_content": {"model_turn": {"parts": [audio]}}},
        {"server_content": {"input_transcription": {"text": "the user"}}},
        {"server_content": {"output_transcription": {"text": "Hello"}}},
        {"tool_call": {"function_calls": [{"name": "t", "args": {"x": 1}, "id": "1"}]}},
    ]
    waiting = decode_stream([FRAMINGS["JSON lines"](frames)])
    assert (waiting.api, waiting.reply.content) == ("gemini-live", "Hello")
    assert waiting.reply.tool_calls == (ReplyCall("t", '{"x": 1}', "1"),)
    assert (waiting.stop_reason, waiting.findings) == ("toolCall", [])
    more = {"server_content": {"output_transcription": {"text": "!"}}}
    going_on = decode_stream([FRAMINGS["JSON lines"]([*frames, more])])
    assert going_on.reply.content == "Hello!"
    assert [finding.code for finding in going_on.findings] == ["no-end"]


def test_realtime_text_of_the_beta_and_a_response_that_was_cancelled() -> None:
    output = [{"type": "message", "content": [{"type": "audio", "transcript": "Hi"}]}]
    details = {"type": "cancelled", "reason": "turn_detected"}
    done = {"status": "cancelled", "status_details": details, "output": output}
    frames: list[dict[str, Any]] = [
        {"type": "response.text.delta", "event_id": "e", "item_id": "i", "delta": "Hi"},
        {"type": "response.done", "event_id": "f", "response": done},
    ]
    for stream in (frames, frames[1:]):
        recording = decode_stream([FRAMINGS["JSON lines"](stream)])
        assert (recording.api, recording.reply.content) == ("openai-realtime", "Hi")
        assert recording.stop_reason == "turn_detected"
    failed = {"status": "failed", "status_details": {"error": {"message": "no quota"}}}
    recording = decode_stream([json.dumps({**frames[1], "response": failed}).encode()])
    assert [(f.code, f.message) for f in recording.findings] == [("stream-error", "no quota")]


# dumps


@pytest.mark.parametrize("api", WRITERS)
@pytest.mark.parametrize("field", ["data", "event", "payload"])
def test_frames_in_a_field_of_a_dump(api: str, field: str) -> None:
    frames = WRITERS[api](adapted(SAID, api))
    objects = [{"at": number, field: frame} for number, frame in enumerate(frames)]
    texts = [{"at": number, field: json.dumps(frame)} for number, frame in enumerate(frames)]
    for dump in (objects, texts):
        recording = decode_stream([FRAMINGS["JSON lines"](dump)])
        assert (recording.api, recording.findings) == (api, [])
        assert seen(recording) == expected(adapted(SAID, api))


@pytest.mark.parametrize("api", WRITERS)
def test_all_frames_in_one_list_of_a_document(api: str) -> None:
    frames = WRITERS[api](adapted(SAID, api))
    recording = decode_stream([json.dumps({"id": "x", "chunks": frames}, indent=1).encode()])
    assert (recording.api, seen(recording)) == (api, expected(adapted(SAID, api)))


def test_a_chat_of_text_generation_inference_is_one() -> None:
    """Its chunks call themselves `text_completion`, and are a chat's: nothing of it was read."""
    frames = [{**frame, "object": "text_completion"} for frame in WRITERS["openai-chat"](SAID)]
    recording = decode_stream([FRAMINGS["events"](frames)])
    assert recording.api == "openai-chat"
    assert seen(recording) == expected(SAID)


def test_a_stream_that_was_framed_twice() -> None:
    frames = WRITERS["openai-chat"](SAID)
    lines = "".join(f"data: data: {json.dumps(frame)}\n\n" for frame in frames)
    recording = decode_stream([lines.encode() + b"data: data: [DONE]\n\n"])
    assert (seen(recording), recording.findings) == (expected(SAID), [])


def test_a_frame_that_is_nothing_but_frames_is_a_finding() -> None:
    (found,) = decode_stream([b"data: " * 5_000 + b"tide\n\n"]).findings[:1]
    assert (found.code, "tide" in found.message) == ("unreadable-frame", True)


# ends


def test_an_end_marker_without_a_reason_says_which_of_them_is_missing() -> None:
    frame = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "A"}}],
    }
    whole = f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n".encode()
    (found,) = decode_stream([whole]).findings
    assert (found.code, "finish_reason" in found.message) == ("no-end", True)
    assert "the end marker [DONE] came" in found.message
    (cut,) = decode_stream([whole.replace(b"data: [DONE]", b"")]).findings
    assert (cut.code, "[DONE]" in cut.message) == ("no-end", False)


@pytest.mark.parametrize("api", WRITERS)
def test_a_missing_end_is_never_a_stop(api: str) -> None:
    frames = WRITERS[api](adapted(SAID, api))
    recording = decode_stream([FRAMINGS["events"](frames[:2])], api)
    assert recording.stop_reason == ""
    assert [finding.code for finding in recording.findings] == ["no-end"]
    replayed = pg.replay(recording, "xml")  # which had 0 findings
    assert "no-end" in [finding.code for finding in replayed.findings]
    assert f"{len(replayed.findings)} finding" in repr(replayed)
    served = pg.replay(recording, "hermes", server="vllm")
    assert "no-end" in repr(served)
    assert served.delivered
    columns = [[served, served.delivered], [served.delivered]]  # a finding for all columns, once
    told = [[code for _, _, code, *_ in player(*each)["findings"]] for each in columns]
    assert [codes.count("no-end") for codes in told] == [1, 1]
    assert "nothing shows that it is complete" in replayed.html()


@pytest.mark.parametrize("api", WRITERS)
def test_an_error_in_mid_stream_is_kept(api: str) -> None:
    frames = WRITERS[api](adapted(SAID, api))
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    recording = decode_stream([FRAMINGS["events"]([*frames[:2], error])], api)
    assert recording.error == error["error"]
    assert recording.stop_reason == ""
    assert [(f.code, f.message) for f in recording.findings] == [("stream-error", "overloaded")]


def test_errors_as_each_provider_sends_them() -> None:
    anthropic = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    start = WRITERS["anthropic-messages"](SAID)[:3]
    bedrock = {"throttlingException": {"message": "slow down"}}
    failed = {"type": "response.failed", "response": {"error": {"message": "no"}}}
    for frames, message in (
        ([*start, anthropic], "busy"),
        ([*WRITERS["bedrock-converse"](SAID)[:3], bedrock], "slow down"),
        ([*WRITERS["openai-responses"](SAID)[:3], failed], "no"),
    ):
        recording = decode_stream([FRAMINGS["events"](frames)])
        assert recording.error is not None
        assert recording.findings[-1].message == message


def test_an_errors_body_alone() -> None:
    recording = decode_stream([b'{"error": {"message": "no key"}}'])
    assert (recording.api, recording.stop_reason) == ("", "")
    assert recording.findings[0].message == "no key"


@pytest.mark.parametrize("api", sorted(set(WRITERS) - {"openai-completions", "gemini-generate"}))
def test_two_responses_in_one_stream_are_both_there_and_said(api: str) -> None:
    said = adapted(Said((), ("a",), (("t", ('{"x": 1}',)),)), api)
    frames = WRITERS[api](said)
    second = [{**frame, "id": "other"} if "id" in frame else frame for frame in frames]
    recording = decode_stream([FRAMINGS["events"]([*frames, *second])])
    assert recording.reply.content == "aa"
    texts = [call.arguments_text for call in recording.reply.tool_calls]
    assert texts == ['{"x": 1}'] * 2 * len(said.calls)
    assert [finding.code for finding in recording.findings] == ["two-responses"]


def test_an_error_event_in_words() -> None:
    data = chat({"content": "a"}, finish="") + b"event: error\ndata: upstream is gone\n\n"
    recording = decode_stream([data])
    assert recording.error == {"message": "upstream is gone"}
    assert recording.stop_reason == ""


def test_a_frame_that_is_no_json_is_kept_as_it_came() -> None:
    data = chat({"content": "a"}, finish="") + b"data: {oops\n\n" + chat({"content": "b"})
    recording = decode_stream([data])
    assert recording.reply.content == "ab"
    assert SignalChunk("unreadable: {oops") in recording.chunks
    assert [finding.code for finding in recording.findings] == ["unreadable-frame"]


def test_line_separators_inside_json_are_text() -> None:
    text = "a\u2028b\u2029c\u0085d\x1ee"
    frames = WRITERS["openai-chat"](Said((), (text,)))
    lines = "".join(json.dumps(frame, ensure_ascii=False) + "\n" for frame in frames).encode()
    assert decode_stream([lines]).reply.content == text


def test_a_line_of_a_megabyte_in_single_bytes() -> None:
    text = "x" * 1_000_000
    data = FRAMINGS["events"](WRITERS["openai-chat"](Said((), (text,))))
    assert decode_stream(cut(data, 1)).reply.content == text


def test_what_is_of_no_api_is_not_held_for_ever() -> None:
    """A server that sent frames of no API without an end took a gigabyte of memory."""
    decoder, found, latest = StreamDecoder(), list[str](), 0
    for number in range(20_000):
        chunks = decoder.feed(f'data: {{"n": "é{number}"}}\n\n'.encode())
        found += [chunk.signal for chunk in chunks if isinstance(chunk, SignalChunk)]
        decoder.drop_chunks()
        latest = max(latest, number + 1 - len(found))
    rest = decoder.finish().chunks
    found += [chunk.signal for chunk in rest if isinstance(chunk, SignalChunk)]
    assert latest < 5_000
    assert found == [f'{UNREADABLE}{{"n": "é{number}"}}' for number in range(20_000)]


def test_an_unknown_api_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown API 'x'; the nearest of "):
        decode_stream([b""], api="x")


@pytest.mark.parametrize("api", sorted(set(WRITERS) - TEXT_ALONE))
def test_a_call_without_arguments_is_whole_only_where_the_provider_ended_it(api: str) -> None:
    """Cut after its name it looks the same: it is never delivered then."""
    in_one_piece = api in WHOLE_CALLS
    pieces = ("{}",) if in_one_piece else ()
    frames = WRITERS[api](Said((), ("a",), (("now", pieces),)))
    result = pg.replay(decode_stream([FRAMINGS["events"](frames)], api), "native").result
    assert [(c.name, c.arguments) for c in result.tool_calls] == [("now", {})]
    for stop in range(len(frames)):
        cut_off = decode_stream([FRAMINGS["events"](frames[:stop])], api)
        result = pg.replay(cut_off, "native").result
        assert [c.arguments for c in result.tool_calls] in ([], [{}])
        names = [call.name for call in cut_off.reply.tool_calls]
        texts = [call.arguments_text for call in cut_off.reply.tool_calls]
        assert len(result.tool_calls) == texts.count("{}")
        assert len(result.aborted) == len(names) - texts.count("{}")


# times


def test_ollamas_times_are_taken_and_others_have_none() -> None:
    data = FRAMINGS["JSON lines"](WRITERS["ollama-chat"](Said((), ("a", "b"))))
    recording = decode_stream([data])
    assert recording.timing == "recorded"
    assert [chunk.at for chunk in recording.chunks] == [0.0, 1e-06, 2e-06]
    assert decode_stream([chat({"content": "a"})]).timing == "none"


def test_arrival_times_count_more_than_the_wires_own() -> None:
    decoder = StreamDecoder()
    frames = [json.dumps(f).encode() + b"\n" for f in WRITERS["ollama-chat"](Said((), ("a", "b")))]
    given = [decoder.feed(piece, at / 4) for at, piece in enumerate(frames)]
    assert [len(chunks) for chunks in given] == [1, 1, 1]
    assert [chunk.at for chunk in decoder.finish().chunks] == [0.0, 0.25, 0.5]


# into events


@pytest.mark.parametrize("api", WRITERS)
def test_a_native_stream_gives_the_events_that_a_text_stream_gives(api: str) -> None:
    said = adapted(SAID, api)
    recording = decode_stream([FRAMINGS["events"](WRITERS[api](said))])
    timeline = pg.replay(recording, "native")
    result = timeline.result
    reasoning, content, calls = expected(said)
    assert (result.reasoning, result.content) == (reasoning, content)
    assert [(call.name, call.arguments) for call in result.tool_calls] == calls
    place = 0
    for event in result.events:  # the spans tile the stream
        assert event.span.start == place
        place = event.span.stop
    assert place == len(timeline.text)


def test_an_escape_split_between_two_deltas() -> None:
    whole = '{"a": "x\\ny"}'
    at = whole.index("\\") + 1
    data = chat(
        call(index=0, id="1", function={"name": "t", "arguments": whole[:at]}),
        call(index=0, function={"arguments": whole[at:]}),
    )
    timeline = pg.replay(decode_stream([data]), "native")
    assert timeline.result.tool_calls[0].arguments == {"a": "x\ny"}


def test_a_text_dialect_in_a_providers_stream() -> None:
    text = '<tool_call>\n{"name": "t", "arguments": {"a": 1}}\n</tool_call>'
    frames = WRITERS["openai-chat"](Said((), tuple(cut_text(text, 3))))
    timeline = pg.replay(decode_stream([FRAMINGS["events"](frames)]), "hermes")
    assert [(c.name, c.arguments) for c in timeline.result.tool_calls] == [("t", {"a": 1})]


def cut_text(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def test_the_public_face(tmp_path: Path) -> None:
    path = tmp_path / "stream.sse"
    path.write_bytes(FRAMINGS["events"](WRITERS["openai-chat"](SAID)))
    recording = pg.load_recording(path)
    assert recording.api == "openai-chat"
    assert recording.usage == {"total": 3}
    assert recording.timing == "none"
    assert recording.error is None
    assert recording.reply.tool_calls[0].name == "read_file"
    assert any(isinstance(chunk, ToolCallChunk) for chunk in recording.chunks)
    assert recording.name == "stream"


def events(*frames: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)


def test_a_run_of_an_assistant_that_waits_for_tools_and_goes_on() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
    waiting = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": [call]}}
    run = {"object": "thread.run", "id": "r", "model": "gpt-4o"}
    said = [{"type": "text", "text": {"value": "At seven."}}]
    recording = decode_stream(
        events(
            {**run, "status": "in_progress"},
            {**run, "status": "requires_action", "required_action": waiting},
        )
        + events(
            {**run, "status": "queued"},
            {"object": "thread.message", "id": "u", "role": "user", "content": said},
            {"object": "thread.message", "id": "m", "role": "assistant", "content": said},
            {**run, "status": "completed", "usage": {"total_tokens": 9}},
        )
    )
    assert [(c.name, c.tool_call_id) for c in recording.reply.tool_calls] == [("tides", "c1")]
    assert recording.reply.content == "At seven."
    assert (recording.stop_reason, recording.usage) == ("completed", {"total_tokens": 9})
    assert [found.code for found in recording.findings] == ["two-responses"]


def test_a_run_of_an_assistant_that_failed() -> None:
    fault = {"code": "rate_limit_exceeded", "message": "Slow down."}
    run = {"object": "thread.run", "status": "failed", "last_error": fault}
    recording = decode_stream(events({"object": "thread", "id": "t"}, run))
    assert recording.error == fault
    assert [found.code for found in recording.findings] == ["stream-error"]


def token(text: str, special: bool = False, whole: str | None = None) -> dict[str, Any]:
    details = None if whole is None else {"finish_reason": "length", "generated_tokens": 2}
    inner = {"id": 1, "text": text, "logprob": -0.1, "special": special}
    return {"index": 1, "token": inner, "generated_text": whole, "details": details}


def test_the_last_token_is_text_where_the_whole_text_has_it() -> None:
    for last, special in ((" tide", False), ("</s>", True)):
        whole = "High" + ("" if special else last)
        recording = decode_stream(events(token("High"), token(last, special, whole)))
        assert (recording.api, recording.reply.content) == ("tgi-generate", whole)
        assert (recording.stop_reason, recording.usage) == ("length", {"generated_tokens": 2})


@pytest.mark.parametrize(
    ("frames", "said", "told"),
    [
        ([token(" Hello"), token("!", whole="Hello!")], " Hello!", []),
        ([token("a"), token("</s>", True, "a")], "a", []),
        ([token("a"), token("</s>", True, "abc a")], "a", ["unreadable-frame"]),
        (
            [token("<call>", True), token("{}"), token("</s>", True, "<call>{}")],
            "{}",
            ["unreadable-frame"],
        ),
        ([token("a"), token("b", whole="")], "ab", ["unreadable-frame"]),
    ],
)
def test_tokens_are_the_text_and_the_whole_text_is_a_check(
    frames: list[dict[str, Any]], said: str, told: list[str]
) -> None:
    """By lengths, a last token was lost behind a blank, and an end of text was invented."""
    recording = decode_stream(events(*frames))
    assert (recording.api, recording.reply.content) == ("tgi-generate", said)
    assert [found.code for found in recording.findings] == told


def test_an_error_behind_tokens_is_told() -> None:
    error = {"error": "Request failed during generation", "error_type": "generation"}
    recording = decode_stream(events(token("High"), error))
    assert recording.error is not None
    assert [found.code for found in recording.findings] == ["stream-error"]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ({"stop_type": "word", "stopping_word": "."}, "word"),
        ({"stopped_eos": False, "stopped_word": False, "stopped_limit": True}, "limit"),
        ({}, "stop"),
    ],
)
def test_older_servers_of_llama_cpp_say_the_reason_by_flags(
    end: dict[str, Any], reason: str
) -> None:
    last = {"content": "", "stop": True, "tokens_predicted": 4, "tokens_evaluated": 9, **end}
    recording = decode_stream(events({"content": "High", "stop": False}, last))
    assert (recording.api, recording.reply.content) == ("llama-cpp", "High")
    assert (recording.stop_reason, recording.usage) == (
        reason,
        {"tokens_evaluated": 9, "tokens_predicted": 4},
    )


def test_a_patch_that_is_streamed_keeps_its_operation_and_its_path() -> None:
    """OpenAI streams the diff alone; what is done with which file stands in the item."""
    begun = {"type": "create_file", "path": "a.md", "diff": ""}
    item = {"type": "apply_patch_call", "id": "i", "call_id": "c", "operation": begun}
    whole = {**item, "operation": {**begun, "diff": '+a "b"\n+c\n'}}
    delta = {"type": "response.apply_patch_call_operation_diff.delta", "output_index": 0}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {**delta, "delta": '+a "b"\n'},
        {**delta, "delta": "+c\n"},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]
    wire = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    (call,) = pg.decode_stream([wire], api="openai-responses").reply.tool_calls
    assert json.loads(call.arguments_text) == whole["operation"]


def whole_so_far(content: str, arguments: str = "", reason: str = "null") -> dict[str, Any]:
    """DashScope's event without `incremental_output`: all that was said so far."""
    call = {"index": 0, "id": "c", "function": {"name": "tides", "arguments": arguments}}
    calls = {"tool_calls": [call]} if arguments else {}
    message = {"content": content, "reasoning_content": "So", "role": "assistant", **calls}
    choice = {"message": message, "finish_reason": reason}
    return {"output": {"choices": [choice]}, "usage": {"output_tokens": 2}, "request_id": "r"}


def test_dashscope_that_repeats_what_was_said_is_read_once() -> None:
    frames = [
        whole_so_far("\n"),
        whole_so_far("\nAt"),
        whole_so_far("\nAt six", '{"at": '),
        whole_so_far("\nAt six", '{"at": "six"}'),
        whole_so_far("\nAt six", '{"at": "six"}', "tool_calls"),
    ]
    lines = "".join(
        f"id:1\nevent:result\n:HTTP_STATUS/200\ndata:{json.dumps(f)}\n\n" for f in frames
    )
    recording = decode_stream([lines.encode()])
    assert recording.api == "dashscope"
    assert recording.reply.content == "\nAt six"
    assert recording.reply.reasoning == "So"
    assert [(c.name, c.arguments_text) for c in recording.reply.tool_calls] == [
        ("tides", '{"at": "six"}')
    ]
    assert (recording.stop_reason, recording.usage) == ("tool_calls", {"output_tokens": 2})


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (("ha", "ha", "!", ""), "haha!"),
        (("1", "10", "!", ""), "110!"),
        (("1", "10", ""), "110"),
        (("哈", "哈", "哈", ""), "哈哈哈"),
        (("\n", "\n\n", "So", " it", " is"), "\n\n\nSo it is"),
        (("a", "ab", "abc", "abc"), "abc"),
        (("a", "ab", "ab"), "ab"),
        (("a", "a"), "a"),
        (("a", "ab"), "ab"),
    ],
)
def test_dashscopes_pieces_that_begin_alike_are_no_repetitions(
    pieces: tuple[str, ...], said: str
) -> None:
    """Where each event has what is new alone, nothing of it is lost; the last three repeat."""
    events = [{**whole_so_far(text), "usage": {}} for text in pieces]
    last = events[-1]["output"]["choices"][0]
    for reason in ("stop", "null"):  # a stream may break off, too
        last["finish_reason"] = reason
        for event in events:
            event["output"]["choices"][0]["message"].pop("reasoning_content", None)
        lines = "".join(f"data:{json.dumps(event)}\n\n" for event in events)
        assert decode_stream([lines.encode()]).reply.content == said


def test_dashscopes_texts_tell_of_each_other_what_they_are() -> None:
    events = [whole_so_far("", ""), whole_so_far("", '{"n": 1'), whole_so_far("", "1")]
    for event, thought in zip(events, ("So", " it", None), strict=True):
        event["output"]["choices"][0]["message"]["reasoning_content"] = thought
    events.append(whole_so_far("", "11}", "tool_calls"))
    lines = "".join(f"data:{json.dumps(event)}\n\n" for event in events)
    reply = decode_stream([lines.encode()]).reply
    assert reply.tool_calls[0].arguments_text == '{"n": 1111}'


def test_dashscopes_error_ends_its_stream() -> None:
    failed = {"code": "Throttling", "message": "Requests rate limit exceeded", "request_id": "r"}
    text = "".join(f"data:{json.dumps(frame)}\n\n" for frame in (whole_so_far("At"), failed))
    recording = decode_stream([text.encode()])
    assert recording.error == {"code": "Throttling", "message": "Requests rate limit exceeded"}
    assert recording.stop_reason == ""


def test_an_agents_frames_of_bedrock_hold_the_text_itself() -> None:
    frames = [
        {"chunk": {"bytes": base64.b64encode(text.encode()).decode()}} for text in ("Um ", "é")
    ]
    recording = decode_stream([FRAMINGS["JSON lines"]([*frames, {"trace": {"agentId": "a"}}])])
    assert (recording.api, recording.reply.content) == ("bedrock-invoke", "Um é")


@pytest.mark.parametrize("before", [b"\n", b"\r\n", b" \n\n", b"\xef\xbb\xbf\n"])
def test_blank_lines_before_a_stream_change_nothing_however_it_is_cut(before: bytes) -> None:
    """Where a piece held them and a beginning of the first line, that was taken for a document of
    many lines, of which nothing is told before its end."""
    said = [json.dumps({"choices": [{"delta": {"content": text}}]}) for text in ("Wind", "ward")]
    data = before + "\n".join([*said, '{"choices"', said[0]]).encode() + b"\n"
    whole = decode_stream(data)
    assert whole.reply.content == "WindwardWind"
    for place in range(len(data)):
        assert decode_stream([data[:place], data[place:]]).chunks == whole.chunks, place
    decoder = StreamDecoder("openai-chat")
    assert decoder.feed(data[: len(before) + 3]) == []
    texts = [c.text for c in decoder.feed(data[len(before) + 3 :]) if isinstance(c, TextChunk)]
    assert texts == ["Wind", "ward", "Wind"]  # at once, and not at the end


NEARLY = [
    ("hermes", "<tool_cal>\nis no call"),
    ("hermes", "<function=tide>\n<parameter=port>Quay</parameter>\n</function>"),
    (
        "dspy-xml",
        '{"name": <next_tool_name>tide</next_tool_name><next_tool_args>{}</next_tool_args>',
    ),
]


@pytest.mark.parametrize(("dialect", "text"), NEARLY)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_is_told_of_a_whole_reply_is_told_of_its_replay(
    dialect: str, text: str, size: int
) -> None:
    """A near marker, another dialect's call, an object around a call: a replay was silent."""
    tools = [{"name": "tide"}]
    told = pg.parse(text, dialect, tools)
    assert [finding.code for finding in told.findings] != []
    chunks = tuple(TextChunk(text[at : at + size]) for at in range(0, len(text), size))
    timeline = pg.replay(Recording("near", dialect, chunks), dialect, tools)
    assert timeline.result == told
    assert timeline.until(len(timeline.steps) - 1) == told
    assert timeline.until(len(timeline.steps) - 2).findings == []
