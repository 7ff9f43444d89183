"""Private methods that code of Azad (an agent with dialects of its own) calls on a dialect.

Azad's document names these methods without their code; here they do what our own methods do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.dialects.history import History
from playground.dialects.rendering import Draft, deep_copy
from playground.nouns.tools import ParameterMetadata


class AzadMethods:
    """A mixin with the methods that Azad's own `format_messages` and `format_tool_docs` call."""

    def _interleave_consecutive_messages(
        self, messages: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Join neighbours of one role, as `Dialect.format_messages` does."""
        joined = History().extended_with(
            Draft(message, ()) for message in deep_copy(list(messages))
        )
        return joined.messages[:]

    def _get_parameter_description(self, parameter: object) -> str:
        """Return a parameter's description; anything else becomes text."""
        if isinstance(parameter, ParameterMetadata):
            return parameter.description
        return str(parameter)
