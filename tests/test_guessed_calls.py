"""The library as a person guesses it who has only `help(pg)`, reprs and errors."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator

import playground as pg
from playground.cache.answers.known_rules import check_model
from playground.cache.prices import price_of
from playground.cache.simulated import sureness
from playground.dialects import dialect_names
from playground.dialects.marks.providers import UNKNOWN, provider_of
from playground.plugins.trials.demo_calls import scripted_calls
from playground.sessions.session import ExpectedCall, ExpectedReply

TOOL: Final = {
    "name": "get_tides",
    "description": "High and low water.",
    "parameters": {
        "type": "object",
        "properties": {"harbour": {"type": "string"}},
        "required": ["harbour"],
    },
}
TEXT: Final = "I look.\n<get_tides><harbour>Brest</harbour></get_tides>"


def _session(text: str = "Tides at Brest?", model: str = "gpt-4o") -> pg.Session:
    return pg.session(text, [TOOL], model=model)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: pg.Message(role="user", content="hi"),  # type: ignore[call-arg]
            r"Message\(content=…\): 'content' is not a field; expected Message\(\"user\", ",
        ),
        (
            lambda: pg.Message("user", "hi"),  # type: ignore[arg-type]
            r"Message\(parts=…\): str 'hi' was given: .*; expected Message\(",
        ),
        (
            lambda: pg.Message("usr"),  # type: ignore[arg-type]
            r"Message\(role=…\): str 'usr' was given: Input should be 'system', 'user'",
        ),
        (lambda: pg.Message(), r"Message\(role=…\): Field required"),  # type: ignore[call-arg]
        (
            lambda: pg.Session(messages=[{"role": "user", "content": "x"}]),  # type: ignore[arg-type]
            r"Session\(messages.0.content=…\): 'content' is not a field; .*pg.session\(",
        ),
        (
            lambda: pg.ToolMetadata("f"),  # type: ignore[call-arg]
            r"ToolMetadata\(…\): .* positional .*; expected ToolMetadata\(name=",
        ),
        (
            lambda: pg.ToolMetadata(name="f", arguments={}),  # type: ignore[call-arg]
            r"ToolMetadata\(arguments=…\): 'arguments' is not a field",
        ),
        (lambda: pg.PromptData(x=1), r"PromptData\(x=…\): 'x' is not a field"),  # type: ignore[call-arg]
    ],
)
def test_a_wrong_argument_of_a_class_is_one_line(build: Any, message: str) -> None:
    with pytest.raises(pg.InputFault, match=message) as raised:
        build()
    assert "\n" not in str(raised.value) and "pydantic" not in str(raised.value)
    assert isinstance(raised.value, ValueError)  # as pydantic's own error is


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "arguments": TOOL["parameters"]},
        {"name": "f", "params": {"x": {"type": "string"}}},
        {"type": "function", "function": {"name": "f", "schema": TOOL["parameters"]}},
    ],
)
def test_a_schema_under_a_wrong_key_is_refused(tool: dict[str, Any]) -> None:
    with pytest.raises(pg.InputFault, match="is not a field of a tool; expected parameters="):
        pg.session("x", [tool])
    found = pg.load_session({"messages": [{"role": "user", "content": "x"}], "tools": [tool]})
    assert found.tools[0].name == "f"  # a log is read all the same


_SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
_PROPERTIES: Final = {"city": {"type": "string", "required": True}}


@pytest.mark.parametrize(
    "tools",
    [
        {"weather": {"description": "d", "parameters": _SCHEMA}},  # by name, as in the AI SDK
        {"weather": {"description": "d", "inputSchema": {"jsonSchema": _SCHEMA}}},
        {"weather": _SCHEMA},
        {"tools": {"weather": {"parameters": _SCHEMA}}},
        {"functionDeclarations": {"name": "weather", "parameters": _SCHEMA}},
        [{"function_declarations": [{"name": "weather", "parameters_json_schema": _SCHEMA}]}],
        [{"name": "weather", "parameters": _PROPERTIES}],
        [{"name": "weather", "input_schema": _PROPERTIES}],
        [{"name": "weather", "inputSchema": {"city": {"type": "string"}}, "required": ["city"]}],
        [{"name": "weather", "parameters": {"city": "string"}, "required": ["city"]}],
        [{"name": "weather", "parameters": {"city": "str"}, "required": ["city"]}],
        [{"type": "function", "function": {"name": "weather", "parameters": _PROPERTIES}}],
    ],
)
def test_a_tool_is_read_where_its_meaning_is_plain(tools: Any) -> None:
    (tool,) = pg.session("x", tools).tools
    assert (tool.name, tool.input_schema) == ("weather", _SCHEMA)


def test_a_custom_tool_of_either_api_takes_a_text() -> None:
    inner = {"name": "sql", "description": "Run it.", "format": {"type": "text"}}
    for tool in ({"type": "custom", "custom": inner}, {"type": "custom", **inner}):
        (read,) = pg.session("x", [tool]).tools
        assert (read.name, read.parameter_names) == ("sql", {"input"})


def test_several_tools_by_name_keep_their_names() -> None:
    tools = {name: {"description": name, "parameters": _SCHEMA} for name in ("a", "b")}
    assert [tool.name for tool in pg.session("x", tools).tools] == ["a", "b"]


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ({"weather": "Tell it"}, r"tools.name: Field required; expected a tool with a name"),
        ([{"name": "f", "parameters": ["city"]}], r"tools.0: parameters is \['city'\]"),
        ([{"name": "f", "parameters": "{}"}], r"tools.0: parameters is '{}'"),
        ([{"name": "f", "parameters": {"city": "the city"}}], r"tools.0: 'city' is not a keyword"),
        (
            [{"name": "f", "parameters": {"type": "object", "city": {"type": "string"}}}],
            r"tools.0: 'city' is not a keyword of JSON Schema .*expected .*properties",
        ),
        (
            [{"name": "f", "parameters": {"type": "object", "propertes": _PROPERTIES}}],
            r"tools.0: 'propertes' is not a keyword",
        ),
        ([{"name": "f", "params": {"city": "the city"}}], "tools.0: 'params' is not a field"),
    ],
)
def test_parameters_are_never_lost_without_a_word(tools: Any, message: str) -> None:
    with pytest.raises(pg.InputFault, match=message):
        pg.session("x", tools)
    with pytest.raises(pg.InputFault, match=message):
        pg.read_tools(tools)


@pytest.mark.parametrize("draft", [Draft4Validator, Draft7Validator, Draft202012Validator])
def test_no_keyword_of_a_draft_is_taken_for_a_parameter(draft: Any) -> None:
    """A schema with `items` or `contains` was refused: "is not a keyword of JSON Schema"."""
    for word in [*draft.VALIDATORS.keys() - _SCHEMA.keys(), "x-origin", "unevaluatedItems"]:
        schema = {**_SCHEMA, word: {"type": "string"}}
        if draft(draft.META_SCHEMA).is_valid(schema):
            (tool,) = pg.read_tools([{"name": "f", "parameters": schema}])
            assert tool.input_schema == schema, word


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "description": "d", "outputSchema": {"type": "object"}},
        {"name": "f", "description": "d", "annotations": {"title": "F", "readOnlyHint": True}},
        {"name": "f", "arguments": {}},
        {**TOOL, "examples_by_hand": {"type": "object"}},
    ],
)
def test_a_tool_without_parameters_is_a_tool(tool: dict[str, Any]) -> None:
    assert len(pg.read_tools([tool])) == 1


def test_a_json_schema_as_parameters_is_a_schema() -> None:
    tool = pg.ToolMetadata(name="f", parameters=TOOL["parameters"])  # type: ignore[arg-type]
    assert tool.input_schema == TOOL["parameters"]
    by_name = pg.ToolMetadata(name="f", parameters={"type": "the kind", "properties": "which"})
    assert by_name.parameter_names == {"type", "properties"}


def test_a_misspelt_model_is_named_with_near_ones() -> None:
    near_of = {"claud-sonet": "claude-sonnet", "gpt4o": "gpt-4o", "gtp-5": "gpt-5"}
    for model, near in near_of.items():
        for ask in (pg.simulate_cache, pg.place_cache, pg.cache_matrix):
            with pytest.raises(pg.UnknownNameError, match=f"did you mean '?{near}"):
                ask(_session(), "xml", model=model)
        assert near in pg.simulate_cache(_session(model=model), "xml").assumption


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("anthropic/claude-sonet-4-5", "claude-sonnet-4-5"),
        ("bedrock/anthropic.claude-sonet-4-5-v1:0", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.55", "claude-sonnet-4-5"),
        ("vertex_ai/gemini-2.5-flahs", "gemini-2-5-flash"),
    ],
)
def test_a_misspelt_model_with_its_route_is_never_certain(model: str, near: str) -> None:
    answer = pg.simulate_cache(_session(model=model), "xml")
    assert {one.state for one in answer.requests} <= {"unpredictable", "eligible"}
    for asked in (answer, pg.simulate_cache(_session(), "xml", model=model)):
        (found,) = (each for each in asked.findings if each.code == "assumed-model")
        assert found.message.startswith("Did you mean ") and repr(near) in found.message
    assert repr(near) in pg.place_cache(_session(), "xml", model=model).assumption


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "anthropic/my-model"])
def test_a_model_that_is_known_or_like_none_is_not_called_misspelt(model: str) -> None:
    answer = pg.simulate_cache(_session(model=model), "xml")
    assert "assumed-model" not in {found.code for found in answer.findings}
    assert "Did you mean" not in answer.assumption


@pytest.mark.parametrize("model", ["acme/foo-1", "my-model", "llama3", "gpt-9", "foo"])
def test_a_model_that_no_list_has_is_possible(model: str) -> None:
    assert pg.simulate_cache(_session(), "xml", model=model).model == model


def test_no_model_that_is_sold_is_called_misspelt() -> None:
    spec = find_spec("litellm")
    assert spec and spec.origin
    file = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    names = [n for n in json.loads(file.read_bytes()) if provider_of(n) == UNKNOWN and price_of(n)]
    assert len(names) > 1000
    for name in names:
        check_model(name)


def test_several_where_one_goes_are_told_what_takes_several() -> None:
    with pytest.raises(pg.InputFault, match=r"one policy; pg.cache_matrix\("):
        pg.simulate_cache(_session(), "xml", policy=["azad", "none"])  # type: ignore[arg-type]
    with pytest.raises(pg.InputFault, match=r"one dialect; pg.cache_matrix\("):
        pg.simulate_cache(_session(), ["xml", "json"])  # type: ignore[arg-type]
    with pytest.raises(pg.InputFault, match=r"one dialect; .* pg.detect\("):
        pg.replay(pg.recording(TEXT), ["xml", "json"])  # type: ignore[arg-type]


BODY: Final[Any] = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: pg.simulate_cache([BODY], "xml", policy="azad", what_if=pg.WhatIf(ttl="1h")),
            r"simulate_cache\(dialect=…, policy=…, what_if=…\): request bodies .*"
            r"expected a session, as pg.load_session\(bodies\)",
        ),
        (lambda: pg.compare(BODY), r"a Session, as pg.session\(body\) makes one"),
        (lambda: pg.simulate_cache(BODY), r"requests=…\): dict .* was given; .*\[body\]"),
        (lambda: pg.simulate_cache([BODY], times=[0], seconds_apart=5), r"\(seconds_apart=…\): "),
        (lambda: pg.simulate_cache(_session(), usages=[{}], times=[0]), r"\(usages=…, times=…\): "),
        (
            lambda: pg.count_tokens(BODY, "hermes"),
            r"count_tokens\(dialect=…\): .*pg.load_session\(",
        ),
        (
            lambda: pg.place_cache(pg.load_session(BODY), policy="as-sent", explicit_caching=True),
            r"place_cache\(explicit_caching=…\): ",
        ),
    ],
)
def test_an_argument_that_would_change_nothing_is_refused(ask: Any, message: str) -> None:
    with pytest.raises(pg.InputFault, match=message):
        ask()


def test_an_argument_that_is_as_by_default_is_taken() -> None:
    native, session = pg.get_dialect("native"), pg.load_session(BODY)
    assert pg.simulate_cache([BODY], native, policy="own").cost_permille == 1000
    assert pg.count_tokens(BODY, native) == pg.count_tokens(BODY, "native") == pg.count_tokens(BODY)
    assert pg.place_cache(session, policy="as-sent", explicit_caching=False).policy == "as-sent"


def test_requests_as_sent_may_be_asked_for_by_name() -> None:
    sent = pg.simulate_cache([BODY], policy="as-sent")
    assert sent.cost_permille == 1000
    assert repr(sent).startswith("CacheSimulation(bodies as sent, 1 request to anthropic,")
    loaded = pg.simulate_cache(pg.load_session(BODY), policy="as-sent")
    assert repr(loaded).startswith("CacheSimulation(as-sent, 1 request to anthropic,")


def test_a_text_for_a_recording_and_a_dialect_for_rules_are_told() -> None:
    with pytest.raises(
        pg.InputFault, match=r"expected a Recording; pg.recording\(text\) makes one"
    ):
        pg.replay(TEXT, "xml")  # type: ignore[arg-type]
    with pytest.raises(pg.InputFault, match="expected a text, or its pieces"):
        pg.recording(_session())  # type: ignore[arg-type]
    with (
        pytest.warns(DeprecationWarning, match="rules_path"),
        pytest.raises(pg.InputFault, match="'json' was given; expected all dialects in one list"),
    ):
        pg.compare(_session(), "xml", "json")  # type: ignore[call-arg]


REPLY: Final = {"type": "message", "role": "assistant", "content": []}


@pytest.mark.parametrize("given", [REPLY, {"a", "b"}, Path("reply.sse"), [REPLY], b"a", _session()])
def test_what_is_no_text_of_a_reply_is_told_what_reads_it(given: Any) -> None:
    """The keys of a dict were taken as pieces of the reply's text."""
    with pytest.raises(pg.InputFault, match=r"was given; expected .*pg\.load_recording"):
        pg.recording(given)
    if not isinstance(given, bytes):
        with pytest.raises(pg.InputFault, match=r"was given; expected .*pg\.load_recording"):
            pg.parse(given, "xml")
        with pytest.raises(pg.InputFault, match=r"was given; expected .*pg\.load_recording"):
            pg.decode_stream(given)


def test_a_recording_of_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(pg.UnknownNameError, match="did you mean .*'xml'"):
        pg.recording("a", dialect="xlm")


def test_small_answers_show_themselves() -> None:
    five = pg.compare(_session(), ["xml", "json"])
    assert repr(five["xml"]) == "Column(xml, 2 messages, 674 characters, 0 findings)"
    assert list(five["xml"].frame().columns) == ["origin", "kind", "characters", "text"]
    lines = five.diff("xml", "json")
    assert repr(lines).startswith("LineDiff(") and "added" in repr(lines)
    assert str(lines).startswith("@@ rules\n-Write the tool's name") and "\n+{" in str(lines)
    assert str(five.diff("xml", "xml")) == "(nothing)"
    reply = pg.recording(TEXT, "xml")
    assert "".join(reply.frame()["text"]) == TEXT
    for answer in (five["xml"], lines, reply):
        bundle = answer._repr_mimebundle_()
        assert "<table" in bundle["text/html"] and answer.html().startswith("<!doctype html>")
    matrix = pg.cache_matrix("12-long-tool-run", "xml", policies=["claude-code", "none"])
    assert repr(matrix) == (
        "CacheMatrix(cost 0.239 to 1.00 of the full price: xml under claude-code, none)"
    )


def test_a_printed_state_is_a_word_for_people() -> None:
    simulation = pg.simulate_cache("12-long-tool-run", "xml")
    assert "exact" in set(simulation.frame()["state"])
    assert sureness("exact") in str(simulation) and "exact" not in str(simulation)


def test_why_a_server_hands_no_call_over_is_seen_at_once() -> None:
    timeline = pg.replay(pg.recording(TEXT, "xml", name="r"), "xml", [TOOL], server="vllm")
    assert "no-parser" in repr(timeline)
    assert [finding.code for finding in timeline.findings] == ["no-parser"]
    assert pg.replay(pg.recording(TEXT, "xml"), "xml", [TOOL]).findings == []


@pytest.mark.parametrize("given", ["get_tides", {"name": "get_tides"}, ["get_tides"]])
def test_what_is_no_expected_call_is_told(given: Any) -> None:
    with pytest.raises(pg.InputFault, match=r"trial\(expected=…\): .*pg.expect\("):
        pg.trial(_session(), "xml", models="gpt-4o", expected=given)
    if isinstance(given, str):
        with pytest.raises(pg.InputFault, match=f"str {given!r} was given"):
            pg.trial(_session(), "xml", models="gpt-4o", expected=given)  # type: ignore[arg-type]
    with pytest.raises(pg.InputFault) as raised:
        pg.trial(_session(), "xml", models="gpt-4o")
    assert "pg.expect(" in str(raised.value) and "--" not in str(raised.value)


def test_an_expected_value_that_the_schema_does_not_list_is_told() -> None:
    """In a call it was refused, in the session a finding."""
    rules = {"unit": {"enum": ["m", "ft"]}, "days": {"type": "integer"}, "none": {"enum": []}}
    for more in ({}, {"additionalProperties": True}):
        schema = {"type": "object", "properties": rules, **more}
        session = pg.session("Tides?", [{"name": "tides", "input_schema": schema}])
        for name, words in (
            ("unit", "'3' is not one of ['m', 'ft']"),
            ("days", "'3' is not of type 'integer'"),
            ("none", "'3' is not one of []"),
        ):
            call = pg.expect("tides", **{name: "3"})
            (found,) = pg.trial(session, "xml", models="gpt-4o", expected=call).findings
            assert found.code == "expected-misfit" and found.message.endswith(words)
            own = replace(session, expected=(ExpectedReply(1, (call,)),))
            assert pg.trial(own, "xml", models="gpt-4o").findings == [found]
            assert "1 finding)" in repr(pg.trial(own, "xml", models="gpt-4o"))
        assert (
            pg.trial(session, "xml", expected=pg.expect("tides", unit="m", days=3)).findings == []
        )


def test_an_arm_that_litellm_refuses_costs_nothing_and_says_why() -> None:
    expected = pg.expect("get_tides")
    plan = pg.trial(_session(), "xml", models=["openai/gpt-4o", "acme/foo"], expected=expected)
    alone = pg.trial(_session(), "xml", models="openai/gpt-4o", expected=expected)
    assert plan.cost.refused == {("xml", "acme/foo"): "LiteLLM does not know its provider"}
    assert plan.cost.requests == alone.cost.requests == 5 and plan.requests == 10
    assert plan.cost.nano_dollars == alone.cost.nano_dollars
    assert str(plan.cost).endswith(
        "; not sent: xml for acme/foo: LiteLLM does not know its provider"
    )


def test_the_demo_makes_the_expected_call_and_several_at_once() -> None:
    with pg.serving(_session().tools) as server:
        for text, harbours in (
            ("Tides at Brest?", ["Brest"]),
            ("At Brest and Calais?", ["Brest", "Calais"]),
        ):
            calls = [pg.expect("get_tides", harbour=name) for name in harbours]
            plan = pg.trial(
                _session(text),
                ["xml", "hermes", "native", "kimi-k2"],
                models="openai/demo-taught",
                expected=calls,
                repeats=1,
                base_url=server.url,
            )
            assert [arm.share("right_arguments").hits for arm in plan.run().arms] == [1, 1, 1, 1]
        wrong = pg.trial(
            _session(),
            "xml",
            models="openai/demo-taught",
            expected=pg.expect("get_tides", harbour="Calais"),
            repeats=1,
            base_url=server.url,
        ).run()
    assert wrong.misses == wrong.misses() and wrong.misses[0].times == 1
    assert wrong.rows == wrong.rows() and wrong.rows[0]["attempts"] == 1


# In these a reply is a piece of code or a patch, and a call is no list of arguments.
CODE: Final = {"llama3-code", "gptme-xml", "smolagents-code", "aider-editblock", "sweagent"}


@pytest.mark.parametrize("dialect", sorted({*dialect_names()} - CODE))
def test_every_dialect_of_the_demo_reads_its_parallel_calls(dialect: str) -> None:
    body = {
        "model": f"demo-{dialect}",
        "messages": [{"role": "user", "content": "Tides at Brest and Calais"}],
        "tools": [{"type": "function", "function": TOOL}],
    }
    with pg.serving(_session().tools) as server:
        address = f"{server.url}/v1/chat/completions"
        data = json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(address, data)) as reply:
            message = json.load(reply)["choices"][0]["message"]
    if called := message.get("tool_calls"):
        found = [json.loads(call["function"]["arguments"]) for call in called]
    else:
        found = [c.arguments for c in pg.parse(message["content"], dialect, [TOOL]).tool_calls]
    assert found == [{"harbour": "Brest"}, {"harbour": "Calais"}]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("Weather in Rome for 5 days", "get_weather", {"city": "Rome", "days": 5, "unit": "C"}),
        ("Weather in Rome in F", "get_weather", {"city": "Rome", "days": 3, "unit": "F"}),
        ('Tides at "le port"?', "get_tides", {"harbour": "le port"}),
        ("Tides at Saint-Malo on Monday", "get_tides", {"harbour": "Saint-Malo"}),
        ("When is low water?", "get_tides", {"harbour": "Paris, “à la carte”"}),
        ("Rules of Bordeaux.\n\nTides at Brest", "get_tides", {"harbour": "Brest"}),
    ],
)
def test_the_demo_calls_what_the_words_name(text: str, name: str, arguments: object) -> None:
    properties = {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["C", "F"]},
    }
    schema = {"type": "object", "properties": properties}
    weather = pg.ToolMetadata(name="get_weather", input_schema=schema)
    tools = [*pg.read_tools([TOOL]), weather]
    messages = [{"role": "user", "content": text}]
    assert scripted_calls(tools, messages) == [{"name": name, "arguments": arguments}]
    assert scripted_calls([], messages) == []
    assert ExpectedCall("get_tides").args is None


def test_what_was_noticed_is_told_by_the_session() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c9", "content": "It is done."},
    ]
    tools = [{**TOOL, "foo": 1}, {"googleSearch": {}}]
    session = pg.session(messages, tools)
    codes = [(found.code, found.where) for found in session.findings]
    assert codes == [
        ("tool-fields", "tools.0"),
        ("tool-left-out", "tools.1"),
        ("orphan-result", "messages.2"),
    ]
    assert repr(session) == "Session('', 3 messages, 1 tool, 3 findings)"
    loaded = pg.load_session({"messages": messages, "tools": tools})
    assert [found.code for found in loaded.findings] == ["tool-left-out", "orphan-result"]
    assert pg.session("x", [TOOL]).findings == ()
