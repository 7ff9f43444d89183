"""Importers of what other programs wrote: a file for each format.

They read agents' transcripts, exports of chats, traces, logs of evaluations, HTTP recorded by test
libraries, and rows of training data. `plugin.py` lists them in the order in which they are tried.
`shapes/` reads what several of these formats share, but no format of the core has.
"""
