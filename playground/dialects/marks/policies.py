"""Policies by name: each decides on the places of marks, with a reason for every place examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from playground.base.arguments import wrong
from playground.base.errors import UnknownNameError
from playground.dialects.marks.agents import AGENTS, finder_of_last, marked_parts
from playground.dialects.marks.family import model_family
from playground.dialects.marks.providers import provider_of
from playground.nouns.prompt_data import CacheDialect

AS_SENT: Final = "as-sent"  # no policy: the request keeps the marks that it has
# The dialect's own way of marking, used unless a policy is chosen. Like AS_SENT not in POLICIES.
OWN: Final = "own"
GEMINI_MIN_CHARACTERS: Final = 16_000
MARK: Final = {"type": "ephemeral"}

REASONS: Final[dict[str, str]] = {
    "last-system": "the last system message: everything before the conversation is reused",
    "second-last-user": "the second-last user message: where the previous request was marked",
    "last-user": "the last user message: the next request reads up to here",
    "last-user-second-last-part": "the part before the last one, in case the last one changes",
    "empty-text": "an empty text part may not be marked",
    "no-content": "the message has no content to mark",
    "no-such-message": "there is no message here that the policy could mark",
    "chosen": "the policy marks this part",
    "no-such-part": "the message has no part with this index",
    "not-chosen": "the policy marks no part in this place",
    "environment": "the environment block comes after the marks: it changes with every request",
    "sent-marked": "the request came with a mark here",
    "sent-automatic": "the request asks the provider to mark its last block, which is this one",
    "sent-unmarked": "the request came without a mark here",
    "own-mark": "the dialect's own code sets a mark here",
    "no-own-mark": "the dialect's own code sets no mark",
    "odd-content": "the content is neither text nor a list of parts, so it takes no mark",
    "policy-none": "the policy marks nothing",
    "model-without-marks": "the model's family takes no cache_control marks",
    "contradiction": "the requested cache dialect is of another model family",
    "explicit-caching-off": "explicit caching is not enabled for this Gemini request",
    "below-gemini-threshold": "too few characters for an explicit Gemini cache",
    "no-assistant-message": "the first request of a conversation is not cached explicitly",
}


class CacheDecision(NamedTuple):
    """A decision on one place that a policy examined; `reason` is a key of REASONS.

    `message` and `part` are indexes into the formatted messages; None if a decision is about the
    whole request, or if the place does not exist.
    """

    marked: bool
    reason: str
    message: int | None = None
    part: int | None = None
    ttl: str = ""  # "" for the provider's default

    @property
    def explanation(self) -> str:
        return REASONS[self.reason]


@dataclass(frozen=True, slots=True)
class CacheRequest:
    """The facts that a policy may use apart from the messages."""

    model_name: str
    cache_dialect: CacheDialect | None = None
    explicit_caching: bool = False


FormattedMessages = Sequence[dict[str, Any]]


Decide = Callable[[FormattedMessages, CacheRequest], list[CacheDecision]]


@dataclass(frozen=True, slots=True)
class Policy:
    """A function that decides on marks; `source` is its document, or the places that it marks."""

    name: str
    source: str
    decide: Decide


def azad(messages: FormattedMessages, request: CacheRequest) -> list[CacheDecision]:
    """Mark the last system, the second-last user and the last user message.

    The last user message gets two marks, on its last two parts, so there are four at most.
    """
    family = model_family(request.model_name)
    if family == "other":
        return [CacheDecision(False, "model-without-marks")]
    if request.cache_dialect not in (None, CacheDialect(family)):
        return [CacheDecision(False, "contradiction")]
    refusal = _gemini_refusal(messages, request) if family == "gemini" else None
    return [refusal] if refusal else _azad_decisions(messages)


def none(messages: FormattedMessages, request: CacheRequest) -> list[CacheDecision]:
    """Mark nothing."""
    return [CacheDecision(False, "policy-none")]


@cache
def _at_places(places: Callable[[FormattedMessages], list[tuple[int, int]]]) -> Decide:
    """Return a function that marks an agent's places, for models that take cache_control marks.

    Agents that mark the same places share the function.
    """

    def decide(messages: FormattedMessages, request: CacheRequest) -> list[CacheDecision]:
        if model_family(request.model_name) == "other":
            return [CacheDecision(False, "model-without-marks")]
        return [
            CacheDecision(marked, "chosen" if marked else "empty-text", message, part)
            for message, part, marked in marked_parts(messages, places)
        ]

    return decide


POLICIES: Final[dict[str, Policy]] = {
    "azad": Policy("azad", "the last system message, the last two of the user", azad),
    "none": Policy("none", "no marks", none),
    **{
        name: Policy(name, agent.source, _at_places(agent.places)) for name, agent in AGENTS.items()
    },
}


def policy_names() -> list[str]:
    """Return the names that `policy=` takes.

    "own" is the dialect's own policy, which is used unless another is named; "as-sent" keeps the
    marks of recorded requests; the others say which program or service marks in this way.
    """
    return [OWN, *POLICIES, AS_SENT]


def get_policy(policy: str | Policy) -> Policy:
    """Return a policy by name; a Policy is returned unchanged. Raises UnknownNameError."""
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, str):
        raise wrong("a policy", policy, "its name, or a Policy")
    if policy not in POLICIES:
        raise UnknownNameError("policy", policy, sorted(POLICIES))
    return POLICIES[policy]


def as_policies(policies: str | Policy | Iterable[str | Policy]) -> list[str | Policy]:
    """Return policies from names, from policies, or from a single one.

    If none are given, return `OWN` and all built-in policies.
    """
    if isinstance(policies, str | Policy):
        return [policies]
    if isinstance(policies, bytes | Mapping) or not isinstance(policies, Iterable):
        raise wrong("policies", policies, "names of policies, or Policies")
    return list(policies) or [OWN, *POLICIES]


def text_characters(messages: FormattedMessages) -> int:
    """Count the characters of text in all messages, as the threshold for Gemini does."""
    return sum(_characters(message.get("content")) for message in messages)


def apply_marks(
    messages: FormattedMessages, decisions: Sequence[CacheDecision], model_name: str = ""
) -> None:
    """Write the marks into the messages, in place, in the form that the model's API reads.

    OpenAI's and Azure's models since GPT 5.6 have a form of their own; all others get Anthropic's,
    which LiteLLM translates. The content of a marked message becomes a list of parts.
    """
    # older models are of "openai-before-5.6" and "azure-before-5.6"
    is_direct = not model_name.startswith("openrouter/")
    own_form = is_direct and provider_of(model_name) in ("openai", "azure")
    for decision in decisions:
        if decision.marked and decision.message is not None and decision.part is not None:
            message = messages[decision.message]
            message["content"] = as_parts(message["content"])
            part = message["content"][decision.part]
            if own_form:
                part["prompt_cache_breakpoint"] = {"mode": "explicit"}
            else:
                lifetime = {"ttl": decision.ttl} if decision.ttl else {}
                part["cache_control"] = {**MARK, **lifetime}


def as_parts(content: Any) -> list[dict[str, Any]]:
    """Return a message's content as a list of parts; unchanged if it is a list already."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _characters(content: Any) -> int:
    if isinstance(content, str):
        return len(content)
    parts = content if isinstance(content, list) else []
    return sum(
        len(part.get("text") or "")
        for part in parts
        if isinstance(part, dict) and part.get("type") == "text"
    )


def _gemini_refusal(messages: FormattedMessages, request: CacheRequest) -> CacheDecision | None:
    if not request.explicit_caching:
        return CacheDecision(False, "explicit-caching-off")
    # This counts the whole history, as Azad's policy does. LiteLLM caches less: only the first run
    # of marked messages (`place_cache` shows it). The limit is rough: 15,539 were once accepted.
    if text_characters(messages) < GEMINI_MIN_CHARACTERS:
        return CacheDecision(False, "below-gemini-threshold")
    if not any(message.get("role") == "assistant" for message in messages):
        return CacheDecision(False, "no-assistant-message")
    return None


def _azad_decisions(messages: FormattedMessages) -> list[CacheDecision]:
    last_indexes = finder_of_last(messages)
    systems, users = last_indexes("system", 1), last_indexes("user", 2)
    return [
        _decision_at(messages, systems, "last-system"),
        # The previous request had its last mark here, so its entry is found even after a long turn.
        _decision_at(messages, users[-2:-1], "second-last-user"),
        # The part before the last is marked too: with a single mark, a last part that changes (an
        # environment block in the message) made input cost 1.25 times as much as without a cache.
        _decision_at(messages, users[-1:], "last-user", from_end=2),
        _decision_at(messages, users[-1:], "last-user"),
    ]


def _decision_at(
    messages: FormattedMessages, message_indexes: list[int], reason: str, from_end: int = 1
) -> CacheDecision:
    """Decide on the first of these messages: its last part or, if `from_end` is 2, the one before.
    `reason` is the reason for a mark on the last part."""
    if not message_indexes:
        return CacheDecision(False, "no-such-message")
    index = message_indexes[0]
    content = messages[index].get("content")
    if content and not isinstance(content, (str, list)):
        return CacheDecision(False, "odd-content", index)
    parts = as_parts(content)
    part_index = len(parts) - from_end
    if part_index < 0:
        return CacheDecision(False, "no-content" if from_end == 1 else "not-chosen", index)
    part = parts[part_index]
    if not isinstance(part, dict):
        return CacheDecision(False, "odd-content", index, part_index)
    if part.get("type") == "text" and not part.get("text"):
        return CacheDecision(False, "empty-text", index, part_index)
    name = reason if from_end == 1 else "last-user-second-last-part"
    return CacheDecision(True, name, index, part_index)
