"""The user's own cache policies, as long as the browser's session lasts."""

from __future__ import annotations

from typing import Final

from playground.caching.own_policies import OwnPolicy, parse_policy
from playground.errors import InputFault
from playground.ui import state

UPLOAD: Final = "policy upload"
_POLICIES: Final = "own policies"  # name → its file's text
_ERROR: Final = "policy error"


def accept() -> None:
    """A policy file was given: keep it, or say what is wrong with it."""
    given = state.held(UPLOAD)
    state.hold(_ERROR, "")
    if given is None:
        return
    try:
        keep(parse_policy(given.getvalue(), given.name))
    except InputFault as fault:
        state.hold(_ERROR, str(fault))


def error() -> str:
    """What is wrong with the file that was given last."""
    return str(state.held(_ERROR) or "")


def own() -> list[OwnPolicy]:
    """All of them, in the order in which they came."""
    return [parse_policy(text, name) for name, text in _texts().items()]


def find(name: str) -> OwnPolicy | None:
    """One of the user's own policies; None for any other."""
    return next((each for each in own() if each.name == name), None)


def keep(policy: OwnPolicy) -> None:
    """Beside the others, or in the place of the one of its name."""
    state.hold(_POLICIES, {**_texts(), policy.name: policy.dumps()})


def drop(name: str) -> None:
    """Forget one."""
    state.hold(_POLICIES, {key: text for key, text in _texts().items() if key != name})


def _texts() -> dict[str, str]:
    return dict(state.held(_POLICIES) or {})
