"""A program that keeps running and answers questions; questions and answers are lines of JSON."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any, Final

PIECE: Final = re.compile(r"<[^<>\s]{1,60}>|\s?\w+|\s+|.", re.DOTALL)
"""What a model writes at once: a marker, or a word."""
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def asking(*command: str) -> Ask:
    """Start the program, and return a function that asks it one question after another."""
    run = subprocess.Popen(
        command,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert run.stdin and run.stdout
    to, of = run.stdin, run.stdout

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        to.write(json.dumps(question) + "\n")
        to.flush()
        given: dict[str, Any] = json.loads(of.readline())
        return given

    return ask
