"""Guides to dialects; the doors to the plugin that checks and derives them."""
