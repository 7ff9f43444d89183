"""The eight questions. Each asks the library, and returns an `Answer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from playground.base import paths
from playground.base.errors import InputFault, nearest_names
from playground.base.findings import CODES, Finding
from playground.base.fixes import FIXES
from playground.base.registry import public_name
from playground.base.wording import counted
from playground.cache.answers.as_sent import AS_SENT, sent_requests
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.headline import headline
from playground.cache.answers.simulation import simulate_cache
from playground.cache.simulated import Simulated
from playground.cache.simulator import MAYBE_TOO_SHORT
from playground.dialects import dialect_names, get_dialect
from playground.nouns.tool_formats import read_tools
from playground.plugins.mcp_server.answers import Answer, noticed
from playground.plugins.mcp_server.cache_mends import cache_mends
from playground.plugins.mcp_server.inputs import Given, Roots
from playground.plugins.mcp_server.reply_mends import reply_mends
from playground.recordings.recording import Recording, TextChunk

_SESSION: Final = "JSON (a session, a request body, a list of messages) or the path of a file"
_Session = Annotated[Given, Field(description=_SESSION)]
_Requests = Annotated[
    Given,
    Field(
        description="request bodies as they were sent, in order, two or more; or a session or "
        "transcript: JSON or the path of a file"
    ),
]
_Model = Annotated[str, Field(description="a model's name, in place of the input's own")]
_Reply = Annotated[str, Field(description="the model's text, unchanged")]
_Path = Annotated[str, Field(description="in place of `reply`: a recording or a reply in a file")]
_Tools = Annotated[
    list[Any] | None, Field(description="the tools that were offered, in any API's form")
]
_ALONE: Final = "it follows from the rules and the requests alone"


@dataclass(frozen=True)
class Questions:
    """The questions about JSON in the arguments, or files below the roots."""

    roots: Roots

    @property
    def all(self) -> list[Callable[..., Answer]]:
        return [
            self.why_did_this_cache_break,
            self.what_does_this_server_drop,
            self.which_dialect_is_this,
            self.how_is_this_session_written,
            self.what_does_this_change_cost,
            self.find_in_corpus,
            self.check_this_declaration,
            self.explain_this_finding,
        ]

    def why_did_this_cache_break(
        self,
        requests: _Requests,
        request: Annotated[
            int, Field(ge=0, description="the request to explain, from 1; 0: the first break")
        ] = 0,
        times: Annotated[
            list[float] | None, Field(description="seconds at which each request was sent")
        ] = None,
        model: _Model = "",
        provider: Annotated[str, Field(description="whose rules apply; default: the model's")] = "",
    ) -> Answer:
        """Explain why a request read less from the provider's prompt cache than it could, and how
        to change the requests so that it reads again. Nothing is sent."""
        from playground.show.wire import simulation_json

        bodies, at, simulation = self._simulated(requests, times or [], model, provider)
        number = request - 1 if request else _first_break(simulation)
        if number >= len(simulation.requests):
            last = f"a number up to {len(simulation.requests)}"
            raise InputFault(f"there is no request {request}", field="request", expected=last)
        details = simulation_json(simulation)
        if number < 1:
            text = f"No cache break. {headline(simulation).text}"
            findings = noticed(simulation.findings)
            sure = _sure_of(simulation, simulation.requests)
            return Answer(answer=text, sure=sure, findings=findings, details=details)
        one, before = simulation.requests[number], simulation.requests[number - 1]
        difference = simulation.differences[number]
        about = [each for each in simulation.findings if _is_about(each, number)]
        mends = []
        if bodies:
            previous, this = bodies[number - 1 : number + 1]
            between = at[number - 1 : number + 1]
            name = model or ("" if this.get("model") else simulation.model)

            def simulate(pair: Sequence[dict[str, Any]]) -> CacheSimulation:
                return simulate_cache(pair, model=name, provider=provider, times=between)

            mends = cache_mends(previous, this, number, simulate, bodies is requests)
        of = f" of {before.cached_after:,} cached" if before.cached_after else ""
        bill = simulation.billed[number] if number < len(simulation.billed) else None
        billed = f" (its bill shows {bill.read:,})" if bill else ""
        return Answer(
            answer=f"Request {number + 1} reads {one.read:,}{of} tokens{billed}: "
            f"{simulation.why(number)}",
            where=difference.sentence if difference else "",
            sure=_sure_of(simulation, [one]),
            remedy=difference.fix if difference else _remedies(about),
            mends=mends,
            findings=noticed(about),
            details=details,
        )

    def _simulated(
        self, given: Given, times: list[float], model: str, provider: str
    ) -> tuple[list[dict[str, Any]], list[float], CacheSimulation]:
        """Return the bodies as sent ([] if they are not known), their times, and a simulation."""
        options: dict[str, Any] = {"model": model, "provider": provider}
        document = self.roots.source(given).document if isinstance(given, str) else given
        if isinstance(document, list) and document and all(map(_is_body, document)):
            return document, times, simulate_cache(document, times=times, **options)
        session = self.roots.session(given, "requests").session
        if times:
            raise InputFault("a session has its own times", field="times", expected="none")
        if not session.rows:
            return [], [], simulate_cache(session, **options)
        sent = sent_requests(session)
        bodies = [
            {key: [*v] if isinstance(v, Sequence) and not isinstance(v, str) else v for key, v in b}
            for b in (body.items() for body in sent.bodies)
        ]
        return bodies, sent.times, simulate_cache(session, policy=AS_SENT, **options)

    def what_does_this_server_drop(
        self,
        server: Annotated[str, Field(description="such as vllm, or vllm:hermes with its parser")],
        reply: _Reply = "",
        path: _Path = "",
        dialect: Annotated[str, Field(description="the model's dialect; default: detected")] = "",
        tools: _Tools = None,
    ) -> Answer:
        """Say which calls, text and reasoning of a model's reply an inference server delivers to
        its client, and which it drops; suggest a changed reply or parser that loses less."""
        from playground.questions.fast_detection import dialect_for_server
        from playground.questions.server_view import server_view
        from playground.show.wire import result_json, server_json

        recording, offered = self._recording(reply, path, dialect, tools)
        text = "".join(each.text for each in recording.chunks if isinstance(each, TextChunk))
        is_text = all(isinstance(each, TextChunk) for each in recording.chunks)
        is_text = is_text and bool(text) and not recording.prefill
        name = dialect or dialect_for_server(server, recording, offered)
        name = name or self._detected(text, offered)
        reading = server_view(recording, name, server, offered)
        calls = ", ".join(call.name for call in reading.tool_calls) or "none"
        hands = "is assumed to hand over" if reading.assumed else "hands over"
        dropped = [
            f"characters {e.span.start} to {e.span.stop}: {e.text!r}" for e in reading.dropped
        ]
        aborted = [f"{call.name or 'a call'}: {call.reason}" for call in reading.lossless.aborted]
        lost = len(reading.lossless.tool_calls) + len(aborted) - len(reading.tool_calls)
        findings = [*reading.server_findings, *reading.lossless.findings]
        doubts = "; ".join(each.message for each in reading.doubts)
        source = reading.view.source or "without loss"
        details = {"server": server_json(reading), "without loss": result_json(reading.lossless)}
        for each in details.values():
            del each["events"]  # too many: one for each piece of the reply
        return Answer(
            answer=f"{reading.name} {hands} {counted(len(reading.tool_calls), 'call')} ({calls}) "
            f"and {counted(len(reading.content.strip()), 'character')} of text; it drops "
            f"{counted(max(0, lost), 'call')} and "
            f"{counted(reading.dropped_characters, 'character')}. Read as {name} without loss, the "
            f"reply has {counted(len(reading.lossless.tool_calls), 'call')} and "
            f"{counted(len(aborted), 'aborted one')}.",
            where="; ".join([*dropped, *aborted]),
            sure=_sure(not reading.doubts, doubts or f"read from the server's code, {source}"),
            remedy=_remedies(findings),
            mends=reply_mends(text, name, server, offered, not path) if is_text else [],
            findings=noticed(findings),
            details=details,
        )

    def which_dialect_is_this(
        self,
        reply: _Reply = "",
        path: _Path = "",
        model: Annotated[str, Field(description="in place of a reply: a model's name")] = "",
        tools: _Tools = None,
    ) -> Answer:
        """Say in which tool-call dialect a reply is written, or which a model was trained on."""
        from playground.dialects.models import dialect_for
        from playground.questions.detection import detect_recording

        if model and not (reply or path):
            choice = dialect_for(model)
            return Answer(
                answer=f"{model}: {choice.dialect or f'not known; try {choice.nearest}'}",
                sure=_sure(choice.dialect is not None, choice.reason),
                details=asdict(choice),
            )
        if not (reply or path):
            problem = "neither a reply nor a path nor a model is given"
            raise InputFault(problem, field="reply", expected="one of the three")
        recording, offered = self._recording(reply, path, "", tools)
        found = detect_recording(recording, offered)
        best = [each for each in found if each.evident == found[0].evident and each.evident]
        equal = [each.dialect for each in best if each.as_written == best[0].as_written][1:]
        others = f"; also read by {', '.join(equal)}" if equal else ""
        is_certain = not equal and any(each.as_written for each in best)
        return Answer(
            answer=f"{found.dialect or f'None; the nearest is {found.nearest}'}: {found.reason}",
            sure=_sure(is_certain, f"{counted(len(found), 'dialect')} were tried{others}"),
            remedy="" if found.dialect else "check the markers, and give the tools",
            details={"dialects": [asdict(each) for each in found[:8]]},
        )

    def how_is_this_session_written(
        self, session: _Session, dialect: str, model: _Model = ""
    ) -> Answer:
        """Write a session as a model reads it in a dialect: its messages, tools, tokens, losses."""
        from playground.questions.comparison import compare
        from playground.questions.token_counts import as_json
        from playground.show.wire import column_json

        loaded = self.roots.session(session, "session")
        column = compare(loaded.session.with_model(model), [dialect])[dialect]
        tokens, (least, most) = column.tokens, column.tokens.range
        characters = sum(column.characters.values())
        details = {**column_json(column), "characters": column.characters}
        return Answer(
            answer=f"In {dialect}: {counted(len(column.rendering.messages), 'message')}, "
            f"{counted(characters, 'character')}, {tokens.tokens:,} tokens.",
            where="; ".join(each.where for each in column.findings),
            sure=_sure(tokens.kind == "exact", f"tokens: {tokens.kind}, {least:,} to {most:,}"),
            remedy=_remedies(column.findings),
            findings=noticed([*column.findings, *loaded.findings]),
            details=details | {"tokens": as_json(tokens)},
        )

    def what_does_this_change_cost(
        self, before: _Session, after: _Session, model: _Model = ""
    ) -> Answer:
        """Compare two versions of a prompt: what differs, in tokens, and what a provider's cache
        still reads of the second one."""
        from playground.questions.versions import diff

        first, second = (
            self.roots.session(given, name).session
            for given, name in ((before, "before"), (after, "after"))
        )
        found = diff(first, second, model=model, names=("before", "after"))
        changed = [each for each in found.changes if each.kind != "same"]
        cost = found.costs[0] if found.costs else None
        is_certain = found.is_exact and (cost is None or cost.state == "exact")
        words = "exact counts" if found.is_exact else "tokens are estimates"
        words += f"; {cost.title}: {cost.state}, {cost.reason} {cost.assumption}" if cost else ""
        return Answer(
            answer=found.headline,
            where="; ".join(
                f"{each.kind} {each.tier}: {each.block.name} ({each.tokens[0]} to "
                f"{each.tokens[1]} tokens)"
                for each in changed[:10]
            ),
            sure=_sure(is_certain, words),
            remedy=cost.parts.fix if cost and cost.lost and cost.parts else "",
            details=found.as_json(),
        )

    def find_in_corpus(
        self,
        corpus: Annotated[str, Field(description="the folder of a corpus that was built before")],
        question: Annotated[str, Field(description="such as breaks, failures, sessions")] = "",
        sql: Annotated[str, Field(description="in place of a question: one SELECT")] = "",
        by: Annotated[str, Field(description="columns to group by, or day, week, month")] = "",
        where: Annotated[dict[str, Any] | None, Field(description="values of columns")] = None,
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> Answer:
        """Ask a corpus of recorded sessions: what failed, what broke caches, what it cost."""
        if own := {"question", "by", "limit", "seconds"} & {*(where or {})}:
            expected = "columns, since, until; the others are arguments of their own"
            raise InputFault(f"no filter is called {min(own)!r}", field="where", expected=expected)
        if bool(question) == bool(sql):
            raise InputFault(
                "either a question or SQL is needed", field="question", expected="one of the two"
            )
        opened = public_name("corpus", "corpus")(self.roots.file(corpus))
        if sql:
            found = opened.sql(sql, limit=limit)
        else:
            found = opened.ask(question, by or None, limit=limit, **(where or {}))
        rows = found.records()
        first = "; ".join(f"{key}: {value}" for key, value in rows[0].items()) if rows else "none"
        return Answer(
            answer=f"{question or 'SQL'}: {counted(len(rows), 'row')}. The first: {first}",
            sure=_sure(not found.notes, "; ".join(["counted over all sessions", *found.notes])),
            details=found.plain(),
            cut=[f"more rows than {limit}"] if found.cut else [],
        )

    def check_this_declaration(
        self,
        declaration: Annotated[
            dict[str, Any] | str,
            Field(description="a dialect's declaration, the path of its file, or a dialect's name"),
        ],
        examples: Annotated[int, Field(ge=1, le=200)] = 50,
    ) -> Answer:
        """Check the declaration of a dialect by the laws: what it writes it reads back, whole and
        in pieces, and nothing is lost."""
        from playground.dialects.files import dialect_of, load_dialect

        if isinstance(declaration, dict):
            dialect = dialect_of(declaration, "declaration")
        elif declaration in dialect_names():
            dialect = get_dialect(declaration)  # type: ignore[assignment]
        else:
            dialect = load_dialect(self.roots.file(declaration))
        checks = public_name("own_dialects", "check_dialect")(dialect, examples)
        findings = checks.findings()
        broken = "; ".join(f"law {each.law} ({each.title})" for each in checks.broken)
        return Answer(
            answer=f"{dialect.name}: {f'broken: {broken}' if broken else 'all laws hold'}, of "
            f"{counted(len(checks), 'law')} on up to {examples} examples each.",
            where="; ".join(f"law {c.law}: {c.broken.says}" for c in checks.broken),
            sure="certain: details has the smallest example"
            if broken
            else "not certain: the examples are random, with a fixed seed",
            remedy=_remedies(findings),
            findings=noticed(findings),
            details={"laws": checks.to_dict()},
        )

    def explain_this_finding(
        self, finding: Annotated[str, Field(description="a code, or a text that has one")]
    ) -> Answer:
        """Explain a finding by its code or its text: its meaning, its remedy, an example."""
        text = finding.strip().lower()
        codes = [code for code in CODES if code == text] or [c for c in CODES if _holds(text, c)]
        codes = codes or [c for c, kind in CODES.items() if kind.meaning.lower() in text]
        if not codes:
            nearest = nearest_names(text[:60], list(CODES))
            raise InputFault(
                f"no finding has the code {finding[:60]!r}; {nearest}",
                field="finding",
                expected="a code of docs/findings.md",
            )
        table = (paths.documents() / "findings.md").read_text(encoding="utf-8").splitlines()
        explained = {
            code: {
                "severity": CODES[code].severity,
                "meaning": CODES[code].meaning,
                "remedy": FIXES.get(code, ""),
                "examples": [line for line in table if line.startswith(f"| `{code}` |")][1:],
            }
            for code in codes[:3]
        }
        return Answer(
            answer="; ".join(f"{code}: {CODES[code].meaning}" for code in explained),
            sure="certain: the table of findings",
            remedy="; ".join(filter(None, (FIXES.get(code, "") for code in explained))),
            details={"findings": explained},
        )

    def _recording(
        self, reply: str, path: str, dialect: str, tools: list[Any] | None
    ) -> tuple[Recording, list[Any]]:
        """Return a reply as a recording, and the tools that were offered."""
        from playground.cli.shared import load_streamed

        if bool(reply) == bool(path):
            problem = "either a reply or a path is needed"
            raise InputFault(problem, field="reply", expected="one of the two")
        offered = read_tools(tools or [])
        if reply:
            return Recording("reply", dialect, (TextChunk(at=0.0, text=reply),)), offered
        session = load_streamed(self.roots.name(path), dialect).session
        return session.recordings[0], offered or list(session.tools)

    def _detected(self, text: str, tools: Sequence[Any]) -> str:
        from playground.questions.detection import detect

        if found := detect(text, tools).nearest:
            return found
        raise InputFault(
            "no dialect sees a call in this reply", field="dialect", expected="a dialect's name"
        )


def _is_body(value: Any) -> bool:
    fields = ("messages", "input", "contents")
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in fields)


def _first_break(simulation: CacheSimulation) -> int:
    """Return the first request that breaks the cache; 0 if there is none.

    If neither the simulation nor a bill shows a break, return the first request of the first kind
    that there is: it differs from the one before it, at a provider that caches by itself; it reads
    nothing; it may read nothing, because the prefix may be shorter than the provider's minimum. The
    last two kinds leave out requests whose bills show a read.
    """
    breaks = {*simulation.breaks, *(each.number for each in simulation.unexplained)}
    intended = {*simulation.compacted, *(each.number for each in simulation.shorter)}
    by_itself = simulation.rules is not None and simulation.rules.match == "best effort"
    differing = {n for n, each in enumerate(simulation.differences) if each and by_itself}
    read = {n for n, bill in enumerate(simulation.billed) if bill and bill.read}
    numbered = [(n, one) for n, one in enumerate(simulation.requests) if n and n not in read]
    idle = {n for n, one in numbered if one.total and not one.read}
    short = {n for n, one in numbered if MAYBE_TOO_SHORT in one.reason}
    return min(breaks or differing - intended or idle or short, default=0)


def _is_about(found: Finding, number: int) -> bool:
    """Return True if a finding is about this request, the previous request, or all requests."""
    numbers = [int(word) for word in found.where.split() if word.isdecimal()]
    return not numbers or min(numbers) <= number + 1 <= max(numbers) + 1


def _sure(is_certain: bool, reason: str) -> str:
    """Return the field `sure`, which begins with `certain` or `not certain`."""
    return f"{'' if is_certain else 'not '}certain: {reason}".strip()


def _sure_of(simulation: CacheSimulation, requests: Sequence[Simulated]) -> str:
    unsure = [one for one in requests if one.state != "exact"]
    about = f"{counted(len(unsure), 'request')}, the first {unsure[0].state}" if unsure else ""
    words = f"{about}: {unsure[0].reason}" if unsure else _ALONE
    return _sure(not unsure, f"{words}. {simulation.assumption}")


def _remedies(findings: Sequence[Finding]) -> str:
    """Return the remedies of the severest findings. The others are in `findings` alone."""
    ranked = noticed(findings)
    worst = [each.remedy for each in ranked if each.severity == ranked[0].severity]
    return "; ".join(dict.fromkeys(filter(None, worst)))


def _holds(text: str, code: str) -> bool:
    """Return True if a text has the code as a word of its own, not as a part of a longer code."""
    start = text.find(code)
    around = text[max(0, start - 1) : start] + text[start + len(code) : start + len(code) + 1]
    return start >= 0 and not any(each.isalnum() or each == "-" for each in around)
