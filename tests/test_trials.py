"""Trials: what counts as right, the statistics, and a model whose mistakes are of known rates."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextArea
from test_documents import blocks
from test_pages import edit_block, page, told

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.cli import main
from playground.dialects import get_dialect
from playground.nouns.messages import Message, TextPart, ToolCallPart
from playground.nouns.tool_formats.misfits import check_of, misfit
from playground.nouns.tools import ToolMetadata
from playground.plugins.trials.demo_mistakes import Mistakes
from playground.plugins.trials.demo_server import DemoServer, serving
from playground.plugins.trials.page import question
from playground.plugins.trials.public import (
    Attempt,
    Score,
    Share,
    Trial,
    TrialRun,
    doubts,
    missed,
    own_calls,
    score,
    trial,
)
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.editing import Edit, edited
from playground.sessions.entries import new_entry, with_recording
from playground.sessions.native_format import dump_expected, dump_session
from playground.sessions.session import ExpectedCall, ExpectedReply, Session
from playground.sessions.workspaces import on_disk

TOOL = ToolMetadata(
    name="get_weather",
    description="The weather of a city.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
)
RIGHT = {"city": "Paris, “à la carte”", "days": 3}  # what the demo model calls
WANTED = ExpectedReply(1, (ExpectedCall("get_weather", RIGHT),), "weather")
SESSION = Session(
    tools=(TOOL,),
    messages=(Message("user", (TextPart("How is the weather?"),)),),
    expected=(WANTED,),
)


def reply(*calls: tuple[str, dict[str, object]], dialect: str = "hermes") -> str:
    written = [ToolCallPart(f"call_{i}", name, dict(args)) for i, (name, args) in enumerate(calls)]
    return "\n".join(get_dialect(dialect).format_tool_call(part) for part in written)


# what is right


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        (reply(("f", {"a": 1})), [ExpectedCall("f", {"a": 1.0})], Score(True, True, True)),
        (reply(("f", {"a": 1})), [ExpectedCall("f", {"a": True})], Score(True, True, False)),
        (reply(("f", {"a": 1})), [ExpectedCall("f")], Score(True, True, True)),
        (reply(("g", {"a": 1})), [ExpectedCall("f")], Score(True, False, False)),
        (reply(("f", {}), ("f", {})), [ExpectedCall("f")], Score(True, False, False)),
        (
            reply(("f", {"a": 1}), ("f", {"a": [2, {"b": None}]})),
            [ExpectedCall("f"), ExpectedCall("f", {"a": 1})],  # any argument is right for the other
            Score(True, True, True),
        ),
        (
            reply(("g", {}), ("f", {"a": 1})),
            [ExpectedCall("f", {"a": 1}), ExpectedCall("g", {})],
            Score(True, True, True),
        ),
        ("I know it.", [ExpectedCall("f")], Score(False, False, False)),
        ("I know it.", [], Score(True, True, True)),
        (reply(("f", {})), [], Score(True, False, False)),
        (reply(("f", {"a": 1}))[:-20], [ExpectedCall("f")], Score(False, False, False)),
    ],
)
def test_an_answer_is_scored(answer: str, expected: list[ExpectedCall], right: Score) -> None:
    assert score(expected, pg.parse(answer, dialect="hermes")) == right


@pytest.mark.parametrize(
    ("answer", "expected", "said"),
    [
        ("I know it.", [ExpectedCall("f")], "no call was read"),
        (
            reply(("f", {"a": 1}))[:-20],
            [ExpectedCall("f")],
            "a call was not read whole: f; truncated-call: the stream ends inside a call: aborted",
        ),
        (reply(("g", {"a": 1})), [ExpectedCall("f")], "called g; expected f"),
        (reply(("f", {})), [], "called f; expected nothing"),
        (
            reply(("f", {"a": 1, "b": {"c": [2], "e": 0}}), ("f", {"a": 2})),
            [
                ExpectedCall("f", {"a": 2}),
                ExpectedCall("f", {"a": True, "b": {"c": [3], "d": "x"}}),
            ],
            "f: a is 1, expected true, b.c is [2], expected [3], b.d is missing, "
            "b.e is not expected",
        ),
        (
            reply(("f", {"a": "x" * 200})),
            [ExpectedCall("f", {"a": ""})],
            f'f: a is "{"x" * 59}…, expected ""',
        ),
        (reply(("f", {"a": 1})), [ExpectedCall("f")], ""),
    ],
)
def test_what_an_answer_missed_is_said(
    answer: str, expected: list[ExpectedCall], said: str
) -> None:
    assert missed(expected, pg.parse(answer, dialect="hermes")) == said


# figures


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [  # by R's prop.test(hits, of, correct=FALSE)
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (19, 20, 0.7639, 0.9911),
        (13, 20, 0.4329, 0.8188),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_intervals_are_wilsons(hits: int, of: int, low: float, high: float) -> None:
    share = Share(hits, of)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)


def attempts(dialect: str, right: str) -> list[Attempt]:
    """An attempt for each character: right, wrong, or x, without an answer."""
    return [
        Attempt("c", dialect, "m", number, Score(*[each == "r"] * 3), fault="x" * (each == "x"))
        for number, each in enumerate(right, 1)
    ]


def test_arms_are_compared_case_by_case() -> None:
    found = Trial((*attempts("a", "rrrrrrwwx"), *attempts("b", "wwwwwrwrr")))
    (pair,) = found.pairs()
    assert [arm.dialect for arm in found.arms] == ["a", "b"]
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (1, 5, 1, 1)
    assert round(pair.chance, 4) == 0.2188  # binom.test(1, 6)
    assert found.arms[0].faults == 1
    assert found.arms[0].share("parsed") == Share(6, 8)
    assert found.frame()["right_arguments_share"].round(2).tolist() == [0.75, 0.33]
    assert found.frame()["right_arguments_low"].round(2).tolist() == [0.41, 0.12]
    assert "75 % (41 to 93)" in found.html()
    assert Trial(()).arms == [] and Trial(()).pairs() == []
    assert "nothing was asked" in Trial(()).html()


# expected calls in a session


@pytest.mark.parametrize(
    ("rights", "said"),
    [
        ({}, "Nothing is proven: no request was answered."),
        ({"xml": "rrw"}, "Nothing to compare: xml 2 of 3 right."),
        (
            {"xml": "rrrrrr", "json": "wwwwww"},
            "xml 6 of 6 right: better than json (json 0 of 6).",
        ),
        # the same two among three: each pair is tested at a third of the level
        (
            {"xml": "rrrrrr", "json": "wwwwww", "glm": "wwwwww"},
            "Nothing is proven: xml cannot be told from json and glm by so few answers "
            "(xml 6 of 6; json 0 of 6; glm 0 of 6 right).",
        ),
        (
            {"xml": "rrr", "json": "rrx", "glm": "xxx"},
            "Nothing is proven: no difference was seen (xml 3 of 3; json 2 of 2 right). "
            "4 of 9 attempts were not answered: x (json 1 of 3; glm 3 of 3).",
        ),
        (
            {"xml": "rrr", "json": "rrr"},
            "Nothing is proven: no difference was seen (xml 3 of 3; json 3 of 3 right).",
        ),
        (
            {"xml": "r" * 20, "json": "r" * 19 + "w", "glm": "w" * 20},
            "Nothing is proven: xml cannot be told from json by so few answers "
            "(xml 20 of 20; json 19 of 20; glm 0 of 20 right).",
        ),
    ],
)
def test_a_winner_is_named_only_where_one_is_proven(rights: dict[str, str], said: str) -> None:
    made = [each for dialect, right in rights.items() for each in attempts(dialect, right)]
    trial = Trial(tuple(made))
    assert trial.verdict == said
    assert not made or (said in trial.html() and "best:" not in trial.html())


def test_expected_calls_are_a_part_of_the_session_file_and_of_its_edits() -> None:
    assert pg.load_session(dump_session(SESSION)) == SESSION
    text = dump_expected(SESSION.expected)
    bare = replace(SESSION, expected=())
    assert edited(bare, [Edit("expected calls", text)]) == SESSION
    assert edited(SESSION, [Edit("expected calls", "")]) == bare
    later = edited(SESSION, [Edit("add message", index=-1)])
    assert later.expected[0].message == 2
    (example,) = blocks(ROOT / "docs" / "trials.md", "json")
    assert edited(bare, [Edit("expected calls", example)]).expected[0].name == "tide"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"message": 5}]', "5 is not the number of messages before a reply; expected 1 to 1"),
        ('[{"message": 1,\n "calls": [{"args": {}}]}]', "expected:2, field 0.calls.0.tool_name"),
        ('[{"message": 1, "cals": []}]', "field 0.cals"),
        ("{", "not JSON"),
    ],
)
def test_what_cannot_be_expected_says_where_and_why(text: str, said: str) -> None:
    with pytest.raises(InputFault) as fault:
        edited(SESSION, [Edit("expected calls", text)])
    assert said in str(fault.value)


TOLD = ToolMetadata(
    name="measure",
    input_schema={"type": "object", "properties": {"unit": {"enum": ["km", "mi"]}}},
)


def doubtful(*calls: ExpectedCall) -> Session:
    return replace(SESSION, tools=(TOOL, TOLD), expected=(ExpectedReply(1, calls, "far"),))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ExpectedCall("measure", {"unit": "furlong"}), "refuses: 'furlong' is not one of"),
        (ExpectedCall("get_weather", {"city": "Paris"}), "'days' is a required property"),
        (ExpectedCall("mesure"), "'mesure' is none of the session's tools"),
    ],
)
def test_what_can_hardly_come_is_told(call: ExpectedCall, said: str, tmp_path: Path) -> None:
    """An expected value beside its enum was counted against every model, and nothing said so."""
    session = doubtful(call)
    assert said in told(expecting(session))
    file = tmp_path / "s.json"
    file.write_text(dump_session(session))
    asked = run(str(file))
    assert (asked.exit_code, "expected of far" in asked.stderr) == (0, True)
    assert said in asked.stderr


def test_what_may_well_come_is_no_doubt() -> None:
    sound = doubtful(ExpectedCall("measure", {"unit": "km"}), ExpectedCall("measure"))
    assert doubts(sound) == []
    assert doubts(replace(doubtful(ExpectedCall("mesure")), tools=())) == []


def expecting(session: Session) -> AppTest:
    on_disk().add("expecting", new_entry(session))
    return page("trials", session="expecting")


def test_what_the_sessions_own_model_called_can_be_expected() -> None:
    sample = pg.sample_sessions()["02-parallel-calls"]
    (first,) = own_calls(sample)
    assert (first.message, [call.tool_name for call in first.calls]) == (
        1,
        ["get_weather", "get_tides"],
    )
    assert own_calls(SESSION) == ()


# plans


def test_a_plan_says_what_it_will_cost_before_anything_is_sent() -> None:
    plan = trial(
        SESSION, ["hermes", "xml"], models=["openai/gpt-4o", "openai/gpt-4o-mini"], repeats=3
    )
    assert plan.cost.requests == 12
    assert plan.cost.nano_dollars is not None
    counts = [pg.count_tokens(SESSION, model="gpt-4o", dialect=name) for name in ("hermes", "xml")]
    sent = sum(count.tokens for count in counts)
    assert plan.cost.input_tokens == pytest.approx(sent * 3 * 2, rel=0.2)
    assert "$0." in str(plan.cost)
    assert "price not known" in str(trial(SESSION, "xml", models="openai/none-such").cost)
    assert trial(SESSION, "xml").cost.requests == 0


@pytest.mark.parametrize("dialects", [["xml"], ["xml", "hermes"], ["xml", "hermes", "json"]])
def test_a_plan_says_that_it_has_too_few_answers_where_none_could_prove_anything(
    dialects: list[str],
) -> None:
    """Five answers of each were asked for, of which no outcome proves anything."""
    for repeats in range(1, 12):
        plan = trial(SESSION, dialects, models="openai/gpt-4o", repeats=repeats)
        others = [each for name in dialects[1:] for each in attempts(name, "w" * repeats)]
        proven = "better than" in Trial((*attempts("xml", "r" * repeats), *others)).verdict
        assert bool(plan.too_few) == (len(dialects) > 1 and not proven)
        assert (repeats < plan.least_repeats) == bool(plan.too_few)


def test_an_outcome_is_of_its_own_expectation_alone() -> None:
    """The page showed an old verdict after the expected calls were edited."""
    plan = trial(SESSION, "xml", models="openai/gpt-4o")
    first, *rest = SESSION.expected
    edited = replace(SESSION, expected=(replace(first, calls=()), *rest))
    other = trial(edited, "xml", models="openai/gpt-4o", repeats=9)
    assert [*plan.cases] == [*other.cases]
    assert question(plan) != question(other)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: trial(replace(SESSION, expected=())), "names no expected calls"),
        (lambda: trial(SESSION, "xml", models="m", repeats=0), "0 repeats; expected 1 to 1,000"),
        (lambda: trial(5), "trial"),  # type: ignore[arg-type]
    ],
)
def test_a_plan_that_cannot_be_made_says_why(given: object, said: str) -> None:
    with pytest.raises(InputFault, match=said):
        given()  # type: ignore[operator]
    with pytest.raises(UnknownNameError):
        trial(SESSION, "klingon")


def recorded(*answers: tuple[str, str]) -> Session:
    recordings = tuple(Recording(name, "hermes", (TextChunk(text),)) for name, text in answers)
    cases = (WANTED, ExpectedReply(1, (), "no call"))
    return replace(SESSION, recordings=recordings, expected=cases)


def test_recordings_are_counted_by_the_case_that_their_name_begins_with() -> None:
    right = reply(("get_weather", RIGHT))
    found = trial(recorded(("weather, 1", right), ("no call, 1", right), ("other", right))).run()
    assert [(each.case, each.score[2]) for each in found.attempts] == [
        ("weather", True),
        ("no call", False),
    ]


# the demo model, whose mistakes are known


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving((TOOL,)) as server:
        yield server


def test_mistakes_come_at_the_rate_that_was_asked_for() -> None:
    mistakes = Mistakes()
    body = {"model": "m", "messages": []}
    script = "call=1+tool=2+xml.arguments=3+of=8"
    made = [mistakes.next("xml", script, body) for _ in range(16)]
    assert made == (["call"] + ["tool"] * 2 + ["arguments"] * 3 + [""] * 2) * 2
    other = [mistakes.next("json", script, {**body, "model": "n"}) for _ in range(8)]
    assert other == ["call"] + ["tool"] * 2 + [""] * 5


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("tol=1", "unknown mistake 'tol'; did you mean 'tool'"),
        ("call=1+herms.tool=1", "unknown mistake 'herms.tool'; did you mean 'hermes.tool'"),
        ("call", "'call' has no count; expected such as call=1"),
    ],
)
def test_a_misspelled_mistake_is_refused(server: DemoServer, script: str, said: str) -> None:
    model = f"openai/demo-taught@{script}"
    plan = trial(SESSION, "hermes", models=model, repeats=1, base_url=f"{server.url}/v1")
    assert said in plan.run().attempts[0].fault


def test_a_trial_finds_the_known_rates_in_every_dialect(server: DemoServer) -> None:
    model = "openai/demo-taught@call=1+hermes.tool=1+native.arguments=3+json.arguments=1+of=4"
    heard: list[Attempt] = []
    plan = trial(
        SESSION, ["hermes", "json", "native"], models=model, repeats=4, base_url=f"{server.url}/v1"
    )
    found = plan.run(heard.append)
    rates = {
        arm.dialect: [arm.share(m).hits for m in ("parsed", "right_tool", "right_arguments")]
        for arm in found.arms
    }
    assert rates == {"hermes": [3, 2, 2], "json": [3, 3, 2], "native": [3, 3, 0]}
    misses = [(miss.dialect, miss.times, miss.missed.split(" is ")[0]) for miss in found.misses()]
    assert misses[0] == ("native", 3, "get_weather: city")
    assert ("hermes", 1, "called get_weather_too; expected get_weather") in misses
    assert ("json", 1, "no call was read") in misses
    assert sum(times for _, times, _ in misses) == 8
    assert len(heard) == 12 and not any(arm.faults for arm in found.arms)
    assert all(arm.tokens == 20 for arm in found.arms)
    assert all(0 < (arm.first_seconds or 0) <= (arm.seconds or 0) for arm in found.arms)
    again = replace(SESSION, recordings=tuple(a.recording for a in found.attempts if a.recording))
    counted = trial(pg.load_session(dump_session(again))).run()
    assert {arm.dialect: arm.share("right_arguments") for arm in counted.arms} == {
        arm.dialect: arm.share("right_arguments") for arm in found.arms
    }


def test_a_cancelled_trial_counts_what_came(server: DemoServer) -> None:
    cancel = threading.Event()
    plan = trial(
        SESSION, "hermes", models="openai/demo-hermes", repeats=50, base_url=f"{server.url}/v1"
    )
    found = plan.run(lambda _: cancel.set(), cancel)
    assert 1 <= len(found.attempts) < 10
    assert plan.run(alive=lambda: False).attempts == ()


def test_a_request_without_an_answer_counts_for_no_share() -> None:
    run = TrialRun(
        trial(SESSION, "hermes", models="openai/x", repeats=2, base_url="http://127.0.0.1:9/v1")
    )
    run.start()
    run.wait(60)
    (arm,) = run.trial.arms
    assert (arm.faults, arm.share("parsed").of, run.fault) == (2, 0, "")
    assert "no answer" in run.done[0].fault


def test_answers_to_a_request_whose_text_is_written_already_are_read_in_its_dialect(
    server: DemoServer,
) -> None:
    """They were recorded as native, in which no call was read."""
    asks = "openai/demo-hermes"
    plan = trial(SESSION, "native", models=asks, repeats=1, base_url=f"{server.url}/v1")
    (arm,) = replace(plan, written_in="hermes").run().arms
    assert (arm.dialect, arm.share("right_arguments").rate) == ("hermes", 1.0)
    assert [each.recording.dialect for each in arm.attempts if each.recording] == ["hermes"]


@pytest.mark.parametrize("broken", ["cut", "error"])
def test_an_answer_that_broke_off_counts_for_no_share(server: DemoServer, broken: str) -> None:
    """It counted as the dialect's failure: 0 of 2 parsed, of answers that nobody had whole."""
    models = [f"openai/demo-{broken}", "openai/demo-hermes"]
    plan = trial(SESSION, "hermes", models=models, repeats=2, base_url=f"{server.url}/v1")
    found = plan.run()
    arms = {arm.model: arm for arm in found.arms}
    cut = arms[models[0]]
    assert (cut.broken_off, cut.faults, cut.share("parsed")) == (2, 0, Share(0, 0))
    assert (arms[models[1]].broken_off, arms[models[1]].share("parsed")) == (0, Share(2, 2))
    assert found.verdict.endswith("2 answers broke off, and are not counted.")
    assert found.frame().set_index("model").loc[models[0], "broken_off"] == 2
    assert found.misses() == []
    assert {each.broken_off for each in cut.attempts} == {
        {
            "cut": "the stream ends without its last frame",
            "error": "the demo model fails here",
        }[broken]
    }


def test_an_expected_tool_that_the_session_lacks_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'get_weather'"):
        trial(SESSION, "hermes", models="openai/x", expected=pg.expect("get_wether"))
    bare = replace(SESSION, tools=())
    assert trial(bare, "hermes", models="openai/x", expected=pg.expect("get_wether")).cases


def test_an_expected_argument_that_the_tool_lacks_is_refused_by_name() -> None:
    """No answer could be right, and every model was counted wrong."""
    expected = pg.expect("get_weather", cty="Brest")
    with pytest.raises(UnknownNameError, match="argument of get_weather 'cty'; did you mean 'city"):
        trial(SESSION, "hermes", models="openai/x", expected=expected)
    loose = TOOL.model_copy(update={"input_schema": {**TOOL.input_schema, "not": {}}})
    assert trial(replace(SESSION, tools=(loose,)), "xml", expected=expected).cases


# the command, and the page


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["trial", *arguments])


def test_a_trial_that_could_count_nothing_says_so(tmp_path: Path) -> None:
    """It printed the head of a table, and ended as if all were well."""
    file = tmp_path / "chat.jsonl"
    sample = pg.sample_sessions()["02-parallel-calls"]
    file.write_text(dump_session(replace(sample, recordings=())))
    done = CliRunner().invoke(main, ["trial", str(file), "--own-calls"])
    assert done.exit_code == 0
    assert "nothing is counted: no model is named, and no recording of the" in done.stderr
    plan = trial(SESSION, ["hermes", "json"])
    with pytest.raises(InputFault, match="answers a case in hermes, json; expected models="):
        plan.run()


def test_the_command_tells_the_cost_asks_and_keeps_the_answers(
    server: DemoServer, tmp_path: Path
) -> None:
    file, out = tmp_path / "s.json", tmp_path / "answers.json"
    file.write_text(dump_session(SESSION))
    live = [str(file), "-d", "hermes", "-d", "xml", "--repeats", "2", "-o", str(out)]
    live += ["--model", "openai/demo-taught@xml.arguments=1+of=2", "--base-url", f"{server.url}/v1"]
    asked = run(*live)
    assert "4 requests" in asked.stderr and "nothing was sent" in asked.stderr
    assert not out.exists()
    done = run(*live, "--yes", "--json")
    assert done.exit_code == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["cost"]["requests"], outcome["cost"]["refused"]) == (4, [])
    hits = {row["dialect"]: row["right_arguments"] for row in outcome["arms"]}
    assert (hits["hermes"]["hits"], hits["xml"]["hits"]) == (2, 1)
    again = run(str(out))
    assert again.exit_code == 0
    arm = json.loads(run(str(out), "--json").stdout)["arms"][0]
    assert (arm["parsed"]["of"], arm["model"]) == (2, outcome["arms"][0]["model"])
    assert "only the first right 1 time, only the second 0 times" in again.stdout
    assert run(str(out), "-o", str(out)).exit_code == 2
    assert run("02-parallel-calls").exit_code == 2
    own = run("02-parallel-calls", "--own-calls", "--json")
    assert own.exit_code == 0
    assert json.loads(own.stdout)["arms"] == []  # its recordings answer a later question


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if label in button.label).click().run()
    assert not app.exception


def expectations(app: AppTest) -> TextArea:
    return next(each for each in app.text_area if each.label == "Expected replies, as JSON")


def test_the_page_takes_what_is_expected_and_counts_recordings() -> None:
    app = page("trials", session="02-parallel-calls")
    assert "Say which calls you expect" in app.info[0].value
    press(app, "Expect the calls of the session's own model (1)")
    assert app.dataframe[0].value["expected"].tolist() == ["get_weather, get_tides"]
    assert any(each.label == "Run trial" for each in app.button)  # for no recording is counted
    app.session_state["trial view"] = "From recordings"
    assert "No recording has the name of a case" in app.run().info[0].value
    calls = [{"tool_name": "get_weather"}, {"tool_name": "get_tides"}]
    whole = json.dumps([{"message": 5, "calls": calls}])
    expectations(app).set_value(whole).run()
    counted = app.dataframe[1].value
    assert {"xml", "hermes", "native"} <= {*counted["dialect"]}
    assert {*counted["arguments"]} == {"100 % (21 to 100)"}
    app.session_state["workspace menu"] = True
    assert "expected calls" in told(app.run())
    assert "edited" not in badges(app)  # what is sent is the sample's
    expectations(app).set_value("[{]").run()
    assert "This cannot be read" in app.error[0].value
    assert "expected:1" in told(app)
    press(app, "Undo")  # of what was expected: what was refused is no step
    press(app, "Undo")
    assert next(each for each in app.button if each.label == "Undo").disabled
    press(app, "Show the one in use")
    assert not app.error


def test_a_second_act_on_a_sample_goes_where_the_first_went() -> None:
    """A blur and a click were one run: the click made a session without what had been typed."""
    app = page("trials", session="02-parallel-calls")
    typed = '[{"message": 1, "calls": []}]'
    expectations(app).set_value(typed)  # leaving the field is one act, the button another
    press(app, "Expect the calls of the session's own model")
    (name,) = on_disk().names()
    assert app.selectbox(key="session").value == name
    assert "get_tides" in str(expectations(app).value)
    press(app, "Undo")
    assert json.loads(str(expectations(app).value))[0]["message"] == 1
    app.selectbox(key="session").set_value("02-parallel-calls").run()  # back, on purpose
    press(app, "Expect the calls of the session's own model")
    assert on_disk().names() == [name, f"{name} (2)"]


def test_an_unread_text_stays_with_its_sample_when_another_tab_edits_that() -> None:
    app, other = (page(name, session="02-parallel-calls") for name in ("trials", "compare"))
    expectations(app).set_value("[{]").run()
    edit_block(other, "agent", "You keep the harbour.")
    for name in ("02-parallel-calls", "02-parallel-calls, edited"):
        shown = page("trials", session=name)
        assert expectations(shown).value == "[{]"
        assert "This cannot be read" in shown.error[0].value
    shown.session_state["workspace menu"] = True
    shown.run()
    shown.text_input(key=f"name of {name}").set_value("tides").run()
    assert expectations(shown).value == "[{]"
    assert not page("trials", session="02-parallel-calls").exception


def test_a_run_on_a_sample_does_not_mark_it_as_edited() -> None:
    app = page("compare", session="02-parallel-calls")
    session = pg.load_session(paths.samples()["02-parallel-calls"])
    text = with_recording(
        new_entry(session, origin="sample"), Recording("a run", "xml", (TextChunk("hi", 0.0),))
    )
    on_disk().add("02-parallel-calls", text)
    assert "edited" not in badges(app.run())
    assert next(each for each in app.button if each.label == "Undo").disabled
    app = page("start")
    assert app.get("page_link")
    assert not any("edited" in each.value for each in app.text)


def badges(app: AppTest) -> str:
    return " ".join(str(each.value) for each in app.markdown)


def test_the_page_tells_the_cost_runs_and_keeps_the_answers(server: DemoServer) -> None:
    app = page("trials", session="02-parallel-calls")
    press(app, "Expect the calls of the session's own model")
    assert any("Scripted, no model is asked" in each.value for each in app.caption)  # without a key
    app.text_input(key="trial models").set_value("openai/demo-taught").run()
    app.text_input(key="trial server").set_value(f"{server.url}/v1").run()
    app.number_input(key="trial repeats").set_value(1).run()
    assert any("requests, ~" in text.value for text in app.text)
    models = "openai/demo-taught, nobodys-model"  # of which LiteLLM knows no provider
    app.text_input(key="trial models").set_value(models).run()
    sample = pg.load_session(paths.samples()["02-parallel-calls"])
    expecting, dialects = replace(sample, expected=own_calls(sample)), ["xml", "hermes", "native"]
    library = trial(expecting, dialects, models=models.split(", "), repeats=1).cost
    assert (library.requests, len(library.refused)) == (3, 3)
    assert f"{library}. " in told(app)
    app.text_input(key="trial models").set_value("openai/demo-taught").run()
    press(app, "Run")
    assert app.dataframe[1].value["attempts"].tolist() == ["1", "1", "1"]
    app.run()  # another run of the page keeps nothing twice
    assert on_disk().names() == [
        "02-parallel-calls, with expected calls",
        "02-parallel-calls, with expected calls trial",
    ]
    kept = page("trials", session="02-parallel-calls, with expected calls trial")
    assert kept.dataframe[1].value["attempts"].tolist() == ["1", "1", "1"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nope"}}},
        {"type": "object", "$ref": "#"},
        {"type": "object", "properties": None},
        {"type": "object", "properties": [{"a": 1}]},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
    ],
)
def test_a_schema_that_cannot_say_has_nothing_against_a_call(schema: dict[str, Any]) -> None:
    """They ended a trial: "a bug of ours"."""
    tool = ToolMetadata(name="f", args_schema=schema)
    check = check_of(tool)
    assert check is None or misfit(check, {"a": "x"}) == ""


def test_a_schema_sends_nobody_anywhere() -> None:
    """A session's file could aim a request at any host."""
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        somebody.settimeout(0.3)
        address = f"http://127.0.0.1:{somebody.getsockname()[1]}/schema"
        schema = {"type": "object", "properties": {"a": {"$ref": address}}}
        check = check_of(ToolMetadata(name="f", args_schema=schema))
        assert check is not None
        assert misfit(check, {"a": 1}) == ""
        with pytest.raises(TimeoutError):
            somebody.accept()


def test_one_and_true_are_two_values() -> None:
    for value, other in [(1, True), (True, 1)]:
        schema = {"type": "object", "properties": {"a": {"const": value}}}
        check = check_of(ToolMetadata(name="f", args_schema=schema))
        assert check is not None
        assert misfit(check, {"a": value}) == ""
        assert misfit(check, {"a": other}) == f"{value} was expected"
