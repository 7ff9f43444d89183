"""Recordings: the raw wire of a provider's stream in, chunks and the whole reply out.

`framing.py` cuts bytes into frames, `apis/` hold one file for each provider API, `decoding.py`
joins them, `loading.py` reads files.
"""
