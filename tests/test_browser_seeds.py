"""Each imitated system from Start, on own material: what is pasted, clicked, and then on the page.

With `--tour docs` each leaves a picture.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from serving import App
from tour import COLOURS, WAIT, Hand

pytestmark = pytest.mark.browser

expect.set_options(timeout=30_000)  # the parsers are made first, on a machine that is shared
MOST_CLICKS = 3


class Way(NamedTuple):
    """A text of the user's own, what Import says of it, the offer, and what is then there."""

    name: str
    text: str
    said: str
    offer: str
    shown: tuple[str, ...]
    opened: str = ""  # what a third click opens


REQUEST = {
    "model": "anthropic/claude-sonnet-4-5",
    "system": "{TOOL_USE_INSTRUCTION} You keep the harbour of Brest. {AVAILABLE_TOOLS}",
    "messages": [
        {"role": "user", "content": "High water?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t1", "name": "tides", "input": {"at": "Brest"}}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "05:12"}],
        },
    ],
    "tools": [
        {
            "name": "tides",
            "description": "High water of a port.",
            "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}},
        }
    ],
}
USE_CASES = """
def usecases():
    return [UseCase(title="Pi", dialogs=[[
        RawMessage(role="system", content="Environment: ipython"),
        RawMessage(role="user", content="How high is the mast?"),
        RawMessage(content="", stop_reason=StopReason.end_of_message, tool_calls=[
            ToolCall(call_id="c", tool_name=BuiltinTool.wolfram_alpha, arguments={"query": "12 m"})
        ]),
        RawMessage(role="tool", content="twelve"),
    ]])]
"""
SIGNATURE = '''
class Moor(dspy.Signature):
    """Find a berth for a boat."""

    boat: str = dspy.InputField(desc="its name")
    metres: int = dspy.OutputField(desc="of the berth", ge=4)
'''
TEMPLATES = """
default:
  - role: default-request
    model: gpt-4o
  - role: system
    content: "You keep {{range .ports}}[{{.}}]{{end}}."
  - role: user
    content: "High water?"
  - role: request
"""
AGENT = '''
class Pilot(Agent):
    @prompt
    @staticmethod
    def desk():
        return Prompt.from_text("You pilot ships into {port}.")

    @tool
    @staticmethod
    def tides(at: str) -> str:
        """High water of a port."""
        return "05:12"

    @action(InputEvent)
    @staticmethod
    def begin(event, ctx):
        pass
'''
WAYS = (
    Way(
        "dialects",
        json.dumps(REQUEST),
        "Anthropic request: system prompt, 3 messages, 1 tool",
        "New session",
        ("High water of a port.", "05:12"),
    ),
    Way(
        "llama",
        USE_CASES,
        "1 use case of Llama's prompts: 1 dialog",
        "See the raw prompts",
        (
            'wolfram_alpha.call(query="12 m")<|eom_id|>',
            "<|start_header_id|>ipython<|end_header_id|>",
        ),
    ),
    Way(
        "dspy",
        SIGNATURE,
        "DSPy signature Moor: boat -> metres",
        "Open the signature",
        ("[[ ## metres ## ]]", "greater than or equal to: 4", "Find a berth for a boat."),
    ),
    Way(
        "templates",
        TEMPLATES,
        "1 conversation template: default",
        "Run the templates",
        ("You keep .", "(answer 1)"),
    ),
    Way(
        "flink",
        AGENT,
        "Flink-Agents agent Pilot: 1 prompt, 1 tool, 1 action",
        "Open its prompts",
        ("You pilot ships into Brest.", "ChatResponseEvent"),
        "Ask a chat model with this prompt",
    ),
)


@pytest.fixture(scope="module")
def address(app: App) -> str:
    return app.emptied()


def picture(page: Page, folder: Path, name: str) -> None:
    """Take a picture of the page as it stands."""
    page.wait_for_timeout(WAIT)
    path = folder / "pictures" / f"way-{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS).save(path, optimize=True)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_own_material_of_a_system_is_at_work_after_three_clicks(
    page: Page, address: str, way: Way, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    page.goto(address)
    expect(page.get_by_label("Paste anything").first).to_be_visible()
    hand = Hand(page)
    hand.click(page.get_by_label("Paste anything").first)
    hand.paste(way.text)
    expect(page.get_by_role("status").first).to_have_text(way.said)
    hand.click(page.get_by_role("button", name=way.offer, exact=True))
    expect(page.get_by_text(way.shown[0]).first).to_be_attached()
    if way.opened:
        hand.click(page.get_by_text(way.opened, exact=True))
    for text in way.shown:
        expect(page.get_by_text(text).first).to_be_attached()
    assert hand.clicks <= MOST_CLICKS
    assert page.get_by_text("Traceback").count() == 0
    assert page.get_by_test_id("stAlert").count() == 0
    picture(page, Path(request.config.getoption("--tour") or tmp_path), way.name)
