"""Count what tools cost in tokens, and find which providers accept their schemas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from playground.base.arguments import takes, texts
from playground.base.display import Shown
from playground.base.findings import Finding
from playground.dialects import Dialect, as_dialects
from playground.dialects.marks.family import model_family
from playground.dialects.older_calls import formerly_second
from playground.dialects.schema_losses import documentation
from playground.nouns.tool_formats import read_tools
from playground.nouns.tool_formats.portability import lint_tool, schema_target, schema_targets
from playground.nouns.tool_formats.rewriting import rewrite_tool
from playground.nouns.tool_formats.shrinking import SHORTER
from playground.nouns.tools import ToolMetadata
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session
from playground.tokens.count import count_request
from playground.tokens.texts import text_counter

MODELS: Final = ("gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash",
                 "mistral/mistral-large-latest")  # fmt: skip
_PROBE: Final = ToolMetadata(name="probe", description="Probe.")


@dataclass(frozen=True)
class ToolCost:
    """The tokens of one tool: as each model's provider gets it (`by_model`), in each dialect
    (`by_dialect`), and after each change that makes its schema smaller (`shorter`). The last two
    are counted for the first model."""

    tool: str
    by_model: dict[str, int]
    by_dialect: dict[str, int]
    shorter: dict[str, int]


@dataclass(frozen=True)
class ToolCosts(Shown):
    """The costs of tools. Its table has a row for each tool, and a row for all tools together.

    `exact` lists the models for which both the tokenizer and the text that the provider adds to
    tools are known. The figures of all other models are estimates.
    """

    tools: list[ToolCost]
    models: tuple[str, ...]
    exact: tuple[str, ...]

    @property
    def total(self) -> ToolCost:
        """All tools together."""
        names = ("by_model", "by_dialect", "shorter")
        sums = [
            {key: sum(getattr(tool, name)[key] for tool in self.tools) for key in first}
            for name in names
            for first in [getattr(self.tools[0], name) if self.tools else {}]
        ]
        return ToolCost("all", *sums)

    def as_json(self) -> dict[str, Any]:
        return {
            "models": list(self.models),
            "exact": list(self.exact),
            "tools": [asdict(tool) for tool in [*self.tools, self.total]],
        }


@dataclass(frozen=True)
class PortableTool:
    """A tool for one target: what the target refuses or changes, and the schema to send instead."""

    tool: str
    target: str
    title: str
    findings: list[Finding]
    schema: dict[str, Any]


@dataclass(frozen=True)
class Portability(Shown):
    """The findings on each tool for each target. Its table has a row for each finding."""

    rows: list[PortableTool]

    @property
    def findings(self) -> list[Finding]:
        return [found for row in self.rows for found in row.findings]

    def as_json(self) -> list[dict[str, Any]]:
        return [asdict(row) for row in self.rows]


Tools = Session | str | Iterable[Any]


@formerly_second("models", "dialects")
@takes(tools=(Session, str, Iterable), models="list", dialects=(str, Dialect, Iterable))
def tool_costs(
    tools: Tools,
    dialects: str | Dialect | Sequence[str | Dialect] = ("xml", "hermes"),
    *,
    models: Sequence[str] = MODELS,
) -> ToolCosts:
    """Count each tool's tokens for each model and in each dialect, and what smaller schemas save.

    `tools` is a session with tools, or tools in any form that `read_tools` knows. A model's figure
    is for the tool alone, in the form of the model's provider, without the fixed cost of having
    tools. A dialect's figure is what one more tool adds to the prompt's documentation of tools.
    """
    metadata = _tools(tools)
    models = texts("tool_costs(models=…)", models)
    chosen = as_dialects(dialects) if dialects else []
    rows = [_cost(tool, models, chosen) for tool in metadata]
    exact = tuple(m for m in models if count_request(_body(_PROBE, m), m).kind == "exact")
    return ToolCosts(rows, models, exact)


def _cost(tool: ToolMetadata, models: tuple[str, ...], dialects: Sequence[Dialect]) -> ToolCost:
    size, _ = text_counter(models[0] if models else "")
    by_dialect = {
        dialect.name: size(documentation(dialect, _PROBE, tool))
        - size(documentation(dialect, _PROBE))
        for dialect in dialects
    }
    shorter = {
        name: _tokens(tool.model_copy(update={"input_schema": smaller(tool.input_schema)}), model)
        for model in models[:1]
        for name, smaller in SHORTER.items()
    }
    return ToolCost(tool.name, {m: _tokens(tool, m) for m in models}, by_dialect, shorter)


def _tokens(tool: ToolMetadata, model: str) -> int:
    return sum(count_request(_body(tool, model), model).by_tool.values())


def _body(tool: ToolMetadata, model: str) -> dict[str, Any]:
    """Return a request with the tool in the form of the model's own provider."""
    schema, messages = tool.input_schema, [{"role": "user", "content": "Hello"}]
    head = {"name": tool.name, "description": tool.description}
    family = model_family(model)
    if family == "anthropic":
        return {
            "system": "Hello",
            "messages": messages,
            "tools": [{**head, "input_schema": schema}],
        }
    if family == "gemini":
        contents = [{"role": "user", "parts": [{"text": "Hello"}]}]
        declared = {"functionDeclarations": [{**head, "parameters": schema}]}
        return {"contents": contents, "tools": [declared]}
    function = {"type": "function", "function": {**head, "parameters": schema}}
    return {"messages": messages, "tools": [function]}


@takes(tools=(Session, str, Iterable), targets="list")
def tool_portability(tools: Tools, targets: Sequence[str] = ()) -> Portability:
    """Find what providers refuse or change in the tools' schemas, and what to send instead.

    `targets` are names such as "openai-strict" or "gemini"; all of them by default. There is a
    finding only for documented behaviour. Raises UnknownNameError for an unknown target.
    """
    names = texts("tool_portability(targets=…)", targets)
    chosen = [schema_target(name) for name in names or schema_targets()]
    rows = []
    for tool in _tools(tools):
        for target in chosen:
            findings = lint_tool(tool, target)
            schema = rewrite_tool(tool, target).input_schema if findings else tool.input_schema
            rows.append(PortableTool(tool.name, target.target, target.title, findings, schema))
    return Portability(rows)


def _tools(tools: Tools) -> list[ToolMetadata]:
    if isinstance(tools, Session | str):
        return list(session_or_sample(tools).tools)
    items = list(tools)
    if all(isinstance(item, ToolMetadata) for item in items):
        return items
    return list(read_tools(items))
