"""Findings: lint results with short, stable codes. One table has all codes.

A finding never stops the work, and the value that it is about stays unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Severity = Literal["info", "warning", "error"]


class FindingKind(NamedTuple):
    severity: Severity
    meaning: str


CODES: Final[dict[str, FindingKind]] = {
    # what a parser sees in a stream
    "call-in-fence": FindingKind("warning", "a call stands inside a code fence: kept as text"),
    "call-in-reasoning": FindingKind(
        "warning", "a call stands in reasoning that is never closed: delivered"
    ),
    "draft-in-reasoning": FindingKind(
        "warning", "a call stands in reasoning that is closed after it: kept as reasoning"
    ),
    "mended-form": FindingKind("info", "a call that differs from its declared form: read"),
    "missing-section": FindingKind("info", "a call without the wrapper around calls: read"),
    "mended-opener": FindingKind("warning", "an opening marker lacks a part: read"),
    "doubled-opener": FindingKind("warning", "an opening marker is written twice: read as one"),
    "doubled-closer": FindingKind("warning", "a closing marker is written twice: read as one"),
    "wrapped-body": FindingKind("info", "a list or a code fence around a call's body: read"),
    "missing-closer": FindingKind("warning", "a closing marker is missing: read without it"),
    "truncated-call": FindingKind("error", "the stream ends inside a call: aborted"),
    "open-ended": FindingKind("info", "nothing closes this call: it may be cut off"),
    "unreadable-call": FindingKind("error", "a call's opener without a body after it: aborted"),
    "malformed-json": FindingKind("error", "a call's JSON cannot be read: aborted"),
    "malformed-arguments": FindingKind("error", "a call's arguments cannot be read: aborted"),
    "malformed-python": FindingKind("error", "a call's Python arguments cannot be read: aborted"),
    "too-deep": FindingKind("error", "nested too deeply to be read: the call is aborted"),
    "arguments-not-object": FindingKind("error", "arguments are not a JSON object: aborted"),
    "relaxed-json": FindingKind(
        "warning", "JSON that strict parsers refuse (bare keys, comments, raw line breaks): read"
    ),
    "relaxed-python": FindingKind("warning", "arguments in an undeclared form of Python: read"),
    "arguments-wrapped": FindingKind("info", "arguments came inside another argument: unpacked"),
    "arguments-elsewhere": FindingKind(
        "warning", "arguments stand outside of their place in the call's JSON: read"
    ),
    "marker-in-value": FindingKind(
        "info", "a parameter's value holds a marker of its own call: kept as text"
    ),
    "arguments-as-json": FindingKind("info", "a JSON object in the place of parameters: read"),
    "arguments-as-text": FindingKind("info", "arguments came as JSON inside a string: unpacked"),
    "other-recipient": FindingKind(
        "error", "a call's header names another tool than the call itself: aborted"
    ),
    "no-arguments": FindingKind("info", "a call without its arguments' object: read with none"),
    "missing-argument": FindingKind("error", "a call lacks a required argument: aborted"),
    "mended-name": FindingKind("info", "a tool's name held more than the name: corrected"),
    "text-after-call": FindingKind(
        "info", "text after a call, which this parser leaves out of the content"
    ),
    "missing-name": FindingKind("error", "a call names no tool: aborted"),
    "unexpected-text": FindingKind("warning", "text at a place where the call's form allows none"),
    "duplicate-argument": FindingKind("warning", "an argument is given twice; the last one counts"),
    "type-mismatch": FindingKind(
        "warning", "a value does not match its type in the schema: kept as text"
    ),
    "orphan-closer": FindingKind("warning", "a closing marker without its opener"),
    "unclosed-reasoning": FindingKind("warning", "reasoning is still open at the end"),
    "unclosed-section": FindingKind("info", "the section around the calls is never closed"),
    "fabricated-result": FindingKind("warning", "the model wrote a tool result itself"),
    "invalid-utf8": FindingKind("warning", "bytes that are not UTF-8, shown as U+FFFD"),
    "lone-surrogate": FindingKind("warning", "half of a surrogate pair, replaced by U+FFFD"),
    "expected-misfit": FindingKind(
        "warning", "an expected call whose arguments the tool's own schema refuses"
    ),
    "code-not-read": FindingKind(
        "info",
        "a reply may be code for the interpreter, which the dialect of other calls leaves as text",
    ),
    "foreign-markup": FindingKind("warning", "another dialect reads calls here, this one does not"),
    "near-marker": FindingKind(
        "warning",
        "text that is nearly a marker of calls, such as one in another letter case: kept as text",
    ),
    "unread-call": FindingKind(
        "warning", "a tool and its argument as in a call, in a form that no dialect reads: text"
    ),
    "foreign-closer": FindingKind(
        "warning", "a closing tag of another dialect's calls, which nothing opens: kept as text"
    ),
    "filtered-tokens": FindingKind(
        "warning", "the words of markers without their control tokens: a server removed them"
    ),
    "printed-response": FindingKind("warning", "text that a client library prints for a response"),
    "native-call": FindingKind("info", "a native tool call in a stream read as a text dialect"),
    "no-dialect": FindingKind(
        "warning", "no dialect finds a part of a call in this text: it is shown as it is"
    ),
    "unknown-json": FindingKind("warning", "JSON in no known form: read as a reply"),
    "unknown-dialect": FindingKind(
        "warning",
        "a recording names an unknown dialect: its text decides in which dialect it is read",
    ),
    "unknown-tool": FindingKind("warning", "a call to a tool that the session does not have"),
    "missing-opener": FindingKind("warning", "a call's JSON or header without its opener: text"),
    "bare-opener": FindingKind("info", "an opener of calls without a call after it: text"),
    # how a server reads a reply
    "server-drops": FindingKind("warning", "the server does not hand this over to its client"),
    "read-before": FindingKind(
        "info", "a server has already read the reply: other readings of it are not known"
    ),
    "usual-parser": FindingKind(
        "warning", "it is not known how the server reads the dialect: this reading is assumed"
    ),
    "unproven-repair": FindingKind(
        "warning", "it is not proven how the server reads what no model should write: assumed"
    ),
    "call-as-text": FindingKind("warning", "the server hands over a complete call as text"),
    "server-fails": FindingKind("warning", "the server answers with an error"),
    "server-delivers": FindingKind("warning", "the server hands over an incomplete call"),
    "unknown-parser": FindingKind("warning", "the server has no parser of that name"),
    "no-parser": FindingKind("warning", "the server has no parser for the dialect: calls are text"),
    "unread-dialect": FindingKind("warning", "the named parser reads another dialect: text"),
    # what a decoder sees on the wire
    "stream-error": FindingKind("error", "the provider sent an error mid-stream"),
    "no-end": FindingKind("warning", "the stream has no end: nothing shows that it is complete"),
    "unreadable-frame": FindingKind(
        "warning", "a frame that does not belong to its API: kept apart"
    ),
    "two-responses": FindingKind("warning", "a second response begins in the same stream"),
    "run-by-provider": FindingKind(
        "info", "tools that the provider ran itself: nobody is asked to run them"
    ),
    "other-choices": FindingKind("info", "the stream holds further choices, kept apart"),
    # what a renderer sees in a session
    "cannot-carry": FindingKind(
        "error", "this dialect cannot write the value so that it reads back"
    ),
    "reasoning-dropped": FindingKind("info", "reasoning in the history is not sent again"),
    "part-dropped": FindingKind("warning", "a part that is not sent in a message of its role"),
    "environment-dropped": FindingKind("warning", "no user message to add the environment to"),
    # what an adapter makes of a request
    "system-moved": FindingKind("info", "the system prompt is a field, not a message"),
    "messages-merged": FindingKind("warning", "several messages are sent as one"),
    "message-dropped": FindingKind("error", "something that was rendered is not sent"),
    "role-changed": FindingKind("info", "a message is sent with another role"),
    "content-flattened": FindingKind("info", "a message's parts are sent as one text"),
    "tool-added": FindingKind("warning", "a tool that the session does not have"),
    "tools-in-prompt": FindingKind("warning", "a tool is sent as text of the prompt"),
    "schema-changed": FindingKind(
        "info", "a tool's schema or description is not sent as it was rendered"
    ),
    "schema-refused": FindingKind("error", "a provider refuses a tool's schema because of this"),
    "schema-ignored": FindingKind("warning", "a provider ignores this part of a tool's schema"),
    "parameter-dropped": FindingKind("warning", "a parameter that is not sent"),
    "parameter-left": FindingKind(
        "info", "a parameter of the recorded request that is not sent again"
    ),
    "parameter-added": FindingKind("info", "a parameter that the adapter adds by itself"),
    "assumed-model": FindingKind("info", "the session names no model; one is assumed"),
    "mixed-models": FindingKind(
        "info", "several models answered; the rules of one are used for all"
    ),
    "transcript-alone": FindingKind(
        "info", "the session has no system prompt and no tools: the requests were longer"
    ),
    "compaction-unsaid": FindingKind(
        "info", "the session does not say what a compaction kept: later requests were longer"
    ),
    # what the cache lab sees in requests; fixes.py has a fix for each
    "unexplained": FindingKind(
        "warning", "the bill shows a break that nothing in the session explains"
    ),
    "compacted": FindingKind("info", "a summary stands for the history from here on"),
    "env-in-prefix": FindingKind("warning", "a block that is sent only once stands before a mark"),
    "volatile-system": FindingKind("warning", "a time or id in the tools or the system prompt"),
    "tool-order": FindingKind("warning", "the same tools in another order"),
    "json-key-order": FindingKind("warning", "the same JSON with its keys in another order"),
    "head-injection": FindingKind("warning", "the beginning of the conversation changes"),
    "history-rewrite": FindingKind("warning", "something that was sent before has changed"),
    "prefix-changed": FindingKind("warning", "the text before a mark changes"),
    "too-many-breakpoints": FindingKind("error", "more marks than the provider allows"),
    "marker-on-empty": FindingKind("error", "a mark on an empty text"),
    "marker-on-thinking": FindingKind("error", "a mark on a block that may not be marked"),
    "ttl-order": FindingKind(
        "error", "a mark with a longer lifetime after one with a shorter lifetime"
    ),
    "unknown-ttl": FindingKind("error", "a mark with a lifetime that the provider does not know"),
    "refused-request": FindingKind("error", "what the provider refuses with an error 400"),
    "history-on-server": FindingKind("info", "a request whose history its body does not hold"),
    "lookback-overflow": FindingKind("warning", "an entry further back than a mark looks"),
    "frozen-breakpoint": FindingKind("warning", "the last mark stays while the history grows"),
    "synthetic-anchor": FindingKind("warning", "a mark on a blank block, or after one"),
    "no-anchor": FindingKind("warning", "no mark leads back to a cached prefix"),
    "no-breakpoint": FindingKind("warning", "long enough to be cached, but nothing is marked"),
    "gemini-freeze": FindingKind(
        "warning", "explicit marks keep Gemini's cache from growing with the history"
    ),
    "below-minimum": FindingKind("warning", "the marked prefix is too short to be cached"),
    # what a count of tokens sees
    "token-injection": FindingKind(
        "warning", "a text contains a control token: a server may read it as one"
    ),
    "doubled-bos": FindingKind("warning", "a prompt begins with its first token twice"),
    "mark-in-token": FindingKind(
        "info", "a mark lies where one token would span both sides of it: blocks are cut there"
    ),
    "mark-lost": FindingKind("warning", "a mark that the provider's adapter does not send"),
    "usage-lost": FindingKind("warning", "the record has less usage than the provider sent"),
    "clock-backwards": FindingKind("warning", "a request is older than the one before it"),
    "diagnosis-disagrees": FindingKind(
        "warning", "prediction, bill and the provider's own diagnosis disagree"
    ),
    "shorter-context": FindingKind("info", "a context that has shrunk: less is there to be read"),
    "in-flight": FindingKind("info", "sent before an entry that it could have read was written"),
    # what a chat template does
    "template-drops-calls": FindingKind("error", "calls in the history are not written"),
    "template-text-or-calls": FindingKind("error", "a message with text loses its calls"),
    "template-drops-results": FindingKind("error", "the results of tools are not in the prompt"),
    "template-needs-tools": FindingKind("warning", "without tools the template fails"),
    "template-ignores-tools": FindingKind("warning", "no tool's name is in the rendered prompt"),
    "template-ignores-system": FindingKind("warning", "the system prompt is not in the prompt"),
    "template-merges-system": FindingKind(
        "info", "the system prompt is written at the head of the user's first turn"
    ),
    "template-drops-text": FindingKind("warning", "a text beside calls is not written"),
    "template-one-call": FindingKind("warning", "the template refuses parallel calls"),
    "template-drops-ids": FindingKind(
        "info", "only their order distinguishes results: their ids are not written"
    ),
    "template-prints-none": FindingKind("warning", "a message without content is written as None"),
    "template-refuses-null": FindingKind("warning", "a message of calls without content fails"),
    "template-wants-no-content": FindingKind(
        "warning", 'calls are written only if their message has no content, not even ""'
    ),
    "template-refuses-parts": FindingKind("info", "content as a list of parts cannot be given"),
    "template-encodes-twice": FindingKind("info", "arguments given as text are encoded twice"),
    "template-refuses-text": FindingKind(
        "warning", "arguments given as text, as the API has them, fail: give objects"
    ),
    "template-wants-text": FindingKind("info", "arguments have to be given as text, not objects"),
    "template-name-in-id": FindingKind(
        "warning", "the name of a call is taken from its id (functions.NAME:0)"
    ),
    "template-breaks-prefix": FindingKind(
        "warning", "the prompt of a turn does not begin with the prompt of the turn before it"
    ),
    "template-no-generation-prompt": FindingKind(
        "warning", "add_generation_prompt changes nothing: the model may go on as the user"
    ),
    "template-forged-turn": FindingKind(
        "info", "a user's text with the template's own markers is a turn of the model"
    ),
    "template-drops-thoughts": FindingKind(
        "warning", "a thought before a call is gone when the call's result is there"
    ),
    "template-ignores-thoughts": FindingKind("info", "thoughts are not written at all"),
    "template-forgets-thoughts": FindingKind("info", "a past answer's thought is not written"),
    "template-date": FindingKind(
        "warning", "the date is in the prompt: cached prompts are lost with the day"
    ),
    "template-writes-bos": FindingKind(
        "info", "it writes BOS itself: a tokenizer that adds one gives the model two"
    ),
    "template-trims": FindingKind("info", "white space around a text is cut off"),
    "template-mutates": FindingKind(
        "warning", "the template changes lists, which transformers' own sandbox forbids"
    ),
    "template-sorts-keys": FindingKind("info", "the template writes arguments sorted by name"),
    "derived-unread": FindingKind(
        "warning", "values that the derived dialect does not read back from the template's text"
    ),
    "derived-bytes": FindingKind(
        "info", "calls that the derived dialect writes with other bytes than the template"
    ),
    "derived-unmarked": FindingKind(
        "warning", "calls have no marker: an object in prose with the right keys is a call"
    ),
    "derived-law": FindingKind("warning", "a law that random calls of a derived dialect break"),
    "derived-answer": FindingKind(
        "warning",
        "an answer or a thought of the template that the derived dialect reads in another way",
    ),
    "derived-result": FindingKind(
        "info", "results that the derived dialect writes with other bytes than the template"
    ),
    "proposal-left": FindingKind(
        "warning", "part of a reply that looks like markup, but is text to the proposed form"
    ),
    "proposal-bytes": FindingKind(
        "info", "the proposed form would write the calls of a reply in another way"
    ),
    "proposal-open": FindingKind("info", "something that the given replies do not show"),
    # what a trial of a dialect shows
    "law-broken": FindingKind("error", "a law that every dialect keeps does not hold for this one"),
    # what a grammar cannot say
    "grammar-wider": FindingKind("warning", "the grammar allows more than the schema"),
    "grammar-narrower": FindingKind("info", "the grammar allows less than the schema"),
    "no-grammar": FindingKind("warning", "no grammar can be made of it"),
    # what a response template of transformers cannot say
    "response-template-wider": FindingKind("warning", "the template reads more than the dialect"),
    "response-template-narrower": FindingKind(
        "warning", "the template reads less than the dialect"
    ),
    "response-template-anchor": FindingKind(
        "info", "the header of the assistant's turn is assumed from a stop token"
    ),
    "response-template-recursion": FindingKind(
        "info", "a pattern of the template needs Python's regex module, which transformers has"
    ),
    "no-response-template": FindingKind("warning", "no response template can say the dialect"),
    # what a loader sees in a file
    "orphan-result": FindingKind("error", "a tool result whose call is not in the session"),
    "missing-result": FindingKind("warning", "a tool call without a result before the next turn"),
    "duplicate-id": FindingKind("error", "two tool calls share an id"),
    "empty-message": FindingKind("info", "a message without parts: it will not be sent"),
    "missing-id": FindingKind("warning", "a tool call or result without an id"),
    "role-order": FindingKind("warning", "a message whose role cannot follow the one before it"),
    "part-lost": FindingKind("warning", "something in the file that a session cannot hold"),
    "not-in-session": FindingKind(
        "warning", "texts, calls or counts of tokens in the file that no session of it holds"
    ),
    "beside-left-out": FindingKind(
        "warning", "citations, sounds or titles beside a text: a session has no room for them"
    ),
    "arguments-kept-as-text": FindingKind(
        "info", "arguments that are not a JSON object: kept as text"
    ),
    "not-a-file": FindingKind(
        "warning", "a pipe, a device or a socket among the files of a folder: left out"
    ),
    "more-sessions": FindingKind(
        "info", "the file holds more sessions than this one: FILE#2 is the second"
    ),
    "history-differs": FindingKind(
        "warning", "a later request repeats a reply otherwise than the model gave it: kept as given"
    ),
    "lines-left-out": FindingKind("warning", "lines of a kind that adds nothing to a session"),
    "bookkeeping": FindingKind("info", "lines of a kind that has no part of the conversation"),
    "unreadable-line": FindingKind("error", "a line that cannot be read: left out"),
    "spoiled-rest": FindingKind(
        "error", "unreadable from here to the end: everything before is kept"
    ),
    "torn-end": FindingKind("error", "the file is cut off: its complete lines or values are kept"),
    "not-written-out": FindingKind(
        "warning", "a value that the source computes, such as a call: left out"
    ),
    "options-left-out": FindingKind(
        "info", "options of a call in a trace that are no parameters of a request: left out"
    ),
    "headers-left-out": FindingKind("info", "a command's headers, which may hold keys"),
    "not-a-number": FindingKind(
        "warning", "a number that JSON does not have (NaN, Infinity, 1e400): kept as text"
    ),
    "long-integer": FindingKind(
        "warning", "an integer of more digits than Python reads by default (4,300): kept as text"
    ),
    "time-unread": FindingKind("warning", "a time that cannot be read: none is kept"),
    "tools-by-name": FindingKind("info", "tools that the file only names, without their schemas"),
    "more-recordings": FindingKind("info", "the file has several recordings: this is one of them"),
    "calls-in-text": FindingKind(
        "info", "calls in the text of answers stay text: `replay` reads them"
    ),
    "results-in-text": FindingKind("info", "results in the text of the user's messages stay text"),
    "other-branches": FindingKind(
        "info", "the conversation has branches: each is a session of its own"
    ),
    "reasoning-sealed": FindingKind("info", "reasoning that only its provider can read"),
    "mixed-formats": FindingKind("warning", "a line of another format: left out"),
    "cyclic-ref": FindingKind("warning", "a $ref that leads back to itself is not expanded"),
    "unresolved-ref": FindingKind("warning", "a $ref that points to nothing in the schema"),
    "tool-left-out": FindingKind("warning", "an entry without a schema: left out"),
    "cache-mark": FindingKind("info", "a cache mark between the tools: it stays in the request"),
    "tool-fields": FindingKind("info", "fields of a tool that are not known here: not kept"),
    "var-arguments": FindingKind("warning", "*args or **kwargs: a model cannot give them"),
    "annotation-unread": FindingKind("warning", "a type without JSON Schema: any value is allowed"),
    "docstring-lies": FindingKind("warning", "a docstring that describes another signature"),
    "argument-coerced": FindingKind("info", "an argument of another type, read as its schema says"),
    "keyword-unchecked": FindingKind(
        "warning", "keywords of a tool's schema that cannot be checked here: they are ignored"
    ),
    "context-cut": FindingKind("warning", "messages for which the model has no room: not sent"),
    "template-arguments": FindingKind(
        "warning", "a call in a template whose arguments are not a JSON object: sent as they are"
    ),
    "name-mended": FindingKind(
        "info", "a tool got a new name: the file has none for it, or the same for two"
    ),
    "dialect-left-out": FindingKind(
        "warning", "a dialect of another package or of a file that cannot be used"
    ),
    "dialect-renamed": FindingKind(
        "info", "a dialect of another package whose entry point has a different name"
    ),
}

MENDING: Final = frozenset(
    {
        "mended-form",
        "missing-section",
        "mended-opener",
        "doubled-opener",
        "doubled-closer",
        "wrapped-body",
        "missing-closer",
        "relaxed-json",
        "relaxed-python",
        "arguments-elsewhere",
        "no-arguments",
        "arguments-as-json",
        "arguments-as-text",
        "mended-name",
        "unexpected-text",
        "unclosed-section",
    }
)
"""Codes of findings which say that a call is read although it is not well-formed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A lint result; `where` names its place in words (a field, an argument, an offset)."""

    code: str
    severity: Severity
    where: str
    message: str


def finding(code: str, where: str, message: str = "") -> Finding:
    """Make a finding with the code's severity. The default message is the code's meaning."""
    kind = CODES[code]
    return Finding(code, kind.severity, where, message or kind.meaning)
