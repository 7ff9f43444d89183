"""A dialect's grammar for a set of tools, and its text in each engine's form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from playground.findings import Finding
from playground.grammars.expressions import Expression
from playground.grammars.gbnf import gbnf
from playground.grammars.lark import lark
from playground.grammars.replies import ROOT
from playground.grammars.structural_tags import structural_tag


@dataclass(frozen=True)
class Grammar:
    """What a model may write: `rules` are the grammar itself, the forms are texts of it.

    `findings` say where it takes more (`grammar-wider`) or less (`grammar-narrower`) than the
    tools' schemas and the dialect's parser do. Without rules there is no grammar, every form is "",
    and a finding `no-grammar` says why.
    """

    dialect: str
    rules: Mapping[str, Expression]
    findings: tuple[Finding, ...] = ()
    by_characters: bool = False
    """Whether an engine with terminals needs one for each character: no marker tells where a text
    ends."""

    @cached_property
    def lark(self) -> str:
        """For llguidance."""
        return self.form("lark")

    @cached_property
    def gbnf(self) -> str:
        """For llama.cpp."""
        return self.form("gbnf")

    @cached_property
    def ebnf(self) -> str:
        """For xgrammar: what it reads of GBNF is all that is written."""
        return self.form("ebnf")

    @cached_property
    def structural_tag(self) -> str:
        """For xgrammar, and servers that hand it on: JSON."""
        return self.form("structural-tag")

    def form(self, name: str) -> str:
        """The grammar in one of FORMS."""
        return FORMS[name](self) if self.rules else ""


FORMS: Final[dict[str, Callable[[Grammar], str]]] = {
    "lark": lambda grammar: lark(grammar.rules, ROOT, grammar.by_characters),
    "gbnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "ebnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "structural-tag": lambda grammar: structural_tag(grammar.rules, ROOT),
}
