"""The page Corpus: what is asked there can be stopped, and asked again."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from conftest import ROOT
from playwright.sync_api import Browser, Page, expect
from serving import served
from streamlit.testing.v1 import AppTest
from test_pages import boards, figures

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.base.wording import keep_order
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.filters import row_filters
from playground.plugins.corpus.questions import COLUMNS, QUESTIONS
from playground.plugins.corpus.runs import BuildRun

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    data.write_sessions(folder / "in", 40)
    for file in sorted((folder / "in").rglob("*.jsonl")):  # the same sessions, but for their times
        undated = [_undated(json.loads(line)) for line in file.read_text().splitlines()]
        text = "".join(f"{json.dumps(each)}\n" for each in undated)
        file.with_stem(f"undated-{file.stem}").write_text(text)
    (folder / "in" / "broken.json").write_text('{"messages": [{"role": "us')
    build_corpus(folder / "o", [folder / "in"], engine="serial")
    return folder / "o"


def _undated(value: Any) -> Any:
    if isinstance(value, list):
        return [_undated(each) for each in value]
    if isinstance(value, dict):
        return {k: _undated(v) for k, v in value.items() if k not in ("at", "timestamp")}
    return value


def test_what_was_stopped_is_asked_again_with_the_choices_that_were_made(corpus: Path) -> None:
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py"))
    app.query_params["corpus"] = str(corpus)
    app.query_params["corpus agent"] = "mender"
    app.query_params["view"] = "Questions"
    app.session_state["corpus is stopped"] = True
    app.run()
    assert not app.exception
    assert [each.value for each in app.info] == ["Stopped: nothing was answered."]
    assert not app.dataframe
    app.button(key="corpus again").click().run()
    assert app.selectbox(key="corpus agent").value == "mender"
    assert not any("Stopped" in each.value for each in app.info)
    assert any(re.match(r"\d+ rows? in ", each.value) for each in app.caption)


def test_the_overview_counts_what_the_corpus_holds_and_keeps_its_filters(corpus: Path) -> None:
    """Each figure and bar is a count by SQL of its own."""
    found = pg.corpus(corpus)

    def count(sql: str) -> int:
        return int(found.sql(sql).rows[0][0])

    (agent,), (model,) = found.sql(
        "(SELECT agent FROM calls GROUP BY 1 ORDER BY count(*) DESC LIMIT 1) UNION ALL "
        "(SELECT model FROM calls WHERE NOT ok GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)"
    ).rows
    for column, value in (("", ""), ("agent", agent), ("model", model)):
        app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
        app.run()
        app.switch_page(str(paths.pages() / "corpus.py"))
        app.query_params["corpus"] = str(corpus)
        if column:
            app.query_params[f"corpus {column}"] = value
        app.run()
        assert not app.exception
        where = f"WHERE {column} = '{value}'" if column else ""
        lines = [line for line in figures(app).split("\n") if " of " not in line]
        told = dict(line.split(" ", 1)[::-1] for line in lines)
        bad = count(f"SELECT count(*) FILTER (NOT ok) FROM calls {where}")
        tables = ("sessions", "requests", "findings")
        wanted = {name: count(f"SELECT count(*) FROM {name} {where}") for name in tables}
        wanted["cache breaks"] = count(f"SELECT count(*) FROM breaks {where}")
        wanted["malformed calls"] = bad
        assert {name: int(told[name].replace(",", "")) for name in wanted} == wanted
        failed = count(f"SELECT count(*) FILTER (failed) FROM calls {where}")
        answered = count(f"SELECT count(failed) FROM calls {where}")
        assert (f"{failed:,} of {answered:,} failed tool results" in figures(app)) == (failed > 0)
        assert any(
            "1 file could not be read: broken.json" in each.value
            for each in [*app.markdown, *app.text]
        )
        overview = boards(app)[0]
        bars = {card["key"]: card["rows"] for card in overview["cards"] if card["kind"] == "bars"}
        for row in bars.get("findings", []):
            sql = f"SELECT count(*) FROM (FROM findings {where}) WHERE code = '{row['name']}'"
            assert row["figure"] == f"{count(sql):,}"
        if bad:
            behind = boards(app)[1]["cards"][0]["rows"]
            texts = {row["cells"][1][0].removesuffix(" ends here") for row in behind}
            raws = {text.replace("\n", "↵") for (text,) in found.sql("SELECT raw FROM calls").rows}
            assert texts and texts <= {keep_order(text.strip()) for text in raws}


@pytest.mark.parametrize("name", ["errors", "twins", "versions"])
def test_the_page_asks_what_stands_beside_the_tables_too(corpus: Path, name: str) -> None:
    """Errors put together, twins and versions were asked by the command alone."""
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py"))
    app.query_params["corpus"] = str(corpus)
    app.query_params["asks"] = name
    app.run()
    assert not app.exception
    answer = pg.corpus(corpus).ask(name, limit=500)
    assert answer.rows
    assert app.selectbox(key="asks").value == name
    assert len(app.dataframe[0].value) == len(answer.rows)
    opened = [box.value for box in app.selectbox if str(box.key).startswith("session of ")]
    assert len(opened) == (name != "versions")


def test_a_corpus_is_built_on_the_page_and_asked_at_once(tmp_path: Path) -> None:
    data.write_sessions(tmp_path / "in", 20)
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py")).run()
    app.text_input(key="corpus inputs").input(str(tmp_path / "nothing")).run()
    app.button(key="build corpus").click().run()
    assert [each.value for each in app.error] == ["The corpus could not be built."]
    assert any("nothing" in each.value for each in [*app.markdown, *app.text])
    app.text_input(key="corpus inputs").input(str(tmp_path / "in")).run()
    app.button(key="build corpus").click().run()
    assert not app.exception and not app.error
    built = str(app.text_input(key="corpus").value)
    assert Path(built).is_relative_to(paths.data())
    assert len(pg.corpus(built).sql("SELECT session FROM sessions").rows) == 20
    assert "20 sessions" in figures(app).split("\n")


def test_the_page_reads_addresses_and_keeps_no_key_of_one(tmp_path: Path) -> None:
    data.write_sessions(tmp_path / "in", 3)
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py")).run()
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    for given in (f"s3://{key}:secret@logs", f"s3://logs/{key}/x?secret_key={key}", "~no-one/x"):
        app.text_input(key="corpus inputs").input(given).run()
        app.button(key="build corpus").click().run()
        assert [each.value for each in app.error] == ["The corpus could not be built."]
        assert not any(key in each.value for each in [*app.markdown, *app.text])
    assert not [path for path in paths.data().rglob("*") if key in path.name]
    app.text_input(key="corpus inputs").input((tmp_path / "in").as_uri()).run()
    app.button(key="build corpus").click().run()
    assert not app.exception and not app.error
    assert "3 sessions" in figures(app).split("\n")


def test_another_corpus_in_the_place_of_one_is_another(tmp_path: Path) -> None:
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    app.run()
    app.switch_page(str(paths.pages() / "corpus.py"))
    app.query_params["corpus"] = str(tmp_path / "o")
    for count in (2, 3):
        shutil.rmtree(tmp_path / "o", ignore_errors=True)
        given = tmp_path / f"{count}.json"
        lines = (json.dumps(data.text_session(n, data.Truth())) for n in range(count))
        given.write_text("\n".join(lines))
        build_corpus(tmp_path / "o", [given], engine="serial")
        app.run()
        assert not app.exception and not app.error
        assert f"{count} sessions" in figures(app).split("\n")


def test_a_build_that_is_stopped_ends_soon_and_goes_on_where_it_was(tmp_path: Path) -> None:
    data.write_sessions(tmp_path / "in", 60)
    run = BuildRun(tmp_path / "o", [tmp_path / "in"])
    run.stop()
    run.start()
    run.wait(60)
    assert not run.under_way and not run.is_built and not run.fault
    run = BuildRun(tmp_path / "o", [tmp_path / "in"])
    run.start(engine="serial")
    run.wait(60)
    assert run.is_built and run.done == run.size > 0
    assert len(pg.corpus(tmp_path / "o").sql("SELECT session FROM sessions").rows) == 60


@pytest.mark.parametrize("name", ["findings", "shapes", "breaks"])
@pytest.mark.parametrize("by", [None, ["week"], ["model", "month"], ["day", "agent"]])
def test_behind_each_row_stand_the_sessions_that_it_counts(
    corpus: Path, name: str, by: list[str] | None
) -> None:
    asked, found = QUESTIONS[name], pg.corpus(corpus)
    windows: list[dict[str, Any]] = [{}, {"since": "2026-09-10", "until": "2026-10-12"}]
    for narrowed in windows:
        answer = found.ask(name, by, **narrowed)
        assert answer.rows
        for row in answer.records():
            filters = row_filters(asked, asked.by if by is None else by, row, narrowed)
            assert len(found.behind(asked.table, **filters).rows) == row["sessions"]


@pytest.mark.parametrize("by", ["model", "day", "tool"])
def test_behind_a_row_of_failures_stands_what_failed(corpus: Path, by: str) -> None:
    """Where no call was malformed, and tools' results were errors, nothing stood there."""
    asked, found = QUESTIONS["failures"], pg.corpus(corpus)
    for row in found.ask("failures", [by]).records():
        behind = found.behind("calls", **row_filters(asked, [by], row, {})).records()
        wanted = row["malformed"] or row["failed"] or row["calls"]
        assert sum(each["rows"] for each in behind) == wanted


@pytest.mark.parametrize(
    ("question", "facet", "key"),
    [("drift", "code", "code"), ("drift", "severity", ""), ("tools", "tool", "tool")],
)
def test_a_question_of_two_tables_is_narrowed_by_what_one_of_them_has(
    corpus: Path, question: str, facet: str, key: str
) -> None:
    found = pg.corpus(corpus)
    whole = found.ask(question).records()
    values = found.sql(f"SELECT DISTINCT {facet} FROM {QUESTIONS[question].table}").rows
    rows = []
    for (value,) in values:
        narrowed = found.ask(question, **{facet: value}).records()
        assert not key or {row[key] for row in narrowed} == {value}
        rows += narrowed
    offered = [row for row in whole if row.get("note") == "never used"]
    assert sorted(map(str, rows + offered)) == sorted(map(str, whole))


@pytest.mark.parametrize("name", [*QUESTIONS])
def test_each_filter_of_a_question_narrows_or_is_refused_by_its_name(
    corpus: Path, name: str
) -> None:
    found, asked = pg.corpus(corpus), QUESTIONS[name]
    for column in COLUMNS[asked.table]:
        narrowed: dict[str, Any] = {column: [True if column in ("ok", "failed") else "x"]}
        if column in (asked.filters or COLUMNS[asked.table]):
            found.ask(name, **narrowed)
        else:
            with pytest.raises(InputFault, match=f"'{column}' is not a filter"):
                found.ask(name, **narrowed)


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9)), timezone(-timedelta(hours=5))])
def test_a_time_of_any_zone_is_the_same_time(corpus: Path, zone: timezone) -> None:
    found = pg.corpus(corpus)
    rows = found.ask("sessions").records()
    moments = sorted(row["sent_at"] for row in rows if row["sent_at"])
    moment = moments[len(moments) // 2]
    given = moment.replace(tzinfo=UTC).astimezone(zone)
    wanted = sum(each >= moment for each in moments)
    dated = len(found.ask("sessions", undated=[False]).rows)  # as the command line has it
    assert 0 < dated == len(rows) - len(found.ask("sessions", undated=True).rows)
    for since in (moment, moment.isoformat(), given, given.isoformat()):
        assert len(found.ask("sessions", since=since).rows) == wanted
        (row, *_) = found.ask("findings", ["day"], since=since).records()
        assert row_filters(QUESTIONS["findings"], ["day"], row, {"since": since})


def test_whole_numbers_stay_whole_where_some_are_missing(corpus: Path) -> None:
    frame = pg.corpus(corpus).ask("tokens").frame()
    assert str(frame["read_from_cache"].dtype) == "Int64"
    assert str(frame["dollars"].dtype) == "float64"
    assert frame["read_from_cache"].isna().any()


def test_a_figure_has_a_mark_at_each_week_and_the_words_of_the_table(corpus: Path) -> None:
    answer = pg.corpus(corpus).ask("failures", "week")
    figure = answer.figure()
    weeks = [row[0] for row in answer.rows if row[0]]
    assert list(figure.layout.xaxis.tickvals) == sorted(weeks)
    assert figure.layout.yaxis.title.text == "malformed, %"


@pytest.mark.parametrize(
    ("malformed", "failed", "shown"),
    [
        ((0.0, 12.5), (50.0, 25.0), "malformed, %"),
        ((0.0, 0.0), (50.0, 25.0), "failed, %"),  # where none is malformed, this says more
        ((None, 0.0), (None, 25.0), "failed, %"),
        ((0.0, 0.0), (0.0, 0.0), "malformed, %"),
    ],
)
def test_a_figure_of_failures_shows_the_share_that_tells(
    malformed: tuple[float | None, ...], failed: tuple[float | None, ...], shown: str
) -> None:
    columns = ["tool", "calls", "malformed_percent", "failed_percent"]
    rows = [(*row,) for row in zip("ab", (8, 4), malformed, failed, strict=True)]
    figure = CorpusAnswer("failures", columns, rows, "", 0.1).figure()
    assert figure.layout.yaxis.title.text == shown
    (bars,) = figure.data
    assert list(bars.y) == list(malformed if "malformed" in shown else failed)


@pytest.mark.parametrize("name", [*QUESTIONS])
@pytest.mark.parametrize("by", [[], ["week"], ["model", "month"], ["version"]])
def test_every_figure_is_drawn_in_a_notebook_too(corpus: Path, name: str, by: list[str]) -> None:
    """One by week raised, and where the first row had no time it was of bars."""
    answer = pg.corpus(corpus).ask(name, by if QUESTIONS[name].is_grouped else None)
    figure = answer.figure()
    assert "<table" in figure._repr_mimebundle_()["text/html"]
    kinds = {"scatter"} if {"week", "month"} & {*answer.columns} else {"bar", "scatter"}
    assert {trace.type for trace in figure.data} <= kinds


def test_names_are_drawn_letter_by_letter_and_are_no_numbers() -> None:
    link = "<a href='https://example.org'>tool</a>"
    rows = [(False, "1.10", link, 3), (True, "1.1", "b", 2)]
    answer = CorpusAnswer("failures", ["ok", "version", "tool", "calls"], rows, "", 0.1)
    figure = answer.figure()
    (bars,) = figure.data
    assert list(bars.y) == [3, 2]
    assert "<a" not in figure.to_json().replace("\\u003c", "<")
    assert figure.layout.xaxis.type == "category"
    assert "&lt;a href" in figure.table_markup()


def test_breaks_are_drawn_by_the_money_that_they_cost_where_it_is_known() -> None:
    columns = ["cause", "breaks", "lost_tokens", "lost_dollars"]
    for dollars, drawn in ((0.5, 0.5), (None, 7)):
        answer = CorpusAnswer("breaks", columns, [("expired", 7, 900, dollars)], "", 0.1)
        (bars,) = answer.figure().data
        assert list(bars.y) == [drawn]


def test_a_bar_of_an_empty_name_says_what_is_missing() -> None:
    rows = [("native", "", 3), ("native", None, 1), ("", "m", 2)]
    answer = CorpusAnswer("failures", ["dialect", "model", "calls"], rows, "", 0.1)
    (bars,) = answer.figure().data
    assert list(bars.x) == ["native, no model", "native, no model", "no dialect, m"]


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with served(tmp_path) as address:
        yield browser.new_page(base_url=address, viewport={"width": 1440, "height": 900})


@pytest.mark.long
@pytest.mark.browser
def test_a_long_question_is_stopped_in_the_browser(page: Page, corpus: Path) -> None:
    """Of a corpus whose one shard counts 30,000 times every question takes seconds."""
    text = (corpus / "corpus.json").read_text()
    known = json.loads(text)
    files, number = corpus / "files", known["generation"]
    shutil.copy(files / f"{number}.parquet", files / f"{number + 1}.parquet")
    long = {**known, "generation": number + 1, "shards": known["shards"] * 30_000}
    (corpus / "corpus.json").write_text(json.dumps(long))
    page.goto(f"/corpus?corpus={quote(str(corpus))}")
    stop = page.get_by_role("main").get_by_role("button", name="Stop", exact=True)
    stop.click(timeout=120_000)
    began = time.monotonic()
    expect(page.get_by_text("Stopped: nothing was answered.")).to_be_visible(timeout=5_000)
    assert time.monotonic() - began < 5
    (corpus / "corpus.json").write_text(text)
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text(re.compile(r"^\d+ rows? in "))).to_be_visible(timeout=60_000)
    expect(stop).to_have_count(0)
