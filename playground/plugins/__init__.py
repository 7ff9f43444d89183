"""What the core does without: each folder is a plugin, found through the entry points
`playground.plugins`. Nothing outside of this folder imports one.
"""
