"""Sessions and recordings: the native file format, read with one clear error for bad input."""
