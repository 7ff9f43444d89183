"""The servers' own parsers, run from their sources: what each hands over of a reply.

Their packages are installed without their dependencies. A parser does not use torch, but imports
modules that import it: `Absent` replaces modules that only name types, or build what is not used
here. A tokenizer is asked only for the ids of control tokens; `Vocabulary` has each such token.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import re
import signal
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

from playground.dialects import get_dialect
from playground.nouns.messages import ToolCallPart

NEEDED: Final = ("click", "docstring_parser", "jinja2", "pydantic", "pyyaml", "regex", "rich")
BESIDE: Final[dict[str, tuple[str, ...]]] = {
    "vllm": ("partial_json_parser", "openai", "ijson", "json_repair"),
    "sglang": ("orjson", "partial_json_parser", "json_repair"),
    "rapid-mlx": ("json_repair", "packaging"),
    "vllm-mlx": ("json_repair",),
}


RELEASED: Final = {"rapid-mlx": "0.16.10", "vllm-mlx": "0.6.0"}
"""Where the declared version is a commit: the release that stands nearest behind it."""


@dataclass(frozen=True)
class Handed:
    """A server's answer to its client; `calls` are names with arguments, as JSON or as text."""

    content: str
    reasoning: str
    calls: list[tuple[str, Any]]
    raises: str = ""
    texts: Sequence[str] = ()  # the arguments of each call as they stand, of our reading


Read = Callable[[str, bool], Handed]  # a reply, and whether a parser of reasoning runs too


def in_time(read: Callable[[], Handed]) -> Handed:
    """Return the result of `read`, or an error: the one that it raises, or that it goes on for more
    than a CPU second."""

    def stop(number: int, frame: Any) -> None:
        raise TimeoutError("goes on and on")

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1)
    try:
        return read()
    except Exception as error:  # theirs may raise anything, which a client sees as an error
        return Handed("", "", [], f"{type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def arguments(text: Any) -> Any:
    """Return arguments as values if they are JSON, or else unchanged."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


# modules that are not there


class _AnyName(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing

    def __or__(cls, other: Any) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return cls

    def __getitem__(cls, key: Any) -> Any:
        return cls


class Nothing(metaclass=_AnyName):
    """A class in place of any class or function of a module that is absent."""

    def __init__(self, *given: Any, **named: Any) -> None: ...

    def __init_subclass__(cls, **named: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *given: Any, **named: Any) -> Any:
        return Nothing()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import hook for modules of these names and below; every member of such a module is a class
    of its own."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if any(name == each or name.startswith(f"{each}.") for each in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return types.ModuleType(spec.name)

    def exec_module(self, module: Any) -> None:
        any_member(module)


def any_member(module: Any) -> None:
    """Let a module give a class of its own for each name that it lacks."""
    members: dict[str, Any] = {}

    def member(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return members.setdefault(name, _AnyName(name, (Nothing,), {}))

    module.__getattr__ = member


def bare(name: str) -> Path:
    """Import a package as a mere folder of sources, and return the folder, because its own
    `__init__` would load the server."""
    found = importlib.util.find_spec(name)
    assert found is not None and found.origin is not None  # run_beside has installed it
    folder = Path(found.origin).parent
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    return folder


class Vocabulary(dict[str, int]):
    """A vocabulary that has every token that it is asked for, and lists only these."""

    def __contains__(self, token: object) -> bool:
        return True

    def __missing__(self, token: str) -> int:
        self[token] = 1000 + len(self)
        return self[token]

    def get(self, token: str, default: Any = None) -> Any:
        return self[token]


SUFFIXES: Final = {"hy3": ":opensource"}  # of its tokens


class Tokenizer:
    """A tokenizer whose tokens are the control tokens that were asked for, and every other
    character by itself."""

    all_special_tokens: Final[Sequence[str]] = ()
    all_special_ids: Final[Sequence[int]] = ()

    def __init__(self, dialect: str) -> None:
        self.tokens = Vocabulary()
        call = ToolCallPart("call_1", "f", {"a": 1})
        for token in re.findall(r"</?[^<>\s/]+>", get_dialect(dialect).format_tool_call(call)):
            self.tokens[token]  # those that it writes: some look for a suffix in the list
        self.init_kwargs = {"token_suffix": SUFFIXES.get(dialect, "")}

    def get_vocab(self) -> Vocabulary:
        return self.tokens

    def convert_tokens_to_ids(self, token: str) -> int:
        return self.tokens[token]

    def pieces(self, text: str) -> list[str]:
        known = sorted((t for t in self.tokens if len(t) > 1), key=len, reverse=True)
        return re.findall("|".join([*map(re.escape, known), "(?s:.)"]), text)

    def encode(self, text: str, *given: Any, **named: Any) -> list[int]:
        return [self.tokens[piece] for piece in self.pieces(text)]

    def decode(self, ids: Sequence[int], *given: Any, **named: Any) -> str:
        by_id = {number: token for token, number in self.tokens.items()}
        return "".join(by_id[number] for number in ids)


# vLLM

VLLM_ABSENT: Final = (
    "torch",
    "transformers",
    "xgrammar",
    "mistral_common",
    "openai_harmony",
    "prometheus_client",
    "fastapi",
    "vllm.config",
    "vllm.entrypoints.openai.responses",
    "vllm.logger",
    "vllm.logprobs",
    "vllm.outputs",
    "vllm.renderers",
    "vllm.sampling_params",
    "vllm.tokenizers",
)
VLLM_REASONING: Final = {  # by our dialect: vLLM's parser of reasoning
    "hermes": "qwen3",
    "qwen3-coder": "qwen3",
    "kimi-k2": "kimi_k2",
    "kimi-k3": "kimi_k3",
    "glm": "glm45",
    "deepseek-v3": "deepseek_r1",
    "deepseek-v3.1": "deepseek_v3",
    "deepseek-dsml": "deepseek_v4",
    "deepseek-v4.1": "deepseek_v41",
    "step3": "step3",
    "mimo": "mimo",
    "hunyuan": "hy_v3",
    "hy3": "hy_v3",
    "minimax-m2": "minimax_m2",
    "minimax-m3": "minimax_m3",
    "mistral": "mistral",
    "granite": "granite",
    "gemma4": "gemma4",
    "inkling": "inkling",
    "muse": "muse",
    "k2-horizon": "k2_horizon",
    "cohere-action": "cohere_command4",
    "seed-oss": "seed_oss",
    "plamo3": "plamo3",
    "olmo3": "olmo3",
    "ernie45": "ernie45",
    "exaone-4": "deepseek_r1",
    "dots": "deepseek_r1",
    "internlm2": "deepseek_r1",
    "k-exaone-2": "qwen3",
    "minicpm5": "qwen3",
    "lfm2": "qwen3",
    "tool-calls-array": "deepseek_r1",
}
BOTH: Final = ("muse", "inkling")  # whose parser of reasoning reads messages
MISTRAL_TOKENS: Final = {
    "tool_calls": "[TOOL_CALLS]",
    "args": "[ARGS]",
    "begin_think": "[THINK]",
    "end_think": "[/THINK]",
}
ENGINE: Final = {"minimax_m2_append_think": "minimax_m2"}  # a reasoning parser's name of ours


def vllm(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
    """Return a reader that reads as DelegatingParser.parse does: by the parser of reasoning first,
    then by that of tools."""
    _load_vllm()
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionToolsParam
    from vllm.parser.parser_manager import ParserManager

    offered = [ChatCompletionToolsParam.model_validate(tool) for tool in tools]
    request = types.SimpleNamespace(
        tools=offered,
        tool_choice="auto",
        skip_special_tokens=False,
        chat_template_kwargs={},
        include_reasoning=True,
        messages=[],
    )

    def read(text: str, reasoned: bool) -> Handed:
        thinks = VLLM_REASONING.get(dialect) if reasoned or dialect in BOTH else None
        if parser == "minimax_m2_append_think":
            thinks = parser
        kind = ParserManager.get_parser(ENGINE.get(parser, parser), thinks, enable_auto_tools=True)
        tokenizer = Tokenizer(dialect)
        asked = {"thinking": True, "enable_thinking": True, "reasoning_effort": "high"}
        made = kind(tokenizer, offered, **({"chat_template_kwargs": asked} if thinks else {}))
        reasoning, content, calls = made.parse(
            text,
            request,
            enable_auto_tools=True,
            model_output_token_ids=tokenizer.encode(text),
        )
        called = [(call.name, arguments(call.arguments)) for call in calls or ()]
        return Handed(content or "", reasoning or "", called)

    return read


def _load_vllm() -> None:
    if "vllm" in sys.modules:
        return
    bare("vllm")
    sys.meta_path.insert(0, Absent(*VLLM_ABSENT))
    utils: Any = importlib.import_module("vllm.renderers.chat_utils")
    utils.make_tool_call_id = lambda *given, **named: "call_1"
    utils.get_tool_call_id_type = lambda *given: "random"
    base: Any = importlib.import_module("mistral_common.tokens.tokenizers.base")
    named: Any = Enum
    base.SpecialTokens = named("SpecialTokens", MISTRAL_TOKENS)
    logging.disable(logging.CRITICAL)


# SGLang


QWEN_THINKS: Final = ("exaone-4", "ernie45", "lfm2", "minicpm5", "k-exaone-2", "internlm2", "xlam")
SGLANG_ABSENT: Final = (
    "torch",
    "xgrammar",
    "zmq",
    "msgspec",
    "sglang.srt.utils",
    "sglang.srt.function_call.beam_detector",
    "sglang.srt.function_call.response_template_structural_tag",
)


class Switched:
    """The server's switches in the environment, all off."""

    def __getattr__(self, name: str) -> Any:
        return types.SimpleNamespace(get=lambda: False)


def sglang(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
    """Return a reader that reads as serving_chat does: reasoning first, then calls if the text has
    a marker of calls. If the parser raises an error, the text stays as it is."""
    from against_sglang import REASONING, stand_in

    if "sglang" not in sys.modules:
        stand_in()
        protocol, environ = (
            sys.modules[f"sglang.srt.{name}"] for name in ("entrypoints.openai.protocol", "environ")
        )
        for module in (protocol, environ, sys.modules["sglang.srt.parser.response_template"]):
            any_member(module)
        environ.envs = Switched()  # type: ignore[attr-defined]
        for name in ("sglang.srt.entrypoints", "sglang.srt.entrypoints.openai"):
            sys.modules[name].__path__ = []
        sys.meta_path.insert(0, Absent(*SGLANG_ABSENT))
        logging.disable(logging.CRITICAL)
    protocol = sys.modules["sglang.srt.entrypoints.openai.protocol"]
    calls_of = importlib.import_module("sglang.srt.function_call.function_call_parser")
    thoughts = importlib.import_module("sglang.srt.parser.reasoning_parser").ReasoningParser
    offered = [protocol.Tool.model_validate(tool) for tool in tools]
    thinking = dict.fromkeys(QWEN_THINKS, "qwen3") | REASONING

    def read(text: str, reasoned: bool) -> Handed:
        reasoning, content = "", text
        if (reasoned or dialect in ("inkling", "kimi-k3")) and dialect in thinking:
            reasoning, content = thoughts(thinking[dialect]).parse_non_stream(text)
        made = calls_of.FunctionCallParser(offered, parser, tokenizer=Tokenizer(dialect))
        called: Iterable[Any] = ()
        if made.has_tool_call(content or ""):
            try:
                content, called = made.parse_non_stream(content)
            except Exception:  # as the server does, which logs it
                called = ()
        given = [(call.name, arguments(call.parameters)) for call in called]
        return Handed(content or "", reasoning or "", given)

    return read


# Rapid-MLX and vllm-mlx


MLX_ABSENT: Final = ("transformers", "mlx", "mlx_lm", "jsonschema", "huggingface_hub", "psutil")


def _mlx(package: str) -> Callable[[str, str, list[dict[str, Any]]], Read]:
    def make(parser: str, dialect: str, tools: list[dict[str, Any]]) -> Read:
        """Return a reader that uses the parser of tools alone."""
        if package not in sys.modules:
            bare(package)
            sys.meta_path.insert(0, Absent(*MLX_ABSENT))
            logging.disable(logging.CRITICAL)
        manager = importlib.import_module(f"{package}.tool_parsers").ToolParserManager

        def read(text: str, reasoned: bool) -> Handed:
            made = manager.get_tool_parser(parser)(Tokenizer(dialect))
            found = made.extract_tool_calls(text, {"tools": tools})
            called = [(call["name"], arguments(call["arguments"])) for call in found.tool_calls]
            return Handed(found.content or "", "", called)

        return read

    return make


SERVERS: Final[dict[str, Callable[[str, str, list[dict[str, Any]]], Read]]] = {
    "vllm": vllm,
    "sglang": sglang,
    "rapid-mlx": _mlx("rapid_mlx"),
    "vllm-mlx": _mlx("vllm_mlx"),
}
