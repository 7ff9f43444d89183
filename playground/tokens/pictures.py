"""The cost of pictures whose size the body shows: OpenAI's models with tiles, Mistral's, Claude.

Source: "Images and vision", Calculating costs (platform.openai.com/docs/guides/images-vision, read
2026-11). With `detail: low` a picture costs only the base. Otherwise it is shrunk to fit into 2,048
by 2,048 pixels, then until its shorter side has 768, and costs `tile` for each tile of 512 by 512
that it touches. 27 recorded bills of pictures of five sizes agree (gpt-4, 4o, 4o-mini, 4.1, 5).
Bills of models with patches of 32 pixels (mini and nano of 4.1 and of 5; all from 5.4 on) differ
from the documentation by one to three tokens, so these costs are not known.

Mistral's models read patches of 28 by 28 pixels, with a token after each row (mistral-common 1.13,
tokens/tokenizers/image.py): 20 bills of four sizes agree. Each model shrinks pictures of more than
1,024 pixels in its own way.

Claude ("Images and vision", platform.claude.com, read 2026-11): about width times height / 750,
once shrunk to the longest side of the model's tier. An estimate: no recorded bill confirms it.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, NamedTuple

_EMBEDDED: Final = re.compile(r"data:[^;,]*;base64,", re.IGNORECASE)
_READ: Final = 1 << 18  # characters of a picture's data in which its size is looked for
_SQUARE: Final = 2048
_SHORT: Final = 768
_TILE: Final = 512
_PIXELS_OF_A_TOKEN: Final = 750
_NO_SIZE: Final = (0xC4, 0xC8, 0xCC)  # JPEG markers within 0xC0 to 0xCF that begin no frame


@dataclass(frozen=True, slots=True)
class Tiles:
    """The cost of a picture in tokens: `base`, and `tile` for each of its tiles."""

    base: int
    tile: int

    def cost(self, part: Mapping[str, Any]) -> int | None:
        """Return the cost of an `image_url` or `input_image`; None if its size cannot be seen."""
        url, detail = address_and_detail(part)
        if detail == "low":
            return self.base
        size = size_of(url)
        return None if size is None else self.base + self.tile * tiles_of(*size)


@dataclass(frozen=True, slots=True)
class Rows:
    """The cost of a picture in patches of `patch` by `patch` pixels: a token for each patch and
    row.

    The cost is known for pictures of at most `most` pixels in width and height.
    """

    patch: int
    most: int

    def cost(self, part: Mapping[str, Any]) -> int | None:
        """Return the cost of an `image_url`; None if its size is unknown or too large."""
        size = size_of(address_and_detail(part)[0])
        if size is None or max(size) > self.most:
            return None
        width, height = (ceil(side / self.patch) for side in size)
        return (width + 1) * height


class Area(NamedTuple):
    """The cost of a picture by its area, shrunk to `side` pixels: at most `most` tokens."""

    side: int
    most: int

    def cost(self, size: tuple[int, int]) -> int:
        scale = min(1.0, self.side / max(size))
        return min(self.most, ceil(size[0] * scale * size[1] * scale / _PIXELS_OF_A_TOKEN))


Pictures = Tiles | Rows


def address_and_detail(part: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a picture's address, and its `detail`."""
    image = part.get("image_url")
    if isinstance(image, dict):
        return image.get("url"), image.get("detail")
    return image, part.get("detail")


def tiles_of(width: int, height: int) -> int:
    """Count the tiles of a picture of this size in pixels."""
    scale = min(1.0, _SQUARE / max(width, height))
    scale *= min(1.0, _SHORT / (min(width, height) * scale))
    return ceil(width * scale / _TILE) * ceil(height * scale / _TILE)


def size_of(url: Any) -> tuple[int, int] | None:
    """Read width and height of a picture in a `data:` address; None if they cannot be read."""
    match = _EMBEDDED.match(url) if isinstance(url, str) else None
    return match and size_of_data(url[match.end() :])


def size_of_data(text: str) -> tuple[int, int] | None:
    """Read width and height of a picture in Base64; None if they cannot be read."""
    try:
        data = base64.b64decode(text[:_READ])
    except (binascii.Error, ValueError):
        return None
    size = _png(data) or _gif(data) or _jpeg(data) or _webp(data)
    return size if size and min(size) > 0 else None


def _png(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n") or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _gif(data: bytes) -> tuple[int, int] | None:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 10:
        return None
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] + data[8:12] != b"RIFFWEBP" or len(data) < 30:
        return None
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    is_lossless = data[12:16] == b"VP8L"
    sides = int.from_bytes(data[21:25] if is_lossless else data[26:30], "little")
    shift = 14 if is_lossless else 16
    return (sides & 0x3FFF) + is_lossless, (sides >> shift & 0x3FFF) + is_lossless


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Read the size in the first frame's header, after skipping the segments before it."""
    offset = 2 if data.startswith(b"\xff\xd8") else len(data)
    while offset + 9 <= len(data) and data[offset] == 0xFF:
        marker = data[offset + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = struct.unpack(">HH", data[offset + 5 : offset + 9])
            return width, height
        offset += 2 + int(struct.unpack(">H", data[offset + 2 : offset + 4])[0])
    return None
