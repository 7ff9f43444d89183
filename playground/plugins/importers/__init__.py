"""Importers of what other programs wrote: a file for each format.

They read agents' transcripts, exports of chats, traces, logs of evaluations, recorded HTTP of test
libraries and rows of training data. `plugin.py` lists them in the order in which they are tried.
`shapes/` reads what several of them share and no format of the core has.
"""
