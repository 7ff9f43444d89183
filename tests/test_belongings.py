"""What a user keeps beside the sessions: favourites, policies, templates and drafts."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from test_pages import editor, page, press, table, told, unfold, uploader

import playground as pg
from playground.app.serving import access
from playground.base import paths
from playground.base.errors import InputFault
from playground.dialects.files import plain_dialect
from playground.plugins.own_dialects.storage import (
    keep_dialect,
    remove_dialect,
    restore_dialect,
)
from playground.sessions.workspaces import Belongings, Folder, TabShelf, belongings_on_disk
from playground.sessions.workspaces.dialects import dialect_file, kept_text

SET = b"mine:\n- {role: user, content: 'Ahoy {{.name}}'}\n"


def own() -> dict[str, str]:
    folder = paths.workspace() / "own"
    return {paths.name_of(path.name): path.read_text() for path in folder.glob("*.jsonl")}


def test_a_value_is_changed_by_who_has_seen_it_and_others_changes_are_seen(tmp_path: Path) -> None:
    kept = Belongings(Folder(tmp_path))

    def add(key: str) -> None:
        kept.change("p", lambda before: {**(before or {}), key: 1})

    def write(worker: int) -> None:
        for number in range(20):
            add(f"{worker}.{number}")

    workers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert len(kept.value("p")) == 80
    kept.change("p", lambda _: None)
    assert kept.value("p") is None
    assert not [*tmp_path.glob("*.jsonl")]


def test_secrets_are_starred_on_a_disk_and_a_torn_file_is_left_as_it_is(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6
    kept = Belongings(Folder(tmp_path))
    draft = f'{{"tools": "{key}'
    kept.change("drafts", lambda _: {"tools": draft})
    assert key not in (tmp_path / "drafts.jsonl").read_text()
    assert len(kept.value("drafts")["tools"]) == len(draft)
    in_tab = Belongings(TabShelf({}), scrub=False)
    in_tab.change("drafts", lambda _: key)
    assert in_tab.value("drafts") == key
    (tmp_path / "torn.jsonl").write_text('{"a": ')
    with pytest.raises(InputFault, match="not JSON"):
        kept.change("torn", lambda _: 1)
    assert (tmp_path / "torn.jsonl").read_text() == '{"a": '


def test_favourites_and_a_policy_are_there_in_another_tab() -> None:
    app = page("compare", session="02-parallel-calls")
    app.multiselect(key="dialects").set_value(["gemma4", "json"]).run()
    app.session_state["find dialects"] = True
    app.run()
    press(app, "Make the chosen ones favourites")
    app = page("cache", session="12-long-tool-run", shown="All policies")
    unfold(app, "what-if")
    uploader(app, "A policy of your own").upload(
        "own.json", b'{"name": "mine", "marks": [{"role": "tool"}]}'
    ).run()

    assert page("compare").multiselect(key="dialects").options[:2] == ["gemma4", "json"]
    other = page("cache", session="12-long-tool-run", shown="All policies")
    unfold(other, "all figures", "what-if")
    assert "mine" in set(table(other, "refused because")["policy"])
    press(other, "Remove")
    assert "mine" not in set(table(other, "refused because")["policy"])
    assert list(own()) == ["favourite dialects"]


def test_templates_and_drafts_are_there_in_another_tab() -> None:
    app = page("raw", format="A chat template")
    uploader(app, "Chat template").upload("mine.jinja", b"{{ messages[0].content }}").run()
    app = page("formats")
    uploader(app, "Upload a set").upload("mine.yaml", SET).run()
    assert app.selectbox(key="templates").value == "mine.yaml"
    editor(app, "input of mine.yaml").set_value('{"name": "Mona"}').run()

    assert "mine.jinja" in told(page("raw", format="A chat template"))
    other = page("formats", templates="mine.yaml")
    assert editor(other, "input of mine.yaml").value == '{"name": "Mona"}'
    assert "Ahoy Mona" in " ".join(map(str, other.dataframe[0].value["text"]))
    press(other, "Discard the edits of this set")
    assert editor(other, "input of mine.yaml").value != '{"name": "Mona"}'
    press(other, "Remove this set")
    assert "mine.yaml" not in other.selectbox(key="templates").options
    assert list(own()) == ["chat template"]


def test_an_unread_edit_outlasts_its_tab() -> None:
    app = page("trials", session="02-parallel-calls")
    editor = "edit 02-parallel-calls expected calls"
    app.text_area(key=editor).set_value("[{").run()
    other = page("trials", session="02-parallel-calls")
    assert other.text_area(key=editor).value == "[{"
    assert "expected:1" in told(other)


def test_nothing_is_kept_without_a_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_access", access.Access(workspace=False))
    app = page("raw", format="A chat template")
    uploader(app, "Chat template").upload("mine.jinja", b"{{ messages[0].content }}").run()
    assert "mine.jinja" in told(app)
    assert "mine.jinja" not in told(page("raw", format="A chat template"))
    assert own() == {}


def test_where_the_disk_refuses_the_tab_keeps_it_and_says_so() -> None:
    paths.workspace().mkdir(parents=True)
    (paths.workspace() / "own").write_text("no folder")
    app = page("raw", format="A chat template")
    uploader(app, "Chat template").upload("mine.jinja", b"{{ messages[0].content }}").run()
    assert "It is stored in this tab only." in told(app)
    app.run()
    assert "mine.jinja" in told(app)
    with pytest.raises(InputFault):
        belongings_on_disk().change("x", lambda _: json.loads("1"))


def test_what_cannot_be_read_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dialect that is no UTF-8 ended the page, and who reads was told to write elsewhere."""
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    file = dialect_file("tide")
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"name": "\xff"}')
    with pytest.raises(InputFault, match="byte 0xff is not UTF-8"):
        kept_text("tide")
    folder = Folder(tmp_path / "shelf")
    (folder.path / paths.file_of("tide")).mkdir(parents=True)
    for read in (folder.read, folder.first_line):
        with pytest.raises(InputFault, match="expected a file that can be read"):
            read("tide")


def test_a_dialect_that_goes_to_the_trash_takes_no_earlier_one_away(home: Path) -> None:
    declared = {**plain_dialect(pg.get_dialect("hermes")), "name": "pier"}
    for title in ("first", "second", "third"):
        remove_dialect("pier", keep_dialect({**declared, "title": title}))
    trash = dialect_file("pier").parent / "trash"
    titles = {json.loads(file.read_text())["title"] for file in trash.iterdir()}
    assert titles == {"first", "second", "third"}
    assert json.loads(restore_dialect("pier"))["title"] == "third"
