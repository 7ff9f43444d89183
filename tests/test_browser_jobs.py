"""Jobs as a user tells them, done with mouse and keyboard alone; clicks and seconds are counted."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright
from serving import CHROMIUM, FLAGS, served

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("no chromium here: apt-get install chromium", allow_module_level=True)

expect.set_options(timeout=90_000)  # sixty parsers are made first, on a machine that is shared

REPLY = """I will look at both.

<tool_call>
{"name": "get_tides", "arguments": {"harbour": "Brest"}}
</tool_call>"""
BODY = {
    "model": "gpt-5",
    "messages": [
        {"role": "system", "content": "You keep the harbour."},
        {"role": "user", "content": "High tide?"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_tides",
                "description": "Tides of a harbour.",
                "parameters": {"type": "object", "properties": {"harbour": {"type": "string"}}},
            },
        }
    ],
}


class Hand:
    """A user at the page: what is clicked is counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.started = time.monotonic()

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def paste(self, text: str) -> None:
        """What Ctrl+V does to the element that has the focus, with this in the clipboard."""
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("Control+v")

    def seconds(self) -> float:
        return time.monotonic() - self.started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("elsewhere")) as url:
        yield url


@pytest.fixture
def hand(address: str) -> Iterator[Hand]:
    """A user who has just opened the bare address."""
    with sync_playwright() as playwright:
        assert CHROMIUM, "CI must have chromium"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name="Start")).to_be_visible()
        expect(page.get_by_label("Paste anything").first).to_be_visible()
        yield Hand(page)
        browser.close()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_a_reply_is_pasted_and_its_reader_is_seen_in_three_clicks(hand: Hand) -> None:
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(REPLY)
    expect(page.get_by_role("status").first).to_have_text("a reply in hermes: 1 call")
    hand.click(button(page, "See who reads it"))
    expect(page.get_by_role("heading", name="Replay")).to_be_visible()
    expect(page.get_by_text("Complete calls: get_tides")).to_be_visible()
    expect(page.get_by_role("tab", name="Which dialect is this?")).to_have_attribute(
        "aria-selected", "true"
    )
    assert hand.clicks <= 3
    print(f"{hand.clicks} clicks, {hand.seconds():.1f} s")


def test_a_request_is_brought_on_another_page_and_seen_there(hand: Hand) -> None:
    page = hand.page
    hand.click(page.get_by_role("link", name="Cache"))
    expect(page.get_by_role("heading", name="Cache")).to_be_visible()
    hand.click(button(page, "Bring …"))
    box = page.get_by_role("dialog").get_by_label("Paste anything")
    expect(box).to_be_focused()
    hand.paste(f"curl https://api.example/v1 -H 'Authorization: x' -d '{json.dumps(BODY)}'")
    said = page.get_by_role("dialog").get_by_role("status")
    expect(said).to_have_text("OpenAI request: system prompt, 1 message, 1 tool (in curl)")
    hand.click(button(page, "New session"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="Cache")).to_be_visible()
    expect(page.locator(".block", has_text="You keep the harbour.").first).to_be_visible()
    expect(page).to_have_url(re.compile("session=pasted"))
    assert hand.clicks <= 3
    print(f"{hand.clicks} clicks, {hand.seconds():.1f} s")


def test_things_come_in_any_order(hand: Hand) -> None:
    page = hand.page
    for thing, choice in (
        (BODY["tools"], "New session with them"),
        (BODY["messages"], "Into this session"),
    ):
        hand.click(button(page, "Bring …"))
        expect(page.get_by_role("dialog").get_by_label("Paste anything")).to_be_focused()
        hand.paste(json.dumps(thing))
        hand.click(page.get_by_role("dialog").get_by_role("button", name=choice, exact=True))
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    expect(page.locator(".block", has_text="High tide?").first).to_be_visible()
    expect(page.locator(".block[data-origin='tool:get_tides']").first).to_be_visible()


def test_a_long_paste_a_picture_and_prose_are_one_clear_line(hand: Hand, tmp_path: Path) -> None:
    page = hand.page
    said = page.get_by_role("status").first
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste("no call in it. " * 350_000)
    expect(page.get_by_text(re.compile("5.. MB pasted"))).to_be_visible()
    expect(said).to_contain_text("in which no dialect reads a call")
    hand.click(button(page, "Clear the box"))
    expect(said).to_have_text("")
    picture = tmp_path / "shot.png"
    page.screenshot(path=picture)
    page.get_by_label("Choose a file").first.set_input_files(picture)
    expect(said).to_have_text(re.compile(r"a picture \(PNG\): no text can be read from it"))
    assert page.get_by_text("Traceback").count() == 0


def test_a_block_and_a_request_are_copied_as_they_are_sent(hand: Hand) -> None:
    page = hand.page
    hand.click(page.get_by_role("link", name="Compare"))
    block = page.locator(".block[data-kind='dialect rules']").first
    shown = block.locator("pre").text_content()
    hand.click(block.get_by_role("button", name="Copy dialect rules"))
    expect(block.get_by_role("button")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    hand.click(button(page, "Copy or save"))
    with page.expect_download() as saved:
        hand.click(button(page, "Save"))
    messages = json.loads(saved.value.path().read_text())["messages"]
    assert str(messages[0]["content"]).count("How to call a tool") == 1
    assert hand.clicks == 4


def test_the_policy_decides_what_the_headline_says(hand: Hand) -> None:
    page = hand.page
    page.goto(page.url.replace("/start", "/cache?session=12-long-tool-run&drawn=xml"))
    said = page.locator("[data-testid=stAlert]").first
    expect(said).to_contain_text("84 % of the input is read from the cache. It costs 0.27 of")
    hand.click(page.get_by_role("combobox", name="Policy"))
    hand.click(page.get_by_role("option", name="No marks"))
    expect(said).to_contain_text("No marks, and nothing is written or read. It costs the full")
    expect(page).to_have_url(re.compile("policy="))
    address = page.url
    page.goto(address)  # what a copied link shows
    expect(said).to_contain_text("No marks, and nothing is written or read.")
    assert hand.clicks == 2


def test_keys_go_to_pages_and_players_but_never_where_somebody_types(hand: Hand) -> None:
    page, press = hand.page, hand.page.keyboard.press
    press("4")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Replay")
    expect(heading).to_be_focused()
    place = page.locator(".player .place")
    expect(place).to_contain_text("end of the stream")
    press("Home")
    expect(place).to_contain_text("chunk 1 of")
    press("ArrowRight")
    expect(place).to_contain_text("chunk 2 of")
    press("b")
    box = page.get_by_role("dialog").get_by_label("Paste anything")
    expect(box).to_be_focused()
    page.keyboard.type("2?b/")
    expect(box).to_have_value("2?b/")
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(heading).to_have_text("Replay")
    press("2")
    expect(heading).to_have_text("Compare")
    expect(page.locator(".row").first).to_be_visible()
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("3")
    expect(heading).to_have_text("Compare")
    heading.click()
    press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("search in the panes")
    press("3")  # nothing under a dialog
    expect(heading).to_have_text("Compare")
    hand.click(page.get_by_text("Keys of one letter are off"))
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_timeout(500)
    press("3")
    page.wait_for_timeout(500)
    expect(heading).to_have_text("Compare")


def test_a_cell_of_the_matrix_is_chosen_and_marks_are_set_by_a_click(hand: Hand) -> None:
    page = hand.page
    page.goto(
        page.url.replace("/start", "/cache?session=12-long-tool-run&drawn=native")
        + "&shown=What+it+costs"
    )
    matrix = page.get_by_test_id("stDataFrame").nth(1)
    expect(matrix).to_be_visible()
    strip = page.locator(".strip")
    expect(strip).to_be_visible()
    box = matrix.bounding_box()
    assert box
    matrix.click(position={"x": box["width"] * 0.6, "y": 52})  # the first row, below the head
    hand.clicks += 1
    expect(page).to_have_url(re.compile("drawn=xml|policy="))
    expect(page.get_by_role("heading", name="xml")).to_be_visible()

    hand.click(page.get_by_role("tab", name="On the messages"))
    said = page.get_by_test_id("stAlert").first
    before = said.text_content() or ""
    block = page.locator(".block[data-origin^='part:']").first
    marked = "marked" in (block.get_attribute("class") or "").split()
    hand.click(block.locator("pre"))
    expect(page.get_by_text("The marks you set: a policy of your own")).to_be_visible()
    expect(said).not_to_have_text(before)
    word = "set" if marked else "clear"
    hand.click(block.get_by_role("button", name=re.compile(f"^{word} mark on")))
    expect(said).to_have_text(before)  # as the policy has it
    print(f"{hand.clicks} clicks, {hand.seconds():.1f} s")


def test_a_reply_that_nobody_recorded_is_replayed_from_its_end(hand: Hand) -> None:
    page = hand.page
    page.goto(page.url.replace("/start", "/compare?session=12-long-tool-run"))
    hand.click(page.get_by_role("link", name="Replay"))
    player = page.locator(".player")
    expect(player.locator(".place")).to_contain_text("end of the stream")
    expect(player.locator(".text")).to_contain_text("so summer time is counted.")
    expect(page.get_by_text("The model's own text may have been another.")).to_be_visible()
    hand.click(player.get_by_label("First step (Home)"))
    expect(player.locator(".place")).to_contain_text("chunk 1 of")
    assert hand.clicks == 2


def test_an_imported_request_is_edited_and_the_edits_are_undone(hand: Hand) -> None:
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(json.dumps(BODY))
    hand.click(button(page, "New session"))
    expect(page.locator(".panes").first).to_contain_text("You keep the harbour.")
    hand.click(page.get_by_text("Edit", exact=True))
    prompt = page.get_by_role("textbox", name="System prompt")
    expect(prompt).to_have_value("You keep the harbour.")
    prompt.fill("You keep the lighthouse.")
    prompt.press("Control+Enter")
    expect(page.locator(".panes").first).to_contain_text("You keep the lighthouse.")
    expect(page.locator(".panes").first).not_to_contain_text("You keep the harbour.")

    hand.click(page.get_by_role("tab", name="Messages"))
    hand.click(button(page, "Add after"))
    part = page.get_by_role("textbox", name="Part 0: text")
    expect(part).to_have_value("")
    part.fill("At seven.")
    part.press("Control+Enter")
    hand.click(button(page, "Earlier"))
    pane = page.locator(".panes").first
    expect(pane).to_contain_text(re.compile(r"At seven\.[\s\S]*High tide\?"))
    sidebar = page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_contain_text("system prompt, 1 message added")
    for seen in (r"High tide\?[\s\S]*At seven\.", r"High tide\?"):
        hand.click(sidebar.get_by_role("button", name="Undo"))
        expect(pane).to_contain_text(re.compile(seen))
    expect(pane).not_to_contain_text("At seven.")
    hand.click(sidebar.get_by_role("button", name="Redo"))
    expect(pane).to_contain_text("At seven.")
    hand.click(sidebar.get_by_role("button", name="Discard all edits"))
    expect(pane).to_contain_text("You keep the harbour.")
    print(f"{hand.clicks} clicks, {hand.seconds():.1f} s")
