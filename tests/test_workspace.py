"""The workspace: what was brought, edited or recorded stays, whoever writes, whatever fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT
from keyed_sessions import Keys
from streamlit.testing.v1 import AppTest
from test_documents import blocks, executed
from test_pages import ask, edit_block, page, payloads, told

import playground as pg
from playground.app.serving import access
from playground.app.shared import shelf
from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import Finding
from playground.cli import main
from playground.nouns.messages import Message, TextPart
from playground.plugins.trials.demo_server import serving
from playground.recordings.append_only_file import interrupted
from playground.recordings.recording import Recording, TextChunk, ToolCallChunk
from playground.sessions.editing import Edit
from playground.sessions.entries import (
    new_entry,
    read_entry,
    read_label,
    with_edits,
    with_recording,
)
from playground.sessions.loading import sample_sessions
from playground.sessions.session import Session
from playground.sessions.workspaces import Folder, Tab, TabShelf, Workspace, free_names, on_disk

KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6
SESSION = Session(title="Tides", messages=(Message("user", (TextPart("High tide?"),)),))
PROMPT = Edit("system prompt", "You keep the harbour.")
BRIEF = Edit("custom instructions", "Be brief.")
ENTRY = new_entry(SESSION, origin="tides.json", findings=[Finding("a", "info", "b", "c")])


@pytest.fixture(params=["folder", "memory"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    if request.param == "memory":
        return Workspace(TabShelf({}), TabShelf({}))
    return Workspace(Folder(tmp_path / "kept"), Folder(tmp_path / "kept" / "trash"))


# an entry


@pytest.mark.parametrize("name", paths.samples())
def test_a_session_comes_back_as_it_was(name: str) -> None:
    session = sample_sessions()[name]
    entry = read_entry(new_entry(session), name)
    assert entry.original == session == entry.session
    assert entry.label.messages == len(session.messages)


def test_a_recording_of_which_nothing_came_is_kept() -> None:
    session = replace(SESSION, recordings=(Recording("one", "xml", chunks=()),))
    assert read_entry(new_entry(session), "one").session == session


def test_edits_and_recordings_come_back_and_the_session_as_it_came_is_not_written_anew() -> None:
    recording = Recording("one", "xml", chunks=(TextChunk("At 07:12."),))
    text = with_recording(with_edits(ENTRY, [PROMPT], [BRIEF]), recording)
    entry = read_entry(text, "tides")
    assert (entry.edits, entry.undone) == ((PROMPT,), (BRIEF,))
    assert entry.session.task.user_agent_prompt == "You keep the harbour."
    assert entry.session.recordings == (recording,) == entry.recordings
    assert entry.original == SESSION
    assert entry.findings == (Finding("a", "info", "b", "c"),)
    assert (entry.label.edits, entry.label.recordings, entry.label.title) == (1, 1, "Tides")
    assert text.split("\n")[2] == ENTRY.split("\n")[2]
    assert with_recording(text, recording) == text
    assert read_label(text.split("\n")[0], "").tools == 0


def test_a_key_in_whatever_field_is_not_kept() -> None:
    keys = Keys()
    text = new_entry(keys.session())
    assert {place for key, place in keys.made.items() if key in text} == set()
    assert len(keys.made) > 50
    label = read_entry(text, "here").label
    assert label.starred == {"anthropic": len(keys.made)}


def test_secrets_are_starred_whatever_pieces_they_came_in_and_counted() -> None:
    chunks = tuple(TextChunk(KEY[start : start + 7]) for start in range(0, len(KEY), 7))
    function = [
        {"name": "f", "arguments": part} for part in ('{"key": "', KEY[:50], KEY[50:], '"}')
    ]
    calls = tuple(ToolCallChunk({"index": 0, "function": each}) for each in function)
    session = Session(
        messages=(Message("user", (TextPart(f"My key is {KEY}."),)),),
        recordings=(Recording("r", "xml", chunks=(*chunks, *calls)),),
    )
    text = new_entry(session)
    text = with_edits(text, [Edit("system prompt", f"Use {KEY}")], [])
    text = with_recording(text, Recording("s", "xml", chunks=chunks))
    entry = read_entry(text, "x")
    shown = entry.session
    joined = "".join(c.text for r in shown.recordings for c in r.chunks if isinstance(c, TextChunk))
    for piece in (text, joined, json.dumps(pg.decode_stream([b""]).usage)):
        assert KEY[20:60] not in piece
    assert KEY[:50] not in text and KEY[50:] not in text
    assert shown.messages[0].text == f"My key is {'*' * len(KEY)}."
    assert shown.task.user_agent_prompt == f"Use {'*' * len(KEY)}"
    assert sum(entry.label.starred.values()) >= 3, entry.label.starred
    again = with_edits(text, [*entry.edits, BRIEF], [])
    assert read_entry(again, "x").label.starred == entry.label.starred
    assert KEY in new_entry(session, scrub=False)


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [
        (
            ENTRY.replace("workspace/1", "workspace/2"),
            "of another version ('playground-workspace/2')",
        ),
        (ENTRY[:-20], "breaks off"),
        (ENTRY[: ENTRY.index("\n") + 1], "breaks off"),
        (ENTRY[:30], "line"),
        ("", "not JSON"),
        ("[1]\n", "not an object"),
        ('{"format": 3}\n', "its format is 3"),
        (
            ENTRY.replace('"findings": [', '"edits": [{"action": "fly"}], "findings": ['),
            "Input should be",
        ),
        (ENTRY.replace('"messages": 1', '"messages": 1, "recordings": 2'), "counts 2 recordings"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(spoiled: str, told: str) -> None:
    with pytest.raises(InputFault) as fault:
        read_entry(spoiled, "x.jsonl")
    assert told in str(fault.value)
    assert str(fault.value).startswith("x.jsonl:") and "\n" not in str(fault.value)


def test_an_entry_is_a_file_like_any_other(home: Path) -> None:
    on_disk().add("tides/of: Brest", with_edits(ENTRY, [PROMPT], []))
    (file,) = (home / "workspace").glob("*.jsonl")
    for given in (file, "workspace:tides/of: Brest"):
        assert pg.load_session(given).task.user_agent_prompt == "You keep the harbour."
    with pytest.raises(InputFault) as fault:
        pg.load_session("workspace:ebb")
    assert "no session of this name; expected one of: tides/of: Brest" in str(fault.value)


# names


@pytest.mark.parametrize(
    "name", ["a/b", "..", ".hidden", "C:\\x", "100 %", "ü", "潮汐", "a\tb", "x" * 300, "潮" * 300]
)
def test_any_name_is_a_files_name_and_comes_back(name: str, tmp_path: Path) -> None:
    workspace = Workspace(Folder(tmp_path), Folder(tmp_path / "trash"))
    there = workspace.add(name, ENTRY)
    assert workspace.names() == [there]
    assert there == name or len(name) == 300 or "\t" in name
    assert [path.parent for path in tmp_path.rglob("*.jsonl")] == [tmp_path]
    second = workspace.add(name, ENTRY)
    assert second.endswith(" (2)")


def test_a_name_of_blanks_is_none() -> None:
    with pytest.raises(InputFault, match="is not a name"):
        next(free_names(" \n"))


# operations, on disk and in memory


def test_sessions_are_renamed_duplicated_removed_and_restored(workspace: Workspace) -> None:
    assert workspace.names() == []
    workspace.add("tides", ENTRY)
    assert workspace.duplicate("tides") == "tides copy"
    assert workspace.rename("tides copy", "ebb ") == "ebb"
    with pytest.raises(InputFault, match="there is a session 'tides' already"):
        workspace.rename("ebb", "tides")
    assert workspace.rename("ebb", "ebb") == "ebb"
    workspace.remove("tides")
    workspace.add("tides", with_edits(ENTRY, [PROMPT], []))
    workspace.remove("tides")
    assert (workspace.names(), workspace.trashed()) == (["ebb"], ["tides", "tides (2)"])
    assert workspace.restore("tides") == "tides"
    assert workspace.entry("tides").edits == ()
    assert workspace.restore("tides (2)") == "tides (2)"
    assert workspace.entry("tides (2)").edits == (PROMPT,)
    workspace.remove("ebb")
    assert (workspace.empty(), workspace.trashed()) == (1, [])
    for act in (workspace.remove, workspace.text, workspace.restore, workspace.duplicate):
        with pytest.raises(UnknownNameError):
            act("none")


def test_only_who_has_seen_a_text_replaces_it(workspace: Workspace) -> None:
    first, second = with_edits(ENTRY, [PROMPT], []), with_edits(ENTRY, [BRIEF], [])
    workspace.add("tides", ENTRY)
    assert workspace.put("tides", ENTRY, first)
    assert not workspace.put("tides", ENTRY, second)
    assert not workspace.put("tides", None, second)
    assert not workspace.put("ebb", ENTRY, second)
    assert workspace.text("tides") == first


def test_of_many_writers_at_once_each_is_kept_once(tmp_path: Path) -> None:
    """Eight threads and two processes add and change one entry's names: nothing is lost."""
    folder = tmp_path / "kept"
    code = (
        "import sys; from pathlib import Path; from playground.sessions.workspaces import *\n"
        "w = Workspace(Folder(Path(sys.argv[1])), Folder(Path(sys.argv[1]) / 't'))\n"
        "text = Path(sys.argv[2]).read_text()\n"
        "for _ in range(10): w.add('tides', text)"
    )
    source = tmp_path / "entry"
    source.write_text(ENTRY)
    command = [sys.executable, "-c", code, str(folder), str(source)]
    others = [subprocess.Popen(command) for _ in range(2)]
    workspace = Workspace(Folder(folder), Folder(folder / "t"))

    def add() -> None:
        for _ in range(3):
            workspace.add("tides", ENTRY)

    threads = [threading.Thread(target=add) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [process.wait() for process in others] == [0, 0]
    assert len(workspace.names()) == 44
    assert {workspace.text(name) for name in workspace.names()} == {ENTRY}
    assert not list(folder.glob(".playground-*"))


# two tabs


@pytest.fixture
def tabs(workspace: Workspace) -> tuple[Tab, Tab]:
    one, two = Tab({}, workspace), Tab({}, workspace)
    one.add("tides", ENTRY)
    two.look("tides")
    return one, two


def edits(tab: Tab, name: str) -> tuple[Edit, ...]:
    text = tab.text(name)
    assert text is not None
    return read_entry(text, name).edits


def act(tab: Tab, edit: Edit) -> str:
    text = tab.text("tides")
    assert text is not None
    return tab.write("tides", with_edits(text, [*read_entry(text, "").edits, edit], []))


def test_one_tab_sees_what_the_other_did(tabs: tuple[Tab, Tab]) -> None:
    one, two = tabs
    assert act(one, PROMPT) == "tides"
    two.look("tides")
    assert act(two, BRIEF) == "tides"
    one.look("tides")
    assert edits(one, "tides") == (PROMPT, BRIEF)
    assert one.notice() is None is two.notice()


@pytest.mark.parametrize(
    ("choice", "kept", "trashed"),
    [
        (
            "forget_notice",  # both are kept
            {"tides": (PROMPT,), "tides (2)": (BRIEF,)},
            {},
        ),
        ("take_the_others", {"tides": (PROMPT,)}, {"tides (2)": (BRIEF,)}),
        ("take_mine", {"tides": (BRIEF,)}, {"tides": (PROMPT,)}),
    ],
)
def test_the_second_writer_chooses_and_nothing_is_lost(
    tabs: tuple[Tab, Tab], choice: str, kept: dict[str, Any], trashed: dict[str, Any]
) -> None:
    one, two = tabs
    act(one, PROMPT)
    assert act(two, BRIEF) == "tides (2)"  # at once: a reload before the choice loses nothing
    notice = two.notice()
    assert notice is not None
    assert (notice.kind, notice.name, notice.other) == ("changed elsewhere", "tides", "tides (2)")
    getattr(two, choice)()
    assert two.notice() is None
    workspace = two.workspace
    assert {name: workspace.entry(name).edits for name in workspace.names()} == kept
    there = {
        name: read_entry(workspace.trash.read(name) or "", "").edits for name in workspace.trashed()
    }
    assert there == trashed
    fresh = Tab({}, workspace)
    assert edits(fresh, "tides") == kept["tides"]


def test_what_was_removed_in_another_tab_lives_on_where_it_is_edited(tabs: tuple[Tab, Tab]) -> None:
    one, two = tabs
    one.remove("tides")
    assert act(two, BRIEF) == "tides"
    two.look("tides")
    assert edits(two, "tides") == (BRIEF,)
    assert two.workspace.trashed() == ["tides"]


def test_a_removed_session_is_taken_back(tabs: tuple[Tab, Tab]) -> None:
    one, _ = tabs
    one.remove("tides")
    notice = one.notice()
    assert notice is not None and (notice.kind, one.names()) == ("removed", [])
    assert one.restore(notice.other) == "tides"
    assert one.names() == ["tides"] and one.notice() is None


def test_the_same_file_is_not_kept_twice(tabs: tuple[Tab, Tab]) -> None:
    one, two = tabs
    assert two.add("tides", ENTRY) == "tides"
    act(one, PROMPT)
    assert two.add("tides", ENTRY) == "tides (2)"


# what the system refuses


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace on a disk of 64 kB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"NO DISK TO FILL: mounting a tmpfs is not permitted ({done.stderr.strip()})")
    yield Workspace(Folder(place), Folder(place / "trash"))
    subprocess.run(["umount", str(place)], check=True)


def test_on_a_full_disk_the_tab_goes_on_and_keeps_later(full: Workspace) -> None:
    tab = Tab({}, full)
    tab.add("tides", ENTRY)
    folder = full.shelf
    assert isinstance(folder, Folder)
    filler = folder.path / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    assert act(tab, PROMPT) == "tides"
    assert "No space left on device" in tab.fault("tides")
    tab.look("tides")  # the next run
    assert edits(tab, "tides") == (PROMPT,)
    assert act(tab, BRIEF) == "tides"
    assert tab.add("another", ENTRY) == "another"
    assert tab.names() == ["another", "tides"]
    assert full.entry("tides").edits == ()  # as it was
    filler.unlink()
    assert tab.keep_again("tides") == "tides"
    assert tab.keep_again("another") == "another"
    assert (tab.fault("tides"), tab.fault("another")) == ("", "")
    assert full.entry("tides").edits == (PROMPT, BRIEF)
    assert full.names() == ["another", "tides"]


@pytest.mark.skipif(os.name == "nt", reason="modes of folders")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    tab = Tab({}, Workspace(Folder(tmp_path / "file" / "w"), Folder(tmp_path / "file" / "t")))
    assert tab.add("tides", ENTRY) == "tides"
    assert "Not a directory" in tab.fault("tides")
    assert tab.names() == ["tides"]
    assert edits(tab, "tides") == ()
    tab.look("tides")
    assert act(tab, PROMPT) == "tides"


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    newer = ENTRY.replace("workspace/1", "workspace/2")
    (tmp_path / "tides.jsonl").write_text(newer)
    tab = Tab({}, Workspace(Folder(tmp_path), Folder(tmp_path / "trash")))
    assert tab.names() == ["tides"]
    assert tab.add("tides", ENTRY) == "tides (2)"
    assert (tmp_path / "tides.jsonl").read_text() == newer
    tab.workspace.remove("tides")
    assert (tmp_path / "trash" / "tides.jsonl").read_text() == newer


# on the command line


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["workspace", *arguments])


def test_the_command_line_has_the_same_operations(home: Path, tmp_path: Path) -> None:
    assert run().stdout == "the workspace is empty\n"
    assert run("add", "02-parallel-calls", "--name", "tides").stdout == "kept: tides\n"
    assert run("add", "workspace:tides", "--name", "tides").stdout == "kept: tides (2)\n"
    (row, _) = json.loads(run("--json").stdout)
    assert (row["name"], row["messages"], row["origin"]) == ("tides", 5, "02-parallel-calls")
    assert "tides (2)" in run().stdout
    assert run("rename", "tides (2)", "ebb").exit_code == 0
    assert run("rename", "ebb", "tides").exit_code == 2
    out = tmp_path / "ebb.json"
    assert run("save", "ebb", "-o", str(out)).exit_code == 0
    assert pg.load_session(out) == sample_sessions()["02-parallel-calls"]
    assert run("save", "ebb").stdout == out.read_text()
    assert run("remove", "ebb").exit_code == 0
    assert run("remove", "ebb").exit_code == 2
    assert run("restore").stdout == "ebb\n"
    assert run("restore", "ebb").stdout == "restored: ebb\n"
    assert run("remove", "ebb").exit_code == 0
    assert run("restore", "--empty").stdout == "deleted for good: 1\n"
    assert CliRunner().invoke(main, ["compare", "workspace:tides"]).exit_code in (0, 1)
    (home / "workspace" / "torn.jsonl").write_text(ENTRY[:40])
    torn = run()
    assert torn.exit_code == 1 and "torn:1" in torn.stderr and "tides" in torn.stdout


def test_the_documents_code_runs(home: Path) -> None:
    on_disk().add("harbour", ENTRY)
    for code in blocks(ROOT / "docs" / "workspace.md", "python"):
        executed(code)


# in the app: each `page` is a tab of its own, and what comes after it a reload


@pytest.fixture
def brought(home: Path) -> str:
    """The name of a session that was brought."""
    return on_disk().add("tides", ENTRY)


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def prompt(app: AppTest, text: str) -> None:
    """What a user does to the system prompt."""
    edit_block(app, "agent", text)


@pytest.mark.parametrize("name", ["tides", "02-parallel-calls"])
def test_a_reload_and_a_link_show_the_edits_and_undo_goes_on(brought: str, name: str) -> None:
    app = page("compare", session=name)
    is_sample = name in paths.samples()
    before = json.dumps(payloads(app)[0]["panes"])
    prompt(app, "You keep the lighthouse.")
    assert "You keep the lighthouse." in json.dumps(payloads(app))
    if is_sample:  # which stays as it is, for every other tab and link
        assert json.dumps(payloads(page("compare", session=name))[0]["panes"]) == before
        name += ", edited"
    assert app.selectbox(key="session").value == name
    assert on_disk().names() == sorted({"tides", name})
    again = page("compare", session=name)
    assert "You keep the lighthouse." in json.dumps(payloads(again))
    again.session_state["workspace menu"] = True
    assert "Edited: system prompt" in told(again.run())
    press(again, "Undo")
    assert "You keep the lighthouse." not in json.dumps(payloads(again))
    third = page("compare", session=name)
    press(third, "Redo")
    assert "You keep the lighthouse." in json.dumps(payloads(third))


def test_a_link_to_what_is_not_there_says_so_and_offers_the_nearest(brought: str) -> None:
    app = page("compare", session="tide")
    assert app.error[0].value == "This link asks for a session that is not here."
    assert "tide" in told(app).splitlines()
    assert all(each.key == "keys" for each in app.get("bidi_component"))  # nothing is shown
    press(app, "Open tides")
    assert app.selectbox(key="session").value == "tides"
    assert "High tide?" in json.dumps(payloads(app))


def test_two_tabs_edit_one_session_and_the_second_is_asked(brought: str) -> None:
    one, two = page("compare", session="tides"), page("compare", session="tides")
    ask(two, do="open", origin="agent", number=7)
    prompt(one, "From the first.")
    ask(two, do="keep", number=7, texts=[["From the second.", False]])
    assert two.selectbox(key="session").value == "tides (2)"
    assert "Another tab changed this session meanwhile." in two.warning[0].value
    assert "From the second." in json.dumps(payloads(two))
    press(two, "Show the other tab's")
    assert two.selectbox(key="session").value == "tides"
    assert "From the first." in json.dumps(payloads(two))
    assert on_disk().trashed() == ["tides (2)"]


def test_a_session_is_renamed_duplicated_deleted_and_taken_back(brought: str) -> None:
    app = page("compare", session="tides")
    app.session_state["workspace menu"] = True
    app.run()
    app.text_input(key="name of tides").set_value("ebb").run()
    assert app.selectbox(key="session").value == "ebb"
    press(app, "Duplicate")
    assert app.selectbox(key="session").value == "ebb copy"
    app.text_input(key="name of ebb copy").set_value("ebb").run()
    assert "there is a session 'ebb' already" in told(app)
    assert app.selectbox(key="session").value == "ebb copy"
    press(app, "Delete")
    assert on_disk().names() == ["ebb"]
    assert app.info[0].value == "Moved into the trash:"
    press(app, "Undo delete")
    assert app.selectbox(key="session").value == "ebb copy"
    assert on_disk().names() == ["ebb", "ebb copy"]


def test_a_file_of_a_newer_version_is_told_in_place_of_the_page(home: Path) -> None:
    place = home / "workspace"
    place.mkdir(parents=True)
    (place / "tides.jsonl").write_text(ENTRY.replace("workspace/1", "workspace/2"))
    app = page("compare", session="tides")
    assert app.error[0].value == "This session cannot be read. Its file is left as it is."
    assert "another version ('playground-workspace/2')" in told(app)
    start = page("start")
    assert "another version ('playground-workspace/2')" in told(start)


def test_served_to_others_nothing_touches_the_disk(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_access", access.Access(public=True))
    on_disk().add("of the user", ENTRY)
    app = page("compare", session="02-parallel-calls")
    prompt(app, f"The key is {KEY}.")
    assert KEY in json.dumps(payloads(app))  # nothing is written, so nothing is starred
    assert "of the user" not in app.selectbox(key="session").options
    assert on_disk().names() == ["of the user"]
    app.session_state["workspace menu"] = True
    app.run()
    said = [caption.value for caption in app.caption]
    assert any("Others use this server, so nothing is kept" in text for text in said)
    again = page("compare", session="02-parallel-calls")
    assert KEY not in json.dumps(payloads(again))


def test_without_a_workspace_nothing_is_kept_and_that_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_access", access.Access(workspace=False))
    app = page("start")
    assert "started with --no-workspace" in told(app)
    app = page("compare", session="02-parallel-calls")
    prompt(app, "Mine.")
    assert "Mine." in json.dumps(payloads(app))
    assert not home.exists()


def test_a_file_of_several_sessions_says_which_one_is_shown() -> None:
    rows = [{"messages": [{"role": "user", "content": f"row {n}"}]} for n in range(3)]
    data = "\n".join(map(json.dumps, rows)).encode()
    app = AppTest.from_function(_with_several, default_timeout=300)
    app.session_state["given"] = data
    app.run()
    assert app.text[0].value.startswith("Session 1 of 3 in one file:")
    next(each for each in app.button if each.label == "Next").click().run()
    assert app.text[0].value.startswith("Session 2 of 3 in one file:")
    assert app.session_state["session"] == "rows 2"


def _with_several() -> None:
    import streamlit as st

    from playground.app import state
    from playground.app.shared import workspace

    if "session" not in st.session_state:
        state.add_file("rows.jsonl", st.session_state["given"])
    workspace.show_sessions_of_file()


def test_start_lists_a_row_each_folds_a_files_sessions_and_names_what_was_interrupted(
    home: Path,
) -> None:
    session = sample_sessions()["02-parallel-calls"]
    kept = on_disk()
    for number in range(1, 9):
        name = "agent" if number == 1 else f"agent {number}"
        kept.add(name, new_entry(session, origin="agent.jsonl"))
    kept.add("agent 99", new_entry(session, origin="pasted"))  # of another file
    paths.recordings().mkdir(parents=True)
    whole = "\n".join(json.dumps(line) for line in (*CUT, {"end": 1.0, "usage": {}}))
    (paths.recordings() / "whole.jsonl").write_text(f"{whole}\n")
    (paths.recordings() / "cut.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in CUT))

    held = len([*Path("/dev/fd").iterdir()])
    assert interrupted(paths.recordings()) == [paths.recordings() / "cut.jsonl"]
    assert len([*Path("/dev/fd").iterdir()]) == held  # the files that were looked into are closed
    (paths.recordings() / "foreign.jsonl").write_text("[1]\n")  # which broke the page
    shelf._draw_interrupted("gone since it was listed.jsonl")
    app = page("start")
    assert "foreign.jsonl" in {text.value for text in app.text}
    (paths.recordings() / "foreign.jsonl").unlink()
    app.run()
    assert rows(app) == ["agent", "agent 99"]
    press(app, "+ 7 of this file")
    assert len(rows(app)) == 9
    app.text_input(key="filter of yours").set_value("agent 3").run()
    assert rows(app) == ["agent 3"]
    assert {"anthropic/claude-sonnet-4-5", "cut.jsonl"} <= {text.value for text in app.text}
    assert "whole.jsonl" not in {text.value for text in app.text}
    press(app, "Replay")
    assert not app.exception
    assert app.selectbox(key="session").value == "cut"
    assert app.warning[0].value.startswith("The recording breaks off here")
    assert "cut.jsonl" not in {text.value for text in page("start").text}


def test_asking_an_interrupted_request_again_sends_it_without_the_reply_to_the_same_model(
    home: Path,
) -> None:
    paths.recordings().mkdir(parents=True)
    closed = {"end": 1.0, "usage": None, "error": {"type": "cut", "message": "it was closed"}}
    head, _, *wire = CUT
    # in a dialect of text, results have no ids
    result = {"role": "tool", "content": "<tool_response>\nhigh\n</tool_response>"}
    asks = [{"role": "user", "content": "hi"}, result]
    sent = {"request": {"model": "m", "messages": asks}, "url": "http://x"}
    with serving() as server:
        head = {**head, "server": f"{server.url}/v1"}
        lines = "".join(f"{json.dumps(line)}\n" for line in (head, sent, *wire, closed))
        (paths.recordings() / "closed.jsonl").write_text(lines)
        app = page("start")
        press(app, "Ask again")
        user, _ = on_disk().entry("closed").session.messages
        assert user.text == "hi"
        assert on_disk().entry("closed").session.task.model_name == "openai/m"
        asked = [app.session_state[key] for key in ("run model", "run server", "dialects")]
        assert asked == ["openai/m", head["server"], ["native"]]
        app.switch_page(str(paths.pages() / "compare.py")).run()
        app.button(key="run").click().run(timeout=120)
    *_, answer = on_disk().entry("closed").session.recordings
    assert answer.dialect == "hermes"
    (path,) = paths.recordings().glob("hermes-*.jsonl")
    assert json.loads(path.read_text().splitlines()[1])["request"]["messages"][1] == result


CUT = (
    {
        "format": "playground-recording/2",
        "name": "a run",
        "dialect": "hermes",
        "model": "openai/m",
        "server": "http://x/v1",
    },
    {"request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}, "url": "http://x"},
    {"t": 0.3, "status": 200},
    {"t": 0.31, "raw": 'data: {"choices": [{"index": 0, "delta": {"content": "Hel"}}]}\n\n'},
)


def rows(app: AppTest) -> list[str]:
    """The names of the sessions in the list, in its order."""
    found = [str(button.key) for button in app.button]
    begin = "workspace delete kept "
    return sorted(key.removeprefix(begin) for key in found if key.startswith(begin))
