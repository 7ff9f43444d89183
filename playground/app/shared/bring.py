"""Import: one box for any file or text of the user's. It shows what it recognises, with actions.

Every page has the box in a dialog; the first page shows it directly. A callback recognises the
text before anything is drawn. A button's callback uses the text, and then the page changes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

import streamlit as st

from playground.app import navigation, state
from playground.app.pages import PageEntry, has_page
from playground.app.shared import brought, components, history, policies, say, tables, waiting
from playground.app.shared.memoized import memoized
from playground.dialects.marks.own_policies import parse_policy
from playground.questions.detection import detect
from playground.questions.recognised_documents import Recognised
from playground.questions.recognition import as_session, as_system_prompt
from playground.sessions.joining import joined
from playground.sessions.loading import first_session, read_sessions, receipt_of_sessions
from playground.sessions.receipts.receipt import Receipt
from playground.sessions.source import Source
from playground.show import rows, rule_rows

_SHOWING = ("compare", "cache")  # pages that show any session
_MOST_UNREAD_LINES = 3  # the most lines about unreadable parts


@dataclass(frozen=True)
class Offer:
    """An action on the imported thing: `use` performs the action, then `page` opens.

    `view` has values for that page's widgets, as pairs of key and value.
    """

    label: str
    use: Callable[[], None]
    page: str
    view: tuple[tuple[str, str], ...] = ()


@st.cache_resource(show_spinner=False)
def prepare() -> Future[object]:
    """Compile all dialects' patterns in the background, since the first reply needs them."""
    return waiting.background().submit(detect, "")


@st.dialog("Import", width="large")
def dialog(page: str) -> None:
    """Show the box over a page. An offer opens another page unless this one can show it."""
    shown = page if page in _SHOWING else "compare"
    box("bring box", shown, rows=8, focus=True)


@st.fragment
def panel() -> None:
    """Show the box as a part of a page."""
    box("bring panel", "compare", rows=4, focus=False)


def box(key: str, current_page: str, *, rows: int, focus: bool) -> None:
    """Show the box, what it recognises, and a button for each offer."""
    if brought.has_target():
        st.rerun()  # the whole page, so that the dialog closes and `go_to_target` leaves the page
    thing = brought.last()
    components.bring(
        thing.title if thing else "",
        brought.number(),
        key=key,
        rows=rows,
        focus=focus,
        on_typed=lambda: brought.take(key),
    )
    place = st.empty()  # without it, the dialog opens with buttons of an earlier dialog
    if thing is None:
        return
    with place.container():
        for line in thing.unread[:_MOST_UNREAD_LINES]:
            say.text(line)
        if len(thing.unread) > _MOST_UNREAD_LINES:
            say.text(f"… and {len(thing.unread) - _MOST_UNREAD_LINES} more")
        _offer_buttons(key, _offers(thing, current_page))
        if thing.kind == "session":
            _show_receipt(thing.name, thing.data, f"{key} receipt")


def _offer_buttons(key: str, offers: list[Offer]) -> None:
    with st.container(horizontal=True):
        for index, offer in enumerate(offers):
            say.button(
                offer.label,
                key=f"{key} {offer.label}",
                type="secondary" if index else "primary",
                on_click=_use,
                args=(offer,),
            )


def go_to_target(page: PageEntry) -> None:
    """Go to the page of the offer that was used. (A callback cannot change the page.)"""
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


def _offers(thing: Recognised, current_page: str) -> list[Offer]:
    """Return the offers for a thing, the likeliest first."""
    match thing.kind:
        case "session":
            return _offers_of_session(thing, current_page)
        case "tools":
            return [
                Offer("Tools into this session", lambda: _tools(thing), current_page),
                Offer("New session with them", lambda: _new(thing), current_page),
            ]
        case "reply":
            ranked = (("listed", "Detect"),)
            return [
                Offer("See who reads it", lambda: _new(thing), "replay", ranked),
                Offer("As a system prompt", lambda: _prompt(thing), current_page),
                Offer("Reply into this session", lambda: _reply(thing), "replay", ranked),
            ]
        case "chat template":
            by_template = (("format", "A chat template"),)
            from_template = (("start", "A chat template"),)
            offers = [Offer("See the raw prompt", lambda: _template(thing), "raw", by_template)]
            if has_page("declare"):
                derive = Offer("Derive a dialect", lambda: _derive(thing), "declare", from_template)
                offers.append(derive)
            return offers
        case "dialect" if has_page("declare"):
            return [Offer("Open as custom dialect", lambda: _declare(thing), "declare")]
        case "policy":
            name = parse_policy(thing.data, thing.name).name
            costs = (("policy", name),)
            return [Offer("Try it on the cache", lambda: _policy(thing), "cache", costs)]
        case _:
            page = [Offer(thing.offer, lambda: None, thing.page, thing.view)] if thing.page else []
            tools = [Offer("Tools into this session", lambda: _tools(thing), current_page)]
            return [*page, *(tools if thing.tools else [])]


def _offers_of_session(thing: Recognised, current_page: str) -> list[Offer]:
    is_stream = thing.recordings > 0 and thing.messages <= 1
    page = [Offer(thing.offer, lambda: _open(thing), thing.page, thing.view)] if thing.page else []
    label, target = ("Replay it", "replay") if is_stream else ("New session", current_page)
    offers = [Offer(label, lambda: _open(thing), target)]
    if thing.recordings and not is_stream:
        offers.append(Offer("Replay its recordings", lambda: _open(thing), "replay"))
    elif thing.messages and current_page != "cache":
        offers.append(Offer("See what its cache does", lambda: _open(thing), "cache"))
    if state.is_own(state.working_session().name):
        offers.append(Offer("Into this session", lambda: _join(thing), offers[0].page))
    return [*page, *offers]


def _open(thing: Recognised) -> None:
    state.add_file(thing.name, thing.data, _name(thing))


def _name(thing: Recognised) -> str:
    """Return a name for the session that is made of a thing: its file's name, or its kind."""
    if stem := thing.name.rpartition(".")[0]:
        return stem
    kind = thing.title.partition(":")[0].partition(" in ")[0].rstrip(",")
    return f"pasted {kind}".replace("a reply", "reply")


def _new(thing: Recognised) -> None:
    state.add_session(_name(thing), as_session(thing).session)


def _prompt(thing: Recognised) -> None:
    state.add_session("pasted system prompt", as_system_prompt(thing))


def _tools(thing: Recognised) -> None:
    history.set_tools(state.working_session().name, thing.data, thing.name)


def _reply(thing: Recognised) -> None:
    working = state.working_session()
    recording = as_session(thing).session.recordings[0]
    names = {each.name for each in working.session.recordings}
    name = next(n for i in range(1, 1000) if (n := f"reply {i}") not in names)
    history.copy_values(
        working.name, state.add_recording(working.name, replace(recording, name=name))
    )


def _join(thing: Recognised) -> None:
    """Make a new session of the chosen session and the imported thing; nothing is replaced."""
    working = state.working_session()
    imported = first_session(Source(thing.name, thing.data)).session
    state.add_session(f"{working.name} with {_name(thing)}", joined(working.session, imported))


def _template(thing: Recognised) -> None:
    name = thing.name if "." in thing.name else f"{thing.name}.jinja"
    brought.keep_template(name, thing.data.decode("utf-8", "replace"))


def _derive(thing: Recognised) -> None:
    _template(thing)
    state.put(state.DECLARE_FROM, ("template", "", b""))


def _declare(thing: Recognised) -> None:
    state.put(state.DECLARE_FROM, ("file", thing.name, thing.data))


def _policy(thing: Recognised) -> None:
    policies.keep(parse_policy(thing.data, thing.name))


def _show_receipt(name: str, data: bytes, key: str) -> None:
    """Draw an expander with counts of what arrived of the file and, if any, what did not."""
    fold = st.expander("What arrived of the file", key=key, on_change="rerun")
    if not fold.open:
        return
    with fold:
        found = _receipt(name, data)
        say.text(found.words)
        tables.table(rule_rows.receipt_counts(found))
        say.text(found.compared)
        if found.missing:
            tables.table(rows.receipt(found))


@memoized(4)
def _receipt(name: str, data: bytes) -> Receipt:
    loaded = [*read_sessions(Source(name, data))]
    return receipt_of_sessions(Source(name, data), loaded)
