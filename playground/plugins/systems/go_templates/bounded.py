"""Execution in a worker process: a template is a program, and not ours (see `confined`)."""

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
    """Return the template's text for JSON-like data, as Go's text/template gives it.

    `missingkey` is what a key that is not there gives: "<no value>" ("default", "invalid"), the
    zero value, which prints the same, or an error. Raises TemplateFault, phase "parse" or "exec",
    with Go's own message and what was written before; also where more than 16 million characters
    are written, two million steps taken, templates call one another a hundred deep, or it takes
    more than 5 seconds or a gigabyte. Raises InputFault for data that is no JSON.
    """
    return render(source, data, name, missingkey).text


def render(source: str, data: Any, name: str = "t", missingkey: MissingKey = "default") -> Rendered:
    """Execute a template, and also return the fields that were looked up on the way."""
    job = {"source": source, "data": from_json(data), "name": name, "missingkey": missingkey}
    try:
        told = confined.run(_TASK, job, confined.Budget(TIME_LIMIT))
    except (confined.Stopped, confined.Unavailable) as reason:
        raise TemplateFault(f"template: {name}: the template {reason}", "exec") from reason
    if "fault" in told:
        raise TemplateFault(**told["fault"])
    return Rendered(told["text"], tuple(told["used"]), tuple(told["missing"]))


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the worker's side: what was rendered, or the fault, as JSON."""
    try:
        return asdict(execution.render(**job))
    except TemplateFault as fault:
        told = {"message": str(fault), "phase": fault.phase, "partial": fault.partial}
        return {"fault": told}
