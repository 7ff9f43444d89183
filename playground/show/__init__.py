"""Frames (pandas), figures (plotly), notebook bundles and page components of the core's values."""
