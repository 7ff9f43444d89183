"""SARIF 2.1.0, a format of findings that GitHub's code scanning and editors show beside a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from playground.base.findings import CODES
from playground.base.fixes import with_fix

LIMIT: Final = "limit-exceeded"
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}


def sarif(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Write the outcomes of checks as one SARIF log: a result for each exceeded limit and finding.

    A result is at the first line of the checked file, because a finding names its place in words.
    """
    results = [result for outcome in outcomes for result in _results(outcome)]
    rules = [_rule(code) for code in sorted({result["ruleId"] for result in results})]
    name = "dialect-playground"
    driver = {"name": name, "version": version(name), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _results(outcome: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    place = {
        "physicalLocation": {
            "artifactLocation": {
                "uri": quote(os.fsencode(PurePath(outcome["session"]).as_posix()))
            },
            "region": {"startLine": 1},
        }
    }
    for line in outcome["failures"]:
        yield _result(LIMIT, "error", line, place)
    for finding in outcome["findings"]:
        text = f"{finding.where}: {with_fix(finding)}"
        yield _result(finding.code, _LEVELS[finding.severity], text, place)


def _result(code: str, level: str, text: str, place: Mapping[str, Any]) -> dict[str, Any]:
    return {"ruleId": code, "level": level, "message": {"text": text}, "locations": [place]}


def _rule(code: str) -> dict[str, Any]:
    meaning = "a limit of the check is exceeded" if code == LIMIT else CODES[code].meaning
    return {"id": code, "shortDescription": {"text": meaning}}
