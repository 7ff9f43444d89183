from playground.plugins.systems.go_templates import *  # noqa: F403
