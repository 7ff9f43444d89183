"""Rewrite requests as they would be sent with deferred tools.

The first prompt has nothing of a deferred tool, or only its name and description. The tool is
loaded into the history just before its first call. A request is rewritten from its own history
alone, so it repeats what earlier requests loaded, and loads its tools again after a compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from playground.nouns.wire_bodies import MARKS, referenced_tools

Message = dict[str, Any]
Loading = Literal["by the client", "by search"]
SEARCH: Final = "tool_search_tool_bm25"  # Anthropic's tool for a search by words
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_OWN_TYPES: Final = (None, "custom", "function")  # tools of all other types are a provider's own


@dataclass(frozen=True, slots=True)
class ToolCut:
    """The tools that stay in the prefix. The others are deferred, and loaded `found` at a time."""

    keep: frozenset[str]
    loading: Loading
    found: int = 1


@dataclass(frozen=True, slots=True)
class RewrittenRequest:
    """A request with deferred tools, and the `messages` that are sent.

    If the model searches for a tool, `searched` are the messages with that search, which the server
    reads in a second round; otherwise None.
    """

    head: dict[str, Any]  # the body without its messages
    messages: list[Message]
    searched: list[Message] | None = None
    query: Message | None = None  # the model's query for its search


def named_tools(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return, by name, the tools of a body that can be deferred: all but a provider's own."""
    tools = body.get("tools")
    objects = [each for each in tools if isinstance(each, dict)] if isinstance(tools, list) else []
    return {_name(each): each for each in objects if each.get("type") in _OWN_TYPES and _name(each)}


def calls_of(message: Message) -> Iterator[str]:
    """Yield the names of the tools that a message calls, in Anthropic's or OpenAI's forms."""
    if message.get("type") == "function_call":
        yield str(message.get("name"))
    content, calls = message.get("content"), message.get("tool_calls")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_use":
            yield str(part.get("name"))
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            yield str(call["function"].get("name"))


@dataclass
class Deferral:
    """A rewriter of consecutive requests under one cut.

    `part_in_prompt` says which part of a deferred tool is in the first prompt, by the rule
    `deferred_tools`: "nothing" (Anthropic's form) or "name and description" (OpenAI's).
    """

    cut: ToolCut
    part_in_prompt: str
    # id of a message and the tools to load before it -> the message, and what is sent in its place
    _written: dict[tuple[int, tuple[str, ...]], tuple[Message, list[Message]]] = field(
        default_factory=dict
    )
    # id of a message -> the message, the tools that it calls, and those that it refers to
    _seen: dict[int, tuple[Message, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    _listed: tuple[Any, list[dict[str, Any]]] = (None, [])  # the last tools: original, rewritten

    @property
    def _is_openai(self) -> bool:
        return self.part_in_prompt == "name and description"

    def rewrite(
        self, body: dict[str, Any], messages: Sequence[Message], answer: Message | None
    ) -> RewrittenRequest:
        """Rewrite a request; `answer` is the message that answers it, None if it is not known."""
        tools = named_tools(body)
        deferred = {name: tool for name, tool in tools.items() if name not in self.cut.keep}
        if self._listed[0] is not body.get("tools"):
            self._listed = body.get("tools"), list(self._tools(body, deferred))
        head = {**body, "tools": self._listed[1]}
        rewritten, loaded = list[Message](), set[str]()
        for message in messages:
            rewritten += self._message(message, deferred, loaded)
        if answer is None or not (names := self._to_load(answer, deferred, loaded)):
            return RewrittenRequest(head, rewritten)
        extra = self._loads(names, deferred)
        if self.cut.loading == "by the client":
            return RewrittenRequest(head, [*rewritten, *extra])
        if self._is_openai:
            return RewrittenRequest(head, rewritten, [*rewritten, *extra], extra[0])
        content = [*_split(answer)[0], *extra]
        searched = [*rewritten, {"role": "assistant", "content": content}]
        return RewrittenRequest(head, rewritten, searched, extra[0])

    def _tools(
        self, body: dict[str, Any], deferred: dict[str, dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Yield the tools as they are sent. A deferred tool's mark moves to the last tool that is
        not deferred, unless a tool that is not deferred has a mark already."""
        search = {"type": "tool_search"} if self._is_openai else _ANTHROPIC_SEARCH
        tools = body.get("tools") or ()
        present = any(isinstance(each, dict) and _is_search(each) for each in tools)
        first = [search] if self.cut.loading == "by search" and deferred and not present else []
        kept = [self._form(each) for each in tools if _name(each) not in deferred]
        marks = [_mark(each) for each in tools if _name(each) in deferred]
        prefix_tools = [*first, *kept]
        if prefix_tools and any(marks) and not any(map(_mark, prefix_tools)):
            prefix_tools[-1] = {**prefix_tools[-1], **next(filter(None, marks))}
        yield from prefix_tools
        for tool in deferred.values():
            yield {**_unmarked(self._form(tool, named=True)), "defer_loading": True}

    def _form(self, tool: dict[str, Any], named: bool = False) -> dict[str, Any]:
        """Return a tool in the form of the API that takes deferred tools.

        With `named`, leave out a function's parameters, if the API is OpenAI's.
        """
        function = tool.get("function")
        if not isinstance(function, dict):
            flat = {k: v for k, v in tool.items() if k != "defer_loading"}
        else:
            flat = {**function, **_mark(tool)}
            flat |= {"type": "function"} if self._is_openai else {}
        if self._is_openai:
            return {k: v for k, v in flat.items() if k != "parameters"} if named else flat
        if "parameters" in flat and "input_schema" not in flat:
            flat["input_schema"] = flat.pop("parameters")
        return flat

    def _message(
        self, message: Message, deferred: dict[str, dict[str, Any]], loaded: set[str]
    ) -> list[Message]:
        """Return what is sent in place of a message; add the tools that this loads to `loaded`."""
        loaded.update(self._names_in(message)[1])  # loaded by a search in the session
        names = self._to_load(message, deferred, loaded)
        if not names:
            return [message]
        loaded.update(names)
        cached = self._written.get((id(message), names))
        if cached is None or cached[0] is not message:
            extra = self._loads(names, deferred)
            if self.cut.loading == "by the client" or self._is_openai:
                rewritten = [*extra, message]
            else:
                thought, rest = _split(message)
                rewritten = [{**message, "content": [*thought, *extra, *rest]}]
            cached = self._written[id(message), names] = message, rewritten
        return cached[1]

    def _to_load(
        self, message: Message, deferred: dict[str, dict[str, Any]], loaded: set[str]
    ) -> tuple[str, ...]:
        """Return the tools to load before a message: those that it calls, then others up to the
        number that a search finds; () if it calls no deferred tool."""
        calls = self._names_in(message)[0]
        called = [name for name in calls if name in deferred and name not in loaded]
        if not called:
            return ()
        others = [name for name in deferred if name not in loaded and name not in called]
        return tuple([*called, *others[: max(0, self.cut.found - len(called))]])

    def _names_in(self, message: Message) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the tools that a message calls, and of those that it refers to."""
        cached = self._seen.get(id(message))
        if cached is None or cached[0] is not message:
            calls, references = dict.fromkeys(calls_of(message)), referenced_tools(message)
            cached = self._seen[id(message)] = message, tuple(calls), tuple(references)
        return cached[1:]

    def _loads(
        self, names: tuple[str, ...], deferred: dict[str, dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return what loads these tools: a message of the client, or a search and its result."""
        if self.cut.loading == "by the client":
            added = [
                {"type": "tool_addition", "tool": {"type": "tool_reference", "name": name}}
                for name in names
            ]
            return [{"role": "system", "content": added}]
        query, key = {"query": names[0].replace("_", " ")}, f"search_{names[0]}"
        if self._is_openai:
            tools = [self._form(deferred[name]) for name in names]
            return [
                {"type": "tool_search_call", "call_id": key, "arguments": query},
                {"type": "tool_search_output", "call_id": key, "tools": tools},
            ]
        references = [{"type": "tool_reference", "tool_name": name} for name in names]
        search_result = {"type": "tool_search_tool_search_result", "tool_references": references}
        return [
            {"type": "server_tool_use", "id": key, "name": SEARCH, "input": query},
            {"type": "tool_search_tool_result", "tool_use_id": key, "content": search_result},
        ]


_ANTHROPIC_SEARCH: Final = {"type": f"{SEARCH}_20251119", "name": SEARCH}


def as_policies_see(messages: Sequence[Message]) -> list[Message]:
    """Return messages for a marking policy; those that load tools get a role that it ignores."""
    return [{**each, "role": "tool_addition"} if _loads_tools(each) else each for each in messages]


def _loads_tools(message: Message) -> bool:
    content = message.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and first.get("type") == "tool_addition"


def _split(message: Message) -> tuple[list[Any], list[Any]]:
    """Return the reasoning at the beginning of an answer, and the other parts of its content."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    if isinstance(content, str) and content:
        parts = [{"type": "text", "text": content}]
    kinds = [part.get("type") if isinstance(part, dict) else "" for part in parts]
    end = next((i for i, kind in enumerate(kinds) if kind not in _THOUGHTS), len(parts))
    return list(parts[:end]), list(parts[end:])


def _name(tool: Any) -> str:
    if not isinstance(tool, dict):
        return ""
    function = tool.get("function")
    holder: Callable[[str], Any] = (function if isinstance(function, dict) else tool).get
    return str(holder("name") or "")


def _is_search(tool: dict[str, Any]) -> bool:
    return str(tool.get("type") or "").startswith("tool_search")


def _mark(tool: Any) -> dict[str, Any]:
    return {key: tool[key] for key in MARKS if isinstance(tool, dict) and key in tool}


def _unmarked(tool: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key not in MARKS}
