"""Who may reach the app, and what they may do there: real servers, real requests on loopback."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from serving import served, widened
from test_pages import page

from playground.app.serving import access
from playground.app.serving.access import NOBODY, Access, decide_access
from playground.base import paths
from playground.base.errors import InputFault
from playground.base.hosts import is_loopback

WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
STREAM = "/_stcore/stream"
OPENING = "playground: opening the app; `playground --help` lists the commands\n"  # of no command


def status(address: str, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """The status and head of an answer; by a bare socket, since clients mend a Host header."""
    port = int(address.rsplit(":", 1)[1])
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        head = connection.recv(65536).decode("latin-1")
    return int(head.split()[1]), head


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("here")) as address:
        yield address


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A public server that lets run who has the token: its address and the token."""
    folder = tmp_path_factory.mktemp("gated")
    with served(folder, "--public", "--allow-run") as address:
        found = re.search(rf"{address}/\?token=(\S+)", (folder / "app.log").read_text())
        assert found
        yield address, found[1]


def test_a_page_under_another_name_cannot_drive_the_app(here: str) -> None:
    """DNS rebinding: the browser believes that the page and the app have one origin."""
    foreign = {"Host": "rebound.example:80", "Origin": "http://rebound.example"}
    assert status(here, "/compare", foreign)[0] == 400
    assert status(here, "/_stcore/health", foreign)[0] == 400
    assert status(here, STREAM, {**foreign, **WEBSOCKET})[0] in (400, 403)


def test_no_page_of_another_origin_can_frame_the_app(here: str, gated: tuple[str, str]) -> None:
    """Laid under a page of somebody else's, *Run* is clicked by who sees another button."""
    own, (public, token) = {"Host": here.removeprefix("http://")}, gated
    theirs = {"Host": public.removeprefix("http://")}
    for address, path, headers, code in (
        (here, "/", own, 200),
        (here, "/compare", own, 200),
        (here, "/_stcore/health", own, 200),
        (here, "/", {"Host": "rebound.example"}, 400),
        (public, "/", theirs, 403),
        (public, f"/?token={token}", theirs, 303),
    ):
        found, head = status(address, path, headers)
        assert found == code
        assert re.search(r"(?im)^content-security-policy: frame-ancestors 'self'\r?$", head), head
        assert re.search(r"(?im)^x-frame-options: SAMEORIGIN\r?$", head)


def test_another_origin_cannot_open_the_websocket(here: str) -> None:
    own = here.removeprefix("http://")
    theirs = {"Host": own, "Origin": "http://evil.example", **WEBSOCKET}
    assert status(here, STREAM, theirs)[0] == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:1",  # of another program of this machine, whoever made its page
        "http://127.0.0.1",
        "http://{own}.evil.example",
        "http://localhost:{port}",
        "http://{own}@evil.example",
        "https:{own}",
        "null",
        "file://",
        "",
    ],
)
def test_a_page_of_another_port_is_another_origin(here: str, origin: str) -> None:
    own = here.removeprefix("http://")
    given = origin.format(own=own, port=own.rpartition(":")[2])
    assert status(here, STREAM, {"Host": own, "Origin": given, **WEBSOCKET})[0] == 403
    assert status(here, STREAM, {"Host": own, **WEBSOCKET})[0] == 101  # no browser, so no page


def test_a_page_of_another_port_cannot_use_the_visitors_token(gated: tuple[str, str]) -> None:
    """The cookie goes to all ports of a host."""
    address, token = gated
    given = {"Host": address.removeprefix("http://"), "Cookie": f"playground_token={token}"}
    theirs = {**given, **WEBSOCKET, "Origin": f"{address.rpartition(':')[0]}:1"}
    assert status(address, STREAM, theirs)[0] == 403


def test_behind_a_proxy_its_name_is_an_origin(tmp_path: Path) -> None:
    """One that hands the Host header on, and one that puts another there."""
    named = "--server.corsAllowedOrigins=https://named.example"
    with served(tmp_path, "--server.allowedHosts=tools.example", named) as address:
        own = address.removeprefix("http://")
        for host, origin, expected in (
            ("tools.example", "https://tools.example", 101),
            (own, "https://named.example", 101),
            (own, "https://tools.example", 403),
            (own, "https://x.example", 403),
            ("tools.example", address, 403),
        ):
            asked = {"Host": host, "Origin": origin, **WEBSOCKET}
            assert status(address, STREAM, asked)[0] == expected, (host, origin)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_its_own_names_are_answered(here: str, name: str) -> None:
    host = f"{name}:{here.rsplit(':', 1)[1]}"
    assert status(here, "/compare", {"Host": host})[0] == 200
    assert status(here, STREAM, {"Host": host, "Origin": f"http://{host}", **WEBSOCKET})[0] == 101


def test_nobody_comes_in_without_the_token(gated: tuple[str, str]) -> None:
    address, token = gated
    host = {"Host": address.removeprefix("http://")}
    assert status(address, "/compare", host)[0] == 403
    assert status(address, STREAM, {**host, **WEBSOCKET, "Origin": address})[0] == 403
    assert status(address, "/compare?token=wrong", host)[0] == 403
    assert status(address, "/compare", {**host, "Cookie": "playground_token=wrong"})[0] == 403
    assert status(address, "/compare", {**host, "Cookie": 'a="; playground_token'})[0] == 403
    code, head = status(address, f"//evil.example/compare?a=1&token={token}", host)
    assert code == 303
    asked = status(address, f"/a%3Fb%23c%25%0d%0ad?token={token}", host)[1]
    assert re.search(r"(?im)^location: /a%3Fb%23c%25%0D%0Ad\r?$", asked)
    assert re.search(r"(?im)^location: /evil\.example/compare\?a=1\r?$", head)
    assert re.search(r"(?im)^set-cookie: .*HttpOnly.*SameSite=lax", head)
    cookie = {"Cookie": f"playground_token={token}"}
    assert status(address, "/compare", {**host, **cookie})[0] == 200
    odd = {"Cookie": f'x={{"a":"b"}}; a[b]=1; playground_token={token}'}
    assert status(address, "/compare", {**host, **odd})[0] == 200
    opened = {**host, **cookie, **WEBSOCKET, "Origin": address}
    assert status(address, STREAM, opened)[0] == 101


def links(folder: Path, *options: str, **environment: str) -> list[str]:
    """The links that a server prints by itself; each is tried. It warns of nothing."""
    log, faults, found = folder / "app.log", folder / "faults.log", list[str]()
    command = [str(Path(sys.executable).with_name("playground"))]  # as `make app` does
    with log.open("wb") as output, faults.open("wb") as errors:
        process = subprocess.Popen(
            [*command, *options],
            cwd=folder,
            stdout=output,
            stderr=errors,
            env={**os.environ, "STREAMLIT_SERVER_HEADLESS": "true", **environment},
        )
    try:
        until = time.monotonic() + 60
        while not found and process.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
            found = re.findall(r"http://\S+", log.read_text())
        for link in found:
            browser = build_opener(HTTPCookieProcessor())
            with browser.open(link, timeout=10) as answer:
                assert answer.status == 200
    finally:
        process.terminate()
        process.wait(20)
    assert faults.read_text() == OPENING
    assert found, log.read_text()
    return found


def test_the_links_lead_to_where_the_server_is(tmp_path: Path) -> None:
    """They said port 8501 and 0.0.0.0, whatever was there."""
    with socket.socket() as taken:
        with suppress(OSError):  # it is taken by somebody else then
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        (own,) = links(tmp_path)
    assert re.fullmatch(r"http://127\.0\.0\.1:(?!8501)\d+", own)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    public = ("--public", "--allow-run", "--server.address=0.0.0.0", "--server.baseUrlPath=in")
    found = links(tmp_path, *public, STREAMLIT_SERVER_PORT=str(port))
    start = rf"http://(localhost|[\d.]+):{port}/in/\?token=\S{{32}}"
    assert all(re.fullmatch(start, link) and "0.0.0.0" not in link for link in found)
    only_here = "Only this machine reaches it. For others, add --server.address 0.0.0.0"
    assert only_here not in (tmp_path / "app.log").read_text()
    links(tmp_path, "--public")
    assert only_here in (tmp_path / "app.log").read_text()


def test_the_app_run_by_streamlit_itself_answers_to_its_own_names(tmp_path: Path) -> None:
    """Without our server's gates: the WebSocket is asked as a rebound page would."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect
    from websockets.typing import Origin

    asked = BackMsg()
    asked.rerun_script.query_string = ""
    command = [sys.executable, "-m", "streamlit", "run", str(paths.app_file())]
    options = ["--server.address=127.0.0.1", "--server.headless=true"]

    def said(port: int, host: str) -> str:
        texts = []
        url = f"ws://{host}:{port}{STREAM}"
        with (
            socket.create_connection(("127.0.0.1", port)) as plain,
            connect(url, sock=plain, origin=Origin(f"http://{host}:{port}")) as stream,
        ):
            stream.send(asked.SerializeToString())
            while True:
                data = stream.recv(timeout=60)
                assert isinstance(data, bytes)
                message = ForwardMsg.FromString(data)
                texts.append(str(message.delta))
                if message.WhichOneof("type") == "script_finished":
                    return "".join(texts)

    with served(tmp_path, *options, command=command) as address:
        port = int(address.rsplit(":", 1)[1])
        refused = said(port, "rebound.example")
        assert "does not answer to the host name" in refused
        assert len(refused) < 1000
        assert "does not answer to the host name" not in said(port, "localhost")


@pytest.mark.parametrize(
    "options",
    widened(
        [
            ["--server.address=::"],
            ["--server.allowedHosts", "*"],  # any name at all: rebinding again
            ["--server.address", "0.0.0.0"],
            ["--server.allowedHosts=tools.example", "--server.allowedHosts=*"],
        ],
        at_once=2,
    ),
)
def test_what_others_reach_must_be_called_public(options: list[str], tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("playground")), "app", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "--public" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def taken() -> Iterator[int]:
    """A port of 127.0.0.1 on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        (["app", "--server.port={port}"], "127.0.0.1"),
        (["--server.port", "{port}", "--public", "--server.address=0.0.0.0"], "0.0.0.0"),
        (["--server.port", "{port}", "--server.address", "localhost"], "localhost"),
        (["proxy", "--port", "{port}"], "127.0.0.1"),
        (["demo-server", "--port", "{port}"], "127.0.0.1"),
    ],
)
def test_a_taken_port_is_one_clear_line(
    arguments: list[str], address: str, taken: int, tmp_path: Path
) -> None:
    line = f"playground: {address}:{taken}: the port is taken: another program listens there; "
    told = refused([each.format(port=taken) for each in arguments], tmp_path)
    assert told == f"{line}expected a free port\n"


def test_a_port_that_streamlit_was_told_elsewhere_is_looked_at_too(
    taken: int, tmp_path: Path
) -> None:
    line = f"playground: 127.0.0.1:{taken}: the port is taken: "
    assert refused([], tmp_path, STREAMLIT_SERVER_PORT=str(taken)).startswith(line)
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(f"[server]\nport = {taken}\n")
    assert refused([], tmp_path).startswith(line)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--server.port=70000"], "127.0.0.1:70000: bind(): port must be 0-65535."),
        (["demo-server", "--port=70000"], "127.0.0.1:70000: bind(): port must be 0-65535."),
        (
            ["--server.port=8501", "--public", "--server.address=192.0.2.1"],
            "192.0.2.1:8501: Cannot assign requested address",
        ),
    ],
)
def test_an_address_where_nothing_can_listen_is_one_clear_line(
    arguments: list[str], problem: str, tmp_path: Path
) -> None:
    told = refused(arguments, tmp_path)
    assert told == f"playground: {problem}; expected a free port\n"


def refused(arguments: list[str], folder: Path, **variables: str) -> str:
    """What the command says as it ends with status 2, and nothing else is said."""
    command = [str(Path(sys.executable).with_name("playground")), *arguments]
    environment = {**os.environ, "PLAYGROUND_HOME": str(folder / "home"), **variables}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.removeprefix(OPENING)


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("example.com", False),
        ("localhost.evil.example", False),
    ],
)
def test_loopback_is_this_machine_alone(address: str, own: bool) -> None:
    assert is_loopback(address) is own


def test_who_may_do_what() -> None:
    assert decide_access("127.0.0.1", False, False, []).may_run
    public = decide_access("0.0.0.0", True, False, [])
    assert (public.may_run, public.may_keep, public.hosts, public.token) == (False, False, (), "")
    gate = decide_access("0.0.0.0", True, True, ["app.example.com"])
    assert (gate.may_run, gate.may_keep, gate.hosts) == (True, False, ("app.example.com",))
    assert len(gate.token) >= 32
    assert decide_access("127.0.0.1", True, False, ["*"]).public
    with pytest.raises(InputFault, match="--public --allow-run"):
        decide_access("127.0.0.1", False, True, [])


@pytest.mark.parametrize(("given", "runs"), [(Access(), True), (NOBODY, False)])
def test_a_visitor_finds_nothing_that_spends_keys(
    given: Access, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_access", given)
    compare = page("compare")
    (run,) = (button for button in compare.button if button.key == "run")
    assert (run.disabled, run.help == access.NO_RUNS) == (not runs, not runs)
    compare.session_state["to be asked"] = True  # as a key of a browser that was told otherwise
    assert runs or "Answers" not in [text.value for text in compare.run().markdown]
    templates = page("formats")
    offered = [option for group in templates.button_group for option in group.options]
    assert "Scripted" in offered
    assert ("A model's" in offered) is runs


def test_started_by_streamlit_alone_the_address_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    import streamlit as st

    monkeypatch.setattr(access, "_access", None)
    told: dict[str, Any] = {"server.address": None, "server.allowedHosts": ["proxy.example"]}
    monkeypatch.setattr(st, "get_option", told.get)
    assert access.current() == NOBODY
    told["server.address"] = "127.0.0.1"
    assert access.current() == decide_access("127.0.0.1", False, False, ["proxy.example"])
    told["server.allowedHosts"] = ["proxy.example", "*"]
    assert access.current() == NOBODY


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:8501", True),
        ("LOCALHOST", True),
        ("[::1]:8501", True),
        ("[::2]:8501", False),
        ("a.proxy.example", True),
        ("proxy.example", False),
        ("127.0.0.1.evil.example:8501", False),
        ("evil.example", False),
        ("", False),
    ],
)
def test_a_server_knows_its_own_names(
    host: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_access", decide_access("::1", False, False, ["*.proxy.example"]))
    assert access.answers_to(host) is own
    monkeypatch.setattr(access, "_access", NOBODY)
    assert access.answers_to(host)


def test_runs_that_are_over_are_forgotten_with_their_tab_or_by_the_next_one() -> None:
    """Each kept its answer, for as long as the server ran."""
    from playground.app.shared.runs import Runs
    from playground.llm.background import BackgroundRun

    class Waits(BackgroundRun):
        def start(self) -> None:
            def work() -> None:
                self.cancel.wait(20)

            self._begin(work, "waits")

    runs: Runs[BackgroundRun] = Runs()
    gone: set[str] = set()

    def begun(tab: str, before: str = "") -> str:
        return runs.add(BackgroundRun(), lambda: tab not in gone, before)

    first = begun("a")
    second = begun("a", first)
    assert runs.get(first) is None
    assert runs.get(second) is not None
    under_way = Waits()
    under_way.start()
    kept = runs.add(under_way, lambda: False, "")
    gone.add("a")
    others = begun("b")
    assert runs.get(second) is None
    assert runs.get(kept) is under_way  # it is stopped by its own means, and what came is kept
    assert runs.get(others) is not None
    under_way.stop()
    under_way.wait(5)
    begun("b", others)
    assert len(runs) == 1
