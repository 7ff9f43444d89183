"""Whole answers of commands about the samples, and the published schema of their JSON."""

from __future__ import annotations

import json
import shlex
from importlib import import_module
from typing import Any, Final

import pytest
from click.testing import CliRunner
from conftest import ROOT
from golden_answers import Golden
from jsonschema import Draft202012Validator

from playground.cli import JSON_VERSION, main

schemas = import_module("command_line_schema")
# Not the answers of 50 kB and more, nor what LiteLLM's version decides.
LEFT_OUT: Final = ("cache wire", "cache simulate 07", "cache place 06", "compare 03")
JSON_LINES: Final = [
    line for lines in schemas.CASES.values() for line in lines if not line.startswith(LEFT_OUT)
]
PRINTED: Final = (
    "cache place 02-parallel-calls -d xml -d native --json",
    "cache place 02-parallel-calls",
    "cache place 12-long-tool-run -d hermes --policy azad",
    "cache simulate 02-parallel-calls -d xml -d native --timestamp --parallel 2",
    "cache simulate 06-cache-eight-turns --ttl 1h --seconds-apart 400",
    "cache simulate 06-cache-eight-turns -d xml --answered --provider gemini",
    "cache simulate 07-gemini-above --explicit-caching --csv",
    "cache simulate 09-reasoning -d xml --environment inside --shuffle-tools",
    "cache simulate 12-long-tool-run --every-dialect --model claude-haiku-4-5",
    "check 06-cache-eight-turns -d native --no-cache-break --json",
    "check 12-long-tool-run -d xml --max-cost-multiple 0.5",
    "check 02-parallel-calls --against 12-long-tool-run --most-tokens-more 5",
    "cache simulate 07-gemini-above -d native -d xml",
    "compaction 06-cache-eight-turns --keep 2 --summary 50 --json",
    "compaction 12-long-tool-run --limit 2000",
    "compare 02-parallel-calls",
    "compare 02-parallel-calls -d xml -d hermes -d native --tokens --model gpt-4o --json",
    "compare 04-truncated-call -d xml -d llama-json --csv --tokens",
    "compare 09-reasoning -d harmony -d hermes -d dspy-chat",
    "diff 01-plain-chat 06-cache-eight-turns --json --provider anthropic --provider openai",
    "diff 02-parallel-calls 09-reasoning --words --all",
    "diff 07-gemini-above 08-gemini-below --request 1 -d xml",
    "experiment 02-parallel-calls --break-off 9 --json",
    "experiment 02-parallel-calls --corrupt 3 --seed 2",
    "experiment 02-parallel-calls --cut random --seed 3",
    "experiment 02-parallel-calls --lose 2",
    "experiment 04-truncated-call --every-dialect",
    "experiment 05-call-in-a-fence --find-cut --json",
    "raw 02-parallel-calls --llama 3 --json",
    "raw 02-parallel-calls --llama 4",
    "raw 09-reasoning --llama 3 --tool-format function_tag",
    "render 09-reasoning -d harmony -d deepseek-v3 --json",
    "replay 02-parallel-calls --events --name 'two calls as hermes'",
    "replay 04-truncated-call --events --json",
    "replay 05-call-in-a-fence --switch calls_in_fences=call --json",
    "replay 09-reasoning --server vllm --server ollama --server llama.cpp",
    "replay 10-cut-characters",
    "replay 11-provider-streams --json",
    'signature \'asked, facts: list[str] -> hour: int, why: Literal["a", "b"]\' -i asked=1+1?'
    " -i 'facts=[\"x\"]' -a chat -a json -a xml --json",
    "template run harbour-desk --json",
    "template run tide-talk",
    "tokens 02-parallel-calls --model claude-sonnet-4-5",
    "tokens 12-long-tool-run -d hermes --model gpt-4o --json",
    "tools 02-parallel-calls --portable",
    "tools 02-parallel-calls --tokens --model gpt-4o --json",
    "tools 02-parallel-calls -d xml -d hermes",
    "tools 12-long-tool-run --plan --json",
)


@pytest.mark.parametrize("line", JSON_LINES)
def test_a_command_answers_in_json(line: str, golden: Golden) -> None:
    golden(_without_places(schemas.answer(line, ROOT)))


@pytest.mark.parametrize("line", PRINTED)
def test_a_command_prints_its_answer(line: str, golden: Golden) -> None:
    done = CliRunner().invoke(main, shlex.split(line), env={"COLUMNS": "100"})
    shown = json.loads(done.stdout) if "--json" in line else done.stdout.splitlines()
    golden({"status": done.exit_code, "out": shown, "err": done.stderr.splitlines()})


def _without_places(value: Any) -> Any:
    return json.loads(json.dumps(value).replace(str(ROOT), "."))


def test_the_published_schema_is_that_of_every_commands_json() -> None:
    """Written by `python docs/command_line_schema.py`, after a change of a key."""
    assert schemas.FILE.read_text() == schemas.written(ROOT)
    shapes = json.loads(schemas.FILE.read_text())
    assert shapes["version"] == JSON_VERSION
    assert [key for key in schemas.keys_of(shapes["$defs"]) if not schemas.is_name(key)] == []


def test_the_schema_holds_for_a_model_whose_price_is_not_known() -> None:
    line = "check 12-long-tool-run -d xml --max-cost-multiple 2 --model openai/none-such"
    found = schemas.answer(line, ROOT)
    shape = json.loads(schemas.FILE.read_text())["$defs"]
    prices = json.dumps(found).count('nano_dollars": null')
    faults = [
        error.message
        for error in Draft202012Validator(shape["check"]).iter_errors(found)
        if error.path and "nano_dollars" in str(error.path[-1])
    ]
    assert (prices > 0, faults) == (True, [])
    cost = shape["trial"]["properties"]["cost"]["properties"]
    assert cost["nano_dollars"]["type"] == ["integer", "null"]
