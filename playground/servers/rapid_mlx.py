"""Rapid-MLX 7222ca77: tool parsers and reasoning parsers of its own, for Apple's MLX.

Its tool parsers run on the whole reply, reasoning and all, where no reasoning parser is set: most
take the thinking away before they look for calls, and do not give it back. Where no call is found
the reply is content as it came, with whatever markers stand in it.
"""

from typing import Final

from playground.servers.view import Parser, Server, View

_TOOLS: Final = "Rapid-MLX 7222ca77 vllm_mlx/tool_parsers/"

SERVER: Final = Server(
    name="rapid-mlx",
    version="7222ca77",
    view=View(source=f"{_TOOLS}abstract_tool_parser.py:271", orphans="kept without calls"),
    parsers=(
        Parser(
            "deepseek_v3",
            View(
                source=f"{_TOOLS}deepseek_v3_tool_parser.py:337",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
                cut="reply and calls",
                broken="reply and calls",
                unread="reply and calls",
            ),
            reads=("deepseek-v3",),
        ),
        Parser(
            "deepseek_v31",
            View(
                source=f"{_TOOLS}deepseekv31_tool_parser.py:184",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
                cut="reply and calls",
                broken="reply and calls",
                unread="reply and calls",
            ),
            reads=("deepseek-v3.1",),
        ),
        Parser(
            "gemma4",
            View(source=f"{_TOOLS}gemma4_tool_parser.py:791", orphans="kept without calls"),
            reads=("gemma4",),
        ),
        Parser(
            "glm47",
            View(
                source=f"{_TOOLS}glm47_tool_parser.py:83",
                reasoning="dropped with calls",
                before="dropped",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
                unknown="dropped",
            ),
            reads=("glm",),
        ),
        Parser(
            "granite",
            View(
                source=f"{_TOOLS}granite_tool_parser.py:48",
                calls="whole",
                orphans="kept without calls",
                cut="reply",
                broken="reply",
            ),
            reads=("granite",),
        ),
        Parser(
            "harmony",
            View(
                source=f"{_TOOLS}harmony_tool_parser.py:186",
                reasoning="dropped with calls",
                before="dropped",
                cut="arguments",
            ),
            reads=("harmony",),
        ),
        Parser(
            "hermes",
            View(
                source=f"{_TOOLS}hermes_tool_parser.py:393",
                reasoning="dropped with calls",
                orphans="kept without calls",
                cut="reply if alone",
                broken="reply if alone",
            ),
            reads=("hermes", "qwen3-coder"),
            aliases=("nous", "qwen3_coder"),
        ),
        Parser(
            "hy_v3",
            View(
                source=f"{_TOOLS}hy_v3_tool_parser.py:464",
                before="dropped",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
                unknown="text",
            ),
            reads=("hunyuan",),
        ),
        Parser(
            "kimi",
            View(
                source=f"{_TOOLS}kimi_tool_parser.py:68",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
            ),
            reads=("kimi-k2",),
        ),
        Parser(
            "lfm",
            View(
                source=f"{_TOOLS}lfm_tool_parser.py",
                orphans="kept without calls",
                cut="text",
                broken="reply if alone",
            ),
            reads=("lfm2",),
        ),
        Parser(
            "llama",
            View(source=f"{_TOOLS}llama_tool_parser.py", orphans="kept without calls"),
            reads=("llama3-function", "llama3-json"),
        ),
        Parser(
            "minicpm",
            View(source=f"{_TOOLS}minicpm_tool_parser.py:229", orphans="kept without calls"),
            reads=("minicpm5",),
        ),
        Parser(
            "minimax",
            View(
                source=f"{_TOOLS}minimax_tool_parser.py:116",
                reasoning="dropped with calls",
                orphans="kept without calls",
            ),
            reads=("minimax-m2",),
        ),
        Parser(
            "mistral",
            View(
                source=f"{_TOOLS}mistral_tool_parser.py:142",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
            ),
            reads=("mistral",),
        ),
        Parser(
            "muse",
            View(source=f"{_TOOLS}muse_tool_parser.py:443", reasoning="dropped with calls"),
            reads=("muse",),
        ),
        Parser(
            "qwen3_coder_xml",
            View(
                source=f"{_TOOLS}qwen3coder_tool_parser.py:660",
                orphans="kept without calls",
                unknown="text",
                cut="text",
                broken="text",
            ),
            aliases=("qwen3coder",),
        ),
        Parser(
            "seed_oss",
            View(
                source=f"{_TOOLS}seed_oss_tool_parser.py:212",
                between="dropped",
                after="dropped",
                orphans="kept without calls",
            ),
            reads=("seed-oss",),
        ),
        Parser(
            "xlam",
            View(source=f"{_TOOLS}xlam_tool_parser.py:99", orphans="kept without calls"),
            reads=("xlam",),
        ),
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
