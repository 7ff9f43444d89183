"""What may be changed of a dialect without a class of its own: policy, checks, rules.

A change makes another dialect; the one that it is made of stays as it is.
"""

from __future__ import annotations

import copy
import os
from typing import Self

from playground.base.errors import InputFault
from playground.dialects.marks.policies import Policy
from playground.dialects.preflight import PreflightCheck
from playground.dialects.rules_file import GivenRules, read_rules


class DialectSettings:
    """A dialect's name, and what is chosen for it."""

    name: str
    cache_policy: str | Policy = "azad"
    preflight: tuple[PreflightCheck, ...] = ()
    rules_path: str | None = None
    _rules_read: GivenRules | None = None

    def with_policy(self, cache_policy: str | Policy) -> Self:
        """The same dialect under another cache policy."""
        return self._changed("cache_policy", cache_policy)

    def with_preflight(self, *checks: PreflightCheck) -> Self:
        """The same dialect with checks that every request must pass."""
        return self._changed("preflight", checks)

    def with_rules(self, rules: str | os.PathLike[str] | GivenRules | None) -> Self:
        """The same dialect with the rules of a file, or of a folder with one `NAME.md` a dialect,
        wherever a method is given no other path; None for its own.

        They are read now, and once. A dialect that writes `format_dialect_rules(…, rules_path)` by
        itself is given the path by `format_messages`. Raises InputFault.
        """
        if not isinstance(rules, GivenRules | None):
            rules = read_rules(rules, [self.name])
        other = self._changed("rules_path", rules.path if rules else None)
        return other._changed("_rules_read", rules)

    def rules_given(self, rules_path: str | None = None) -> str | None:
        """The rules of a file in place of the dialect's own: of this path, else of its own path;
        None where there is neither. Raises InputFault."""
        rules_path = self.rules_path if rules_path is None else rules_path
        if rules_path is None:
            return None
        read = self._rules_read
        if read is None or read.path != rules_path:
            read = read_rules(rules_path, [self.name])
        return read.of(self.name)

    def _changed(self, field: str, value: object) -> Self:
        other = copy.copy(self)  # not dataclasses.replace: a dialect by hand is no dataclass
        try:
            object.__setattr__(other, field, value)  # declared dialects are frozen
        except AttributeError as error:
            problem = f"dialect {self.name!r} cannot have another {field}: {error}"
            raise InputFault(
                problem, expected="an attribute, no property without a setter"
            ) from error
        return other
