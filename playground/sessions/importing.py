"""Import sessions: repair them, summarise them, and write them in one of the output forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.output import Batch, faults_naming, is_special
from playground.base.registry import SessionForm, load, session_forms
from playground.sessions.checks import check, repair
from playground.sessions.loading import LoadedSession
from playground.sessions.native_format import dump_session, line_pieces
from playground.sessions.session import Session

FORMS: Final = {
    "session": SessionForm("playground.sessions.native_format:dump_session"),
    "atif": SessionForm(
        "playground.sessions.formats.atif:dump_atif",
        omits=("recordings", "rows", "compactions", "expected"),
        notes="playground.sessions.formats.atif:without_field",
    ),
}
_NAMES: Final = {"rows": "requests as they were sent", "expected": "expected replies"}
_LONGEST: Final = 200  # bytes of a title in a file's name; systems allow 255 for the whole name


def repaired(loaded: LoadedSession) -> tuple[LoadedSession, list[str]]:
    """Return the repaired session with the remaining findings, and a list of the repairs."""
    before = check(loaded.session, loaded.places)
    session, done = repair(loaded.session)
    others: list[Finding] = [found for found in loaded.findings if found not in before]
    return replace(loaded, session=session, findings=[*others, *check(session)], places=[]), done


def summary(loaded: LoadedSession, done: list[str], written: str) -> dict[str, Any]:
    """Return the counts and all findings of an imported session, with the repairs that were `done`
    and the name of the file that was `written`."""
    session = loaded.session
    codes = Counter(found.code for found in loaded.findings)
    return {
        "session": session.title,
        "format": loaded.format,
        "messages": len(session.messages),
        "calls": sum(len(message.tool_calls) for message in session.messages),
        "tools": len(session.tools),
        "requests": _requests(session),
        "recordings": len(session.recordings),
        "noticed": ", ".join(f"{code} {count}" for code, count in codes.items()),
        "written": written,
        "repaired": done,
        "findings": [asdict(found) for found in loaded.findings],
    }


def _requests(session: Session) -> int:
    """Return the number of recorded requests in the file; without any, the number of answers."""
    sent = sum(not row.sub_agent for row in session.rows)
    return sent or len(session.replies)


def _form(name: str) -> SessionForm:
    return FORMS.get(name) or session_forms()[name]


class Writer:
    """A writer of sessions, to a file, to lines of a file or pipe, or into a folder. If its context
    ends with an error, nothing is written. `inputs` are the files being read, which must not be
    overwritten."""

    def __init__(
        self, out: str, form: str = "session", *, inputs: Iterable[str] = (), force: bool = False
    ) -> None:
        self._out = Path(out) if out else None
        self._form, self._omits = form, _form(form).omits
        self._dump: Callable[[Session], str] = load(_form(form).dump)
        self._files = ExitStack()
        self._batch = Batch(inputs=inputs, force=force)
        self._lines: IO[str] | None = None
        self._names: Counter[str] = Counter()
        self._used_names: set[str] = set()  # in small letters: some systems ignore the case

    def __enter__(self) -> Self:
        """Open the output. Raises InputFault if it cannot be written."""
        is_lines = self._out is not None and self._out.suffix == ".jsonl"
        if is_lines and self._dump is not dump_session:
            problem = f"sessions in the form {self._form} are files of their own, not lines"
            raise InputFault(problem, where=str(self._out), expected="a folder, or *.json")
        self._files.enter_context(self._batch)
        if self._out is not None and self._out.suffix and not self._out.is_dir():
            self._batch.check(self._out)
        is_piped_session = self.piped and self._dump is dump_session
        if self._out is not None and (self._out.suffix == ".jsonl" or is_piped_session):
            self._lines = self._files.enter_context(self._batch.file(self._out))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._out is not None:
            with faults_naming(self._out):
                self._files.__exit__(kind, error, trace)

    @property
    def piped(self) -> bool:
        """True if the output is a device or a pipe, such as `/dev/stdout`."""
        return self._out is not None and not self._out.is_dir() and is_special(self._out)

    def omitted(self, session: Session) -> list[Finding]:
        """Return a finding for each field that the form omits, and the form's own findings."""
        notes = _form(self._form).notes if self._out else ""
        counts = {name: len(getattr(session, name)) for name in self._omits if self._out}
        return [
            finding("not-exported", session.title, f"{_NAMES.get(name, name)}: {count}")
            for name, count in counts.items()
            if count
        ] + (load(notes)(session) if notes else [])

    def write(self, session: Session) -> str:
        """Write a session, and return its file's name, or "" if there is no output.

        The sessions after the first go into a folder with the file's name without suffix.
        """
        if self._out is None:
            return ""
        if self._lines is not None:
            with faults_naming(self._out):
                self._lines.writelines(line_pieces(session))
            return str(self._out)
        if self._out.is_dir() or not (self._out.suffix or self._out.exists()):
            return self._into(self._out, session)
        if self._names and self.piped:
            raise InputFault("a pipe takes one session in this form", where=str(self._out))
        if self._names:
            return self._into(self._out.with_suffix(""), session)
        self._names[""] += 1  # the next session goes into a folder
        return self._file(self._out, session)

    def _into(self, folder: Path, session: Session) -> str:
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in session.title)
        name = name.strip("-.")[:80].encode()[:_LONGEST].decode(errors="ignore")
        return self._file(folder / f"{self._unused_name(name or 'session')}.json", session)

    def _unused_name(self, name: str) -> str:
        """Return an unused name: `name`, or `name` with the first number that no session has."""
        unused = name
        while unused.lower() in self._used_names:
            self._names[name] += 1
            unused = f"{name}-{self._names[name] + 1}"
        self._used_names.add(unused.lower())
        return unused

    def _file(self, path: Path, session: Session) -> str:
        with self._batch.file(path) as file:
            file.write(self._dump(session))
        return str(path)
