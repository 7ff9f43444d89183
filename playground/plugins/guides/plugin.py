"""The contributions of the plugin for guides to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"guide": PluginCommand("playground.plugins.guides.commands:guide")},
    pages=(
        PageEntry(
            "guide",
            "Guide",
            "menu_book",
            "What does this dialect send, what does it read, and which servers read it?",
            "dialects.md",
            parts="playground.plugins.guides.page",
            after="dialects",
            within="dialects",
            view="Guide",
        ),
    ),
    drawings=("playground.plugins.guides.drawings",),
    recognisers=("playground.plugins.guides.recogniser:recognise_use_cases",),
    unwrappers=("playground.plugins.guides.recogniser:unwrap_use_cases",),
    names={"guide_for": "playground.plugins.guides.guide"},
    doors={"lab.guides": "playground.plugins.guides.public"},
)
