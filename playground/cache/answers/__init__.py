"""Answer questions about a session's cache: where marks land, what is sent, what it would cost."""
