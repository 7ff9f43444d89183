"""Dialects read off chat templates: how many are derived, read everything, write the same bytes.

`python benchmarks/derivation.py FOLDER…` takes folders of `.jinja` files (llama.cpp keeps some 70
in `models/templates`) and prints a row for each, as Markdown; `--nearest` adds the registered
dialect that comes nearest (slower).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from playground.base.errors import InputFault
from playground.plugins.own_dialects.derivation import DerivedDialect, dialect_from_template


def derived(path: Path) -> DerivedDialect | str:
    """Return the dialect that is derived from a template, or the reason why there is none."""
    try:
        return dialect_from_template(path)
    except InputFault as fault:
        return fault.problem


def row(path: Path, dialect: DerivedDialect, seconds: float, nearest: bool) -> str:
    proof = dialect.derivation.proof
    of = len(proof.trials)
    cells = [path.stem, f"{proof.read}/{of}", f"{proof.written}/{of}", f"{seconds:.1f} s"]
    if nearest:
        near = dialect.derivation.nearest(dialect, 1)
        cells.append(f"{near[0].dialect} {near[0].reads}/{near[0].writes}" if near else "–")
    lost = [trial.probe for trial in proof.trials if not trial.read]
    return f"| {' | '.join(cells)} | {', '.join(lost[:4])} |"


def main() -> None:
    nearest = "--nearest" in sys.argv
    folders = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    made = refused = whole = same = 0
    started = time.perf_counter()
    for path in sorted(file for folder in folders for file in folder.glob("*.jinja")):
        begun = time.perf_counter()
        found = derived(path)
        if isinstance(found, str):
            refused += 1
            print(f"| {path.stem} | refused: {found:.120} |")
            continue
        proof = found.derivation.proof
        made += 1
        whole += proof.read == len(proof.trials)
        same += proof.written == len(proof.trials)
        print(row(path, found, time.perf_counter() - begun, nearest))
    seconds = time.perf_counter() - started
    print(
        f"{made} derived, {whole} read everything, {same} write the same bytes, {refused} refused"
    )
    print(f"{seconds:.0f} s")


if __name__ == "__main__":
    main()
