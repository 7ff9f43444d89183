"""The public functions are called as one would guess: session first, dialect second, the rest by
keyword; a sample's name goes where a session goes; a wrong name is told with near ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import pytest

import playground as pg
from playground.base.errors import InputFault, UnknownNameError
from playground.cache.answers.cells import BilledBreak, CacheSimulation
from playground.cache.differences import FirstDifference
from playground.cache.simulated import Simulated
from playground.cache.validation import ValidationRow
from playground.dialects.marks.providers import provider_of
from playground.sessions.receipts.receipt import Missing, MissingAtPath

FUNCTIONS = {
    name: value
    for name, value in ((name, getattr(pg, name)) for name in dir(pg))
    if inspect.isfunction(value)
}
# More than two go by position where each is what the question is about, as in a sentence.
WORDED = {
    "parse",  # an answer, a dialect, the tools that it may call
    "replay",  # a recording, likewise
    "session",  # messages, tools, system prompt, model
    "raw_prompt",  # prompt data, a template, its tool format
    "detect",
    "decode_stream",
    "load_sessions",
    "propose_dialect",
    "check_dialect",
    "carry",
}
SAMPLE = "01-plain-chat"
CHEAP: dict[str, dict[str, Any]] = {  # of the functions that take a session: what else they need
    "cache_matrix": {"dialects": ["xml"], "policies": ["azad"]},
    "cache_on_wire": {},
    "compaction": {"policies": ["keep last messages"]},
    "compare": {"dialects": ["xml"]},
    "count_tokens": {"model": "gpt-4o"},
    "place_cache": {},
    "provider_payload": {"dialect": "xml"},
    "simulate_cache": {},
    "tool_costs": {"dialects": ["xml"], "models": []},
    "tool_portability": {"targets": ["openai"]},
}


NOTHING = "/no/such/file"
ASKED: dict[str, tuple[Any, ...]] = {  # what each function needs, of the kinds that it takes
    "audit_template": ("{{ messages }}",),
    "carry": ("xml",),
    "check_dialect": ("xml",),
    "corpus": (NOTHING,),
    "decode_stream": (b"",),
    "detect": ("x",),
    "dialect_for": ("gpt-4o",),
    "dialect_from_template": ("{{ messages }}",),
    "diff": (SAMPLE, SAMPLE),
    "dump_dialect": (pg.get_dialect("xml"),),
    "dump_session": (pg.session("x"),),
    "expect": ("f",),
    "get_dialect": ("xml",),
    "guide_for": ("xml",),
    **dict.fromkeys([name for name in FUNCTIONS if name.startswith("load_")], (NOTHING,)),
    "parse": ("x", "xml"),
    "propose_dialect": (["x"],),
    "provider_payload": (SAMPLE, "xml"),
    "raw_prompt": (SAMPLE, "{{ messages }}"),
    "read_recording": ({},),
    "read_tools": ([],),
    "recording": ("x",),
    "render": (SAMPLE, "xml"),
    "replay": (pg.recording("x"), "xml"),
    "server_names": (),
    "serving": (),
    "session": ("x",),
    "tool_costs": ([],),
    "tool_portability": ([],),
    "trial": (SAMPLE, ["xml"]),
}


def _call(name: str, arguments: dict[str, Any]) -> None:
    """Call a function, and begin what it returns if that is done step by step."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    first = [arguments.pop(each.name) for each in parameters if each.kind is each.POSITIONAL_ONLY]
    answer = FUNCTIONS[name](*first, **arguments)
    if inspect.isgenerator(answer):
        next(answer)


@pytest.mark.parametrize("value", [object(), 3j], ids=["object", "complex"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_another_kind_is_one_clear_fault(name: str, value: Any) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    usual = dict(zip(parameters, ASKED.get(name, (SAMPLE,)), strict=False))
    for parameter in parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            with pytest.raises(InputFault):
                _call(name, {**usual, parameter.name: value})


BODY: Final = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hi."}]}
UNUSED: Final = [
    (pg.simulate_cache, (SAMPLE,), {"usages": [{"input_tokens": 1}]}),
    (pg.simulate_cache, (SAMPLE,), {"times": [1.0]}),
    (pg.simulate_cache, ([BODY],), {"dialect": "xml"}),
    (pg.simulate_cache, ([BODY],), {"policy": "azad"}),
    (pg.simulate_cache, ([BODY],), {"times": [1.0], "seconds_apart": 2.0}),
    (pg.simulate_cache, (pg.load_session(BODY),), {"policy": "as-sent", "dialect": "xml"}),
    (pg.place_cache, (pg.load_session(BODY),), {"policy": "as-sent", "explicit_caching": True}),
    (pg.place_cache, (pg.load_session(BODY),), {"policy": "as-sent", "dialect": "xml"}),
    (pg.count_tokens, (BODY,), {"dialect": "xml"}),
]


@pytest.mark.parametrize(("function", "given", "more"), UNUSED)
def test_an_argument_that_would_change_nothing_is_refused(
    function: Callable[..., Any], given: tuple[Any, ...], more: dict[str, Any]
) -> None:
    with pytest.raises(InputFault) as caught:
        function(*given, **more)
    assert str(caught.value).startswith(f"{function.__name__}({[*more][-1]}=…): ")
    assert caught.value.expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_misspelt_keyword_is_refused_with_the_right_one(name: str) -> None:
    """`cache_matrix(policy=…)` ended in Python's own words, without `policies`."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    usual = dict(zip(parameters, ASKED.get(name, (SAMPLE,)), strict=False))
    if len(parameters) == 1 or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return
    for right in parameters:
        with pytest.raises(InputFault, match=f"'{right}'") as caught:
            _call(name, {**usual, f"{right}s": 1})
        assert isinstance(caught.value, TypeError)


def _by_position(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_dialect_is_second_and_all_else_goes_by_keyword(name: str) -> None:
    places = _by_position(FUNCTIONS[name])
    named = inspect.signature(FUNCTIONS[name]).parameters
    for dialect in {"dialect", "dialects"} & named.keys():
        takes_two_sides = places[:2] == ["first", "second"]
        assert places[:1] == [dialect] or places[1:2] == [dialect] or takes_two_sides
    assert len(places) <= 2 or name in WORDED


@pytest.mark.parametrize("name", CHEAP)
def test_a_samples_name_goes_where_a_session_goes(name: str) -> None:
    function = FUNCTIONS[name]
    sample = "02-parallel-calls" if name.startswith("tool_") else SAMPLE
    by_name = function(sample, **CHEAP[name])
    by_value = function(pg.sample_sessions()[sample], **CHEAP[name])
    assert type(by_name) is type(by_value)
    if hasattr(by_name, "frame"):
        assert by_name.frame().equals(by_value.frame())
    with pytest.raises(UnknownNameError, match="did you mean '01-plain-chat'"):
        function("01-plain-chats", **CHEAP[name])


OLDER: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (
        lambda: pg.simulate_cache(SAMPLE, "anthropic/claude-sonnet-4-5"),
        lambda: pg.simulate_cache(SAMPLE, model="anthropic/claude-sonnet-4-5"),
    ),
    (
        lambda: pg.simulate_cache([{"messages": []}], "some-model-of-ones-own"),
        lambda: pg.simulate_cache([{"messages": []}], model="some-model-of-ones-own"),
    ),
    (
        lambda: pg.count_tokens(SAMPLE, "gpt-4o"),
        lambda: pg.count_tokens(SAMPLE, model="gpt-4o"),
    ),
    (
        lambda: pg.place_cache(SAMPLE, "xml", "none"),  # type: ignore[call-arg]
        lambda: pg.place_cache(SAMPLE, "xml", policy="none"),
    ),
    (
        lambda: pg.compaction(SAMPLE, ["keep last messages"]),  # type: ignore[arg-type]
        lambda: pg.compaction(SAMPLE, policies=["keep last messages"]),
    ),
    (
        lambda: pg.cache_matrix(SAMPLE, ["xml"], ["azad"]),  # type: ignore[call-arg]
        lambda: pg.cache_matrix(SAMPLE, ["xml"], policies=["azad"]),
    ),
]


@pytest.mark.parametrize(("older", "newer"), OLDER)
def test_an_older_call_works_and_says_how_it_is_written_now(
    older: Callable[[], Any], newer: Callable[[], Any]
) -> None:
    with pytest.warns(DeprecationWarning, match="by keyword"):
        found = older()
    assert str(found) == str(newer())


def test_the_second_place_is_the_dialect_and_never_silently_a_model() -> None:
    """`simulate_cache(session, "xml")` answered for a model of that name, with a cost of 1."""
    found = pg.simulate_cache(SAMPLE, "xml")
    assert found.dialect == "xml"
    assert found.provider == provider_of(pg.sample_sessions()[SAMPLE].task.model_name)
    for near, name in (("hermess", "hermes"), ("XML", "xml")):
        with pytest.raises(UnknownNameError, match=f"'{name}'"):
            pg.simulate_cache(SAMPLE, near)


OLDER_NAMES: Final = [
    (FirstDifference("tools_changed", "tools", "a", "b"), "told", "sentence"),
    (BilledBreak(2, 1, 900, 300, 1000), "left", "cached_before"),
    (Simulated("exact", 10, {"5m": 5}, 0, 0, ""), "left", "cached_after"),
    (Missing("line 1", "text", "Hello", "part-lost"), "told", "finding_code"),
    (MissingAtPath("line", "text", 1, 5, "", Missing("", "text", "")), "told", "reason"),
    (ValidationRow("", 0, "", "", "no body", diagnosis="a miss"), "told", "diagnosis"),
    (CacheSimulation("anthropic", []), "told", "diagnoses"),
    (CacheSimulation("anthropic", []), "noted", "request_facts"),
    (pg.detect("Hello")[0], "left", "text_characters"),
    (pg.WhatIf(), "keeps_blocks", "leaves_blocks_unchanged"),
    (pg.parse("Hello", "hermes", server="vllm"), "handed", "outcome"),
    (pg.replay(pg.recording("Hello"), "hermes", server="vllm"), "handed", "delivered"),
]


@pytest.mark.parametrize(("value", "older", "newer"), OLDER_NAMES)
def test_an_older_name_of_a_field_works_and_says_what_it_is_now(
    value: Any, older: str, newer: str
) -> None:
    with pytest.warns(DeprecationWarning, match=rf"\.{older} is now \.{newer}"):
        assert getattr(value, older) == getattr(value, newer)


def test_an_older_name_of_an_argument_works_and_says_what_it_is_now() -> None:
    with pytest.warns(DeprecationWarning, match=r"plan_tools\(found=…\) is now tools_per_search="):
        older = pg.plan_tools("02-parallel-calls", found=1)  # type: ignore[call-arg]
    assert str(older) == str(pg.plan_tools("02-parallel-calls", tools_per_search=1))
