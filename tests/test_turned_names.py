"""A name cannot turn our own words around: on the terminal, in exported HTML, in notebooks.

What is proven of each text: outside of isolates no letter and no control is left that is written
from right to left, so that by the rules of Unicode all of it stands in the order in which we
wrote it.
"""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from turned_names import (
    CLOSING,
    OPENING,
    TURNED,
    controls,
    disorder,
    session,
    session_file,
    session_json,
    words_of_component,
)

import playground as pg
from playground.base.display import Shown
from playground.base.findings import CODES
from playground.base.wording import hidden_in, keep_order, visible
from playground.plugins.corpus.answers import CorpusAnswer
from playground.recordings.recording import Recording, TextChunk

# the function


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("calls: get_tides.", "calls: get_tides."),
        ("calls: a\u202eb.", "calls: a\\u{202e}b."),
        ("calls: a\u2069b.", "calls: a\\u{2069}b."),
        ("calls: גשר, 12 of 13", "calls: \u2068גשר\u2069, 12 of 13"),
        ("calls: גשר ישן, 1", "calls: \u2068גשר ישן\u2069, 1"),
        ("גשר → בית", "\u2068גשר\u2069 → \u2068בית\u2069"),
        ("١٢ of 3", "\u2068١٢\u2069 of 3"),
        ("גשר ישן", "גשר ישן"),
        ("at גשר\n12 of بيت", "at \u2068גשר\u2069\n12 of \u2068بيت\u2069"),
        ("naïve 漢字 😀", "naïve 漢字 😀"),
    ],
)
def test_a_line_keeps_its_order(text: str, shown: str) -> None:
    assert keep_order(text) == shown


_DIRECTED = st.text(
    "ab 1,→\n\u202a\u202e\u202c\u2066\u2067\u2068\u2069\u200e\u200fגשر٣-.'", max_size=40
)


@given(_DIRECTED, _DIRECTED)
def test_whatever_a_name_is_the_line_around_it_keeps_its_order(name: str, other: str) -> None:
    line = f"Calls of {name}: 12, and {other}."
    shown = keep_order(line)
    assert disorder(shown) == []
    assert shown.replace(OPENING, "").replace(CLOSING, "") == visible(line)


def test_time_grows_with_the_text() -> None:
    """Each is read once: nothing of it is tried in two ways."""
    import time

    def cost(text: str) -> float:
        start = time.perf_counter()
        keep_order(text)
        return time.perf_counter() - start

    for piece in ("גשר, ", "ג ' ", "ג,ג ", ", ' "):
        keep_order(piece)
        assert cost(f"a {piece * 40_000}") < 2


# findings, on the terminal and as markup

DRIVER = """
import json, sys
from playground.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.stdout.write("\\x1e"); sys.stdout.flush()
    try:
        main(arguments)
    except SystemExit as end:
        sys.stdout.write(f"\\x1f{end.code}")
    sys.stdout.flush()
"""
REPORT = """
import sys
from playground.cli.terminal import report, report_briefly
from playground.base.findings import CODES, finding
name = sys.argv[1]
for code in CODES:
    found = finding(code, f"tool {name}, field 3", f"{name} has 4 fields, not {name} and 5")
    report([found]); report_briefly([found, found])
"""


def on_terminal(program: str, *arguments: str, folder: Path = ROOT, columns: int = 2000) -> str:
    """What a program writes to a terminal that is its standard output and its standard error."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=inner,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TERM": "dumb",
            "COLUMNS": str(columns),
            "LINES": "50",  # rich asks for both
        },
    )
    os.close(inner)
    shown = b""
    while True:
        try:
            piece = os.read(outer, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    assert process.wait(timeout=60) == 0, shown.decode()[-2000:]
    return re.sub("\x1b\\[[?\\d;]*[a-zA-Z]", "", shown.decode()).replace("\r", "\n")


def test_every_finding_keeps_its_order_on_a_terminal() -> None:
    shown = on_terminal(REPORT, TURNED)
    assert disorder(shown) == []
    for code, kind in CODES.items():
        assert f"{kind.severity} {code} (tool " in shown
    assert shown.count("has 4 fields, not") == 2 * len(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_finding_keeps_its_order_as_markup(code: str) -> None:
    from playground.base.findings import finding
    from playground.show.pictures.requests import findings

    message = f"{TURNED} has 4 fields, not {TURNED} and 5"
    texts = Texts(findings(f"in {TURNED}: 3", [finding(code, f"tool {TURNED} 7", message)]))
    assert texts.wrong == []
    assert sum("has 4 fields" in text for text in texts.said) == 1


# every command

NAMED = "mine"  # of a session of the workspace


def commands(folder: Path) -> dict[str, list[list[str]]]:
    """The command lines: those whose every line is ours, and those that print content."""
    file = session_file(folder).name
    template = folder / "t.jinja"
    template.write_text("{{ messages[0].content }}{{ '\u202e' }}")
    (folder / f"{TURNED} prompt.txt").write_text(f"Say {{{{{TURNED}}}}} {{gone}} {TURNED}")
    (folder / "reply.txt").write_text(session_json()["recordings"][0]["chunks"][0]["text"])
    (folder / "policy.json").write_text('{"name": "מדיניות", "marks": [{"role": "system"}]}')
    (folder / f"{TURNED} bad.json").write_text('{"messages": [')
    bad = f"{TURNED} bad.json"
    words = [
        ["import", file],
        ["import", file, "-o", f"{TURNED} out.json"],
        ["import", bad],
        ["import", bad, "--keep-going"],
        ["compare", file, "--tokens", "-d", "xml", "-d", "native"],
        ["cache", "place", file, "-d", "xml"],
        ["cache", "place", file, "--policy-file", "policy.json"],
        ["cache", "wire", file],
        ["cache", "simulate", file, "-d", "xml", "--policy", "azad"],
        ["cache", "simulate", file, "--policy-file", "policy.json"],
        ["cache", "validate", "."],
        ["check", file, "--no-cache-break"],
        ["check", file, "--against", file],
        ["compaction", file],
        ["diff", file, "01-plain-chat", "--words"],
        ["detect", "reply.txt"],
        ["detect", file],
        ["tools", file, "-d", "xml", "--tokens", "--portable"],
        ["tools", file, "-d", "xml", "-d", "gemma"],
        ["tools", bad],
        ["tokens", file, "--model", TURNED],
        ["payload", file, "--provider", "anthropic", "--provider", TURNED],
        ["trial", file],
        ["experiment", file, "--every-dialect"],
        ["experiment", file, "--cut", "1"],
        ["experiment", file, "--lose", "1"],
        ["workspace", "add", file, "--name", TURNED],
        ["workspace", "add", file, "--name", NAMED],
        ["workspace"],
        ["workspace", "rename", TURNED, f"{TURNED} 2"],
        ["workspace", "remove", f"{TURNED} 2"],
        ["workspace", "restore"],
        ["workspace", "restore", f"{TURNED} 2"],
        ["workspace", "remove", TURNED],
        ["corpus", "build", "corpus", file, bad],
        ["corpus", "ask", "corpus", "sessions"],
        ["corpus", "ask", "corpus", "--sql", "SELECT title, 12 AS n FROM sessions"],
        ["corpus", "ask", "corpus", TURNED],
        ["chat-template", "audit", "t.jinja"],
        ["record", "--session", file, "--model", TURNED, "--base-url", "http://127.0.0.1:9"],
        ["render", f"{TURNED} none.json", "-d", "xml"],
        ["render", file, "-d", TURNED],
        ["render", file, "-d", "xml", "-o", f"{TURNED} x/prompt.txt"],
        ["signature", f"{TURNED} ->"],
        ["template", "run", bad],
        ["proxy", "--host", TURNED],
    ]
    content = [
        ["render", file, "-d", "xml", "-d", "native"],
        ["raw", file, "--llama", "3"],
        ["raw", file, "--template", "t.jinja"],
        ["replay", file, "--events", "--server", "vllm"],
        ["replay", file, "--report", "vllm"],
        ["payload", file, "--provider", "anthropic", "--body"],
        ["grammar", file, "-d", "hermes"],
        ["export", file, "--to", "pytest"],
        ["export", file, "--to", "json"],
        ["export", file, "--to", "html"],
        ["signature", "question -> answer", "-i", f"question={TURNED}"],
        ["template", "prompt", f"{TURNED} prompt.txt", "--values", json.dumps({TURNED: TURNED})],
        ["chat-template", "audit", "t.jinja", "--shown"],
        ["workspace", "save", NAMED],
        ["corpus", "ask", "corpus", "sessions", "--csv"],
        ["import", file, "--json"],
        ["compare", file, "--json"],
        ["workspace", "--json"],
    ]
    return {"words": words, "content": content}


@pytest.fixture(scope="session")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[list[str], str]]]:
    folder = tmp_path_factory.mktemp("turned")
    found: dict[str, list[tuple[list[str], str]]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_HOME", str(folder / "home"))
        for kind, lines in commands(folder).items():
            shown = on_terminal(DRIVER, json.dumps(lines), folder=folder).split("\x1e")[1:]
            assert len(shown) == len(lines)
            found[kind] = list(zip(lines, shown, strict=True))
    return found


def test_every_command_keeps_the_order_of_its_own_lines(
    said: dict[str, list[tuple[list[str], str]]],
) -> None:
    wrong = {
        " ".join(map(ascii, line)): found
        for line, text in said["words"]
        if (found := disorder(text))
    }
    assert wrong == {}
    shown = [text for _, text in said["words"]]
    assert sum("\\u{202e}" in text for text in shown) >= 31  # they do name it
    assert not any("Traceback" in text or "bug of ours" in text for text in shown)


def test_a_table_that_is_folded_keeps_its_order_line_by_line(tmp_path: Path) -> None:
    """An isolate ends with its line: a name that is folded needs one on each."""
    file = session_file(tmp_path)
    lines = [["tools", str(file)], ["diff", str(file), "01-plain-chat"], ["trial", str(file)]]
    for columns in (40, 61, 80):
        shown = on_terminal(DRIVER, json.dumps(lines), folder=tmp_path, columns=columns)
        assert disorder(shown) == []
        assert shown.count(OPENING) > 10


def test_no_content_on_a_terminal_turns_anything_around(
    said: dict[str, list[tuple[list[str], str]]],
) -> None:
    wrong = {
        " ".join(map(ascii, line)): found
        for line, text in said["content"]
        if (found := controls(text))
    }
    assert wrong == {}
    shown = [text for _, text in said["content"]]
    assert sum("202e" in text for text in shown) >= 15
    assert not any("Traceback" in text or "bug of ours" in text for text in shown)


def test_json_and_library_values_are_exact(tmp_path: Path) -> None:
    file = session_file(tmp_path)
    command = [str(Path(sys.executable).with_name("playground"))]
    done = subprocess.run([*command, "import", str(file), "--json"], capture_output=True)
    assert json.loads(done.stdout)[0]["session"] == TURNED
    done = subprocess.run([*command, "replay", str(file), "--json"], capture_output=True)
    assert json.loads(done.stdout)["tool_calls"][0]["name"] == TURNED
    loaded = session(tmp_path)
    assert (loaded.title, loaded.tools[0].name) == (TURNED, TURNED)
    assert pg.compare(loaded, "xml").frame()["dialect"].to_list() == ["xml"]
    frame = pg.tool_costs(loaded, models=["gpt-4o"], dialects=["xml"]).frame()
    assert TURNED in frame["tool"].to_list()


# HTML


class Texts(HTMLParser):
    """The texts of a page: `said` are ours, each element's by itself; `exact` are those in <pre>;
    `data` what a component is fed. A <bdi> is an isolate."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = [""]
        self.exact: list[str] = []
        self.data: list[str] = []
        self.inside: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "bdi":
            self.said[-1] += OPENING
        elif tag not in ("b", "br", "meta", "link"):
            self.inside.append(tag)
            self.said.append("")
        for _, value in attributes:
            self.said.insert(0, value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "bdi":
            self.said[-1] += CLOSING
        elif tag not in ("b", "br"):
            while self.inside and self.inside.pop() != tag:
                pass
            self.said.append("")

    def handle_data(self, data: str) -> None:
        if "script" in self.inside:
            self.data.append(data)
        elif {"pre", "style"} & {*self.inside}:
            self.exact.append(data)
        else:
            self.said[-1] += data

    @property
    def wrong(self) -> list[str]:
        return [line for text in self.said for line in disorder(text)]


def answers(folder: Path) -> dict[str, Shown]:
    """One answer of each kind, all of names that turn a line around."""
    given = session(folder)
    (recording,) = given.recordings
    named = replace(recording, name=f"{TURNED}, 1")  # an answer to the case of that name
    call = "".join(str(chunk.text) for chunk in recording.chunks if isinstance(chunk, TextChunk))
    other = pg.session("Hello?", model=TURNED, tools=list(given.tools))
    return {
        "compare": pg.compare(given, ["xml", "hermes", "native"]),
        "place_cache": pg.place_cache(given, "xml"),
        "simulate_cache": pg.simulate_cache(given, dialect="xml"),
        "cache_matrix": pg.cache_matrix(given, ["xml", "native"], policies=["azad", "none"]),
        "cache_on_wire": pg.cache_on_wire(given, "xml"),
        "provider_payload": pg.provider_payload(given, "native", model="Anthropic"),
        "raw_prompt": pg.raw_prompt(given, "llama3"),
        "replay": pg.replay(recording, "hermes"),
        "replay of a server": pg.replay(recording, "hermes", server="vllm"),
        "parse": pg.parse(call, "hermes"),
        "parse, of a server": pg.parse(call, "hermes", server="vllm"),
        "detect": pg.detect(call),
        "carry": pg.carry(["xml"], {TURNED: TURNED}),
        "trial": pg.trial(replace(given, recordings=(named,))).run(),
        "corpus": CorpusAnswer("shapes", [TURNED, "calls"], [(TURNED, 3), (f"{TURNED}2", 1)]),
        "diff": pg.diff(given, other),
        "compaction": pg.compaction(given),
        "tool_costs": pg.tool_costs(given, models=["gpt-4o"], dialects=["xml"]),
        "tool_portability": pg.tool_portability(given),
        "audit_template": pg.audit_template(f"{{{{ {TURNED!r} }}}}{{{{ messages[0].content }}}}"),
        "law": pg.check_dialect(_dialect(), 1, [7]),
        "a recording without a dialect": pg.replay(
            Recording(TURNED, "", (TextChunk(call),), model=TURNED), "hermes"
        ),
    }


def _dialect() -> pg.DeclaredDialect:
    """Its rules show another call than its own, so that law 7 quotes them."""
    rules = TURNED + '<c>{"name": "f", "arguments": {}}</c>'
    return pg.DeclaredDialect(name="turned", rules=rules, syntax=pg.Syntax("<c>{call:json}</c>"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    return answers(tmp_path_factory.mktemp("drawn"))


KINDS = [
    "compare",
    "place_cache",
    "simulate_cache",
    "cache_matrix",
    "cache_on_wire",
    "provider_payload",
    "raw_prompt",
    "replay",
    "replay of a server",
    "parse",
    "parse, of a server",
    "detect",
    "carry",
    "trial",
    "corpus",
    "diff",
    "compaction",
    "tool_costs",
    "tool_portability",
    "audit_template",
    "law",
    "a recording without a dialect",
]


def test_every_kind_of_answer_is_looked_at(drawn: dict[str, Shown]) -> None:
    assert list(drawn) == KINDS
    pages = [value.html() for value in drawn.values()]
    assert sum("\\u{202e}" in text for text in pages) >= 13  # they do name it


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_and_a_notebook_keep_the_order_of_their_words(
    drawn: dict[str, Shown], kind: str
) -> None:
    value = drawn[kind]
    bundle = value._repr_mimebundle_()
    for text in (value.html(), bundle["text/html"]):
        found = Texts(text)
        assert found.wrong == []
        assert len(" ".join(found.said).split()) > 8
        for fed in found.data:
            if fed.startswith(("{", "[")):
                assert words_of_component(json.loads(fed)) == []
    assert disorder(bundle["text/plain"]) == []
    assert disorder(str(value)) == [] or kind == "raw_prompt"  # which is the prompt itself


def test_a_test_that_is_taken_along_has_no_name_that_hides_its_lines(tmp_path: Path) -> None:
    """A program text in which a name turned a line around would read otherwise than it runs."""
    from playground.show.exports import pytest_file

    loaded = session(tmp_path)
    timeline = pg.replay(loaded.recordings[0], "hermes")
    text = pytest_file(loaded.recordings[0], timeline, loaded.tools)
    assert hidden_in(text) == []
    compile(text, "taken.py", "exec")


# what pages may call

SAY = ROOT / "playground" / "app" / "shared" / "say.py"
ARGUMENTS = {"body", "label", "help", "title"}


def is_ours(node: ast.AST) -> bool:
    """Whether an argument holds words of ours alone: literals, and names in capitals."""
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=values):
            return all(isinstance(value, ast.Constant) for value in values)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return is_ours(one) and is_ours(other)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").isupper()
        case _:
            return False


def test_pages_say_by_one_module_whatever_is_more_than_a_literal() -> None:
    functions = {
        node.targets[0].id
        for node in ast.parse(SAY.read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if not node.targets[0].id.startswith("_")
    } | {"download_button"}
    assert {"text", "caption", "button", "expander", "error"} < functions
    wrong = []
    for path in [*(ROOT / "pages").glob("*.py"), *(ROOT / "playground" / "app").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())) if path != SAY else ():
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("st"), attr=name)) if (
                    name in functions
                ):
                    words = [
                        *node.args[:1],
                        *(k.value for k in node.keywords if k.arg in ARGUMENTS),
                    ]
                    words += node.args[2:3] if name == "download_button" else []
                    if not all(map(is_ours, words)):
                        wrong.append(
                            f"{path.relative_to(ROOT)}:{node.lineno}: say.{name}, not st.{name}"
                        )
    assert wrong == []
