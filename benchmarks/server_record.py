"""The record of runs of servers' parsers: counts for each slip, and counter-examples to our views.

`proven.json` has the counts, which views read, for one version of each server. By its rule, another
sample of replies never turns a disproof into a proof. So a run adds its counts to earlier ones.
After a change of a view or of our parser all samples are run again, and take the place of what was
recorded; `counter_examples.json`, beside this file, has a reply for each slip with few differences,
which no sample might hold any more. It is run again, too, and only if it is read alike then, the
disproof is gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from playground.base.output import write_file
from playground.servers import declarations

COUNTS: Final = Path(declarations.__file__).parent / "proven.json"
REPLIES: Final = Path(__file__).parent / "counter_examples.json"
FEW: Final = 3
"""If more replies with a slip differ, every sample has one of them: none is written."""


@dataclass(frozen=True)
class Outcome:
    """A reply of some kind that was run. `slip` is empty if the reply proves nothing of a single
    slip; `equal` is True if the server read the reply as its view says."""

    kind: str
    text: str
    slip: str
    equal: bool

    @property
    def key(self) -> str:
        """The key of a counter-example: a short hash of kind and text."""
        return hashlib.sha256(f"{self.kind}\n{self.text}".encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Share:
    """Replies with one slip: how many both read alike, how many there are, and the key of a short
    one that differed. Older runs may have differences whose replies nobody knows."""

    equal: int = 0
    of: int = 0
    example: str = ""

    @property
    def differing(self) -> int:
        return self.of - self.equal

    def __add__(self, other: Share) -> Share:
        example = self.example or other.example
        return Share(self.equal + other.equal, self.of + other.of, example)


Shares = Mapping[str, Share]
"""By slip."""


@dataclass
class Record:
    """Everything that is recorded of one version of a server."""

    version: str
    samples: dict[int, int] = field(default_factory=dict)
    """The number of replies of each kind, by seed."""
    places: dict[str, Shares] = field(default_factory=dict)
    """Shares by parser and dialect, as in `hermes qwen3-coder`."""
    replies: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Kind and text of counter-examples, by their keys."""
    claims: tuple[int, int] = (0, 0)
    """The replies whose reading the view claimed and was right about, and all that it claimed: of
    the last sample that was new."""

    def counter_examples(self, place: str) -> list[tuple[str, str]]:
        """Return kind and text of the counter-examples of a parser and a dialect that have one."""
        keys = {share.example for share in self.places.get(place, {}).values()}
        return [self.replies[key] for key in sorted(keys & self.replies.keys())]

    def take(self, place: str, outcomes: Iterable[Outcome], *, anew: bool) -> None:
        """Take what a run found of one parser and one dialect; `anew` if all samples and
        counter-examples were run again."""
        ran = list(outcomes)
        earlier = self.places.get(place, {})
        self.places[place] = renewed(earlier, ran) if anew else added(earlier, ran)
        self.replies |= {each.key: (each.kind, each.text) for each in ran if not each.equal}


def added(shares: Shares, outcomes: Iterable[Outcome]) -> Shares:
    """Return shares of earlier runs with the outcomes of a run."""
    total = dict(shares)
    for each in sorted(outcomes, key=lambda each: len(each.text)):
        if each.slip:
            one = Share(int(each.equal), 1, "" if each.equal else each.key)
            total[each.slip] = total.get(each.slip, Share()) + one
    return dict(sorted(total.items()))


def renewed(shares: Shares, outcomes: Iterable[Outcome]) -> Shares:
    """Return the shares of a run that takes the place of earlier runs.

    A slip stays disproved if its counter-example was not run, or still differs and has no single
    slip any more. If none is known, few differences stay: the samples have more of the others.
    """
    ran = {each.key: each for each in outcomes}
    total = dict(added({}, ran.values()))
    for slip, share in shares.items():
        new = total.get(slip, Share())
        again = ran.get(share.example)
        is_settled = again is not None and (again.equal or bool(again.slip))
        is_frequent = not share.example and share.differing > FEW
        if share.differing and not new.differing and not is_settled and not is_frequent:
            total[slip] = new + replace(share, equal=0, of=share.differing)
    return dict(sorted(total.items()))


def load_record(server: str, version: str) -> Record:
    """Return what is recorded of this version of a server; nothing if it is of another version."""
    counts, examples = _load(COUNTS).get(server, {}), _load(REPLIES)
    if counts.get("version") != version:
        return Record(version)
    keys = examples["differing"].get(server, {})
    places = {
        place: {
            slip: Share(equal, of, keys.get(place, {}).get(slip, ""))
            for slip, (equal, of) in slips.items()
        }
        for place, slips in counts["slips"].items()
    }
    replies = {key: (kind, text) for key, (kind, text) in examples["replies"].items()}
    samples = {int(seed): tries for seed, tries in counts.get("samples", {}).items()}
    right, claimed = counts.get("claims", (0, 0))
    return Record(version, samples, dict(places), replies, (right, claimed))


def save_record(server: str, record: Record) -> None:
    """Write the record of one server beside those of the others."""
    counts, examples = _load(COUNTS), _load(REPLIES)
    counts[server] = {
        "version": record.version,
        "date": datetime.now(UTC).date().isoformat(),
        "samples": record.samples,
        "claims": record.claims,
        "slips": {
            place: {slip: [share.equal, share.of] for slip, share in shares.items()}
            for place, shares in record.places.items()
            if shares
        },
    }
    differing = examples["differing"]
    differing[server] = {
        place: keys for place, shares in record.places.items() if (keys := _few_keys(shares))
    }
    replies = {**examples["replies"], **record.replies}
    places = [keys for places in differing.values() for keys in places.values()]
    written = {key for keys in places for key in keys.values()}
    examples["replies"] = {key: replies[key] for key in written}
    write_file(COUNTS, json.dumps(counts, sort_keys=True, ensure_ascii=False) + "\n", force=True)
    lines = json.dumps(examples, sort_keys=True, ensure_ascii=False, indent=0)
    write_file(REPLIES, lines + "\n", force=True)


def _few_keys(shares: Shares) -> dict[str, str]:
    """Return the keys of counter-examples by slip, where few replies differ."""
    rare = {slip: share for slip, share in shares.items() if share.differing <= FEW}
    return {slip: share.example for slip, share in rare.items() if share.example}


def _load(file: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return table
