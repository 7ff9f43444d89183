"""Decode the raw bytes of a provider's stream into chunks and the complete reply, and record them.

`framing.py` cuts bytes into frames, `apis/` has a reader for each provider API, which makes chunks
of its frames. `decoding.py` joins both; `files.py` has the format of a recording on disk.
"""
