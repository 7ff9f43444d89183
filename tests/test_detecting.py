"""Detection: a dialect's own writing is recognised, foreign markup is named, prose is nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from ast import literal_eval
from typing import Final

import pytest
from conftest import ROOT
from strategies import DIALECTS, TOOLS

import playground as pg
from playground.dialects.declared import DeclaredDialect
from playground.dialects.misspelled_markers import misspelled_marker
from playground.dialects.reading import parse
from playground.nouns.messages import ToolCallPart
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.plan import call_openers
from playground.parsing.result import ParseResult
from playground.questions.detection import detect, detect_recording, foreign_finding
from playground.questions.fast_detection import LikeliestDialect, likeliest
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.loading import sample_sessions

CALL = ToolCallPart("call_1", "write_file", {"path": "a.py", "content": "x = 1"})
# forms that another dialect writes character for character
TWINS = {
    "k-exaone-2": "qwen3-coder",
    "llama4-pythonic": "pythonic",
    "ernie45": "hermes",
    "exaone-4": "hermes",
    "mimo": "qwen3-coder",
}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_what_a_dialect_writes_is_recognised(dialect: DeclaredDialect) -> None:
    texts = dialect.syntax.sample_texts
    own = ToolCallPart("call_1", dialect.syntax.name or "write_file", texts)
    text = "I will write it.\n" + dialect.format_tool_call(own if texts else CALL, TOOLS)
    best = detect(text, TOOLS)[0]
    assert best.dialect == TWINS.get(dialect.name, dialect.name)
    assert best.as_written
    assert best.reason.startswith("1 complete call, written exactly so, ")
    # which asks those alone whose openers stand there
    found = likeliest(text, TOOLS)
    assert best.evident <= 0 or (found and found[0] == best)


def test_prose_is_read_by_nobody() -> None:
    found = detect("Nothing is called here, not even `<tool_call>`.", TOOLS)
    assert {d.calls for d in found} == {0}
    assert foreign_finding(found, "xml") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("It is 21 degrees.", "no dialect sees anything of a call in 17 characters"),
    ],
)
def test_where_nobody_sees_a_call_no_dialect_is_named(text: str, reason: str) -> None:
    found = detect(text)
    assert (found.dialect, found.reason) == (None, reason)


def test_a_closer_that_stutters_makes_no_other_dialect_of_it() -> None:
    call = '<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>'
    for closer in ("</tool_call>", "\n</tool_call>"):
        found = detect(call + closer, TOOLS)
        assert (found.dialect, found[0].text_characters) == ("hermes", 0)
    assert found.reason == found[0].reason


def test_foreign_markup_is_a_finding_never_silence() -> None:
    text = '<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>'
    found = detect(text, TOOLS)
    finding = foreign_finding(found, "xml")
    assert finding
    assert finding.code == "foreign-markup"
    assert finding.message == "hermes reads 1 complete call here, xml reads none"
    assert foreign_finding(found, "hermes") is None


@pytest.mark.parametrize("name", sample_sessions())
def test_the_dialect_that_was_recorded_is_found_on_every_sample(name: str) -> None:
    session = sample_sessions()[name]
    for recording in session.recordings:
        found = detect_recording(recording, session.tools)
        assert found[0].dialect == recording.dialect, (recording.name, found[:3])


def test_a_call_that_was_cut_off_is_known_by_how_it_begins() -> None:
    text = '<tool_call>\n{"name": "get_tides", "arguments": {"harbour": "Br'
    found = [each.dialect for each in detect(text)][:3]
    assert found[0] == "hermes" and {*found} == {"hermes", "ernie45", "exaone-4"}


_WEATHER = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
_GET_WEATHER = {"name": "get_weather", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # a marker left lying speaks against a dialect that reads the rest as its own
        (f"[TOOL_CALLS] [{_WEATHER}]", ["mistral"]),
        (
            "<tool_call><function=get_weather><parameter=city>Paris</parameter></function>",
            ["qwen3-coder"],
        ),
        # any text is a call of some dialects: that is no proof
        ('<|python_tag|>{"name": "get_weather", "parameters": {}}', ["llama3-json"]),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
            '{"city": "Paris"\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            ["deepseek-v3"],
        ),
        # one that tells of the call before those that miss it in silence
        (f"```json\n<tool_call>\n{_WEATHER}\n</tool_call>\n```", ["hermes"]),
        ("<tool_call>get_weather</tool_cal", ["glm"]),
    ],
)
def test_wild_replies_are_known_by_what_they_leave(text: str, first: list[str]) -> None:
    found = [each.dialect for each in detect(text, [_GET_WEATHER])]
    assert found[: len(first)] == first


@pytest.mark.parametrize("tag", ["tool_call", "tool_calls", "function_call", "function_calls"])
def test_the_tag_around_a_named_call_is_no_tool_of_xml(tag: str) -> None:
    text = f'<{tag}>\n{{"name": "get_horoscope", "arguments": {{"sign": "Leo"}}}}\n</{tag}>'
    pieces = [bytes([byte]) for byte in text.encode()]
    for read in (parse(text, "xml"), parse(pieces, "xml")):
        assert (read.content, read.tool_calls) == (text, [])
    dialect = detect(text).dialect
    assert dialect is not None
    (call,) = parse(text, dialect).tool_calls
    assert (call.name, call.arguments) == ("get_horoscope", {"sign": "Leo"})
    # a tool of that name is one where the session has it
    (own,) = parse(
        f"<{tag}><a>1</a></{tag}>", "xml", [{"name": tag, "input_schema": {}}]
    ).tool_calls
    assert own.name == tag


def test_a_code_fence_is_no_call_of_an_agent_that_calls_by_fences() -> None:
    text = f"```json\n{_WEATHER}\n```"
    assert detect(text)[0].dialect != "sweagent"
    assert foreign_finding(detect("```bash\nls -la\n```"), "hermes") is None


@pytest.mark.parametrize("language", ["bash", "python"])
def test_a_fence_with_its_language_is_prose_in_a_reply_that_calls_nothing(language: str) -> None:
    text = f"Here is how:\n\n```{language}\nls -la\n```\n\nLet me know."
    found = detect(text)
    assert (found.dialect, likeliest(text)) == (None, None)
    assert found.reason == (
        f"no dialect sees anything of a call in {len(text)} characters, "
        "except sweagent, in which any code fence is a call"
    )
    (call,) = parse(text, "sweagent").tool_calls
    assert call.arguments == {"command": "ls -la"}  # the language is no part of the command
    assert detect("```\nls -la\n```").dialect == "sweagent"  # as it writes it itself


@pytest.mark.parametrize("opener", ["```\r\n", "``` \n", "```bash\r\n", "```bash  \n"])
def test_a_fence_calls_whatever_blanks_end_its_first_line(opener: str) -> None:
    """SWE-agent itself forgives them: `^```(\\S*)\\s*\\n` (sweagent/tools/parsing.py)."""
    result = parse(f"I look.\n{opener}ls -la\n```", "sweagent")
    assert [call.arguments for call in result.tool_calls] == [{"command": "ls -la"}]
    assert (result.content, result.findings) == ("I look.\n", [])


def test_a_file_named_on_a_line_of_windows_has_no_line_end_in_its_name() -> None:
    text = (
        "a/b.py\r\n```python\r\n<<<<<<< SEARCH\r\nx\r\n=======\r\ny\r\n>>>>>>> REPLACE\r\n```\r\n"
    )
    (call,) = parse(text, "aider-editblock").tool_calls
    assert call.arguments == {"path": "a/b.py", "search": "x\r\n", "replace": "y\r\n"}
    pieces = [text[at : at + 1].encode() for at in range(len(text))]
    assert parse(pieces, "aider-editblock").events == parse(text, "aider-editblock").events


def test_an_edit_in_a_fence_of_any_language_is_aiders() -> None:
    edit = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE"
    assert detect(f"a.py\n```python\n{edit}\n```").dialect == "aider-editblock"


def test_a_reply_whose_only_call_is_cut_off_has_a_likeliest_dialect() -> None:
    cut = likeliest('I will.\n\n[TOOL_CALLS]write_file[ARGS]{"path": "a')
    assert cut is not None
    assert (cut[0].dialect, cut[0].evident, cut[0].aborted) == ("mistral", 0, 1)


_DSML = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'


@pytest.mark.parametrize(
    ("text", "nearest", "marker"),
    [
        (_DSML.replace("｜", "｜｜"), "deepseek-dsml", "<｜DSML｜tool_calls>"),
        (_DSML.replace("DSML", "DSNL"), "deepseek-dsml", "<｜DSML｜tool_calls>"),
        (_DSML.replace("DSML｜", "DSML "), "deepseek-dsml", "<｜DSML｜tool_calls>"),
        ("[tool calls] list_files [args] {}", "mistral", "[TOOL_CALLS]"),
        ("The tide is high at noon (see [1], a<b), and low at six.", None, ""),
    ],
)
def test_what_no_dialect_reads_has_the_nearest_one(
    text: str, nearest: str | None, marker: str
) -> None:
    found = detect(text)
    assert (found.dialect, found.nearest) == (None, nearest)
    assert (f"nearly {marker!r} is there, a marker of {nearest}" in found.reason) == bool(nearest)


@pytest.mark.parametrize(
    ("dialect", "text", "marker"),
    [
        ("hermes", '<Tool_Call>\n{"name": "list_files"}\n</Tool_Call>', "<tool_call>"),
        ("hermes", "&lt;tool_call&gt; and so on", "<tool_call>"),
        ("qwen3-coder", "< tool_call>< function=list_files>< /function>", "<tool_call>"),
        ("deepseek-dsml", _DSML.replace("｜", "\\uff5c"), "<｜DSML｜tool_calls>"),
        *(("deepseek-dsml", _DSML.replace("｜", sign), "<｜DSML｜tool_calls>") for sign in "‖∣│"),
        ("gemma3", "```TOOL_CODE\nlist_files()\n```", "```tool_code"),
        ("kimi-k2", "I look.<|tool_calls_sec", "<|tool_calls_section_begin|>"),
        ("json", 'I look.\n{"tool_name": "list', '"tool_name"'),
        ("json", 'I look.\n{\n  "id": "a",\n  "tool_name"', '"tool_name"'),
        ("xlam", "name: list_files\narguments: none", '"name"'),
        ("react", "I look.\nACTION: list_files", "Action:"),
        ("react", "I look.\nActi", "Action:"),
        ("xml", '<list_files id="1">\n</list_files id="1">', "<list_files>"),
        ("granite-pythonic", 'Now: "list_files"()', "list_files("),
        ("hermes", "A tool_call is a call, a<b and [1]; <b>call</b> list_files.", ""),
        ("pythonic", "I use list_files (a tool) for it.", ""),
        ("xlam", 'They said {"name": "Bob", "age": 3}.', ""),
    ],
)
def test_what_is_nearly_a_marker_is_told_of(dialect: str, text: str, marker: str) -> None:
    result = parse(text, dialect, TOOLS)
    assert (result.content, result.tool_calls) == (text, [])
    told = [(each.code, *each.message.partition("nearly ")) for each in result.findings]
    expected = f"{marker!r} of {dialect}: kept as text"
    assert [(code, name) for code, _, _, name in told] == [("near-marker", expected)] * bool(marker)
    written = [before.removesuffix(" is ") for _, before, _, _ in told if before]
    assert all(literal_eval(spelling) in text for spelling in written)


_PRINTED: Final = [
    "ModelResponse(id='c', choices=[Choices(message=Message(content='Hi', tool_calls=None))])",
    "ChatCompletion(id='c', choices=[Choice(message=ChatCompletionMessage(content='Hi'))])",
    ' ChatCompletionMessage(content=\'<tool_call>\\n{"name": "list_files"}\\n</tool_call>\')',
]


@pytest.mark.parametrize("text", _PRINTED)
@pytest.mark.parametrize("dialect", ["hermes", "native", "xml"])
def test_a_printed_response_of_a_client_library_is_told(dialect: str, text: str) -> None:
    codes = [each.code for each in parse(text, dialect, TOOLS).findings]
    assert [code for code in codes if code not in ("mended-form", "no-arguments")] == [
        "printed-response"
    ]
    prose = "Message(content='Hi') is how it prints; ChatCompletion() is a class."
    assert parse(prose, dialect, TOOLS).findings == []


@pytest.mark.parametrize(
    ("before", "after", "amiss"),
    [
        ('{"tool_calls": [', "]}", True),
        ('{"kind": "function", "call": ', "}", True),
        ('I ask. {"tool": ', "", True),
        ("Here it is: ", "", False),
        ("{the tide} ", " {the ebb}", False),
        ('{"type": "function"} ', "", False),
    ],
)
def test_a_call_inside_an_object_that_is_text_is_not_passed_in_silence(
    before: str, after: str, amiss: bool
) -> None:
    call = '{"name": "tide", "parameters": {"port": "Brest"}}'
    result = parse(f"{before}{call}{after}", "llama3-json")
    assert [each.arguments for each in result.tool_calls] == [{"port": "Brest"}]
    assert [each.code for each in result.findings] == ["unexpected-text"] * amiss


@pytest.mark.parametrize(
    "text",
    [
        "Please give me your address, name and phone number.",
        'The form has three fields: "id", "name" and "email".',
        "I used the tool name `write_file` as you asked.",
        "The tool name: write_file. Its input: a path.",
        "The recommended action: restart the server.",
        "After the phone call: write a summary. If it helps, I can give you a call",
        "The `tool_call_id` key stands beside the `json[0]` of the answer.",
        "Write to gerrit@write_file.org, or look at the <write_file-item> element.",
    ],
)
def test_prose_is_nearly_no_marker_of_any_dialect(text: str) -> None:
    names = tuple(tool.name for tool in TOOLS)
    assert [d.name for d in DIALECTS if misspelled_marker(text, d, names)] == []


def test_what_is_detected_shows_itself_in_a_few_lines() -> None:
    found = pg.detect('<tool_call>{"name": "f", "arguments": {}}</tool_call>')

    assert repr(found) == f"<Detections of {len(found)} dialects: hermes, {found.reason}>"
    *rows, rest = str(found).splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["hermes", "exaone-4"]
    assert len(rows) == 9
    assert rest == f"and {len(found) - 8} dialects more: .frame() has them all"
    cell = found._repr_mimebundle_()["text/html"]
    assert cell.count("<tr>") == len(rows)
    assert f"the likeliest first; {len(found) - 8} more are in .frame()" in cell


def test_where_nothing_is_detected_it_shows_why() -> None:
    found = pg.detect("Nothing is called.")

    assert repr(found) == f"<Detections of {len(found)} dialects: none, {found.reason}>"
    assert found.reason in found._repr_mimebundle_()["text/html"]
    begun = pg.detect("A call begins with <tool_call> and the name.")
    assert f"likeliest: hermes ({begun.reason})" in begun._repr_mimebundle_()["text/html"]


def test_prose_is_of_no_likeliest_dialect() -> None:
    assert likeliest("The tide is high at noon (see the table), and low at six.") is None


def test_no_call_of_an_unknown_tool_speaks_for_a_dialect() -> None:
    """Of several the first alone was left out."""
    call = '<tool_call>\n{"name": "fly", "arguments": {}}\n</tool_call>'
    best = next(d for d in detect(f"{call}\n{call}\n{call}", TOOLS) if d.dialect == "hermes")
    assert (best.calls, best.unknown, best.evident) == (3, 3, 0)
    assert likeliest(f"{call}\n{call}", TOOLS) is not None


CASES = ROOT.parent / "shared" / "conformance" / "law_cases.jsonl"


@pytest.mark.skipif(not CASES.exists(), reason="NOT RUN: ../shared is not beside this checkout")
@pytest.mark.parametrize("every", [160, pytest.param(1, marks=pytest.mark.long)])
def test_the_likeliest_of_a_case_is_the_first_of_all_dialects(every: int) -> None:
    """Who is not asked reads no call there, whole or broken off: in each case, by each dialect."""
    lines = CASES.read_text(encoding="utf-8").splitlines()[::every]
    remembering = LikeliestDialect()
    for case in map(json.loads, lines):
        text, tools = case["text"], read_tools(case["tools"] or [])
        best, found = detect(text, tools), likeliest(text, tools)
        assert best[0].evident <= 0 or (found and found[0] == best[0]), case["id"]
        for _ in range(2):  # asked anew, and of one dialect alone
            assert remembering.of(text, tools) == found, case["id"]
        asked = {name for name, opener in openers_of(tools) if opener is None or opener.is_in(text)}
        called = {each.dialect for each in best if each.calls or each.aborted}
        assert called <= asked, case["id"]


def test_who_remembers_a_dialect_asks_all_again_where_that_one_is_in_doubt() -> None:
    """Of one model and one list of tools, with the openers of the same dialects."""
    remembering = LikeliestDialect()
    exact = (
        '<tool_call>{"name": "write_file", "arguments": {"path": "%s", "content": ""}}</tool_call>'
    )
    other = "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>b</arg_value></tool_call>"
    texts = (exact % "a", exact % "<tool_call>", other, exact % "b", f"{exact % 'c'}\n{other}")
    seen: list[str | None] = []
    for text in texts:
        found = remembering.of(text, TOOLS, "a-model")
        assert found == likeliest(text, TOOLS)
        seen.append(found and found[0].dialect)
    assert seen == ["hermes", "hermes", "glm", "hermes", "glm"]


def openers_of(tools: list[ToolMetadata]) -> list[tuple[str, ChoicePoint | None]]:
    names = tuple(tool.name for tool in tools)
    return [(each.name, call_openers(each.syntax, names)) for each in DIALECTS]


def test_a_replay_in_no_dialect_is_in_the_one_that_the_text_is_written_in() -> None:
    """The first dialect read it before, whatever it was, and no call was seen."""
    text = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    for own, read_as in (("", "hermes"), ("nobody-knows", "hermes"), ("xml", "xml")):
        found = pg.replay(Recording("r", own, (TextChunk(text=text, at=0.0),)), "")
        assert found.dialect == read_as
        names = [] if read_as == "xml" else ["look"]  # to xml it is a tool that nobody offers
        assert [call.name for call in found.result.tool_calls] == names
    prose = pg.replay(Recording("r", "", (TextChunk(text="High water.", at=0.0),)), "")
    assert (prose.dialect, prose.text) == ("", "High water.")


def test_what_nobody_reads_has_the_dialect_whose_marker_stands_there_as_it_is() -> None:
    text = "]<]minimax[>[</initial_wait>]<]minimax[>[\n]<]minimax[>[</tool_call>"
    found = detect(text)
    assert (found.dialect, found.nearest) == (None, "minimax-m3")
    assert found.reason.endswith("; ']<]minimax[>[</tool_call>' is there, a marker of minimax-m3")
    found = detect("So.\n</tool_call>")  # hunyuan's `</tool_calls>` is longer, and nearly there
    assert (found.nearest, "; '</tool_call>' is there" in found.reason) == ("hermes", True)


def test_half_a_marker_at_the_end_of_a_text_is_no_call_in_it() -> None:
    openers = dict(openers_of([]))
    assert [
        (dialect, point.is_in(text))
        for dialect, text in (
            ("xml", "High water at <tool_c"),
            ("xml", "<<tool_c"),
            ("hermes", "High water at <tool_c"),
            ("hermes", 'High water at <tool_call>\n{"name": "look"'),
        )
        if (point := openers[dialect]) is not None
    ] == [("xml", False), ("xml", False), ("hermes", False), ("hermes", True)]


@pytest.mark.parametrize("piece", ["```\n", "<tool_call>", "[TOOL_CALLS]", "```json\n{}\n"])
def test_a_text_of_markers_alone_is_read_in_part_and_says_so(piece: str) -> None:
    text = piece * (80_000 // len(piece))
    found = detect(text)
    read = len(text) - found.unread
    starts = sum(map(text[:read].count, ["<t", "```", '{"', "[T"]))
    assert starts == 2_000
    assert found.reason.endswith(f"the last {found.unread:,} characters were not read")


def test_a_call_after_long_reasoning_is_read() -> None:
    thoughts = "First I look at the harbour, then at the tides [1].\n" * 3_000
    found = detect(f'<think>{thoughts}</think><tool_call>{{"name": "a"}}</tool_call>')
    assert (found.unread, found[0].calls) == (0, 1)


def test_a_dialect_is_asked_once_of_one_text_and_of_one_list_of_tools() -> None:
    text = '<tool_call>{"name": "get_tides", "arguments": {}}</tool_call>'
    others = ["xml", "apertus"]
    known, unknown = (read_tools([{"name": n, "input_schema": {}}]) for n in ("get_tides", "other"))
    assert all("foreign-markup" in _codes(parse(text, name, known)) for name in others)
    assert all("foreign-markup" not in _codes(parse(text, name, unknown)) for name in others)
    assert all("foreign-markup" in _codes(parse(text, name, known)) for name in others)


def _codes(result: ParseResult) -> set[str]:
    return {finding.code for finding in result.findings}


def test_a_pasted_reply_is_detected_without_loading_the_servers() -> None:
    program = "import sys, playground.questions.recognition; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True
    )
    assert not {"playground.servers", "playground.tokens"}.intersection(done.stdout.split())
