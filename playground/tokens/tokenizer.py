"""The interface of tokenizers: they cut a text into tokens, and find where each token starts.

Text that looks like a control token becomes one only if `control` is True, as for text that a chat
template wrote. A lone surrogate is never sent to a model; it counts as a replacement character.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain, pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from tiktoken import Encoding


class Tokenizer(Protocol):
    """A vocabulary that cuts texts into tokens; `source` names its origin."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def controls(self) -> frozenset[str]: ...

    def ids(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens; with `control`, text that looks like a control token becomes one."""

    def starts(self, text: str, control: bool = False) -> list[int]:
        """Return for each token the index of the character in which it starts."""


def count(tokenizer: Tokenizer, text: str, control: bool = False) -> int:
    """Count the tokens of a text. Counts of longer texts are cached."""
    if len(text) < _WORTH_A_KEY:
        return len(tokenizer.ids(text, control)) if text else 0
    counts = _counts.setdefault(tokenizer, {})
    key = control, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    known = counts.get(key)
    if known is None:
        if len(counts) >= _MOST_COUNTS:
            counts.clear()  # so never read counts[key] again: another thread may have cleared it
        known = counts[key] = len(tokenizer.ids(text, control))
    return known


_WORTH_A_KEY: Final = 64  # characters: shorter texts are tokenised as fast as they are hashed
_MOST_COUNTS: Final = 65_536
_counts: Final[WeakKeyDictionary[Tokenizer, dict[tuple[bool, bytes], int]]] = WeakKeyDictionary()


def shares(tokenizer: Tokenizer, texts: Iterable[str], control: bool = False) -> list[int]:
    """Count the tokens of each text, if the model reads all texts as one.

    A token that spans two texts belongs to the first.
    """
    pieces = list(texts)
    starts = tokenizer.starts("".join(pieces), control)
    counts, end, so_far = [], 0, 0
    for piece in pieces:
        end += len(piece)
        count_to_end = bisect_left(starts, end)
        counts.append(count_to_end - so_far)
        so_far = count_to_end
    return counts


@dataclass(frozen=True, eq=False)
class TiktokenTokenizer:
    """A tokenizer that the package tiktoken runs: OpenAI's, Llama 3's, Mistral's Tekken."""

    encoding: Encoding
    source: str

    @property
    def name(self) -> str:
        return self.encoding.name

    @cached_property
    def controls(self) -> frozenset[str]:
        return frozenset(self.encoding.special_tokens_set)

    def ids(self, text: str, control: bool = False) -> list[int]:
        parts = _cut_in_white_space(text)
        return list(chain.from_iterable(self._ids(part, control) for part in parts))

    def _ids(self, text: str, control: bool) -> list[int]:
        if control:
            return self.encoding.encode(text, allowed_special="all")
        return self.encoding.encode_ordinary(text)

    def starts(self, text: str, control: bool = False) -> list[int]:
        ids = self.ids(replace_lone_surrogates(text), control)
        return list(self.encoding.decode_with_offsets(ids)[1])


_SETTING: Final = Lock()


@dataclass(frozen=True, eq=False)
class FileTokenizer:
    """A tokenizer that the package tokenizers runs, from a `tokenizer.json` or a converted file."""

    name: str
    source: str
    model: Any  # tokenizers.Tokenizer, whose types say little

    @cached_property
    def controls(self) -> frozenset[str]:
        added = self.model.get_added_tokens_decoder().values()
        return frozenset(token.content for token in added if token.special)

    def ids(self, text: str, control: bool = False) -> list[int]:
        return list(self._encode(text, control).ids)

    def starts(self, text: str, control: bool = False) -> list[int]:
        return [start for start, _stop in self._encode(text, control).offsets]

    def _encode(self, text: str, control: bool) -> Any:
        with _SETTING:  # the setting belongs to the model, which threads share
            self.model.encode_special_tokens = not control
            return self.model.encode(replace_lone_surrogates(text), add_special_tokens=False)


# A million blanks in a row overflow the stack of tiktoken's regular expressions, and the panic is
# not caught by `except Exception`. Cutting them adds at most one token for each cut.
_MOST_BLANKS: Final = 100_000
_BLANKS: Final = re.compile(rf"\s{{{_MOST_BLANKS}}}")


def _cut_in_white_space(text: str) -> list[str]:
    """Cut a text inside very long white space."""
    ends = [match.end() for match in _BLANKS.finditer(text)] if len(text) > _MOST_BLANKS else []
    return [text[start:stop] for start, stop in pairwise([0, *ends, len(text)])]


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def replace_lone_surrogates(text: str) -> str:
    """Replace lone surrogates in a text; a text without them stays as it is."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
