"""Tools to check a dialect: its laws, its guide, and its derivation from a template or replies."""
