"""Files that once did harm, in cases of our own: names that are code, marks of terminals, byte
order marks, numbers that are none. By the command line, in this process."""

from __future__ import annotations

import ast
import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT
from test_json_numbers import strict

import playground as pg
from playground.cli import main

SAMPLES = ROOT / "sample_sessions"
HARMFUL = 'open("ran", "w")'
NAMES = {
    "closes a docstring": f'n"""\n{HARMFUL}\n"""',
    "escapes the closer": f'n\\"""\n{HARMFUL}\n"""',
    "ends in a backslash": "n\\",
    "closes a text in brackets": f"n')\n{HARMFUL}\n('",
    "is a line": f"n\n{HARMFUL}\n",
    "closes the other quotes": f"n'''\n{HARMFUL}\n'''",
    "is formatted": f"{{{HARMFUL}}}",
    "other ends of lines": f"n\u2028{HARMFUL}\x0c{HARMFUL}\x85{HARMFUL}\r{HARMFUL}",
    "half a pair": f"n\ud800\n{HARMFUL}",
}
SHOWN = "\x1b]0;x\x07\x1b[2J\u202e\u2066\u200b\x9b31m\r[rewritten]"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def sample(name: str, **changed: Any) -> dict[str, Any]:
    return {**json.loads((SAMPLES / f"{name}.json").read_text()), **changed}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_recordings_name_becomes_no_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value = sample("02-parallel-calls")
    value["recordings"] = [{**value["recordings"][0], "name": name}]
    Path("s.json").write_text(json.dumps(value))
    assert run("export", "s.json", "--to", "pytest", "-o", "test_it.py").exit_code in (0, 1)
    module = ast.parse(Path("test_it.py").read_text("utf-8"))
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    assert "open" not in used
    exec(compile(module, "test_it.py", "exec"), {"__name__": "exported"})
    assert not Path("ran").exists()


def test_a_recordings_markup_is_only_text_in_a_page(tmp_path: Path) -> None:
    evil = "</script><script>run=1</script><img src=x onerror=run=2><!--<script> \u2028 \u202e"
    value = sample("02-parallel-calls", title=evil)
    value["recordings"] = [
        {**value["recordings"][0], "name": evil, "note": evil, "chunks": [{"text": evil}]}
    ]
    path, out = tmp_path / "s.json", tmp_path / "out.html"
    path.write_text(json.dumps(value))
    assert run("export", str(path), "--to", "html", "-o", str(out)).exit_code in (0, 1)
    assert "<img src=x" not in out.read_text("utf-8")
    assert "<script>run" not in out.read_text("utf-8")


@pytest.mark.parametrize("command", ["compare", "cache", "import", "replay"])
def test_a_title_or_name_reaches_no_terminal_raw(command: str, tmp_path: Path) -> None:
    value = sample("02-parallel-calls", title=SHOWN)
    value["recordings"][0]["name"] = SHOWN
    value["tools"][0]["description"] = SHOWN
    path = tmp_path / "s.json"
    path.write_text(json.dumps(value))
    more = () if command in ("import", "replay") else ("-d", "xml")
    done = run(command, str(path), *more)
    assert done.exit_code in (0, 1), done.stderr
    for character in "\x1b\u202e\u2066\x9b\u200b\x07":
        assert character not in done.stdout + done.stderr, (command, hex(ord(character)))


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_is_read_or_told(mark: bytes, encoding: str, tmp_path: Path) -> None:
    text = json.dumps(sample("02-parallel-calls"))
    path = tmp_path / "s.json"
    path.write_bytes(mark + text.encode(encoding))
    done = run("import", str(path), "--json")
    if encoding == "utf-8":
        assert (done.exit_code, done.stderr) == (0, "")
    else:
        assert done.exit_code in (0, 2), done.stderr
        assert done.stderr.count("\n") == done.exit_code // 2
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(mark + '{"a": 1}\n'.encode(encoding))
    done = run("import", str(lines))
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


MODEL = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
SPAN = {
    "name": "llm",
    "end_time": "2026-01-02T03:04:05.000Z",
    "attributes": {
        **MODEL,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "x",
    },
}
OTEL = {
    "name": "chat m",
    "startTimeUnixNano": "1767323045000000000",
    "attributes": [
        {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
        {"key": "gen_ai.usage.input_tokens", "value": {"intValue": 0}},
        {
            "key": "gen_ai.input.messages",
            "value": {
                "stringValue": '[{"role": "user", "parts": [{"type": "text", "content": "x"}]}]'
            },
        },
    ],
}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e400", "1" + "0" * 400])
@pytest.mark.parametrize("place", ["start", "end", "usage", "tokens"])
def test_a_number_of_a_span_that_is_none_is_told(place: str, number: str, tmp_path: Path) -> None:
    """Times and counts: OverflowError and ValueError of Python's own were what was said."""
    odd = "ODD"
    spans: Any
    match place:
        case "start" | "end":
            spans = {"spans": [{**SPAN, f"{place}_time": odd}]}
        case "usage":
            attributes = {**SPAN["attributes"], "llm.token_count.prompt": odd}  # type: ignore[dict-item]
            spans = {"spans": [{**SPAN, "attributes": attributes}]}
        case _:
            text = json.dumps(OTEL).replace('"intValue": 0', f'"intValue": "{odd}"')
            spans = {"resourceSpans": [{"scopeSpans": [{"spans": [json.loads(text)]}]}]}
    path, out = tmp_path / "spans.json", tmp_path / "out.json"
    path.write_text(json.dumps(spans).replace(f'"{odd}"', number))
    done = run("import", str(path), "-o", str(out))
    assert done.exit_code in (0, 1), done.stderr
    strict(out.read_text())
    assert pg.load_session(out).messages
    if len(number) < 10 and place != "end":  # without an end there is no duration
        assert "not-a-number" in done.stderr or "time-unread" in done.stderr
