"""The door to `playground.nouns.events`, for scripts that import this path."""

from playground.nouns.events import *  # noqa: F403
