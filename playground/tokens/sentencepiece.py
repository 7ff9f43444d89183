"""Make a tokenizer from a SentencePiece model (`tokenizer.model`) without the sentencepiece
package.

The file is a protocol buffer (sentencepiece_model.proto: ModelProto); the pieces, the model's type
and `add_dummy_prefix` are read. A BPE model of SentencePiece has no list of merges: it joins two
neighbours by the score of the piece that they make. So the list is made from all ways to cut
a piece in two, ordered by score, as Hugging Face's converter does. A unigram model needs no merges.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import read_user_file
from playground.tokens.tokenizer import FileTokenizer

_EXPECTED: Final = "a SentencePiece model"
SPACE: Final = "▁"
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)  # types of pieces, as in the proto


@dataclass(frozen=True)
class Word:
    """A piece of a vocabulary: its text, its score, and its type (a number in the proto)."""

    text: str
    score: float = 0.0
    type: int = NORMAL


def sentencepiece(path: Path, name: str, source: str) -> FileTokenizer:
    """Read the model from a file. Raises InputFault for another file, or one without vocabulary."""
    data = read_user_file(path, _EXPECTED)
    try:
        words, is_bpe, prefix = _read(data)
    except (ValueError, LookupError, AttributeError, struct.error) as error:
        problem = f"cannot be read ({error})"
        raise InputFault(problem, where=str(path), expected=_EXPECTED) from error
    if not words:
        raise InputFault("holds no vocabulary", where=str(path), expected=_EXPECTED)
    return FileTokenizer(name, source, model_of(words, is_bpe, prefix))


def model_of(words: Sequence[Word], is_bpe: bool = True, prefix: bool = True) -> Any:
    """Return a tokenizer of the tokenizers package; if `prefix`, it puts a space before a text."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers

    ids = {word.text: i for i, word in enumerate(words)}
    unknown = next((i for i, word in enumerate(words) if word.type == UNKNOWN), 0)
    bytewise = any(word.type == BYTE for word in words)
    if is_bpe:
        model: Any = models.BPE(
            vocab=ids,
            merges=merges_of(words),
            unk_token=words[unknown].text,
            fuse_unk=True,
            byte_fallback=bytewise,
        )
    else:
        scores = [(word.text, word.score) for word in words]
        model = models.Unigram(scores, unknown, bytewise)
    tokenizer = Tokenizer(model)
    steps = [normalizers.Prepend(SPACE)] if prefix else []
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", SPACE)])
    tokenizer.add_special_tokens([_added_token(AddedToken, w) for w in words if w.type == CONTROL])
    tokenizer.add_tokens([_added_token(AddedToken, word) for word in words if word.type == USER])
    return tokenizer


def _added_token(kind: Any, word: Word) -> Any:
    return kind(word.text, normalized=False, special=word.type == CONTROL)


def merges_of(words: Sequence[Word]) -> list[tuple[str, str]]:
    """Return all pairs of pieces that make a third piece, those with its highest score first."""
    plain = {w.text: i for i, w in enumerate(words) if w.type not in (CONTROL, BYTE, UNKNOWN)}
    merges = []
    for text, rank in plain.items():
        cuts = ((text[:i], text[i:]) for i in range(1, len(text)))
        pairs = [pair for pair in cuts if pair[0] in plain and pair[1] in plain]
        pairs.sort(key=lambda pair: (plain[pair[0]], plain[pair[1]]))
        merges += [(words[rank].score, pair) for pair in pairs]
    merges.sort(key=lambda each: -each[0])
    return [pair for _score, pair in merges]


def _read(data: bytes) -> tuple[list[Word], bool, bool]:
    """Return a model's pieces, and True or False for `is_bpe` and `prefix` of `model_of`."""
    words: list[Word] = []
    is_bpe, prefix = False, True
    for number, value in _fields(data):
        if number == 1:
            words.append(_word(value))
        elif number == 2:  # trainer_spec: model_type, 2 is BPE
            is_bpe = any(key == 3 and kind == 2 for key, kind in _fields(value))
        elif number == 3:  # normalizer_spec: add_dummy_prefix
            prefix = all(key != 3 or flag for key, flag in _fields(value))
    return words, is_bpe, prefix


def _word(data: bytes) -> Word:
    fields = dict(_fields(data))
    (score,) = struct.unpack("<f", fields[2]) if 2 in fields else (0.0,)
    return Word(fields[1].decode(), score, fields.get(3, NORMAL))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a protocol buffer's message: their numbers and values."""
    offset = 0
    while offset < len(data):
        key, offset = _varint(data, offset)
        kind = key & 7
        if kind == 0:
            value, offset = _varint(data, offset)
            yield key >> 3, value
            continue
        size, offset = _varint(data, offset) if kind == 2 else ({1: 8, 5: 4}[kind], offset)
        if offset + size > len(data):
            raise ValueError("it ends too early")
        yield key >> 3, data[offset : offset + size]
        offset += size


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, offset
