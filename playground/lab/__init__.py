"""Modules that re-export plugins: they explain dialects, check and derive them, find savings."""
