"""Receipts: how much of a file is in the sessions that were read from it.

`leaves.py` walks a file without knowing any format, `holdings.py` lists the contents of sessions,
and `receipt.py` compares the two. A format only says which paths it leaves aside, and why.
"""
