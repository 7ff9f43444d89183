"""Sample sets of templates: each is a folder with the templates and the data of one run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.base import paths
from playground.base.errors import InputFault
from playground.nouns.tools import ToolMetadata
from playground.sessions.tool_files import load_tools


@dataclass(frozen=True)
class TemplateFiles:
    """The file of a set of templates. A sample also has input, answers, functions and tools for a
    run."""

    templates: Path
    input: dict[str, Any] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    functions: dict[str, Any] = field(default_factory=dict)
    tools: list[ToolMetadata] = field(default_factory=list)


def sample(name: str) -> TemplateFiles:
    """Return the user's file at the path `name`, without further data, or else the sample of this
    name. Raises InputFault, which lists the samples, if neither exists."""
    samples = paths.sample_templates()
    folder = samples.get(name)
    if Path(name).exists():
        return TemplateFiles(Path(name))
    if folder is None:
        known = ", ".join(samples)
        raise InputFault("no such file", where=name, expected=f"a file, or a sample: {known}")
    tools = folder / "tools.json"
    return TemplateFiles(
        folder / "templates.yaml",
        _json(folder / "input.json", {}),
        _json(folder / "answers.json", []),
        _json(folder / "functions.json", {}),
        load_tools(tools).tools if tools.exists() else [],
    )


def _json(path: Path, default: Any) -> Any:
    return json.loads(path.read_text("utf-8")) if path.exists() else default
