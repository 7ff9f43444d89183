"""The door to `playground.dialects.raw_prompts`, for scripts that import this path."""

from playground.dialects.raw_prompts import *  # noqa: F403
