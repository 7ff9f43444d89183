"""JUnit's XML, which Jenkins, GitLab and most other pipelines show as tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from playground.base.findings import Finding
from playground.base.fixes import with_fix
from playground.plugins.ci.sarif import location

# Characters that XML 1.0 cannot hold, not even as references.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Write the outcomes of checks as a test suite. Each session file is a test, whose name is the
    file's path from the root of its repository.

    A test fails if its outcome has failures; else it has an error if a finding's severity is error;
    else it is skipped if a limit is undecided.
    """
    failures = sum(bool(outcome["failures"]) for outcome in outcomes)
    errors = sum(bool(_errors(outcome)) and not outcome["failures"] for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(failures), "errors": str(errors)}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": "dialect-playground", **counts})
    for outcome in outcomes:
        name = _readable(unquote(location(str(outcome["session"]))["uri"]))
        case = SubElement(suite, "testcase", {"name": name, "classname": "playground.check"})
        lines = outcome["failures"] or _errors(outcome)
        if lines:
            kind = "failure" if outcome["failures"] else "error"
            text = [_readable(line) for line in lines]
            SubElement(case, kind, {"message": text[0]}).text = "\n".join(text)
        elif undecided := _lines(outcome, lambda each: each.code == "undecided-limit"):
            SubElement(case, "skipped", {"message": _readable(undecided[0])})
    for element in (suites, suite):
        element.set("skipped", str(len(suite.findall("testcase/skipped"))))
    indent(suites)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{tostring(suites, 'unicode')}\n"


def _errors(outcome: Mapping[str, Any]) -> list[str]:
    return _lines(outcome, lambda finding: finding.severity == "error")


def _lines(outcome: Mapping[str, Any], wanted: Callable[[Finding], bool]) -> list[str]:
    return [
        f"{finding.code} ({finding.where}): {with_fix(finding)}"
        for finding in outcome["findings"]
        if wanted(finding)
    ]


def _readable(text: str) -> str:
    return _NOT_XML.sub("�", text)
