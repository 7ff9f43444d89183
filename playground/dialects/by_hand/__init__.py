"""Support for dialects that are written by hand, here or in other packages."""
