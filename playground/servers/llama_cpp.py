"""llama.cpp (in llama-cpp-python 0.3.36): a parser that is made of the model's own template.

Most of these must take the whole reply: text behind a call, a tool that was not offered or JSON
that needs mending ends the request with an error, "does not match the expected format". Those of
some models end where something does not fit, and what stands behind is lost. A call that the end
cuts off is handed over as far as it was read. While it generates, a grammar keeps the model from
most of it: the views tell what a reply comes to that was written otherwise.
"""

from functools import partial
from typing import Final

from playground.servers.habits import STRICT_JSON, Habit, parser
from playground.servers.view import Server, View

_COMMON: Final = "llama-cpp-python 0.3.36 vendor/llama.cpp/common/"
_read = partial(parser, _COMMON)

_WHOLE: Final[Habit] = {
    **dict.fromkeys(("between", "after", "broken", "unknown"), "error"),
    **STRICT_JSON,
    "cut": "open call",
}
"""The reply fits to its end (`p.end()`), or it is an error."""
_PART: Final[Habit] = {
    **dict.fromkeys(("between", "after", "broken", "unknown"), "ends"),
    **STRICT_JSON,
    "until": "opener",
    "cut": "open call",
}
"""What fits is handed over."""

SERVER: Final = Server(
    name="llama.cpp",
    version="llama-cpp-python 0.3.36",
    view=View(source=f"{_COMMON}chat.cpp:1447-1522"),
    parsers=(
        _read(
            "auto-parser",
            "chat-auto-parser-generator.cpp:125-356, chat.cpp:1470-1498",
            _WHOLE,
            reads=("hermes", "glm", "apertus", "hy3"),
        ),
        _read("kimi-k2", "parsers/kimi-k2.cpp:63", _WHOLE, reads=("kimi-k2",)),
        _read("deepseek", "parsers/deepseek.cpp:150", _WHOLE, reads=("deepseek-v3.1",)),
        _read("lfm2", "parsers/lfm2.cpp:69", _WHOLE, reads=("lfm2",)),
        _read("minimax-m3", "parsers/minimax-m3.cpp:61", _WHOLE, reads=("minimax-m3",)),
        _read("minicpm5", "parsers/minicpm5.cpp:110", _WHOLE, reads=("minicpm5",)),
        _read("qwen3-coder", "parsers/qwen3-coder.cpp", _PART, reads=("qwen3-coder",)),
        _read("ministral3", "parsers/ministral3.cpp", _PART, reads=("mistral",)),
        _read("gemma4", "parsers/gemma4.cpp", _PART, reads=("gemma4",)),
    ),
)
