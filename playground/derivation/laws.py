"""A derived dialect on random calls of its own: the laws that hold of every registered one."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any, Final

from playground.derivation.proof import HURTING
from playground.dialects.checking import check_tool_call
from playground.dialects.declared import DeclaredDialect
from playground.messages import ToolCallPart
from playground.parsing.result import ParseResult, read_to_end
from playground.prompt_data import PromptData
from playground.raw_prompts.asking import AskedCall, tools_for
from playground.tool_formats import read_tools

COUNT: Final = 25
_PROSE: Final = "The quay is free. A list: [1, 2], {x}, 3 < 4.\n\n"


def broken_laws(dialect: DeclaredDialect, count: int = COUNT) -> list[str]:
    """What does not hold of random calls, in words; deterministic.

    Laws 1 (any chunking), 2 (nothing is lost), 3 (carried, or told) and 10 (prose is content).
    """
    found: dict[str, None] = {}
    for call in _calls(count):
        for law in _broken(dialect, call):
            found.setdefault(law)
    outside = dataclasses.replace(dialect, opens_reasoning=False)
    if _read(outside, [_PROSE], _example()).content != _PROSE:
        found.setdefault("law 10: prose does not come back as it was")
    return list(found)


def _example() -> AskedCall:
    return AskedCall("sail", {"port": "Brest"})


def _calls(count: int) -> Iterator[AskedCall]:
    rng = random.Random(0)
    values = list(HURTING.values())
    for _ in range(count):
        keys = rng.sample(["port", "hour", "a_b", "x9"], rng.randrange(4))
        yield AskedCall(
            rng.choice(["sail", "moor_ship"]), {key: rng.choice(values) for key in keys}
        )


def _broken(dialect: DeclaredDialect, call: AskedCall) -> Iterator[str]:
    tools = read_tools(tools_for([call]))
    part = ToolCallPart("a1B2c3D4e", call.name, dict(call.arguments))
    text = _PROSE + dialect.format_tool_call(part, tools)
    whole = _read(dialect, [text], call)
    if _read(dialect, list(text), call) != whole:
        yield "law 1: another cutting gives other events"
    if not _tiles(whole, len(text)):
        yield "law 2: the spans do not tile the text"
    carried = not check_tool_call(dialect, part, tools)
    if carried and len(whole.tool_calls) != 1:
        yield "law 3: a call that is carried alone is lost behind prose"


def _read(dialect: DeclaredDialect, pieces: list[str], call: AskedCall) -> ParseResult:
    parser = dialect.create_parser(PromptData(tool_metadata=read_tools(tools_for([call]))))
    return read_to_end(parser, (parser.feed_text(piece) for piece in pieces))


def _tiles(result: ParseResult, size: int) -> bool:
    spans: list[Any] = [event.span for event in result.events]
    owned = sorted((span.start, span.stop) for span in spans if span.stop > span.start)
    ends = [0, *(stop for _, stop in owned)]
    return [start for start, _ in owned] == ends[:-1] and ends[-1] == size
