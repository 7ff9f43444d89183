"""The parts of the pages of the imitated systems."""
