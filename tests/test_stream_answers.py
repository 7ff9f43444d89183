"""Drawn faults in the frames of every provider's API, and what is read of each stream."""

from __future__ import annotations

import copy
import random
from typing import Any, Final

import pytest
from golden_answers import Golden
from test_streams import SAID, adapted
from wires import FRAMINGS, WRITERS, anthropic_messages, packed

from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording, SignalChunk, ToolCallChunk

VALUES: Final = (
    *(None, True, 7, -1.5, "", "odd", "\ud83d", [], {}, [1], {"text": "in"}, ["a", {"text": "b"}]),
    *({"input_tokens": 9, "output_tokens": 2}, {"message": "overloaded", "code": 529}),
)
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
        key: Any = dice.randrange(len(box) or 1) if isinstance(box, list) else dice.choice([*box])
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
        f"{indexes} {signals!a}",
        *(f"{each.code} {each.where}: {each.message!a}" for each in recording.findings),
        *(f"other: {len(other.chunks)} {other.stop_reason}" for other in recording.other_choices),
    ]
    beside = {"usage": recording.usage, "error": recording.error, "cache": recording.diagnostics}
    return [*found, *(f"{name}: {value!a}" for name, value in beside.items() if value is not None)]


@pytest.mark.parametrize("api", WRITERS)
def test_drawn_faults_of_a_stream_are_read_as_they_were(api: str, golden: Golden) -> None:
    answers = {}
    for number in range(16):
        dice = random.Random(f"{api} {number}")
        is_packed = api == "bedrock-invoke"
        write = anthropic_messages if is_packed else WRITERS[api]
        frames = copy.deepcopy(write(adapted(SAID, api)))
        done = [spoil(frames, dice) for _ in range(dice.choice((1, 1, 2))) if frames]
        frames = [{"chunk": {"bytes": packed(each)}} for each in frames] if is_packed else frames
        stream = FRAMINGS["escaped"](frames)
        answers[f"{number:02} {'; '.join(done)}"] = answer_of(decode_stream(stream, api=api))
    golden(answers)
