"""Re-export `playground.base.errors`, for scripts that import it from here."""

from playground.base.errors import *  # noqa: F403
