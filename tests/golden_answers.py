"""Golden answers: whole answers of the code, kept in `tests/cases` for people to read.

A test calls `golden(answer)`: the answer must equal what `cases/NAME.json` holds under the test's
name, where the test's file is `test_NAME.py`. `pytest --write-goldens tests/test_NAME.py` writes
the file anew; read its difference before you commit it. With a selection (`-k`, `::`) the answers
of the tests that did not run stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final
from zlib import crc32

# The version, and the day, of a package that knows prices.
_VERSION: Final = re.compile(r"(LiteLLM|genai-prices) [\d.]+((?:, [\w.-]+)?, 20\d\d-\d\d-\d\d)?")
# Of an element: what Streamlit makes of a place in the tree, of a path or of a component's files
_UNSTABLE: Final = (
    "id", "formId", "pageScriptHash", "jsSourcePath", "cssSourcePath", "jsContent", "cssContent",
    "htmlContent",
)  # fmt: skip
CASES: Final = Path(__file__).parent / "cases"
WRITTEN: Final[dict[Path, dict[str, Any]]] = {}  # answers of this run, if they are to be written
Golden = Callable[[Any], None]


def golden_file(test_file: Path) -> Path:
    return CASES / f"{test_file.stem.removeprefix('test_')}.json"


@cache
def read_goldens(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON holds it, without versions of packages that know prices. Of a
    dataclass, only the fields that are not default are returned."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {f.name: getattr(value, f.name) for f in fields(value)}
        defaults = {f.name: f.default for f in fields(value)}
        return {key: plain(v) for key, v in shown.items() if v != defaults[key]}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return _VERSION.sub(r"\1 …", value)
    return value if value is None or isinstance(value, int | float) else repr(value)


def page_elements(page: Any, with_components: bool = True) -> list[Any]:
    """Return the elements of a page as AppTest holds them: their kinds, and what each is sent."""
    left_out = ("html",) if with_components else ("html", "bidi_component")  # html: styles
    from google.protobuf.json_format import MessageToDict

    elements: list[Any] = []
    blocks = [page._tree]
    while blocks:
        block = blocks.pop(0)
        for inner in block.children.values():
            if hasattr(inner, "children"):
                blocks.append(inner)
                elements += [[inner.type, inner.label]] if getattr(inner, "label", "") else []
            elif inner.type not in left_out:
                sent = MessageToDict(inner.proto)
                if "json" in sent:
                    sent["json"] = json.loads(sent["json"])
                sent = {key: short(sent[key]) for key in sent if key not in _UNSTABLE}
                elements.append([inner.type, sent])
    return elements


def short(value: Any) -> Any:
    """Return a value with long texts and lists cut; their checksums stay."""
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    if isinstance(value, list) and len(value) > 10:
        return [*map(short, value[:6]), f"… {len(value)} {_sum(json.dumps(value))}"]
    if isinstance(value, list):
        return [short(item) for item in value]
    if isinstance(value, str):
        for path in (os.environ.get("PLAYGROUND_HOME", "~"), str(Path.home()), gettempdir()):
            value = value.replace(path, "~")
    if isinstance(value, str) and len(value) > 60:
        return f"{value[:40]}… {len(value)} {_sum(value)}"
    return value


def _sum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def write_goldens(is_selection: bool) -> None:
    """Write the answers of this run; others stay only if the run was a selection of tests."""
    for file, written in WRITTEN.items():
        kept = read_goldens(file) if is_selection and file.exists() else {}
        answers = kept | written
        file.write_text(_text(answers, 0) + "\n", encoding="utf-8")


def _text(value: Any, depth: int) -> str:
    """Write JSON; what fits into a line of 100 characters stands in one."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, dict | list) or len(line) + depth < 90:
        return line
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, list):
        return f"[{pad}{f',{pad}'.join(_text(item, depth + 1) for item in value)}\n{' ' * depth}]"
    keys = sorted(value)
    items = (f"{json.dumps(k, ensure_ascii=False)}: {_text(value[k], depth + 1)}" for k in keys)
    return f"{{{pad}{f',{pad}'.join(items)}\n{' ' * depth}}}"
