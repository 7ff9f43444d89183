from playground.plugins.systems.flink_agents import *  # noqa: F403
