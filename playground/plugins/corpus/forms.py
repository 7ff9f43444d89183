"""Validate the files that a corpus writes about itself: its catalog, and a manifest for each shard.

An invalid file is reported or built again, and never used, because a corpus may come from
strangers, and a build deletes the files that a manifest lists.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
_Number = Annotated[int, Field(ge=0, lt=1 << 64)]
_Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{1,64}$")]
_Month = Annotated[str, StringConstraints(pattern=r"^[\w-]*$", max_length=40)]
_FileName = Annotated[
    str,
    StringConstraints(
        pattern=r"^(facts/v\d+/[a-z_]+(/month=[\w-]*)?|blocks)/[0-9a-f]+\.(pack|parquet)$"
    ),
]
_Problem = dict[str, str]  # its keys: name, problem


class _StrictModel(BaseModel):
    model_config = ConfigDict(strict=True)


class _Piece(_StrictModel):
    content: _Hex
    name: str
    path: str
    start: _Count
    size: _Count
    stamp: str = ""


class _Manifest(_StrictModel):
    layout: int
    analysis: int
    shard: _Hex
    redacts: bool
    pieces: list[_Piece]
    spoiled: list[str]
    faults: list[_Problem]
    rereadable: bool
    rows: dict[str, _Count]
    files: dict[_FileName, _Count]
    months: list[_Month] = []
    starred: dict[str, _Count] = {}


class _Catalog(_StrictModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    generation: _Count = 0
    analysis: int = 0
    redacts: bool = False
    shards: list[_Hex] = []
    dropped: list[_Number] = []
    months: dict[_Hex, list[_Month]] = {}
    aside: list[_Problem] = []
    faults: list[_Problem] = []


def json_object(data: bytes) -> dict[str, Any]:
    """Parse a JSON object whose "layout" is an integer. Raises ValueError for anything else."""
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"not an object, but a {type(value).__name__}")
    if type(value.get("layout")) is not int:
        raise ValueError(f"its layout is {value.get('layout')!r:.40}")
    return value


def check_manifest(value: dict[str, Any], shard: str) -> None:
    """Raise ValueError unless `value` is the manifest of this shard."""
    _Manifest.model_validate(value)
    stray = [name for name in value["files"] if name.rpartition("/")[2].partition(".")[0] != shard]
    if value["shard"] != shard or stray:
        raise ValueError(f"it is of shard {value['shard']!r}, and lists {stray[:1]}")


def check_catalog(value: dict[str, Any]) -> None:
    """Raise ValueError, with a message of one line, unless `value` is a catalog."""
    try:
        _Catalog.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}") from error
