"""A call in reasoning that is closed after it is a draft: it stays reasoning, whatever follows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from strategies import DIALECTS, TOOLS
from test_laws import RUN_TO_THE_END, plain_calls

from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.nouns.events import owned_text

# Reasoning that only its own closer ends, and not the turn's last token as well.
THINKING = [
    dialect
    for dialect in DIALECTS
    if dialect.reasoning
    and dialect.reasoning[0].close
    and dialect.reasoning[0].close not in (*dialect.stops, *dialect.syntax.closers)
    and dialect.name not in RUN_TO_THE_END
]
each_thinking = pytest.mark.parametrize("dialect", THINKING, ids=lambda dialect: dialect.name)


def codes(text: str, dialect: DeclaredDialect) -> list[str]:
    return [finding.code for finding in parse(text, dialect, TOOLS).findings]


@each_thinking
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_call_in_closed_reasoning_stays_reasoning(dialect: DeclaredDialect, size: int) -> None:
    tags = dialect.reasoning[0]
    for call in plain_calls(dialect):
        thought = f"Perhaps:\n{call}\nNo, I answer."
        text = f"{tags.open}{thought}{tags.close}It is done."
        data = text.encode()
        result = parse([data[i : i + size] for i in range(0, len(data), size)], dialect, TOOLS)
        assert (result.tool_calls, result.aborted) == ([], [])
        assert (result.reasoning.strip(), result.content) == (thought, "It is done.")
        assert [finding.code for finding in result.findings] == ["draft-in-reasoning"]
        assert "".join(map(owned_text, result.events)) == text


@each_thinking
def test_a_call_after_a_draft_is_the_one_that_is_delivered(dialect: DeclaredDialect) -> None:
    tags, call = dialect.reasoning[0], plain_calls(dialect)[0]
    draft, meant = call.replace("one", "draft"), call
    result = parse(f"{tags.open}Hm:\n{draft}\nNo.{tags.close}\n{meant}", dialect, TOOLS)
    (delivered,) = result.tool_calls
    (alone,) = parse(meant, dialect, TOOLS).tool_calls
    assert (delivered.call_id, result.aborted) == (alone.call_id, [])
    assert "draft" not in str(delivered.arguments)


@each_thinking
def test_a_broken_draft_does_not_swallow_the_call_after_it(dialect: DeclaredDialect) -> None:
    tags, call = dialect.reasoning[0], plain_calls(dialect)[0]
    value = next(iter(dialect.syntax.sample_texts.values()), "one")
    draft = call[: call.rindex(value) + len(value)]  # cut off inside its first value
    text = f"{tags.open}Hm:\n{draft}, no.{tags.close}\n{call}"
    result = parse(text, dialect, TOOLS)
    assert len(result.tool_calls) == 1
    assert result.reasoning.strip().startswith("Hm:")
    assert not result.aborted
    assert "".join(map(owned_text, result.events)) == text


@each_thinking
def test_a_call_in_reasoning_that_is_never_closed_is_delivered(dialect: DeclaredDialect) -> None:
    if dialect.switches.calls_in_reasoning == "reasoning":
        return
    tags, call = dialect.reasoning[0], plain_calls(dialect)[0]
    text = f"{tags.open}I read it.\n{call}"
    result = parse(text, dialect, TOOLS)
    assert (len(result.tool_calls), codes(text, dialect)[0]) == (1, "call-in-reasoning")
    # a closer in a value of the call closes nothing
    holds_closer = text.replace("one", f"one{tags.close}")
    assert len(parse(holds_closer, dialect, TOOLS).tool_calls) == 1


@each_thinking
def test_a_switch_delivers_drafts(dialect: DeclaredDialect) -> None:
    tags, call = dialect.reasoning[0], plain_calls(dialect)[0]
    switches = replace(dialect.switches, calls_in_reasoning="call")
    text = f"{tags.open}I read it.\n{call}\nSo.{tags.close}Done."
    result = parse(text, dialect, TOOLS, switches=switches)
    assert (len(result.tool_calls), result.findings[0].code) == (1, "call-in-reasoning")
