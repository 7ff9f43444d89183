"""The collector comes seldom while a session is read, and nobody else sees that."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from playground.base.errors import InputFault
from playground.sessions.collector import each_seldom, seldom
from playground.sessions.loading import load_sessions

LINE = '{"role": "user", "content": "hello"}\n{"role": "assistant", "content": "hi"}\n'


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(701, 9, 8)
    yield
    assert gc.get_threshold() == (701, 9, 8)
    gc.set_threshold(*before)


COMES = """
def it_comes():
    came = []
    gc.callbacks.append(lambda phase, info: came.append(phase))
    kept = [[] for _ in range(5_000)]  # many times what it waits for, as a rule
    gc.callbacks.pop()
    return len(kept) == 5_000 and came != []
"""


def it_comes() -> bool:
    """Return True if the collector comes while 5,000 lists are made, as it does by default."""
    names: dict[str, Any] = {"gc": gc}
    exec(COMES, names)
    return bool(names["it_comes"]())


def test_it_comes_seldom_within_and_as_ever_between() -> None:
    found = []

    def items() -> Iterator[int]:
        for number in range(3):
            found.append(it_comes())
            yield number

    for _ in each_seldom(items()):  # type: ignore[arg-type]
        found.append(it_comes())
    assert found == [False, True] * 3


def test_it_is_as_ever_after_a_session_and_after_a_fault() -> None:
    assert len(list(load_sessions(LINE.encode()))) == 1
    with pytest.raises(InputFault):
        list(load_sessions(b'{"nothing": "of ours"}'))


def test_the_last_of_several_threads_puts_back_what_the_first_found() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with seldom():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=other)
    with seldom():
        thread.start()
        assert inside.wait(5)
    assert not it_comes()  # the other is inside still
    leave.set()
    thread.join()
    assert it_comes()


def test_what_somebody_else_sets_meanwhile_stays() -> None:
    with seldom():
        gc.set_threshold(400, 5, 5)
    assert gc.get_threshold() == (400, 5, 5)
    gc.set_threshold(701, 9, 8)


@pytest.mark.parametrize("own", [0, 1_000_000])
def test_a_collector_that_comes_as_seldom_or_never_is_left_alone(own: int) -> None:
    gc.set_threshold(own, 9, 8)
    with seldom():
        assert gc.get_threshold() == (own, 9, 8)
    assert gc.get_threshold() == (own, 9, 8)
    gc.set_threshold(701, 9, 8)


@pytest.mark.parametrize(("command", "within"), [("short", False), ("proxy", True)])
def test_it_comes_seldom_while_a_command_runs_that_ends(command: str, within: bool) -> None:
    program = (
        f"import gc\n{COMES}\n"
        "from playground.cli import main\n"
        f"@main.command({command!r})\n"
        "def probe(): print(it_comes())\n"
        "main.get_command = lambda context, name: probe\n"
        f"main([{command!r}], standalone_mode=False)\n"
        "print(it_comes(), gc.get_freeze_count() > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    ends = str(command == "short")  # then nothing that is there is looked at once more
    assert done.stdout.split() == [str(within), "True", ends]
