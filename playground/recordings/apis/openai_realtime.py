"""OpenAI Realtime: the server's events over a socket; their text and calls are the reply.

https://platform.openai.com/docs/api-reference/realtime-server-events. The events are those of the
responses API, with an `event_id`, within a session. Audio is left out; its transcript is the text.
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.openai_responses import OpenAIResponses

_KINDS: Final = (
    "conversation.",
    "input_audio_buffer.",
    "output_audio_buffer.",
    "rate_limits.",
    "response.text.",
    "response.audio",
    "response.output_audio",
)


class OpenAIRealtime(OpenAIResponses):
    name = "openai-realtime"

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        kind = str(value.get("type", ""))
        if kind.startswith(_KINDS) or (kind.startswith("session.") and "session" in value):
            return True
        return kind.startswith("response.") and ("event_id" in value or "response_id" in value)
