"""The view Payload of the page Compare: each provider's HTTP body, and its differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

import streamlit as st

from playground.app import state
from playground.app.shared import components, say, tables, waiting, widgets, workspace
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.base import paths
from playground.base.errors import PlaygroundError
from playground.dialects import get_dialect
from playground.questions.provider_models import PROVIDERS
from playground.questions.provider_payload import ProviderPayload, provider_payload
from playground.sessions.loading import load_session
from playground.sessions.session import Session
from playground.show import payloads, rows
from playground.show.grid import grid

_MESSAGES: Final = "payload messages"
_USUAL: Final = ["OpenAI", "Anthropic"]


def prepare() -> None:
    """Load LiteLLM, and the modules that its first request to each usual provider needs."""
    session = load_session(paths.samples()[state.SHOWN_FIRST])
    for provider in _USUAL:
        provider_payload(session, "native", model=provider, parameters={})


@memoized(32)
def _payload(
    session: Session, dialect: str, provider: str, parameters: dict[str, Any]
) -> Future[ProviderPayload]:
    return waiting.background().submit(
        lambda: provider_payload(session, dialect, model=provider, parameters=parameters)
    )


def show(row: Any) -> None:
    """Show the HTTP body that each provider would get, next to what the dialect rendered."""
    session = state.working_session().session
    with row:
        dialect = widgets.dialect_select("Dialect", "dialect", widgets.model_dialect())
        providers = provider_choice()
        values = parameters()
    if providers:
        side_by_side(session, dialect, providers, values)
    else:
        st.info("Choose a provider above.")


def provider_choice() -> list[str]:
    """Return the providers, or LiteLLM names of models, to which the session would be sent."""
    return st.multiselect(
        "Sent to",
        list(PROVIDERS),
        default=_USUAL,
        key="providers",
        accept_new_options=True,
        select_all=False,
        bind="query-params",
        help="A provider, with a model of its own, or any LiteLLM name.",
    )


def parameters() -> dict[str, Any]:
    """Return the parameters of the request, read as JSON; {} if they cannot be read."""
    text = st.text_input(
        "Parameters",
        key="parameters",
        placeholder='{"temperature": 0.2, "stop": ["</tool_call>"]}',
        bind="query-params",
    )
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        say.text(f"The parameters are not JSON: {error}")
        return {}
    if not isinstance(value, dict):
        st.text("The parameters are not a JSON object.")
        return {}
    return value


def side_by_side(
    session: Session, dialect: str, providers: Sequence[str], parameters: dict[str, Any]
) -> None:
    """Show the rendered request next to each provider's body; LiteLLM loads in the background."""
    futures = {name: _payload(session, dialect, name, parameters) for name in providers}
    if not _are_done(futures):
        _show_until_loaded(session, dialect, futures)
    payloads_by_provider: dict[str, ProviderPayload] = {}
    for name, future in futures.items():
        try:
            payloads_by_provider[name] = future.result()
        except PlaygroundError as fault:
            st.error("This request cannot be written for a provider:")
            say.text(f"{name}: {fault}")
    if payloads_by_provider:
        _show_payloads(payloads_by_provider)


def _are_done(futures: Mapping[str, Future[ProviderPayload]]) -> bool:
    return all(future.done() for future in futures.values())


def _show_until_loaded(
    session: Session, dialect: str, futures: Mapping[str, Future[ProviderPayload]]
) -> None:
    """Show the rendered request alone while LiteLLM loads."""
    place = st.empty()
    with place.container():
        waited = st.container()
        rendering = get_dialect(dialect).render(session.prompt_data())
        pane = payloads.rendered_pane(dialect, rendering)
        components.panes(Picture(grid([pane])), key=f"{_MESSAGES} as rendered")
        with waited:
            waiting.until_loaded(lambda: _are_done(futures))
    place.empty()


def _show_payloads(payloads_by_provider: Mapping[str, ProviderPayload]) -> None:
    found = rows.payload_differences(payloads_by_provider)
    # a narrow screen shows the first two columns
    found = found.only("provider", "message", "where", "code")
    tables.table(found, height="content", columns={"provider": st.column_config.Column(width=90)})
    first = next(iter(payloads_by_provider.values()))
    panes = [
        payloads.rendered_pane(first.dialect, first.rendering),
        *(payloads.payload_pane(name, payload) for name, payload in payloads_by_provider.items()),
    ]
    components.panes(Picture(grid(panes)), key=_MESSAGES)
    st.caption("As LiteLLM's own adapters write it; nothing is sent.")
    for name, payload in payloads_by_provider.items():
        label = f"The body for {workspace.plain(name)}"  # a user may type any name
        with say.expander(label, key=f"body {name}", on_change="rerun") as body:
            if body.open:
                widgets.wire_calls(payload.calls, name)
