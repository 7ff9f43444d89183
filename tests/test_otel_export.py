"""Sessions as OpenTelemetry's spans, there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import terminals
from session_examples import EXAMPLES
from test_importing import on_disk

import playground as pg
from playground.cache.usage import billed_of, output_of
from playground.plugins.importers.otel_export import dump_otel
from playground.sessions.loading import first_session, load_sessions
from playground.sessions.session import Session
from playground.sessions.source import Source


def there_and_back(session: Session) -> Session:
    again = first_session(Source("x.json", dump_otel(session).encode()))
    assert again.format == "otel-spans"
    return again.session


def assert_same(session: Session, again: Session) -> None:
    """Nothing is lost: messages, tools, bills, models, times; the agent's prompt is a message."""
    prompt = session.task.user_agent_prompt
    first = [("system", prompt)] if prompt else []
    expected = [*first, *((m.role, m.parts) for m in session.messages)]
    found = [(m.role, m.parts) for m in again.messages]
    assert [("system", found[0][1][0].text), *found[1:]] == expected if first else found == expected
    assert again.tools == session.tools
    bills = [r for r in session.requests if r.usage]
    assert [billed_of(r.usage) for r in again.requests if r.usage] == [
        billed_of(r.usage) for r in bills
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_goes_there_and_back(name: str, tmp_path: Path) -> None:
    session = next(iter(load_sessions(on_disk(EXAMPLES[name], tmp_path)))).session
    assert_same(session, there_and_back(session))


@pytest.mark.parametrize("name", pg.sample_sessions())
def test_samples_go_there_and_back(name: str) -> None:
    session = pg.sample_sessions()[name]
    assert_same(session, there_and_back(session))
