"""Whatever a public function is given, it answers, or says in our words what would be right."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

import playground as pg
from playground.base.errors import InputFault, PlaygroundError
from playground.sessions.session import ExpectedCall, ExpectedReply

SESSION: Final = pg.session("When is low water?", model="anthropic/claude-sonnet-4-5")
WITH_TOOLS: Final = pg.sample_sessions()["02-parallel-calls"]
ANSWERED: Final = pg.session(
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}], model="gpt-4o"
)
BODY: Final = {"model": "gpt-5", "messages": [{"role": "user", "content": "Low water?"}]}
CALL: Final = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
TEMPLATE: Final = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "<do>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</do>"
    "{% endfor %}</{{ m.role }}>{% endfor %}"
)
EXPECTING: Final = replace(SESSION, expected=(ExpectedReply(1, (ExpectedCall("f", {}),)),))
RECORDING: Final = {"name": "r", "dialect": "xml", "chunks": [{"text": "x"}]}

# Arguments with which each function works; each is then replaced by every odd value in turn.
GOOD: Final[dict[str, dict[str, Any]]] = {
    "audit_template": {"template": TEMPLATE},
    "cache_matrix": {
        "session": SESSION,
        "dialects": ["xml"],
        "policies": ["azad"],
        "model": "",
        "provider": "",
        "seconds_apart": None,
        "what_if": pg.WhatIf(),
    },
    "cache_on_wire": {"session": SESSION, "dialect": "xml", "policy": "", "model": ""},
    "carry": {"dialects": ["xml"], "values": {"a": 1}},
    "compare": {"session": SESSION, "dialects": ["xml"]},
    "decode_stream": {"pieces": [b"data: {}\n\n"], "api": None, "name": ""},
    "detect": {"text": CALL, "tools": None},
    "dialect_for": {"model_name": "gpt-5"},
    "dialect_from_template": {"template": TEMPLATE, "name": "mine"},
    "compaction": {
        "session": ANSWERED,
        "policies": [],
        "model": "",
        "provider": "",
        "dialect": "native",
        "marks": "claude-code",
        "limit": 0,
        "keep": 0,
        "summary": 1000,
        "seconds_apart": None,
    },
    "corpus": {"path": "no-such-file"},
    "diff": {
        "first": SESSION,
        "second": BODY,
        "model": "",
        "dialect": "",
        "request": 0,
        "providers": (),
        "names": ("", ""),
    },
    "tool_costs": {"tools": [{"name": "f"}], "models": ["gpt-4o"], "dialects": ["xml"]},
    "tool_portability": {"tools": [{"name": "f"}], "targets": ()},
    "check_dialect": {"dialect": "hermes", "examples": 1},
    "count_tokens": {"request": {"messages": []}, "model": "gpt-4o"},
    "dump_dialect": {"dialect": pg.get_dialect("hermes")},
    "load_dialect": {"path": "no-such-file"},
    "propose_dialect": {"replies": [CALL]},
    "dialect_findings": {},
    "dialect_names": {},
    "api_names": {},
    "policy_names": {},
    "provider_names": {},
    "server_names": {"parsers_of": "vllm"},
    "dump_session": {"session": SESSION},
    "recording": {"text": "a", "dialect": "xml", "name": "one", "model": "m"},
    "get_dialect": {"name": "xml"},
    "guide_for": {"name": "xml"},
    "load_policy": {"path": "no-such-file"},
    "load_recording": {"path": {"format": "playground-session/1", "recordings": [RECORDING]}},
    "load_session": {"path": BODY, "format": None},
    "load_sessions": {"path": BODY, "format": None, "progress": None, "left_out": None},
    "load_tools": {"path": "no-such-file"},
    "parse": {"answer": CALL, "dialect": "hermes", "tools": [], "prefill": "", "switches": None},
    "plan_tools": {"session": WITH_TOOLS, "model": "", "provider": ""},
    "place_cache": {"session": SESSION, "dialect": "xml", "policy": "", "model": ""},
    "provider_payload": {"session": SESSION, "dialect": "xml", "model": "", "parameters": None},
    "raw_prompt": {"prompt_data": SESSION.prompt_data(), "template": "llama3"},
    "read_recording": {"value": RECORDING, "where": "x"},
    "read_tools": {"value": [{"name": "f"}]},
    "replay": {
        "recording": pg.read_recording(RECORDING),
        "dialect": "xml",
        "tools": [],
        "switches": None,
    },
    "sample_sessions": {},
    "session": {"messages": "Hi", "tools": [], "system": "", "model": "", "title": ""},
    "simulate_cache": {
        "requests": [BODY],
        "model": "",
        "provider": "",
        "dialect": "native",
        "policy": "",
        "seconds_apart": None,
        "what_if": pg.WhatIf(),
        "usages": [],
        "times": [],
    },
    "trial": {
        "session": EXPECTING,
        "dialects": ["hermes"],
        "models": ["gpt-5"],
        "repeats": 1,
        "base_url": "",
        "parameters": None,
    },
}
ODD: Final[list[Any]] = [
    None,
    True,
    -1,
    3,
    2.5,
    float("nan"),
    "",
    "nothing of this kind",
    "null\x00byte",
    "\ud800",
    b"",
    b"\xff\x00",
    [],
    [None],
    [3],
    ["nothing of this kind"],
    [[]],
    [{}],
    [{"role": 3}],
    [{"role": "user", "content": {"text": 3}}],
    [{"role": "assistant", "tool_calls": [3]}],
    [{"role": "assistant", "tool_calls": 3}],
    (),
    {},
    {"a": object()},
    {"messages": 3},
    {"messages": [{"role": "user", "content": [3]}], "tools": 3},
    {"messages": [{"role": "user", "content": "Hi"}], "toolConfig": 3},
    {"role": "user"},
    object(),
    object,
    len,
    SESSION,
    pg.get_dialect("xml"),
    pg.Message("user"),
]


def functions() -> dict[str, Callable[..., Any]]:
    found = {name: getattr(pg, name) for name in pg.__all__}
    for name in ("expect", "serving"):  # takes arguments of any name; starts a server
        found.pop(name)
    return {name: value for name, value in found.items() if inspect.isroutine(value)}


def odd_calls(name: str) -> Iterator[tuple[str, Any]]:
    for argument in GOOD[name]:
        for odd in ODD:
            yield argument, odd


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    found = function(**arguments)
    return list(found) if isinstance(found, Iterator) else found


def test_every_public_function_is_tried() -> None:
    assert set(functions()) == set(GOOD)


@pytest.mark.parametrize("name", GOOD)
def test_odd_arguments_are_told_of_in_our_words(name: str) -> None:
    assert [fault for call in odd_calls(name) if (fault := not_ours(name, *call))] == []


def not_ours(name: str, argument: str, odd: Any) -> str:
    """What is wrong with how a call fails: no error of ours, or one that says nothing."""
    try:
        called(functions()[name], {**GOOD[name], argument: odd})
    except PlaygroundError as error:
        said = str(error)
        return "" if said.strip() and "\n" not in said else f"{argument}={odd!r}: {said!r}"
    except Exception as error:
        return f"{argument}={odd!r:.80}: {type(error).__name__}: {error}"
    return ""


FROM_FILES: Final = {"corpus", "load_dialect", "load_policy", "load_tools"}


@pytest.mark.parametrize("name", sorted(set(GOOD) - FROM_FILES))
def test_the_arguments_that_are_made_odd_are_good(name: str) -> None:
    called(functions()[name], GOOD[name])


def test_an_error_says_what_was_given_and_what_would_be_right() -> None:
    with pytest.raises(InputFault, match=r"compare\(session=…\): int 3 .*; expected a Session"):
        pg.compare(3)  # type: ignore[arg-type]
    with pytest.raises(InputFault, match="a dialect: int 3 was given; expected its name"):
        pg.compare(SESSION, [3])  # type: ignore[list-item]
    with pytest.raises(InputFault, match="dialects: no dialect is in the list"):
        pg.compare(SESSION, [])
    with pytest.raises(InputFault, match="str 'x' was given; expected a dict; pg.load_recording"):
        pg.read_recording("x")
    for name in ("runs/a.json", "a.JSONL", __file__):
        with pytest.raises(InputFault, match="is the name of a file; expected pg.load_session"):
            pg.session(name)
    for said in ("Read runs/a.json", "https://a.test/tides.json"):
        assert pg.session(said).messages[0].text == said
    with pytest.raises(InputFault, match=r"field messages\.0: 3 is not a message; expected"):
        pg.session([3])
    with pytest.raises(InputFault, match="a session: NoneType None was given; expected a path"):
        pg.load_session(None)  # type: ignore[arg-type]


ONES: Final = (("parallel", True), ("parallel", 3))  # these are numbers of rounds


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_what_if_says_what_is_odd(odd: Any) -> None:
    for field in ("environment", "parallel"):
        if (field, odd) not in ONES:
            with pytest.raises(InputFault, match="expected"):
                pg.WhatIf(**{field: odd})
