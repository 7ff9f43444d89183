"""vllm-mlx 4b654c0: tool parsers and reasoning parsers of its own, for Apple's MLX.

As in Rapid-MLX, which came of it: a tool parser that runs alone takes thinking away and does not
give it back, and a reply without a call is content as it came.
"""

from functools import partial
from typing import Final

from playground.servers.habits import (
    ALL_TEXT,
    ALL_TEXT_ALONE,
    AS_WRITTEN,
    BEFORE_CALLS,
    CALLS_ALONE,
    CLOSED_ONLY,
    ELSE_TEXT,
    EXACT_OPENERS,
    FUNCTION_IN_TAGS,
    JSON_IN_TAGS,
    MLX_SUITE,
    OFFERED_ONLY,
    STRICT_JSON,
    THINKING_TAKEN,
    UNTOUCHED,
    parser,
)
from playground.servers.view import Server, View

_TOOLS: Final = "vllm-mlx 4b654c0 vllm_mlx/tool_parsers/"
_read = partial(parser, _TOOLS)

SERVER: Final = Server(
    name="vllm-mlx",
    version="4b654c0",
    view=View(source=f"{_TOOLS}abstract_tool_parser.py"),
    parsers=(
        _read(
            "deepseek",
            "deepseek_tool_parser.py:69",
            BEFORE_CALLS,
            CLOSED_ONLY,
            cut="reply if alone",
            reads=("deepseek-v3",),
        ),
        _read(
            "gemma4",
            "gemma4_tool_parser.py:300",
            THINKING_TAKEN,
            UNTOUCHED,
            BEFORE_CALLS,
            ALL_TEXT_ALONE,
            unread="reply if alone",
            sections="first call",
            reads=("gemma4",),
        ),
        _read(
            "glm47",
            "glm47_tool_parser.py:79",
            THINKING_TAKEN,
            CALLS_ALONE,
            OFFERED_ONLY,
            reads=("glm",),
        ),
        _read(
            "granite",
            "granite_tool_parser.py:47",
            ALL_TEXT,
            STRICT_JSON,
            calls="whole",
            reads=("granite",),
        ),
        _read(
            "harmony",
            "harmony_tool_parser.py:71; 51: a final message ends with <|return|>",
            THINKING_TAKEN,
            cut="arguments",
            texts="first",
            text_end="<|return|>",
            reads=("harmony",),
        ),
        _read(
            "hermes",
            "hermes_tool_parser.py:92",
            THINKING_TAKEN,
            STRICT_JSON,
            cut="reply if alone",
            reads=("hermes",),
            shares=JSON_IN_TAGS,
        ),
        _read(
            "kimi",
            "kimi_tool_parser.py:67",
            BEFORE_CALLS,
            CLOSED_ONLY,
            cut="reply if alone",
            reads=("kimi-k2",),
        ),
        _read(
            "llama",
            "llama_tool_parser.py:321",
            AS_WRITTEN,
            cut="text",
            broken="text",
            reads=("llama3-function", "llama3-json"),
        ),
        _read(
            "minimax",
            "minimax_tool_parser.py:78",
            THINKING_TAKEN,
            EXACT_OPENERS,
            bare="dropped",
            cut="reply if alone",
            reads=("minimax-m2",),
        ),
        _read(
            "mistral",
            "mistral_tool_parser.py:192; 238: arguments reach up to the next opener",
            BEFORE_CALLS,
            ALL_TEXT_ALONE,
            STRICT_JSON,
            behind="broken",
            reads=("mistral",),
        ),
        _read(
            "qwen3_xml",
            "qwen3_xml_tool_parser.py:1463: content is what stands outside of elements,"
            " also of those that are cut",
            THINKING_TAKEN,
            ELSE_TEXT,
            after="dropped",
            until="opener",
            reads=("qwen3-coder",),
            aliases=("qwen3_coder", "qwen3.5"),
            shares=FUNCTION_IN_TAGS,
        ),
        _read(
            "qwen",
            "qwen_tool_parser.py:23-38, 78",
            THINKING_TAKEN,
            AS_WRITTEN,
            cut="dropped",
            until="opener",
            values="guessed",
            aliases=("qwen3",),
            shares=JSON_IN_TAGS,
        ),
        _read(
            "xlam", "xlam_tool_parser.py:93", ALL_TEXT, STRICT_JSON, calls="marked", reads=("xlam",)
        ),
    ),
    suite=MLX_SUITE,
)
