"""The jobs of the tour, done with mouse and keyboard alone, and what must not disturb them.

`--tour docs` (make pictures) leaves their clicks, seconds and pictures in the documents.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Position, expect
from serving import App
from tour import Hand, Tour

pytestmark = pytest.mark.browser

expect.set_options(timeout=12_000)  # sixty parsers are made first, on a machine that is shared

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
TOOLS = [
    {
        "name": name,
        "description": told,
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
    }
    for name, told in (("read", "Read a page."), ("search", "Search the pilot book."))
]
HISTORY = [
    {"role": "user", "content": "Where are the tides?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "search", "arguments": '{"query": "tides"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "Chapter 3."},
]


@pytest.fixture(scope="module")
def address(app: App) -> str:
    return app.emptied()


@pytest.fixture
def hand(page: Page, address: str) -> Hand:
    """A user who has just opened the bare address."""
    page.goto(address)
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("/start"))
    expect(page.get_by_label("Paste anything").first).to_be_visible()
    return Hand(page)


NATIVE_WITHOUT_MARKS: Position = {"x": 220, "y": 122}  # pixels: third row, second column


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def example(hand: Hand, job: str) -> None:
    """One of the three cards of Start is followed."""
    card = hand.page.locator(f".st-key-job-{job}")
    hand.click(card.get_by_role("link"))
    expect(hand.page.locator("h1")).to_have_text(job.capitalize())


def sample(hand: Hand, name: str) -> None:
    """A sample is opened from the gallery."""
    card = hand.page.locator(f".st-key-sample-{name}")
    hand.click(card.get_by_role("link"))
    expect(hand.page).to_have_url(re.compile(f"session={name}"))
    # a link clicked before the page runs would take its place, and not have its session
    expect(hand.page.get_by_role("combobox", name="Session")).to_have_value(name)


def test_a_reply_is_pasted_and_its_reader_is_seen(hand: Hand, tour: Tour) -> None:
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(REPLY)
    expect(page.get_by_role("status").first).to_have_text("a reply in hermes: 1 call")
    hand.click(button(page, "See who reads it"))
    expect(page.get_by_role("heading", name="Replay", exact=True)).to_be_visible()
    expect(page.get_by_text("Complete calls: get_tides")).to_be_visible()
    expect(page.get_by_text("read the same calls as hermes")).to_be_visible()
    tour.done("reply", hand)


def test_a_request_is_brought_on_another_page_and_seen_there(hand: Hand, tour: Tour) -> None:
    page = hand.page
    hand.click(page.get_by_role("link", name="Cache", exact=True))
    expect(page.get_by_role("heading", name="Cache", exact=True)).to_be_visible()
    hand.click(button(page, "Import"))
    box = page.get_by_role("dialog").get_by_label("Paste anything")
    expect(box).to_be_focused()
    hand.paste(f"curl https://api.example/v1 -H 'Authorization: x' -d '{json.dumps(BODY)}'")
    said = page.get_by_role("dialog").get_by_role("status")
    expect(said).to_have_text("OpenAI request: system prompt, 1 message, 1 tool (in curl)")
    hand.click(button(page, "New session"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="Cache", exact=True)).to_be_visible()
    strip = page.locator(".strip")
    expect(strip.locator(".side")).to_contain_text("High tide?")
    strip.get_by_role("button", name="The block before").click()
    expect(strip.locator(".side")).to_contain_text("You keep the harbour.")
    expect(page).to_have_url(re.compile("session=pasted"))
    tour.done("request", hand)


def test_a_tool_is_found_in_five_dialects(hand: Hand, tour: Tour) -> None:
    page = hand.page
    for thing, choice in ((TOOLS, "New session with them"), (HISTORY, "Into this session")):
        hand.click(button(page, "Import"))
        expect(page.get_by_role("dialog").get_by_label("Paste anything")).to_be_focused()
        hand.paste(json.dumps(thing))
        hand.click(page.get_by_role("dialog").get_by_role("button", name=choice, exact=True))
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(page.locator(".block", has_text="Where are the tides?").first).to_be_visible()
    hand.click(page.get_by_role("combobox", name="Dialects"))
    for name in ("json", "qwen3-coder"):
        hand.click(page.get_by_role("option", name=name, exact=True))
    page.keyboard.press("Escape")
    expect(page.locator(".pane")).to_have_count(5)
    hand.click(page.get_by_role("button", name="Show tool search in every pane"))
    lit = page.locator(".block.lit")
    expect(lit).to_have_count(5)
    for number in range(5):
        expect(lit.nth(number)).to_contain_text("Search the pilot book.")
    tour.done("search", hand, lit.first)


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


def test_a_block_and_a_request_are_copied_as_they_are_sent(hand: Hand, tour: Tour) -> None:
    page = hand.page
    hand.click(page.get_by_role("link", name="Compare", exact=True))
    block = page.locator(".block[data-kind='dialect rules']").first
    shown = block.locator("pre").text_content()
    hand.click(block.get_by_role("button", name="Copy dialect rules"))
    expect(block.get_by_role("button")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    hand.click(page.get_by_test_id("stPopover").get_by_role("button", name="Copy"))
    with page.expect_download() as saved:
        hand.click(button(page, "Save"))
    messages = json.loads(saved.value.path().read_text())["messages"]
    assert str(messages[0]["content"]).count("How to call a tool") == 1
    tour.done("copy", hand)


def test_the_policy_decides_what_the_headline_says(hand: Hand, tour: Tour) -> None:
    page = hand.page
    example(hand, "cache")
    said = page.locator(".strip h2")
    expect(said).to_contain_text(
        "2 marks, probably none can hit: about 1,004 tokens up to the last one"
    )
    hand.click(page.get_by_role("combobox", name="Policy"))
    hand.click(page.get_by_role("option", name="No marks"))
    expect(said).to_contain_text("No marks, and nothing is written or read.")
    expect(page).to_have_url(re.compile("policy=none"))
    tour.done("policy", hand)
    page.goto(page.url)  # what a copied link shows
    expect(said).to_contain_text("No marks, and nothing is written or read.")


def test_the_reason_of_a_miss_is_told_with_its_request(hand: Hand, tour: Tour) -> None:
    page = hand.page
    example(hand, "cache")
    strip = page.locator(".strip")
    hand.click(page.locator(".bars").get_by_role("button", name="Choose Claude Code's marks"))
    expect(strip.locator("h2")).to_contain_text("88 %")
    hand.click(button(page, "What if"))
    hand.click(page.get_by_text("Put a clock in the system prompt"))
    expect(strip.locator("h2")).to_contain_text("not read again")
    page.keyboard.press("Escape")  # the strip rests on the first request that misses
    expect(strip.locator(".place")).to_contain_text("3 of 15")
    expect(strip.locator(".why")).to_contain_text("put the time or id after the last mark")
    tour.done("miss", hand, strip)


@pytest.mark.long
def test_a_key_takes_the_session_of_the_address_along(page: Page, address: str) -> None:
    """It ended in an error: the address was bound to the widget that chooses the session."""
    page.goto(f"{address}/replay?session=12-long-tool-run")
    heading = page.get_by_role("heading", level=1)
    expect(page.locator(".player .place")).to_be_visible()
    for key, name in (("c", "Compare"), ("a", "Cache"), ("r", "Replay")):
        expect(page.get_by_test_id("stApp")).to_have_attribute(
            "data-test-script-state", "notRunning"
        )
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(heading).to_have_text(name)
        expect(page).to_have_url(re.compile("session=12-long-tool-run"))
        expect(page.get_by_text("encountered an error")).to_have_count(0)


def test_what_is_brought_leads_on_from_an_address_with_a_session(page: Page, address: str) -> None:
    """It ended in an error: what the address held was bound, and could not be cleared."""
    hand = Hand(page)
    page.goto(f"{address}/start?session=12-long-tool-run")
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(REPLY)
    hand.click(button(page, "See who reads it"))
    expect(page.get_by_role("heading", name="Replay", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("session=pasted"))


def test_each_of_the_three_jobs_is_one_click_from_the_start(page: Page, address: str) -> None:
    answers = {
        "compare": (".panes", "How to call a tool"),
        "cache": (".strip", "none can hit: about 1,004 tokens"),
        "replay": (".player", "vllm"),
    }
    for job, (place, shown) in answers.items():
        page.goto(f"{address}/start")
        page.locator(f".st-key-job-{job}").get_by_role("link").click()
        expect(page.locator(place).first).to_contain_text(shown)


def test_every_column_says_if_a_picture_is_sent(hand: Hand, tour: Tour) -> None:
    page = hand.page
    image = {"url": f"data:image/png;base64,{b64encode(boat()).decode()}"}
    parts = [{"type": "text", "text": "Which boat?"}, {"type": "image_url", "image_url": image}]
    body = {**BODY, "messages": [{"role": "user", "content": parts}]}
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(f"curl https://api.example/v1 -d '{json.dumps(body)}'")
    hand.click(button(page, "New session"))
    heads = page.locator(".panes .pane", has_text="images sent")
    expect(heads).to_have_count(3)
    expect(heads.first).to_contain_text("1 of 1")
    shown = page.locator(".panes .cell img")
    expect(shown).to_have_count(3)
    expect(shown.first).to_have_attribute("alt", "Image, 300 × 150 pixels")
    page.wait_for_function("image => image.naturalWidth === 300", arg=shown.first.element_handle())
    tour.done("picture", hand)


def boat() -> bytes:
    """A PNG of a dark boat below a sky."""
    rows = (
        bytes(2 if 60 < y < 90 and y < x < 300 - y else y > 80 for x in range(300))
        for y in range(150)
    )
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", 300, 150, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes.fromhex("bfe3ff 2f7fb5 1b1f24")),
        (b"IDAT", data),
        (b"IEND", b""),
    ]
    packed = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def transcript() -> str:
    """A session of Claude Code with bills: its fourth request came 67 minutes after the third."""
    lines: list[str] = []
    read, minute = 0, 0
    for number in range(6):
        minute += 67 if number == 3 else 1
        missed = number == 3
        written = 30_000 + (read if missed else 0)
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": 0 if missed else read,
            "cache_creation_input_tokens": written,
            "output_tokens": 60,
        }
        read += 30_000
        asked = {"role": "user", "content": f"Read page {number}. " + "The tide turns. " * 90}
        answer = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": f"Page {number} is read."}],
            "usage": usage,
        }
        for kind, message in (("user", asked), ("assistant", answer)):
            line = {
                "type": kind,
                "uuid": f"u{len(lines)}",
                "parentUuid": f"u{len(lines) - 1}" if lines else None,
                "sessionId": "s",
                "timestamp": f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00.000Z",
                "version": "2.0.0",
                "cwd": "/harbour",
                "message": message,
            }
            lines.append(json.dumps(line))
    return "\n".join(lines)


def test_a_transcript_names_what_its_bills_missed(hand: Hand, tour: Tour) -> None:
    """It was simulated under other marks than its agent's, and the miss was not among findings."""
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(transcript())
    hand.click(button(page, "See what its cache does"))
    strip = page.locator(".strip")
    expect(strip.locator("h2")).to_have_text("Request 4 missed after 67 idle minutes: $0.31.")
    expect(strip.locator(".finding").first).to_contain_text("would have expired as well: leave it")
    expect(strip.locator(".flags button")).to_have_text("4: 90,000")
    expect(page.get_by_role("combobox", name="Policy")).to_have_value("Claude Code's marks")
    tour.done("bill", hand)


def test_what_is_searched_for_is_edited_where_it_is_found(hand: Hand, tour: Tour) -> None:
    """A search went nowhere until Enter, and a tool's result was edited as raw JSON elsewhere."""
    page = hand.page
    messages = [*BODY["messages"]]
    for number in range(60):
        call = {"name": "get_tides", "arguments": json.dumps({"harbour": f"page {number}"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        messages += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {
                "role": "tool",
                "tool_call_id": f"call_{number}",
                "content": f"Text of page {number}.",
            },
        ]
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(json.dumps({**BODY, "messages": messages}))
    hand.click(button(page, "New session"))
    hand.click(page.get_by_role("searchbox"))
    page.keyboard.type("text of page 42")
    found = page.locator(".block", has_text="Text of page 42.")
    expect(found.first).to_be_in_viewport()
    expect(page.locator(".panes").get_by_role("status")).to_have_text("1 of 1")
    hand.click(found.first)
    box = page.get_by_role("textbox", name="result of get_tides")
    expect(box).to_have_value("Text of page 42.")
    box.fill("The page is gone.")
    box.press("Control+Enter")
    expect(page.locator(".block", has_text="The page is gone.")).to_have_count(3)
    tour.done("find", hand)


SEEDS = [
    (
        "question -> masts: int",
        "signature: question -> masts",
        "Open the signature",
        "`masts` (int)",
    ),
    (
        "class Count(dspy.Signature):\n    q: str = dspy.InputField()\n"
        "    n: int = dspy.OutputField(desc='how many masts')\n",
        "DSPy signature Count: q -> n",
        "Open the signature",
        "`n` (int): how many masts",
    ),
    (
        "class Desk(Agent):\n    @prompt\n    def a():\n"
        "        return Prompt.from_text('Quays of {port}.')\n",
        "Flink-Agents agent Desk: 1 prompt",
        "Open its prompts",
        "Quays of Brest.",
    ),
    (
        "prompts:\n  - name: a\n    text: Piers of {port}.\n",
        "Flink-Agents declarations: 1 prompt",
        "Open its prompts",
        "Piers of Brest.",
    ),
    (
        "default:\n  - role: system\n    content: Own words {{ 1 }}.\n",
        "1 conversation template: default",
        "Run the templates",
        "Own words 1.",
    ),
    (
        "UseCase(title='a', dialogs=[[RawMessage(role='user', content='Where is it?')]])",
        "1 use case of Llama's prompts: 1 dialog",
        "New session",
        "Where is it?",
    ),
]


@pytest.mark.parametrize(("text", "title", "label", "shown"), SEEDS)
def test_a_file_of_another_system_is_opened_in_two_clicks(
    hand: Hand, text: str, title: str, label: str, shown: str
) -> None:
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(text)
    expect(page.get_by_role("status").first).to_have_text(title)
    hand.click(button(page, label))
    # a table's canvas has hidden cells with its texts
    expect(page.get_by_text(shown).locator("visible=true").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_keys_go_to_pages_and_players_but_never_where_somebody_types(
    hand: Hand, tour: Tour
) -> None:
    page, press = hand.page, hand.page.keyboard.press
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.keyboard.type("24")  # digits do nothing: a field may just have been left
    page.keyboard.type("gr")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Replay")
    expect(heading).to_be_focused()
    place = page.locator(".player .place")
    expect(place).to_contain_text("end of the stream")
    expect(place).to_be_visible()  # it had no width on a narrow screen
    press("Home")
    expect(place).to_contain_text("chunk 1 of")
    expect(page.locator(".player .text").first).to_be_in_viewport(ratio=0.9)
    press("ArrowRight")
    expect(place).to_contain_text("chunk 2 of")
    press("f")
    expect(page.locator(".player .lit").first).to_be_visible()
    press("]")
    finding = page.locator(".player .found.now")
    finding.get_by_role("button", name="Copy finding 1").press("Enter")
    page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('native: '))")
    tour.done("keyboard", hand, finding)
    page.set_viewport_size({"width": 1440, "height": 900})
    chooser = page.get_by_role("combobox", name="Session")
    expect(chooser).to_be_enabled(timeout=60_000)  # Streamlit disables it while a line is down
    heading.focus()
    press("s")
    expect(chooser).to_be_focused()
    press("Escape")
    heading.focus()
    press("i")
    box = page.get_by_role("dialog").get_by_label("Paste anything")
    expect(box).to_be_focused()
    page.keyboard.type("gc?i/")
    expect(box).to_have_value("gc?i/")
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(heading).to_have_text("Replay")
    page.keyboard.type("gc")
    expect(heading).to_have_text("Compare")
    expect(page.locator(".row").first).to_be_visible()
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("ga")
    expect(heading).to_have_text("Compare")
    heading.focus()
    press("?")
    expect(page.get_by_role("dialog", name="Help")).to_contain_text("search in the columns")
    page.keyboard.type("ga")  # nothing under a dialog
    expect(heading).to_have_text("Compare")
    hand.click(page.get_by_text("Single-key shortcuts", exact=True))
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_timeout(500)
    page.keyboard.type("ga")
    page.wait_for_timeout(500)
    expect(heading).to_have_text("Compare")


def test_back_undoes_a_choice_of_policy(page: Page, address: str) -> None:
    page.goto(f"{address}/cache?session=12-long-tool-run")
    policy = page.get_by_role("combobox", name="Policy")
    expect(policy).to_have_value("Default marks")
    policy.click()
    page.get_by_role("option", name="No marks").click()
    expect(page).to_have_url(re.compile("policy=none"))
    page.go_back()
    expect(policy).to_have_value("Default marks")
    page.go_forward()
    expect(policy).to_have_value("No marks")


def test_a_cell_of_the_matrix_is_chosen_and_a_mark_is_set_by_a_click(
    hand: Hand, tour: Tour
) -> None:
    page = hand.page
    example(hand, "cache")
    hand.click(page.get_by_text("All policies", exact=True))
    matrix = page.get_by_test_id("stDataFrame").first
    expect(matrix).to_be_visible()
    matrix.click(position=NATIVE_WITHOUT_MARKS)
    hand.clicks += 1
    expect(page).to_have_url(re.compile("policy=none"))
    hand.click(page.get_by_text("Strip", exact=True))
    said = page.locator(".strip h2")
    expect(said).to_contain_text("No marks, and nothing is written or read.")
    strip = page.locator(".strip")
    hand.click(strip.get_by_role("button", name="Set mark on block 44"))
    expect(page.get_by_text("The marks you set: a policy of your own")).to_be_visible()
    expect(strip.locator(".decision")).to_contain_text("Marked")
    tour.done("marks", hand, said)
    strip.get_by_role("button", name="Clear mark on block 44").click()
    expect(said).to_contain_text("No marks, and nothing is written or read.")


def test_a_reply_that_nobody_recorded_is_replayed_from_its_end(hand: Hand, tour: Tour) -> None:
    page = hand.page
    sample(hand, "12-long-tool-run")
    hand.click(page.get_by_role("link", name="Replay", exact=True))
    player = page.locator(".player")
    expect(player.locator(".place")).to_contain_text("end of the stream")
    expect(player.locator(".text").first).to_contain_text("so summer time is counted.")
    expect(page.get_by_text("the model may have written the rest differently.")).to_be_visible()
    hand.click(player.get_by_label("First step (Home)"))
    expect(player.locator(".place")).to_contain_text("chunk 1 of")
    tour.done("answer", hand)


def test_the_server_that_runs_a_call_of_half_a_stream_is_found(hand: Hand, tour: Tour) -> None:
    page = hand.page
    sample(hand, "04-truncated-call")
    expect(page.get_by_text("Complete calls: none. Aborted calls: 1.")).to_be_visible()
    column = page.locator(".player .column", has_text="vllm")
    expect(column.locator(".call b")).to_have_text("write_file")
    handed = page.get_by_text("to hand over the call write_file of a complete reply.").first
    expect(handed).to_be_visible()
    tour.done("server", hand, handed)


def test_an_imported_request_is_edited_and_the_edits_are_undone(hand: Hand, tour: Tour) -> None:
    page = hand.page
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(json.dumps(BODY))
    hand.click(button(page, "New session"))
    expect(page.locator(".panes").first).to_contain_text("You keep the harbour.")
    pane = page.locator(".panes").first
    hand.click(page.locator(".block[data-origin='message:0']").first)
    prompt = page.get_by_role("textbox", name="system prompt")
    expect(prompt).to_have_value("You keep the harbour.")
    prompt.fill("You keep the lighthouse.")
    prompt.press("Control+Enter")
    expect(pane).to_contain_text("You keep the lighthouse.")
    expect(pane).not_to_contain_text("You keep the harbour.")

    hand.click(page.locator(".block[data-origin='message:1']").first)
    hand.click(button(page, "Add a message after"))
    part = page.get_by_role("textbox", name="text", exact=True)
    expect(part).to_have_value("")
    part.fill("At seven.")
    hand.click(button(page, "Earlier"))
    expect(pane).to_contain_text(re.compile(r"At seven\.[\s\S]*High tide\?"))
    expect(part).to_have_value("At seven.")
    part.press("Escape")
    for seen in (r"High tide\?[\s\S]*At seven\.", r"High tide\?"):
        hand.click(button(page, "Undo"))
        expect(pane).to_contain_text(re.compile(seen))
    expect(pane).not_to_contain_text("At seven.")
    hand.click(button(page, "Redo"))
    expect(pane).to_contain_text("At seven.")
    hand.click(button(page, "This session"))
    expect(page.get_by_text("Edited: system prompt, 1 message added")).to_be_visible()
    hand.click(button(page, "Back to the original"))
    expect(pane).to_contain_text("You keep the harbour.")
    tour.done("edit", hand)
