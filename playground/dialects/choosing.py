"""Which dialect for which model: by its name, with the reason. The first pattern counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from playground.dialects import get_dialect
from playground.dialects.declared import DeclaredDialect

_TRAINED: Final = "trained on it"
_HOSTED: Final = re.compile(
    r"^openai/(?!gpt-oss)|^(azure|anthropic|bedrock|vertex_ai|gemini|cohere|mistral|groq|xai)/"
    r"|^(gpt-[3-9]|o[1-9]\b|chatgpt|claude|gemini)"
)
# pattern in the model's name (lower case, without its provider) → dialect
_MODELS: Final[tuple[tuple[str, str], ...]] = (
    (r"gpt-oss", "harmony"),
    (r"llama-?4", "llama4-pythonic"),
    (r"llama-?3\.2-[13]b|toolace", "pythonic"),
    (r"llama-?3", "llama3-json"),
    (r"functionary", "llama3-function"),
    (r"qwen-?3-?coder|qwen-?3\.5|qwen-?3\.8|step-?3\.5|nemotron-?3|mimo", "qwen3-coder"),
    (r"hermes|qwen-?[23]|qwq", "hermes"),
    (r"deepseek.*(v3\.2|v4)", "deepseek-dsml"),
    (r"deepseek.*v3\.1", "deepseek-v3.1"),
    (r"deepseek.*(v3|r1)", "deepseek-v3"),
    (r"glm-?4|ling-?3|laguna|spark-?2", "glm"),
    (r"kimi.*k3", "kimi-k3"),
    (r"kimi", "kimi-k2"),
    (r"minimax-?m3", "minimax-m3"),
    (r"minimax-?m2", "minimax-m2"),
    (r"mistral|ministral|devstral|magistral", "mistral"),
    (r"functiongemma", "functiongemma"),
    (r"gemma-?4", "gemma4"),
    (r"granite-20b", "granite-20b-fc"),
    (r"granite-?4", "hermes"),
    (r"granite", "granite"),
    (r"command-?(r7b|a)", "cohere-action"),
    (r"seed-oss", "seed-oss"),
    (r"lfm-?2", "lfm2"),
    (r"olmo-?3", "olmo3"),
    (r"longcat", "longcat"),
    (r"gigachat-?3", "gigachat3"),
    (r"internlm|intern-s1", "internlm2"),
    (r"nemotron-?nano", "nemotron-v2"),
    (r"phi-?4-mini|firefunction", "functools"),
    (r"jamba|hunyuan-a13b|apriel", "tool-calls-array"),
    (r"hunyuan", "hunyuan"),
    (r"xlam", "xlam"),
    (r"apertus", "apertus"),
    (r"minicpm-?5", "minicpm5"),
    (r"plamo-?3", "plamo3"),
    (r"k2-?horizon", "k2-horizon"),
    (r"k-exaone-?2", "k-exaone-2"),
    (r"step-?3", "step3"),
    (r"dots", "dots"),
    (r"inkling", "inkling"),
    (r"muse|glimmer", "muse"),
    (r"claude-?2", "anthropic-legacy"),
)


@dataclass(frozen=True, slots=True)
class DialectChoice:
    """A dialect's name and why it was chosen."""

    dialect: str
    reason: str


def dialect_for(model_name: str) -> DialectChoice:
    """The dialect in which a model writes its calls by itself.

    A hosted API has a field for tools; an open model has what it was trained on; any other is
    taught a form in its prompt.
    """
    name = model_name.strip().lower()
    bare = name.rpartition("/")[2]
    for pattern, dialect in _MODELS:
        if re.search(pattern, bare) and not _HOSTED.match(name):
            known = get_dialect(dialect)
            source = known.models if isinstance(known, DeclaredDialect) else ""
            return DialectChoice(dialect, f"{_TRAINED}: {source}")
    if _HOSTED.match(name):
        return DialectChoice("native", "a hosted API with a field for tools")
    return DialectChoice(
        "xml", f"no form is known that {model_name!r} was trained on: taught in the prompt"
    )
