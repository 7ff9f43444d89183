"""A corpus: many recorded sessions in one folder, as facts that are asked and texts that are kept.

What lies where
---------------
Files come in as *pieces* (`inputs.py`): a file, a member of a tar, a stretch of a long file of
lines; each is known by the hash of its bytes. Pieces are put together to *shards* of about 32 MB
(`planning.py`), and a shard is all that a worker sees: `shards.py:build_shard` is one pure function
from pieces to files, and every engine (`engines.py`) runs this same one. A shard has

* facts (`tables.py`): a row for each session, request, call, finding and break, as Parquet, under
  the version of our analysis that found them: `facts/v1/calls/SHARD.parquet`;
* texts (`blocks.py`): messages, tools and system prompts by the hash of what they say, once within
  the shard, in frames of zstd;
* a manifest, written last. What has none is not there.

All of it is read and written through a store (`stores.py`; `remote_stores.py` behind an address),
by names below the corpus; `layout.py` says what is called how. `catalog.py` holds the one file that
readers begin with, `corpus.json`: which shards count, and which of their pieces are gone. It is
replaced whole, so whoever reads sees a corpus that was one.

Who asks
--------
`asking.py` opens DuckDB over the facts of those shards (`views.py`), within bounds of memory and
time. The named questions are data: a text of SQL and what it may be asked `by`, in `questions/`.

What must not be done
---------------------
- A glob over a folder that may be being built: the catalog says which files there are.
- Text of a session in a question's SQL: values are parameters.
- Anything stored that was not cleaned: a session loses its secrets (`cleaning.py`) before the first
  fact is taken from it, so that nothing behind that line can keep one.
"""
