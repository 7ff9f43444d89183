"""xgrammar's own structural tags of models beside ours: who takes, and who reads, whose replies.

`python benchmarks/against_xgrammar.py [WALKS] [--show N] [--templates FOLDER] [TAG …]` compares
each of xgrammar's tags with our dialect of the same models (`ROWS`): how many of our replies the
tag takes, how many of its random texts our parser reads, and how many of our grammar's random texts
the tag takes. With FOLDER, llama.cpp's `models/templates`, the model's own template is the judge:
what it writes is given to the tag and to our parser. Last, xgrammar compiles our grammars of all
dialects. It runs in an environment of its own, with two empty modules in place of torch and
transformers.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import json
import os
import sys
import time
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scratch import ROOT, run_beside

NEEDED: Final = (
    "click", "docstring_parser", "jinja2", "jsonschema", "llguidance==1.9.1", "numpy", "pydantic",
    "pyyaml", "regex", "rich", "apache-tvm-ffi", "typing_extensions",
)  # fmt: skip
_END: Final = 256


@dataclass(frozen=True)
class Row:
    """A tag's dialect of ours, what the prompt has already written of a thought, and a template.

    The rest is what the template has around calls: `closed` ends a thought that is none, `begun`
    stands in the prompt already, `start` stands before calls that nothing is before, `gap` behind
    a thought, `end` behind all.
    """

    dialect: str
    opened: str = "<think>"
    template: str = ""
    closed: str = ""
    begun: str = ""
    start: str = ""
    gap: str = ""
    end: str = ""


_RESPONSE: Final = "<|open|>response<|sep|><|close|>response<|sep|>"
ROWS: Final = {
    "llama": Row("llama3-json", "", "meta-llama-Llama-3.1-8B-Instruct"),
    "kimi": Row("kimi-k2", template="Kimi-K2-Thinking"),
    "kimi_k3": Row(
        "kimi-k3",
        "<|open|>think<|sep|>",
        "Kimi-K3",
        begun="<|open|>response<|sep|>",
        start=_RESPONSE,
        gap=_RESPONSE,
        end="<|close|>message<|sep|>",
    ),
    "deepseek_r1": Row("deepseek-v3", template="deepseek-ai-DeepSeek-R1-Distill-Qwen-32B"),
    "deepseek_v3_1": Row("deepseek-v3.1", template="deepseek-ai-DeepSeek-V3.1"),
    "deepseek_v3_2": Row("deepseek-dsml", template="deepseek-ai-DeepSeek-V3.2", start="\n\n"),
    "deepseek_v4": Row("deepseek-dsml", template="deepseek-ai-DeepSeek-V4", start="\n\n"),
    "deepseek_v4_1": Row("deepseek-v4.1", start="\n\n"),
    "qwen_3": Row("hermes", template="Qwen-Qwen3-0.6B", gap="\n\n"),
    "qwen_3_5": Row("qwen3-coder", template="Qwen3.5-4B", gap="\n\n"),
    "qwen_3_coder": Row("qwen3-coder", template="Qwen3-Coder", gap="\n\n"),
    "mimo": Row("mimo", ""),
    "harmony": Row("harmony", "", "openai-gpt-oss-120b"),
    "minimax": Row(
        "minimax-m2", template="MiniMax-M2", closed="\n</think>\n\n\n\n", start="\n", gap="\n\n\n"
    ),
    "minimax_m3": Row("minimax-m3", "<mm:think>", "MiniMax-M3"),
    "glm_4_7": Row("glm", template="GLM-4.7-Flash"),
    "cohere": Row("cohere-action", "<|START_THINKING|>"),
    "exaone": Row("exaone-4", gap="\n\n"),
}


def stand_in() -> None:
    """Put modules in place of `torch` and `transformers`, in which every name is an empty class."""
    importlib.import_module("tvm_ffi")  # it looks for torch itself, and has to come first

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
    """xgrammar's matcher with a vocabulary of bytes; it has the methods of llguidance's that a walk
    calls."""

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
        """Return how many of the bytes, from the first on, the grammar allows."""
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
    """A structural tag, compiled. Raises xgrammar's error if it does not compile."""

    def __init__(self, tag: Any) -> None:
        xgrammar = importlib.import_module("xgrammar")
        bytes_and_end = [*(bytes([byte]) for byte in range(256)), b"<end>"]
        vocabulary = xgrammar.TokenizerInfo(bytes_and_end, stop_token_ids=[_END])
        compiler = xgrammar.GrammarCompiler(vocabulary, max_threads=1, cache_enabled=False)
        self.compiled = compiler.compile_structural_tag(tag)

    def _matcher(self) -> Matcher:
        xgrammar = importlib.import_module("xgrammar")
        return Matcher(xgrammar.GrammarMatcher(self.compiled))

    def accepts(self, text: str) -> bool:
        """Return True if the grammar takes the text, complete as it is."""
        matcher = self._matcher()
        return matcher.consume_tokens(list(text.encode())) and matcher.is_accepting()

    def taken(self, text: str) -> str:
        """Return the longest beginning of a text that the grammar allows."""
        data = text.encode()
        return data[: self._matcher().validate_tokens(list(data))].decode(errors="replace")

    def walk(self, seed: int, baits: Sequence[bytes]) -> str | None:
        """Return a random text that the tag allows; None if it does not end in time, or ends within
        a character."""
        import random

        from grammar_walk import Walk

        try:
            return Walk(self._matcher(), random.Random(seed), baits).text()
        except UnicodeDecodeError:
            return None


# the replies


@dataclass(frozen=True)
class Asked:
    """A question to both sides: the choice of tools, True if a thought comes first, and the parts
    of the reply."""

    name: str
    choice: str
    reasoning: bool
    parts: tuple[Any, ...]


def asked() -> Iterator[Asked]:
    from grammar_walk import right_calls

    from playground.dialects import get_dialect
    from playground.nouns.messages import ReasoningPart, TextPart

    small, nested, other, _ = right_calls(get_dialect("hermes"))  # type: ignore[arg-type]
    yield Asked("one call", "required", False, (small,))
    yield Asked("nested", "required", False, (nested,))
    yield Asked("two calls", "required", False, (small, other))
    yield Asked("named tool", "weather", False, (other,))
    yield Asked("text", "auto", False, (TextPart("No need."),))
    yield Asked("text, call", "auto", False, (TextPart("Let me look."), small))
    yield Asked("thought, call", "auto", True, (ReasoningPart("A file."), small))


def tag_of(name: str, choice: str, reasoning: bool) -> Any:
    """Return xgrammar's structural tag `name` for our tools."""
    from grammar_walk import TOOLS

    functions = [{"name": tool.name, "parameters": _unmeasured(tool)} for tool in TOOLS]
    tools = [{"type": "function", "function": function} for function in functions]
    named = {"type": "function", "function": {"name": choice}}
    wanted = choice if choice in ("auto", "required") else named
    tag: Any = importlib.import_module("xgrammar").get_model_structural_tag
    return tag(name, tools, wanted, reasoning=reasoning)


def _unmeasured(tool: Any) -> dict[str, Any]:
    """Return a tool's schema without lengths of texts, which the tag of MiniMax M3 refuses."""
    text: str = json.dumps(tool.input_schema).replace(', "minLength": 1', "")
    return dict(json.loads(text))


def written(dialect: Any, parts: Sequence[Any], row: Row) -> Iterator[str]:
    """Yield a reply of ours twice, after what the prompt has already written of its thought: as it
    is, and with the template's words around it."""
    from grammar_walk import TOOLS

    from playground.nouns.messages import ReasoningPart, ToolCallPart

    text = str(dialect.format_reply(parts, TOOLS))
    thought = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
    told = [part for part in parts if not isinstance(part, ReasoningPart)]
    lead, start = row.closed, row.start
    head = ""
    if thought and dialect.reasoning:
        tags = dialect.reasoning[0]
        head, lead, start = f"{'' if row.opened else tags.open}{thought}{tags.close}", "", row.gap
    yield head + text
    framed = (start if isinstance(told[0], ToolCallPart) else "") + text + row.end
    yield head + lead + (framed if head else framed.removeprefix(row.begun))


def ours_taken(name: str, row: Row, shown: bool) -> list[str]:
    """Return for each of our replies `yes` if the tag takes it, `framed` if it does so only with
    the template's words around it, or `no`."""
    from playground.dialects import get_dialect

    found = []
    for each in asked():
        engine = TagEngine(tag_of(name, each.choice, each.reasoning))
        texts = list(written(get_dialect(row.dialect), each.parts, row))
        taken = [engine.accepts(text) for text in texts]
        found.append("yes" if taken[0] else "framed" if any(taken) else "no")
        if shown and found[-1] != "yes":
            print(f"  {name}, {each.name}: {found[-1]}, {engine.taken(texts[1])!r} of {texts}")
    return found


# the judge


def templates_own(folder: Path, row: Row, parts: Sequence[Any]) -> str:
    """Return a reply as the model's template writes it in a history; "" if the template leaves out
    a part of it."""
    from grammar_walk import TOOLS

    from playground.base.errors import InputFault
    from playground.dialects.raw_prompts.chat_template import ChatTemplate

    source = (folder / f"{row.template}.jinja").read_text(encoding="utf-8")
    template = ChatTemplate(source, _TOKENS, row.template, mutable=True)
    functions = [{"name": tool.name, "parameters": tool.input_schema} for tool in TOOLS]
    tools = [{"type": "function", "function": function} for function in functions]
    user = {"role": "user", "content": "Go on."}
    for content, given in (("", tools), (None, tools), ("", None), (None, None)):
        turn, words = _turn(parts, content)
        try:
            prompt = template.render([user], given)
            whole = template.render([user, turn], given, add_generation_prompt=False)
        except InputFault:
            continue
        begun = os.path.commonprefix([prompt, whole])
        if "<" in begun and ">" not in begun[begun.rindex("<") :]:
            begun = begun[: begun.rindex("<")]  # both go on with a tag, each with its own
        reply = whole[len(begun) :]
        if all(word in reply for word in words):
            return reply
    return ""


_TOKENS: Final = {"bos_token": "<s>", "eos_token": "</s>"}


def _turn(parts: Sequence[Any], content: str | None) -> tuple[dict[str, Any], list[str]]:
    """Return the parts as a message in OpenAI's form, and the words that its rendering must
    hold."""
    from playground.nouns.messages import ReasoningPart, TextPart, ToolCallPart

    turn: dict[str, Any] = {"role": "assistant", "content": content}
    calls: list[dict[str, Any]] = []
    words = []
    for part in parts:
        match part:
            case TextPart(text):
                turn["content"] = text
                words.append(text)
            case ReasoningPart(text):
                turn |= {"reasoning_content": text, "reasoning": text, "thinking": text}
                words.append(text)
            case ToolCallPart():
                number = len(calls)
                function = {"name": part.tool_name, "arguments": dict(part.args)}
                id_ = f"functions.{part.tool_name}:{number}"
                calls.append({"id": id_, "type": "function", "function": function})
                words.append(part.tool_name)
    return ({**turn, "tool_calls": calls} if calls else turn), words


def template_taken(name: str, row: Row, each: Asked, folder: Path, shown: bool) -> str:
    """Return `yes` or `no`: whether the tag takes the template's reply from any place at which the
    prompt may end, up to any place at which the end of the turn may begin. Return `–` if the
    template does not write the reply."""
    reply = templates_own(folder, row, each.parts)
    if not reply:
        return "–"
    engine = TagEngine(tag_of(name, each.choice, each.reasoning))
    marks = [at for at in range(len(reply) + 1) if reply[at : at + 1] in ("<", "[", "]", "\n", "")]
    first = [0, *(at for at in range(1, len(reply) // 2 + 1) if reply[at - 1] in ">\n ")]
    texts = (reply[start:stop] for start in first for stop in reversed(marks) if stop > start)
    taken = any(map(engine.accepts, texts))
    if shown and not taken:
        print(f"  {name}, {each.name}: no, of the template's {reply!r}")
    return "yes" if taken else "no"


# walks


def walks_read(name: str, row: Row, walks: int, shown: int) -> str:
    """Return how many of a tag's random texts with a call our parser reads, of how many. Text after
    the call is allowed."""
    from grammar_walk import baits_of, fault, right_calls

    from playground.dialects import get_dialect
    from playground.dialects.declared import DeclaredDialect

    dialect = get_dialect(row.dialect)
    assert isinstance(dialect, DeclaredDialect)
    engine, tools = TagEngine(tag_of(name, "required", False)), _tools()
    calls = [dialect.format_tool_call(call, tools) for call in right_calls(dialect)]
    texts = [engine.walk(seed, baits_of(dialect, calls)) for seed in range(walks)]
    ended = [text for text in texts if text is not None]
    wrong = {text: fault(dialect, text, tools, required=True) for text in ended}
    bad = [text for text, why in wrong.items() if why and not why.startswith("text beside")]
    for text in bad[:shown]:
        print(f"  {name}: {wrong[text]}: {text!r}")
    return f"{len(ended) - len(bad)}/{len(ended)}"


def ours_walked(name: str, row: Row, walks: int, shown: int) -> str:
    """Return how many of our grammar's random texts the tag takes, as they are or with the
    template's words around them, of how many."""
    from grammar_walk import Engine, baits_of, right_calls

    from playground.dialects import get_dialect
    from playground.dialects.declared import DeclaredDialect

    dialect = get_dialect(row.dialect)
    assert isinstance(dialect, DeclaredDialect)
    tools = _tools()
    engine = Engine(dialect.grammar(tools, choice="required").lark)
    tag = TagEngine(tag_of(name, "required", False))
    calls = [dialect.format_tool_call(call, tools) for call in right_calls(dialect)]
    texts = [engine.walk(seed, baits_of(dialect, calls)) for seed in range(walks)]
    ended = [text for text in texts if text is not None]
    frame = row.closed + row.start
    bad = [
        text
        for text in ended
        if not tag.accepts(text)
        and not tag.accepts((frame + text + row.end).removeprefix(row.begun))
    ]
    for text in bad[:shown]:
        print(f"  {name}: refused, taken {tag.taken(frame + text)!r} of {text!r}")
    return f"{len(ended) - len(bad)}/{len(ended)}"


def _tools() -> list[Any]:
    """Return our tools with the schemas that the tags were given."""
    from grammar_walk import TOOLS

    from playground.nouns.tools import ToolMetadata

    return [ToolMetadata(name=tool.name, input_schema=_unmeasured(tool)) for tool in TOOLS]


# our grammars in their engine


def compiled(walks: int, shown: int) -> list[list[object]]:
    """Compile each dialect's structural tag in xgrammar. Return a row for each: milliseconds, our
    replies that it takes, wrong ones that it refuses, and random texts of it that our parser reads.
    """
    from grammar_walk import Tried

    from playground.dialects import as_dialects
    from playground.dialects.declared import DeclaredDialect

    rows: list[list[object]] = []
    for dialect in as_dialects([]):
        if not isinstance(dialect, DeclaredDialect):
            continue
        tried = Tried.of(dialect)
        begun = time.perf_counter()
        engine = TagEngine(tried.grammar.structural_tag)
        took = time.perf_counter() - begun
        ended = [text for text in tried.walks(engine, range(walks)) if text is not None]
        bad = tried.faults(ended)
        for each in bad[:shown]:
            print(f"  {each}")
        read = f"{len(ended) - len(bad)}/{len(ended)}"
        rows.append([dialect.name, f"{took * 1000:.0f}", *tried.taken(engine), read])
    return rows


def _print_table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> None:
    print(f"| {' | '.join(map(str, head))} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def main() -> None:
    run_beside(*NEEDED, without_dependencies=("xgrammar==0.2.8",))
    sys.path.insert(0, str(ROOT / "tests"))
    stand_in()
    asking = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asking.add_argument("walks", type=int, nargs="?", default=60)
    asking.add_argument("tags", nargs="*")
    asking.add_argument("--show", type=int, default=0)
    asking.add_argument("--templates", type=Path)
    given = asking.parse_args()
    rows = []
    for name, row in ROWS.items():
        if given.tags and name not in given.tags:
            continue
        ours = ours_taken(name, row, bool(given.show))
        judged = ["–"] * len(ours)
        if given.templates and row.template:
            judged = [
                template_taken(name, row, each, given.templates, bool(given.show))
                for each in asked()
            ]
        cells = [f"{one}, {two}" for one, two in zip(ours, judged, strict=True)]
        read = walks_read(name, row, given.walks, given.show)
        walked = ours_walked(name, row, given.walks, given.show)
        rows.append([name, row.dialect, *cells, read, walked])
        print(rows[-1], flush=True)
    names = [each.name for each in asked()]
    _print_table(["tag", "dialect", *names, "theirs read", "ours taken at random"], rows)
    if not given.tags:
        head = ["dialect", "compile ms", "ours taken", "wrong refused", "walks read"]
        _print_table(head, compiled(given.walks, given.show))


if __name__ == "__main__":
    main()
