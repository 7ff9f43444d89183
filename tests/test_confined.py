"""Hostile templates end in one clear error, soon, and the next one is rendered as ever."""

from __future__ import annotations

import marshal
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from playground.base.confined import workers
from playground.base.errors import InputFault
from playground.dialects.raw_prompts import ChatTemplate, chat_template
from playground.templates import TemplateFault, execute

HI = [{"role": "user", "content": "hi"}]
DRILL = ROOT.parent / "shared" / "audit" / "drill"

# each of these took minutes or gigabytes inside the interpreter, where no thread can be stopped
COSTLY = {
    "powers of powers": "{{ (((9**64)**64)**64)**64 > 1 }}",
    "a wide ljust": "{{ ('a'.ljust(3000000000))|length }}",
    "a wide rjust": "{{ ('a'.rjust(3000000000))|length }}",
    "a width from the arguments": "{{ ('%*d' % (3000000000, 1))|length }}",
    "a width in a format": "{{ ('{:3000000000}'.format(1))|length }}",
    "a replacement": "{% set a = 'x' * 1000000 %}{{ a.replace('x', a)|length }}",
    "a join": "{% set a = ['x' * 100000] * 20000 %}{{ ('y' * 1000)|join(a)|length }}"
    "{{ a|join('y' * 100000)|length }}",
    "doubling": "{% set n = namespace(x='a' * 99) %}"
    "{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x|length }}",
}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "TIME_LIMIT", 1.0)


@pytest.mark.parametrize("source", COSTLY.values(), ids=COSTLY.keys())
def test_a_costly_template_ends_soon_and_the_next_is_rendered(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.monotonic()
    with monkeypatch.context() as limited:
        limited.setattr(chat_template, "TIME_LIMIT", 1.0)
        with pytest.raises(InputFault) as caught:
            ChatTemplate(source, name="mine.jinja").render(HI)
    assert "mine.jinja: " in str(caught.value)
    assert time.monotonic() - start < 15  # a loaded machine starts the next worker slowly
    assert ChatTemplate("{{ messages[0].content }}").render(HI) == "hi"


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["pow.jinja", "ljust.jinja", "dbl.jinja"])
def test_the_drills_templates_end(name: str) -> None:
    if not DRILL.exists():
        pytest.skip("../shared/audit/drill is not here")
    with pytest.raises(InputFault):
        ChatTemplate.load(DRILL / name).render(HI)


def test_a_go_template_that_takes_too_long_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from playground.plugins.systems.go_templates import bounded

    slow = '{{$x := printf "%1000000d" 1}}{{range 100000}}{{$y := printf "%q" $x}}{{end}}'
    said = r"t: the template runs for more than 1 s"
    with monkeypatch.context() as limited:
        limited.setattr(bounded, "TIME_LIMIT", 1.0)
        with pytest.raises(TemplateFault, match=said) as caught:
            execute(slow, {})
    assert caught.value.phase == "exec"
    assert execute("{{.a}}", {"a": "b"}) == "b"


def test_a_number_of_five_thousand_digits_is_gos_fault() -> None:
    with pytest.raises(TemplateFault, match=r'illegal number syntax: "9+'):
        execute("{{" + "9" * 5000 + "}}", {})


def test_a_worker_has_bounds_and_no_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither its environment nor, since it is no fork, its memory holds one."""
    monkeypatch.setenv("EXAMPLE_API_KEY", "not-for-workers")
    worker = workers._Worker()
    try:
        process = Path(f"/proc/{worker._process.pid}")
        if not process.exists():
            pytest.skip("no /proc on this machine")
        assert (process / "cwd").readlink() == Path("/")
        assert b"not-for-workers" not in (process / "environ").read_bytes()
        limits = (process / "limits").read_text()
        assert re.search(r"Max file size +0 +0 ", limits)  # it cannot write a byte
        assert re.search(rf"Max address space +{workers.MEMORY_BYTES} ", limits)
    finally:
        worker.kill()


def test_a_worker_loads_nothing_from_the_users_folder(tmp_path: Path) -> None:
    """A `json.py` that lies beside the user's templates is not imported, nor what lies beside the
    user's script."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    beside = tmp_path / "scripts"
    beside.mkdir()
    for name in ("marshal.py", "resource.py", "jinja2.py", "sitecustomize.py"):
        (beside / name).write_text(f"open({str(tmp_path / name)!r}, 'w')")
    script = beside / "script.py"
    script.write_text(
        "import sys; beside = sys.path.pop(0); import jinja2, resource, playground.templates as t\n"
        "sys.path.insert(0, beside)\n"
        "print(t.execute('{{.a}}', {'a': 'b'}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "b\n"
    assert not [path.name for path in tmp_path.glob("*.py") if path.name != "json.py"]
    assert str(beside) not in workers._module_folders()


def test_a_fault_in_a_worker_is_its_errors_detail_and_not_on_the_terminal(
    tmp_path: Path,
) -> None:
    script = (
        "from playground.base.confined import Budget, Stopped, run\n"
        "for task in ('playground.nowhere:f', 'playground.base.confined.workers:print'):\n"
        "    try: run(task, 1, Budget(20))\n"
        "    except Stopped as error: print(error)\n"
        "worker = __import__('playground.base.confined.workers', fromlist=['_']).  _Worker()\n"
        "worker._process.stdin.write(b'x' * 8); worker._process.stdin.flush()\n"
        "worker._process.stdin.write(b'\\0' * 7 + b'\\x01' + b'?'); worker.kill()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    ended = "ended the process that it ran in"
    assert done.stdout.splitlines() == [
        f"{ended} (ModuleNotFoundError: No module named 'playground.nowhere')",
        f"{ended} (AttributeError: module 'playground.base.confined.workers' has no attribute "
        "'print')",
    ]
    assert done.stderr == ""


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from playground.dialects.raw_prompts import ChatTemplate\n"
        "print(ChatTemplate('{{ messages[0].content }}').render([{'content': 'hi'}]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("hi\n", "")


def test_a_worker_that_was_killed_while_idle_is_replaced() -> None:
    assert execute("{{.}}", "a") == "a"
    for worker in workers._POOL.idle:
        os.kill(worker._process.pid, signal.SIGKILL)
        worker._process.wait()
    assert execute("{{.}}", "b") == "b"


def test_a_templates_time_begins_when_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker took some 150 ms of it to import jinja2. A busy machine may take them, too: so
    one of several new workers is enough."""
    monkeypatch.setattr(chat_template, "TIME_LIMIT", 0.08)
    texts = []
    for _ in range(6):
        with monkeypatch.context() as fresh, suppress(InputFault):
            fresh.setattr(workers, "_POOL", pool := workers._Pool())
            texts.append(ChatTemplate("{{ messages[0].content }}").render(HI))
        pool.close()
        if texts:
            break
    assert texts == ["hi"]


def test_many_threads_share_a_few_workers() -> None:
    with ThreadPoolExecutor(16) as threads:
        texts = list(threads.map(lambda number: execute("{{.}}", str(number)), range(200)))
    assert texts == [str(number) for number in range(200)]
    assert len(workers._POOL.idle) <= workers.MOST_WORKERS


def test_a_costly_template_does_not_hold_up_another() -> None:
    """It has a worker of its own; whoever waits for another one waits for no time limit."""
    endless = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    job: dict[str, Any] = {
        "source": endless,
        "name": "x",
        "tokens": {},
        "now": None,
        "given": {},
        "mutable": False,
    }
    frame = marshal.dumps((chat_template._RENDER, 60.0, job))
    with workers._POOL.worker() as busy, ThreadPoolExecutor(1) as other:
        answer = other.submit(busy.ask, frame, 60.0)
        assert ChatTemplate("{{ messages[0].content }}").render(HI) == "hi"
        assert not answer.done()
        os.kill(busy._process.pid, signal.SIGKILL)
        assert answer.result(30) == {"stopped": "ended"}


def test_where_no_process_can_be_had_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setattr(workers, "_POOL", workers._Pool())
    with pytest.raises(InputFault, match="no process can be started here"):
        ChatTemplate("{{ messages[0].content }}").render(HI)
    with pytest.raises(TemplateFault, match="no process can be started here"):
        execute("a", {})
