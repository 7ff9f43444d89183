"""The tour: the jobs as a user would tell them, what each takes, and the pictures for the docs.

The one rule: a job is done from the bare address on, by mouse and keyboard alone.
"""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Locator, Page

COLOURS = 96  # of a picture: a page has few, and such a file is a third of the size
WAIT = 400  # milliseconds until what faded in or was scrolled stands still


class Job(NamedTuple):
    """A job: `name` is that of its picture, `told` is the user's own sentence.

    `before` are the clicks and seconds that the job took by hand in the app of 24 November 2026.
    """

    name: str
    told: str
    clicks: int
    before: str = "– | –"


_NEVER = "not possible | –"
JOBS = (
    Job("reply", "My agent got this reply and called nothing. Who reads it?", 2, "9 | 15"),
    Job("search", "My tools, my history: where is `search` told, in five dialects?", 8),
    Job("request", "Here is my request as `curl`. What of it would be cached?", 3),
    Job("copy", "I want what is sent to the letter: rules to paste, the request as a file.", 4),
    Job("policy", "What do I pay if I set no marks at all?", 3),
    Job("miss", "Why did my fourth request miss the cache?", 4),
    Job("marks", "Without marks I pay it all. What does one mark of my own change?", 5),
    Job("answer", "I have only a transcript. What did the model stream, step by step?", 3),
    Job("server", "The stream broke off inside a call. Which server ran it all the same?", 1),
    Job("edit", "Let me try another system prompt and one message more, and take it back.", 11),
    Job("picture", "My request holds a picture. Is it sent in each dialect?", 2, "6 | 12"),
    Job("bill", "This transcript was dear. Which request missed the cache, and why?", 2, "3 | 29"),
    Job("find", "Where was page 42 read? I want another result there.", 4, "8 | 17"),
    Job("template", "A new model has its own chat template. Which dialect is that?", 2, "2 | 19"),
    Job("prompts", "Two system prompts: what differs, and what does it cost?", 5, "14 | 24"),
    Job("recording", "My tab closed in the middle of a recording. What is left of it?", 1, _NEVER),
    Job("keyboard", "By keyboard alone, on a dark phone: what does the finding say?", 0, _NEVER),
    Job("corpus", "A folder of transcripts. What is in it, and which shall I open?", 6, "– | 39"),
    Job("trial", "Which dialect is best for my model? Ask again and again.", 4, "6 | 20"),
)


class Hand:
    """A user at the page: what is clicked is counted, from when the page is there."""

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


class Tour:
    """The jobs that were done, with their seconds; pictures are taken where there is a folder."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}

    def done(self, name: str, hand: Hand, seen: Locator | None = None) -> None:
        """The answer is on the screen, in the picture's middle where it is `seen`. Raises
        AssertionError where it took other clicks."""
        self.seconds[name] = time.monotonic() - hand.started
        job = next(job for job in JOBS if job.name == name)
        assert hand.clicks == job.clicks, f"{name}: {hand.clicks} clicks"
        if self.folder:
            if seen:
                seen.evaluate("node => node.scrollIntoView({ block: 'center' })")
            hand.page.wait_for_timeout(WAIT)
            path = self.folder / "pictures" / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            picture = Image.open(io.BytesIO(hand.page.screenshot())).convert("RGB")
            picture.quantize(COLOURS).save(path, optimize=True)

    def text(self) -> str:
        """The jobs as a document that shows the pictures beside it."""
        rows = [
            f"| {job.told} | {job.clicks} | {self.seconds[job.name]:.1f} | {job.before} |"
            for job in JOBS
        ]
        shown = [f"## {job.told}\n\n![{job.told}](pictures/{job.name}.png)\n" for job in JOBS]
        head = (
            f"# A tour in {len(JOBS)} jobs\n\n"
            "Written by `make pictures`: browser tests do each job from the bare address on, by "
            "mouse and\nkeyboard alone, and fail where it takes another number of clicks. Seconds "
            "are those of one run,\nat a machine's speed of hand. The columns *before* are of the "
            "app of 24 November 2026, by hand and\non a busier machine, for the jobs that were "
            "tried then. Two more of those need no page: the app is\nshared by a command "
            "(`playground app --public --server.address 0.0.0.0`), and a notebook's\nanswer is "
            "saved by its `html()`.\n\n"
            "| job | clicks | seconds | clicks before | seconds before |\n|---|---|---|---|---|\n"
        )
        return "\n".join([head + "\n".join(rows) + "\n", *shown])
