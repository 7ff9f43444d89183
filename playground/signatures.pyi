from playground.plugins.systems.dspy import *  # noqa: F403
