"""xgrammar's own structural tags of models beside ours: who takes, and who reads, whose replies.

`python benchmarks/against_xgrammar.py [WALKS] [--show N] [--templates FOLDER] [TAG …]`. For each of
xgrammar's tags our dialect of the same models (`ROWS`): replies of ours that the tag takes, what it
takes at random as our parser reads it, and our grammar's random texts as the tag takes them. With
FOLDER, llama.cpp's `models/templates`, the model's own template is the judge: what it writes is
given to the tag, and to our parser. Last, our grammars of all dialects as xgrammar compiles them.
xgrammar runs in an environment of its own, without torch: two empty modules stand in.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import json
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scratch import run_beside

NEEDED: Final = (
    "click", "docstring_parser", "jinja2", "jsonschema", "llguidance==1.9.1", "numpy", "pydantic",
    "pyyaml", "rich", "apache-tvm-ffi", "typing_extensions",
)  # fmt: skip
_END: Final = 256


@dataclass(frozen=True)
class Row:
    """A tag's dialect of ours, what the prompt has already written of a thought, and a template."""

    dialect: str
    opened: str = "<think>"
    template: str = ""


ROWS: Final = {
    "llama": Row("llama3-json", "", "meta-llama-Llama-3.1-8B-Instruct"),
    "kimi": Row("kimi-k2", template="moonshotai-Kimi-K2"),
    "kimi_k3": Row("kimi-k3", "<|open|>think<|sep|>", "Kimi-K3"),
    "deepseek_r1": Row("deepseek-v3", template="llama-cpp-deepseek-r1"),
    "deepseek_v3_1": Row("deepseek-v3.1", template="deepseek-ai-DeepSeek-V3.1"),
    "deepseek_v3_2": Row("deepseek-dsml", template="deepseek-ai-DeepSeek-V3.2"),
    "deepseek_v4": Row("deepseek-dsml", template="deepseek-ai-DeepSeek-V4"),
    "deepseek_v4_1": Row("deepseek-dsml"),
    "qwen_3": Row("hermes", template="Qwen-Qwen3-0.6B"),
    "qwen_3_5": Row("qwen3-coder", template="Qwen3.5-4B"),
    "qwen_3_coder": Row("qwen3-coder", template="Qwen3-Coder"),
    "mimo": Row("qwen3-coder", ""),
    "harmony": Row("harmony", "", "openai-gpt-oss-120b"),
    "minimax": Row("minimax-m2", template="MiniMax-M2"),
    "minimax_m3": Row("minimax-m3", "<mm:think>", "MiniMax-M3"),
    "glm_4_7": Row("glm", template="GLM-4.7-Flash"),
    "cohere": Row("cohere-action", "<|START_THINKING|>"),
    "exaone": Row("hermes"),
}


def stand_in() -> None:
    """`torch` and `transformers` as modules in which every name is an empty class."""
    import tvm_ffi  # noqa: F401  (it looks for torch itself, and has to come first)

    class Empty:
        def __init__(self, *given: Any, **named: Any) -> None: ...

        def __call__(self, *given: Any, **named: Any) -> Empty:
            return self

        def __getattr__(self, name: str) -> Any:
            return Empty()

    for name in ("torch", "transformers"):
        module: Any = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.__getattr__ = lambda key: Empty() if key == "int32" else type(key, (Empty,), {})
        sys.modules[name] = module


class Matcher:
    """xgrammar's matcher of a vocabulary of bytes, with the verbs of llguidance's for a walk."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def deep_copy(self) -> Matcher:
        return Matcher(self.inside.fork())

    def is_accepting(self) -> bool:
        return bool(self._allowed()[_END])

    def is_stopped(self) -> bool:
        return not self._allowed()[:_END].any()

    def compute_ff_bytes(self) -> bytes:
        return str(self.inside.find_jump_forward_string()).encode()

    def validate_tokens(self, data: list[int]) -> int:
        """How many of the bytes may come."""
        trial = self.inside.fork()
        return next((at for at, byte in enumerate(data) if not trial.accept_token(byte)), len(data))

    def compute_bitmask(self) -> bytes:
        import numpy

        return bytes(numpy.packbits(self._allowed(), bitorder="little"))

    def consume_tokens(self, data: list[int]) -> bool:
        return all(self.inside.accept_token(byte) for byte in data)

    def _allowed(self) -> Any:
        import numpy

        mask = numpy.full((1, _END // 32 + 1), -1, dtype=numpy.int32)
        self.inside.fill_next_token_bitmask(mask)
        return numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")[: _END + 1]


class TagEngine:
    """A structural tag, compiled. Raises what xgrammar raises where it does not compile."""

    def __init__(self, tag: Any) -> None:
        import xgrammar

        bytes_and_end = [*(bytes([byte]) for byte in range(256)), b"<end>"]
        vocabulary = xgrammar.TokenizerInfo(bytes_and_end, stop_token_ids=[_END])
        compiler = xgrammar.GrammarCompiler(vocabulary, max_threads=1, cache_enabled=False)
        self.compiled = compiler.compile_structural_tag(tag)

    def _matcher(self) -> Matcher:
        import xgrammar

        return Matcher(xgrammar.GrammarMatcher(self.compiled))

    def accepts(self, text: str) -> bool:
        """Whether the text is whole."""
        matcher = self._matcher()
        return matcher.consume_tokens(list(text.encode())) and matcher.is_accepting()

    def taken(self, text: str) -> str:
        """As much of a text as may come."""
        data = text.encode()
        return data[: self._matcher().validate_tokens(list(data))].decode(errors="replace")

    def walk(self, seed: int, baits: Sequence[bytes]) -> str | None:
        """A text that the tag allows; None where it does not end in time, or in half a letter."""
        import random

        from grammar_walk import Walk

        try:
            return Walk(self._matcher(), random.Random(seed), baits).text()
        except UnicodeDecodeError:
            return None


# the replies


@dataclass(frozen=True)
class Asked:
    """What is asked of both: a choice, whether a thought comes first, and the reply's parts."""

    name: str
    choice: str
    reasoning: bool
    parts: tuple[Any, ...]


def asked() -> Iterator[Asked]:
    from grammar_walk import right_calls

    from playground.dialects import get_dialect
    from playground.messages import ReasoningPart, TextPart

    small, nested, other, _ = right_calls(get_dialect("hermes"))  # type: ignore[arg-type]
    yield Asked("one call", "required", False, (small,))
    yield Asked("nested", "required", False, (nested,))
    yield Asked("two calls", "required", False, (small, other))
    yield Asked("named tool", "weather", False, (other,))
    yield Asked("text", "auto", False, (TextPart("No need."),))
    yield Asked("text, call", "auto", False, (TextPart("Let me look."), small))
    yield Asked("thought, call", "auto", True, (ReasoningPart("A file."), small))


def tag_of(name: str, choice: str, reasoning: bool) -> Any:
    """xgrammar's tag of our tools."""
    from grammar_walk import TOOLS
    from xgrammar import get_model_structural_tag

    functions = [{"name": tool.name, "parameters": _unmeasured(tool)} for tool in TOOLS]
    tools = [{"type": "function", "function": function} for function in functions]
    named = {"type": "function", "function": {"name": choice}}
    wanted = choice if choice in ("auto", "required") else named
    return get_model_structural_tag(name, tools, wanted, reasoning=reasoning)


def _unmeasured(tool: Any) -> dict[str, Any]:
    """A tool's schema without a text's length, which the tag of MiniMax M3 refuses."""
    text: str = json.dumps(tool.input_schema).replace(', "minLength": 1', "")
    return dict(json.loads(text))


def written(dialect: Any, parts: Sequence[Any], opened: str) -> str:
    """A reply of ours, behind what the prompt has written of its thought."""
    from grammar_walk import TOOLS

    from playground.messages import ReasoningPart

    thoughts = [part.text for part in parts if isinstance(part, ReasoningPart)]
    text = str(dialect.format_reply(parts, TOOLS))
    if thoughts and dialect.reasoning:
        tags = dialect.reasoning[0]
        text = f"{'' if opened else tags.open}{thoughts[0]}{tags.close}{text}"
    return text


def ours_taken(name: str, row: Row, shown: bool) -> list[bool]:
    """For each reply whether the tag takes ours."""
    from playground.dialects import get_dialect

    found = []
    for each in asked():
        engine = TagEngine(tag_of(name, each.choice, each.reasoning))
        text = written(get_dialect(row.dialect), each.parts, row.opened)
        found.append(engine.accepts(text))
        if shown and not found[-1]:
            print(f"  {name}, {each.name}: taken {engine.taken(text)!r} of {text!r}")
    return found


# the judge


def templates_own(folder: Path, row: Row, parts: Sequence[Any]) -> list[str]:
    """A reply as the model's template has it in a history: whole, and without the ends of turn."""
    from grammar_walk import TOOLS

    from playground.dialects import get_dialect
    from playground.errors import InputFault
    from playground.raw_prompts.asking import common_start
    from playground.raw_prompts.chat_template import ChatTemplate

    template = ChatTemplate(
        (folder / f"{row.template}.jinja").read_text(), _TOKENS, row.template, mutable=True
    )
    functions = [{"name": tool.name, "parameters": tool.input_schema} for tool in TOOLS]
    tools = [{"type": "function", "function": function} for function in functions]
    user = {"role": "user", "content": "Go on."}
    for content in ("", None):
        turn = _turn(parts, content)
        try:
            prompt = template.render([user], tools)
            whole = template.render([user, turn], tools, add_generation_prompt=False)
        except InputFault:
            continue
        reply = whole[len(common_start(prompt, whole)) :]
        if any(call["function"]["name"] in reply for call in turn.get("tool_calls", [])):
            break
    else:
        return []
    found = [reply]
    for stop in (*get_dialect(row.dialect).stops, *_ENDS):  # type: ignore[attr-defined]
        if found[-1].rstrip().endswith(stop):
            found.append(found[-1].rstrip().removesuffix(stop))
    return found


_TOKENS: Final = {"bos_token": "<s>", "eos_token": "</s>"}
_ENDS: Final = ("</s>", "<|end_of_msg|>", "[e~[", "<|end|>", "<|call|>")


def _turn(parts: Sequence[Any], content: str | None) -> dict[str, Any]:
    """The parts as a message of OpenAI's form."""
    from playground.messages import ReasoningPart, TextPart, ToolCallPart

    turn: dict[str, Any] = {"role": "assistant", "content": content}
    calls = []
    for part in parts:
        match part:
            case TextPart(text):
                turn["content"] = text
            case ReasoningPart(text):
                turn |= {"reasoning_content": text, "reasoning": text, "thinking": text}
            case ToolCallPart():
                number = len(calls)
                function = {"name": part.tool_name, "arguments": dict(part.args)}
                id_ = f"functions.{part.tool_name}:{number}"
                calls.append({"id": id_, "type": "function", "function": function})
    return {**turn, "tool_calls": calls} if calls else turn


def templates_taken(name: str, row: Row, folder: Path, shown: bool) -> list[bool]:
    """For each reply whether the tag takes the template's."""
    found = []
    for each in asked():
        engine = TagEngine(tag_of(name, each.choice, each.reasoning))
        texts = templates_own(folder, row, each.parts)
        found.append(any(map(engine.accepts, texts)))
        if shown and not found[-1]:
            print(
                f"  {name}, {each.name}: template's {[engine.taken(t) for t in texts]} of {texts}"
            )
    return found
