"""llama.cpp's golden vectors: each text of a vocabulary's `.inp` against the tokens of its `.out`.

python benchmarks/vocabularies.py FOLDER [--show N]

FOLDER is llama.cpp's `models/`, which the source of llama-cpp-python carries in vendor/llama.cpp.
Needs the package gguf. Vocabularies are converted anew in each run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playground.base.errors import InputFault
from playground.tokens.gguf import gguf_tokenizer

_BETWEEN = "\n__ggml_vocab_test__\n"


def cases(path: Path) -> list[tuple[str, list[int]]]:
    """Return a vocabulary's texts, each with its tokens."""
    inputs = Path(f"{path}.inp").read_text(encoding="utf-8").split(_BETWEEN)
    outputs = Path(f"{path}.out").read_text(encoding="utf-8").splitlines()
    wanted = [[int(number) for number in line.split()] for line in outputs]
    return list(zip(inputs, wanted, strict=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", type=int, default=0)
    given = parser.parse_args()
    for path in sorted(given.folder.glob("ggml-vocab-*.gguf")):
        if not Path(f"{path}.inp").exists():
            continue
        try:
            tokenizer = gguf_tokenizer(path, path.name, str(path))
        except InputFault as fault:
            print(f"{path.stem:32} {fault}")
            continue
        rows = [(text, want, tokenizer.ids(text)) for text, want in cases(path)]
        wrong = [row for row in rows if row[1] != row[2]]
        print(f"{path.stem:32} {len(rows) - len(wrong)} of {len(rows)}")
        for text, want, got in wrong[: given.show]:
            print(f"  {text[:60]!r}\n    wanted {want[:16]}\n    got    {got[:16]}")


if __name__ == "__main__":
    main()
