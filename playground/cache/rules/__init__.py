"""Providers' caching rules as dated data: a JSON file for each, every rule with its source and day.

A file with `like` names another file, and states only the differences from it. A rule holds for
the models that it names; for any other model its figure is marked as assumed. Conflicting
statements are listed next to the value that is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from os.path import commonprefix
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from playground.base.errors import UnknownNameError
from playground.cache.rules.names import is_spelled, plain_name
from playground.cache.rules.schema import check_value
from playground.nouns.wire_bodies import forces_a_tool

_FOLDER: Final = Path(__file__).parent
_STRICT: Final = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
_DATE: Final = r"^\d{4}-\d{2}-\d{2}$"
STALE_DAYS: Final = 90
Match = Literal["breakpoints", "exact", "best effort", "unknown"]


class Statement(BaseModel):
    """A value that a source gives for a rule, and the day on which it was seen there."""

    model_config = _STRICT

    value: Any
    source: str = Field(min_length=3)
    seen: str = Field(pattern=_DATE)
    superseded: bool = False  # replaced by a later statement of the same source, so no conflict
    route: str = ""  # it holds only for models whose names begin with this: vertex_ai/


class Rule(Statement):
    """The statement that we use, with a note, and other sources' statements that conflict with it.

    `models` lists the models for which the rule holds; empty if it holds for all models of its
    file.
    """

    models: tuple[str, ...] = Field(default=(), alias="for")
    note: str = ""
    conflicts: tuple[Statement, ...] = ()


class _File(BaseModel):
    model_config = _STRICT

    provider: str
    title: str
    like: str = ""
    rules: dict[str, Rule]


@dataclass(frozen=True, slots=True)
class Figure:
    """A rule's figure for one model, and its source.

    `assumed` names the model from which the figure is assumed, if no source gives it for this one;
    otherwise it is empty. `others` are the figures that conflicting sources give.
    """

    value: int
    source: str
    assumed: str = ""
    others: tuple[Figure, ...] = ()


class Rules:
    """The rules of one provider. Figures are integers: tokens, seconds, thousandths of a price.

    `mapped` has a price list's figures for one model, by the names of rules. They replace a rule's
    default, but not a figure that the rule file states for this model. `like` names the rules that
    these rules extend.
    """

    def __init__(
        self,
        provider: str,
        title: str,
        rules: dict[str, Rule],
        mapped: Mapping[str, Figure] | None = None,
        like: str = "",
    ) -> None:
        self.provider, self.title, self.rules, self.like = provider, title, rules, like
        self.mapped: Mapping[str, Figure] = mapped or {}
        self._values = {name: rule.value for name, rule in rules.items()}
        # `value` returns a rule's value; `get` returns a default if there is no such rule. They are
        # bound methods of the dictionary for speed: every request looks up twenty values.
        self.value: Callable[[str], Any] = self._values.__getitem__
        self.get: Callable[..., Any] = self._values.get
        self._figures: dict[tuple[str, str], Figure] = {}  # cached: every request needs some
        self._tables: dict[str, dict[str, Any]] = {}
        self._knows: dict[str, bool] = {}
        self._ranges: dict[str, tuple[int, int]] = {}
        self._of_models: dict[tuple[str, str], Any] = {}

    def knowing(self, mapped: Mapping[str, Figure]) -> Rules:
        """Return the same rules with a price list's figures for one model."""
        return Rules(self.provider, self.title, self.rules, mapped, self.like)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The plain names of the models that the rules hold for, the newest first."""
        return tuple(map(plain_name, self.get("models", ())))

    def knows(self, model: str) -> bool:
        """Return True if the rules name this model exactly: its route is known, its name is
        complete, and its date, if it has one, is listed.

        So it is False for `claude-opus-4-5-20990101` and for `nobody/claude-opus-4-5`.
        """
        if model not in self._knows:
            self._knows[model] = any(name in self._names for name in self._spellings(model))
        return self._knows[model]

    def _spellings(self, model: str) -> Iterator[str]:
        """Yield the name without its route, and the name without its region or maker as well; leave
        out forms that the provider would spell differently."""
        spelling = model.strip().lower()
        for route in self.get("routes", ()):
            if not spelling.startswith(route):
                continue
            name = spelling[len(route) :]
            prefixes = (p for p in self.get("name_prefixes", ()) if name.startswith(p))
            for start in (0, *map(len, prefixes)):
                if is_spelled(name[start:], self.get("spelling", "either")):
                    yield name[start:].replace(".", "-")

    @cached_property
    def _names(self) -> frozenset[str]:
        aliases = self.get("aliases", {}).values()
        return frozenset((*self.models, *(name for names in aliases for name in names)))

    @cached_property
    def _known_models(self) -> frozenset[str]:
        return frozenset(self.models)

    def holds(self, name: str, model: str) -> bool:
        """Return True if the rule `name` exists and holds for the model."""
        rule = self.rules.get(name)
        if rule is None:
            return False
        if not self.knows(model):
            return False
        return not rule.models or plain_name(model) in map(plain_name, rule.models)

    def lists(self, name: str, model: str) -> bool:
        """Return True if the rule `name`, which is a list of models, contains this model."""
        return plain_name(model) in map(plain_name, self.get(name, ()))

    def assumed_as(self, model: str) -> str:
        """Return the model whose figures this one has: itself if it is known, else the known model
        whose name begins most like its own; "" if none is known."""
        plain = plain_name(model)
        if plain in self._known_models:
            return plain
        shared = [len(commonprefix((plain, known))) for known in self.models]
        return self.models[shared.index(max(shared))] if shared else ""

    def figure(self, name: str, model: str) -> Figure:
        """Return the figure for a model: its own entry, the price list's, or the default.

        A default holds for the models that the rules name. If none of the three applies, the figure
        is that of the model with the most similar name, as an assumption.
        """
        cached = self._figures.get((name, model))
        if cached is None:
            cached = self._figures[name, model] = self._figure(name, model)
        return cached

    def _figure(self, name: str, model: str) -> Figure:
        rule, table, plain = self.rules[name], self._table(name), plain_name(model)
        source = f"{rule.source}, {rule.seen}"
        others = tuple(self._others(rule, model))
        if self.knows(model) and plain in table:
            return Figure(table[plain], source, others=others)
        if name in self.mapped:
            return self.mapped[name]
        if self.knows(model) and "default" in table:
            return Figure(table["default"], source, others=others)
        like = self.assumed_as(model)
        usual: int = table.get("default", next(iter(table.values()), 0))
        if self.knows(model):  # no source states this figure
            near = {key: len(commonprefix((plain, key))) for key in table}
            like = max(near, key=near.__getitem__, default="")
        value: int = table.get(like, usual)
        return Figure(value, source, like or f"other models of {self.title}", others)

    def _others(self, rule: Rule, model: str) -> Iterator[Figure]:
        plain = plain_name(model)
        for statement in rule.conflicts:
            if statement.superseded or not isinstance(statement.value, Mapping):
                continue
            if statement.route and not model.lower().startswith(statement.route):
                continue
            by_model = {plain_name(key): figure for key, figure in statement.value.items()}
            if plain in by_model or ("default" in by_model and plain in self._known_models):
                value: int = by_model[plain] if plain in by_model else by_model["default"]
                yield Figure(value, f"{statement.source}, {statement.seen}")

    def _table(self, name: str) -> dict[str, Any]:
        if name not in self._tables:
            self._tables[name] = {plain_name(k): v for k, v in self.rules[name].value.items()}
        return self._tables[name]

    def of_model(self, name: str, model: str) -> Any:
        """Return a model's entry, or the default, in a rule that is a table by model; or None."""
        if (name, model) not in self._of_models:
            self._of_models[name, model] = self._entry(name, model)
        return self._of_models[name, model]

    def _entry(self, name: str, model: str) -> Any:
        if name not in self.rules:
            return None
        table = self._table(name)
        usual = table.get("default")
        return table.get(plain_name(model), usual) if self.knows(model) else usual

    def string_is_block(self, model: str) -> bool:
        """Return True if a string and the same text as one block make the same prefix: if the rules
        say so of the model, or say nothing of this for any model."""
        if "string_is_block" not in self.rules:
            return True
        return bool(self.of_model("string_is_block", model))

    @cached_property
    def match(self) -> Match:
        found: Match = self.value("match")
        return found

    @property
    def long_lifetime(self) -> str:
        """The longest lifetime that a mark can ask for; bills count its writes separately."""
        seconds: dict[str, int] = self.value("ttls")
        return max(seconds, key=seconds.__getitem__)

    def minimum(self, model: str) -> int:
        """Return the tokens that a prefix needs to be cached."""
        return self.figure("minimum_tokens", model).value

    def assumed_minimum(self, model: str) -> str:
        """Return in words from which model the minimum is assumed; "" if a source states it."""
        like = self.figure("minimum_tokens", model).assumed
        return f", assumed as for {like}" if like else ""

    def minimum_range(self, model: str) -> tuple[int, int]:
        """Return the lowest and the highest minimum by any source.

        An assumed minimum may be that of any model of the provider.
        """
        if model not in self._ranges:
            self._ranges[model] = self._minimum_range(model)
        return self._ranges[model]

    def _minimum_range(self, model: str) -> tuple[int, int]:
        figure = self.figure("minimum_tokens", model)
        values = [figure.value, *(other.value for other in figure.others)]
        if figure.assumed:
            values += self._table("minimum_tokens").values()
        return min(values), max(values)

    def minimum_in_words(self, model: str) -> str:
        """Return the minimum in words: a figure, the figures of disagreeing sources, or a range."""
        figure = self.figure("minimum_tokens", model)
        if figure.assumed:
            least, most = self.minimum_range(model)
            return f"the minimum, which no source states for this model: {least:,} to {most:,}"
        if not figure.others:
            return f"the minimum of {figure.value:,}"
        statements = (f"{each.value:,} ({each.source})" for each in (figure, *figure.others))
        return f"the minimum: sources disagree, {'; '.join(statements)}"

    def read_permille(self, model: str) -> int:
        """Return the price of a token read, in thousandths of the input price."""
        return self.figure("read_permille", model).value

    def write_permille(self, ttl: str) -> int:
        """Return the price of a token written for this lifetime, in thousandths of the input price;
        for a lifetime without a price, the highest."""
        prices: dict[str, int] = self.value("write_permille")
        return prices[ttl] if ttl in prices else max(prices.values())

    def seconds(self, ttl: str) -> int:
        """Return how many seconds after its last use an entry with this lifetime expires. An
        unknown lifetime is taken for the shortest."""
        seconds: dict[str, int] = self._values["ttls"]
        return seconds[ttl] if ttl in seconds else min(seconds.values())

    def salt(self, name: str, value: Any, model: str) -> Any:
        """Return the value with which a parameter enters the prefix's hash; None if it is not set
        or has the model's default."""
        defaults = self.get("defaults", {}).get(name)
        if defaults is None or value is None:
            return value
        plain = plain_name(model)
        usual = defaults.get(plain, defaults.get("default", ()))
        return None if value in usual else value

    def salts_of(
        self, names: Iterable[str], parameters: Mapping[str, Any], model: str
    ) -> dict[str, Any]:
        """Return by name the values with which parameters enter the hash, without defaults."""
        salts = ((name, self.salt(name, _parameter(name, parameters), model)) for name in names)
        return {name: value for name, value in salts if value is not None}


def _parameter(name: str, parameters: Mapping[str, Any]) -> Any:
    if name == "forced_tool":
        choice = parameters.get("tool_choice")
        return choice if forces_a_tool(choice) else None
    return parameters.get(name)


@cache
def rule_sets() -> dict[str, Rules]:
    """Return the rules of every provider, by name. The files are checked as they are read."""
    files = {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.json"), key=_stem)}
    return {
        name: Rules(name, file.title, _with_inherited(file, files), like=file.like)
        for name, file in files.items()
    }


def provider_names() -> list[str]:
    """Return the names that `provider=` of a cache simulation takes: those with dated rules."""
    return list(rule_sets())


def rules_of(provider: str) -> Rules:
    """Return one provider's rules. Raises UnknownNameError if there are none."""
    rules = rule_sets()
    if provider not in rules:
        raise UnknownNameError("provider", provider, list(rules))
    return rules[provider]


def _stem(path: Path) -> str:
    return path.stem


def _read(path: Path) -> _File:
    file = _File.model_validate_json(path.read_bytes())
    for name, rule in file.rules.items():
        check_value(name, rule.value)
        for other in rule.conflicts:
            check_value(name, other.value)
    return file


def _with_inherited(file: _File, files: dict[str, _File]) -> dict[str, Rule]:
    inherited = _with_inherited(files[file.like], files) if file.like else {}
    return {**inherited, **file.rules}
