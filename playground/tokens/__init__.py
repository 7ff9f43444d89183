"""Tokens: count the input of a request as a model reads it, and say how certain the number is.

* a *tokenizer* (`tokenizer.py`) turns text into tokens; `registry.py` finds the files of real ones
  in installed packages, `files.py`, `sentencepiece.py` and `gguf.py` read them;
* a *framing* (`openai_chat.py`, `openai_responses.py`, `templates.py`) writes a request as pieces
  of text, with their origins and the control tokens around them, and reports what it does not know;
* `models.py` gives the tokenizer and the framing of a model, by its name;
* `estimate.py` gives all other models a measured range, never a bare number;
* `prefixes.py` counts the prefixes of a request, which a provider's cache looks at;
* `count.py` uses all of these: `count_request` returns a `TokenCount`. If the model's tokenizer is
  not installed, it counts with a similar one.

A framing is a rule with a source, never a correction of one request. Rules that are not published
were derived from many recorded bills; `benchmarks/tokens.py` compares counts with these bills.
"""
