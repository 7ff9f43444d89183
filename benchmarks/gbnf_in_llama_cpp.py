"""Every dialect's GBNF in llama.cpp's own reader: read, calls taken, wrong ones and cuts refused.

`python benchmarks/gbnf_in_llama_cpp.py VOCABULARY.gguf [WALKS] [DIALECT …]`: a vocabulary whose
tokens have every byte, such as `models/ggml-vocab-llama-spm.gguf` of the sources of the package
llama-cpp-python. PyPI has only its sources: it is built in an environment of its own, unless
LLAMA_CPP_LIB_PATH names a folder with its libraries and CMAKE_ARGS is -DLLAMA_BUILD=OFF. A text is
given byte by byte. llama.cpp also gets WALKS random texts that llguidance takes by the same
grammar's Lark, and calls that are cut off. Exits with 1 if llama.cpp decides otherwise than it
should.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import sys
import time
from pathlib import Path
from typing import Any, Final

from scratch import ROOT, run_beside

NEEDED: Final = (
    "click", "docstring_parser", "jinja2", "jsonschema", "llama-cpp-python==0.3.36",
    "llguidance==1.9.1", "pydantic", "pyyaml", "regex", "rich",
)  # fmt: skip
HEAD: Final = ("dialect", "read ms", "ours taken", "wrong refused", "cuts refused", "walks taken")


class Vocabulary:
    """A vocabulary of llama.cpp without its model, and the token of each byte."""

    def __init__(self, path: str) -> None:
        self.library: Any = importlib.import_module("llama_cpp")
        silent = self.library.llama_log_callback(lambda *_: None)
        self.library.llama_log_set(silent, None)
        self._silent = silent  # else it is collected while the library calls it
        self.library.llama_backend_init()
        wanted = self.library.llama_model_default_params()
        wanted.vocab_only = True
        self._model = self.library.llama_model_load_from_file(path.encode(), wanted)
        if not self._model:
            sys.exit(f"{path} is no vocabulary that llama.cpp reads")
        self.vocabulary = self.library.llama_model_get_vocab(self._model)
        self.end = self.library.llama_vocab_eos(self.vocabulary)
        self.of_byte = self._bytes()

    def _bytes(self) -> dict[int, int]:
        found: dict[int, int] = {}
        text = ctypes.create_string_buffer(64)
        for token in range(self.library.llama_vocab_n_tokens(self.vocabulary)):
            size = self.library.llama_token_to_piece(self.vocabulary, token, text, 64, 0, True)
            if size == 1:
                found.setdefault(text.raw[0], token)
        return found


class LlamaEngine:
    """A grammar as llama.cpp reads it. Raises ValueError if llama.cpp cannot read it."""

    def __init__(self, words: Vocabulary, gbnf: str) -> None:
        self.words, self.library = words, words.library
        self.start = self.library.llama_sampler_init_grammar(
            words.vocabulary, gbnf.encode(), b"root"
        )
        if not self.start:
            raise ValueError("llama.cpp does not read it")

    def accepts(self, text: str) -> bool:
        """Return True if the grammar takes the text, complete as it is."""
        state = self.library.llama_sampler_clone(self.start)
        try:
            data = text.encode(errors="surrogatepass")
            tokens = [self.words.of_byte[byte] for byte in data]
            return all(self._takes(state, token) for token in tokens) and self._allows(
                state, self.words.end
            )
        finally:
            self.library.llama_sampler_free(state)

    def _takes(self, state: Any, token: int) -> bool:
        if not self._allows(state, token):
            return False
        self.library.llama_sampler_accept(state, token)
        return True

    def _allows(self, state: Any, token: int) -> bool:
        one = (self.library.llama_token_data * 1)(self.library.llama_token_data(token, 1.0, 0.0))
        listed = self.library.llama_token_data_array(one, 1, -1, False)
        self.library.llama_sampler_apply(state, ctypes.byref(listed))
        return not math.isinf(one[0].logit)


def row(words: Vocabulary, tried: Any, walks: int) -> tuple[list[object], list[str]]:
    """Return a dialect's figures, and a line for each text on which llama.cpp decides otherwise
    than it should."""
    from grammar_walk import Engine

    begun = time.perf_counter()
    engine = LlamaEngine(words, tried.grammar.gbnf)
    took = time.perf_counter() - begun
    other = Engine(tried.grammar.lark)
    cuts = [text[: len(text) * part // 5] for text in tried.right for part in range(1, 5)]
    cuts = [cut for cut in cuts if not other.accepts(cut)]
    texts = [text for text in tried.walks(other, range(walks)) if text and "\0" not in text]
    faults = [f"refused: {t!r}" for t in [*tried.right, *texts] if not engine.accepts(t)]
    faults += [f"taken: {t!r}" for t in [*tried.wrong, *cuts] if engine.accepts(t)]
    figures = [
        f"{took * 1000:.1f}",
        *tried.taken(engine),
        f"{sum(not engine.accepts(text) for text in cuts)}/{len(cuts)}",
        f"{sum(map(engine.accepts, texts))}/{len(texts)}",
    ]
    return figures, [f"{tried.dialect.name}: {fault[:300]}" for fault in faults]


def main(given: list[str]) -> int:
    if not given or not Path(given[0]).is_file():
        sys.exit(str(__doc__))
    run_beside(*NEEDED)
    sys.path.insert(0, str(ROOT / "tests"))
    from grammar_walk import print_table

    words = Vocabulary(given[0])
    walks = int(next((each for each in given[1:] if each.isdigit()), 20))
    names = [each for each in given[1:] if not each.isdigit()]
    return print_table(HEAD, names, lambda tried: row(words, tried, walks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
