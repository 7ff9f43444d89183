"""The contributions of the plugin for pipelines (CI) to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"check-changed": PluginCommand("playground.plugins.ci.changed:check_changed")},
    reports={
        ".sarif": "playground.plugins.ci.sarif:sarif",
        ".xml": "playground.plugins.ci.junit:junit",
        ".md": "playground.plugins.ci.markdown:markdown",
    },
)
