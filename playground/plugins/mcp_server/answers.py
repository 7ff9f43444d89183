"""The structure of every answer: a short text, and JSON of a known schema and a bounded size.

Secrets are starred out before a part of an answer is cut off. The answer says if either was done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, Field

from playground.base.findings import Finding
from playground.base.fixes import FIXES
from playground.plugins.mcp_server.patches import written
from playground.recordings.scrubbing import Tally, describe_stars, searcher, star_secrets
from playground.recordings.value_scrubbing import scrubbed_with

_MOST: Final = 30_000  # characters of an answer's JSON, without edits
_MOST_TEXT: Final = 4_000  # characters of an answer's text
_MOST_EDITS: Final = 60_000  # characters of a mend's edits
_LONG_EDITS: Final = 4_000  # characters: only one mend may have longer edits
_NOTES: Final = 8  # the most notes about cut values


class Noticed(BaseModel):
    """A finding, with its remedy."""

    code: str
    severity: str
    where: str
    message: str
    remedy: str = ""


class Mend(BaseModel):
    """A mend: a change that helps, with the library's answer after the change."""

    change: str = Field(description="The change, in words")
    edits: list[dict[str, Any]] = Field(
        description="The change as a JSON Patch (RFC 6902) of this tool's own arguments; "
        "empty if it is too long, or would repeat a secret or another mend's long edits"
    )
    then: str = Field(description="The library's answer for the changed arguments")
    assumes: list[str] = Field(default=[], description="What this change assumes or loses")


class Answer(BaseModel):
    """An answer in words, with its place, its certainty, its mends, and the library's own JSON."""

    answer: str = Field(description="The answer in a sentence or two")
    where: str = Field(default="", description="The place: a JSON Pointer, characters, a name")
    sure: str = Field(description="`certain` or `not certain`, and why, after a colon")
    remedy: str = Field(default="", description="What to do, in general")
    mends: list[Mend] = Field(
        default=[], description="Changes that help, tried by the library; the best is first"
    )
    findings: list[Noticed] = []
    details: dict[str, Any] = Field(
        default={}, description="What the library and `--json` of the command line answer"
    )
    cut: list[str] = Field(default=[], description="What was left out for its size")
    starred: str = Field(default="", description="A sentence on starred-out secrets, if any")

    def text(self) -> str:
        """Return the answer for reading."""
        lines = [self.answer]
        named = (("Where", self.where), ("Sure", self.sure), ("Do", self.remedy))
        lines += [f"{name}: {value}" for name, value in named if value]
        for number, mend in enumerate(self.mends, 1):
            assumed = f" Assumes: {'; '.join(mend.assumes)}." if mend.assumes else ""
            lines.append(f"Mend {number} (mends[{number - 1}].edits): {mend.change}.{assumed}")
            lines.append(f"  Then: {mend.then}")
        others = (f"{each.code} ({each.where}): {each.message}" for each in self.findings[:5])
        lines += [*others, *(f"Cut: {note}" for note in self.cut), self.starred]
        text = "\n".join(filter(None, lines))
        return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}… (the JSON has more)"


def noticed(findings: Iterable[Finding]) -> list[Noticed]:
    """Return findings with their remedies, each once, the severest first."""
    order = ("error", "warning", "info")
    ranked = sorted(findings, key=lambda each: order.index(each.severity))
    return [
        Noticed(
            code=each.code,
            severity=each.severity,
            where=each.where,
            message=each.message,
            remedy=FIXES.get(each.code, ""),
        )
        for each in dict.fromkeys(ranked)
    ]


def sendable(answer: Answer) -> Answer:
    """Return an answer without secrets, cut to about `_MOST` characters of JSON. The edits of a
    mend do not count. They are never cut, but left out if they hold a secret or are too long. Only
    the first mend with long edits keeps them, because later ones mostly repeat its edits."""
    tally, value = Tally(), answer.model_dump(mode="json")
    clean = scrubbed_with(searcher(), value, tally)
    if tally:
        for mend, given in zip(clean["mends"], value["mends"], strict=True):
            if mend["edits"] != given["edits"]:
                mend["edits"] = []
        clean["starred"] = describe_stars(tally.counts)
    edits = [mend.pop("edits") for mend in clean["mends"]]
    text, items, notes = 2_000, 40, list[str]()
    while True:
        notes = []
        short = _shortened(clean, "", text, items, notes)
        if len(written(short)) <= _MOST or items <= 2:
            break
        text, items = text // 2, items // 2
    most = _MOST_EDITS
    for number, own in enumerate(edits):  # a mend with only a part of its edits would do harm
        size = len(written(own))
        short["mends"][number]["edits"] = own if size <= most else []
        if size > most:
            notes.insert(0, f"mends.{number}.edits: left out, {size:,} characters")
        elif size > _LONG_EDITS:
            most = _LONG_EDITS
    more = [f"and {len(notes) - _NOTES} places more"] if len(notes) > _NOTES else []
    return Answer(**{**short, "cut": [*answer.cut, *notes[:_NOTES], *more]})


def without_secrets(text: str) -> str:
    """Return an error's words without secrets."""
    return star_secrets(text, searcher(), Tally())


def _shortened(value: Any, place: str, text: int, items: int, notes: list[str]) -> Any:
    """Return a JSON value with long texts, lists and objects cut; add a note for each."""
    match value:
        case str() if len(value) > text:
            notes.append(f"{place}: {text:,} of {len(value):,} characters")
            return f"{value[:text]}…"
        case list() | dict() if len(value) > items and place:
            notes.append(f"{place}: {items} of {len(value):,} items")
    match value:
        case list():
            kept = value[:items]
            return [_shortened(v, f"{place}.{i}", text, items, notes) for i, v in enumerate(kept)]
        case dict():
            pairs = list(value.items())[: items if place else None]
            return {
                k: _shortened(v, f"{place}.{k}".lstrip("."), text, items, notes) for k, v in pairs
            }
    return value
