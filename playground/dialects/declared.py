"""`DeclaredDialect`: a dialect as data, with one syntax for rendering and parsing.

Every difference between two dialects is a field here; no method asks for a dialect's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, assert_never

from playground.base.arguments import takes
from playground.base.errors import InputFault, SyntaxFault
from playground.base.hashed import HashedOnce
from playground.dialects import prompts
from playground.dialects.base import Dialect
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.parser import SyntaxParser
from playground.parsing.rendering import no_schema, render_call, render_calls
from playground.parsing.switches import Switches
from playground.parsing.syntax import (
    Hole,
    Markers,
    Piece,
    ReasoningTags,
    Syntax,
    Template,
    compile_template,
)
from playground.parsing.values import dump_json

if TYPE_CHECKING:
    from playground.dialects.preflight import PreflightCheck
    from playground.dialects.raw_prompts import LlamaPrompt
    from playground.parsing.grammars import Grammar

# Tokens around a sequence; servers that decode with special tokens leave them in the text.
SEQUENCE_TOKENS: Final = ("<bos>", "<eos>")
# The reasoning tags of most families.
THINK: Final = ReasoningTags("<think>", "</think>")
_SEVERAL: Final = "You may call several tools in one reply."
_ONE_AT_A_TIME: Final = "Call one tool at a time."
_MOST_CALLS: Final = 10**18  # an id with a larger index does not change the next call's index
ResultRole = Literal["user", "tool", "ipython"]


@lru_cache(maxsize=512)
def _result_template(text: str) -> Template:
    """Compile a result's template; it is cached, because a long session has many results."""
    return compile_template(text, ("result",), ("name", "id"))


@dataclass(frozen=True, kw_only=True, repr=False)
class DeclaredDialect(HashedOnce, Dialect):
    """A dialect as data. docs/contributing/dialect.md declares one in four lines."""

    caches_renderings: ClassVar[bool] = True

    name: str
    """The name by which users ask for the dialect."""
    syntax: Syntax
    """The form of a call, of its parameters and of the section around calls."""
    rules: str
    """The rules for a call, in the prompt before an example of one."""
    title: str = ""
    """The name that people read."""
    result: str = "<tool_result>\n{result}\n</tool_result>"
    """The template of a tool's result."""
    result_role: ResultRole = "user"
    """The role of a message with a result."""
    answer: tuple[str, str] = ("", "")
    """The texts that the model's chat template writes before and after an assistant's text."""
    reasoning: tuple[ReasoningTags, ...] = ()
    """The tags around reasoning."""
    opens_reasoning: bool = False
    """True if the prompt ends inside reasoning, so that a reply begins as reasoning."""
    plain: tuple[ReasoningTags, ...] = ()
    """Tags around text in which no call is read."""
    stops: tuple[str, ...] = ()
    """Stop tokens: a reply ends there."""
    dropped: tuple[str, ...] = ()
    """Special tokens that servers leak into the text."""
    parallel: bool = True
    """True if one reply may hold several calls."""
    tool_docs: prompts.ToolDocs = prompts.DESCRIBED
    """The documentation of tools: `DESCRIBED` or `JSON_LINES` of `prompts.py`, or your own."""
    switches: Switches = field(default_factory=Switches)
    """The switches that decide how to read replies that can be read in two ways."""
    models: str = ""
    """The models trained on the dialect, or the programs that use it, with source and date."""
    model_names: tuple[str, ...] = ()
    """Patterns of those models' names (see `models.py`); none if no model is trained on it."""
    raw_prompt: LlamaPrompt | None = field(default=None, hash=False)
    """The raw prompt that the dialect's guide shows too, if one is known."""
    own_tool: ToolMetadata | None = field(default=None, hash=False)
    """The one tool that the model was trained to call, with an example; the guide has no other."""
    cache_policy: str = field(default="azad", hash=False)
    """The policy that places cache marks unless another is named."""
    preflight: tuple[PreflightCheck, ...] = field(default=(), hash=False)
    """Checks of the messages before a request."""
    rules_path: str | None = field(default=None, hash=False)
    """The file or folder with rules that replace `rules`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Renderings of a subclass are not cached unless it sets `caches_renderings` itself.
        cls.caches_renderings = cls.__dict__.get("caches_renderings", False)

    def __post_init__(self) -> None:
        # Fail where a wrong declaration is made, not where the dialect is first used.
        self._result_template()
        _check_model_names(self.name, self.model_names)

    __hash__ = HashedOnce.__hash__

    def is_native_toolcalling(self) -> bool:
        return False

    def create_parser(
        self, prompt_data: PromptData, prefill: str = "", switches: Switches | None = None
    ) -> SyntaxParser:
        return SyntaxParser(
            self.syntax,
            self.markers,
            switches or self.switches,
            prompt_data.tool_metadata,
            native=self.is_native_toolcalling(),
            prefill=prefill,
        )

    @cached_property
    def markers(self) -> Markers:
        """The texts that may surround calls in a reply.

        The opener of a result is one of them, because a model that writes a result after its call
        invents the result, which does not belong to the answer.
        """
        opener = self._result_template().before
        literal = next((p for p in opener if not isinstance(p, Hole) and p.strip()), "")
        return Markers(
            self.reasoning,
            self.stops,
            literal.strip(),
            self.dropped,
            self.plain,
            self.opens_reasoning,
        )

    def _result_template(self) -> Template:
        try:
            return _result_template(self.result)
        except SyntaxFault as fault:
            fault.field = "result"
            raise

    @takes(tools="list", choice="text", parallel=(bool, NoneType), reasoning=bool, accepts="text")
    def grammar(
        self,
        tools: Iterable[Any],
        choice: str = "auto",
        parallel: bool | None = None,
        reasoning: bool = False,
        accepts: str = "written",
    ) -> Grammar:
        from playground.nouns.tool_formats import read_tools
        from playground.parsing.grammars import declared_grammar

        return declared_grammar(
            self.name,
            self.syntax,
            self.markers,
            self.answer,
            read_tools(list(tools)),
            choice,
            self.parallel if parallel is None else parallel,
            reasoning,
            accepts,
        )

    # the prompt

    def format_dialect_rules(self, prompt_data: PromptData, rules_path: str | None = None) -> str:
        rules = self.rules_of_file(rules_path)
        if rules is not None:
            return rules
        tools = prompt_data.tool_metadata
        if not tools:
            return ""
        # An example of the first tool, which the model can call at once.
        tool, name = tools[0], self.syntax.name or tools[0].name
        arguments = self.syntax.sample_texts or prompts.sample_arguments(tool)
        example = self.format_example(name, arguments, tool)
        how_many = _SEVERAL if self.parallel else _ONE_AT_A_TIME
        return f"# How to call a tool\n{self.rules}\n{how_many} For example:\n\n{example}\n"

    def format_example(
        self, tool_name: str, parameters: Mapping[str, Any], tool: ToolMetadata | None = None
    ) -> str:
        call = ToolCallPart("call_1", tool_name, dict(parameters))
        return self.format_tool_call(call, [tool] if tool else [])

    # the history

    def written_ids(self, messages: Sequence[Message]) -> list[list[str]] | None:
        """Return ids for the calls and results of each message, or None without `syntax.id_form`.

        A call keeps its id if that has this form and no earlier call has it; any other call gets
        the next index of the conversation. A result gets the new id of its call: the first call
        with the same original id that has no result yet, if possible of the same tool. Without such
        a call, it gets the new id of the last result with this original id, or else keeps its own.
        """
        if not self.syntax.id_form:
            return None
        used, following, last = set[str](), 0, dict[str, str]()
        waiting: dict[str, list[tuple[str, str]]] = {}
        ids: list[list[str]] = []
        for message in messages:
            ids.append([])
            for part in message.parts:
                if not isinstance(part, ToolCallPart | ToolResultPart):
                    continue
                name, original = part.tool_name, part.tool_call_id
                calls = waiting.setdefault(original, [])
                if isinstance(part, ToolCallPart):
                    call_id, index = self.syntax.written_id(name, original, following)
                    if call_id in used:
                        call_id, index = self.syntax.id_at(name, str(following)), following
                    used.add(call_id)
                    calls.append((name, call_id))
                    following = max(following, index + 1) if index < _MOST_CALLS else following
                else:
                    for call in ([each for each in calls if each[0] == name] or calls)[:1]:
                        calls.remove(call)
                        last[original] = call[1]
                    call_id = last.get(original, original)
                ids[-1].append(call_id)
        return ids

    def format_tool_call(self, tool_call: ToolCallPart, tools: Sequence[ToolMetadata] = ()) -> str:
        call = self._call(tool_call, tools)
        return render_calls(self.syntax, [(tool_call.tool_name, call)])

    def format_tool_result(self, tool_result: ToolResultPart) -> str:
        template = self._result_template()
        holes = {"name": tool_result.tool_name, "id": tool_result.tool_call_id}
        # Not str.format, because results are full of braces, and names may hold some too.
        before = _filled(template.before, holes)
        after = _filled(template.after, holes)
        return f"{before}{result_text(tool_result)}{after}"

    def format_reply(self, parts: Sequence[Part], tools: Sequence[ToolMetadata] = ()) -> str:
        """Return an assistant's turn as the model would have written it, without reasoning."""
        text = ""
        before, after = self.answer
        # Calls are collected up to the next text, because neighbours share one section.
        calls: list[tuple[str, str]] = []
        for part in parts:
            if isinstance(part, ToolCallPart):
                calls.append((part.tool_name, self._call(part, tools, len(calls))))
            elif isinstance(part, TextPart):
                text = _on_new_line(text, render_calls(self.syntax, calls))
                calls = []
                if part.text:  # no markers of an answer around an empty text
                    text += before + part.text + after
        return _on_new_line(text, render_calls(self.syntax, calls))

    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None:
        content: str | list[dict[str, Any]]
        match item.role:
            case "assistant":
                content = self.format_reply(item.parts, tools)
            case "tool":
                content = self._results(item)
            case "system" | "user":
                content = user_content(item, self.format_tool_result)
            case _:
                assert_never(item.role)
        role = self.result_role if item.role == "tool" else item.role
        return {"role": role, "content": content} if content else None

    def _results(self, item: Message) -> str:
        """Return the results in their order, and then the message's text."""
        lines = [self.format_tool_result(result) for result in item.tool_results]
        if item.text:
            lines.append(item.text)
        return "\n".join(lines)

    def _call(self, call: ToolCallPart, tools: Sequence[ToolMetadata], index: int = 0) -> str:
        tool = next((tool for tool in tools if tool.name == call.tool_name), None)
        return render_call(
            self.syntax,
            call.tool_name,
            call.args,
            call.tool_call_id,
            tool.parameter_schema if tool else no_schema,
            index,
        )


def _check_model_names(name: str, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputFault(
                f"model name {pattern!r} is not a regular expression: {error}",
                where=f"dialect {name!r}",
                field="model_names",
                expected="a regular expression",
            ) from None


def _filled(pieces: Sequence[Piece], holes: Mapping[str, str]) -> str:
    return "".join(holes[piece.name] if isinstance(piece, Hole) else piece for piece in pieces)


def result_text(result: ToolResultPart) -> str:
    """Return a result as text: a string unchanged, anything else as JSON. An error begins with
    `Error:`."""
    text = result.result if isinstance(result.result, str) else dump_json(result.result)
    return f"Error: {text}" if result.is_error else text


def user_content(
    message: Message, format_result: Callable[[ToolResultPart], str]
) -> str | list[dict[str, Any]]:
    """Return the content of a user's or system message: a single text as a string, else a list.

    Results in a user's message, as in Anthropic's API, are written as results.
    """
    content: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case TextPart():
                content.append(_text_part(part.text))
            case ToolResultPart():
                content.append(_text_part(format_result(part)))
            case ImagePart():
                content.append(_image_part(part))
            case ReasoningPart() | ToolCallPart():
                pass  # not sent in a user's message: check_session has a finding on each
            case _:
                assert_never(part)
    # A single text is sent as a string, the simpler form.
    return str(content[0]["text"]) if len(content) == 1 and "text" in content[0] else content


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image_part(part: ImagePart) -> dict[str, Any]:
    image = {"url": part.url}
    if part.detail:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def _on_new_line(text: str, addition: str) -> str:
    """Append calls to a text, on a new line: some dialects read calls only there."""
    if not addition or not text or text.endswith("\n"):
        return text + addition
    return f"{text}\n{addition}"
