"""The proxy as a server: started, announced, stopped, with a child beside it or none."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvicorn

from playground.base.errors import InputFault
from playground.base.hosts import as_host, listening, own_names
from playground.plugins.proxy.addresses import Upstreams, for_child, told_of
from playground.plugins.proxy.connection import limited
from playground.plugins.proxy.forwarding import Forwarder
from playground.plugins.proxy.ledger import folder
from playground.plugins.proxy.upstream_client import UpstreamClient
from playground.plugins.proxy.watched_run import WatchedRun
from playground.plugins.proxy.watcher_pipe import Tell, WatcherPipe

_LAST_SECONDS: Final = 3  # for answers under way when the proxy is stopped
_RESTING_SECONDS: Final = 90  # uvicorn's 5 are those of httpx: both end at once, and one loses
_OWN_FILES: Final = 64  # that are open beside those of exchanges
_FILES_EACH: Final = 2  # sockets of an exchange: the client's and the provider's
_UNKNOWN_LIMIT: Final = 4096


@dataclass(frozen=True)
class ProxySettings:
    """The proxy's settings. `hosts` are names beside its own; `out` is the folder of its
    recordings.
    """

    upstreams: Upstreams
    tell: Tell
    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    emails: bool = False
    block: bool = False
    clock: Callable[[], float] = time.time  # seconds since 1970
    out: Path = field(default_factory=lambda: new_run())


class _Server(uvicorn.Server):
    """Signals are the caller's affair: a child in the same terminal gets them, too."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Proxy:
    """One run: listens from its making on, serves while it is `run`."""

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._client = UpstreamClient()
        self._socket = listening(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{as_host(settings.host)}:{self.port}"
        given = settings.upstreams.given
        self._watcher = WatcherPipe(
            WatchedRun(
                folder=str(settings.out),
                upstream=given.shown if given else "",
                secrets=(
                    *self._client.secrets,
                    *(each for one in settings.upstreams.all for each in one.secrets),
                ),
                emails=settings.emails,
                block=settings.block,
            ),
            settings.tell,
        )
        self._server: uvicorn.Server | None = None
        self._faults: set[str] = set()  # that were told

    async def run(self) -> None:
        """Serve until `stop`."""
        settings = self._settings
        asyncio.get_running_loop().set_exception_handler(self._tell_fault)
        names = (*own_names(settings.host), *settings.hosts)
        forwarder = Forwarder(
            settings.upstreams,
            self._watcher,
            self._client,
            names=() if "*" in names else names,
            block=settings.block,
            clock=settings.clock,
        )
        config = uvicorn.Config(
            forwarder,
            http=limited(most_connections()),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level=logging_off(),
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=_RESTING_SECONDS,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        self._server = _Server(config)
        try:
            await self._server.serve([self._socket])
        finally:
            await self._client.close()

    def _tell_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Of what asyncio would print with a traceback, a line without the values in it."""
        told = f"{context['message'][:200]} ({type(context.get('exception')).__name__})"
        if told not in self._faults:  # one that recurs does so by the thousand
            self._faults.add(told)
            self._settings.tell({"fault": told})

    def stop(self) -> None:
        """Serve no more; asked twice, hang up on what is under way."""
        if self._server is not None:
            self._server.force_exit = self._server.should_exit
            self._server.should_exit = True

    def close(self) -> None:
        """The end: all that passed is recorded."""
        self._socket.close()
        self._watcher.close()

    def processes(self) -> list[subprocess.Popen[bytes]]:
        """The processes that were started to record."""
        return self._watcher.processes

    async def run_beside(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Serve while a command runs that is told of the proxy: its exit status."""
        given = {**environment, **for_child(self.url)}
        serving = asyncio.ensure_future(self.run())
        try:
            told = told_of(command, self.url)
            child = await asyncio.create_subprocess_exec(*told, env=given)
        except OSError as error:
            problem = error.strerror or str(error)
            raise InputFault(problem, where=command[0], expected="a command") from error
        else:
            return await child.wait()
        finally:
            while self._server is None or not self._server.started:
                await asyncio.sleep(0.01)
            self.stop()
            await serving


def most_connections() -> int:
    """Return how many connections leave room for the files that each exchange needs."""
    try:
        import resource
    except ImportError:  # Windows
        return _UNKNOWN_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _UNKNOWN_LIMIT if soft == resource.RLIM_INFINITY else soft
    return max(1, (min(limit, _UNKNOWN_LIMIT) - _OWN_FILES) // _FILES_EACH)


def logging_off() -> int:
    """Above every level: the terminal is for what the proxy says, or for the child."""
    return 100


def new_run() -> Path:
    """A folder for a run's recordings, named by its time."""
    name = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        place = folder() / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            place.mkdir(parents=True, mode=0o700)
            return place
    raise AssertionError  # a thousand runs in a second


@contextmanager
def running(settings: ProxySettings) -> Iterator[Proxy]:
    """A proxy in a thread of its own, while the block runs."""
    proxy = Proxy(settings)
    thread = threading.Thread(target=lambda: asyncio.run(proxy.run()), daemon=True)
    thread.start()
    while proxy._server is None or not proxy._server.started:
        time.sleep(0.005)
    try:
        yield proxy
    finally:
        proxy.stop()
        thread.join(30)
        proxy.close()


async def run_until_stopped(proxy: Proxy) -> None:
    """Serve until a signal asks for the end; a second one hangs up."""
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, proxy.stop)
    await proxy.run()


def run_with_child(proxy: Proxy, command: Sequence[str]) -> int:
    """Serve while a command runs; Ctrl-C is the command's."""

    async def both() -> int:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, _left_to_the_child)
        return await proxy.run_beside(command, os.environ)

    return asyncio.run(both())


def _left_to_the_child(*_: Any) -> None:
    """It has got the signal, too."""
