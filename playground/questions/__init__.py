"""Answer what pages, commands and notebooks ask, by pure functions from a session to an answer.

Each module answers one question: how do dialects compare, what did this reply parse to, which
dialect is this, what is sent. An answer is a frozen value that `display` can draw.
"""
