"""Compare predictions with all recorded bills at hand, by provider.

Run: python benchmarks/bills.py FOLDER ... : folders as `playground cache validate` reads them, and
streams with the request of each beside it (`NAME.sse` and `NAME.request.json`; `NAME.0.sse` is
followed by `NAME.1.sse`). The target is that no certain prediction is wrong; the exit status is 1
if one is. A second table compares bills with cached tokens with their bounds. A read above what the
recorded requests could leave is surely right if no earlier one of them begins alike.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from playground.base.errors import InputFault
from playground.cache.answers.bills import validate_folder
from playground.cache.validation import ValidationRow, validation_of
from playground.recordings.decoding import decode_stream

_HEAD = ("provider", "requests", "certain, right", "certain, wrong", "bounded, inside",
         "bounded, outside", "not predictable")  # fmt: skip


_NEAR = 50  # tokens of the last block that bills leave out, with room


def _kind(row: ValidationRow) -> str:
    """Return the outcome of a prediction, in words. An uncertain prediction says how much is read
    at most."""
    if row.state == "predictable":
        return _HEAD[2] if row.hit_right else _HEAD[3]
    if row.state == "unpredictable":
        return _HEAD[4] if row.billed_read <= row.predicted_read + _NEAR else _HEAD[5]
    return _HEAD[6]


# LiteLLM's names of the providers that folders of streams are named after.
_ROUTES = {"google-gemini": "gemini", "google-vertex": "vertex_ai", "azure-openai": "azure",
           "aws-bedrock": "bedrock"}  # fmt: skip
_NUMBER = re.compile(r"\.(\d+)$")


def paired(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the rows of requests that lie beside their streams, in the order of their numbers."""
    series: dict[str, list[tuple[int, Path, Path]]] = defaultdict(list)
    for asked in sorted(folder.rglob("*.request.json")):
        name = asked.name.removesuffix(".request.json")
        both = [asked.with_name(f"{name}.{ending}") for ending in ("sse", "jsonl")]
        came = next((path for path in both if path.is_file()), None)
        if came is not None:
            number = _NUMBER.search(name)
            key = str(asked.with_name(_NUMBER.sub("", name)))
            series[key].append((int(number[1]) if number else 0, asked, came))
    for key, found in series.items():
        yield key, [_exchange(asked, came) for _, asked, came in sorted(found)]


def _exchange(asked: Path, came: Path) -> dict[str, Any]:
    body = json.loads(asked.read_bytes())
    recording = decode_stream([came.read_bytes()])
    body.setdefault("model", recording.model)
    route = _ROUTES.get(asked.parent.name, asked.parent.name)
    return {"uri": route, "request": body, "usage": recording.usage, "response": None}


_JUDGED = ("provider", "bills with cached tokens", "within bounds", "above, surely from before",
           "above, though alike was sent", "below what was sure", "not judged",
           "read of the bound, median")  # fmt: skip


def judged(rows: list[ValidationRow]) -> list[list[str]]:
    """Return the rows of the second table: verdicts on the bills with cached tokens."""
    table = []
    for name in sorted({row.provider for row in rows}):
        own = [row for row in rows if row.provider == name and row.billed_read]
        counts = Counter(row.verdict or "not judged" for row in own)
        above = [row for row in own if row.verdict == "more than the record could leave"]
        surely = sum(row.most_read == 0 for row in above)
        shares = [row.billed_read / row.most_read for row in own if row.most_read]
        if own:
            table.append([
                name or "no rules", len(own), counts["within bounds"], surely, len(above) - surely,
                counts["less than was sure"], counts["not judged"],
                f"{median(shares):.2f}" if shares else "",
            ])  # fmt: skip
    return [[str(cell) for cell in row] for row in table]


def main(folders: list[str]) -> int:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    every: list[ValidationRow] = []
    for folder in folders:
        try:
            rows = validate_folder(Path(folder)).rows
        except InputFault as error:
            print(f"left out: {error}")
            continue
        rows += validation_of(paired(Path(folder)), []).rows
        every += rows
        for row in rows:
            name, kind = row.provider or "no rules", _kind(row)
            counts[name][kind] += 1
            counts[name]["requests"] += 1
            if kind == _HEAD[6]:
                reasons[name][row.state] += 1
            elif kind == _HEAD[3]:
                print(f"certain and wrong: {row.file}, request {row.index}: {row.reason}")
    print(f"| {' | '.join(_HEAD)} |\n|{'---|' * len(_HEAD)}")
    for name, found in sorted(counts.items()):
        why = ", ".join(f"{state} {count}" for state, count in reasons[name].most_common())
        cells = [name, *(str(found[kind]) for kind in _HEAD[1:-1])]
        told = f"{found[_HEAD[6]]} ({why})" if why else "0"
        print(f"| {' | '.join([*cells, told])} |")
    print(f"\n| {' | '.join(_JUDGED)} |\n|{'---|' * len(_JUDGED)}")
    for cells in judged(every):
        print(f"| {' | '.join(cells)} |")
    return int(any(found[_HEAD[3]] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
