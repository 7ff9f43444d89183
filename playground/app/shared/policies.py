"""The user's own cache policies: from files, which are stored, and by clicks, for this tab."""

from __future__ import annotations

from typing import Final

from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.app import state
from playground.app.shared import belongings
from playground.base.errors import InputFault
from playground.dialects.marks.own_policies import OwnPolicy, parse_policy
from playground.dialects.marks.policies import AS_SENT, OWN, POLICIES, Policy

UPLOAD: Final = "policy upload"
_POLICIES: Final = "own policies"  # maps a name to the text of the policy file
_CLICKED: Final = "clicked policies"  # the same for policies made by clicks in this tab
_ERROR: Final = "policy error"


def accept(file: UploadedFile | None) -> None:
    """Store an uploaded policy file, or the fault in it."""
    state.put(_ERROR, "")
    if file is None:
        return
    try:
        keep(parse_policy(file.getvalue(), file.name))
    except InputFault as fault:
        state.put(_ERROR, str(fault))


def error() -> str:
    """Return the fault of the last uploaded file."""
    return str(state.get(_ERROR) or "")


def own_policies() -> list[OwnPolicy]:
    """Return all of the user's policies, in the order of their arrival."""
    texts = {**(belongings.value(_POLICIES) or {}), **_clicked()}
    return [parse_policy(text, name) for name, text in texts.items()]


def find(name: str) -> OwnPolicy | None:
    """Return the user's policy of this name; None if it is not the user's."""
    return next((each for each in own_policies() if each.name == name), None)


def chosen(policy: str, own: OwnPolicy | None) -> str | Policy:
    """Return the user's policy if it is given, or else a built-in policy's name, or else OWN."""
    return own.policy() if own else policy if policy in (AS_SENT, *POLICIES) else OWN


def stored_names() -> list[str]:
    """Return the names of the policies that outlast the tab."""
    return list(belongings.value(_POLICIES) or {})


def keep(policy: OwnPolicy) -> None:
    """Store a policy, replacing one of the same name."""
    belongings.change(_POLICIES, lambda kept: {**(kept or {}), policy.name: policy.dumps()})


def forget(name: str) -> None:
    """Remove a stored policy."""
    belongings.change(_POLICIES, lambda kept: _without(kept or {}, name) or None)


def show(policy: OwnPolicy) -> None:
    """Add a policy that was made by clicks to the lists of policies, until the tab is closed."""
    state.put(_CLICKED, {**_clicked(), policy.name: policy.dumps()})


def drop(name: str) -> None:
    """Remove a policy that was made by clicks."""
    state.put(_CLICKED, _without(_clicked(), name))


def _clicked() -> dict[str, str]:
    return dict(state.get(_CLICKED) or {})


def _without(texts: dict[str, str], name: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if key != name}
