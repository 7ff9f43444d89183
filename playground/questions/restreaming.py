"""Make recordings of a session's answers, so that answers that nobody recorded can be replayed.

A session stores the parts of an answer, not the model's text, so a dialect writes the text again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from playground.base.errors import InputFault
from playground.dialects import get_dialect
from playground.dialects.conversation import with_ids
from playground.dialects.declared import DeclaredDialect
from playground.dialects.models import dialect_for
from playground.recordings.recording import Recording
from playground.recordings.recutting import synthetic_recording
from playground.sessions.session import Session

_ANY_MODELS: Final = "xml"  # a dialect that any instruct model can write


def answers(session: Session) -> dict[str, int]:
    """Return the session's answers (name -> index of the message), the last answer first."""
    numbers = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    return {f"answer in message {number}, re-streamed": number for number in reversed(numbers)}


def writing_dialect(session: Session) -> str:
    """Return the name of the dialect for the answers: the model's own, if it writes calls as text,
    otherwise one that any model can write."""
    own_dialect = get_dialect(dialect_for(session.task.model_name).usable)
    is_text = isinstance(own_dialect, DeclaredDialect) and not own_dialect.is_native_toolcalling()
    return own_dialect.name if is_text else _ANY_MODELS


def restreamed(session: Session, name: str, dialect: str) -> Recording:
    """Write the answer `name` in the dialect, as a recording with invented chunks and times.

    Raises InputFault if there is no such answer, or if the dialect writes no calls as text.
    """
    number, writing_dialect = answers(session).get(name), get_dialect(dialect)
    if number is None:
        raise InputFault("not an answer of this session", where=name, expected="one of `answers`")
    if writing_dialect.is_native_toolcalling() or not isinstance(writing_dialect, DeclaredDialect):
        raise InputFault(f"{dialect} does not write calls as text", expected="another dialect")
    ids = writing_dialect.written_ids(session.messages)
    message = with_ids(session.messages[number], ids[number] if ids else None)
    text = writing_dialect.format_reply(message.parts, session.tools)
    note = (
        f"Not a recorded stream: message {number} as {dialect} would write it, cut here into "
        "chunks. What the session marks as reasoning is left out; the model may have written "
        "the rest differently."
    )
    return replace(synthetic_recording(text, name, dialect), note=note)
