"""Dialects of one's own: declared on a page, derived from templates or replies, and checked.

`derivation/` derives a dialect from a chat template or from replies, `laws/` tries its laws on
random examples. `page.py` is the view Declare, and `commands.py` the command `dialect`.
"""
