"""Import: one box for any file or text of the user's. It says what it recognises, and offers
actions.

The same box stands in a dialog on every page and open on the first. Its content is recognised in a
callback, before anything is drawn; a button's callback uses it, and then the page changes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import PageEntry, has_page
from playground.app.shared import (
    brought,
    components,
    declaring,
    history,
    policies,
    receipts,
    say,
    waiting,
)
from playground.dialects.files import parse_dialect, plain_dialect
from playground.dialects.marks.own_policies import parse_policy
from playground.questions.detection import detect
from playground.questions.recognised_documents import Recognised
from playground.questions.recognition import as_session
from playground.sessions.joining import joined
from playground.sessions.loading import first_session
from playground.sessions.source import Source

_SHOWING = ("compare", "cache")  # pages that show any session
_UNREAD = 5  # most lines about unreadable parts


@dataclass(frozen=True)
class Offer:
    """An action on the imported thing: `use` does it, then the page of that name opens.

    `view` has values for widgets of that page, by their keys.
    """

    label: str
    use: Callable[[], None]
    page: str
    view: tuple[tuple[str, str], ...] = ()


@st.cache_resource(show_spinner=False)
def prepare() -> Future[object]:
    """Compile the patterns of all dialects in the background, so that the first reply need not
    wait for them.
    """
    return waiting.background().submit(detect, "")


@st.dialog("Import", width="large")
def dialog(page: str) -> None:
    """Show the box over the page of that name, which stays if it can show the imported thing."""
    shown = page if page in _SHOWING else "compare"
    box("bring box", shown, rows=8, focus=True)


@st.fragment
def panel() -> None:
    """Show the box as a part of a page."""
    box("bring panel", "compare", rows=4, focus=False)


def box(key: str, shown: str, *, rows: int, focus: bool) -> None:
    """Show the box, what it recognises, and at most three buttons."""
    if brought.has_target():
        st.rerun()  # reruns the whole page: it closes the dialog, and `go_on` leaves the page
    found = brought.last()
    components.bring(
        found.title if found else "",
        brought.number(),
        key=key,
        rows=rows,
        focus=focus,
        on_typed=lambda: brought.take(key),
    )
    place = st.empty()  # without this, a dialog opens with the buttons of an earlier one
    if found is None:
        return
    with place.container():
        for line in found.unread[:_UNREAD]:
            say.text(line)
        if len(found.unread) > _UNREAD:
            say.text(f"… and {len(found.unread) - _UNREAD} more")
        _offer_buttons(key, _offers(found, shown))
        if found.kind == "session":
            receipts.show(found.name, found.data, f"{key} receipt")


def _offer_buttons(key: str, offers: list[Offer]) -> None:
    """Draw a button for each offer, the likeliest first."""
    with st.container(horizontal=True):
        for index, offer in enumerate(offers):
            say.button(
                offer.label,
                key=f"{key} {offer.label}",
                type="secondary" if index else "primary",
                on_click=_use,
                args=(offer,),
            )


def go_on(page: PageEntry) -> None:
    """Go to the page that shows the used thing: a callback cannot leave a page by itself."""
    if name := brought.taken_target():
        navigation.go_from(page, name)


def _use(offer: Offer) -> None:
    if brought.last() is None:  # a second click on a button whose action is done
        return
    offer.use()
    for key, value in offer.view:
        state.choose(key, value)
    brought.forget()
    brought.set_target(offer.page)


def _offers(found: Recognised, shown: str) -> list[Offer]:
    """Return the offers for a recognised thing, the likeliest first; `shown` is the current
    page."""
    match found.kind:
        case "session":
            return _offers_of_session(found, shown)
        case "tools":
            return [
                Offer("Tools into this session", lambda: _tools(found), shown),
                Offer("New session with them", lambda: _new(found), shown),
            ]
        case "reply":
            ranked = (("listed", "Detect"),)
            return [
                Offer("See who reads it", lambda: _new(found), "replay", ranked),
                Offer("Into this session", lambda: _reply(found), "replay", ranked),
            ]
        case "chat template":
            by_template = (("format", "A chat template"),)
            from_template = (("start", "A chat template"),)
            offers = [Offer("See the raw prompt", lambda: _template(found), "raw", by_template)]
            if has_page("declare"):
                derive = Offer("Derive a dialect", lambda: _derive(found), "declare", from_template)
                offers.append(derive)
            return offers
        case "dialect" if has_page("declare"):
            return [Offer("Open as custom dialect", lambda: _declare(found), "declare")]
        case "policy":
            name = parse_policy(found.data, found.name).name
            costs = (("policy", name),)
            return [Offer("Try it on the cache", lambda: _policy(found), "cache", costs)]
        case _:
            page = [Offer(found.offer, lambda: None, found.page, found.view)] if found.page else []
            tools = [Offer("Tools into this session", lambda: _tools(found), shown)]
            return [*page, *(tools if found.tools else [])]


def _offers_of_session(found: Recognised, shown: str) -> list[Offer]:
    is_stream = found.recordings > 0 and found.messages <= 1
    page = [Offer(found.offer, lambda: _open(found), found.page, found.view)] if found.page else []
    offers = [Offer("New session", lambda: _open(found), "replay" if is_stream else shown)]
    if found.recordings and not is_stream:
        offers.append(Offer("Replay its recordings", lambda: _open(found), "replay"))
    elif found.messages and shown != "cache":
        offers.append(Offer("See what its cache does", lambda: _open(found), "cache"))
    if state.is_own(state.working_session().name):
        offers.append(Offer("Into this session", lambda: _join(found), offers[0].page))
    return [*page, *offers]


def _open(found: Recognised) -> None:
    state.add_file(found.name, found.data, _name(found))


def _name(found: Recognised) -> str:
    """Return a name for the session made of the thing: its file's, or its kind."""
    if stem := found.name.rpartition(".")[0]:
        return stem
    told = found.title.partition(":")[0].partition(" in ")[0].rstrip(",")
    return f"pasted {told}".replace("a reply", "reply")


def _new(found: Recognised) -> None:
    state.add_session(_name(found), as_session(found).session)


def _tools(found: Recognised) -> None:
    history.set_tools(state.working_session().name, found.data, found.name)


def _reply(found: Recognised) -> None:
    working = state.working_session()
    recording = as_session(found).session.recordings[0]
    taken = {each.name for each in working.session.recordings}
    name = next(n for i in range(1, 1000) if (n := f"reply {i}") not in taken)
    state.add_recording(working.name, replace(recording, name=name))


def _join(found: Recognised) -> None:
    """Add the chosen session, joined with the imported thing, as a new one: nothing is replaced."""
    working = state.working_session()
    given = first_session(Source(found.name, found.data)).session
    state.add_session(f"{working.name} with {_name(found)}", joined(working.session, given))


def _template(found: Recognised) -> None:
    suffix = "" if "." in found.name else ".json" if found.data.lstrip()[:2] == b'{"' else ".jinja"
    name = found.name + suffix
    brought.keep_template(name, found.data.decode("utf-8", "replace"))


def _derive(found: Recognised) -> None:
    _template(found)
    declaring.start_from_template()


def _declare(found: Recognised) -> None:
    declaring.take(plain_dialect(parse_dialect(found.data, found.name)))


def _policy(found: Recognised) -> None:
    policies.keep(parse_policy(found.data, found.name))
