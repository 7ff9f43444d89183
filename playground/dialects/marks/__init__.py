"""Where cache marks go: a policy decides which parts of a request are marked, and why."""
