"""What Azad's own methods call beside the public ones: they may be put into a dialect by hand.

Azad's document names both and does not show them: they do here what our methods do in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.dialects.history import History
from playground.dialects.rendering import Draft, copied
from playground.nouns.tools import ParameterMetadata


class AzadMethods:
    """For `format_messages` and `format_tool_docs` as Azad has written them."""

    def _interleave_consecutive_messages(
        self, messages: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Neighbours of one role joined, as `Dialect.format_messages` joins them."""
        found = History().and_more(Draft(message, ()) for message in copied(list(messages)))
        return found.messages[:]

    def _get_parameter_description(self, parameter: object) -> str:
        """As in Azad's `format_tool_schema`: the description, or what was given as text."""
        if isinstance(parameter, ParameterMetadata):
            return parameter.description
        return str(parameter)
