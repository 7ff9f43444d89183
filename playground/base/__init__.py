"""The foundation of all rooms. It knows nothing of dialects, calls or caches.

Errors, findings, files, characters, confined work, and the registry of drawings.
"""
