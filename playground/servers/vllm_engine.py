"""vLLM's parsers on its engine (vllm/parser/engine): a table of states for each family of models.

The table walks stream and whole reply alike. Text in a section is in no state that gives content; a
table without a way back to content loses all that follows; and at the end of the stream an open
call ends, delivered as far as it was read.
"""

from typing import Final

from playground.servers.view import Parser, View

_ENGINE: Final = "vllm 0.33.0 vllm/parser/"

ENGINE_PARSERS: Final = (
    Parser(
        "deepseek_v32",
        View(
            source=f"{_ENGINE}deepseek_v32.py, deepseek_v4.py:170-229: no state leads back",
            between="dropped",
            after="dropped",
            until="opener",
            cut="call",
        ),
        reads=("deepseek-dsml",),
        aliases=("deepseekv32",),
    ),
    Parser(
        "deepseek_v4",
        View(
            source=f"{_ENGINE}deepseek_v4.py:170-229: no state leads back to content",
            between="dropped",
            after="dropped",
            until="opener",
            cut="call",
        ),
        aliases=("deepseekv4", "deepseek_v41"),
    ),
    Parser(
        "gemma4",
        View(
            source=f"{_ENGINE}gemma4.py:381-446; values without a schema stay text:"
            " engine/parser_engine.py _fix_arg_types",
            values="text",
            cut="call",
            unread="call",
        ),
        reads=("gemma4",),
    ),
    Parser(
        "glm47",
        View(
            source=f"{_ENGINE}glm47_moe.py:200-231: validate_tool_names",
            unknown="dropped",
            cut="call",
        ),
        reads=("glm",),
        aliases=("glm45", "glm47_moe", "ling3"),
    ),
    Parser(
        "granite",
        View(
            source=f"{_ENGINE}granite.py:52-68: arguments lead to no content",
            between="dropped",
            after="dropped",
            cut="call",
        ),
        reads=("granite",),
    ),
    Parser(
        "kimi_k2",
        View(
            source=f"{_ENGINE}kimi_k2.py:103-138: a section's end leads to no content; 49: the id",
            indexed=True,
            between="dropped",
            after="dropped",
            until="opener",
            cut="call",
        ),
        reads=("kimi-k2",),
    ),
    Parser(
        "minimax_m2",
        View(
            source=f"{_ENGINE}minimax_m2.py:170-246: validate_tool_names",
            between="dropped",
            unknown="dropped",
            cut="call",
        ),
        reads=("minimax-m2",),
    ),
    Parser(
        "minimax_m2_append_think",
        View(
            source="vllm 0.33.0 vllm/reasoning/minimax_m2_reasoning_parser.py:"
            " MiniMaxM2AppendThinkReasoningParser, line 58",
            reasoning="content after opener",
            opens="<think>",
            between="dropped",
            unknown="dropped",
        ),
        aliases=("minimax_m2_append",),
    ),
    Parser("minimax_m3", View(source=f"{_ENGINE}minimax_m3.py", cut="call"), reads=("minimax-m3",)),
    Parser(
        "mistral",
        View(
            source=f"{_ENGINE}mistral.py:243-262: arguments lead to no content",
            between="dropped",
            after="dropped",
            until="opener",
            cut="call",
            unread="call",
        ),
        reads=("mistral",),
    ),
    Parser(
        "plamo3",
        View(source=f"{_ENGINE}plamo3.py:67-152", between="dropped", cut="call"),
        reads=("plamo3",),
    ),
    Parser(
        "qwen3_coder",
        View(source=f"{_ENGINE}qwen3.py:185-280", cut="call"),
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
    ),
    Parser(
        "seed_oss",
        View(source=f"{_ENGINE}seed_oss.py, qwen3.py:185-280", cut="call"),
        reads=("seed-oss",),
    ),
    Parser("step3p5", View(source=f"{_ENGINE}step3p5.py, qwen3.py:185-280", cut="call")),
    Parser(
        "inkling",
        View(source=f"{_ENGINE}inkling.py:134-215", header="<|content_", cut="call"),
        reads=("inkling",),
    ),
)
