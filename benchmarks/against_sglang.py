"""Twenty small calls, a long reasoning and prose beside SGLang's own streaming parsers, which run
from their sources.

Run: python benchmarks/against_sglang.py [ROUNDS [CHARACTERS]]. SGLang's wheel is installed without
its dependencies: its parsers need no torch, only a class of tools and a switch, for which there are
stand-ins here. Each round reads another text, first by one and then by the other, in pieces of four
characters. A control token is one piece, as a server has it, because some of SGLang's parsers read
no token that is cut. Times are CPU seconds of the best round; `calls` is how many of the twenty
SGLang found in the last round. The reasoning has CHARACTERS (by default a million; 0 leaves it out)
between tags that SGLang knows; beside the times stands how many of them each side took for
reasoning. Prose of that length is read by all our dialects, beside the fastest of SGLang's.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import random
import re
import sys
import time
import types
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scratch import OURS, numbers, run_beside

NEEDED: Final = ("orjson", "partial_json_parser")  # beside what we need ourselves
PEERS: Final = {  # by our dialect: the module and the class of SGLang's parser
    "qwen3-coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "kimi-k2": ("kimik2_detector", "KimiK2Detector"),
    "glm": ("glm4_moe_detector", "Glm4MoeDetector"),
    "deepseek-v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "hermes": ("hermes_detector", "HermesDetector"),
}
REASONING: Final = {  # by our dialect: the name of SGLang's parser of reasoning
    "hermes": "qwen3",
    "qwen3-coder": "qwen3",
    "kimi-k2": "kimi_k2",
    "kimi-k3": "kimi_k3",
    "glm": "glm45",
    "deepseek-v3": "deepseek-v3",
    "deepseek-v3.1": "deepseek-v3",
    "deepseek-dsml": "deepseek-v4",
    "deepseek-v4.1": "deepseek-v41",
    "step3": "step3",
    "dots": "dots",
    "mimo": "mimo",
    "hunyuan": "hunyuan",
    "minimax-m2": "minimax",
    "minimax-m3": "minimax-m3",
    "mistral": "mistral",
    "granite": "granite_thinking_parser",
    "gemma4": "gemma4",
    "harmony": "gpt-oss",
    "inkling": "inkling",
    "muse": "muse",
    "k2-horizon": "k2_horizon",
    "apertus": "apertus2509",
    "cohere-action": "cohere_command4",
}
READ: Final = frozenset({*PEERS, *REASONING})  # the dialects that one of SGLang's parsers reads
CALLS: Final = 20
_PIECES: Final = re.compile(r"<[^<>\s]{1,48}>|[^<]{1,4}|<")
_WORDS: Final = ("tide", "berth", "ship", "free", "high", "server", "config", "value")


@dataclass(frozen=True)
class Beside:
    """The CPU seconds of the best round, ours and theirs, for the same text."""

    dialect: str
    ours: float
    theirs: float
    found: str


def stand_in() -> None:
    """Put `sglang` among the imported modules as a package of sources alone, with stand-ins for the
    modules of it that would load the server."""
    from pydantic import BaseModel

    class Function(BaseModel):
        name: str
        description: str | None = None
        parameters: object | None = None
        strict: bool | None = None

    class Tool(BaseModel):
        type: str = "function"
        function: Function

    class Switch:
        def get(self) -> bool:
            return False

    found = importlib.util.find_spec("sglang")
    assert found is not None and found.origin is not None  # run_beside has installed it
    folder = Path(found.origin).parent
    for name in ("sglang", "sglang.srt", "sglang.srt.function_call", "sglang.srt.parser"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    protocol: Any = types.ModuleType("sglang.srt.entrypoints.openai.protocol")
    protocol.Tool, protocol.ToolChoice, protocol.Function = Tool, Tool, Function
    protocol.ChatCompletionRequest = protocol.ResponsesRequest = Tool
    tokenizers: Any = types.ModuleType("transformers")
    tokenizers.PreTrainedTokenizerBase = object
    # two detectors of reasoning that read by a template, and load a grammar's compiler
    beam: Any = types.ModuleType("sglang.srt.parser.beam")
    template: Any = types.ModuleType("sglang.srt.parser.response_template")
    beam.BeamReasoningDetector = template.ResponseTemplateReasoningDetector = Switch
    template.grammar_holds_calls = template.ResponseTemplateReasoningDetector
    environ: Any = types.ModuleType("sglang.srt.environ")
    environ.envs = types.SimpleNamespace(SGLANG_FORWARD_UNKNOWN_TOOLS=Switch())
    for name in ("sglang.srt.entrypoints", "sglang.srt.entrypoints.openai"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules |= {each.__name__: each for each in (protocol, environ, tokenizers, beam, template)}


def reply(name: str, seed: int) -> list[str]:
    """Return twenty new random calls, cut into pieces."""
    from generated import TOOL

    from playground.dialects import get_dialect
    from playground.dialects.rendering import message_text
    from playground.nouns.messages import Message, ToolCallPart
    from playground.nouns.prompt_data import PromptData

    chosen, calls = random.Random(seed), []
    for number in range(CALLS):
        words = " ".join(f"{chosen.choice(_WORDS)}{chosen.randrange(1000)}" for _ in range(4))
        given = {"path": f"{chosen.choice(_WORDS)}{number}.md", "content": words}
        calls.append(ToolCallPart(f"call_{chosen.randrange(10**6)}", TOOL.name, given))
    messages = [Message("user"), Message("assistant", tuple(calls))]
    data = PromptData(messages=messages, tool_metadata=[TOOL])
    text = message_text(get_dialect(name).render(data).messages[-1])
    return _PIECES.findall(text)


def small_calls(rounds: int) -> Iterator[Beside]:
    """Yield the times of reading twenty small calls, for every dialect of PEERS."""
    from generated import TOOL
    from parsing import PROMPT, cpu, read

    from playground.dialects import get_dialect

    protocol = sys.modules["sglang.srt.entrypoints.openai.protocol"]
    function = {"name": TOOL.name, "parameters": TOOL.input_schema}
    tools = [protocol.Tool(function=function)]
    for name, (module, kind) in PEERS.items():
        make = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), kind)
        ours = theirs = math.inf
        found = 0
        for seed in range(rounds):
            texts = reply(name, seed)
            data = [text.encode() for text in texts]
            parser, peer = get_dialect(name).create_parser(PROMPT), make()
            ours = min(ours, cpu(lambda p=parser, d=data: read(p, d)))  # type: ignore[misc]
            start = time.process_time()
            results = [peer.parse_streaming_increment(text, tools) for text in texts]
            theirs = min(theirs, time.process_time() - start)
            found = sum(bool(call.name) for result in results for call in result.calls)
        yield Beside(name, ours, theirs, f"{found} calls")


def reasoning(rounds: int, size: int) -> Iterator[Beside]:
    """Yield the times of reading one long reasoning in the dialect's own tags, and an answer."""
    from parsing import PROMPT, cpu, read

    from playground.dialects import DeclaredDialect, get_dialect

    make = importlib.import_module("sglang.srt.parser.reasoning_parser").ReasoningParser
    thought = "So the tide is high.\nIs the berth < 3 m free, then? " * (size // 50)
    for name, kind in REASONING.items():
        dialect = get_dialect(name)
        assert isinstance(dialect, DeclaredDialect)
        known = make(kind).detector
        tags = next(t for t in dialect.reasoning if t.open.startswith(known.think_start_token))
        label = known.think_start_self_label
        texts = [
            known.think_start_token + label,
            *_PIECES.findall(thought),
            tags.close,
            "The",
            " answ",
            "er.",
        ]
        data = [text.encode() for text in texts]
        ours = theirs = math.inf
        for _ in range(rounds):
            parser, peer = dialect.create_parser(PROMPT), make(kind)
            ours = min(ours, cpu(lambda p=parser, d=data: read(p, d)))  # type: ignore[misc]
            start = time.process_time()
            given = [peer.parse_stream_chunk(text)[0] or "" for text in texts]
            theirs = min(theirs, time.process_time() - start)
        found = f"{reasoned(name, data):,} and {sum(map(len, given)):,} of {len(thought):,}"
        yield Beside(name, ours, theirs, found)


def reasoned(dialect: str, data: list[bytes]) -> int:
    """Count the characters that our parser takes for reasoning."""
    from parsing import PROMPT

    from playground.dialects import get_dialect
    from playground.nouns.events import ReasoningEvent

    parser = get_dialect(dialect).create_parser(PROMPT)
    events = (event for piece in data for event in parser.feed(piece))
    return sum(len(event.text) for event in events if isinstance(event, ReasoningEvent))


def prose(rounds: int, size: int, names: Collection[str]) -> list[Beside]:
    """Return the times of reading prose in these dialects, the slowest last; each beside the time
    of the fastest of SGLang's parsers."""
    from parsing import PROMPT, cpu, cut, read

    from playground.dialects import get_dialect

    text = "The tide is high, the berth is free.\n" * (size // 37)
    data = cut(text, 4)
    texts = [piece.decode() for piece in data]
    theirs = math.inf
    for module, kind in PEERS.values():
        make = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), kind)
        for _ in range(rounds):
            feed, start = make().parse_streaming_increment, time.process_time()
            for piece in texts:
                feed(piece, [])
            theirs = min(theirs, time.process_time() - start)
    found = []
    for name in names:
        parsers = [get_dialect(name).create_parser(PROMPT) for _ in range(rounds)]
        ours = min(cpu(lambda p=p: read(p, data)) for p in parsers)  # type: ignore[misc]
        found.append(Beside(name, ours, theirs, f"{len(text):,} characters"))
    return sorted(found, key=lambda row: row.ours)


def tell(row: Beside) -> None:
    print(
        f"{row.dialect:14} ours {row.ours * 1e3:7.2f} ms  SGLang {row.theirs * 1e3:7.2f} ms, "
        f"{row.found}  {row.ours / row.theirs:5.2f} x SGLang's",
        flush=True,
    )


def tell_prose(rounds: int, size: int) -> None:
    from playground.dialects import dialect_names

    found = prose(rounds, size, dialect_names())
    both = [row for row in found if row.dialect in READ]
    print(f"prose, of {len(found)} dialects the one in the middle, the two slowest of the", end=" ")
    print(f"{len(both)} that SGLang reads above, and the three slowest of all:")
    for row in (found[len(found) // 2], *both[-2:], *found[-3:]):
        tell(row)


def main() -> None:
    run_beside(*OURS, *NEEDED, without_dependencies=("sglang",))
    stand_in()
    rounds, size = numbers(sys.argv[1:], 20, 1_000_000)
    for row in small_calls(rounds):
        tell(row)
    if size:
        for row in reasoning(min(rounds, 5), size):
            tell(row)
        tell_prose(min(rounds, 5), size)


if __name__ == "__main__":
    main()
