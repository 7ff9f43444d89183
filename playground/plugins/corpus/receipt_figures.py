"""The figures of receipts (how much of a file is in its sessions), which a build stores by the hash
of the file's content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from playground.plugins.corpus.cleaning import Cleaner
from playground.plugins.corpus.inputs import InputPiece
from playground.plugins.corpus.layout import CorpusFolder
from playground.plugins.corpus.questions.receipts import Figures, figures_of

NAME = "files/receipts.json"


def keep_figures(folder: CorpusFolder, pieces: Iterable[InputPiece]) -> None:
    """Store the figures of inputs that are whole files (not parts of a file, nor members of a tar).
    A file on this machine is read only if no figures are stored for its content yet."""
    stored, kept = kept_figures(folder), {}
    cleaner = Cleaner()
    listed = list(pieces)
    paths = [piece.path for piece in listed]
    for piece in listed:
        if piece.name != piece.path or paths.count(piece.path) > 1:
            continue
        figures = stored.get(piece.content)
        if figures is None and Path(piece.path).is_file():
            figures = figures_of(piece.path)
        if figures is not None:
            path = cleaner.text(figures.path_with_most)
            kept[piece.content] = figures._replace(path_with_most=path)
    folder.store.write(NAME, json.dumps(kept))


def kept_figures(folder: CorpusFolder) -> dict[str, Figures]:
    """Return the stored figures by the hashes of the files' contents; {} if no build stored any."""
    with suppress(OSError, ValueError, TypeError):
        stored = json.loads(folder.store.read(NAME))
        return {content: Figures(*figures) for content, figures in stored.items()}
    return {}
