"""Commands of the systems that are imitated."""
