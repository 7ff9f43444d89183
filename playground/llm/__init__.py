"""The only room that imports litellm, and only inside functions: importing it takes 2 to 10 s."""
