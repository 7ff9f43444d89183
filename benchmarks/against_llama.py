"""Random dialogs: our Llama 3 and 4 prompts beside Meta's own ChatFormat (llama-models 0.3.0).

`python benchmarks/against_llama.py [DIALOGS] [SEED]` installs Meta's package, without torch, into a
scratch environment, gives it a tokenizer whose tokens are texts, and prints how many prompts of
each model and tool format are equal, and the first differences.
"""

# ruff: noqa: E402
# Imports follow the change of environment.

from __future__ import annotations

import sys

from scratch import Tally, numbers, run_beside

run_beside(
    "pydantic",
    "docstring_parser",
    "PyYAML",
    "jinja2",
    "Pillow",
    "tiktoken",
    without_dependencies=("llama-models==0.3.0",),
)

import io
import random
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from playground.dialects.raw_prompts.llama import LLAMA3, LLAMA4, LlamaFormat, LlamaTurn
from playground.nouns.messages import ImagePart, ToolCallPart


class Absent(ModuleType):
    """A package that Meta's modules import, but that they need for no prompt."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls)})


class Stubs(MetaPathFinder, Loader):
    """An import hook that gives an empty module for torch, and for others that are not
    installed."""

    NAMES = ("torch", "torchvision", "fairscale", "termcolor", "tiktoken_ext")

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self.NAMES:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


sys.meta_path.insert(0, Stubs())
from llama_models.datatypes import RawMediaItem, RawMessage, RawTextItem, ToolCall, ToolPromptFormat  # type: ignore[import-not-found]
from llama_models.llama3.chat_format import ChatFormat as ChatFormat3  # type: ignore[import-not-found]
from llama_models.llama4.chat_format import ChatFormat as ChatFormat4  # type: ignore[import-not-found]
from PIL import Image


class Names(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return name


class TextTokenizer:
    """A tokenizer for which every token is its text."""

    special_tokens = Names()

    def encode(self, text: str, *, bos: bool, eos: bool, **_: Any) -> list[str]:
        return [*(["<|begin_of_text|>"] if bos else []), text, *(["<|end_of_text|>"] * eos)]


def picture() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (2, 2)).save(stream, "PNG")
    return stream.getvalue()


PICTURE = picture()
TEXTS = ["", "Hello", "two\nlines", "ünïcode π", 'a "quoted" text', "back\\slash", "it's", "{x: 1}"]
TOOLS = ["brave_search", "wolfram_alpha", "photogen", "code_interpreter", "get_tides", "add"]


def value(rng: random.Random, depth: int = 2) -> Any:
    plain = [rng.choice(TEXTS), rng.randrange(-9, 9), 1.5, True, False, None, 1e300]
    if depth and rng.random() < 0.3:
        items = [value(rng, 0) for _ in range(rng.randrange(3))]
        return items if rng.random() < 0.5 else {f"k{i}": item for i, item in enumerate(items)}
    return rng.choice(plain)


def call(rng: random.Random) -> tuple[str, dict[str, Any]]:
    name = rng.choice(TOOLS)
    if name == "code_interpreter":
        return name, {"code": rng.choice(TEXTS)}
    if name in TOOLS[:3]:
        return name, {"query": rng.choice(TEXTS)}
    return name, {key: value(rng) for key in rng.sample(["a", "b", "c d"], rng.randrange(3))}


def dialog(rng: random.Random, images: bool) -> Iterator[tuple[RawMessage, LlamaTurn]]:
    for _ in range(rng.randint(1, 6)):
        role: Any = rng.choice(["system", "user", "assistant", "assistant", "tool"])
        pieces = [rng.choice(TEXTS) for _ in range(rng.randint(1, 3))]
        theirs: list[Any] = [RawTextItem(text=piece) for piece in pieces]
        ours: list[Any] = list(pieces)
        if images and role == "user" and rng.random() < 0.3:
            theirs.insert(1, RawMediaItem(data=PICTURE))
            ours.insert(1, ImagePart("data:image/png;base64,AA=="))
        whole = rng.random() < 0.5 and len(pieces) == 1 and len(theirs) == 1
        calls = [call(rng) for _ in range(rng.randrange(3))] if role == "assistant" else []
        stop: Any = rng.choice(["end_of_turn", "end_of_message"])
        yield (
            RawMessage(
                role=role,
                content=pieces[0] if whole else theirs,
                stop_reason=stop if role == "assistant" else None,
                tool_calls=[ToolCall(call_id="c", tool_name=n, arguments=a) for n, a in calls],
            ),
            LlamaTurn(
                role,
                pieces[0] if whole else ours,
                tuple(ToolCallPart("c", n, a) for n, a in calls),
                stop if role == "assistant" else "end_of_turn",
            ),
        )


def compare(name: str, meta: Any, ours: LlamaFormat, count: int, seed: int) -> None:
    for tool_format in ToolPromptFormat:
        rng = random.Random(f"{seed} {name} {tool_format.value}")
        tally = Tally(f"{name}, {tool_format.value}")
        for _ in range(count):
            messages, turns = zip(*dialog(rng, images=name == "Llama 3"), strict=True)
            tokens = meta.encode_dialog_prompt(list(messages), tool_format).tokens
            expected = "".join("<|image|>" if token == 128256 else token for token in tokens)
            tally.add(expected, ours.render(turns, tool_format.value))
        tally.tell()


def main() -> None:
    count, seed = numbers(sys.argv[1:3], 1500, 1)
    compare("Llama 3", ChatFormat3(TextTokenizer()), LLAMA3, count, seed)
    compare("Llama 4", ChatFormat4(TextTokenizer()), LLAMA4, count, seed)


if __name__ == "__main__":
    main()
