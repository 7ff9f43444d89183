"""`Dialect`: how tools, calls and results are written for a model, and read back.

The base class writes everything that is the same in every dialect; a dialect adds its own form.
No dialect is named here.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, assert_never

from playground.base.findings import finding
from playground.dialects import prompts
from playground.dialects.by_hand import offering
from playground.dialects.by_hand.azad import AzadMethods
from playground.dialects.by_hand.own_requests import (
    OWN_MARKS,
    drafts_with_origins,
    marks_in,
    own_history,
)
from playground.dialects.conversation import all_drafts, history_of
from playground.dialects.history import History
from playground.dialects.marks.policies import (
    CacheDecision,
    CacheRequest,
    Policy,
    apply_marks,
    get_policy,
)
from playground.dialects.render_cache import RENDER_CACHE, can_cache
from playground.dialects.rendering import (
    Block,
    Draft,
    as_blocks,
    deep_copy,
    joined_by_line,
    message_text,
    text_of,
)
from playground.dialects.request_messages import Rendering, RequestMessages
from playground.dialects.settings import DialectSettings
from playground.nouns.messages import Message, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData, PromptTemplateType
from playground.nouns.tools import ToolMetadata
from playground.parsing.parser import DialectParser
from playground.parsing.switches import Switches

if TYPE_CHECKING:
    from playground.dialects.raw_prompts import LlamaPrompt
    from playground.parsing.grammars import Grammar
    from playground.parsing.grammars.response_template import ResponseTemplate

# One alternation, used in one split: text that is filled in is never searched for placeholders.
_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(PromptTemplateType) + r")\}")


class Dialect(DialectSettings, AzadMethods, ABC):
    """Abstract base of all dialects. Instances hold no state of a session.

    An overriding method may leave out arguments that have a default here. A class without a `name`
    is named after itself: `MyDialect` becomes `my-dialect`.
    """

    models: str = ""
    model_names: tuple[str, ...] = ()
    config: Any = MappingProxyType({})
    """Settings of a subclass, which this base class does not read. (Azad's `MyDialect` passes them
    to its parser.)"""
    raw_prompt: LlamaPrompt | None = None
    tool_docs: prompts.ToolDocs = prompts.DESCRIBED
    caches_renderings: ClassVar[bool] = False
    """True if texts may be cached.

    A message's text must then depend only on the message, its `written_ids` and the schemas of its
    tools, a tool's text only on that tool, and the system prompt on no message.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Results of other packages' methods are checked at run time. Tests check ours, because the
        # checks would take a third of the time for a message.
        checks = {} if cls.__module__.startswith("playground.") else offering.RETURNED
        parent = next(base for base in cls.__bases__ if issubclass(base, Dialect))
        for method in {**dict.fromkeys(offering.OVERRIDABLE), **checks}:
            override = inspect.getattr_static(cls, method)  # the class's own, or a mixin's
            is_new = override is not inspect.getattr_static(parent, method)
            if is_new and inspect.isfunction(override):
                checked = offering.check_result(override, method) if method in checks else override
                setattr(cls, method, offering.wrap_override(checked, getattr(Dialect, method)))
        own_classes = cls.__mro__[: cls.__mro__.index(Dialect)]
        if not any(map(offering.gives_name, own_classes)):
            cls.name = offering.name_from_class(cls.__name__)

    # methods that a dialect must define

    @abstractmethod
    def format_dialect_rules(self, prompt_data: PromptData, rules_path: str | None = None) -> str:
        """Return the rules for writing a call in this dialect; "" if there are no tools.

        `rules_path` comes from `format_messages`. For an override without this argument, the
        caller reads the file.
        """

    @abstractmethod
    def format_example(
        self, tool_name: str, parameters: Mapping[str, Any], tool: ToolMetadata | None = None
    ) -> str:
        """Return a call as an example in the documentation, in the form that the parser reads."""

    @abstractmethod
    def format_tool_call(self, tool_call: ToolCallPart, tools: Sequence[ToolMetadata] = ()) -> str:
        """Return a call as the model writes it; `tools` give the types of its arguments."""

    @abstractmethod
    def format_tool_result(self, tool_result: ToolResultPart) -> str:
        """Return a result as the model reads it."""

    @abstractmethod
    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None:
        """Return a message in LiteLLM's form, or None if it would be empty."""

    @abstractmethod
    def create_parser(
        self, prompt_data: PromptData, prefill: str = "", switches: Switches | None = None
    ) -> DialectParser:
        """Return a parser for one reply.

        `prefill` is the part of the reply that the prompt already holds. `switches` replace the
        dialect's own; they decide how to read text that can be read in two ways.
        """

    @abstractmethod
    def is_native_toolcalling(self) -> bool:
        """Return True if tools, calls and results travel in fields of the API."""

    def grammar(
        self,
        tools: Iterable[Any],
        choice: str = "auto",
        parallel: bool | None = None,
        reasoning: bool = False,
        accepts: str = "written",
    ) -> Grammar:
        """Return a grammar of what a model may write with these tools, for constrained decoding.

        `tools` are of any known form. `choice` is `auto` (text, calls, or text before calls),
        `required` (calls only), or the name of the tool to call. `parallel` allows several calls
        (None: as the dialect does), `reasoning` allows reasoning at the beginning. With `accepts`
        as `well-formed` the grammar is for checking a reply, not for decoding: it allows any white
        space between the declared pieces, any order of parameters and any values. A dialect
        without a declaration has no grammar, and a finding says so. Raises InputFault, and
        UnknownNameError for an unknown tool.
        """
        from playground.parsing.grammars import Grammar

        reason = "the dialect is written by hand: only a declaration gives a grammar"
        return Grammar(self.name, {}, (finding("no-grammar", "dialect", reason),))

    def response_template(self, start_anchor: str = "", portable: bool = False) -> ResponseTemplate:
        """Return the response template by which transformers reads the dialect's replies.

        `start_anchor` is the header of an assistant's turn in the chat template. By default it is
        assumed from the stop tokens, and a finding says so. A `portable` template has patterns
        without verbs and recursion, which only Python's `regex` module has; it reads less. Findings
        name what a template cannot express. A dialect without a declaration has no template. Raises
        InputFault for a value of another type.
        """
        from playground.base.registry import public_name

        build = public_name("own_dialects", "response_template")
        template: ResponseTemplate = build(self, start_anchor, portable)
        return template

    # the system prompt

    def format_system_prompt(
        self, prompt_data: PromptData, rules_path: str | None = None
    ) -> dict[str, Any]:
        """Return the system prompt: all parts around the agent prompt, or at its placeholders.

        The order without placeholders: dialect rules, tool docs, agent prompt, system rules, user
        prompt. Text that was filled in is not searched for placeholders again.
        """
        return _system_message(text_of(self._system_blocks(prompt_data, rules_path)))

    def format_system_rules(self, prompt_data: PromptData) -> str:
        return prompts.SYSTEM_RULES

    def format_user_prompt(self, prompt_data: PromptData) -> str:
        return prompts.framed_user_prompt(prompt_data.task_config.user_prompt)

    def format_user_agent_prompt(self, prompt_data: PromptData) -> str:
        return prompt_data.task_config.user_agent_prompt

    def format_tool_docs(self, prompt_data: PromptData) -> str:
        """Return the documentation of all tools; empty if there are none."""
        return text_of(self._tool_doc_blocks(prompt_data))

    def format_tool_doc(self, tool: ToolMetadata) -> str:
        """Return the documentation of one tool, without the frame around all of them."""
        return self.tool_docs.tool(
            tool, lambda t, arguments: self.format_example(t.name, arguments, t)
        )

    def format_tool_schema(self, tool: ToolMetadata, typed: bool = False) -> dict[str, Any]:
        """Return the simplified schema (all strings), or, if `typed`, OpenAI's tool object."""
        return prompts.typed_schema(tool) if typed else prompts.simplified_schema(tool)

    def format_tools_schema(
        self, tools: Sequence[ToolMetadata], typed: bool = False
    ) -> list[dict[str, Any]]:
        return [self.format_tool_schema(tool, typed) for tool in tools]

    # The parts of the system prompt as blocks, each with its origin. The public methods above join
    # blocks; the code here calls them only if a class overrides them.

    def system_draft(self, prompt_data: PromptData, rules_path: str | None = None) -> Draft:
        """Return the system prompt with the origin of every piece of it."""
        rules_path = self.rules_path if rules_path is None else rules_path
        if self._overrides("format_system_prompt"):
            message = self.format_system_prompt(prompt_data, rules_path)
            return Draft(message, tuple(as_blocks("system", "system", message_text(message))))
        blocks = self._system_blocks(prompt_data, rules_path)
        return Draft(_system_message(text_of(blocks)), tuple(blocks))

    def _system_blocks(self, prompt_data: PromptData, rules_path: str | None) -> list[Block]:
        # Each part is written at its placeholders in the agent prompt, or else at its own place.
        parts = {
            part: self._blocks_of(part, prompt_data, rules_path) for part in PromptTemplateType
        }
        agent = self.format_user_agent_prompt(prompt_data)
        pieces = _PLACEHOLDER.split(agent)  # text, name, text, name, … text
        agent_blocks = as_blocks("agent", "agent prompt", pieces[0])
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            agent_blocks += parts[PromptTemplateType(name)]
            agent_blocks += as_blocks("agent", "agent prompt", text)
        for name in pieces[1::2]:
            parts[PromptTemplateType(name)] = []  # it is in the agent prompt already
        return joined_by_line(
            [
                parts[PromptTemplateType.TOOL_USE_INSTRUCTION],
                parts[PromptTemplateType.AVAILABLE_TOOLS],
                agent_blocks,
                parts[PromptTemplateType.SYSTEM_INSTRUCTION],
                parts[PromptTemplateType.USER_PROMPT],
            ]
        )

    def _blocks_of(
        self, part: PromptTemplateType, prompt_data: PromptData, rules_path: str | None
    ) -> list[Block]:
        match part:
            case PromptTemplateType.TOOL_USE_INSTRUCTION:
                return as_blocks("rules", "dialect rules", self._rules(prompt_data, rules_path))
            case PromptTemplateType.AVAILABLE_TOOLS:
                return self._tool_blocks(prompt_data)
            case PromptTemplateType.SYSTEM_INSTRUCTION:
                has_rules = prompt_data.task_config.system_rules
                rules = self.format_system_rules(prompt_data) if has_rules else ""
                return as_blocks("system-rules", "system rules", rules)
            case PromptTemplateType.USER_PROMPT:
                return as_blocks("user-prompt", "user prompt", self.format_user_prompt(prompt_data))
        assert_never(part)

    def _rules(self, prompt_data: PromptData, rules_path: str | None) -> str:
        """Return the rules of a file, or else the session's, or else the dialect's own."""
        rules_path = self.rules_path if rules_path is None else rules_path
        if rules_path is not None:
            takes_path = len(inspect.signature(self.format_dialect_rules).parameters) > 1
            rules = None if takes_path else self.rules_of_file(rules_path)
        else:
            rules = prompt_data.task_config.rules_of(self.name)
        return self.format_dialect_rules(prompt_data, rules_path) if rules is None else rules

    def _tool_blocks(self, prompt_data: PromptData) -> list[Block]:
        if self._overrides("format_tool_docs"):
            return as_blocks("tools", "tool docs", self.format_tool_docs(prompt_data))
        return self._tool_doc_blocks(prompt_data)

    def _tool_doc_blocks(self, prompt_data: PromptData) -> list[Block]:
        tools = prompt_data.tool_metadata
        if not tools:
            return []
        if not can_cache(self):
            return self._joined_docs(tools, [self.format_tool_doc(tool) for tool in tools])
        return RENDER_CACHE.docs(self, tools, self.format_tool_doc, self._joined_docs)

    def _joined_docs(self, tools: Sequence[ToolMetadata], texts: Sequence[str]) -> list[Block]:
        """Join tools' texts; each separator belongs to the tool before it."""
        frame = self.tool_docs.frame
        blocks = as_blocks("tools", "tool docs", frame.before)
        for number, (tool, text) in enumerate(zip(tools, texts, strict=True), 1):
            separator = frame.between if number < len(tools) else ""
            blocks += as_blocks(f"tool:{tool.name}", "tool docs", text + separator)
        return blocks + as_blocks("tools", "tool docs", frame.after)

    def _overrides(self, method: str) -> bool:
        """Return True if a subclass overrides a method. The origins of the method's text are then
        unknown."""
        return getattr(type(self), method) is not getattr(Dialect, method)

    # the history

    def _history(self, prompt_data: PromptData) -> History:
        history = history_of(self, prompt_data)
        if not self._overrides("format_history"):
            return history
        return own_history(self.format_history(prompt_data), history)

    def format_history(self, prompt_data: PromptData) -> list[dict[str, Any]]:
        """Return every message that is not empty, in LiteLLM's form."""
        return [draft.message for draft in all_drafts(self, prompt_data)]

    def written_ids(self, messages: Sequence[Message]) -> list[list[str]] | None:
        """Return the ids to write for each message's calls and results, in order. None, the
        default, keeps the session's ids."""
        return None

    def split_message(self, message: Message) -> list[Message]:
        """Return the messages that one message of the session becomes; by default only itself."""
        return [message]

    # the request

    def format_messages(
        self, prompt_data: PromptData, rules_path: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the messages of a request.

        They are the system prompt and the history, without empty messages and with neighbours of
        one role merged. Then pre-flight checks run and cache marks are set. Last, the environment
        block is added to the last user message: after the marks, so that it never spoils a cached
        prefix. `rules_path` is a file with the dialect's rules, or a folder with a `NAME.md` for
        each dialect.
        """
        if self._overrides("render") and not self._overrides("format_messages"):
            return self.render(prompt_data, rules_path).messages
        return self._render(prompt_data, rules_path).messages

    def render(self, prompt_data: PromptData, rules_path: str | None = None) -> Rendering:
        """Return the messages as `format_messages` does, with the origins of texts and the reasons
        of marks."""
        if not self._overrides("format_messages"):
            return self._render(prompt_data, rules_path)
        own_messages = self.format_messages(prompt_data, rules_path)
        system = self.system_draft(prompt_data, rules_path)
        base_messages = RequestMessages(system, self._history(prompt_data))
        messages = _as_written(own_messages, "format_messages", base_messages)
        return self._rendering(prompt_data, messages, marks_in(messages))

    def _render(self, prompt_data: PromptData, rules_path: str | None) -> Rendering:
        system = self.system_draft(prompt_data, rules_path)
        messages = RequestMessages(system, self._history(prompt_data))
        for check in self.preflight:
            check.check(prompt_data)
        if self.marks_itself:  # an override may write into any message, and may return None
            marked = deep_copy(messages[:])
            decided = self.inject_prompt_cache(marked, prompt_data)
            offering.check_messages(marked, f"inject_prompt_cache of dialect {self.name!r}")
            messages = _as_written(marked, "inject_prompt_cache", messages)
            decisions = marks_in(messages) if decided is None else decided
        else:
            decisions = set_own_marks(messages, self.cache_policy, prompt_data)
        environment = prompt_data.dynamic_task_config.dynamic_environment_details_block
        if environment:  # after the marks: it changes at every request
            messages.append_to_last_user(environment)
        return self._rendering(prompt_data, messages, decisions)

    def _rendering(
        self, prompt_data: PromptData, messages: RequestMessages, decisions: list[CacheDecision]
    ) -> Rendering:
        return Rendering(self.name, messages, self.request_tools(prompt_data), decisions)

    @property
    def marks_itself(self) -> bool:
        """True if marks come from an `inject_prompt_cache` of the dialect's own, not a policy."""
        return self._overrides("inject_prompt_cache") and not self._policy_replaced

    @property
    def marking_policy(self) -> Policy:
        """The policy that marks this dialect's requests. Raises UnknownNameError."""
        return OWN_MARKS if self.marks_itself else get_policy(self.cache_policy)

    @property
    def writes_own_requests(self) -> bool:
        """True if a subclass writes whole messages itself, so that they are not cached one
        by one."""
        methods = ("format_messages", "format_history", "inject_prompt_cache", "render")
        return any(map(self._overrides, methods))

    def request_tools(self, prompt_data: PromptData) -> list[dict[str, Any]] | None:
        """Return the request's `tools` field, or None if tools are part of the prompt."""
        return None

    def inject_prompt_cache(
        self, messages: list[dict[str, Any]], prompt_data: PromptData
    ) -> list[CacheDecision]:
        """Mark the messages in place by the dialect's policy, and return the decisions."""
        return set_marks(messages, self.cache_policy, prompt_data)


def _as_written(
    messages: Sequence[dict[str, Any]], method: str, base_messages: RequestMessages
) -> RequestMessages:
    """Return the messages that an overriding method wrote, without merging neighbours. A message
    that equals one of the base class's (`base_messages`) gets the origins of that one."""
    pairs = zip(base_messages, base_messages.blocks, strict=True)
    return RequestMessages.as_written(drafts_with_origins(messages, method, pairs))


def _system_message(text: str) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": "text", "text": text}]}


def set_marks(
    messages: list[dict[str, Any]], policy: str | Policy, prompt_data: PromptData
) -> list[CacheDecision]:
    """Mark the messages in place, and return the decisions."""
    request = _request(prompt_data)
    decisions = get_policy(policy).decide(messages, request)
    apply_marks(messages, decisions, request.model_name)
    return decisions


def set_own_marks(
    messages: RequestMessages, policy: str | Policy, prompt_data: PromptData
) -> list[CacheDecision]:
    """Mark messages that `RENDER_CACHE` may hold too, and return the decisions.

    A message is copied before it is marked. All are copied for a user's own policy, because it may
    write into any message.
    """
    if not isinstance(policy, str):
        return set_marks(messages.all_writable(), policy, prompt_data)
    request = _request(prompt_data)
    decisions = get_policy(policy).decide(messages, request)
    for decision in decisions:
        if decision.marked and decision.message is not None:
            messages.writable(decision.message)
    apply_marks(messages, decisions, request.model_name)
    return decisions


def _request(prompt_data: PromptData) -> CacheRequest:
    dynamic = prompt_data.dynamic_task_config
    return CacheRequest(
        prompt_data.task_config.model_name, dynamic.cache_dialect, dynamic.enable_explicit_caching
    )
