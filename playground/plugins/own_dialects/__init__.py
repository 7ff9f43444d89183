"""A user's own dialects: declared on a page, derived from templates or replies, and checked.

`derivation/` derives a dialect from a chat template or from replies. `laws/` tests whether random
examples keep the laws of all dialects. `page.py` is the view Declare, and `commands.py` the command
`dialect`.
"""
