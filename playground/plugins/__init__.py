"""Parts without which the core works: each folder is a plugin behind the entry points
`playground.plugins`. Only plugins import from this folder.
"""
