"""Every answer that predicts for a model says so if no rule names it, in text and in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import playground as pg
from playground.cli import main
from playground.show.version_board import side

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
    words = "No rule names this model: assumed as for claude-opus-5-5. Did you mean"
    words += " 'claude-opus-5' or 'claude-opus-5-5' or 'claude-opus-4-8'?"
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


@pytest.mark.parametrize("model", ["gpt-7-ultra", "claude-opus-9", "gemini/gemini-9-neon", KNOWN])
def test_a_difference_says_at_which_providers_the_rules_are_assumed(
    model: str, tmp_path: Path
) -> None:
    files = []
    for number in range(2):
        content = "a tide table of the north sea. " * 400 + f"{number} " * 50
        file = tmp_path / f"{number}.json"
        file.write_text(
            json.dumps({"model": model, "messages": [{"role": "user", "content": content}]})
        )
        files.append(str(file))
    found = pg.diff(*files)
    own = found.costs[0]
    assert bool(own.assumption) == (model != KNOWN)
    assert own.assumption == pg.simulate_cache(SAMPLE, model=model).assumption
    assert own.assumption in found.headline
    assert all(cost.assumption for cost in found.costs[1:])  # none of them sells the model
    answer = json.loads(printed("diff", *files, "--json"))
    assert [each["assumption"] for each in answer["costs"]] == [e.assumption for e in found.costs]
    text = printed("diff", *files)
    cards = side(found, own.provider, [], new=0)
    assert cards["cards"][0]["note"] == "no findings in either"  # it was an empty card
    assert side(found, own.provider, [], new=2)["cards"][0]["note"] == "the same 2 in both"
    page = json.dumps(cards)
    for cost in found.costs:
        assert cost.assumption.partition(": ")[2].rstrip(".") in text
        assert (f"{cost.title}, assumed" in page) == bool(cost.assumption)
    assert own.assumption in page
