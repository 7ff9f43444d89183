"""Prompts, tools and chat models as Flink-Agents has them: the door to `systems.flink_agents`."""

from playground.plugins.systems.flink_agents import *  # noqa: F403
