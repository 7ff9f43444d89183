"""Read a chat template from a file, from its text, or from a GGUF file's metadata."""

from __future__ import annotations

import dataclasses
from os import PathLike
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import check_regular_file
from playground.dialects.raw_prompts.chat_template import ChatTemplate

_TEMPLATE: Final = "tokenizer.chat_template"
_TOKENS: Final = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
}


# Texts for tokens that a template names, for a template that comes without its tokenizer.
STAND_INS: Final = {"bos_token": "<|bos|>", "eos_token": "<|eos|>"}


def template_of(source: str | PathLike[str] | ChatTemplate) -> ChatTemplate:
    """Return a template from a path or a text, or from a ChatTemplate.

    A stand-in replaces a missing BOS or EOS token. Raises InputFault if nothing can be read.
    """
    if isinstance(source, ChatTemplate):
        template = source
    elif isinstance(source, str) and _is_text(source):
        template = ChatTemplate(source)
    elif Path(source).suffix.lower() == ".gguf":
        template = _of_gguf(Path(source))
    else:
        template = ChatTemplate.load(source)
    return dataclasses.replace(template, tokens={**STAND_INS, **template.tokens})


def _is_text(source: str) -> bool:
    """Return True for a text with a Jinja tag or a line break, which no file's name has."""
    return "{%" in source or "{{" in source or "\n" in source


def gguf_reader(path: Path) -> Any:
    """Open a GGUF file. Raises InputFault if it is unreadable, or the package gguf missing."""
    try:
        from gguf import GGUFReader
    except ImportError:
        from playground.base.extras import requirement

        raise InputFault(
            "a GGUF file is read by the package gguf, which is not installed",
            where=str(path),
            expected=f"pip install {requirement('tokens')}, or the model's own files in JSON",
        ) from None
    try:
        check_regular_file(
            path, "a GGUF file on disk (not a pipe), because it is read at several places"
        )
        return GGUFReader(str(path))
    except (OSError, ValueError) as error:
        raise InputFault(f"cannot be read: {error}", where=str(path)) from error


def _of_gguf(path: Path) -> ChatTemplate:
    reader = gguf_reader(path)
    source = gguf_contents(reader, _TEMPLATE)
    if not isinstance(source, str):
        raise InputFault("has no chat template", where=str(path), expected=_TEMPLATE)
    vocabulary = gguf_contents(reader, "tokenizer.ggml.tokens") or []
    ids = {name: gguf_contents(reader, key) for name, key in _TOKENS.items()}
    tokens = {
        name: vocabulary[number]
        for name, number in ids.items()
        if isinstance(number, int) and number < len(vocabulary)
    }
    return ChatTemplate(source, tokens, path.name)


def gguf_contents(reader: Any, key: str) -> Any:
    field = reader.get_field(key)
    return field.contents() if field is not None else None
