"""Two versions as markup: the change of each block, and both texts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.base.display import draws
from playground.base.wording import counted, grouped
from playground.questions.versions import VersionDiff
from playground.questions.versions.blocks import VersionBlock
from playground.questions.versions.matching import BlockChange
from playground.questions.versions.words import Run
from playground.show import rows
from playground.show.grid import Payload, grid
from playground.show.markup import CODE_STYLE, Markup, escaped, exact, folded, markup_table, table

_ROWS: Final = 200
_BRIEF: Final = 40  # the most blocks that a notebook stores
_CONTEXT: Final = 80  # characters around a change in a long text
_MARKS: Final = {"removed": "del", "added": "ins"}


@draws("picture", VersionDiff)
def versions(value: VersionDiff) -> Markup:
    """Return tables of changed blocks and of costs, and below these the changed words."""
    changed = [change for change in value.changes if change.kind != "same"]
    left = len(changed) - _ROWS
    more = f"; {left} more are not shown" if left > 0 else ""
    head = table(f"what is different{more}", *rows.blocks(changed[:_ROWS]).texts())
    head += folded(
        "what caches still read",
        table("the second after the first", *rows.version_costs(value.costs).texts()),
    )
    return Markup(
        f"{value.first.name}, then {value.second.name}",
        f"{value.headline} Both {value.form}.",
        head=head,
        static=_texts(changed[:_ROWS]),
        component="panes",
        data=lambda: version_panes(value, changed),
        brief=lambda: version_panes(value, changed[:_BRIEF]),
    )


def _texts(changed: Sequence[BlockChange]) -> str:
    cells_of_changes = [
        [escaped(change.kind), escaped(change.block.name), _marked(change.words)]
        for change in changed
        if change.kind != "moved"
    ]
    return markup_table("word by word", ["change", "block", "text"], cells_of_changes)


def _marked(runs: Sequence[Run]) -> str:
    return f'<pre style="{CODE_STYLE}">{"".join(_run(*run) for run in runs)}</pre>'


def _run(change: str, text: str) -> str:
    if change == "same":
        if len(text) > 2 * _CONTEXT:
            text = f"{text[:_CONTEXT]} … {text[-_CONTEXT:]}"
        return exact(text)
    return f"<{_MARKS[change]}>{exact(text)}</{_MARKS[change]}>"


def version_panes(value: VersionDiff, changes: Sequence[BlockChange]) -> Payload:
    """Return these blocks of both versions side by side, always compared with the first version.

    The row of a block says how many equal blocks before it are left out, and how many tokens they
    have.
    """
    numbers = {id(change): number for number, change in enumerate(value.changes)}
    shown = [numbers[id(change)] for change in changes]
    rows, last = [], -1
    for number in shown:
        left = value.changes[last + 1 : number]
        tokens = sum(change.tokens[1] for change in left if change.kind == "same")
        alike = sum(change.kind == "same" for change in left)
        note = f"{counted(alike, 'block')} alike, {grouped(tokens)} tokens, then: " if alike else ""
        rows.append((number, note, value.changes[number]))
        last = number
    panes = []
    for version, name in ((value.first, "before"), (value.second, "after")):
        placed = [(getattr(change, name), number, note, change) for number, note, change in rows]
        there = sorted((each for each in placed if each[0]), key=lambda each: each[0].number)
        messages = [_message(*each) for each in there]
        size = f"{version.size} tokens, {version.position}"
        panes.append({"name": version.name, "note": size, "messages": messages})
    return {**grid(panes), "base": 0, "fixed": True}


def _message(block: VersionBlock, at: int, note: str, change: BlockChange) -> Payload:
    shown = {
        "origin": f"change:{at}",
        "kind": block.writer,
        "label": f"{note}{change.block.name}",
        "text": block.text,
        "badge": change.kind,
    }
    return {"role": block.role or block.tier, "blocks": [shown]}
