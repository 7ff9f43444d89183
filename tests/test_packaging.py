"""The wheel works from any folder; the app listens on loopback; lock files name no index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from conftest import ROOT
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from serving import served
from site_building import needs_the_docs_packages

import playground
from playground.app.pages import PAGES

pytestmark = pytest.mark.early


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The built wheel, unpacked where nothing of the checkout is."""
    target = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_the_wheel_holds_pages_samples_configuration_and_components(installed: Path) -> None:
    package = installed / "playground"
    for name in (
        "_pages/compare.py",
        "_streamlit/config.toml",
        "sessions/session.schema.json",
        "py.typed",
        "servers/declarations/vllm.toml",
        "servers/declarations/presets.toml",
    ):
        assert (package / name).exists()
    assert len(list((package / "_sample_sessions").glob("*.json"))) >= 8
    assert len(list((package / "_sample_sessions").glob("templates/*/templates.yaml"))) == 2
    assert (package / "show" / "components" / "player.js").exists()
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} == {
        "playground"
    }
    shown = {entry.document for entry in PAGES if entry.document} | {"findings.md", "formats"}
    documents = package / "_docs"
    assert shown <= {path.name for path in documents.iterdir()}
    assert {path.suffix for path in documents.rglob("*") if path.is_file()} == {".md"}


def test_uvx_finds_a_command_of_the_packages_name(installed: Path) -> None:
    """`uvx "dialect-playground[app]"` runs the command of that name, and no other one."""
    (information,) = installed.glob("*.dist-info")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    commands = PathDistribution(information).entry_points.select(group="console_scripts")
    assert {each.name for each in commands} == {"playground", project["name"]}
    assert {each.value for each in commands} == {"playground.cli:main"}


@pytest.mark.long
def test_a_type_checker_sees_the_types_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "theirs.py"
    program.write_text(
        "import playground as pg\n"
        "from playground.nouns.tools import ToolMetadata\n"
        "tool = ToolMetadata(name='t', parameters={'a': 'what it is'})\n"
        "reveal_type(pg.parse('x', dialect='xml', tools=[tool]).content)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": "", "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert 'Revealed type is "str"' in done.stdout.replace("builtins.", "")


@pytest.mark.slow
def test_pip_installs_the_library_alone_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """The README's Python runs there, and so do commands; what an extra brings is one line."""
    home = {**os.environ, "HOME": str(tmp_path)}  # where pip asks rustc for its version
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True, env=home)
    python, command = tmp_path / "env" / "bin" / "python", tmp_path / "env" / "bin" / "playground"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, env=home)
    if done.returncode and "CI" not in os.environ:
        pytest.skip(f"NOT RUN: pip reaches no index: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr

    def run(*words: str | Path) -> str:
        shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        return shown.stdout + shown.stderr

    (first, *_) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert run(python, "-c", first) == "get_tides {'harbour': 'Brest'}\n"
    assert "Roscoff" in run(command, "render", "02-parallel-calls", "-d", "xml")
    assert "get_weather" in run(command, "replay", "02-parallel-calls")
    assert "claude-code" in run(command, "cache", "simulate", "02-parallel-calls")
    packages = "litellm streamlit pandas plotly tokenizers pyarrow"
    found = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    assert run(python, "-c", found, *packages.split()) == "[]\n"
    corpus = run(python, "-c", "import playground as pg; from playground import *; pg.corpus('.')")
    assert corpus.rstrip().endswith("pip install 'dialect-playground[corpus]'")
    assert "dialect-playground[app]" in run(command)


def test_the_wheel_works_from_any_folder(installed: Path, tmp_path: Path) -> None:
    program = (
        "import playground as pg, playground.base.paths as p\n"
        "assert str(p.pages()).startswith(pg.__file__[:-len('__init__.py')]), p.pages()\n"
        "print(len(pg.sample_sessions()), pg.__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    count, file = done.stdout.split()
    assert int(count) >= 8
    assert file.startswith(str(installed))


def test_the_app_of_the_wheel_starts_and_listens_on_loopback_only(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installed))
    with served(tmp_path) as url:
        with urllib.request.urlopen(f"{url}/_stcore/host-config") as answer:
            assert answer.status == 200
        port = int(url.rsplit(":", 1)[1])
        assert listening(port) == {"0100007F"}


def listening(port: int) -> set[str]:
    """The addresses, as the kernel writes them, on which anybody listens at the port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, number = local.split(":")
            if state == "0A" and int(number, 16) == port:
                found.add(address)
    return found


def test_no_statistics_are_gathered() -> None:
    assert "gatherUsageStats = false" in (ROOT / ".streamlit" / "config.toml").read_text()


LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-docs.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_versions_are_locked_with_hashes_and_without_an_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert "index" not in re.sub(r"^[a-z].*$", "", text, flags=re.M)
    requirements = re.findall(r"^[a-z0-9].*==\S+.*$", text, re.M)
    assert len(requirements) > 30
    assert all(re.search(rf"^{re.escape(r)}\n +--hash=sha256:", text, re.M) for r in requirements)
    assert ("\nlitellm==1.110.2 " in text) == (name != "requirements-docs.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_a_locked_line_is_a_name_a_version_and_a_marker(name: str) -> None:
    """No extra, which pip before 23.3 takes for another package, and no folder or address."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line[:4].strip()]
    form = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][0-9a-z.]*( ; [a-z_]+ .*)? \\")
    assert [line for line in lines if not form.fullmatch(line)] == []
    assert not form.fullmatch("coverage[toml]==7.17.3 \\")


def test_pip_resolves_nothing_when_it_installs_a_lock() -> None:
    """Debian 12's pip 23.0.1 stopped at `coverage[toml]>=7.10.6`, which a locked package needs."""
    targets = ["elsewhere/.dev", "elsewhere/.docs"]
    command = ["make", "--dry-run", "--always-make", "UV=", "VENV=elsewhere", *targets]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    installed = [line for line in printed.splitlines() if ".lock" in line]
    assert [line.rpartition(" ")[2] for line in installed] == LOCKS
    assert all(" -m pip install " in line for line in installed)
    assert all(" --no-deps --require-hashes " in line for line in installed)


@pytest.mark.parametrize(
    ("name", "extras", "groups"),
    [
        (LOCKS[0], ("build", "app"), ()),
        (LOCKS[1], ("build", "app", "notebook", "mcp", "corpus"), ("dev",)),
        pytest.param(LOCKS[2], (), ("docs",), marks=needs_the_docs_packages),
    ],
)
def test_a_lock_holds_all_that_the_project_needs(
    name: str, extras: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    """Since nothing is resolved when it is installed; extras of packages are followed, too."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = content["project"]
    wanted = [project["dependencies"]] if extras else []
    wanted += [project["optional-dependencies"][extra] for extra in extras]
    wanted += [content["dependency-groups"][group] for group in groups]
    locked = _locked_versions((ROOT / name).read_text())
    missing, seen = [], set[str]()
    waiting = [Requirement(text) for texts in wanted for text in texts]
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        package = canonicalize_name(requirement.name)
        if package == project["name"]:  # an extra that brings others of ours
            own = project["optional-dependencies"]
            waiting += [Requirement(text) for each in requirement.extras for text in own[each]]
            continue
        version = locked.get(package)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            missing.append(str(requirement))
        else:
            waiting += _requirements_of(package, requirement.extras)
    assert missing == []
    assert len(seen) > len(locked) * 0.8


def _locked_versions(text: str) -> dict[str, str]:
    """Versions by package, of the lines whose marker holds on this machine."""
    lines = re.findall(r"^(\S+)==(\S+)(?: ; (.+))? \\$", text, re.M)
    return {
        name: version for name, version, marker in lines if not marker or Marker(marker).evaluate()
    }


def _requirements_of(package: str, extras: set[str]) -> Iterator[Requirement]:
    """What an installed package needs on this machine, with these of its extras."""
    for text in distribution(package).requires or ():
        found = Requirement(text)
        chosen = ["", *extras]
        if not found.marker or any(found.marker.evaluate({"extra": one}) for one in chosen):
            yield found


def test_the_version_is_the_same_everywhere() -> None:
    assert f'version = "{playground.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"## {playground.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_a_dialect_may_live_in_another_package(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        "from playground import DeclaredDialect, Syntax\n"
        "DIALECT = DeclaredDialect(name='theirs', syntax=Syntax(call='!{call:json}'), rules='Hi.',"
        " model_names=('their-?7b',))"
    )
    information = tmp_path / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[playground.dialects]\ntheirs = theirs:DIALECT\n"
    )
    program = (
        "import playground as pg\n"
        "print('theirs' in pg.dialect_names(), pg.get_dialect('theirs').name)\n"
        "print(pg.dialect_for('x/Their-7B').dialect)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "True theirs\ntheirs\n", done.stderr
