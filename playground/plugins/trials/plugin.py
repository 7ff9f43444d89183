"""The contributions of trials to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={
        "trial": PluginCommand("playground.plugins.trials.commands:trial"),
        "demo-server": PluginCommand(
            "playground.plugins.trials.commands:demo_server", lasting=True
        ),
    },
    additions={"run in all columns": "playground.plugins.trials.demo_server:started"},
    pages=(
        PageEntry(
            "trials",
            "Trials",
            "experiment",
            "Which dialect does my model handle best, by the calls that are expected of it?",
            "trials.md",
            parts="playground.plugins.trials.page",
            after="raw",
            within="compare",
            view="Trials",
        ),
    ),
    drawings=("playground.plugins.trials.drawings",),
    names={
        **dict.fromkeys(("expect", "trial"), "playground.plugins.trials.plan"),
        "serving": "playground.plugins.trials.demo_server",
    },
    doors={
        "questions.trials": "playground.plugins.trials.public",
        "llm.demo_server": "playground.plugins.trials.demo_server",
    },
)
