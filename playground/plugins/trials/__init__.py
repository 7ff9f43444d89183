"""Trials find the dialect that a model handles best, by asking repeatedly for expected calls.

`scoring.py` scores an answer, `figures.py` adds up the scores, `plan.py` sends the requests or
reads recorded answers. Every arm (a dialect with a model) gets the same cases equally often, so
that two arms can be compared case by case. `page.py` is Compare's view Trials, `commands.py` the
command `trial`.
"""
