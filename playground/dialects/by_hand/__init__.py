"""Dialects written by hand, and those of other packages: their signatures, and their trial."""
