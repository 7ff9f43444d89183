"""Find secrets in the environment: variables named like secrets, and passwords in addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_SHORTEST: Final = 8  # characters of a secret
_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|_)(?:api_?)?(?:key|token|pass|passwd|password|passphrase|pwd?|secrets?|credentials?"
    r"|creds?|auth|apikey|pat)(?:_|\d*$)"
    r"|(?:key|token|pass|passwd|passphrase|password|secret|credential|cookie|bearer|jwt)s?$"
    r"|conn(?:ection_?)?str(?:ing)?s?(?:_|$)"
)
_COOKIE_NAME: Final = re.compile(r"(?i)cookies?$")
_SEPARATORS: Final = re.compile(r"[,;\s]+")  # between items of a list, or fields of a connection
# a field with its name; the `=` at the end of Base64 does not count
_NAMED_FIELD: Final = re.compile(r"([A-Za-z][\w.-]*)=(?!=*\Z)(.+)", re.DOTALL)
_FOLDERS: Final = {"PWD", "OLDPWD"}  # the shell's folders are not secrets
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]?[a-z]+|[A-Z]+|[\d.,:_+-]+|[a-z]+(?:[-_ ][a-z]+)?\d?")
_PATH: Final = re.compile(r"(?:~|\.{1,2})/|[A-Za-z]:\\")
_PLAIN_STEP: Final = re.compile(r"\.?(?:[A-Za-z]?[a-z]*(?:[._-][a-z]+)*)[._-]?\d{0,3}")  # of a path


def environment_secrets(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the values of environment variables that are named like secrets, longest first.

    Each item of a list is returned too, and each field of a connection string that is named like a
    secret. Values under eight characters, paths, addresses, numbers and plain words are left out;
    but the password of an address in any variable (or the token before its `@`) is returned, as
    written and percent-decoded.
    """
    secrets: set[str] = set()
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and name not in _FOLDERS:
            secrets |= {value, value.strip(), *_items_and_fields(name, value)}
        if "://" in value:
            secrets |= set(_passwords(value))
    return sorted(filter(_may_be_secret, secrets), key=len, reverse=True)


def _items_and_fields(name: str, value: str) -> Iterator[str]:
    """Yield the items of a list, which may be sent one by one, and the values of secret fields."""
    for part in filter(None, _SEPARATORS.split(value)):
        named = _NAMED_FIELD.fullmatch(part)
        if named is None:
            yield part
        elif _SECRET_NAME.search(named[1]) or _COOKIE_NAME.search(name):
            yield named[2]


def _may_be_secret(value: str) -> bool:
    if len(value) < _SHORTEST or _PLAIN_WORD.fullmatch(value) or "://" in value:
        return False
    return not _is_path(value)


def _is_path(value: str) -> bool:
    """Return True if a value is a path. Base64 may begin with a slash too, so a path that begins
    with a slash has to exist or to consist of plain words."""
    if not value.startswith("/"):
        return bool(_PATH.match(value))
    if all(map(_PLAIN_STEP.fullmatch, value.split("/"))):
        return True
    try:
        return Path(value).exists()
    except (OSError, ValueError):  # too long for a name, or a zero byte
        return False


def _passwords(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address.strip())
        secret = parts.username if parts.password is None else parts.password
    except ValueError:
        return
    for each in filter(None, [secret]):
        yield from (each, unquote(each))
