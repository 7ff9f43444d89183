"""Re-export plugins that explain, check and derive dialects, audit templates, and find savings."""
