"""Jobs of the tour with files of one's own: a chat template, two prompts, a recording, a corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import test_browser_jobs as jobs
from playwright.sync_api import expect
from serving import App
from test_own_page import TEMPLATE
from test_workspace import CUT
from tour import Hand, Tour

pytestmark = pytest.mark.browser

hand = jobs.hand


@pytest.fixture(scope="module")
def folder(app: App) -> Path:
    """The folder in which the app was started: with an interrupted recording and transcripts."""
    app.emptied()
    folder = app.folder
    recordings = folder / "home" / "recordings"
    recordings.mkdir(parents=True)
    lines = "".join(f"{json.dumps(line)}\n" for line in CUT)
    (recordings / "harbour.jsonl").write_text(lines)
    transcripts = folder / "transcripts"
    transcripts.mkdir()
    for number in range(40):
        text = jobs.transcript().replace('"sessionId": "s"', f'"sessionId": "s{number}"')
        (transcripts / f"{number}.jsonl").write_text(
            text.replace("Read page", f"Day {number}: page")
        )
    return folder


@pytest.fixture(scope="module")
def address(app: App, folder: Path) -> str:
    return app.url


def paste(hand: Hand, text: str, choice: str) -> None:
    """A text is pasted into the box of Start, and one of the offers is taken."""
    hand.click(hand.page.get_by_label("Paste anything").first)
    hand.paste(text)
    hand.click(jobs.button(hand.page, choice))


def test_a_dialect_is_derived_from_a_models_own_template(hand: Hand, tour: Tour) -> None:
    page = hand.page
    paste(hand, json.dumps({"chat_template": TEMPLATE}), "Derive a dialect")
    proof = "32 of 32 calls of the template are read back, 32 written byte for byte."
    expect(page.get_by_text(proof)).to_be_visible()
    expect(page.get_by_label("A call", exact=True)).to_have_value("<do>{call:json}</do>")
    tour.done("template", hand)


def test_two_system_prompts_are_compared_word_for_word(hand: Hand, tour: Tour) -> None:
    page = hand.page
    paste(hand, json.dumps(jobs.BODY), "New session")
    expect(page.locator(".panes").first).to_contain_text("You keep the harbour.")
    text = json.dumps(jobs.BODY).replace("keep the harbour", "watch the harbour")
    hand.click(jobs.button(page, "Import"))
    expect(page.get_by_role("dialog").get_by_label("Paste anything")).to_be_focused()
    hand.paste(text)
    hand.click(page.get_by_role("dialog").get_by_role("button", name="New session", exact=True))
    expect(page.locator(".panes").first).to_contain_text("You watch the harbour.")
    hand.click(page.get_by_role("link", name="Diff", exact=True))
    expect(page.get_by_role("combobox", name="Compared with")).to_have_value(
        "pasted OpenAI request"
    )
    said = page.locator(".st-key-diff-head h2")
    expect(said).to_contain_text("The prefix breaks at character 4 of the system prompt")
    tour.done("prompts", hand)


def test_the_change_of_a_long_prompt_is_in_sight_on_both_sides(hand: Hand) -> None:
    """Six thousand equal characters hid it, and each side unfolded by itself."""
    page = hand.page
    rules = [f"Rule {n}: the keeper writes tide {n * 7} into the log.\n" for n in range(400)]
    for number, change in enumerate(("writes", "never copies")):
        told = "".join([*rules[:200], rules[200].replace("writes", change), *rules[201:]])
        said = [{"role": "system", "content": told}, {"role": "user", "content": "High tide?"}]
        if number:
            hand.click(jobs.button(page, "Import"))
            box = page.get_by_role("dialog").get_by_label("Paste anything")
            expect(box).to_be_focused()
            hand.paste(json.dumps({"model": "gpt-5", "messages": said}))
            hand.click(page.get_by_role("dialog").get_by_role("button", name="New session"))
            continue
        paste(hand, json.dumps({"model": "gpt-5", "messages": said}), "New session")
        expect(page.locator(".panes").first).to_contain_text("Rule 0")
    hand.click(page.get_by_role("link", name="Diff", exact=True))
    expect(page.locator(".block ins")).to_have_text(["never copies"])
    expect(page.locator(".block del")).to_have_text(["writes", "writes"])  # on both sides
    page.locator(".board .drawing .break").click()
    for shown in (page.locator(".block del").first, page.locator(".block ins")):
        expect(shown).to_be_in_viewport()
    more = page.locator(".block .more")
    words = more.all_text_contents()
    assert len(words) == 4
    assert words[:2] == words[2:]
    assert all("equal characters" in each for each in words)
    more.first.click()
    expect(more).to_have_count(2)  # one click unfolds it on both sides
    for pre in page.locator(".block pre").all():
        expect(pre).to_contain_text(rules[3].strip())
    page.get_by_role("searchbox").fill("Rule 390")
    expect(more).to_have_count(0)


def test_what_an_interrupted_recording_holds_is_replayed(hand: Hand, tour: Tour) -> None:
    page = hand.page
    row = page.locator("[class*=st-key-kept]", has_text="harbour.jsonl")
    expect(row).to_contain_text("interrupted recording")
    hand.click(row.get_by_role("button", name="Replay", exact=True))
    expect(page.get_by_text("The recording breaks off here: it was stopped")).to_be_visible()
    expect(page.locator(".player .text").first).to_contain_text("Hel")
    tour.done("recording", hand)


def test_a_corpus_is_built_and_one_of_its_sessions_opened(
    hand: Hand, tour: Tour, folder: Path
) -> None:
    page = hand.page
    hand.click(jobs.button(page, "More"))
    hand.click(page.get_by_role("link", name="Corpus", exact=True))
    field = page.get_by_role("textbox", name="Recorded sessions")
    hand.click(field)
    page.keyboard.type(str(folder / "transcripts"))
    hand.click(jobs.button(page, "Build"))
    said = page.get_by_role("heading", name="40 sessions, 240 requests.")
    expect(said).to_be_visible(timeout=60_000)
    expect(page).to_have_url(re.compile("corpus="))
    corpus = page.url
    hand.click(page.get_by_role("button", name="Show expired in 40 sessions"))
    hand.click(page.get_by_role("button", name="Cache", exact=True).first)
    expect(page.locator(".strip h2")).to_have_text("Request 4 missed after 67 idle minutes: $0.31.")
    tour.done("corpus", hand)
    # a link to a question, and Back to it; the overview's address has no question
    page.goto(f"{corpus}&asks=breaks")
    view = page.get_by_role("radio", name="Questions")
    expect(view).to_be_checked()
    expect(page).to_have_url(re.compile("view=Questions"))
    page.get_by_role("link", name="Cache", exact=True).click()
    expect(page.locator(".strip h2")).to_be_visible()
    page.go_back()
    expect(view).to_be_checked()
    page.get_by_role("radio", name="Overview").click()
    expect(said).to_be_visible()
    expect(page).not_to_have_url(re.compile("asks="))


def test_a_trial_says_which_dialect_is_better_or_that_nothing_is_proven(
    hand: Hand, tour: Tour
) -> None:
    """Without a key the project's own scripted server answers, and the page says so."""
    page = hand.page
    jobs.example(hand, "compare")
    expect(page.locator(".panes .block").first).to_be_visible()
    hand.click(jobs.button(page, "Run in all columns"))
    answers = page.locator(".st-key-answers")
    expect(answers).to_contain_text("Scripted, no model is asked", timeout=60_000)
    hand.click(page.get_by_text("Trial: ask n times"))
    expect(jobs.button(page, "Set to 7 times")).to_be_visible()  # which moves the others
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible()
    hand.click(jobs.button(page, "Run trial"))
    expect(page.get_by_text("Nothing is proven: no difference")).to_be_visible(timeout=60_000)
    tour.done("trial", hand)
