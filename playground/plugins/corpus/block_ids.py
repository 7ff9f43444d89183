"""The numbers of blocks in a compacted shard: equal blocks of several shards get the same number.

DuckDB finds the equal blocks within its memory limit, so there may be any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.plugins.corpus.storing import SKELETON

# a block's place: its shard's index in the upper 32 bits, its number there in the lower ones
_BLOCKS_SQL = "CREATE TABLE blocks (place UBIGINT, hash BLOB, is_skeleton BOOLEAN)"
_INSERT_SQL = """
INSERT INTO blocks
SELECT ({shard}::UBIGINT << 32) + file_row_number, hash, kind = '{skeleton}'
FROM read_parquet({index}, file_row_number = true)
"""
_FIRSTS_SQL = """
CREATE TABLE firsts AS
SELECT hash, place, row_number() OVER (ORDER BY place) - 1 AS number FROM (
  SELECT hash, min(place) AS place FROM blocks WHERE NOT is_skeleton GROUP BY hash
  UNION ALL SELECT NULL, place FROM blocks WHERE is_skeleton)
"""
_NUMBERED_SQL = """
CREATE TABLE numbered AS
SELECT b.place, f.number, b.place = f.place AS is_first
FROM blocks b JOIN firsts f ON b.hash = f.hash WHERE NOT b.is_skeleton
UNION ALL SELECT place, number, true FROM firsts WHERE hash IS NULL
ORDER BY 1
"""
_SHARD_SQL = """
SELECT number::UINTEGER AS number, is_first FROM numbered
WHERE place >= {shard}::UBIGINT << 32 AND place < ({shard} + 1)::UBIGINT << 32 ORDER BY place
"""


class BlockNumbering:
    """The new numbers of the blocks of several shards, in the order of the shards.

    Only the first of several equal blocks stays in the compacted shard. A skeleton (a
    session without its texts) always stays, because it refers to other blocks by number.
    `connection` is a DuckDB connection for this object alone, which makes tables in it; `indexes`
    has each shard's index file as a list in SQL.
    """

    def __init__(self, connection: Any, indexes: Sequence[str]) -> None:
        self._connection = connection
        connection.execute(_BLOCKS_SQL)
        for shard, index in enumerate(indexes):
            sql = _INSERT_SQL.format(shard=shard, skeleton=SKELETON, index=index)
            connection.execute(sql)
        connection.execute(_FIRSTS_SQL)
        connection.execute(_NUMBERED_SQL)
        connection.execute("DROP TABLE blocks")
        connection.execute("DROP TABLE firsts")

    def numbers_of(self, shard: int) -> tuple[memoryview, memoryview]:
        """Return two lists with an entry for each block of a shard, given the shard's index: the
        block's new number, and 1 if the block stays, otherwise 0."""
        columns = self._connection.execute(_SHARD_SQL.format(shard=shard)).fetchnumpy()
        return memoryview(columns["number"]), memoryview(columns["is_first"])
