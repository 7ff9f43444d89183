"""SGLang 0.5.23: a detector for each family of tool calls, and a reasoning parser beside it.

A call of a tool that was not offered is left out unless SGLANG_FORWARD_UNKNOWN_TOOLS is set
(base_format_detector.py:87). Most detectors take for content what stands before the first opener.
"""

from typing import Final

from playground.servers.view import Parser, Server, View

_DETECTORS: Final = "sglang 0.5.23 python/sglang/srt/function_call/"


SERVER: Final = Server(
    name="sglang",
    version="0.5.23",
    view=View(source=f"{_DETECTORS}base_format_detector.py:77-104", unknown="dropped"),
    parsers=(
        Parser(
            "deepseekv3",
            View(
                source=f"{_DETECTORS}deepseekv3_detector.py:58",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="dropped",
                broken="reply",
            ),
            reads=("deepseek-v3",),
        ),
        Parser(
            "deepseekv31",
            View(
                source=f"{_DETECTORS}deepseekv31_detector.py:60",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="dropped",
                broken="reply",
            ),
            reads=("deepseek-v3.1",),
        ),
        Parser(
            "gemma4",
            View(
                source=f"{_DETECTORS}gemma4_detector.py:278",
                between="dropped",
                after="dropped",
                cut="reply if alone",
                broken="reply",
            ),
            reads=("gemma4",),
        ),
        Parser(
            "gigachat3",
            View(source=f"{_DETECTORS}gigachat3_detector.py:50", unknown="dropped", broken="reply"),
            reads=("gigachat3",),
        ),
        Parser(
            "glm",
            View(
                source=f"{_DETECTORS}glm47_moe_detector.py:357, glm4_moe_detector.py",
                unknown="dropped",
            ),
            reads=("glm",),
            aliases=("glm4_moe", "glm45", "glm47", "glm47_moe"),
        ),
        Parser(
            "hermes",
            View(
                source=f"{_DETECTORS}hermes_detector.py:37",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="reply",
                broken="reply",
            ),
        ),
        Parser(
            "hunyuan",
            View(
                source=f"{_DETECTORS}hunyuan_detector.py:308",
                between="dropped",
                after="dropped",
                unknown="dropped",
                partial="dropped",
                cut="dropped",
            ),
            reads=("hunyuan",),
        ),
        Parser(
            "kimi_k2",
            View(
                source=f"{_DETECTORS}kimik2_detector.py:164",
                between="dropped",
                after="dropped",
                cut="dropped",
            ),
            reads=("kimi-k2",),
            aliases=("kimik2",),
        ),
        Parser(
            "lfm2",
            View(
                source=f"{_DETECTORS}lfm2_detector.py:760",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="dropped",
                broken="dropped",
            ),
            reads=("lfm2",),
        ),
        Parser(
            "llama3",
            View(
                source=f"{_DETECTORS}llama32_detector.py:53", between="dropped", unknown="dropped"
            ),
            reads=("llama3-json",),
            aliases=("llama32",),
        ),
        Parser(
            "minicpm5",
            View(
                source=f"{_DETECTORS}minicpm5_detector.py:77",
                unknown="text",
                cut="text",
                broken="text",
                unread="text",
            ),
            reads=("minicpm5",),
        ),
        Parser(
            "mistral",
            View(
                source=f"{_DETECTORS}mistral_detector.py:48", between="dropped", unknown="dropped"
            ),
            reads=("mistral",),
        ),
        Parser(
            "poolside_v1",
            View(
                source=f"{_DETECTORS}poolside_v1_detector.py:218",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="dropped",
            ),
        ),
        Parser(
            "pythonic",
            View(
                source=f"{_DETECTORS}pythonic_detector.py:53",
                between="dropped",
                unknown="dropped",
                broken="dropped",
            ),
            reads=("pythonic",),
        ),
        Parser(
            "qwen25",
            View(
                source=f"{_DETECTORS}qwen25_detector.py:47",
                between="dropped",
                after="dropped",
                unknown="dropped",
                cut="dropped",
                broken="dropped",
            ),
            reads=("hermes",),
            aliases=("qwen",),
        ),
        Parser(
            "qwen3_coder",
            View(
                source=f"{_DETECTORS}qwen3_coder_detector.py:178",
                between="dropped",
                after="dropped",
            ),
            reads=("qwen3-coder",),
        ),
    ),
    suite="""\
# test/registered/unit/function_call/
from sglang.srt.function_call.function_call_parser import FunctionCallParser


def test_nothing_of_a_reply_is_lost():
    parser = FunctionCallParser(tools=[], tool_call_parser="{{parser}}")
    content, calls = parser.parse_non_stream({{text}})
    assert [call.name for call in calls] == {{names}}
    assert content.strip() == {{content}}
""",
)
