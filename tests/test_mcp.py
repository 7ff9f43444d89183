"""The MCP server, asked by the SDK's own client over both transports, each a real process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import ROOT
from mcp import Client, StdioServerParameters
from secret_examples import fill_example

import playground as pg
from playground.base.errors import InputFault
from playground.base.fixes import FIXES
from playground.plugins.mcp_server.answers import Answer, Mend, sendable
from playground.plugins.mcp_server.cache_mends import cache_mends
from playground.plugins.mcp_server.inputs import Roots
from playground.plugins.mcp_server.patches import patch_between, patched, pointers
from playground.plugins.mcp_server.questions import Questions
from playground.plugins.mcp_server.reply_mends import reply_mends
from playground.questions.detection import detect
from playground.show.wire import simulation_json

sys.path.insert(0, str(ROOT / "benchmarks"))
from agent_mends import drawn, share_mended

pytestmark = pytest.mark.early

COMMAND = ["-m", "playground", "mcp"]
SAID, (TOKEN, *_) = fill_example("keys ghp_{a36} and ghp_{a36}, password: {a14} .")
REPLY = 'I look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nThen more.'


def ask_over_stdio(ask: Callable[[Client], Awaitable[None]], folder: Path) -> None:
    async def run() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=COMMAND, cwd=folder)
        async with Client(parameters) as client:
            await ask(client)

    asyncio.run(run())


def billed_transcript(*bills: tuple[int, int]) -> str:
    """A transcript of Claude Code without its system prompt; each bill is read and written."""
    lines: list[dict[str, Any]] = []
    for number, (read, written) in enumerate(bills):
        usage = {
            "input_tokens": 5,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": 9,
        }
        said = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "usage": usage}
        said |= {"id": f"msg_{number}", "type": "message", "model": "claude-sonnet-4-5"}
        lines += [
            {"type": "user", "message": {"role": "user", "content": f"Question {number}?"}},
            {"type": "assistant", "message": said},
        ]
    for number, line in enumerate(lines):
        at = f"2026-11-29T10:00:{number:02}.000Z"
        line |= {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        line |= {"sessionId": "s", "version": "2.1.30", "isSidechain": False, "timestamp": at}
    return "\n".join(map(json.dumps, lines))


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    assert re.match("(not )?certain: ", content["sure"]), content["sure"]
    return content


CUT = (
    '```\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n```\n<tool_call>\n{"name": "f"'
)


async def error(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    text: str = result.content[0].text  # type: ignore[union-attr]
    assert "\n" not in text and "Traceback" not in text
    return text


def test_answers_are_the_librarys_and_mistakes_are_errors_of_the_tool(tmp_path: Path) -> None:
    (tmp_path / "said.json").write_text(json.dumps([{"role": "user", "content": SAID}]))
    (tmp_path / "away.json").symlink_to("/etc/hostname")

    async def ask(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8 and all(tool.output_schema and tool.description for tool in tools)
        found = await answer(
            client, "why_did_this_cache_break", requests="06-cache-eight-turns", model="gpt-5.6"
        )
        told = pg.simulate_cache("06-cache-eight-turns", model="gpt-5.6")
        expected = json.loads(json.dumps(simulation_json(told)))
        for key in ("breaks", "provider", "model", "findings"):
            assert found["details"][key] == expected[key]
        handed = await answer(
            client, "what_does_this_server_drop", reply=REPLY, server="vllm", tools=[{"name": "f"}]
        )
        assert handed["where"] == r"characters 63 to 74: '\nThen more.'"
        assert handed["sure"].startswith("certain")
        cut = await answer(client, "what_does_this_server_drop", reply=CUT, server="vllm")
        assert "it drops 1 call and 0 characters" in cut["answer"]
        assert cut["remedy"] == FIXES["truncated-call"]
        assert len(cut["findings"]) > 1
        again = patched({"reply": REPLY}, handed["mends"][0]["edits"])
        read = pg.parse(again["reply"], dialect="hermes", tools=[{"name": "f"}], server="vllm")
        assert read.content.split() == ["I", "look.", "Then", "more."] and len(read.tool_calls) == 1
        assert (await answer(client, "which_dialect_is_this", reply=REPLY))["answer"].startswith(
            "hermes"
        )
        told_in = await answer(
            client, "how_is_this_session_written", session="said.json", dialect="hermes"
        )
        assert TOKEN not in json.dumps(told_in)
        assert told_in["starred"] == "3 values starred out: 2 access tokens, 1 password"
        before = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}]}
        after = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be very brief."}]}
        (tmp_path / "bodies.json").write_text(json.dumps([before, after]))
        broken = await answer(client, "why_did_this_cache_break", requests="bodies.json")
        assert broken["answer"].startswith("Request 2 reads 0 tokens: ")
        text = {"type": "text", "text": "wave " * 960, "cache_control": {"type": "ephemeral"}}
        near = {"model": "claude-sonnet-4-5", "system": [text]}
        said = ([{"role": "user", "content": "Hi."}], [{"role": "user", "content": "Bye."}])
        short = [{**near, "messages": messages} for messages in said]
        (tmp_path / "billed.jsonl").write_text(billed_transcript((0, 12_000), (12_000, 300)))
        whole = await answer(client, "why_did_this_cache_break", requests="billed.jsonl")
        assert whole["answer"].startswith("No cache break. Billed: ")
        second = await answer(
            client, "why_did_this_cache_break", requests="billed.jsonl", request=2
        )
        assert "(its bill shows 12,000)" in second["answer"]
        perhaps = await answer(client, "why_did_this_cache_break", requests=short)
        assert perhaps["answer"].startswith("Request 2 reads 1,060 of 1,060 cached tokens: ")
        cost = await answer(client, "what_does_this_change_cost", before=before, after=after)
        assert cost["answer"] == pg.diff(before, after).headline
        laws = await answer(client, "check_this_declaration", declaration="hermes", examples=3)
        assert laws["details"]["laws"] == pg.check_dialect("hermes", 3).to_dict()
        meaning = await answer(client, "explain_this_finding", finding="request 2: tool-order")
        assert meaning["remedy"] == "send the tools in one order, sorted by name for instance"
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert {"playground://dialects/hermes", "playground://cache-rules/anthropic"} <= {*uris}
        page = (await client.read_resource("playground://dialects/hermes")).contents[0]
        assert page.text == (ROOT / "docs/formats/hermes.md").read_text()  # type: ignore[union-attr]
        drop = "what_does_this_server_drop"
        for words, tool, arguments in [
            ("outside of the folders", "why_did_this_cache_break", {"requests": "../x.json"}),
            ("outside of the folders", "why_did_this_cache_break", {"requests": "away.json"}),
            ("no such file", "how_is_this_session_written", {"session": "x", "dialect": "hermes"}),
            ("did you mean 'hermes'", "how_is_this_session_written",
                {"session": "said.json", "dialect": "hermse"}),
            ("did you mean 'vllm'", drop, {"reply": "x", "server": "vlm", "dialect": "hermes"}),
            ("did you mean 'reply'", drop, {"repl": "x", "server": "vllm"}),
            ("all: requests, ", "why_did_this_cache_break", {"bodies": "x"}),
            ("server: Field required", drop, {"reply": "x"}),
            ("no tool 'drop'", "drop", {}),
            ("there is no corpus", "find_in_corpus", {"corpus": ".", "question": "breaks"}),
            ("nor a model is given", "which_dialect_is_this", {}),
            ("did you mean 'call-in-fence'", "explain_this_finding", {"finding": "call-in-fense"}),
        ]:  # fmt: skip
            assert words in await error(client, tool, **arguments)

    ask_over_stdio(ask, tmp_path)


XML_CALL = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "1"}}\n</tool_call>'
SHAPES = ["{}", "First.\n{}", "{}\nDone.", "First.\n{}\nMid.\n{}\nDone.", "```\n{}\n```\nDone."]
THOUGHTS = ["", "<think>hm</think>", "<think>hm\n", "Look.\n<think>hm</think>"]


@pytest.fixture(scope="module")
def recognised_once() -> Iterator[None]:
    """A reply is recognised alike whatever server it goes to: by a parse in each dialect."""
    with pytest.MonkeyPatch.context() as patch:
        recognised = cache(lambda text: detect(text, []))
        place = "playground.plugins.mcp_server.reply_mends.detect"
        patch.setattr(place, lambda text, tools: recognised(text))
        yield


@pytest.mark.usefixtures("recognised_once")
@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize("server", ["vllm", "vllm:hermes", "sglang:qwen25", "llama.cpp", "ollama"])
@pytest.mark.parametrize(("call", "cut", "dialect"), [
    (CALL, CALL.partition("}}")[0], "hermes"), (CALL, CALL.replace("}}", "}"), "hermes"),
    (XML_CALL, XML_CALL.partition("\n</para")[0], "hermes"),
    (XML_CALL, XML_CALL.removesuffix("\n</tool_call>"), "qwen3-coder"),
])  # fmt: skip
def test_a_mend_keeps_text_and_reasoning_or_names_what_it_leaves_out(
    call: str, cut: str, dialect: str, server: str, thought: str
) -> None:
    whole = [thought + shape.replace("{}", call) for shape in SHAPES]
    broken = [thought + shape.replace("{}", cut) for shape in SHAPES]
    broken += [f"{thought}{call}\nMid.\n{cut}", f"{thought}{cut}\nMid.\n{call}\nDone."]
    broken += [f"{thought}<tool_call>\n{call}\nDone."]
    for reply in whole + broken:
        for mend in reply_mends(reply, dialect, server, [], own=True):
            arguments = {"reply": reply, "dialect": dialect, "server": server}
            asked = patched(arguments, mend.edits)
            read = pg.parse(asked["reply"], dialect=asked["dialect"], server=asked["server"])
            case = (reply, mend.change, mend.assumes, mend.then, asked["reply"])
            assert not (reply in whole and "close" in mend.change), case
            words = re.findall(r"First\.|Mid\.|Done\.|Look\.|hm", reply)
            left_out = " ".join(mend.assumes)
            assert all(each in asked["reply"] or each in left_out for each in words), case
            whole_calls = all(call.arguments == {"a": "1"} for call in read.tool_calls)
            assert whole_calls or asked["reply"] == reply, case
            assert {*read.content.split()} <= {*words, "```"}, case
            assert not ("left out" in left_out and "; 0 characters" in mend.then), case
            before, after = (
                [each for each in re.findall(r"First|Mid|Done|Look|hm|(?<=[=\"])f\b", text)]
                for text in (reply, asked["reply"])
            )
            assert before == after or "moves" in mend.change or left_out, case


@pytest.mark.parametrize("said", ["Hi.", [{"role": "developer", "content": "Go on."}]])
def test_a_mend_loses_no_sentence_in_silence(said: Any) -> None:
    """The time went out of the instructions, and no user's message was there to take it."""
    rest = " Sail with the tide." * 700
    before, after = (
        {"model": "gpt-4o", "instructions": f"It is {hour} now.{rest}", "input": said}
        for hour in ("10:00", "11:00")
    )
    mends = cache_mends(before, after, 1, lambda pair: pg.simulate_cache(pair, times=[0, 9]), True)

    assert len(mends) == (2 if said == "Hi." else 1)
    for mend in mends:
        (first, second) = patched({"requests": [before, after]}, mend.edits)["requests"]
        assert "It is 10:00 now." in str(first)
        assert "It is 11:00 now." in str(second) or "new content is left out" in mend.assumes


RULES = " ".join(f"Rule {number}: keep the log of berth {number}." for number in range(900))


@pytest.mark.parametrize(
    ("field", "key", "models", "head"),
    [
        ("system", "messages", ("claude-opus-5", "claude-opus-4-1"), ""),
        ("system", "messages", ("claude-opus-5", "claude-opus-5"), "It is {} now. "),
        ("instructions", "input", ("gpt-5", "gpt-4o"), ""),
        ("instructions", "input", ("gpt-5", "gpt-5"), "It is {} now. "),
    ],
)
def test_an_answer_says_a_long_text_once_at_most(
    field: str, key: str, models: tuple[str, str], head: str
) -> None:
    """Another model, or the time in a prompt of 30,000 characters, does not repeat the prompt."""
    said, marked = [{"role": "user", "content": "Ebb?"}], {"cache_control": {"type": "ephemeral"}}
    bodies = [
        {"model": model, field: head.format(hour) + RULES, key: said}
        | (marked if field == "system" else {})
        for model, hour in zip(models, ("10:00", "11:00"), strict=True)
    ]
    sent = sendable(Questions(Roots.of([])).why_did_this_cache_break(bodies))
    assert json.dumps(sent.model_dump()).count("Rule 800:") == bool(head)
    assert sum("Rule 800:" in str(mend.edits) for mend in sent.mends) == bool(head)
    for body in patched({"requests": bodies}, sent.mends[0].edits)["requests"]:
        assert "Rule 800:" in body[field]


def test_a_long_call_stands_in_an_edit_alone() -> None:
    reply = REPLY.replace("{}", json.dumps({"a": RULES}))
    answered = Questions(Roots.of([])).what_does_this_server_drop("vllm", reply=reply)
    assert len(answered.mends[0].then) < 400 and RULES in answered.mends[0].edits[0]["value"]


def test_an_agent_that_knows_only_the_answers_mends_eight_of_ten_over_http() -> None:
    server = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        said = server.stderr.readline()
        found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp) \(.*\)\n", said)
        assert found, said
        refused = httpx.post(found[1], json={}, headers={"Host": "example.com"})
        assert (refused.status_code, "example.com" in refused.text) == (400, True)
        foreign = httpx.post(found[1], json={}, headers={"Origin": "http://example.com"})
        assert foreign.status_code == 403

        async def run() -> None:
            async with Client(found[1]) as client:
                share, failed = await share_mended(client, drawn(seed=7, count=28))
                assert share >= 0.8, failed
                assert [*failed] in ([], ["cut inside a text"])

        asyncio.run(run())
    finally:
        server.terminate()
        server.communicate(timeout=20)
    assert server.returncode == -signal.SIGTERM


def test_only_this_machine_is_served_and_a_missing_package_is_one_line() -> None:
    gone = "import sys; sys.modules['mcp'] = None; from playground.cli import main; main()"
    for words, arguments in [
        ("reached from other machines", [*COMMAND, "--http", "--host", "0.0.0.0"]),
        ("'dialect-playground[mcp]'", ["-c", gone, "mcp"]),
        ("no such folder", [*COMMAND, "--root", "nowhere"]),
    ]:
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert words in done.stderr


def test_a_path_stays_below_its_roots(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.json").write_text("[]")
    (inside / "link").symlink_to(outside)
    (inside / "own").symlink_to(inside / "a.json")
    roots = Roots.of([str(inside)])
    assert roots.name("a.json#2") == f"{inside}/a.json#2"
    assert roots.file("own") == roots.file("../in/a.json") == inside / "a.json"
    for path in ("../out/a.json", "link/a.json", str(outside / "a.json"), "/dev/stdin", "~", "\0"):
        with pytest.raises(InputFault):
            roots.file(path)
    both = Roots.of([str(inside), str(outside)])
    assert both.file(str(outside / "a.json")) == outside / "a.json"


def test_a_long_answer_is_cut_and_says_so_but_no_edit_is_cut() -> None:
    value = "x " * 25_000
    mend = Mend(change="c", edits=[{"op": "add", "path": "/reply", "value": value}], then="t")
    long = {"texts": [value] * 50, "n": 1}
    sent = sendable(Answer(answer="a", sure="s", details=long, mends=[mend]))
    assert sent.mends[0].edits[0]["value"] == value
    assert any(note.startswith("details.texts: ") and "of 50 items" in note for note in sent.cut)
    assert len(sent.model_dump_json()) < 50_000 + 32_000
    assert len(sent.text()) < 4_100
    assert (
        "mends.0.edits: left out"
        in sendable(
            Answer(answer="a", sure="s", mends=[mend.model_copy(update={"edits": mend.edits * 2})])
        ).cut[0]
    )
    both = sendable(Answer(answer="a", sure="s", mends=[mend, mend]))
    assert [bool(each.edits) for each in both.mends] == [True, False]
    assert both.cut[0].startswith("mends.1.edits: left out")
    secret = Mend(change="c", edits=[{"op": "add", "path": "/a", "value": SAID}], then="t")
    assert sendable(Answer(answer="a", sure="s", mends=[secret])).mends[0].edits == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1, "b": [1, 2, 3]}, {"a": 1, "b": [2, 3, {"c~/": None}]}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
        ([{"t": "long " * 40}, 1, 2, 3], [0, {"t": "long " * 40}, 3, "s"]),
        ({"a": 1}, {"b": 1, "a": 1}),
    ],
)
def test_a_patch_makes_the_new_value_with_its_keys_in_order(old: Any, new: Any) -> None:
    edits = patch_between(old, new, "/0")
    assert json.dumps(patched([old], edits)) == json.dumps([new])
    copied = patch_between(old, new, "/1", dict(pointers(new, "/0")))
    assert json.dumps(patched([new, old], copied)[1]) == json.dumps(new)
    assert os.linesep.join(map(str, copied)).count("long long") == 0
