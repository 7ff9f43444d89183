"""SGLang 0.5.23: a detector for each family of tool calls, and a reasoning parser beside it.

A call of a tool that was not offered is left out unless SGLANG_FORWARD_UNKNOWN_TOOLS is set
(base_format_detector.py:87). Most detectors take for content what stands before the first opener.
"""

from typing import Final

from playground.servers.sglang_detectors import DETECTORS, FILES
from playground.servers.view import Server, Suite, View

SERVER: Final = Server(
    name="sglang",
    version="0.5.23",
    view=View(source=f"{FILES}base_format_detector.py:77-104", unknown="dropped"),
    parsers=DETECTORS,
    # python/sglang/srt/function_call/function_call_parser.py:64 (00828e5) lists what there is;
    # ERNIE 4.5 and K-EXAONE 2 write what qwen25 and qwen3_coder read
    also=(
        "cohere-action",
        "ernie45",
        "gigachat3.5",
        "harmony",
        "internlm2",
        "k-exaone-2",
        "llama4-pythonic",
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
