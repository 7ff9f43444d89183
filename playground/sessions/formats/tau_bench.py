"""tau-bench results: a list of episodes; https://github.com/sierra-research/tau-bench."""

from __future__ import annotations

from collections.abc import Iterator

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import list_in, told_mapping
from playground.sessions.shapes.messages import read_messages
from playground.sessions.source import Source


class TauBench(SessionFormat):
    name = "tau-bench"
    title = "tau-bench results"
    keeps = Keeps(missing="reward, the task's expected actions; tools are not in it")

    def recognises(self, source: Source) -> bool:
        document = source.document
        first = document[0] if isinstance(document, list) and document else None
        return isinstance(first, dict) and isinstance(first.get("traj"), list)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for index, given in enumerate(list_in(source)):
            builder, place = SessionBuilder(), Place(field=str(index))
            episode = told_mapping(builder, given, place)
            builder.title = f"{source.stem} task {episode.get('task_id', index)}"
            builder.purpose = f"reward {episode.get('reward')}, trial {episode.get('trial')}"
            read_messages(builder, episode.get("traj"), place.at("traj"))
            yield builder
