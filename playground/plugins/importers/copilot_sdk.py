"""Read chats that the tests of GitHub's Copilot SDK replay: requests and replies as YAML.

Source: github/copilot-sdk, test/snapshots (2026). The last entry of a conversation's `messages` is
the reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.plugins.importers.shapes.turns import Turn, read_turns
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import note_torn_text
from playground.sessions.shapes.fields import WrongForm, listed, mapping
from playground.sessions.source import Source


class CopilotSdk(SessionFormat):
    name = "copilot-sdk"
    title = "Replayed chats of the Copilot SDK (YAML)"
    keeps = Keeps(tools="if the requests have them", missing="the file has no system prompt")
    left_aside = {"errors": "errors that a test expects"}

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
    messages = listed(conversation.get("messages"))
    is_answered = bool(messages) and mapping(messages[-1]).get("role") == "assistant"
    stop = len(messages) - is_answered
    tools = listed(conversation.get("tools"))
    return Turn(messages[:stop], messages[stop:], place, tools=tools, model=model)
