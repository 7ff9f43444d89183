"""Load a tokenizer that a user names: a file of a known kind, or the folder of a model.

A file that needs a conversion is converted once. The result is stored next to the workspace, under
a name made from the file's path, size and time.
"""

from __future__ import annotations

import hashlib
import re
from os import PathLike
from pathlib import Path
from typing import Final

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.output import write_file
from playground.base.user_files import open_regular_file, read_user_file
from playground.tokens.files import json_text, read_ranks, tekken, tokenizer_json
from playground.tokens.gguf import gguf_tokenizer
from playground.tokens.registry import PACKAGED, packaged
from playground.tokens.sentencepiece import sentencepiece
from playground.tokens.tokenizer import FileTokenizer, Tokenizer

_EXPECTED: Final = "a tokenizer.json, tokenizer.model, tekken.json or GGUF file, or a known name"
_IN_FOLDER: Final = ("tokenizer.json", "tekken.json", "tokenizer.model")
_EXPECTED_IN_FOLDER: Final = f"one of {', '.join(_IN_FOLDER)} in it, or the path of a GGUF file"
_RANK: Final = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?\n")
_KINDS: Final = {".gguf": gguf_tokenizer, ".model": sentencepiece}
_FORM: Final = 1  # version of the conversion: after a change of it, files are converted again


def load_tokenizer(source: str | PathLike[str]) -> Tokenizer:
    """Load the tokenizer of a file, of a folder with such a file, or of a package by its name.

    Raises InputFault for a file that is missing or cannot be read, and UnknownNameError for an
    unknown name.
    """
    path = Path(source)
    if path.is_dir():
        files = [path / name for name in _IN_FOLDER if (path / name).is_file()]
        if not files:
            raise InputFault("holds no tokenizer", where=str(path), expected=_EXPECTED_IN_FOLDER)
        path = files[0]
    if not path.exists():
        if isinstance(source, str) and (source in PACKAGED or not path.suffix):
            return packaged(source)
        raise InputFault("no such file", where=str(path), expected=_EXPECTED)
    return _load_file(path)


def _load_file(path: Path) -> Tokenizer:
    name, source = path.name, str(path)
    try:
        with open_regular_file(path, _EXPECTED) as file:
            head = file.read(4_096)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise InputFault(reason, where=source, expected=_EXPECTED) from error
    if head.startswith(b"GGUF"):
        return _load_converted(path, ".gguf")
    if head.lstrip().startswith(b"{"):
        if re.search(rb'"default_num_special_tokens"', head):
            return tekken(path, name, source)
        return tokenizer_json(path, name, source)
    return _ranks(path, name, source) if _RANK.match(head) else _load_converted(path, ".model")


def _ranks(path: Path, name: str, source: str) -> Tokenizer:
    """Read a file of tiktoken's ranks. The file lacks the splitting pattern and control tokens;
    these are Llama 3's if there are fewer than 150,000 ranks, otherwise Llama 4's."""
    lines = read_user_file(path, _EXPECTED).count(b"\n")
    name_of_similar = "llama3" if lines < 150_000 else "llama4"
    similar = PACKAGED[name_of_similar]
    return read_ranks(path, name, similar.pattern, similar.controls, source)


def _load_converted(path: Path, kind: str) -> FileTokenizer:
    """Load a converted file, after converting and storing it if that was not done before."""
    stat = path.stat()
    key = f"{_FORM} {path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    converted = paths.tokenizers() / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
    if converted.is_file():
        return json_text(converted.read_text(encoding="utf-8"), path.name, str(path), converted)
    tokenizer = _KINDS[kind](path, path.name, str(path))
    converted.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_file(converted, tokenizer.model.to_str(), force=True)
    return tokenizer
