"""A tokenizer as the rest sees it: how many tokens a text is, and where each of them ends.

Text is text: what looks like a control token is one only where `control` says that a template
wrote it. Lone surrogates, which no model gets, count as one replacement character each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tiktoken import Encoding


class Tokenizer(Protocol):
    """`source` says where its vocabulary comes from; `controls` are its control tokens' texts."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def controls(self) -> frozenset[str]: ...

    def ids(self, text: str, control: bool = False) -> list[int]:
        """The tokens; with `control`, control tokens in the text are what they look like."""

    def starts(self, text: str, control: bool = False) -> list[int]:
        """The character at which each token starts: one that is part of a character, at it."""


def count(tokenizer: Tokenizer, text: str, control: bool = False) -> int:
    """How many tokens the text is."""
    return len(tokenizer.ids(text, control)) if text else 0


def shares(tokenizer: Tokenizer, texts: Iterable[str], control: bool = False) -> list[int]:
    """The tokens of each of several texts that are read as one: a token that lies in two of them
    is counted with the first."""
    pieces = list(texts)
    starts = tokenizer.starts("".join(pieces), control)
    counts, end, before = [], 0, 0
    for piece in pieces:
        end += len(piece)
        upto = bisect_left(starts, end)
        counts.append(upto - before)
        before = upto
    return counts


@dataclass(frozen=True)
class TiktokenTokenizer:
    """One that the package tiktoken runs: OpenAI's, Llama 3's, Mistral's Tekken."""

    encoding: Encoding
    source: str

    @property
    def name(self) -> str:
        return self.encoding.name

    @cached_property
    def controls(self) -> frozenset[str]:
        return frozenset(self.encoding.special_tokens_set)

    def ids(self, text: str, control: bool = False) -> list[int]:
        return [token for part in _parts(text) for token in self._ids(part, control)]

    def _ids(self, text: str, control: bool) -> list[int]:
        if control:
            return self.encoding.encode(text, allowed_special="all")
        return self.encoding.encode_ordinary(text)

    def starts(self, text: str, control: bool = False) -> list[int]:
        return list(self.encoding.decode_with_offsets(self.ids(whole(text), control))[1])


_SETTING: Final = Lock()


@dataclass(frozen=True)
class FileTokenizer:
    """One that the package tokenizers runs: a `tokenizer.json`, and what is made into one."""

    name: str
    source: str
    model: Any  # tokenizers.Tokenizer, whose types say little

    @cached_property
    def controls(self) -> frozenset[str]:
        added = self.model.get_added_tokens_decoder().values()
        return frozenset(token.content for token in added if token.special)

    def ids(self, text: str, control: bool = False) -> list[int]:
        return list(self._encoded(text, control).ids)

    def starts(self, text: str, control: bool = False) -> list[int]:
        return [start for start, _stop in self._encoded(text, control).offsets]

    def _encoded(self, text: str, control: bool) -> Any:
        with (
            _SETTING
        ):  # a tokenizer is shared by threads, and what it takes for special is set on it
            self.model.encode_special_tokens = not control
            return self.model.encode(whole(text), add_special_tokens=False)


# A million blanks in a row overflow the stack of tiktoken's regular expressions, which ends in a
# panic that no `except Exception` sees. Cut where nobody will miss the one token.
_MOST_BLANKS: Final = 100_000
_BLANKS: Final = re.compile(rf"\s{{{_MOST_BLANKS}}}")


def _parts(text: str) -> list[str]:
    """The text, cut inside of endless white space."""
    ends = [found.end() for found in _BLANKS.finditer(text)] if len(text) > _MOST_BLANKS else []
    return [text[start:stop] for start, stop in pairwise([0, *ends, len(text)])]


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text without halves of characters; of the same length where there were none."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
