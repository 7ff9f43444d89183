"""The command line, run in this process, or in one of its own that writes to a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner
from conftest import ROOT

from playground.cli import main

PROGRAM = str(Path(sys.executable).with_name("playground"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def run(
    *arguments: str, stdin: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, and return its status and what it wrote.

    A process of its own takes 0.3 to 1 s more. A test starts one for signals, pipes, a terminal
    and what is imported.
    """
    with chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(
            main, arguments, input=stdin, catch_exceptions=False, prog_name="playground"
        )
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def on_terminal(*arguments: str, with_errors: bool = False, **variables: str) -> tuple[bytes, str]:
    """What a command writes to a terminal, and what it says on stderr. The terminal is a dumb one:
    an escape sequence in what is written is no style of ours. If `with_errors`, stderr is the same
    terminal."""
    environment = {**ENVIRONMENT, "TERM": "dumb", "COLUMNS": "200", **variables}
    outer, inner = pty.openpty()
    errors = inner if with_errors else subprocess.PIPE
    process = subprocess.Popen([PROGRAM, *arguments], stdout=inner, stderr=errors, env=environment)
    os.close(inner)
    shown = b""
    while True:
        try:
            piece = os.read(outer, 65536)
        except OSError:  # so a terminal tells its end
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    _, said = process.communicate(timeout=60)
    return shown.replace(b"\r\n", b"\n"), (said or b"").decode()
