"""Cache: every request's tokens read and written, its cost, and the reasons, in one picture."""

from __future__ import annotations

from playground.app import cache
from playground.app.shared import shortened

asked, view = cache.asked()
if view == "Strip":
    cache.show_strip(asked)
elif view == "Table":
    cache.show_table(asked)
elif view == "Compaction":
    shortened.show(asked)
elif view == "All policies":
    cache.show_every_policy(asked)
else:
    cache.what_is_sent(asked)
