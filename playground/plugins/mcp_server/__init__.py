"""The playground as an MCP server: an agent asks eight questions and gets answers to act on.

`questions.py` has the questions, `answers.py` the form of an answer, `serving.py` the server.
`cache_mends.py` and `reply_mends.py` look for mends, which are changes of the input that help. A
mend is offered only if the library's own answer for the changed input is better.
"""
