"""Keys of every kind, in pieces of every size, over several wires; and look-alikes that stay.

The corpus is that of `tests/test_secrets.py`, the wires those of all APIs besides.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from . import Try

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

HOSTILE = ("://", "://a:", 'password="', "token=", "api_key=", "password is ", "password")
MOST_SECONDS = 40  # for a MB in one event; it was up to 73
SIZES = ((1, 1000), (5, 13), (40, 1000))  # characters of a delta, bytes of a read


def tries() -> Iterator[Try]:
    import test_secrets as corpus
    import test_secrets_in_streams as in_streams

    from playground.recordings.scrubbing import scrubbed

    for name, (secret, around) in corpus.KINDS.items():
        text = f"I say: {around.format(secret)} , and that is all."
        yield Try(name, corpus.gone(secret, scrubbed(text)), scrubbed(text)[:200])
        for wire, write in corpus.WIRES.items():
            for part, piece in SIZES:
                sent = b"".join(map(write, corpus.cut(text, part)))
                back = corpus.read_back(corpus.through(sent, piece))
                held = corpus.gone(secret, back) and back.startswith("I say: ")
                yield Try(f"{name} by {wire} in {part}s and {piece}s", held, back[:200])
        for wire, sent in in_streams.wires(secret, around, 5):
            kept = corpus.through(sent, 700)
            held = all(corpus.gone(secret, said) for said in in_streams.read(kept))
            yield Try(f"{name} by {wire}", held, kept[:200].decode("utf-8", "replace"))
    for text in corpus.harmless():
        clean = scrubbed(text)
        yield Try("a look-alike", clean == text, f"{text} → {clean}")
    for unit in HOSTILE:
        began = time.process_time()
        corpus.through(corpus.openai(unit * (100_000 // len(unit))), 1 << 20)
        seconds = 10 * (time.process_time() - began)
        told = f"{seconds:.1f} s a MB"
        yield Try(f"{unit!r} on and on: {told}", seconds < MOST_SECONDS, told)
