"""Re-export `playground.nouns.messages`, for scripts that import it from here."""

from playground.nouns.messages import *  # noqa: F403
