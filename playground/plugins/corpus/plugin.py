"""The corpus' contributions to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import PageEntry, Plugin, PluginCommand

PLUGIN: Final = Plugin(
    commands={"corpus": PluginCommand("playground.plugins.corpus.commands:corpus")},
    pages=(
        PageEntry(
            "corpus",
            "Corpus",
            "database",
            "What do thousands of recorded sessions say: which calls fail, what breaks caches?",
            "corpus.md",
            parts="playground.plugins.corpus.overview",
            after="diff",
            rank=1,
            view="Overview",
        ),
        PageEntry(
            "questions",
            "Questions",
            "database",
            "What do thousands of recorded sessions say, one question at a time?",
            "corpus.md",
            parts="playground.plugins.corpus.page",
            after="diff",
            rank=1,
            within="corpus",
            view="Questions",
        ),
    ),
    drawings=("playground.plugins.corpus.drawings",),
    names={"corpus": "playground.plugins.corpus.asking"},
    doors={"corpora": "playground.plugins.corpus.asking"},
)
