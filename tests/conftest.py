from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings

from playground.base import paths

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from serving import App
    from tour import Tour

os.environ["PYTEST_ADDOPTS"] = "-p no:langsmith_plugin"  # where a test runs pytest: see pyproject

gc.disable()  # a fifth of the collection's time, and nothing of 18,000 tests is garbage

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "docs")]

from golden_answers import WRITTEN, Golden, golden_file, plain, read_goldens, write_goldens  # noqa: E402
from leftovers import OwnPlaces, files_of_the_repository  # noqa: E402

PLACES, STARTED = OwnPlaces(), time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, help="at most so many cases of each test, spread evenly")
    parser.addoption("--seconds", type=int, help="after so many, the other tests are left out")
    parser.addoption("--tour", metavar="FOLDER", help="jobs leave figures and pictures here")
    parser.addoption("--write-goldens", action="store_true", help="write tests/cases anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what nobody asked for, and put the files with browser tests first.

    Tests marked `long` run only if -m names them. With `--cases`, a test keeps the cases that lie
    evenly between its first and its last. A worker runs a file as a whole, because its server and
    its browser cost more than its tests: the longest files come first, so that the workers end
    together. Those are the files with browsers or marked `early`, and then those with many tests.
    """
    long = "long" not in config.option.markexpr
    left_out = [item for item in items if long and item.get_closest_marker("long")]
    if most := config.getoption("--cases"):
        left_out += _beyond(most, [item for item in items if item not in left_out])
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    if config.getoption("--seconds") is not None:
        return  # what is named first is the nearest: tests/touched.py
    early = ("browser", "early")
    first = {item.path for item in items if any(map(item.get_closest_marker, early))}
    cases = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in first, -cases[item.path], item.path))


def pytest_collection_finish() -> None:
    """Look at the tests and what they import no more, and at what they make less often."""
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)
    gc.enable()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return a function that compares an answer with the golden one: see `golden_answers`."""
    file, name = golden_file(request.path), request.node.name

    def compare(answer: Any) -> None:
        if request.config.getoption("--write-goldens"):
            WRITTEN.setdefault(file, {})[name] = plain(answer)
        elif name not in read_goldens(file):
            pytest.skip("NOT RUN: no golden answer yet, --write-goldens writes it")
        else:
            assert plain(answer) == read_goldens(file)[name], "see tests/golden_answers.py"

    return compare


@pytest.fixture(autouse=True, scope="session")
def no_last_resort() -> Iterator[None]:
    """A reader that stumbles over a shape fails its test, instead of refusing the file in words."""
    from playground.sessions import last_resort

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(last_resort, "UNEXPECTED_ERRORS", ())
        yield


@pytest.fixture(autouse=True, scope="session")
def components_of_packages_are_looked_up_once() -> Iterator[None]:
    """AppTest reads the metadata of every installed package for each app: 0.1 s a time."""
    if "streamlit.testing.v1" not in sys.modules:
        yield
        return
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_is_left_behind() -> Iterator[None]:
    """Each process of the tests leaves its home and its temporary folder empty."""
    yield
    assert not (left := PLACES.left()), "\n".join(["left behind by tests:", *left])


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - STARTED > seconds:
        pytest.skip(f"left out of {item.path.name}, after {seconds} seconds")


def pytest_runtest_logfinish(nodeid: str) -> None:
    PLACES.look(nodeid)


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        if "CI" in os.environ and session.config.getoption("numprocesses", None):
            compile_tests(session.config)
        session.config.stash[REPOSITORY] = files_of_the_repository("CI" in os.environ)


def compile_tests(config: pytest.Config) -> None:
    """Compile all tests with rewritten assertions, before workers start: in a fresh checkout each
    of them would do it, for 6 s, because they begin at once and in the same order."""
    for file in (ROOT / "tests").glob("test_*.py"):
        place = rewrite.get_cache_dir(file)
        place.mkdir(exist_ok=True)
        source, code = rewrite._rewrite_test(file, config)
        state = config.stash[rewrite.assertstate_key]
        rewrite._write_pyc(state, code, source, place / f"{file.stem}{rewrite.PYC_TAIL}")


def pytest_unconfigure(config: pytest.Config) -> None:
    write_goldens(bool(config.option.keyword) or any("::" in path for path in config.args))
    gc.unfreeze()  # else duckdb's binding reports its own functions as lost
    PLACES.remove()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which files appeared in the repository, or changed where nobody edits them."""
    gc.unfreeze()  # else duckdb's binding reports its own functions as lost
    before = session.config.stash.get(REPOSITORY, None)
    if before is None:
        return
    appeared = files_of_the_repository("CI" in os.environ) - before
    if appeared:
        lines = "\n".join(
            ["files of the repository that a test, or somebody else, wrote:", *sorted(appeared)]
        )
        session.config.get_terminal_writer().line(f"\n{lines}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _beyond(most: int, items: list[pytest.Item]) -> list[pytest.Item]:
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: list[pytest.Item] = []
    for listed in cases.values():
        last, steps = len(listed) - 1, max(most - 1, 1)
        kept = {last * step // steps for step in range(most)}
        left_out += [item for number, item in enumerate(listed) if number not in kept]
    return left_out


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the app keeps for its user: a place of its own for each test, made by who needs it."""
    place = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    monkeypatch.setenv("PLAYGROUND_HOME", str(place))
    monkeypatch.delenv(paths.NO_WORKSPACE, raising=False)  # a server for others, run here, sets it
    return place


_HOMES = count(1)
REPOSITORY = pytest.StashKey[set[str]]()

examples = int(os.environ.get("LAW_EXAMPLES", "10"))
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,  # the same examples in each run: more of them are for `make long`
    max_examples=min(3 * examples, 100),
)
settings.register_profile(
    "search", settings.get_profile("suite"), derandomize=False, max_examples=examples
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=5)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app in its own process, for all browser tests of a worker: a start takes 6 s of CPU."""
    from serving import App, served

    folder = tmp_path_factory.mktemp("app")
    with served(folder) as url:
        yield App(url, folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for the tests of one file. Its driver runs in an event loop of this process, so
    that it ends with the file: tests of other files run loops of their own."""
    from serving import CHROMIUM, chromium

    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("no chromium here: apt-get install chromium")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    """The tab that the tests of a file have one after the other."""
    from serving import new_tab

    return new_tab(browser)


@pytest.fixture
def page(tab: Page, app: App) -> Iterator[Page]:
    """A tab that remembers nothing, and has not gone anywhere yet."""
    from serving import forget

    yield tab
    forget(tab, app.url)


@pytest.fixture(scope="session")
def tour(request: pytest.FixtureRequest) -> Iterator[Tour]:
    """The tour, which is written at the end if all jobs were done and somebody asked for it."""
    from tour import JOBS, Tour

    folder = request.config.getoption("--tour")
    tour = Tour(Path(folder) if folder else None)
    yield tour
    if tour.folder and len(tour.seconds) == len(JOBS):
        (tour.folder / "tour.md").write_text(tour.text(), encoding="utf-8")
