"""Answer what pages, commands and notebooks ask, by pure functions: a session in, an answer out.

Each module answers one question: how do dialects compare, what did this reply parse to, which
dialect is this, what is sent. An answer is a frozen value that shows itself through `display`.
"""
