"""Drawn conversations, simulated as sent and as transcripts: whole answers, for people to compare.

Each conversation is drawn by its number: its model, and for each request what the agent changes,
how long it waits and what the bill says.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any, Final

import pytest
from golden_answers import Golden, plain

import playground as pg
from playground.cache.answers.headline import headline

Body = dict[str, Any]
WORDS: Final = (
    "harbour", "pilot", "tide", "berth", "cargo", "crane", "quay", "vessel", "draught", "buoy",
)  # fmt: skip
MODELS: Final = (
    *("claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"),
    *("gpt-5.1", "gpt-4o", "gemini-2.5-pro", "deepseek-chat", "claude-3-5-haiku-20241022"),
)
WAITS: Final = (5.0, 20.0, 20.0, 60.0, 290.0, 310.0, 4_000.0)


class Conversation:
    """A growing history of rounds of calls, and what its agent does to it."""

    def __init__(self, number: int) -> None:
        self.dice = random.Random(number)
        self.body: Body = {
            "model": MODELS[number % len(MODELS)],
            "max_tokens": 100,
            "system": [{"type": "text", "text": self.prose(self.dice.choice((40, 700, 2_500)))}],
            "tools": [self.tool(f"tool_{n}") for n in range(self.dice.randrange(4))],
            "messages": [{"role": "user", "content": [self.text(60)]}],
        }
        self.marks = self.dice.choice((0, 1, 2, 3))
        self.other_model = "gpt-4o-mini" if "gpt" in self.body["model"] else "claude-haiku-4-5"

    def prose(self, count: int) -> str:
        return " ".join(self.dice.choice(WORDS) for _ in range(count))

    def text(self, count: int) -> Body:
        return {"type": "text", "text": self.prose(count)}

    def tool(self, name: str) -> Body:
        schema = {"type": "object", "properties": {"place": {"type": "string"}}}
        return {"name": name, "description": self.prose(40), "input_schema": schema}

    def grow(self) -> None:
        """Append an answer of some calls, their results and now and then a question."""
        count = self.dice.choice((0, 1, 1, 2, 12))
        ids = [f"toolu_{len(self.body['messages'])}_{n}" for n in range(count)]
        calls = [
            {"type": "tool_use", "id": i, "name": "tool_0", "input": {"place": i}} for i in ids
        ]
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": self.prose(30)} for i in ids
        ]
        self.body["messages"] += [
            {"role": "assistant", "content": [self.text(20), *calls]},
            {"role": "user", "content": results or [self.text(30)]},
        ]

    def marked(self) -> Body:
        """Return the body with marks on the system prompt and on the last messages."""
        body = copy.deepcopy(self.body)
        mark: Body = {"type": "ephemeral"}
        if self.dice.random() < 0.2:
            mark["ttl"] = "1h"
        users = [m["content"] for m in body["messages"] if m["role"] == "user"]
        places = [part for part in (users[-2:-1], users[-1:]) for part in part]
        if isinstance(body["system"], list):
            places = [body["system"], *places]
        for parts in places[: self.marks]:
            if isinstance(parts, list) and isinstance(parts[-1], dict):
                parts[-1]["cache_control"] = mark
        return body


def change(conversation: Conversation) -> None:
    conversation.dice.choice(CHANGES)(conversation)


def nothing(_: Conversation) -> None:
    pass


def system(conversation: Conversation) -> None:
    conversation.body["system"] = [conversation.text(700)]


def system_is_a_string(conversation: Conversation) -> None:
    parts = conversation.body["system"]
    conversation.body["system"] = parts[0]["text"] if isinstance(parts, list) else parts


def first_message(conversation: Conversation) -> None:
    conversation.body["messages"][0] = {"role": "user", "content": [conversation.text(9)]}


def string_message(conversation: Conversation) -> None:
    parts = conversation.body["messages"][0]["content"]
    if not isinstance(parts, str):
        conversation.body["messages"][0]["content"] = parts[0]["text"]


def shorter(conversation: Conversation) -> None:
    del conversation.body["messages"][1:-2]
    if len(conversation.body["messages"]) > 1:
        conversation.body["messages"][1:] = []


def blank(conversation: Conversation) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "  \n"}]}
    said = {"role": "assistant", "content": [conversation.text(9)]}
    conversation.body["messages"] += [said, message]


def many_blocks(conversation: Conversation) -> None:
    conversation.body["messages"].append(
        {"role": "assistant", "content": [conversation.text(4) for _ in range(25)]}
    )
    conversation.body["messages"].append({"role": "user", "content": [conversation.text(9)]})


def tools(conversation: Conversation) -> None:
    conversation.body["tools"].reverse()


def one_more_tool(conversation: Conversation) -> None:
    conversation.body["tools"].append(conversation.tool(f"more_{len(conversation.body['tools'])}"))


def forced_tool(conversation: Conversation) -> None:
    choices = ({"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "tool_0"})
    conversation.body["tool_choice"] = conversation.dice.choice(choices)


def thinking(conversation: Conversation) -> None:
    budget = conversation.dice.choice((1_024, 2_048))
    conversation.body["thinking"] = {"type": "enabled", "budget_tokens": budget}


def other_model(conversation: Conversation) -> None:
    """Change the model, or change it back."""
    body = conversation.body
    body["model"], conversation.other_model = conversation.other_model, body["model"]


def speed(conversation: Conversation) -> None:
    conversation.body["service_tier"] = conversation.dice.choice(("auto", "standard_only"))


def settings(conversation: Conversation) -> None:
    effort = {"effort": conversation.dice.choice(("low", "high")), "detail": 1}
    turned = dict(reversed(effort.items()))
    conversation.body["output_config"] = conversation.dice.choice((effort, turned))
    conversation.body["reasoning_effort"] = conversation.dice.choice(("low", "high"))


def marks(conversation: Conversation) -> None:
    conversation.marks = conversation.dice.choice((0, 1, 2, 3))


CHANGES: Final[tuple[Callable[[Conversation], None], ...]] = (
    *(nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing),
    *(
        system,
        system_is_a_string,
        first_message,
        string_message,
        shorter,
        blank,
        many_blocks,
        many_blocks,
    ),
    *(
        tools,
        one_more_tool,
        forced_tool,
        thinking,
        other_model,
        other_model,
        speed,
        marks,
        settings,
    ),
)


def as_chat(body: Body) -> Body:
    """Return the body as a Chat Completion says it."""
    system = body["system"]
    said = system if isinstance(system, str) else "".join(part["text"] for part in system)
    messages: list[Body] = [{"role": "system", "content": said}]
    for message in body["messages"]:
        parts = message["content"]
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        calls = [
            {"id": part["id"], "type": "function",
             "function": {"name": part["name"], "arguments": json.dumps(part["input"])}}
            for part in parts if part["type"] == "tool_use"
        ]  # fmt: skip
        results = [part for part in parts if part["type"] == "tool_result"]
        messages += [
            {"role": "tool", "tool_call_id": part["tool_use_id"], "content": part["content"]}
            for part in results
        ]
        texts = "".join(part["text"] for part in parts if part["type"] == "text")
        if not results:
            said_by = {"role": message["role"], "content": texts}
            messages.append(said_by | ({"tool_calls": calls} if calls else {}))
    choices = {"auto": "auto", "any": "required"}
    named = {"type": "function", "function": {"name": "tool_0"}}
    tools = [
        {"type": "function", "function": {
            "name": tool["name"], "description": tool["description"],
            "parameters": tool["input_schema"]}}
        for tool in body["tools"]
    ]  # fmt: skip
    chat = {"model": body["model"], "messages": messages, "tools": tools}
    if choice := body.get("tool_choice"):
        chat["tool_choice"] = choices.get(choice["type"], named)
    beside = ("reasoning_effort", "service_tier")
    return chat | {key: body[key] for key in beside if key in body}


def as_chat_usage(bill: Body) -> Body:
    read, wrote = bill["cache_read_input_tokens"], bill["cache_creation_input_tokens"]
    total = bill["input_tokens"] + read + wrote
    details = {"cached_tokens": read}
    return {"prompt_tokens": total, "completion_tokens": 9, "prompt_tokens_details": details}


def requests_of(number: int) -> tuple[list[Body], list[float], list[Body | None]]:
    """Return the bodies of a conversation, their times and their bills."""
    conversation = Conversation(number)
    bodies, times, bills = list[Body](), list[float](), list[Body | None]()
    time, total = 0.0, 0
    for _ in range(10):
        bodies.append(conversation.marked())
        times.append(time)
        before, total = total, len(json.dumps(bodies[-1])) // 5
        read = conversation.dice.choice((0, before, before, before, before // 2, before + 900))
        wrote = max(0, total - read - 40)
        counts = {"input_tokens": 40, "cache_read_input_tokens": read}
        bill: Body = {**counts, "cache_creation_input_tokens": wrote, "output_tokens": 9}
        if conversation.dice.random() < 0.2:  # the sum of several rounds on the server
            bill["server_tool_use"] = {"web_search_requests": 2}
        if conversation.dice.random() < 0.1:
            bill["iterations"] = [{**counts, "type": "compaction", "output_tokens": 4}, {}]
        bills.append(bill if conversation.dice.random() < 0.85 else None)
        time += conversation.dice.choice(WAITS)
        conversation.grow()
        change(conversation)
    if "claude" not in bodies[0]["model"] and number % 2:
        return [*map(as_chat, bodies)], times, [bill and as_chat_usage(bill) for bill in bills]
    return bodies, times, bills


def rows_of(answer: Any) -> list[str]:
    """Return a line for each request, and the codes of the findings with their places."""
    lines = [
        f"{one.state} {one.read}+{sum(one.written.values())}+{one.uncached} = {one.cost} "
        f"{list(one.breakpoints)} {one.hit} {one.finding}".rstrip()
        for one in answer.requests
    ]
    found = "; ".join(f"{each.code} {each.where}" for each in answer.findings)
    verdicts = ", ".join(str(verdict) for verdict in answer.verdicts)
    said = " ".join(part for part in plain(headline(answer)) if isinstance(part, str))
    return [*lines, found, verdicts, said, "" if answer.priced else "without a price"]


@pytest.mark.parametrize("number", range(45))
def test_a_drawn_conversation_is_simulated_as_it_was(number: int, golden: Golden) -> None:
    bodies, times, bills = requests_of(number)
    timed = pg.simulate_cache(bodies, times=times)
    billed = pg.simulate_cache(bodies, times=times, usages=bills)
    golden({"timed": rows_of(timed), "billed": rows_of(billed)})


@pytest.mark.parametrize("number", range(0, 45, 3))
def test_a_drawn_conversation_is_simulated_under_policies(number: int, golden: Golden) -> None:
    session = pg.load_session(requests_of(number)[0])
    cells = [pg.simulate_cache(session, policy="as-sent")]
    cells += pg.cache_matrix(session, ["native", "xml"], policies=["claude-code", "azad", "own"])
    golden({f"{cell.dialect or 'as sent'}, {cell.policy}": rows_of(cell) for cell in cells})
