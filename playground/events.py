"""Re-export `playground.nouns.events`, for scripts that import it from here."""

from playground.nouns.events import *  # noqa: F403
