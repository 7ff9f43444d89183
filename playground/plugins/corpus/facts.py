"""The facts of a session as rows: one of the session, others of its requests, calls, breaks …"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.base.json_numbers import dump_again
from playground.cache.answers.requests import is_pending
from playground.dialects.marks.providers import provider_of
from playground.nouns.messages import TextPart, ToolResultPart
from playground.plugins.corpus import signatures
from playground.plugins.corpus.breaks import breaks_of
from playground.plugins.corpus.cleaning import Cleaner
from playground.plugins.corpus.replies import (
    NATIVE,
    ReplyReader,
    SeenCall,
    SeenReply,
    match_results,
    named_dialect,
    results_of,
)
from playground.plugins.corpus.requests import SeenRequest, SeenRequests
from playground.plugins.corpus.storing import FileFacts, StoredRequest
from playground.plugins.corpus.tables import (
    BreakFact,
    CallFact,
    Fact,
    FindingFact,
    HistoryFact,
    RequestFact,
    SessionFact,
    ToolsetFact,
)
from playground.plugins.corpus.wires import wire_facts
from playground.questions.experiments import read_recording
from playground.questions.fast_detection import LikeliestDialect
from playground.sessions.loading import LoadedSession
from playground.sessions.session import Session

_EXCERPT_CHARACTERS: Final = 300  # characters of an error or a malformed call
_SHORT: Final = 200  # characters of a title, a place or a message
_MOST_CLEANED: Final = 4_000  # characters; an excerpt is taken from this much of the cleaned text
_KEPT_AS_TEXT: Final = "arguments-kept-as-text"
# The beginning of a result that reports a failure, for formats without a field for failures.
_ERROR: Final = re.compile(
    r"\s*(?:\[?(?:error|exception|fatal)\]?\s*[:\-]|Traceback \(most recent call last\)"
    r"|<(?:tool_use_)?error>|\{\s*\"error\"\s*:\s*(?!null|false|\"\"))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SessionPlace:
    """A session's place: the number of its piece, which is 64 bits of a hash, and the session's
    number in that piece, from 0."""

    piece: int
    number: int

    @cached_property
    def session(self) -> int:
        """The session's id: a hash of the place, so that the id is the same in every build."""
        place = b"%d %d" % (self.piece, self.number)
        return int.from_bytes(blake2b(place, digest_size=8).digest(), "big")


class SessionFacts:
    """The facts of a cleaned session. `from_file` are those that only its file showed; `dialects`
    detects the dialect of replies."""

    def __init__(
        self,
        session: Session,
        from_file: FileFacts,
        place: SessionPlace,
        requests: SeenRequests,
        cleaner: Cleaner,
        dialects: LikeliestDialect,
        *,
        redacts: bool,
    ) -> None:
        self._session, self._file_facts = session, from_file
        self._place, self._requests_seen = place, requests
        self._clean, self._redacts = cleaner, redacts
        self._row_values: dict[int, dict[str, Any]] = {}
        self._reader = ReplyReader(session, dialects, frozenset(from_file.kept_as_text))

    def rows(self, skeleton: int, stored: Sequence[StoredRequest]) -> list[Fact]:
        """Return all rows, given the block number of the skeleton and the stored requests."""
        session, reader, sent = self._session, self._reader, self._requests_seen.requests
        replies = list(self._replies(sent))
        rows: list[Fact] = [
            self._call(sent, n, position, reply.dialect, call, result)
            for n, (reply, results) in enumerate(replies)
            for position, (call, result) in enumerate(
                zip(reply.calls, match_results(reply.calls, results), strict=True)
            )
        ]
        calls = len(rows)
        findings = [
            *((-1, reader.dialect, entry) for entry in self._file_facts.import_findings),
            *(
                (n, reply.dialect, entry)
                for n, (reply, _) in enumerate(replies)
                for entry in reply.findings
            ),
        ]
        rows += [self._finding(sent, *arguments) for arguments in findings]
        rows += self._requests(sent, stored)
        rows += self._breaks()
        if not self._redacts:  # a hash would give away a short text
            place, simulation = self._place, self._requests_seen.simulation
            rows += wire_facts(place.session, place.piece, simulation)
        names = [tool.name for tool in session.tools]
        toolset = signatures.hash_of("\0".join(sorted(names)))
        if names:
            rows.append(ToolsetFact(self._place.piece, toolset, sorted(names)))
        rows += self._histories(sent)
        rows.append(self._session_row(skeleton, toolset, calls, len(findings)))
        return rows

    def _histories(self, sent: Sequence[SeenRequest]) -> Iterator[HistoryFact]:
        """Yield the tools called in replies that answer none of the requests `sent`."""
        session = self._session
        others = set(session.replies).difference(request.reply for request in sent)
        tools = {call.tool for index in others for call in self._reader.read(index).calls}
        for tool in sorted(map(self._clean.text, tools - {""})):
            yield HistoryFact(self._place.session, self._place.piece, tool)

    def _session_row(self, skeleton: int, toolset: int, calls: int, findings: int) -> SessionFact:
        session, sent = self._session, self._requests_seen.requests
        model = session.named_model if sent or session.messages else ""
        return SessionFact(
            session=self._place.session,
            piece=self._place.piece,
            number=self._place.number,
            title="" if self._redacts else session.title[:_SHORT],  # the session is clean already
            agent=session.agent.name,
            version=session.agent.version,
            run=self._run_name(session.agent.session),
            sub_agent=session.agent.sub_agent,
            model=model,
            provider=provider_of(model),
            dialect=self._reader.dialect,
            form=self._file_facts.form,
            sent_at=next((request.sent_at for request in sent if request.sent_at), None),
            requests=len(sent),
            messages=len(session.messages),
            calls=calls,
            findings=findings,
            tools=toolset,
            text=skeleton,
            bands=signatures.bands_of(signatures.shingles(_texts_of(session))),
        )

    def _replies(
        self, sent: Sequence[SeenRequest]
    ) -> Iterator[tuple[SeenReply, list[ToolResultPart]]]:
        """Yield each request's reply and results. If the last message of the session has no
        answer, yield the recorded answers to it, too, without results."""
        session, reader = self._session, self._reader
        for request in sent:
            index = request.reply
            if index is None:
                yield SeenReply([], []), []
            else:
                yield reader.read(index), list(results_of(session.messages, index))
        if session.rows or not is_pending(session):  # then recordings repeat the replies above
            return
        for recording in session.recordings:
            dialect = named_dialect(recording) or reader.dialect or NATIVE
            yield (
                reader.from_events(
                    read_recording(recording, dialect, session.tools).events, dialect
                ),
                [],
            )

    def _values_of(self, sent: Sequence[SeenRequest], n: int) -> dict[str, Any]:
        """Return the values that each row about request `n` repeats, so that questions need no
        join. A finding about no request has -1 for `n`."""
        if n not in self._row_values:
            self._row_values[n] = self._make_values(sent, n)
        return self._row_values[n]

    def _make_values(self, sent: Sequence[SeenRequest], n: int) -> dict[str, Any]:
        request = sent[n] if 0 <= n < len(sent) else None
        first = request or (sent[0] if sent else None)
        agent = self._session.agent
        return {
            "session": self._place.session,
            "piece": self._place.piece,
            "n": n,
            "agent": agent.name,
            "version": (request.version if request else "") or agent.version,
            "model": (request.model if request else "") or self._session.named_model,
            "sent_at": first.sent_at if first else None,
        }

    def _call(
        self,
        sent: Sequence[SeenRequest],
        n: int,
        position: int,
        dialect: str,
        call: SeenCall,
        result: ToolResultPart | None,
    ) -> CallFact:
        raw = "" if call.ok else call.raw or dump_again(call.arguments or {})
        form = signatures.form_of(raw) if raw else ""
        answer = None if result is None else _text_of(result)
        failed = None if answer is None or result is None else _is_failure(result, answer)
        error = answer if failed and answer else ""
        signature = signatures.signature_of(error)
        return CallFact(
            **self._values_of(sent, n),
            position=position,
            dialect=dialect,
            tool=self._clean.text(call.tool),
            ok=call.ok,
            finding=call.finding,
            findings=call.findings,
            schema_error=self._excerpt(call.schema_error, _SHORT),
            failed=failed,
            shape=signatures.hash_of(f"{call.finding}\0{form}") if raw else 0,
            form=self._excerpt(form, _EXCERPT_CHARACTERS),
            raw=self._excerpt(raw, _EXCERPT_CHARACTERS),
            signature=signatures.hash_of(signature),
            error=self._excerpt(error, _EXCERPT_CHARACTERS),
            argument_characters=len(call.raw) or len(dump_again(call.arguments or {})),
            result_characters=None if answer is None else len(answer),
        )

    def _finding(
        self, sent: Sequence[SeenRequest], n: int, dialect: str, entry: Finding
    ) -> FindingFact:
        place = entry.where.partition(" (")[0]
        return FindingFact(
            **self._values_of(sent, n),
            dialect=dialect,
            code=entry.code,
            severity=entry.severity,
            place=self._excerpt(place, _SHORT),
            message=self._excerpt(entry.message, _SHORT),
        )

    def _requests(
        self, sent: Sequence[SeenRequest], stored: Sequence[StoredRequest]
    ) -> Iterator[RequestFact]:
        chain: list[bytes] = []  # a hash for each block: of it and of all blocks before it
        dialect = self._reader.dialect
        for n, (request, blocks) in enumerate(zip(sent, stored, strict=True)):
            del chain[blocks.kept :]
            state = chain[-1] if chain else bytes(8)
            for digest in blocks.hashes:
                state = blake2b(state + digest, digest_size=8).digest()
                chain.append(state)
            added_chain = [int.from_bytes(digest, "big") for digest in chain[blocks.kept :]]
            values = self._values_of(sent, n)
            figures: dict[str, Any] = {
                **request.characters(self._file_facts.form),
                **request.billing(values["model"]),
            }
            yield RequestFact(
                **values,
                provider=provider_of(values["model"]),
                dialect=dialect,
                kept=blocks.kept,
                added=blocks.added,
                chain=int.from_bytes(state, "big"),
                added_chain=added_chain,
                marks=request.marks,
                tools=request.tools,
                system=request.system,
                **figures,
                seconds=request.seconds,
                stop_reason=request.stop_reason,
                diagnosis=request.diagnosis,
            )

    def _breaks(self) -> Iterator[BreakFact]:
        for entry in breaks_of(self._session, self._requests_seen):
            values = self._values_of(self._requests_seen.requests, entry.n)
            yield BreakFact(
                **values,
                provider=provider_of(values["model"]),
                cause=entry.cause,
                rule=entry.rule,
                block=entry.block,
                character=entry.character,
                before=self._excerpt(entry.before, _SHORT),
                after=self._excerpt(entry.after, _SHORT),
                lost_tokens=entry.lost_tokens,
                lost_nano=entry.lost_nano,
                state=entry.state,
                diagnosis=self._requests_seen.requests[entry.n].diagnosis,
            )

    def _excerpt(self, text: str, most: int) -> str:
        """Return the beginning of a text, without secrets; "" if the corpus is redacted."""
        return "" if self._redacts or not text else self._clean.text(text[:_MOST_CLEANED])[:most]

    def _run_name(self, run: str) -> str:
        return f"{signatures.hash_of(run):016x}" if self._redacts and run else run


def file_facts(loaded: LoadedSession, cleaner: Cleaner) -> FileFacts:
    """Return the facts that only a session's file shows, without secrets."""
    findings = [
        [entry.code, entry.severity, cleaner.text(entry.where), cleaner.text(entry.message)]
        for entry in (*loaded.findings, *_unknown_dialects(loaded.session))
    ]
    return FileFacts(
        loaded.format, findings, _kept_as_text(loaded), recorded=bool(loaded.session.recordings)
    )


def _unknown_dialects(session: Session) -> Iterator[Finding]:
    for recording in session.recordings:
        if recording.dialect and not named_dialect(recording):
            message = f"the dialect {recording.dialect!r} is unknown, so it is guessed by text"
            yield finding("unknown-dialect", f"recording {recording.name!r}", message)


def _kept_as_text(loaded: LoadedSession) -> list[int]:
    """Return the indexes of messages with a call whose arguments are text, not a JSON object."""
    places = [entry.where for entry in loaded.findings if entry.code == _KEPT_AS_TEXT]
    return [
        index
        for index, place in enumerate(loaded.places if places else ())
        if place and any(where.startswith(place) for where in places)
    ]


def _text_of(result: ToolResultPart) -> str:
    return result.result if isinstance(result.result, str) else dump_again(result.result)


def _is_failure(result: ToolResultPart, text: str) -> bool:
    return result.is_error or _ERROR.match(text) is not None


def _texts_of(session: Session) -> Iterator[str]:
    """Yield the texts by which similar sessions are found: those of the user and the assistant,
    without results of tools."""
    for message in session.messages:
        if message.role in ("user", "assistant"):
            yield from (part.text for part in message.parts if type(part) is TextPart)
