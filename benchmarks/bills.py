"""Compare predictions with all recorded bills at hand, by provider.

Run: python benchmarks/bills.py FOLDER ... : folders as `playground cache validate` reads them. The
target is 0 certain and wrong, of all. Exit status 1 where there is one.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

from playground.base.errors import InputFault
from playground.cache.answers.bills import validate_folder
from playground.cache.validation import ValidationRow

_HEAD = ("provider", "requests", "certain, right", "certain, wrong", "bounded, inside",
         "bounded, outside", "not predictable")  # fmt: skip


_NEAR = 50  # tokens of the last block that bills leave out, with room


def _kind(row: ValidationRow) -> str:
    """Return what came of a prediction. One that is not certain says how much is read at most."""
    if row.state == "predictable":
        return _HEAD[2] if row.hit_right else _HEAD[3]
    if row.state == "unpredictable":
        return _HEAD[4] if row.billed_read <= row.predicted_read + _NEAR else _HEAD[5]
    return _HEAD[6]


def main(folders: list[str]) -> int:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for folder in folders:
        try:
            rows = validate_folder(Path(folder)).rows
        except InputFault as error:
            print(f"left out: {error}")
            continue
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
    return int(any(found[_HEAD[3]] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
