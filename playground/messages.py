"""The door to `playground.nouns.messages`, for scripts that import this path."""

from playground.nouns.messages import *  # noqa: F403
