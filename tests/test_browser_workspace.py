"""The workspace in a real browser: reloads, links, two tabs, a full disk, a public server."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from serving import App, served
from test_browser_jobs import BODY, button

pytestmark = pytest.mark.browser

expect.set_options(timeout=12_000)


@pytest.fixture(scope="module")
def address(app: App) -> str:
    return app.emptied()


def bring(page: Page, address: str) -> None:
    """A request is pasted, and becomes a session."""
    page.goto(address)
    page.get_by_label("Paste anything").first.click()
    page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps(BODY))
    page.keyboard.press("Control+v")
    button(page, "New session").click()
    expect(pane(page)).to_contain_text("You keep the harbour.")
    expect(page).to_have_url(re.compile("session=pasted"))  # it comes a moment later


def pane(page: Page) -> Locator:
    """The requests side by side, as far as they are in sight."""
    return page.locator(".panes").first


def prompt(page: Page) -> Locator:
    """The box of the system prompt, opened."""
    field = page.get_by_role("textbox", name="system prompt")
    if not field.count():
        page.locator(".block[data-origin='message:0']").first.click()
    expect(field).to_be_visible()
    return field


def edit(page: Page, text: str) -> None:
    field = prompt(page)
    field.fill(text)
    field.press("Control+Enter")
    expect(pane(page)).to_contain_text(text)


def test_a_reload_a_link_and_a_new_tab_restore_what_was_edited(page: Page, address: str) -> None:
    bring(page, address)
    edit(page, "You keep the lighthouse.")
    page.reload()
    expect(pane(page)).to_contain_text("You keep the lighthouse.")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    expect(pane(other)).to_contain_text("You keep the lighthouse.")
    button(other, "Undo").click()
    expect(pane(other)).to_contain_text("You keep the harbour.")
    other.goto(f"{address}/start")
    kept = other.locator("[class*=st-key-kept]").first
    expect(kept).to_contain_text("pasted OpenAI request")
    kept.get_by_role("link").click()
    expect(pane(other)).to_contain_text("You keep the harbour.")


def test_two_clicks_on_one_place_undo_two_edits(page: Page, address: str) -> None:
    """Redo appeared where Undo had been, and the second click undid the first one."""
    bring(page, address)
    places = [
        page.get_by_role("combobox", name="Session"),
        *(button(page, name) for name in ("Undo", "Redo", "Import")),
    ]
    at_first = [place.bounding_box() for place in places]
    edit(page, "You keep the lighthouse.")
    expect(page.locator(".editing")).to_have_count(0)  # its box closes a moment later
    edit(page, "You keep the ferry.")
    expect(page.locator(".editing")).to_have_count(0)
    assert [place.bounding_box() for place in places] == at_first
    undo = at_first[1]
    assert undo
    for text in ("You keep the lighthouse.", "You keep the harbour."):
        page.mouse.click(undo["x"] + undo["width"] / 2, undo["y"] + undo["height"] / 2)
        expect(pane(page)).to_contain_text(text)
    assert [place.bounding_box() for place in places] == at_first
    button(page, "Redo").click()
    expect(pane(page)).to_contain_text("You keep the lighthouse.")


def test_a_reload_brings_back_what_was_typed_and_a_refused_name_goes(
    page: Page, address: str
) -> None:
    """The editor was not left: the app has never heard of the text."""
    bring(page, address)
    prompt(page).fill("Now you keep the harbour.")
    page.reload()
    typed = page.get_by_role("textbox", name="system prompt")
    expect(typed).to_have_value("Now you keep the harbour.")
    expect(typed).to_be_focused()
    expect(typed).to_have_css("font-family", re.compile("monospace"))
    typed.press("Control+Enter")
    expect(pane(page)).to_contain_text("Now you keep the harbour.")
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.evaluate(
        "sessionStorage.setItem('playground draft in place', '{')"
    )  # torn by whatever else
    page.reload()
    expect(pane(page)).to_contain_text("Now you keep the harbour.")
    expect(page.locator(".editing")).to_have_count(0)
    assert not faults
    page.get_by_role("button", name="This session").click()
    field = page.get_by_role("textbox", name="Name").first  # the refused one goes a moment later
    field.fill("01-plain-chat")
    field.press("Enter")
    expect(page.get_by_text("This could not be done.")).to_be_visible()
    expect(field).to_have_value(re.compile("^pasted OpenAI request"))


def test_two_tabs_edit_one_session_and_nothing_is_lost(page: Page, address: str) -> None:
    one, two = page, page.context.new_page()
    bring(one, address)
    two.goto(one.url)
    expect(pane(two)).to_contain_text("You keep")
    prompt(two)
    edit(one, "From the first tab.")
    expect(button(one, "Undo")).to_be_enabled()  # a draft is shown before it is kept
    edit(two, "From the second tab.")
    expect(two.get_by_text("Another tab changed this session meanwhile.")).to_be_visible()
    expect(two).to_have_url(re.compile(r"session=pasted\+OpenAI\+request.*%282%29"))
    two.reload()  # before the choice
    expect(pane(two)).to_contain_text("From the second tab.")
    one.reload()
    expect(pane(one)).to_contain_text("From the first tab.")


def test_a_link_to_what_was_deleted_offers_it_again(page: Page, address: str) -> None:
    bring(page, address)
    link = page.url
    page.get_by_role("button", name="This session").click()
    button(page, "Delete").click()
    expect(page.get_by_text("Moved into the trash:")).to_be_visible()
    page.goto(link)
    expect(page.get_by_text("This link asks for a session that is not here.")).to_be_visible()
    expect(page.locator(".panes")).to_have_count(0)
    button(page, "Take it out of the trash").click()
    expect(pane(page)).to_contain_text("You keep")
    page.goto(f"{address}/compare?session=02-paralel-cals")
    button(page, "Open 02-parallel-calls").click()
    expect(pane(page)).to_contain_text("How to call a tool")


@pytest.mark.long
def test_a_full_disk_is_one_line_and_the_app_goes_on(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(home)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("NO DISK TO FILL: mounting a tmpfs is not permitted")
    try:
        with served(tmp_path) as url:
            bring(page, url)
            with (home / "filler").open("wb", buffering=0) as file, suppress(OSError):
                while file.write(b"x" * 4096):
                    pass
            edit(page, "You keep the lighthouse.")
            expect(page.get_by_text("Not saved: it is stored in this tab only.")).to_be_visible()
            expect(page.get_by_text("No space left on device")).to_be_visible()
            edit(page, "You keep the ferry.")
            (home / "filler").unlink()
            button(page, "Try again").click()
            expect(page.get_by_text("Not kept")).to_have_count(0)
            page.reload()
            expect(pane(page)).to_contain_text("You keep the ferry.")
    finally:
        subprocess.run(["umount", str(home)], check=True)


@pytest.mark.long
def test_a_visitor_of_a_public_server_is_told_that_nothing_is_kept(
    page: Page, tmp_path: Path
) -> None:
    with served(tmp_path, "--public") as url:
        bring(page, url)
        edit(page, "You keep the lighthouse.")
        page.get_by_role("button", name="This session").click()
        expect(page.get_by_text("Others use this server, so nothing is kept")).to_be_visible()
        link = page.url
        page.goto(link)
        expect(page.get_by_text("This link asks for a session that is not here.")).to_be_visible()
        assert not (tmp_path / "home").exists()
