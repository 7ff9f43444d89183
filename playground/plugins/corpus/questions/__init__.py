"""The named questions: the SQL of each, its table, and the columns that it may be grouped by.

The SQL has placeholders: `{by}` for the columns that group it, `{where}` for the filters
(`{and_where}` after other conditions), `{and_where_second}` for those filters whose columns the
question's second table has, and `{and_tool}` for the filter of a tool. `$limit`, `$split` and the
filters' values are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WEEK: Final = "CAST(date_trunc('week', sent_at) AS DATE)"
_TIMES: Final = {
    "day": "CAST(sent_at AS DATE)",
    "week": WEEK,
    "month": "CAST(date_trunc('month', sent_at) AS DATE)",
}
_AGENT_COLUMNS: Final = ("agent", "version", "model", "dialect")
COLUMNS: Final[dict[str, tuple[str, ...]]] = {  # columns that group or filter a table
    "sessions": (*_AGENT_COLUMNS, "provider", "form", "run"),
    "requests": (*_AGENT_COLUMNS, "provider", "stop_reason", "diagnosis"),
    "calls": (*_AGENT_COLUMNS, "tool", "finding", "ok", "failed", "shape"),
    "findings": (*_AGENT_COLUMNS, "code", "severity"),
    "breaks": (
        *("agent", "version", "model", "provider", "cause", "rule", "state", "session"),
        "diagnosis",
    ),
}

_HASHES: Final = ("shape", "session")


def sql_column(column: str) -> str:
    """Return the SQL of a column for answers, which show a hash as 16 hexadecimal digits."""
    return f"format('{{:016x}}', {column})" if column in _HASHES else column


@dataclass(frozen=True, slots=True)
class Question:
    """A named question; `asks` is its text. By default the columns `by` of `table` group it, and
    `limit` is the most rows."""

    name: str
    asks: str
    table: str
    sql: str
    by: tuple[str, ...] = ()
    is_grouped: bool = True
    limit: int = 1_000
    second: str = ""  # another table that the SQL reads
    filters: tuple[str, ...] = ()  # columns that can filter it; () means all of the table's columns

    def column(self, name: str) -> str:
        """Return the SQL of a column to group by. Raises KeyError if there is no such column."""
        if name in _TIMES:
            return _TIMES[name]
        return {column: sql_column(column) for column in COLUMNS[self.table]}[name]

    @property
    def names(self) -> list[str]:
        """The names of all that can group the question: columns, and day, week and month."""
        return [*COLUMNS[self.table], *_TIMES]


_CALLS: Final = """
SELECT {by} count(*) AS calls, count(*) FILTER (NOT ok) AS malformed,
  round(100.0 * count(*) FILTER (NOT ok) / count(*), 2) AS malformed_percent,
  count(*) FILTER (ok AND finding <> '') AS mended,
  count(failed) AS answered, count(*) FILTER (failed) AS failed,
  round(100.0 * count(*) FILTER (failed) / nullif(count(failed), 0), 2) AS failed_percent
FROM calls {where} GROUP BY ALL ORDER BY malformed DESC, calls DESC, 1, 2 LIMIT $limit"""

_FINDINGS: Final = """
SELECT {by} count(*) AS findings, count(DISTINCT session) AS sessions, min(message) AS example
FROM findings {where} GROUP BY ALL ORDER BY findings DESC, 1, 2 LIMIT $limit"""

_DRIFT: Final = """
WITH windows AS (SELECT sent_at >= $split AS later, count(*) AS requests FROM requests
    WHERE sent_at IS NOT NULL {and_where_second} GROUP BY 1),
  counts AS (SELECT {by} count(*) FILTER (sent_at < $split) AS before,
    count(*) FILTER (sent_at >= $split) AS after FROM findings
    WHERE sent_at IS NOT NULL {and_where} GROUP BY ALL),
  rates AS (SELECT *,
    round(1000.0 * before / (SELECT requests FROM windows WHERE NOT later), 3) AS before_per_1000,
    round(1000.0 * after / (SELECT requests FROM windows WHERE later), 3) AS after_per_1000
    FROM counts)
SELECT *, round(coalesce(after_per_1000, 0) - coalesce(before_per_1000, 0), 3) AS change FROM rates
ORDER BY abs(change) DESC, 1, 2 LIMIT $limit"""

_SHAPES: Final = """
SELECT {by} format('{{:016x}}', shape) AS shape,
  count(*) AS calls, count(DISTINCT session) AS sessions,
  arg_min(form, session) AS form, arg_min(raw, session, 3) AS examples,
  [format('{{:016x}}', s) for s in arg_min(session, session, 3)] AS seen_in
FROM calls WHERE NOT ok {and_where} GROUP BY ALL ORDER BY calls DESC, 1, 2 LIMIT $limit"""

_BREAKS: Final = """
SELECT {by} count(*) AS breaks, count(DISTINCT session) AS sessions,
  CAST(sum(lost_tokens) AS BIGINT) AS lost_tokens, round(sum(lost_nano) / 1e9, 6) AS lost_dollars,
  count(*) FILTER (state = 'billed') AS billed,
  round(sum(lost_nano) FILTER (state = 'billed') / 1e9, 6) AS billed_dollars
FROM breaks {where} GROUP BY ALL ORDER BY lost_tokens DESC, breaks DESC, 1, 2 LIMIT $limit"""

# The provider's diagnoses, compared with breaks that were predicted or billed.
_DIAGNOSES: Final = """
SELECT {by} count(*) AS requests, count(cause) AS breaks,
  count(*) FILTER (state = 'billed') AS billed,
  CAST(coalesce(sum(lost_tokens), 0) AS BIGINT) AS lost_tokens,
  coalesce(mode(cause), '') AS usual_cause,
  arg_min(format('{{:016x}}', session), session) AS seen_in
FROM requests LEFT JOIN (SELECT session, n, cause, state, lost_tokens FROM breaks)
  USING (session, n)
WHERE diagnosis <> '' {and_where}
GROUP BY ALL ORDER BY requests DESC, 1, 2 LIMIT $limit"""

_TOOLS: Final = """
WITH offered AS (
    SELECT tool, CAST(sum(sessions) AS BIGINT) AS offered FROM (
      SELECT t.tools, unnest(t.names) AS tool, s.sessions
      FROM (SELECT DISTINCT tools, names FROM toolsets) t
      JOIN (SELECT tools, count(*) AS sessions FROM sessions
        WHERE true {and_where_second} GROUP BY tools) s USING (tools)
    ) WHERE true {and_tool} GROUP BY tool),
  refused AS (SELECT DISTINCT tool FROM calls
    WHERE tool NOT IN (SELECT tool FROM offered) AND session IN (
      SELECT session FROM sessions WHERE tools IN (SELECT tools FROM toolsets)) {and_where}),
  called AS (SELECT tool, count(*) AS calls, count(*) FILTER (NOT ok) AS malformed,
    count(failed) AS answered, count(*) FILTER (failed) AS failed FROM calls {where} GROUP BY tool),
  remembered AS (SELECT tool, count(*) AS in_histories FROM histories WHERE session IN (
      SELECT session FROM sessions WHERE true {and_where_second}) {and_tool} GROUP BY tool)
SELECT tool, coalesce(offered, if(tool IN (FROM refused), 0, NULL)) AS offered_in,
  coalesce(calls, 0) AS calls, coalesce(in_histories, 0) AS in_histories,
  coalesce(malformed, 0) AS malformed, coalesce(answered, 0) AS answered,
  coalesce(failed, 0) AS failed, round(100.0 * failed / nullif(answered, 0), 2) AS failed_percent,
  CASE WHEN in_histories > 0 AND calls IS NULL THEN 'only in histories'
    WHEN calls IS NULL THEN 'never used' WHEN offered IS NOT NULL THEN ''
    WHEN tool IN (FROM refused) THEN 'never offered' ELSE 'no list of tools' END AS note
FROM offered FULL JOIN called USING (tool) FULL JOIN remembered USING (tool)
ORDER BY calls IS NOT NULL, in_histories IS NOT NULL, failed DESC, 1, 2 LIMIT $limit"""

_SIZE: Final = (
    "(coalesce(tool_characters, 0) + coalesce(system_characters, 0) + user_characters"
    " + assistant_characters + result_characters)"
)
_BILL: Final = "(read + written + uncached)"
# A bill is spread over the origins by their characters. If a transcript lacks tools or system
# prompt, each character of its other origins counts as at most 0.25 tokens; the rest of the bill
# is `not_in_transcript`.
_IS_WHOLE: Final = "tool_characters + system_characters IS NOT NULL"
_SHARE: Final = f"{_BILL} / nullif({_SIZE}, 0)"
_SCALE: Final = f"coalesce(if({_IS_WHOLE}, {_SHARE}, least({_SHARE}, 0.25)), 0.25)"


def _sum(origin: str) -> str:
    """Return the SQL for the tokens of an origin. The SQL sums up the requests whose size is known;
    if some are unknown, it gives NULL instead of 0.
    """
    column = f"{origin}_characters"
    tokens = f"sum({column} * {_SCALE})"
    return f"if(count({column}) = count(*), {tokens}, nullif({tokens}, 0))"


_TOKENS: Final = f"""
SELECT {{by}} count(*) AS requests, count(read) AS billed,
  {
    ", ".join(
        f"CAST(round({_sum(origin)}) AS BIGINT) AS {name}"
        for origin, name in (
            ("tool", "tools"),
            ("system", "system_prompt"),
            ("user", "users"),
            ("assistant", "assistants"),
            ("result", "results"),
        )
    )
},
  CAST(round(sum(greatest({_BILL} - {_SIZE} * 0.25, 0))
    FILTER (NOT ({_IS_WHOLE}) AND {_BILL} IS NOT NULL)) AS BIGINT) AS not_in_transcript,
  CAST(sum(output) AS BIGINT) AS output, CAST(sum(read) AS BIGINT) AS read_from_cache,
  round(sum(cost_nano) / 1e9, 6) AS dollars
FROM requests {{where}} GROUP BY ALL ORDER BY requests DESC, 1, 2 LIMIT $limit"""

_SESSIONS: Final = """
SELECT format('{{:016x}}', session) AS id, title, agent, version, model, dialect, form, sent_at,
  requests, calls, findings
FROM sessions {where} ORDER BY sent_at DESC NULLS LAST, session LIMIT $limit"""

QUESTIONS: Final = {
    question.name: question
    for question in (
        Question(
            "failures",
            "Which calls are malformed, and which tools' results are errors?",
            "calls",
            _CALLS,
            ("dialect", "model"),
        ),
        Question("findings", "Which findings are there?", "findings", _FINDINGS, ("code",)),
        Question(
            "drift",
            "Which findings grew from one window to the next?",
            "findings",
            _DRIFT,
            ("code",),
            second="requests",
        ),
        Question(
            "shapes",
            "What do malformed calls look like, with three examples each?",
            "calls",
            _SHAPES,
            ("finding",),
            limit=50,
        ),
        Question(
            "breaks", "What broke the caches, and what did it cost?", "breaks", _BREAKS, ("cause",)
        ),
        Question(
            "diagnoses",
            "What do providers say of their caches, compared with predictions and bills?",
            "requests",
            _DIAGNOSES,
            ("diagnosis",),
        ),
        Question(
            "tools",
            "Which tools are never used, and which fail?",
            "calls",
            _TOOLS,
            is_grouped=False,
            second="sessions",
            filters=(*_AGENT_COLUMNS, "tool"),
        ),
        Question("tokens", "Where do the tokens come from?", "requests", _TOKENS, ("model",)),
        Question("sessions", "Which sessions are there?", "sessions", _SESSIONS, is_grouped=False),
    )
}
OTHERS: Final = {
    "errors": "Which errors are there, with similar ones together?",
    "twins": "Which sessions are nearly equal?",
    "versions": "What changed between two versions of an agent?",
    "receipts": "Of which files is the least text in the sessions?",
    "analyses": "What does a newer version of our analysis count differently?",
}
TABLE_OF_OTHERS: Final = {name: "calls" if name == "errors" else "sessions" for name in OTHERS}
"""For each of `OTHERS`, the table whose columns its filters use."""


def question_names() -> dict[str, str]:
    """Return a description of each named question, by its name."""
    return {**{name: each.asks for name, each in QUESTIONS.items()}, **OTHERS}
