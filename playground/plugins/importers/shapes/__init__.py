"""Read structures that several importers share: turns of traces, spans, compactions, calls in
text."""
