"""What is written is whole or not there: real files, links, full and read-only disks, signals.

By the command line, since it is what users lose files with.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

import playground as pg
from playground.base import output
from playground.base.errors import InputFault
from playground.base.locks import lock_file
from playground.base.output import Batch, write_file
from playground.cli import main

PLAIN = ROOT / "sample_sessions" / "01-plain-chat.json"


def run(*arguments: str, cwd: Path | None = None) -> Result:
    with chdir(cwd or Path.cwd()):
        return CliRunner().invoke(main, arguments)


def sessions_file(path: Path, *more: str, count: int = 3) -> Path:
    """A file of lines: `count` sessions, then what else is given."""
    text = PLAIN.read_text()
    lines = [json.dumps(json.loads(text) | {"title": f"s{n}"}) for n in range(count)]
    path.write_text("\n".join([*lines, *more]) + "\n")
    return path


WRITERS: dict[str, list[str]] = {  # each with -o after it
    "import": ["import", str(PLAIN)],
    "import lines": ["import", "many.jsonl"],
    "export pytest": ["export", "answer.json", "--to", "pytest"],
    "export html": ["export", "answer.json", "--to", "html"],
    "guide": ["guide", "hermes"],
    "template run": ["template", "run", "TEMPLATES"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sessions_file(tmp_path / "many.jsonl")
    shutil.copy(ROOT / "sample_sessions" / "02-parallel-calls.json", tmp_path / "answer.json")
    return tmp_path


def arguments(writer: str) -> list[str]:
    from playground.base import paths

    sample = next(iter(paths.sample_templates()))
    return [sample if word == "TEMPLATES" else word for word in WRITERS[writer]]


def out_of(writer: str, folder: Path) -> tuple[str, Path]:
    """What -o is told, and the file that comes of it."""
    if writer == "guide":
        return str(folder), folder / "hermes.md"
    name = "out.jsonl" if writer == "import lines" else "out.json"
    return str(folder / name), folder / name


@pytest.fixture(scope="session")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of 64 kB."""
    place = tmp_path_factory.mktemp("disk")
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"NO DISK TO FILL: mounting a tmpfs is not permitted ({done.stderr.strip()})")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def one_line(done: Result) -> None:
    assert done.exit_code == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("playground: ")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_old_file_as_it_was(
    writer: str, folder: Path, mounted: Path
) -> None:
    given, path = out_of(writer, mounted)
    for old in mounted.iterdir():
        old.unlink()
    path.write_text("the user's own")
    fill(mounted / "filler")
    done = run(*arguments(writer), "-o", given, "--force", cwd=folder)
    one_line(done)
    assert "No space left on device" in done.stderr
    assert path.read_text() == "the user's own"
    assert sorted(p.name for p in mounted.iterdir()) == sorted([path.name, "filler"])


@pytest.mark.parametrize("writer", WRITERS)
def test_a_read_only_folder_is_one_line(writer: str, folder: Path, mounted: Path) -> None:
    given, _ = out_of(writer, mounted)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    try:
        done = run(*arguments(writer), "-o", given, "--force", cwd=folder)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)
    one_line(done)
    assert "Read-only file system" in done.stderr


@pytest.mark.parametrize("writer", WRITERS)
def test_folders_that_are_missing_are_made_by_every_writer(writer: str, folder: Path) -> None:
    given, path = out_of(writer, folder / "some" / "where")
    assert run(*arguments(writer), "-o", given, cwd=folder).exit_code == 0
    assert path.is_file()


@pytest.mark.parametrize("writer", WRITERS)
def test_what_it_did_not_write_is_not_replaced(writer: str, folder: Path) -> None:
    given, path = out_of(writer, folder)
    path.write_text("the user's own")
    done = run(*arguments(writer), "-o", given, cwd=folder)
    one_line(done)
    assert "exists already; expected another name, or --force" in done.stderr
    assert path.read_text() == "the user's own"
    done = run(*arguments(writer), "-o", given, "--force", cwd=folder)
    assert done.exit_code in (0, 1), done.stderr
    assert path.read_text() != "the user's own"


def test_a_guide_of_ours_is_brought_up_to_date_without_being_forced(tmp_path: Path) -> None:
    assert run("guide", "hermes", "-o", str(tmp_path)).exit_code == 0
    path = tmp_path / "hermes.md"
    fresh = path.read_text()
    path.write_text(fresh.replace("used by", "used for"))
    assert run("guide", "hermes", "-o", str(tmp_path)).exit_code == 0
    assert path.read_text() == fresh


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", ["s.jsonl", "link.jsonl", "second.jsonl", "sub/../s.jsonl"])
def test_an_output_that_is_the_input_is_refused_by_whatever_name(
    name: str, force: list[str], tmp_path: Path
) -> None:
    source = sessions_file(tmp_path / "s.jsonl")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.jsonl").symlink_to(source)
    os.link(source, tmp_path / "second.jsonl")
    before = source.read_bytes()
    done = run("import", "s.jsonl", "-o", name, *force, cwd=tmp_path)
    one_line(done)
    assert "this is the file that is being read" in done.stderr
    assert source.read_bytes() == before


def test_an_output_that_standard_input_comes_from_is_refused(tmp_path: Path) -> None:
    source = sessions_file(tmp_path / "s.jsonl")
    before = source.read_bytes()
    playground = str(Path(sys.executable).with_name("playground"))
    command = [playground, "import", "-", "-o", str(source), "--force"]
    with source.open("rb") as given:
        done = subprocess.run(command, stdin=given, capture_output=True, text=True)
    assert done.returncode == 2
    assert "this is the file that is being read" in done.stderr
    assert source.read_bytes() == before


def test_an_output_among_the_files_of_a_folder_that_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    source = sessions_file(tmp_path / "in" / "s.jsonl")
    before = source.read_bytes()
    done = run("import", "in", "-o", "in/s.jsonl", "--force", cwd=tmp_path)
    one_line(done)
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["out.jsonl", "out.json", "out"])
def test_a_bad_input_leaves_an_existing_output_and_writes_nothing(
    name: str, tmp_path: Path
) -> None:
    sessions_file(tmp_path / "bad.jsonl", "{no JSON")
    before = {path.name for path in tmp_path.iterdir()}
    if "." in name:
        (tmp_path / name).write_text("the user's own")
        before.add(name)
    done = run("import", "bad.jsonl", "-o", name, "--force", cwd=tmp_path)
    one_line(done)
    assert {path.name for path in tmp_path.iterdir()} == before
    assert "." not in name or (tmp_path / name).read_text() == "the user's own"


@pytest.mark.parametrize("bad", ["{no JSON", '{"format": "playground-session/1", "titel": "x"}'])
def test_keep_going_says_what_it_left_out(bad: str, tmp_path: Path) -> None:
    last = json.dumps(json.loads(PLAIN.read_text()) | {"title": "last"})
    sessions_file(tmp_path / "bad.jsonl", bad, last)
    done = run("import", "bad.jsonl", "-o", "out.jsonl", "--keep-going", cwd=tmp_path)
    assert done.exit_code == 1
    assert done.stderr.startswith("left out: bad.jsonl:4")
    assert done.stderr.count("\n") == 1
    titles = [json.loads(line)["title"] for line in (tmp_path / "out.jsonl").open()]
    assert titles == ["s0", "s1", "s2", "last"]


def test_a_link_stays_a_link_and_modes_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_file(link, "new", force=True)
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_file_that_came_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x"

    def write() -> None:
        with Batch() as batch, batch.file(path) as file:
            file.write("ours")
            path.write_text("another's")

    with pytest.raises(InputFault, match="File exists"):
        write()
    assert path.read_text() == "another's"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_when_the_last_of_several_cannot_be_named_the_others_are_as_before(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_text("old a")

    def write() -> None:
        with Batch(force=True) as batch:
            for name in ("a", "b", "c"):
                with batch.file(tmp_path / name) as file:
                    file.write("new")
            (tmp_path / "c").mkdir()  # no file can be named so any more

    with pytest.raises(InputFault, match="Is a directory"):
        write()
    assert (tmp_path / "a").read_text() == "old a"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "c"]


@pytest.mark.parametrize("force", [True, False])
def test_what_somebody_else_wrote_meanwhile_is_not_taken_back(
    force: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that fails takes back what it has named; by then that may be another program's."""
    real = output.FileDraft.take_place
    if force:
        (tmp_path / "a").write_text("old a")

    def take_place(draft: output.FileDraft, *, replace: bool) -> None:
        if draft.place.name == "b":  # "a" is named, and another program comes
            theirs = tmp_path / "theirs"
            theirs.write_text("another program's")
            theirs.replace(tmp_path / "a")
            (tmp_path / "b").mkdir()
        real(draft, replace=replace)

    def write() -> None:
        with Batch(force=force) as batch:
            for name in ("a", "b"):
                with batch.file(tmp_path / name) as file:
                    file.write("ours")

    monkeypatch.setattr(output.FileDraft, "take_place", take_place)
    with pytest.raises(InputFault):
        write()
    assert (tmp_path / "a").read_text() == "another program's"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_a_folder_that_another_program_made_is_not_taken_away(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"

    def write() -> None:
        with Batch() as batch:
            with batch.file(folder / "x") as file:
                file.write("ours")
            (tmp_path / "some" / "theirs").mkdir()
            raise InputFault("it goes wrong")

    with pytest.raises(InputFault, match="it goes wrong"):
        write()
    assert (tmp_path / "some" / "theirs").is_dir()
    assert not folder.exists()


def test_a_folder_that_goes_while_it_is_written_to_is_made_again(tmp_path: Path) -> None:
    """Another program that failed takes its own folder away, which this one has seen."""
    stop = threading.Event()
    pauses = random.Random(0)

    def goes() -> None:
        while not stop.wait(pauses.uniform(0, 0.0005)):  # without a pause it wins every time
            with suppress(OSError):
                (tmp_path / "out").rmdir()

    thread = threading.Thread(target=goes)
    thread.start()
    try:
        for number in range(200):
            write_file(tmp_path / "out" / "x", str(number), force=True)
            (tmp_path / "out" / "x").unlink()
    finally:
        stop.set()
        thread.join()


# A process to which the kernel refuses second names, as FAT and some network file systems do.
WITHOUT_LINKS = """
import ctypes, os, platform, struct, sys
from playground.base.errors import InputFault
from playground.base.output import Batch, write_file
calls = {"x86_64": (86, 265), "aarch64": (37,)}[platform.machine()]
ops = [(0x20, 0, 0, 0)]  # BPF: load the system call's number
ops += [(0x15, len(calls) - at, 0, number) for at, number in enumerate(calls)]
ops += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | 1)]  # allow; EPERM
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *op) for op in ops))
filters = struct.pack("HxxxxxxQ", len(ops), ctypes.addressof(program))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filters, 0, 0) == 0
try:
    os.link(__file__ if "__file__" in globals() else sys.executable, "a-link")
except PermissionError:
    pass
else:
    raise SystemExit("links can be made here")
"""


def without_links(program: str, folder: Path) -> str:
    """What a program says that runs where no second names can be had."""
    if sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("NO WAY TO REFUSE LINKS on this machine")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LINKS + program],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(f"{folder}/", "")


def test_where_there_are_no_links_all_is_written_or_nothing(tmp_path: Path) -> None:
    """The files that had been replaced already were deleted."""
    (tmp_path / "a").write_text("old a")
    (tmp_path / "a").chmod(0o640)
    program = """
def write(last):
    with Batch(force=True) as batch:
        for name in ("a", "b", "c"):
            with batch.file(name) as file:
                file.write("new")
        if last:
            os.mkdir("c")
try:
    write(True)
except InputFault as fault:
    print(fault)
os.rmdir("c")
print(sorted(os.listdir()), open("a").read(), oct(os.stat("a").st_mode & 0o777))
write(False)
print(sorted(os.listdir()), open("a").read(), oct(os.stat("a").st_mode & 0o777))
"""
    assert without_links(program, tmp_path).splitlines() == [
        "c: Is a directory; expected a file that can be written",
        "['a'] old a 0o640",
        "['a', 'b', 'c'] new 0o640",
    ]


def test_where_there_are_no_links_no_file_of_the_meantime_is_replaced(tmp_path: Path) -> None:
    program = """
try:
    with Batch() as batch, batch.file("x") as file:
        file.write("ours")
        open("x", "w").write("another's")
except InputFault as fault:
    print(fault)
print(os.listdir(), open("x").read())
write_file("y", "new")
print(open("y").read())
"""
    assert without_links(program, tmp_path).splitlines() == [
        "x: File exists; expected another name, or --force",
        "['x'] another's",
        "new",
    ]


def test_devices_and_pipes_are_written_as_they_are(tmp_path: Path) -> None:
    write_file("/dev/null", "x")
    with pytest.raises(InputFault, match="No space left on device"):
        write_file("/dev/full", "x" * 100_000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputFault, match="No such device"):
        write_file(pipe, "nobody reads")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    while not got and reader.is_alive():
        try:
            write_file(pipe, "read")
            break
        except InputFault:  # the reader has not opened it yet
            continue
    reader.join(10)
    assert got == ["read"]
    with pytest.raises(InputFault, match="Is a directory"):
        write_file(tmp_path, "x")


def test_sessions_go_into_a_pipe_a_line_each(tmp_path: Path) -> None:
    """They asked for a folder of its name. What is said of them goes beside it."""
    command = [str(Path(sys.executable).with_name("playground")), "import"]
    file = sessions_file(tmp_path / "s.jsonl", count=2)
    done = subprocess.run(
        [*command, str(file), "-o", "/dev/stdout"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    titles = [json.loads(line)["title"] for line in done.stdout.splitlines()]
    assert titles == ["s0", "s1"]
    assert done.stderr.count("→ /dev/stdout") == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("import", str(PLAIN), "-o", str(pipe)).exit_code == 0
    assert json.loads(os.read(handle, 65536))["messages"]
    os.close(handle)
    refused = run("import", str(file), "-o", "/dev/null", "--to", "atif")
    assert refused.exit_code == 2
    assert "/dev/null: a pipe takes one session in this form" in refused.output


def test_ctrl_c_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import signal, time\nfrom playground.base.output import Batch\n"
        "with Batch(force=True) as batch, batch.file('out') as file:\n"
        "    file.write('half' * 10000); file.flush(); print('now', flush=True); time.sleep(60)\n"
    )
    (tmp_path / "out").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"out": "old"}


def test_nothing_else_of_the_package_writes_a_file() -> None:
    """Law 11: one room writes; a recording grows in the other."""
    import re

    writes = re.compile(r"write_text|write_bytes|open\([^)\n]*[\"'][wax]b?\+?[\"']|os\.replace")
    allowed = {"output.py", "growing.py", "mcp_servers.py"}  # the last one opens the null device
    for path in [*(ROOT / "playground").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        if path.name not in allowed:
            code = re.sub(r"^>>> .*", "", path.read_text(), flags=re.MULTILINE)  # examples in help
            assert not writes.search(code), path


def test_force_takes_no_folder_away_and_writes_through_a_link(tmp_path: Path) -> None:
    from playground.base.errors import InputFault
    from playground.recordings.append_only_file import AppendOnlyFile

    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "kept").write_text("kept")
    with pytest.raises(InputFault, match="not a file"):
        AppendOnlyFile(folder, force=True)
    assert (folder / "kept").read_text() == "kept"
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(target)
    growing = AppendOnlyFile(link)
    growing.add("{}\n")
    growing.close()
    assert link.is_symlink()
    assert target.read_text() == "{}\n"


NAMED = {  # commands that write what they read, by a name that is not the file's own
    "render": ["render", "{}", "-d", "xml"],
    "raw": ["raw", "{}", "--llama", "3"],
    "import": ["import", "{}"],
    "export": ["export", "{}", "--to", "json"],
    "trial": ["trial", "{}", "--own-calls"],
}


@pytest.mark.parametrize("command", NAMED)
@pytest.mark.parametrize("form", ["FILE#2", "workspace:NAME", "a hard link"])
def test_an_input_is_never_the_output_by_whatever_name(
    command: str, form: str, tmp_path: Path, home: Path
) -> None:
    text = json.dumps(json.loads((ROOT / "sample_sessions" / "02-parallel-calls.json").read_text()))
    file = tmp_path / "two.jsonl"
    if form == "workspace:NAME":
        given = "workspace:one"
        file = home / "workspace" / "one.jsonl"
        sample = ROOT / "sample_sessions" / "02-parallel-calls.json"
        run("workspace", "add", str(sample), "--name", "one")
    else:
        given = f"{file}#2"
        file.write_text(f"{text}\n{text}\n")
    before = file.read_bytes()
    out = file
    if form == "a hard link":
        out = tmp_path / "other"
        os.link(file, out)
    arguments = [each.format(given) for each in NAMED[command]]
    done = run(*arguments, "-o", str(out), "--force")
    assert done.exit_code == 2 and "this is the file that is being read" in done.stderr
    assert file.read_bytes() == before


def test_a_lock_is_taken_of_no_file_that_is_none(tmp_path: Path) -> None:
    """A folder that somebody handed over may have a link in the lock's place, or a diary."""
    diary = tmp_path / "diary"
    diary.write_text("today\n")
    (tmp_path / "link").symlink_to(diary)
    for name, words in (("diary", "not a lock file"), ("link", "a link")):
        with pytest.raises(FileExistsError, match=words), lock_file(tmp_path / name):
            raise AssertionError("the lock is held")
    assert diary.read_text() == "today\n"
    for _ in range(2):  # our own note is one
        with lock_file(tmp_path / "lock"):
            assert (tmp_path / "lock").read_text().startswith("process ")


def test_a_corpus_takes_no_file_of_the_users_for_its_lock(tmp_path: Path) -> None:
    sample = str(ROOT / "sample_sessions" / "01-plain-chat.json")
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / "lock").write_text("mine")
    done = run("corpus", "build", str(tmp_path / "u"), sample)
    assert done.exit_code == 2 and "not a lock file" in done.stderr
    assert {each.name for each in (tmp_path / "u").iterdir()} == {"lock"}
    assert (tmp_path / "u" / "lock").read_text() == "mine"


def test_a_name_with_a_line_break_makes_no_line_of_its_own(tmp_path: Path) -> None:
    name = "n\nplayground: all is fine\n"
    done = run("render", "01-plain-chat", "-d", "xml", "-o", name, cwd=tmp_path)
    assert (tmp_path / name).exists()
    assert done.stderr == "written: n\\nplayground: all is fine\\n\n"


@pytest.mark.parametrize("name", ["[2026-11-24] chat.json", "{a}.json", "x\ny.json"])
def test_a_file_is_read_whatever_its_name_begins_with(name: str, tmp_path: Path) -> None:
    sample = ROOT / "sample_sessions" / "01-plain-chat.json"
    (tmp_path / name).write_bytes(sample.read_bytes())
    with chdir(tmp_path):
        assert pg.load_session(name).messages == pg.load_session(sample).messages
