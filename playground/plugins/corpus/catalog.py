"""The catalog of a corpus: its shards, those of their pieces that are ignored, and the input files.

Readers begin with this file. Only a process that holds the lock replaces it, in one step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.plugins.corpus.forms import check_catalog, check_manifest, json_object
from playground.plugins.corpus.inputs import InputPiece
from playground.plugins.corpus.layout import LAYOUT, CorpusFolder, current_analysis
from playground.plugins.corpus.store_protocol import CATALOG
from playground.plugins.corpus.tables import SCHEMAS

_FILES: Final = pa.schema(
    {
        "piece": pa.uint64(),
        "content": pa.string(),
        "name": pa.string(),
        "path": pa.string(),
        "start": pa.uint64(),
        "size": pa.uint64(),
        "stamp": pa.string(),
    }
)


@dataclass(slots=True)
class Catalog:
    """The contents of a corpus: its `shards`, and the pieces in them whose rows are ignored
    (`dropped`, as 64-bit numbers).

    `generation` counts the catalogs that were written. `months` are the months into which a
    compacted shard's facts are split. If `redacts`, no text is stored. `aside` are pieces that no
    attempt could build; `faults` are unreadable inputs.
    """

    generation: int = 0
    analysis: int = field(default_factory=current_analysis)
    redacts: bool = False
    shards: list[str] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    months: dict[str, list[str]] = field(default_factory=dict)
    aside: list[dict[str, str]] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)

    @property
    def state(self) -> str:
        """A text that changes with every build, even if the corpus is deleted and built again."""
        return blake2b(json.dumps(self._as_json).encode(), digest_size=8).hexdigest()

    @property
    def _as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def read_catalog(folder: CorpusFolder) -> Catalog:
    """Read a corpus' catalog. Raises InputFault if it is missing, damaged or of a newer layout."""
    expected = "the folder of a corpus that `playground corpus build` made"
    where = f"{folder.store.name}/{CATALOG}"
    try:
        value = json_object(folder.store.read(CATALOG))
        refuse_newer(value.pop("layout"), LAYOUT, "layout", where)
        check_catalog(value)
    except (FileNotFoundError, NotADirectoryError) as error:
        name = folder.store.name
        raise InputFault("there is no corpus", where=name, expected=expected) from error
    except (OSError, ValueError) as error:
        raise InputFault(f"not a catalog ({error})", where=where, expected=expected) from error
    return Catalog(**value)


def for_analysis(folder: CorpusFolder, catalog: Catalog) -> Catalog:
    """Return the catalog with only those shards that have facts of the folder's analysis. Raises
    InputFault if no shard has them."""
    if folder.analysis == catalog.analysis:
        return catalog
    by_shard = {each["shard"]: each for each in manifests(folder, redacts=catalog.redacts)}
    shards = [shard for shard in catalog.shards if shard in by_shard]
    months = {shard: by_shard[shard].get("months", []) for shard in shards}
    if not shards:
        versions = ", ".join(map(str, folder.analyses))
        known = f"one of: {versions}" if versions else "there are no facts of any analysis"
        raise InputFault(
            f"no facts of analysis {folder.analysis}",
            where=folder.store.name,
            expected=known,
        )
    return replace(catalog, analysis=folder.analysis, shards=shards, months=months)


def refuse_newer(version: int, newest: int, noun: str, where: str) -> None:
    """Raise InputFault if a file's version is newer than the one that this playground knows."""
    if version > newest:
        raise InputFault(
            f"{noun} {version} is newer than this version of the playground ({noun} {newest})",
            where=where,
            expected="a newer version of the playground, or another folder for a new corpus",
        )


def commit(folder: CorpusFolder, catalog: Catalog, pieces: Iterable[InputPiece]) -> None:
    """Write a catalog as the corpus' next generation, with the list of the pieces' files.

    The previous catalog's list of files stays until the next commit, for readers of that catalog.
    """
    previous = catalog.generation
    catalog.generation += 1
    with folder.store.write_whole(folder.files(catalog.generation)) as path:
        pq.write_table(files_table(pieces), path, compression="zstd")
    folder.store.confirm()
    folder.store.write(CATALOG, json.dumps({"layout": LAYOUT, **catalog._as_json}))
    folder.store.remove(folder.files(previous - 1))


def files_table(pieces: Iterable[InputPiece]) -> pa.Table:
    """Return the table of input files that the view `files` shows."""
    rows = list(pieces)
    columns = [
        [piece.number for piece in rows],
        *([getattr(piece, name) for piece in rows] for name in _FILES.names[1:]),
    ]
    arrays = [pa.array(c, t) for c, t in zip(columns, _FILES.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_FILES)


def built_files(folder: CorpusFolder, catalog: Catalog) -> list[InputPiece]:
    """Return the pieces in the catalog's list of files.

    If that list is missing or damaged, return the pieces of the manifests. With no pieces at all, a
    build would drop the rows of all files that are not among its own inputs.
    """
    try:
        with folder.store.open_file(folder.files(catalog.generation)) as file:
            columns = pq.read_table(file).drop_columns(["piece"]).to_pydict()
    except (OSError, pa.ArrowException):
        found_manifests = manifests(folder.with_analysis(catalog.analysis), redacts=catalog.redacts)
        shards, gone = set(catalog.shards), set(catalog.dropped)
        listed = [manifest for manifest in found_manifests if manifest["shard"] in shards]
        pieces = (InputPiece(**piece) for manifest in listed for piece in manifest["pieces"])
        return [piece for piece in pieces if piece.number not in gone]
    rows = zip(*columns.values(), strict=True)
    return [InputPiece(**dict(zip(columns, row, strict=True))) for row in rows]


def manifests(folder: CorpusFolder, *, redacts: bool) -> Iterator[dict[str, Any]]:
    """Yield the manifests of the complete shards that have facts of the folder's analysis and this
    `redacts`. A build replaces other shards. Raises InputFault for a manifest of a newer layout."""
    size = folder.store.sizes()
    for shard in folder.built_shards:
        manifest = _manifest(folder, shard)
        if manifest is None or manifest["redacts"] != redacts:
            continue
        if _is_whole(manifest["files"], size):
            yield manifest


def _manifest(folder: CorpusFolder, shard: str) -> dict[str, Any] | None:
    """Read a shard's manifest; None if it is damaged. Raises InputFault for a newer layout."""
    name = folder.manifest(shard)
    try:
        manifest = json_object(folder.store.read(name))
        refuse_newer(manifest["layout"], LAYOUT, "layout", f"{folder.store.name}/{name}")
        check_manifest(manifest, shard)
    except ValueError:
        return None
    return manifest


def refuse_older(folder: CorpusFolder, shard_manifests: Iterable[Mapping[str, Any]]) -> None:
    """Raise InputFault if a shard was built before one of the tables was introduced."""
    shards = list(shard_manifests)
    for table in SCHEMAS:
        older = sum(not has_table(folder, manifest, table) for manifest in shards)
        if older:
            problem = (
                f"{older} of {len(shards)} shards were built before there was a table `{table}`"
            )
            expected = "`playground corpus build` with the same inputs, which builds them again"
            raise InputFault(problem, where=folder.store.name, expected=expected)


def has_table(folder: CorpusFolder, manifest: Mapping[str, Any], table: str) -> bool:
    """Return True if the shard of a manifest has this table."""
    (name, *_) = folder.fact_files(table, manifest["shard"], manifest.get("months", ()))
    return name in manifest["files"]


def delete_others(folder: CorpusFolder, keep: Collection[str]) -> None:
    """Delete the files of each shard not in `keep`, in all analyses, but none of a newer layout."""
    for version in map(folder.with_analysis, folder.analyses):
        for shard in set(version.built_shards) - set(keep):
            try:
                manifest = _manifest(version, shard)
            except InputFault:  # a shard of a newer playground, with another layout
                continue
            folder.store.remove(version.manifest(shard))
            files = manifest["files"] if manifest else ()  # an incomplete manifest names no files
            for name in files:
                folder.store.remove(name)


def _is_whole(files: Mapping[str, int], size: Callable[[str], int]) -> bool:
    """Return True if all `files` exist and have the sizes with which they were written."""
    try:
        return all(size(name) == length for name, length in files.items())
    except OSError:
        return False
