"""Reduce a model's name, as a provider, a region or a gateway writes it, to the name itself.

A rule names whole models: `claude-opus-5-9` is not `claude-opus-5`. A name that is reduced need not
be one that a rule knows: `Rules.knows` compares names as they are written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VENDORS: Final = (
    "anthropic", "amazon", "openai", "moonshotai", "moonshot", "minimax", "qwen", "deepseek",
    "zai", "mistral", "meta",
)  # fmt: skip
# Bedrock's region or `global`, and the maker: us.anthropic.claude-opus-5
_BEFORE: Final = re.compile(rf"^(?:[a-z]{{2,6}}(?:-gov)?\.)?(?:{'|'.join(_VENDORS)})\.")
_VERSION: Final = re.compile(r"\[1m\]$|-v\d+(?::\d+[a-z]*)*$|:\d+$")
# A dated name is one of the model's names, and so is the newest of them.
_DATE: Final = re.compile(r"@(?:default|\d{8})$|-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")


# What is no point of a version, and a version that is written without its point
_NO_POINT: Final = re.compile(r"(?<!\d)\.|\.(?!\d)|\d{4}\.|\.\d+\.")
_UNPOINTED: Final = re.compile(r"\d-\d(?![\da-z])")


def is_spelled(name: str, spelling: str) -> bool:
    """Return True if a name has dots and hyphens as its provider writes them."""
    if spelling == "hyphens":
        return "." not in name
    return spelling != "dots" or not (_NO_POINT.search(name) or _UNPOINTED.search(name))


@lru_cache(maxsize=4_096)
def plain_name(model: str) -> str:
    """Return a model's name in small letters without route, region, maker, version and date.

    Dots become hyphens, as some providers write them: `openrouter/anthropic/claude-sonnet-4.6` and
    `us.anthropic.claude-sonnet-4-6-20260217-v1:0` are both `claude-sonnet-4-6`.
    """
    name = _BEFORE.sub("", model.strip().lower().rpartition("/")[2])
    return _DATE.sub("", _VERSION.sub("", name)).replace(".", "-")
