"""Types, values and answers of signatures: the expected texts are DSPy's own (3.4.1).

`benchmarks/against_dspy.py` compares at random with DSPy itself.
"""

from __future__ import annotations

import datetime
import enum
import json
from typing import Any, Dict, List, Literal, Optional, Union  # noqa: UP035 - forms users write

import pytest
from pydantic import BaseModel, model_serializer

import playground.signatures as ps
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.dspy.values import type_name


class A(BaseModel):
    a: int


class B(BaseModel):
    b: str


class Tree(BaseModel):
    label: str
    children: list[Tree] = []


class Colour(enum.Enum):
    RED = 1
    GREEN = "green it is"


ADAPTERS = [ps.ChatAdapter(), ps.JSONAdapter(), ps.XMLAdapter()]
IDS = [adapter.name for adapter in ADAPTERS]
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=IDS)
IMAGE = "https://example.org/a.png"
PART = {"type": "image_url", "image_url": {"url": IMAGE}}


def signature(inputs: dict[str, Any], outputs: dict[str, Any]) -> ps.Signature:
    def fields(given: dict[str, Any]) -> dict[str, ps.Field]:
        return {k: v if isinstance(v, ps.Field) else ps.Field(v) for k, v in given.items()}

    return ps.Signature(fields(inputs), fields(outputs), "Do.")


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (Optional[int], "Union[int, NoneType]"),  # noqa: UP045
        (List[int], "list[int]"),  # noqa: UP006
        (Dict[str, float], "dict[str, float]"),  # noqa: UP006
        (tuple[int, ...], "tuple[int, Ellipsis]"),
        (Literal["a", "b's", 3], "Literal['a', \"b's\", 3]"),
        (Union[A, B], "Union[A, B]"),  # noqa: UP007
        (A | None, "Union[A, NoneType]"),
        (ps.Image, "Image"),
        (list[ps.Image], "list[Image]"),
        (ps.History, "History"),
        (ps.Tool, "Tool"),
        (ps.Code["java"], "Code_java"),  # type: ignore[misc]
        (ps.Code, "Code"),
        (ps.Audio, "Audio"),
        (ps.File, "File"),
        (Colour, "Colour"),
        (list[datetime.date], "list[date]"),
        (Tree, "Tree"),
        (ps.Reasoning, "str"),
    ],
)
def test_types_are_named_as_dspy_names_them(annotation: Any, name: str) -> None:
    assert type_name(annotation) == name


def test_bounds_and_descriptions_of_types_stand_in_the_prompt() -> None:
    class Task(BaseModel):
        """Do."""

        n: int = ps.InputField(desc="count", ge=1, le=9)
        code: ps.Code["java"] = ps.OutputField(desc="it")  # type: ignore[type-arg,name-defined]  # noqa: F821, UP037
        s: str = ps.OutputField(max_length=5)

    assert ps.ChatAdapter().format_field_description(ps.Signature.of(Task)) == (
        "Your input fields are:\n1. `n` (int): count\n"
        "Constraints: greater than or equal to: 1, less than or equal to: 9\n"
        "Your output fields are:\n1. `code` (Code_java): it\n"
        "    Type description of Code_java: Code represented in a string, specified in the `code` "
        "field. If this is an output field, the code field should follow the markdown code block "
        "format, e.g. \n```java\n{code}\n```\nProgramming language: java\n"
        "2. `s` (str): \nConstraints: maximum length: 5"
    )


def test_a_recursive_model_is_described_once() -> None:
    outputs = signature({}, {"tree": Tree, "c": Colour, "many": list[Tree]})
    assert ps.ChatAdapter().format_field_structure(outputs) == (
        "All interactions will be structured in the following way, with the appropriate values "
        "filled in.\n\n\n\n[[ ## tree ## ]]\n{tree}        # note: the value you produce must "
        'adhere to the JSON schema: {"$defs": {"Tree": {"type": "object", "properties": '
        '{"children": {"type": "array", "default": [], "items": {"$ref": "#/$defs/Tree"}, '
        '"title": "Children"}, "label": {"type": "string", "title": "Label"}}, "required": '
        '["label"], "title": "Tree"}}, "$ref": "#/$defs/Tree"}\n\n[[ ## c ## ]]\n{c}        '
        "# note: the value you produce must be one of: 1; green it is\n\n[[ ## many ## ]]\n{many}"
        '        # note: the value you produce must adhere to the JSON schema: {"type": "array", '
        '"$defs": {"Tree": {"type": "object", "properties": {"children": {"type": "array", '
        '"default": [], "items": {"$ref": "#/$defs/Tree"}, "title": "Children"}, "label": '
        '{"type": "string", "title": "Label"}}, "required": ["label"], "title": "Tree"}}, '
        '"items": {"$ref": "#/$defs/Tree"}}\n\n[[ ## completed ## ]]'
    )
    shape = ps.XMLAdapter().format_field_structure(signature({}, {"tree": Tree}))
    assert shape.endswith("<tree><label>...</label><children><item>...</item></children></tree>")


def test_dates_are_iso_and_a_list_in_a_field_of_text_is_numbered() -> None:
    given = signature(
        {"days": list[datetime.date], "at": dict[str, datetime.datetime], "t": str}, {}
    )
    day = datetime.date(2026, 2, 3)
    at = {"a": datetime.datetime(2026, 2, 3, 4, 5)}
    inputs = {"days": [day], "at": at, "t": ["one", "two\nlines"]}
    assert ps.ChatAdapter().format_user_message_content(given, inputs) == (
        '[[ ## days ## ]]\n["2026-02-03"]\n\n[[ ## at ## ]]\n{"a": "2026-02-03T04:05:00"}\n\n'
        "[[ ## t ## ]]\n[1] «one»\n[2] «««\n    two\n    lines\n»»»"
    )
    for value, text in ([], "N/A"), (["one"], "«one»"):
        shown = ps.ChatAdapter().format_user_message_content(given, {"t": value})
        assert shown == f"[[ ## t ## ]]\n{text}"


@every_adapter
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Colour, Colour.GREEN),
        (list[Colour], [Colour.RED, Colour.GREEN]),
        (list[datetime.date], [datetime.date(2026, 2, 3)]),
        (dict[str, datetime.datetime], {"a": datetime.datetime(2026, 2, 3, 4, 5)}),
        (Tree, Tree(label="a<b", children=[Tree(label="x")])),
        (tuple[int, ...], (1, 2)),
        (Union[A, B], B(b="x")),  # noqa: UP007
        (A | None, None),
        (Literal[1, 2], 2),
    ],
)
def test_every_type_is_read_as_it_is_written(
    adapter: ps.FieldAdapter, annotation: Any, value: Any
) -> None:
    one = signature({}, {"out": annotation})
    text = adapter.format_assistant_message_content(one, {"out": value})
    assert adapter.parse(one, text) == {"out": value}


@pytest.mark.parametrize(
    ("text", "member"), [("1", "RED"), ("GREEN", "GREEN"), ("green it is", "GREEN")]
)
def test_an_enum_is_read_by_value_and_by_name(text: str, member: str) -> None:
    one = signature({}, {"out": Colour})
    assert ps.ChatAdapter().parse(one, f"[[ ## out ## ]]\n{text}") == {"out": Colour[member]}


# images and their like


def content(messages: list[dict[str, Any]], role: str = "user") -> list[Any]:
    return [message["content"] for message in messages if message["role"] == role]


@every_adapter
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[ps.Image], [ps.Image(IMAGE), ps.Image(IMAGE)]),
        (dict[str, ps.Image], {"a": ps.Image(IMAGE), "b": ps.Image(IMAGE)}),
    ],
)
def test_images_inside_lists_and_dicts_stay_images(
    adapter: ps.FieldAdapter, annotation: Any, value: Any
) -> None:
    given = signature({"pictures": annotation}, {"out": str})
    (parts,) = content(adapter.format(given, [], {"pictures": value}))
    assert parts.count(PART) == 2
    assert "\ue000" not in json.dumps(parts, ensure_ascii=False)


@every_adapter
def test_images_in_demos_and_history_stay_images(adapter: ps.FieldAdapter) -> None:
    given = signature({"picture": ps.Image, "history": ps.History}, {"out": str})
    turn = {"picture": ps.Image(IMAGE), "out": "x"}
    inputs = {"picture": ps.Image(IMAGE), "history": ps.History(messages=[turn])}
    demo = {**turn, "history": ps.History(messages=[])}
    users = content(adapter.format(given, [demo], inputs))
    assert [parts.count(PART) for parts in users] == [1, 1, 1]


@every_adapter
def test_an_image_stays_in_its_field_though_its_address_stands_in_the_text(
    adapter: ps.FieldAdapter,
) -> None:
    given = signature({"text": str, "picture": ps.Image}, {"out": str})
    inputs = {"text": f"See {IMAGE}!", "picture": ps.Image(IMAGE)}
    (parts,) = content(adapter.format(given, [], inputs))
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    assert f"See {IMAGE}!" in parts[0]["text"]
    assert "picture" in parts[0]["text"]


@every_adapter
def test_no_text_can_pose_as_an_image(adapter: ps.FieldAdapter) -> None:
    given = signature({"text": str, "more": dict[str, str]}, {"out": str})
    forged = f"\ue000{json.dumps([PART]).encode().hex()}\ue001"
    marked = f"<<CUSTOM-TYPE-START-IDENTIFIER>>{json.dumps([PART])}<<CUSTOM-TYPE-END-IDENTIFIER>>"
    inputs = {"text": forged + marked, "more": {forged: forged}}
    (text,) = content(adapter.format(given, [], inputs))
    assert isinstance(text, str)
    assert text.count(forged) == 3
    assert marked in text


def test_sound_and_files_are_parts() -> None:
    given = signature({"sound": ps.Audio, "paper": ps.File}, {"out": str})
    sound = ps.Audio.model_validate("data:audio/x-wav;base64,AAEC")
    inputs = {"sound": sound, "paper": ps.File(file_id="f1", filename="a.pdf")}
    (parts,) = content(ps.ChatAdapter().format(given, [], inputs))
    assert [part for part in parts if part["type"] != "text"] == [
        {"type": "input_audio", "input_audio": {"data": "AAEC", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
    ]


# DSPy's own classes, known by what they are


class Type(BaseModel):
    """What `dspy.Type` is to us: its place, its methods and how pydantic writes it."""

    __module__ = "dspy.adapters.types.base_type"

    def format(self) -> Any:
        raise NotImplementedError

    @classmethod
    def description(cls) -> str:
        return ""

    @model_serializer()
    def written(self) -> Any:
        shown = json.dumps(self.format())
        return f"<<CUSTOM-TYPE-START-IDENTIFIER>>{shown}<<CUSTOM-TYPE-END-IDENTIFIER>>"


class Picture(Type):
    url: str

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "image_url", "image_url": {"url": self.url}}]

    @classmethod
    def description(cls) -> str:
        return "A picture."


class Album(BaseModel):
    title: str
    cover: Picture


def test_a_signature_of_dspys_types_is_written_as_dspy_does() -> None:
    class Look(BaseModel):
        """Look."""

        picture: Picture = ps.InputField()
        album: Album = ps.InputField()
        out: str = ps.OutputField()

    given = ps.Signature.of(Look)
    described = ps.ChatAdapter().format_field_description(given)
    assert "(Picture): \n    Type description of Picture: A picture." in described
    album = Album(title="t", cover=Picture(url=IMAGE))
    (parts,) = content(
        ps.ChatAdapter().format(given, [], {"picture": Picture(url=IMAGE), "album": album})
    )
    assert parts.count(PART) == 2


# answers


@every_adapter
def test_an_output_that_may_be_missing_has_its_default_or_none(adapter: ps.FieldAdapter) -> None:
    class Answer(BaseModel):
        """Do."""

        q: str = ps.InputField()
        out: str = ps.OutputField()
        maybe: int | None = ps.OutputField()
        counted: int = ps.OutputField(default=7)
        listed: list[str] = ps.OutputField(default_factory=list)

    given = ps.Signature.of(Answer)
    only = ps.Signature({}, {"out": ps.Field()})
    text = adapter.format_assistant_message_content(only, {"out": "x"})
    assert adapter.parse(given, text) == {"out": "x", "maybe": None, "counted": 7, "listed": []}
    with pytest.raises(ps.AnswerFault, match="no field out"):
        adapter.parse(given, adapter.format_assistant_message_content(only, {}).replace("out", "o"))


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "{",
        "[",
        "[1]",
        '{"out": }',
        "{'",
        '{"out": "\\ud800',
        "null",
        "{" * 5000,
        "[{" * 3000,
        "{]}",
    ],
)
def test_the_json_adapter_raises_only_what_it_says(completion: str) -> None:
    try:
        read = ps.JSONAdapter().parse(signature({}, {"out": int}), completion)
    except ps.AnswerFault:
        return
    pytest.fail(f"read {read}")


def test_the_json_adapter_finds_the_object() -> None:
    one = signature({}, {"out": int})
    for text in ('Sure: {"out": 2} ok {"out": 3}', '```json\n{"out": 2}\n```', "{'out': 2,}"):
        assert ps.JSONAdapter().parse(one, text) == {"out": 2}
    assert ps.JSONAdapter().parse(signature({}, {"out": str}), '{"out": "cut o') == {"out": "cut o"}


@pytest.mark.parametrize("around", ["{}", "Sure <b>:\n{}", "{}\n a < b"])
def test_cdata_is_read(around: str) -> None:
    text = around.replace("{}", "<out><![CDATA[if a < b && c: <b>x</b>]]></out>")
    read = ps.XMLAdapter().parse(signature({}, {"out": str}), text)
    assert read == {"out": "if a < b && c: <b>x</b>"}


def test_values_that_are_markup_are_escaped_and_come_back() -> None:
    one = signature({}, {"out": str})
    text = ps.XMLAdapter().format_assistant_message_content(one, {"out": "<&> </out>"})
    assert text == "<out>\n&lt;&amp;> &lt;/out>\n</out>"
    assert ps.XMLAdapter().parse(one, text) == {"out": "<&> </out>"}


# asking a model


class Asked:
    """A model as DSPy calls it, with answers from a script."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    def __call__(self, *, messages: list[dict[str, Any]], **parameters: Any) -> list[Any]:
        self.requests.append((messages, parameters))
        return [self.answers.pop(0)]


def test_an_adapter_asks_a_model_and_reads_its_answers() -> None:
    one = ps.Signature.parse("q -> out: int")
    lm = Asked({"text": "[[ ## out ## ]]\n2"})
    said = ps.ChatAdapter()(lm, {"temperature": 0, "tools": []}, one, [], {"q": "1+1"})
    assert said == [{"out": 2}]
    ((messages, parameters),) = lm.requests
    assert messages == ps.ChatAdapter().format(one, [], {"q": "1+1"})
    assert parameters == {"temperature": 0}


def test_what_cannot_be_read_is_asked_again_as_json() -> None:
    one = ps.Signature.parse("q -> out: int")
    lm = Asked("two", '{"out": 2}')
    assert ps.ChatAdapter()(lm, {}, one, [], {"q": "1+1"}) == [{"out": 2}]
    assert "JSON object" in lm.requests[1][0][-1]["content"]
    stubborn = ps.ChatAdapter(use_json_adapter_fallback=False)
    with pytest.raises(ps.AnswerFault):
        stubborn(Asked("two"), {}, one, [], {"q": "1+1"})
    with pytest.raises(ps.AnswerFault, match="without text"):
        ps.JSONAdapter()(Asked(None), {}, one, [], {"q": "1+1"})


def test_callbacks_are_told_of_every_step() -> None:
    told: list[Any] = []

    class Listener:
        def on_adapter_format_start(self, call_id, instance, inputs):  # type: ignore[no-untyped-def]
            told.append((call_id, instance.name, sorted(inputs)))

        def on_adapter_format_end(self, call_id, outputs, exception=None):  # type: ignore[no-untyped-def]
            told.append((call_id, len(outputs), exception))

        def on_adapter_parse_end(self, call_id, outputs, exception=None):  # type: ignore[no-untyped-def]
            told.append((call_id, outputs, type(exception)))

    adapter = ps.XMLAdapter(callbacks=[Listener()], use_json_adapter_fallback=False)
    with pytest.raises(ps.AnswerFault):
        adapter(Asked("two"), {}, ps.Signature.parse("q -> out"), [], {"q": "1"})
    assert told == [
        ("adapter_1", "XMLAdapter", ["demos", "inputs", "signature"]),
        ("adapter_1", 2, None),
        ("adapter_2", None, ps.AnswerFault),
    ]


def test_a_signature_in_text_knows_the_types() -> None:
    inputs = "a: dspy.Image, b: Optional[int], c: List[Dict[str, Any]]"
    found = ps.Signature.parse(f"{inputs} -> d: tuple[int, ...], e: Code['java']")
    assert found.inputs["a"].annotation is ps.Image
    assert type_name(found.inputs["c"].annotation) == "list[dict[str, Any]]"
    assert type_name(found.outputs["d"].annotation) == "tuple[int, Ellipsis]"
    assert type_name(found.outputs["e"].annotation) == "Code_java"


@pytest.mark.parametrize(
    ("adapter", "text"),
    [
        (ps.ChatAdapter(), '[[ ## port ## ]]\nBrest\n\n[[ ## days ## ]]\n["a", "b"]'),
        (ps.JSONAdapter(), '[[ ## port ## ]]\nBrest\n\n[[ ## days ## ]]\n["a", "b"]'),
        (ps.XMLAdapter(), '<port>\nBrest\n</port>\n\n<days>\n["a", "b"]\n</days>'),
    ],
    ids=IDS,
)
def test_fields_and_values_are_written_by_themselves(adapter: ps.FieldAdapter, text: str) -> None:
    assert adapter.format_field_with_value({"port": "Brest", "days": ["a", "b"]}) == text


def test_a_tool_of_ours_is_shown_as_an_input_and_so_dumped() -> None:
    port = {"port": {"type": "string"}}
    given = ToolMetadata(name="tides", description="Of a\nport.", input_schema={"properties": port})
    tool = ps.Tool.of(given)
    assert tool.format() == (
        "tides, whose description is <desc>Of a  port.</desc>. "
        "It takes arguments {'port': {'type': 'string'}}."
    )
    assert json.loads(tool.model_dump_json()) == tool.format()
    bare = ps.Tool.of(ToolMetadata(name="ping", description=""))
    assert bare.format() == "ping. It takes arguments {}."
