"""The foundation of every room, which knows nothing of this field.

Errors, findings, files, characters, confined work, and the registry of drawings.
"""
