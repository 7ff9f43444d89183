"""Secrets out of what is written: keys and bearer tokens always, e-mail addresses where asked.

A secret is replaced by as many asterisks, so that offsets and the cuts between chunks stay. What
lies inside a longer run of Base64 (an encrypted reasoning block, an image) is no key and stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, Final

_INSIDE: Final = r"A-Za-z0-9+/=_-"  # characters of Base64, plain and URL-safe
_KEY: Final = re.compile(
    rf"(?<![{_INSIDE}])(?:"
    r"sk-(?:ant-|proj-|or-|svcacct-|lf-)?[A-Za-z0-9_-]{16,200}"
    r"|pk-lf-[A-Za-z0-9-]{16,60}"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|(?:gsk|xai|hf|ghp|gho|ghs|glpat|r8|nvapi|pplx|fw)[_-][A-Za-z0-9_]{16,120}"
    r"|github_pat_[A-Za-z0-9_]{22,120}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|xox[abpsr]-[A-Za-z0-9-]{10,120}"
    rf")(?![{_INSIDE}])"
)
_BEARER: Final = re.compile(r"(?i)(?<![A-Za-z0-9])(bearer\s+)([A-Za-z0-9._~+/-]{12,}=*)")
_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"
)
_NAMED: Final = re.compile(r"(?i)(?:api_?key|access_?key|secret|token|password)$")
_SHORTEST: Final = 8


def environment_secrets() -> list[str]:
    """The values of environment variables that are named like secrets, longest first."""
    found = {
        value
        for name, value in os.environ.items()
        if _NAMED.search(name) and len(value) >= _SHORTEST
    }
    return sorted(found, key=len, reverse=True)


def scrubbed(text: str, *, emails: bool = False, secrets: Iterable[str] = ()) -> str:
    """The text with every secret starred out; its length stays."""
    for secret in secrets:
        text = text.replace(secret, "*" * len(secret))
    text = _KEY.sub(lambda match: "*" * len(match[0]), text)
    text = _BEARER.sub(lambda match: match[1] + "*" * len(match[2]), text)
    return _EMAIL.sub(lambda match: "*" * len(match[0]), text) if emails else text


def scrubbed_pieces(
    pieces: list[bytes], *, emails: bool = False, secrets: Iterable[str] = ()
) -> list[bytes]:
    """The pieces of one stream, a secret that was cut between two of them starred out in both."""
    whole = b"".join(pieces)
    clean = scrubbed(whole.decode("latin-1"), emails=emails, secrets=secrets).encode("latin-1")
    result, place = [], 0
    for piece in pieces:
        result.append(clean[place : place + len(piece)])
        place += len(piece)
    return result


def scrubbed_value(value: Any, *, emails: bool = False, secrets: Iterable[str] = ()) -> Any:
    """A JSON value with every text in it scrubbed, keys of objects too."""
    match value:
        case str():
            return scrubbed(value, emails=emails, secrets=secrets)
        case list():
            return [scrubbed_value(item, emails=emails, secrets=secrets) for item in value]
        case dict():
            return {
                scrubbed(str(key), secrets=secrets): scrubbed_value(
                    item, emails=emails, secrets=secrets
                )
                for key, item in value.items()
            }
        case _:
            return value
