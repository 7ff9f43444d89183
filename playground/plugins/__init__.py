"""Parts that the core does without: each folder is a plugin behind the entry points
`playground.plugins`.

Nothing outside of this folder imports one.
"""
