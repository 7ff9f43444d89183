"""The readings of a recording, side by side in columns; each is memoized by its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from playground.app.shared import choosing
from playground.app.shared.components import Picture
from playground.app.shared.memoized import memoized
from playground.dialects import dialect_names
from playground.nouns.tools import ToolMetadata
from playground.parsing.switches import Switches
from playground.questions.detection import detect_recording
from playground.questions.server_view import server_view
from playground.questions.timeline import Timeline
from playground.questions.timeline import replay as replay_recording
from playground.recordings.recording import Recording
from playground.servers import all_servers, server_names
from playground.sessions.entries import without_secrets
from playground.show import exports
from playground.show.pictures.replies import replays
from playground.show.replays import player

Tools = Sequence[ToolMetadata]
SERVER: Final = "server:"  # prefix of a server's name, because a dialect may have the same name
MOST_COLUMNS: Final = 4
_ENGINES: Final = 4  # the number of servers at the start of the list that run models
_LONGEST: Final = 30_000  # characters of a reply that is tried with every server


@dataclass(frozen=True)
class Reading:
    """A recording with the page's columns and switches.

    A column is a dialect's name, or `SERVER` and a server's name. `dialect` is the first column
    that is a dialect, or else the recording's own dialect.
    """

    recording: Recording
    dialect: str
    tools: tuple[ToolMetadata, ...]
    switches: Switches
    columns: tuple[str, ...] = ()

    @property
    def timeline(self) -> Timeline:
        return _timeline(self.recording, self.dialect, self.tools, self.switches)

    @property
    def timelines(self) -> list[Timeline]:
        """Each column's reading; `switches` do not apply to other dialects."""
        return [
            _column(self.recording, self.dialect, self.tools, self.switches, column)
            for column in self.columns or (self.dialect,)
        ]

    @property
    def other_timelines(self) -> list[Timeline]:
        """The readings of the columns, except the reading in `dialect`."""
        own = self.timeline.result
        return [each for each in self.timelines if each.result is not own]

    @property
    def picture(self) -> Picture:
        return _picture(*self._key)

    def file(self, form: Literal["pytest", "html", "json"]) -> str:
        """Return the replay as a test, or all columns as a page or JSON, without secrets."""
        return _file(form, *self._key)

    @property
    def _key(self) -> tuple[Recording, str, Tools, Switches, tuple[str, ...]]:
        return self.recording, self.dialect, self.tools, self.switches, self.columns


@memoized(32)
def _timeline(
    recording: Recording, dialect: str, tools: Tools, switches: Switches | None, server: str = ""
) -> Timeline:
    return replay_recording(recording, dialect, tools, switches, server)


def _column(
    recording: Recording, dialect: str, tools: Tools, switches: Switches, column: str
) -> Timeline:
    if column.startswith(SERVER):
        server = column.removeprefix(SERVER)
        timeline = _timeline(recording, dialect, tools, switches, server)
        return timeline.delivered or timeline
    own = switches if column == dialect else None
    return _timeline(recording, column, tools, own)


@memoized(16)
def _picture(
    recording: Recording, dialect: str, tools: Tools, switches: Switches, columns: tuple[str, ...]
) -> Picture:
    read = Reading(recording, dialect, tuple(tools), switches, columns)
    return Picture(player(*read.timelines))


@memoized(16)
def _file(
    form: str,
    recording: Recording,
    dialect: str,
    tools: Tools,
    switches: Switches,
    columns: tuple[str, ...],
) -> str:
    recording, tools, _ = without_secrets(recording, tools)
    clean = Reading(recording, dialect, tuple(tools), switches, columns)
    if form == "html":
        return replays(clean.timelines).page()
    if form == "json":
        return exports.replay_json(clean.timeline, clean.other_timelines)
    return exports.pytest_file(recording, clean.timeline, tools, clean.other_timelines)


@memoized(64)
def usual_columns(recording: Recording, dialect: str, tools: Tools, of_model: str) -> list[str]:
    """Return the columns to show first: the dialect, and readings that differ from the dialect's.

    The second column is a server that delivers an incomplete call or drops text, if possible one
    whose parser was run on such replies. If it delivers no incomplete call, a server that does is
    the third column. Without such a server, the second column is `of_model`, the dialect of the
    session's model; if that is the same or unknown, it is the likeliest dialect that reads the
    reply differently.
    """
    own = _timeline(recording, dialect, tools, None)
    if len(own.text) <= _LONGEST:
        calls, engines = len(own.result.tool_calls), server_names()[:_ENGINES]
        ranks, early = dict[str, tuple[int, ...]](), dict[str, tuple[int, ...]]()
        for server in all_servers():
            read = server_view(recording, dialect, server.name, tools)
            more, drops = len(read.tool_calls) > calls, read.dropped_characters
            if (more or drops) and not server.is_lossless:
                runs = server.name in engines  # a client library drops text by design
                ranks[server.name] = read.proven, not read.assumed, runs, more, drops
                early |= {server.name: (read.proven, runs, not read.assumed)} if more else {}
        if ranks:
            first = max(ranks, key=lambda name: ranks[name])
            third = (
                [max(early, key=lambda name: early[name])] if early and first not in early else []
            )
            return [dialect, *(SERVER + name for name in (first, *third))]
        if of_model in ("", dialect):
            found = detect_recording(recording, tools)  # the likeliest first
            outcomes = {d.dialect: (d.calls, d.aborted, d.text_characters) for d in found}
            of_model = next((n for n in outcomes if outcomes[n] != outcomes[dialect]), "")
    near = [of_model, *choosing.DEFAULT_DIALECTS]
    return [dialect, next(name for name in near if name not in ("", dialect))]


def options() -> list[str]:
    """Return all possible columns."""
    return [*(f"{SERVER}{name}" for name in server_names()), *dialect_names()]
