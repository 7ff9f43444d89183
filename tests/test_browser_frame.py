"""The frame in a real browser: what is seen on the first screen, and what does not jump there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from serving import App

pytestmark = pytest.mark.browser

expect.set_options(timeout=60_000)

SHIFT = """() => {
  window.shift = 0
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value
  }).observe({ type: "layout-shift", buffered: true })
  window.faded = 0
  setInterval(() => {
    for (const node of document.querySelectorAll("[data-stale=true]"))
      if (getComputedStyle(node).opacity < 0.95) window.faded += 1
  }, 50)
}"""
# The share of the first screen that moves when a drawing comes late, by its key. One shift counts
# all that moves in a frame by its longest way, so a large place that gives way by 13 pixels is
# 0.13 as soon as a button beside it becomes wider.
LATE = """() => {
  const tops = () => [...document.querySelectorAll("[data-testid=stElementContainer]")]
    .map(node => node.getBoundingClientRect())
  const moved = {}
  for (const drawn of document.querySelectorAll(".stBidiComponent > *")) {
    const now = tops()
    drawn.style.display = "none"
    const before = tops()
    drawn.style.display = ""
    let area = 0
    before.forEach((place, number) => {
      if (!now[number].height || Math.abs(place.y - now[number].y) <= 2) return // or not shown
      const top = Math.min(place.y, now[number].y)
      const bottom = Math.min(innerHeight, Math.max(place.bottom, now[number].bottom))
      area += Math.max(0, bottom - top) * place.width
    })
    const key = drawn.closest("[class*=st-key-]").className.match(/st-key-\\S+/)[0]
    moved[key] = Math.max(moved[key] || 0, area / innerWidth / innerHeight)
  }
  return moved
}"""
# what of the bar is beyond the screen's edge: it is one row, and nothing of it is cut
BEYOND = """() => [...document.querySelectorAll(".st-key-bar *")].filter(node => {
  const { left, right, width } = node.getBoundingClientRect()
  return width && (left < 0 || right > innerWidth)
}).map(node => node.closest("[class*=st-key-]").className)"""
# what is wider than its place, so that the page can be moved sideways
WIDER = """() => [document.documentElement, document.querySelector("[data-testid=stMain]")]
  .filter(node => node.scrollWidth > node.clientWidth)
  .map(node => [node.tagName, node.scrollWidth, node.clientWidth])"""
FOUR = "&".join(f"dialects={name}" for name in ("xml", "hermes", "native", "qwen3-coder"))
# a page, what of it is its answer, and how far down that may begin: wide, and at a phone's width
FIRST = [
    ("start", {".bring": (230, 300), ".st-key-job-compare .bar": (420, 500)}),
    (f"compare?session=02-parallel-calls&{FOUR}", {".panes .row .block": (220, 330)}),
    (
        "cache?session=12-long-tool-run",  # a policy's bar had no width on a narrow screen
        {".strip .drawing": (250, 330), ".bars .track": (640, 1200)},
    ),
    ("cache?session=07-gemini-above", {".strip .drawing": (250, 360)}),
    ("replay?session=04-truncated-call", {".player .text": (200, 360)}),
    (
        "diff?session=12-long-tool-run",
        {".board .drawing": (230, 420), ".panes .row .block": (480, 760)},
    ),
    ("corpus", {".verbatim": (250, 330)}),
    ("dialects", {".board tr.section": (250, 350)}),
    ("dialects?guide=hermes", {".board h2": (130, 150), ".verbatim": (450, 560)}),
    ("dialects?view=Values", {".board .squares": (220, 330)}),
    ("formats", {"[data-testid=stDataFrame]": (330, 620)}),
]


@pytest.fixture(scope="module")
def page(browser: Browser, app: App) -> Page:
    url = app.emptied()
    page = browser.new_context(base_url=url).new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(f"({SHIFT})()")
    return page


@pytest.mark.parametrize(("path", "answers"), FIRST)
def test_the_answer_stands_on_the_first_screen_and_does_not_jump(
    page: Page, path: str, answers: dict[str, tuple[int, int]]
) -> None:
    for number, size in enumerate(((1440, 900), (390, 844))):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"/{path}")
        for answer in answers:
            expect(page.locator(answer).first).to_be_visible()
        settled = "[data-testid=stApp][data-test-script-state=notRunning]"
        expect(page.locator(settled)).to_be_visible()
        page.wait_for_timeout(400)
        for answer, most in answers.items():
            box = page.locator(answer).first.bounding_box()
            assert box and box["y"] <= most[number], (answer, size)
        bar = page.locator(".st-key-bar").bounding_box()
        assert bar and bar["height"] == 48
        assert page.evaluate(BEYOND) == [], size
        assert page.evaluate(WIDER) == [], size
        assert page.locator("[data-testid=stSidebar]:visible").count() == 0
        assert page.evaluate("shift") <= 0.1, size
        assert page.evaluate("faded") == 0, size
        late = page.evaluate(LATE)
        assert max(late.values(), default=0) <= 0.3, (size, late)


def test_the_heading_of_the_start_has_air_below_it(page: Page) -> None:
    page.goto("/start")
    heading = page.locator(".st-key-start h2 span").first
    line = page.locator(".st-key-start p").first
    expect(line).to_be_visible()
    above, below = heading.bounding_box(), line.bounding_box()
    assert above and below and below["y"] - above["y"] - above["height"] >= 8


def test_a_menu_of_pages_closes_when_one_is_chosen(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/cache?session=12-long-tool-run")
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Corpus", exact=True).click()
    expect(page).to_have_url(re.compile("/corpus"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Corpus")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)


def test_a_view_stays_on_reload_and_back_and_no_digit_leaves_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/own?start=Replies")  # an older address
    expect(page).to_have_url(re.compile("/dialects.*view=Declare"))
    expect(page.get_by_role("radio", name="Replies")).to_be_checked()
    page.get_by_role("radio", name="Guide").click()
    expect(page.get_by_role("tab", name="Use cases")).to_be_visible()
    page.get_by_role("radio", name="Values").click()
    expect(page.get_by_text("Only refused values")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Only refused values")).to_be_visible()
    page.get_by_role("link", name="Cache", exact=True).click()
    expect(page.locator(".strip h2")).to_be_visible()
    field = page.get_by_role("combobox", name="Model")
    field.fill("gpt")
    page.evaluate("document.activeElement.blur()")  # as a click beside it does
    page.keyboard.type("24")
    page.wait_for_timeout(500)
    expect(page).to_have_url(re.compile("/cache"))
    page.go_back()
    expect(page.get_by_text("Only refused values")).to_be_visible()


def test_the_view_of_a_page_is_not_in_the_address_of_the_next(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/compare?session=02-parallel-calls&view=Tools")
    expect(page.get_by_text("xml drops")).to_be_visible()
    heading = page.get_by_role("heading", level=1)
    for keys, title, view in (("gd", "Diff", "Table"), ("gc", "Compare", "")):
        page.keyboard.type(keys)
        expect(heading).to_have_text(title)
        expect(page.locator(".panes").first).to_be_visible()
        assert "view=" not in page.url
        if view:
            page.get_by_role("radio", name=view).click()
            expect(page).to_have_url(re.compile(f"view={view}"))


def test_keys_pressed_while_a_page_loads_are_heard_and_take_no_dialect_along(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    heading = page.get_by_role("heading", level=1)
    page.goto("/start")
    page.keyboard.type("gr")
    expect(heading).to_have_text("Replay")
    page.goto("/compare?view=Payload")
    expect(page.get_by_role("combobox", name="Dialect", exact=True)).to_have_value("native")
    page.keyboard.type("ga")
    expect(page.locator(".strip h2")).to_be_visible()
    expect(heading).to_have_text("Cache")
    assert "dialect=" not in page.url


def test_a_narrow_screen_shows_one_column_under_tabs(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/compare?session=02-parallel-calls&dialects=xml,native,klingon,hermes")
    expect(page.get_by_test_id("stToast")).to_contain_text("unknown dialect 'klingon'")
    expect(page).to_have_url(re.compile("dialects=xml&dialects=native&dialects=hermes"))
    page.get_by_test_id("stToast").get_by_role("button", name="Close").click()
    for name in ("view", "run"):
        expect(page.locator(f".st-key-toolbar > .st-key-{name}")).to_be_in_viewport(ratio=0.95)
    toolbar = page.locator(".st-key-toolbar")  # which fades out where it goes on
    expect(toolbar).to_have_css("--fade", "48px")
    toolbar.evaluate("node => node.scrollTo(9999, 0)")
    expect(toolbar).to_have_css("--fade", "0px")
    heads = page.locator(".panes .head .pane")
    expect(heads.first).to_be_in_viewport(ratio=0.95)
    expect(heads.nth(1)).not_to_be_in_viewport()
    tabs = page.locator(".panes .tabs button")
    expect(tabs).to_have_text(["xml", "native", "hermes"])
    scroller = page.locator(".panes .scroller")
    scroller.evaluate("node => { node.scrollTop = 300 }")
    tabs.nth(2).click()
    expect(heads.nth(2)).to_be_in_viewport(ratio=0.95)
    expect(heads.first).not_to_be_in_viewport()
    expect(tabs.nth(2)).to_have_attribute("aria-pressed", "true")
    assert scroller.evaluate("node => node.scrollTop") == 300
    page.get_by_role("button", name="This session").click()  # it holds what the bar has no room for
    menu = page.locator(".st-key-narrow")
    model = menu.get_by_role("combobox", name="Model")
    model.click()
    page.get_by_role("option", name="openai/gpt-5").click()
    expect(page).to_have_url(re.compile("model=openai"))
    expect(model).to_have_attribute("placeholder", "openai/gpt-5")
    menu.get_by_role("button", name="Undo").click()
    expect(page).not_to_have_url(re.compile("model="))
    page.keyboard.press("Escape")
    press_while_it_moves(page, page.get_by_role("button", name="Copy", exact=True))
    expect(page.get_by_role("combobox", name="Dialect", exact=True)).to_be_visible()
    page.goto("/diff?session=02-parallel-calls&before=01-plain-chat")
    expect(page.locator(".panes .block").first).to_be_in_viewport(ratio=0.1)
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")


def press_while_it_moves(page: Page, control: Locator) -> None:
    """Click a control that moves away between the pointer's going down and up."""
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    assert box
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    control.evaluate("node => { node.style.transform = 'translateX(-150px)' }")
    page.mouse.up()


def test_a_draft_of_a_dialect_belongs_to_its_browser(page: Page) -> None:
    page.goto("/dialects?view=Declare")
    call = page.get_by_label("A call", exact=True)
    call.fill("<do>{call:json}</do>")
    call.press("Control+Enter")
    expect(page.locator(".st-key-own-call")).to_contain_text("<do>")
    other_tab = page.context.new_page()
    other_tab.goto(page.url)
    expect(other_tab.locator(".st-key-own-call")).to_contain_text("<do>")
    browser = page.context.browser
    assert browser
    stranger = browser.new_context().new_page()
    stranger.goto(page.url)
    expect(stranger.locator(".st-key-own-call")).to_contain_text("<call>")
    stranger.context.close()
    other_tab.close()


def test_a_word_says_that_a_page_is_drawn_again(page: Page) -> None:
    page.goto("/cache?session=12-long-tool-run")
    expect(page.locator(".strip h2")).to_be_visible()
    word = "getComputedStyle(document.querySelector('.st-key-bar'), '::after').content"
    page.evaluate("document.querySelector('.stApp').dataset.testScriptState = 'running'")
    assert page.evaluate(word) == '"Working …"'
    place = "getComputedStyle(document.querySelector('.st-key-bar'), '::after').display"
    assert page.evaluate(place) == "block"
    for state, drawn in (("PINGING_SERVER", "none"), ("CONNECTED", "block")):
        page.evaluate(f"document.querySelector('.stApp').dataset.testConnectionState = '{state}'")
        assert page.evaluate(place) == drawn  # Streamlit says at the same place that it connects
    page.evaluate("document.querySelector('.stApp').dataset.testScriptState = 'notRunning'")
    assert page.evaluate(word) == "none"


def test_what_a_pointer_opens_covers_no_button(page: Page) -> None:
    """A table's tools covered Run, and its tooltip covered Import."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/compare?session=02-parallel-calls&view=Tools")
    run = page.get_by_role("button", name="Run in all columns").first
    page.get_by_test_id("stDataFrame").first.hover()
    above(run, page.get_by_test_id("stElementToolbar").first)
    run.hover()
    above(page.get_by_role("button", name="Import"), page.get_by_test_id("stTooltipContent"))


def above(upper: Locator, lower: Locator) -> None:
    """The first of two things ends before the second begins."""
    expect(lower).to_be_visible()
    lower.page.wait_for_timeout(500)  # it moves to its place
    boxes = upper.bounding_box(), lower.bounding_box()
    assert boxes[0] and boxes[1]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]


def test_a_change_of_the_model_is_undone_by_a_key(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/cache?session=06-cache-eight-turns")
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="openai/gpt-5").click()
    expect(page).to_have_url(re.compile("model="))
    expect(page.locator(".strip h2")).to_contain_text("The provider caches by itself")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    expect(page).not_to_have_url(re.compile("model="))
    expect(page.locator(".strip h2")).to_contain_text("what is written is probably not read again")


def test_one_step_back_undoes_one_click(page: Page) -> None:
    """Addresses without a session stood between: Back led to a session that nobody had chosen."""
    session = page.get_by_role("combobox", name="Session")
    page.goto("/start")
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.get_by_role("link", name="Reasoning before a call", exact=True).click()
    expect(page).to_have_url(re.compile(r"/replay\?session=09-reasoning$"))
    page.get_by_role("link", name="Cache", exact=True).click()
    expect(page).to_have_url(re.compile(r"/cache\?session=09-reasoning$"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/replay\?session=09-reasoning$"))
    expect(session).to_have_value("09-reasoning")
    page.go_back()
    expect(page).to_have_url(re.compile("/start$"))


def test_a_page_that_is_chosen_at_once_after_a_sample_shows_that_sample(page: Page) -> None:
    """The second click took the first one's session away."""
    page.goto("/start")
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.get_by_role("link", name="Reasoning before a call", exact=True).click()
    page.get_by_role("link", name="Diff", exact=True).click()
    expect(page).to_have_url(re.compile(r"/diff\?session=09-reasoning$"))
