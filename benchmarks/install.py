"""Weigh an installation, and time the first `uvx`.

Run: python benchmarks/install.py [EXTRA …]

For the library alone, and for each EXTRA: the number of packages, and the megabytes of all their
files without and with Python's bytecode, installed by pip from a wheel of this checkout. Then the
seconds of wall time that `uvx dialect-playground samples` takes with an empty cache (needs uv):
building the wheel is left out, downloading from the index is not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UVX_RUNS = 3
SIZES = """
import importlib.metadata, pathlib
count = plain = compiled = 0
for distribution in importlib.metadata.distributions():
    if distribution.metadata["Name"] not in ("pip", "setuptools"):
        count += 1
        for file in distribution.files or ():
            path = pathlib.Path(str(distribution.locate_file(file)))
            size = path.stat().st_size if path.exists() else 0
            compiled += size
            plain += size * (path.suffix != ".pyc")
print(count, plain / 1e6, compiled / 1e6)
"""


def run(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def environment(folder: Path) -> Path:
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


def weigh(wheel: Path, extra: str, folder: Path) -> str:
    """Install the wheel with an extra ("" for none), and return the sizes in words."""
    python = environment(folder)
    run(python, "-m", "pip", "install", "-q", f"{wheel}[{extra}]" if extra else wheel)
    count, plain, compiled = map(float, run(python, "-c", SIZES).split())
    return f"{count:.0f} packages, {plain:.1f} MB, compiled {compiled:.1f} MB"


def first_run(uvx: str, wheel: Path, cache: Path) -> float:
    began = time.perf_counter()
    run(uvx, "--cache-dir", cache, "--from", wheel, "dialect-playground", "samples")
    return time.perf_counter() - began


def main(extras: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        builder = environment(Path(place, "builder"))
        run(builder, "-m", "pip", "wheel", "-q", "--no-deps", "-w", place, ROOT)
        (wheel,) = Path(place).glob("*.whl")
        for extra in ("", *extras):
            print(
                f"{extra or 'library alone'}: {weigh(wheel, extra, Path(place, f'with {extra}'))}"
            )
        if uvx := shutil.which("uvx"):
            times = [first_run(uvx, wheel, Path(place, f"cache {n}")) for n in range(UVX_RUNS)]
            print("uvx with an empty cache:", ", ".join(f"{seconds:.1f} s" for seconds in times))
        else:
            print("uvx is not here: its seconds were not measured")


if __name__ == "__main__":
    main(sys.argv[1:])
