"""Re-export `playground.dialects.raw_prompts`, for scripts that import it from here."""

from playground.dialects.raw_prompts import *  # noqa: F403
