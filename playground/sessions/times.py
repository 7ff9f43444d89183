"""Convert the times in files to one form: ISO 8601 in UTC with a `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_IN_UTC: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z")
_NUMBER: Final = re.compile(r"\d{9,20}(\.\d+)?\Z")
# Upper limit of a number -> its units in a second; each limit is in the year 5138.
_UNITS: Final = ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))


def utc_time(value: Any) -> str | None:
    """Return a time in UTC; "" for an empty value, None if the value is not a time.

    Texts are ISO 8601 or RFC 2822 (as in HTTP), by default in UTC, or numbers. Numbers are seconds,
    milliseconds, micro- or nanoseconds since 1970; their size shows which.
    """
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return value if _is_in_utc(value) else _of_text(value.strip())
    if isinstance(value, datetime):  # from YAML
        return _written(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for bound, unit in _UNITS:
        if 0 < value < bound:
            return _written(datetime.fromtimestamp(value / unit, UTC))
    return None


def instant(text: str) -> float | None:
    """Return a time in ISO 8601, in UTC if it names no zone, in seconds since 1970, or None."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def in_seconds(milliseconds: Any) -> Any:
    """Return milliseconds as seconds; return any other value unchanged, so that it gets a
    finding."""
    try:
        return milliseconds / 1000
    except (TypeError, OverflowError):
        return milliseconds


def seconds_before(time: Any, seconds: Any) -> Any:
    """Return the time so many seconds before `time`; return `time` if either cannot be read."""
    try:
        end = datetime.fromisoformat(utc_time(time) or "")
        return _written(end - timedelta(seconds=seconds))
    except (TypeError, ValueError, OverflowError):
        return time


def _is_in_utc(text: str) -> bool:
    """Return True if a time is written in UTC with a `Z` already, as nearly all are."""
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
    from email.utils import parsedate_to_datetime  # loaded here, because few files need it

    return parsedate_to_datetime(text)


def _written(moment: datetime) -> str | None:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError):
        return None
