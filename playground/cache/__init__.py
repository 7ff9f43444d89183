"""Predict what a request reads from a provider's prompt cache, writes to it and costs.

`rules/` holds each provider's dated rules. `prefixes.py` hashes the prefixes of a request,
`breakpoints.py` finds where the provider caches, `simulator.py` simulates the cache.
"""
