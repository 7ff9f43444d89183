"""Plan a trial and forecast its cost, then ask models, or read recorded answers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, product
from typing import Any, Final

from playground.base.arguments import formerly_positional, takes, wrong
from playground.base.display import Shown
from playground.base.errors import InputFault
from playground.base.extras import MissingPackageError
from playground.base.findings import Finding
from playground.base.wording import counted, dollars
from playground.cache.prices import price_of
from playground.dialects import Dialect, as_dialects, get_dialect
from playground.dialects.request_messages import Rendering
from playground.llm.background import BackgroundRun
from playground.nouns.messages import ToolCallPart
from playground.nouns.wire_estimates import tokens_of
from playground.parsing.values import dump_json
from playground.plugins.trials.doubts import doubts, refuse_unknown_names
from playground.plugins.trials.figures import LEVEL, Trial
from playground.plugins.trials.scoring import Attempt, missed, score
from playground.questions.experiments import read_recording
from playground.recordings.recording import Recording, SignalChunk
from playground.sessions.loading import session_or_sample
from playground.sessions.session import ExpectedCall, ExpectedReply, Session

_AT_ONCE: Final = 4  # requests at a time
_MOST_REPEATS: Final = 1000
_TEXT_TOKENS: Final = 50  # tokens of an answer in addition to its calls
_MODELS_OR_RECORDINGS: Final = (
    'models="openai/gpt-5" (or several), or a recording in one of these dialects, with a name that '
    "begins with a case's name and a comma"
)
_OUTPUT_KEYS: Final = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")

Progress = Callable[[Attempt], None]


@dataclass(frozen=True, slots=True)
class TrialCost:
    """A rough forecast of what a plan's requests will cost.

    Tokens are estimated by kinds of characters; an answer is assumed to be its expected calls and a
    line of text. `nano_dollars` is at list prices without a cache; None if a model's price is
    unknown. `refused` has the arms (dialect, model) that LiteLLM will not send, with its reasons:
    these cost nothing.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    nano_dollars: int | None
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        tokens = f"~{self.input_tokens:,} tokens in, ~{self.output_tokens:,} out"
        is_set = self.nano_dollars is not None
        money = f"about {dollars((self.nano_dollars or 0) / 1e9)}" if is_set else "price not known"
        line = f"{self.requests:,} requests, {tokens}, {money} (an estimate, without a cache)"
        arms = (f"{' for '.join(arm)}: {why}" for arm, why in self.refused.items())
        return "; not sent: ".join([line, *arms])


@dataclass(frozen=True, repr=False)
class TrialPlan(Shown):
    """A trial that has not begun: `cost` is its forecast, `run` begins it.

    Without models the trial costs nothing: it reads the session's recordings in these `dialects`.
    `written_in` names the dialect in which the session's text is written already, or is "". Such a
    text is sent unchanged, in the native dialect, and the answers are read in `written_in`.
    """

    session: Session
    dialects: tuple[Dialect, ...]
    models: tuple[str, ...] = ()
    repeats: int = 5
    base_url: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    written_in: str = ""

    def __repr__(self) -> str:
        names = ", ".join(dialect.name for dialect in self.dialects)
        models = ", ".join(self.models) or "recordings alone"
        found = f", {counted(len(self.findings), 'finding')}" if self.findings else ""
        return f"TrialPlan({counted(len(self.cases), 'case')} in {names} for {models}{found})"

    @property
    def findings(self) -> list[Finding]:
        """The expected calls that the session's own tools would refuse."""
        return doubts(self.session)

    @cached_property
    def cases(self) -> dict[str, ExpectedReply]:
        """The expected replies by their names."""
        return dict(zip(_names(self.session.expected), self.session.expected, strict=True))

    @cached_property
    def cost(self) -> TrialCost:
        """A forecast of the requests of `run` and their cost. Nothing is sent to compute it, but
        LiteLLM is loaded, which takes seconds, to know what it will refuse."""
        refused, cases, prompt, answer = self._refused, self.cases.items(), 0, 0
        money: list[int | None] = []
        for dialect, model in product(self.dialects, self.models):
            if (dialect.name, model) in refused:
                continue
            read = sum(_tokens(self._rendering(case, dialect)) for case, _ in cases) * self.repeats
            said = sum(_answer_tokens(each, dialect) for _, each in cases) * self.repeats
            prompt, answer = prompt + read, answer + said
            if (price := price_of(model)) and price.output is not None:
                money.append((read * price.uncached + said * price.output) // 1000)
            else:
                money.append(None)
        total = None if None in money else sum(each or 0 for each in money)
        return TrialCost(len(money) * len(cases) * self.repeats, prompt, answer, total, refused)

    @property
    def _refused(self) -> dict[tuple[str, str], str]:
        from playground.llm.payloads import refusal

        arms = {}
        for dialect, model in product(self.dialects, self.models):
            first = self._rendering(next(iter(self.cases)), dialect)
            with suppress(MissingPackageError):  # `run` then raises it
                arms[dialect.name, model] = refusal(first.messages, model, first.tools or ())
        return {arm: why for arm, why in arms.items() if why}

    @property
    def requests(self) -> int:
        """The number of requests of `run` to models, including those that are refused."""
        return len(self._jobs())

    @property
    def least_repeats(self) -> int:
        """The smallest number of repeats that could prove a difference."""
        arms = len(self.dialects) * len(self.models)
        pairs = arms * (arms - 1) // 2
        # p of the sign test if n answers are right in one arm only; `verdict` divides the level
        answers = next(n for n in count(1) if 2 ** (1 - n) * pairs < LEVEL)
        return -(-answers // max(1, len(self.cases)))

    @property
    def too_few(self) -> str:
        """A sentence if the plan has too few repeats to prove a difference; else ""."""
        if self.repeats >= self.least_repeats:
            return ""
        asked = counted(self.repeats, "repeat")
        return (
            f"{asked}: too few to prove any difference. At least {self.least_repeats} are needed."
        )

    def run(
        self,
        progress: Progress = lambda _attempt: None,
        cancel: threading.Event | None = None,
        *,
        at_once: int = _AT_ONCE,
        alive: Callable[[], bool] = lambda: True,
    ) -> Trial:
        """Ask the models (`at_once` requests at a time) or read the recordings, and score attempts.

        `progress` is called with each attempt (in a worker's thread, if models are asked). Once
        `cancel` is set, or `alive` returns False, nothing more is sent, and the attempts made so
        far are counted. Without models, raises InputFault if no recording can be counted.
        """
        if not self.models:
            attempts = [*self._recorded_attempts()]
            if not attempts:
                raise InputFault(self._nothing_to_count, expected=_MODELS_OR_RECORDINGS)
            for recorded_attempt in attempts:
                progress(recorded_attempt)
            return Trial(tuple(attempts))
        from playground.llm.library import litellm

        litellm()  # imported before the threads start, so that none waits for it
        cancel = cancel or threading.Event()
        lock = threading.Lock()

        def ask(job: tuple[int, str, Dialect, str]) -> Attempt | None:
            if cancel.is_set() or not alive():
                return None
            attempt = self._ask_model(*job, cancel, alive)
            with lock:
                progress(attempt)
            return attempt

        with ThreadPoolExecutor(at_once, thread_name_prefix="trial") as pool:
            return Trial(tuple(filter(None, pool.map(ask, self._jobs()))))

    @property
    def _nothing_to_count(self) -> str:
        names = ", ".join(dialect.name for dialect in self.dialects) or "any dialect"
        return f"no model is named, and no recording of the session answers a case in {names}"

    def _jobs(self) -> list[tuple[int, str, Dialect, str]]:
        """Return the requests, alternating between arms, so that a model's changes over the day
        affect all arms."""
        return [
            (number, case, dialect, model)
            for number in range(1, self.repeats + 1)
            for case in self.cases
            for model in self.models
            for dialect in self.dialects
        ]

    def _rendering(self, case: str, dialect: Dialect) -> Rendering:
        key = (case, dialect.name)
        if key not in self._renderings:
            messages = self.session.messages[: self.cases[case].message]
            data = replace(self.session, messages=messages).prompt_data()
            self._renderings[key] = dialect.render(data)
        return self._renderings[key]

    @cached_property
    def _renderings(self) -> dict[tuple[str, str], Rendering]:
        return {}

    def _ask_model(
        self,
        number: int,
        case: str,
        dialect: Dialect,
        model: str,
        cancel: threading.Event,
        alive: Callable[[], bool],
    ) -> Attempt:
        """Send one case to a model for the `number`-th time, and return the scored answer."""
        from playground.llm.record import Limits, record

        rendering, reader = self._rendering(case, dialect), self._reader(dialect).name
        empty = Attempt(case, reader, model, number)
        try:
            recorded = record(
                rendering.messages,
                model,
                tools=rendering.tools or (),
                name=f"{case}, {reader}, {model}, {number}",
                dialect=reader,
                base_url=self.base_url,
                parameters=self.parameters,
                limits=Limits(alive=alive),
                cancel=cancel,
            )
        except InputFault as fault:  # no reply came back
            return replace(empty, fault=str(fault))
        # The reply names the model without its provider, but recordings are counted by model.
        return self._scored(empty, replace(recorded.recording, model=model))

    def _reader(self, dialect: Dialect) -> Dialect:
        """Return the dialect in which an answer to requests in `dialect` is read."""
        is_written = self.written_in and dialect.is_native_toolcalling()
        return get_dialect(self.written_in) if is_written else dialect

    def _recorded_attempts(self) -> Iterator[Attempt]:
        """Yield an attempt for each recording of a case, in one of the plan's dialects.

        A recording's name begins with the name of its case. A recording with another name is used
        only if the plan has one case, and this is the reply to the whole conversation.
        """
        dialects = {dialect.name for dialect in self.dialects}
        numbers: Counter[tuple[str, str, str]] = Counter()
        for recording in self.session.recordings:
            case = self._case_of(recording)
            if case is None or recording.dialect not in dialects:
                continue
            key = (case, recording.dialect, recording.model)
            numbers[key] += 1
            yield self._scored(Attempt(*key, numbers[key]), recording)

    def _case_of(self, recording: Recording) -> str | None:
        for case in self.cases:
            if recording.name.startswith(f"{case}, "):
                return case
        ends = [c for c, e in self.cases.items() if e.message == len(self.session.messages)]
        return ends[0] if len(ends) == len(self.cases) == 1 else None

    def _scored(self, empty: Attempt, recording: Recording) -> Attempt:
        """Return the attempt with its recording, and its score or the reason why it has none."""
        times = [chunk.at for chunk in recording.chunks if not isinstance(chunk, SignalChunk)]
        is_timed = bool(times) and recording.timing == "recorded"
        error = recording.error or {}
        if not times and error:
            return replace(empty, fault=str(error.get("message", error)), recording=recording)
        if recording.broken_off:
            return replace(empty, broken_off=recording.broken_off, recording=recording)
        dialect = next(d for d in map(self._reader, self.dialects) if d.name == empty.dialect)
        result = read_recording(recording, dialect, self.session.tools)
        expected = self.cases[empty.case].calls
        return replace(
            empty,
            score=score(expected, result),
            missed=missed(expected, result),
            tokens=_output_tokens(recording.usage),
            first_seconds=times[0] if is_timed else None,
            seconds=recording.chunks[-1].at if is_timed else None,
            recording=recording,
        )


@dataclass
class TrialRun(BackgroundRun):
    """A running trial, with the attempts made so far, in the order in which they ended."""

    plan: TrialPlan
    done: list[Attempt] = field(default_factory=list)

    @property
    def trial(self) -> Trial:
        """The trial with the attempts made so far."""
        return Trial(tuple(self.done))

    def start(self, alive: Callable[[], bool] = lambda: True) -> None:
        """Begin the trial; once `alive` returns False, nothing more is sent."""
        self._begin(lambda: self._run(alive), "trial")

    def _run(self, alive: Callable[[], bool]) -> None:
        self.plan.run(self.done.append, self.cancel, alive=alive)


@formerly_positional(2, "models")
@takes(
    session=(Session, str),
    models=(str, Iterable),
    expected=(ExpectedCall, Iterable),
    repeats=int,
    base_url="text",
    parameters="object or nothing",
)
def trial(
    session: Session | str,
    dialects: str | Dialect | Sequence[str | Dialect] = (),
    *,
    models: str | Sequence[str] = (),
    expected: ExpectedCall | Sequence[ExpectedCall] = (),
    repeats: int = 5,
    base_url: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> TrialPlan:
    """Plan a trial of dialects and models on the session's expected calls (`Session.expected`).

    `expected` are calls of the next reply, made by `expect`; they replace the session's. The plan's
    `cost` is a forecast; nothing is sent before its `run`. `models` are LiteLLM's names, and
    `base_url` an OpenAI-compatible server, such as that of `serving`; keys come from the
    environment. Without `models` the session's own recordings in `dialects` (by default in any) are
    read, which costs nothing. The trial's `misses` say what was wrong in each wrong answer.

    Raises InputFault for a session without expected calls or for a number of `repeats` out of
    range, UnknownNameError for an unknown dialect, and for an `expected` tool or argument that the
    session does not have.
    """
    session = session_or_sample(session)
    calls = (expected,) if isinstance(expected, ExpectedCall | Mapping | str) else tuple(expected)
    for call in calls:
        if not isinstance(call, ExpectedCall):
            raise wrong(
                "trial(expected=…)", call, 'calls such as pg.expect("tool", argument=value)'
            )
        if session.tools:
            refuse_unknown_names(call, session.tools)
    if calls:
        session = replace(session, expected=(ExpectedReply(len(session.messages), calls),))
    if not session.expected:
        raise InputFault(
            "this session names no expected calls",
            where="trial(expected=…)",
            expected='pg.expect("tool", argument=value), or a list of expected replies in the file '
            "(docs/trials.md)",
        )
    if not 1 <= repeats <= _MOST_REPEATS:
        raise InputFault(f"{repeats} repeats", expected=f"1 to {_MOST_REPEATS:,}")
    listed = (models,) if isinstance(models, str) else tuple(models)
    recorded = list(dict.fromkeys(recording.dialect for recording in session.recordings))
    chosen = dialects
    if dialects in ((), "") and not listed:
        chosen = tuple(get_dialect(name) for name in recorded)
    return TrialPlan(
        session, tuple(as_dialects(chosen)), listed, repeats, base_url, parameters or {}
    )


def expect(tool_name: str, /, **arguments: Any) -> ExpectedCall:
    """Return a call that a reply should make. If no arguments are given, any arguments are right.

    For a call without arguments, write `pg.ExpectedCall(tool_name, {})`.
    """
    return ExpectedCall(tool_name, arguments or None)


def own_calls(session: Session) -> tuple[ExpectedReply, ...]:
    """Return the calls of the session's own model, as expected replies.

    There is one reply for each message with calls, named by the message's index.
    """
    calls_by_message = (
        (index, [part for part in session.messages[index].parts if isinstance(part, ToolCallPart)])
        for index in session.replies
        if index
    )
    return tuple(
        ExpectedReply(
            index,
            tuple(ExpectedCall(part.tool_name, dict(part.args)) for part in calls),
            f"message {index}",
        )
        for index, calls in calls_by_message
        if calls
    )


def _names(expected: Sequence[ExpectedReply]) -> list[str]:
    """Return each reply's name, or its message's index. Repeated names get a number."""
    counts: Counter[str] = Counter()
    names = []
    for reply in expected:
        name = reply.name or f"message {reply.message}"
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return names


def _tokens(rendering: Rendering) -> int:
    return sum(tokens_of(block.text) for block in rendering.sent)


def _answer_tokens(expected: ExpectedReply, dialect: Dialect) -> int:
    """Estimate the tokens of an answer with its calls written in the dialect."""
    parts = [ToolCallPart("call_1", call.tool_name, call.args or {}) for call in expected.calls]
    native = dialect.is_native_toolcalling()
    texts = [dump_json(p.args) if native else dialect.format_tool_call(p) for p in parts]
    return _TEXT_TOKENS + sum(map(tokens_of, texts))


def _output_tokens(usage: Mapping[str, Any] | None) -> int | None:
    for key in _OUTPUT_KEYS:
        count = (usage or {}).get(key)
        if isinstance(count, int) and not isinstance(count, bool):
            return count
    return None
