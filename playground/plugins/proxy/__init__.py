"""A proxy between an agent and its provider: it records the traffic and predicts the cache.

There are two processes. The forwarding process (`forwarding.py`) knows only bytes and addresses. It
passes each piece of a request to the provider, and each piece of the answer back to the client, as
the piece arrives; a copy of each piece goes into a pipe (`watcher_pipe.py`). The watching process
(`watching.py`) reads the copies. It records each exchange (`exchange.py`), compares it with the
earlier requests of its session, predicts the cache's reads and writes (`cache_forecast.py`), and
writes the prediction to the run's ledger (`ledger.py`) and to the terminal (`terminal_report.py`).
So no computation delays a byte. The forwarding process waits for a verdict of the watching process
only with `--block`.

Some requests are refused before they are forwarded or recorded: `connection.py` reads the heads of
requests, `refusals.py` has the reasons.

The rule of this package: the provider gets exactly what the client sent, and the client exactly
what the provider sent. A credential is added only if the upstream's address contains one, and it is
sent only there (`upstream.py`). Credentials are never stored.
"""
