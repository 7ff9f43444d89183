"""Recorded replies read by dialects that were derived from their models' chat templates.

`python benchmarks/derived_law_cases.py CASES.jsonl FOLDER [--show N]`: the cases are those of other
projects (llama.cpp's, Ollama's), each with the reply and what its own test expects; FOLDER holds
llama.cpp's `models/templates`. Each case is read by the dialect derived from the template that its
project names, or that belongs to the model (`TEMPLATES`), and by the registered dialect. Replies in
a form that their template never writes are left out (`OTHER_FORMS`). A case passes if calls,
content and reasoning are equal to what it expects.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import playground as pg
from playground.dialects import get_dialect
from playground.plugins.own_dialects.derivation import DerivedDialect, dialect_from_template

ROOT: Final = Path(__file__).resolve().parent.parent
# Of Ollama's parsers, by the parser's name; llama.cpp's cases name their template themselves.
TEMPLATES: Final = {
    "cohere": "Cohere2MoE",
    "deepseek3": "deepseek-ai-DeepSeek-V3.1",
    "gemma4": "google-gemma-4-31B-it",
    "glimmer": "muse-glimmer",
    "glm46": "GLM-4.6",
    "laguna": "poolside-Laguna-XS.2",
    "lfm2": "LFM2.5-8B-A1B",
    "ministral": "mistralai-Ministral-3-14B-Reasoning-2512",
    "nemotron3nano": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "qwen3": "Qwen-Qwen3-0.6B",
    "qwen35": "Qwen3.5-4B",
    "qwen3coder": "Qwen3-Coder",
    "qwen3vl": "Qwen-Qwen3-0.6B",
}

# Cases whose reply has a form that the template never writes, or that lacks one of its markers.
OTHER_FORMS: Final = {
    "a thought without the word that the template puts before it": (
        "ollama-gemma4-0003 ollama-gemma4-0004"
    ),
    "a JSON object in the place of the keys and values": "ollama-laguna-0002 ollama-laguna-0006",
    "another order of the header, another channel, or another recipient": (
        "llamacpp-openai_gpt_oss_120b-0002 llamacpp-openai_gpt_oss_120b-0006 "
        "llamacpp-openai_gpt_oss_120b-0008 llamacpp-openai_gpt_oss_120b-0009 "
        "llamacpp-openai_gpt_oss_120b-0013 llamacpp-openai_gpt_oss_120b-0014 "
        "llamacpp-openai_gpt_oss_120b-0016"
    ),
    "the list without its markers": "ollama-lfm2-0040",
    "the first opener is missing": "llamacpp-qwen3_coder-0005",
    "no recipient": "ollama-glimmer-0530 ollama-glimmer-0534 ollama-glimmer-0536",
    "a marker inside the tool's name": "ollama-glimmer-0520 ollama-glimmer-0522",
    "an answer's markers of another template": "ollama-cohere-0011",
}
_OTHER: Final = {name for names in OTHER_FORMS.values() for name in names.split()}


def cases(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each case of the two projects that has a template, with that template's name."""
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["server"] == "llama.cpp":
            yield case, Path(case["source"].rpartition("::")[2]).stem
        elif case["server"] == "ollama" and case["parser"] in TEMPLATES:
            yield case, TEMPLATES[case["parser"]]


def seen(case: dict[str, Any], dialect: Any) -> dict[str, Any]:
    result = pg.parse(case["text"], dialect, tools=case["tools"] or [], prefill=case["prefill"])
    calls = [{"name": call.name, "arguments": call.arguments} for call in result.tool_calls]
    return {
        "content": (result.content or "").strip(),
        "reasoning": (result.reasoning or "").strip(),
        "tool_calls": calls,
    }


@cache
def derived(template: Path) -> DerivedDialect:
    return dialect_from_template(template)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("cases", type=Path)
    asked.add_argument("templates", type=Path)
    asked.add_argument("--show", type=int, default=0)
    given = asked.parse_args()
    disputed = tomllib.loads((ROOT / "tests" / "disputes.toml").read_text())["dispute"]
    known = {each["id"] for each in disputed} | _OTHER
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    shown = 0
    for case, name in cases(given.cases):
        row = rows[name, case["server"]]
        row["cases"] += 1
        if case["id"] in known:
            row["left out"] += 1
            continue
        got = seen(case, derived(given.templates / f"{name}.jinja"))
        passed = got == case["expected"]
        row["derived"] += passed
        row["registered"] += seen(case, get_dialect(case["dialect"])) == case["expected"]
        if not passed and shown < given.show:
            shown += 1
            print(f"{case['id']} {name}", repr(case["text"]), case["expected"], got, sep="\n  ")
    print("| template | cases of | cases | derived | registered | left out |")
    print("|---|---|---|---|---|---|")
    for (name, server), row in sorted(rows.items()):
        cells = [row[key] for key in ("cases", "derived", "registered", "left out")]
        print(f"| {name} | {server} | {' | '.join(map(str, cells))} |")
    total = sum(rows.values(), Counter[str]())
    print(dict(total))


if __name__ == "__main__":
    main()
