"""`make audit`: locked versions against advisories that lie on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement

SCRIPT = ROOT / ".ci" / "audit.py"


def audit(
    folder: Path, lock: str, *advisories: dict[str, Any], made: Path | None = None
) -> tuple[int, str]:
    """Status and words for a lock, by these advisories or by a database that is made already."""
    (folder / "a.lock").write_text(lock)
    database = made or folder / "database"
    if made is None:
        database.mkdir()
    for number, advisory in enumerate(advisories):
        (database / f"{number}.json").write_text(json.dumps(advisory))
    command = [sys.executable, str(SCRIPT), str(folder / "a.lock"), "--advisories", str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def advisory(name: str, *events: dict[str, str], **more: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}]
    return {
        "id": "OSV-1",
        "summary": "it leaks",
        "affected": [{"package": package, "ranges": ranges}],
        **more,
    }


RANGE = ({"introduced": "1.0"}, {"fixed": "1.4"}, {"introduced": "2.0"}, {"last_affected": "2.1"})


@pytest.mark.parametrize(
    ("version", "hit"),
    [("0.9", 0), ("1.0", 1), ("1.3.9", 1), ("1.4", 0), ("2.1", 1), ("2.1.1", 0), ("1.4rc1", 1)],
)
def test_a_locked_version_within_a_range_is_a_hit(tmp_path: Path, version: str, hit: int) -> None:
    lock = f"Some_Package=={version} ; python_version < '3.13' \\\n    --hash=sha256:0\n"
    status, told = audit(tmp_path, lock, advisory("some-package", *RANGE))
    assert status == hit
    assert f"1 locked versions, 1 advisories, {hit} hits" in told
    assert ("some-package " + version + ": OSV-1 it leaks" in told) is bool(hit)


def test_what_is_withdrawn_or_of_another_registry_does_not_count(tmp_path: Path) -> None:
    other = advisory("a", {"introduced": "0"})
    other["affected"][0]["package"]["ecosystem"] = "npm"
    gone = advisory("a", {"introduced": "0"}, withdrawn="2026-01-01T00:00:00Z")
    assert audit(tmp_path, "a==1\n", other, gone)[0] == 0


def test_without_a_database_it_says_that_nothing_was_checked() -> None:
    command = [sys.executable, str(SCRIPT), str(ROOT / "requirements.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "NOTHING was checked" in done.stdout


def test_make_audit_without_a_list_says_that_nothing_was_checked() -> None:
    """Also of the command as it is typed; the environment is not made anew for it."""
    command = ["make", "--silent", "--old-file=.venv/.dev", f"BIN={Path(sys.executable).parent}"]
    done = subprocess.run([*command, "audit"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == (
        "audit: no advisory database is here, so NOTHING was checked; give one in the OSV\n"
        "format: make audit ADVISORIES=path (PyPA's advisory-database, or an export of OSV)\n"
    )
    given = subprocess.run([*command, "audit", "ADVISORIES=no/such"], cwd=ROOT, capture_output=True)
    assert (given.returncode, given.stdout) == (2, done.stdout.encode())


@pytest.mark.parametrize("files", [(), ("pyproject.toml", "README.md"), ("empty.json",)])
def test_a_folder_without_advisories_is_no_database(tmp_path: Path, files: tuple[str, ...]) -> None:
    """A checkout of something else said "0 hits", and so would a clone that had failed."""
    database = tmp_path / "database"
    database.mkdir()
    for name in files:
        (database / name).write_text("{}")
    status, told = audit(tmp_path, "a==1\n", made=database)
    assert status == 2
    assert "NOTHING was checked" in told


def test_pypas_own_files_are_read(tmp_path: Path) -> None:
    """Its database is YAML: read as JSON alone, it had no advisory about anything."""
    database = tmp_path / "database" / "vulns" / "some-package"
    database.mkdir(parents=True)
    (database / "PYSEC-1.yaml").write_text(
        "id: PYSEC-1\ndetails: it leaks\naffected:\n- package:\n    ecosystem: PyPI\n"
        "    name: Some.Package\n  ranges:\n  - type: ECOSYSTEM\n    events:\n"
        "    - fixed: '2.0'\n    - introduced: '0'\nmodified: 2026-01-01T00:00:00Z\n"
    )
    for version, hit in (("1.9", 1), ("2.0", 0)):
        status, told = audit(tmp_path, f"some-package=={version}\n", made=tmp_path / "database")
        assert (status, f"1 advisories, {hit} hits" in told) == (hit, True), told


def test_a_zip_of_advisories_is_read(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("OSV-1.json", json.dumps(advisory("a", {"introduced": "0"})))
        archive.writestr("OSV-2.yaml", yaml.safe_dump(advisory("a", {"introduced": "5"})))
    status, told = audit(tmp_path, "a==1\n", made=path)
    assert (status, "2 advisories, 1 hits" in told) == (1, True), told


def test_every_requirement_has_an_upper_bound() -> None:
    """A major version that breaks us is not installed before we have seen it; tools of the
    developers are held by the lock alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    listed = [Requirement(each) for group in (project["dependencies"], *extras) for each in group]
    own = project["name"]  # extras that name each other
    unbound = [
        r.name for r in listed if r.name != own and not any(s.operator == "<" for s in r.specifier)
    ]
    assert unbound == ["regex"]  # whose versions are dates


def test_our_own_locks_are_read(tmp_path: Path) -> None:
    lock = (ROOT / "requirements.lock").read_text()
    status, told = audit(tmp_path, lock, advisory("litellm", {"introduced": "0"}))
    assert status == 1
    assert "litellm 1." in told
