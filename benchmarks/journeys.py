"""The ways that two calls take through the rooms, and the modules that a first call loads.

Run: python benchmarks/journeys.py [--figures]

A journey is traced, not guessed: the call is made once, so that everything is loaded and compiled,
and once more under `sys.setprofile`: `simulate_cache` with a session of the samples, `load_session`
with an ATIF trajectory, which the core imports. (Recordings, and the formats of the plugin
`importers`, would enter one more room.) A crossing is a pair of rooms of which a function of the
first calls a function of the second; it is counted once in each direction.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_sessions"
FIRST, SECOND = SAMPLES / "01-plain-chat.json", SAMPLES / "06-cache-eight-turns.json"
TRAJECTORY = {
    "schema_version": "ATIF-v1.8",
    "session_id": "s",
    "agent": {"name": "agent", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "list the files"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "list", "arguments": {"path": "."}}
            ],
            "observation": {"results": [{"source_call_id": "c1", "content": "a.py"}]},
        },
        {"step_id": 3, "source": "agent", "message": "There is one."},
    ],
}
LOADED = {  # each in a process of its own
    "import": "pass",
    "parse": "pg.parse('', dialect='hermes')",
    "load": "pg.load_session(PLAIN)",
    "render": "pg.get_dialect('hermes').render(pg.load_session(PLAIN).prompt_data())",
    "place": "pg.place_cache(pg.load_session(PLAIN), 'hermes')",
}


class Journey:
    """The rooms that a call enters, in the order in which it does, and the crossings between."""

    def __init__(self) -> None:
        self.rooms: list[str] = []
        self.crossings: list[tuple[str, str]] = []

    def trace(self, call: Callable[[], object]) -> None:
        sys.setprofile(self._seen)
        try:
            call()
        finally:
            sys.setprofile(None)

    def _seen(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not (room := room_of(frame)):
            return
        if room not in self.rooms:
            self.rooms.append(room)
        caller = frame.f_back
        while caller is not None and not room_of(caller):
            caller = caller.f_back
        pair = (room_of(caller), room) if caller is not None else (room, room)
        if pair[0] != pair[1] and pair not in self.crossings:
            self.crossings.append(pair)


def room_of(frame: FrameType) -> str:
    """Return the room of our package in which a function stands; "" if it is not ours."""
    top, _, inner = str(frame.f_globals.get("__name__", "")).partition(".")
    return (inner.partition(".")[0] or "__init__") if top == "playground" else ""


def simulate_cache() -> Journey:
    from playground import load_session, simulate_cache

    simulate_cache(load_session(FIRST))
    session, journey = load_session(SECOND), Journey()
    journey.trace(lambda: simulate_cache(session))
    return journey


def load_session() -> Journey:
    from playground import load_session

    journey = Journey()
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trajectory.json"
        file.write_text(json.dumps(TRAJECTORY), encoding="utf-8")
        load_session(file)
        journey.trace(lambda: load_session(file))
    return journey


def modules_loaded(call: str) -> int:
    """Count our modules that a call has loaded in a fresh process."""
    code = "\n".join(
        [
            "import sys, playground as pg",
            f"PLAIN = {str(FIRST)!r}",
            call,
            "print(sum(name.partition('.')[0] == 'playground' for name in sys.modules))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def limited() -> dict[str, int]:
    """Return the figures of this script that `house.toml` limits, measured in a process of its
    own."""
    command = [sys.executable, __file__, "--figures"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, int] = json.loads(done.stdout)
    return figures


def measured() -> dict[str, int]:
    return {
        "simulate_cache_crossings": len(simulate_cache().crossings),
        "load_session_rooms": len(load_session().rooms),
        **{f"modules_for_{name}": modules_loaded(call) for name, call in LOADED.items()},
    }


def main() -> None:
    if "--figures" in sys.argv:
        print(json.dumps(measured()))
        return
    for call in (load_session, simulate_cache):
        journey = call()
        print(f"{call.__name__}: {len(journey.rooms)} rooms ({', '.join(journey.rooms)})")
        for crossing in journey.crossings:
            print(f"  {crossing[0]} -> {crossing[1]}")
    for name, call_made in LOADED.items():
        print(f"{name}: {modules_loaded(call_made)} modules of ours")


if __name__ == "__main__":
    main()
