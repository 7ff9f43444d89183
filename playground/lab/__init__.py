"""Is a dialect right? Laws that are tried on it, its guide, and a dialect read off a template."""
