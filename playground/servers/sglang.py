"""SGLang 0.5.23: a detector for each family of tool calls, and a reasoning parser beside it.

A call of a tool that was not offered is left out unless SGLANG_FORWARD_UNKNOWN_TOOLS is set
(base_format_detector.py:87). Most detectors take for content what stands before the first opener.
"""

from functools import partial
from typing import Final

from playground.servers.habits import (
    ALL_TEXT,
    AS_WRITTEN,
    BEFORE_CALLS,
    CLOSED_ONLY,
    ELSE_TEXT,
    FUNCTION_IN_TAGS,
    IN_SECTION,
    JSON_IN_TAGS,
    LEFT_OUT,
    NO_WAY_BACK,
    OFFERED_ONLY,
    STRICT_JSON,
    UNTOUCHED,
    parser,
)
from playground.servers.view import Server, Suite, View

_DETECTORS: Final = "sglang 0.5.23 python/sglang/srt/function_call/"
_read = partial(parser, _DETECTORS)


SERVER: Final = Server(
    name="sglang",
    version="0.5.23",
    view=View(source=f"{_DETECTORS}base_format_detector.py:77-104", unknown="dropped"),
    parsers=(
        _read(
            "deepseekv3",
            "deepseekv3_detector.py:58",
            IN_SECTION,
            BEFORE_CALLS,
            OFFERED_ONLY,
            AS_WRITTEN,
            UNTOUCHED,
            cut="dropped",
            broken="reply",
            reads=("deepseek-v3",),
        ),
        _read(
            "deepseekv31",
            "deepseekv31_detector.py:60",
            IN_SECTION,
            BEFORE_CALLS,
            OFFERED_ONLY,
            AS_WRITTEN,
            UNTOUCHED,
            cut="dropped",
            broken="reply",
            reads=("deepseek-v3.1",),
        ),
        _read(
            "gemma4",
            "gemma4_detector.py:278",
            BEFORE_CALLS,
            CLOSED_ONLY,
            UNTOUCHED,
            cut="reply if alone",
            broken="reply",
            reads=("gemma4",),
        ),
        _read(
            "gigachat3",
            "gigachat3_detector.py:50",
            OFFERED_ONLY,
            STRICT_JSON,
            calls="at the end",
            broken="reply",
            reads=("gigachat3",),
        ),
        _read(
            "glm",
            "glm47_moe_detector.py:357, glm4_moe_detector.py",
            NO_WAY_BACK,
            OFFERED_ONLY,
            reads=("glm",),
            aliases=("glm4_moe", "glm45", "glm47", "glm47_moe"),
        ),
        _read(
            "hermes",
            "hermes_detector.py:37",
            BEFORE_CALLS,
            ALL_TEXT,
            STRICT_JSON,
            OFFERED_ONLY,
            shares=JSON_IN_TAGS,
        ),
        _read(
            "hunyuan",
            "hunyuan_detector.py:308",
            IN_SECTION,
            NO_WAY_BACK,
            CLOSED_ONLY,
            ELSE_TEXT,
            OFFERED_ONLY,
            partial="dropped",
            cut="dropped",
            reads=("hunyuan",),
            shares=("hy3",),
        ),
        _read(
            "kimi_k2",
            "kimik2_detector.py:164",
            IN_SECTION,
            NO_WAY_BACK,
            CLOSED_ONLY,
            broken="call",
            cut="dropped",
            reads=("kimi-k2",),
            aliases=("kimik2",),
        ),
        _read(
            "lfm2",
            "lfm2_detector.py:760",
            NO_WAY_BACK,
            LEFT_OUT,
            OFFERED_ONLY,
            unclosed="dropped",
            reads=("lfm2",),
        ),
        _read(
            "llama3",
            "llama32_detector.py:53",
            OFFERED_ONLY,
            between="dropped",
            reads=("llama3-json",),
            aliases=("llama32",),
        ),
        _read(
            "minicpm5",
            "minicpm5_detector.py:77",
            cut="text",
            broken="text",
            unread="text",
            unknown="text",
            reads=("minicpm5",),
        ),
        _read(
            "mistral",
            "mistral_detector.py:48",
            OFFERED_ONLY,
            STRICT_JSON,
            between="dropped",
            until="opener",
            reads=("mistral",),
        ),
        _read(
            "poolside_v1",
            "poolside_v1_detector.py:218",
            NO_WAY_BACK,
            OFFERED_ONLY,
            cut="dropped",
            shares=("glm",),
        ),
        _read(
            "pythonic",
            "pythonic_detector.py:53",
            OFFERED_ONLY,
            UNTOUCHED,
            between="dropped",
            cut="reply",
            unclosed="reply",
            broken="dropped",
            reads=("pythonic",),
            shares=("llama4-pythonic",),
        ),
        _read(
            "qwen25",
            "qwen25_detector.py:47",
            AS_WRITTEN,
            BEFORE_CALLS,
            LEFT_OUT,
            OFFERED_ONLY,
            reads=("hermes",),
            aliases=("qwen",),
            shares=("ernie45",),
        ),
        _read(
            "qwen3_coder",
            "qwen3_coder_detector.py:178",
            IN_SECTION,
            NO_WAY_BACK,
            cut="open call",
            reads=("qwen3-coder",),
            shares=FUNCTION_IN_TAGS,
        ),
    ),
    # python/sglang/srt/function_call/function_call_parser.py:64 (00828e5) lists what there is;
    # ERNIE 4.5 and K-EXAONE 2 write what qwen25 and qwen3_coder read
    also=(
        "apertus",
        "cohere-action",
        "deepseek-dsml",
        "dots",
        "ernie45",
        "gigachat3.5",
        "harmony",
        "inkling",
        "internlm2",
        "k-exaone-2",
        "k2-horizon",
        "kimi-k3",
        "llama4-pythonic",
        "minimax-m2",
        "minimax-m3",
        "muse",
        "step3",
    ),
    suite=Suite(
        "python",
        """\
# test/registered/unit/function_call/
import json

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser


def test_nothing_of_a_reply_is_lost():
    tools = [Tool.model_validate(tool) for tool in {{tools}}]
    parser = FunctionCallParser(tools=tools, tool_call_parser="{{parser}}")
    content, called = parser.parse_non_stream({{text}})
    calls = [{"name": each.name, "arguments": json.loads(each.parameters)} for each in called]
    assert calls == {{calls}}
    assert content.strip() == {{content}}
""",
    ),
)
