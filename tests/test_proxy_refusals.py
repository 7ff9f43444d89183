"""What the proxy does not forward: a status and one clear line, and the provider never sees it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import h11
import httpx
import pytest
from proxied import Seen, World, a_world, exchange, look, raw_upstream, started

from playground.base.hosts import foreign_host
from playground.plugins.proxy import connection, serving
from playground.plugins.proxy.connection import MOST_HEAD, MOST_HEADERS, BoundedConnection
from playground.plugins.proxy.dot_segments import has_dot_segments
from playground.plugins.proxy.refusals import MOST_ADDRESS

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("proxy") / "run") as found:
        yield found


@pytest.fixture
def seen(world: World) -> Seen:
    return look(world)


def request(
    first: bytes = b"POST /v1/messages HTTP/1.1",
    headers: bytes = b"",
    *,
    host: bytes = b"Host: localhost\r\n",
    body: bytes = b"{}",
) -> bytes:
    head = b"%s\r\n%sConnection: close\r\n%s" % (first, host, headers)
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def post(path: bytes) -> bytes:
    return request(b"POST %s HTTP/1.1" % path)


def answered(got: bytes) -> tuple[int, str]:
    """Status and words of an answer of the proxy's own, which are one line of JSON."""
    head, _, body = got.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head and b"\n" not in body, got
    told = json.loads(body)["error"]["message"]
    assert told.startswith("playground proxy: ") and "\n" not in told
    return int(head.split()[1]), told


REFUSED: dict[str, tuple[bytes, int, str]] = {
    "an origin that cannot be read": (
        request(headers=b"Origin: http://[::1\r\n"),
        403,
        "a page of 'http://[::1' may not use",
    ),
    **{
        f"the origin {origin}": (
            request(headers=b"Origin: %s\r\n" % origin.encode()),
            403,
            "may not use this proxy",
        )
        for origin in (
            *("NULL", "file://", "http://evil\\@localhost", "http://127.0.0.1:a", "", "x"),
            *("chrome-extension://localhost", "http://localhost.evil", "http://localhost/ x"),
        )
    },
    "an origin that is null": (request(headers=b"Origin: null\r\n"), 403, "a page of 'null'"),
    "a picture in a page of another site": (
        request(b"GET /v1/models HTTP/1.1", b"Sec-Fetch-Site: cross-site\r\n", body=b""),
        403,
        "a page of another site",
    ),
    "an address that is too long": (post(b"/v1/" + b"a" * MOST_ADDRESS), 414, "65,536 characters"),
    "a query that is too long": (post(b"/v1?" + b"a" * MOST_ADDRESS), 414, "65,536 characters"),
    "a first line that is too long": (
        post(b"/" + b"a" * MOST_HEAD),
        414,
        "first line has more than",
    ),
    "another host": (
        request(host=b"Host: evil.example\r\n"),
        400,
        "not answer to the host 'evil.example', but to 127.0.0.1, localhost",
    ),
    "a host that begins an address": (request(host=b"Host: [::1\r\n"), 400, "'[::1' is not a name"),
    "a host with another behind it": (
        request(host=b"Host: localhost:80@evil.example\r\n"),
        400,
        "is not a name, with or without a port",
    ),
    "two hosts": (request(headers=b"Host: localhost\r\n"), 400, "multiple Host"),
    "no host": (request(host=b""), 400, "Missing mandatory Host"),
    "no host in the old way": (request(b"GET / HTTP/1.0", host=b""), 400, "no Host header"),
    "half a request line": (b"GET\r\n\r\n", 400, "illegal request line"),
    "another version": (request(b"GET / HTTP/9.9"), 505, "speaks only HTTP/1.1"),
    "TLS": (b"\x16\x03\x01\x02\x00" * 40, 400, "illegal request line"),
    "a header with a blank in its name": (request(headers=b"x y: z\r\n"), 400, "illegal header"),
    "a header that is a key": (
        request(headers=b"sk-" + b"ant-secret\r\n"),
        400,
        "cannot be read: illegal header line",
    ),
    "a negative length": (request(headers=b"Content-Length: -1\r\n"), 400, "Content-Length"),
    "two lengths": (request(headers=b"Content-Length: 7\r\n"), 400, "Content-Length"),
    "an unknown framing": (request(headers=b"Transfer-Encoding: gzip\r\n"), 501, "chunked"),
    "two framings": (
        request(headers=b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
        501,
        "Transfer-Encoding",
    ),
    "a chunk that is none": (
        b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        400,
        "illegal chunk header",
    ),
    "the same for HEAD": (
        b"HEAD /v1/models HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        400,
        "illegal chunk header",
    ),
    "another server's address": (post(b"http://a.example/v1/messages"), 405, "general HTTP proxy"),
    "a tunnel": (request(b"CONNECT a.example:443 HTTP/1.1", body=b""), 405, "general HTTP proxy"),
    "an asterisk": (request(b"OPTIONS * HTTP/1.1", body=b""), 405, "general HTTP proxy"),
    "an echo": (
        request(b"TRACE /v1/messages HTTP/1.1", body=b""),
        405,
        "TRACE makes a server repeat",
    ),
    "a web socket": (
        request(b"GET /v1/responses HTTP/1.1", b"Upgrade: websocket\r\n", body=b""),
        426,
        "speaks only HTTP;",
    ),
    "too many headers": (request(headers=b"a: b\r\n" * MOST_HEADERS), 431, "256 headers"),
    "headers that are too long": (
        request(headers=b"a: " + b"b" * MOST_HEAD + b"\r\n"),
        431,
        "more than 262,144 bytes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_line_with_its_status(seen: Seen, name: str) -> None:
    sent, status, word = REFUSED[name]
    with raw_upstream(seen, OK) as upstream:
        got, told = answered(exchange(seen.url, sent, close=False))
        assert httpx.post(f"{seen.url}/v1/messages", json={}).status_code == 200  # it stays up
    assert got == status and word in told
    assert "ant-secret" not in told
    assert len(upstream.got) <= 1 + ("chunk" in word)


UP = (
    "/v1/../../admin",
    "/..",
    "/v1/.",
    "/v1/./messages",
    "/v1/%2e%2e/%2e%2e/admin",
    "/v1/%2E./admin",
    "/v1/..%2f..%2fadmin",
    "/v1%2f..%2fadmin",
    "/v1/%252e%252e/admin",
    "/v1/%25252e%25252e%25252fadmin",
    r"/v1/..\..\admin",
    "/v1/..%5c..%5cadmin",
    r"/v1\..\admin",
    "/v1/..;/admin",
    "/v1/..;a=b/admin",
    "/v1/%c0%ae%c0%ae/admin",
    "/v1/..%c0%afadmin",
    "/%25252525252525252e",  # encoded more often than anybody does by accident
    "/v1/%e0%80%ae%e0%80%ae/admin",
    "/v1/..%f8%80%80%80%afadmin",
    "/v1/%c0.%c0./admin",
    "/v1/..%23x/admin",
    "/v1/..%00.png/admin",
    "/v1/%ef%bc%8e%ef%bc%8e/admin",
    "/v1/%u002e%u002e/admin",
)
STRAIGHT = (
    "/v1/messages",
    "//evil.example/v1",
    "/v1/.../x",
    "/v1/..a/.b",
    "/v1/models/org%2Fname%3Aturbo",
    "/v1/models/gpt-4%2e1",
    '/v1/a%zz|{b}^`"<c>',
    "/v1/%F0%9F%8C%8A%20~",
    "/v1/messages?to=/../../x&y=%2e%2e/",
    "/v1/x#y?z",
    "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.x-v1%3A0/converse",
)


@pytest.mark.parametrize("path", UP)
def test_a_path_that_leads_elsewhere_than_it_says_is_refused(seen: Seen, path: str) -> None:
    assert has_dot_segments(path)
    with raw_upstream(seen, OK) as upstream:
        status, told = answered(exchange(seen.url, post(path.encode()), close=False))
    assert (status, upstream.got) == (400, [])
    assert "a path with `.` or `..` in it" in told and "admin" not in told


@pytest.mark.parametrize("base", ["", "/base/path"])
@pytest.mark.parametrize("path", STRAIGHT)
def test_any_other_path_is_forwarded_to_the_byte(seen: Seen, path: str, base: str) -> None:
    with raw_upstream(seen, OK) as upstream:
        seen.world.target += base
        assert exchange(seen.url, post(path.encode()), close=False).endswith(b"{}")
    assert upstream.got[0].split(b"\r\n")[0] == f"POST {base}{path} HTTP/1.1".encode()


DOTS = (
    *(".", "%2e", "%252E", "%c0%ae", "%e0%80%ae", "%f0%80%80%ae", "%f8%80%80%80%ae"),
    *("%fc%80%80%80%80%ae", "%u002e", "%uff0e", "%ef%bc%8e", "%e2%80%a4", "%ef%b9%92"),
)
SLASHES = (
    *("/", "\\", "%2f", "%5C", "%255c", "%c0%af", "%c1%9c", "%e0%80%af", "%f0%80%80%af"),
    *("%u2215", "%uff0f", "%ef%bc%8f", "%ef%bc%bc", "%e2%81%84"),
)
TAILS = (
    "",
    ";x=1",
    "%3bx",
    "#x",
    "%23",
    "%3fx",
    "%00",
    "%00.png",
    "%20",
    "%09",
    "%0a",
    "+",
    "%c2%ad",
)


@pytest.mark.parametrize(
    ("dots", "slashes"),
    [
        (1, [*product(SLASHES, repeat=2)]),
        (2, [*zip(SLASHES, SLASHES, strict=True)]),
        pytest.param(2, [*product(SLASHES, repeat=2)], marks=pytest.mark.long),
    ],
    ids=["one dot", "two dots", "two dots between any two slashes"],
)
def test_a_parent_is_refused_however_its_dots_and_slashes_are_written(
    dots: int, slashes: list[tuple[str, str]]
) -> None:
    for segment in product(DOTS, repeat=dots):
        for (before, after), tail in product(slashes, TAILS):
            path = f"/v1{before}{''.join(segment)}{tail}{after}admin"
            assert has_dot_segments(path), path


def test_dot_segments_are_looked_for_in_a_bounded_number_of_rounds() -> None:
    assert not has_dot_segments("/" + "%41" * 20_000)
    assert has_dot_segments("/%" + "25" * 20_000 + "41")


@pytest.mark.parametrize(
    ("host", "names", "word"),
    [
        ("localhost", ("localhost",), ""),
        ("LOCALHOST:80", ("localhost",), ""),
        ("[::1]:8788", ("[::1]",), ""),
        ("a.tools.example", ("*.tools.example",), ""),
        ("whatever", (), ""),
        ("tools.example", ("*.tools.example",), "does not answer"),
        ("eviltools.example", ("*.tools.example",), "does not answer"),
        ("localhost.evil.example", ("localhost",), "does not answer"),
        ("localhost:port", ("localhost",), "not a name, with or"),
        ("[::1].evil.example", ("[::1]",), "not a name, with or"),
        ("", ("localhost",), "no Host header"),
    ],
)
def test_a_server_answers_to_its_names_alone(host: str, names: tuple[str, ...], word: str) -> None:
    told = foreign_host(host, names)
    assert word in told if word else not told


# heads


def headers_with(count: int) -> bytes:
    """A request that has so many headers in all."""
    return request(headers=b"".join(b"x-%d: y\r\n" % n for n in range(count - 3)))


@pytest.mark.parametrize(("count", "status"), [(256, b"200"), (257, b"431"), (20_000, b"431")])
def test_there_are_256_headers_at_most(seen: Seen, count: int, status: bytes) -> None:
    with raw_upstream(seen, OK) as upstream:
        assert exchange(seen.url, headers_with(count), close=False).split()[1] == status
    assert len(upstream.got) == (status == b"200")


def test_the_headers_of_a_request_behind_another_are_bounded_too(seen: Seen) -> None:
    first = request().replace(b"Connection: close\r\n", b"")
    with raw_upstream(seen, OK) as upstream:
        got = exchange(seen.url, first + headers_with(5000), close=False)
    assert b"HTTP/1.1 200" in got and b"HTTP/1.1 431" in got and len(upstream.got) == 1


def feed(connection: BoundedConnection, data: bytes, size: int) -> int:
    """Let this come in pieces of a size: how many requests are in it."""
    requests = 0
    for start in range(0, len(data), size):
        connection.receive_data(data[start : start + size])
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            requests += type(event) is h11.Request
    return requests


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_a_head_within_its_bounds_is_never_looked_through(size: int) -> None:
    """However many pieces it comes in: the work grows with its bytes alone."""
    found = BoundedConnection()
    assert feed(found, headers_with(MOST_HEADERS), size) == 1
    assert found.looks == 0


def test_a_head_without_end_is_looked_through_once() -> None:
    found = BoundedConnection()
    with pytest.raises(h11.RemoteProtocolError, match="256 headers") as caught:
        feed(found, headers_with(5000), 1)
    assert caught.value.error_status_hint == 431 and found.fault is caught.value
    assert found.looks == 1


def test_line_ends_in_a_body_count_for_no_head() -> None:
    found = BoundedConnection()
    data = request(body=b"\n" * 300_000).replace(b"Connection: close\r\n", b"")
    assert feed(found, data, 4096) == 1
    assert found.looks == 1  # the first piece has a head and lines of the body
    for event in (h11.Response(status_code=200, headers=[]), h11.EndOfMessage()):
        found.send(event)
    found.start_next_cycle()
    assert feed(found, headers_with(20), 1) == 1
    assert found.looks == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)


@pytest.mark.parametrize("begun", [b"", b"POST /v1/messages HTTP/1.1\r\nHost: loc"])
def test_a_head_that_does_not_come_is_waited_for_a_while(
    seen: Seen, impatient: None, begun: bytes
) -> None:
    got = exchange(seen.url, begun, close=False)
    status, told = answered(got)
    assert status == 408 and "within 0.5 seconds" in told


def test_a_head_that_came_is_followed_by_a_body_in_its_own_time(
    seen: Seen, impatient: None
) -> None:
    with raw_upstream(seen, OK):
        data = request(body=b"{}")
        with socket.create_connection(("127.0.0.1", seen.world.proxy.port), timeout=10) as client:
            client.sendall(data[:-1])
            time.sleep(1.0)
            client.sendall(data[-1:])
            assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_connections_beyond_a_number_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "most_connections", lambda: 5)
    with a_world(tmp_path / "run") as world:
        port = world.proxy.port
        held = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(5)]
        time.sleep(0.3)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as one_more:
            status, told = answered(one_more.recv(65536))
        assert status == 503 and "5 connections already" in told
        for client in held:
            client.close()
        time.sleep(0.3)
        assert httpx.get(f"{world.proxy.url}/v1/models").status_code != 503


# what a provider answers


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nhi", 502, b"it sent status 999"),
        (b"HTTP/1.1 101 Go\r\nupgrade: x\r\n\r\n", 502, b"gave no answer"),
        (b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + OK, 200, b"{}"),
        (b"HTTP/1.1 307 Go\r\nlocation: http://[::1\r\ncontent-length: 2\r\n\r\n{}", 307, b"{}"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"
            b"9\r\nnine here\r\n0\r\n\r\n",
            200,
            b"nine here",
        ),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 200_000 + b"\r\n\r\n", 502, b"gave no answer"),
    ],
)
def test_odd_answers_are_handed_on_or_told(
    seen: Seen, answer: bytes, status: int, body: bytes
) -> None:
    with raw_upstream(seen, answer):
        got = exchange(seen.url, request(), close=False)
    assert int(got.split()[1]) == status and body in got, got
    if status == 502:
        assert answered(got)[0] == 502


def test_headers_of_one_connection_go_no_further(seen: Seen) -> None:
    """Those that `Connection` names, too, but for what frames the message or is a key."""
    answer = (
        b"HTTP/1.1 200 OK\r\nconnection: x-theirs\r\nx-theirs: 1\r\ncontent-length: 2\r\n\r\nhi"
    )
    named = b"Connection: x-ours, content-length, x-api-key\r\nX-Ours: 1\r\nX-Api-Key: k\r\n"
    with raw_upstream(seen, answer) as upstream:
        got = exchange(
            seen.url, request(headers=named + b"Keep-Alive: 9\r\nTE: trailers\r\n"), close=False
        )
    sent = upstream.got[0].lower()
    assert b"x-ours" not in sent and b"keep-alive" not in sent and b"\r\nte:" not in sent
    assert b"x-api-key: k" in sent and b"content-length: 2" in sent
    assert b"x-theirs" not in got.lower()


def test_a_request_with_two_framings_ends_its_connection(seen: Seen) -> None:
    """What follows it may be meant for somebody else (RFC 9112, 6.1)."""
    head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with raw_upstream(seen, OK) as upstream:
        got = exchange(seen.url, head + request(b"POST /smuggled HTTP/1.1"), close=False)
    assert got.count(b"HTTP/1.1 ") == 1 and b"connection: close" in got.lower()
    assert len(upstream.got) == 1


def test_expect_is_answered_by_the_proxy(seen: Seen) -> None:
    head = request(headers=b"Expect: 100-continue\r\n")
    with raw_upstream(seen, OK) as upstream:
        got = exchange(seen.url, head, close=False)
    assert got.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
    assert b"expect" not in upstream.got[0].lower()


def test_the_terminal_gets_no_traceback_whatever_comes(tmp_path: Path) -> None:
    """Tracebacks hold what passes; those of libraries went to the terminal."""
    with started(tmp_path / "home", "--upstream", "http://127.0.0.1:9") as proxy:
        for sent, _, _ in REFUSED.values():
            exchange(proxy.url, sent, close=False, wait=2.0)
        assert httpx.post(f"{proxy.url}/v1/messages", json={}).status_code == 502
    assert "Traceback" not in proxy.said and "Error" not in proxy.said
    assert len(proxy.said.splitlines()) < 20
