"""Find equal blocks of many shards, and number each for one common pack.

DuckDB sorts within its bounds: however many texts there are, few are in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.plugins.corpus.storing import SKELETON

_BLOCKS = "CREATE TABLE blocks (place UBIGINT, hash BLOB, own BOOLEAN)"
_OF_A_SHARD = """
INSERT INTO blocks
SELECT ({shard}::UBIGINT << 32) + file_row_number, hash, kind = '{skeleton}'
FROM read_parquet({index}, file_row_number = true)
"""
_FIRSTS = """
CREATE TABLE firsts AS
SELECT hash, place, row_number() OVER (ORDER BY place) - 1 AS number FROM (
  SELECT hash, min(place) AS place FROM blocks WHERE NOT own GROUP BY hash
  UNION ALL SELECT NULL, place FROM blocks WHERE own)
"""
_NUMBERED = """
CREATE TABLE numbered AS
SELECT b.place, f.number, b.place = f.place AS is_first
FROM blocks b JOIN firsts f ON b.hash = f.hash WHERE NOT b.own
UNION ALL SELECT place, number, true FROM firsts WHERE hash IS NULL
ORDER BY 1
"""
_ASKED = """
SELECT number::UINTEGER AS number, is_first FROM numbered
WHERE place >= {shard}::UBIGINT << 32 AND place < ({shard} + 1)::UBIGINT << 32 ORDER BY place
"""


class Numbering:
    """The numbers that the blocks of some shards get together, in the order of the shards.

    Of blocks that say the same the first one stays; the skeleton of a session, which names others
    by their numbers, always does. `made` is a DuckDB for this alone, `indexes` are texts of SQL.
    """

    def __init__(self, made: Any, indexes: Sequence[str]) -> None:
        self._made = made
        made.execute(_BLOCKS)
        for shard, index in enumerate(indexes):
            sql = _OF_A_SHARD.format(shard=shard, skeleton=SKELETON, index=index)
            made.execute(sql)
        made.execute(_FIRSTS)
        made.execute(_NUMBERED)
        made.execute("DROP TABLE blocks")
        made.execute("DROP TABLE firsts")

    def of(self, shard: int) -> tuple[memoryview, memoryview]:
        """For each block of a shard, in its order: the new number (32 bits), and whether it is the
        one that stays."""
        found = self._made.execute(_ASKED.format(shard=shard)).fetchnumpy()
        return memoryview(found["number"]), memoryview(found["is_first"])
