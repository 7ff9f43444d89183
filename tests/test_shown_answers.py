"""Answers about the samples as they are shown: tables, pages with their data, and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from golden_answers import Golden, short

import playground as pg
from playground.base.display import Drawn, Shown

_STYLE: Final = re.compile(r' style="[^"]*"|<style>.*?</style>|<head>.*?</head>', re.DOTALL)
_SCRIPT: Final = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
_WIDTH: Final = re.compile(r'<span style="[^"]*(background: #\w+)[^"]*(width: [\d.]+em)"></span>')
SAMPLES: Final = pg.sample_sessions()


def _sample(number: int) -> pg.Session:
    return next(s for name, s in SAMPLES.items() if name.startswith(f"{number:02}"))


def _of(messages: int, word: str = "") -> pg.Session:
    """Return a session of so many messages; the long one has another word in its middle."""
    long = f"{'The tide ' * 12}{word}{'comes in. ' * 12}"
    texts = [f"message {number}" if number else long for number in range(messages)]
    turns = [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(texts)]
    return pg.session(messages=turns, system="Be terse.", model="claude-sonnet-4-5")


_ODD: Final = pg.recording(
    [
        "I look. <tool_call>\n",
        '{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        " Then <tool_",
        "call>",
    ]
)
ANSWERS: Final[dict[str, Callable[[], Shown]]] = {
    "compare": lambda: pg.compare(_sample(2), ["xml", "hermes", "native"]),
    "compare one": lambda: pg.compare(_sample(9), "harmony"),
    "place": lambda: pg.place_cache(_sample(6), "xml"),
    "place 12": lambda: pg.place_cache(_sample(12), "native", policy="claude-code"),
    "simulate": lambda: pg.simulate_cache(_sample(12), dialect="xml"),
    "simulate gemini": lambda: pg.simulate_cache(_sample(7), dialect="native"),
    "matrix": lambda: pg.cache_matrix(_sample(6), ["xml", "native"], policies=["azad", "none"]),
    "simulate breaks": lambda: pg.simulate_cache(
        _sample(12), what_if=pg.WhatIf(timestamp=True), policy="azad"
    ),
    "compare one more": lambda: pg.compare(_of(40), ["xml", "json", "hermes", "native", "glm"]),
    "diff words": lambda: pg.diff(_of(3), _of(3, "then ")),
    "raw": lambda: pg.raw_prompt(_sample(2), "llama3"),
    "replay": lambda: pg.replay(_sample(2).recordings[0], "xml"),
    "replay truncated": lambda: pg.replay(_sample(4).recordings[0], "hermes"),
    "replays": lambda: pg.replay(_sample(9).recordings[0], "hermes"),
    "detect": lambda: pg.detect('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'),
    "replay delivered": lambda: pg.replay(_sample(9).recordings[0], "hermes", server="vllm"),
    "replay odd": lambda: pg.replay(_ODD, "hermes", server="sglang"),
    "detect odd": lambda: pg.detect("<tool_call>{'name': f}</tool_call> <|tool_call|> [f(a=1)]"),
    "carry": lambda: pg.carry(["xml", "hermes"]),
    "diff": lambda: pg.diff(_sample(1), _sample(6)),
    "diff 7": lambda: pg.diff(_sample(7), _sample(8)),
    "compaction": lambda: pg.compaction(_sample(12)),
    "tool costs": lambda: pg.tool_costs(_sample(2), models=["gpt-4o"], dialects=["xml"]),
    "plan": lambda: pg.plan_tools(_sample(12)),
    "portability": lambda: pg.tool_portability(_sample(2)),
    "audit": lambda: pg.audit_template("{% for m in messages %}{{ m.content }}{% endfor %}"),
    "session": lambda: _sample(2),
    "tokens": lambda: pg.count_tokens(_sample(2), model="gpt-4o"),
    "dialect": lambda: pg.dialect_for("Qwen/Qwen3-Coder-480B-A35B-Instruct"),
}


def _items(answer: Any) -> list[Any]:
    return list(answer)[:9] if hasattr(answer, "__iter__") else []


def _page(text: str) -> dict[str, Any]:
    """Return a page as its lines of markup, without styles, and the data that it embeds."""
    data = [short(json.loads(inner)) for kind, inner in _SCRIPT.findall(text) if "json" in kind]
    bare = _STYLE.sub("", _WIDTH.sub(r"[\1 \2]", _SCRIPT.sub("", text)))
    return {"data": data, "markup": re.sub(r"(</(?:tr|li|p|div|h1)>)", r"\1\n", bare).splitlines()}


def _figure(answer: Drawn) -> dict[str, Any]:
    drawn = json.loads(answer.figure().to_json())
    drawn["layout"].pop("template", None)
    return dict(drawn)


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_is_shown(kind: str, golden: Golden) -> None:
    answer = ANSWERS[kind]()
    shown: dict[str, Any] = {"repr": [repr(answer), *map(repr, _items(answer))]}
    found = getattr(answer, "findings", ())
    shown["findings"] = [f"{one.code} {one.where}: {one.message}" for one in found]
    shown["table"] = json.loads(answer.frame().to_json(orient="split"))
    shown["page"] = _page(answer.html())
    shown["notebook"] = _page(answer._repr_mimebundle_()["text/html"])["markup"][:3]
    golden(shown | ({"figure": _figure(answer)} if isinstance(answer, Drawn) else {}))
