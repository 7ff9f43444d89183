from playground.plugins.systems.aichatflow import *  # noqa: F403
