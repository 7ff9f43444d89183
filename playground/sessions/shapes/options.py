"""Read the options that tracing tools note of a call as the parameters of its request.

Each tool has its own place for them and its own way to write a value: numbers, lists and null as
texts, names in camel case. The list of parameters is the one for bodies; other options are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from playground.sessions.inner_json import json_or_text
from playground.sessions.shapes.parameters import is_parameter, parameters_of_body, renamed
from playground.sessions.shapes.spans import json_value, plain_value

# Said elsewhere in a session, or of the client and not of the request.
_ELSEWHERE: Final = {
    "model", "model_name", "modelName", "modelId", "model_id", "_type", "type", "messages", "tools",
    "functions", "contents", "input", "prompt", "system", "instructions", "system_instruction",
    "model_request_parameters",
}  # fmt: skip
_OTHER_NAMES: Final = {
    "choice.count": "n", "is_stream": "stream", "is_streaming": "stream", "streaming": "stream",
    "chat.stop_sequences": "stop",
}  # fmt: skip
# A text that looks like a number is one, but for these; some may be a list or an object instead.
_TEXTS: Final = {
    "user", "stop", "stop_sequences", "stopSequences", "suffix", "conversation", "container",
    "previous_response_id", "template", "service_tier", "prompt_cache_key", "safety_identifier",
    "cachedContent", "cached_content", "guided_regex", "guided_grammar",
}  # fmt: skip
_OR_JSON: Final = {
    **dict.fromkeys(("stop", "stop_sequences", "stopSequences"), ("[", "{")),  # "{": OTLP's list
    **dict.fromkeys(("conversation", "container"), ("{",)),
}
_TYPED: Final = {"stringValue", "intValue", "doubleValue", "boolValue", "arrayValue"}  # OTLP's
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


class Options(NamedTuple):
    """The parameters of a call, and the names of options that are none."""

    parameters: dict[str, Any] = {}
    left_out: tuple[str, ...] = ()


_NOTHING: Final = Options()


def options_of(body: Any, *holders: Any) -> Options:
    """Return the parameters in a call's input, where that is a request's body, and in the objects
    that a trace has for them, or in JSON texts of such. The body's go before those of objects, and
    the first object's before the next one's.
    """
    body = json_or_text(json_or_text(body))
    if not isinstance(body, Mapping) and not any(holders):  # as of most spans
        return _NOTHING
    found: dict[str, Any] = {}
    left: list[str] = []
    for holder in reversed(holders):
        given = json_value(holder)
        for name, value in given.items() if isinstance(given, Mapping) else ():
            found |= _read(str(name), value, left)
        if given not in _EMPTY and not isinstance(given, Mapping):
            left.append(f"a {type(given).__name__} in the place of options")
    if isinstance(body, Mapping):
        found |= parameters_of_body(body)
    return Options(found, tuple(dict.fromkeys(left)))


def under(attributes: Mapping[str, Any], *prefixes: str) -> dict[str, Any]:
    """Return the attributes whose dotted names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in attributes.items()
        for prefix in prefixes
        if name.startswith(prefix)
    }


def _read(name: str, given: Any, left: list[str]) -> dict[str, Any]:
    """Return one option as a parameter; {} if it asks for nothing or is none, which is noted."""
    known = _OTHER_NAMES.get(name, name)
    value = _value(known, given)
    if value in _EMPTY or name in _ELSEWHERE:
        return {}
    read = renamed({known: value}) if is_parameter(known) else {}
    limit = read.get("max_tokens", 1)
    if not read or not isinstance(limit, int | float) or limit < 1:  # -1 and "inf" ask for nothing
        left.append(name)
        return {}
    return read


def _value(name: str, given: Any) -> Any:
    """Return the value that an option's text stands for; an option of type text stays one."""
    if isinstance(given, str) and (name not in _TEXTS or given[:1] in _OR_JSON.get(name, ())):
        given = json_value(given)
    is_typed = isinstance(given, dict) and given.keys() <= _TYPED
    return plain_value(given) if is_typed else given
