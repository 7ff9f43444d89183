"""The user's own cache policies: kept as files are, but for the one that is clicked together."""

from __future__ import annotations

from typing import Final

from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.app import state
from playground.app.shared import belongings
from playground.base.errors import InputFault
from playground.dialects.marks.own_policies import OwnPolicy, parse_policy

UPLOAD: Final = "policy upload"
_POLICIES: Final = "own policies"  # name → its file's text
_CLICKED: Final = "clicked policies"  # likewise, of this tab
_ERROR: Final = "policy error"


def accept(given: UploadedFile | None) -> None:
    """A policy file was given: keep it, or say what is wrong with it."""
    state.hold(_ERROR, "")
    if given is None:
        return
    try:
        keep(parse_policy(given.getvalue(), given.name))
    except InputFault as fault:
        state.hold(_ERROR, str(fault))


def error() -> str:
    """Return the fault of the file that was given last."""
    return str(state.held(_ERROR) or "")


def own() -> list[OwnPolicy]:
    """Return all of them, in the order in which they came."""
    return [parse_policy(text, name) for name, text in _texts().items()]


def find(name: str) -> OwnPolicy | None:
    """One of the user's own policies; None for any other."""
    return next((each for each in own() if each.name == name), None)


def lasting() -> list[str]:
    """Return the names of those that outlast the tab."""
    return list(belongings.value(_POLICIES) or {})


def keep(policy: OwnPolicy) -> None:
    """Beside the others, or in the place of the one of its name."""
    belongings.change(_POLICIES, lambda kept: {**(kept or {}), policy.name: policy.dumps()})


def forget(name: str) -> None:
    """One that was kept goes."""
    belongings.change(_POLICIES, lambda kept: _without(kept or {}, name) or None)


def show(policy: OwnPolicy) -> None:
    """One that was clicked together is there as long as the tab; others have other marks."""
    state.hold(_CLICKED, {**_clicked(), policy.name: policy.dumps()})


def drop(name: str) -> None:
    """Drop the policy that was clicked together."""
    state.hold(_CLICKED, _without(_clicked(), name))


def _texts() -> dict[str, str]:
    return {**(belongings.value(_POLICIES) or {}), **_clicked()}


def _clicked() -> dict[str, str]:
    return dict(state.held(_CLICKED) or {})


def _without(texts: dict[str, str], name: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if key != name}
