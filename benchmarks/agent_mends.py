"""A scripted agent mends cache breaks and lost calls by the answers of `playground mcp` alone.

Cases are drawn by a seed from kinds that the agent is not told. It asks one of two tools, applies
the first mend's edits to its own arguments, and knows nothing else. A case counts as mended if,
after that, the simulator reads nearly all that the first request left and no words were lost, or
the server's view hands over exactly the calls that were meant, with all words.

    python benchmarks/agent_mends.py --seeds 5 --cases 40
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from mcp import Client, StdioServerParameters

import playground as pg
from playground.plugins.mcp_server.patches import patched

_WORDS: Final = re.findall(
    r"\w+",
    "the harbour pilot reads tide tables every morning before ships arrive and writes notes "
    "about wind depth cargo crew pier rope buoy signal lamp north channel anchor",
)
_MODELS: Final = ("claude-sonnet-4-5", "claude-opus-5", "claude-opus-4-1")
_MARK: Final = {"cache_control": {"type": "ephemeral"}}
_NAMES: Final = ("get_tides", "get_wind", "book_pilot", "list_ships", "read_log")
_SERVERS: Final = ("vllm", "sglang", "ollama", "llama.cpp", "transformers")
Body = dict[str, Any]


class Case(NamedTuple):
    """A question of the agent, and the check whether it is mended; `kind` is for the report."""

    kind: str
    tool: str
    arguments: dict[str, Any]
    is_mended: Callable[[dict[str, Any]], bool]


# requests whose cache breaks


def _text(rng: random.Random, words: int) -> str:
    chosen = [rng.choice(_WORDS) for _ in range(words)]
    return " ".join(f"{word}." if n % 12 == 11 else word for n, word in enumerate(chosen))


def _tool(rng: random.Random, name: str) -> Body:
    city = {"type": "string", "description": _text(rng, 8)}
    properties = {"harbour": city, "days": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["harbour"]}
    return {"name": name, "description": _text(rng, 40), "input_schema": schema}


def _said(rng: random.Random, role: str, words: int, mark: bool = False) -> Body:
    part = {"type": "text", "text": _text(rng, words), **(_MARK if mark else {})}
    return {"role": role, "content": [part]}


def _pair(rng: random.Random) -> list[Body]:
    """Return a request and the next one of its conversation, which reads all that it left."""
    turns = rng.randint(1, 4)
    history = [
        _said(rng, role, rng.randint(40, 250))
        for _ in range(turns)
        for role in ("user", "assistant")
    ]
    system = {"type": "text", "text": f"You help. {_text(rng, rng.randint(1200, 2200))}", **_MARK}
    body = {
        "model": rng.choice(_MODELS),
        "max_tokens": 500,
        "tools": [_tool(rng, name) for name in _NAMES[:4]],
        "system": [system],
    }
    last = _said(rng, "user", 120, mark=True)
    plain = {"role": "user", "content": [{"type": "text", "text": last["content"][0]["text"]}]}
    more = [*history, plain, _said(rng, "assistant", 90), _said(rng, "user", 60, mark=True)]
    return [{**body, "messages": [*history, last]}, copy.deepcopy({**body, "messages": more})]


def _timestamp(rng: random.Random, pair: list[Body]) -> None:
    for body, second in zip(pair, rng.sample(range(10, 60), 2), strict=True):
        text = body["system"][0]["text"]
        place = text.index(". ") + 2
        body["system"][0]["text"] = f"{text[:place]}It is 10:31:{second}. {text[place:]}"


def _tool_order(rng: random.Random, pair: list[Body]) -> None:
    pair[1]["tools"] = pair[1]["tools"][1:] + pair[1]["tools"][:1]


def _added_tool(rng: random.Random, pair: list[Body]) -> None:
    pair[1]["tools"].insert(rng.randint(0, 3), _tool(rng, _NAMES[4]))


def _removed_tool(rng: random.Random, pair: list[Body]) -> None:
    del pair[1]["tools"][rng.randint(0, 3)]


def _key_order(rng: random.Random, pair: list[Body]) -> None:
    tool = rng.choice(pair[1]["tools"])
    tool["input_schema"] = dict(reversed(tool["input_schema"].items()))


def _early_message(rng: random.Random, pair: list[Body]) -> None:
    part = rng.choice(pair[1]["messages"][:2])["content"][0]
    part["text"] = f"{part['text']}\nRemember: {_text(rng, 6)}."


def _head_message(rng: random.Random, pair: list[Body]) -> None:
    pair[1]["messages"][:0] = [_said(rng, "user", 20), _said(rng, "assistant", 5)]


def _moved_mark(rng: random.Random, pair: list[Body]) -> None:
    for body in pair:
        del body["system"][0]["cache_control"]
    del pair[1]["messages"][-1]["content"][0]["cache_control"]
    pair[1]["messages"][0]["content"][0] |= _MARK


def _lost_marks(rng: random.Random, pair: list[Body]) -> None:
    del pair[1]["system"][0]["cache_control"]
    del pair[1]["messages"][-1]["content"][0]["cache_control"]


def _short_prefix(rng: random.Random, pair: list[Body]) -> None:
    for body in pair:
        del body["system"][0]["cache_control"]
        del body["messages"][-1]["content"][0]["cache_control"]
        body["tools"] = body["tools"][:1]
        body["tools"][0] |= _MARK


def _model(rng: random.Random, pair: list[Body]) -> None:
    pair[1]["model"] = rng.choice([each for each in _MODELS if each != pair[0]["model"]])


def _two_breaks(rng: random.Random, pair: list[Body]) -> None:
    for make in rng.sample(_TOGETHER, 2):
        make(rng, pair)


_BREAKS: Final[dict[str, Callable[[random.Random, list[Body]], None]]] = {
    "two breaks at once": _two_breaks,
    "a timestamp in the system prompt": _timestamp,
    "tools in another order": _tool_order,
    "a tool added in the middle": _added_tool,
    "a tool removed": _removed_tool,
    "another order of keys in a schema": _key_order,
    "an early message changed": _early_message,
    "messages put in front": _head_message,
    "a mark moved": _moved_mark,
    "marks lost": _lost_marks,
    "the minimum not reached": _short_prefix,
    "another model": _model,
    "the lifetime passed": lambda rng, pair: None,
}
_TOGETHER: Final = (_timestamp, _tool_order, _added_tool, _key_order, _early_message, _head_message)


def _words_of(body: Body) -> Counter[str]:
    parts = [*body["system"], *(part for each in body["messages"] for part in each["content"])]
    return Counter(re.findall(r"[\w:]+", " ".join(part.get("text", "") for part in parts)))


def _break_case(rng: random.Random, kind: str) -> Case:
    pair = _pair(rng)
    good = pg.simulate_cache(pair).requests
    assert good[1].read >= good[0].cached_after - 50 > 0
    _BREAKS[kind](rng, pair)
    times = [0.0, rng.uniform(400, 3000)] if kind == "the lifetime passed" else [0.0, 20.0]
    now = pg.simulate_cache(pair, times=times).requests[1]
    assert now.read < good[1].read - 50, f"{kind} breaks nothing"
    names = {tool["name"] for tool in pair[1]["tools"]}
    said = _words_of(pair[1])

    def is_mended(arguments: dict[str, Any]) -> bool:
        first, second = arguments["requests"]
        simulation = pg.simulate_cache([first, second], times=arguments["times"])
        before, after = simulation.requests
        return (
            before.cached_after > good[0].cached_after // 2
            and after.read > now.read
            and after.read >= 0.95 * min(before.cached_after, good[1].read)
            and not said - _words_of(second)
            and names <= {tool["name"] for tool in second["tools"]}
        )

    arguments = {"requests": pair, "times": times}
    return Case(kind, "why_did_this_cache_break", arguments, is_mended)


# replies whose calls do not arrive


def _call(name: str, arguments: Body) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{body}\n</tool_call>"


_REPLIES: Final[dict[str, Callable[[str], str]]] = {
    "text after a call": lambda call: f"{call}\nThen I tell you more.",
    "a call in a fence": lambda call: f"```\n{call}\n```",
    "an opener doubled": lambda call: f"<tool_call>\n{call}",
    "a closer missing": lambda call: call.removesuffix("</tool_call>"),
    "a brace missing": lambda call: call.replace("}}", "}"),
    "cut after a value": lambda call: call.partition("}}")[0],
    "cut inside a text": lambda call: call.partition('"}}')[0][:-2],
    "a wrong name": lambda call: re.sub(
        r'"(\w+)_(\w)', lambda m: f'"{m[1]}{m[2].upper()}', call, count=1
    ),
    "a prefixed name": lambda call: call.replace('"name": "', '"name": "functions.'),
    "single quotes": lambda call: call.replace('"', "'"),
    "a trailing comma": lambda call: call.replace("}}", ",}}"),
    "an opener misspelt": lambda call: call.replace("<tool_call>", "<toolcall>"),
    "an opener missing": lambda call: call.removeprefix("<tool_call>\n"),
    "in another dialect": lambda call: _as_coder(call),
    "in a second call without its closer": lambda call: f"{call[:-12]}\n{call}",
}


def _as_coder(call: str) -> str:
    body = json.loads(call.removeprefix("<tool_call>").removesuffix("</tool_call>"))
    parameters = "".join(
        f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in body["arguments"].items()
    )
    return f"<tool_call>\n<function={body['name']}>\n{parameters}</function>\n</tool_call>"


def _reply_case(rng: random.Random, kind: str) -> Case | None:
    """Draw a reply of which a server loses something; None if the drawn server loses nothing."""
    name, arguments = rng.choice(_NAMES), {"harbour": rng.choice(("Brest", "Oslo", "Cuxhaven"))}
    head = rng.choice(("I look it up.\n", ""))
    reply = head + _REPLIES[kind](_call(name, arguments))
    tools = [_tool(random.Random(each), each) for each in _NAMES]
    calls = [(name, arguments)] * (2 if "second" in kind else 1)
    words = [word for word in ("look", "Then", "more") if word in reply]

    def is_mended(asked: dict[str, Any]) -> bool:
        read = pg.parse(
            asked["reply"], dialect=asked["dialect"], tools=asked["tools"], server=asked["server"]
        )
        found = [(call.name, call.arguments) for call in read.tool_calls]
        return found == calls and all(word in read.content for word in words)

    server = rng.choice(_SERVERS)
    asked = {"reply": reply, "dialect": "hermes", "server": server, "tools": tools}
    if is_mended(asked):
        return None
    return Case(kind, "what_does_this_server_drop", asked, is_mended)


def drawn(seed: int, count: int) -> list[Case]:
    """Return cases by a seed; kinds of both tables take turns in a drawn order."""
    rng = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < count:
        kinds = [*_BREAKS, *_REPLIES]
        for kind in rng.sample(kinds, len(kinds)):
            case = _break_case(rng, kind) if kind in _BREAKS else _reply_case(rng, kind)
            cases += [case] if case else []
    return cases[:count]


async def _mended(client: Client, case: Case) -> bool:
    """Do all that the agent does: ask, apply the first mend's edits to the arguments, and check the
    result."""
    result = await client.call_tool(case.tool, case.arguments)
    mends = (result.structured_content or {}).get("mends") or [{"edits": []}]
    return case.is_mended(patched(case.arguments, mends[0]["edits"]))


async def share_mended(client: Client, cases: Sequence[Case]) -> tuple[float, Counter[str]]:
    """Return the share of mended cases, and the number of failures of each kind."""
    failed: Counter[str] = Counter()
    for case in cases:
        failed[case.kind] += not await _mended(client, case)
    return 1 - failed.total() / len(cases), +failed


async def main(seeds: int, count: int) -> int:
    server = StdioServerParameters(command=sys.executable, args=["-m", "playground", "mcp"])
    shares = []
    async with Client(server) as client:
        for seed in range(seeds):
            share, failed = await share_mended(client, drawn(seed, count))
            shares.append(share)
            lost = ", ".join(f"{kind} {number}" for kind, number in failed.items())
            print(f"seed {seed}: {share:.0%} of {count} mended; not: {lost or 'none'}")
    return int(min(shares) < 0.8)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=40)
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.seeds, options.cases)))
