"""Optional parts of the playground: each folder is a plugin, found by the entry points
`playground.plugins`. Only plugins import from this folder."""
