"""Random signatures, completions and calls of models: our adapters beside DSPy's own (3.4.1).

`python benchmarks/against_dspy.py [SIGNATURES] [COMPLETIONS] [CALLS] [SEED]` installs dspy into a
scratch environment. It prints how often both write equal messages, read equal fields, and make
equal requests and read their answers alike; and the first differences of each kind.
"""

# ruff: noqa: B023, C901, E402
# Imports follow the change of environment; each function in a loop is called in its turn.

from __future__ import annotations

import sys

from scratch import MOST_SHOWN, RAISES, Tally, differing, numbers, run_beside

run_beside("dspy==3.4.1", "docstring_parser", "PyYAML", "click", "rich")

import asyncio
import random
import warnings
from collections import Counter
from typing import Any

import dspy  # type: ignore[import-not-found]
from dspy_cases import calling_signature, image_of, request, signature
from pydantic import BaseModel

from playground.plugins.systems import dspy as ours

warnings.simplefilter("ignore")


ADAPTERS = {
    "chat": (dspy.ChatAdapter(), ours.ChatAdapter()),
    "json": (dspy.JSONAdapter(), ours.JSONAdapter()),
    "xml": (dspy.XMLAdapter(), ours.XMLAdapter()),
}


def result(run: Any) -> Any:
    try:
        return run()
    except (dspy.AdapterParseError, ours.AnswerFault):
        return "refused"
    except Exception as error:
        return f"{RAISES} {type(error).__name__}: {str(error)[:80]}"


def mutated(rng: random.Random, text: str) -> str:
    """Return a completion, spoiled in a random way as models spoil theirs."""
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
    """Return a value of DSPy's or of ours as plain data."""
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return comparable(dump()) if dump else value


def formats(rng: random.Random, count: int) -> None:
    tallies = {name: Tally(f"format, {name}") for name in ADAPTERS}
    for _ in range(count):
        theirs, makers = signature(rng)
        mine = ours.Signature.of(theirs)
        state = rng.getstate()
        demos, inputs = request(rng, makers, "history" in theirs.input_fields)
        for name, (their_adapter, our_adapter) in ADAPTERS.items():
            expected = result(lambda: their_adapter.format(theirs, demos, dict(inputs)))
            swapped = image_of(inputs) if rng.random() < 0.5 else inputs
            tallies[name].add(expected, result(lambda: our_adapter.format(mine, demos, swapped)))
        rng.setstate(state)
    for tally in tallies.values():
        tally.tell()


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
                expected = result(lambda: comparable(their_adapter.parse(theirs, text)))
                got = result(lambda: comparable(our_adapter.parse(mine, text)))
                kind = judged(expected, got, comparable(outputs))
                kinds[f"{name}: {kind}"] += 1
                if kind not in ("alike", "better") and shown[name + kind] < MOST_SHOWN:
                    shown[name + kind] += 1
                    print(f"--- {name}, {kind}: {text!r}\n  dspy {expected}\n  ours {got}")
    for kind, number in sorted(kinds.items()):
        print(f"completions, {kind}: {number}")
    good = sum(number for kind, number in kinds.items() if kind.endswith(("alike", "better")))
    print(f"completions: {good} of {done} alike or better ({100 * good / max(done, 1):.2f} %)")


def judged(expected: Any, got: Any, meant: Any) -> str:
    """Return a verdict: `alike` if both read the same; `better` if we read what DSPy does not, or
    if each of our values is DSPy's or the one that was written (`meant`); else what is wrong."""
    if repr(got) == repr(expected):
        return "alike"
    if isinstance(got, str) and got.startswith(RAISES):
        return "WORSE: raised"
    if isinstance(expected, str):
        return "better"
    if isinstance(got, dict) and all(
        got.get(key) in (expected[key], meant.get(key)) for key in expected
    ):
        return "better"
    return "WORSE: refused" if got == "refused" else "other"


class Model(dspy.BaseLM):  # type: ignore[misc]
    """A model that keeps what it is asked and answers from a script; its native abilities are
    random."""

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
    """Return a request's parameters with its `response_format` as a dict. DSPy gives a class, which
    LiteLLM turns into the dict that we give."""
    form: Any = parameters.get("response_format")
    if not isinstance(form, type) or not issubclass(form, BaseModel):
        return parameters
    named = {"name": form.__name__, "strict": True, "schema": form.model_json_schema()}
    return {**parameters, "response_format": {"type": "json_schema", "json_schema": named}}


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
    """Call random models by both, half of the calls awaited; print how many requests and outputs
    are equal."""
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
        for library, declared in ((dspy, theirs), (ours, mine)):
            adapter = getattr(library, type(ADAPTERS[name][0]).__name__)(**options)
            lm = Model(random.Random(seed), answers)
            given = (lm, dict(parameters), declared, demos, dict(inputs))
            run = awaited if number % 2 else called_now
            done.append((result(lambda: run(adapter, given)), comparable(lm.requests)))
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
        if not kind.endswith(GOOD) and kinds[kind] <= MOST_SHOWN:
            print(f"--- calls, {name}: {kind}: {answers}\n  dspy {expected}\n  ours {got}")
            if asked != asked_ours:
                print(f"  {len(asked)}, {len(asked_ours)} requests\n{differing(asked, asked_ours)}")
    for kind, number in sorted(kinds.items()):
        print(f"calls, {kind}: {number}")


def main() -> None:
    signatures, texts_count, calls_count, seed = numbers(sys.argv[1:5], 300, 5000, 2000, 1)
    formats(random.Random(seed), signatures)
    completions(random.Random(seed + 1), texts_count)
    calls(random.Random(seed + 2), calls_count)


GOOD = ("requests equal, outputs alike", "requests equal, outputs better", "DSPy had to ask again")

if __name__ == "__main__":
    main()
