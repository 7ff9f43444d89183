"""What the imitated systems share: scripts, the tool loop, runs in the background."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from playground.base.errors import InputFault
from playground.plugins.systems.aichatflow import Answers, RecordedAnswers, Sent, parse_templates
from playground.plugins.systems.aichatflow.runs import TemplateRun
from playground.plugins.systems.flink_agents import (
    ChatMessage,
    ScriptedModel,
    ToolMetadata,
    ToolType,
)
from playground.plugins.systems.flink_agents.tools import RecordedTool
from playground.plugins.systems.script import Script
from playground.plugins.systems.tool_loop import tool_loop
from playground.plugins.trials.demo_server import serving

SENT = Sent({}, [], [])


def test_a_script_gives_each_request_its_own_answer() -> None:
    script = Script[int, int](range(100))
    with ThreadPoolExecutor(8) as pool:
        given = dict(zip(range(100), pool.map(script.answer, range(100)), strict=True))
    assert [given[request] for request in script.requests] == list(range(100))
    with pytest.raises(InputFault, match="only 100 answers; expected one for each request"):
        script.answer(100)


def test_both_scripted_answerers_run_out_in_the_same_words() -> None:
    model, answers = ScriptedModel(["x"]), Answers(["x"])
    model.complete([ChatMessage()])
    answers(SENT)
    for ask in (lambda: model.complete([ChatMessage()]), lambda: answers(SENT)):
        with pytest.raises(InputFault, match="^only 1 answer; expected one for each request$"):
            ask()


def test_an_answer_is_handed_out_before_its_calls_are_made() -> None:
    log: list[str] = []
    answers = iter(["call", "call", "done"])

    def ask() -> str:
        log.append("asked")
        return next(answers)

    def call(answer: str) -> int | None:
        if answer != "call":
            return None
        log.append("called")
        return len(log)

    for made in tool_loop(ask, call, most=3, limit_error=InputFault("for ever")):
        log.append(f"saw {made}")
    assert log == [
        *("asked", "saw call", "called", "saw 3"),
        *("asked", "saw call", "called", "saw 7"),
        *("asked", "saw done"),
    ]


def test_a_model_that_always_calls_is_asked_no_more_often_than_it_may_be() -> None:
    asked: list[int] = []
    loop = tool_loop(
        lambda: asked.append(1), lambda _: 0, most=4, limit_error=InputFault("for ever")
    )
    with pytest.raises(InputFault, match="for ever"):
        list(loop)
    assert len(asked) == 4


def test_a_templates_run_is_watched_and_stopped() -> None:
    with serving() as slow:
        asked = RecordedAnswers("openai/demo-slow", f"{slow.url}/v1")
        run = TemplateRun(answers=asked)
        run.start(parse_templates("- {role: user, content: hi}"), {}, asked)
        until = time.monotonic() + 30
        while len(run.steps) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert run.under_way
        run.stop()
        run.wait(60)  # LiteLLM takes its time to load on a busy machine
        assert not run.under_way
    assert run.outcome is None
    assert "the user stopped the run" in run.fault  # before its first byte, or after
    assert [step.what for step in run.steps] == ["message", "request"]


def test_a_recorded_tool_gives_results_from_elsewhere() -> None:
    tool = RecordedTool(ToolMetadata(name="tides"), lambda port: f"{port}: 05:12")
    assert (tool.tool_type(), tool.name) == (ToolType.REMOTE_FUNCTION, "tides")
    assert tool.call(port="Brest") == "Brest: 05:12"
