"""Checks in a pipeline: reports for GitHub, and changed files compared with their old versions."""
