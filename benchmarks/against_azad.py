"""Random conversations: our policy `azad` beside the code in Azad's own document.

`python benchmarks/against_azad.py DOCUMENT [COUNT] [SEED]`: there is no package to install and no
public repository, so the function is taken from the text of the document, where it stands without
its indentation. Prints how many conversations both mark alike, and the first others.
"""

from __future__ import annotations

import builtins
import copy
import enum
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from scratch import Tally, numbers

from playground.dialects.marks.policies import apply_marks
from playground.dialects.marks.policies import azad as ours_of
from playground.nouns.prompt_data import CacheDialect

START: Final = "| def inject_prompt_cache(self"
# how deep each statement stands, from `def` to the last `return`, as its words ask for
DEPTHS: Final = (
    "0 1111 2222 2 33 2 3 444444444 555 222 2 "  # Anthropic's part
    "111 222 3 3 4 5 6 3 4 222 33 22 33 2 222 2 33 2 3 444444444 555 222 2 1"  # Gemini's
)
MODELS: Final = (
    "anthropic/claude-3", "bedrock/anthropic.claude", "gemini/gemini-2.5-pro", "gpt-4o", "llama",
)  # fmt: skip


def theirs(document: str) -> Callable[..., None]:
    """Return the function that stands in the document's text, compiled."""
    lines = [line.strip() for line in document[document.index(START) :].split("\n")]
    lines[0] = lines[0].removeprefix("| ")
    first = lines[: lines.index("return", lines.index("# No explicit return needed")) + 1]
    quotes = [number for number, line in enumerate(first) if '"""' in line]
    code = [first[0], *first[quotes[-1] + 1 :]]
    code = [line for line in code if line and not line.startswith("#")]
    depths = [int(depth) for depth in DEPTHS.replace(" ", "")]
    source = "\n".join(" " * depth + line for depth, line in zip(depths, code, strict=True))
    silent = {**vars(builtins), "print": lambda *_: None}
    scope: dict[str, Any] = {"__builtins__": silent, "CacheDialect": CacheDialect, "PromptData": 0}
    exec(compile(source, "azad", "exec"), scope)
    made: Callable[..., None] = scope["inject_prompt_cache"]
    return made


def conversation(rng: random.Random) -> list[dict[str, Any]]:
    made = []
    for _ in range(rng.randrange(7)):
        role = rng.choice(["system", "user", "user", "assistant"])
        long = rng.random() < 0.1
        parts: list[Any] = [text(rng, long) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.2:
            parts.append({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})
        content: Any = parts[0]["text"] if rng.random() < 0.3 else parts
        made.append({"role": role, "content": content})
    return made


def text(rng: random.Random, long: bool) -> dict[str, Any]:
    return {"type": "text", "text": "tide " * rng.randrange(1, 20) * (400 if long else 1)}


def marked(theirs_of: Callable[..., None], rng: random.Random) -> tuple[str, str]:
    """Return a random conversation with their marks, and with ours, as texts. Each begins with the
    model and the settings."""
    messages = conversation(rng)
    model = rng.choice(MODELS)
    kind: enum.Enum | None = rng.choice([None, None, *CacheDialect])
    explicit = rng.random() < 0.7
    request = SimpleNamespace(model_name=model, cache_dialect=kind, explicit_caching=explicit)
    dynamic = SimpleNamespace(cache_dialect=kind, enable_explicit_caching=explicit)
    data = SimpleNamespace(
        dyanmic_task_config=dynamic, task_config=SimpleNamespace(model_name=model)
    )
    given, own = copy.deepcopy(messages), copy.deepcopy(messages)
    theirs_of(None, given, data)
    apply_marks(own, ours_of(own, request))  # type: ignore[arg-type]
    asked = f"{model} {kind} {explicit} "
    return asked + in_blocks(given), asked + in_blocks(own)


def in_blocks(messages: list[dict[str, Any]]) -> str:
    """Return messages with their marks as JSON; a content that is a text becomes a list of one
    block."""
    for message in messages:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    return json.dumps(messages, sort_keys=True)


def main() -> None:
    document, *given = sys.argv[1:]
    count, seed = numbers(given, 4000, 1)
    function, rng = theirs(Path(document).read_text()), random.Random(seed)
    tally, marks = Tally("conversations"), 0
    for _ in range(count):
        pair = marked(function, rng)
        tally.add(*pair)
        marks += pair[0].count("cache_control")
    tally.tell()
    print(f"{marks:,} marks")


if __name__ == "__main__":
    main()
