"""The only room that imports litellm, always inside functions, because the import takes 2 to 10
s."""
