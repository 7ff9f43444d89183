"""Translate the parameters of any provider's request to those of OpenAI's chat API. LiteLLM takes
them in this form. A parameter that this API lacks keeps its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

# Objects of a body that hold only parameters: Gemini's, Bedrock's (Converse, Titan, Nova),
# Ollama's, and the `extra_body` of OpenAI's library.
_HOLDERS: Final = (
    "generationConfig", "generation_config", "inferenceConfig", "inference_config",
    "textGenerationConfig", "additionalModelRequestFields", "options", "extra_body",
)  # fmt: skip
_NAMES: Final = {
    **dict.fromkeys(("max_output_tokens", "maxOutputTokens", "maxTokens"), "max_tokens"),
    **dict.fromkeys(("maxTokenCount", "max_gen_len", "num_predict"), "max_tokens"),
    **dict.fromkeys(("max_new_tokens", "max_tokens_to_sample"), "max_tokens"),
    **dict.fromkeys(("topP", "p"), "top_p"),
    **dict.fromkeys(("topK", "k"), "top_k"),
    **dict.fromkeys(("stop_sequences", "stopSequences"), "stop"),
    **dict.fromkeys(("candidateCount", "candidate_count", "num_generations"), "n"),
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "random_seed": "seed",
    "safetySettings": "safety_settings",
    "responseLogprobs": "logprobs",
}
# Names that only parameters of requests have; no row of training data has them.
_PARAMETERS: Final = {
    "max_tokens", "max_completion_tokens", "max_output_tokens", "max_tokens_to_sample",
    "max_gen_len", "temperature", "top_p", "top_k", "min_p", "top_a", "typical_p", "stop",
    "stop_sequences", "seed", "random_seed", "presence_penalty", "frequency_penalty",
    "repetition_penalty", "length_penalty", "logit_bias", "logprobs", "top_logprobs", "best_of",
    "tool_choice", "parallel_tool_calls", "function_call", "response_format", "reasoning_effort",
    "thinking", "verbosity", "service_tier", "stream", "stream_options", "modalities",
    "output_format", "output_config", "toolConfig", "tool_config", "safetySettings",
    "safety_settings", "guardrailConfig", "anthropic_version", "anthropic_beta",
}  # fmt: skip
# Names that are parameters only if another field shows that the body is a request.
_PARAMETERS_OF_REQUESTS: Final = {
    "n", "k", "p", "num_generations", "reasoning", "store", "user", "metadata", "prediction",
    "audio", "web_search_options", "safety_identifier", "prompt_cache_key",
    "prompt_cache_retention", "truncation", "include", "max_tool_calls", "previous_response_id",
    "conversation", "background", "text", "betas", "container", "context_management",
    "mcp_servers", "speed", "inference_geo", "cachedContent", "cached_content", "labels",
    "performanceConfig", "promptVariables", "requestMetadata", "serviceTier",
    "additionalModelResponseFieldPaths", "format", "think", "keep_alive", "raw", "template",
    "suffix", "echo", "ignore_eos", "min_tokens", "stop_token_ids", "skip_special_tokens",
    "include_stop_str_in_output", "guided_json", "guided_regex", "guided_choice",
    "guided_grammar", "structured_outputs", "chat_template_kwargs", "add_generation_prompt",
    "continue_final_message", "safe_prompt", "prompt_mode", "enable_thinking", "thinking_budget",
    "provider", "transforms", "route", "plugins", "models", "safety_mode", "citation_options",
    "documents", "strict_tools", "search_parameters", "deferred", "return_likelihoods",
    "truncate", "cache_control",
}  # fmt: skip
_REQUEST: Final = {"model", "modelId", "model_id", "contents", "inputText", *_HOLDERS}
_REQUEST_FIELDS: Final = _PARAMETERS | _REQUEST
_NO_CHOICE: Final = {"tools", "cachePoint"}  # fields of a `toolConfig` other than parameters
_MODE_FIELDS: Final = ("functionCallingConfig", "function_calling_config")
_ALLOWED_FIELDS: Final = ("allowedFunctionNames", "allowed_function_names")
_MODES: Final = {"AUTO": "auto", "ANY": "required", "NONE": "none"}  # Gemini's → the chat API's


def parameters_of_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known parameters of a body; {} if no field shows that the body is a request.

    A parameter at the top of the body overrides the same parameter in an inner object.
    """
    if body.keys().isdisjoint(_REQUEST_FIELDS):  # e.g. a row of training data
        return {}
    names = body.keys() & (_PARAMETERS | _PARAMETERS_OF_REQUESTS)
    found: dict[str, Any] = {}
    for key in _HOLDERS:
        if isinstance(holder := body.get(key), Mapping):
            found |= chat_parameters(holder)
    return found | chat_parameters({key: body[key] for key in body if key in names})


def is_parameter(name: str) -> bool:
    """Return True if some provider's body has a parameter of this name, at any level."""
    known = (_PARAMETERS, _PARAMETERS_OF_REQUESTS, _NAMES, _READERS)
    return any(name in names for names in known)


def chat_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the names and forms of OpenAI's chat API, without null values. If
    several set the same parameter, the chat API's name takes precedence, then the order in `_NAMES`
    and `_READERS`."""
    found: dict[str, Any] = {}
    for key in sorted(parameters, key=lambda each: _RANKS.get(each, -1)):
        if (value := parameters[key]) is not None:
            read = _READERS.get(key)
            translated = read(key, value) if read else {_chat_name(key, parameters): value}
            found |= {name: field for name, field in translated.items() if name not in found}
    return found


def _chat_name(key: str, parameters: Mapping[str, Any]) -> str:
    """Return a parameter's name in the chat API. Gemini's `logprobs` is `top_logprobs` there."""
    if key == "logprobs" and parameters.get("responseLogprobs") is not None:
        return "top_logprobs"
    return _NAMES.get(key, key)


# Each reader returns a value in the chat API's form; a value of unknown form stays unchanged.


def _tool_choice(key: str, value: Any) -> dict[str, Any]:
    """Read a choice of OpenAI (chat and Responses), Anthropic, Bedrock or the AI SDK."""
    match value:
        case {"type": "function", "name": str(name)}:
            return {"tool_choice": _choice("tool", name)}
        case {"type": "auto" | "any" | "none" | "required" | "tool" as kind}:
            name = value.get("name") or value.get("toolName")
            return {"tool_choice": _choice(kind, name), **_parallel(value)}
        case {"auto": _} | {"any": _}:
            return {"tool_choice": "required" if "any" in value else "auto"}
        case {"tool": {"name": str(name)}}:
            return {"tool_choice": _choice("tool", name)}
    return {"tool_choice": value}


def _choice(kind: str, name: Any) -> Any:
    if kind == "tool":
        return {"type": "function", "function": {"name": name}}
    return "required" if kind == "any" else kind


def _parallel(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Read the option of Anthropic's choice that allows only one call at a time."""
    is_disabled = choice.get("disable_parallel_tool_use")
    return {} if is_disabled is None else {"parallel_tool_calls": not is_disabled}


def _tool_config(key: str, value: Any) -> dict[str, Any]:
    """Read the choice of tools from Bedrock's or Gemini's object, which may hold tools, too."""
    if not isinstance(value, Mapping):
        return {key: value}
    found: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, field in sorted(value.items(), key=lambda each: str(each[0])):
        if name == "toolChoice":
            found |= _tool_choice(name, field)
        elif name in _MODE_FIELDS and (choice := _choice_by_mode(field)):
            found |= choice
        elif name not in _NO_CHOICE:
            rest[name] = field
    return found | ({key: rest} if rest else {})


def _choice_by_mode(config: Any) -> dict[str, Any]:
    """Read Gemini's mode of calling; {} for a mode that the chat API lacks."""
    if not isinstance(config, Mapping):
        return {}
    mode = _MODES.get(str(config.get("mode")).upper())
    names: Any = next((config[key] for key in _ALLOWED_FIELDS if key in config), None)
    if mode is None or config.keys() - {"mode", *_ALLOWED_FIELDS}:
        return {}
    if mode == "required" and isinstance(names, list) and len(names) == 1:
        return {"tool_choice": _choice("tool", names[0])}
    return {} if names else {"tool_choice": mode}


def _reasoning(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not isinstance(value.get("effort"), str):
        return {key: value}
    rest = {name: field for name, field in value.items() if name != "effort"}
    return {"reasoning_effort": value["effort"]} | ({key: rest} if rest else {})


def _text(key: str, value: Any) -> dict[str, Any]:
    """Read the reply's form and verbosity from the Responses API's `text`; {} if it is a string."""
    if not isinstance(value, Mapping):
        return {}
    found = _format("response_format", value["format"]) if "format" in value else {}
    found |= {name: value[name] for name in ("verbosity",) if name in value}
    rest = {name: field for name, field in value.items() if name not in ("format", "verbosity")}
    return found | ({key: rest} if rest else {})


def _format(key: str, value: Any) -> dict[str, Any]:
    """Read a reply's form: OpenAI's two ways, and the schemas of Anthropic, Ollama and Gemini."""
    match value:
        case "json":
            return {"response_format": {"type": "json_object"}}
        case {"type": "json_schema", "json_schema": _} | {"type": "json_object" | "text"}:
            return {"response_format": value}
        case {"type": "json_schema", "schema": _}:
            return _with_schema({name: field for name, field in value.items() if name != "type"})
        case {"properties": _} | {"anyOf": _} | {"enum": _} | {"type": "object" | "array"}:
            return _with_schema({"schema": value})
    return {key: value}


def _with_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chat API's form of a schema, which needs a name."""
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", **schema}}}


def _mime_type(key: str, value: Any) -> dict[str, Any]:
    is_json = value == "application/json"
    return {"response_format": {"type": "json_object"}} if is_json else {key: value}


def _thinking(key: str, value: Any) -> dict[str, Any]:
    """Read Gemini's thinking budget as Anthropic's (LiteLLM takes it for both), and its level as an
    effort."""
    match value:
        case {"thinkingLevel": str(level), **rest} if not rest:
            return {"reasoning_effort": level.lower()}
        case {"thinkingBudget": 0, **rest} if not rest:
            return {"thinking": {"type": "disabled"}}
        case {"thinkingBudget": int(budget), "includeThoughts": True} if budget > 0:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {key: value}


_READERS: Final[dict[str, Callable[[str, Any], dict[str, Any]]]] = {
    "tool_choice": _tool_choice,
    "toolChoice": _tool_choice,
    "toolConfig": _tool_config,
    "tool_config": _tool_config,
    "reasoning": _reasoning,
    "response_format": _format,
    "text": _text,
    "format": _format,
    "output_format": _format,
    **dict.fromkeys(("responseSchema", "response_schema", "responseJsonSchema"), _format),
    "responseMimeType": _mime_type,  # after the schema, which says more
    "response_mime_type": _mime_type,
    "thinkingConfig": _thinking,
    "thinking_config": _thinking,
}
_RANKS: Final = {name: rank for rank, name in enumerate((*_NAMES, *_READERS))}
