"""No test leaves a file outside its own folder: at home, in the temporary folder, or here.

Each process of the tests has a home and a temporary folder of its own, which stay empty: whatever
stands there was left by a test of this process, and the first test after which it was seen is
named. So it is sound beside other programs and other workers. The repository is compared by Git
before and after the run, once, by the process that started it: files that appeared, and in CI
(where nobody edits) files that changed.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
# What libraries of others make in every home, whoever starts them.
_OF_OTHERS: Final = {".ipython", ".streamlit"}
_OF_A_BROWSER: Final = ".org.chromium."  # it stays where a busy machine ends the browser's process
_ENDING_SECONDS: Final = 5  # a browser's processes end, and remove their files, after it is closed
# Settings of programs that tests start, by the variable that names their file.
_SETTINGS: Final = {"GIT_CONFIG_GLOBAL": ".gitconfig", "PIP_CONFIG_FILE": ".config/pip/pip.conf"}


class OwnPlaces:
    """A home, a temporary folder and a workspace for this process and those that it starts."""

    def __init__(self) -> None:
        outer = tempfile.gettempdir()
        caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self.folder = Path(tempfile.mkdtemp(prefix="playground-tests-"))
        atexit.register(self.remove)
        self.first_seen: dict[str, str] = {}  # path -> the test after which it was there
        places = {name: self.folder / name for name in ("home", "temporary", "playground")}
        for place in places.values():
            place.mkdir()
        self._watched = places["home"], places["temporary"]
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ.pop(name, None)
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", outer)  # tmp_path is where it was
        for name, file in _SETTINGS.items():
            if (Path.home() / file).exists():
                os.environ.setdefault(name, str(Path.home() / file))
        os.environ["XDG_CACHE_HOME"] = caches  # packages and fonts, which nobody loads twice
        os.environ["HOME"] = str(places["home"])
        os.environ["TMPDIR"] = tempfile.tempdir = str(places["temporary"])
        # what outlives a test, such as a proxy that a file's tests share, has a place here
        os.environ["PLAYGROUND_HOME"] = str(places["playground"])

    def remove(self) -> None:
        """Remove the folders. Workers of xdist end without `atexit`."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def look(self, test: str) -> None:
        """Note what stands in the two folders after a test."""
        for place in self._watched:
            for entry in os.scandir(place):
                if entry.name not in _OF_OTHERS and not entry.name.startswith(_OF_A_BROWSER):
                    self.first_seen.setdefault(entry.path, test)

    def left(self) -> list[str]:
        """Return the files still there, each with the test after which it was first seen."""
        self.look("the last test")
        if app_test := sys.modules.get("streamlit.testing.v1.app_test"):
            self.first_seen.pop(app_test.TMP_DIR.name, None)  # it stays as long as the process
        until = time.monotonic() + _ENDING_SECONDS
        while self._there() and time.monotonic() < until:
            time.sleep(0.1)
        return [
            f"{Path(path).relative_to(self.folder)}{_inside(Path(path))}, first seen after {test}"
            for path, test in self._there().items()
        ]

    def _there(self) -> dict[str, str]:
        return {path: test for path, test in self.first_seen.items() if Path(path).exists()}


def _inside(path: Path) -> str:
    names = sorted(file.name for file in path.iterdir()) if path.is_dir() else []
    return f" ({', '.join(names[:4])})" if names else ""


def files_of_the_repository(changed: bool) -> set[str]:
    """Return the files that Git does not know, and with `changed` those that differ from HEAD, each
    with its time; none if this is no checkout."""
    commands = [["ls-files", "--others", "--exclude-standard"]]
    commands += [["diff", "HEAD", "--name-only", "--no-renames"]] if changed else []
    names: set[str] = set()
    for words in commands:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        names |= set(done.stdout.splitlines())
    return {f"{name} ({_time(ROOT / name)})" for name in names} if changed else names


def _time(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0
