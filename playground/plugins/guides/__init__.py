"""Guides to dialects: what a model reads, what it answers, and what a parser reads of that.

`library.py` has the use cases of every dialect, `guide.py` renders them and reads them back.
`page.py` is the view Guide of Dialects, `commands.py` the command `guide`.
"""
