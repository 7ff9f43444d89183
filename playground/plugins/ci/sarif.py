"""Write SARIF 2.1.0, in which GitHub's code scanning and editors get findings about a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote, unquote

from playground.base.findings import CODES
from playground.base.fixes import FIXES, with_fix
from playground.sessions.places import line_of

LIMIT: Final = "limit-exceeded"
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
# Rule id -> a pattern for the beginning of a failure's line, and the meaning of the rule.
_LIMITS: Final[Mapping[str, tuple[str, str]]] = {
    "tools-changed": (r"tool |in another order: ", "the tools differ from the baseline's"),
    "system-changed": (r"system\b", "the system prompt differs from the baseline's"),
    "model-changed": (r"model: ", "the model differs from the baseline's"),
    "tokens-exceeded": (r"input is ", "the input has more tokens than the limit allows"),
    "cost-exceeded": (r"input costs ", "the input costs more than the limit allows"),
    "cache-break": (r"request \d+ (?:reads|was billed) ", "a request misses a cached prefix"),
    "request-refused": (r"the provider refuses ", "the provider refuses a request"),
    LIMIT: ("", "a limit of the check is exceeded"),
}
_TOOL: Final = re.compile(r"tool (.+?): (?:added|changed), ")
_CHANGE: Final = re.compile(r"(.+?)(…?): (?:added|changed|removed), ")
_ITEM: Final = re.compile(r"(message|tool)s?[ .]\[?(\d+)")


def sarif(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Write the outcomes of checks as one SARIF log: a result for each exceeded limit and finding.

    A result is at the line of the tool, message or prompt that it is about, or at line 1 if that is
    not found. Fingerprints leave out numbers, so that a result keeps its fingerprint when the
    session grows.
    """
    results = [result for outcome in outcomes for result in _results(outcome)]
    codes = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = codes.index(result["ruleId"])
    name = "dialect-playground"
    driver = {"name": name, "version": version(name), "rules": [_rule(code) for code in codes]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _results(outcome: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    file = str(outcome["session"])
    file = file if os.path.lexists(file) else re.sub(r"#\d+$", "", file)  # FILE#2
    content = _content(file)
    for text in outcome["failures"]:
        line = re.sub(r"^session [^:]{1,80}: ", "", text)
        code = next(code for code, (begin, _) in _LIMITS.items() if re.match(begin, line))
        yield _result(code, "error", text, file, _line_of_change(content, line))
    for finding in outcome["findings"]:
        text = f"{finding.where}: {with_fix(finding)}"
        level = _LEVELS[finding.severity]
        yield _result(finding.code, level, text, file, _line_of_place(content, finding.where))


def _content(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):  # a sample's name, or standard input
        return ""


def _line_of_change(content: str, text: str) -> int:
    """Return the line of the model, tool or prompt that a failure names; 1 if it is not found."""
    if text.startswith("model: "):
        return _line_with(content, r'"model(?:_name)?"\s*:')
    if tool := _TOOL.match(text):
        return _line_with(content, rf'"name"\s*:\s*{re.escape(json.dumps(tool[1]))}')
    if text.startswith("tool "):  # the tool was removed
        return _line_with(content, r'"tools"\s*:')
    if text.startswith("system") and (change := _CHANGE.match(text)):
        begin = change[1].partition(": ")[2] or change[1]
        return _line_with(content, re.escape(json.dumps(begin, ensure_ascii=False)[1:-1]))
    return 1


def _line_with(content: str, pattern: str) -> int:
    match = re.search(pattern, content)
    return content.count("\n", 0, match.start()) + 1 if match else 1


def _line_of_place(content: str, where: str) -> int:
    """Return the line of a finding's place: a line number, a path in JSON, a message or a tool."""
    if number := re.search(r"\bline (\d+)", where):
        return max(1, int(number[1]))
    if content.lstrip()[:1] not in ("{", "["):
        return 1
    if item := _ITEM.match(where):
        return line_of(content, (f"{item[1]}s", int(item[2])))
    steps = [int(step) if step.isdigit() else step for step in where.split(".")]
    return line_of(content, steps)


def _result(code: str, level: str, text: str, file: str, line: int) -> dict[str, Any]:
    address = location(file)
    lasting = re.sub(r"\d[\d,.]*", "#", f"{code} {unquote(address['uri'])} {text}")
    place = {"artifactLocation": address, "region": {"startLine": line}}
    digest = hashlib.sha256(lasting.encode(errors="surrogatepass")).hexdigest()
    return {
        "ruleId": code,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"playground/v1": digest[:32]},
    }


def location(file: str) -> dict[str, str]:
    """Return the address of a file: relative to the root of its repository if it is in one, or else
    absolute or relative, as `file` is."""
    path = Path(os.path.normpath(Path.cwd() / file)) if os.path.lexists(file) else Path()
    root = next((each for each in path.parents if (each / ".git").exists()), None)
    if root is None and path == Path(file):
        return {"uri": path.as_uri()}
    relative = path.relative_to(root) if root else PurePath(file)
    base = {"uriBaseId": "%SRCROOT%"} if root else {}
    return {"uri": quote(os.fsencode(relative.as_posix())), **base}


def _rule(code: str) -> dict[str, Any]:
    meaning = _LIMITS[code][1] if code in _LIMITS else CODES[code].meaning
    against = "baseline" in meaning
    keep = "if this is intended, keep the new file as the baseline"
    fix = FIXES.get(code) or (keep if against else "change the session, or the check's limit")
    return {"id": code, "shortDescription": {"text": meaning}, "help": {"text": fix}}
