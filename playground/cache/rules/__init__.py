"""Providers' caching rules as dated data: one JSON file each, every value with source and date.

A file may be `like` another one and state only what differs. Conflicting statements are kept beside
the value that is used, never merged into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from playground.base.errors import UnknownNameError

_HERE: Final = Path(__file__).parent
_STRICT: Final = ConfigDict(extra="forbid", frozen=True)
_DATE: Final = r"^\d{4}-\d{2}-\d{2}$"
Match = Literal["breakpoints", "exact", "best effort", "unknown"]


class Statement(BaseModel):
    """A value that a source gives for a rule."""

    model_config = _STRICT

    value: Any
    source: str = Field(min_length=3)
    date: str = Field(pattern=_DATE)


class Rule(Statement):
    """The statement that is used, with a note, and the statements that conflict with it."""

    note: str = ""
    conflicts: tuple[Statement, ...] = ()


class _File(BaseModel):
    model_config = _STRICT

    provider: str
    title: str
    like: str = ""
    rules: dict[str, Rule]


_TYPES: Final[dict[str, TypeAdapter[Any]]] = {
    "match": TypeAdapter(Match),
    "max_breakpoints": TypeAdapter(int),
    "automatic": TypeAdapter(bool),
    "lookback": TypeAdapter(int),
    "lookback_first": TypeAdapter(int),
    "message_ends": TypeAdapter(int),
    "collapse_runs": TypeAdapter(bool),
    "string_is_block": TypeAdapter(dict[str, bool | None]),  # by model; None: not known
    "granularity": TypeAdapter(int),
    "ttls": TypeAdapter(dict[str, int]),
    "default_ttl": TypeAdapter(str),
    "write_permille": TypeAdapter(dict[str, int]),
    "read_permille": TypeAdapter(dict[str, int]),
    "minimum_tokens": TypeAdapter(dict[str, int]),
    "storage_permille_hour": TypeAdapter(dict[str, int]),
    "unmarkable": TypeAdapter(list[str]),
    "salts": TypeAdapter(dict[Literal["tools", "system", "messages"], list[str]]),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A rule's figure for one model, and its source."""

    value: int
    source: str


class Rules:
    """The rules of one provider. Figures are integers: tokens, seconds, thousandths of a price.

    `mapped` are figures for one model from another source, by the rule's name: they replace a
    rule's default, never what its file says of that model.
    """

    def __init__(
        self,
        provider: str,
        title: str,
        rules: dict[str, Rule],
        mapped: Mapping[str, Figure] | None = None,
    ) -> None:
        self.provider, self.title, self.rules = provider, title, rules
        self.mapped: Mapping[str, Figure] = mapped or {}
        self._keys: dict[tuple[str, str], str] = {}  # rules' entries that count for a model

    def knowing(self, mapped: Mapping[str, Figure]) -> Rules:
        """Return the same rules with figures for one model."""
        return Rules(self.provider, self.title, self.rules, mapped)

    def value(self, name: str) -> Any:
        return self.rules[name].value

    def figure(self, name: str, model: str) -> Figure:
        """Return the figure for a model: its own entry, else the mapped one, else the default."""
        rule = self.rules[name]
        key = self._key(name, model)
        if key == "default" and name in self.mapped:
            return self.mapped[name]
        return Figure(rule.value[key], f"{rule.source}, {rule.date}")

    def string_is_block(self, model: str) -> bool:
        """Return True if a string and the same text as one block certainly make the same prefix."""
        rule = self.rules.get("string_is_block")
        return rule is None or bool(rule.value[self._key("string_is_block", model)])

    def _key(self, name: str, model: str) -> str:
        """Return the key of a rule's entry for a model; cached, since every request asks."""
        if (name, model) not in self._keys:
            self._keys[name, model] = _key(self.rules[name].value, model)
        return self._keys[name, model]

    @property
    def match(self) -> Match:
        found: Match = self.value("match")
        return found

    def minimum(self, model: str) -> int:
        """Return the tokens that a prefix needs to be cached."""
        return self.figure("minimum_tokens", model).value

    def read_permille(self, model: str) -> int:
        """Return the price of a token read, in thousandths of the input price."""
        return self.figure("read_permille", model).value

    def write_permille(self, ttl: str) -> int:
        """Return the price of a token written for this lifetime, in thousandths of the input
        price.
        """
        prices: dict[str, int] = self.value("write_permille")
        return prices.get(ttl, max(prices.values()))

    def seconds(self, ttl: str) -> int:
        """Return how long an entry lives after its last use."""
        lives: dict[str, int] = self.value("ttls")
        return lives.get(ttl, min(lives.values()))


def _key(table: Mapping[str, Any], model: str) -> str:
    """Return the longest key that is part of the model's name, or "default"."""
    name = model.lower().replace(".", "-")
    known = [key for key in table if key != "default" and key.replace(".", "-") in name]
    return max(known, key=len, default="default")


@cache
def rule_sets() -> dict[str, Rules]:
    """Return the rules of every provider, by name. The files are checked as they are read."""
    files = {path.stem: _read(path) for path in sorted(_HERE.glob("*.json"), key=_stem)}
    return {name: Rules(name, file.title, _whole(file, files)) for name, file in files.items()}


def rules_of(provider: str) -> Rules:
    """Return one provider's rules. Raises UnknownNameError, listing the known providers."""
    found = rule_sets()
    if provider not in found:
        raise UnknownNameError("provider", provider, list(found))
    return found[provider]


def _stem(path: Path) -> str:
    return path.stem


def _read(path: Path) -> _File:
    file = _File.model_validate_json(path.read_bytes())
    for name, rule in file.rules.items():
        _TYPES[name].validate_python(rule.value, strict=True)
    return file


def _whole(file: _File, files: dict[str, _File]) -> dict[str, Rule]:
    below = _whole(files[file.like], files) if file.like else {}
    return {**below, **file.rules}
