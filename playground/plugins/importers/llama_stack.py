"""Read Llama Stack's recordings: one exchange, with the response's chunks as typed objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.base.json_numbers import dump_again
from playground.sessions.building import Place
from playground.sessions.formats.base import Keeps
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.shapes.exchanges import Exchange, json_object
from playground.sessions.shapes.fields import mapping, object_in
from playground.sessions.source import Source


class LlamaStack(RecordedHttp):
    name = "llama-stack-recording"
    title = "Llama Stack recording"
    keeps = Keeps("yes", "of Ollama's chunks", "yes", "yes")

    def recognises(self, source: Source) -> bool:
        document = source.document
        response = document.get("response") if isinstance(document, dict) else None
        if not isinstance(response, dict) or "body" not in response:
            return False
        return "is_streaming" in response or isinstance(response["body"], list)

    def exchanges(self, source: Source) -> Iterator[Exchange]:
        value = object_in(source)
        request, response = mapping(value.get("request")), value.get("response")
        body = response.get("body") if isinstance(response, dict) else response
        chunks = body if isinstance(body, list) else [body]
        lines = [dump_again(_data(chunk)) for chunk in chunks]
        is_stream = bool(mapping(response).get("is_streaming")) or isinstance(body, list)
        data = "".join(f"{line}\n" for line in lines) if is_stream else lines[0]
        url = str(request.get("url", ""))
        yield Exchange(json_object(request.get("body")), data.encode(), Place(), url)


def _data(chunk: Any) -> Any:
    return chunk["__data__"] if isinstance(chunk, dict) and "__data__" in chunk else chunk
