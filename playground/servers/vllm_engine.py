"""vLLM's parsers on its engine (vllm/parser/engine): a table of states for each family of models.

The table walks stream and whole reply alike. Text in a section is in no state that gives content; a
table without a way back to content loses all that follows; and at the end of the stream an open
call ends, delivered as far as it was read.
"""

from functools import partial
from typing import Final

from playground.servers.habits import (
    BEFORE_CALLS,
    CUT_DELIVERED,
    FUNCTION_IN_TAGS,
    NO_WAY_BACK,
    OFFERED_ONLY,
    parser,
)

_read = partial(parser, "vllm 0.33.0 vllm/")

ENGINE_PARSERS: Final = (
    _read(
        "deepseek_v32",
        "parser/deepseek_v32.py, deepseek_v4.py:170-229: no state leads back",
        NO_WAY_BACK,
        CUT_DELIVERED,
        reads=("deepseek-dsml",),
        aliases=("deepseekv32",),
    ),
    _read(
        "deepseek_v4",
        "parser/deepseek_v4.py:170-229: no state leads back to content",
        NO_WAY_BACK,
        CUT_DELIVERED,
        aliases=("deepseekv4", "deepseek_v41"),
        shares=("deepseek-dsml", "deepseek-v4.1"),
    ),
    _read(
        "gemma4",
        "parser/gemma4.py:381-446; values without a schema stay text:"
        " engine/parser_engine.py _fix_arg_types",
        CUT_DELIVERED,
        unread="call",
        values="text",
        reads=("gemma4",),
    ),
    _read(
        "glm47",
        "parser/glm47_moe.py:200-231: validate_tool_names",
        CUT_DELIVERED,
        OFFERED_ONLY,
        reads=("glm",),
        aliases=("glm45", "glm47_moe", "ling3"),
    ),
    _read(
        "granite",
        "parser/granite.py:52-68: arguments lead to no content",
        BEFORE_CALLS,
        CUT_DELIVERED,
        reads=("granite",),
    ),
    _read(
        "kimi_k2",
        "parser/kimi_k2.py:103-138: a section's end leads to no content; 49: the id",
        NO_WAY_BACK,
        CUT_DELIVERED,
        indexed=True,
        reads=("kimi-k2",),
    ),
    _read(
        "minimax_m2",
        "parser/minimax_m2.py:170-246: validate_tool_names",
        CUT_DELIVERED,
        OFFERED_ONLY,
        between="dropped",
        reads=("minimax-m2",),
    ),
    _read(
        "minimax_m2_append_think",
        "reasoning/minimax_m2_reasoning_parser.py: MiniMaxM2AppendThinkReasoningParser, line 58",
        OFFERED_ONLY,
        reasoning="content after opener",
        opens="<think>",
        between="dropped",
        aliases=("minimax_m2_append",),
        shares=("minimax-m2",),
    ),
    _read("minimax_m3", "parser/minimax_m3.py", CUT_DELIVERED, reads=("minimax-m3",)),
    _read(
        "mistral",
        "parser/mistral.py:243-262: arguments lead to no content",
        NO_WAY_BACK,
        CUT_DELIVERED,
        unread="call",
        reads=("mistral",),
    ),
    _read("plamo3", "parser/plamo3.py:67-152", CUT_DELIVERED, between="dropped", reads=("plamo3",)),
    _read(
        "qwen3_coder",
        "parser/qwen3.py:185-280",
        CUT_DELIVERED,
        reads=("qwen3-coder",),
        aliases=(
            "granite_thinking",
            "mimo",
            "nemotron_v3",
            "parser_engine",
            "qwen3",
            "qwen3_xml",
            "step5",
        ),
        shares=FUNCTION_IN_TAGS,
    ),
    _read("seed_oss", "parser/seed_oss.py, qwen3.py:185-280", CUT_DELIVERED, reads=("seed-oss",)),
    _read(
        "step3p5",
        "parser/step3p5.py, qwen3.py:185-280",
        CUT_DELIVERED,
        shares=FUNCTION_IN_TAGS,
    ),
    _read(
        "inkling",
        "parser/inkling.py:134-215",
        CUT_DELIVERED,
        header="<|content_",
        reads=("inkling",),
    ),
)
