"""The plugin of DSPy's, Flink-Agents' and other systems' formats: commands, pages, names."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

_DSPY_NAMES: Final = ("ChatAdapter", "JSONAdapter", "Signature", "XMLAdapter")

PLUGIN: Final = Plugin(
    commands={
        "signature": PluginCommand("playground.plugins.systems.commands.signatures:signature"),
        "template": PluginCommand("playground.plugins.systems.commands.templates:template"),
    },
    pages=(
        PageEntry(
            "formats",
            "Other formats",
            "forum",
            "What do DSPy signatures, prompt templates and conversation templates send?",
            "conversation-templates.md",
            parts="playground.plugins.systems.pages.templates",
            after="dialects",
            rank=1,
            view="Templates",
            older="templates",
        ),
        PageEntry(
            "prompts",
            "Prompts",
            "edit_note",
            "What does a prompt with variables look like in each form that is sent?",
            parts="playground.plugins.systems.pages.prompts",
            after="dialects",
            rank=2,
            within="formats",
            view="Prompts",
        ),
        PageEntry(
            "signatures",
            "Signatures",
            "signature",
            "What does a signature become in DSPy's adapters, and what is read from an answer?",
            "signatures.md",
            parts="playground.plugins.systems.pages.signatures",
            after="dialects",
            rank=3,
            within="formats",
            view="Signatures",
        ),
    ),
    recognisers=tuple(
        f"playground.plugins.systems.recognisers:recognise_{kind}"
        for kind in ("signature", "agents", "yaml")
    ),
    names=dict.fromkeys(_DSPY_NAMES, "playground.plugins.systems.dspy"),
    doors={
        "agents": "playground.plugins.systems.flink_agents",
        "conversations": "playground.plugins.systems.aichatflow",
        "signatures": "playground.plugins.systems.dspy",
        "templates": "playground.plugins.systems.go_templates",
    },
)
