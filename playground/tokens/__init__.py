"""Tokens: what a request's input is to a model, and what is certain about the number.

* a *tokenizer* (`tokenizer.py`) turns text into tokens; `registry.py` knows where files of real
  ones lie in installed packages, `files.py`, `sentencepiece.py` and `gguf.py` read them;
* a *framing* (`openai_chat.py`, `openai_responses.py`, `templates.py`) writes a request as pieces
  of text with their origins and the control tokens around them, and says what it does not know;
* `models.py` says which of both a model has, by its name;
* `nearly.py` counts with a tokenizer that is like the model's own, where that is not installed;
* `estimate.py` is for the rest: a measured range, never a bare number;
* `count.py` puts them together: `count_request` gives a `TokenCount`.

A framing is a rule with a source, never a correction of one request. What nobody published is told
by many recorded bills; `benchmarks/tokens.py` compares with them, model by model.
"""

from playground.tokens.count import TokenCount, count_request

__all__ = ["TokenCount", "count_request"]
