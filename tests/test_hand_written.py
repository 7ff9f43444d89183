"""A dialect written by hand on the public base class: every method name that we promise works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from playground.dialects import DeclaredDialect, Dialect
from playground.dialects.prompts import ToolDocs, ToolDocsFrame
from playground.dialects.reading import parse
from playground.nouns.events import Event, FindingEvent, Span
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.parsing.parser import DialectParser, SyntaxParser
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.parsing.syntax import Markers, Syntax

SYNTAX = Syntax(call="CALL {name} {args:json}", line_start=True)
TOOLS = [ToolMetadata(name="a", description="Same."), ToolMetadata(name="b", description="Same.")]


class ByHand(Dialect):
    """Says only what it must; counts how often each tool is documented."""

    name = "by-hand"

    def __init__(self) -> None:
        self.documented: Counter[str] = Counter()

    def is_native_toolcalling(self) -> bool:
        return False

    def format_dialect_rules(self, prompt_data: PromptData, rules_path: str | None = None) -> str:
        return "Write CALL."

    def format_example(
        self, tool_name: str, parameters: Mapping[str, Any], tool: ToolMetadata | None = None
    ) -> str:
        return self.format_tool_call(ToolCallPart("call_1", tool_name, dict(parameters)))

    def format_tool_doc(self, tool: ToolMetadata) -> str:
        self.documented[tool.name] += 1
        return f"DOC {tool.description}"

    def format_tool_call(self, tool_call: ToolCallPart, tools: Sequence[ToolMetadata] = ()) -> str:
        return f"CALL {tool_call.tool_name} {{}}"

    def format_tool_result(self, tool_result: ToolResultPart) -> str:
        return str(tool_result.result)

    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None:
        calls = "".join(self.format_tool_call(call, tools) for call in item.tool_calls)
        return {"role": item.role, "content": item.text + calls}

    def create_parser(
        self, prompt_data: PromptData, prefill: str = "", switches: Switches | None = None
    ) -> DialectParser:
        tools = prompt_data.tool_metadata
        return SyntaxParser(SYNTAX, Markers(), switches or Switches(), tools, prefill=prefill)


def prompt(agent: str = "AGENT") -> PromptData:
    return PromptData(
        messages=[Message("user", (TextPart("hi"),))],
        tool_metadata=TOOLS,
        task_config=TaskConfig(user_agent_prompt=agent),
    )


def origins(dialect: Dialect) -> list[tuple[str, str]]:
    blocks = dialect.render(prompt()).blocks[0]
    return [(block.origin, block.text) for block in blocks if block.kind == "tool docs"]


def test_a_request_documents_each_tool_once() -> None:
    dialect = ByHand()
    dialect.format_messages(prompt())
    assert dialect.documented == {"a": 1, "b": 1}


def test_a_placeholder_that_stands_twice_is_filled_from_one_text() -> None:
    dialect = ByHand()
    text = dialect.format_messages(prompt("{AVAILABLE_TOOLS}, {AVAILABLE_TOOLS}"))[0]["content"]
    assert str(text).count("DOC Same.") == 4
    assert dialect.documented == {"a": 1, "b": 1}


def test_tools_with_the_same_words_keep_their_own_origins() -> None:
    frame = "# Tools\nRead how each tool is used before you use it.\n\n"
    assert origins(ByHand()) == [
        ("tools", frame),
        ("tool:a", "DOC Same.\n\n"),
        ("tool:b", "DOC Same.\n"),
    ]


def test_a_frame_of_its_own_is_data() -> None:
    class Framed(ByHand):
        tool_docs = ToolDocs(tool=lambda tool, _: tool.name, frame=ToolDocsFrame("<", "|", ">"))

        def format_tool_doc(self, tool: ToolMetadata) -> str:
            return Dialect.format_tool_doc(self, tool)

    assert Framed().format_tool_docs(prompt()) == "<a|b>"
    assert Framed().format_tool_docs(PromptData()) == ""


def test_a_dialect_that_writes_all_tools_by_itself_is_one_block() -> None:
    class Listed(ByHand):
        def format_tool_docs(self, prompt_data: PromptData) -> str:
            return "; ".join(self.format_tool_doc(tool) for tool in prompt_data.tool_metadata)

    dialect = Listed()
    assert origins(dialect) == [("tools", "DOC Same.; DOC Same.\n")]
    assert dialect.documented == {"a": 1, "b": 1}


def test_a_dialect_that_writes_the_system_prompt_by_itself_is_asked_once() -> None:
    class Whole(ByHand):
        def format_system_prompt(
            self, prompt_data: PromptData, rules_path: str | None = None
        ) -> dict[str, Any]:
            return {"role": "system", "content": self.format_tool_docs(prompt_data)}

    dialect = Whole()
    rendering = dialect.render(prompt())
    assert [block.origin for block in rendering.blocks[0]] == ["system"]
    assert "DOC Same." in rendering.blocks[0][0].text
    assert dialect.documented == {"a": 1, "b": 1}


def test_the_same_holds_below_a_declared_dialect() -> None:
    class Terse(DeclaredDialect):
        def format_tool_docs(self, prompt_data: PromptData) -> str:
            return "Ask for the tools."

    dialect = Terse(name="terse", syntax=SYNTAX, rules="")
    assert origins(dialect) == [("tools", "Ask for the tools.\n")]


def test_what_is_written_by_hand_is_read_back() -> None:
    dialect = ByHand()
    call = ToolCallPart("call_1", "a", {})
    result = parse(dialect.format_tool_call(call), dialect, TOOLS)
    assert [(read.name, read.arguments) for read in result.tool_calls] == [("a", {})]


def test_the_history_is_what_a_request_sends_behind_the_system_prompt() -> None:
    dialect = ByHand()
    assert dialect.format_history(prompt()) == [{"role": "user", "content": "hi"}]


def test_a_parser_of_text_alone_says_what_it_cannot_and_holds_nothing() -> None:
    class Text(DialectParser):
        def feed(self, data: bytes) -> list[Event]:
            return []

    parser = Text()
    (event,) = parser.feed_tool_call_delta({"index": 0, "function": {"name": "a"}})
    assert isinstance(event, FindingEvent)
    assert (event.finding.code, event.span) == ("native-call", Span(0, 0))
    assert parser.state == ParserState("text")
    assert parser.finish() == []


def test_only_a_declaration_gives_a_response_template() -> None:
    made = ByHand().response_template()
    codes = [found.code for found in made.findings]
    assert (dict(made.template), made.json, codes) == ({}, "", ["no-response-template"])
