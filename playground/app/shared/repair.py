"""The findings of a session's file, and the repair of faults that have only one possible repair."""

from __future__ import annotations

from playground.app import state
from playground.app.shared import say, widgets
from playground.app.shared.memoized import memoized
from playground.app.state import WorkingSession
from playground.sessions.checks import repair
from playground.sessions.session import Session


def problems(working: WorkingSession) -> None:
    """List the problems of the file, with a button if some can be repaired."""
    widgets.show_findings(working.findings, "in the session file")
    if done := _repaired(working.session)[1] if working.findings else []:
        say.button(
            f"Repair {len(done)} of them",
            icon=":material/healing:",
            on_click=_accept_repair,
            help="Only what has a single possible repair. The file itself does not change.",
        )


@memoized(8)
def _repaired(session: Session) -> tuple[Session, list[str]]:
    return repair(session)


def _accept_repair() -> None:
    """Add the repaired session beside the loaded one, and choose it."""
    working = state.working_session()
    mended, _ = _repaired(working.session)
    state.add_session(f"{working.name} (repaired)", mended)
