"""Grammars as xgrammar's structural tags: EBNF inside JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from playground.parsing.grammars.expressions import Expression
from playground.parsing.grammars.gbnf import gbnf


def structural_tag(rules: Mapping[str, Expression], root: str) -> str:
    """Write the rules as JSON for xgrammar, vLLM and SGLang: one format, the grammar itself."""
    content: dict[str, Any] = {"type": "grammar", "grammar": gbnf(rules, root)}
    return json.dumps({"type": "structural_tag", "format": content}, ensure_ascii=False, indent=2)
