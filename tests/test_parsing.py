"""Single examples: what repairs, findings and states look like, named by what went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import DIALECTS, TOOLS

from playground.dialects import DeclaredDialect, get_dialect
from playground.dialects.reading import parse
from playground.nouns.events import (
    CallAbortedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    Span,
    TextEvent,
    merged,
    owned_text,
)
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing import relaxed_json
from playground.parsing.batches import BatchedParser
from playground.parsing.parser import DialectParser
from playground.parsing.plan import compile_plan
from playground.parsing.result import ParseResult
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches


def codes(result: ParseResult) -> list[str]:
    return [finding.code for finding in result.findings]


def called(result: ParseResult) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in result.tool_calls]


# JSON


def test_json_ends_by_balance_not_by_the_close_marker() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "x</tool_call>y}"}}</tool_call>'
    result = parse(text, "hermes")
    assert called(result) == [("f", {"a": "x</tool_call>y}"})]
    assert codes(result) == []


def test_a_missing_closer_behind_whole_json_is_repaired_with_a_finding() -> None:
    for end in ("", "</tool_", "\n\nand more"):
        result = parse('<tool_call>{"name": "f", "arguments": {}}' + end, "hermes")
        assert called(result) == [("f", {})]
        assert codes(result) == ["missing-closer"]


def test_keys_may_come_in_any_order_behind_a_marker() -> None:
    text = '<tool_call>{"arguments": {"a": 1}, "id": {"x": "}"}, "name": "f"}</tool_call>'
    assert called(parse(text, "hermes")) == [("f", {"a": 1})]


def test_arguments_as_a_json_string_are_unpacked_with_a_finding() -> None:
    text = '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>'
    result = parse(text, "hermes")
    assert called(result) == [("f", {"a": 1})]
    assert codes(result) == ["arguments-as-text"]


@pytest.mark.parametrize("arguments", ["null", '""', "{}"])
def test_a_call_without_arguments_has_the_empty_object(arguments: str) -> None:
    text = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'
    assert called(parse(text, "hermes")) == [("f", {})]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"name": "f", "arguments": {"a": }}', "malformed-json"),
        ('{"name": "f", "arguments": [1]}', "arguments-not-object"),
        ('{"name": "f", "arguments": 7}', "arguments-not-object"),
        ('{"arguments": {}}', "missing-name"),
        ('{"name": "", "arguments": {}}', "missing-name"),
        ('{name; "f"}', "malformed-json"),
        ('{"name" "f"}', "malformed-json"),
    ],
)
def test_a_broken_call_is_aborted_and_the_next_one_read(body: str, code: str) -> None:
    good = '<tool_call>{"name": "ok", "arguments": {}}</tool_call>'
    result = parse(f"<tool_call>{body}</tool_call>{good}", "hermes")
    assert called(result) == [("ok", {})]
    assert [aborted.reason for aborted in result.aborted] == [code]
    assert code in codes(result)


def test_deep_nesting_is_a_finding_not_a_crash() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    text = f'<tool_call>{{"name": "f", "arguments": {{"a": {deep}}}}}</tool_call>'
    assert codes(parse(text, "hermes")) == ["too-deep"]


def test_raw_argument_text_is_kept_beside_the_value() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"v": 1.10, "n": 12345678901234567890123}}'
    (call,) = parse(text + "</tool_call>", "hermes").tool_calls
    assert call.raw == ((None, '{"v": 1.10, "n": 12345678901234567890123}'),)
    assert call.arguments["n"] == 12345678901234567890123


def test_prose_about_the_marker_is_text() -> None:
    text = "The tag <tool_call> opens a call; <tool_call>this is none</tool_call>."
    result = parse(text, "hermes")
    assert result.content == text
    assert result.tool_calls == []


# parameters


def test_a_closer_inside_a_value_does_not_end_it() -> None:
    text = (
        "<write_file><path>a</path><content>x </content> y</content></write_file>"
        "<list_files></list_files>"
    )
    assert called(parse(text, "xml", TOOLS)) == [
        ("write_file", {"path": "a", "content": "x </content> y"}),
        ("list_files", {}),
    ]


def test_values_are_read_by_their_schema_type() -> None:
    text = (
        "<write_file><path>007</path><mode>42</mode><ratio>1e3</ratio><force>True</force>"
        '<tags>["a"]</tags><meta>{"a": null}</meta><note>null</note><other>12</other></write_file>'
    )
    (call,) = parse(text, "xml", TOOLS).tool_calls
    assert call.arguments == {
        "path": "007",
        "mode": 42,
        "ratio": 1e3,
        "force": True,
        "tags": ["a"],
        "meta": {"a": None},
        "note": None,
        "other": "12",
    }
    assert dict(call.raw)["ratio"] == "1e3"


def test_without_a_schema_a_value_stays_text() -> None:
    text = "<f><a>42</a></f>"
    assert called(parse(text, "xml")) == [("f", {"a": "42"})]


def test_a_value_against_its_type_stays_text_with_a_finding() -> None:
    result = parse("<write_file><mode>many</mode></write_file>", "xml", TOOLS)
    assert called(result) == [("write_file", {"mode": "many"})]
    assert codes(result) == ["type-mismatch", "missing-argument"]


def test_a_doubled_argument_counts_last_with_a_finding() -> None:
    result = parse("<write_file><path>a</path><path>b</path></write_file>", "xml", TOOLS)
    assert called(result) == [("write_file", {"path": "b"})]
    assert codes(result) == ["duplicate-argument"]


def test_a_missing_call_closer_before_another_marker_is_repaired() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</tool_call>\nbye"
    result = parse(text, "qwen3-coder")
    assert called(result) == [("f", {"a": "1"})]
    assert codes(result) == ["missing-closer"]
    assert result.content == "\nbye"


def test_a_forgotten_parameter_closer_before_both_outer_ones_is_repaired() -> None:
    """ollama#18563: strict XML refused the whole call."""
    text = (
        "<tool_call>\n<function=f>\n<parameter=path>\na.py\n</parameter>\n"
        "<parameter=content>\nprint(1)\n</function>\n</tool_call>"
    )
    result = parse(text, "qwen3-coder")
    assert called(result) == [("f", {"path": "a.py", "content": "print(1)"})]
    assert codes(result) == ["missing-closer"]


def test_a_missing_call_closer_at_the_end_aborts_the_call() -> None:
    result = parse("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n", "qwen3-coder")
    assert called(result) == []
    assert result.aborted[0].raw == (("a", "1"),)


def test_text_between_parameters_is_a_named_finding() -> None:
    text = "<function=f>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter> oops </function>"
    result = parse(text, "qwen3-coder")
    found = [event for event in result.events if isinstance(event, FindingEvent)]
    owned = [event.text for event in found if event.text]
    assert (called(result), owned) == ([("f", {"a": "1", "b": "2"})], ["oops "])
    text = "<function=f>oops <parameter=a>1</parameter></function>"
    result = parse(text, "qwen3-coder")
    found = [event for event in result.events if isinstance(event, FindingEvent)]
    owned = [event.text for event in found if event.text]
    assert (called(result), owned) == ([("f", {"a": "1"})], ["oops "])


def test_attributes_that_the_form_does_not_ask_for_are_read_over() -> None:
    text = '<invoke name="f" id="7"><parameter name="a" string="true">x</parameter></invoke>'
    assert called(parse(text, "minimax-m2")) == [("f", {"a": "x"})]


def test_a_tool_that_the_session_lacks_is_text_in_xml_and_a_finding_elsewhere() -> None:
    xml = "<unknown><a>1</a></unknown>"
    assert parse(xml, "xml", TOOLS).content == xml
    result = parse('<tool_call>{"name": "g", "arguments": {}}</tool_call>', "hermes", TOOLS)
    assert called(result) == [("g", {})]
    assert codes(result) == ["unknown-tool"]


# text around calls


def test_a_call_in_a_code_fence_is_text_with_a_finding() -> None:
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    result = parse(f"```xml\n{call}\n```\n{call}", "hermes")
    assert called(result) == [("f", {})]
    assert result.content == f"```xml\n{call}\n```\n"
    assert codes(result) == ["call-in-fence"]


def test_a_fence_closes_with_its_own_kind_and_length() -> None:
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert called(parse(f"~~~~\n```\n~~~\n{call}", "hermes")) == []
    assert called(parse(f"~~~\n~~~~\n{call}", "hermes")) == [("f", {})]
    assert called(parse(f"inline ``` is no fence {call}", "hermes")) == [("f", {})]


def test_reasoning_is_apart_and_its_prefill_belongs_to_no_span() -> None:
    result = parse("hm</think>yes", "hermes", prefill="...<think>\n")
    assert (result.reasoning, result.content) == ("hm", "yes")
    assert result.events[0].span == (0, 2)
    assert isinstance(result.events[0], ReasoningEvent)


def test_reasoning_that_never_ends_is_a_finding() -> None:
    result = parse("<think>hm", "hermes")
    assert (result.reasoning, codes(result)) == ("hm", ["unclosed-reasoning"])


def test_a_call_before_reasoning_was_closed_is_delivered_with_a_finding() -> None:
    result = parse('<think>hm<tool_call>{"name": "f", "arguments": {}}</tool_call>', "hermes")
    assert (result.reasoning, called(result)) == ("hm", [("f", {})])
    assert codes(result) == ["call-in-reasoning"]


def test_a_result_that_the_model_wrote_itself_is_a_finding_and_stays_text() -> None:
    text = "<tool_response>\n42\n</tool_response>"
    result = parse(text, "hermes")
    assert (result.content, codes(result)) == (text, ["fabricated-result"])


def test_stop_tokens_are_markup() -> None:
    assert parse("yes<|eot_id|>", "llama3-json").content == "yes"


def test_llama_calls_are_separated_by_semicolons() -> None:
    text = '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {"a": [1]}}<|eom_id|>'
    result = parse("Sure. " + text, "llama3-json")
    assert called(result) == [("f", {}), ("g", {"a": [1]})]
    assert result.content == "Sure. "


def test_json_that_is_no_call_is_text() -> None:
    text = 'See {"name": "Ann", "age": 3} and {"tool_name": "x"}.'
    for dialect in ("json", "llama3-json", "native"):
        assert parse(text, dialect).content == text


def test_bad_bytes_are_replaced_one_by_one_with_a_finding() -> None:
    result = parse(b"a\xff\xfeb\xc3", "xml")
    assert result.content == "a\ufffd\ufffdb\ufffd"
    assert codes(result) == ["invalid-utf8"] * 3


def test_a_lone_surrogate_in_a_string_is_replaced_with_a_finding() -> None:
    result = parse("a\ud800b", "xml")
    assert (result.content, codes(result)) == ("a\ufffdb", ["lone-surrogate"])


# native deltas


def delta(
    index: int, name: str | None = None, arguments: str = "", **more: str
) -> dict[str, object]:
    return {"index": index, "function": {"name": name, "arguments": arguments}, **more}


def fed(*pieces: bytes | dict[str, object], dialect: str = "native") -> ParseResult:
    from playground.parsing.result import gather

    parser = get_dialect(dialect).create_parser(PromptData(tool_metadata=TOOLS))
    events = []
    for piece in pieces:
        events += (
            parser.feed(piece) if isinstance(piece, bytes) else parser.feed_tool_call_delta(piece)
        )
    return gather([*events, *parser.finish()])


def test_half_surrogates_in_native_calls_are_told_as_in_text() -> None:
    name, cut, rest = "f\udfff", '{"x": "a\ud83d', '\ude00"}'
    result = fed(delta(0, name, cut, id="\ud800"), delta(0, name, rest))
    call = result.tool_calls[0]
    assert (call.call_id, call.name, call.arguments) == (
        "\ufffd",
        "f\ufffd",
        {"x": "a\ufffd\ufffd"},
    )
    halves = [place for place, char in enumerate(name + cut + rest) if "\ud800" <= char <= "\udfff"]
    told = [(each.code, each.where) for each in result.findings if each.code != "unknown-tool"]
    assert told == [("lone-surrogate", f"character {place}") for place in halves]
    assert "".join(map(owned_text, result.events)) == 'f\ufffd{"x": "a\ufffd\ufffd"}'


@pytest.mark.parametrize(
    ("given", "name", "call_id"),
    [
        ({"index": 0, "id": 7, "function": {"name": 5, "arguments": "{}"}}, "5", "7"),
        ({"index": {"a": 1}, "function": {"name": ["f"], "arguments": {}}}, '["f"]', "call_1"),
    ],
)
def test_what_is_no_text_in_a_native_delta_stands_as_json(
    given: dict[str, object], name: str, call_id: str
) -> None:
    """It raised a TypeError."""
    (call,) = fed(given).tool_calls
    assert (call.name, call.call_id, call.arguments) == (name, call_id, {})


def test_native_deltas_interleave_and_names_may_come_late() -> None:
    result = fed(
        b"Both.",
        delta(0, None, "", id="x1"),
        delta(1, "list_files", "{}", id="x2"),
        delta(0, "write_file", '{"path": "a'),
        delta(0, None, '\\n"}'),
    )
    assert [(c.call_id, c.name, c.arguments) for c in result.tool_calls] == [
        ("x1", "write_file", {"path": "a\n"}),
        ("x2", "list_files", {}),
    ]
    position = 0
    for event in result.events:
        assert event.span.start == position
        position = event.span.stop
    assert codes(result) == []


def test_native_arguments_cut_off_are_aborted() -> None:
    result = fed(delta(0, "write_file", '{"path": "a'))
    assert [aborted.reason for aborted in result.aborted] == ["truncated-call"]
    assert result.aborted[0].raw == ((None, '{"path": "a'),)


def test_a_native_call_under_a_text_dialect_is_read_with_a_finding() -> None:
    result = fed(b"hm ", delta(0, "list_files", "{}"), b" ok", dialect="hermes")
    assert called(result) == [("list_files", {})]
    assert (result.content, codes(result)) == ("hm  ok", ["native-call"])


def test_litellms_objects_are_read_like_dicts() -> None:
    from types import SimpleNamespace as Object

    function = Object(name="list_files", arguments="{}")
    assert called(fed(Object(index=0, id="a", function=function))) == [("list_files", {})]  # type: ignore[arg-type]


# Python


@pytest.mark.parametrize("value", ["{1, 2}", "b'x'", "...", "1j", "{1: 2}", "x", "f()", "*y"])
def test_a_python_value_that_is_no_json_aborts_the_call(value: str) -> None:
    result = parse(f"[f(a={value})]", "pythonic")
    assert called(result) == []
    assert [aborted.reason for aborted in result.aborted] == ["malformed-python"]


def test_a_python_string_of_many_escapes_ends_where_it_is_closed() -> None:
    """A pattern reads 1,000 pieces of a string at once."""
    result = parse("[f(a=" + repr("'\"\n" * 900) + ", b=1)]", "pythonic")
    assert called(result) == [("f", {"a": "'\"\n" * 900, "b": 1})]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_comment_in_json_ends_with_its_line(end: str) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": 1 // one }' + end + "}}</tool_call>"
    assert called(parse(text, "hermes")) == [("f", {"a": 1})]


def test_python_literals_and_json_words_are_read() -> None:
    result = parse("[f(a=(1, 'x'), b=true, c=None, d={'k': [null]}, e=-1.5)]", "pythonic")
    assert called(result) == [
        ("f", {"a": [1, "x"], "b": True, "c": None, "d": {"k": [None]}, "e": -1.5})
    ]


@pytest.mark.parametrize(
    "value", ["-" * 100_000 + "1", "1+" * 50_000 + "1", "[" * 5_000 + "]" * 5_000]
)
def test_a_python_value_that_is_nested_too_deeply_is_aborted(value: str) -> None:
    result = parse(f"[f(a={value})]", "pythonic")
    assert called(result) == []
    assert result.aborted[0].reason in ("too-deep", "malformed-python")


# state


def test_the_state_names_the_call_the_argument_and_what_is_held() -> None:
    parser = get_dialect("xml").create_parser(PromptData(tool_metadata=TOOLS))
    parser.feed(b"Hi <write_f")
    assert (parser.state.mode, parser.state.held) == ("text", "<write_f")
    parser.feed(b"ile><path>a.py</pa")
    state = parser.state
    assert (state.mode, state.call_name, state.argument) == ("call", "write_file", "path")
    assert state.held == "</pa"


def test_text_is_given_out_as_soon_as_it_can_be_nothing_else() -> None:
    parser = get_dialect("hermes").create_parser(PromptData())
    assert parser.feed(b"Hello ") == [TextEvent(Span(0, 6), "Hello ")]
    assert parser.feed(b"<tool") == []
    assert parser.feed(b" kit>") == [TextEvent(Span(6, 16), "<tool kit>")]


def test_a_call_begins_without_waiting_for_what_could_match_behind_it() -> None:
    """`<` may begin what an opener without a body is known by: that is asked after the call."""
    parser = get_dialect("anthropic-invoke").create_parser(PromptData())
    parser.feed(b'<function_calls>\n<invoke name="read"><')
    assert parser.state.call_name == "read"


class _BytesOnly(DialectParser):
    """A parser written by hand, which has nothing but the abstract methods."""

    def __init__(self) -> None:
        self.given: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        self.given.append(data)
        return []

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        return []

    def finish(self) -> list[Event]:
        return []


def test_every_parser_reads_text_and_reasoning() -> None:
    parser = _BytesOnly()
    parser.feed_text("é\ud800")
    parser.feed_reasoning("so")
    assert parser.given == ["é\ud800".encode("utf-8", "surrogatepass"), b"so"]


@pytest.mark.parametrize("limit", [1, 2, 1024])
def test_text_and_bytes_may_be_mixed_and_keep_their_order(limit: int) -> None:
    """A character that was cut off before a text is a bad byte before it, not after it."""
    plain = get_dialect("xml").create_parser(PromptData())
    for parser in (plain, BatchedParser(get_dialect("xml").create_parser(PromptData()), limit)):
        events = [*parser.feed(b"a\xc3"), *parser.feed_text("b<"), *parser.finish()]
        texts = [event.text for event in merged(events) if isinstance(event, TextEvent)]
        assert texts == ["a", "\ufffdb<"]


def test_a_parser_in_batches_stands_where_the_last_batch_ended() -> None:
    parser = BatchedParser(get_dialect("xml").create_parser(PromptData(tool_metadata=TOOLS)), 2)
    parser.feed(b"<write_file><path>a")
    assert parser.state == ParserState("text")
    parser.feed(b"b</pa")
    assert parser.state == ParserState("call", 0, "write_file", "path", "</pa")


def test_an_aborted_call_keeps_what_was_read() -> None:
    result = parse("<write_file><path>a</path><content>one tw", "xml", TOOLS)
    (aborted,) = result.aborted
    assert isinstance(aborted, CallAbortedEvent)
    assert aborted.raw == (("path", "a"), ("content", "one tw"))


@pytest.mark.parametrize(
    "body",
    [
        "{name: 'f', arguments: {a: 'x', b: [1, 2,],}}",
        '{"name": "f", "arguments": {"a": "x", "b": [1, 2]}, // done\n}',
        '{"name": "f", /* " </tool_call> */ "arguments": {\'a\': "x", "b": [1, 2]}}',
    ],
)
def test_json_that_is_not_quite_json_is_read_with_a_finding(body: str) -> None:
    result = parse(f"<tool_call>{body}</tool_call>", "hermes")
    assert called(result) == [("f", {"a": "x", "b": [1, 2]})]
    assert codes(result) == ["relaxed-json"]
    assert result.content == ""


def test_quotes_that_were_not_escaped_end_before_what_may_follow_a_string() -> None:
    text = "[run(command='sed -n '1,5p' a.py', day=07, from='x')]"
    result = parse(text, "pythonic")
    assert called(result) == [("run", {"command": "sed -n '1,5p' a.py", "day": 7, "from": "x"})]
    assert codes(result) == ["relaxed-python"]


def test_a_parameter_without_its_closer_ends_where_the_next_one_of_the_tool_begins() -> None:
    text = (
        "<function=write_file>\n<parameter=path>\na\n<parameter=content>\nb\n</parameter>\n"
        "</function>"
    )
    result = parse(text, "qwen3-coder", TOOLS)
    assert called(result) == [("write_file", {"path": "a", "content": "b"})]
    assert codes(result) == ["missing-section", "missing-closer"]
    unknown = text.replace("content", "else")
    (call,) = parse(unknown, "qwen3-coder", TOOLS).tool_calls
    assert list(call.arguments) == ["path"]


def test_words_between_two_parameters_are_named() -> None:
    text = (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>so\n"
        "<parameter=content>\nb\n</parameter>\n</function>\n</tool_call>"
    )
    result = parse(text, "qwen3-coder", TOOLS)
    assert called(result) == [("write_file", {"path": "a", "content": "b"})]
    assert [f.message for f in result.findings] == ["after the value: 'so'"]


def test_the_end_behind_a_parameter_aborts_the_call_whatever_the_tool_has() -> None:
    """The value may hold its own closer: `a</arg_value>b`, cut after the first one."""
    tool = ToolMetadata(name="f", parameters={"a": "x"})
    call = ToolCallPart("c", "f", {"a": "1</arg_value>2"})
    whole = get_dialect("glm").format_tool_call(call, [tool])
    assert called(parse(whole, "glm", [tool])) == [("f", {"a": "1</arg_value>2"})]
    assert parse(whole[: whole.index("2")], "glm", [tool]).tool_calls == []


def test_arguments_inside_one_argument_that_the_tool_does_not_have_are_unpacked() -> None:
    text = (
        '<function_calls><invoke name="write_file"><parameter name="arguments">'
        '{"path": "a"}</parameter></invoke></function_calls>'
    )
    result = parse(text, "anthropic-invoke", TOOLS)
    assert called(result) == [("write_file", {"path": "a"})]
    assert codes(result) == ["arguments-wrapped"]


def test_nested_elements_are_an_object_read_by_its_schema() -> None:
    mark = "]<]minimax[>["
    text = (
        f'{mark}<tool_call>{mark}<invoke name="write_file">{mark}<meta>{mark}<a>1{mark}</a>'
        f"{mark}<b>x{mark}</b>{mark}<b>y{mark}</b>{mark}</meta>{mark}</invoke>{mark}</tool_call>"
    )
    assert called(parse(text, "minimax-m3", TOOLS)) == [
        ("write_file", {"meta": {"a": "1", "b": ["x", "y"]}})
    ]


def test_a_bad_byte_inside_a_name_is_found_before_it() -> None:
    data = b"<|python_tag|>write_fi\x9dle.call()"
    result = parse(data, "llama3-builtin")
    assert codes(result) == ["invalid-utf8"]
    starts = [event.span.start for event in result.events]
    assert starts == sorted(starts)
    assert result == parse([data[i : i + 1] for i in range(len(data))], "llama3-builtin")


def test_a_closer_that_is_how_an_opener_begins_waits_for_more() -> None:
    text = "```tool\nTOOL_NAME: a\nno argument ```tool\nTOOL_NAME: b\n```"
    whole = parse(text, "continue")
    data = text.encode()
    assert whole == parse([data[i : i + 4] for i in range(0, len(data), 4)], "continue")
    assert whole == parse([data[i : i + 1] for i in range(len(data))], "continue")


def test_a_findings_words_are_the_same_in_every_run() -> None:
    result = parse("[f(a=g(x))]", "pythonic")
    (found,) = [f for f in result.findings if f.code == "malformed-python"]
    assert found.message == "the value of a is not a literal"


def test_line_breaks_behind_a_name_are_one_piece_however_they_come() -> None:
    text = "TOOL_NAME: a\n\nluen"
    whole = parse(text, "continue")
    assert whole == parse([text.encode()[i : i + 1] for i in range(len(text))], "continue")
    assert whole == parse(bytearray(text.encode()), "continue")
    assert whole == parse([text[:13].encode(), text[13:].encode()], "continue")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ('<tool_call>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "hermes"),
        ("<tool_call><tool_call>\n<function=f>\n</function>\n</tool_call>", "qwen3-coder"),
    ],
)
def test_an_opener_that_stands_there_twice_is_one_with_a_finding(text: str, dialect: str) -> None:
    result = parse(text, dialect)
    assert called(result) == [("f", {})]
    assert (codes(result), result.content) == (["doubled-opener"], "")
    assert result == parse([text.encode()[i : i + 1] for i in range(len(text))], dialect)


def test_another_parameters_closer_at_the_end_is_refused_cut_off_or_not() -> None:
    text = "<write_file>\n<path>a\n</other>\n</write"
    whole = parse(text, "xml", TOOLS)
    for size in (1, 4):
        pieces = [text.encode()[i : i + size] for i in range(0, len(text), size)]
        assert whole == parse(pieces, "xml", TOOLS)


@pytest.mark.parametrize("blanks", [1, 63, 64, 65, 130])
def test_any_run_of_blanks_behind_a_name_is_the_same_in_every_cutting(blanks: int) -> None:
    text = "```tool\nTOOL_NAME: f" + "\v" * blanks + "le\nBEGIN_ARG: a\nx\nEND_ARG\n```"
    whole = parse(text, "continue")
    for size in (1, 4, 7):
        pieces = [text.encode()[i : i + size] for i in range(0, len(text), size)]
        assert whole == parse(pieces, "continue")


@pytest.mark.parametrize(
    ("text", "value"),
    [("(1)", 1), ("('x')", "x"), ("(1,)", [1]), ("()", []), ("[1, 2]", [1, 2]), ("'a' 'b'", "ab")],
)
def test_python_means_what_python_means(text: str, value: object) -> None:
    assert called(parse(f"[f(a={text})]", "pythonic")) == [("f", {"a": value})]


@pytest.mark.parametrize("text", ["[1 2]", "{'a': 1 'b': 2}", "(1 2)"])
def test_what_python_does_not_read_is_not_guessed(text: str) -> None:
    assert parse(f"[f(a={text})]", "pythonic").tool_calls == []


def test_what_never_ends_is_refused_at_its_beginning() -> None:
    """Looking for its end anew at every character would take a square of the length."""
    for text in ('["a",' + "/*x" * 50_000, '["' + '\\"' * 50_000, "['" + "x" * 50_000):
        with pytest.raises(ValueError, match="never closed"):
            relaxed_json.to_strict_json(text)


def test_text_behind_a_call_stands_apart_in_fences_too() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>\nA\n```\nB\n```\nC'
    result = parse(text, "hermes", switches=Switches(text_after_calls="finding"))
    assert result.content == ""
    kept = [e.text for e in result.events if isinstance(e, FindingEvent)]
    assert "".join(kept) == "\nA\n```\nB\n```\nC"


def test_the_whole_text_of_a_broken_call_is_content_where_asked() -> None:
    text = 'Hi <tool_call>{"name": "f", "arguments": {a b}} rest</tool_call> bye'
    result = parse(text, "hermes", switches=Switches(broken_calls="text"))
    assert result.content == text


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_run_of_blanks_is_looked_at_once(dialect: DeclaredDialect) -> None:
    """A marker that may begin with blanks was tried at each of them, over all that followed: 64
    times as much work (harmony, muse, hyperclovax)."""
    plan = compile_plan(dialect.syntax, dialect.markers, Switches(), ("write_file",))
    for point in (plan.text, *plan.reasoning, *plan.plain):
        assert len(point.candidate_pattern.findall("a" + " " * 1000 + "b")) <= 3


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_pattern_is_compiled_when_a_text_asks_for_it(dialect: DeclaredDialect) -> None:
    """All patterns of all dialects took seven seconds, of which the first pasted reply needs one
    tenth."""
    plan = compile_plan.__wrapped__(dialect.syntax, dialect.markers, Switches(), ())
    between = [form.between for form in plan.forms if form.between]
    for point in (plan.text, *plan.reasoning, *between):
        assert vars(point).keys() == {"choices", "given_candidates"}
