"""The Diff page's parts: the two versions, their differences, a filter, and the costs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, Final
from zlib import crc32

import streamlit as st

from playground.app import navigation, state
from playground.app.shared import components, frame, say, tables, waiting
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.base.errors import PlaygroundError
from playground.base.findings import Finding
from playground.dialects import get_dialect
from playground.dialects.checking import check_session
from playground.nouns.wire_blocks import TIERS
from playground.questions.versions import VersionDiff
from playground.questions.versions import diff as compare_versions
from playground.questions.versions.costs import PrefixCost
from playground.questions.versions.matching import KINDS, BlockChange
from playground.sessions.session import Session
from playground.show import rows, version_board
from playground.show.pictures.versions import version_panes

_BEFORE: Final = "before"
_AFTER: Final = "after"  # in the URLs of earlier releases: the new version
_ORIGINAL: Final = "before its edits"
_LAST, _FIRST = "the last", "the first"
_REQUESTS: Final = {_LAST: 0, _FIRST: 1}
VIEWS: Final = ("Changed", "All blocks", "Table")
_OLDER_VIEWS: Final = {"Side by side": VIEWS[0], "Blocks": VIEWS[2]}
_ANYBODY: Final = "anybody"
_MOST: Final = 400  # blocks that are shown side by side
_PROVIDER: Final = "diff cache of"
_SELECTED: Final = "diff selected"


@dataclass(frozen=True)
class VersionQuestion:
    """The two compared sessions and their names, the request to compare (0: the last), and a model
    for both ("": each session's own)."""

    names: tuple[str, str]
    sessions: tuple[Session, Session]
    request: int
    model: str


def draw_controls() -> tuple[VersionQuestion, str, Any]:
    """Let the user choose what the current session is compared with, a request, a model and a view.

    Return the question, the view, and the place for the filter. By default, the old version is the
    session before its edits. For a session without edits, it is the user's session with the most
    similar name; for a sample, it is the next sample.
    """
    if (after := state.url_values().get(_AFTER)) in state.session_names():
        state.forget_url(_AFTER)
        state.look_at(str(after))
        st.rerun()
    working = state.working_session()
    names = state.session_names()
    at = names.index(working.name) if working.name in names else 0
    others = [*names[at + 1 :], *names[:at]]
    if state.is_own(working.name):  # similar names first, then the latest earlier ones
        others = [*reversed(names[:at]), *names[at + 1 :]]
        others.sort(key=lambda name: -len(commonprefix([_stem(name), _stem(working.name)])))
    others.sort(key=lambda name: state.is_own(name) != state.is_own(working.name))
    options = [*[_ORIGINAL] * working.is_edited, *others, working.name]
    with frame.toolbar():
        state.follow_url(_BEFORE, options)
        old = st.selectbox("Compared with", options, format_func=say.option, key=_BEFORE, width=330)
        state.tell_url(_BEFORE, old, options[0])
        st.button(
            "Swap",
            icon=":material/swap_horiz:",
            on_click=_swap,
            args=(working.name, old),
            disabled=old in (_ORIGINAL, working.name),
        )
        request = st.selectbox(
            "Request", list(_REQUESTS), key="diff request", bind="query-params", width=180
        )
        model = st.text_input(
            "Model",
            key="diff model",
            bind="query-params",
            placeholder="each session's own",
            width=230,
        )
        view = navigation.view_choice(VIEWS, _OLDER_VIEWS)
        place = st.container(width="content")
    is_original = old == _ORIGINAL
    name = f"{working.name}, {_ORIGINAL}" if is_original else old
    first = state.original_session(working.name) if is_original else state.edited_session(old)
    sessions = (first, state.edited_session(working.name))
    question = VersionQuestion((name, working.name), sessions, _REQUESTS[request or _LAST], model)
    return question, view, place


def _stem(name: str) -> str:
    """Return a name up to its first ` (`, so without the number of `NAME (2)`."""
    return name.partition(" (")[0]


def _swap(new: str, old: str) -> None:
    state.forget_url(_BEFORE)
    state.choose(_BEFORE, new)
    state.choose(state.SESSION, old)


@memoized(16)
def _compared(
    first: Session, second: Session, names: tuple[str, str], request: int, model: str
) -> Future[VersionDiff]:
    def work() -> VersionDiff:
        version_diff = compare_versions(first, second, model=model, request=request, names=names)
        assert version_diff.headline  # simulates the caches now, not while the page is drawn
        return version_diff

    return waiting.background().submit(work)


def compared(question: VersionQuestion) -> VersionDiff | None:
    """Return the difference after computing it; None if the two cannot be compared."""
    future = _compared(*question.sessions, question.names, question.request, question.model)
    waiting.until_loaded(future.done, f"Tokens are being counted. {waiting.LOADING}")
    try:
        return future.result()
    except PlaygroundError as fault:
        st.error("These two cannot be compared.")
        say.text(str(fault))
        return None


def chosen_cost(version_diff: VersionDiff) -> PrefixCost | None:
    """Return the cost at the chosen provider, by default the model's provider."""
    wanted = state.get(_PROVIDER)
    of_provider = (cost for cost in version_diff.costs if cost.provider == wanted)
    return next(of_provider, version_diff.costs[0] if version_diff.costs else None)


def headline(version_diff: VersionDiff) -> None:
    """Show, in a sentence and figures, where the prefix breaks and what the break costs."""
    components.board(
        Picture(version_board.head(version_diff, chosen_cost(version_diff))), key="diff head"
    )


def strips(version_diff: VersionDiff) -> None:
    """Show both versions one above the other; a click leads to a block's text."""
    data = Picture(version_board.strips(version_diff, chosen_cost(version_diff)))
    components.board(data, key="diff strips", on_choose=_show_block)


def _show_block() -> None:
    _select(components.chosen_of("diff strips")[1])


def _select(key: str) -> None:
    """Choose the block of this key; if it is unchanged, `filtered` then shows all blocks."""
    state.put(_SELECTED, key)


def filtered(version_diff: VersionDiff, view: str, place: Any) -> list[BlockChange]:
    """Return the blocks that pass the filter: by change, by part, by writer."""
    number = str(state.get(_SELECTED) or "").partition(":")[2]
    is_same = (
        number.isdecimal()
        and version_diff.changes[int(number) % len(version_diff.changes)].kind == "same"
    )
    shows_all = view == VIEWS[1] or is_same
    writers = [_ANYBODY, *version_diff.by_writer]
    with place.popover("Filter", icon=":material/filter_list:", key="filter blocks"):
        kinds = st.pills(
            "Change",
            KINDS,
            selection_mode="multi",
            default=KINDS[1:],
            key="change",
            bind="query-params",
        )
        tiers = st.pills(
            "Part", TIERS, selection_mode="multi", default=TIERS, key="part", bind="query-params"
        )
        state.follow_url("writer", writers)
        by = st.selectbox("Written by", writers, format_func=say.option, key="writer", width=180)
        state.tell_url("writer", by, _ANYBODY)
    return [
        change
        for change in version_diff.changes
        if (shows_all or change.kind in kinds)
        and change.tier in tiers
        and by in (_ANYBODY, change.block.writer)
    ]


def blocks(version_diff: VersionDiff, shown: Sequence[BlockChange]) -> None:
    """Show the table of blocks and, below it, each writer's tokens."""
    if shown:
        tables.table(rows.blocks(shown))
    else:
        st.text("Nothing of this kind.")
    st.header("Who wrote it", anchor=False)
    tables.table(rows.writers(version_diff), height="content")
    st.caption(
        "The tokens of a block are those of its text, and for a tool also those that the provider "
        "adds. The totals above count the whole request."
    )


def texts(version_diff: VersionDiff, shown: Sequence[BlockChange]) -> None:
    """Show both texts side by side, with the differences of the new text from the old."""
    if len(shown) > _MOST:
        say.text(f"The first {_MOST:,} of {len(shown):,} blocks.")
    panes = Picture(version_panes(version_diff, shown[:_MOST]))
    # a key for each pair of versions
    names = (version_diff.first.name, version_diff.second.name)
    components.panes(
        panes,
        selected=str(state.get(_SELECTED) or ""),
        key=f"version panes {crc32(repr(names).encode())}",
    )


def side(version_diff: VersionDiff, question: VersionQuestion) -> None:
    """Show the findings that differ, and what each provider's cache still reads."""
    cost = chosen_cost(version_diff)
    before, after = map(_findings, question.sessions)
    findings = version_board.changed_findings(version_diff, before, after)
    data = version_board.side(version_diff, cost.provider if cost else "", findings, len(after))
    components.board(Picture(data), key="diff side", on_choose=_choose)


@memoized(16)
def _findings(session: Session) -> list[Finding]:
    return check_session(get_dialect("native"), session.prompt_data())


def _choose() -> None:
    card, key, _ = components.chosen_of("diff side")
    if card == "caches":
        state.put(_PROVIDER, key)
    else:
        _select(key)
