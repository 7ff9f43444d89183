"""llama.cpp's own `/completion`: a piece of text in each event, counts and stop reason in the last.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md. Servers before 2025 give
the stop reason by three flags.
"""

from __future__ import annotations

from typing import Any, Final

from playground.recordings.apis.base import ApiReader, Sink

_USAGE: Final = ("tokens_evaluated", "tokens_predicted", "tokens_cached", "timings")
_FLAGS: Final = {"stopped_eos": "eos", "stopped_word": "word", "stopped_limit": "limit"}


class LlamaCpp(ApiReader):
    name = "llama-cpp"

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        return isinstance(value.get("content"), str) and isinstance(value.get("stop"), bool)

    def read(self, value: dict[str, Any]) -> None:
        sink = self.sink
        before = len(sink.chunks)
        into = sink.choice(value.get("index"))
        if into.stop_reason and into is sink:
            sink.second_response()
            sink.stop_reason = ""
        if value.get("content"):
            into.text(value["content"])
            self._note_choice(into, value)
        if value.get("stop"):
            sink.model = sink.model or value.get("model") or ""
            into.stop_reason = _reason(value)
            sink.add_usage({key: value[key] for key in _USAGE if key in value})
        if value.get("error"):
            sink.fail(value["error"])
        if len(sink.chunks) == before:
            sink.signal("end" if value.get("stop") else "empty text")

    def _note_choice(self, into: Sink, value: dict[str, Any]) -> None:
        if into is not self.sink:
            self.sink.signal(f"choice {value['index']}")


def _reason(value: dict[str, Any]) -> str:
    flags = (reason for flag, reason in _FLAGS.items() if value.get(flag))
    return str(value.get("stop_type") or next(flags, "stop"))
