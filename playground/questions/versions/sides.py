"""Choose which request of each version is compared, and bring both into one form.

Two requests to the same API are compared as they were sent. Requests to different APIs, and
transcripts without requests, are written in one dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.shared_lists import SharedList
from playground.base.wording import grouped
from playground.cache.answers.as_sent import sent_requests
from playground.dialects import get_dialect
from playground.nouns.wire_blocks import WireRequest, read_wire
from playground.questions.token_counts import chat_body, count_tokens
from playground.sessions.loading import IN_MEMORY, load_session
from playground.sessions.session import Session
from playground.tokens.count import TokenCount
from playground.tokens.models import api_of

Given = Session | Mapping[str, Any] | str | PathLike[str]
_DEFAULT_DIALECT: Final = "native"


@dataclass(frozen=True)
class Version:
    """One side of a comparison: a request of a session, its model, and its tokens.

    `agent` is the program that wrote the session, with its version, if the transcript says so;
    `request` is the request's number, from 1 to `requests`. `written_in` is a dialect, "" for a
    request as it was sent, with its marks. If `is_answered`, the session has an answer to this
    request; the page Compare counts the answer, `count` does not.
    """

    name: str
    agent: str
    model: str
    body: dict[str, Any]
    request: int
    requests: int
    count: TokenCount
    is_answered: bool = False
    written_in: str = ""

    @property
    def position(self) -> str:
        """The request's number in words."""
        answered = ", before its answer" if self.is_answered else ""
        return f"request {self.request} of {self.requests}{answered}"

    @cached_property
    def _wires(self) -> dict[str, WireRequest]:
        return {}

    def wire(self, ttl: str) -> WireRequest:
        """Return the request as blocks; a mark without a lifetime lasts for `ttl`. The caller must
        not change the result."""
        known = next(iter(self._wires.values()), None)
        if known and known.automatic_ttl is None and not any(block.ttl for block in known.blocks):
            return known  # without marks, `ttl` makes no difference
        if ttl not in self._wires:
            wire = self._wires[ttl] = read_wire(self.body, self.model, ttl)
            # estimated only once for all providers
            wire.blocks = SharedList(block._replace(size=block.tokens) for block in wire.blocks)
        return self._wires[ttl]

    @property
    def size(self) -> str:
        """The number of tokens as text, with a ~ if it is an estimate."""
        return f"{'' if self.count.kind == 'exact' else '~'}{grouped(self.count.tokens)}"


def both_versions(
    first: Given,
    second: Given,
    names: tuple[str, str] = ("", ""),
    model: str = "",
    dialect: str = "",
    request: int = 0,
) -> tuple[Version, Version, str]:
    """Return both sides in one form, and a description of that form.

    `request` is the number of the request; 0 means the last. Raises InputFault if a session has no
    such request, or if a file cannot be loaded.
    """
    sessions = [session_of(version) for version in (first, second)]
    forms = [_api(session, request) for session in sessions]
    is_sent = not dialect and forms[0] == forms[1] != ""
    if is_sent:
        form = f"as sent ({forms[0]})"
    else:
        written = f"written in {dialect}" if dialect else f"in {_DEFAULT_DIALECT} (assumed)"
        dialect = dialect or _DEFAULT_DIALECT
        differ = "" not in forms and forms[0] != forms[1]
        reason = f": {forms[0]} and {forms[1]} differ in form" * differ
        form = f"{written}{reason}"
    first_version, second_version = (
        _version(session, name, model, "" if is_sent else dialect, request)
        for session, name in zip(sessions, _distinct_names(names, sessions), strict=True)
    )
    return first_version, second_version, form


def session_of(source: Given) -> Session:
    return source if isinstance(source, Session) else load_session(source)


def _distinct_names(names: tuple[str, str], sessions: list[Session]) -> tuple[str, str]:
    first, second = (
        name or (session.title if not session.title.startswith(IN_MEMORY) else "") or place
        for name, session, place in zip(names, sessions, ("first", "second"), strict=True)
    )
    return (first, second) if first != second else (f"{first} (A)", f"{second} (B)")


def _api(session: Session, request: int) -> str:
    """Return the API of a sent request; "" if the session holds no sent request."""
    if all(row.sub_agent for row in session.rows):
        return ""
    return api_of(_choose(sent_requests(session).bodies, request)[0])


def _choose(requests: list[Any], request: int) -> tuple[Any, int]:
    if not 0 <= request <= len(requests):
        count = f"{len(requests)} request{'' if len(requests) == 1 else 's'}"
        raise InputFault(f"request {request} of {count}", expected=f"1 to {len(requests)}")
    return requests[request - 1], request or len(requests)


def _version(session: Session, name: str, model: str, dialect: str, request: int) -> Version:
    """Return one side: the chosen request, written in `dialect` or, if that is "", as sent."""
    session_for_model = session.with_model(model)
    model, is_answered = session_for_model.task.model_name, False
    if dialect:
        stops = _stops(session_for_model)
        stop, number = _choose(stops, request)
        is_answered = stop < len(session.messages)
        body, requests = _rendered_body(session_for_model, dialect, stop), len(stops)
    else:
        bodies = sent_requests(session_for_model).bodies
        body, number = _choose(bodies, request)
        requests = len(bodies)
        model = model or str(body.get("model") or "")
    agent = " ".join(filter(None, (session.agent.name, session.agent.version)))
    count = count_tokens(body, model=model)
    return Version(name, agent, model, body, number, requests, count, is_answered, dialect)


def _stops(session: Session) -> list[int]:
    """Return the number of messages in each request of a transcript. There is a request before each
    answer, and another at the end if the last message is not an answer."""
    stops = [*session.replies]  # a copy: the session keeps its list
    if not stops or session.messages[-1].role != "assistant":
        stops.append(len(session.messages))
    return stops


def _rendered_body(session: Session, dialect: str, stop: int) -> dict[str, Any]:
    """Return a request as a dialect writes it. Only a dialect's own marks are set."""
    chosen = get_dialect(dialect)
    plain = chosen if chosen.marks_itself else chosen.with_policy("none")
    rendering = plain.render(session.prompt_data(stop))
    return chat_body(rendering, session.task.model_name)
