"""Go's text/template in Python: `execute(source, data)` returns a text or raises TemplateFault."""

from playground.plugins.systems.go_templates.bounded import execute, render
from playground.plugins.systems.go_templates.execution import Rendered
from playground.plugins.systems.go_templates.faults import TemplateFault

__all__ = ["Rendered", "TemplateFault", "execute", "render"]
