"""The door to `playground.nouns.tools`, for scripts that import this path."""

from playground.nouns.tools import *  # noqa: F403
