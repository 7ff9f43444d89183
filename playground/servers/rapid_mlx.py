"""Rapid-MLX 7222ca77: tool parsers and reasoning parsers of its own, for Apple's MLX.

Its tool parsers run on the whole reply, reasoning and all, where no reasoning parser is set: most
take the thinking away before they look for calls, and do not give it back. Where no call is found
the reply is content as it came, with whatever markers stand in it.
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
    FIRST_SECTION,
    FUNCTION_IN_TAGS,
    JSON_IN_TAGS,
    MLX_SUITE,
    OFFERED_ONLY,
    STRICT_JSON,
    TEXT_AND_CALLS,
    THINKING_TAKEN,
    UNTOUCHED,
    parser,
)
from playground.servers.view import Server, View

_TOOLS: Final = "Rapid-MLX 7222ca77 vllm_mlx/tool_parsers/"
_read = partial(parser, _TOOLS)

SERVER: Final = Server(
    name="rapid-mlx",
    version="7222ca77",
    view=View(source=f"{_TOOLS}abstract_tool_parser.py:271", orphans="kept without calls"),
    parsers=(
        _read(
            "deepseek_v3",
            "deepseek_v3_tool_parser.py:337",
            CLOSED_ONLY,
            FIRST_SECTION,
            UNTOUCHED,
            BEFORE_CALLS,
            TEXT_AND_CALLS,
            reads=("deepseek-v3",),
        ),
        _read(
            "deepseek_v31",
            "deepseekv31_tool_parser.py:184",
            CLOSED_ONLY,
            FIRST_SECTION,
            UNTOUCHED,
            BEFORE_CALLS,
            TEXT_AND_CALLS,
            reads=("deepseek-v3.1",),
        ),
        _read("gemma4", "gemma4_tool_parser.py:791", UNTOUCHED, reads=("gemma4",)),
        _read(
            "glm47",
            "glm47_tool_parser.py:83",
            THINKING_TAKEN,
            UNTOUCHED,
            CALLS_ALONE,
            OFFERED_ONLY,
            reads=("glm",),
        ),
        _read(
            "granite",
            "granite_tool_parser.py:48",
            UNTOUCHED,
            ALL_TEXT,
            STRICT_JSON,
            calls="whole",
            reads=("granite",),
        ),
        _read(
            "harmony",
            "harmony_tool_parser.py:186",
            THINKING_TAKEN,
            cut="arguments",
            texts="first",
            reads=("harmony",),
        ),
        _read(
            "hermes",
            "hermes_tool_parser.py:393",
            THINKING_TAKEN,
            UNTOUCHED,
            ALL_TEXT_ALONE,
            AS_WRITTEN,
            reads=("hermes", "qwen3-coder"),
            aliases=("nous", "qwen3_coder"),
            shares=(*JSON_IN_TAGS, *FUNCTION_IN_TAGS),
        ),
        _read(
            "hy_v3",
            "hy_v3_tool_parser.py:464; 20: a call ends with a token of its own",
            UNTOUCHED,
            CALLS_ALONE,
            unknown="text",
            ends_with=("<end_of_tool_call>", "<end_of_tool_call:opensource>"),
            reads=("hunyuan",),
            shares=("hy3",),
        ),
        _read(
            "kimi",
            "kimi_tool_parser.py:68",
            UNTOUCHED,
            BEFORE_CALLS,
            CLOSED_ONLY,
            cut="reply if alone",
            reads=("kimi-k2",),
        ),
        _read(
            "lfm",
            "lfm_tool_parser.py:434; the markers around a list stay in the text",
            UNTOUCHED,
            leaks=("<|tool_call_start|>", "<|tool_call_end|>"),
            cut="text",
            broken="reply if alone",
            reads=("lfm2",),
        ),
        _read("llama", "llama_tool_parser.py", UNTOUCHED, reads=("llama3-function", "llama3-json")),
        _read("minicpm", "minicpm_tool_parser.py:229", UNTOUCHED, reads=("minicpm5",)),
        _read(
            "minimax",
            "minimax_tool_parser.py:116",
            THINKING_TAKEN,
            UNTOUCHED,
            bare="dropped",
            reads=("minimax-m2",),
        ),
        _read(
            "mistral",
            "mistral_tool_parser.py:142; 177: arguments reach up to the next opener",
            UNTOUCHED,
            BEFORE_CALLS,
            behind="argument",
            reads=("mistral",),
        ),
        _read("muse", "muse_tool_parser.py:443", THINKING_TAKEN, reads=("muse",)),
        _read(
            "qwen3_coder_xml",
            "qwen3coder_tool_parser.py:660",
            UNTOUCHED,
            cut="text",
            broken="text",
            unknown="text",
            aliases=("qwen3coder",),
            shares=FUNCTION_IN_TAGS,
        ),
        _read(
            "seed_oss",
            "seed_oss_tool_parser.py:212",
            UNTOUCHED,
            BEFORE_CALLS,
            references="unread",
            reads=("seed-oss",),
        ),
        _read(
            "xlam",
            "xlam_tool_parser.py:99",
            UNTOUCHED,
            ALL_TEXT,
            STRICT_JSON,
            calls="marked",
            reads=("xlam",),
        ),
    ),
    suite=MLX_SUITE,
)
