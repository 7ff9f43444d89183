"""Cache breakpoints on plain message dicts: where a policy puts marks, and why not elsewhere."""
