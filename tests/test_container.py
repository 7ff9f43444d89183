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
from test_extras import link

STEPS: Final = re.findall(r"^([A-Z]+) (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
CONTAINER: Final = ROOT / "container"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


# What needs root, and would change this machine.
ROOTS: Final = "useradd "


def build(folder: Path, packages: Path) -> Path:
    """Run the Dockerfile's steps with a folder for each stage in the place of `/`.

    Installed already are `packages`, and nothing is fetched. Return the folder of the last stage.
    """
    variables = environment(
        HOME=str(folder), PYTHONPATH=str(packages), PIP_NO_COMPILE="1", PIP_NO_INDEX="1"
    )
    stages: dict[str, Path] = {}
    root = place = folder
    for word, rest in STEPS:
        if word == "FROM":
            root = place = stages[rest.rpartition(" ")[2]] = folder / f"stage{len(stages)}"
            root.mkdir()
        elif word == "WORKDIR":
            place = root / rest.lstrip("/")
            place.mkdir(parents=True)
        elif word == "COPY":
            stage = re.match(r"--from=(\S+) /", rest)
            *names, target = rest.removeprefix(stage[0] if stage else "").split()
            origin = stages[stage[1]] if stage else ROOT
            copied = (root if target[0] == "/" else place) / target.lstrip("/")
            copy([origin / name for name in names], copied, is_folder=target[-1] == "/")
        elif word == "RUN" and not rest.startswith(ROOTS):
            command = re.sub(r"(?<!\S)/", f"{root}/", rest)
            done = subprocess.run(
                ["sh", "-c", command], cwd=place, env=variables, text=True, capture_output=True
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return root


def copy(files: list[Path], target: Path, *, is_folder: bool) -> None:
    """Copy as COPY does: of a folder all that is in it, and a file into a folder or as `target`."""
    for file in files:
        if file.is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(file, target, symlinks=True, ignore=skipped)
        else:
            (target if is_folder else target.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def test_the_dockerfiles_steps_build_what_runs(tmp_path: Path) -> None:
    """All steps but `useradd`; the lock's packages are links to those that are here."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert len(STEPS) == len([line for line in lines if line and line[0] != "#"])
    packages = tmp_path / "packages"
    packages.mkdir()
    locked = re.findall(r"^(\S+==[^ ]+ (?:;.*)?)", (ROOT / "requirements.lock").read_text(), re.M)
    link([line.rstrip(" \\") for line in locked], packages)
    image = build(tmp_path, packages)
    shutil.rmtree(tmp_path / "stage0")
    assert os.access(image / "usr/local/bin/start", os.X_OK)
    words = ["-m", "playground", "render", "02-parallel-calls", "-d", "hermes"]
    done = subprocess.run(
        [image / "opt/playground/bin/python", *words],
        cwd=tmp_path, env=environment(PYTHONPATH=str(packages)), text=True, capture_output=True,
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
