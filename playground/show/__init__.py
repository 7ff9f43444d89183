"""Answers as pandas frames, plotly figures, notebook bundles and the data of page components."""
