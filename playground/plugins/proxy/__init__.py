"""A proxy that sees and says: what passes between an agent and its provider, as it passes.

Two processes. The one that forwards (`forwarding.py`) knows bytes and addresses: what comes from
the client goes to the provider and back, piece by piece as it arrives, and a copy of each piece
goes down a pipe (`watcher_pipe.py`). The other one (`watching.py`) takes the copies. It records
each exchange (`exchange.py`), compares it with its session's earlier requests and predicts what
the cache will do (`cache_forecast.py`), and writes that into the run's ledger (`ledger.py`) and on
the terminal (`terminal_report.py`). So no computation can hold a byte back; only with `--block`
does the first process wait for a word of the second.

What is refused is refused before that (`connection.py` reads heads, `refusals.py` says why not).

The one rule: what the client sent is what the provider gets, and the other way round. A credential
is added only if the upstream's address holds one: it goes there alone (`upstream.py`). None is
stored.
"""
