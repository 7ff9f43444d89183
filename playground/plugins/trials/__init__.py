"""Trials find the dialect that a model handles best, by asking repeatedly for expected calls.

`scoring.py` says what an answer got right, `figures.py` adds up attempts, `plan.py` makes the
requests, or reads recorded answers. Every arm (a dialect with a model) gets the same cases equally
often, so that two arms are compared case by case. `page.py` is Compare's view Trials, `commands.py`
the command `trial`.
"""
