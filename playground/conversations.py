"""Conversation templates as AIChatFlow has them: the door to `systems.aichatflow`."""

from playground.plugins.systems.aichatflow import *  # noqa: F403
