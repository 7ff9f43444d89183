"""Guides to dialects, and two modules that import names of the plugin `own_dialects`."""
