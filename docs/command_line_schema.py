"""Write `docs/command-line.schema.json`: the JSON of each command, as the samples show it.

`python docs/command_line_schema.py` writes it. A test runs the same commands and compares.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from playground.base.output import write_file
from playground.cli import JSON_VERSION, main
from playground.show.glossary import figure

FILE: Final = Path(__file__).with_name("command-line.schema.json")
# Some samples for each command, so that optional keys and null values are seen.
CASES: Final[dict[str, Sequence[str]]] = {
    "cache place": ("cache place 06-cache-eight-turns", "cache place 07-gemini-above -d xml"),
    "cache simulate": (
        "cache simulate 12-long-tool-run -d xml --policy azad",
        "cache simulate 07-gemini-above -d native -d xml",
        "cache simulate 02-parallel-calls -d kimi-k2 --model anthropic/claude-opus-4-1",
    ),
    "cache wire": ("cache wire 06-cache-eight-turns", "cache wire 12-long-tool-run -d xml"),
    "carry": ("carry -d xml -d hermes",),
    "check": ("check 12-long-tool-run -d xml --max-cost-multiple 2",),
    "compaction": ("compaction 12-long-tool-run",),
    "compare": ("compare 03-long-file --tokens", "compare 09-reasoning -d xml"),
    "dialects": ("dialects",),
    "diff": ("diff 01-plain-chat 02-parallel-calls",),
    "experiment": ("experiment 02-parallel-calls --lose 2",),
    "grammar": ("grammar 02-parallel-calls -d hermes",),
    "import": ("import sample_sessions/02-parallel-calls.json",),
    "render": ("render 02-parallel-calls -d xml", "render 02-parallel-calls -d native"),
    "replay": ("replay 05-call-in-a-fence", "replay 09-reasoning --server vllm"),
    "samples": ("samples",),
    "tokens": ("tokens 02-parallel-calls --model gpt-4o", "tokens 02-parallel-calls"),
    "tools": ("tools 02-parallel-calls -d xml",),
    "trial": ("trial 02-parallel-calls --own-calls",),
}
# Objects whose keys are names of tools, models, kinds … or whose form is another's.
_MAPS: Final = {
    "arguments", "body", "by_dialect", "by_kind", "by_message", "by_model", "by_origin", "by_tool",
    "by_writer", "cache_control", "diagnostics", "dropped", "hints", "input_schema", "kinds",
    "origins", "parameters", "raw", "schema", "shorter", "states", "usage", "written",
}  # fmt: skip
_OPAQUE: Final = {"arguments", "body", "content", "input_schema", "messages", "parameters", "tools"}
_OLDER: Final = {
    "by_kind": "…_characters",
    "tokens_range": "tokens_low, tokens_high",
    "cannot-carry": "refused",
}
# Null where a model's price is not known, which no sample of some commands shows.
_NULLABLE: Final = {"nano_dollars", "uncached_nano_dollars"}
_KEY: Final = re.compile("[a-z_][a-z0-9_]*")


def schema(root: Path) -> dict[str, Any]:
    """Return the schema of every command's JSON; `root` is the folder with the samples."""
    commands = {
        name: _shape([answer(line, root) for line in lines], is_map=name == "carry")
        for name, lines in CASES.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What `playground COMMAND --json` prints",
        "version": JSON_VERSION,
        "$defs": commands,
    }


@cache
def answer(line: str, root: Path) -> Any:
    """Return the JSON that a command prints; `root` is the folder with the samples."""
    words = [
        str(root / word) if word.startswith("sample_sessions/") else word for word in line.split()
    ]
    done = CliRunner().invoke(main, [*words, "--json"])
    assert done.exit_code == 0, (line, done.output)
    return json.loads(done.stdout)


def _shape(values: Sequence[Any], name: str = "", is_map: bool = False) -> dict[str, Any]:
    """Return a schema that all the values fit, with a figure's unit and meaning."""
    kinds = sorted({_kind(value) for value in values} | ({"null"} if name in _NULLABLE else set()))
    if "integer" in kinds and "number" in kinds:
        kinds.remove("integer")
    shape: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    known = figure(name)
    if known is not None and {"integer", "number"} & {*kinds}:
        shape["description"] = f"{known.meaning} ({known.unit})"
    objects = [value for value in values if isinstance(value, dict)]
    if objects and name not in _OPAQUE:
        inner = [value for each in objects for value in each.values()]
        if is_map or name in _MAPS:
            shape["additionalProperties"] = _shape(inner) if inner else {}
        else:
            shape |= _properties(objects)
    items = [item for value in values if isinstance(value, list) for item in value]
    if items and name not in _OPAQUE:
        shape["items"] = _shape(items)
    return shape


def _properties(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    keys = list(dict.fromkeys(key for each in objects for key in each))
    properties = {}
    for key in keys:
        properties[key] = _shape([each[key] for each in objects if key in each], key)
        if key in _OLDER:
            properties[key] |= {"deprecated": True, "description": f"older: use {_OLDER[key]}"}
    return {"properties": properties, "required": [k for k in keys if all(k in o for o in objects)]}


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def keys_of(shape: Any) -> Iterable[str]:
    """Yield each key that a schema names, without the older ones."""
    if isinstance(shape, dict):
        yield from (key for key in shape.get("properties", {}) if key not in _OLDER)
        for value in shape.values():
            yield from keys_of(value)


def is_name(key: str) -> bool:
    return _KEY.fullmatch(key) is not None


def written(root: Path) -> str:
    return json.dumps(schema(root), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_file(FILE, written(FILE.parent.parent), force=True)
    sys.exit(0)
