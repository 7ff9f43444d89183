"""The only room that imports litellm, which takes 2 to 10 s: only inside functions that need it."""
