"""A user's own dialects: declared on a page, derived from templates or replies, and checked.

`derivation/` derives a dialect from a chat template or from replies. `laws/` tests whether random
examples keep the laws of all dialects. `response_templates/` writes a dialect for transformers.
`audit.py` finds faults in a chat template, which `asking.py` renders. `page.py` is the view
Declare, `commands.py` has the commands `dialect` and `chat-template`.
"""

from typing import Final

RULES: Final = "To call a tool, write exactly the form of the example below."
"""The first rules of a new dialect. In its prompt, an example of a call follows the rules."""
