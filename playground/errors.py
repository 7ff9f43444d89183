"""The door to `playground.base.errors`, for scripts that import this path."""

from playground.base.errors import *  # noqa: F403
