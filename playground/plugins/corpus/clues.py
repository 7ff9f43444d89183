"""Find clues that a text holds secrets: words that occur near secrets, and the beginnings ("heads")
of API keys. A search for secrets in parts of that text then needs to look only for these."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final

from playground.recordings.secret_search import Clues, SearchTables, lower, search_tables

if TYPE_CHECKING:
    from playground.plugins.corpus.ngram_filter import NgramFilter

_PAIR: Final = 2  # letters


def clues_in(text: str) -> Clues:
    """Return the words near secrets, and the heads of keys, that may occur in a text.

    If the text is JSON, words and heads are found in its values, too, even if JSON escapes them.
    """
    tables = search_tables()
    data, (short, long) = text.encode("utf-8", "surrogatepass"), _ngram_filters()
    low = data.lower()  # `bytes.lower` changes ASCII letters only
    short_words, long_words = short.may_be_in(data), long.may_be_in(low)
    heads_of = tables.by_low_head
    likely = [*short_words, *(head for word in long_words for head in heads_of.get(word, ()))]
    heads = tuple(h for h in likely if h in tables.by_head and _may_begin(tables, text, h))
    maybe = {*map(lower, short_words), *long_words} & tables.in_json.keys()
    words = {tables.in_json[word] for word in maybe if word.encode() in low}
    return Clues(heads, tuple(sorted(words)))


def _may_begin(tables: SearchTables, text: str, head: str) -> bool:
    """Return True if a key with this head may occur in a text or, if the text is JSON, in one of
    its values. The key's pattern is tried only if JSON escapes none of its characters."""
    kinds = tables.by_head[head]
    if head not in text or not all(kind.is_plain for kind in kinds):
        return head in text
    return any(kind.pattern.search(text) for kind in kinds)


@cache
def _ngram_filters() -> tuple[NgramFilter, NgramFilter]:
    """Return two filters: one for heads and words of two letters, one for longer ones. The first is
    case-sensitive, because most pairs of small letters occur in every text; the second takes only
    text that was converted to small letters."""
    from playground.plugins.corpus.ngram_filter import NgramFilter  # loads NumPy

    tables = search_tables()
    short = {head for head in tables.by_head if len(head) == _PAIR}
    for word in tables.in_json:
        if len(word) == _PAIR:
            short.update(map("".join, product(*({c, c.upper()} for c in word))))
    long = {each for each in (*tables.by_low_head, *tables.in_json) if len(each) > _PAIR}
    return NgramFilter(sorted(short)), NgramFilter(sorted(long))
