"""Find the provider whose caching rules a request is under, by its model's name or its address."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from playground.dialects.marks.family import model_family

UNKNOWN: Final = "unknown-provider"
_OPENAI: Final = re.compile(r"openai/|(?:gpt|chatgpt|o\d)\b")
_ROUTES: Final = {  # LiteLLM's, and OpenRouter's names of makers
    "deepseek": "deepseek",
    "dashscope": "qwen",
    "qwen": "qwen",
    "xai": "xai",
    "mistral": "mistral",
    "codestral": "mistral",
    "groq": "groq",
    "fireworks_ai": "fireworks",
    "zai": "zai",
    "minimax": "minimax",
    "moonshot": "moonshot",
}
# Whose models run on many machines: without an address their names do not say who answered.
_OF_ANYBODY: Final = {"deepseek", "qwen", "mistral", "zai", "minimax", "moonshot"}
_MODELS: Final = (  # of a name without a route
    (re.compile(r"qwen"), "qwen"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"grok-"), "xai"),
    (
        re.compile(r"(?:open-)?(?:mi[sx]tral|ministral|codestral|devstral|magistral|pixtral)"),
        "mistral",
    ),
    (re.compile(r"glm-"), "zai"),
    (re.compile(r"minimax-"), "minimax"),
    (re.compile(r"(?:kimi|moonshot)-"), "moonshot"),
)
_OPENAI_VERSION: Final = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_MARKS_SINCE: Final = (5, 6)
_QWEN4: Final = re.compile(r"qwen-?4\b")
_BEDROCK_GPT: Final = re.compile(r"openai\.gpt-\d")  # not the open weights

_HOSTS: Final = {  # whose API answers there, by the route that LiteLLM has for it
    "openrouter.ai": "openrouter",
    "anthropic.com": "anthropic",
    "googleapis.com": "gemini",
    "deepseek.com": "deepseek",
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure",
    "cognitive.microsoft.com": "azure",
    "ai.azure.com": "azure_ai",
    "x.ai": "xai",
    "mistral.ai": "mistral",
    "groq.com": "groq",
    "fireworks.ai": "fireworks_ai",
    "z.ai": "zai",
    "bigmodel.cn": "zai",
    "minimax.io": "minimax",
    "minimaxi.com": "minimax",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot",
    "kimi.com": "moonshot",
    "aliyuncs.com": "dashscope",
}
_MODEL: Final = re.compile(r"/(?:model|models|deployments)/([^/:]+(?::\d+)?)[/:]")


@lru_cache(maxsize=1_024)
def provider_of(model: str) -> str:
    """Return the name of the rules, or `UNKNOWN` for a model without known rules."""
    name = model.lower()
    route, _, rest = name.partition("/")
    family = model_family(name)
    if route == "openrouter":
        return _openrouter(rest, family)
    if route == "bedrock":
        return _bedrock(rest, family)
    if route == "vertex_ai" and family == "anthropic":
        return "vertex"
    if family != "other":
        return family
    if route in ("azure", "azure_ai"):
        return f"azure{_since(rest)}" if _OPENAI.match(rest) or route == "azure" else UNKNOWN
    if _OPENAI.match(name):
        return f"openai{_since(name)}"
    if route in _ROUTES and rest:
        return _versioned(_ROUTES[route], rest)
    found = next((own for pattern, own in _MODELS if not rest and pattern.match(name)), UNKNOWN)
    return _versioned(found, name)


def _versioned(rules: str, name: str) -> str:
    """Return the rules of a maker's later models, where they are others than the earlier ones'."""
    return "qwen4" if rules == "qwen" and _QWEN4.search(name) else rules


def _bedrock(name: str, family: str) -> str:
    if family == "anthropic":
        return "bedrock"
    if "nova" in name:
        return "bedrock-nova"
    if "moonshot" in name:
        return "bedrock-kimi"
    if _BEDROCK_GPT.search(name):
        return f"bedrock-openai{_since(name)}"
    return UNKNOWN


def _openrouter(model: str, family: str) -> str:
    """Return the rules on OpenRouter: Claude is cached where marked, OpenAI by its own rules."""
    if family == "anthropic":
        return "openrouter"
    own = model.startswith("openai/") and "gpt-oss" not in model
    return f"openai{_since(model)}" if own else "openrouter-automatic"


def _since(model: str) -> str:
    """Return the suffix of the rules' name for models since 5.6, which take marks."""
    found = _OPENAI_VERSION.search(model)
    version = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
    return "" if version >= _MARKS_SINCE else "-before-5.6"


def asked_of(url: str, model: str = "") -> tuple[str, str]:
    """Return the rules for a request to this address ("" for an unknown host), and the model's
    name.

    The name is the body's, or the one in the address. A text that is no address begins with
    LiteLLM's name of the provider. For an address without a host ("/v1/messages") the model's name
    decides, if it belongs to one provider only.
    """
    found = _MODEL.search(url.replace("%3A", ":"))
    model = model or (unquote(found[1]) if found else "")
    if "/publishers/anthropic/" in url:
        return "vertex", model
    if url.startswith("/"):
        named = provider_of(f"openrouter/{model}" if url.startswith("/api/v1/") else model)
        return (UNKNOWN if named in _OF_ANYBODY else named), model
    route = _route(url)
    return (provider_of(f"{route}/{model}") if route else ""), model


def _route(url: str) -> str:
    """Return LiteLLM's name of the provider at an address."""
    if "://" not in url:
        return url.partition(" ")[0]
    host = urlsplit(url).hostname or ""
    if host.endswith("amazonaws.com"):
        return "bedrock"
    return next((r for name, r in _HOSTS.items() if host == name or host.endswith(f".{name}")), "")
