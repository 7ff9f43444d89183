"""The command line on a real terminal: a pseudo-terminal is what it writes to."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

PROGRAM = str(Path(sys.executable).with_name("playground"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


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
