"""The lowest package, which imports no other and knows nothing of dialects, calls or caches.

It has errors, findings, files, characters, confined processes, and the registry of drawings.
"""
