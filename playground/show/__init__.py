"""Show answers as pandas frames, plotly figures, notebook bundles and data of page components."""
