"""Every answer shows itself: a table, a page, a figure where it draws, and a notebook's display."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from numbers import Number
from pathlib import Path
from typing import Any, Final

import nbformat
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from conftest import ROOT
from IPython.core.formatters import DisplayFormatter
from playwright.sync_api import Browser, Page, expect

import playground as pg
from playground.base.display import Drawn, Listed, Live, Shown
from playground.base.wording import percent, visible
from playground.dialects.models import DialectChoice
from playground.lab.guides import Guide
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.trials.public import TrialPlan
from playground.questions.comparison import Comparison, LineDiff
from playground.questions.detection import Detections
from playground.questions.raw_prompt import RawPrompt
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.receipts.receipt import Receipt
from playground.sessions.session import ExpectedCall, ExpectedReply, Session
from playground.show import frames, policy_bars, rows
from playground.show.glossary import figure, is_number, title
from playground.show.markup import embedded, escaped, exact
from playground.tokens.count import TokenCount

EVIL: Final = (
    "</script><img src=x onerror=document.title='owned'><!--<script>\u2028\u2029&lt;\ud800"
)
sys.path.insert(0, str(ROOT / "docs"))
notebooks = import_module("notebooks")
EXAMPLES: Final = notebooks.EXAMPLES
executed, outputs = notebooks.executed, notebooks.outputs


def evil_session() -> pg.Session:
    tool = {"name": "f", "description": EVIL, "input_schema": {"type": "object"}}
    said = [{"role": "user", "content": EVIL}, {"role": "assistant", "content": EVIL}]
    return pg.session(messages=said * 3, tools=[tool], system=EVIL, title=EVIL)


def evil_trial() -> Shown:
    """A recorded reply, counted against the call that was expected."""
    call = f'{EVIL}<tool_call>\n{{"name": "f", "arguments": {{"a": "</script>"}}}}\n</tool_call>'
    expected = ExpectedReply(1, (ExpectedCall("f", {"a": EVIL}),), EVIL)
    recording = Recording(f"{EVIL}, 1", "hermes", (TextChunk(call),), model=EVIL)
    return pg.trial(replace(evil_session(), expected=(expected,), recordings=(recording,))).run()


def evil_corpus_answer() -> Shown:
    """Its texts come out of Parquet, which has no half surrogates."""
    text = EVIL.replace("\ud800", "")
    return CorpusAnswer("shapes", [text, "calls"], [(text, 3), (f"{text}2", 1)])


def answers() -> dict[str, Shown]:
    """One answer of each kind, all of hostile material where it is the user's."""
    session = evil_session()
    call = f'{EVIL}<tool_call>\n{{"name": "f", "arguments": {{"a": "</script>"}}}}\n</tool_call>'
    guide = pg.guide_for("hermes")
    assert isinstance(guide, Guide)
    return {
        "compare": pg.compare(session, ["xml", "hermes", "native"]),
        "compare one": pg.compare(session, "xml"),
        "place_cache": pg.place_cache(session, "xml"),
        "simulate_cache": pg.simulate_cache(session, dialect="xml"),
        "cache_matrix": pg.cache_matrix(session, ["xml", "native"], policies=["azad", "none"]),
        "cache_on_wire": pg.cache_on_wire(session, "xml"),
        "provider_payload": pg.provider_payload(session, "native", model="Anthropic"),
        "raw_prompt": pg.raw_prompt(session, "llama3"),
        "replay": pg.replay(Recording(EVIL, "hermes", (TextChunk(call),)), "hermes"),
        "parse": pg.parse(call, "hermes"),
        "parse, of a server": pg.parse(call, "hermes", server="vllm"),
        "detect": pg.detect(call),
        "carry": pg.carry(["xml"], {EVIL.replace("\ud800", ""): EVIL}),
        "guide_for": guide,
        "trial": evil_trial(),
        "check_dialect": pg.check_dialect(evil_dialect(), 1, [7]),
        "corpus": evil_corpus_answer(),
        "diff": pg.diff(session, pg.session("Hello?", model=EVIL.replace("\ud800", ""))),
        "compaction": pg.compaction(session),
        "tool_costs": pg.tool_costs(session, models=["gpt-4o"], dialects=["xml"]),
        "plan_tools": pg.plan_tools(session),
        "tool_portability": pg.tool_portability(session),
        "audit_template": pg.audit_template(f"{{{{ {EVIL!r} }}}}{{{{ messages[0].content }}}}"),
        "session": session,
        "count_tokens": pg.count_tokens(session, model="gpt-4o"),
        "dialect_for": pg.dialect_for(EVIL),
        "trial, planned": pg.trial(session, "xml", expected=pg.expect("f", a=EVIL)),
        "receipt": evil_receipt(),
        "column": pg.compare(session, "xml")["xml"],
        "diff of lines": pg.compare(session, ["xml", "json"]).diff("xml", "json"),
        "recording": pg.recording(EVIL, "xml", name=EVIL),
    }


def evil_receipt() -> Receipt:
    receipt = pg.load_session({"messages": [{"role": "user", "content": EVIL}]}).receipt
    assert receipt is not None
    return receipt


def evil_dialect() -> pg.DeclaredDialect:
    """Its rules show another call than its own, so that law 7 quotes them."""
    rules = EVIL + '<c>{"name": "f", "arguments": {}}</c>'
    return pg.DeclaredDialect(name="evil", rules=rules, syntax=pg.Syntax("<c>{call:json}</c>"))


@pytest.fixture(scope="module")
def shown() -> dict[str, Shown]:
    return answers()


KINDS: Final = [
    "compare",
    "compare one",
    "place_cache",
    "simulate_cache",
    "cache_matrix",
    "cache_on_wire",
    "provider_payload",
    "raw_prompt",
    "replay",
    "parse",
    "parse, of a server",
    "detect",
    "carry",
    "guide_for",
    "trial",
    "check_dialect",
    "corpus",
    "diff",
    "compaction",
    "tool_costs",
    "plan_tools",
    "tool_portability",
    "audit_template",
    "session",
    "count_tokens",
    "dialect_for",
    "trial, planned",
    "receipt",
    "column",
    "diff of lines",
    "recording",
]


class Elements(HTMLParser):
    """The elements of a page, and what stands in its scripts, as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self._in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)


def kinds_of_answers(base: type[Any]) -> Iterator[str]:
    """The names of the package's classes that derive from it and are meant to be made."""
    for kind in base.__subclasses__():
        yield from kinds_of_answers(kind)
        if kind.__module__.startswith("playground.") and kind not in (Drawn, Listed, Live):
            yield kind.__name__


def test_all_kinds_are_tried(shown: dict[str, Shown]) -> None:
    assert list(shown) == KINDS
    # of whatever class in the package can be shown, one is: the next test shows it
    assert {*kinds_of_answers(Shown)} == {type(value).__name__ for value in shown.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_has_a_table_a_page_and_a_display(shown: dict[str, Shown], kind: str) -> None:
    value = shown[kind]
    assert isinstance(value.frame(), pd.DataFrame)
    bundle = value._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "\n" not in bundle["text/plain"]
    assert " at 0x" not in bundle["text/plain"]
    head, *lines = str(value).split("\n")
    if not isinstance(value, RawPrompt | Guide | LineDiff):  # printed as the texts that they are
        # of all dialects the likeliest are printed, and a line says how many more there are
        printed = 9 if isinstance(value, Detections) else len(value.frame())
        assert len(lines) == printed
        assert head == "(nothing)" or all(
            visible(str(name)) in head for name in value.frame().columns
        )
    page = value.html()
    assert page.startswith("<!doctype html>")
    page.encode("utf-8")
    bundle["text/html"].encode("utf-8")
    if isinstance(value, Drawn):
        assert isinstance(value.figure(), go.Figure)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_a_table_where_no_script_runs(shown: dict[str, Shown], kind: str) -> None:
    """Alone, plotly's own is empty there: in a saved notebook on a site, in nbconvert."""
    value = shown[kind]
    if not isinstance(value, Drawn):
        return
    figure = value.figure()
    told = re.sub(r"<script.*?</script>", "", figure._repr_mimebundle_()["text/html"], flags=re.S)
    rows = re.findall(r"<tr><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td>", told)
    assert "<details open>" in told
    assert rows and all(name and re.fullmatch(r"[\d,.]*", number) for name, number in rows)
    plain, _ = DisplayFormatter().format(figure)
    assert figure.table_markup() in plain["text/html"]


def test_a_figures_table_is_folded_only_where_plotly_drew_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """nbconvert shows the table alone, and showed it folded."""
    figure = pg.compare(pg.sample_sessions()["01-plain-chat"], "xml").figure()
    for renderer, folds in (("plotly_mimetype", False), ("notebook_connected", True)):
        monkeypatch.setattr(pio.renderers, "default", renderer)
        assert ("open = false" in figure._repr_mimebundle_()["text/html"]) is folds


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_stays_text(shown: dict[str, Shown], kind: str) -> None:
    value = shown[kind]
    for text in (value.html(), value._repr_mimebundle_()["text/html"]):
        found = Elements(text)
        assert "img" not in found.tags
        assert found.handlers == []
        scripts = 2 if isinstance(value, Live) else 0
        assert found.tags.count("script") == scripts
        for script in found.scripts:
            assert "\u2028" not in script


@pytest.mark.parametrize("kind", KINDS)
def test_without_scripts_the_display_still_says_it(shown: dict[str, Shown], kind: str) -> None:
    text = shown[kind]._repr_mimebundle_()["text/html"]
    static = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<table" in static or "<pre" in static
    assert len(re.sub(r"<[^>]*>", "", static).split()) > 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_frames_columns_are_figures_of_the_glossary_with_different_titles(
    shown: dict[str, Shown], kind: str
) -> None:
    frame = shown[kind].frame()
    if isinstance(shown[kind], CorpusAnswer):  # its columns are those of the query
        return
    columns = list(frame.columns)
    assert [name for name in columns if figure(name) is None] == []
    assert [name for name in columns if name != name.lower() or not name.isidentifier()] == []
    assert len({title(name) for name in columns}) == len(columns)
    for name in columns:
        if is_number(name):
            assert all(isinstance(each, Number) or each is pd.NA for each in frame[name]), name


@pytest.mark.parametrize("kind", KINDS)
def test_an_answers_repr_is_a_line(shown: dict[str, Shown], kind: str) -> None:
    if isinstance(shown[kind], Session | TokenCount | TrialPlan | DialectChoice | Comparison):
        assert len(repr(shown[kind])) < 300 and "\n" not in repr(shown[kind])


def test_the_repr_of_a_choice_closes_its_quotes() -> None:
    hints = [hint for name in pg.dialect_names() for hint in pg.get_dialect(name).model_names]
    for model in ["gpt-4o", "x" * 99, *hints]:
        called = ast.parse(repr(pg.dialect_for(model)), mode="eval").body
        assert isinstance(called, ast.Call) and called.keywords[-1].arg == "nearest"


def test_a_comparison_is_a_mapping_of_its_dialects() -> None:
    compared = pg.compare("02-parallel-calls", ["xml", "hermes"])
    assert len(compared) == 2
    assert [column.dialect.name for column in compared] == ["xml", "hermes"]
    assert compared["hermes"] is compared.columns[1]
    for near in ("quen", "qewn"):  # muse and iquest-q1 were nearer
        with pytest.raises(pg.UnknownNameError, match="did you mean 'qwen3-coder'"):
            pg.get_dialect(near)
    with pytest.raises(pg.UnknownNameError, match="did you mean 'hermes'"):
        compared["hermse"]


def test_a_tie_names_no_cheapest_policy() -> None:
    session = pg.session("Hello?", model="anthropic/claude-sonnet-4-5")
    matrix = pg.cache_matrix(session, ["xml"])
    assert len({cell.cost_permille for cell in matrix}) == 1
    text = matrix._repr_mimebundle_()["text/plain"]
    assert f"all {len(matrix)} cost the same" in text and "cheapest" not in text


PLOTLY = "application/vnd.plotly.v1+json"


def test_a_figure_is_read_on_a_light_and_a_dark_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = pg.compare("01-plain-chat", ["xml"]).figure()
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    layout = figure._repr_mimebundle_()[PLOTLY]["layout"]
    assert layout["template"]["layout"]["font"]["color"] == "#7d828a"
    assert layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    dark = figure.update_layout(template="plotly_dark")._repr_mimebundle_()[PLOTLY]["layout"]
    assert dark["template"]["layout"]["font"]["color"] != "#7d828a"


def test_data_in_a_script_element_is_the_data() -> None:
    value = {"a": [EVIL.replace("\ud800", ""), "-->", "&amp;", 1.5, None]}
    text = embedded(value)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_half_a_surrogate_is_no_part_of_markup() -> None:
    assert exact("a\ud800<") == "a\ufffd&lt;"
    assert escaped("a\ud800<") == "a\\u{d800}&lt;"


def test_a_live_answer_is_a_widget_too(shown: dict[str, Shown]) -> None:
    anywidget = pytest.importorskip("anywidget")
    for value in shown.values():
        if isinstance(value, Live):
            widget = value.widget()
            assert isinstance(widget, anywidget.AnyWidget)
            assert repr(widget) == value._repr_mimebundle_()["text/plain"]


def test_answers_in_a_row_are_a_sequence() -> None:
    found = pg.detect("plain")
    assert found[0] in found
    assert found[:2] == list(found)[:2]
    assert found == list(found) == pg.detect("plain")
    assert len(found) == len(pg.dialect_names())


def test_a_notebook_keeps_a_part_of_a_long_session_and_the_page_all() -> None:
    said = [{"role": role, "content": f"{role} {i}."} for i in range(60) for role in ROLES]
    names = [
        "xml",
        "json",
        "native",
        "hermes",
        "glm",
        "granite",
        "react",
        "mistral",
        "kimi-k2",
        "dots",
    ]
    compared = pg.compare(pg.session(said), names)
    kept, page = (
        fed(text) for text in (compared._repr_mimebundle_()["text/html"], compared.html())
    )
    assert (len(kept["panes"]), len(page["panes"])) == (8, 10)
    assert "assistant 59." not in json.dumps(kept)
    assert "assistant 59." in json.dumps(page)
    assert "without scripts glm, granite, react and 3 more are left out" in compared.html()


ROLES: Final = ("user", "assistant")


def fed(text: str) -> Any:
    return json.loads(Elements(text).scripts[0])


# in a browser, as a notebook or a mail would show it


@pytest.fixture(scope="module")
def browser_page(browser: Browser) -> Page:
    page = browser.new_page()
    page.set_default_timeout(10_000)
    return page


def in_a_notebook(fragments: list[str]) -> str:
    """Displays below each other in somebody else's page, whose own text must not change."""
    return f"<!doctype html><meta charset=utf-8><pre id=own>own</pre>{''.join(fragments)}"


@pytest.mark.browser
def test_displays_come_alive_beside_each_other(
    browser_page: Page, shown: dict[str, Shown], tmp_path: Path
) -> None:
    errors: list[str] = []
    browser_page.on("pageerror", lambda error: errors.append(str(error)))
    path = tmp_path / "notebook.html"
    fragments = [value._repr_mimebundle_()["text/html"] for value in shown.values()]
    path.write_text(in_a_notebook(fragments), encoding="utf-8")
    browser_page.goto(path.as_uri())
    live = [value for value in shown.values() if isinstance(value, Live)]
    for component in (".panes .pane", ".player .line", ".strip canvas"):
        expect(browser_page.locator(component).first).to_be_attached()
    left = "[...document.querySelectorAll('.playground')].map((e) => e.childNodes.length)"
    assert browser_page.evaluate(left) == [0] * len(live)  # the markup gave way
    size = "getComputedStyle(document.getElementById('own')).fontSize"
    assert browser_page.evaluate(size) == "13px"  # the components' rules stay their own
    assert browser_page.locator("img").count() == 0
    assert browser_page.title() != "owned"
    assert errors == []


def test_a_simulations_page_holds_what_the_cache_page_shows() -> None:
    """It had no reason for a block, no threshold of Gemini and no policy but its own."""
    name = "07-gemini-above"
    cell, placed = pg.simulate_cache(name), pg.place_cache(name)
    page = cell.html()
    data = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)[0])
    plain = unescape(re.sub(r"<script.*?</script>", "", page, flags=re.S))
    assert data["threshold"] == {"characters": placed.text_characters, "of": placed.threshold}
    said = f"<p>{data['sentence']} {data['note']}</p>"
    (static,) = re.findall(r'<div class="playground">(.*?)</div>', plain, re.S)
    assert (
        static.startswith(said) and plain.count(said) == 1
    )  # the strip, which says it, replaces it
    assert "above the Gemini threshold: long enough" in data["sentence"]
    reasons = {part[2] for part in data["parts"] if part}
    assert reasons == {part.decision.explanation for part in placed.parts if not part.environment}
    assert all(row[-1] in plain for row in rows.placement(placed).without("explanation").texts()[1])
    costs = {each.policy: each for each in pg.cache_matrix(name, ["native"]) if not each.errors}
    assert set(costs) >= {"azad", "none", "claude-code"}
    for policy, each in costs.items():
        cost = percent(each.cost_permille / 1000)
        assert re.search(rf"{policy_bars.title(policy)}\b[^%]*>{cost}", plain), policy
    assert "Claude Code's marks" not in cell._repr_mimebundle_()["text/html"]  # each is simulated


@pytest.mark.browser
def test_the_strip_tells_a_bill_beside_what_was_simulated(
    browser_page: Page, tmp_path: Path
) -> None:
    """A session with bills had no strip: the script ended there."""
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "High tide?"}]}
    usage = {"input_tokens": 1200, "cache_read_input_tokens": 34_000, "output_tokens": 5}
    path = tmp_path / "billed.html"
    path.write_text(pg.simulate_cache([body], usages=[usage]).html(), encoding="utf-8")
    browser_page.goto(path.as_uri())
    place = browser_page.locator(".strip .place")
    told = "billed: read 34,000 · written 0 · full price 1,200"
    expect(place).to_have_text(re.compile(rf"^1 of 1 · at 0 s · {told}"))
    figures = browser_page.locator(".strip .figures div")
    expect(figures.first).to_have_text("97 %read, as billed")
    expect(browser_page.locator(".strip .predicted")).to_contain_text("0 % read from the cache")


@pytest.mark.browser
def test_a_click_lights_the_same_part_in_every_pane(
    browser_page: Page, shown: dict[str, Shown], tmp_path: Path
) -> None:
    path = tmp_path / "compare.html"
    path.write_text(shown["compare"].html(), encoding="utf-8")
    browser_page.goto(path.as_uri())
    browser_page.locator('.block[data-origin="tool:f"]').first.click()
    expect(browser_page.locator(".block.lit")).to_have_count(3)
    title = EVIL.replace("\u2028\u2029", "\\u{2028}\\u{2029}").replace("\ud800", "\ufffd")
    assert browser_page.title() == f"{title} in 3 dialects"


# the notebooks


def texts(notebook: Any) -> list[str]:
    """Return what each output says as text."""
    return [o.get("data", {}).get("text/plain", "") or o.text for o in outputs(notebook)]


PLACE: Final = 'class="playground"'


@pytest.mark.parametrize(
    ("name", "live", "words"),
    [
        ("which-dialect.ipynb", 5, "The harbour agent in 4 dialects"),
        pytest.param(
            *("playground.ipynb", 6, "Parallel tool calls in 3 dialects"), marks=pytest.mark.long
        ),
    ],
)
def test_a_notebook_that_was_saved_keeps_static_pictures(
    name: str, live: int, words: str, tmp_path: Path
) -> None:
    saved = tmp_path / name
    notebook = executed(name)
    kept = nbformat.read(EXAMPLES / name, as_version=4)
    assert texts(kept) == texts(notebook), "python docs/notebooks.py writes the outputs anew"
    nbformat.write(notebook, saved)
    shown = [o for o in outputs(nbformat.read(saved, as_version=4)) if "data" in o]
    own = [o.data["text/html"] for o in shown if PLACE in o.data.get("text/html", "")]
    assert len(own) == live
    for text in own:  # what stands there where no script runs
        static = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert "<td" in static or "<pre" in static
    assert any(words in o.data.get("text/plain", "") for o in shown)
    with_view = "application/vnd.jupyter.widget-view+json"  # it would hide the picture beside it
    assert not any("text/html" in o.data for o in shown if with_view in o.data)


def test_the_notebook_shows_a_signature_and_an_agent() -> None:
    cells = nbformat.read(EXAMPLES / "playground.ipynb", as_version=4).cells
    first = next(n for n, cell in enumerate(cells) if cell.source.startswith("## A signature"))
    shown = outputs(executed("playground.ipynb", first))
    printed, *values = shown
    assert "[[ ## ports ## ]]" in printed.text
    assert [value.data["text/plain"].split("\n")[0] for value in values] == [
        "{'answer': 'Brest', 'metres': 12.5}",
        "[{'Brest': 'At 05:12.'}]",
        "['InputEvent',",
    ]


def test_the_notebooks_are_kept_with_outputs_and_without_scripts() -> None:
    for path in EXAMPLES.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        assert len(outputs(notebook)) > 15
        assert all(
            "<script" not in o.get("data", {}).get("text/html", "") for o in outputs(notebook)
        )
        assert path.stat().st_size < 300_000


def test_a_reply_has_a_row_for_each_call_whole_or_not() -> None:
    whole = '<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>\n'
    table = frames.frame(
        rows.calls(pg.parse(f'{whole}<tool_call>{{"name": "g", "arguments": {{"b', "hermes"))
    )
    assert table.to_dict("split")["data"] == [["f", True, '{"a": "é"}'], ["g", False, '{"b']]


def test_answers_in_a_row_are_told_apart_by_what_they_hold() -> None:
    listed = Listed([1, 2])
    assert repr(listed) == "Listed([1, 2])"
    assert listed == [1, 2] != Listed([2])
    assert (listed[0], listed[1:], len(listed)) == (1, [2], 2)


def test_a_long_text_is_printed_in_part_and_says_how_much_is_left_out() -> None:
    session = pg.session(messages=[{"role": "user", "content": "x" * 10_160}])
    assert "x… (10,000 more)" in str(session)
    assert max(map(len, str(session).splitlines())) < 300
    assert session.frame()["text"].tolist() == ["x" * 10_160]


def test_a_replay_without_times_is_drawn_over_its_chunks() -> None:
    recording = pg.sample_sessions()["01-plain-chat"].recordings[0]
    chunks = tuple(replace(chunk, at=0.0) for chunk in recording.chunks)
    without = replace(recording, timing="none", chunks=chunks)
    figure = pg.replay(without, "xml").figure()
    assert figure.layout.xaxis.title.text == "chunk"
    assert list(figure.data[0].x) == list(range(len(figure.data[0].x)))
