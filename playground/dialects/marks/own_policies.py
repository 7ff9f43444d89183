"""Users' own policies for cache marks: up to 20 places, from a JSON file or the Cache page.

    {"name": "tail", "marks": [{"role": "system"}, {"role": ["user", "tool"], "nth": -1}]}

`nth` is an index into the messages of these roles, `part` one into the message's parts, both as in
Python: 0 is the first, -1 (the default) the last. `ttl` is the mark's lifetime, by default the
provider's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from playground.base.arguments import takes
from playground.base.errors import InputFault
from playground.base.user_files import read_user_file, user_text
from playground.dialects.marks.policies import (
    AS_SENT,
    OWN,
    POLICIES,
    CacheDecision,
    CacheRequest,
    FormattedMessages,
    Policy,
    as_parts,
)

_STRICT: Final = ConfigDict(extra="forbid", frozen=True)
_MOST_BYTES: Final = 64_000
Role = Literal["system", "user", "assistant", "tool"]


class MarkPlace(BaseModel):
    """One mark: on a part of the nth message of some roles."""

    model_config = _STRICT

    role: tuple[Role, ...] = Field(min_length=1)
    nth: int = -1
    part: int = -1
    ttl: Literal["", "5m", "30m", "1h", "24h"] = ""

    @field_validator("role", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class OwnPolicy(BaseModel):
    """A policy as its file states it."""

    model_config = _STRICT

    name: str = Field(min_length=1, max_length=40, pattern=r"^[\w .-]+$")
    source: str = "a policy of your own"
    marks: tuple[MarkPlace, ...] = Field(max_length=20)

    def policy(self) -> Policy:
        """Return the policy that marks these places, for any model."""
        return Policy(self.name, self.source, self._decide)

    def dumps(self) -> str:
        """Return the file's text; fields at their defaults are left out."""
        plain = self.model_dump(mode="json", exclude_defaults=True)
        return json.dumps(plain, indent=1) + "\n"

    def _decide(self, messages: FormattedMessages, request: CacheRequest) -> list[CacheDecision]:
        decisions = [_decision_for(messages, mark) for mark in self.marks]
        return decisions or [CacheDecision(False, "policy-none")]


@takes(path="path")
def load_policy(path: str | Path) -> Policy:
    """Load a policy from its file.

    Raises InputFault with the file, the field and what was expected.
    """
    data = read_user_file(path, "a policy's JSON file")
    return parse_policy(data, str(path)).policy()


def parse_policy(data: bytes | str, where: str) -> OwnPolicy:
    """Read a policy from its file's text. Raises InputFault."""
    text = user_text(data, where, _MOST_BYTES)
    try:
        policy = OwnPolicy.model_validate_json(text)
    except ValidationError as error:
        first_error = error.errors()[0]
        raise InputFault(
            first_error["msg"],
            where=where,
            field=".".join(str(step) for step in first_error["loc"]),
            expected='{"name": …, "marks": [{"role": "user", "nth": -1, "part": -1}, …]}',
        ) from error
    if policy.name in (AS_SENT, OWN, *POLICIES):
        problem = f"there is a policy {policy.name!r} already"
        raise InputFault(problem, where=where, field="name", expected="a name of its own")
    return policy


def policy_of_places(
    name: str, messages: FormattedMessages, places: Iterable[tuple[int, int]]
) -> OwnPolicy:
    """Return a policy that marks these places (message, part), and the same places in any request.

    A message is counted from the end of the messages of its role, so that marks move on as the
    session grows; system messages, which come first, are counted from the beginning.
    """
    marks: list[MarkPlace] = []
    for message, part in places:
        role = messages[message]["role"]
        of_role = [i for i, other in enumerate(messages) if other["role"] == role]
        nth = of_role.index(message) - (0 if role == "system" else len(of_role))
        count = len(as_parts(messages[message].get("content")))
        marks.append(MarkPlace(role=(role,), nth=nth, part=part - count))
    return OwnPolicy(name=name, marks=tuple(marks))


def _decision_for(messages: FormattedMessages, mark: MarkPlace) -> CacheDecision:
    of_role = [i for i, message in enumerate(messages) if message.get("role") in mark.role]
    if not -len(of_role) <= mark.nth < len(of_role):
        return CacheDecision(False, "no-such-message")
    message = of_role[mark.nth]
    parts = as_parts(messages[message].get("content"))
    if not parts:
        return CacheDecision(False, "no-content", message)
    if not -len(parts) <= mark.part < len(parts):
        return CacheDecision(False, "no-such-part", message)
    part = mark.part % len(parts)
    if parts[part].get("type") == "text" and not parts[part].get("text"):
        return CacheDecision(False, "empty-text", message, part)
    return CacheDecision(True, "chosen", message, part, mark.ttl)
