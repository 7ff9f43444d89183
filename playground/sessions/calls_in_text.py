"""Find calls that are written as text in answers, by the openers that dialects declare.

Only markers (tags and control tokens) count, and only where a dialect would read a call: prose,
tables and code are full of brackets, fences and names of tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:  # loaded only if they are needed, which is seldom
    from playground.dialects.files.folders import FileState
    from playground.parsing.syntax import Syntax

_MARKER: Final = re.compile(r"[<\[]\W*\w{3}")  # each opener has such a marker


class _Openers(NamedTuple):
    """A pattern of all dialects' openers of calls, and for each opener the syntaxes that have
    it."""

    pattern: re.Pattern[str]
    syntaxes: dict[str, tuple[Syntax, ...]]


def openers_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield, for each text, the first marker in it that begins a call; "" if it has none."""
    openers: _Openers | None = None
    for text in texts:
        if not ("<" in text or "[" in text) or not _MARKER.search(text):  # most texts have neither
            yield ""
            continue
        if openers is None:  # slow, because it searches folders: once for all texts
            from playground.dialects import dialect_files

            openers = _openers(dialect_files())
        yield _opener_in(text, openers)


def _opener_in(text: str, openers: _Openers) -> str:
    from playground.parsing.plan import call_openers

    tried: set[Syntax] = set()
    seen: set[str] = set()
    for match in openers.pattern.finditer(text):
        opener = match[0]
        if opener in seen:
            continue
        seen.add(opener)
        syntaxes = openers.syntaxes[opener]
        for syntax in syntaxes:
            if syntax not in tried and call_openers(syntax, ()).is_in(text):
                if syntax is not syntaxes[0]:  # the next text is probably of the same dialect
                    others = (each for each in syntaxes if each is not syntax)
                    openers.syntaxes[opener] = (syntax, *others)
                return opener
            tried.add(syntax)
    return ""


@lru_cache(maxsize=1)
def _openers(_files: tuple[FileState, ...]) -> _Openers:
    """Return the openers of all dialects' calls, except openers of any text, such as `<code>`.

    They are cached until the user's dialect files change: loading all dialects takes tenths of a
    second.
    """
    from playground.dialects import DeclaredDialect, as_dialects

    dialects = [each for each in as_dialects("") if isinstance(each, DeclaredDialect)]
    declared = [each.syntax for each in dialects if not each.syntax.text_keys]
    known = {o for syntax in declared for o in syntax.openers if _MARKER.search(o)}
    longest = sorted(known, key=lambda opener: (-len(opener), opener))
    syntaxes = {
        opener: tuple(s for s in declared if any(opener.startswith(o) for o in s.openers))
        for opener in longest
    }
    return _Openers(re.compile("|".join(map(re.escape, longest))), syntaxes)
