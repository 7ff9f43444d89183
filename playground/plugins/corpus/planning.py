"""Plan a build: find the pieces that no shard has yet, and group them into shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatch
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.plugins.corpus.inputs import PIECE_BYTES, InputPiece, find_files, pieces_of
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.places import InputFile, is_remote, plain_path, recorded_place

MOST_PIECES: Final = 4_000  # the most pieces of a shard

Progress = Callable[[str, int, int], None]  # (what is done, bytes done, bytes in all or 0)


@dataclass(slots=True)
class BuildPlan:
    """The pieces that the corpus will have, and the faults of inputs that cannot be read."""

    pieces: list[InputPiece] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)


def plan(
    inputs: Sequence[str | Path],
    folder: CorpusFolder,
    before: Iterable[InputPiece],
    progress: Progress | None = None,
) -> BuildPlan:
    """Return the current pieces of the inputs, and those pieces of earlier builds (`before`) whose
    files no input covers. So a build from another folder adds to the corpus, and old pieces of a
    changed or deleted file are dropped. A file at an address with the same stamp is not read again.
    """
    places = [recorded_place(source) for source in inputs]
    earlier = list(before)
    by_file: dict[InputFile, list[InputPiece]] = {}
    for piece in earlier:
        if piece.stamp:
            by_file.setdefault(InputFile(piece.path, piece.stamp), []).append(piece)
    result = BuildPlan([piece for piece in earlier if not _is_covered(piece.path, places)])
    read = 0
    for file in find_files(places, folder.store.name):
        path, stamp = file
        try:
            pieces = by_file.get(file) or [replace(piece, stamp=stamp) for piece in pieces_of(path)]
        except InputFault as fault:
            result.faults.append({"name": plain_path(path), "problem": str(fault)})
            continue
        result.pieces += pieces
        read += sum(piece.size for piece in pieces)
        if progress is not None:
            progress("looking", read, 0)
    return result


def _is_covered(path: str, inputs: Iterable[str]) -> bool:
    file_path = plain_path(path)
    return any(
        file_path == source or Path(file_path).is_relative_to(source) or _matches(file_path, source)
        for source in map(plain_path, inputs)
    )


def _matches(path: str, pattern: str) -> bool:
    """Return True if a pattern fits a file. `**` spans folders; in an address, `*` does so, too."""
    if is_remote(pattern):
        return fnmatch(path, pattern)
    return not is_remote(path) and _parts_match(Path(path).parts, Path(pattern).parts)


def _parts_match(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_parts_match(parts[start:], patterns[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], patterns[0]) and _parts_match(parts[1:], patterns[1:])


def jobs(
    pieces: Iterable[InputPiece],
    folder: CorpusFolder,
    *,
    redacts: bool,
    shard_bytes: int = PIECE_BYTES,
) -> Iterator[dict[str, Any]]:
    """Group pieces, in their order, into shards of about `shard_bytes`; yield a job per shard.

    A shard of small files may be much smaller, because it has at most MOST_PIECES pieces.
    """
    waiting: list[InputPiece] = []
    size = 0
    for piece in pieces:
        if waiting and (size + piece.size > shard_bytes or len(waiting) == MOST_PIECES):
            yield job(waiting, folder, redacts=redacts)
            waiting, size = [], 0
        waiting.append(piece)
        size += piece.size
    if waiting:
        yield job(waiting, folder, redacts=redacts)


def job(pieces: Sequence[InputPiece], folder: CorpusFolder, *, redacts: bool) -> dict[str, Any]:
    """Return the job that builds a shard, as plain data. A hash of the content names the shard."""
    content = "\0".join([str(redacts), *(piece.content for piece in pieces)])
    return {
        "out": folder.store.address,
        "analysis": folder.analysis,
        "shard": blake2b(content.encode(), digest_size=12).hexdigest(),
        "redacts": redacts,
        "pieces": [asdict(piece) for piece in pieces],
    }


def rebuild_job(manifest: dict[str, Any], folder: CorpusFolder) -> dict[str, Any]:
    """Return the job that makes new facts for a shard, given its manifest of an older analysis."""
    unchanged = {name: manifest[name] for name in ("shard", "redacts", "pieces")}
    return {
        "out": folder.store.address,
        "analysis": folder.analysis,
        "before": manifest["analysis"],
        **unchanged,
    }


def split_job(old_job: dict[str, Any], folder: CorpusFolder) -> list[dict[str, Any]]:
    """Split a job whose attempts all failed into two jobs, to find the piece at fault."""
    pieces = [InputPiece(**piece) for piece in old_job["pieces"]]
    middle = len(pieces) // 2
    return [
        job(part, folder, redacts=old_job["redacts"]) for part in (pieces[:middle], pieces[middle:])
    ]
