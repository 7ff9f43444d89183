"""A coverage-guided fuzz run over every dialect's parser.

Run: pip install atheris; python benchmarks/fuzz.py -max_total_time=600 [CORPUS_FOLDER]
The first byte chooses the dialect, the second the size of the chunks; the rest is the reply.
Checked is that nothing raises, spans tile the stream, no character is lost, chunks do not matter,
started calls end, and the time stays below a generous linear bound in the reply's length.
"""

from __future__ import annotations

import sys
import time

import atheris

with atheris.instrument_imports(include=["playground.parsing"]):
    from playground.dialects import dialect_names, get_dialect
    from playground.nouns.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent, merged
    from playground.nouns.prompt_data import PromptData
    from playground.nouns.tools import ToolMetadata

NAMES = dialect_names()
TOOLS = [
    ToolMetadata(
        name="write_file",
        input_schema={
            "type": "object",
            "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}, "meta": {}},
        },
    )
]


def events_of(name: str, data: bytes, size: int) -> list:  # type: ignore[type-arg]
    parser = get_dialect(name).create_parser(PromptData(tool_metadata=TOOLS))
    found = [e for i in range(0, len(data), size) for e in parser.feed(data[i : i + size])]
    return merged([*found, *parser.finish()])


def one(data: bytes) -> None:
    if len(data) < 3:
        return
    name, size, reply = NAMES[data[0] % len(NAMES)], 1 + data[1] % 16, data[2:]
    start = time.process_time()
    whole = events_of(name, reply, len(reply))
    pieces = events_of(name, reply, size)
    took = time.process_time() - start
    assert whole == pieces, (name, size)
    position = 0
    for event in whole:
        assert event.span.start == position, (name, event)
        position = event.span.stop
    text = "".join(getattr(event, "text", "") for event in whole)
    expected = reply.decode("utf-8", "surrogateescape")
    assert position == len(expected), name
    assert len(text) == len(expected), name
    started = sum(isinstance(event, CallStartedEvent) for event in whole)
    ended = sum(isinstance(event, CallEndedEvent | CallAbortedEvent) for event in whole)
    assert started == ended, name
    assert took < 1 + len(reply) / 1_000, (name, took)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
