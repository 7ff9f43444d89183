"""Chats that the tests of GitHub's Copilot SDK replay: YAML of requests with their replies.

Seen in github/copilot-sdk, test/snapshots (2026): `models`, and `conversations`, each a list of
`messages` of which the last one is the reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import note_torn_text
from playground.sessions.shapes.fields import WrongForm, listed, mapping
from playground.sessions.shapes.turns import Turn, read_turns
from playground.sessions.source import Source


class CopilotSdk(SessionFormat):
    name = "copilot-sdk"
    title = "Replayed chats of the Copilot SDK (YAML)"
    keeps = Keeps(missing="tools and system prompt are not in it")
    left_aside = {"errors": "errors that a test is to meet"}

    def recognises(self, source: Source) -> bool:
        if source.suffix not in (".yaml", ".yml"):
            return False
        start = source.start(1 << 14)
        return b"conversations:" in start and b"messages:" in start

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        document = mapping(source.yaml)
        if not isinstance(document.get("conversations"), list):
            raise WrongForm("list", "conversations")
        note_torn_text(source)
        models = listed(document.get("models"))
        model = str(models[0]) if len(models) == 1 else ""
        turns = [
            _turn(mapping(each), Place(field=f"conversations.{index}"), model)
            for index, each in enumerate(document["conversations"])
        ]
        yield from read_turns(turns, source.stem)


def _turn(conversation: dict[str, Any], place: Place, model: str) -> Turn:
    said = listed(conversation.get("messages"))
    is_answered = bool(said) and mapping(said[-1]).get("role") == "assistant"
    stop = len(said) - 1 if is_answered else len(said)
    tools = listed(conversation.get("tools"))
    return Turn(said[:stop], said[stop:], place, tools=tools, model=model)
