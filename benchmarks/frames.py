"""Frames a second of the strip and the player, beside an empty animation, and tasks over 200 ms.

Run: python benchmarks/frames.py. Needs Debian's chromium. The strip has 3,000 messages: the script
goes through its requests, one at each frame, drags a mark, and scrolls. The player has four columns
of 200,000 characters: it plays at its highest speed, jumps to another place at each frame, and is
scrolled. A machine without a GPU, or a busy one, reaches 60 frames a second with no page. So the
same browser animates an empty page before each round, and a figure is the best of three rounds
beside the best of the empty ones. *Work* is the processor time of the page's own thread, which
other programs do not lengthen; at 55 frames a second, a frame has time for 18 ms of it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright  # noqa: E402
from serving import CHROMIUM, FLAGS  # noqa: E402

import playground as pg  # noqa: E402
from playground.recordings.recutting import synthetic_recording  # noqa: E402
from playground.show.pictures.replies import replays  # noqa: E402

SECONDS = 2
ROUNDS = 3
LONG = 200  # milliseconds of a task
BLOCKS = 3_000
CHARACTERS = 200_000
DIALECTS = ("xml", "hermes", "qwen3-coder", "json")
EMPTY = "<!doctype html><title>empty</title><div id=box style='width:9px;height:9px'></div>"
# `each` runs once a frame; the frame that begins the measurement is not counted
FRAMES = f"""each => {{ return {{ done: (async () => {{
  const tasks = []
  const observer = new PerformanceObserver(list => tasks.push(...list.getEntries()))
  observer.observe({{ type: "longtask" }})
  const root = [...document.querySelectorAll("*")].map(n => n.shadowRoot).find(Boolean)
  const act = new Function("root", "number", each)
  const times = []
  await new Promise(done => {{
    const start = performance.now()
    const frame = now => {{
      times.push(now)
      act(root, times.length)
      if (now - start < {SECONDS * 1_000}) requestAnimationFrame(frame)
      else done()
    }}
    requestAnimationFrame(frame)
  }})
  observer.disconnect()
  const rate = 1000 * (times.length - 1) / (times[times.length - 1] - times[0])
  return {{ rate, longest: Math.max(0, ...tasks.map(task => task.duration)) }}
}})() }} }}"""
MOVE = "document.getElementById('box').style.marginLeft = `${number % 300}px`"
SCRUB = """
const slider = root.querySelector(".slider")
slider.value = number % (Number(slider.max) + 1)
slider.dispatchEvent(new Event("input"))"""
PLAY = """
if (number === 1) {
  const slider = root.querySelector(".slider")
  slider.value = 0
  slider.dispatchEvent(new Event("input"))
  const speed = root.querySelector("[aria-label=Speed]")
  speed.value = 20
  speed.dispatchEvent(new Event("change"))
  const play = root.querySelector(".play")
  if (play.textContent === "Play") play.click()
}"""
JUMP = """
const slider = root.querySelector(".slider")
slider.value = (number * 0.37 % 1) * Number(slider.max)
slider.dispatchEvent(new Event("input"))"""


def conversation() -> str:
    """Return a page with the strip of 3,000 messages, whose marks can be moved."""
    messages: list[dict[str, object]] = []
    for number in range(BLOCKS // 3):
        call = {"name": "search", "arguments": json.dumps({"query": f"tides {number}"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        result = f"Chapter {number}. " + "High water at 05:12. " * (1 + number % 9)
        messages += [
            {"role": "user", "content": f"Question {number}: where is the water now?"},
            {"role": "assistant", "content": f"I look {number} up.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        ]
    session = pg.session(messages, system="You keep the harbour.", model="claude-sonnet-4-5")
    shown = pg.simulate_cache(session, dialect="native", policy="claude-code").html()
    data = '<script type="application/json">{'
    return shown.replace(data, f'{data}"movable":true,', 1)


def replies() -> str:
    """Return a page with a player of one reply in four columns."""
    call = '<tool_call>\n{"name": "look_up", "arguments": {"page": %d}}\n</tool_call>\n'
    line = "The tide turns at five; the pilot <b>waits</b> for the ferry, naïvely. "
    pieces = [line * 3 + "\n" + call % number for number in range(CHARACTERS // 270)]
    reply = "".join(pieces)[:CHARACTERS]
    recording = synthetic_recording(reply, "a long reply", "hermes")
    return replays([pg.replay(recording, name) for name in DIALECTS]).page()


def dragged(page: Page) -> None:
    """Drag the last mark to and fro by the mouse."""
    slider = page.get_by_label("Request", exact=True)
    slider.fill(slider.get_attribute("max") or "")
    pin = page.locator(".pin.movable").last.bounding_box()
    canvas = page.locator("canvas.blocks").bounding_box()
    assert pin and canvas
    page.mouse.move(pin["x"] + 12, pin["y"] + 8)
    page.mouse.down()
    for number in _until_over():
        page.mouse.move(canvas["x"] + number * 7 % canvas["width"], canvas["y"] + 60)
    moved = page.locator(".pin.movable").last.bounding_box()
    page.mouse.move(pin["x"] + 12, pin["y"] + 8)
    page.mouse.up()
    assert moved and moved["x"] != pin["x"], "the mark did not follow the mouse"


def scrolled(page: Page) -> None:
    """Scroll what is below the mouse down and up by its wheel."""
    for number in _until_over():
        page.mouse.move(500 + number % 200, 500)
        page.mouse.wheel(0, 90 if number // 60 % 2 == 0 else -90)


def _until_over() -> Iterator[int]:
    stop, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < stop:
        yield number
        number += 1


def at_rest(page: Page) -> None:
    """Leave the mouse alone."""


class Measured:
    """A page beside an empty one in the same browser."""

    def __init__(self, browser: Browser, shown: str) -> None:
        self.empty = _page(browser, EMPTY)
        self.page = _page(browser, shown)
        self.tool = self.page.context.new_cdp_session(self.page)
        self.tool.send("Performance.enable", {"timeDomain": "threadTicks"})

    def close(self) -> None:
        self.empty.close()
        self.page.close()

    def measure(self, name: str, act: str = "", hand: Callable[[Page], None] = at_rest) -> None:
        """Print frames a second, the best of some rounds, while `act` or a hand is at work."""
        rates, empties, works, longest = [], [], [], []
        for _ in range(ROUNDS):
            empties.append(_frames(self.empty, MOVE, at_rest)["rate"])
            before = _work(self.tool)
            found = _frames(self.page, act, hand)
            rates.append(found["rate"])
            works.append(1_000 * (_work(self.tool) - before) / (found["rate"] * SECONDS))
            longest.append(found["longest"])
        rate, empty = max(rates), max(empties)
        print(f"{name:<34}{rate:5.1f} frames a second, {rate / empty:.2f} of empty", end="")
        print(f" ({empty:.1f}), work {min(works):4.1f} ms a frame", end="")
        slow = " (over the limit)" if min(longest) > LONG else ""
        print(f", longest task {min(longest):.0f} ms{slow}", flush=True)


def _page(browser: Browser, shown: str) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(shown, encoding="utf-8")
        page.goto(path.as_uri())
    page.wait_for_timeout(1_500)
    return page


def _frames(page: Page, act: str, hand: Callable[[Page], None]) -> dict[str, float]:
    page.bring_to_front()
    counting = page.evaluate_handle(FRAMES, act)
    hand(page)
    found: dict[str, float] = counting.evaluate("counting => counting.done")
    return found


def _work(tool: CDPSession) -> float:
    """Return the processor time of the page's thread so far, in seconds."""
    metrics = tool.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with closing(Measured(browser, conversation())) as strip:
            strip.measure(f"strip, {BLOCKS:,} messages, scrubbed", SCRUB)
            strip.measure("strip, a mark dragged", hand=dragged)
            strip.page.set_viewport_size({"width": 1440, "height": 600})  # so that it scrolls
            strip.measure("strip, pointed at and scrolled", hand=scrolled)
        with closing(Measured(browser, replies())) as player:
            player.measure("player, 4 × 200 kB, played", PLAY)
            player.page.get_by_label("Play or pause").click()
            player.measure("player, jumping", JUMP)
            player.measure("player, pointed at and scrolled", hand=scrolled)
        browser.close()


if __name__ == "__main__":
    main()
