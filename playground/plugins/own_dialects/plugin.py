"""The contributions of the plugin for a user's own dialects to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={
        "dialect": PluginCommand("playground.plugins.own_dialects.commands:dialect"),
        "chat-template": PluginCommand("playground.plugins.own_dialects.commands:chat_template"),
    },
    additions={
        "raw prompt: warnings": "playground.plugins.own_dialects.audit:prompt_warnings",
        "raw prompt: audit": "playground.plugins.own_dialects.audit_view:show",
    },
    pages=(
        PageEntry(
            "declare",
            "Declare",
            "design_services",
            "How would a dialect of your own write and read calls, and does it keep the laws?",
            "own-dialect.md",
            parts="playground.plugins.own_dialects.page",
            after="values",
            within="dialects",
            view="Declare",
            older="own",
        ),
    ),
    drawings=("playground.plugins.own_dialects.drawings",),
    names={
        "audit_template": "playground.plugins.own_dialects.audit",
        "check_dialect": "playground.plugins.own_dialects.laws",
        "dialect_from_template": "playground.plugins.own_dialects.derivation",
        "response_template": "playground.plugins.own_dialects.response_templates",
        "propose_dialect": "playground.plugins.own_dialects.derivation",
    },
    doors={
        "lab.audit": "playground.plugins.own_dialects.audit",
        "lab.derivation": "playground.plugins.own_dialects.derivation",
        "lab.laws": "playground.plugins.own_dialects.laws",
    },
)
