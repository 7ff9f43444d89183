"""The names that speak of a secret which stands behind them, as patterns and as words."""

from __future__ import annotations

from typing import Final

WORDS: Final = ("key", "token", "secret", "pass", "pwd", "pw")
NAME: Final = (
    r"(?:(?:api|access|account|secret|private|master|signing|encryption|subscription|auth|app"
    r"|application|service|session|consumer|client|license)[ _-]?key"
    r"|(?:access|auth|api|refresh|bearer|id|session|bot|deploy)[ _-]?token"
    r"|client[ _-]?secret|secret|passw(?:or)?d|passphrase|passcode|pwd|(?<![a-z])(?:pass|pw))"
    # the second one, the one of production
    r"(?:[_-]?[0-9]{1,2}|_(?:prod|dev|test|live|old|new|main))?"
)
HEADERS: Final = (
    r"(?i:x-(?:[a-z0-9]{1,20}-){0,3}(?:key|token|secret|auth)|(?:private|job|deploy)-token"
    r"|api-key|ocp-apim-subscription-key|dd-api-key|authorization)"
)
HEADER_WORDS: Final = ("key", "token", "authori", "x-")
CLIENTS: Final = ("mysql", "mariadb", "mongo", "redis-cli", "sqlcmd", "sshpass", "twine", "ldap")
TOKEN: Final = (  # the words alone are said of much: only what looks random is one
    r"(?:(?<![A-Za-z])(?i:token|auth)|(?<=[A-Z0-9])_(?:KEY|PAT|CREDENTIALS?))"
)
