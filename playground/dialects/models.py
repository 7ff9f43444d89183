"""Choose a dialect for a model by its name, and give the reason.

No family is listed here: a dialect says itself which models speak it (`Dialect.model_names`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from playground.base.arguments import takes
from playground.base.display import Shown
from playground.dialects import dialect_names, get_dialect
from playground.dialects.base import Dialect

# A hosted API is recognised by its provider's prefix, or by a model that only it serves. As gpt-oss
# is an open model, `openai/` before it names no host. Claude 2 had no field for tools.
_HOST: Final = re.compile(
    r"openai/(?!gpt-oss)"
    r"|(azure|anthropic|bedrock|vertex_ai|gemini|cohere|mistral|groq|xai)/"
    r"(?!claude-?2|anthropic\.claude-(v2|instant))"
)
_SERVED: Final = re.compile(
    r"(?!.*distill)"
    r"(gpt-[3-9]|o[1-9]\b|chatgpt|gemini|claude(?!-?2)|grok-([3-9]|code)|moonshot-v1|kimi-latest|doubao"
    r"|deepseek-(chat|reasoner)(?!-)|qwen[\d.]*(-coder|-vl)?-(max|plus|turbo|flash)(?!-(?!latest|preview|\d))"
    # Bedrock's names, with their region or without
    r"|([a-z]+\.)?(anthropic\.claude(?!-v2|-instant)|amazon\.nova))"
)
_OF_HOSTED_APIS: Final = "native"
_TAUGHT: Final = "xml"  # the dialect to teach in a prompt: any instruct model follows it
_FAMILY: Final = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class DialectChoice(Shown):
    """A dialect's name, and the reason for it.

    `dialect` is None if it is unknown what the model was trained on. `nearest` is then a dialect to
    try: its family's, or one that a prompt can teach any model.
    """

    dialect: str | None
    reason: str
    nearest: str

    @property
    def usable(self) -> str:
        """The dialect, or else the dialect to try (`nearest`)."""
        return self.dialect or self.nearest


@takes(model_name="text")
def dialect_for(model_name: str) -> DialectChoice:
    """Return the dialect in which a model writes calls without being taught.

    A hosted API has a field for tools; an open model writes the dialect that it was trained on. For
    any other model the choice has no dialect, only the nearest one to try.
    """
    # The API takes precedence over the model, because the API writes the prompt.
    name = _hyphened(model_name).lower()
    if _HOST.match(name) or _SERVED.match(_without_provider(name)):
        reason = "a hosted API with a field for tools"
        return DialectChoice(_OF_HOSTED_APIS, reason, _OF_HOSTED_APIS)
    trained = trained_on(model_name)
    if trained is not None:
        return DialectChoice(trained.name, f"trained on it: {trained.models}", trained.name)
    unknown = f"no form is known that {model_name!r} was trained on"
    family = _family_dialect(model_name)
    if family is not None:
        reason = f"{unknown}; the nearest in its family is that of {family.models}"
        return DialectChoice(None, reason, family.name)
    return DialectChoice(None, f"{unknown}; the prompt has to teach one", _TAUGHT)


def _family_dialect(model_name: str) -> Dialect | None:
    """Return the last registered dialect whose models share the name's first word, or None."""
    words = _FAMILY.findall(_without_provider(model_name).lower())
    dialects = [
        dialect
        for dialect in map(get_dialect, dialect_names())
        if words and dialect.model_names and re.search(rf"\b{words[0]}", dialect.models.lower())
    ]
    return dialects[-1] if dialects else None


def _without_provider(model_name: str) -> str:
    """Return a model's name without its provider, as a repository spells it."""
    return _hyphened(model_name).rpartition("/")[2]


def _hyphened(model_name: str) -> str:
    """Return a name as a repository spells it: people write "Gemma 4" for `gemma-4`, and hosts
    `glm-4p7` for `glm-4.7`."""
    return re.sub(r"(?<=\d)p(?=\d)", ".", re.sub(r"\s+", "-", model_name.strip()))


def trained_on(model_name: str) -> Dialect | None:
    """Return the dialect that claims the model's name, or None; if two claim it, the first.

    A provider before a slash is not part of the name, and case does not count.
    """
    model = _without_provider(model_name)
    for dialect in map(get_dialect, dialect_names()):
        if any(re.search(pattern, model, re.IGNORECASE) for pattern in dialect.model_names):
            return dialect
    return None
