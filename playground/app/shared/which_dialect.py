"""The ranking of dialects for a reply, and a hint if no call was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from streamlit.delta_generator import DeltaGenerator

from playground.app.shared import say, tables, widgets
from playground.app.shared.memoized import memoized
from playground.app.shared.readings import Reading
from playground.base.wording import counted
from playground.nouns.tools import ToolMetadata
from playground.questions.detection import Detection, detect_recording, foreign_finding
from playground.questions.fast_detection import likeliest
from playground.recordings.recording import Recording
from playground.show import rows

Tools = Sequence[ToolMetadata]
# characters at the end of a reply, where its calls are; to read these takes a third of a second
_SEARCHED: Final = 100_000


@memoized(32, spinner="Reading in every dialect …")
def _detections(recording: Recording, tools: Tools) -> Sequence[Detection]:
    """Return every dialect's reading of a reply, the likeliest dialect first."""
    return detect_recording(recording, tools)


@memoized(32)
def _likeliest(text: str, tools: Tools) -> Detection | None:
    found = likeliest(text, tools)
    return found[0] if found else None


def looks_like(reading: Reading, place: DeltaGenerator, read_as: Callable[[str], None]) -> None:
    """If no call was read, not even in part, offer a dialect that reads one at the end.

    `read_as` is called with the dialect's name if the user accepts.
    """
    result = reading.timeline.result
    if result.tool_calls or result.aborted:
        return
    found = _likeliest(reading.timeline.text[-_SEARCHED:], reading.tools)
    if found is None or found.any_text or found.dialect == reading.dialect:
        return
    calls = counted(found.calls, "call") if found.calls else "a call that is cut off"
    with place.container(horizontal=True, vertical_alignment="center"):
        say.text(f"No call is read this way, but the text looks like {found.dialect}: {calls}.")
        say.button(
            f"Read it as {found.dialect}",
            key="read as it looks",
            icon=":material/switch_access_shortcut:",
            type="primary",
            on_click=read_as,
            args=(found.dialect,),
        )


def show_detections(reading: Reading) -> None:
    """Show the dialects in which the reply may be written, the likeliest first."""
    found = _detections(reading.recording, reading.tools)
    finding = foreign_finding(found, reading.dialect)
    widgets.show_findings([finding] if finding else [], "about the chosen dialect")
    tables.table(rows.detections(found))
