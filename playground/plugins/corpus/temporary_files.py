"""Temporary files and folders of a corpus, for libraries that write files themselves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playground.base.output import FOLDER, FileDraft, faults_naming, sync_folder


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a library that writes files itself. If the `with` block ends
    without an error, that file is synced and renamed to `path`, replacing any file. Use this only
    in folders that no other program uses. Raises InputFault for an error of the disk.
    """
    with faults_naming(path):
        draft = FileDraft(path)
        try:
            yield draft.path
            with draft.path.open("rb") as file:  # the library may have replaced the file
                os.fsync(file.fileno())
            draft.sync(keep_open=True)
            draft.take_place(replace=True)
        finally:
            draft.discard()
        sync_folder(path.parent)


@contextmanager
def scratch_file(folder: Path) -> Iterator[Path]:
    """Yield a temporary file's path, and delete the file. Raises InputFault if that fails."""
    with faults_naming(folder):
        draft = FileDraft(folder / "scratch")
    try:
        yield draft.path
    finally:
        draft.discard()


class ScratchFolder:
    """The path of a temporary folder, for a library that makes the folder and writes there.

    `close` removes the folder. A killed program leaves it behind, and `remove_leftovers` of
    base/output.py removes it later. A locked file next to the folder shows that its program still
    runs. Raises OSError if that file cannot be made.
    """

    def __init__(self, parent: Path) -> None:
        self._locked_file = FileDraft(parent / "scratch")
        self.path = self._locked_file.path.with_suffix(FOLDER)

    def close(self) -> None:
        """Remove the folder and its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._locked_file.discard()
