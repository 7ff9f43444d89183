"""Generated documents are those that the code writes: dialects, servers, findings, figures."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest
from conftest import ROOT

DOCUMENTS: Final = import_module("generate").DOCUMENTS


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_generated_document_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path](), "run python docs/generate.py"
