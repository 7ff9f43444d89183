"""The names of everything in a corpus' store, and the numbers that say who can read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.plugins.corpus.store_protocol import Store
from playground.plugins.corpus.tables import SCHEMAS

LAYOUT: Final = 1  # of the folder; a reader of an older one refuses a newer one
ANALYSIS: Final = 6  # of the facts: another number where a rule changes what is found
_MANIFEST: Final = re.compile(r"\.v(\d+)\.json$")


def current_analysis() -> int:
    """Return the version of the analysis that this playground makes."""
    return ANALYSIS


@dataclass(frozen=True, slots=True)
class CorpusFolder:
    """The names of a corpus's files; `analysis` is the version whose facts are meant."""

    store: Store
    analysis: int = field(default_factory=current_analysis)

    def files(self, generation: int) -> str:
        """Return the name of the list of files and contents of a generation of the catalog."""
        return f"files/{generation}.parquet"

    def facts(self, table: str, shard: str) -> str:
        (name,) = self.fact_files(table, shard)
        return name

    def fact_files(self, table: str, shard: str, months: Sequence[str] = ()) -> list[str]:
        """Return the files of a shard's table: one, or one for each month of a compacted shard."""
        folder = f"facts/v{self.analysis}/{table}"
        parts = [f"{folder}/month={month}" for month in months] or [folder]
        return [f"{part}/{shard}.parquet" for part in parts]

    def manifest(self, shard: str) -> str:
        return f"manifest/{shard}.v{self.analysis}.json"

    def of(self, analysis: int) -> CorpusFolder:
        """Return the same folder, of another analysis."""
        return replace(self, analysis=analysis)

    @property
    def built_shards(self) -> list[str]:
        """Every shard of this analysis that has a manifest, whether it counts or not."""
        ending = f".v{self.analysis}.json"
        found = self.store.names("manifest")
        return [name.removesuffix(ending) for name in found if name.endswith(ending)]

    @property
    def analyses(self) -> list[int]:
        """Every version of which there are facts of some shard, the oldest first."""
        found = (_MANIFEST.search(name) for name in self.store.names("manifest"))
        return sorted({int(each[1]) for each in found if each})

    def pack(self, shard: str) -> str:
        return f"blocks/{shard}.pack"

    def index(self, shard: str) -> str:
        return f"blocks/{shard}.parquet"

    def sizes(self, shard: str, months: Sequence[str] = ()) -> dict[str, int]:
        """Return all files of a shard but its manifest, and how long they are: one of another
        length is torn.
        """
        facts = (name for table in SCHEMAS for name in self.fact_files(table, shard, months))
        names = (self.pack(shard), self.index(shard), *facts)
        return {name: self.store.size(name) for name in names}

    def attempts(self, shard: str) -> str:
        return f"attempts/{shard}"
