"""Make a tokenizer from a GGUF file's vocabulary, with the same tokens as llama.cpp.

The patterns are those of llama.cpp's `llm_tokenizer_bpe` (src/llama-vocab.cpp, 2026-10), chosen by
the file's `tokenizer.ggml.pre`. Each pattern cuts the parts that the previous pattern made.
`benchmarks/vocabularies.py` compares with llama.cpp's golden vectors
(models/ggml-vocab-*.gguf.out).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.dialects.raw_prompts.sources import gguf_contents, gguf_reader
from playground.tokens.sentencepiece import CONTROL, SPACE, USER, Word, model_of
from playground.tokens.tokenizer import FileTokenizer

_ENDINGS: Final = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
_REST: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3: Final = [rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_REST}"]
_QWEN2: Final = [rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_REST}"]
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED: Final = r"[^\r\n\p{{L}}\p{{N}}]?{0}*{1}+{2}|[^\r\n\p{{L}}\p{{N}}]?{0}+{1}*{2}|{3}"
_AFTER: Final = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_DIGITS: Final = [r"\p{N}", _GPT2]
_DEEPSEEK_WORDS: Final = (  # escaped: some letters are not in normal form
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295"
    "-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-"
    "\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5"
    "\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-"
    "\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-"
    "\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-"
    "\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-"
    "\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e"
    "\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-"
    "\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17"
    "\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-"
    "\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-"
    "\U0001e943]+"
)


@dataclass(frozen=True)
class Cut:
    """Patterns that cut texts into parts, for the values `names` of `tokenizer.ggml.pre`. If
    `whole`, a part that is in the vocabulary is one token. If `plain`, the vocabulary's pieces are
    text, not bytes."""

    names: tuple[str, ...]
    patterns: Sequence[str]
    whole: bool = False
    plain: bool = False


CUTS: Final[tuple[Cut, ...]] = (
    Cut(("llama3", "llama-v3", "llama-bpe", "falcon3"), _LLAMA3, whole=True),
    Cut(("dbrx", "smaug-bpe", "chatglm-bpe", "glm4"), _LLAMA3),
    Cut(("gpt-2", "mpt", "olmo", "phi-2", "jais"), [_GPT2]),
    Cut(("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"), _DIGITS),
    Cut(("qwen2", "stablelm2", "hunyuan", "deepseek-r1-qwen", "megrez"), _QWEN2),
    Cut(
        ("qwen35",),
        [
            rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
            r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ],
    ),
    Cut(
        ("deepseek-llm",),
        [
            r"[\r\n]",
            _DEEPSEEK_WORDS,
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
            r"\s+$",
            "[一-龥ࠀ-一가-퟿]+",
            r"\p{N}+",
        ],
    ),
    Cut(("deepseek-coder",), [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"]),
    Cut(
        ("deepseek-v3",),
        [
            r"\p{N}{1,3}",
            "[一-龥぀-ゟ゠-ヿ]+",
            r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
            r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
    ),
    Cut(("falcon",), [r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"]),
    Cut(("tekken",), [_CASED.format(_UPPER, _LOWER, "", rf"\p{{N}}|{_AFTER}")], whole=True),
    Cut(
        ("gpt-4o", "llama4", "minimax-m2"),
        [_CASED.format(_UPPER, _LOWER, f"{_ENDINGS}?", rf"\p{{N}}{{1,3}}|{_AFTER}")],
    ),
    Cut(("gemma4",), [r"[^\n]+|[\n]+"], plain=True),
    Cut(("default",), [r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
)


def gguf_tokenizer(path: Path, name: str, source: str) -> FileTokenizer:
    """Return the tokenizer of a GGUF file.

    Raises InputFault if the package gguf is missing, or if the file has no known vocabulary.
    """
    reader = gguf_reader(path)

    def field(key: str) -> Any:
        return gguf_contents(reader, f"tokenizer.ggml.{key}")

    words = _words(field("tokens") or [], field("scores") or [], field("token_type") or [])
    if not words:
        raise InputFault("holds no vocabulary", where=str(path), expected="tokenizer.ggml.tokens")
    kind = field("model")
    if kind == "llama":
        model = model_of(words, prefix=field("add_space_prefix") is not False)
    elif kind == "bert":
        model = word_piece_model(words)
    else:  # a BPE model of bytes, or another kind with a `Cut`
        pre = str(field("pre") or "default") if kind == "gpt2" else str(kind)
        model = merging_model(words, field("merges") or [], _cut_of(path, pre))
    return FileTokenizer(name, source, model)


def _words(tokens: Sequence[str], scores: Sequence[float], types: Sequence[int]) -> list[Word]:
    if not scores:
        scores = [0.0] * len(tokens)
    if not types:
        types = [1] * len(tokens)
    return [Word(*word) for word in zip(tokens, scores, types, strict=False)]


def _cut_of(path: Path, pre: str) -> Cut:
    cut_rule = next((cut for cut in CUTS if pre in cut.names), None)
    if cut_rule is None:
        names = ", ".join(name for cut in CUTS for name in cut.names)
        raise InputFault(f"texts are cut by {pre!r}", where=str(path), expected=names)
    return cut_rule


def merging_model(words: Sequence[Word], merges: Sequence[str], cut: Cut) -> Any:
    """Return a BPE model of the tokenizers package, which first cuts texts by the rule `cut`."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    pairs = [_pair(merge) for merge in merges]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={word.text: i for i, word in enumerate(words)},
            merges=pairs,
            byte_fallback=cut.plain,
            ignore_merges=cut.whole,
        )
    )
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in cut.patterns]
    if cut.plain:
        tokenizer.normalizer = normalizers.Replace(" ", SPACE)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    else:
        bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*cuts, bytewise])
    special = [AddedToken(w.text, special=True) for w in words if w.type == CONTROL]
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([AddedToken(w.text, normalized=False) for w in words if w.type == USER])
    return tokenizer


def _pair(merge: str) -> tuple[str, str]:
    """Cut a merge at the space between its two pieces; the first may begin with a space."""
    space = merge.index(" ", 1)
    return merge[:space], merge[space + 1 :]


def word_piece_model(words: Sequence[Word]) -> Any:
    """Return BERT's model. GGUF marks pieces that start a word; BERT marks pieces inside a word."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    def plain(text: str) -> str:
        if text.startswith(SPACE):
            return text[1:]
        return text if text.startswith("[") and text.endswith("]") else f"##{text}"

    vocabulary = {plain(word.text): i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([word.text for word in words if word.type == CONTROL])
    return tokenizer
