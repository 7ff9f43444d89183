"""What people pipe on is exact: the prompt's own bytes, whatever stands in it. A terminal obeys
none of it, and is told where the exact text is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from terminals import ENVIRONMENT, PROGRAM, on_terminal

import playground as pg
from playground.base import paths
from playground.base.wording import visible
from playground.cli import main
from playground.dialects.rendering import message_text

WINDOWS = (
    "\ufeffFirst\r\nthen \u202eback\u202c, \x1b[2J, a NUL \x00, zero\u200bwidth, C1 \x9b31m.\r\n"
)
ESCAPED = (
    "\\u{feff}First\\x0d\nthen \\u{202e}back\\u{202c}, \\x1b[2J, a NUL \\x00, zero\\u{200b}width, "
    "C1 \\x9b31m.\\x0d\n"
)
TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls %}{{ call.function | tojson }}{% endfor %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif -%}
"""
SAMPLES = sorted(paths.samples())
DIALECTS = ("xml", "hermes", "llama3-json")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command in this process, and return what it wrote, byte by byte."""
    with chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(main, arguments, catch_exceptions=False, prog_name="playground")
    return subprocess.CompletedProcess(
        arguments, done.exit_code, done.stdout_bytes, done.stderr_bytes
    )


def piped(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own, as a shell does."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "env": ENVIRONMENT, **options}
    return subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, check=False, **given)


def windows_session(folder: Path, text: str = WINDOWS) -> Path:
    part = {"type": "text", "text": text}
    call = {"type": "tool_call", "tool_call_id": "1", "tool_name": "look", "args": {"at": text}}
    result = {"type": "tool_result", "tool_call_id": "1", "tool_name": "look", "result": text}
    session = {
        "format": "playground-session/1",
        "title": "Windows",
        "task": {"user_agent_prompt": text},
        "tools": [{"name": "look", "description": text}],
        "messages": [
            {"role": "user", "parts": [part]},
            {"role": "assistant", "parts": [part, call]},
            {"role": "tool", "parts": [result]},
            {"role": "user", "parts": [part]},
        ],
    }
    file = folder / "windows.json"
    file.write_text(json.dumps(session))
    return file


def loaded(name: str, folder: Path) -> tuple[str, pg.Session]:
    """What a command is given, and the session that it is."""
    path = paths.samples().get(name) or windows_session(folder)
    return (name if name in SAMPLES else str(path)), pg.load_session(path)


def rendered(session: pg.Session, dialects: Sequence[str]) -> str:
    """What `render` prints of text dialects, by the library."""
    lines = []
    for column in pg.compare(session, dialects=dialects).columns:
        lines += [f"##### {column.dialect.name}"] * (len(dialects) > 1)
        for message in column.rendering.messages:
            lines.append(f"=== {message['role']}\n{message_text(message)}")
    return "\n".join(lines)


@cache
def template(folder: Path) -> Path:
    file = folder / "chatml.jinja"
    file.write_text(TEMPLATE)
    return file


@pytest.mark.parametrize("name", [*SAMPLES[::4], "windows"])
def test_a_request_is_piped_to_the_byte(name: str, tmp_path: Path) -> None:
    given, session = loaded(name, tmp_path)
    chosen = [option for dialect in DIALECTS for option in ("-d", dialect)]
    command = piped if name == "windows" else run
    assert command("render", given, *chosen).stdout == rendered(session, DIALECTS).encode()


def test_a_request_is_written_to_the_byte(tmp_path: Path) -> None:
    given, session = loaded("windows", tmp_path)
    done = run("render", given, "-d", "xml", "-o", "out.txt", cwd=tmp_path)
    assert (tmp_path / "out.txt").read_bytes() == rendered(session, ["xml"]).encode()
    assert done.stdout == b""
    assert b"written: out.txt\n" in done.stderr


@pytest.mark.parametrize("name", [*SAMPLES[::4], "windows"])
def test_a_raw_prompt_is_piped_to_the_byte(name: str, tmp_path: Path) -> None:
    given, session = loaded(name, tmp_path)
    command = piped if name == "windows" else run
    done = command("raw", given, "--llama", "3")
    assert done.stdout == pg.raw_prompt(session, "llama3").text.encode(), done.stderr


def test_a_templates_prompt_is_piped_and_written_to_the_byte(tmp_path: Path) -> None:
    given, session = loaded("windows", tmp_path)
    file = template(tmp_path)
    expected = pg.raw_prompt(session, file).text.encode()
    done = run("raw", given, "--template", str(file))
    assert done.stdout == expected, done.stderr
    expected = pg.raw_prompt(session, "llama3").text.encode()
    done = run("raw", given, "--llama", "3", "-o", "new/prompt.txt", cwd=tmp_path)
    assert (tmp_path / "new" / "prompt.txt").read_bytes() == expected, done.stderr
    assert done.stdout == b""


def test_every_control_character_of_a_prompt_is_in_the_pipe(tmp_path: Path) -> None:
    """The library alone might lose the same characters as the command."""
    given, session = loaded("windows", tmp_path)
    for command in (["render", "-d", "xml"], ["raw", "--llama", "4"]):
        got = run(command[0], given, *command[1:]).stdout
        assert got.count(WINDOWS.strip().encode()) >= 3, command
    (*_, last) = pg.get_dialect("xml").format_messages(session.prompt_data())
    assert WINDOWS in message_text(last)
    assert run("render", given, "-d", "xml").stdout.endswith(WINDOWS.encode())  # nothing is added


def test_native_tools_and_json_lose_nothing_either(tmp_path: Path) -> None:
    given, session = loaded("windows", tmp_path)
    rendering = pg.get_dialect("native").render(session.prompt_data())
    text = run("render", given, "-d", "native").stdout.decode()
    head, rest = text.split("\n=== ", 1)
    assert json.loads(head.removeprefix("=== tools\n")) == rendering.tools
    assert rest.count(WINDOWS) >= 3
    (column,) = json.loads(run("render", given, "-d", "native", "--json").stdout)
    assert column["messages"] == rendering.messages
    run("render", given, "-d", "native", "--json", "-o", "all.json", cwd=tmp_path)
    assert json.loads((tmp_path / "all.json").read_text())[0]["tools"] == rendering.tools
    prompt = json.loads(run("raw", given, "--llama", "3", "--json").stdout)["prompt"]
    assert prompt == pg.raw_prompt(session, "llama3").text


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_no_encoding_of_the_environment_changes_a_prompt(encoding: str, tmp_path: Path) -> None:
    given, session = loaded("windows", tmp_path)
    narrow = {**ENVIRONMENT, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = piped("render", given, "-d", "xml", env=narrow)
    assert done.stdout == rendered(session, ["xml"]).encode()


@pytest.mark.parametrize("command", [["render", "-d", "xml"], ["raw", "--llama", "3"]])
def test_a_terminal_gets_it_visible_and_is_told_so(command: list[str], tmp_path: Path) -> None:
    given, session = loaded("windows", tmp_path)
    shown, said = on_terminal(command[0], given, *command[1:])
    text = pg.raw_prompt(session, "llama3").text if command[0] == "raw" else None
    text = text or rendered(session, ["xml"])
    assert shown.decode() == visible(text) + ("" if text.endswith("\n") else "\n")
    assert shown.decode().count(ESCAPED.strip("\n")) >= 3
    assert not {"\x1b", "\x00", "\x9b", "\u202e", "\ufeff", "\u200b", "\r"} & set(shown.decode())
    (line,) = (line for line in said.splitlines() if "escaped for the terminal" in line)
    assert line.startswith("playground: escaped for the terminal: ")
    assert "\\u{feff} \\x0d \\u{202e} \\u{202c} \\x1b …" in line
    assert line.endswith("; `> FILE` or a pipe gets the exact text")


def test_a_terminal_is_told_of_nothing_where_nothing_is_hidden() -> None:
    shown, said = on_terminal("render", "01-plain-chat", "-d", "xml")
    session = pg.load_session(paths.samples()["01-plain-chat"])
    assert shown.decode() == rendered(session, ["xml"]) + "\n"
    assert said == ""


def test_half_of_a_surrogate_pair_loses_nothing_and_is_told(tmp_path: Path) -> None:
    """A loader replaces such halves and says so; a template can write one by itself."""
    file = tmp_path / "half.jinja"
    file.write_text("{{ '\\ud83d' }}|{{ messages[0].content }}")
    done = piped("raw", "01-plain-chat", "--template", str(file))
    assert done.stdout.startswith(b"\xed\xa0\xbd|")
    assert b"written as three bytes each: 1 lone surrogate; strict" in done.stderr
    assert b"Traceback" not in done.stderr
    prompt = pg.raw_prompt(pg.load_session(paths.samples()["01-plain-chat"]), file).text
    assert done.stdout.decode("utf-8", "surrogatepass") == prompt
    done = run("raw", "01-plain-chat", "--template", str(file), "-o", "half.txt", cwd=tmp_path)
    assert (tmp_path / "half.txt").read_bytes().startswith(b"\xed\xa0\xbd|"), done.stderr
    assert b"1 lone surrogate; strict" in done.stderr


@pytest.mark.parametrize("command", [["render", "-d", "xml"], ["raw", "--llama", "3"]])
def test_a_prompt_never_takes_the_place_of_what_is_there(
    command: list[str], tmp_path: Path
) -> None:
    given, session = loaded("windows", tmp_path)
    before = Path(given).read_bytes()
    for force in ([], ["--force"]):
        done = run(command[0], given, *command[1:], "-o", given, *force)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"this is the file that is being read" in done.stderr
    assert Path(given).read_bytes() == before
    there = tmp_path / "there.txt"
    there.write_text("mine")
    assert run(command[0], given, *command[1:], "-o", str(there)).returncode == 2
    assert there.read_text() == "mine"
    done = run(command[0], given, *command[1:], "-o", str(there), "--force")
    assert WINDOWS in there.read_bytes().decode(), done.stderr


# other commands that print what people pipe on


def replayed(folder: Path) -> Path:
    text = (
        f'{WINDOWS}<tool_call>\n{{"name": "look", "arguments": {{"at": "\u202e"}}}}\n</tool_call>'
    )
    session = {
        "format": "playground-session/1",
        "title": "Windows",
        "tools": [{"name": "look", "description": WINDOWS}],
        "messages": [],
        "recordings": [{"name": "r", "dialect": "hermes", "chunks": [{"text": text}]}],
    }
    file = folder / "replayed.json"
    file.write_text(json.dumps(session))
    return file


def test_what_is_replayed_is_piped_as_it_was_said(tmp_path: Path) -> None:
    """Blanks at the ends of a text are none of it."""
    text = run("replay", str(replayed(tmp_path))).stdout.decode()
    assert f"=== content\n{WINDOWS.strip()}\n" in text
    assert '=== call look\n{"at": "\\u202e"}\n' in text


def test_the_bodies_of_requests_are_json(tmp_path: Path) -> None:
    done = run("payload", str(windows_session(tmp_path)), "--provider", "anthropic", "--body")
    text = done.stdout.decode()
    body = json.loads(text[text.index("\n{") :])
    assert json.dumps(body, ensure_ascii=False).count(json.dumps(WINDOWS, ensure_ascii=False)) >= 3


def test_a_filled_prompt_is_piped_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(f"Say {{what}}: {WINDOWS}".encode())
    values = json.dumps({"what": "\u202e"})
    done = run("template", "prompt", str(file), "--values", values)
    assert done.stdout == f"Say \u202e: {WINDOWS}".encode()


def test_a_signatures_prompt_is_piped_as_it_is() -> None:
    done = run("signature", "question -> answer", "-i", f"question={WINDOWS.replace(chr(0), '')}")
    assert WINDOWS.replace("\x00", "").strip().encode() in done.stdout


def test_a_guide_is_printed_as_it_is_written(tmp_path: Path) -> None:
    printed = run("guide", "hermes").stdout
    run("guide", "hermes", "-o", str(tmp_path))
    assert (tmp_path / "hermes.md").read_bytes() == printed


def test_a_session_of_the_workspace_is_printed_as_it_is_saved(tmp_path: Path) -> None:
    run("workspace", "add", str(windows_session(tmp_path)), "--name", "mine")
    printed = run("workspace", "save", "mine").stdout
    run("workspace", "save", "mine", "-o", str(tmp_path / "mine.json"))
    assert (tmp_path / "mine.json").read_bytes() == printed
    assert pg.load_session(tmp_path / "mine.json").messages[0].parts[0].text == WINDOWS  # type: ignore[union-attr]


def test_a_dialects_file_is_printed_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    declared = json.loads(run("dialect", "show", "hermes").stdout)
    file.write_text(json.dumps({**declared, "name": "own", "title": "Own \u202e"}))
    printed = run("dialect", "show", str(file)).stdout
    run("dialect", "show", str(file), "-o", str(tmp_path / "again.json"))
    assert (tmp_path / "again.json").read_bytes() == printed
    assert json.loads(printed)["title"] == "Own \u202e"
