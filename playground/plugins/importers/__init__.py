"""Importers of files that other programs wrote: a module for each format.

They read agents' transcripts, exports of chats, traces, logs of evaluations, HTTP recorded by test
libraries, and rows of training data. `plugin.py` lists the importers in the order in which they are
tried. `shapes/` reads structures that several of these formats share, but no format of the core.
"""
