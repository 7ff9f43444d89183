"""Dialects by how they write a call, and by who speaks them."""

from __future__ import annotations

import pytest

from playground.dialects import dialect_names
from playground.dialects.families import NATIVE, OTHERS, families, spoken_by


def test_every_dialect_of_ours_has_a_family_and_only_one() -> None:
    found = families(dialect_names())
    assert sorted(name for listed in found.values() for name in listed) == sorted(dialect_names())
    assert OTHERS not in found
    assert found[NATIVE] == ["native"]
    assert {"hermes", "json"} <= set(found["Name and arguments in one JSON object"])
    assert {"xml", "qwen3-coder", "glm"} <= set(found["A tag for each parameter"])


@pytest.mark.parametrize(
    ("model", "first", "also"),
    [
        ("Qwen3-Coder", "qwen3-coder", set()),
        ("qwen", "hermes", {"qwen3-coder"}),
        ("openai/gpt-5", "native", set()),
        ("Kimi K2", "kimi-k2", set()),
        ("llama 3.2", "llama3-json", {"pythonic"}),
    ],
)
def test_a_model_is_found_by_its_name_or_a_part_of_it(
    model: str, first: str, also: set[str]
) -> None:
    found = spoken_by(model)
    assert found[0] == first
    assert also <= set(found)


def test_nothing_is_found_for_a_model_that_nobody_knows() -> None:
    assert spoken_by("zzz-unheard-of") == []
