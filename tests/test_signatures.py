"""Signatures and their adapters: tables of our own, then DSPy's own output where it is at hand."""

from __future__ import annotations

import ast
import json
from typing import Any, Literal

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from playground.base.errors import InputFault
from playground.plugins.systems.dspy import (
    ChatAdapter,
    Code,
    Field,
    FieldAdapter,
    FieldStream,
    History,
    Image,
    InputField,
    JSONAdapter,
    OutputField,
    Reasoning,
    Signature,
    Tool,
    ToolCalls,
    XMLAdapter,
)

ORACLES = ROOT.parent / "shared" / "conformance"
ADAPTERS = {"chat": ChatAdapter(), "json": JSONAdapter(), "xml": XMLAdapter()}
needs_oracle = pytest.mark.skipif(
    not ORACLES.exists(), reason="NOT RUN: ../shared/conformance is not beside this checkout"
)
# where DSPy 3.4.1 is wrong and we are not: an indented header cut in the middle; None as the text
# "None"; two elements as the text of a list; markup inside a value is the value's own
OURS = {
    ("chat", "qa", "indented_header"): {"answer": "2"},
    ("chat", "optional_dict", "none"): {"nickname": None, "scores": {}},
    ("chat", "optional_dict", "null"): {"nickname": None, "scores": {"a": 1.0}},
    ("xml", "qa", "dup"): {"answer": "1"},
}


def test_a_signature_is_read_from_a_text() -> None:
    signature = Signature.parse("question, context: list[str] -> answer: Literal['a', 'b'] | None")
    assert signature.inputs == {"question": Field(), "context": Field(list[str])}
    assert signature.outputs["answer"].annotation == Literal["a", "b"] | None
    assert signature.instructions == (
        "Given the fields `question`, `context`, produce the fields `answer`."
    )


@pytest.mark.parametrize("text", ["question", "a -> b: __import__('os')", "a b -> c", "a -> b: X"])
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(InputFault, match="signature"):
        Signature.parse(text)


@pytest.mark.parametrize("given", ["question -> answer", int, None, Field()])
def test_what_is_no_class_of_fields_is_told(given: Any) -> None:
    with pytest.raises(InputFault, match="no signature"):
        Signature.of(given)


def test_a_signature_is_read_from_a_class() -> None:
    class Grade(BaseModel):
        """Grade the essay."""

        essay: str = InputField(desc="the text")
        score: int = OutputField()

    signature = Signature.of(Grade)
    assert signature.inputs == {"essay": Field(str, "the text")}
    assert signature.outputs == {"score": Field(int)}
    assert signature.instructions == "Grade the essay."


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_what_an_adapter_writes_it_reads(adapter: FieldAdapter) -> None:
    signature = Signature.parse("q -> plan, n: int, ok: bool, tags: list[str], m: dict[str, float]")
    outputs = {"plan": "one\n\ntwo", "n": 7, "ok": False, "tags": ["x", "y z"], "m": {"a": 1.5}}
    answer = adapter.format_assistant_message_content(signature, outputs)
    assert adapter.parse(signature, answer) == outputs


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
@pytest.mark.parametrize("completion", ["", "2", "[[ ## b ## ]]\n2", '{"b": 1}', "<b>2</b>"])
def test_an_answer_without_its_field_names_it(adapter: FieldAdapter, completion: str) -> None:
    with pytest.raises(InputFault, match=r"field|object"):
        adapter.parse(Signature.parse("q -> answer"), completion)


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_no_character_of_a_value_is_lost(adapter: FieldAdapter) -> None:
    signature = Signature.parse("q -> answer")
    value = "a\u2028b\x0bc\x85d\re\x1cf"
    answer = adapter.format_assistant_message_content(signature, {"answer": value})
    assert adapter.parse(signature, answer) == {"answer": value}


def test_a_wrong_value_names_field_and_type() -> None:
    with pytest.raises(InputFault, match="field score has the value 'seven'") as caught:
        ChatAdapter().parse(Signature.parse("q -> score: int"), "[[ ## score ## ]]\nseven")
    assert caught.value.expected == "int"


@given(
    st.lists(
        st.sampled_from(
            ["[[ ## plan ## ]]", "[[ ## answer ## ]]\n", "[[ ## completed ## ]]", "[[", " ## ", "a"]
        )
        | st.text(" \n[]#a", max_size=6),
        max_size=12,
    ).map("".join),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_fields_stream_to_the_same_values_however_the_text_is_cut(
    text: str, places: list[int]
) -> None:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    streamed: dict[str, str] = {}
    for pieces in ([text], [text[a:b] for a, b in zip(edges, edges[1:], strict=False)], list(text)):
        stream = FieldStream()
        deltas = [delta for piece in pieces for delta in stream.feed(piece)] + stream.finish()
        fields: dict[str, str] = {}
        for name, new in deltas:
            fields[name] = fields.get(name, "") + new
        streamed = streamed or fields
        assert fields == streamed
        assert sum(len(new) for _, new in deltas) <= len(text)


def test_a_field_streams_as_it_comes() -> None:
    stream = FieldStream()
    assert stream.feed("Sure.\n\n[[ ## plan ## ]]\nFirst [lo") == [
        ("", "Sure."),
        ("plan", "First [lo"),
    ]
    assert stream.feed("ok], then [[ act ]].\n\n[[ ##") == [("plan", "ok], then [[ act ]].")]
    assert stream.feed(" answer ## ]]\n2\n") == [("answer", "2")]
    assert stream.feed("\n[[ ## completed ## ]]\n") + stream.finish() == []


# DSPy's own output


class Address(BaseModel):
    street: str
    zip: str | None = None


class Person(BaseModel):
    name: str
    age: int
    address: Address

    model_config = {"json_schema_extra": None}


def _person_schema() -> None:
    Person.model_fields["name"].description = "full name"
    Person.model_rebuild(force=True)


_person_schema()
TYPES = {
    "<class 'str'>": str,
    "<class 'int'>": int,
    "<class 'float'>": float,
    "<class 'bool'>": bool,
    "list[str]": list[str],
    "dict[str, float]": dict[str, float],
    "typing.Optional[str]": str | None,
    "typing.Literal['positive', 'negative', 'neutral']": Literal["positive", "negative", "neutral"],
    "<class '__main__.Person'>": Person,
    "list[__main__.Person]": list[Person],
    "<class 'dspy.adapters.types.history.History'>": History,
    "<class 'dspy.adapters.types.image.Image'>": Image,
    "<class 'dspy.adapters.types.code.Code_python'>": Code.__class_getitem__("python"),
    "list[dspy.adapters.types.tool.Tool]": list[Tool],
    "<class 'dspy.adapters.types.tool.ToolCalls'>": ToolCalls,
    "<class 'dspy.adapters.types.reasoning.Reasoning'>": Reasoning,
}


def made(value: Any, case: dict[str, Any]) -> Any:
    """A recorded value as an object of ours."""
    if isinstance(value, list):
        return [made(item, case) for item in value]
    if not isinstance(value, dict) or "__type__" not in value:
        return value
    rest = {key: item for key, item in value.items() if key != "__type__"}
    match value["__type__"]:
        case "Person":
            return Person(**rest)
        case "History":
            return History(**rest)
        case "ToolCalls":
            return ToolCalls(**rest)
        case "Image":
            parts = case["format"][-1]["content"]
            return Image(url=parts[1]["image_url"]["url"])
        case "Code" | "Code_python":
            return Code.__class_getitem__("python")(code="print(1)")
        case "Reasoning":
            return Reasoning(content="because")
        case "Tool":
            head, _, args = value["repr"].removeprefix("Tool(name=").partition(", args=")
            name, _, desc = head.partition(", desc=")
            return Tool(name=name, desc=desc, args=ast.literal_eval(args[:-1]))
    raise AssertionError(value)


def cases() -> list[Any]:
    found = []
    for adapter in ADAPTERS if ORACLES.exists() else []:
        recorded = json.loads((ORACLES / f"dspy_{adapter}.json").read_text(encoding="utf-8"))
        found += [pytest.param(adapter, c, id=f"{adapter}-{c['name']}") for c in recorded["cases"]]
    return found


def signature_of(case: dict[str, Any]) -> Signature:
    def fields(kind: str) -> dict[str, Field]:
        return {
            name: Field(TYPES[f["type"]], "" if f["desc"].startswith("${") else f["desc"])
            for name, f in case["signature"][kind].items()
        }

    return Signature(fields("inputs"), fields("outputs"), case["instructions"])


@needs_oracle
@pytest.mark.parametrize(("kind", "case"), cases())
def test_the_messages_are_those_of_dspy(kind: str, case: dict[str, Any]) -> None:
    adapter, signature = ADAPTERS[kind], signature_of(case)
    inputs = {key: made(value, case) for key, value in case["inputs"].items()}
    outputs = {key: made(value, case) for key, value in case["outputs"].items()}
    assert adapter.format_field_description(signature) == case["format_field_description"]
    assert adapter.format_field_structure(signature) == case["format_field_structure"]
    assert adapter.format_task_description(signature) == case["format_task_description"]
    reminder = adapter.user_message_output_requirements(signature)
    assert reminder == case["user_message_output_requirements"]
    assert adapter.format_system_message(signature) == case["format_system_message"]
    assert adapter.format(signature, case["demos"], inputs) == case["format"]
    answer = adapter.format_assistant_message_content(signature, outputs)
    assert answer == case["format_assistant_message_content"]
    missing = "Not supplied for this particular example."
    assert (
        adapter.format_assistant_message_content(signature, {}, missing)
        == case["format_assistant_message_content_missing"]
    )
    if "image" not in inputs:
        content = adapter.format_user_message_content(signature, inputs)
        assert content == case["format_user_message_content"]
    if "messages" in case["format_finetune_data"]:
        data = adapter.format_finetune_data(signature, case["demos"], inputs, outputs)
        assert data == case["format_finetune_data"]


@needs_oracle
@pytest.mark.parametrize(("kind", "case"), cases())
def test_completions_are_read_as_dspy_reads_them(kind: str, case: dict[str, Any]) -> None:
    adapter, signature = ADAPTERS[kind], signature_of(case)
    for name, recorded in case["parse"].items():
        expected: Any = OURS.get((kind, case["name"], name), recorded["result"])
        if "__error__" in expected:
            with pytest.raises(InputFault):
                adapter.parse(signature, recorded["completion"])
            continue
        wanted = {key: made(value, case) for key, value in expected.items()}
        assert adapter.parse(signature, recorded["completion"]) == wanted, name
