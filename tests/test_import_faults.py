"""Drawn faults in the examples of every session format, and what changes in the reading."""

from __future__ import annotations

import copy
import difflib
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest
from golden_answers import Golden
from session_examples import EXAMPLES, Example
from test_importing import on_disk
from test_stream_answers import boxes

from playground.base.errors import InputFault
from playground.sessions.loading import read_sessions
from playground.sessions.native_format import dump_session
from playground.sessions.source import Source

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


def parsed(content: bytes) -> list[Any] | None:
    """Return the values of a JSON document or of JSON lines, or None."""
    try:
        return [json.loads(content)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except ValueError:
        return None


def spoiled(content: bytes, dice: random.Random) -> tuple[str, bytes] | None:
    """Return what was changed in one place, and the changed file; None if it is no JSON."""
    values = parsed(content)
    if values is None:
        return None
    values = copy.deepcopy(values)
    box = dice.choice([each for value in values for each in boxes(value) if each])
    key: Any = dice.randrange(len(box)) if isinstance(box, list) else dice.choice([*box])
    value = copy.deepcopy(dice.choice(VALUES))
    done = dice.choice(("unset", "set", "set", "repeat"))
    if done == "unset":
        del box[key]
    elif done == "repeat" and isinstance(box, list):
        box.insert(key, copy.deepcopy(box[key]))
    else:
        box[key] = value
    words = (
        "unset"
        if done == "unset"
        else "repeated"
        if done == "repeat" and isinstance(box, list)
        else f"= {value!a}"
    )
    return f"{key} {words}", b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


@pytest.mark.parametrize("form", EXAMPLES)
def test_a_drawn_fault_changes_a_reading_as_it_did(
    form: str, tmp_path: Path, golden: Golden
) -> None:
    example = EXAMPLES[form]
    answers = {}
    (tmp_path / "whole").mkdir()
    whole = reading(example, tmp_path / "whole", form)
    files = {"": example.content} if isinstance(example.content, bytes) else example.content
    for number in range(10):
        dice = random.Random(f"{form} {number}")
        name = dice.choice([*files])
        if (fault := spoiled(files[name], dice)) is None:
            continue
        (folder := tmp_path / str(number)).mkdir()
        other = {**files, name: fault[1]}
        changed = Example(example.name, other if name else other[""])
        found = reading(changed, folder, form)
        lines = list(difflib.unified_diff(whole, found, n=0, lineterm=""))[2:]
        answers[f"{number} {fault[0]}"] = [
            line[:160] for line in lines if line.strip("+-@{}[] ") and line[0] != "@"
        ]
    golden(answers)
