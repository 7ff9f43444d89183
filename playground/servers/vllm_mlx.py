"""vllm-mlx 4b654c0: tool parsers and reasoning parsers of its own, for Apple's MLX.

As in Rapid-MLX, which came of it: a tool parser that runs alone takes thinking away and does not
give it back, and a reply without a call is content as it came.
"""

from typing import Final

from playground.servers.view import Parser, Server, View

_TOOLS: Final = "vllm-mlx 4b654c0 vllm_mlx/tool_parsers/"

SERVER: Final = Server(
    name="vllm-mlx",
    version="4b654c0",
    view=View(source=f"{_TOOLS}abstract_tool_parser.py"),
    parsers=(
        Parser(
            "deepseek",
            View(source=f"{_TOOLS}deepseek_tool_parser.py:69", between="dropped", after="dropped"),
            reads=("deepseek-v3",),
        ),
        Parser(
            "gemma4",
            View(
                source=f"{_TOOLS}gemma4_tool_parser.py:300",
                reasoning="dropped with calls",
                between="dropped",
                after="dropped",
                cut="reply if alone",
                broken="reply if alone",
                unread="reply if alone",
                orphans="kept without calls",
            ),
            reads=("gemma4",),
        ),
        Parser(
            "glm47",
            View(
                source=f"{_TOOLS}glm47_tool_parser.py:79",
                reasoning="dropped with calls",
                before="dropped",
                between="dropped",
                after="dropped",
                unknown="dropped",
            ),
            reads=("glm",),
        ),
        Parser(
            "granite",
            View(
                source=f"{_TOOLS}granite_tool_parser.py:47",
                calls="whole",
                cut="reply",
                broken="reply",
            ),
            reads=("granite",),
        ),
        Parser(
            "harmony",
            View(
                source=f"{_TOOLS}harmony_tool_parser.py:71",
                reasoning="dropped with calls",
                before="dropped",
                cut="arguments",
            ),
            reads=("harmony",),
        ),
        Parser(
            "hermes",
            View(source=f"{_TOOLS}hermes_tool_parser.py:92", reasoning="dropped with calls"),
            reads=("hermes",),
        ),
        Parser(
            "kimi",
            View(source=f"{_TOOLS}kimi_tool_parser.py:67", between="dropped", after="dropped"),
            reads=("kimi-k2",),
        ),
        Parser(
            "llama",
            View(source=f"{_TOOLS}llama_tool_parser.py:321"),
            reads=("llama3-function", "llama3-json"),
        ),
        Parser(
            "minimax",
            View(source=f"{_TOOLS}minimax_tool_parser.py:78", reasoning="dropped with calls"),
            reads=("minimax-m2",),
        ),
        Parser(
            "mistral",
            View(
                source=f"{_TOOLS}mistral_tool_parser.py:192",
                between="dropped",
                after="dropped",
                cut="reply if alone",
                broken="reply if alone",
            ),
            reads=("mistral",),
        ),
        Parser(
            "qwen3_xml",
            View(
                source=f"{_TOOLS}qwen3_xml_tool_parser.py:1463: content is what stands outside of"
                " elements, also of those that are cut",
                reasoning="dropped with calls",
                until="opener",
            ),
            reads=("qwen3-coder",),
            aliases=("qwen3_coder", "qwen3.5"),
        ),
        Parser(
            "qwen",
            View(
                source=f"{_TOOLS}qwen_tool_parser.py:23-38, 78",
                reasoning="dropped with calls",
                until="opener",
                values="guessed",
            ),
            aliases=("qwen3",),
        ),
        Parser("xlam", View(source=f"{_TOOLS}xlam_tool_parser.py:93"), reads=("xlam",)),
    ),
    suite="""\
# tests/
from vllm_mlx.tool_parsers import ToolParserManager


def test_nothing_of_a_reply_is_lost():
    parser = ToolParserManager.get_tool_parser("{{parser}}")()
    extracted = parser.extract_tool_calls({{text}})
    assert [call["name"] for call in extracted.tool_calls] == {{names}}
    assert (extracted.content or "").strip() == {{content}}
""",
)
