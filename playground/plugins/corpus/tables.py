"""The tables of facts: the rows of each table, and the types of its columns in Parquet.

Times are in UTC, money is in billionths of a dollar. `session` is the same in every build: a
64-bit hash of the session's piece and of its number in the piece. `piece` is a file or, if a long
file was cut, the part with the session: the first 64 bits of a hash of its bytes. `n` is the index
of a request in its session, from 0.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

import pyarrow as pa


class SessionFact(NamedTuple):
    """One session. `number` is its index in the piece, `form` the format of its file, `tools` the
    hash of its list of tools, `text` the number of the block with the session's skeleton, which
    has no texts. `bands` are parts of its MinHash, by which similar sessions are found.
    """

    session: int
    piece: int
    number: int
    title: str
    agent: str
    version: str
    run: str
    sub_agent: str
    model: str
    provider: str
    dialect: str
    form: str
    sent_at: datetime | None
    requests: int
    messages: int
    calls: int
    findings: int
    tools: int
    text: int
    bands: list[int]


class RequestFact(NamedTuple):
    """One request: the blocks that it shares with the previous request, those that it adds, its
    sizes and its bill.

    `kept` is the count of shared blocks, `added` has the numbers of the others. `chain` is a hash
    of all blocks; for each added block, `added_chain` has a hash of all blocks up to that block.
    `tools` and `system` are hashes. Sizes by origin are in characters; those of tools and system
    prompt are NULL if the transcript lacks them. Tokens are the provider's own figures, or NULL;
    `diagnosis` is the kind of the provider's own diagnosis of its cache, or "".
    """

    session: int
    piece: int
    n: int
    agent: str
    version: str
    provider: str
    model: str
    dialect: str
    sent_at: datetime | None
    kept: int
    added: list[int]
    chain: int
    added_chain: list[int]
    marks: int
    tools: int
    system: int
    tool_characters: int | None
    system_characters: int | None
    user_characters: int
    assistant_characters: int
    result_characters: int
    read: int | None
    written: int | None
    uncached: int | None
    output: int | None
    cost_nano: int | None
    seconds: float | None
    stop_reason: str
    diagnosis: str


class CallFact(NamedTuple):
    """One call; `position` is its index in the reply. `ok` means that the call is well-formed,
    `failed` that its tool returned an error.

    `failed` is NULL if there is no result. For a call that is not `ok`, `raw` is an excerpt, `form`
    its text without values, `shape` a hash of `finding` and `form`. For a result that is an error,
    `error` is an excerpt, and `signature` a hash of it without numbers, ids and paths.
    """

    session: int
    piece: int
    n: int
    position: int
    agent: str
    version: str
    model: str
    dialect: str
    sent_at: datetime | None
    tool: str
    ok: bool
    finding: str
    findings: list[str]
    schema_error: str
    failed: bool | None
    shape: int
    form: str
    raw: str
    signature: int
    error: str
    argument_characters: int
    result_characters: int | None


class FindingFact(NamedTuple):
    """One finding about the file or a reply; `n` is -1 if the finding is about the file."""

    session: int
    piece: int
    n: int
    agent: str
    version: str
    model: str
    dialect: str
    sent_at: datetime | None
    code: str
    severity: str
    place: str
    message: str


class BreakFact(NamedTuple):
    """One cache break: a request that read less than earlier ones left in the cache (`breaks.py`).

    `state` is "billed" if a bill shows the break, and otherwise says how sure the simulator is.
    """

    session: int
    piece: int
    n: int
    agent: str
    version: str
    provider: str
    model: str
    sent_at: datetime | None
    cause: str
    rule: str
    block: int | None
    character: int | None
    before: str
    after: str
    lost_tokens: int
    lost_nano: int | None
    state: str
    diagnosis: str


class ToolsetFact(NamedTuple):
    """One list of tools, with its hash."""

    piece: int
    tools: int
    names: list[str]


class HistoryFact(NamedTuple):
    """One tool that a session's history calls, in a reply that answers no row of `requests`."""

    session: int
    piece: int
    tool: str


class WireFact(NamedTuple):
    """One request as it was sent, for the simulator (`wires.py`).

    `at` is in seconds. `bill` has five numbers: the tokens read from the cache, those written to
    it, those uncached, those of the written ones that live for an hour, and 1 if the bill is the
    sum of several rounds, otherwise 0. `parameters` are other fields of the request, as JSON. The
    first `kept` blocks are those of the previous request. The lists have an entry for each further
    block: hash, estimated tokens, kind, role, flags, index of the message, lifetime of the mark.
    """

    session: int
    piece: int
    n: int
    model: str
    at: float
    bill: list[int] | None
    automatic_ttl: str | None
    explicit_only: bool
    parameters: str
    kept: int
    hashes: list[int]
    sizes: list[int]
    kinds: list[str]
    roles: list[str]
    flags: list[int]
    messages: list[int]
    ttls: list[str | None]


Fact = (
    SessionFact
    | RequestFact
    | CallFact
    | FindingFact
    | BreakFact
    | ToolsetFact
    | HistoryFact
    | WireFact
)

_WORD: Final = pa.dictionary(pa.int32(), pa.string())  # a column with few different texts
_TIME: Final = pa.timestamp("us")
_COUNT: Final = pa.uint32()
_HASH: Final = pa.uint64()
_TYPES: Final[dict[str, pa.DataType]] = {
    **dict.fromkeys(("session", "piece", "tools", "system", "chain", "shape", "signature"), _HASH),
    **dict.fromkeys(("bands", "added_chain"), pa.list_(_HASH)),
    **dict.fromkeys(("title", "run", "raw", "error", "before", "after", "message"), pa.string()),
    **dict.fromkeys(("place", "form", "schema_error"), pa.string()),
    **dict.fromkeys(("findings", "names"), pa.list_(pa.string())),
    **dict.fromkeys(("ok", "failed"), pa.bool_()),
    **dict.fromkeys(("cost_nano", "lost_nano", "lost_tokens"), pa.int64()),
    "added": pa.list_(_COUNT),
    "sent_at": _TIME,
    "seconds": pa.float64(),
    "n": pa.int32(),
}
_WORDS: Final = frozenset((
    "agent", "version", "sub_agent", "model", "provider", "dialect", "stop_reason", "diagnosis",
    "tool", "finding", "code", "severity", "cause", "rule", "state",
))  # fmt: skip
_SPECIAL_TYPES: Final[dict[type[Fact], dict[str, pa.DataType]]] = {
    SessionFact: {"findings": _COUNT, "form": _WORD},
    WireFact: {
        "at": pa.float64(),
        "bill": pa.list_(pa.int64()),
        "automatic_ttl": pa.string(),
        "explicit_only": pa.bool_(),
        "parameters": pa.string(),
        "hashes": pa.list_(_HASH),
        "sizes": pa.list_(_COUNT),
        **dict.fromkeys(("kinds", "roles", "ttls"), pa.list_(pa.string())),
        "flags": pa.list_(pa.uint8()),
        "messages": pa.list_(pa.int32()),
    },
}


def _schema(kind: type[Fact]) -> pa.Schema:
    special = _SPECIAL_TYPES.get(kind, {})
    usual = {name: _WORD if name in _WORDS else _TYPES.get(name, _COUNT) for name in kind._fields}
    return pa.schema([(name, special.get(name, usual[name])) for name in kind._fields])


TABLES: Final[dict[str, type[Fact]]] = {
    "sessions": SessionFact,
    "requests": RequestFact,
    "calls": CallFact,
    "findings": FindingFact,
    "breaks": BreakFact,
    "toolsets": ToolsetFact,
    "histories": HistoryFact,
    "wires": WireFact,
}
NAMES: Final = {kind: name for name, kind in TABLES.items()}
SCHEMAS: Final = {name: _schema(kind) for name, kind in TABLES.items()}
