"""vLLM 0.33.0: a tool parser and a reasoning parser of its own for each family of models.

Those on its engine are in vllm_engine.py. The older ones, here, look for calls in the whole reply:
most give as content what stands before the first opener, and the whole reply where a call cannot be
read. Where they stream they may give more; what is declared is the whole reply's reading.
"""

from typing import Final

from playground.servers.view import Parser, Server, View
from playground.servers.vllm_engine import ENGINE_PARSERS

_TOOLS: Final = "vllm 0.33.0 vllm/tool_parsers/"


def _tools(file: str) -> str:
    return f"{_TOOLS}{file}"


SERVER: Final = Server(
    name="vllm",
    version="0.33.0",
    view=View(source="vllm 0.33.0 vllm/parser/abstract_parser.py: DelegatingParser"),
    parsers=(
        Parser(
            "hermes",
            View(
                source=_tools("hermes_tool_parser.py:70"),
                between="dropped",
                after="dropped",
                cut="reply",
                broken="reply",
            ),
            reads=("hermes",),
            aliases=("qwen3_json",),
        ),
        Parser(
            "granite4",
            View(source=_tools("granite4_tool_parser.py:92"), cut="reply", broken="reply"),
        ),
        Parser(
            "deepseek_v3",
            View(
                source=_tools("deepseekv3_tool_parser.py:82"),
                between="dropped",
                cut="dropped",
                unread="dropped",
            ),
            reads=("deepseek-v3",),
            aliases=("deepseekv3",),
        ),
        Parser(
            "deepseek_v31",
            View(
                source=_tools("deepseekv31_tool_parser.py:79"),
                between="dropped",
                after="dropped",
                cut="dropped",
                unread="dropped",
            ),
            reads=("deepseek-v3.1",),
            aliases=("deepseekv31",),
        ),
        Parser(
            "apertus",
            View(source=_tools("apertus_tool_parser.py:174"), between="dropped"),
            reads=("apertus",),
        ),
        Parser(
            "dots",
            View(
                source=_tools("dots_tool_parser.py:218"),
                between="dropped",
                after="dropped",
                partial="dropped",
                cut="reply if alone",
                broken="reply if alone",
                unread="reply if alone",
            ),
            reads=("dots",),
        ),
        Parser(
            "ernie45",
            View(
                source=_tools("ernie45_tool_parser.py:71"),
                between="dropped",
                after="dropped",
                cut="dropped",
                broken="reply",
            ),
        ),
        Parser(
            "functiongemma",
            View(
                source=_tools("functiongemma_tool_parser.py:85"),
                between="dropped",
                after="dropped",
                cut="reply if alone",
                broken="reply if alone",
            ),
            reads=("functiongemma",),
        ),
        Parser(
            "gigachat3",
            View(source=_tools("gigachat3_tool_parser.py:67"), broken="reply"),
            reads=("gigachat3",),
        ),
        Parser(
            "granite-20b-fc",
            View(
                source=_tools("granite_20b_fc_tool_parser.py:56"),
                between="dropped",
                after="dropped",
                cut="reply",
                broken="reply",
            ),
            reads=("granite-20b-fc",),
            aliases=("granite_20b_fc",),
        ),
        Parser(
            "hunyuan_a13b",
            View(source=_tools("hunyuan_a13b_tool_parser.py:100"), cut="reply", broken="reply"),
        ),
        Parser(
            "hy_v3",
            View(source=_tools("hy_v3_tool_parser.py:372"), between="dropped", after="dropped"),
            reads=("hunyuan",),
            aliases=("hy_v4",),
        ),
        Parser(
            "internlm",
            View(source=_tools("internlm2_tool_parser.py:212"), after="dropped"),
            reads=("internlm2",),
            aliases=("internlm2",),
        ),
        Parser(
            "jamba",
            View(
                source=_tools("jamba_tool_parser.py:83"),
                between="dropped",
                after="dropped",
                cut="reply",
                broken="reply",
            ),
            reads=("tool-calls-array",),
        ),
        Parser(
            "k2_horizon",
            View(
                source=_tools("k2_horizon_tool_parser.py:289"),
                cut="reply",
                broken="reply",
                unread="reply",
                unclosed="reply",
            ),
            reads=("k2-horizon",),
        ),
        Parser(
            "kimi_k3",
            View(
                source=_tools("kimi_k3_tool_parser.py:315"),
                between="dropped",
                after="dropped",
                cut="dropped",
                broken="dropped",
                unescaped=True,
            ),
            reads=("kimi-k3",),
        ),
        Parser(
            "lfm2", View(source=_tools("lfm2_tool_parser.py:159"), broken="reply"), reads=("lfm2",)
        ),
        Parser(
            "llama3_json",
            View(
                source=_tools("llama_tool_parser.py:76"),
                before="dropped",
                between="dropped",
                after="dropped",
                broken="reply",
                cut="reply",
            ),
            reads=("llama3-json",),
            aliases=("llama", "llama4_json"),
        ),
        Parser(
            "llama4_pythonic",
            View(
                source=_tools("llama4_pythonic_tool_parser.py:66"),
                calls="whole",
                cut="reply",
                broken="reply",
            ),
        ),
        Parser(
            "pythonic",
            View(
                source=_tools("pythonic_tool_parser.py:68"),
                calls="whole",
                cut="reply",
                broken="reply",
            ),
            reads=("pythonic",),
        ),
        Parser(
            "minicpm5",
            View(
                source=_tools("minicpm5xml_tool_parser.py:493"),
                before="dropped",
                between="dropped",
                after="dropped",
                unknown="text",
                undeclared="dropped",
            ),
            reads=("minicpm5",),
            aliases=("minicpm5xml",),
        ),
        Parser(
            "muse",
            View(
                source=_tools("muse_tool_parser.py:410"),
                reasoning="dropped",
            ),
            reads=("muse",),
            aliases=("musespark1x", "muse_glimmer"),
        ),
        Parser(
            "olmo3",
            View(
                source=_tools("olmo3_tool_parser.py:70"),
                before="dropped",
                between="dropped",
                after="dropped",
                cut="reply",
                broken="reply",
            ),
            reads=("olmo3",),
        ),
        Parser(
            "phi4_mini_json",
            View(
                source=_tools("phi4mini_tool_parser.py:54"),
                before="dropped",
                between="dropped",
                after="dropped",
                until="opener",
                cut="dropped",
                broken="dropped",
            ),
            reads=("functools",),
            aliases=("phi4mini",),
        ),
        Parser(
            "poolside_v1",
            View(
                source=_tools("poolside_v1_tool_parser.py:192"),
                between="dropped",
                after="dropped",
                cut="reply if alone",
                broken="reply if alone",
                unread="reply if alone",
            ),
        ),
        Parser(
            "step3",
            View(
                source=_tools("step3_tool_parser.py:255"),
                between="dropped",
                cut="reply",
                broken="reply if alone",
                unread="reply if alone",
                unclosed="reply",
            ),
            reads=("step3",),
        ),
        Parser(
            "xlam",
            View(source=_tools("xlam_tool_parser.py:124"), cut="reply", broken="reply"),
            reads=("xlam",),
        ),
        Parser(
            "longcat",
            View(
                source=_tools("longcat_tool_parser.py: Hermes2ProToolParser"),
                between="dropped",
                after="dropped",
                cut="reply",
                broken="reply",
            ),
            reads=("longcat",),
        ),
        *ENGINE_PARSERS,
    ),
    suite="""\
# tests/tool_parsers/
from unittest.mock import MagicMock

from vllm.tool_parsers import ToolParserManager


def test_nothing_of_a_reply_is_lost(default_tokenizer):
    parser = ToolParserManager.get_tool_parser("{{parser}}")(default_tokenizer)
    extracted = parser.extract_tool_calls({{text}}, MagicMock(tools=None))
    assert [call.function.name for call in extracted.tool_calls] == {{names}}
    assert (extracted.content or "").strip() == {{content}}
""",
)
