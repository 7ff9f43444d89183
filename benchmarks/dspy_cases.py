"""Random signatures with values for the comparison with DSPy: its classes, every form of a type.

Imported by `against_dspy.py`, once that runs where DSPy is installed.
"""

# ruff: noqa: UP006, UP007, UP035, UP037, UP045
# Every form of a type is tried as users write it.

from __future__ import annotations

import datetime
import enum
import random
from typing import Any, Dict, List, Literal, Optional, Union

import dspy  # type: ignore[import-not-found]
from pydantic import BaseModel, Field

from playground.plugins.systems import dspy as ours


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green it is"


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    zip: Optional[str] = None


class Person(BaseModel):
    name: str = Field(description="full name")
    age: int
    address: Address
    tags: list[str] = []


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []


TEXTS = ["plain", "two\nlines", 'say "hi"', "a < b & c", "naïve «x»", "", " padded ", "{x}", "[1]"]
DAY = datetime.date(2026, 2, 3)


def texts(rng: random.Random) -> str:
    return rng.choice(TEXTS)


def person(rng: random.Random) -> Person:
    address = Address(street=texts(rng), zip=rng.choice([None, "29200"]))
    return Person(name=texts(rng), age=rng.randrange(90), address=address, tags=[texts(rng)])


def tree(rng: random.Random, depth: int = 2) -> Tree:
    children = [tree(rng, depth - 1) for _ in range(rng.randrange(3))] if depth else []
    return Tree(label=texts(rng), children=children)


# type, DSPy's value, and how our value differs where it is another class
PLAIN: list[tuple[Any, Any]] = [
    (str, texts),
    (int, lambda rng: rng.randrange(-5, 100)),
    (float, lambda rng: rng.choice([0.5, 1e300, -2.0])),
    (bool, lambda rng: rng.random() < 0.5),
    (Optional[int], lambda rng: rng.choice([None, 3])),
    (Optional[str], lambda rng: rng.choice([None, "x"])),
    (int | None, lambda rng: rng.choice([None, 3])),
    (list[str], lambda rng: [texts(rng) for _ in range(rng.randrange(3))]),
    (List[int], lambda rng: [1, 2]),
    (Dict[str, float], lambda rng: {texts(rng): 1.5}),
    (dict[str, Any], lambda rng: {"a": [1, None], "b c": {"d": texts(rng)}}),
    (tuple[int, ...], lambda rng: (1, 2, 3)),
    (tuple[str, int], lambda rng: (texts(rng), 2)),
    (set[int], lambda rng: {4}),
    (Literal["a", "b's", 'c"d'], lambda rng: "a"),
    (Literal[1, 2, True], lambda rng: 2),
    (Optional[Literal["x", "y"]], lambda rng: rng.choice([None, "x"])),
    (Union[int, str], lambda rng: rng.choice([1, "one"])),
    (Colour, lambda rng: rng.choice(list(Colour))),
    (Level, lambda rng: rng.choice(list(Level))),
    (list[Colour], lambda rng: [Colour.RED, Colour.GREEN]),
    (datetime.date, lambda rng: DAY),
    (list[datetime.date], lambda rng: [DAY]),
    (dict[str, datetime.datetime], lambda rng: {"at": datetime.datetime(2026, 2, 3, 4, 5)}),
    (Person, person),
    (Optional[Person], lambda rng: rng.choice([None, person(rng)])),
    (list[Person], lambda rng: [person(rng)]),
    (Union[Person, Address], lambda rng: person(rng)),
    (dict[str, Address], lambda rng: {"home": Address(street=texts(rng))}),
    (Tree, tree),
    (list[Tree], lambda rng: [tree(rng)]),
    (Any, lambda rng: rng.choice([1, "x", [1], None])),
]
IMAGE = "https://example.org/a.png"
INPUTS_ONLY: list[tuple[Any, Any]] = [
    (dspy.Image, lambda rng: dspy.Image(IMAGE)),
    (list[dspy.Image], lambda rng: [dspy.Image(IMAGE), dspy.Image("data:image/png;base64,AA==")]),
    (dict[str, dspy.Image], lambda rng: {"a": dspy.Image(IMAGE)}),
    (Optional[dspy.Image], lambda rng: rng.choice([None, dspy.Image(IMAGE)])),
    (dspy.Audio, lambda rng: dspy.Audio(data="AA==", audio_format="wav")),
    (dspy.File, lambda rng: dspy.File(file_id="f1", filename="a.pdf")),
    (dspy.Code["python"], lambda rng: dspy.Code(code="print(1)")),
    (dspy.Tool, lambda rng: dspy.Tool(lookup)),
    (list[dspy.Tool], lambda rng: [dspy.Tool(lookup)]),
]
OUTPUTS_ONLY: list[tuple[Any, Any]] = [
    (dspy.Code["java"], lambda rng: dspy.Code["java"](code="int a;")),
    (dspy.Code, lambda rng: dspy.Code(code="a = 1")),
    (dspy.Reasoning, lambda rng: dspy.Reasoning(content="so")),
    (dspy.ToolCalls, lambda rng: dspy.ToolCalls.from_dict_list([{"name": "a", "args": {"b": 1}}])),
]
BOUNDS = [{}, {}, {}, {"ge": 1}, {"max_length": 5, "min_length": 1}, {"gt": 0, "lt": 9}]


def lookup(place: str, days: int = 2) -> str:
    """Look up a place.

    In two lines."""
    return place


def image_of(value: Any) -> Any:
    """Return a value with our images in place of DSPy's."""
    if isinstance(value, dspy.Image):
        return ours.Image(value.url)
    if isinstance(value, list):
        return [image_of(item) for item in value]
    return {k: image_of(v) for k, v in value.items()} if isinstance(value, dict) else value


def signature(rng: random.Random) -> tuple[type[dspy.Signature], dict[str, Any]]:
    """Return a random signature, and a function for each field that makes a value."""
    fields: dict[str, Any] = {}
    makers: dict[str, Any] = {}
    for index in range(rng.randint(1, 4)):
        kind, make = rng.choice(PLAIN + INPUTS_ONLY)
        fields[f"in_{index}"] = (kind, dspy.InputField(**said(rng, kind)))
        makers[f"in_{index}"] = make
    if rng.random() < 0.2:
        fields["history"] = (dspy.History, dspy.InputField())
    for index in range(rng.randint(1, 4)):
        kind, make = rng.choice(PLAIN + (OUTPUTS_ONLY if rng.random() < 0.3 else []))
        fields[f"out_{index}"] = (kind, dspy.OutputField(**said(rng, kind)))
        makers[f"out_{index}"] = make
    return dspy.Signature(fields, rng.choice(["Do it.", "Two\nlines.", "  Indented."])), makers


def said(rng: random.Random, kind: Any) -> dict[str, Any]:
    bounds = rng.choice(BOUNDS)
    fits = kind in (int, float) if "ge" in bounds or "gt" in bounds else kind is str
    desc = rng.choice([{}, {"desc": "what it is"}, {"desc": "a\nb"}])
    return desc | (bounds if fits else {})


def example(rng: random.Random, makers: dict[str, Any], share: float) -> dict[str, Any]:
    return {name: make(rng) for name, make in makers.items() if rng.random() < share}


def request(rng: random.Random, makers: dict[str, Any], with_history: bool) -> tuple[Any, Any]:
    demos = [example(rng, makers, rng.choice([1.0, 0.6])) for _ in range(rng.randrange(3))]
    inputs = {k: make(rng) for k, make in makers.items() if k.startswith("in_")}
    if with_history:
        turns = [example(rng, makers, 1.0) for _ in range(rng.randrange(3))]
        inputs["history"] = dspy.History(messages=turns)
    return demos, inputs


def calling_signature(rng: random.Random) -> tuple[type[dspy.Signature], dict[str, Any]]:
    fields: dict[str, Any] = {"question": (str, dspy.InputField())}
    makers: dict[str, Any] = {"question": texts}
    if rng.random() < 0.8:
        kind, make = rng.choice(INPUTS_ONLY[-2:])  # a tool, a list of them
        fields["tools"] = (kind, dspy.InputField())
        makers["tools"] = make
    if rng.random() < 0.4:
        fields["history"] = (dspy.History, dspy.InputField())
    for index in range(rng.randrange(3)):
        kind, make = rng.choice(PLAIN)
        fields[f"out_{index}"] = (kind, dspy.OutputField(**said(rng, kind)))
        makers[f"out_{index}"] = make
    if rng.random() < 0.4:
        fields["thought"] = (dspy.Reasoning, dspy.OutputField())
        makers["thought"] = OUTPUTS_ONLY[2][1]
    if rng.random() < 0.7 or not any("out" in name or name == "thought" for name in fields):
        fields["calls"] = (dspy.ToolCalls, dspy.OutputField())
        makers["calls"] = called
    return dspy.Signature(fields, "Do it."), makers


def called(rng: random.Random) -> Any:
    """Return calls as a history has them: with results that answer them, with others, or without
    results."""
    ids: list[Any] = rng.choice([["a", "b"], ["a"], [None]])
    calls = [{"id": i, "name": "lookup", "args": {"place": texts(rng)}} for i in ids]
    answered: list[Any] | None = rng.choice([None, ids, ids, ids[:1], ["c"]])
    value: dict[str, Any] = {"tool_calls": calls}
    if answered is not None:
        value["tool_call_results"] = [
            {"call_id": i, "name": "lookup", "value": rng.choice(["rain", {"mm": [1]}, 3])}
            for i in answered
        ]
    return rng.choice([value, dspy.ToolCalls.model_validate(value)])
