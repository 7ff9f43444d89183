"""The commands of the imitated systems."""
