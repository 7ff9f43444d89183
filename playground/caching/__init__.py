"""Cache breakpoints on plain message dicts: who the model is, where a policy puts marks, and why."""
