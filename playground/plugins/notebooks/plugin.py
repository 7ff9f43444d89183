"""The contributions of the plugin for notebooks to the core."""

from __future__ import annotations

from typing import Final

from playground.base.registry import Plugin

PLUGIN: Final = Plugin(names={"load_ipython_extension": "playground.plugins.notebooks.magics"})
