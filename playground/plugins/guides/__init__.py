"""Guides to dialects: the prompt that a model gets, its answer, and the calls that a parser reads
in the answer.

`library.py` has the use cases of every dialect; `guide.py` renders the prompts and reads the
answers. `page.py` is the view Guide of Dialects, `commands.py` the command `guide`.
"""
