"""Receipts: how much of a file stands in the sessions that were read from it.

`leaves.py` walks a file and knows no format, `holdings.py` lists what sessions hold, and
`receipt.py` compares the two. A format only says which paths it leaves aside, and why.
"""
