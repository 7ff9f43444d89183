"""OpenAI's models behind a gateway: `openai/gpt-5` of OpenRouter or Vercel, by Chat Completions.

A gateway sends a request with tools to a reasoning model by the Responses API: 16 bills of 2026, of
six models and two gateways, show that. It is unknown whether it does so with earlier calls or a
`response_format`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from playground.nouns.wire_bodies import messages_of
from playground.tokens.openai_chat import chat
from playground.tokens.openai_responses import responses
from playground.tokens.pictures import Tiles
from playground.tokens.pieces import Framed, calls_of, functions_of
from playground.tokens.reasoning import Reasoning

# Models for which bills show that a gateway keeps Chat Completions, by what the request has.
_FRAMED_AS_OPENAI: Final = {
    "form": re.compile(r"gpt-4o"),  # 15 of 15 bills
    "tools": re.compile(r"gpt-4o-mini"),  # 34 of 34 bills agree; with gpt-4o 10 of 13
}


def frame_chat(
    body: Mapping[str, Any], reasoning: Reasoning | None, legacy: bool, tiles: Tiles | None = None
) -> Framed:
    """Frame a request of Chat Completions; a model's name with a slash shows a gateway."""
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
            framed.add_reason(
                "a gateway may use the Responses API, which frames tools and forms differently",
                None if thoughts else 99,
            )
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
