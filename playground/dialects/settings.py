"""Change a dialect's policy, checks or rules without a new class.

A change makes a new dialect; the original stays as it is.
"""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Self

from playground.base.errors import InputFault
from playground.dialects.marks.policies import OWN, Policy

if TYPE_CHECKING:
    from playground.dialects.preflight import PreflightCheck
    from playground.dialects.rules_file import FileRules


class DialectSettings:
    """A dialect's name, and the settings that a user may change."""

    name: str
    cache_policy: str | Policy = "azad"
    preflight: tuple[PreflightCheck, ...] = ()
    rules_path: str | None = None
    _rules_read: FileRules | None = None
    _policy_replaced: bool = False

    def with_policy(self, cache_policy: str | Policy) -> Self:
        """Return the same dialect under another cache policy.

        The policy places the marks, even if the dialect overrides `inject_prompt_cache`.
        For "own" and "" the dialect itself is returned.
        """
        if cache_policy in ("", OWN):
            return self
        return self._changed("cache_policy", cache_policy)._changed("_policy_replaced", True)

    def with_preflight(self, *checks: PreflightCheck) -> Self:
        """Return the same dialect with checks that every request must pass."""
        return self._changed("preflight", checks)

    def with_rules(self, rules: str | os.PathLike[str] | FileRules | None) -> Self:
        """Return the same dialect with the rules of a file, or of a folder of `NAME.md` files.

        Methods use these rules unless they are passed another path; None restores the dialect's
        own. The file is read once, at this call. If a dialect's own
        `format_dialect_rules` takes `rules_path`, it gets the path and must read the file itself.
        Raises InputFault if the rules cannot be read.
        """
        from playground.dialects.rules_file import FileRules, read_rules

        if not isinstance(rules, FileRules | None):
            rules = read_rules(rules, [self.name])
        changed = self._changed("rules_path", rules.path if rules else None)
        return changed._changed("_rules_read", rules)

    def rules_of_file(self, rules_path: str | None = None) -> str | None:
        """Return the rules of a file that replace the dialect's own, or None.

        The file is `rules_path`, or else that of `with_rules`. Raises InputFault for a bad file.
        """
        rules_path = self.rules_path if rules_path is None else rules_path
        if rules_path is None:
            return None
        rules = self._rules_read
        if rules is None or rules.path != rules_path:
            from playground.dialects.rules_file import read_rules

            rules = read_rules(rules_path, [self.name])
        return rules.of(self.name)

    def _changed(self, field: str, value: object) -> Self:
        changed = copy.copy(self)  # not dataclasses.replace: some dialects are not dataclasses
        try:
            object.__setattr__(changed, field, value)  # declared dialects are frozen
        except AttributeError as error:
            problem = f"dialect {self.name!r} cannot have another {field}: {error}"
            expected = "an attribute or property that can be set"
            raise InputFault(problem, expected=expected) from error
        return changed
