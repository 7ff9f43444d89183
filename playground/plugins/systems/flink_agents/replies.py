"""Read a reply as Flink-Agents does: it removes reasoning and a fence. Our own parsers
(`playground.parse`) keep every character."""

from __future__ import annotations

import re
from typing import Final

_TAGGED: Final = [
    re.compile(rf"<{tag}>(.*?)</{tag}>", re.DOTALL | re.IGNORECASE)
    for tag in ("think", "analysis", "reasoning")
]
_FENCED: Final = re.compile(
    r"```(?:think|reasoning|thought)\s*\n(.*?)\n```", re.DOTALL | re.IGNORECASE
)
_PARAGRAPH: Final = re.compile(r"(?:^|\n)Reasoning:\s*(.*?)(?:\n\n+|$)", re.DOTALL | re.IGNORECASE)
_OUTER_FENCE: Final = re.compile(r"\A```(?:json)?(.*?)```\Z", re.DOTALL)


def extract_reasoning(content: str) -> tuple[str, str | None]:
    """Return the answer without reasoning and with tidied white space, and the reasoning or None.

    Reasoning is text in tags (`think`, `analysis`, `reasoning`), in fences (`think`, `reasoning`,
    `thought`), or in a paragraph that begins with `Reasoning:`. Reasoning that is never closed
    stays in the answer.
    """
    thoughts: list[str] = []
    for pattern in (*_TAGGED, _FENCED, _PARAGRAPH):
        thoughts += [inside.strip() for inside in pattern.findall(content)]
        content = pattern.sub("", content)
    content = re.sub(r"\n{3,}", "\n\n", re.sub(r" {2,}", " ", content)).strip()
    return content, "\n\n".join(filter(None, thoughts)) or None


def clean_response(text: str) -> str:
    """Return a text without the fence around it, if a fence encloses all of it."""
    stripped = text.strip()
    fence = _OUTER_FENCE.match(stripped)
    return fence[1].strip() if fence else stripped
