"""vLLM 0.33.0: a tool parser and a reasoning parser of its own for each family of models.

Those on its engine are in vllm_engine.py. The older ones, here, look for calls in the whole reply:
most give as content what stands before the first opener, and the whole reply where a call cannot be
read. Where they stream they may give more; what is declared is the whole reply's reading.
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
    FIRST_SECTION,
    IN_SECTION,
    JSON_IN_TAGS,
    LEFT_OUT,
    OFFERED_ONLY,
    STRICT_JSON,
    UNTOUCHED,
    parser,
)
from playground.servers.view import Server, Suite, View
from playground.servers.vllm_engine import ENGINE_PARSERS

_TOOLS: Final = "vllm 0.33.0 vllm/tool_parsers/"
_read = partial(parser, _TOOLS)


SERVER: Final = Server(
    name="vllm",
    version="0.33.0",
    view=View(source="vllm 0.33.0 vllm/parser/abstract_parser.py: DelegatingParser"),
    parsers=(
        _read(
            "hermes",
            "hermes_tool_parser.py:70",
            STRICT_JSON,
            BEFORE_CALLS,
            ALL_TEXT,
            reads=("hermes",),
            aliases=("qwen3_json",),
            shares=JSON_IN_TAGS,
        ),
        _read("granite4", "granite4_tool_parser.py:92", ALL_TEXT, AS_WRITTEN, shares=JSON_IN_TAGS),
        _read(
            "deepseek_v3",
            "deepseekv3_tool_parser.py:82",
            IN_SECTION,
            UNTOUCHED,
            CLOSED_ONLY,
            between="dropped",
            cut="dropped",
            broken="call",
            unread="dropped",
            reads=("deepseek-v3",),
            aliases=("deepseekv3",),
        ),
        _read(
            "deepseek_v31",
            "deepseekv31_tool_parser.py:79",
            IN_SECTION,
            UNTOUCHED,
            CLOSED_ONLY,
            BEFORE_CALLS,
            cut="dropped",
            broken="call",
            unread="dropped",
            reads=("deepseek-v3.1",),
            aliases=("deepseekv31",),
        ),
        _read(
            "apertus",
            "apertus_tool_parser.py:174; reasoning/__init__.py has none for it",
            UNTOUCHED,
            STRICT_JSON,
            FIRST_SECTION,
            broken="reply",
            erases=("<|tools_suffix|>",),
            reasoning="content",
            between="dropped",
            reads=("apertus",),
        ),
        _read(
            "dots",
            "dots_tool_parser.py:218",
            OFFERED_ONLY,
            CLOSED_ONLY,
            BEFORE_CALLS,
            ALL_TEXT_ALONE,
            partial="dropped",
            unread="reply if alone",
            unclosed="reply",
            reads=("dots",),
        ),
        _read(
            "ernie45",
            "ernie45_tool_parser.py:71",
            UNTOUCHED,
            AS_WRITTEN,
            BEFORE_CALLS,
            cut="dropped",
            broken="reply",
            until="closer",
            reads=("ernie45",),
            shares=JSON_IN_TAGS,
        ),
        _read(
            "functiongemma",
            "functiongemma_tool_parser.py:85; 46: its arguments are texts",
            UNTOUCHED,
            BEFORE_CALLS,
            cut="call",
            broken="call",
            values="texts",
            reads=("functiongemma",),
        ),
        _read(
            "gigachat3",
            "gigachat3_tool_parser.py:67; 28: the call goes on to the end",
            STRICT_JSON,
            calls="at the end",
            broken="reply",
            reads=("gigachat3",),
        ),
        _read(
            "granite-20b-fc",
            "granite_20b_fc_tool_parser.py:56",
            STRICT_JSON,
            BEFORE_CALLS,
            ALL_TEXT,
            reads=("granite-20b-fc",),
            aliases=("granite_20b_fc",),
        ),
        _read(
            "hunyuan_a13b",
            "hunyuan_a13b_tool_parser.py:100",
            UNTOUCHED,
            STRICT_JSON,
            BEFORE_CALLS,
            ALL_TEXT,
            FIRST_SECTION,
            unclosed="reply",
            shares=("tool-calls-array",),
        ),
        _read(
            "hy_v3",
            "hy_v3_tool_parser.py:372",
            UNTOUCHED,
            BEFORE_CALLS,
            ELSE_TEXT,
            reads=("hunyuan",),
            shares=("hy3",),
        ),
        _read(
            "internlm",
            "internlm2_tool_parser.py:212; 220: it raises an error with two calls, or broken JSON",
            UNTOUCHED,
            STRICT_JSON,
            sections="only call",
            cut="nothing",
            broken="nothing",
            unread="nothing",
            after="dropped",
            reads=("internlm2",),
            aliases=("internlm2",),
        ),
        _read(
            "jamba",
            "jamba_tool_parser.py:83",
            UNTOUCHED,
            STRICT_JSON,
            BEFORE_CALLS,
            ALL_TEXT,
            FIRST_SECTION,
            unclosed="reply",
            reads=("tool-calls-array",),
        ),
        _read(
            "k2_horizon",
            "k2_horizon_tool_parser.py:289",
            UNTOUCHED,
            ALL_TEXT,
            FIRST_SECTION,
            ELSE_TEXT,
            unread="reply",
            unclosed="reply",
            unknown="reply",
            reads=("k2-horizon",),
        ),
        _read(
            "kimi_k3",
            "kimi_k3_tool_parser.py:315; 268: content is the first response",
            CLOSED_ONLY,
            EXACT_OPENERS,
            LEFT_OUT,
            sections="first alone",
            texts="first",
            unescaped=True,
            reads=("kimi-k3",),
        ),
        _read(
            "lfm2",
            "lfm2_tool_parser.py:159; 113: what a second closer ends",
            UNTOUCHED,
            sections="echoed",
            broken="reply",
            unclosed="reply",
            reads=("lfm2",),
        ),
        _read(
            "llama3_json",
            "llama_tool_parser.py:76",
            CALLS_ALONE,
            STRICT_JSON,
            ALL_TEXT,
            reads=("llama3-json",),
            aliases=("llama", "llama4_json"),
        ),
        _read(
            "llama4_pythonic",
            "llama4_pythonic_tool_parser.py:66",
            UNTOUCHED,
            ALL_TEXT,
            unclosed="reply",
            calls="whole",
            reads=("llama4-pythonic",),
            shares=("pythonic",),
        ),
        _read(
            "pythonic", "pythonic_tool_parser.py:68", ALL_TEXT, calls="whole", reads=("pythonic",)
        ),
        _read(
            "minicpm5",
            "minicpm5xml_tool_parser.py:493",
            CALLS_ALONE,
            unknown="text",
            undeclared="dropped",
            reads=("minicpm5",),
            aliases=("minicpm5xml",),
        ),
        _read(
            "muse",
            "muse_tool_parser.py:410",
            UNTOUCHED,
            EXACT_OPENERS,
            broken="reply",
            reasoning="dropped",
            reads=("muse",),
            aliases=("musespark1x", "muse_glimmer"),
        ),
        _read(
            "olmo3",
            "olmo3_tool_parser.py:70",
            UNTOUCHED,
            CALLS_ALONE,
            ALL_TEXT,
            FIRST_SECTION,
            unclosed="reply",
            reads=("olmo3",),
        ),
        _read(
            "phi4_mini_json",
            "phi4mini_tool_parser.py:54; 60: a list ends at the first bracket",
            CALLS_ALONE,
            FIRST_SECTION,
            cut="nothing",
            broken="nothing",
            breaks_at=("]",),
            unmended=("relaxed-json", "unexpected-text"),
            unclosed="dropped",
            until="opener",
            reads=("functools",),
            aliases=("phi4mini",),
        ),
        _read(
            "poolside_v1",
            "poolside_v1_tool_parser.py:192",
            BEFORE_CALLS,
            ALL_TEXT_ALONE,
            unread="reply if alone",
            shares=("glm",),
        ),
        _read(
            "step3",
            "step3_tool_parser.py:255; 81: texts, numbers and booleans",
            UNTOUCHED,
            EXACT_OPENERS,
            FIRST_SECTION,
            values="scalars",
            between="dropped",
            cut="reply",
            broken="reply if alone",
            unread="reply if alone",
            unclosed="reply",
            reads=("step3",),
        ),
        _read("xlam", "xlam_tool_parser.py:124", ALL_TEXT, calls="marked", reads=("xlam",)),
        _read(
            "longcat",
            "longcat_tool_parser.py: Hermes2ProToolParser; reasoning/__init__.py has none for it",
            STRICT_JSON,
            BEFORE_CALLS,
            ALL_TEXT,
            reasoning="content",
            reads=("longcat",),
        ),
        *ENGINE_PARSERS,
    ),
    # vllm/tool_parsers/__init__.py:26 lists what there is: openai, cohere_command3, solar_open2;
    # K-EXAONE 2 writes what qwen3_coder reads
    also=("harmony", "cohere-action", "solar-open2", "k-exaone-2"),
    suite=Suite(
        "python",
        """\
# tests/tool_parsers/
import json
from unittest.mock import MagicMock

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionToolsParam
from vllm.tool_parsers import ToolParserManager


def test_nothing_of_a_reply_is_lost(default_tokenizer):
    tools = [ChatCompletionToolsParam.model_validate(tool) for tool in {{tools}}]
    parser = ToolParserManager.get_tool_parser("{{parser}}")(default_tokenizer, tools)
    extracted = parser.extract_tool_calls({{text}}, MagicMock(tools=tools))
    called = [call.function for call in extracted.tool_calls]
    calls = [{"name": each.name, "arguments": json.loads(each.arguments)} for each in called]
    assert calls == {{calls}}
    assert (extracted.content or "").strip() == {{content}}
""",
    ),
)
