"""Reduce a model's name, as providers, regions and gateways write it, to its plain form.

Rules list complete names: `claude-opus-5-9` is not `claude-opus-5`. An unknown name may have the
same plain form as a known one, so `Rules.knows` compares names as they are written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VENDORS: Final = (
    "anthropic", "amazon", "openai", "moonshotai", "moonshot", "minimax", "qwen", "deepseek",
    "zai", "mistral", "meta",
)  # fmt: skip
# Bedrock's region or `global`, and the maker: `us.anthropic.` in `us.anthropic.claude-opus-5`.
_REGION_AND_MAKER: Final = re.compile(rf"^(?:[a-z]{{2,6}}(?:-gov)?\.)?(?:{'|'.join(_VENDORS)})\.")
_VERSION: Final = re.compile(r"\[1m\]$|-v\d+(?::\d+[a-z]*)*$|:\d+$")  # [1m], -v1:0, :2
# Suffixes for a dated version, and for the newest version.
_DATE: Final = re.compile(r"@(?:default|\d{8})$|-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")


# Value of the rule `spelling` -> a pattern that matches misspelled names. With "points", a version
# is written with points (4.5), with "hyphens" with hyphens (4-5), with "either" in both ways.
_MISSPELT: Final = {
    "hyphens": re.compile(r"\."),
    "points": re.compile(r"(?<!\d)\.|\.(?!\d)|\d{4}\.|\.\d+\.|\d-\d(?![\da-z])"),
}


def is_spelled(name: str, spelling: str) -> bool:
    """Return True if a name has dots and hyphens as its provider writes them."""
    misspelt = _MISSPELT.get(spelling)
    return misspelt is None or not misspelt.search(name)


def is_other_model(one: str, other: str) -> bool:
    """Return True if two names certainly mean different models.

    An empty name may mean any model, and a name without a date any version of its model.
    """
    if not (one and other) or one == other:
        return False
    dates = {_digits_of_date(name) for name in (one, other)} - {""}
    return plain_name(one) != plain_name(other) or len(dates) > 1


def _digits_of_date(model: str) -> str:
    date = _DATE.search(_VERSION.sub("", model.strip().lower()))
    return re.sub(r"\D", "", date[0]) if date else ""


@lru_cache(maxsize=4_096)
def plain_name(model: str) -> str:
    """Return a model's name in small letters without route, region, maker, version and date.

    Dots become hyphens, as some providers write them: `openrouter/anthropic/claude-sonnet-4.6` and
    `us.anthropic.claude-sonnet-4-6-20260217-v1:0` are both `claude-sonnet-4-6`.
    """
    name = _REGION_AND_MAKER.sub("", model.strip().lower().rpartition("/")[2])
    return _DATE.sub("", _VERSION.sub("", name)).replace(".", "-")
