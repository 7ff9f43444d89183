"""The Own dialect page: a declaration typed, what it does beside it, and its file in every page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from serving import App
from slow_line import SlowLine
from streamlit.testing.v1 import AppTest
from test_pages import figures, page, verbatim

import playground as pg
from playground.app import state
from playground.questions.recognition import recognise

TEMPLATE = """
{%- for message in messages %}{{ '<|turn|>' + message.role + '\\n' }}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{{- '<do>' + ({'tool': call.function.name, 'with': call.function.arguments} | tojson) + '</do>' }}
{%- endfor %}{%- else %}{{ message.content }}{%- endif %}{{ '<|over|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|turn|>assistant\\n' }}{%- endif %}
"""


def said(app: AppTest) -> str:
    return "\n".join(text.value for text in app.text)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def test_a_declaration_is_typed_and_what_it_does_is_shown() -> None:
    app = page("declare", session="02-parallel-calls")
    assert figures(app) == "7 of 7 round-trip checks hold\n64 of 64 difficult values arrive"
    assert verbatim(app)[0].startswith('<call>{"name": "get_weather"')
    app.text_area(key="own 0 syntax.call").set_value("<do {name}>{params}</do>").run()
    assert app.error[0].value.startswith("This cannot be read; the rest of the page uses")
    assert "field syntax.call" not in said(app)
    assert "field syntax.param: '<do {name}>{params}</do>' has {params}, but" in said(app)
    assert verbatim(app)[0].startswith('<call>{"name": "get_weather"')  # the last readable one
    app.text_area(key="own 0 syntax.param").set_value("{key}={value};").run()
    assert verbatim(app)[0].startswith("<do get_weather>city=Brest, France;unit=celsius;</do>")
    assert 'get_weather {"city": "Brest, France", "unit": "celsius"}' in said(app)
    assert "6 of 7 round-trip checks hold" in figures(app)
    assert [error.value for error in app.error] == ["Law 3 is broken. The smallest example:"]
    assert any("<do write_file>path=;;content=;</do>" in text for text in verbatim(app))
    # another tab goes on with it
    again = page("declare", session="02-parallel-calls")
    assert again.text_area(key="own 0 syntax.param").value == "{key}={value};"


def test_where_the_grammar_differs_is_said_beside_it() -> None:
    app = page("declare", session="02-parallel-calls")
    assert any(
        "in the grammar, compared with the tools' schemas" in box.label for box in app.expander
    )


def test_an_audit_says_what_each_fault_means_the_worst_first() -> None:
    app = page("raw", format="A chat template")
    app.file_uploader[0].set_value([("mine.jinja", TEMPLATE.encode(), "text/plain")]).run()
    app.session_state["template view"] = "Audit"
    app.run()
    assert not app.exception
    labels = [box.label for box in app.expander]
    assert "warning: a text next to calls is not written" in labels
    kinds = [label.partition(":")[0] for label in labels if label.startswith(("warning", "info"))]
    assert kinds == sorted(kinds, reverse=True)
    assert "template-drops-text: " in said(app)


def test_every_field_of_the_file_can_be_changed() -> None:
    app = page("declare", session="02-parallel-calls")
    app.text_input(key="own 0 reasoning.open").set_value("<r>").run()
    app.text_input(key="own 0 reasoning.close").set_value("</r>").run()
    app.text_area(key="own 0 stops").set_value("<|a|>\n<|b|>").run()
    app.text_area(key="own reply 2544540112").set_value("<r>hm</r>ok<|b|>").run()
    assert "0 calls, 2 characters left as text." in said(app)
    frame = next(f.value for f in app.dataframe if "event" in f.value.columns)
    assert list(frame["event"]) == ["markup", "reasoning", "markup", "text", "markup"]


def test_it_starts_from_a_registered_one_and_goes_back() -> None:
    app = page("declare", session="02-parallel-calls")
    app.selectbox(key="started dialect").set_value("react").run()
    press(app, "Start from it")
    assert app.text_input(key="own 1 name").value == "my-react"
    assert verbatim(app)[0].startswith("Action: get_weather\n")
    press(app, "Back to what was here")
    assert app.text_input(key="own 2 name").value == "mine"


def test_it_starts_from_what_another_page_chose() -> None:
    app = page("declare", session="02-parallel-calls")
    document = {"name": "quay", "rules": "Call:", "syntax": {"call": "<quay>{call:json}</quay>"}}
    file = ("file", "quay.json", json.dumps(document).encode())
    for start, name in ((("dialect", "react", b""), "my-react"), (file, "quay")):
        app.session_state[state.DECLARE_FROM] = start
        app.run()
        assert [box.value for box in app.text_input if box.label == "Name"] == [name]
    app.run()  # it started once, so that edits stay
    assert verbatim(app)[0].startswith("<quay>")
    assert [box.key for box in app.text_input if box.label == "Name"] == ["own 2 name"]


def test_what_is_saved_is_a_dialect_of_every_page(home: Path) -> None:
    app = page("declare", session="02-parallel-calls")
    app.text_input(key="own 0 name").set_value("hermes").run()
    press(app, "Save in the workspace")
    assert "another dialect is called 'hermes' already" in said(app)
    app.text_input(key="own 0 name").set_value("harbour").run()
    press(app, "Save in the workspace")
    assert "Saved: harbour is among the dialects of every page and command." in said(app)
    file = home / "workspace" / "dialects" / "harbour.json"
    assert json.loads(file.read_text())["syntax"] == {"call": "<call>{call:json}</call>"}
    assert pg.dialect_names()[-1] == "harbour"
    shown = page("compare", session="02-parallel-calls", dialects="harbour")
    assert shown.multiselect(key="dialects").value == ["harbour"]
    # saved again, it is another form of the same name in every answer
    app.text_area(key="own 0 syntax.call").set_value("<tool>{call:json}</tool>").run()
    press(app, "Save again")
    assert pg.get_dialect("harbour").format_example("f", {}).startswith("<tool>")
    # another program has changed it meanwhile
    file.write_text(file.read_text().replace("<tool>", "<other>"))
    app.text_area(key="own 0 rules").set_value("Other rules.").run()
    press(app, "Save again")
    assert "harbour.json was changed elsewhere" in said(app)
    assert "<other>" in file.read_text()


def test_what_is_kept_is_removed_and_brought_back(home: Path) -> None:
    app = page("declare", session="02-parallel-calls")
    app.text_input(key="own 0 name").set_value("harbour").run()
    assert "Delete" not in [button.label for button in app.button]
    press(app, "Save in the workspace")
    press(app, "Delete")
    assert "Removed: no page or command has the dialect harbour now." in said(app)
    assert "harbour" not in pg.dialect_names()
    assert app.text_input(key="own 0 name").value == "harbour"
    press(app, "Undo delete")
    assert "Brought back: harbour is among the dialects" in said(app)
    assert "harbour" in pg.dialect_names()
    # another has written it meanwhile
    (home / "workspace" / "dialects" / "harbour.json").write_text(json.dumps({"name": "harbour"}))
    press(app, "Delete")
    assert "harbour.json was changed or removed elsewhere" in said(app)
    assert (home / "workspace" / "dialects" / "harbour.json").exists()


def test_three_replies_propose_a_form_and_what_it_leaves_is_shown() -> None:
    app = page("declare", session="02-parallel-calls", start="Replies")
    replies = [
        "I look.\n~> get_tides [port]Brest[/port][day]monday[/day] <~",
        "~> sail [to]Oslo[/to] <~ ~> moor [quay]3[/quay] <~",
        "~> get_tides [port]Oslo[/port] <~\nAnd <|odd|> here.",
    ]
    press(app, "Propose a form")
    assert "there is no reply" in said(app)
    for number, reply in enumerate(replies, 1):
        app.text_area(key=f"own pasted {number}").set_value(reply).run()
    press(app, "Propose a form")
    assert app.text_area(key="own 1 syntax.call").value == "~> {name} {params} <~"
    assert "Reply 2: 2 calls, 0 characters left as text." in said(app)
    assert "not explained: 'And <|odd|> here.'" in said(app)


def test_a_chat_template_that_is_brought_starts_a_declaration() -> None:
    app = page("declare", session="02-parallel-calls", start="A chat template")
    data = TEMPLATE.encode()
    app.file_uploader(key="own template").set_value([("mine.jinja", data, "text/plain")]).run()
    assert not app.exception
    assert app.text_area(key="own 1 syntax.call").value == "<do>{call:json}</do>"
    assert "7 of 7 round-trip checks hold" in figures(app)
    assert "mine.jinja: 32 of 32 calls of the template are read back, 32 written" in said(app)
    assert "rules and its list of tools are replaced by this project's own words" in said(app)
    app.file_uploader(key="own template").set_value([("bad.jinja", b"{% if %}", "")]).run()
    assert app.error[0].value.startswith("That did not work; the declaration is unchanged.")


def test_bring_knows_a_dialects_file_and_what_is_wrong_with_one() -> None:
    hermes = pg.dump_dialect(pg.get_dialect("hermes"))
    found = recognise(hermes)
    assert (found.kind, found.title[:17]) == ("dialect", "dialect hermes: a")
    broken = recognise(hermes.replace("{call:json}", "{call}", 1))
    assert broken.kind == "nothing"
    assert "field syntax.call" in broken.unread[0]


@pytest.fixture
def browser_page(browser: Browser, app: App) -> Page:
    size: ViewportSize = {"width": 1440, "height": 900}
    shown = browser.new_page(base_url=app.emptied(), viewport=size)
    shown.set_default_timeout(60_000)
    return shown


@pytest.mark.browser
def test_a_dialect_is_made_with_mouse_and_keyboard(browser_page: Page, app: App) -> None:
    """From a template in the clipboard to a saved dialect that Compare shows; who saves at once
    saves what was typed."""
    line = SlowLine(browser_page)
    wait = expect
    wait.set_options(timeout=60_000)
    browser_page.goto("/compare?session=02-parallel-calls")
    browser_page.get_by_role("button", name="Import").click()
    box = browser_page.get_by_role("dialog").get_by_label("Paste anything")
    wait(box).to_be_focused()
    browser_page.keyboard.insert_text(TEMPLATE)
    browser_page.get_by_role("button", name="Derive a dialect").click()
    wait(browser_page.get_by_role("heading", name="Dialects", level=1)).to_be_visible()
    call = browser_page.get_by_label("A call", exact=True)
    wait(call).to_have_value("<do>{call:json}</do>")
    checks = browser_page.locator(".figures div", has_text="round-trip checks hold")
    wait(checks).to_contain_text("7 of 7")
    call.fill("<do>{call:jsn}</do>")
    call.press("Control+Enter")
    wait(browser_page.get_by_text("has {call:jsn} at character 4", exact=False)).to_be_visible()
    call.fill("<do>\n{call:json}\n</do>")
    call.press("Control+Enter")
    wait(browser_page.get_by_text("cannot be read", exact=False)).to_have_count(0)
    name = browser_page.get_by_label("Name", exact=True)
    name.fill("harbour")
    line.hold()
    name.press("Enter")
    browser_page.get_by_role("button", name="Save in the workspace").click()  # the one before
    browser_page.wait_for_timeout(500)
    line.release()
    wait(browser_page.get_by_text("Saved: harbour", exact=False)).to_be_visible()
    file = app.folder / "home" / "workspace" / "dialects" / "harbour.json"
    assert json.loads(file.read_text())["syntax"]["call"] == "<do>\n{call:json}\n</do>"
    browser_page.goto("/compare?session=02-parallel-calls&dialects=harbour")
    wait(browser_page.get_by_text("harbour").first).to_be_visible()
