"""Start the app, and decide who may reach it: its address, its names, its token (SECURITY.md)."""
