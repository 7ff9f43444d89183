"""Find the texts that a template puts around a thought, and around an answer.

Most templates write a thought in the history, or with a call. Others remove the text between their
own tags from a message, or end the generation prompt with one of these tags. Such tags are found
only if `_KNOWN_TAGS` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from playground.parsing.syntax import ReasoningTags
from playground.plugins.own_dialects.asking import (
    ONE_CALL,
    RESULT,
    TEXT,
    THOUGHT,
    USER,
    AskedTemplate,
    common_start,
    user,
)
from playground.plugins.own_dialects.derivation.alignment import snap_start

# A tag in angle or square brackets, or the text up to the next tag.
TOKEN: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]|[^<\[\s]+")
_WORDS: Final = re.compile(r"[A-Za-z]+")
_KNOWN_TAGS: Final = (
    ReasoningTags("<think>", "</think>"),
    ReasoningTags("[THINK]", "[/THINK]"),
    ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>"),
    ReasoningTags("<|channel>thought", "<channel|>"),
    ReasoningTags("<thinking>", "</thinking>"),
    ReasoningTags("<thought>", "</thought>"),
)
_TAGS_AND_ROLE: Final = re.compile(r"(?:<[^<>\s]+>)+\w")
_MOST_TOKENS: Final = 3  # of a thought's tag


@dataclass(frozen=True, slots=True)
class Thoughts:
    """The tags around a thought (`reasoning`), the markers around an answer, and `stops`: these
    markers and the text that begins a new turn after a thought."""

    reasoning: tuple[ReasoningTags, ...] = ()
    answer: tuple[str, str] = ("", "")
    stops: tuple[str, ...] = ()


def thoughts_of(template: AskedTemplate, header: str, end: str) -> Thoughts:
    """Return the tags and markers of a template, given the `header` and `end` of answers."""
    before, between, text = _shown_thought(template)
    tags = _tags(before, between, header) if before else None
    restart = _restart_text(header, before, between)
    reasoning = (tags,) if tags else _known_tags(template)
    answer = template.reply((), TEXT)
    if answer is None or TEXT not in answer:
        return Thoughts(reasoning)
    if tags and text:
        opener = between.partition(restart)[2] if restart else between.strip()[len(tags.close) :]
    else:
        start = answer.partition(TEXT)[0]
        opener = start[len(snap_start(start, common_start(start, header))) :]
        opener = without_thought(opener, reasoning)
    opener = _marker(opener)
    if opener in (tag for tags in reasoning for tag in (tags.open, tags.close)):
        opener = ""
    closer = _marker(answer.rpartition(TEXT)[2].strip().removesuffix(end.strip()))
    stops = tuple(dict.fromkeys(stop for stop in (restart, opener, closer) if stop))
    return Thoughts(reasoning, (opener, closer) if opener else ("", ""), stops)


def without_thought(text: str, reasoning: tuple[ReasoningTags, ...]) -> str:
    """Return the text without an empty thought, which some templates write before an answer."""
    for tags in reasoning:
        empty = rf"\A(?:{re.escape(tags.open)}\s*)?{re.escape(tags.close)}\s*"
        text = re.sub(empty, "", text.lstrip())
    return text


def _marker(text: str) -> str:
    """Return the text if it ends with a marker's closing bracket, or else ""."""
    text = text.strip()
    return text if re.search(r"[>\]]\Z", text) else ""


def _shown_thought(template: AskedTemplate) -> tuple[str, str, bool]:
    """Return the text before a thought, the text after the thought, and True if a text answer
    follows.

    Both texts are "" if the template shows no thought.
    """
    for region, following in _answers_after_user(template):
        if region and THOUGHT in region:
            before, _, rest = region.partition(THOUGHT)
            between, separator, _ = rest.partition(following)
            if separator:
                return before, between, following == TEXT
    return "", "", False


def _answers_after_user(template: AskedTemplate) -> Iterator[tuple[str | None, str]]:
    yield template.reply((), TEXT, THOUGHT), TEXT
    parts: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": THOUGHT},
        {"type": "text", "text": TEXT},
    ]
    yield template.ask(user(USER), {"role": "assistant", "content": parts}).after_user, TEXT
    yield template.reply(ONE_CALL, "", THOUGHT), ONE_CALL[0].name
    yield template.reply(ONE_CALL, "", THOUGHT, result=RESULT), ONE_CALL[0].name
    planned = template.form.answer(ONE_CALL) | {"tool_plan": THOUGHT}  # Cohere's
    yield template.ask(user(USER), planned, calls=ONE_CALL).after_user, ONE_CALL[0].name


def _known_tags(template: AskedTemplate) -> tuple[ReasoningTags, ...]:
    """Return the known pair of tags whose thought the template drops, or of which one ends the
    generation prompt; () if there is no such pair."""
    prompt = template.generation()[-100:]
    for tags in _KNOWN_TAGS:
        region = template.reply((), f"{tags.open}{THOUGHT}{tags.close}{TEXT}")
        is_dropped = region is not None and TEXT in region and THOUGHT not in region
        if is_dropped or prompt.rstrip().endswith((tags.open, tags.close)):
            return (tags,)
    return ()


def _restart_text(header: str, before: str, between: str) -> str:
    """Return the longest end of the header that the template repeats after a thought, or ""."""
    header = common_start(header, before)
    for match in TOKEN.finditer(header):
        tail = header[match.start() :].strip()
        if _TAGS_AND_ROLE.match(tail) and between.partition(tail)[0].strip() and tail in between:
            return tail
    return ""


def _tags(before: str, between: str, header: str) -> ReasoningTags | None:
    """Return the tags around a thought: two that share a word, or else the two nearest. `between`
    is the text between the thought and the answer or call."""
    restart = _restart_text(header, before, between)
    first = between.partition(restart)[0] if restart else between
    tail = " ".join(TOKEN.findall(before)[-_MOST_TOKENS:])
    words_before = set(_WORDS.findall(tail))
    word = next((word for word in _WORDS.findall(first) if word in words_before), "")
    if not word:
        return _plain_tags(before, first, header)
    word_start = before.rindex(word)
    start = max(before.rfind("<", 0, word_start), before.rfind("[", 0, word_start))
    while start > 0 and before[start - 1] in "<[":
        start -= 1  # for tags such as `<[thought]>`
    inner = before[word_start + len(word) :].strip()
    stop = first.index(word) + len(word)
    if inner and first[stop:].startswith(inner):
        stop += len(inner)
    else:
        end = re.search(r"[>\]]+", first[stop:])
        stop += end.end() if end else 0
    opener, closer = before[max(start, 0) :].strip(), first[:stop].strip()
    return ReasoningTags(opener, closer) if _marker(closer) else None


def _plain_tags(before: str, first: str, header: str) -> ReasoningTags | None:
    opener = before[len(common_start(before, header)) :].strip()
    closer = TOKEN.match(first.strip())
    if not opener or closer is None or not _marker(closer[0]):
        return None
    return ReasoningTags(opener, closer[0])
