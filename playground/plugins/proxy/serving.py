"""Start and stop the proxy as a server, alone or with a child process."""

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
from playground.base.hosts import as_host, listening_socket, own_names
from playground.plugins.proxy.addresses import Upstreams, child_command, child_environment
from playground.plugins.proxy.connection import protocol_for
from playground.plugins.proxy.forwarding import Forwarder
from playground.plugins.proxy.ledger import runs_folder
from playground.plugins.proxy.upstream_client import UpstreamClient
from playground.plugins.proxy.watched_run import WatchedRun
from playground.plugins.proxy.watcher_pipe import Tell, WatcherPipe

_LAST_SECONDS: Final = 3  # that open answers may still take when the proxy is stopped
# Seconds that an idle connection stays open. uvicorn's default, 5, is httpx's, too, so that both
# ends might close at the same moment, and a request would be lost.
_IDLE_SECONDS: Final = 90
_OWN_FILES: Final = 64  # open files that belong to no exchange
_FILES_EACH: Final = 2  # sockets of an exchange: the client's and the provider's
_UNKNOWN_LIMIT: Final = 4096  # open files, if the system states no lower limit


@dataclass(frozen=True)
class ProxySettings:
    """The proxy's settings.

    `tell` is called with each line about the traffic, and with faults. `hosts` are further host
    names of the proxy. With `emails`, e-mail addresses are starred out; with `block`, requests that
    break the cache are refused. `out` is the folder of its recordings.
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
    """uvicorn's server without its signal handlers, because the caller handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Proxy:
    """One run of the proxy. It listens as soon as it is created, and serves during `run`."""

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._client = UpstreamClient()
        self._socket = listening_socket(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{as_host(settings.host)}:{self.port}"
        upstream = settings.upstreams.given
        self._watcher = WatcherPipe(
            WatchedRun(
                folder=str(settings.out),
                upstream=upstream.shown if upstream else "",
                secrets=(
                    *self._client.secrets,
                    *(secret for address in settings.upstreams.all for secret in address.secrets),
                ),
                emails=settings.emails,
                block=settings.block,
            ),
            settings.tell,
        )
        self._server: uvicorn.Server | None = None
        self._faults: set[str] = set()  # faults that were reported

    async def run(self) -> None:
        """Serve until `stop`."""
        settings = self._settings
        asyncio.get_running_loop().set_exception_handler(self._report_fault)
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
            http=protocol_for(most_connections()),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level=logging_off(),
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        self._server = _Server(config)
        try:
            await self._server.serve([self._socket])
        finally:
            await self._client.close()

    def _report_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report an asyncio error in one line, without the values in a traceback."""
        fault = f"{context['message'][:200]} ({type(context.get('exception')).__name__})"
        if fault not in self._faults:  # a fault may recur thousands of times
            self._faults.add(fault)
            self._settings.tell({"fault": fault})

    def stop(self) -> None:
        """Stop serving. After the first call, open answers may end; a second call cuts them off."""
        if self._server is not None:
            self._server.force_exit = self._server.should_exit
            self._server.should_exit = True

    def close(self) -> None:
        """Stop listening, and wait until everything is recorded."""
        self._socket.close()
        self._watcher.close()

    def processes(self) -> list[subprocess.Popen[bytes]]:
        """Return all watching processes that were started."""
        return self._watcher.processes

    async def run_with(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Serve while a command uses the proxy, and return the command's exit status.

        Raises InputFault if the command cannot be started.
        """
        variables = {**environment, **child_environment(self.url)}
        serving = asyncio.ensure_future(self.run())
        try:
            arguments = child_command(command, self.url)
            child = await asyncio.create_subprocess_exec(*arguments, env=variables)
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
    """Return the number of connections that the limit on open files allows."""
    try:
        import resource
    except ImportError:  # Windows
        return _UNKNOWN_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _UNKNOWN_LIMIT if soft == resource.RLIM_INFINITY else soft
    return max(1, (min(limit, _UNKNOWN_LIMIT) - _OWN_FILES) // _FILES_EACH)


def logging_off() -> int:
    """Return a log level that silences logging, as the terminal is for the proxy or its child."""
    return 100


def new_run() -> Path:
    """Make a folder for a run's recordings, named after the time, and return it."""
    name = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        folder = runs_folder() / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True, mode=0o700)
            return folder
    raise AssertionError  # a thousand names of this second are taken


@contextmanager
def running(settings: ProxySettings) -> Iterator[Proxy]:
    """Run a proxy in another thread during the `with` block."""
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
    """Serve until a signal comes. A second signal cuts off answers under way."""
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, proxy.stop)
    await proxy.run()


def run_with_child(proxy: Proxy, command: Sequence[str]) -> int:
    """Serve while a command runs, and return its exit status. Ctrl-C stops the command only."""

    async def both() -> int:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, _ignore_signal)
        return await proxy.run_with(command, os.environ)

    return asyncio.run(both())


def _ignore_signal(*_: Any) -> None:
    """Ignore Ctrl-C, which the child in the same terminal gets, too."""
