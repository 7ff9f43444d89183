"""The real app in its own process, and a real browser: for the browser tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The shell draws no window of its own: tests take two thirds of the processor's time with it.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)
FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def widened(values: Sequence[object], at_once: int = 1) -> list[object]:
    """Cases of one test, where each takes seconds: the first so many run always, those
    that only widen it with `make long`."""
    return [
        *values[:at_once],
        *(pytest.param(value, marks=pytest.mark.long) for value in values[at_once:]),
    ]


class App(NamedTuple):
    """An app that runs, and the folder from which it was started; its home is in there."""

    url: str
    folder: Path

    def emptied(self) -> str:
        """Return the address of the app, of which nothing is left but its log."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "app.log":
                path.unlink()
        return self.url


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that is installed, which ends with the driver that started it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        assert CHROMIUM, "CI must have chromium"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def new_tab(browser: Browser) -> Page:
    """Return a tab of its own context, which may read and write the clipboard."""
    context = browser.new_context(
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",  # a tenth of a load's work is drawing what moves
    )
    context.set_default_timeout(60_000)
    page = context.new_page()
    as_new(page)
    return page


def as_new(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")


def forget(page: Page, address: str) -> None:
    """Close the other tabs of its context, and leave in this one nothing of a test but the scripts
    that it compiled: a new context compiles Streamlit's anew, which is a second of CPU, and a load
    takes another one."""
    for other in page.context.pages:
        if other != page:
            other.close()
    page.goto(f"{address}/_stcore/health")  # nothing runs there, and the storage is the app's
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.context.clear_cookies()
    as_new(page)


@contextmanager
def served(folder: Path, *flags: str, command: list[str] | None = None) -> Iterator[str]:
    """The app started from `folder`, by its console script or another command; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = command or [str(Path(sys.executable).with_name("playground")), "app"]
    options = [*flags, f"--server.port={port}", "--server.headless=true"]
    log = folder / "app.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options],
            cwd=folder,
            env={**os.environ, "PLAYGROUND_HOME": str(folder / "home")},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except urllib.error.HTTPError:  # it is there, and refuses us
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start:\n{log.read_text()}")
