"""Twenty small calls beside SGLang's own streaming parsers, which run from their sources.

Run: python benchmarks/against_sglang.py [ROUNDS]. SGLang's wheel is installed without what it
depends on: its parsers need no torch, but a tool's class and a switch, which stand in here. Each
round reads another text, first by one and then by the other, in pieces of four characters, but a
control token in one piece, as a server has it: some of its parsers read no token that is cut. CPU
seconds of the best round. `calls` is how many of the twenty SGLang has found in the last.
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
from pathlib import Path
from typing import Any, Final

from scratch import numbers, run_beside

NEEDED: Final = ("click", "docstring_parser", "jinja2", "pydantic", "pyyaml", "regex", "rich")
PEERS: Final = {  # by our dialect: the module and the class of SGLang's parser
    "qwen3-coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "kimi-k2": ("kimik2_detector", "KimiK2Detector"),
    "glm": ("glm4_moe_detector", "Glm4MoeDetector"),
    "deepseek-v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "hermes": ("hermes_detector", "HermesDetector"),
}
CALLS: Final = 20
_PIECES: Final = re.compile(r"<[^<>\s]{1,48}>|[^<]{1,4}|<")
_WORDS: Final = ("tide", "berth", "ship", "free", "high", "server", "config", "value")


def stand_in() -> None:
    """`sglang` as a package of sources alone, and the two modules that would load the server."""
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
    for name in ("sglang", "sglang.srt", "sglang.srt.function_call"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    protocol: Any = types.ModuleType("sglang.srt.entrypoints.openai.protocol")
    protocol.Tool, protocol.ToolChoice, protocol.Function = Tool, Tool, Function
    environ: Any = types.ModuleType("sglang.srt.environ")
    environ.envs = types.SimpleNamespace(SGLANG_FORWARD_UNKNOWN_TOOLS=Switch())
    for name in ("sglang.srt.entrypoints", "sglang.srt.entrypoints.openai"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules |= {protocol.__name__: protocol, environ.__name__: environ}


def reply(name: str, seed: int) -> list[str]:
    """Twenty calls that nobody has seen before, in pieces."""
    from generated import TOOL

    from playground.dialects import get_dialect
    from playground.dialects.rendering import message_text
    from playground.messages import Message, ToolCallPart
    from playground.prompt_data import PromptData

    chosen, calls = random.Random(seed), []
    for number in range(CALLS):
        words = " ".join(f"{chosen.choice(_WORDS)}{chosen.randrange(1000)}" for _ in range(4))
        given = {"path": f"{chosen.choice(_WORDS)}{number}.md", "content": words}
        calls.append(ToolCallPart(f"call_{chosen.randrange(10**6)}", TOOL.name, given))
    messages = [Message("user"), Message("assistant", tuple(calls))]
    data = PromptData(messages=messages, tool_metadata=[TOOL])
    text = message_text(get_dialect(name).render(data).messages[-1])
    return _PIECES.findall(text)


def main() -> None:
    run_beside(*NEEDED, "orjson", "partial_json_parser", without_dependencies=("sglang",))
    stand_in()
    from generated import TOOL
    from parsing import PROMPT, cpu, read

    from playground.dialects import get_dialect

    (rounds,) = numbers(sys.argv[1:], 20)
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
        print(
            f"{name:12} ours {ours * 1e3:6.2f} ms  SGLang {theirs * 1e3:6.2f} ms, {found} calls  "
            f"{ours / theirs:5.2f} x SGLang's",
            flush=True,
        )


if __name__ == "__main__":
    main()
