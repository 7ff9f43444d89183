"""Locked versions against known weaknesses: `python .ci/audit.py LOCK… --advisories PATH`.

PATH is a file or folder of advisories in the OSV format (https://ossf.github.io/osv-schema/):
`.yaml` files, as PyPA's advisory database has them, `.json` files, as OSV's exports have them, or a
`.zip` of either. Nothing is asked of the network. Status 0: none found; 1: some; 2: no database or
one without advisories, so nothing was checked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

READERS: dict[str, Callable[[str], Any]] = {
    ".json": json.loads,
    ".yaml": partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)),
}
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Hit:
    """A locked version that an advisory is about."""

    package: str
    version: str
    advisory: str
    summary: str


def locked(paths: Iterable[Path]) -> dict[str, set[str]]:
    """Versions by package, of lock files as pip and uv write them."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for name, version in LOCKED.findall(path.read_text("utf-8")):
            found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def advisories(path: Path) -> Iterator[dict[str, Any]]:
    """Every advisory of a file, a folder or a zip."""
    if path.is_dir():
        for inner in sorted(each for each in path.rglob("*") if each.suffix in READERS):
            yield from _read(inner.suffix, inner.read_text("utf-8"))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if (suffix := Path(name).suffix) in READERS:
                    yield from _read(suffix, archive.read(name).decode("utf-8"))
    else:
        yield from _read(path.suffix, path.read_text("utf-8"))


def _read(suffix: str, text: str) -> Iterator[dict[str, Any]]:
    """The advisories of a file's text; what else lies beside them (a schema, settings) is none."""
    value = READERS.get(suffix, json.loads)(text)
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict) and "id" in each and "affected" in each:
            yield each


def hits(packages: dict[str, set[str]], listed: Iterable[dict[str, Any]]) -> list[Hit]:
    """What is locked and affected; withdrawn advisories do not count."""
    found: set[Hit] = set()
    for advisory in listed:
        if advisory.get("withdrawn"):
            continue
        for affected in advisory.get("affected", []):
            package = affected.get("package", {})
            if package.get("ecosystem") != "PyPI":
                continue
            name = canonicalize_name(package.get("name", ""))
            for version in packages.get(name, ()):
                if is_affected(version, affected):
                    summary = advisory.get("summary") or advisory.get("details", "")[:100]
                    found.add(Hit(name, version, advisory.get("id", "?"), summary))
    return sorted(found)


def is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Whether a version is listed, or lies within a range from `introduced` up to `fixed`."""
    if version in affected.get("versions", []):
        return True
    at = Version(version)
    return any(
        _within(at, entry.get("events", []))
        for entry in affected.get("ranges", [])
        if entry.get("type") == "ECOSYSTEM"
    )


def _within(at: Version, events: list[dict[str, str]]) -> bool:
    """Each event switches "affected" on or off from its version on; the format orders them by
    version, whatever their order in the file, and after another of the same version none is."""
    bounds = []
    for kind, text in (pair for event in events for pair in event.items()):
        with suppress(InvalidVersion):  # a git commit: no range of ours
            bounds.append((Version(text), kind))
    inside = False
    for bound, kind in sorted(bounds, key=lambda pair: pair[0]):
        if kind == "introduced" and at >= bound:
            inside = True
        elif (kind == "fixed" and at >= bound) or (kind == "last_affected" and at > bound):
            inside = False
    return inside


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("locks", nargs="+", type=Path)
    parser.add_argument("--advisories", type=Path)
    given = parser.parse_args()
    packages = locked(given.locks)
    listed = []
    if given.advisories is not None and given.advisories.exists():
        listed = list(advisories(given.advisories))
    if not listed:
        print("audit: no advisory database is here, so NOTHING was checked; give one in the OSV")
        print("format: make audit ADVISORIES=path (PyPA's advisory-database, or an export of OSV)")
        return 2
    found = hits(packages, listed)
    for hit in found:
        print(f"{hit.package} {hit.version}: {hit.advisory} {hit.summary}")
    count = sum(map(len, packages.values()))
    print(f"audit: {count} locked versions, {len(listed)} advisories, {len(found)} hits")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
