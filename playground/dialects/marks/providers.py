"""Find the caching rules that apply to a request, by its model's name or its address."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from playground.dialects.marks.family import model_family

UNKNOWN: Final = "unknown-provider"
_OPENAI: Final = re.compile(r"openai/|(?:gpt(?!-oss)|chatgpt|o\d)\b")
_ROUTES: Final = {  # LiteLLM's route, or OpenRouter's name of a maker -> rules
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
# Makers whose models many hosts serve: only an address shows which host answered.
_SERVED_BY_MANY: Final = {"deepseek", "qwen", "mistral", "zai", "minimax", "moonshot"}
_MODELS: Final = (  # patterns of names without a route -> rules
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
_MARKS_SINCE: Final = (5, 6)  # first version of GPT that takes marks
_QWEN4: Final = re.compile(r"qwen-?4\b")
_BEDROCK_CLAUDE: Final = re.compile(r"(?:[a-z-]{2,6}\.)?anthropic\.")
_BEDROCK_GPT: Final = re.compile(r"openai\.gpt-\d")  # not the models with open weights

_HOSTS: Final = {  # end of a host's name -> LiteLLM's route for its API
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
_MODEL: Final = re.compile(r"/(?:model|models|deployments)/([^/:]+(?::\d+)?)[/:]")  # in an address


@lru_cache(maxsize=1_024)
def provider_of(model: str) -> str:
    """Return the name of the caching rules for a model, or `UNKNOWN`."""
    name = model.lower()
    route, _, rest = name.partition("/")
    family = model_family(name)
    if route == "openrouter":
        return _openrouter(rest, family)
    if route == "bedrock":
        return _bedrock(rest, family)
    if _BEDROCK_CLAUDE.match(name):
        return "bedrock"
    if route == "vertex_ai" and family == "anthropic":
        return "vertex"
    if family != "other":
        return family
    if route in ("azure", "azure_ai"):
        return f"azure{_suffix(rest)}" if _OPENAI.match(rest) or route == "azure" else UNKNOWN
    if _OPENAI.match(name):
        return f"openai{_suffix(name)}"
    if route in _ROUTES and rest:
        return _versioned(_ROUTES[route], rest)
    rules = next((named for pattern, named in _MODELS if not rest and pattern.match(name)), UNKNOWN)
    return _versioned(rules, name)


def _versioned(rules: str, name: str) -> str:
    """Return `rules`, or the rules for the maker's later models if `name` is one (now Qwen 4)."""
    return "qwen4" if rules == "qwen" and _QWEN4.search(name) else rules


def _bedrock(name: str, family: str) -> str:
    if family == "anthropic":
        return "bedrock"
    if "nova" in name:
        return "bedrock-nova"
    if "moonshot" in name:
        return "bedrock-kimi"
    return f"bedrock-openai{_suffix(name)}" if _BEDROCK_GPT.search(name) else UNKNOWN


def _openrouter(model: str, family: str) -> str:
    """Return the rules on OpenRouter: Claude is cached at marks, OpenAI by its own rules."""
    if family == "anthropic":
        return "openrouter"
    is_openai = model.startswith("openai/") and "gpt-oss" not in model
    return f"openai{_suffix(model)}" if is_openai else "openrouter-automatic"


def _suffix(model: str) -> str:
    """Return the suffix of the rules' name: "" for GPT 5.6 and later, which take marks."""
    match = _OPENAI_VERSION.search(model)
    version = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
    return "" if version >= _MARKS_SINCE else "-before-5.6"


def rules_and_model(url: str, model: str = "") -> tuple[str, str]:
    """Return the rules for a request to this address, and the model's name.

    The rules are "" for an unknown host. The name is `model`, or else the one in the address.
    `url` may also be LiteLLM's name of a provider, perhaps with more text after a blank. For an
    address without a host ("/v1/messages") the model's name decides, if one provider serves it.
    """
    match = _MODEL.search(url.replace("%3A", ":"))
    model = model or (unquote(match[1]) if match else "")
    if "/publishers/anthropic/" in url:
        return "vertex", model
    if url.startswith("/"):
        rules = provider_of(f"openrouter/{model}" if url.startswith("/api/v1/") else model)
        return (UNKNOWN if rules in _SERVED_BY_MANY else rules), model
    route = route_of(url)
    return (provider_of(f"{route}/{model}") if route else ""), model


def route_of(url: str) -> str:
    """Return LiteLLM's name of the provider at an address."""
    if "://" not in url:
        return url.partition(" ")[0]
    host = urlsplit(url).hostname or ""
    if host.endswith("amazonaws.com"):
        return "bedrock"
    return next((r for name, r in _HOSTS.items() if host == name or host.endswith(f".{name}")), "")
