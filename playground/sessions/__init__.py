"""Sessions: how files of every format are read, checked, edited, stored and written."""
