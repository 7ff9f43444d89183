"""Checks in a pipeline: reports for GitHub, and changed files beside their earlier versions."""
