"""Times as files write them, to one form: ISO 8601 in UTC with a `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

_IN_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z")
_NUMBER: Final = re.compile(r"\d{9,20}(\.\d+)?\Z")
# Below each bound a number is that many of these in a second; each spans the years up to 5138.
_UNITS: Final = ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))


def utc_time(value: Any) -> str | None:
    """Return a time in UTC: "" where none is given, None where what is given is no time.

    Texts are ISO 8601 or RFC 2822 (as HTTP writes them), one without a zone is taken for UTC;
    numbers are seconds, milliseconds, micro- or nanoseconds since 1970, told apart by their size.
    """
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return value if _is_in_utc(value) else _of_text(value.strip())
    if isinstance(value, datetime):  # YAML reads dates by itself
        return _written(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for bound, unit in _UNITS:
        if 0 < value < bound:
            return _written(datetime.fromtimestamp(value / unit, UTC))
    return None


def in_seconds(milliseconds: Any) -> Any:
    """Milliseconds as seconds; what is no such number stays as it is, for its finding."""
    try:
        return milliseconds / 1000
    except (TypeError, OverflowError):
        return milliseconds


def _is_in_utc(text: str) -> bool:
    """Return True if a time is in this form already, as nearly all are."""
    if not _IN_UTC.match(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _of_text(text: str) -> str | None:
    in_utc = _IN_UTC.match(text)
    if not in_utc and _NUMBER.match(text) and text.isascii():
        return utc_time(float(text))
    for read in (datetime.fromisoformat, _of_rfc_2822):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return text if in_utc else _written(moment)
    return None


def _of_rfc_2822(text: str) -> datetime:
    from email.utils import parsedate_to_datetime  # most files have no such time

    return parsedate_to_datetime(text)


def _written(moment: datetime) -> str | None:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError):
        return None
