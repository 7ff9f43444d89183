"""A name cannot turn the app's own words around: every element of every page is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from google.protobuf.message import Message
from passed_runs import leave_run
from streamlit.testing.v1 import AppTest
from turned_names import TURNED, controls, disorder, session_file, words_of_component

from playground.app.pages import page_entry, parent
from playground.base import paths
from playground.base.wording import visible
from playground.plugins.corpus.building import build_corpus
from playground.sessions.entries import new_entry
from playground.sessions.loading import first_session
from playground.sessions.source import Source
from playground.sessions.workspaces import belongings_on_disk, on_disk

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
POLICY = {"name": "מדיניות שלי", "marks": [{"role": "system"}]}
SET = {TURNED: [{"role": "user", "content": f"Ahoy {{{{.{TURNED}}}}} {TURNED}"}]}
BROUGHT = {
    "number": 0,
    "found": {
        "kind": "session",
        "title": f"a session of {TURNED}: 4 messages",
        "name": TURNED,
        "data": b"",
        "unread": [f"{TURNED}.json:2: not JSON"],
        "messages": 4,
        "recordings": 1,
    },
}
PAGES: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    ("start", {}, {}),
    ("start", {}, {"refused": f"session {TURNED}: 3 of them"}),
    ("compare", {"view": "As sent"}, {"add a part": True, "workspace menu": True}),
    ("compare", {"view": "Counts"}, {"find dialects": True}),
    ("compare", {"view": "Tools"}, {"tool tokens": True, "tool portability": True}),
    ("compare", {"view": "Grammar", "choice": "auto"}, {}),
    ("compare", {"view": "Lines"}, {}),
    ("compare", {"session": f"{TURNED} gone"}, {}),
    ("cache", {"shown": "Strip"}, {"what-if": True, "rules": True}),
    ("cache", {"shown": "Table"}, {"rules": True}),
    ("cache", {"shown": "Compaction"}, {}),
    ("cache", {"shown": "All policies"}, {}),
    ("cache", {"shown": "Payload"}, {}),
    *(
        ("replay", {"listed": view, "columns": columns}, {"export": True})
        for view, columns in (
            ("Text", "xml,hermes,server:vllm,server:ollama"),
            ("Events", "xml"),
            ("Detect", "xml,server:sglang"),
            ("Experiments", "xml"),
        )
    ),
    ("replay", {"as": "xml"}, {}),
    ("payload", {}, {"body anthropic": True}),
    ("raw", {}, {}),
    ("raw", {"format": "A chat template"}, {}),
    ("raw", {"format": "A chat template"}, {"template view": "Audit"}),
    ("declare", {}, {"nearest": True, "whole file": True}),
    ("declare", {"start": "A chat template"}, {}),
    ("formats", {}, {}),
    ("formats", {"templates": visible(TURNED)}, {"new history": True}),
    ("prompts", {}, {"tool views": True, "prompt template": f"Say {{{TURNED}}}"}),
    ("signatures", {"signature": f"{TURNED} -> "}, {}),
    ("signatures", {"signature": "question -> answer: int"}, {"signature view": "Answer"}),
    ("guide", {"guide": "hermes", "guide_view": "Grammar"}, {}),
    ("guide", {"guide": "hermes"}, {}),
    ("dialects", {}, {}),
    ("values", {}, {}),
    ("trials", {}, {}),
    ("trials", {}, {"trial view": "Live"}),
    *(("diff", {"view": view}, {}) for view in ("Changed", "All blocks", "Table")),
    ("live", {}, {}),
    ("corpus", {}, {}),
    ("questions", {}, {}),
]


@pytest.fixture(autouse=True)
def workspace(home: Path, tmp_path: Path) -> None:
    """A workspace in which everything has such a name."""
    text = session_file(tmp_path).read_text()
    loaded = first_session(Source(f"{TURNED}.json", text.encode()))
    entry = new_entry(loaded.session, origin=TURNED, findings=loaded.findings)
    on_disk().add(TURNED, entry)
    on_disk().add(f"{TURNED} trashed", entry)
    on_disk().remove(f"{TURNED} trashed")
    kept = belongings_on_disk()
    kept.change("chat template", lambda _: [f"{TURNED}.jinja", TEMPLATE])
    kept.change("policies", lambda _: {POLICY["name"]: json.dumps(POLICY)})
    kept.change("own template sets", lambda _: {TURNED: yaml.safe_dump(SET)})
    leave_run(home, TURNED)


def shown(name: str, parameters: dict[str, str], held: dict[str, Any]) -> AppTest:
    if parent(entry := page_entry(name)) is not entry:
        parameters = {"view": entry.view, **parameters}
    app = AppTest.from_file(str(paths.app_file()), default_timeout=300)
    for key, value in {"session": visible(TURNED), **parameters}.items():
        app.query_params[key] = value
    app.run()
    assert parameters.get("session") or app.selectbox(key="session").value == TURNED
    for key, value in held.items():
        app.session_state[key] = value
    if name != "start":
        app.switch_page(str(paths.pages() / f"{parent(page_entry(name)).name}.py"))
    app.run()
    assert not app.exception
    return app


def nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from nodes(child)


# of an element: ids; what a user types and copies; what is looked at in another way below
IDS = {
    "js_content",
    "css_content",
    "id",
    "form_id",
    "query_param_key",
    "url",
    "page_script_hash",
    "component_name",
    "key",
}
COPIED = {("text_area", "default"), ("text_area", "value"), ("text_input", "default")}
COPIED |= {("text_input", "value"), ("text_input", "placeholder")}
ELSEWHERE = {("bidi_component", "json"), ("plotly_chart", "spec"), ("plotly_chart", "config")}
ALONE = {"options", "raw_value", "raw_values", "default", "value", "content"}  # choices


def strings(message: Message) -> Iterator[tuple[str, str]]:
    """The texts of an element by the field that has them, of what is within it too."""
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        for each in values:
            if isinstance(each, Message):
                yield from strings(each)
            elif isinstance(each, str):
                yield field.name, each


def wrong_of(app: AppTest) -> tuple[list[str], int]:
    """What is wrong with an element, and how many texts there were to look at."""
    wrong, count = [], 0
    for node in nodes(app._tree):
        kind, proto = getattr(node, "type", ""), getattr(node, "proto", None)
        if not isinstance(proto, Message):
            continue
        for field, text in strings(proto):
            if field in IDS or (kind, field) in COPIED | ELSEWHERE:
                continue
            count += "202e" in text or "\u202e" in text
            look = controls if field in ALONE else disorder
            wrong += [f"{kind}.{field}: {line}" for line in look(text)]
        if kind == "bidi_component":
            count += "202e" in proto.json
            wrong += [f"component: {line}" for line in words_of_component(json.loads(proto.json))]
        if kind == "arrow_data_frame":
            cells = [text for text in _cells(node.value)]
            count += any("202e" in text for text in cells)
            wrong += [f"table: {line}" for text in cells for line in disorder(text)]
        if kind == "plotly_chart":
            wrong += [f"figure: {line}" for line in controls(json.dumps(json.loads(proto.spec)))]
    return wrong, count


def _cells(frame: pd.DataFrame) -> Iterator[str]:
    yield from map(str, frame.columns)
    for _, column in frame.items():
        yield from (each for each in column if isinstance(each, str))
        yield from (one for each in column if isinstance(each, list) for one in map(str, each))


def test_a_session_of_such_a_name_is_found_by_both_forms_of_a_link() -> None:
    for link in (TURNED, visible(TURNED)):
        for page in ("start", "compare"):
            app = shown(page, {"session": link}, {})
            assert app.selectbox(key="session").value == TURNED
    app.run()
    assert app.selectbox(key="session").value == TURNED


def test_a_corpus_of_such_sessions_keeps_the_order_of_its_words(tmp_path: Path) -> None:
    place = tmp_path / "corpus of גשר"
    build_corpus(place, [session_file(tmp_path)], engine="serial")
    for question in ("sessions", "tools", "shapes", "failures"):
        app = shown("corpus", {"corpus": str(place), "asks": question}, {})
        wrong, count = wrong_of(app)
        assert wrong == []
        assert count >= 5, question


NAMES = [
    f"{number} {name} {' '.join(map(str, [*given.values(), *held]))}"
    for number, (name, given, held) in enumerate(PAGES)
]


@pytest.mark.parametrize(("name", "given", "held"), PAGES, ids=map(ascii, NAMES))
def test_every_element_of_a_page_keeps_the_order_of_its_words(
    name: str, given: dict[str, str], held: dict[str, Any]
) -> None:
    app = shown(name, given, held)
    wrong, count = wrong_of(app)

    assert wrong == []
    assert count >= 3  # as the bar does
