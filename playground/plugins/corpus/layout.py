"""The names of all files in a corpus' store, and the versions of its layout and analysis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.plugins.corpus.store_protocol import Store
from playground.plugins.corpus.tables import SCHEMAS

LAYOUT: Final = 1  # version of the folder's layout; older playgrounds refuse a newer one
ANALYSIS: Final = 9  # version of the facts; raise it if a rule's change alters them
_MANIFEST: Final = re.compile(r"\.v(\d+)\.json$")


def current_analysis() -> int:
    """Return the version of this playground's analysis."""
    return ANALYSIS


@dataclass(frozen=True, slots=True)
class CorpusFolder:
    """The names of a corpus's files. `analysis` is the version of our analysis whose facts and
    manifests are meant."""

    store: Store
    analysis: int = field(default_factory=current_analysis)

    def files(self, generation: int) -> str:
        """Return the name of the list of input files of a generation of the catalog."""
        return f"files/{generation}.parquet"

    def facts(self, table: str, shard: str) -> str:
        (name,) = self.fact_files(table, shard)
        return name

    def fact_files(self, table: str, shard: str, months: Sequence[str] = ()) -> list[str]:
        """Return the files of a shard's table: one, or in a compacted shard one for each month."""
        folder = f"facts/v{self.analysis}/{table}"
        parts = [f"{folder}/month={month}" for month in months] or [folder]
        return [f"{part}/{shard}.parquet" for part in parts]

    def manifest(self, shard: str) -> str:
        return f"manifest/{shard}.v{self.analysis}.json"

    def with_analysis(self, analysis: int) -> CorpusFolder:
        """Return the same folder with another version of the analysis."""
        return replace(self, analysis=analysis)

    @property
    def built_shards(self) -> list[str]:
        """All shards with a manifest of this analysis, even if the catalog does not list them."""
        ending = f".v{self.analysis}.json"
        names = self.store.names("manifest")
        return [name.removesuffix(ending) for name in names if name.endswith(ending)]

    @property
    def analyses(self) -> list[int]:
        """All versions of the analysis for which there are facts, the oldest first."""
        matches = (_MANIFEST.search(name) for name in self.store.names("manifest"))
        return sorted({int(match[1]) for match in matches if match})

    def pack(self, shard: str) -> str:
        return f"blocks/{shard}.pack"

    def index(self, shard: str) -> str:
        return f"blocks/{shard}.parquet"

    def sizes(self, shard: str, months: Sequence[str] = ()) -> dict[str, int]:
        """Return the sizes of a shard's files, without its manifest.

        A file whose size differs later is damaged.
        """
        facts = (name for table in SCHEMAS for name in self.fact_files(table, shard, months))
        names = (self.pack(shard), self.index(shard), *facts)
        return {name: self.store.size(name) for name in names}

    def attempts(self, shard: str) -> str:
        return f"attempts/{shard}"
