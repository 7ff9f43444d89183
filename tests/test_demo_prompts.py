"""The demo model and a stranger's session: it calls the session's tool as the prompt teaches."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import pytest
from strategies import DIALECTS, GENERAL

import playground as pg
from playground.dialects.declared import DeclaredDialect
from playground.nouns.tools import ToolMetadata
from playground.plugins.trials.demo_calls import scripted_calls
from playground.plugins.trials.demo_prompts import documented_tools, prompt_of, taught_dialect
from playground.plugins.trials.demo_server import DemoServer, serving

TOOL = {
    "name": "get_tides",
    "description": "The tides of a harbour.",
    "input_schema": {
        "type": "object",
        "properties": {
            "days": {"type": "integer"},
            "harbour": {"type": "string", "description": "a place (say): Brest"},
            "units": {"enum": ["m", "ft"]},
        },
        "required": ["harbour", "days"],
    },
}
OTHER = {"name": "list_boats", "input_schema": {"type": "object", "properties": {}}}
SESSION = pg.session("Which tides has Brest in the next 2 days?", tools=[TOOL, OTHER])


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving() as server:  # it knows get_weather alone
        yield server


def answered(server: DemoServer, dialect: DeclaredDialect, model: str) -> str:
    body = {"model": model, "messages": dialect.format_messages(SESSION.prompt_data())}
    request = urllib.request.Request(
        f"{server.url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


@pytest.mark.parametrize("model", ["demo-taught", "demo-{}"])
@pytest.mark.parametrize(
    "dialect", [d for d in GENERAL if not d.is_native_toolcalling()], ids=lambda d: d.name
)
def test_the_demo_model_calls_a_strangers_tool(
    server: DemoServer, dialect: DeclaredDialect, model: str
) -> None:
    text = answered(server, dialect, model.format(dialect.name))
    read = pg.parse(text, dialect, list(SESSION.tools))
    (call,) = read.tool_calls
    assert (call.name, call.arguments) == ("get_tides", {"harbour": "Brest", "days": 2})


@pytest.mark.parametrize("tools", [SESSION.tools, SESSION.tools[:1]], ids=len)
def test_a_prompt_tells_its_dialect_and_its_tools(tools: tuple[ToolMetadata, ...]) -> None:
    for dialect in DIALECTS:
        if not dialect.is_native_toolcalling():
            messages = dialect.format_messages(replace(SESSION, tools=tools).prompt_data())
            prompt = prompt_of({"messages": messages})
            assert taught_dialect(prompt) == dialect.name
            assert [each.name for each in documented_tools(prompt)] == [t.name for t in tools]


def test_the_demo_model_calls_the_same_tool_in_every_dialect_as_natively() -> None:
    """Only a parameter's description has the words by which the sample's tool is chosen."""
    session = pg.load_session("02-parallel-calls")
    wanted = scripted_calls(session.tools, DIALECTS[0].format_messages(session.prompt_data()))
    for dialect in DIALECTS:
        messages = dialect.format_messages(session.prompt_data())
        tools = documented_tools(prompt_of({"messages": messages})) or session.tools
        assert (dialect.name, scripted_calls(tools, messages)) == (dialect.name, wanted)
