"""The container's steps, run on this machine: what is copied is enough, and what starts is safe."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from conftest import ROOT

STEPS: Final = re.findall(r"^([A-Z]+) (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
CONTAINER: Final = ROOT / "container"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


def test_what_is_copied_is_enough_to_install_and_run(tmp_path: Path) -> None:
    """The build stage's COPY lines, its last pip line, and a command of what was installed."""
    source, target = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    last_stage = max(n for n, (word, _) in enumerate(STEPS) if word == "FROM")
    for word, rest in STEPS[:last_stage]:
        if word == "COPY":
            *names, place = rest.split()
            for name in names:
                copied = source / place / name if place == "./" else source / place
                if (ROOT / name).is_dir():
                    skipped = shutil.ignore_patterns("__pycache__")
                    shutil.copytree(ROOT / name, copied, ignore=skipped)
                else:
                    shutil.copy(ROOT / name, copied)
    install = [rest for word, rest in STEPS[:last_stage] if word == "RUN"][-1]
    assert install.startswith("/opt/playground/bin/pip install ")
    assert install.endswith(" .")
    # A wheel, since this environment may have no pip; pip builds one too.
    build = "from hatchling.build import build_wheel; print(build_wheel('.'))"
    made = subprocess.run(
        [sys.executable, "-c", build], cwd=source, text=True, capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr
    shutil.unpack_archive(source / made.stdout.splitlines()[-1], target, "zip")
    command = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import playground.cli as c; c.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, str(target), "render", "02-parallel-calls", "-d", "hermes"],
        cwd=tmp_path, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "<tool_call>" in done.stdout


def test_the_image_runs_as_a_user_with_one_volume_and_a_health_check() -> None:
    words = {word: rest for word, rest in STEPS}  # the last of each
    assert words["USER"] == "playground"
    assert [rest for word, rest in STEPS if word == "VOLUME"] == ["/data"]
    assert "PLAYGROUND_HOME=/data" in words["ENV"]
    assert words["ENTRYPOINT"] == '["start"]'
    assert words["HEALTHCHECK"].endswith('CMD ["healthy"]')
    order = [word for word, _ in STEPS]
    assert order.index("USER") > max(n for n, word in enumerate(order) if word == "RUN")
    allowed = set((ROOT / ".dockerignore").read_text().splitlines())
    for word, rest in STEPS:
        if word == "COPY" and not rest.startswith("--from"):
            assert {f"!{name.split('/')[0]}" for name in rest.split()[:-1]} <= allowed


@pytest.mark.parametrize(
    ("public", "reached"), [("", "127.0.0.1"), ("yes", "0.0.0.0"), ("run", "0.0.0.0")]
)
def test_the_variable_decides_who_can_reach_it(public: str, reached: str, tmp_path: Path) -> None:
    """The app starts, is healthy, and says who may do what; a signal stops it."""
    port = str(free_port())
    variables = environment(
        PLAYGROUND_PUBLIC=public, STREAMLIT_SERVER_PORT=port, PLAYGROUND_HOME=str(tmp_path)
    )
    log = tmp_path / "log"
    with log.open("w") as written:
        process = subprocess.Popen(
            [CONTAINER / "start"], env=variables, cwd=tmp_path, stdout=written, stderr=written
        )
    try:
        deadline = time.monotonic() + 60
        while subprocess.run([CONTAINER / "healthy"], env=variables, check=False).returncode:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.3)
        listening = subprocess.run(
            [sys.executable, "-c", LISTENING, port], text=True, capture_output=True, check=True
        )
        assert listening.stdout.strip() == reached
        assert ("token=" in log.read_text()) == (public == "run")
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) is not None


LISTENING: Final = """
import socket, struct, sys
for line in open("/proc/net/tcp"):
    fields = line.split()
    if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == int(sys.argv[1]):
        print(socket.inet_ntoa(struct.pack("<L", int(fields[1].split(":")[0], 16))))
"""


def test_another_value_of_the_variable_is_refused() -> None:
    done = subprocess.run(
        shlex.split(str(CONTAINER / "start")), env=environment(PLAYGROUND_PUBLIC="true"),
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "PLAYGROUND_PUBLIC is 'true'; expected yes, run, or nothing\n"
