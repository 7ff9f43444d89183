"""A user's own dialects: declared on a page, derived from templates or replies, and checked.

`derivation/` derives a dialect from a chat template or from replies. `laws/` tests whether random
examples keep the laws of all dialects. `audit.py` finds faults in a chat template. `asking.py`
renders templates. `page.py` is the view Declare, `commands.py` has two commands.
"""

from typing import Final

RULES: Final = "To call a tool, write exactly the form of the example below."
"""The first rules of a new dialect. In its prompt, an example of a call follows the rules."""
