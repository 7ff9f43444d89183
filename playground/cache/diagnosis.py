"""Read a provider's own diagnosis of a request's cache, and compare it with prediction and bill.

Anthropic sends it as `diagnostics`, OpenAI as `prompt_cache_diagnostics`; recordings keep both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.base.fixes import FIXES
from playground.cache.bounds import TOLERANCE
from playground.cache.differences import FirstDifference

# anthropic 2.12.0: cache_miss_reason; openai 3.57.0: prompt_cache_diagnostics
WORDS: Final[dict[str, str]] = {
    # Anthropic's words, some of which OpenAI uses too
    "model_changed": "the model or the speed differs",
    "system_changed": "the system prompt differs",
    "tools_changed": "the tools or their order differ",
    "messages_changed": "an earlier message differs",
    "previous_message_not_found": "the answer to compare with was not found",
    "unavailable": "no diagnosis; other parameters may differ, such as thinking or tool_choice",
    # OpenAI's
    "prompt_cache_key_changed": "another prompt_cache_key",
    "text_format_changed": "the output format differs",
    "reasoning_effort_changed": "another effort",
    "verbosity_changed": "another verbosity",
    "context_compacted": "the server compacted the context",
    "input_changed": "an earlier item of the input differs",
    "service_tier_changed": "another service tier",
    "cache_hit": "everything that could be read was read",
    "comparison_response_not_found": "the answer to compare with was not found",
    # the provider gave no reason (null)
    "none": "the comparison has not ended, or nothing differs",
}
# A diagnosis -> the causes of a first difference that agree with this diagnosis.
_MESSAGES: Final = ("messages_changed", "compacted")
_SHOWN_AS: Final[dict[str, tuple[str, ...]]] = {
    "model_changed": ("model_changed", "speed_changed"),
    "tools_changed": ("tools_changed",),
    "system_changed": ("system_changed",),
    "messages_changed": _MESSAGES,
    "input_changed": ("system_changed", *_MESSAGES),
}
_CAUSES: Final = frozenset(cause for causes in _SHOWN_AS.values() for cause in causes)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A provider's own statement on what a request read.

    `kind` is the provider's word for the cause, "none" if it gives no cause. `missed` is its
    estimate of the tokens that were not read, or None.
    """

    kind: str
    missed: int | None = None

    @property
    def is_miss(self) -> bool:
        """True if the provider says that the request did not read all that it could have read."""
        return self.kind.endswith("_changed") or self.kind == "context_compacted"

    def __str__(self) -> str:
        missed = f", about {self.missed:,} tokens" if self.missed is not None else ""
        words = WORDS.get(self.kind)
        return f"{self.kind}{missed}" + (f" ({words})" if words else "")


def diagnosis_of(value: Any) -> Diagnosis | None:
    """Return the diagnosis in a reply, or in a recording of one; None if there is none."""
    if value is None or not isinstance(value, Mapping):
        return None
    for name in ("diagnostics", "prompt_cache_diagnostics"):
        if isinstance(value.get(name), Mapping):
            value = value[name]
            break
    if "cache_miss_reason" in value:
        reason = value["cache_miss_reason"]
        if not isinstance(reason, Mapping):
            return Diagnosis("none")
        return Diagnosis(str(reason.get("type")), _count(reason.get("cache_missed_input_tokens")))
    kind = value.get("type")
    if kind == "cache_miss":
        return Diagnosis(str(value.get("reason")), _count(value.get("cache_missed_tokens")))
    return Diagnosis(kind) if isinstance(kind, str) and kind in WORDS else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class ThreeAnswers:
    """The tokens that one request reads: by prediction, by its bill, and by the provider's
    diagnosis.

    `predicted` is None if the prediction is not certain. `cached_before` are the tokens that the
    previous request left in the cache by that request's bill, and `difference` is the first
    difference from that request. `of_these` is True if exactly these bodies were sent; only then
    can they contradict the bill or the diagnosis.
    """

    predicted: int | None
    billed: int
    cached_before: int
    diagnosis: Diagnosis
    difference: FirstDifference | None
    of_these: bool = True


def _contradiction(diagnosis: Diagnosis, difference: FirstDifference | None) -> str:
    """Return what the bodies show, in words, if it contradicts the diagnosis; otherwise ""."""
    if diagnosis.kind not in _SHOWN_AS:
        return ""
    if difference is None:
        return "the request only continues the previous one"
    if difference.cause in _SHOWN_AS[diagnosis.kind] or difference.cause not in _CAUSES:
        return ""
    return f"they differ first by {difference.cause}, not {diagnosis.kind}"


def disagreement(answers: ThreeAnswers, where: str) -> Finding | None:
    """Return a finding that lists the three answers and says which is wrong; None if they agree."""
    diagnosis, difference = answers.diagnosis, answers.difference
    wrong = list[str]()
    reads_all = answers.billed >= answers.cached_before - TOLERANCE and answers.cached_before > 0
    if diagnosis.is_miss and reads_all:
        wrong.append("the diagnosis: by the bill all was read")
    if diagnosis.kind == "cache_hit" and not answers.billed:
        wrong.append("the diagnosis: by the bill nothing was read")
    if answers.of_these and (contradiction := _contradiction(diagnosis, difference)):
        wrong.append(f"the diagnosis of these bodies: {contradiction}")
    if answers.predicted is not None and (answers.predicted > 0) != (answers.billed > 0):
        wrong.append(f"the prediction: the bill charged {answers.billed:,} tokens as read")
    if not wrong:
        return None
    predicted = "nothing certain" if answers.predicted is None else f"{answers.predicted:,} read"
    billed = f"billed: {answers.billed:,} read"
    figures = f"predicted: {predicted}; {billed}; told by the provider: {diagnosis}"
    pairs = (each.partition(": ") for each in wrong)
    contradictions = ", and ".join(
        f"{what} cannot be right, because {why}" for what, _, why in pairs
    )
    fix = FIXES["diagnosis-disagrees"]
    return finding("diagnosis-disagrees", where, f"{figures}. But {contradictions}; {fix}")
