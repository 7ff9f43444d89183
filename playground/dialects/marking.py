"""Set cache marks in the messages of a request, as a policy decides."""

from __future__ import annotations

from typing import Any

from playground.dialects.marks.policies import (
    CacheDecision,
    CacheRequest,
    Policy,
    apply_marks,
    get_policy,
)
from playground.dialects.request_messages import RequestMessages
from playground.nouns.prompt_data import PromptData


def set_marks(
    messages: list[dict[str, Any]], policy: str | Policy, prompt_data: PromptData
) -> list[CacheDecision]:
    """Mark the messages in place, and return the decisions."""
    request = _request(prompt_data)
    decisions = get_policy(policy).decide(messages, request)
    apply_marks(messages, decisions, request.model_name)
    return decisions


def set_own_marks(
    messages: RequestMessages, policy: str | Policy, prompt_data: PromptData
) -> list[CacheDecision]:
    """Mark messages that may be shared with a cache, and return the decisions.

    Messages are copied before they are marked. A user's own policy may write into any message, so
    all messages are copied for it.
    """
    if not isinstance(policy, str):
        return set_marks(messages.all_writable(), policy, prompt_data)
    request = _request(prompt_data)
    decisions = get_policy(policy).decide(messages, request)
    for decision in decisions:
        if decision.marked and decision.message is not None:
            messages.writable(decision.message)
    apply_marks(messages, decisions, request.model_name)
    return decisions


def _request(prompt_data: PromptData) -> CacheRequest:
    dynamic = prompt_data.dynamic_task_config
    return CacheRequest(
        prompt_data.task_config.model_name,
        dynamic.cache_dialect,
        dynamic.enable_explicit_caching,
    )
