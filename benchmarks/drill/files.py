"""Every writer against an output that must not be lost: bad inputs, links, full or closed disks."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path

from click.testing import CliRunner

from playground.base import paths
from playground.cli import main

from . import Try

OWN = "the user's own"
WRITERS = {
    "import": ["import", "plain.json", "-o", "out.json"],
    "import lines": ["import", "many.jsonl", "-o", "out.jsonl"],
    "import to ATIF": ["import", "plain.json", "--to", "atif", "-o", "out.json"],
    "export to pytest": ["export", "answer.json", "--to", "pytest", "-o", "out.py"],
    "export to HTML": ["export", "answer.json", "--to", "html", "-o", "out.html"],
    "export to JSON": ["export", "answer.json", "--to", "json", "-o", "out.json"],
    "guide": ["guide", "hermes", "-o", "."],
    "template run": ["template", "run", next(iter(paths.sample_templates())), "-o", "out.json"],
}
BAD_LINES = ["{", "[]", "null", '{"format": "x"}', '{"a": 1e400', '"text"', "\x00", "{}"]


def tries() -> Iterator[Try]:
    for name, command in WRITERS.items():
        for force in ([], ["--force"]):
            yield _on("a full disk", name, [*command, *force], _full)
            yield _on("a closed disk", name, [*command, *force], _closed)
        yield _on("an existing file", name, command, _open)
    yield from _bad_inputs()
    yield from _links()


def _on(what: str, name: str, command: list[str], prepare: object) -> Try:
    with _disk() as folder:
        if folder is None:
            return Try(f"{name} on {what}", False, "mounting a tmpfs is not permitted")
        out = folder / ("hermes.md" if name == "guide" else command[command.index("-o") + 1])
        out.write_text(OWN)
        with prepare(folder), chdir(folder):  # type: ignore[operator]
            status, said = _asked(command)
        kept = out.read_text() == OWN
        one_line = status == 2 and said.count("\n") == 1
        rest = [p.name for p in folder.iterdir() if p.name.startswith(".playground")]
        fault = f"{kept=} {one_line=} {rest=} {said[:200]}"
        return Try(f"{name} on {what}", kept and one_line and not rest, fault)


def _asked(command: list[str]) -> tuple[int, str]:
    """Exit status and words; the error itself holds its frames, and they files of the disk."""
    done = CliRunner().invoke(main, command)
    return done.exit_code, done.stderr


@contextmanager
def _disk() -> Iterator[Path | None]:
    """A small disk with the inputs on it."""
    with tempfile.TemporaryDirectory() as place:
        command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place]
        if subprocess.run(command, capture_output=True).returncode:
            yield None
            return
        try:
            _inputs(Path(place))
            yield Path(place)
        finally:
            gc.collect()
            subprocess.run(["umount", place], check=True)


def _inputs(folder: Path) -> None:
    samples = paths.samples()
    plain = json.loads(samples["01-plain-chat"].read_text())
    (folder / "plain.json").write_text(json.dumps(plain))
    lines = [json.dumps(plain | {"title": f"s{number}"}) for number in range(3)]
    (folder / "many.jsonl").write_text("\n".join(lines))
    (folder / "answer.json").write_text(samples["02-parallel-calls"].read_text())


@contextmanager
def _full(folder: Path) -> Iterator[None]:
    with (folder / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    yield


@contextmanager
def _closed(folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    yield


@contextmanager
def _open(folder: Path) -> Iterator[None]:
    yield


def _bad_inputs() -> Iterator[Try]:
    """A bad line at every place of a file of sessions, onto every kind of output."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        folder = Path(place)
        _inputs(folder)
        good = (folder / "many.jsonl").read_text().split("\n")
        for bad in BAD_LINES:
            for at in range(1, len(good) + 1):
                (folder / "bad.jsonl").write_text("\n".join([*good[:at], bad, *good[at:]]))
                for out in ("out.jsonl", "out.json", "bad.jsonl"):
                    before = {p.name: p.read_bytes() for p in folder.iterdir()}
                    done = CliRunner().invoke(main, ["import", "bad.jsonl", "-o", out, "--force"])
                    after = {p.name: p.read_bytes() for p in folder.iterdir()}
                    held = before == after and done.exit_code == 2
                    yield Try(f"{bad!r} at {at} to {out}", held, done.stderr[:200])


def _links() -> Iterator[Try]:
    with tempfile.TemporaryDirectory() as place, chdir(place):
        folder = Path(place)
        _inputs(folder)
        (folder / "link.jsonl").symlink_to("many.jsonl")
        (folder / "link2.jsonl").symlink_to("link.jsonl")
        os.link("many.jsonl", "hard.jsonl")
        names = ["many.jsonl", "./many.jsonl", "link.jsonl", "link2.jsonl", "hard.jsonl"]
        for source in names:
            for out in names:
                before = (folder / "many.jsonl").read_bytes()
                done = CliRunner().invoke(main, ["import", source, "-o", out, "--force"])
                same = (folder / "many.jsonl").read_bytes() == before
                yield Try(f"{source} to {out}", same and done.exit_code == 2, done.stderr[:200])
