"""Every answer that predicts for a model says so if no rule names it, in text and in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import playground as pg
from playground.cli import main

SAMPLE = "12-long-tool-run"
KNOWN = "claude-opus-5-5"
COMMANDS = (
    ("cache", "simulate", SAMPLE, "-d", "native"),
    ("cache", "simulate", SAMPLE),
    ("cache", "simulate", SAMPLE, "-d", "native", "--policy", "claude-code"),
    ("cache", "place", SAMPLE),
    ("cache", "place", SAMPLE, "-d", "native"),
    ("compaction", SAMPLE, "--policy", "drop old results"),
    ("check", SAMPLE, "-d", "xml", "--max-cost-multiple", "0.35"),
    ("check", SAMPLE, "-d", "xml", "--max-cost-multiple", "0.01"),
    ("tools", SAMPLE, "--plan"),
)


def printed(*arguments: str) -> str:
    return CliRunner().invoke(main, arguments).stdout


@pytest.mark.parametrize("model", ["gpt-7-ultra", "claude-opus-9", "nobody-1", KNOWN])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_unknown_model_is_said_to_be_assumed(command: tuple[str, ...], model: str) -> None:
    told = pg.simulate_cache(SAMPLE, model=model).assumption
    assert bool(told) == (model != KNOWN)
    words = told[1:].removesuffix(".")
    asked = (*command, "--model", model)
    text, found = printed(*asked), printed(*asked, "--json")
    answer: Any = json.loads(found)
    if model == KNOWN:
        assert "o rule names this model" not in text
        assert "o rule names this model" not in found
        return
    assert words in text
    assert words in found
    if command[0] == "tools":
        assert all(way["is_assumed"] for way in answer["ways"])


def test_every_answer_says_it_in_the_same_words() -> None:
    words = "No rule names this model: assumed as for claude-opus-5-5."
    model = "anthropic/claude-opus-9"
    answers = (
        pg.simulate_cache(SAMPLE, model=model),
        pg.place_cache(SAMPLE, model=model),
        pg.cache_on_wire(SAMPLE, model=model),
    )
    assert [each.assumption for each in answers] == [words] * 3
    for command in ("simulate", "place", "wire"):
        asked = ("cache", command, SAMPLE, "-d", "native", "--model", model)
        assert words in printed(*asked)
        assert words in printed(*asked, "--json")
