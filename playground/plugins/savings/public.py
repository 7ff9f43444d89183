"""The names of savings that scripts import, from `playground.lab.savings`."""

from playground.plugins.savings.compacted import CompactionWhatIf, HistoryCut, Shorter
from playground.plugins.savings.compaction import compaction
from playground.plugins.savings.shortening import shortening, shortenings
from playground.plugins.savings.tool_plan import PlannedTools, ToolPlan, ToolUse, plan_tools

__all__ = [
    "CompactionWhatIf",
    "HistoryCut",
    "PlannedTools",
    "Shorter",
    "ToolPlan",
    "ToolUse",
    "compaction",
    "plan_tools",
    "shortening",
    "shortenings",
]
