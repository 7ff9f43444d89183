"""Read a request's parameters from the options that a tracing tool recorded for the call.

Each tracing tool has its own fields for options. Some write numbers, lists and null as texts, or
names in camel case. Options that `parameters.py` does not know are listed as left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from playground.plugins.importers.shapes.spans import plain_value
from playground.sessions.inner_json import json_or_text, json_value
from playground.sessions.shapes.parameters import chat_parameters, is_parameter, parameters_of_body

# Options that are no parameters: a session has them elsewhere, or they describe the client.
_ELSEWHERE: Final = {
    "model", "model_name", "modelName", "modelId", "model_id", "_type", "type", "messages", "tools",
    "functions", "contents", "input", "prompt", "system", "instructions", "system_instruction",
    "model_request_parameters",
}  # fmt: skip
_OTHER_NAMES: Final = {
    "choice.count": "n", "is_stream": "stream", "is_streaming": "stream", "streaming": "stream",
    "chat.stop_sequences": "stop",
}  # fmt: skip
# Options whose value is a text. In any other option, a text such as "3" is read as a number.
_TEXTS: Final = {
    "user", "stop", "stop_sequences", "stopSequences", "suffix", "conversation", "container",
    "previous_response_id", "template", "service_tier", "prompt_cache_key", "safety_identifier",
    "cachedContent", "cached_content", "guided_regex", "guided_grammar",
}  # fmt: skip
# Options that may be a text or JSON; JSON is recognised by its first character.
_OR_JSON: Final = {
    **dict.fromkeys(("stop", "stop_sequences", "stopSequences"), ("[", "{")),  # "{": OTLP's list
    **dict.fromkeys(("conversation", "container"), ("{",)),
}
_TYPED: Final = {"stringValue", "intValue", "doubleValue", "boolValue", "arrayValue"}  # of OTLP
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


class Options(NamedTuple):
    """A call's parameters, and the names of the call's options that are not known as parameters."""

    parameters: dict[str, Any] = {}
    left_out: tuple[str, ...] = ()


_NO_OPTIONS: Final = Options()


def options_of(body: Any, *holders: Any) -> Options:
    """Return the parameters in a call's input (`body`), and in other objects that hold options.

    `body` is read only if it is a request's body. `holders` are objects, or JSON texts of objects.
    If several objects set a parameter, the body's value is used, otherwise the first holder's.
    """
    body = json_or_text(json_or_text(body))
    if not isinstance(body, Mapping) and not any(holders):  # most spans have no options
        return _NO_OPTIONS
    found: dict[str, Any] = {}
    left_out: list[str] = []
    for holder in reversed(holders):
        options = json_value(holder)
        for name, value in options.items() if isinstance(options, Mapping) else ():
            found |= _read(str(name), value, left_out)
        if options not in _EMPTY and not isinstance(options, Mapping):
            left_out.append(f"a {type(options).__name__} in the place of options")
    if isinstance(body, Mapping):
        found |= parameters_of_body(body)
    return Options(found, tuple(dict.fromkeys(left_out)))


def attributes_under(attributes: Mapping[str, Any], *prefixes: str) -> dict[str, Any]:
    """Return the attributes whose names begin with one of the prefixes, without the prefix."""
    return {
        name.removeprefix(prefix): value
        for name, value in attributes.items()
        for prefix in prefixes
        if name.startswith(prefix)
    }


def _read(name: str, value: Any, left_out: list[str]) -> dict[str, Any]:
    """Return an option as a parameter. Return {} if it sets nothing. If it is unknown, or a limit
    that is not a number of at least 1, return {} too, and add its name to `left_out`."""
    known = _OTHER_NAMES.get(name, name)
    value = _option_value(known, value)
    if value in _EMPTY or name in _ELSEWHERE:
        return {}
    read = chat_parameters({known: value}) if is_parameter(known) else {}
    limit = read.get("max_tokens", 1)
    if not read or not isinstance(limit, int | float) or limit < 1:  # -1 and "inf" mean no limit
        left_out.append(name)
        return {}
    return read


def _option_value(name: str, value: Any) -> Any:
    """Return the value that an option's text encodes, such as a number. Options that are texts
    stay texts."""
    if isinstance(value, str) and (name not in _TEXTS or value[:1] in _OR_JSON.get(name, ())):
        value = json_value(value)
    is_typed = isinstance(value, dict) and value.keys() <= _TYPED
    return plain_value(value) if is_typed else value
