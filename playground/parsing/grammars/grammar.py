"""A dialect's grammar for a set of tools, and its text in each engine's form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from playground.base.findings import Finding
from playground.parsing.grammars.expressions import Expression
from playground.parsing.grammars.gbnf import gbnf
from playground.parsing.grammars.lark import lark
from playground.parsing.grammars.replies import ROOT


@dataclass(frozen=True)
class Grammar:
    """A grammar of what a model may write: `rules` as data, and as text in each engine's form.

    `findings` say where the grammar takes more (`grammar-wider`) or less (`grammar-narrower`) than
    the tools' schemas and the dialect's parser. Without rules there is no grammar: every form is
    "", and a finding `no-grammar` says why.
    """

    dialect: str
    rules: Mapping[str, Expression]
    findings: tuple[Finding, ...] = ()
    by_characters: bool = False
    """True if an engine with terminals needs one for each character, because no marker shows where
    a text ends."""

    @cached_property
    def lark(self) -> str:
        """The form for llguidance."""
        return self.form("lark")

    @cached_property
    def gbnf(self) -> str:
        """The form for llama.cpp."""
        return self.form("gbnf")

    @cached_property
    def ebnf(self) -> str:
        """The form for xgrammar: the same text as `gbnf`."""
        return self.form("ebnf")

    @cached_property
    def structural_tag(self) -> str:
        """The form for xgrammar, and for servers that pass it to xgrammar: JSON."""
        return self.form("structural-tag")

    def form(self, name: str) -> str:
        """Return the grammar in one of FORMS."""
        return FORMS[name](self) if self.rules else ""


FORMS: Final[dict[str, Callable[[Grammar], str]]] = {
    "lark": lambda grammar: lark(grammar.rules, ROOT, grammar.by_characters),
    "gbnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "ebnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "structural-tag": lambda grammar: structural_tag(grammar.rules, ROOT),
}


def structural_tag(rules: Mapping[str, Expression], root: str) -> str:
    """Write the rules as JSON for xgrammar, vLLM and SGLang: one format, the grammar itself."""
    content: dict[str, Any] = {"type": "grammar", "grammar": gbnf(rules, root)}
    return json.dumps({"type": "structural_tag", "format": content}, ensure_ascii=False, indent=2)
