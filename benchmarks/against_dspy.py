"""Random signatures, completions and calls of models: our adapters beside DSPy's own (3.4.1).

`python benchmarks/against_dspy.py [SIGNATURES] [COMPLETIONS] [CALLS] [SEED]` installs dspy into a
scratch environment and prints how often messages, fields, and requests with what is read of their
answers are equal, and the first differences of a kind.
"""

# ruff: noqa: B023, C901, E402, UP006, UP007, UP035, UP037, UP045
# Imports follow the change of environment; every form of a type is tried as users write it; each
# function in a loop is called in its turn.

from __future__ import annotations

import sys

from scratch import run_beside

run_beside("dspy==3.4.1", "docstring_parser", "PyYAML", "click", "rich")

import asyncio
import datetime
import enum
import json
import random
import warnings
from collections import Counter
from typing import Any, Dict, List, Literal, Optional, Union

import dspy  # type: ignore[import-not-found]
from pydantic import BaseModel, Field

from playground.systems import dspy as ours

warnings.simplefilter("ignore")


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
    """Half of DSPy's images as ours, so that both classes are tried."""
    if isinstance(value, dspy.Image):
        return ours.Image(value.url)
    if isinstance(value, list):
        return [image_of(item) for item in value]
    return {k: image_of(v) for k, v in value.items()} if isinstance(value, dict) else value


def signature(rng: random.Random) -> tuple[type[dspy.Signature], dict[str, Any]]:
    """A random signature and a way to make a value for each field."""
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


ADAPTERS = {
    "chat": (dspy.ChatAdapter(), ours.ChatAdapter()),
    "json": (dspy.JSONAdapter(), ours.JSONAdapter()),
    "xml": (dspy.XMLAdapter(), ours.XMLAdapter()),
}


def outcome(run: Any) -> Any:
    try:
        return run()
    except (dspy.AdapterParseError, ours.AnswerFault):
        return "refused"
    except Exception as error:
        return f"RAISED {type(error).__name__}: {str(error)[:80]}"


def mutated(rng: random.Random, text: str) -> str:
    """A completion as models spoil it."""
    match rng.randrange(12):
        case 0:
            return text[: rng.randrange(len(text) + 1)]
        case 1:
            return f"Sure, here it is:\n\n{text}"
        case 2:
            return f"{text}\n\nI hope that helps!"
        case 3:
            return f"```json\n{text}\n```"
        case 4:
            return text.replace('"', "'")
        case 5:
            return text.replace("null", "None").replace("true", "True").replace("false", "False")
        case 6:
            return text.replace("]]", "]] ")
        case 7:
            lines = text.split("\n")
            del lines[rng.randrange(len(lines))]
            return "\n".join(lines)
        case 8:
            return text.replace("\n\n", "\n").replace("  ", "")
        case 9:
            return text.replace("}", ",}").replace("]", ",]") if "{" in text else text.upper()
    return text


def comparable(value: Any) -> Any:
    """Values of both as plain data."""
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return comparable(dump()) if dump else value


def formats(rng: random.Random, count: int) -> None:
    equal: Counter[str] = Counter()
    both_refuse: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for _ in range(count):
        theirs, makers = signature(rng)
        mine = ours.Signature.of(theirs)
        state = rng.getstate()
        demos, inputs = request(rng, makers, "history" in theirs.input_fields)
        for name, (their_adapter, our_adapter) in ADAPTERS.items():
            expected = outcome(lambda: their_adapter.format(theirs, demos, dict(inputs)))
            swapped = image_of(inputs) if rng.random() < 0.5 else inputs
            got = outcome(lambda: our_adapter.format(mine, demos, swapped))
            equal[name] += got == expected and isinstance(got, list)
            both_refuse[name] += got == expected and not isinstance(got, list)
            if got != expected and shown[name] < 3:
                shown[name] += 1
                print(f"--- {name}: {differing(expected, got)}")
        rng.setstate(state)
    for name in ADAPTERS:
        share = 100 * equal[name] / max(count, 1)
        said = f"{equal[name]} of {count} equal ({share:.1f} %), {both_refuse[name]} raise in both"
        print(f"format, {name}: {said}")


def differing(expected: Any, got: Any) -> str:
    if isinstance(expected, str) or isinstance(got, str):
        return f"{str(expected)[:300]!r} and {str(got)[:300]!r}"
    for a, b in zip(expected, got, strict=False):
        if a != b:
            x, y = json.dumps(a, ensure_ascii=False), json.dumps(b, ensure_ascii=False)
            at = next((i for i in range(min(len(x), len(y))) if x[i] != y[i]), 0)
            return f"…{x[max(0, at - 60) : at + 120]!r} and …{y[max(0, at - 60) : at + 120]!r}"
    return f"{len(expected)} and {len(got)} messages"


def completions(rng: random.Random, count: int) -> None:
    kinds: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    done = 0
    while done < count:
        theirs, makers = signature(rng)
        mine = ours.Signature.of(theirs)
        outputs = {k: make(rng) for k, make in makers.items() if k.startswith("out_")}
        for name, (their_adapter, our_adapter) in ADAPTERS.items():
            written = their_adapter.format_assistant_message_content(theirs, outputs)
            for _ in range(4):
                done += 1
                text = mutated(rng, written)
                expected = outcome(lambda: comparable(their_adapter.parse(theirs, text)))
                got = outcome(lambda: comparable(our_adapter.parse(mine, text)))
                kind = judged(expected, got, comparable(outputs))
                kinds[f"{name}: {kind}"] += 1
                if kind not in ("alike", "better") and shown[name + kind] < LIMIT:
                    shown[name + kind] += 1
                    print(f"--- {name}, {kind}: {text!r}\n  dspy {expected}\n  ours {got}")
    for kind, number in sorted(kinds.items()):
        print(f"completions, {kind}: {number}")
    good = sum(number for kind, number in kinds.items() if kind.endswith(("alike", "better")))
    print(f"completions: {good} of {done} alike or better ({100 * good / max(done, 1):.2f} %)")


def judged(expected: Any, got: Any, meant: Any) -> str:
    """`better` where DSPy raises or refuses and we read, or where ours is what was written."""
    if repr(got) == repr(expected):
        return "alike"
    if isinstance(got, str) and got.startswith("RAISED"):
        return "WORSE: raised"
    if isinstance(expected, str):
        return "better"
    if isinstance(got, dict) and all(
        got.get(key) in (expected[key], meant.get(key)) for key in expected
    ):
        return "better"
    return "WORSE: refused" if got == "refused" else "other"


class Model(dspy.BaseLM):  # type: ignore[misc]
    """A model that keeps what it is asked and answers from a script; what it can do is random."""

    def __init__(self, rng: random.Random, answers: list[Any]) -> None:
        super().__init__(model=rng.choice(["own", "openai/gpt-5"]), model_type="chat")
        self.kwargs = rng.choice([{}, {}, {"reasoning_effort": "high"}])
        self.can = {name: rng.random() < 0.6 for name in ("call", "reason", "schema", "form")}
        self.answers = answers
        self.requests: list[Any] = []

    supports_function_calling = property(lambda self: self.can["call"])
    supports_reasoning = property(lambda self: self.can["reason"])
    supports_response_schema = property(lambda self: self.can["schema"])
    supported_params = property(lambda self: {"response_format"} if self.can["form"] else set())

    def __call__(self, *, messages: Any, **parameters: Any) -> Any:
        self.requests.append((messages, plain_form(parameters)))
        return [self.answers[len(self.requests) - 1]]

    async def acall(self, *, messages: Any, **parameters: Any) -> Any:
        return self(messages=messages, **parameters)


def plain_form(parameters: dict[str, Any]) -> dict[str, Any]:
    """DSPy gives a class for a response's form, which LiteLLM turns into what we give."""
    form: Any = parameters.get("response_format")
    if not isinstance(form, type) or not issubclass(form, BaseModel):
        return parameters
    named = {"name": form.__name__, "strict": True, "schema": form.model_json_schema()}
    return {**parameters, "response_format": {"type": "json_schema", "json_schema": named}}


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
    """Calls as a history has them: with results that answer them, that do not, or without."""
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


def model_answer(rng: random.Random, text: str) -> Any:
    arguments = rng.choice(['{"place": "quay"}', '{"place": "a", "days": 3}', "", "{}"])
    function = {"name": "lookup", "arguments": arguments}
    form = rng.choice([{"id": "1", "function": function}, {"call_id": "1", "id": "f", **function}])
    answer: dict[str, Any] = {"text": rng.choice([text, text, mutated(rng, text), None, "Hm."])}
    if rng.random() < 0.5:
        answer["tool_calls"] = [form]
    if rng.random() < 0.3:
        answer["reasoning_content"] = "so it is"
    if rng.random() < 0.1:
        answer["logprobs"] = [0.5]
    return answer if len(answer) > 1 else answer["text"]


def called_now(adapter: Any, given: tuple[Any, ...]) -> Any:
    return comparable(adapter(*given))


def awaited(adapter: Any, given: tuple[Any, ...]) -> Any:
    return comparable(asyncio.run(adapter.acall(*given)))


def calls(rng: random.Random, count: int) -> None:
    """Requests and outputs of a call, half of them awaited."""
    kinds: Counter[str] = Counter()
    for number in range(count):
        theirs, makers = calling_signature(rng)
        mine = ours.Signature.of(theirs)
        demos, inputs = request(rng, makers, "history" in theirs.input_fields)
        name = rng.choice(list(ADAPTERS))
        is_native, parallel = rng.random() < 0.6, rng.choice([None, None, True, False])
        options = {"use_native_function_calling": is_native, "parallel_tool_calls": parallel}
        parameters: dict[str, Any] = rng.choice(
            [{}, {"tools": [{"a": 1}], "temperature": 0.5}, {"parallel_tool_calls": True},
             {"reasoning_effort": None}]
        )  # fmt: skip
        outputs = {k: make(rng) for k, make in makers.items() if k not in inputs}
        written = [
            each.format_assistant_message_content(theirs, outputs)
            for each in (ADAPTERS[name][0], ADAPTERS["json"][0])
        ]
        answers = [model_answer(rng, text) for text in written]
        seed = rng.random()
        done: list[tuple[Any, Any]] = []
        for library, signature in ((dspy, theirs), (ours, mine)):
            adapter = getattr(library, type(ADAPTERS[name][0]).__name__)(**options)
            lm = Model(random.Random(seed), answers)
            given = (lm, dict(parameters), signature, demos, dict(inputs))
            run = awaited if number % 2 else called_now
            done.append((outcome(lambda: run(adapter, given)), comparable(lm.requests)))
        (expected, asked), (got, asked_ours) = done
        refused = isinstance(expected, str) and isinstance(got, str)
        both = min(len(asked), len(asked_ours))
        kind = "requests equal" if asked[:both] == asked_ours[:both] else "REQUESTS DIFFER"
        if len(asked) != len(asked_ours):
            kind += f", {'DSPy' if both < len(asked) else 'we'} had to ask again"
        if len(asked) == len(asked_ours):
            first, second = (v[0] if isinstance(v, list) else v for v in (expected, got))
            alike = "alike" if refused else judged(first, second, comparable(outputs))
            kind += f", outputs {alike}"
        kinds[kind] += 1
        if not kind.endswith(GOOD) and kinds[kind] <= LIMIT:
            print(f"--- calls, {name}: {kind}: {answers}\n  dspy {expected}\n  ours {got}")
            if asked != asked_ours:
                print(f"  {len(asked)}, {len(asked_ours)} requests; {differing(asked, asked_ours)}")
    for kind, number in sorted(kinds.items()):
        print(f"calls, {kind}: {number}")


def main() -> None:
    given = [int(value) for value in sys.argv[1:5]]
    signatures, texts_count, calls_count, seed = [*given, *(300, 5000, 2000, 1)[len(given) :]]
    formats(random.Random(seed), signatures)
    completions(random.Random(seed + 1), texts_count)
    calls(random.Random(seed + 2), calls_count)


LIMIT = 3
GOOD = ("requests equal, outputs alike", "requests equal, outputs better", "DSPy had to ask again")

if __name__ == "__main__":
    main()
