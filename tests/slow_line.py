"""The line between a browser and the app, which can be made slow: what the app says waits.

A browser on a busy machine hears late what became of its widgets, and meanwhile sends what it holds
of them with each action. Here it is as late as a test wants.
"""

from __future__ import annotations

import re

from playwright.sync_api import Page, WebSocketRoute
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class SlowLine:
    """The line of a page that is not opened yet. `ended` counts the runs that the app has ended."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.ended = 0
        self._waiting: list[tuple[WebSocketRoute, str | bytes]] | None = None
        self._unsaid: list[tuple[WebSocketRoute, str | bytes]] | None = None
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def hold(self) -> None:
        """From now on the page hears nothing; what it sends arrives."""
        self._waiting = []

    def until_ended(self, runs: int) -> None:
        """Wait until the app has ended so many runs."""
        while self.ended < runs:
            self.page.wait_for_timeout(20)

    def release(self) -> None:
        """Everything that waited arrives, in its order."""
        waiting, self._waiting = self._waiting or [], None
        for socket, message in waiting:
            socket.send(message)

    def gather(self) -> None:
        """From now on the app hears nothing."""
        self._unsaid = []

    def say(self) -> None:
        """Everything that the page has said meanwhile arrives at once."""
        unsaid, self._unsaid = self._unsaid or [], None
        for server, message in unsaid:
            server.send(message)

    def _connect(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: self._said(server, message))
        server.on_message(lambda message: self._arrived(socket, message))

    def _said(self, server: WebSocketRoute, message: str | bytes) -> None:
        if self._unsaid is None:
            server.send(message)
        else:
            self._unsaid.append((server, message))

    def _arrived(self, socket: WebSocketRoute, message: str | bytes) -> None:
        if isinstance(message, bytes):
            told = ForwardMsg()
            told.ParseFromString(message)
            self.ended += told.WhichOneof("type") == "script_finished"
        if self._waiting is None:
            socket.send(message)
        else:
            self._waiting.append((socket, message))
