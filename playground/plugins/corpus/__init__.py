"""A corpus: many recorded sessions in one folder, stored as tables of facts and as texts.

How it is stored
----------------
The input files are split into *pieces* (`inputs.py`): a file, a member of a tar, or a stretch of a
long file of lines. A piece is identified by the hash of its bytes. Pieces are grouped into *shards*
of about 32 MB (`planning.py`). Every engine (`engines.py`) runs the same function for one shard,
`shards.py:build_shard`, which depends on nothing but the shard's pieces. A shard has

* facts (`tables.py`): a row for each session, request, call, finding and cache break, as Parquet,
  in a folder for the version of our analysis that found them: `facts/v1/calls/SHARD.parquet`;
* texts (`blocks.py`): messages, tools and system prompts, each stored once in the shard under its
  hash, in frames of zstd;
* a manifest, which is written last. Readers ignore a shard without a manifest.

All files are read and written through a store (`stores.py`; `remote_stores.py` for an address), by
names within the corpus, which `layout.py` defines. Readers begin with one file, `corpus.json`
(`catalog.py`): it lists the shards in use, and those of their pieces whose rows are ignored,
because a file changed or is gone. It is replaced in one step, so a reader sees a consistent corpus.

How it is asked
---------------
`asking.py` opens DuckDB over the facts of the shards in use (`views.py`), with limits on memory and
time. The named questions are data: SQL, and the columns that they may be grouped `by`
(`questions/`).

Rules
-----
- Never glob a folder, because a build may be writing to it. The catalog lists the files.
- Never put a session's text into a question's SQL. Pass values as parameters.
- Never store anything that was not cleaned: secrets are removed from a session (`cleaning.py`)
  before the first fact is taken from it.
"""
