"""Drawn faults in the examples of every session format, and what changes in the reading."""

from __future__ import annotations

import copy
import difflib
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from golden_answers import Golden
from session_examples import EXAMPLES, Example, document, lines
from test_importing import on_disk
from test_stream_answers import boxes

from playground.base.errors import InputFault
from playground.sessions.formats import recognised
from playground.sessions.loading import read_sessions
from playground.sessions.native_format import dump_session
from playground.sessions.source import Source

RICH: Final = Path(__file__).parent / "rich_sessions"
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 7, -1.5, "", "odd", [], {}, ["a", {"text": "b"}], {"type": "text", "text": "in"}),
    *({"input_tokens": 9, "output_tokens": 2}, "system", "tool", "2026-01-02T03:04:05Z", "c1"),
)


def reading(example: Example, folder: Path, form: str) -> list[str]:
    """Return the lines of all sessions of a file and of their findings, or its fault."""
    place = on_disk(example, folder)
    read = []
    try:
        for loaded in read_sessions(Source.open(place, example.name), form):
            read += json.dumps(json.loads(dump_session(loaded.session)), indent=1).splitlines()
            read += [f"{one.code} {one.where}: {one.message}" for one in loaded.findings]
    except InputFault as fault:
        read.append(f"fault: {fault}")
    return [line.replace(str(folder), "~").strip().rstrip(",") for line in read]


def parsed(content: bytes) -> tuple[list[Any], bool]:
    """Return the values of a JSON document or of JSON lines, or a text's lines as a list, and True
    for a text. A file of bytes has no value."""
    with suppress(ValueError):
        return [json.loads(content)], False
    with suppress(ValueError):
        return [json.loads(line) for line in content.splitlines() if line.strip()], False
    return [content.decode().split("\n") if b"\0" not in content else []], True


def spoiled(content: bytes, dice: random.Random) -> tuple[str, bytes] | None:
    """Return what was changed in one place, and the changed file; None if it holds no value."""
    values, is_text = parsed(content)
    held = [each for value in values if isinstance(value, dict | list) for each in boxes(value)]
    if not (held := [each for each in held if each]):
        return None
    box = dice.choice(held)
    key: Any = dice.randrange(len(box)) if isinstance(box, list) else dice.choice([*box])
    value = copy.deepcopy(dice.choice(VALUES))
    done = dice.choice(("unset", "set", "set", "repeat"))
    words = f"= {value!a}"
    if done == "unset":
        del box[key]
        words = "unset"
    elif done == "repeat" and isinstance(box, list):
        box.insert(key, copy.deepcopy(box[key]))
        words = "repeated"
    else:
        box[key] = value
    rows = map(str, values[0]) if is_text else map(json.dumps, values)
    return f"{key} {words}", "".join(f"{row}\n" for row in rows).encode()


def rich(file: Path) -> Example:
    """Return an example in which each field that a format's reader knows has a value."""
    held = json.loads(file.read_text(encoding="utf-8"))
    if "files" in held:
        return Example(held["name"], {key: document(each) for key, each in held["files"].items()})
    found = held["text"].encode() if "text" in held else lines(*held.get("lines", ()))
    return Example(held["name"], found or document(held["document"]))


CASES: Final = {
    **EXAMPLES,
    **{f"{file.stem} (rich)": rich(file) for file in sorted(RICH.iterdir())},
}


@pytest.mark.parametrize("name", CASES)
def test_a_drawn_fault_changes_a_reading_as_it_did(
    name: str, tmp_path: Path, golden: Golden
) -> None:
    example, form = CASES[name], name.partition(" ")[0]
    answers: dict[str, list[str]] = {}
    (tmp_path / "whole").mkdir()
    whole = reading(example, tmp_path / "whole", form)
    if name not in EXAMPLES:
        assert recognised(Source.open(on_disk(example, tmp_path))).name == form
        answers["whole"] = [line[:300] for line in whole if line.strip("{}[] ")]
    files = {"": example.content} if isinstance(example.content, bytes) else example.content
    for number in range(10 if name in EXAMPLES else 16):
        dice = random.Random(f"{name} {number}")
        member = dice.choice([*files])
        if (fault := spoiled(files[member], dice)) is None:
            continue
        (folder := tmp_path / str(number)).mkdir()
        other = {**files, member: fault[1]}
        changed = Example(example.name, other if member else other[""])
        told = list(difflib.unified_diff(whole, reading(changed, folder, form), n=0, lineterm=""))
        told = [line[:160] for line in told[2:] if line.strip("+-@{}[] ") and line[0] != "@"]
        told = told if len(told) < 60 else [*told[:40], f"… {len(told)} lines"]
        answers[f"{number} {fault[0]}"] = told
    golden(answers)
