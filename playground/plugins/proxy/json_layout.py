"""Name the layout of a JSON body, so that its bytes can be restored from its value."""

from __future__ import annotations

import json
from typing import Any, Final

_LAYOUTS: Final[dict[str, dict[str, Any]]] = {
    "compact": {"separators": (",", ":"), "ensure_ascii": False},  # JavaScript, the Python SDKs
    "compact ascii": {"separators": (",", ":")},
    "spaced": {},  # json.dumps without options
    "spaced unicode": {"ensure_ascii": False},
}
_GO: Final = "go"  # "compact" with the escapes by which Go protects HTML
_IN_GO: Final = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def layout_of(value: Any, data: bytes) -> str:
    """Return the name of the layout in which a value has exactly these bytes, or ""."""
    spaced = data[: data.find(b":") + 2].endswith(b": ")
    names = [name for name in _LAYOUTS if name.startswith("spaced") == spaced]
    return next((name for name in (*names, _GO) if dump_in_layout(value, name) == data), "")


def dump_in_layout(value: Any, layout: str) -> bytes:
    """Return a value's JSON in the layout of this name."""
    text = json.dumps(value, **_LAYOUTS["compact" if layout == _GO else layout])
    text = text.translate(_IN_GO) if layout == _GO else text
    return text.encode("utf-8", "surrogatepass")
