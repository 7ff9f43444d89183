"""Checks before a request is sent: each raises if the request must not go out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pydantic import SecretStr

from playground.base.errors import (
    InputFault,
    InsufficientCreditsError,
    LedgerError,
    PlaygroundError,
    UnknownUserError,
)
from playground.base.json_numbers import refused_words
from playground.base.user_files import read_user_text
from playground.nouns.prompt_data import PromptData

_LEDGER: Final = 'a JSON object such as {"key": 120}'


class PreflightCheck(Protocol):
    """A check that raises a PlaygroundError if the prompt must not be sent."""

    def check(self, prompt_data: PromptData) -> None: ...


class CreditLedger(Protocol):
    def credits(self, api_key: str) -> int | None:
        """Return the credits of the key's owner, or None for an unknown key."""


@dataclass(frozen=True)
class JsonLedger:
    """A ledger in a JSON file: an object from API key to credits, read again at every check."""

    path: Path

    def credits(self, api_key: str) -> int | None:
        text = read_user_text(self.path, f"the credit ledger: {_LEDGER}")
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputFault(
                f"the credit ledger cannot be read ({refused_words(error)})",
                where=str(self.path),
                expected=_LEDGER,
            ) from error
        if not isinstance(entries, Mapping):
            raise InputFault(
                f"the credit ledger is a {type(entries).__name__}",
                where=str(self.path),
                expected=_LEDGER,
            )
        entry = entries.get(api_key)
        if entry is not None and (isinstance(entry, bool) or not isinstance(entry, int)):
            raise InputFault(f"credits must be a whole number, not {entry!r}", where=str(self.path))
        return entry


@dataclass(frozen=True)
class CreditCheck:
    """A check that refuses requests of unknown users, or of users with too few credits.

    Only requests through `provider` are checked. `user_key` is the key of the user if the prompt
    data have none. If the ledger raises an error that is not ours, the check raises LedgerError.
    """

    ledger: CreditLedger
    threshold: int = 1
    provider: str = "kodu"
    user_key: SecretStr | None = None

    def check(self, prompt_data: PromptData) -> None:
        if self.provider not in prompt_data.task_config.model_name.lower().split("/"):
            return
        key = prompt_data.dynamic_task_config.model_api_key or self.user_key
        try:
            credits = self.ledger.credits(key.get_secret_value()) if key else None
        except PlaygroundError:
            raise
        except Exception as error:  # a user's ledger may raise anything
            raise LedgerError(type(error).__name__) from error
        if credits is None:
            raise UnknownUserError
        if credits < self.threshold:
            raise InsufficientCreditsError(credits, self.threshold)


LEDGER_VARIABLE: Final = "PLAYGROUND_CREDIT_LEDGER"
THRESHOLD_VARIABLE: Final = "PLAYGROUND_CREDIT_THRESHOLD"
USER_KEY_VARIABLE: Final = "PLAYGROUND_USER_KEY"


def checks_from(environment: Mapping[str, str]) -> tuple[PreflightCheck, ...]:
    """Return the checks that environment variables set up; none without a ledger.

    Raises InputFault if the threshold is not a number.
    """
    ledger = environment.get(LEDGER_VARIABLE, "")
    if not ledger:
        return ()
    threshold = environment.get(THRESHOLD_VARIABLE, "") or "1"
    if not threshold.isdecimal():
        raise InputFault(
            f"{threshold!r} is not a threshold", where=THRESHOLD_VARIABLE, expected="a whole number"
        )
    key = environment.get(USER_KEY_VARIABLE, "")
    user_key = SecretStr(key) if key else None
    return (CreditCheck(JsonLedger(Path(ledger)), int(threshold), user_key=user_key),)
