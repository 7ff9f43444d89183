"""Go's text/template in Python: the door to `systems.go_templates`."""

from playground.plugins.systems.go_templates import *  # noqa: F403
