"""Savings of a session that sends less: a shorter history, or fewer tools in the first prompt.

`shortening.py` has the policies that shorten a history and `compaction.py` compares them; the
answer is in `compacted.py`. `deferral.py` rewrites requests with deferred tools and `tool_plan.py`
compares which to defer. `page.py` is Cache's view Compaction, `deferred_tools.py` a section of its
view Strip; `commands.py` has `compaction` and the plan of `tools --plan`.
"""
