"""Read a conversation as any provider writes it: parts (`parts.py`) and messages (`messages.py`).

The formats of tools and agents wrap these few shapes in envelopes of their own.
"""
