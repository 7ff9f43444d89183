"""Cell magics in IPython, and the marimo notebook among the examples."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import playground as pg

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
CALL: Final = "Let me look.\n<get_tides><harbour>Brest</harbour><metres>true</metres></get_tides>"
MANY: Final = '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tides?"}]'


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    config = Config({"HistoryManager": {"enabled": False}})
    one = InteractiveShell(config=config)
    one.user_ns["sample"] = pg.sample_sessions()["02-parallel-calls"]
    one.run_line_magic("load_ext", "playground")
    yield one
    one.reset(new_session=False)


def run(shell: InteractiveShell, cell: str) -> Any:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_a_reply_is_read_in_its_dialect(shell: InteractiveShell) -> None:
    result = run(shell, f"%%reply xml --tools sample --into answer\n{CALL}\n")
    (call,) = result.tool_calls
    assert (call.name, call.arguments) == ("get_tides", {"harbour": "Brest", "metres": True})
    assert result.content == "Let me look.\n"
    assert shell.user_ns["answer"] is result
    shell.user_ns["tools"] = list(shell.user_ns["sample"].tools)
    assert run(shell, f"%%reply xml --tools tools\n{CALL}\n").tool_calls == result.tool_calls
    assert run(shell, "%%reply xml\ntwo\n\n").content == "two\n"  # but for the cell's own line end
    handed = run(shell, "%%reply hermes --server vllm\nTides?")
    assert "as vllm:hermes" in handed._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    "text", [MANY, "- {role: system, content: Be brief.}\n- role: user\n  content: Tides?"]
)
def test_messages_are_told_in_dialects(shell: InteractiveShell, text: str) -> None:
    shown = run(shell, f"%%prompt xml hermes --session sample --into told\n{text}\n")
    assert shell.user_ns["told"] is shown
    before = shell.user_ns["sample"].messages
    assert [m.text for m in shown.session.messages[len(before) :]] == ["Be brief.", "Tides?"]
    assert [column.dialect.name for column in shown.columns] == ["xml", "hermes"]


def test_any_other_text_is_what_a_user_says(shell: InteractiveShell) -> None:
    for text in ("Tides: when?", "- buy milk\n- [x] done", "[1]", "{x}"):
        (message,) = run(shell, f"%%prompt xml\n{text}\n").session.messages
        assert (message.role, message.text) == ("user", text)


@pytest.mark.parametrize("cell", ["%%reply --help\nx", "%%prompt xml -h\nx", "%reply --help"])
def test_help_lists_the_options(
    shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell, f"{cell}\n") is None
    shown = capsys.readouterr().out
    assert f"\n%%{cell.split()[0].strip('%')} DIALECT" in shown
    assert "\n--session   a variable" in shown


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%reply xnl\nx", "xml"),
        ("%%reply\nx", "dialect"),
        ("%%reply xml --tools nothing\nx", "there is no variable 'nothing'"),
        ("%%reply xml --tools number\nx", "%%reply:"),
        ("%%reply xml --server vlm\nx", "vllm"),
        ("%%reply xml --into 3\nx", "a variable's name"),
        ("%%reply xml --odd\nx", "--odd"),
        ("%%reply --help", "the line magic %reply"),
        ("%%reply xml --prefill 'x\nx", "quotation"),
        ("%%prompt xml --session number\nx", "variable 'number' has type int"),
        ('%%prompt xml\n[{"role": "user"', "cell:1"),
        ('%%prompt xml\n[{"rolle": "user"}]', "messages"),
        ("%%prompt xml\n- {role: [}", "no JSON or YAML"),
    ],
)
def test_a_mistake_is_one_line(
    shell: InteractiveShell, cell: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["number"] = 3
    done = shell.run_cell(cell + "\n")
    assert not done.success
    shown = capsys.readouterr()
    lines = (shown.out + shown.err).strip().split("\n")
    assert "Traceback" not in shown.out + shown.err
    assert lines[-1].startswith("UsageError") and words in lines[-1]
    assert len(lines) == 1


def test_a_reply_says_the_same_without_scripts(shell: InteractiveShell) -> None:
    """Colab, VS Code and GitHub show a saved notebook without its scripts, or as plain text."""
    bundle = run(shell, f"%%reply xml --tools sample\n{CALL}\n")._repr_mimebundle_()
    static = re.sub(r"<script.*?</script>", "", bundle["text/html"], flags=re.DOTALL)
    for word in ("Let me look.", "get_tides", "harbour", "Brest", "metres"):
        assert word in static
    bundle = run(shell, f"%%prompt xml\n{MANY}\n")._repr_mimebundle_()
    static = re.sub(r"<script.*?</script>", "", bundle["text/html"], flags=re.DOTALL)
    assert "Be brief." in static and "Tides?" in static


@pytest.mark.skipif(not find_spec("marimo"), reason="NOT RUN: marimo is not installed")
def test_marimo_shows_each_answer_of_the_example(tmp_path: Path) -> None:
    page = tmp_path / "reply.html"
    notebook = shutil.copy(EXAMPLES / "reply.py", tmp_path)  # marimo keeps outputs beside it
    command = [sys.executable, "-m", "marimo", "export", "html", str(notebook)]
    places = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    done = subprocess.run(
        [*command, "-o", str(page)],
        env={**os.environ, **dict.fromkeys(places, str(tmp_path / "home"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    session, _ = json.JSONDecoder().raw_decode(text, text.index("{", text.index('"session":')))
    outputs = [output for cell in session["cells"] for output in cell["outputs"]]
    assert {output["type"] for output in outputs} == {"data"}  # none is an error
    bundles = [output["data"].get("application/vnd.marimo+mimebundle") for output in outputs]
    shown = "".join(str(bundle) for bundle in bundles if bundle)
    for words in (
        "<b>Parallel tool calls</b>: 5 messages",
        "<b>Which dialect is this?</b>: likeliest: xml",
        "complete calls: get_tides, 0 findings",
        "<b>Parallel tool calls in 1 dialect</b>",
    ):
        assert words in shown
