"""The AI SDK's tool-call middleware (66ca092): the client reads the calls out of a model's text.

What a stream gives is declared: a call that cannot be read is dropped there, and in a whole reply
it is text. It has no reasoning parser: tags of thinking are text, which another middleware may take
apart.
"""

from typing import Final

from playground.servers.habits import FUNCTION_IN_TAGS, JSON_IN_TAGS
from playground.servers.view import Parser, Server, View

_PROTOCOLS: Final = "ai-sdk-tool-call-middleware 66ca092 src/core/protocols/"

SERVER: Final = Server(
    name="ai-sdk-parser",
    version="66ca092",
    view=View(source=f"{_PROTOCOLS}protocol-interface.ts"),
    parsers=(
        Parser(
            "hermes",
            View(
                source=f"{_PROTOCOLS}hermes-protocol.ts, hermes-call-boundary.ts",
                reasoning="content",
                late_closers=True,
                until="closer",
                cut="dropped",
                broken="dropped",
            ),
            reads=("hermes",),
            shares=JSON_IN_TAGS,
        ),
        Parser(
            "k-exaone-2",
            View(source=f"{_PROTOCOLS}k-exaone-2-protocol.ts", reasoning="content"),
            reads=("k-exaone-2",),
            shares=FUNCTION_IN_TAGS,
        ),
        Parser(
            "qwen3coder",
            View(
                source=f"{_PROTOCOLS}qwen3coder-call-parsing.ts:38, 125-148",
                reasoning="content",
                cut="open call",
                references="unread",
                duplicates="list",
                trimmed=True,
                switches={"entities": "decoded"},
            ),
            reads=("qwen3-coder",),
            shares=FUNCTION_IN_TAGS,
        ),
        Parser(
            "morph-xml",
            View(
                source=f"{_PROTOCOLS}morph-xml-protocol.ts, morph-xml-stream-state-machine.ts",
                reasoning="content",
                until="closer",
                cut="open call",
                references="unread",
                exact=True,
            ),
            shares=("xml",),
        ),
    ),
)
