"""Begin a contribution: `playground new` writes the files of a recipe under a name of one's own.

A recipe is a page of docs/contributing, whose code is a working example. So a page is never longer
than its code, and a template never differs from what the page says.
"""
