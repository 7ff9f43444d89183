"""Read a JSON or YAML document, or the complete part of one that is cut off or spoiled."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, Final

from pydantic_core import from_json

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.json_numbers import load_json
from playground.sessions.bounded import read_yaml

_NEXT_DOCUMENT: Final = re.compile(r"^---[ \t\r]*$", re.MULTILINE)
_ITEM: Final = re.compile(r"^( *)- ", re.MULTILINE)


def read_json(text: str, where: str, findings: list[Finding]) -> Any:
    """Return a JSON document, or the complete part before a fault, with a finding.

    Raises InputFault with line and column if there is no complete part, or more than one document.
    """
    try:
        return parse_json(text, where)
    except InputFault as fault:
        if "Extra data" in fault.problem:
            raise
        value, code = whole_part(text), "torn-end"
        if value is None:
            value, code = before_fault(text), "spoiled-rest"
        if not value:
            raise
        findings.append(finding(code, f"line {fault.line}", fault.problem))
        return value


def read_yaml_items(text: str, where: str, findings: list[Finding]) -> Any:
    """Return a YAML document, or the items of its list before a fault, with a finding.

    Raises InputFault as `read_yaml` does, and if no item is complete.
    """
    try:
        return read_yaml(text, where)
    except InputFault as fault:
        for start in item_starts(text, fault.__cause__):
            with suppress(InputFault):
                value = read_yaml(text[:start], where)
                findings.append(finding("spoiled-rest", f"line {fault.line}", fault.problem))
                return value
        raise


def read_yaml_documents(text: str, where: str, findings: list[Finding]) -> list[Any]:
    """Return the documents of a YAML file, or those before a fault, with a finding.

    Raises InputFault as `read_yaml` does, and if no document is complete.
    """
    try:
        documents: list[Any] = read_yaml(text, where, several=True)
    except InputFault as fault:
        documents = []
        for document in filter(str.strip, _NEXT_DOCUMENT.split(text)):
            try:
                documents.append(read_yaml(document, where))
            except InputFault:
                break
        if not documents:
            raise
        findings.append(finding("spoiled-rest", f"line {fault.line}", fault.problem))
    return documents


def parse_json(text: str, where: str, line: int | None = None) -> Any:
    """Return a JSON value, with NotANumber for numbers that JSON lacks. Raises InputFault with line
    and column. `line` is the number of the text in a file of which each line is a JSON value."""
    try:
        return load_json(text, strict=True)
    except json.JSONDecodeError as error:
        raise InputFault(
            f"not JSON: {error.msg}, column {error.colno}",
            where=where,
            line=line or error.lineno,
            expected="a JSON document" if line is None else "a JSON value on every line",
        ) from error
    except RecursionError as error:
        raise InputFault("nested too deeply to be read", where=where, line=line) from error


def json_of(text: str, where: str, wanted: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """Return the JSON object or list in a user's text. Raises InputFault for anything else."""
    value = parse_json(text, where)
    if not isinstance(value, wanted):
        kind = "a JSON object" if wanted is dict else "a JSON list"
        raise InputFault(f"a {type(value).__name__} was given", where=where, expected=kind)
    return value


def whole_part(text: str) -> Any:
    """Return the complete part of a JSON document that is cut off; None for another fault."""
    try:
        return from_json(text, allow_partial=True)
    except ValueError:
        return None


def before_fault(text: str) -> Any:
    """Return the complete part of a JSON document before its fault; None if there is none."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return whole_part(text[: error.pos].rstrip())
    except (ValueError, RecursionError):
        return None
    return None


def item_starts(text: str, fault: BaseException | None) -> list[int]:
    """Return offsets at which to cut a YAML list so that only complete items remain: before the
    item with the fault, and then one item earlier, because the fault may be a scalar that never
    ends. Return [] for a fault that is not about syntax (about a tag, say)."""
    from yaml.parser import ParserError
    from yaml.scanner import ScannerError

    if not isinstance(fault, ScannerError | ParserError):
        return []
    # a fault in a scalar has the scalar's start as its context
    start = fault.context_mark if isinstance(fault, ScannerError) else None
    mark = start or fault.problem_mark
    index = len(text) if mark is None else mark.index
    items = [(match.start(), match[1]) for match in _ITEM.finditer(text)]
    starts = [at for at, indent in items if indent == items[0][1] and at <= index]
    return [at for at in reversed(starts[-2:]) if at > items[0][0]]
