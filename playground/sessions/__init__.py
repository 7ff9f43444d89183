"""Sessions: read files of every format; check, edit, store and write sessions."""
