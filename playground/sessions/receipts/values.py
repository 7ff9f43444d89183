"""Compare short texts, repeats, results and annotations, by value and number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from playground.sessions.places import Place
from playground.sessions.receipts.holdings import Holdings
from playground.sessions.receipts.leaves import FileResult, FileWords, Leaves
from playground.sessions.receipts.receipt import Kind

Found = tuple[Place, Kind, str]
_SAYS: Final = re.compile(r"\w")
_SHORTEST: Final = 12  # characters of a text that may be counted within others


def differences(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield texts that the file has more often than the sessions, and the other way round."""
    held = _Held(holdings)
    yield from _words(leaves, held, holdings.calls)
    yield from _results(leaves, holdings)
    yield from _repeated_calls(leaves, holdings)
    for text, times in holdings.most_said.items():
        if 0 < leaves.strings[text] < times:
            yield Place(), "text added", text
    in_file = Counter((call.name, call.arguments) for call in leaves.calls)
    for (name, arguments), times in holdings.most_made.items():
        if 0 < in_file[name, arguments] < times and arguments != "{}":
            yield Place(), "call added", f"{name}({arguments})"


class _Held:
    """The texts of sessions, with the number of times each is said."""

    def __init__(self, holdings: Holdings) -> None:
        self._whole: Counter[str] = Counter()
        self._lines: Counter[str] = Counter()
        for text, times in holdings.said.items():
            self._whole[folded(text)] += times
            for line in text.split("\n"):
                self._lines[folded(line)] += times
        for text in holdings.texts:  # such as a system prompt, which is no message
            self._whole[folded(text)] = self._whole[folded(text)] or 1
            for line in text.split("\n"):
                self._lines[folded(line)] = self._lines[folded(line)] or 1
        self._joined = "\n".join(text for text, n in self._whole.items() for _ in range(n))

    def times(self, text: str) -> int:
        """Return how often a text occurs in the sessions, alone or as a line of a longer one."""
        there = self._whole[text] or self._lines[text]
        return there or (self._joined.count(text) if len(text) >= _SHORTEST else 0)

    def holds(self, text: str) -> bool:
        """Return True if a text occurs anywhere, also within another one."""
        return text in self._joined


def _words(leaves: Leaves, held: _Held, called: Iterable[tuple[str, str]]) -> Iterator[Found]:
    """Yield the words that a list of messages has more often than the sessions."""
    names = {name for name, _ in called}
    chats: dict[tuple[int, str, bool], dict[str, FileWords]] = {}
    for words in leaves.words:
        key = words.chat, folded(words.text), words.is_text
        chats.setdefault(key, {})[words.message if words.chat else ""] = words
    for (_, text, is_text), each in chats.items():
        if not _SAYS.search(text) or _is_call(text, names):
            continue  # punctuation alone, or a call written as text
        there = held.times(text) if is_text else len(each) * held.holds(text)
        for words in [*each.values()][there:]:
            yield words.place, "text" if is_text else "beside", words.text


def _is_call(text: str, names: Iterable[str]) -> bool:
    """Return True for a text that is a call of one of these tools: a session holds it as a call."""
    return any(f"{name}(" in text or f'"{name}"' in text for name in names if name)


def _results(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the results with a value that the session's result, by the same call's id, lacks."""
    every = [text for texts in holdings.given.values() for text in texts]
    each = {(r.call_id, r.gives): r for r in leaves.results if r.gives}
    for result in each.values():
        held = holdings.given.get(result.call_id) or every
        if not any(_holds(text, result) for text in held):
            yield result.place, "result", " ".join(result.gives)


def _repeated_calls(leaves: Leaves, holdings: Holdings) -> Iterator[Found]:
    """Yield the calls without ids that a list of messages has more often than the sessions."""
    chats: dict[tuple[int, str, str], list[Place]] = {}
    for call in leaves.calls:
        if call.chat and call.name and not call.call_id:
            chats.setdefault((call.chat, call.name, call.arguments), []).append(call.place)
    for (_, name, arguments), places in chats.items():
        if 0 < (there := holdings.calls[name, arguments]) < len(places):
            yield places[there], "call", f"{name}({arguments})"


def _holds(text: str, result: FileResult) -> bool:
    return all(given in text for given in result.gives)


def folded(text: str) -> str:
    """Return a text with each run of white space as one blank."""
    return " ".join(text.split())
