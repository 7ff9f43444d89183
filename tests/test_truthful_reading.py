"""Read usages, times, calls and counts as a file states them, and tell of the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import playground as pg
from playground.cache.answers.as_sent import sent_requests
from playground.cache.answers.bills import validate_folder
from playground.cache.usage import billed_of
from playground.cli import main
from playground.parsing.result import ParseResult, gather

BILLS = ((0, 2_000), (2_000, 100), (600, 1_700))
START = datetime(2025, 3, 18, 9, tzinfo=UTC)


def usage(read: int, written: int) -> dict[str, Any]:
    return {
        "input_tokens": 4,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 9,
    }


def rows(place: str, date: str) -> list[dict[str, Any]]:
    """Return rows with a usage in the response, beside it, or beside a request without one."""
    messages: list[dict[str, Any]] = []
    found = []
    for number, bill in enumerate(BILLS):
        messages = [*messages, {"role": "user", "content": f"Question {number}"}]
        body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}
        answer = {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}"}]}
        at = START + timedelta(minutes=number)
        row: dict[str, Any] = {
            "uri": "https://api.anthropic.com/v1/messages",
            "date": at.isoformat() if date == "ISO" else format_datetime(at, usegmt=True),
            "request": body,
        }
        if place != "no response":
            row["response"] = {"type": "message", "model": "claude-sonnet-4-5", **answer}
        (row["response"] if place == "response" else row)["usage"] = usage(*bill)
        found.append(row)
        messages = [*messages, answer]
    return found


@pytest.mark.parametrize("date", ["ISO", "HTTP"])
@pytest.mark.parametrize("place", ["response", "beside", "no response"])
def test_validation_and_import_read_the_same_usage_and_times(
    place: str, date: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"requests": rows(place, date)}))
    found = validate_folder(tmp_path)
    assert [(row.billed_read, row.billed_write) for row in found.rows] == list(BILLS)
    assert not [each for each in found.findings if each.code == "usage-lost"]

    (loaded,) = pg.load_sessions(file)
    session = loaded.session
    bills = map(billed_of, sent_requests(session).usages)
    assert [bill and (bill.read, bill.write) for bill in bills] == list(BILLS)
    times = [START + timedelta(minutes=number) for number in range(len(BILLS))]
    records = session.requests
    assert [datetime.fromisoformat(record.at) for record in records] == times
    assert [billed_of(record.usage) for record in records] == [billed_of(usage(*b)) for b in BILLS]


def test_a_receipt_counts_a_message_and_a_bill_once_however_requests_repeat_them(
    tmp_path: Path,
) -> None:
    """Marks for a cache move, a text becomes a block, and a diagnosis repeats what is billed."""
    given = rows("response", "HTTP")
    for row in given:
        asked = row["request"]["messages"][-1]
        block = {"type": "text", "text": asked["content"], "cache_control": {"type": "ephemeral"}}
        row["request"] |= {"messages": [*row["request"]["messages"][:-1], {**asked}]}
        row["request"]["messages"][-1]["content"] = [block]
        row["request"]["system"] = "Answer each question in one sentence."
        missed = {"type": "unavailable", "cache_missed_input_tokens": 1_234}
        row["response"]["diagnostics"] = {"cache_miss_reason": missed}
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"requests": given}))
    receipt = pg.load_session(file).receipt
    assert receipt is not None and not receipt.silent
    assert {name: there for name, there, _ in receipt.counts} == {
        "messages": 6,
        "calls": 0,
        "results": 0,
        "requests": 3,
        "input tokens": 12,
        "output tokens": 27,
    }
    assert all(there == here for _, there, here in receipt.counts)


def lines(*values: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, values))


@pytest.mark.parametrize(
    ("given", "told"),
    [("ok", True), ("one\ntwo", False), ([{"type": "text", "text": "one two"}], False)],
)
def test_what_a_command_wrote_is_told_where_the_model_was_given_something_else(
    given: Any, told: bool, tmp_path: Path
) -> None:
    file = tmp_path / "claude.jsonl"
    at = {"sessionId": "s", "uuid": "u", "version": "2.1.80", "timestamp": "2025-12-16T02:00:02Z"}
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": given}
    file.write_text(
        lines(
            {**at, "type": "assistant", "message": {"role": "assistant", "content": [call]}},
            {
                **at,
                "type": "user",
                "toolUseResult": {"stdout": "one\ntwo\n", "stderr": ""},
                "message": {"role": "user", "content": [result]},
            },
        )
    )
    (loaded,) = pg.load_sessions(file)
    messages = [each.message for each in loaded.findings if each.code == "beside-left-out"]
    assert messages == (["toolUseResult.stdout of 1 part"] if told else [])


def test_an_error_of_pi_is_told_and_printed_calls_are_calls(tmp_path: Path) -> None:
    file = tmp_path / "pi.jsonl"
    answer = {"role": "assistant", "content": [], "errorMessage": "Request was aborted"}
    file.write_text(
        lines(
            {"type": "session", "id": "s"},
            {"type": "message", "message": {"role": "user", "content": "Go on"}},
            {"type": "message", "message": answer},
        )
    )
    (loaded,) = pg.load_sessions(file)
    assert "errorMessage of 1 part" in [each.message for each in loaded.findings]

    file = tmp_path / "koog.json"
    function = {"name": "Greet", "arguments": '{"name": "Bob"}'}
    printed = json.dumps([{"function": function, "id": "c1", "type": "function"}])
    said = [{"role": "user", "content": "Greet Bob"}, {"role": "assistant", "content": printed}]
    file.write_text(json.dumps({"span": {"output": {"success": True, "data": said}}}))
    session = pg.load_session(file)
    assert [(c.tool_name, c.args) for c in session.messages[-1].tool_calls] == [
        ("Greet", {"name": "Bob"})
    ]
    assert session.receipt is not None and not session.receipt.missing


def test_a_receipt_claims_nothing_of_texts_that_it_did_not_compare(tmp_path: Path) -> None:
    file = tmp_path / "short.json"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "note": "Lost."}))
    shown = CliRunner().invoke(main, ["import", str(file), "--receipt"]).stdout
    assert "The file has no text of 24 characters to compare\n" in shown
    assert "nothing was found missing" not in shown and "100 %" not in shown
    assert "texts of 24 characters and more" in shown
    assert "Messages, equal ones once, and recorded requests are only counted." in shown
    assert "input tokens" in shown and "tokens read" not in shown


KIMI = '<|tool_call_begin|>functions.f:%s<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>'


def kimi(*indexes: str) -> str:
    calls = "".join(KIMI % index for index in indexes)
    return f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>"


DRAFT = f"<think>{kimi('0')}</think>"
MISTRAL = '[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{"a": 1}'


@pytest.mark.parametrize(
    ("dialect", "text", "codes"),
    [
        ("kimi-k2", kimi("0", "1"), []),
        ("kimi-k2", kimi("0", "0"), ["duplicate-id"]),
        ("kimi-k2", DRAFT + kimi("0"), ["draft-in-reasoning"]),
        ("kimi-k2", kimi("0") + DRAFT + kimi("0"), ["draft-in-reasoning", "duplicate-id"]),
        ("mistral", MISTRAL * 2, ["duplicate-id"]),
    ],
)
def test_two_calls_of_a_reply_with_one_id_are_told(
    dialect: str, text: str, codes: list[str]
) -> None:
    """Both were handed over in silence, and no result could say whose it is."""
    for pieces in (text, [char.encode() for char in text]):
        assert [each.code for each in pg.parse(pieces, dialect=dialect).findings] == codes


def native(*calls: tuple[int, str, str]) -> ParseResult:
    parser = pg.get_dialect("native").create_parser(pg.PromptData())
    events = []
    for index, call_id, text in calls:
        function = {"name": "f", "arguments": text}
        events += parser.feed_tool_call_delta({"index": index, "id": call_id, "function": function})
    return gather([*events, *parser.finish()])


def test_two_native_calls_with_one_id_are_told() -> None:
    result = native((0, "x", "{}"), (1, "x", "{}"))
    assert [each.message for each in result.findings] == ["id 'x' is used twice"]
    assert len(result.tool_calls) == 2


def test_native_calls_with_one_index_and_other_ids_are_several_calls() -> None:
    """Their names and arguments were joined, and the whole was aborted as no JSON."""
    result = native((0, "x", '{"a": 1}'), (0, "y", '{"a": 2}'))
    read = [(call.call_id, call.name, call.arguments) for call in result.tool_calls]
    assert read == [("x", "f", {"a": 1}), ("y", "f", {"a": 2})]
    assert [each.code for each in result.findings] == ["mended-form"]
    one = native((0, "x", '{"a"'), (0, "x", ": 1}"))
    assert [call.arguments for call in one.tool_calls] == [{"a": 1}]


REPEATED = '{"a": 1, "b": {"c": 1, "c": 2}, "a": 2, "d": "\\"d\\": 1"}'


@pytest.mark.parametrize(
    "result",
    [
        native((0, "x", REPEATED)),
        pg.parse(
            f'<tool_call>{{"name": "f", "arguments": {REPEATED}}}</tool_call>', dialect="hermes"
        ),
        pg.parse(f"<function=f>{REPEATED}</function>", dialect="llama3-function"),
        pg.parse(KIMI % "0", dialect="kimi-k2"),
    ],
    ids=["native", "hermes", "llama3-function", "none is repeated"],
)
def test_a_key_that_stands_twice_in_json_is_told(result: ParseResult) -> None:
    """In every other notation it was told; here the first value was gone without a word."""
    (call,) = result.tool_calls
    told = [(each.code, each.where) for each in result.findings if "more than once" in each.message]
    if call.arguments == {"a": 1}:
        assert told == []
    else:
        assert call.arguments == {"a": 2, "b": {"c": 2}, "d": '"d": 1'}
        places = [("duplicate-argument", f"call 0, argument {key}") for key in "ca"]
        assert told == places


def test_no_server_is_claimed_to_read_an_index_in_digits_of_another_script() -> None:
    """Python's digits are those of any script; what a server's engine takes was not tried."""
    for index, codes in (("1", []), ("\u0661", ["unproven-repair"])):
        result = pg.parse(kimi("0", index), dialect="kimi-k2", server="vllm")
        assert [each.code for each in result.findings] == codes


def ai_span(number: int, parent: int, **attributes: str) -> dict[str, Any]:
    pairs = [{"key": f"ai.{k}", "value": {"stringValue": v}} for k, v in attributes.items()]
    ids = {"spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else ""}
    return {"traceId": "a" * 32, **ids, "name": "ai", "attributes": pairs}


def test_an_outer_span_of_the_ai_sdk_is_left_out_only_if_its_own_inner_span_is_there(
    tmp_path: Path,
) -> None:
    """An outer span was left out if the file had the inner span of any other call."""
    asked = {"prompt.messages": json.dumps([{"role": "user", "content": "Ebb?"}])}
    spans = [
        ai_span(1, 0, prompt=json.dumps({"prompt": "Ebb?"}), **{"response.text": "Noon."}),
        ai_span(2, 1, **asked, **{"response.text": "Noon."}),
        ai_span(3, 0, prompt=json.dumps({"prompt": "Flood?"}), **{"response.text": "Six."}),
    ]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    (tmp_path / "trace.json").write_text(json.dumps(document))
    found = [loaded.session.messages for loaded in pg.load_sessions(tmp_path / "trace.json")]
    assert [
        [getattr(part, "text", "") for one in said for part in one.parts] for said in found
    ] == [
        ["Ebb?", "Noon."],
        ["Flood?", "Six."],
    ]
