"""Predict what a request reads from a provider's prompt cache, writes to it and costs.

`rules/` holds what each provider says, dated. `prefixes.py` hashes a request's beginnings,
`breakpoints.py` finds where the provider caches, `simulator.py` keeps an imagined cache.
"""
