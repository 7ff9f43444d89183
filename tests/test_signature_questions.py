"""The command and the page of signatures: prompts side by side, completions field by field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest
from test_pages import page, verbatim

from playground.base.errors import InputFault, UnknownNameError
from playground.cli import main
from playground.plugins.systems.dspy import Field, Image, Signature
from playground.plugins.systems.dspy import signature_questions as asked

QA = "question -> answer: int"


def run(*arguments: str, given: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["signature", *arguments], input=given)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_prints_the_prompt_of_an_adapter() -> None:
    status, said, _ = run(QA, "--input", "question=1 + 1?", "--adapter", "chat")
    assert status == 0
    assert said.startswith("=== system\nYour input fields are:\n1. `question` (str):\n")
    assert said.endswith(
        "=== user\n[[ ## question ## ]]\n1 + 1?\n\nRespond with the corresponding output fields, "
        "starting with the field `[[ ## answer ## ]]` (must be formatted as a valid Python int), "
        "and then ending with the marker for `[[ ## completed ## ]]`."
    )


def test_the_command_prints_several_adapters_and_json() -> None:
    status, said, _ = run(QA, "-i", "question=a=b", "-a", "json", "-a", "xml", "--json")
    prompts = json.loads(said)
    assert (status, list(prompts)) == (0, ["json", "xml"])
    assert "<question>\na=b\n</question>" in prompts["xml"][-1]["content"]


def test_the_command_takes_examples_and_instructions(tmp_path: Path) -> None:
    demo = {"question": "2 + 2?", "answer": 4}
    file = tmp_path / "demos.jsonl"
    file.write_text(json.dumps(demo) + "\n")
    for given in (str(file), json.dumps([demo])):
        status, said, _ = run(QA, "--demos", given, "--instructions", "Reckon.", "-i", "question=?")
        assert (status, said.count("=== assistant")) == (0, 1)
        assert "your objective is: \n        Reckon." in said


def test_the_command_reads_a_completion_field_by_field(tmp_path: Path) -> None:
    text = "question -> answer: int, why, maybe: float | None"
    answer = "[[ ## answer ## ]]\ntwo\n\n[[ ## why ## ]]\nSince."
    status, said, _ = run(text, "--completion", "-", "--json", given=answer)
    rows = json.loads(said)
    assert status == 0
    assert [(row["field"], row["value"]) for row in rows] == [
        ("answer", None),
        ("why", "Since."),
        ("maybe", None),
    ]
    assert [bool(row["fault"]) for row in rows] == [True, False, False]
    file = tmp_path / "answer.txt"
    file.write_text('{"answer": 2}')
    status, said, _ = run(QA, "-a", "json", "--completion", str(file))
    assert (status, said.split()[-3:]) == (0, ["json", "answer", "2"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["question"], "has no arrow"),
        ([QA, "-i", "query=x"], "no input is called 'query'"),
        ([QA, "-i", "question"], "'question' is not an input"),
        (["n: int -> m", "-i", "n=two"], "'two' is not of the type int"),
        (["q, q -> a"], "two fields of a signature are called 'q'"),
        (["q -> a, b, a"], "two fields of a signature are called 'a'"),
        (["q -> q"], "two fields of a signature are called 'q'"),
        ([QA, "--demos", "["], "the examples cannot be read as JSON"),
        ([QA, "--demos", "[1]"], "an example is no object"),
        ([QA, "-a", "json", "--completion", "-"], "finds no object"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], words: str) -> None:
    status, said, fault = run(*arguments, given="nothing")
    assert (status, said, fault.count("\n")) == (2, "", 1)
    assert words in fault


def test_a_value_that_does_not_fit_is_told_without_pydantics_address() -> None:
    _, _, fault = run("n: list[int] -> m", "-i", 'n=["1", "x", "y"]')
    assert fault == (
        'playground: field n: \'["1", "x", "y"]\' is not of the type list[int]: 1: Input should be '
        "a valid integer, unable to parse string as an integer; 2: Input should be a valid "
        "integer, unable to parse string as an integer; expected list[int]\n"
    )
    (field,) = asked.fields(Signature.parse("q -> n: int"), '{"n": "x"}', "json")
    wrong = "Input should be a valid integer, unable to parse string as an integer"
    assert field.fault == wrong


def test_an_input_and_an_output_of_one_name_are_refused_wherever_they_meet() -> None:
    with pytest.raises(InputFault, match="two fields of a signature are called 'q'"):
        Signature({"q": Field()}, {"q": Field()})


def test_inputs_are_read_by_their_types() -> None:
    signature = Signature.parse("a: int, b: list[str], c, d: Image -> e")
    given = {"a": "3", "b": '["x"]', "c": "3", "d": "https://example.org/a.png"}
    values = asked.values(signature, given)
    assert values == {"a": 3, "b": ["x"], "c": "3", "d": Image("https://example.org/a.png")}
    rows = asked.field_rows(signature)
    assert [(r.name, r.kind, r.type) for r in rows][-2:] == [
        ("d", "input", "Image"),
        ("e", "output", "str"),
    ]


def test_a_completion_arrives_field_by_field() -> None:
    text = "[[ ## why ## ]]\nSince it is.\n\n[[ ## answer ## ]]\n2\n"
    deltas = asked.streamed(text, size=5)
    assert "".join(new for name, new in deltas if name == "why") == "Since it is."
    assert deltas[-1] == ("answer", "2")
    assert len(deltas) > 3


def signatures_page(**texts: str) -> AppTest:
    app = page("signatures")
    for key, text in texts.items():
        name = key.replace("_", " ")
        found = [area for area in [*app.text_area, *app.text_input] if area.key == name]
        found[0].set_value(text)
    return app.run()


def test_the_page_shows_the_prompt_in_three_adapters() -> None:
    app = signatures_page(signature="question -> answer: int", signature_inputs='{"question": "x"}')
    assert not app.exception
    first, second, third = verbatim(app)
    assert "[[ ## question ## ]]\nx" in first
    assert "Respond with a JSON object" in second
    assert "<question>\nx\n</question>" in third


def test_the_page_reads_a_completion_field_by_field() -> None:
    app = page("signatures")
    app.session_state["signature view"] = "Answer"
    app.run()
    assert not app.exception
    found, arrived = (frame.value for frame in app.dataframe)
    assert list(found["value"]) == ["2", "null"]
    assert "".join(arrived[arrived["field"] == "answer"]["new"]) == "2"


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("signature", "question", "has no arrow"),
        ("signature_inputs", "[", "The inputs cannot be read as JSON"),
        ("signature_demos", "{}", "The examples are not a list"),
        ("signature_inputs", '{"query": "x"}', "no input is called 'query'"),
    ],
)
def test_the_page_says_what_cannot_be_written(key: str, text: str, words: str) -> None:
    app = signatures_page(**{key: text})
    assert not app.exception
    assert any(words in shown.value for shown in app.text)


def test_an_unknown_adapter_is_named() -> None:
    with pytest.raises(InputFault, match="no arrow"):
        Signature.parse("x")
    with pytest.raises(UnknownNameError, match="chat, json, xml"):
        asked.adapter("yaml")
