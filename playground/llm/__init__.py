"""The only room that imports litellm: only inside functions, because it takes 2 to 10 seconds."""
