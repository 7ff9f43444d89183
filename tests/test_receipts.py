"""What came in is there, or is told: a walk that knows no format, over every format's example."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from session_examples import (
    ANSWER,
    ASK,
    EXAMPLES,
    NAME,
    RESULT,
    SAY,
    TOOL,
    document,
    httprr_of,
    httprr_parts,
    zipped,
)

from playground.base.errors import InputFault
from playground.cli import main
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.sessions.formats import FORMATS, get_format
from playground.sessions.loading import (
    LoadedSession,
    load_session,
    load_sessions,
    read_sessions,
    receipt_of_sessions,
    sample_sessions,
)
from playground.sessions.native_format import dump_session
from playground.sessions.receipts.comparison import SAME, receipt_of
from playground.sessions.receipts.leaves import leaves_of
from playground.sessions.receipts.receipt import Receipt
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.show.frames import frame
from playground.show.rows import receipt

LONGER = {
    ASK: "Weather in Oslo? I mean the capital of Norway, not a town in Minnesota",
    SAY: "Let me look. It takes a moment until the station has answered me",
    ANSWER: "It is 3 °C. That is what the station at Blindern says just now",
    RESULT: "3 °C, dry, as it was for all of the week before this one",
}


def longer(content: bytes) -> bytes:
    """An example with texts that are long enough to be said, however they are written in it."""
    for short, text in LONGER.items():
        for before, after in {short: text, _json(short): _json(text)}.items():
            content = content.replace(before.encode(), after.encode())
            if before != (escaped := _json(before)):
                content = content.replace(escaped.encode(), _json(after).encode())
    piece, tail = ANSWER[5:], LONGER[ANSWER][5:]  # of an answer that comes in two pieces
    for before, after in {piece: tail, _json(piece): _json(tail)}.items():
        content = content.replace(f'"{before}"'.encode(), f'"{after}"'.encode())
    return content


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def on_disk(form: str, folder: Path, longer: Callable[[bytes], bytes] = longer) -> Path:
    """The example of a format, with longer texts unless they are to stay, as a file or folder."""
    example = EXAMPLES[form]
    path = folder / example.name
    if isinstance(example.content, dict):
        for name, data in example.content.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(longer(data))
    elif example.content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(example.content)) as archive:
            members = {name: longer(archive.read(name)) for name in archive.namelist()}
        path.write_bytes(zipped(members))
    elif form == "httprr":  # whose sizes change with its texts
        path.write_bytes(httprr_of(*map(longer, httprr_parts())))
    else:
        path.write_bytes(longer(example.content))
    return path


def read(path: Path | str, data: bytes | None = None) -> tuple[list[LoadedSession], Receipt]:
    def source() -> Source:
        return Source.open(path) if data is None else Source(str(path), data)

    loaded = list(read_sessions(source()))
    return loaded, receipt_of_sessions(source(), loaded)


@pytest.mark.parametrize("form", sorted(EXAMPLES))
def test_what_came_in_is_there_or_is_told(form: str, tmp_path: Path) -> None:
    loaded, receipt = read(on_disk(form, tmp_path))
    assert loaded[0].format == form
    assert receipt.silent == []


@pytest.mark.parametrize("form", sorted(EXAMPLES))
def test_what_is_left_of_a_torn_file_is_there_or_is_told(form: str, tmp_path: Path) -> None:
    """A file is cut anywhere; of one of lines, some are also missing and others swapped."""
    path = on_disk(form, tmp_path)
    if path.is_dir():
        return
    data, chance = path.read_bytes(), Random(form)
    for _ in range(12):
        torn = data[: chance.randrange(1, len(data))]
        if path.suffix == ".jsonl" and chance.random() < 0.5:
            lines = torn.splitlines(keepends=True)
            torn = b"".join(chance.sample(lines, chance.randint(1, len(lines))))
        with suppress(InputFault):
            loaded, receipt = read(path.name, torn)
            told = any(f.severity != "info" for each in loaded for f in each.findings)
            assert told or receipt.silent == [], torn


def without_one(sessions: list[Session]) -> Iterator[tuple[str, list[Session]]]:
    """The sessions without one of the texts, calls, results and reports of tokens in them, or
    with another one in its place."""
    for part in {repr(p): p for s in sessions for m in s.messages for p in m.parts}.values():
        for other in (None, *_otherwise(part)):
            changed = [replace(each, messages=_with(each, part, other)) for each in sessions]
            yield f"{part!r} → {other!r}", changed
    for number, session in enumerate(sessions):
        for index, record in enumerate(session.requests):
            if record.usage and any(record.usage.values()):
                requests = list(session.requests)
                requests[index] = replace(record, usage=None)
                spoilt = replace(session, requests=tuple(requests))
                yield repr(record), [*sessions[:number], spoilt, *sessions[number + 1 :]]


def _with(session: Session, part: Any, other: Any) -> tuple[Message, ...]:
    """The messages with another part in the place of one, or without it."""
    return tuple(
        replace(m, parts=tuple(filter(None, (other if p == part else p for p in m.parts))))
        for m in session.messages
    )


def _otherwise(part: Any) -> Iterator[Any]:
    """The same part with something else in it."""
    match part:
        case TextPart():
            yield replace(part, text=part.text[: len(part.text) // 2])
        case ToolCallPart():
            yield replace(part, args={**part.args, "city": "Bergen"})
        case ToolResultPart():
            yield replace(part, result="4 °C")


# What the walk cannot see: counts in words, calls that are written in a text or apart from their
# names, and short texts where no role stands beside them, or in no JSON.
_UNSEEN = {
    "aider-chat-history": ("usage",),
    "aider-llm-history": ("And?",),
    "request-rows": ("usage",),  # 3 tokens in all, beside a bill of 12 and 3
    "chatgpt-export": ("ToolCall",),
    "glaive": ("ToolCall", "You have functions"),
    "openhands-output": ("ToolCall",),
    "specstory": ("ToolCall",),
    "swe-agent-demo": ("ToolCall",),
    "tau2-ticks": ("Weather in Oslo?",),
}
# Formats in which nothing shows of some short text that it was said.
_UNSEEN_SHORT = {
    "adk-eval", "ai-sdk-spans", "aider-chat-history", "aider-llm-history", "claude-stream-json",
    "glaive", "inspect-log", "openai-agents-run", "openinference-spans", "specstory",
    "swe-agent-demo",
}  # fmt: skip


@pytest.mark.parametrize("texts", [longer, bytes], ids=["long", "short"])
@pytest.mark.parametrize("form", sorted(EXAMPLES))
def test_no_importer_could_lose_a_text_a_call_or_a_count_unseen(
    form: str, texts: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """Each part is taken out of the sessions, or changed, as if the importer had done it."""
    if texts is bytes and form in _UNSEEN_SHORT:
        return
    path = on_disk(form, tmp_path, texts)
    loaded, _ = read(path)
    leaves = leaves_of(Source.open(path))
    alone = [replace(each.session, rows=(), title="") for each in loaded]
    for lost, spoilt in without_one(alone):
        receipt = receipt_of(leaves, spoilt, (), get_format(form).left_aside)
        assert receipt.silent or any(each in lost for each in _UNSEEN.get(form, ())), lost


# Six importers' slips that nothing saw. Each file is as its tool writes it, with other texts.


def http_cassette(*exchanges: tuple[dict[str, Any], Any]) -> bytes:
    """Requests with their replies, as VCR keeps them."""
    kept = [
        {
            "request": {"method": "POST", "uri": "http://x/v1/chat", "body": json.dumps(asked)},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "body": {"string": came if isinstance(came, str) else json.dumps(came)},
            },
        }
        for asked, came in exchanges
    ]
    return yaml.safe_dump({"interactions": kept}).encode()


def chat_reply(usage: dict[str, int], **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def call_of(city: str, call_id: str) -> dict[str, Any]:
    function = {"name": NAME, "arguments": json.dumps({"city": city})}
    return {"id": call_id, "type": "function", "function": function}


def usage_of(read: int, written: int) -> dict[str, int]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def inspect_log() -> bytes:
    """Three answers, of which none has an id; each its own bill."""
    said = [LONGER[SAY], LONGER[ANSWER], "And that is all that there is to say about it"]
    usages = [
        {"input_tokens": n, "output_tokens": n + 1, "total_tokens": n + n + 1}
        for n in (101, 205, 307)
    ]
    messages = [{"role": "user", "content": LONGER[ASK]}]
    events = []
    for text, usage in zip(said, usages, strict=True):
        answer = {"role": "assistant", "content": text}
        output = {"model": "m", "choices": [{"message": answer}], "usage": usage}
        events.append({"event": "model", "model": "m", "input": list(messages), "output": output})
        messages += [answer, {"role": "user", "content": f"Go on after {usage['input_tokens']}"}]
    sample = {"id": 1, "epoch": 1, "messages": messages, "events": events}
    return document({"version": 2, "eval": {"model": "m"}, "samples": [sample]})


def any_agent_spans() -> bytes:
    """The first span has what was asked; the others only what came, and what tools gave."""
    asked = json.dumps([{"role": "user", "content": LONGER[ASK]}])
    calls = json.dumps([{"tool.name": NAME, "tool.args": json.dumps({"city": "Oslo"})}])
    spans = [
        ("call_llm", {"gen_ai.input.messages": asked, "gen_ai.output": calls}, (269, 16)),
        ("execute_tool", {"gen_ai.tool.name": NAME, "gen_ai.output": LONGER[RESULT]}, ()),
        ("call_llm", {"gen_ai.output": LONGER[ANSWER]}, (359, 14)),
    ]
    return document(
        {
            "spans": [
                {
                    "name": name,
                    "start_time": number,
                    "end_time": number + 1,
                    "attributes": {
                        "gen_ai.operation.name": name,
                        "gen_ai.request.model": "m",
                        "gen_ai.output.type": "json",
                        **({"gen_ai.tool.args": '{"city": "Oslo"}'} if not used else {}),
                        **given,
                        **{
                            f"gen_ai.usage.{side}_tokens": n
                            for side, n in zip(("input", "output"), used, strict=False)
                        },
                    },
                }
                for number, (name, given, used) in enumerate(spans)
            ]
        }
    )


def edited_history() -> bytes:
    """A text beside two calls; the next request repeats the first call alone."""
    calls = [call_of("Oslo", "c1"), call_of("Bergen", "c2")]
    asked = [{"role": "user", "content": LONGER[ASK]}]
    told_again = {"role": "assistant", "content": None, "tool_calls": calls[:1]}
    result = {"role": "tool", "tool_call_id": "c1", "content": LONGER[RESULT]}
    first = {"model": "m", "messages": asked, "tools": [TOOL]}
    second = {**first, "messages": [*asked, told_again, result]}
    return http_cassette(
        (first, chat_reply(usage_of(101, 7), content=LONGER[SAY], tool_calls=calls)),
        (second, chat_reply(usage_of(205, 9), content=LONGER[ANSWER])),
    )


def ollama_cassette() -> bytes:
    asked = {"model": "m", "messages": [{"role": "user", "content": LONGER[ASK]}], "stream": False}
    answer = {"role": "assistant", "content": LONGER[ANSWER]}
    came = {"model": "m", "message": answer, "done": True, "done_reason": "stop"}
    return http_cassette((asked, {**came, "prompt_eval_count": 40, "eval_count": 225}))


def httprr_trace() -> bytes:
    """Two exchanges of Gemini's, each a stream of its own, as Go's httprr keeps them."""
    trace = b"httprr trace v1\n"
    history: list[dict[str, Any]] = []
    for number, (asked, came) in enumerate(((ASK, SAY), ("And then? Tell me more of it", ANSWER))):
        history.append({"role": "user", "parts": [{"text": LONGER.get(asked, asked)}]})
        body = json.dumps({"contents": history})
        head = "POST https://x/v1beta/models/gemini-2.5-flash:streamGenerateContent HTTP/1.1"
        request = f"{head}\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        said = {"role": "model", "parts": [{"text": LONGER[came]}]}
        history.append(said)
        used = {"promptTokenCount": 101 + number, "candidatesTokenCount": 7 + number}
        frame = {"candidates": [{"content": said, "finishReason": "STOP"}], "usageMetadata": used}
        event = f"data: {json.dumps(frame, ensure_ascii=False)}\r\n\r\n".encode()
        chunk = f"{len(event):x}\r\n".encode() + event + b"\r\n0\r\n\r\n"
        reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
        trace += f"{len(request)} {len(reply)}\n".encode() + request + reply
    return trace


def chatgpt_objects() -> bytes:
    """Parts of a message that are objects and no texts."""
    said = [("user", LONGER[ASK]), ("assistant", LONGER[ANSWER]), ("tool", LONGER[RESULT])]
    nodes = {
        f"m{n}": {
            "id": f"m{n}",
            "parent": f"m{n - 1}" if n else None,
            "message": {
                "id": f"m{n}",
                "author": {"role": role},
                "recipient": "all",
                "content": {"content_type": "text", "parts": [{"text": text}]},
            },
        }
        for n, (role, text) in enumerate(said)
    }
    return document(
        [{"title": "t", "conversation_id": "c", "current_node": "m2", "mapping": nodes}]
    )


SLIPS = {
    "chatgpt": ("conversations.json", chatgpt_objects),
    "inspect": ("log.json", inspect_log),
    "any-agent": ("trace.json", any_agent_spans),
    "edited history": ("cassette.yaml", edited_history),
    "ollama": ("ollama.yaml", ollama_cassette),
    "httprr": ("trace.httprr", httprr_trace),
}


@pytest.mark.parametrize("slip", sorted(SLIPS))
def test_an_old_slip_of_an_importer_is_none_any_more(slip: str) -> None:
    name, content = SLIPS[slip]
    _, receipt = read(name, content())
    assert receipt.missing == []
    assert receipt.characters > 0


def test_a_reply_that_the_next_request_changed_is_told_with_both_texts() -> None:
    loaded, _ = read("cassette.yaml", edited_history())
    [found] = [each for each in loaded[0].findings if each.code == "history-differs"]
    assert (found.severity, found.where) == ("warning", "interactions.1.request.messages.1")
    assert "get_weather({'city': 'Oslo'}), get_weather({'city': 'Bergen'})" in found.message
    assert found.message.endswith("the next request has calls get_weather({'city': 'Oslo'})")
    answer = loaded[0].session.messages[1]
    assert answer.text == LONGER[SAY]
    assert [call.args["city"] for call in answer.tool_calls] == ["Oslo", "Bergen"]
    assert [record.reply for record in loaded[0].session.requests] == [1, 3]


def test_calls_that_a_client_tells_one_by_one_are_one_reply() -> None:
    calls = [call_of("Oslo", "c1"), call_of("Bergen", "c2")]
    asked = [{"role": "user", "content": LONGER[ASK]}]
    apart = [
        told
        for call in calls
        for told in (
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": LONGER[RESULT]},
        )
    ]
    first = {"model": "m", "messages": asked}
    cassette = http_cassette(
        (first, chat_reply(usage_of(101, 7), content=None, tool_calls=calls)),
        ({**first, "messages": [*asked, *apart]}, chat_reply(usage_of(205, 9), content="Dry.")),
    )
    loaded, receipt = read("cassette.yaml", cassette)
    said = [(m.role, len(m.tool_calls)) for m in loaded[0].session.messages]
    assert said == [("user", 0), ("assistant", 2), ("tool", 0), ("tool", 0), ("assistant", 0)]
    assert loaded[0].findings == []
    assert receipt.missing == []


# What holds the conversation itself, whatever a format calls it.
_SAID = {
    "messages", "message", "content", "parts", "tool_calls", "usage", "arguments", "result",
    "annotations", "annotation", "citations", "citation", "audio", "structuredContent",
}  # fmt: skip


@pytest.mark.parametrize("form", [each.name for each in FORMATS])
def test_what_a_format_leaves_aside_is_beside_the_conversation(form: str) -> None:
    for path, reason in get_format(form).left_aside.items():
        assert reason.strip(), path
        if not path.startswith("^") and not reason.startswith(SAME):
            assert not _SAID & set(path.split(".")), path


def test_a_text_that_is_said_to_stand_elsewhere_is_looked_for_there() -> None:
    same = "The very same words stand in another place of the file"
    other = "These words stand nowhere else, whatever a format says of them"
    content = document({"messages": [], "raw": same, "kept": same, "raw_too": other})
    leaves = leaves_of(Source("a.json", content))
    aside = {"raw*": f"{SAME}kept", "kept": "a copy"}
    found = receipt_of(leaves, [], (), aside)
    assert [(each.place, each.is_silent) for each in found.missing] == [
        ("raw", False),
        ("kept", False),
        ("raw_too", True),
    ]


def test_a_loaded_session_has_the_receipt_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.httprr"
    path.write_bytes(httprr_trace())
    session = load_session(path)
    assert session.receipt is not None
    assert (
        session.receipt.words
        == "100 % of the file's text is in its sessions; nothing was found missing"
    )
    assert session.receipt.in_file["input tokens"] == 101 + 102
    assert replace(session, title="edited").receipt is None


def test_the_command_says_what_of_a_file_is_in_no_session(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    note = "A remark that stands beside the conversation, and that nobody reads"
    said = [{"role": "user", "content": LONGER[ASK]}]
    path.write_bytes(document({"chat": {"turns": said}, "remark": {"of": {"mine": note}}}))
    ran = CliRunner().invoke(main, ["import", str(path), "--receipt", "--json"])
    receipt = json.loads(ran.stdout)["receipt"]
    [row] = receipt["missing"]
    assert (row["path"], row["times"], row["characters"]) == ("remark.of.mine", 1, len(note))
    assert receipt["counts"][0] == {"what": "messages", "in_file": 1, "in_sessions": 1}
    shown = CliRunner().invoke(main, ["import", str(path), "--receipt"]).stdout
    assert "finding: not-in-session" in shown
    refused = CliRunner().invoke(main, ["import", "-", "--receipt"], input=path.read_text())
    assert refused.exit_code == 2


def test_the_receipt_of_a_command_compares_its_body() -> None:
    """Each line of it was a text of its own, which was missing without a word."""
    asked = {"parts": [{"text": "When is high water in Brest today?"}], "role": "user"}
    body = {"contents": [asked], "generationConfig": {"temperature": 1}}
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent"
    command = (
        f'curl "{url}" \\\n  -H "x-goog-api-key: $KEY" \\\n  -d \'{json.dumps(body, indent=1)}\''
    )
    found = load_session(command).receipt
    assert found is not None
    assert (found.share, found.silent) == (1.0, [])
    assert found.words.startswith("100 % ")


def test_a_request_that_was_billed_and_answered_with_nothing_keeps_its_bill() -> None:
    asked = [{"role": "user", "content": LONGER[ASK]}]
    again = [*asked, {"role": "user", "content": "Say it again, please, all of it"}]
    cassette = http_cassette(
        ({"model": "m", "messages": asked}, chat_reply(usage_of(101, 0), content=None)),
        ({"model": "m", "messages": again}, chat_reply(usage_of(205, 9), content=LONGER[ANSWER])),
    )
    loaded, receipt = read("cassette.yaml", cassette)
    requests = loaded[0].session.requests
    assert [(each.reply, (each.usage or {})["prompt_tokens"]) for each in requests] == [
        (-1, 101),
        (2, 205),
    ]
    assert receipt.missing == []


def test_a_body_that_is_kept_as_it_was_sent_does_not_stand_for_the_conversation() -> None:
    loaded, _ = read("cassette.yaml", edited_history())
    leaves = leaves_of(Source("cassette.yaml", edited_history()))
    session = loaded[0].session
    assert session.rows
    without_question = replace(session, messages=session.messages[1:])
    silent = receipt_of(leaves, [without_question]).silent
    assert LONGER[ASK] in {each.text for each in silent}


def test_a_place_in_yaml_names_the_document_only_among_several() -> None:
    one = b"messages:\n- role: user\n  content: How high is the tide at noon today?\n"
    for data, places in ((one, ["messages.0.content"]), (one + b"---\n" + one, ["0", "1"])):
        texts = leaves_of(Source("a.yaml", data)).texts
        assert [str(text.place).removesuffix(".messages.0.content") for text in texts] == places


def test_the_place_of_a_loss_is_the_same_however_a_body_is_spelt() -> None:
    asked = [
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGR"}}]}
    ]
    again = [*asked, {"role": "user", "content": LONGER[ASK]}]
    cassette = http_cassette(
        ({"model": "m", "messages": again}, chat_reply(usage_of(101, 7), content=LONGER[ANSWER])),
    )
    loaded, receipt = read("cassette.yaml", cassette)
    [lost] = receipt.missing
    assert (lost.place, lost.finding_code) == (
        "interactions.0.request.body.messages.0.content.0.input_audio.data",
        "part-lost",
    )
    assert [f.where for f in loaded[0].findings if f.code == "part-lost"] == [
        "interactions.0.request.messages.0.content.0"
    ]


URL = {"url_citation": {"url": "https://met.no/oslo", "title": "Oslo now"}, "type": "url_citation"}
QUOTED = {"type": "page_location", "cited_text": "It is 3 °C at Blindern, and dry", "title": "p"}


def sse(*frames: dict[str, Any]) -> bytes:
    return "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode()


def chat_chunk(**delta: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": "stop"}]
    return {"object": "chat.completion.chunk", "id": "c", "model": "m", "choices": choices}


# What stands beside a text, whose it is, and the field that the finding names.
BESIDE: dict[str, tuple[Any, str]] = {
    "annotations of a chat's reply": (
        chat_reply(usage_of(9, 8), content=LONGER[ANSWER], annotations=[URL]),
        "annotations",
    ),
    "the sound of a reply": (
        chat_reply(
            usage_of(9, 8),
            content=None,
            audio={"id": "a", "data": "UklGRiQAAABXQVZF", "transcript": LONGER[ANSWER]},
        ),
        "audio",
    ),
    "citations of a text block": (
        {
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": LONGER[ANSWER], "citations": [QUOTED]}],
            "usage": {"input_tokens": 9, "output_tokens": 8},
        },
        "citations",
    ),
    "a document's title and context": (
        {
            "model": "m",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "document",
                            "title": "Weather",
                            "context": "Measured, not guessed",
                            "source": {"type": "text", "data": LONGER[ANSWER]},
                        }
                    ],
                }
            ],
        },
        "title",
    ),
    "structured content of a result": (
        {
            "messages": [
                {"role": "user", "content": LONGER[ASK]},
                {"role": "assistant", "content": None, "tool_calls": [call_of("Oslo", "c1")]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": {
                                "content": [{"type": "text", "text": "3 °C"}],
                                "structuredContent": {"degrees": 3, "wind": "north"},
                            },
                        }
                    ],
                },
            ]
        },
        "structuredContent",
    ),
    "annotations of a stream": (
        sse(chat_chunk(content=LONGER[ANSWER]), chat_chunk(annotations=[URL])),
        "annotations",
    ),
    "citations of a stream": (
        sse(
            {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9}}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": LONGER[ANSWER]},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "citations_delta", "citation": QUOTED},
            },
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        ),
        "citation",
    ),
}


@pytest.mark.parametrize("what", sorted(BESIDE))
def test_what_stands_beside_a_text_is_missed_and_told(what: str) -> None:
    given, name = BESIDE[what]
    content = given if isinstance(given, bytes) else document(given)
    loaded, receipt = read("file.json" if content[:1] == b"{" else "file.sse", content)
    told = [each for each in loaded[0].findings if each.code == "beside-left-out"]
    assert any(name in each.message and each.severity == "warning" for each in told)
    assert receipt.missing != []
    assert receipt.silent == []
    leaves = leaves_of(Source("file.json" if content[:1] == b"{" else "file.sse", content))
    assert receipt_of(leaves, [each.session for each in loaded]).silent != []


def test_every_cell_of_the_table_of_missing_pieces_is_in_words(tmp_path: Path) -> None:
    """No value of Python's, and no empty cell where the command says that nothing tells."""
    kinds = set()
    for form in sorted(EXAMPLES):
        (folder := tmp_path / form).mkdir()
        path = on_disk(form, folder)
        loaded, _ = read(path)
        nothing = replace(loaded[0], session=Session(task=loaded[0].session.task))
        shown = frame(receipt(receipt_of_sessions(Source.open(path), [nothing])))
        for why, kind, first in zip(shown["why"], shown["kind"], shown["text"], strict=True):
            kinds.add(kind)
            assert why
            assert kind != "usage" or re.fullmatch(r"[\d,]+( and [\d,]+)* tokens", first)
    assert "usage" in kinds


def test_events_of_several_lines_and_unreadable_ones_are_read_as_the_importer_does() -> None:
    spread = json.dumps(chat_chunk(content=LONGER[ANSWER]), indent=1).replace("\n", "\ndata: ")
    loaded, receipt = read("a.sse", f"data: {spread}\n\n".encode())
    assert receipt.missing == [] and receipt.characters == len(LONGER[ANSWER])
    torn = b'data: {"choices": [{"delta": {"content": "And tomorrow it will rain all day\n\n'
    loaded, receipt = read("a.sse", sse(chat_chunk(content=LONGER[ANSWER])) + torn)
    assert "unreadable-frame" in {each.code for each in loaded[0].findings}
    assert [each.finding_code for each in receipt.missing] == ["unreadable-frame"]
    assert 0 < receipt.share < 1


def generations(*usages: dict[str, int]) -> bytes:
    asked, answered = [{"role": "user", "content": ASK}], {"role": "assistant", "content": ANSWER}
    said = {"type": "GENERATION", "traceId": "t", "input": asked, "output": answered}
    return document({"trace": {"id": "t"}, "observations": [said | {"usage": u} for u in usages]})


def test_no_bill_of_a_trace_is_lost_without_a_word() -> None:
    loaded, receipt = read("a.json", generations({"input": 9, "output": 4}, {"input": 7}))
    assert [len(each.session.requests) for each in loaded] == [1, 1] and receipt.missing == []
    loaded, receipt = read("a.json", generations({"input": 9}, {"input": 9}))
    assert [(each.kind, each.finding_code) for each in receipt.missing] == [("usage", "part-lost")]
    loaded, receipt = read("a.json", generations({}, {"input": 9}))
    assert loaded[0].session.requests[0].usage == {"input": 9} and receipt.missing == []


@pytest.mark.parametrize(("later", "is_told"), [(9, False), (77, True)])
def test_lines_of_one_answer_with_other_bills_are_told(later: int, is_told: bool) -> None:
    def line(tokens: int, output: int) -> dict[str, Any]:
        usage = {"input_tokens": tokens, "output_tokens": output}
        content = [{"type": "text", "text": f"{output}: {LONGER[ANSWER]}"}]
        said = {"id": "m1", "role": "assistant", "model": "m", "content": content, "usage": usage}
        return {"type": "assistant", "uuid": str(output), "sessionId": "s", "message": said}

    loaded, _ = read(
        "a.jsonl", b"\n".join(json.dumps(line(*n)).encode() for n in [(9, 1), (later, 5)])
    )
    told = [each for each in loaded[0].findings if each.code == "usage-lost"]
    assert bool(told) == is_told and all("'input_tokens': 9" in each.message for each in told)


@pytest.mark.parametrize("answered", [True, False])
def test_a_usage_beside_the_messages_is_kept_or_told(answered: bool) -> None:
    messages = [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]
    body = {"model": "m", "messages": messages[: 1 + answered], "usage": usage_of(9, 8)}
    loaded, receipt = read("a.json", document(body))
    assert [each.usage for each in loaded[0].session.requests] == [usage_of(9, 8)] * answered
    assert [each.finding_code for each in receipt.missing] == ["usage-lost"] * (not answered)
    loaded, receipt = read("a.json", document({**body, "usage": {"include": True}}))
    assert not loaded[0].session.requests and receipt.missing == []


def test_a_number_that_was_said_is_missing_and_told() -> None:
    messages = [{"role": "user", "content": 12345}, {"role": "assistant", "content": ANSWER}]
    _, receipt = read("a.json", document({"model": "m", "messages": messages}))
    assert [(each.text, each.finding_code) for each in receipt.missing] == [("12345", "part-lost")]


def test_a_refusal_after_a_text_is_told() -> None:
    chunks = [chat_chunk(content="I looked. "), chat_chunk(refusal="I cannot help with that")]
    told = [each for each in read("a.sse", sse(*chunks))[0][0].findings]
    assert [each.code for each in told] == ["beside-left-out"]
    assert "refusal" in told[0].message and "joined" in told[0].message
    assert read("a.sse", sse(*chunks[1:]))[0][0].findings == []


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_key_that_stands_twice_is_told_by_its_path(name: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": TOOL, "arguments": "ARGUMENTS"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = json.dumps({"messages": [{"role": "user", "content": ASK}, said]})
    doubled = body.replace("ARGUMENTS", '{\\"city\\": \\"Oslo\\", \\"city\\": \\"Rome\\"}')
    doubled = doubled.replace('{"messages"', '{"messages": [], "messages"')
    lines = [doubled, body.replace("ARGUMENTS", '{\\"a\\": 1, \\"a\\": 1}')]
    data = "\n".join(lines if name == "a.jsonl" else lines[:1]).encode()
    found = [each for one in read(name, data)[0] for each in one.findings]
    told = {each.where.rpartition(", ")[2]: each.message for each in found}
    assert "'messages'" in told["messages"]
    assert "'city'" in told["messages.1.tool_calls.0.function.arguments.city"]
    assert len(found) == 2


def test_a_message_of_results_alone_counts_in_neither_column() -> None:
    """A session has Anthropic's results in messages of tools: 4 messages were 3 there."""
    call = {"type": "tool_use", "id": "a", "name": "tide", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "At six."}
    body = {
        "model": "claude-sonnet-4-5",
        "messages": [
            {"role": "user", "content": "When is low water?"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": "At six in the morning."},
        ],
    }
    receipt = load_session(body).receipt
    assert receipt is not None and receipt.counts[0] == ("messages", 3, 3)


@pytest.mark.parametrize("form", sorted(EXAMPLES))
def test_our_own_file_is_whole_with_its_recordings_and_bodies(form: str, tmp_path: Path) -> None:
    """Recordings were said to be missing, and calls and messages counted in one column only."""
    for loaded in load_sessions(on_disk(form, tmp_path)):
        written = dump_session(loaded.session).encode()
        again = list(read_sessions(Source("s.json", written)))
        found = receipt_of_sessions(Source("s.json", written), again)
        assert not found.missing
        assert all(in_file == in_sessions for _, in_file, in_sessions in found.counts)


# samples without a recording, or whose messages have every text of it
NOTHING_OF_THEIR_OWN = {"03-long-file", "07-gemini-above", "08-gemini-below", "12-long-tool-run"}


@pytest.mark.parametrize("name", sample_sessions())
def test_a_samples_recordings_are_counted_and_missed_if_they_are_taken_out(name: str) -> None:
    written = dump_session(sample_sessions()[name]).encode()
    (loaded,) = read_sessions(Source("s.json", written))
    found = receipt_of_sessions(Source("s.json", written), [loaded])
    assert (found.share, [*found.missing]) == (1.0, [])
    assert all(in_file == in_sessions for _, in_file, in_sessions in found.counts)
    without = replace(loaded, session=replace(loaded.session, recordings=()))
    lost = receipt_of_sessions(Source("s.json", written), [without]).missing
    assert all(each.place.startswith("recordings.") for each in lost)
    assert lost or name in NOTHING_OF_THEIR_OWN
