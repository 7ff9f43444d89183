"""Drawn faults in the frames of every provider's API, and what is read of each stream."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path
from string import ascii_letters, digits
from typing import Any, Final

import pytest
from golden_answers import Golden
from test_streams import SAID, adapted
from wires import FRAMINGS, WRITERS, Said, anthropic_messages, packed

from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording, SignalChunk, ToolCallChunk
from playground.recordings.scrubbing import searcher
from playground.recordings.wire_scrubbing import WireScrubber

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 7, -1.5, "", "odd", "\ud83d", [], {}, [1], {"text": "in"}, ["a", {"text": "b"}]),
    *({"input_tokens": 9, "output_tokens": 2}, {"message": "overloaded", "code": 529}),
)
RICH: Final = json.loads(Path(__file__).with_name("rich_streams.json").read_text(encoding="utf-8"))
NAMES: Final = (
    *("type", "text", "content", "index", "id", "usage", "error", "name", "arguments", "delta"),
    *("finish_reason", "stop_reason", "reasoning", "thinking", "signature", "done", "message"),
)


def boxes(value: Any) -> list[Any]:
    """Return all objects and lists inside, and the value itself."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(box for each in inner for box in boxes(each) if isinstance(box, dict | list))]


def spoil(frames: list[dict[str, Any]], dice: random.Random) -> str:
    """Change the frames in one place, and return in words what was done."""
    at = dice.randrange(len(frames))
    done = dice.choice(
        ("drop", "repeat", "swap", "cut", "unset", "set", "set", "set", "add", "add")
    )
    if done == "drop":
        del frames[at]
    elif done == "repeat":
        frames.insert(at, copy.deepcopy(frames[at]))
    elif done == "swap":
        frames[at], frames[at - 1] = frames[at - 1], frames[at]
    elif done == "cut":
        del frames[at + 1 :]
    else:
        box = dice.choice([each for each in boxes(frames[at]) if each or done == "add"])
        value = copy.deepcopy(dice.choice(VALUES))
        key: Any = (
            dice.randrange(len(box) or 1) if isinstance(box, list) else dice.choice([*box] or NAMES)
        )
        if done == "add" and isinstance(box, list):
            box.append(value)
        elif done == "add":
            key = dice.choice(NAMES)
            box[key] = value
        elif done == "unset":
            del box[key]
        else:
            box[key] = value
        return f"frame {at}: {done} {key} {value!a}"
    return f"frame {at}: {done}"


def answer_of(recording: Recording) -> list[str]:
    reply = recording.reply
    signals = [c.signal for c in recording.chunks if isinstance(c, SignalChunk)]
    indexes = [c.tool_call["index"] for c in recording.chunks if isinstance(c, ToolCallChunk)]
    found = [
        f"{recording.api} {recording.model} {recording.stop_reason!r} {recording.broken_off}",
        f"{reply.reasoning!a} {reply.content!a}",
        *(f"{call.name} {call.arguments_text!a}" for call in reply.tool_calls),
        f"{sorted(set(indexes))} {len(indexes)} {signals!a}",
        *(f"{each.code} {each.where}: {each.message!a}" for each in recording.findings),
        *(f"other: {len(other.chunks)} {other.stop_reason}" for other in recording.other_choices),
    ]
    beside = {"usage": recording.usage, "error": recording.error, "cache": recording.diagnostics}
    return [*found, *(f"{name}: {value!a}" for name, value in beside.items() if value is not None)]


@pytest.mark.parametrize("name", [*WRITERS, *RICH])
def test_drawn_faults_of_a_stream_are_read_as_they_were(name: str, golden: Golden) -> None:
    """Read each rich stream whole first, then with faults; it has every kind of frame."""
    answers, api = {}, name.partition(" ")[0]
    for number in range(16 if name in WRITERS else 32):
        dice = random.Random(f"{name} {number}")
        is_packed = name == "bedrock-invoke"
        write = anthropic_messages if is_packed else WRITERS[api]
        frames = copy.deepcopy(RICH.get(name) or write(adapted(SAID, api)))
        count = dice.choice((1, 1, 2)) if number or name in WRITERS else 0
        done = [spoil(frames, dice) for _ in range(count) if frames]
        frames = [{"chunk": {"bytes": packed(each)}} for each in frames] if is_packed else frames
        stream = FRAMINGS["escaped"](frames)
        answers[f"{number:02} {'; '.join(done)}"] = answer_of(decode_stream(stream, api=api))
    golden(answers)


def _run(size: int, dice: random.Random) -> str:
    return "".join(dice.choice(ascii_letters + digits) for _ in range(size))


def _text(dice: random.Random) -> str:
    """Return words, keys and what only looks like a key."""
    keys = (
        *("sk-ant-api03-" + _run(95, dice), "ghp_" + _run(36, dice)),
        *("AKIA" + _run(16, dice).upper(), _run(40, dice)),
    )
    forms = ("I use {} here", "API_KEY={}", "Bearer {}", "https://me:{}@h.example/x", "{}")
    odd = ("sk-learn 1.5", "the bearer of news\n", 'he said "key"', "🦊 tide ")
    words = [
        dice.choice(forms).format(dice.choice(keys)) if dice.random() < 0.5 else dice.choice(odd)
        for _ in range(5)
    ]
    return dice.choice((" ", "\n", ", ")).join(words)


def _with_secrets(dice: random.Random) -> Said:
    """Return a reply of such texts, in small pieces."""

    def pieces(whole: str) -> tuple[str, ...]:
        size = dice.choice((1, 5, 30, 400))
        return tuple(whole[at : at + size] for at in range(0, len(whole), size))

    arguments = json.dumps(
        {"path": _text(dice), "password": _run(20, dice), "lines": [_text(dice), 7]}
    )
    return Said(
        pieces(_text(dice)),
        pieces(_text(dice)),
        (("read_file", pieces(arguments)), ("now", ("{}",))),
    )


def _scrubbed(wire: bytes, dice: random.Random) -> bytes:
    scrubber, out = WireScrubber(searcher()), b""
    while wire:
        size = dice.choice((1, 3, 40, 400, 4_000))
        scrubber.feed(wire[:size])
        wire = wire[size:]
        out += scrubber.take(scrubber.ready)
    scrubber.finish()
    return out + scrubber.take(scrubber.ready)


@pytest.mark.parametrize("api", WRITERS)
def test_only_the_drawn_secrets_of_a_stream_are_starred_out(api: str, golden: Golden) -> None:
    """Texts, arguments, names, ids and comments in pieces; the wire comes in other pieces."""
    answers = {}
    for number in range(4):
        dice = random.Random(f"secrets {api} {number}")
        said = adapted(_with_secrets(dice), api)
        frames = WRITERS[api](said)
        frames[-1]["note"] = "kept"
        framing = dice.choice(["events", "JSON lines", "data on several lines", "a JSON list"])
        out = _scrubbed(FRAMINGS[framing](frames), dice)
        read = "\n".join(answer_of(decode_stream(out, api=api))[1:-2])
        answers[f"{number} {framing}"] = re.sub(r"\w{30,}", "(a run)", read).split("\n")
    golden(answers)


@pytest.mark.parametrize("name", RICH)
def test_secrets_in_any_text_of_a_frame_are_starred_out(name: str, golden: Golden) -> None:
    answers = {}
    for number in range(6):
        dice = random.Random(f"secrets {name} {number}")
        frames = copy.deepcopy(RICH[name])
        for _ in range(8):
            box = dice.choice([each for each in boxes(frames) if each and each is not frames])
            keys = [*range(len(box))] if isinstance(box, list) else [*box]
            if texts := [key for key in keys if isinstance(box[key], str) and key != "type"]:
                box[dice.choice(texts)] = _text(dice)
        framing = dice.choice(["events", "JSON lines", "data on several lines", "a JSON list"])
        wire = FRAMINGS[framing](frames)
        before, after = wire.split(b"\n"), _scrubbed(wire, dice).split(b"\n")
        changed = [row.decode() for row in after if row not in before]
        assert len(before) == len(after)
        answers[f"{number} {framing}"] = [re.sub(r"\w{30,}", "(a run)", row) for row in changed]
    golden(answers)
