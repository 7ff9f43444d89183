"""Read vocabularies from files: tiktoken's ranks, Mistral's Tekken, `tokenizer.json`.

Nothing is downloaded: tiktoken's own loader would download a missing file, so it is not used. Each
function raises InputFault for a file of another kind.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.json_numbers import json_fault
from playground.base.user_files import read_user_file
from playground.tokens.tokenizer import FileTokenizer, TiktokenTokenizer

_RANKS: Final = "lines of base64 and a rank, as tiktoken writes them"
_TEKKEN: Final = "a Tekken file: JSON with `config.pattern` and `vocab`"
_JSON: Final = "a tokenizer.json as Hugging Face's tokenizers writes it"


def read_ranks(
    path: Path, name: str, pattern: str, controls: Mapping[str, int], source: str
) -> TiktokenTokenizer:
    """Read a file of tiktoken's ranks; `pattern` cuts a text into parts, each of which is
    tokenised."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(read_user_file(path, _RANKS).splitlines(), 1):
        token, _, rank = line.partition(b" ")
        try:
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise InputFault("no token", where=str(path), line=number, expected=_RANKS) from error
    return _encoding(name, pattern, ranks, controls, source)


def tekken(path: Path, name: str, source: str) -> TiktokenTokenizer:
    """Read Mistral's Tekken file. Its control tokens get the ids after the vocabulary."""
    value = _document(path, _TEKKEN)
    try:
        config = value["config"]
        first = int(config["default_num_special_tokens"])
        words = value["vocab"][: int(config["default_vocab_size"]) - first]
        ranks = {base64.b64decode(word["token_bytes"]): int(word["rank"]) for word in words}
        pattern = str(config["pattern"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputFault(f"lacks {error}", where=str(path), expected=_TEKKEN) from error
    control_names = [str(token["token_str"]) for token in value.get("special_tokens") or ()]
    controls = {token: len(ranks) + i for i, token in enumerate(control_names or TEKKEN_CONTROLS)}
    return _encoding(name, pattern, ranks, controls, source)


# Control tokens for files that list none (mistral-common 1.13.1, tokens/tokenizers/tekken.py).
TEKKEN_CONTROLS: Final[Sequence[str]] = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]",
    "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)  # fmt: skip


def tokenizer_json(path: Path, name: str, source: str) -> FileTokenizer:
    """Read a `tokenizer.json`; settings that truncate or pad texts are ignored."""
    return json_text(read_user_file(path, _JSON).decode("utf-8", "replace"), name, source, path)


def json_text(text: str, name: str, source: str, path: Path) -> FileTokenizer:
    """Read the text of a `tokenizer.json`."""
    from tokenizers import Tokenizer as Model

    try:
        model = Model.from_str(text)
    except Exception as error:  # the package has no exception of its own
        problem = f"cannot be read: {error}"
        raise InputFault(problem, where=str(path), expected=_JSON) from error
    model.no_truncation()
    model.no_padding()
    return FileTokenizer(name, source, model)


def _document(path: Path, expected: str) -> dict[str, Any]:
    try:
        value = json.loads(read_user_file(path, expected))
    except (ValueError, RecursionError) as error:
        raise InputFault(json_fault(error), where=str(path), expected=expected) from error
    if not isinstance(value, dict):
        raise InputFault("not an object", where=str(path), expected=expected)
    return value


def _encoding(
    name: str, pattern: str, ranks: dict[bytes, int], controls: Mapping[str, int], source: str
) -> TiktokenTokenizer:
    from tiktoken import Encoding

    encoding = Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(controls))
    return TiktokenTokenizer(encoding, source)
