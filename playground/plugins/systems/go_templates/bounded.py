"""Execute a template in a worker process with limits, because a user's template is a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from playground.base import confined
from playground.plugins.systems.go_templates import execution
from playground.plugins.systems.go_templates.evaluation import MissingKey
from playground.plugins.systems.go_templates.execution import Rendered
from playground.plugins.systems.go_templates.faults import TemplateFault
from playground.plugins.systems.go_templates.values import from_json

TIME_LIMIT: Final = 5.0  # seconds of wall time
_TASK: Final = "playground.plugins.systems.go_templates.bounded:answer"


def execute(source: str, data: Any, name: str = "t", missingkey: MissingKey = "default") -> str:
    """Execute a template with JSON-like data, and return its text, as Go's text/template does.

    `missingkey` is the effect of a missing key: "default" and "invalid" write "<no value>", "zero"
    writes the zero value (the same text), and "error" raises.

    Raises TemplateFault (phase "parse" or "exec") with Go's own message and the output so far. It
    is also raised beyond 16 million characters, two million steps, a hundred nested template calls,
    5 seconds or a gigabyte of memory. Raises InputFault if the data is not JSON.
    """
    return render(source, data, name, missingkey).text


def render(source: str, data: Any, name: str = "t", missingkey: MissingKey = "default") -> Rendered:
    """Execute a template like `execute`, and also return the fields that it looked up."""
    job = {"source": source, "data": from_json(data), "name": name, "missingkey": missingkey}
    try:
        answer_data = confined.run(_TASK, job, confined.Budget(TIME_LIMIT))
    except (confined.Stopped, confined.Unavailable) as reason:
        raise TemplateFault(f"template: {name}: the template {reason}", "exec") from reason
    if "fault" in answer_data:
        raise TemplateFault(**answer_data["fault"])
    return Rendered(answer_data["text"], tuple(answer_data["used"]), tuple(answer_data["missing"]))


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job in the worker, and return the rendered result or the fault as JSON values."""
    try:
        return asdict(execution.render(**job))
    except TemplateFault as fault:
        fault_data = {"message": str(fault), "phase": fault.phase, "partial": fault.partial}
        return {"fault": fault_data}
