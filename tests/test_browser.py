"""The app in a real browser: what only a browser can tell."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from passed_runs import leave_run
from playwright.sync_api import (
    Browser,
    FilePayload,
    Locator,
    Page,
    TimeoutError,
    expect,
)
from serving import App, served, widened
from streaming import answering, event

import playground as pg
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import TaskConfig
from playground.plugins.trials.demo_server import serving
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, Session
from playground.show.pictures.replies import replays

pytestmark = pytest.mark.browser

expect.set_options(timeout=12_000)  # a cold start on a busy machine is no defect

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</pre></div>![a](https://evil.example/a.png) <style>body{display:none}</style>"
)


@pytest.fixture(scope="module")
def address(app: App) -> str:
    address = app.emptied()
    leave_run(app.folder / "home", HOSTILE)
    return address


@pytest.fixture
def page(page: Page) -> Page:
    page.set_viewport_size({"width": 1440, "height": 1000})
    return page


def outside(page: Page) -> list[str]:
    """Every request that is not for this machine, gathered while the page is used."""
    found: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if re.match(r"(https?|wss?)://127\.0\.0\.1[:/]|blob:|data:", request.url)
            else found.append(request.url)
        ),
    )
    return found


def file(name: str, data: bytes) -> list[FilePayload]:
    kind = "application/json" if name.endswith(".json") else "text/plain"
    return [{"name": name, "mimeType": kind, "buffer": data}]


def bring(page: Page, name: str, data: bytes) -> None:
    """A file in the dialog that every page has."""
    page.get_by_role("button", name="Import").click()
    choose = page.get_by_role("dialog").get_by_label("Choose a file")
    choose.set_input_files(files=file(name, data))


def upload(page: Page, session: dict[str, Any]) -> None:
    data = json.dumps({"format": "playground-session/1", **session}).encode()
    bring(page, "mine.json", data)
    page.get_by_role("button", name="New session").click()
    chosen = page.get_by_role("combobox", name="Session")
    expect(chosen).to_have_value("mine")  # the notice goes with the next run of the page


@pytest.mark.long
def test_the_bare_address_leads_to_the_start(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", name="Start")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/start"))
    expect(page).to_have_title("Start · Dialect Playground")


def test_nothing_is_asked_of_any_other_machine(page: Page, address: str) -> None:
    asked = outside(page)
    for path in ("/compare", "/compare?view=Counts", "/compare?view=Difference", "/cache"):
        page.goto(address + path)
        expect(page.get_by_role("combobox", name="Session")).to_be_visible()
    page.goto(f"{address}/replay")
    expect(page.locator(".player .text").first).to_be_visible()
    page.wait_for_timeout(500)
    assert asked == []


def test_a_click_on_a_tool_lights_it_in_every_pane_and_in_the_url(page: Page, address: str) -> None:
    names = ("xml", "hermes", "native", "json", "glm", "mistral")
    chosen = "&".join(f"dialects={name}" for name in names)
    page.goto(f"{address}/compare?session=02-parallel-calls&{chosen}")
    page.get_by_role("button", name="Show tool get_tides in every pane").click()
    expect(page.locator(".block.lit")).to_have_count(6)
    expect(page).to_have_url(re.compile(r"origin=tool(%3A|:)get_tides"))
    tops = page.locator(".block.lit").evaluate_all(
        "blocks => blocks.map(b => b.getBoundingClientRect().top)"
    )
    assert max(tops) - min(tops) < 1
    last = page.get_by_role("columnheader", name="mistral")
    expect(last).not_to_be_in_viewport(ratio=0.9)
    following = page.get_by_role("button", name="Show the next pane")
    for _ in range(2):
        with suppress(TimeoutError):  # it goes with the last pane, perhaps before it is clicked
            following.click(timeout=3_000)
    expect(last).to_be_in_viewport(ratio=0.9)
    expect(following).to_be_hidden()


@pytest.mark.long
def test_enter_takes_the_dialect_that_stands_first(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls")
    chooser = page.get_by_role("combobox", name="Dialects")
    chooser.click()
    chooser.press_sequentially("llama")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"dialects=native&dialects=llama3-json$"))


def test_the_grid_counts_characters_as_the_library_does(page: Page, tmp_path: Path) -> None:
    """JavaScript counts an emoji twice."""
    session = pg.session([{"role": "user", "content": "😀" * 6_001}])
    path = tmp_path / "emoji.html"
    path.write_text(pg.compare(session, ["native"]).html(), encoding="utf-8")
    page.goto(path.as_uri())
    block = page.locator(".block").first
    expect(block.locator(".count")).to_have_text("6,001")
    expect(block.locator("pre")).to_have_text("😀" * 3_000)  # and none of them cut in two
    expect(block.locator(".more")).to_have_text("show 3,001 more characters")


@pytest.fixture(scope="module")
def long_grid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four dialects of a session of 600 messages, as the page that `html()` gives."""
    said = [
        {"role": role, "content": f"{role} {i}: {'water and wind. ' * 30}<b>{HOSTILE}</b>"}
        for i in range(300)
        for role in ("user", "assistant")
    ]
    for number in (101, 301):
        said[number]["content"] = "x " * 4_000 + "a needle in the hay"
    compared = pg.compare(pg.session(said), ["xml", "hermes", "json", "glm"])
    path = tmp_path_factory.mktemp("grid") / "grid.html"
    path.write_text(compared.html(), encoding="utf-8")
    return path.as_uri()


def test_only_what_is_seen_of_a_long_grid_is_drawn(page: Page, long_grid: str) -> None:
    page.goto(long_grid)
    scroller = page.locator(".scroller")
    expect(page.locator(".row").first).to_be_visible()
    for share in (0.0, 0.37, 0.9, 1.0, 0.5):
        scroller.evaluate("(s, share) => (s.scrollTop = share * s.scrollHeight)", share)
        page.wait_for_timeout(120)
        assert page.locator(".row").count() < 40
        tops = scroller.evaluate(OVERLAPS)
        assert tops["drawn"] > 1
        assert tops["apart"] < 1, f"rows overlap or leave holes at {share}"
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0


OVERLAPS = """scroller => {
  const boxes = [...scroller.querySelectorAll(".row")].map(row => row.getBoundingClientRect())
    .sort((a, b) => a.top - b.top)
  const apart = boxes.slice(1).map((box, i) => Math.abs(box.top - boxes[i].bottom))
  return { drawn: boxes.length, apart: Math.max(0, ...apart) }
}"""


def test_a_search_counts_a_message_once_and_goes_to_what_was_not_drawn(
    page: Page, long_grid: str
) -> None:
    page.goto(long_grid)
    box = page.get_by_role("searchbox")
    said = page.get_by_role("status")
    box.fill("WIND.")
    expect(said).to_have_text(f"1 of {598 * 30:,}")
    box.fill("needle")
    expect(said).to_have_text("1 of 2")  # while it is typed
    lit = """() => [...CSS.highlights.get("playground-here")].map(range => {
      const box = range.getBoundingClientRect()
      return [range.toString(), box.top > 0 && box.bottom < innerHeight]
    })"""
    page.wait_for_function(f"() => ({lit})().flat()[1] === true")
    assert page.evaluate(lit) == [["needle", True]]
    for number in (1, 2, 1):
        box.press("Enter")
        expect(said).to_have_text(f"{number} of 2")
    box.press("Shift+Enter")
    expect(said).to_have_text("2 of 2")
    page.wait_for_function(f"() => ({lit})().flat()[1] === true")
    box.fill("no such thing")
    expect(said).to_have_text("0 found")


def test_five_columns_are_not_cut_beside_a_scroll_bar(page: Page, tmp_path: Path) -> None:
    compared = pg.compare(pg.session("It is high."), ["xml", "hermes", "native", "json", "glm"])
    path = tmp_path / "five.html"
    path.write_text(compared.html(), encoding="utf-8")
    page.set_viewport_size({"width": 1410, "height": 900})  # the shell's scroll bars have no width
    page.goto(path.as_uri())
    expect(page.locator(".pane")).to_have_count(5)
    sizes = page.locator(".scroller").evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert sizes[0] <= sizes[1]
    assert "view=" not in page.locator(".head").inner_html()  # a file has no other view


def test_a_figure_of_lost_facts_leads_to_their_list(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls&dialects=xml&dialects=hermes")
    lost = page.get_by_role("link", name="2 of 16 facts lost")
    expect(lost).to_have_attribute("title", "Which facts: the view Tools lists them")
    lost.click()
    expect(page.get_by_text("xml drops 2")).to_be_visible()
    assert "dialects=xml&dialects=hermes" in page.url


def test_help_shows_the_link_to_this_view(page: Page, address: str) -> None:
    page.goto(f"{address}/replay?session=04-truncated-call")
    expect(page.locator(".player .text").first).to_be_visible()
    expect(page).to_have_url(re.compile("session=04-truncated-call"))
    page.get_by_role("button", name="Help", exact=True).click()
    expect(page.get_by_role("dialog").locator(".verbatim pre").first).to_have_text(page.url)


def test_differences_are_told_word_by_word(page: Page, tmp_path: Path) -> None:
    tool = {"name": "t", "description": "Tides.", "input_schema": {"type": "object"}}
    compared = pg.compare(pg.session("It is high.", tools=[tool]), ["xml", "hermes"])
    path = tmp_path / "two.html"
    path.write_text(compared.html(), encoding="utf-8")
    page.goto(path.as_uri())
    page.get_by_label("Diff against").select_option("xml")
    rules = page.locator(".block[data-origin='rules']").nth(1)
    gone, come = (rules.locator(tag).all_text_contents() for tag in ("del", "ins"))
    assert any("XML" in each for each in gone)
    assert any("JSON" in each for each in come)
    texts = [compared.column(name).texts["rules"] for name in ("xml", "hermes")]
    kept = "[...e.querySelector('pre').childNodes].filter(n => n.nodeName !== '{}')"
    for text, other in zip(texts, ("INS", "DEL"), strict=True):
        code = f"e => {kept.format(other)}.map(n => n.textContent).join('')"
        assert rules.evaluate(code).replace("↵\n", "\n") == text
    said = page.locator(".block[data-origin='message:0']").nth(1)
    assert said.locator("ins, del").count() == 0


def test_a_shared_link_shows_the_same_view(page: Page, address: str) -> None:
    page.goto(
        f"{address}/compare?session=02-parallel-calls&dialects=json&dialects=dspy-chat"
        "&origin=message%3A1&model=openai%2Fgpt-5"
    )
    expect(page.locator(".pane strong")).to_have_text(["json", "dspy-chat"])
    expect(page.locator(".block.lit")).to_have_count(2)


SHOWING = [
    "compare",
    "cache",
    "replay",
    "compare?view=Difference",
    "compare?view=Tools",
    "payload",
    "prompts",
    "cache?shown=All+policies",
    "cache?shown=Payload",
]


@pytest.mark.parametrize("path", widened(SHOWING, at_once=3))
def test_hostile_text_is_shown_and_never_run(page: Page, address: str, path: str) -> None:
    asked = outside(page)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.goto(f"{address}/{path}")
    part = {"type": "text", "text": HOSTILE}
    call = {"type": "tool_call", "tool_call_id": "1", "tool_name": "t", "args": {HOSTILE: HOSTILE}}
    upload(
        page,
        {
            "title": HOSTILE,
            "purpose": HOSTILE,
            "task": {"user_agent_prompt": HOSTILE, "user_prompt": HOSTILE},
            "tools": [{"name": "t", "description": HOSTILE}],
            "messages": [
                {"role": "user", "parts": [part]},
                {"role": "assistant", "parts": [part, call]},
            ],
            "recordings": [
                {"name": HOSTILE, "note": HOSTILE, "dialect": "xml", "chunks": [{"text": HOSTILE}]}
            ],
        },
    )
    expect(page.get_by_text("<script>").locator("visible=true").first).to_be_visible()
    page.wait_for_timeout(500)
    assert "owned" not in page.title()
    assert page.locator("img[src='x'], script:text('owned')").count() == 0
    assert asked == []


def test_what_passed_the_proxy_is_shown_and_never_run(page: Page, address: str) -> None:
    asked = outside(page)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    page.goto(f"{address}/live")
    expect(page.get_by_text("The cache breaks 1 time")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(4)
    expect(page.locator(".js-plotly-plot .bars").first).to_be_attached()
    page.get_by_role("button", name="Open in Cache").click()
    expect(page.get_by_text("This session cannot be opened yet.")).to_be_visible()
    page.wait_for_timeout(500)
    assert "owned" not in page.title()
    assert page.locator("img[src='x'], script:text('owned')").count() == 0
    assert asked == []


@pytest.mark.long
def test_what_is_folded_is_drawn_when_it_is_opened(page: Page, address: str) -> None:
    page.goto(f"{address}/payload?session=02-parallel-calls&dialect=native&providers=Anthropic")
    expect(page.locator(".panes").first).to_be_visible(timeout=30_000)
    body = page.locator(".verbatim", has_text='"max_tokens": 64000')
    expect(body).to_have_count(0)
    page.get_by_text("The body for Anthropic").click()
    expect(body.first).to_be_visible()
    page.goto(f"{address}/prompts?session=02-parallel-calls")
    page.get_by_text("The session's tools").click()
    expect(page.get_by_text("Rebuilt by Flink-Agents").first).to_be_visible()
    expect(page.locator(".verbatim", has_text='"enum"').first).to_be_visible()


WAITING = ["compare?view=Payload", "compare?view=Counts", "cache?shown=Payload"]


@pytest.mark.long
@pytest.mark.parametrize("path", WAITING)
def test_a_page_that_waits_starts_no_run_of_its_own(page: Page, tmp_path: Path, path: str) -> None:
    """A run that starts can drop what Streamlit has on its way: uploads were lost so."""
    runs: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: runs.append(sent)))
    with served(tmp_path) as fresh:  # where LiteLLM is not loaded yet
        page.goto(f"{fresh}/{path}")
        page.get_by_text(re.compile("is sent|not sent|Tokens as LiteLLM")).wait_for(timeout=60_000)
        page.wait_for_timeout(500)
    assert len(runs) == 1


def test_a_hostile_set_of_templates_is_only_text(page: Page, address: str) -> None:
    asked = outside(page)
    page.goto(f"{address}/templates")
    source = yaml.safe_dump(
        {HOSTILE: [{"role": "user", "content": HOSTILE}, {"role": "request", "model": HOSTILE}]}
    )
    page.locator("[data-testid=stFileUploaderDropzoneInput]").last.set_input_files(
        {"name": f"{HOSTILE[:20]}.yaml", "mimeType": "text/yaml", "buffer": source.encode()}
    )
    expect(page.get_by_text("<script>").first).to_be_attached()
    page.wait_for_timeout(500)
    assert "owned" not in page.title()
    assert page.locator("img[src='x'], script:text('owned')").count() == 0
    assert asked == []


def test_a_broken_upload_is_one_message_without_a_traceback(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls")
    expect(page.locator(".pane")).to_have_count(3)
    bring(page, "bad.json", b'{"a":\n oops')
    expect(page.get_by_text("JSON that cannot be read")).to_be_visible()
    expect(page.get_by_text("bad.json:2: not JSON")).to_be_visible()
    expect(page.locator(".pane")).to_have_count(3)
    assert page.get_by_text("Traceback").count() == 0
    page.goto(f"{address}/compare?session=02-parallel-calls")
    bring(page, "empty.txt", b"")
    expect(page.get_by_text("there is no text in it")).to_be_visible()


@pytest.mark.long
def test_three_misread_files_at_once_are_three_messages(browser: Browser, address: str) -> None:
    """In three tabs of one server; each is told of its own, and goes on as it was."""
    files = {
        "bad.json": (b'{"a":\n oops', "bad.json:2: not JSON"),
        "two.json": (b"\xff\xfe\x00", "two.json:1: byte 0xff is not UTF-8"),
        "three.json": (b'[{"description": "no name"}]', "three.json:1, field tools.0.name"),
    }
    with ExitStack() as tabs:
        pages = [tabs.enter_context(browser.new_context()).new_page() for _ in files]
        for page in pages:
            page.set_default_timeout(60_000)
            page.goto(f"{address}/compare?session=02-parallel-calls")
            expect(page.locator(".pane")).to_have_count(3)
            page.get_by_role("button", name="Import").click()
        boxes = [page.get_by_role("dialog").get_by_label("Choose a file") for page in pages]
        for box in boxes:
            box.wait_for(state="attached")
        for box, (name, (data, _)) in zip(boxes, files.items(), strict=True):
            box.set_input_files(files=file(name, data))
        for page, (name, (_, told)) in zip(pages, files.items(), strict=True):
            expect(page.get_by_text(told)).to_be_visible()
            for other in files.keys() - {name}:
                assert page.get_by_text(other).count() == 0
            assert page.get_by_text("Traceback").count() == 0
            expect(page.locator(".pane")).to_have_count(3)


def test_of_several_files_that_are_dropped_none_is_left_out_unsaid(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls")
    page.get_by_role("button", name="Import").click()
    page.get_by_role("dialog").get_by_label("Choose a file").wait_for(state="attached")
    page.evaluate(
        """() => {
          const found = (root) => root.querySelector(".bring") ?? [...root.querySelectorAll("*")]
            .map((each) => each.shadowRoot && found(each.shadowRoot)).find(Boolean)
          const data = new DataTransfer()
          const add = (name) => data.items.add(new File(['{"a"'], name))
          for (const name of ["a.json", "b.json", "c.json"]) add(name)
          const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true })
          found(document.querySelector("[role=dialog]")).dispatchEvent(drop)
        }"""
    )
    expect(
        page.get_by_text("one at a time: not \u2068b.json\u2069, \u2068c.json\u2069")
    ).to_be_visible()
    expect(page.get_by_text("a.json:1: not JSON")).to_be_visible()


def test_a_block_is_edited_where_it_stands_and_every_column_follows(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls&diff=xml")
    against = page.get_by_label("Diff against")
    expect(page.locator(".block ins").first).to_be_visible()
    against.select_option("none")
    expect(page).not_to_have_url(re.compile("diff="))
    expect(page.locator(".block ins")).to_have_count(0)
    said = page.locator(".block[data-origin='message:3'] pre")
    page.get_by_role("searchbox").fill("Light wind")
    page.get_by_role("searchbox").press("Enter")
    before = said.first.text_content() or ""
    said.nth(1).click()
    field = page.locator(".editing").get_by_role("textbox", name="text")
    expect(field).to_be_focused()
    expect(field).to_have_value(before)
    field.fill("A draft")
    expect(said).to_have_text(["A draft"] * 2)  # the other columns
    field.press("Escape")
    expect(said).to_have_text([before] * 3)
    undo = page.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_disabled()

    # what cannot be read stays in its box, says why, and is no step; nor is a click elsewhere one
    page.locator(".block[data-origin='message:1']").first.click()
    field = page.locator(".editing").get_by_role("textbox", name="call of get_weather", exact=True)
    field.fill('{"city": ')
    field.press("Control+Enter")
    expect(page.locator(".editing").get_by_role("status")).to_contain_text("not JSON")
    page.get_by_role("searchbox").click()
    expect(field).to_have_value('{"city": ')
    expect(undo).to_be_disabled()
    field.fill('{"city": "Roscoff"}')
    field.press("Control+Enter")
    expect(page.locator(".editing")).to_have_count(0)
    called = page.locator(".row[data-origin='message:1'] .cell")
    for pane in range(3):
        expect(called.nth(pane)).to_contain_text("Roscoff")

    # another model, taken back, and then the edit
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="openai/gpt-5").click()
    expect(page).to_have_url(re.compile("model="))
    expect(undo).to_be_enabled()
    undo.click()
    expect(page).not_to_have_url(re.compile("model="))
    undo.click()
    expect(called.first).not_to_contain_text("Roscoff")


def shown_text(page: Page) -> str:
    """What of the stream has come, in the first column; lines in sight are all of a short one."""
    return "".join(page.locator(".player .column").first.locator(".line .past").all_text_contents())


def test_the_player_steps_plays_and_reports_where_it_rests(page: Page, address: str) -> None:
    page.goto(f"{address}/replay?session=05-call-in-a-fence&step=0")
    player = page.locator(".player")
    expect(player.locator(".place")).to_have_text(re.compile("chunk 1 of 47"))
    player.get_by_label("One step on").click()
    player.get_by_label("One step on").click()
    expect(player.locator(".place")).to_have_text(re.compile("chunk 3 of 47"))
    expect(page).to_have_url(re.compile("step=2"))
    player.locator(".text").first.press("]")
    expect(player.locator(".found.now")).to_have_count(1)
    player.get_by_label("Speed").select_option("20")
    player.get_by_role("button", name="Play or pause").click()
    expect(player.locator(".place")).to_have_text(re.compile("end of the stream"))
    assert shown_text(page).endswith("</read_file>")
    assert player.locator(".line .to").count() == 0
    player.locator(".text").first.press("Home")
    expect(player.locator(".place")).to_have_text(re.compile("chunk 1 of 47"))
    assert len(shown_text(page)) < 20


def test_the_next_finding_is_the_one_after_the_place_that_is_lit(page: Page, address: str) -> None:
    """`]` went to the first of the list, which is sorted by severity, and so back in the text."""
    page.goto(f"{address}/replay?session=04-truncated-call")
    text = page.locator(".player .text").first
    expect(text).to_be_visible()
    now = page.locator(".player .findings .now")
    text.press("f")
    expect(page.locator(".player .lit").first).to_be_visible()
    for key, at in (("]", 35), ("]", 122), ("]", 169), ("[", 122), ("[", 35), ("[", 0), ("[", 0)):
        text.press(key)
        expect(now).to_contain_text(f"at {at}")
    page.get_by_role("button", name="Columns").click()
    expect(page.get_by_role("combobox", name="A call in a code fence is")).to_be_visible()
    labels = "all => all.map(node => node.getAttribute('aria-label')).join()"
    assert ":small" not in page.locator("[aria-label]").evaluate_all(labels)


QWEN = (
    "I'll look first.\n\n<tool_call>\n<function=read_file>\n<parameter=path>\na.sql\n</parameter>\n"
    "</function>\n\nWhile that is running, note that it locks the table."
)


def test_one_transport_moves_every_column_and_the_first_difference_is_lit(
    page: Page, tmp_path: Path
) -> None:
    cut = tuple(TextChunk(QWEN[at : at + 4]) for at in range(0, len(QWEN), 4))
    recording = Recording("qwen", "qwen3-coder", cut)
    path = tmp_path / "columns.html"
    names = ("vllm", "ollama")
    readings = [pg.replay(recording, "qwen3-coder", server=name) for name in names]
    columns = [readings[0], *(each.delivered for each in readings if each.delivered)]
    path.write_text(replays(columns).page(), encoding="utf-8")
    page.goto(path.as_uri())
    player = page.locator(".player")
    expect(player.locator(".column")).to_have_count(3)
    expect(player.get_by_role("button", name="Play or pause")).to_have_count(1)
    heads = player.locator(".column .title").all_inner_texts()
    assert ["dropped" in head for head in heads] == [False, True, True]
    struck = player.locator(".column").nth(1).locator(".line .k-dropped").all_text_contents()
    assert "".join(struck).startswith("While that is running")
    tops = "all => all.map(one => one.getBoundingClientRect().top)"
    lines = [player.locator(".column").nth(at).locator(".line") for at in range(3)]
    assert len({tuple(each.evaluate_all(tops)) for each in lines}) == 1  # at the same height
    player.locator(".text").first.press("f")
    expect(player.locator(".lit")).to_have_count(3)
    assert {*player.locator(".lit").all_text_contents()} == {"<"}
    expect(player.locator(".place")).to_contain_text("chunk 13 of")
    player.locator(".text").first.press("End")
    box = player.locator(".text")
    box.nth(2).evaluate("node => (node.scrollTop = 40)")
    same = "all => new Set(all.map(one => one.scrollTop)).size"
    page.wait_for_function(
        f"() => ({same})([...document.querySelectorAll('.playground')].flatMap("
        "e => [...e.shadowRoot.querySelectorAll('.text')])) === 1"
    )


def test_no_name_of_four_columns_is_cut_and_their_texts_begin_at_one_height(
    page: Page, tmp_path: Path
) -> None:
    recording = Recording("qwen", "qwen3-coder", (TextChunk(QWEN),))
    columns = [pg.replay(recording, "qwen3-coder")]
    for server in ("vllm:qwen3_coder", "ollama:qwen3.5", "vllm-mlx"):
        handed = pg.replay(recording, "qwen3-coder", server=server).delivered
        assert handed
        columns.append(handed)
    path = tmp_path / "four.html"
    path.write_text(replays(columns).page(), encoding="utf-8")
    for width in (1440, 900):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri())
        names = page.locator(".player h2").filter(has_not_text="Findings")
        expect(names).to_have_count(4)
        assert (
            names.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth).length") == 0
        )
        tops = "all => all.map(one => one.getBoundingClientRect().top)"
        assert len({*page.locator(".player .text").evaluate_all(tops)}) == 1


def test_the_player_shows_every_character_of_a_stream_cut_inside_characters(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/replay?session=10-cut-characters&step=999")
    expect(page.locator(".player .place")).to_have_text(re.compile("end of the stream"))
    text = shown_text(page)
    assert "👩‍✈️🚢🇫🇷 naïve café" in text
    assert "\ufffd" not in text


def test_tokens_are_counted_in_the_background(page: Page, address: str) -> None:
    page.goto(f"{address}/compare?session=01-plain-chat&view=Counts")
    expect(page.get_by_text("Tokens of the whole request")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(500)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box
    assert box["width"] > 500


@pytest.mark.long
@pytest.mark.parametrize("width_and_scheme", list(product((900, 1440), ("dark", "light"))))
def test_pages_fit_and_text_is_readable(
    page: Page, address: str, width_and_scheme: tuple[int, Literal["dark", "light"]]
) -> None:
    width, scheme = width_and_scheme
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme=scheme)
    for path in ("compare", "cache", "replay", "payload"):
        page.goto(f"{address}/{path}?session=02-parallel-calls")
        expect(page.locator(".panes .row, .player .line, .strip canvas").first).to_be_visible(
            timeout=30_000
        )
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
        assert not wide, f"{path} at {width} px scrolls sideways"
        element = page.locator(".block pre, .player .text, .strip pre").first
        assert contrast(element.evaluate(COLOURS)) > 4.5
    for path in ("templates", "prompts"):
        page.goto(f"{address}/{path}?session=02-parallel-calls")
        expect(page.locator("[data-testid=stDataFrame]").first).to_be_visible()
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"), path


def test_the_strip_of_a_billed_request_shows_its_bill(page: Page, address: str) -> None:
    """It was green for tokens that the bill below it said were written."""
    said = (Message("user", (TextPart("low water at noon " * 600),)),)
    made = Session(messages=(*said, Message("assistant", (TextPart("so"),)), *said) * 2)
    bills = [{"cache_creation_input_tokens": n, "input_tokens": 3} for n in (2_000, 6_000)]
    records = [RequestRecord(3 * n + 1, usage=each) for n, each in enumerate(bills)]
    made = replace(made, requests=tuple(records)).with_model("claude-sonnet-4-5")
    page.goto(f"{address}/cache")
    bring(page, "billed.json", dump_session(made).encode())
    page.get_by_role("button", name="New session").click()
    expect(page.get_by_role("combobox", name="Session")).to_have_value("billed")
    strip = page.locator(".strip")
    strip.get_by_label("Request", exact=True).fill("1")
    expect(strip.locator(".place")).to_contain_text("billed: read 0 · written 6,000")
    strip.locator("canvas").first.click(position={"x": 20, "y": 93})
    expect(strip.locator(".side")).to_contain_text("by its billwritten")
    expect(strip.locator(".side")).not_to_contain_text("as predicted")
    canvas = strip.locator("canvas").first
    assert "billed: read 0, written 6,000" in str(canvas.get_attribute("aria-label"))
    inks = canvas.evaluate(
        "one => [0.02, 0.2].map((x) => [...one.getContext('2d')"
        ".getImageData(one.width * x, 93 * devicePixelRatio, 1, 1).data].join())"
    )
    assert len({*inks}) == 1
    assert not inks[0].endswith(",0")
    expect(strip.locator(".place")).to_contain_text("full price 3 of 6,003 · predicted: read ")
    strip.get_by_label("Request", exact=True).fill("2")  # its last block is none of the first's
    strip.locator(".pin").last.click()
    strip.get_by_label("Request", exact=True).fill("0")
    expect(strip.locator(".side")).to_contain_text("Block 1user")
    strip.locator(".finding").get_by_role("button", name="Show request 2").first.click()
    expect(strip.locator(".place")).to_contain_text("2 of 3 · at")
    expect(strip.locator(".side")).to_contain_text("Block ")


def test_a_break_shows_the_character_that_changed(page: Page, address: str) -> None:
    """It showed the beginning of the block, in which the change was 6,000 characters below."""
    lines = []
    for number, day in enumerate((20, 21, 21)):
        text = f"{'Pilot. ' * 900}Today is the {day}th.{' Pilot.' * 900}"
        mark = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        turns = [{"role": role, "content": role} for role in ("user", "assistant") * 3]
        messages = turns[: 2 * number + 1]
        body: dict[str, object] = {
            "model": "claude-sonnet-4-5",
            "system": [mark],
            "messages": messages,
        }
        answer = {"role": "assistant", "content": "assistant"}
        at = f"2026-11-01T10:00:{number}0Z"
        line = {"session_id": "s", "request": body, "response": answer, "timestamp": at}
        lines.append(json.dumps(line))
    page.goto(f"{address}/cache")
    bring(page, "breaks.jsonl", "\n".join(lines).encode())
    page.get_by_role("button", name="New session").click()
    place, changed = page.locator(".strip .place"), page.locator(".side mark")
    expect(place).to_contain_text("2 of 3")  # the sentence is about this request
    expect(changed).to_have_text("1th.")
    page.get_by_label("One request on").click()
    expect(place).to_contain_text("3 of 3")
    page.locator(".flags button").click()
    expect(changed).to_have_text("1th.")
    expect(changed).to_be_in_viewport()
    expect(page.locator(".side")).to_contain_text("characters 5,315 to 7,314 of")


@pytest.mark.parametrize("scheme", widened(["light", "dark"]))
def test_the_strip_goes_through_the_requests_and_shows_a_block(
    page: Page, address: str, scheme: Literal["dark", "light"]
) -> None:
    page.set_viewport_size({"width": 1000, "height": 1000})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/cache?session=12-long-tool-run&dialect=xml")
    strip = page.locator(".strip")
    expect(strip.locator(".place")).to_contain_text("15 of 15")
    said = strip.locator(".side")
    expect(said).to_contain_text("Block 29")
    expect(said).to_contain_text("Marked: the last user message")
    strip.get_by_label("One request back").click()
    expect(strip.locator(".place")).to_contain_text("14 of 15 · at 260 s")
    strip.get_by_label("Request", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(strip.locator(".place")).to_contain_text("15 of 15")
    strip.get_by_label("Request", exact=True).fill("0")
    expect(strip.locator(".place")).to_contain_text("1 of 15")
    strip.locator("canvas").first.click(position={"x": 3, "y": 60})
    expect(said).to_contain_text("Block 0system text")
    for part in (".place", ".figures b", ".figures span", ".side dt", ".decision"):
        element = strip.locator(part).first
        assert contrast(element.evaluate(COLOURS)) > 4.5, part
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
    assert not wide


def test_a_mark_is_dragged_and_python_says_what_that_saves(page: Page, address: str) -> None:
    page.goto(f"{address}/cache?session=12-long-tool-run")
    strip = page.locator(".strip")
    expect(strip.locator("h2")).to_contain_text("none can hit: about 1,004 tokens")
    canvas = strip.locator("canvas").first.bounding_box()
    findings = strip.locator(".findings").bounding_box()
    bars = strip.locator(".bars", has_text="Policies").bounding_box()  # beside the findings
    assert findings and bars
    assert (bars["y"], bars["width"]) == pytest.approx((findings["y"], findings["width"]), abs=1)
    finding = strip.locator(".finding", has_text="after the last mark")
    remedy = finding.get_by_role("button", name="Switch policy: Claude Code's marks")
    expect(remedy).to_be_visible()
    pin = strip.locator(".pin").last
    box = pin.bounding_box()
    assert canvas and box
    page.mouse.move(box["x"] + 11, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(canvas["x"] + canvas["width"] - 1, canvas["y"] + 60, steps=8)
    page.mouse.up()
    expect(strip.locator(".figures b").first).to_have_text("88 %")
    expect(page).to_have_url(re.compile("marks="))
    policies = page.locator(".bars .on .name")
    expect(policies).to_contain_text("The marks you set")
    expect(remedy).to_have_count(0)
    strip.locator(".pin").last.press("Delete")
    expect(strip.locator(".figures b").first).to_have_text("0 %")
    strip.locator("canvas").first.click(position={"x": canvas["width"] - 1, "y": 60})
    strip.get_by_role("button", name="Set mark on block 44").click()
    expect(strip.locator(".figures b").first).to_have_text("88 %")


COLOURS = """element => {
  const opaque = node => {
    const probe = getComputedStyle(node).backgroundColor
    const alpha = probe.startsWith("rgba") ? Number(probe.split(",")[3].replace(")", "")) : 1
    if (alpha > 0.99) return probe
    const up = node.parentElement || node.getRootNode().host
    return up ? opaque(up) : "rgb(255, 255, 255)"
  }
  return [getComputedStyle(element).color, opaque(element)]
}"""


def contrast(colours: list[str]) -> float:
    """WCAG 2 contrast ratio of two CSS rgb() colours."""
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_an_uploaded_template_writes_the_session_and_its_markup_stays_text(
    page: Page, address: str
) -> None:
    source = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% for c in m.tool_calls or [] %}<tool_call>\n"
        '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n'
        "</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    ) + HOSTILE
    page.goto(f"{address}/raw?session=02-parallel-calls&format=A+chat+template")
    template = page.locator("[data-testid=stFileUploaderDropzoneInput]")
    name = "mine ![a](https:evil.example) <b>.jinja"
    files = file(name, source.encode())
    asked = outside(page)
    template.set_input_files(files=files)
    expect(page.get_by_text("Replies are read by: hermes.")).to_be_visible()
    expect(page.get_by_text(f"The prompt by {name}")).to_be_visible()
    assert asked == []
    assert page.title() != "owned"
    expect(page.get_by_text("about the template")).to_be_visible()  # it shows no tools


def test_a_template_that_fails_leaves_the_page_and_says_why(page: Page, address: str) -> None:
    page.goto(f"{address}/raw?format=A+chat+template")
    source = b"{{ raise_exception('no system, please') }}"
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(
        files=file("strict.jinja", source)
    )
    expect(page.get_by_text("the template refuses: no system, please")).to_be_visible()
    page.goto(f"{address}/raw")
    expect(page.get_by_text("Replies are read by: llama3-json.")).to_be_visible()


@pytest.mark.long
def test_the_player_steps_from_event_to_event(page: Page, address: str) -> None:
    page.goto(f"{address}/replay?session=02-parallel-calls&columns=xml")
    player = page.locator(".player")
    player.get_by_role("button", name="Show events").click()
    player.get_by_label("Step by").select_option("event")
    player.locator(".text").press("Home")
    seen = []
    for _ in range(5):
        seen.append(player.locator(".event.now .what").inner_text())
        player.locator(".text").press("ArrowRight")
    assert seen == ["text", "call started", "markup", "call named", "markup"]
    player.locator(".text").press("ArrowLeft")
    expect(player.locator(".event.now .what")).to_have_text("markup")
    expect(player.locator(".place")).to_have_text(re.compile("simulated"))


def test_the_page_that_was_saved_plays_by_itself(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(f"{address}/replay?session=10-cut-characters")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Page (HTML)").click()
    path = tmp_path / "replay.html"
    saved.value.save_as(path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    player = page.locator(".player")
    player.locator(".text").first.press("End")
    expect(player.locator(".place")).to_have_text(re.compile("end of the stream"))
    assert "👩‍✈️🚢🇫🇷 naïve café" in shown_text(page)
    assert asked == [path.as_uri()]


def test_a_simulation_that_was_saved_is_stepped_through_by_itself(
    page: Page, tmp_path: Path
) -> None:
    task = TaskConfig(user_agent_prompt="</script><script>document.title='owned'</script>" * 90)
    said = [Message("user", (TextPart(HOSTILE),)), Message("assistant", (TextPart(HOSTILE),))]
    found = pg.simulate_cache(Session(task=task, messages=tuple(said * 3)), dialect="xml")
    path = tmp_path / "strip.html"
    path.write_text(found.html())
    asked = outside(page)
    page.goto(f"file://{path}")
    expect(page.locator(".place")).to_contain_text("3 of 3")
    page.get_by_label("One request back").click()
    expect(page.locator(".place")).to_contain_text("2 of 3")
    page.locator("canvas").first.click(position={"x": 2, "y": 60})
    expect(page.locator(".side")).to_contain_text("Block 0")
    assert page.title() == "xml, azad"
    assert [url for url in asked if not url.startswith("file:")] == []


def test_a_hostile_recording_is_text_in_the_page_that_was_saved(page: Page, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=document.title='pwned'><script>document.title='pwned'"
    timeline = pg.replay(Recording(evil, "xml", (TextChunk(evil),)), "xml")
    path = tmp_path / "evil.html"
    path.write_text(timeline.html(), encoding="utf-8")
    page.goto(path.as_uri())
    page.locator(".player .text").press("End")
    assert shown_text(page) == evil
    assert page.locator("img").count() == 0
    assert page.title() == evil


def signatures(page: Page, address: str, view: str = "Prompt") -> None:
    page.goto(f"{address}/signatures?signature=question -> answer: int, why")
    page.get_by_role("tab", name=view).click()


def cells(page: Page, index: int) -> Locator:
    """What a table shows: it is drawn on a canvas, its cells stand in a hidden table."""
    return page.get_by_test_id("stDataFrame").nth(index).locator("table")


@pytest.mark.long
def test_a_pasted_completion_is_read_field_by_field(page: Page, address: str) -> None:
    signatures(page, address, "Answer")
    box = page.get_by_role("textbox", name="Completion")
    box.fill("[[ ## answer ## ]]\nforty\n\n[[ ## why ## ]]\n" + HOSTILE)
    box.press("Control+Enter")
    read = cells(page, 1)  # behind the signature's own fields
    expect(read).to_contain_text("unable to parse string as an integer")
    expect(read).to_contain_text("<script>document.title='owned'</script>")
    expect(cells(page, 2)).to_contain_text("forty")  # as it would arrive
    assert page.title() != "owned"


@pytest.mark.long
def test_a_prompt_stands_in_three_adapters_side_by_side(page: Page, address: str) -> None:
    signatures(page, address)
    panes = page.locator(".verbatim")
    expect(panes).to_have_count(3)
    tops = panes.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    assert max(tops) - min(tops) < 40


def asked(page: Page, address: str, model: str, server: str) -> None:
    """The session is sent to a server in one column."""
    page.goto(f"{address}/compare?session=02-parallel-calls&dialects=xml")
    expect(page.locator(".panes .block").first).to_be_visible()
    settled = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(settled).to_be_visible()  # a click on what is still being made anew is lost
    page.locator(".st-key-run-settings button").click()
    page.get_by_role("textbox", name="Server").fill(server)
    field = page.get_by_role("textbox", name="Model", exact=True)
    field.fill(model)
    field.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run in all columns").click()


def test_every_column_is_asked_without_a_key_and_a_trial_says_what_is_proven(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/compare?session=02-parallel-calls")
    expect(page.locator(".panes .block").first).to_be_visible()
    page.keyboard.press("Control+Enter")
    answers = page.locator(".st-key-answers")
    expect(answers).to_contain_text("Scripted, no model is asked", timeout=60_000)
    replays = answers.get_by_role("link", name="Open in Replay")
    expect(replays).to_have_count(3, timeout=60_000)
    expect(answers).to_contain_text("the same call in all 3")
    expect(page.locator(".st-key-bar")).not_to_contain_text("edited")
    expect(page).to_have_url(re.compile(r"session=02-parallel-calls%2C\+run"))  # not the sample
    page.get_by_text("Trial: ask n times").click()
    page.get_by_role("spinbutton", name="Times").fill("1")
    page.get_by_role("spinbutton", name="Times").press("Enter")
    page.get_by_role("button", name="Run trial").click()
    expect(page.get_by_text("Nothing is proven: no difference")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Set to 7 times").click()  # the fewest that can prove anything
    expect(page.get_by_role("spinbutton", name="Times")).to_have_value("7")
    expect(page.get_by_text("too few to prove")).to_have_count(0)
    replays.first.click()
    player = page.locator(".player")
    expect(player.locator(".place")).to_have_text(re.compile("recorded"))
    player.locator(".text").first.press("End")
    expect(player.locator(".call b").first).to_have_text("get_weather")


def test_a_run_can_be_stopped(page: Page, address: str) -> None:
    with serving() as demo:
        asked(page, address, "openai/demo-slow", f"{demo.url}/v1")
        page.get_by_text(re.compile("[3-9] chunks, ")).wait_for(timeout=60_000)
        page.locator(".st-key-answers").get_by_role("button", name="Stop").click()
        expect(page.get_by_text("the user stopped the run")).to_be_visible(timeout=20_000)


@pytest.mark.parametrize("kept_first", [True, False])
def test_an_edit_during_a_run_and_its_answers_are_in_one_session(
    page: Page, address: str, kept_first: bool
) -> None:
    """Kept, the answers were gone; only typed, the end of the run took the text away."""
    with serving() as demo:
        asked(page, address, "openai/demo-slow", f"{demo.url}/v1")
        answers = page.locator(".st-key-answers")
        expect(answers).to_contain_text(re.compile("[1-9] chunks?, "), timeout=60_000)
        page.locator(".block[data-origin='tool:get_weather']").first.click()
        box = page.locator(".editing textarea").first
        text = f"The storm at a place, {kept_first}."
        box.fill(f'{box.input_value().partition("The weather")[0]}{text}"}}')
        expect(page.locator(".editing .said")).to_have_text("Every column follows.")
        if kept_first:
            box.press("Control+Enter")
        expect(answers.get_by_role("link", name="Open in Replay")).to_be_visible(timeout=30_000)
        if not kept_first:
            expect(box).to_have_value(re.compile(re.escape(text)))
            box.press("Control+Enter")
        expect(box).to_have_count(0)
        expect(page.locator(".panes").first).to_contain_text(text)
        expect(answers.get_by_role("link", name="Open in Replay")).to_be_visible()
        end = "edited" if kept_first else "run"
        expect(page).to_have_url(re.compile(rf"session=02-parallel-calls%2C\+{end}"))


def test_answers_that_end_while_another_page_is_open_are_in_the_session(
    page: Page, address: str
) -> None:
    """They were shown, and no session had them: *Open in Replay* led nowhere."""
    with serving() as demo:
        asked(page, address, "openai/demo-slow", f"{demo.url}/v1")
        answers = page.locator(".st-key-answers")
        expect(answers).to_contain_text(re.compile("[1-9] chunks?, "), timeout=60_000)
        page.keyboard.press("g")
        page.keyboard.press("a")
        expect(page.locator(".st-key-policies .bars, .st-key-strip").first).to_be_visible()
        for _ in range(200):
            if demo.sent and demo.sent[-1][-1:] == [b"data: [DONE]\n\n"]:
                break
            page.wait_for_timeout(100)
        page.wait_for_timeout(1_500)  # the recording is stored a moment later
        page.keyboard.press("g")
        page.keyboard.press("c")
        answers.get_by_role("link", name="Open in Replay").click(timeout=30_000)
        expect(page).to_have_url(re.compile(r"session=02-parallel-calls%2C\+run"))
        expect(page.locator(".player .text").first).to_contain_text("I will look that up.")


def test_an_answer_that_ends_while_its_tab_closes_is_on_start(page: Page, address: str) -> None:
    """It was whole, so no interrupted recording, and in no session: nothing led to it."""
    with serving() as demo:
        tab = page.context.new_page()
        asked(tab, address, "openai/demo-slow", f"{demo.url}/v1")
        answers = tab.locator(".st-key-answers")
        expect(answers).to_contain_text(re.compile("[1-9] chunks?, "), timeout=60_000)
        tab.close()
        page.wait_for_timeout(8_000)  # it goes on for some seconds, as if the tab came back
    page.goto(address)
    row = page.locator("[class*=st-key-kept]", has_text="demo-slow")
    expect(row).to_contain_text("recording in no session")
    row.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator(".player .text").first).to_contain_text("I will look that up.")


def test_an_app_that_is_stopped_keeps_what_its_run_had(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM, while a server drips: it is over within seconds."""
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))

    def drip() -> Iterator[bytes | float]:
        while True:
            yield event("word ")
            yield 0.1

    with answering(drip) as server:
        with served(tmp_path) as app:
            asked(page, app, "openai/any", server.url)
            page.get_by_text(re.compile("[3-9] chunks, |[0-9]{2} chunks, ")).wait_for(
                timeout=90_000
            )
            page.wait_for_timeout(1_500)  # what came is on the disk within a second
            began = time.monotonic()
        assert time.monotonic() - began < 15
    (path,) = (tmp_path / "home" / "recordings").iterdir()
    recording = pg.load_recording(path)
    assert recording.reply.content.startswith("word word word ")
    assert recording.error is not None


@pytest.mark.long
@pytest.mark.parametrize("path", ["compare", "templates"])
def test_a_run_ends_with_its_tab(browser: Browser, address: str, path: str) -> None:
    """By a server that has no end: it sees that nobody listens any more."""
    hung_up = threading.Event()

    def drip() -> Iterator[bytes | float]:
        try:
            while True:
                yield event("word ")
                yield 0.1
        finally:
            hung_up.set()

    with answering(drip) as server:
        page = browser.new_context().new_page()
        if path == "templates":
            page.goto(f"{address}/{path}")
            page.get_by_text("A model's", exact=True).click()
            page.get_by_role("textbox", name="Server").fill(server.url)
            model = page.get_by_role("textbox", name="Model", exact=True)
            model.fill("openai/any")
            model.press("Enter")
            page.get_by_role("button", name="Run", exact=True).click()
        else:
            asked(page, address, "openai/any", server.url)
        page.get_by_role("button", name="Stop", exact=True).last.wait_for(timeout=60_000)
        for _ in range(600):  # LiteLLM is loaded
            if server.requests:
                break
            page.wait_for_timeout(100)
        page.wait_for_timeout(1_000)
        assert not hung_up.is_set()
        page.context.close()
        assert hung_up.wait(60)


def test_two_versions_are_shown_word_by_word(page: Page, address: str) -> None:
    page.goto(f"{address}/diff?before=01-plain-chat&after=02-parallel-calls&part=system")
    grid = page.get_by_role("region", name="Requests side by side")
    expect(grid.locator("ins")).to_contain_text("Answer in short sentences.")
