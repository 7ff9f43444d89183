"""How the app is started and who may reach it: its address, its names, its token (SECURITY.md)."""
