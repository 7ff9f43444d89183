"""The catalog: which shards count, which of their pieces are gone, which file has which content.

It is the one file that readers begin with, and is replaced whole. Whoever builds holds the lock.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.corpora.inputs import InputPiece
from playground.corpora.layout import LAYOUT, CorpusFolder, current_analysis
from playground.corpora.tables import SCHEMAS
from playground.errors import InputFault
from playground.output import told, whole_file, write_file

_FILES: Final = pa.schema(
    {
        "piece": pa.uint64(),
        "content": pa.string(),
        "name": pa.string(),
        "path": pa.string(),
        "start": pa.uint64(),
        "size": pa.uint64(),
    }
)


@dataclass(slots=True)
class Catalog:
    """What counts: `shards`, but for the pieces of `dropped` (their 64-bit numbers); `months` are
    those by which the facts of a compacted shard lie. `aside` are
    pieces that killed whoever read them, `faults` what could not be read."""

    generation: int = 0
    analysis: int = field(default_factory=current_analysis)
    redacts: bool = False
    shards: list[str] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    months: dict[str, list[str]] = field(default_factory=dict)
    aside: list[dict[str, str]] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)


def read_catalog(folder: CorpusFolder) -> Catalog:
    """The catalog of a corpus. Raises InputFault where there is none, or a newer one."""
    expected = "the folder of a corpus that `playground corpus build` made"
    if not folder.catalog.is_file():
        raise InputFault("there is no corpus", where=str(folder.path), expected=expected)
    try:
        value = json.loads(folder.catalog.read_bytes())
        layout = value.pop("layout")
        catalog = Catalog(**value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputFault(
            f"not a catalog ({error})", where=str(folder.catalog), expected=expected
        ) from error
    refuse_newer(layout, LAYOUT, "layout", folder.catalog)
    return catalog


def as_of(folder: CorpusFolder, catalog: Catalog) -> Catalog:
    """The catalog, of those shards that have facts of the folder's analysis. Raises InputFault
    where none of them has."""
    if folder.analysis == catalog.analysis:
        return catalog
    there = {found["shard"]: found for found in manifests(folder, redacts=catalog.redacts)}
    shards = [shard for shard in catalog.shards if shard in there]
    months = {shard: there[shard].get("months", []) for shard in shards}
    if not shards:
        known = ", ".join(map(str, folder.analyses)) or "none"
        raise InputFault(
            f"no facts of analysis {folder.analysis}",
            where=str(folder.path),
            expected=f"one that there is: {known}",
        )
    return replace(catalog, analysis=folder.analysis, shards=shards, months=months)


def refuse_newer(found: int, known: int, noun: str, path: Path) -> None:
    """Raises InputFault for a file of a version that is newer than this one's."""
    if found > known:
        raise InputFault(
            f"{noun} {found} is newer than this version of the playground ({noun} {known})",
            where=str(path),
            expected="a newer version of the playground, or a corpus of its own folder",
        )


def commit(folder: CorpusFolder, catalog: Catalog, pieces: Iterable[InputPiece]) -> None:
    """Make this catalog the one that counts, with the files of these pieces. The one before it
    stays readable for whoever has it open: its list of files goes with the next commit."""
    before = catalog.generation
    catalog.generation += 1
    rows = list(pieces)
    columns = [
        [each.number for each in rows],
        *([getattr(each, name) for each in rows] for name in _FILES.names[1:]),
    ]
    arrays = [pa.array(c, t) for c, t in zip(columns, _FILES.types, strict=True)]
    with whole_file(folder.files(catalog.generation)) as path:
        pq.write_table(pa.Table.from_arrays(arrays, schema=_FILES), path, compression="zstd")
    value = {name: getattr(catalog, name) for name in Catalog.__slots__}
    write_file(folder.catalog, json.dumps({"layout": LAYOUT, **value}), force=True)
    folder.files(before - 1).unlink(missing_ok=True)


def built_files(folder: CorpusFolder, catalog: Catalog) -> list[InputPiece]:
    """The pieces that the catalog's files are made of."""
    path = folder.files(catalog.generation)
    if not path.is_file():
        return []
    rows = pq.read_table(path).drop_columns(["piece"]).to_pylist()
    return [InputPiece(**row) for row in rows]


def manifests(folder: CorpusFolder, *, redacts: bool) -> Iterator[dict[str, Any]]:
    """The manifests of this analysis, each of a shard whose files are all there and whole; the
    others are built again. Raises InputFault for one of a newer layout."""
    for path in sorted(folder.manifest("x").parent.glob(f"*.v{folder.analysis}.json")):
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            continue
        refuse_newer(found["layout"], LAYOUT, "layout", path)
        if found["redacts"] == redacts and is_whole(folder, found["files"]):
            yield found


def refuse_older(folder: CorpusFolder, found: Iterable[Mapping[str, Any]]) -> None:
    """Raises InputFault where some of the shards of these manifests were built before there was
    each of today's tables."""
    shards = list(found)
    for table in SCHEMAS:
        older = sum(not has_table(folder, each, table) for each in shards)
        if older:
            told = f"{older} of {len(shards)} shards were built before there was a table `{table}`"
            expected = "`playground corpus build` with the same inputs, which builds them again"
            raise InputFault(told, where=str(folder.path), expected=expected)


def has_table(folder: CorpusFolder, found: Mapping[str, Any], table: str) -> bool:
    """Whether the shard of a manifest was built when there was this table."""
    (path, *_) = folder.fact_files(table, found["shard"], found.get("months", ()))
    return str(path.relative_to(folder.path)) in found["files"]


def built_shards(folder: CorpusFolder) -> list[str]:
    """Every shard of this analysis that has a manifest, whether it counts or not."""
    ending = f".v{folder.analysis}.json"
    found = folder.manifest("x").parent.glob(f"*{ending}")
    return [path.name.removesuffix(ending) for path in found]


def take_away(folder: CorpusFolder, keep: Collection[str]) -> None:
    """The files of all shards but these, of every analysis."""
    for each in map(folder.of, folder.analyses):
        for shard in set(built_shards(each)) - set(keep):
            path = each.manifest(shard)
            try:
                listed = json.loads(path.read_bytes())["files"]
            except (ValueError, KeyError, TypeError):  # torn: what it listed is not known
                listed = {}
            path.unlink()
            for name in listed:
                with suppress(OSError):  # a reader of the catalog before may have it open
                    (folder.path / name).unlink()


def is_whole(folder: CorpusFolder, files: Mapping[str, int]) -> bool:
    """Whether files are there in the length in which they were written."""
    try:
        return all((folder.path / name).stat().st_size == size for name, size in files.items())
    except OSError:
        return False


@contextmanager
def locked(folder: CorpusFolder) -> Iterator[None]:
    """The folder is this process's to write. Raises InputFault where another one builds there, and
    for a folder that holds something else."""
    with told(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
        is_ours = folder.lock.exists() or folder.catalog.exists()
        if not is_ours and any(folder.path.iterdir()):
            expected = "an empty folder, or that of a corpus"
            raise InputFault(
                "this folder holds other files", where=str(folder.path), expected=expected
            )
        handle = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputFault(
                "another build is at work here",
                where=str(folder.path),
                expected="to wait for its end, or another folder",
            ) from error
        _swept(folder)
        yield
    finally:
        os.close(handle)


def _swept(folder: CorpusFolder) -> None:
    """Take away what a build left that was killed: nobody else writes now."""
    for path in folder.path.rglob(".playground-*.part"):
        with suppress(OSError):
            path.unlink()
