"""llama.cpp (in llama-cpp-python 0.3.36): a grammar of the model's own template reads the reply.

Its parsers give back all that the grammar names: text, reasoning and calls. A reply that does not
fit is an error, or is read as far as it goes while it streams.
"""

from typing import Final

from playground.servers.view import Server, View

SERVER: Final = Server(
    name="llama.cpp",
    version="llama-cpp-python 0.3.36",
    view=View(source="llama.cpp common/chat.cpp, common/chat-peg-parser.cpp"),
)
