"""The library and the commands without any extra: nothing is there but what core names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest
from conftest import ROOT
from packaging.requirements import Requirement

import playground as pg
from playground.base.extras import missing_package, requirement

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: Final = PROJECT["optional-dependencies"]
HERE = "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); "
MOST_MEGABYTES = 60


def distributions(requirements: list[str]) -> dict[str, metadata.Distribution]:
    """Return what pip would install for these requirements, by name."""
    found: dict[str, metadata.Distribution] = {}
    wanted = [Requirement(text) for text in requirements]
    while wanted:
        each = wanted.pop()
        key = each.name.lower().replace("_", "-")
        if key in found or (each.marker and not each.marker.evaluate({"extra": ""})):
            continue
        found[key] = metadata.distribution(each.name)
        wanted += map(Requirement, found[key].requires or [])
    return found


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of links to what core's requirements bring, and to the package itself."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "playground").symlink_to(ROOT / "playground")
    link(PROJECT["dependencies"], folder)
    own = metadata.distribution("dialect-playground")
    (entry,) = [file for file in own.files or [] if file.name == "entry_points.txt"]
    (folder / entry.parts[0]).symlink_to(Path(str(own.locate_file(entry))).parent)
    return folder


def link(requirements: list[str], folder: Path) -> None:
    for distribution in distributions(requirements).values():
        for name in {Path(str(file)).parts[0] for file in distribution.files or []} - {".."}:
            place = Path(str(distribution.locate_file(name)))
            if place.exists() and not (folder / name).exists():
                (folder / name).symlink_to(place)


def run(core: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-c", HERE + code, str(core), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


def playground(core: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(core, "from playground.cli import main; main()", *arguments)


def test_nothing_of_an_extra_is_there(core: Path) -> None:
    names = ("litellm", "streamlit", "pandas", "plotly", "tokenizers", "uvicorn")
    for name in names:
        assert f"No module named '{name}'" in run(core, f"import {name}").stderr


def test_a_star_import_leaves_out_what_is_not_installed(core: Path) -> None:
    done = run(core, "from playground import *; print('corpus' in globals(), parse.__name__)")
    assert done.stdout == "False parse\n", done.stderr


def test_core_is_small() -> None:
    files = [
        path
        for distribution in distributions(PROJECT["dependencies"]).values()
        for file in distribution.files or []
        if (path := Path(str(distribution.locate_file(file)))).is_file()
    ]
    size = sum(path.stat().st_size for path in files if path.suffix != ".pyc")
    assert 5 < size / 1e6 < MOST_MEGABYTES - 15  # the package itself, and bytecode, beside it


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["samples"], "02-parallel-calls"),
        (["render", "02-parallel-calls", "-d", "xml"], "Roscoff"),
        (["compare", "02-parallel-calls", "-d", "xml", "-d", "hermes"], "hermes"),
        (["cache", "02-parallel-calls", "-d", "xml"], "characters"),
        (["cache", "simulate", "02-parallel-calls", "-d", "xml"], "system-only"),
        (["replay", "11-provider-streams", "--json"], '"events"'),
        (["raw", "02-parallel-calls", "--llama", "3"], "<|eot_id|>"),
        (["tools", "02-parallel-calls"], "get_tides"),
        (["grammar", "02-parallel-calls", "-d", "hermes"], "get_tides"),
        (["dialect", "show", "hermes"], "tool_call"),
        (["tokens", "02-parallel-calls"], "kinds of bytes"),
        (["tokens", "02-parallel-calls", "--model", "gpt-4o"], "kinds of bytes"),
        (["diff", "02-parallel-calls", "03-long-file"], "tokens"),
    ],
)
def test_a_command_needs_no_extra(core: Path, arguments: list[str], word: str) -> None:
    done = playground(core, *arguments)
    assert done.returncode in (0, 1), done.stderr
    assert word in done.stdout, done.stdout[:400] + done.stderr[:400]


@pytest.mark.parametrize(("limit", "status"), [("5", 1), ("60", 0), ("100", 0), ("400", 0)])
def test_a_limit_that_rough_counts_cannot_decide_fails_in_no_install(
    core: Path, tmp_path: Path, limit: str, status: int
) -> None:
    """64 tokens more by GPT-4o's tokenizer, and a wide range by kinds of bytes."""
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("You are a harbour agent.\n")
    new.write_text("You are a harbour agent.\n" + "Name the tide, then the ferry.\n" * 8)
    words = ["check", str(new), "--against", str(old), "--model", "gpt-4o"]
    words += ["--prefix-may-change", "--most-tokens-more", limit]
    report = tmp_path / "report.xml"
    light = playground(core, *words, "--report-to", str(report))
    full = subprocess.run(
        [str(Path(sys.executable).parent / "playground"), *words], capture_output=True, text=True
    )
    undecided = limit in ("60", "100")
    assert ("undecided-limit" in light.stderr) == undecided, light.stderr
    assert ('<skipped message="undecided-limit' in report.read_text()) == undecided
    assert light.returncode == status, light.stdout
    assert undecided or light.returncode == full.returncode
    assert playground(core, *words, "--strict").returncode == (status or int(undecided))
    assert "undecided-limit" not in full.stderr


def test_a_guard_in_pytest_warns_of_a_limit_that_is_undecided(core: Path, tmp_path: Path) -> None:
    link(["pytest"], core)
    (tmp_path / "test_guard.py").write_text(
        "import playground as pg\n"
        "def system(text): return pg.session(system=text, model='gpt-4o')\n"
        "def test_it(check_against):\n"
        "    old, new = 'Be short.', 'Be short.' + ' Name the tide, then the ferry.' * 8\n"
        "    check_against(system(new), system(old), most_tokens_more=60, prefix_may_change=True)\n"
    )
    options = "-p no:cacheprovider --rootdir"
    program = f"import pytest; pytest.main([*{options.split()}, *sys.argv[1:]])"
    done = run(core, program, str(tmp_path), str(tmp_path))
    assert "1 passed, 1 warning" in done.stdout, done.stdout + done.stderr
    assert "at most 60 are allowed: not decided" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ([], "app"),
        (["app"], "app"),
        (["proxy", "--port", "0"], "app"),
        (["cache", "wire", "02-parallel-calls"], "llm"),
        (["record", "02-parallel-calls", "--model", "openai/gpt-4o"], "llm"),
        (["record", "02-parallel-calls", "--model", "openai/x", "--base-url", "http://x"], "llm"),
        (["corpus", "ask", "breaks", "nowhere"], "corpus"),
    ],
)
def test_a_command_that_needs_one_names_it(core: Path, arguments: list[str], extra: str) -> None:
    done = playground(core, *arguments)
    assert done.returncode == 2
    said = done.stderr.strip().splitlines()
    assert said[-1].startswith("playground: ") and requirement(extra) in said[-1]
    assert len(said) == (1 if arguments else 2), said  # the app says first how to get help


def test_record_needs_no_more_than_it_names(core: Path, tmp_path: Path) -> None:
    for name in core.iterdir():
        (tmp_path / name.name).symlink_to(name.resolve())
    link([*EXTRAS["llm"], "h2"], tmp_path)  # httpx[http2] of LiteLLM's
    with pg.serving() as server:
        words = ["--model", "openai/demo-hermes", "--base-url", server.url, "-d", "hermes"]
        out = tmp_path / "answer.jsonl"
        done = playground(tmp_path, "record", "02-parallel-calls", *words, "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert "<tool_call>" in pg.load_recording(out).reply.content


ANSWERS = ["simulate_cache(s, 'native')", "compare(s)", "count_tokens(s)"]
ANSWERS += ["detect('<tool_call>')", "check_dialect(pg.get_dialect('xml'))"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_prints_and_has_a_page_without_pandas(core: Path, answer: str) -> None:
    session = "s = pg.sample_sessions()['12-long-tool-run']"
    code = f"import playground as pg; {session}; a = pg.{answer}; print(a); print(a.html()[:15])"
    done = run(core, code)
    assert done.stderr == ""
    head, *rows, page = done.stdout.splitlines()
    assert len(rows) > 2 and len(head.split()) > 2
    assert not re.search(r"\d\.\d{7}", "".join(rows)), rows  # a figure, not a float
    assert page == "<!doctype html>"


@pytest.mark.parametrize(("ask", "extra"), [("frame()", "frames"), ("figure()", "frames")])
def test_a_table_without_pandas_is_one_clear_error(core: Path, ask: str, extra: str) -> None:
    session = "pg.sample_sessions()['02-parallel-calls']"
    done = run(core, f"import playground as pg; pg.simulate_cache({session}, 'xml').{ask}")
    assert done.stderr.strip().splitlines()[-1].endswith(f"pip install {requirement(extra)}")


def test_each_package_of_an_extra_is_one_that_the_extra_installs() -> None:
    for extra, requirements in EXTRAS.items():
        for each in map(Requirement, requirements):
            error = missing_package(ModuleNotFoundError("", name=each.name.replace("-", "_")))
            assert error is None or requirement(extra) in str(error), each
    for name in ("litellm", "pandas", "plotly", "streamlit", "uvicorn", "mcp", "pyarrow"):
        assert missing_package(ModuleNotFoundError("", name=f"{name}.part")) is not None
    assert missing_package(ModuleNotFoundError("", name="pandasx")) is None
    assert missing_package(ModuleNotFoundError("")) is None
