"""The only room that imports litellm, and only inside the function that needs it (2 to 10 s)."""
