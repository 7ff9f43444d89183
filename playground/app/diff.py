"""The Diff page's parts: two choosers, what is different, which of it is shown, its costs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, frame, say, tables, waiting
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.base.errors import PlaygroundError
from playground.nouns.wire_blocks import TIERS
from playground.questions.versions import VersionDiff
from playground.questions.versions import diff as compare_versions
from playground.questions.versions.matching import KINDS, BlockChange
from playground.sessions.session import Session
from playground.show import rows
from playground.show.pictures.versions import version_panes

_SIDES: Final = {"before": "Before", "after": "After"}  # by the address's name for each
_LAST, _FIRST = "the last request", "the first request"
_REQUESTS: Final = {_LAST: 0, _FIRST: 1}
VIEWS: Final = ("Side by side", "Blocks")
_ANYBODY: Final = "anybody"
_MOST: Final = 400  # blocks that are shown side by side


@dataclass(frozen=True)
class TwoAsked:
    """Two sessions by name, which request of each, and the model that takes the place of theirs."""

    names: tuple[str, str]
    sessions: tuple[Session, Session]
    request: int
    model: str


def asked() -> tuple[TwoAsked, str]:
    """Let the user choose two sessions and a view; at first the session in the bar is the later
    one, and the next of the list the earlier."""
    names = state.session_names()
    own = state.chosen_name()
    at = names.index(own) if own in names else 0
    usual = {"before": names[(at + 1) % len(names)], "after": names[at]}
    chosen = []
    with frame.toolbar():
        for key, label in _SIDES.items():
            first = [usual[key], *(name for name in names if name != usual[key])]
            state.follow_url(key, first)
            name = st.selectbox(label, first, format_func=say.option, key=key, width=210)
            state.tell_url(key, name, usual[key])
            chosen.append(name)
        request = st.selectbox(
            "Request", list(_REQUESTS), key="diff request", bind="query-params", width=160
        )
        model = st.text_input(
            "Model",
            key="diff model",
            bind="query-params",
            placeholder="each session's own",
            width=180,
        )
        view = st.segmented_control(
            "View",
            VIEWS,
            default=VIEWS[0],
            required=True,
            key="view",
            bind="query-params",
            label_visibility="collapsed",
        )
    sessions = (state.edited_session(chosen[0]), state.edited_session(chosen[1]))
    given = TwoAsked((chosen[0], chosen[1]), sessions, _REQUESTS[request or _LAST], model)
    return given, str(view)


@memoized(16)
def _compared(
    first: Session, second: Session, names: tuple[str, str], request: int, model: str
) -> Future[VersionDiff]:
    def work() -> VersionDiff:
        found = compare_versions(first, second, model=model, request=request, names=names)
        assert found.headline  # which simulates the caches: here, and not while the page is drawn
        return found

    return waiting.background().submit(work)


def compared(given: TwoAsked) -> VersionDiff | None:
    """Return the difference, as soon as the background has it; None where there can be none."""
    future = _compared(*given.sessions, given.names, given.request, given.model)
    waiting.until_loaded(future.done, f"Tokens are being counted. {waiting.LOADING}")
    try:
        return future.result()
    except PlaygroundError as fault:
        st.error("These two cannot be compared.")
        say.text(str(fault))
        return None


def headline(found: VersionDiff) -> None:
    """Show the difference in a sentence, and how both are written."""
    box = st.info if found.tokens or any(c.kind != "same" for c in found.changes) else st.success
    box(found.headline.replace("$", "\\$"))
    sides = (
        f"{label}: {side.name}{f', {side.agent}' if side.agent else ''}, {side.model}, "
        f"request {side.request} of {side.requests}, {side.count.tokens:,} tokens "
        f"({side.count.kind})."
        for label, side in zip(_SIDES.values(), (found.first, found.second), strict=True)
    )
    say.caption(" ".join([*sides, f"Both are {found.form}."]).replace("$", "\\$"))


def filtered(found: VersionDiff) -> list[BlockChange]:
    """Return the blocks that are asked for: by what became of them, by part, by who wrote them."""
    writers = [_ANYBODY, *found.by_writer]
    with st.popover("Filter", icon=":material/filter_list:", key="filter blocks"):
        kinds = st.pills(
            "What became of it",
            KINDS,
            selection_mode="multi",
            default=KINDS[1:],
            key="change",
            bind="query-params",
        )
        tiers = st.pills(
            "Part",
            TIERS,
            selection_mode="multi",
            default=TIERS,
            key="part",
            bind="query-params",
        )
        state.follow_url("writer", writers)
        by = st.selectbox("Written by", writers, format_func=say.option, key="writer", width=180)
        state.tell_url("writer", by, _ANYBODY)
    return [
        change
        for change in found.changes
        if change.kind in kinds and change.tier in tiers and by in (_ANYBODY, change.block.writer)
    ]


def blocks(found: VersionDiff, shown: Sequence[BlockChange]) -> None:
    """The table of blocks; below it, who wrote how much."""
    if shown:
        tables.table(rows.blocks(shown))
    else:
        st.text("Nothing of this kind.")
    st.header("Who wrote it", anchor=False)
    tables.table(rows.writers(found), height="content")
    st.caption(
        "Tokens of a block are those of its text; of a tool, with what frames it. The totals above "
        "are those of the whole request."
    )


def texts(found: VersionDiff, shown: Sequence[BlockChange]) -> None:
    """Both side by side, the second as it differs from the first."""
    if len(shown) > _MOST:
        say.text(f"The first {_MOST:,} of {len(shown):,} blocks.")
    components.panes(Picture(version_panes(found, shown[:_MOST])), key="version panes")


def costs(found: VersionDiff) -> None:
    """Show what each provider's cache still reads."""
    tables.table(rows.version_costs(found.costs), height="content")
    st.caption(
        "As if both went to that provider, the second 20 seconds after the first. What is lost is "
        "paid once, with the first request of the new version; nothing is sent."
    )
