"""Begin a contribution: `playground new` writes the files of a recipe under a new name.

A recipe is a page of docs/contributing, whose code is a working example. The page and the files
that `new` writes have the same code, so that they never differ.
"""
