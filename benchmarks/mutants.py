"""Small random faults put into the code, room by room: how many of them a test notices.

Run: python benchmarks/mutants.py --seed 7 --count 60 [--room cache ...] [--least 70] [--json FILE]

A mutant is one changed place: a comparison, `and` and `or`, an operator, a number or truth value, a
returned value, a negated condition, a dropped call, keyword or slice bound, `break` and `continue`.
How to read the answer:

killed       a test failed that passes without the mutant, or took ten times as long; the share of
             killed is of killed and survived alone
survived     every case of every test of the room that reaches the place passed: a test is missing
             there, or code is redundant, or the mutant changes nothing that anyone could see
undecided    `--seconds` of CPU time ended before all of these cases ran, or no case reaches even
             the module: its code runs in another process, or no test of the room runs it
equivalent   `mutants.toml` names it with a reason; it is drawn, but not counted

With 60 mutants of a room, a share of 85 % is right within 9 points in 19 of 20 draws. A survivor
tells more than a share: read the place, and ask what a user would see of it.

`mutants.toml` says which files of tests belong to a room. Which of their cases reach a line is
measured first by coverage.py, with ten cases of each test, and kept in the temp folder for this
state of the code; `--tests FILE ...` measures these files again. What a browser or another process
runs is not seen, so what only such a test notices survives here. The tests of a room are collected
once; each mutant then runs in a fork whose functions have other code. Where an import runs the
place, the survivor runs again in a process that imports the package anew. `--again FILE` runs those
that were not killed in the FILE that `--json` wrote.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import importlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from multiprocessing import Pipe
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from mutations import ROOT, Mutant, codes, compiled, draw, mutant_of, parsed
from reaching import PYTEST, CoverageMap

SETTINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PRELOADED = ("hypothesis", "pydantic.dataclasses", "jinja2", "httpx", "click", "jsonschema", "rich")
FATES = ("killed", "survived", "undecided", "equivalent")
FAILED = 3  # the status of a child in which a test failed
MOST_MEMORY = 12 << 30  # addresses, of which most are libraries' and never used


@dataclass
class Outcome:
    """The fate of a mutant, and how many cases ran; `killer` is the case that failed."""

    mutant: Mutant
    fate: str
    killer: str = ""
    ran: int = 0


class Import(SourceFileLoader):
    """A finder and loader that imports the mutant's module with the change in it."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(ROOT / mutant.path))
        self.mutant = mutant

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        return compiled(self.mutant.tree(), self.path)


class Examiner:
    """A pytest plugin that runs mutants: in forks of a process that collected, or anew in each.

    `session` is None until the tests are collected; a process that is forked before that imports
    and collects for each mutant what its tests need.
    """

    def __init__(self, reach: CoverageMap, seconds: float, workers: int) -> None:
        self.reach, self.seconds, self.workers = reach, seconds, workers
        self.session: pytest.Session | None = None
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        self.kills: Counter[str] = Counter()
        self.is_sound: dict[str, bool] = {}  # of a killer: it passes without a mutant
        self.waiting: Sequence[Mutant] = ()
        self.answer: Any = None
        self.plan: list[str] = []
        self.tests: set[str] = set()  # whose cases that were not measured run after the plan
        self.word = ""  # of a mutant that only an import runs: cases that name its module run first
        self.log = -1  # in a child, the file that names each case before it runs

    def examine(self, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
        """Yield the outcome of each mutant; a few mutants run at a time."""
        waiting = [(mutant, self.reach.cases(mutant)) for mutant in mutants]
        running: dict[int, tuple[Mutant, list[str], Path, float]] = {}
        while waiting or running:
            while waiting and len(running) < self.workers:
                mutant, cases = waiting.pop(0)
                cases = [case for case in cases if self.is_sound.get(case, True)]
                pid, place = self._fork(mutant, cases)
                running[pid] = mutant, cases, place, time.monotonic()
            time.sleep(0.02)
            for pid, (mutant, cases, place, started) in list(running.items()):
                done, status = os.waitpid(pid, os.WNOHANG)
                if not done and time.monotonic() - started < 20 * self.seconds + 60:
                    continue
                del running[pid]
                outcome = _outcome(mutant, place, pid, status if done else None)
                if outcome.fate == "killed" and not self._passes_without(outcome.killer):
                    waiting.insert(0, (mutant, cases))
                    continue
                self.kills[outcome.killer] += 1
                yield outcome

    def _passes_without(self, case: str) -> bool:
        if case.endswith("::import"):
            return True
        if case not in self.is_sound:
            pid, place = self._fork(None, [case])
            _, status = os.waitpid(pid, 0)
            self.is_sound[case] = _outcome(None, place, pid, status).fate != "killed"
        return self.is_sound[case]

    def _fork(self, mutant: Mutant | None, cases: list[str]) -> tuple[int, Path]:
        place = Path(tempfile.mkdtemp(prefix="mutant-"))
        (place / "log").touch()
        if pid := os.fork():
            return pid, place
        try:
            os.setsid()
            self.log = os.open(place / "log", os.O_WRONLY | os.O_APPEND)
            _hide(place)
            self._run(mutant, sorted(cases, key=lambda case: -self.kills[case]), place)
        except Exception as error:
            self._tell(repr(error))
        finally:
            os._exit(0)

    def _run(self, mutant: Mutant | None, cases: list[str], place: Path) -> None:
        self.plan = cases
        if mutant:
            found = self.reach.lines(mutant.path).values()
            self.tests = {case.partition("[")[0] for cases in found for case in cases}
            self.word = "" if mutant.in_function else mutant.module.rpartition(".")[2]
            sys.meta_path.insert(0, Import(mutant))
        if self.session:
            self.session.config._tmp_path_factory._basetemp = place  # type: ignore[attr-defined]
            if mutant and not self._swap(mutant):
                self._tell("import")
            else:
                self.pytest_runtestloop(self.session)
            return
        if mutant:
            self._import(mutant)
        self._tell("survived")  # if no case reaches even the module
        files = [case.partition("::")[0] for case in cases]
        files = list(dict.fromkeys([*files, *(self.reach.files() if self.word else ())]))
        for some in (files[:4], files[4:]):
            self.plan = [case for case in cases if case.partition("::")[0] in some]
            if some:
                pytest.main([*PYTEST, f"--basetemp={place}/pytest", *some], plugins=[self])

    def _import(self, mutant: Mutant) -> None:
        """Import the mutant's module before pytest can: its hook, which rewrites assertions, comes
        before ours and would import the module without the change."""
        try:
            importlib.import_module(mutant.module)
        except Exception:
            self._tell(f"{mutant.module}::import")
            os._exit(FAILED)

    def _swap(self, mutant: Mutant) -> bool:
        """Give functions the mutant's code; return False if only an import can."""
        if mutant.module not in sys.modules:
            return True
        path = str(ROOT / mutant.path)
        before = Counter(_key(code) for code in codes(compiled(parsed(mutant.path), path)))
        for code in codes(compiled(mutant.tree(), path)):
            for function in self.functions.get(_key(code), ()):
                if before[_key(code)] > 1 or len(function.__code__.co_freevars) != len(
                    code.co_freevars
                ):
                    return False
                function.__code__ = code
        for each in self.caches:
            each.cache_clear()
        return True

    def pytest_sessionstart(self) -> None:
        """Let Hypothesis stop at the first failure: nobody reads a smaller example."""
        from hypothesis import Phase, settings

        fast = settings(settings.get_profile("suite"), phases=[Phase.explicit, Phase.generate])
        settings.register_profile("mutants", fast)
        settings.load_profile("mutants")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.log >= 0:
            self._tell(f"{report.nodeid}::import")
            os._exit(FAILED)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(FAILED)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the plan, then cases that were not measured; in the parent, run the mutants."""
        if self.log < 0:
            self._index(session)
            for outcome in self.examine(self.waiting):
                self.answer.send(outcome)
            return True
        items = {item.nodeid: item for item in session.items}
        others = [
            case
            for case in items
            if (case not in self.reach.seconds and case.partition("[")[0] in self.tests)
            or (self.word and case not in self.plan)
        ]
        slowest = self.reach.seconds_of_test  # quick cases first: more of them run in the time
        others.sort(key=lambda c: (self.word not in c, slowest.get(c.partition("[")[0], 1)))
        order = [items[case] for case in [*self.plan, *others] if case in items]
        for index, item in enumerate(order):
            if time.process_time() > self.seconds:
                self._tell("undecided")
                os._exit(0)
            self._tell(item.nodeid)
            signal.setitimer(signal.ITIMER_PROF, 10 + 10 * self.reach.seconds.get(item.nodeid, 1))
            following = order[min(index + 1, len(order) - 1)]  # the process ends without teardown
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._tell("survived")
        return True

    def _tell(self, word: str) -> None:
        os.write(self.log, f"{word}\n".encode())

    def _index(self, session: pytest.Session) -> None:
        self.session = session
        gc.unfreeze()  # else what was frozen after collection is not listed
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                self.functions[_key(thing.__code__)].append(thing)
            elif isinstance(thing, functools._lru_cache_wrapper):
                self.caches.append(thing)
        gc.collect()
        gc.freeze()


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _hide(place: Path) -> None:
    """Keep what a mutant writes in a folder of its own, and its words to itself."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    tempfile.tempdir = str(place)
    os.environ |= {"TMPDIR": str(place), "PLAYGROUND_HOME": str(place / "home")}
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _outcome(mutant: Any, place: Path, pid: int, status: int | None) -> Outcome:
    """Return the outcome that a child process wrote; end the child and the servers that its tests
    started, and delete its files."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        os.waitpid(pid, 0)
    lines = (place / "log").read_text().splitlines()
    shutil.rmtree(place, ignore_errors=True)
    fate = lines[-1] if lines else "undecided"
    ran = [line for line in lines if "::" in line]
    if status and (os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == FAILED):
        return Outcome(mutant, "killed", ran[-1] if ran else "", len(ran))
    return Outcome(mutant, "undecided" if "::" in fate else fate, "", len(ran))


def examine(drawn: Sequence[Mutant], examiner: Examiner) -> Iterator[Outcome]:
    """Yield the outcome of each of a room's mutants: those in functions first, then those that
    imports run."""
    unseen = [each for each in drawn if each.in_function and not examiner.reach.cases(each)]
    yield from (Outcome(mutant, "undecided") for mutant in unseen)
    drawn = [mutant for mutant in drawn if mutant not in unseen]
    anew = [mutant for mutant in drawn if not mutant.in_function]
    here, there = Pipe()
    if not os.fork():
        examiner.waiting, examiner.answer = [each for each in drawn if each.in_function], there
        pytest.main([*PYTEST, *examiner.reach.files()], plugins=[examiner])
        there.send(None)
        os._exit(0)
    there.close()
    while outcome := here.recv():
        lasts = outcome.fate == "survived" and "" in examiner.reach.reaching(outcome.mutant)
        if outcome.fate == "import" or lasts:
            anew.append(outcome.mutant)
        else:
            yield outcome
    yield from examiner.examine(anew)


def table(outcomes: Sequence[Outcome]) -> tuple[str, float]:
    """Return the table by room, and the share of killed in percent."""
    counts = Counter((each.mutant.room, each.fate) for each in outcomes)
    counts.update(("all", each.fate) for each in outcomes)
    rows, share = [f"{'':12}" + "".join(f"{fate:>12}" for fate in FATES) + "   share"], 0.0
    for room in [*dict.fromkeys(each.mutant.room for each in outcomes), "all"]:
        killed, survived = counts[room, "killed"], counts[room, "survived"]
        share = 100 * killed / max(killed + survived, 1)
        numbers = "".join(f"{counts[room, fate]:12}" for fate in FATES)
        rows.append(f"{room:12}{numbers}{share:6.0f} %")
    return "\n".join(rows), share


def _shown(outcome: Outcome) -> str:
    mutant = outcome.mutant
    place = f"{mutant.path}:{mutant.lines.start}"
    return (
        f"{outcome.fate:11}{place} {mutant.kind}: {mutant.change}\n"
        f"{'':11}{mutant.text}   [{outcome.ran} cases]"
    )


def _row(outcome: Outcome) -> dict[str, Any]:
    mutant = outcome.mutant
    row = {"room": mutant.room, "path": mutant.path, "index": mutant.index, "fate": outcome.fate}
    return row | {"line": mutant.lines.start, "change": mutant.change, "killer": outcome.killer}


def _drawn(given: argparse.Namespace, room: str) -> list[Mutant]:
    if given.again:
        rows = [row for row in json.loads(given.again.read_text()) if row["fate"] in FATES[1:3]]
        return [mutant_of(room, row["path"], row["index"]) for row in rows if row["room"] == room]
    return draw(room, SETTINGS["rooms"][room]["code"], given.count, given.seed)


def _map(given: argparse.Namespace, room: str) -> CoverageMap:
    code = b"".join(file.read_bytes() for file in sorted((ROOT / "playground").rglob("*.py")))
    state = hashlib.sha256(code).hexdigest()[:12]
    parent = given.map or Path(tempfile.gettempdir()) / f"playground-mutants-{state}"
    reach = CoverageMap(parent / room, SETTINGS["rooms"][room]["tests"])
    is_new = not (reach.folder / "coverage").exists()
    if files := [file for file in reach.files() if is_new or file in given.tests]:
        reach.measure(files, given.workers)
    return CoverageMap(reach.folder, reach.names)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="mutants of each room")
    parser.add_argument("--room", nargs="+", choices=SETTINGS["rooms"], dest="rooms")
    parser.add_argument("--seconds", type=float, default=60, help="CPU time for a mutant")
    parser.add_argument("--workers", type=int, default=2, help="processes at once")
    parser.add_argument("--least", type=float, default=0, help="share in percent, else status 1")
    parser.add_argument("--map", type=Path, help="a folder for what reaches a line")
    parser.add_argument("--tests", nargs="+", default=[], help="files to measure again")
    parser.add_argument("--json", type=Path, help="write what became of each mutant")
    parser.add_argument("--again", type=Path, help="run what such a file has not as killed")
    given = parser.parse_args()
    for name in PRELOADED:
        importlib.import_module(name)
    listed = SETTINGS.get("equivalent", [])
    named = {(each["file"], each["line"], each["change"]) for each in listed if each["reason"]}
    outcomes: list[Outcome] = []
    for room in given.rooms or SETTINGS["rooms"]:
        drawn, examiner = (
            _drawn(given, room),
            Examiner(_map(given, room), given.seconds, given.workers),
        )
        same = [each for each in drawn if (each.path, each.text, each.change) in named]
        outcomes += [Outcome(mutant, "equivalent") for mutant in same]
        for outcome in examine([each for each in drawn if each not in same], examiner):
            outcomes.append(outcome)
            if outcome.fate != "killed":
                print(_shown(outcome), flush=True)
            if given.json:
                given.json.write_text(json.dumps([_row(each) for each in outcomes], indent=1))
    text, share = table(outcomes)
    print(f"seed {given.seed}\n{text}")
    return int(share < given.least)


if __name__ == "__main__":
    sys.exit(main())
