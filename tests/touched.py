"""Check what the changed files touch, in under a minute: `make check`.

Changed is what differs from the place where this branch left `main` (on main: from the last
commit), and what Git does not know yet. ruff and mypy look at these files. The tests that run are
those whose modules import a changed one, read from the sources without running them: the nearest
first, counted in imports between the two, until the seconds are over. What was left out is listed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
_FROM: Final = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.M)
_IMPORT: Final = re.compile(r"^\s*import ([\w.]+)", re.M)
_TARGET: Final = re.compile(r"\"(playground(?:\.\w+)+)[:\"]")  # a module that is loaded by its name
_FOLDER: Final = re.compile(r"f\"(playground(?:\.\w+)+)\.\{")  # any module of a folder is
_PLUGINS: Final = (
    'GROUP: Final = "playground.plugins"'  # base/registry.py loads those of its entry points
)
READERS: Final = {"test_layers", "test_english"}  # they read every source
MOST_FILES: Final = 24  # of tests: to import one takes half a second


def modules(root: Path) -> dict[str, Path]:
    """Return the project's modules by name; tests and scripts have no package."""
    found = {}
    for file in (root / "playground").rglob("*.py"):
        name = ".".join(file.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = file
    for folder in ("tests", "docs", "benchmarks"):
        found |= {file.stem: file for file in (root / folder).glob("*.py")}
    return found


def imports(text: str, known: Iterable[str]) -> set[str]:
    """Return the known modules that a source imports, at its top or inside a function."""
    names = set(_IMPORT.findall(text)) | set(_TARGET.findall(text))
    if _PLUGINS in text:
        names |= {name for name in known if name.endswith(".plugin")}
    for module, listed in _FROM.findall(text):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", listed))}
    folders = tuple(f"{folder}." for folder in _FOLDER.findall(text))
    return {name for name in known if name in names or (folders and name.startswith(folders))}


def nearest(changed: Iterable[Path], root: Path = ROOT) -> list[tuple[int, Path]]:
    """Return the files of tests that a change touches, each with its rank, the nearest first.

    The rank is the number of imports between the two, less one for each word that both names have,
    and less one for laws. At the same rank, the file that imports less of the project comes first:
    it is about less. A changed file that is no module counts as its folder's, or as one of the
    tests that name it.
    """
    known = modules(root)
    texts = {name: file.read_text(encoding="utf-8") for name, file in known.items()}
    imported = {name: imports(text, known) - {name} for name, text in texts.items()}
    importers = defaultdict(set)
    for name, others in imported.items():
        for other in others:
            importers[other].add(name)
    names = {file: name for name, file in known.items()}
    reached: dict[str, int] = {}
    changed = list(changed)
    for path in changed:
        module = names.get(path) or names.get(path.parent / "__init__.py")
        if module is not None:
            reached[module] = 0
            reached |= dict.fromkeys(READERS & known.keys(), 1)
        else:
            quoted = f'{path.name}"'
            reached |= {
                n: 0 for n, text in texts.items() if n.startswith("test_") and quoted in text
            }
    waiting = deque(reached)
    while waiting:
        near = waiting.popleft()
        for other in importers[near] - reached.keys():
            reached[other] = reached[near] + 1
            waiting.append(other)
    tests = [name for name in reached if name.startswith("test_") and known[name].exists()]
    words = {
        word for path in changed for part in path.relative_to(root).parts for word in _words(part)
    }

    def rank(name: str) -> tuple[int, int, str]:
        alike = len(_words(name) & words) + ("laws" in name)
        return reached[name] - alike, len(imported[name]), name

    return [(rank(name)[0], known[name]) for name in sorted(tests, key=rank)]


def _words(name: str) -> set[str]:
    """Return the first letters of a name's words: `importing` is about `importers`."""
    return {word[:6] for word in re.findall(r"[a-z]{4,}", name)} - {"playgr", "tests", "test"}


def changed_files(root: Path = ROOT) -> list[Path]:
    """Return the files that differ from where this branch left `main`, and new ones."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    names = _git(root, "diff", "--name-only", "--diff-filter=d", base[0])
    names += _git(root, "ls-files", "--others", "--exclude-standard")
    return [root / name for name in names]


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    return done.stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=40, help="for all of it, about")
    parser.add_argument("files", nargs="*", type=Path, help="in place of those that Git names")
    options = parser.parse_args()
    began = time.monotonic()
    changed = [file.resolve() for file in options.files] or changed_files()
    sources = [str(file.relative_to(ROOT)) for file in changed if file.suffix == ".py"]
    tests = nearest(changed)
    print(f"{len(changed)} changed files, which {len(tests)} files of tests reach", flush=True)
    failed = False
    if sources:
        for words in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
            failed |= bool(
                subprocess.run([sys.executable, "-m", *words, *sources], cwd=ROOT).returncode
            )
    left = max(10, options.seconds - int(time.monotonic() - began))
    chosen = [str(file.relative_to(ROOT)) for _, file in tests[:MOST_FILES]]
    if chosen:
        words = ["-n", "auto", "--seconds", str(left), "-m", "not browser", *chosen]
        done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT)
        failed |= done.returncode not in (0, 5)  # 5: nothing but tests in a browser
    print(f"checked in {time.monotonic() - began:.0f} s; left out: tests in a browser")
    for distance in sorted({distance for distance, _ in tests[MOST_FILES:]}):
        far = [file.name for at, file in tests[MOST_FILES:] if at == distance]
        print(f"  {len(far)} files of rank {distance}: {', '.join(far[:6])}{' …' * (len(far) > 6)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
