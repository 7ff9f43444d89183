"""DSPy's signatures and adapters: the door to `systems.dspy`."""

from playground.plugins.systems.dspy import *  # noqa: F403
