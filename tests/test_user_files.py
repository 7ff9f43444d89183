"""Small files of the user's own are read alike, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.base.errors import InputFault
from playground.dialects.marks.own_policies import load_policy
from playground.plugins.systems.aichatflow import load_templates

POLICY = '{"name": "tail", "marks": [{"role": "user"}]}'
LOADERS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "policy": (load_policy, POLICY, "a policy's JSON file"),
    "templates": (load_templates, '{"default": [{"role": "request"}]}', "a file of templates"),
}
each_loader = pytest.mark.parametrize("name", LOADERS)


@each_loader
def test_a_byte_order_mark_is_no_part_of_the_file(name: str, tmp_path: Path) -> None:
    load, text, _ = LOADERS[name]
    path = tmp_path / "file.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(path)


@each_loader
def test_what_cannot_be_read_is_one_clear_error(name: str, tmp_path: Path) -> None:
    load, text, expected = LOADERS[name]
    path = tmp_path / "file.json"
    with pytest.raises(InputFault, match=f"No such file or directory; expected {expected}"):
        load(path)
    with pytest.raises(InputFault, match=f"Is a directory; expected {expected}"):
        load(tmp_path)
    path.write_bytes(text.encode() + b"\n\xff")
    with pytest.raises(InputFault, match="file.json:2: byte 0xff is not UTF-8; expected UTF-8"):
        load(path)
    path.write_text(text + " " * 4_000_000)
    with pytest.raises(InputFault, match="file.json: the file is too long; expected .*000 bytes"):
        load(path)
