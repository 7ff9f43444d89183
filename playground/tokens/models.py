"""Rules by a model's name: its tokenizer, and by API its framing, the tokens around the texts. The
first match is used. Where no framing is known, only texts are counted, by the kind `tokenizer`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

from playground.nouns.wire_bodies import messages_of
from playground.tokens import ollama, templates
from playground.tokens.openai_chat import chat
from playground.tokens.openai_responses import responses
from playground.tokens.pictures import Tiles
from playground.tokens.pieces import Framed, Piece, calls_of, functions_of
from playground.tokens.reasoning import GPT_5, LATER, O_SERIES, Reasoning

Framing = Callable[[Mapping[str, Any]], Framed]
_PROMPT: Final[Mapping[str, Framing]] = {"openai-completions": templates.prompt_alone}


# Models for which a gateway uses Chat Completions even with an answer's schema or tools (bills).
_FRAMED_AS_OPENAI: Final = {
    "form": re.compile(r"gpt-4o"),  # 15 of 15 bills
    "tools": re.compile(r"gpt-4o-mini"),  # 34 of 34 bills agree; with gpt-4o 10 of 13
}


def _frame_chat(
    body: Mapping[str, Any], reasoning: Reasoning | None, legacy: bool, tiles: Tiles | None = None
) -> Framed:
    """Frame a request of Chat Completions; a slash in the model's name shows a gateway.

    A gateway (OpenRouter, Vercel) sends a request with tools to a reasoning model by the Responses
    API: 16 bills of 2026, of six models and two gateways, show that. It is unknown whether a
    gateway does so with earlier calls or a `response_format`.
    """
    model = str(body.get("model") or "")
    tools = body.get("tools") or body.get("functions")
    form = isinstance(body.get("response_format"), dict)
    called = any(map(calls_of, messages_of(dict(body))))
    gateway = "/" in model
    if gateway and reasoning and tools and not (form or called):
        return responses(_as_responses(body), reasoning, tiles)
    framed = chat(body, reasoning, legacy, tiles)
    kinds = ["form"] * form + ["tools"] * bool(tools)
    if gateway and (called or kinds):
        is_single = len(kinds) == 1 and not called and not reasoning
        if not (is_single and _FRAMED_AS_OPENAI[kinds[0]].search(model)):
            # earlier reasoning may be sent again; then the tokens have no upper limit
            thoughts = called and reasoning
            reason = "a gateway may use the Responses API, which frames tools and forms differently"
            framed.add_reason(reason, None if thoughts else 99)
    return framed


def _as_responses(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as the gateway sends it to Responses: as items, with functions unwrapped."""
    functions = functions_of(body.get("tools") or body.get("functions"))
    fields = {key: value for key, value in body.items() if key not in ("messages", "functions")}
    return {
        **fields,
        "input": messages_of(dict(body)),
        "tools": [{"type": "function", **function} for function in functions],
    }


def _openai(
    reasoning: Reasoning | None = None, legacy: bool = False, tiles: Tiles | None = None
) -> Mapping[str, Framing]:
    return {
        "openai-chat": partial(_frame_chat, reasoning=reasoning, legacy=legacy, tiles=tiles),
        "openai-responses": partial(responses, reasoning=reasoning, tiles=tiles),
    }


def _conversation(framing: Framing) -> dict[str, Framing]:
    """Return the same framing for OpenAI's chat API and for Bedrock's Converse."""
    return {"openai-chat": framing, "bedrock-converse": framing}


def _mistral(settings: bool) -> dict[str, Framing]:
    """Return the framing of Mistral's own API; other hosts name Mistral's models differently."""
    return {"openai-chat": partial(templates.mistral, settings=settings)}


def _nemo(body: Mapping[str, Any]) -> Framed:
    """Frame for Mistral's models of 2024: users' and assistants' texts as for later models (5 bills
    of mistral-tiny, each for a single message)."""
    framed = templates.mistral(body, settings=False)
    roles = {message.get("role") for message in messages_of(dict(body))}
    if body.get("tools") or not roles <= {"user", "assistant"}:
        reason = "the places of tools and system prompt for a model of 2024 are not known"
        framed.add_reason(reason, 20)
    return framed


_BEDROCK_TOOLS: Final = 6


def _on_bedrock(body: Mapping[str, Any]) -> Framed:
    """Frame as OpenAI does, with 6 tokens more if there are tools (8 of 8 bills of two models)."""
    framed = responses(body, reasoning=LATER)
    if body.get("tools"):
        framed.add(Piece(origin="tools", fixed=_BEDROCK_TOOLS))
    return framed


def _llama_as_a_host_names_it(body: Mapping[str, Any]) -> Framed:
    """Frame for Llama 3.1 under a name that only some hosts use; their framings differ.

    Cerebras writes the published template (4 bills); Snowflake leaves out the template's system
    turn of 19 tokens (1 bill).
    """
    framed = templates.llama3(body, dated=True)
    framed.add_reason("hosts that use this name frame the model differently", 12)
    pieces = (piece if piece.message is not None else piece._replace(sure=0.0)
             for piece in framed.rows[0])  # fmt: skip
    framed.rows[0] = list(pieces)
    return framed


@dataclass(frozen=True)
class ModelRule:
    """A tokenizer for the models whose name matches a pattern, with framings by API."""

    names: re.Pattern[str]
    tokenizer: str
    framings: Mapping[str, Framing] = field(default_factory=dict)


def _rule(names: str, tokenizer: str, framings: Mapping[str, Framing] | None = None) -> ModelRule:
    start = r"(?:^|[/.:_-])"
    return ModelRule(re.compile(f"{start}(?:{names})", re.IGNORECASE), tokenizer, framings or {})


def _first_in_ollama(body: Mapping[str, Any]) -> Framed:
    """Frame for `llama3` in Ollama; a raw prompt is sent without the library's template."""
    return templates.raw_prompt(body) if body.get("raw") else ollama.first_llama(body)


_RAW_PROMPTS: Final[dict[str, Framing]] = {
    "ollama-generate": templates.raw_prompt,
    "openai-completions": templates.prompt_after_bos,
}
_LLAMA3: Final = _conversation(partial(templates.llama3, dated=False)) | _RAW_PROMPTS
_FIRST_LLAMA: Final = _LLAMA3 | dict.fromkeys(("ollama-chat", "ollama-generate"), _first_in_ollama)
_LLAMA_HOSTED: Final = _conversation(_llama_as_a_host_names_it) | _RAW_PROMPTS
_LLAMA31: Final = _conversation(partial(templates.llama3, dated=True)) | _RAW_PROMPTS


def _in_ollama(dated: bool) -> dict[str, Framing]:
    """Return the framings for names of Ollama's library; a raw prompt has no template."""
    framing = partial(ollama.llama, dated=dated)

    def prompt(body: Mapping[str, Any]) -> Framed:
        return templates.raw_prompt(body) if body.get("raw") else framing(body)

    chats = dict.fromkeys(("openai-chat", "openai-completions", "ollama-chat"), framing)
    return {**chats, "ollama-generate": prompt}


_ITSELF: Final = r"(?<![/.:_-])(?:mistral/)?"  # no host's name precedes the model's
_MISTRALS: Final = r"(?:mistral|ministral|magistral|devstral|codestral|open-mistral)-"

# No source names the tokenizer of later models.
_GPT_5_AND_6: Final = r"gpt-(?:5(?:\.[1-6])?|6|6\.1)(?![.\d])"

RULES: Final[tuple[ModelRule, ...]] = (
    _rule(r"gpt-oss(?![-:.]?\d+(?![\db]))", "o200k_base"),  # each host has its own system turn
    _rule(rf"openai\.{_GPT_5_AND_6}", "o200k_base", {"openai-responses": _on_bedrock}),
    _rule(r"gpt-5[^/]*-chat", "o200k_base"),  # its framing is unknown: no bills
    _rule(r"gpt-4o[^/]*-(?:search|audio|realtime)", "o200k_base"),
    _rule(r"gpt-4o-mini", "o200k_base", _openai(tiles=Tiles(2833, 5667))),
    _rule(r"gpt-4\.1-(?:mini|nano)", "o200k_base", _openai()),
    _rule(r"(?:chatgpt|gpt)-4(?:o|\.\d)", "o200k_base",
          _openai(tiles=Tiles(85, 170))),
    _rule(r"gpt-5(?:-20\d\d|$)", "o200k_base", _openai(GPT_5, tiles=Tiles(70, 140))),
    _rule(r"gpt-5(?:-|\.[1-3])", "o200k_base", _openai(GPT_5)),
    _rule(_GPT_5_AND_6, "o200k_base", _openai(LATER)),
    _rule(r"o[34](?:-mini|-pro|-20|$)|o1(?:-pro|-20|$)|codex-mini", "o200k_base",
          _openai(O_SERIES)),
    _rule(r"gpt-3\.?5[^/]*-instruct", "cl100k_base", _PROMPT),
    _rule(r"gpt-(?:4|3\.?5)", "cl100k_base",
          _openai(legacy=True, tiles=Tiles(85, 170))),
    _rule(r"davinci-002$|babbage-002$", "cl100k_base", _PROMPT),
    _rule(r"text-davinci-00[23]|code-davinci", "p50k_base", _PROMPT),
    _rule(r"llama-?4", "llama4"),
    _rule(r"llama3\.1(?::[^/]*)?$", "llama3", _in_ollama(dated=False)),
    _rule(r"llama3\.2(?::[^/]*)?$", "llama3", _in_ollama(dated=True)),
    _rule(r"llama3(?::[^/]*)?$", "llama3", _FIRST_LLAMA),
    _rule(r"llama(?:3\.\d(?:-vision)?|3-[a-z][^/:]*|-guard3)(?::[^/]*)?$", "llama3",
          {"ollama-generate": templates.raw_prompt}),
    _rule(r"[^/]*distill[^/]*llama", "llama3"),
    _rule(r"llama-?3\.1-(?:8b|70b|405b)$", "llama3", _LLAMA_HOSTED),
    _rule(r"llama-?v?3[.p-]?[123]", "llama3", _LLAMA31),
    _rule(r"llama-?v?3", "llama3", _LLAMA3),
    _rule(r"mistral-7b-instruct-v0[.:]?[12]", "mistral-v1",
          _conversation(templates.mistral_first)),
    _rule(r"mi[sx]tral-(?:7b|8x|large-240[27]|large-2411|small-240)|codestral-22b", "mistral-v3"),
    _rule(rf"{_ITSELF}(?:mistral-tiny|open-mistral-nemo)(?:-latest|-2407)?$", "tekken",
          {"openai-chat": _nemo}),
    _rule(r"pixtral", "tekken"),
    _rule(rf"{_ITSELF}(?:mistral|magistral)-small-(?:latest|26(?:0[3-9]|1\d))$", "tekken",
          _mistral(settings=True)),
    _rule(rf"{_ITSELF}{_MISTRALS}(?:[a-z0-9]+-)*(?:latest|2\d{{3}})$", "tekken",
          _mistral(settings=False)),
    _rule(_MISTRALS, "tekken"),
    _rule(r"claude-(?:2|instant)", "claude-2"),
)  # fmt: skip


APIS: Final = (
    "openai-chat", "openai-responses", "openai-completions", "openai-assistants",
    "openai-realtime", "anthropic-messages", "gemini-generate", "gemini-interactions",
    "gemini-live", "bedrock-converse", "bedrock-invoke", "cohere-v1", "cohere-v2", "ollama-chat",
    "ollama-generate", "tgi-generate", "llama-cpp", "dashscope",
)  # fmt: skip


def rule_for(model: str) -> ModelRule | None:
    """Return the rule for a model as a provider, LiteLLM or a gateway names it, or None."""
    name = unquote(model).strip()
    return next((rule for rule in RULES if rule.names.search(name)), None)


def api_of(body: Mapping[str, Any]) -> str:
    """Return the name of a request's API, as in recordings; "" for a request of no known API."""
    if "contents" in body:
        return "gemini-generate"
    if "input" in body:
        return "dashscope" if isinstance(body["input"], Mapping) else "openai-responses"
    if "messages" in body:
        return _messages_api(body)
    if "prompt" in body:
        return "ollama-generate" if "raw" in body or "template" in body else "openai-completions"
    return ""


def _messages_api(body: Mapping[str, Any]) -> str:
    if "anthropic_version" in body:
        return "anthropic-messages"
    if body.keys() & {"inferenceConfig", "toolConfig", "additionalModelRequestFields"}:
        return "bedrock-converse"
    if "system" in body:
        return "bedrock-converse" if _is_converse(body["system"]) else "anthropic-messages"
    contents = [m.get("content") for m in body["messages"] or () if isinstance(m, dict)]
    return "bedrock-converse" if any(map(_is_converse, contents)) else "openai-chat"


def _is_converse(content: Any) -> bool:
    """Return True for content in Bedrock's form, whose parts have a key instead of a type."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and "type" not in part and "text" in part for part in parts)
