"""Where everything of a corpus lies in its folder, and the numbers that say who can read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from playground.corpora.tables import SCHEMAS

LAYOUT: Final = 1  # of the folder; a reader of an older one refuses a newer one
ANALYSIS: Final = 3  # of the facts: another number where a rule changes what is found


def current_analysis() -> int:
    """The version of the analysis that this playground makes."""
    return ANALYSIS


@dataclass(frozen=True, slots=True)
class CorpusFolder:
    """The places in a corpus; `analysis` is the version whose facts are meant."""

    path: Path
    analysis: int = field(default_factory=current_analysis)

    @property
    def catalog(self) -> Path:
        return self.path / "corpus.json"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def scratch(self) -> Path:
        """For what is being made; nothing in it counts."""
        return self.path / ".tmp"

    def files(self, generation: int) -> Path:
        """Which file has which content, as of a generation of the catalog."""
        return self.path / "files" / f"{generation}.parquet"

    def facts(self, table: str, shard: str) -> Path:
        return self.path / "facts" / f"v{self.analysis}" / table / f"{shard}.parquet"

    def fact_files(self, table: str, shard: str, months: Sequence[str] = ()) -> list[Path]:
        """The files of a shard's table: one, or one for each month of a compacted shard."""
        plain = self.facts(table, shard)
        return [plain.parent / f"month={month}" / plain.name for month in months] or [plain]

    def manifest(self, shard: str) -> Path:
        return self.path / "manifest" / f"{shard}.v{self.analysis}.json"

    def of(self, analysis: int) -> CorpusFolder:
        """The same folder, of another analysis."""
        return replace(self, analysis=analysis)

    @property
    def analyses(self) -> list[int]:
        """Every version of which there are facts of some shard, the oldest first."""
        names = (path.name.split(".")[-2] for path in (self.path / "manifest").glob("*.v*.json"))
        return sorted({int(name[1:]) for name in names if name[1:].isdigit()})

    def pack(self, shard: str) -> Path:
        return self.path / "blocks" / f"{shard}.pack"

    def index(self, shard: str) -> Path:
        return self.path / "blocks" / f"{shard}.parquet"

    def sizes(self, shard: str, months: Sequence[str] = ()) -> dict[str, int]:
        """All files of a shard but its manifest, and how long they are: one of another length is
        torn."""
        facts = [path for table in SCHEMAS for path in self.fact_files(table, shard, months)]
        paths = [self.pack(shard), self.index(shard), *facts]
        return {str(path.relative_to(self.path)): path.stat().st_size for path in paths}

    def attempts(self, shard: str) -> Path:
        return self.path / "attempts" / shard
