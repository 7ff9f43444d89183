"""Re-export plugins that explain dialects, check them, derive them, and find savings."""
