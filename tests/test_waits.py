"""Nothing waits without a word: pipes, devices, terminals, and locks that somebody else holds."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from conftest import ROOT
from test_pages import page, told
from test_workspace import ENTRY, SESSION, prompt

import playground as pg
from playground.base import user_files
from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.base.locks import PATIENCE, command_of
from playground.base.waits import telling_waits
from playground.cli import main
from playground.dialects.marks.own_policies import load_policy
from playground.recordings.append_only_file import AppendOnlyFile
from playground.sessions.bounded import files_within
from playground.sessions.native_format import dump_session
from playground.sessions.workspaces import on_disk

PROGRAM = str(Path(sys.executable).with_name("playground"))
SAMPLE = ROOT / "sample_sessions" / "02-parallel-calls.json"
SECONDS = 30  # after which a command is taken to wait for ever


@contextmanager
def bounded(seconds: int = SECONDS) -> Iterator[None]:
    """What waits for ever fails here, instead of the run."""

    def ends(*_: object) -> None:
        raise AssertionError(f"it waits, after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ends)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(*arguments: str) -> Result:
    key = {"PLAYGROUND_USER_KEY": "a-user"}  # whose credits a ledger tells
    with bounded():
        return CliRunner(env=key).invoke(main, arguments)


# everything that takes a file

S = str(SAMPLE)
TEMPLATES = "template run TEMPLATES"
FILES = (  # `@` stands for the file
    "cache by-flags @",
    "cache by-flags --validate @",
    f"cache by-flags {S} -d xml --policy-file @",
    f"cache by-flags {S} -d xml --rules @",
    "cache place @ -d xml",
    f"cache place {S} -d xml --policy-file @",
    f"cache place {S} -d xml --rules @",
    "cache simulate @ -d xml",
    f"cache simulate {S} -d xml --policy-file @",
    f"cache simulate {S} -d xml --rules @",
    "cache validate @",
    "cache wire @ -d xml",
    f"cache wire {S} -d xml --policy-file @",
    f"cache wire {S} -d xml --rules @",
    "chat-template audit @",
    "check @ --no-cache-break",
    f"check {S} --no-cache-break --policy-file @",
    f"check {S} --no-cache-break --rules @",
    f"check {S} --against @",
    "compaction @",
    "compare @ -d xml",
    f"compare {S} -d xml --rules @",
    "corpus ask @ sessions",
    "corpus build @ IN",
    "corpus build OUT @",
    "corpus compact @",
    "corpus session @ 1",
    "corpus simulate @",
    "demo-server --session @",
    "detect @",
    f"detect {S} --tools @",
    "dialect check @",
    "dialect from @",
    "dialect propose @",
    "dialect show @",
    f"diff @ {S}",
    f"diff {S} @",
    "experiment @ --find-cut",
    "export @ --to json",
    "grammar @ -d xml",
    "import @",
    "payload @ -d xml",
    f"payload {S} -d xml --rules @",
    f"raw {S} --template @",
    "raw @ --llama 3",
    "record --session @ --model openai/x",
    f"record --session {S} --model openai/x --rules @",
    f"record --session {S} --model kodu/x --ledger @",
    "render @ -d xml",
    f"render {S} -d xml --rules @",
    f"render {S} -d xml --model kodu/x --ledger @",
    "replay @",
    f"replay {S} --tools @",
    "signature question->answer --demos @",
    "signature question->answer --completion @",
    "template prompt @",
    "template prompt @.yaml",
    f"template prompt {S} --values @@",
    "template run @",
    f"{TEMPLATES} --input @@",
    f"{TEMPLATES} --answers @@",
    f"{TEMPLATES} --replay @",
    f"{TEMPLATES} --functions @@",
    f"{TEMPLATES} --tools @",
    f"{TEMPLATES} --history @@",
    f"{TEMPLATES} --defaults @@",
    "tokens @",
    f"tokens {S} --tokenizer @",
    f"tokens {S} --template @",
    f"tokens {S} --template @.gguf",
    "tools @",
    "tools @ --mcp",
    "trial @",
    f"trial {S} -d xml --model openai/x --rules @",
    "workspace add @",
)
NO_FILES = {  # names, choices, texts, addresses, and what is written
    "--address", "--allow-host", "--api", "--base-url", "--by", "--choice", "--engine",
    "--environment", "--format", "--host", "--instructions", "--model", "--name", "--policy",
    "--provider", "--report", "--report-to", "--server", "--since", "--sql", "--start-anchor",
    "--target", "--ttl",
    "--until", "--upstream", "--where", "-d", "-i", "-m", "-o", "-p", "id", "question", "text",
    "new",
}  # fmt: skip
NAMES = {"guide name", "workspace remove name", "workspace rename name", "workspace restore name"}
NAMES |= {"workspace save name", "template run --template", "new name", "mcp --root"}
NAMES |= {"check-changed --base", "replay --switch"}


def commands(group: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            yield from commands(found, f"{path} {name}".strip())
    else:
        yield path, group


def test_every_option_that_takes_a_file_is_tried_here() -> None:
    tried = set()
    for each in FILES:
        words = each.split()
        at = next(i for i, word in enumerate(words) if word.startswith("@"))
        name = words[at - 1] if words[at - 1].startswith("-") else "argument"
        tried |= {f"{' '.join(words[: 1 + i])} {name}" for i in range(2)}
    for path, command in commands(main):
        for parameter in command.params:
            name = parameter.opts[0]
            if not isinstance(parameter.type, click.types.StringParamType) or name in NO_FILES:
                continue
            if path == "app" or getattr(parameter, "is_flag", False) or f"{path} {name}" in NAMES:
                continue
            long = {f"{path} {option}" for option in parameter.opts} if name[0] == "-" else set()
            assert tried & {*long, f"{path} argument" if not long else ""}, f"{path} {name}"


def arguments(text: str, given: Path, tmp_path: Path) -> list[str]:
    """The words of a command of `FILES`, with the file in its place."""
    from playground.base import paths

    named = {"@": str(given), "@@": f"@{given}", "OUT": str(tmp_path / "out"), "IN": S}
    named["TEMPLATES"] = next(iter(paths.sample_templates()))
    found = []
    for word in text.split():
        if word.startswith("@."):
            other = given.with_suffix(word[1:])
            other.symlink_to(given)
            found.append(str(other))
        else:
            found.append(named.get(word, word))
    return found


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipe that nobody writes to."""
    monkeypatch.setattr(user_files, "_WRITER", 0.1)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def refused(done: Result, name: str) -> str:
    """The one line that a command says of a file that is none."""
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, (done.stdout, done.stderr)
    assert done.stderr.startswith("playground: ") and done.stderr.count("\n") == 1, done.stderr
    assert name in done.stderr
    return done.stderr


@pytest.mark.parametrize("command", FILES)
def test_a_pipe_that_nobody_writes_to_is_refused_everywhere(
    command: str, pipe: Path, tmp_path: Path
) -> None:
    refused(run(*arguments(command, pipe, tmp_path)), str(pipe.with_suffix("")))


@pytest.mark.parametrize("command", FILES)
def test_a_device_is_refused_everywhere(command: str, tmp_path: Path) -> None:
    """`/dev/zero` has no end."""
    began = time.monotonic()
    link = tmp_path / "zero"
    link.symlink_to("/dev/zero")
    is_corpus = command.startswith("corpus") and command != "corpus build OUT @"
    refused(run(*arguments(command, link, tmp_path)), "/dev/zero" if is_corpus else str(link))
    assert time.monotonic() - began < SECONDS / 2


def test_what_is_no_file_is_told_by_its_kind(pipe: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        said = {name: refused(run("import", name), name) for name in (str(tmp_path / "socket"),)}
    (told_of_socket,) = said.values()
    assert told_of_socket.endswith("socket: a socket, not a file; expected a file\n")
    assert refused(run("import", "/dev/zero"), "/dev/zero").endswith(
        "/dev/zero: a device, not a file; expected a file\n"
    )
    assert refused(run("import", str(pipe)), "pipe").endswith(
        "pipe: a pipe without a writer; expected a file\n"
    )
    with pytest.raises(InputFault, match="a pipe without a writer; expected a policy's JSON"):
        load_policy(pipe)
    with pytest.raises(InputFault, match="a pipe without a writer"):
        pg.load_session(pipe)


# pipes that are meant

RULES = "Call a tool when you need one."
JINJA = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
POLICY = '{"name": "tail", "marks": [{"role": "user"}]}'


def shell(script: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script, PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )


MEANT = {
    "a template": (f"raw {S} --template", JINJA),
    "rules": (f"render {S} -d xml --rules", RULES),
    "a policy": (f"cache place {S} -d xml --policy-file", POLICY),
    "a session": ("import", SAMPLE.read_text()),
    "tools": ("tools", '[{"name": "f", "input_schema": {"type": "object"}}]'),
}


@pytest.mark.parametrize("kind", MEANT)
def test_what_a_shell_pipes_by_a_name_is_read_as_a_file_is(kind: str, tmp_path: Path) -> None:
    command, text = MEANT[kind]
    file = tmp_path / "file"
    file.write_text(text)
    plain = shell(f"$0 {command} {file}")
    assert plain.returncode in (0, 1), plain.stderr
    ways = {
        "<(cmd)": f"$0 {command} <(sleep 0.2; cat {file})",
        "/dev/stdin": f"cat {file} | $0 {command} /dev/stdin",
        "/dev/fd/0": f"cat {file} | $0 {command} /dev/fd/0",
        "/proc/self/fd/0": f"cat {file} | $0 {command} /proc/self/fd/0",
        "< file": f"$0 {command} /dev/stdin < {file}",
        "a named pipe": f"mkfifo {tmp_path}/p; cat {file} > {tmp_path}/p & "
        f"$0 {command} {tmp_path}/p; rm {tmp_path}/p",
    }
    for way, script in ways.items() if kind in ("rules", "a session") else [*ways.items()][:1]:
        done = shell(script)
        assert done.returncode == plain.returncode, (way, done.stderr)
        if kind in ("rules", "a template"):  # others say where it came from
            assert done.stdout == plain.stdout, way


def test_what_is_piped_and_empty_is_no_pipe_without_a_writer() -> None:
    done = shell("$0 import <(true)")
    assert done.returncode == 2
    assert "nobody writes" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert shell(f"$0 render {S} -d xml --rules /dev/null").returncode == 0


def test_what_does_not_end_is_told_with_its_limit() -> None:
    done = shell("$0 import <(yes)")
    assert done.returncode == 2
    assert "/dev/fd/63: more than 64 MB of input; expected at most 64 MB" in done.stderr


def test_a_descriptor_that_is_closed_is_one_line() -> None:
    done = shell("$0 import /dev/fd/9")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    done = shell("$0 import /dev/stdin <&-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    """As Node leaves it to the programs that it starts."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    process = subprocess.Popen([PROGRAM, "import", "-", "--json"], stdin=read, stdout=-1, stderr=-1)
    os.close(read)
    time.sleep(0.5)
    os.write(write, SAMPLE.read_bytes())
    os.close(write)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)[0]["messages"] == 5


# a wait that is told


def line_within(process: subprocess.Popen[str], seconds: float) -> str:
    """The first line on standard error."""
    found: list[str] = []
    stream = process.stderr
    assert stream is not None
    reader = threading.Thread(target=lambda: found.append(stream.readline()), daemon=True)
    reader.start()
    reader.join(seconds)
    assert found, f"not a word in {seconds} seconds"
    return found[0]


def left(process: subprocess.Popen[str]) -> None:
    """Ctrl-C ends it, with a status and without a traceback."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "playground: stopped\n"
    assert out == ""


def started(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


LOADING = 20.0  # seconds that a program may take to start on a busy machine


def test_a_pipe_whose_writer_is_silent_is_waited_for_with_a_word(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    for command in (["import"], ["raw", S, "--template"]):
        process = started(*command, str(tmp_path / "pipe"))
        assert line_within(process, LOADING) == f"playground: waiting for {tmp_path}/pipe\n"
        left(process)
    os.close(writer)


def test_standard_input_that_is_silent_is_waited_for_with_a_word() -> None:
    read, write = os.pipe()
    for name in ("-", "/dev/stdin"):
        process = started("import", name, stdin=read)
        known = "standard input" if name == "-" else name
        assert line_within(process, LOADING) == f"playground: waiting for {known}\n"
        left(process)
    os.close(write)
    primary, terminal = pty.openpty()
    process = started("import", "-", stdin=terminal)
    told = "playground: waiting for standard input, which Ctrl-D ends\n"
    assert line_within(process, LOADING) == told
    left(process)
    os.close(primary)
    os.close(terminal)


# folders


def opencode(folder: Path) -> Path:
    """A session as opencode keeps it, a file for each message, and what else lies there."""
    message = {"id": "m1", "sessionID": "s1", "role": "user", "time": {"created": 1}}
    part = {"id": "p1", "sessionID": "s1", "messageID": "m1", "type": "text", "text": "Tides?"}
    folder.mkdir()
    (folder / "message.json").write_text(json.dumps(message))
    (folder / "part.json").write_text(json.dumps(part))
    (folder / "more").mkdir()
    os.mkfifo(folder / "more" / "pipe.json")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "a-socket.json"))
    return folder


def test_what_is_no_file_in_a_folder_is_left_out_and_named(tmp_path: Path) -> None:
    folder = opencode(tmp_path / "in")
    (loaded,) = pg.load_sessions(folder)
    assert loaded.session.messages[0].parts
    told_of = [each for each in loaded.findings if each.code == "not-a-file"]
    assert told_of == [
        finding("not-a-file", "a-socket.json", "a socket: left out"),
        finding("not-a-file", "more/pipe.json", "a pipe: left out"),
    ]
    done = run("import", str(folder))
    assert done.exit_code == 0
    assert "warning not-a-file (more/pipe.json): a pipe: left out" in done.stderr


def test_a_folder_of_no_known_form_names_what_is_no_file(pipe: Path, tmp_path: Path) -> None:
    said = refused(run("import", str(tmp_path)), str(tmp_path))
    assert "a folder not in any known session format; pipe: a pipe: left out; expected" in said


def test_a_pipe_in_a_folder_is_not_read_though_somebody_writes_to_it(tmp_path: Path) -> None:
    """It is nobody's wish; whoever wrote would have lost it."""
    os.mkfifo(tmp_path / "pipe.json")
    handle = os.open(tmp_path / "pipe.json", os.O_RDWR)
    os.write(handle, SAMPLE.read_bytes())
    (tmp_path / "sample.json").write_bytes(SAMPLE.read_bytes())
    done = run("cache", "validate", str(tmp_path))
    assert f"{tmp_path}/pipe.json: a pipe, not a file" in done.stdout + done.stderr
    done = run("corpus", "build", str(tmp_path / "o"), f"{tmp_path}/*.json", "--engine", "serial")
    assert done.exit_code == 1, done.stderr
    assert f"left out: {tmp_path}/pipe.json: a pipe, not a file; expected a file" in done.stderr
    assert "1 session" in done.stdout
    assert os.read(handle, 1 << 16) == SAMPLE.read_bytes()
    os.close(handle)


def test_a_corpus_takes_no_pipe_as_it_reads_twice(tmp_path: Path) -> None:
    done = shell(f"$0 corpus build {tmp_path}/o <(cat {S})")
    assert done.returncode == 2
    assert done.stderr == (
        "playground: /dev/fd/63: a pipe, not a file; expected a file: it is read more than once\n"
    )
    assert not (tmp_path / "o").exists()


def test_a_pipe_in_the_workspace_costs_itself_alone(home: Path) -> None:
    kept = on_disk()
    kept.add("tides", ENTRY)
    os.mkfifo(home / "workspace" / "ebb.jsonl")
    done = run("workspace")
    assert done.exit_code == 1
    assert "Tides" in done.stdout
    assert "ebb.jsonl: a pipe, not a file" in done.stderr
    refused(run("import", "workspace:ebb"), "ebb")


# locks that somebody else holds

HOLDER = """
import fcntl, os, sys, time
from pathlib import Path
from playground.base.locks import lock_file
if sys.argv[2] == "ours":
    lock = lock_file(Path(sys.argv[1]))
    lock.__enter__()
else:
    handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


@contextmanager
def holding(lock: Path, whose: str = "ours") -> Iterator[subprocess.Popen[str]]:
    """Another program that holds a lock, until it is told to let go."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    script = lock.parent.parent / "holder.py"
    script.write_text(HOLDER)
    process = subprocess.Popen(
        [sys.executable, str(script), str(lock), whose],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.communicate("let go\n", timeout=20)


@pytest.mark.parametrize("whose", ["ours", "a stranger's"])
def test_a_held_workspace_is_waited_for_with_a_word(home: Path, whose: str) -> None:
    lock = home / "workspace" / ".lock"
    with holding(lock, whose) as holder:
        where = f" on {socket.gethostname()}" if whose == "ours" else ""
        told = f"held by process {holder.pid}{where} (holder.py)"
        process = started("workspace", "add", S)
        assert line_within(process, LOADING) == (
            f"playground: waiting for {lock}, which is {told}\n"
        )
        left(process)
        waits = started("workspace", "add", S)
        assert told in line_within(waits, LOADING)
    out, err = waits.communicate(timeout=20)
    assert (waits.returncode, out) == (0, "kept: 02-parallel-calls\n")
    assert err == "no value starred out\n"
    assert on_disk().names() == ["02-parallel-calls"]


def test_the_word_comes_within_a_second(home: Path) -> None:
    heard: list[float] = []
    with holding(home / "workspace" / ".lock") as holder:

        def tell(text: str) -> None:
            heard.append(time.monotonic() - began)
            assert holder.stdin is not None
            holder.stdin.write("let go\n")
            holder.stdin.flush()

        began = time.monotonic()
        with bounded(), telling_waits(tell):
            assert on_disk().add("tides", ENTRY) == "tides"
    assert len(heard) == 1 and heard[0] < 1


def test_where_nobody_hears_it_a_held_workspace_is_a_fault(home: Path) -> None:
    with holding(home / "workspace" / ".lock") as holder, bounded():
        began = time.monotonic()
        with pytest.raises(InputFault) as caught:
            on_disk().add("tides", ENTRY)
        assert PATIENCE <= time.monotonic() - began < PATIENCE + 1
        assert f"it is held by process {holder.pid} on " in str(caught.value)
        assert str(caught.value).endswith("; expected another try, when that has ended")


def test_the_app_says_who_holds_the_workspace_and_loses_nothing(home: Path) -> None:
    """It stood still, without a word."""
    on_disk().add("tides", ENTRY)
    app = page("compare", session="tides")
    with holding(home / "workspace" / ".lock") as holder:
        prompt(app, "You keep the lighthouse.")
        said = told(app)
        assert f"it is held by process {holder.pid} on " in said
    again = next(button for button in app.button if button.label == "Try again")
    again.click().run()
    assert not app.exception
    assert "You keep the lighthouse." in on_disk().text("tides")


def test_many_programs_that_take_turns_are_no_held_lock(home: Path) -> None:
    """Together they hold it for longer than anybody is waited for."""
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from playground.base.locks import lock_file\n"
        "for number in range(8):\n"
        "    with lock_file(Path(sys.argv[1])):\n"
        "        time.sleep(0.1)\n"
    )
    (home / "workspace").mkdir(parents=True)
    command = [sys.executable, "-c", program, str(home / "workspace" / ".lock")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(5)]
    for number in range(20):
        on_disk().add(f"tides {number}", ENTRY)
    assert [(each.communicate(timeout=60)[1], each.returncode) for each in running] == [
        (b"", 0)
    ] * 5
    assert len(on_disk().names()) == 20


def test_a_recording_that_is_being_written_is_refused_with_who_writes(tmp_path: Path) -> None:
    growing = AppendOnlyFile(tmp_path / "r.jsonl")
    said = refused(
        run("record", "--session", S, "--model", "openai/x", "-o", str(growing.path), "--force"),
        "r.jsonl",
    )
    assert f"process {os.getpid()}" in said and "is writing this recording" in said
    growing.close()


def test_a_held_corpus_is_refused_with_who_builds(tmp_path: Path) -> None:
    out = str(tmp_path / "o")
    assert run("corpus", "build", out, S, "--engine", "serial").exit_code == 0
    with holding(tmp_path / "o" / "lock") as holder:
        for command in (("build", out, S), ("compact", out)):
            said = refused(run("corpus", *command), out)
            assert f"another build is at work here: process {holder.pid} on " in said
            assert "(holder.py); expected to wait for its end, or another folder" in said


def test_a_file_system_without_locks_is_no_other_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuses)
    said = refused(run("corpus", "build", str(tmp_path / "o"), S), str(tmp_path / "o"))
    assert "No locks available" in said
    (tmp_path / "a.json").write_text(dump_session(SESSION))
    assert run("import", str(tmp_path / "a.json"), "-o", str(tmp_path / "b.json")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["/opt/bin/playground", "corpus", "build", "key=hunter2"], "playground corpus"),
        (["/usr/bin/python3.11", "/opt/bin/playground", "proxy", "--x"], "playground proxy"),
        (["python", "-m", "playground", "import", "a.json"], "playground import"),
        (["/site-packages/playground/__main__.py", "-"], "playground"),
        (["playground", "http://bob:hunter2@host"], "playground"),
        (["python3", "-c", "password = 'hunter2'"], "python"),
        (["-c"], ""),
        (["flock", "/x", "sleep"], "flock"),
        ([""], ""),
        ([], ""),
    ],
)
def test_of_who_holds_a_lock_nothing_is_told_that_may_be_a_key(
    arguments: list[str], name: str
) -> None:
    assert command_of(arguments) == name


def test_a_file_that_goes_while_its_folder_is_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "stays").touch()
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            for number in range(200):
                (tmp_path / str(number)).touch()
            for number in reversed(range(200)):
                (tmp_path / str(number)).unlink()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(200):
            assert "stays" in files_within(tmp_path)[0]
    finally:
        stop.set()
        thread.join()
