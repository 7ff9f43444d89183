"""Receipts: how much of a file is in the sessions that were read from it.

`leaves.py` walks a file without knowing any format, `holdings.py` lists the contents of sessions,
`comparison.py` compares the two, and `receipt.py` has the result. A format contributes only the
paths that it ignores, each with a reason (`left_aside`).
"""
