"""Re-export `playground.nouns.tools`, for scripts that import it from here."""

from playground.nouns.tools import *  # noqa: F403
