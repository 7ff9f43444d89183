"""The site as `make docs` builds it, for tests; its packages are `make .venv/.docs`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT

needs_the_docs_packages = pytest.mark.skipif(
    find_spec("material") is None and not os.environ.get("CI"),
    reason="needs the packages of the site: make .venv/.docs",
)


def build_site(target: Path) -> subprocess.CompletedProcess[str]:
    """Run `make docs` with the packages of this environment; nothing is installed."""
    venv = sys.prefix
    command = ["make", "docs", f"VENV={venv}", f"--old-file={venv}/.docs", f"SITE={target}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
