"""Recordings: the raw wire of a provider's stream in, chunks and the whole reply out.

`framing.py` cuts bytes into frames, `apis/` has a reader for each provider API, which makes chunks
of its frames. `decoding.py` joins both; `files.py` has the format of a recording on disk.
"""
