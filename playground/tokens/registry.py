"""The known tokenizers, and their files in installed packages.

Importing LiteLLM takes seconds, so its files are found in its folder without importing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from playground.base.errors import InputFault, UnknownNameError
from playground.tokens.files import read_ranks, tekken, tokenizer_json
from playground.tokens.tokenizer import Tokenizer

# The patterns that cut a text into parts before it becomes tokens: tiktoken 0.14, openai_public.py,
# and Meta's llama3/tokenizer.py and llama4/tokenizer.py (llama-models 0.3.0).
_P50K: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_ENDING: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K: Final = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_ENDING}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_ENDING}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
_LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LLAMA3_CONTROLS: Final = (
    "<|begin_of_text|>", "<|end_of_text|>", "<|finetune_right_pad_id|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>",
)  # fmt: skip
_LLAMA4_CONTROLS: Final = (
    "<|begin_of_text|>", "<|end_of_text|>", "<|header_start|>", "<|header_end|>", "<|eom|>",
    "<|eot|>", "<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>", "<|image|>",
    "<|image_start|>", "<|image_end|>", "<|patch|>",
)  # fmt: skip
_OPENAI_END: Final = "<|endoftext|>"
STAND_IN: Final = "o200k_base"  # for models whose tokenizer is not published

Reader = Callable[[Path, str, str], Tokenizer]


@dataclass(frozen=True)
class Likeness:
    """A comparison of a tokenizer with a similar one, `to`, which comes with LiteLLM. `ratio` (for
    ASCII) and `other_letters` are the tokens for each token of the similar tokenizer: lowest,
    middle, highest. If `digits`, each digit is a token; OpenAI's tokenizers join up to three
    digits."""

    to: str
    ratio: tuple[float, float, float]
    other_letters: tuple[float, float, float]
    digits: bool = False


@dataclass(frozen=True)
class Packaged:
    """A vocabulary in a package: the package to install, the file in it, and its reader."""

    package: str
    module: str
    file: str
    pattern: str = ""
    controls: Mapping[str, int] = field(default_factory=dict)
    reader: Reader | None = None
    like: Likeness | None = None

    def path(self) -> Path | None:
        """Return the path of the file; None if the package is not installed or has no such file."""
        spec = find_spec(self.module)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / self.file
            if path.is_file():
                return path
        return None

    def read(self, name: str) -> Tokenizer:
        path = self.path()
        if path is None:
            from playground.base.extras import requirement

            extra = "llm" if self.package == "litellm" else "tokens"
            raise InputFault(
                f"the tokenizer {name!r} is in the package {self.package}, which is not installed",
                expected=f"pip install {requirement(extra)}, or a file of the tokenizer",
            )
        file = f"{path.name} of " if path.suffix else ""  # LiteLLM's file names are hashes
        source = f"{file}{self.package} {metadata.version(self.package)}"
        if self.reader is not None:
            return self.reader(path, name, source)
        return read_ranks(path, name, self.pattern, self.controls, source)


def _litellm(
    file: str, pattern: str = "", controls: Mapping[str, int] | None = None,
    reader: Reader | None = None,
) -> Packaged:  # fmt: skip
    folder = "litellm_core_utils/tokenizers"
    return Packaged("litellm", "litellm", f"{folder}/{file}", pattern, controls or {}, reader)


def _llama(
    folder: str, size: int, pattern: str, controls: tuple[str, ...], like: Likeness
) -> Packaged:
    ids = {token: size + i for i, token in enumerate(controls)}
    file = f"{folder}/tokenizer.model"
    return Packaged("llama-models", "llama_models", file, pattern, ids, like=like)


def _mistral(file: str, reader: Reader, like: Likeness) -> Packaged:
    return Packaged("mistral-common", "mistral_common", f"data/{file}", reader=reader, like=like)


def _sentencepiece(path: Path, name: str, source: str) -> Tokenizer:
    from playground.tokens.sentencepiece import sentencepiece

    return sentencepiece(path, name, source)


# Llama 3's vocabulary is that of cl100k_base (the first 100,000 tokens) and 28,000 words of other
# languages. The ratios for ASCII were measured over the texts of 1,784 recorded requests of 13
# public projects, those for other letters over ten languages (2026-11). The ranges are wider than
# measured.
_LIKE_CL100K: Final = Likeness("cl100k_base", (0.93, 1.0, 1.02), (0.35, 0.7, 1.05))
_LIKE_O200K: Final = Likeness("o200k_base", (0.8, 1.0, 1.25), (0.6, 1.0, 1.5))
_LIKE_TEKKEN: Final = Likeness("o200k_base", (0.9, 1.05, 1.4), (0.7, 1.1, 2.6), digits=True)
_LIKE_PIECES: Final = Likeness("o200k_base", (0.95, 1.15, 1.8), (0.95, 2.0, 3.6), digits=True)


# LiteLLM names its copies of OpenAI's files by the hash of their address, as tiktoken's cache does.
PACKAGED: Final[Mapping[str, Packaged]] = {
    "o200k_base": _litellm(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        _O200K,
        {_OPENAI_END: 199999, "<|endofprompt|>": 200018},
    ),
    "cl100k_base": _litellm(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        _CL100K,
        {_OPENAI_END: 100257, "<|endofprompt|>": 100276},
    ),
    "p50k_base": _litellm("ec7223a39ce59f226a68acc30dc1af2788490e15", _P50K, {_OPENAI_END: 50256}),
    "claude-2": _litellm("anthropic_tokenizer.json", reader=tokenizer_json),
    "llama3": _llama("llama3", 128_000, _LLAMA3, _LLAMA3_CONTROLS, _LIKE_CL100K),
    "llama4": _llama("llama4", 200_000, _O200K, _LLAMA4_CONTROLS, _LIKE_O200K),
    "tekken": _mistral("tekken_240911.json", tekken, _LIKE_TEKKEN),
    "mistral-v1": _mistral("tokenizer.model.v1", _sentencepiece, _LIKE_PIECES),
    "mistral-v3": _mistral(
        "mistral_instruct_tokenizer_240323.model.v3", _sentencepiece, _LIKE_PIECES
    ),
}


def tokenizer_names() -> list[str]:
    """Return all names for `packaged`, also those of packages that are not installed."""
    return list(PACKAGED)


@cache
def packaged(name: str) -> Tokenizer:
    """Return a tokenizer from a package, by its name. The first call takes 0.1 to 1 s.

    Raises UnknownNameError for an unknown name, and InputFault if its package is not installed.
    """
    if name not in PACKAGED:
        raise UnknownNameError("tokenizer", name, tokenizer_names())
    return PACKAGED[name].read(name)
