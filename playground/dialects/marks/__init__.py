"""Policies, which decide which parts of a request get a cache mark, and why."""
