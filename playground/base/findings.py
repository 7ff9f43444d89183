"""Findings: lint results with short, stable codes. One table has all codes.

A finding never stops the work. It says what became of the text or value in question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

Severity = Literal["info", "warning", "error"]


class FindingKind(NamedTuple):
    severity: Severity
    meaning: str


info: Final = partial(FindingKind, "info")
warning: Final = partial(FindingKind, "warning")
error: Final = partial(FindingKind, "error")

CODES: Final[dict[str, FindingKind]] = {
    # what a parser sees in a stream
    "call-in-fence": warning("a call is inside a code fence: kept as text"),
    "call-in-reasoning": warning("a call is in reasoning that is never closed: delivered"),
    "draft-in-reasoning": warning(
        "a call is in reasoning that is closed after it: kept as reasoning"
    ),
    "mended-form": info(
        "a call that is written in another form than the dialect declares: delivered"
    ),
    "missing-section": info(
        "calls without the markers that the dialect writes around all of them: delivered"
    ),
    "mended-opener": warning("an opening marker is misspelt or lacks a part: read as it was meant"),
    "doubled-opener": warning("an opening marker is written twice: read as one"),
    "doubled-closer": warning("a closing marker is written twice: read as one"),
    "wrapped-body": info("a list or a code fence surrounds a call's body: the call is delivered"),
    "missing-closer": warning("a closing marker is missing: the call is delivered without it"),
    "truncated-call": error("the stream ends inside a call: aborted"),
    "open-ended": info("the form of this call has no closing marker: its end may be missing"),
    "unreadable-call": error("a call's opening marker without a body after it: aborted"),
    "malformed-json": error("a call's JSON cannot be read: aborted"),
    "malformed-arguments": error("a call's arguments cannot be read: aborted"),
    "malformed-python": error("a call's Python arguments cannot be read: aborted"),
    "too-deep": error(
        "nested too deeply to be read (a thousand levels or more): the call is aborted"
    ),
    "arguments-not-object": error("arguments are not a JSON object: aborted"),
    "relaxed-json": warning(
        "JSON that strict parsers refuse, such as bare keys or a missing comma: read"
    ),
    "relaxed-python": warning(
        "Python arguments that are not all of the form name=literal: read as they were meant"
    ),
    "arguments-wrapped": info("all arguments are inside one more object of arguments: unpacked"),
    "arguments-elsewhere": warning("arguments are outside of their place in the call's JSON: read"),
    "marker-in-value": info(
        "a parameter's value contains a marker of its own call: it stays in the value"
    ),
    "arguments-as-json": info(
        "a JSON object replaces the parameters, which the dialect writes one by one: read"
    ),
    "arguments-as-text": info("arguments came as JSON inside a string: unpacked"),
    "other-recipient": error("a call's header names another tool than the call itself: aborted"),
    "no-arguments": info("a call without an object of arguments: delivered with none"),
    "missing-argument": warning(
        "a call lacks a required argument: delivered, unless a switch demands otherwise"
    ),
    "unknown-argument": warning("an argument that is none of the tool's parameters: kept"),
    "mended-name": info(
        "a tool's name with a prefix or in another place than the form has it: corrected"
    ),
    "text-after-call": info("text after a call: left out of the content, as a switch demands"),
    "missing-name": error("a call names no tool: aborted"),
    "unexpected-text": warning(
        "text inside a call where its form allows none: neither an argument nor content"
    ),
    "duplicate-argument": warning(
        "an argument is given twice: the last value counts, or both values make a list"
    ),
    "type-mismatch": warning(
        "a value does not match its type in the schema: the argument stays as it was read"
    ),
    "orphan-closer": warning(
        "a closing marker that closes nothing: what it would close is not open before it"
    ),
    "unclosed-reasoning": warning("the reply ends inside reasoning"),
    "unclosed-section": info(
        "the markers around all calls are opened and never closed: calls are delivered"
    ),
    "fabricated-result": warning(
        "the model wrote a tool's result itself, before the tool could run"
    ),
    "invalid-utf8": warning("bytes that are not UTF-8, shown as U+FFFD"),
    "lone-surrogate": warning("half of a surrogate pair, replaced by U+FFFD"),
    "expected-misfit": warning(
        "a trial expects a call whose arguments the tool's own schema refuses"
    ),
    "code-not-read": info(
        "the reply may be code for an interpreter, which this dialect leaves as text"
    ),
    "foreign-markup": warning("another dialect would read calls in this text, this one reads none"),
    "near-marker": warning("text that is nearly a marker of calls, or a part of one: kept as text"),
    "unread-call": warning(
        "a tool's name and arguments in a form that this dialect does not read: kept as text"
    ),
    "foreign-closer": warning(
        "a closing marker of another dialect's calls, without its opener: kept as text"
    ),
    "filtered-tokens": warning(
        "names of markers without their control tokens, which a server has removed"
    ),
    "printed-response": warning("the text is a response object as Python prints it, not a reply"),
    "native-call": info("a native tool call, in a stream whose dialect writes calls as text"),
    "undecided-limit": warning(
        "without a tokenizer a count is a range, and a limit lies within it: it is not decided"
    ),
    "prompt-alone": info("a text file that is not a session: read as a system prompt"),
    "no-dialect": warning("no dialect finds a part of a call in this text: it is shown as it is"),
    "unknown-json": warning("JSON in an unknown format: taken for a reply"),
    "unknown-dialect": warning(
        "a recording names an unknown dialect: its text decides in which dialect it is read"
    ),
    "unknown-tool": warning("a call to a tool that the session does not have: delivered"),
    "missing-opener": warning("a call's JSON or header without its opening marker: kept as text"),
    "bare-opener": info("an opening marker of calls without a call after it: kept as text"),
    # how a server reads a reply
    "server-drops": warning("the server does not hand this text over to its client"),
    "read-before": info(
        "a server has already taken the calls out: how others would read them is not known"
    ),
    "usual-parser": warning(
        "it is not known how the server reads the dialect: this reading is assumed"
    ),
    "unproven-repair": warning(
        "no run has shown how the server reads a reply with such slips: assumed"
    ),
    "call-as-text": warning("the server hands over a complete call as text"),
    "server-fails": warning("the server answers with an error"),
    "server-delivers": warning("the server hands over an incomplete call as if it were complete"),
    "unknown-parser": warning("the server has no parser of that name"),
    "no-parser": warning("the server has no parser for the dialect: calls are handed over as text"),
    "unread-dialect": warning(
        "the named parser reads another dialect: calls are handed over as text"
    ),
    # what a decoder sees on the wire
    "stream-error": error("the provider sent an error mid-stream"),
    "stopped": warning("the request was ended on this side: the provider sent no error"),
    "no-end": warning("the stream ends without its last frame: nothing shows that it is complete"),
    "unreadable-frame": warning(
        "a frame that does not belong to the stream's API: left out of the reply"
    ),
    "two-responses": warning("a second response begins in the same stream"),
    "run-by-provider": info(
        "calls of tools that the provider has run itself: nothing is left to run"
    ),
    "other-choices": info(
        "the stream holds several answers (n > 1): the first is read, others are kept apart"
    ),
    # what a renderer sees in a session
    "cannot-carry": error("this dialect cannot write the value so that it reads back the same"),
    "reasoning-dropped": info("reasoning in the history is not sent again"),
    "part-dropped": warning(
        "a message of this role cannot hold the part (an image, say): it is not sent"
    ),
    "image-as-text": warning("an image in a tool's result is sent as JSON: the model sees a text"),
    "environment-dropped": warning(
        "the environment block is not sent: there is no user message to add it to"
    ),
    # what an adapter makes of a request
    "system-moved": info("the system prompt is sent in a field of the request, not as a message"),
    "messages-merged": warning("several messages are sent as one"),
    "message-dropped": error(
        "something that the dialect rendered is missing from the request's body"
    ),
    "role-changed": info("a message is sent with another role"),
    "content-flattened": info("a message's parts are sent as one text"),
    "tool-added": warning("the request has a tool that the session does not have"),
    "tools-in-prompt": warning(
        "a tool is sent as text of the prompt, not in the request's list of tools"
    ),
    "schema-changed": info("a tool's schema or description is not sent as it was rendered"),
    "schema-refused": error(
        "the provider refuses a tool's schema because of this keyword or value"
    ),
    "schema-ignored": warning("the provider ignores this part of a tool's schema"),
    "parameter-dropped": warning(
        "a parameter of the request, such as its temperature, is not sent"
    ),
    "parameter-left": info(
        "a parameter of the recorded request that a new request does not repeat"
    ),
    "parameter-added": info("a parameter that the provider's adapter adds by itself"),
    "assumed-model": info("the session names no model; one is assumed"),
    "other-marks": info("the request as it was sent has marks of its own"),
    "mixed-models": info("several models answered: each has its own cache"),
    "transcript-alone": info(
        "the session has no system prompt and no tools: its requests were longer"
    ),
    "compaction-unsaid": info(
        "the session does not say what a compaction kept: later requests were longer"
    ),
    # what the cache lab sees in requests; fixes.py has a fix for each
    "unexplained": warning(
        "the bill shows that cached text was not found, and the session does not show why"
    ),
    "compacted": info("a summary replaces the history from here on"),
    "env-in-prefix": warning(
        "the environment block, which is sent only once, comes before a cache mark"
    ),
    "volatile-system": warning(
        "the tools or the system prompt hold a time or an id, which changes"
    ),
    "tool-order": warning("the tools of the request before, in another order"),
    "json-key-order": warning("the JSON of the request before, with its keys in another order"),
    "head-injection": warning("the conversation begins differently than in the request before"),
    "history-rewrite": warning("a message that was sent before has changed"),
    "prefix-changed": warning(
        "the text up to a cache mark differs from that of the request before"
    ),
    "too-many-breakpoints": error("more cache marks than the provider allows"),
    "marker-on-empty": error("a cache mark on an empty text"),
    "marker-on-thinking": error("a cache mark on a block that may not be marked, such as thinking"),
    "ttl-order": error("a cache mark with a longer lifetime after one with a shorter lifetime"),
    "unknown-ttl": error("a cache mark with a lifetime that the provider does not know"),
    "refused-request": error("the provider refuses the request with an error 400"),
    "history-on-server": info("the provider holds the request's history: its body does not"),
    "lookback-overflow": warning(
        "the cached text ends further back than the provider looks from a mark"
    ),
    "frozen-breakpoint": warning("the last cache mark stays in its place while the history grows"),
    "synthetic-anchor": warning("a cache mark on a blank block, or right after one"),
    "no-anchor": warning("no cache mark is in the part that equals the request before"),
    "no-breakpoint": warning("the request is long enough to be cached, but has no cache mark"),
    "gemini-freeze": warning("explicit marks keep Gemini's cache from growing with the history"),
    "below-minimum": warning(
        "the text before the cache mark is too short for the provider to cache it"
    ),
    # what a count of tokens sees
    "token-injection": warning("a text contains a control token: a server may read it as one"),
    "doubled-bos": warning("a prompt begins with its first token twice"),
    "mark-in-token": info(
        "a cache mark lies where one token would span both sides: the text is cut there"
    ),
    "mark-lost": warning("a cache mark that the provider's adapter does not send"),
    "marks-not-placed": info("the recorded request has cache marks, and the new one has none"),
    "usage-lost": warning("the record has fewer counts of tokens than the provider sent"),
    "clock-backwards": warning("a request is older than the one before it"),
    "diagnosis-disagrees": warning("prediction, bill and the provider's own diagnosis disagree"),
    "shorter-context": info(
        "the context is shorter than in the request before: less can be read from cache"
    ),
    "in-flight": info("sent before the cache entry that it could have read was written"),
    # what a chat template does
    "template-drops-calls": error("calls in the history are not written"),
    "template-text-or-calls": error("if a message has text, its calls are not written"),
    "template-drops-results": error("the results of tools are not in the prompt"),
    "template-needs-tools": warning("without tools the template fails"),
    "template-ignores-tools": warning("no tool's name is in the rendered prompt"),
    "template-ignores-system": warning("the system prompt is not in the prompt"),
    "template-merges-system": info(
        "the system prompt is written at the head of the user's first turn"
    ),
    "template-drops-text": warning("a text next to calls is not written"),
    "template-one-call": warning("the template refuses parallel calls"),
    "template-drops-ids": info("only the order of results distinguishes them: ids are not written"),
    "template-prints-none": warning("a message without content is written as None"),
    "template-refuses-null": warning("a message of calls without content fails"),
    "template-wants-no-content": warning(
        'calls are written only if their message has no content, not even ""'
    ),
    "template-wants-content": warning("a message of calls without text fails"),
    "template-refuses-parts": info("the template does not take content as a list of parts"),
    "template-encodes-twice": info("arguments given as text are encoded twice"),
    "template-refuses-text": warning(
        "arguments given as text, as the API has them, fail: give objects"
    ),
    "template-wants-text": info("arguments have to be given as text, not objects"),
    "template-name-in-id": warning("the name of a call is taken from its id (functions.NAME:0)"),
    "template-breaks-prefix": warning(
        "the prompt of a turn does not begin with the prompt of the turn before it"
    ),
    "template-no-generation-prompt": warning(
        "add_generation_prompt changes nothing: the model may go on as the user"
    ),
    "template-forged-turn": info(
        "a user's text with the template's own markers is a turn of the model"
    ),
    "template-drops-thoughts": warning(
        "a thought before a call is gone when the call's result is there"
    ),
    "template-ignores-thoughts": info("thoughts are not written at all"),
    "template-forgets-thoughts": info("a past answer's thought is not written"),
    "template-date": warning("the date is in the prompt: cached prompts are lost with the day"),
    "template-writes-bos": info(
        "the template writes BOS: if the tokenizer adds one too, the model gets two"
    ),
    "template-trims": info("white space around a text is cut off"),
    "template-mutates": warning(
        "the template changes lists, which transformers' own sandbox forbids"
    ),
    "template-sorts-keys": info("the template writes arguments sorted by name"),
    "derived-unread": warning(
        "values that the derived dialect does not read back from the template's text"
    ),
    "derived-bytes": info(
        "calls that the derived dialect writes with other bytes than the template"
    ),
    "derived-unmarked": warning(
        "calls have no marker: an object in prose with the right keys is a call"
    ),
    "derived-law": warning("a law that random calls of a derived dialect break"),
    "derived-answer": warning(
        "an answer or a thought of the template that the derived dialect reads in another way"
    ),
    "derived-result": info(
        "results that the derived dialect writes with other bytes than the template"
    ),
    "proposal-left": warning(
        "part of a reply that looks like markup, but is text to the proposed form"
    ),
    "proposal-bytes": info("the proposed form would write the calls of a reply in another way"),
    "proposal-open": info("a property of the proposed form that the given replies do not show"),
    # what a trial of a dialect shows
    "law-broken": error("a law that every dialect keeps does not hold for this one"),
    # what a grammar cannot express
    "grammar-wider": warning("the grammar allows more than the tools' schemas"),
    "grammar-narrower": info("the grammar allows less than the tools' schemas"),
    "no-grammar": warning("no grammar can be made of this dialect"),
    # what a response template of transformers cannot express
    "response-template-wider": warning("the template reads more than the dialect"),
    "response-template-narrower": warning("the template reads less than the dialect"),
    "response-template-anchor": info(
        "the header of the assistant's turn is assumed from a stop token"
    ),
    "response-template-recursion": info(
        "a pattern of the template needs Python's regex module, which transformers has"
    ),
    "no-response-template": warning("no response template can express the dialect"),
    # what a loader sees in a file
    "orphan-result": error("a tool result whose call is not in the session"),
    "missing-result": warning("a tool call without a result before the next turn"),
    "duplicate-id": error("two tool calls share an id"),
    "empty-message": info("a message without parts: it will not be sent"),
    "missing-id": warning("a tool call or result without an id"),
    "role-order": warning("a message whose role cannot follow the one before it"),
    "part-lost": warning("the file has something that a session cannot hold"),
    "not-in-session": warning(
        "texts, calls or counts of tokens that are in the file, but in none of its sessions"
    ),
    "beside-left-out": warning(
        "citations, sounds or titles with a text: a session has no fields for them"
    ),
    "arguments-kept-as-text": info("arguments that are not a JSON object: kept as text"),
    "not-a-file": warning("a pipe, a device or a socket among the files of a folder: left out"),
    "more-sessions": info("the file holds more sessions than this one: FILE#2 is the second"),
    "history-differs": warning(
        "a later request repeats a reply with changes: the model's own reply is kept"
    ),
    "lines-left-out": warning("lines of a kind for which a session has no room"),
    "bookkeeping": info("lines of a kind that has no part of the conversation"),
    "unreadable-line": error("a line that cannot be read: left out"),
    "spoiled-rest": error("unreadable from here to the end: everything before is kept"),
    "torn-end": error("the file is cut off: its complete lines or values are kept"),
    "not-written-out": warning(
        "the source computes a value (a call, say) instead of writing it: left out"
    ),
    "options-left-out": info(
        "options of a call in a trace that are not parameters of a request: left out"
    ),
    "counts-converted": info(
        "counts of tokens in a trace that repeat the provider's own in another meaning: left out"
    ),
    "not-exported": warning("the session has something that the written form cannot hold"),
    "times-unknown": warning(
        "requests of unknown time or duration: they begin next to another, or in 1970, and take 0 s"
    ),
    "headers-left-out": info("a command's HTTP headers, which may hold keys: left out"),
    "not-a-number": warning(
        "a number that JSON does not have (NaN, Infinity, 1e400): kept as text"
    ),
    "long-integer": warning(
        "an integer of more digits than Python reads by default (4,300): kept as text"
    ),
    "time-unread": warning("a time that cannot be read: none is kept"),
    "tools-by-name": info("tools that the file only names, without their schemas"),
    "more-recordings": info("the file has several recordings: this is one of them"),
    "calls-in-text": info("calls in the text of answers stay text: `replay` reads them"),
    "results-in-text": info("results in the text of the user's messages stay text"),
    "other-branches": info("the conversation has branches: each is a session of its own"),
    "reasoning-sealed": info("reasoning in a form that only its provider can read"),
    "mixed-formats": warning("a line of another format: left out"),
    "cyclic-ref": warning("a $ref that leads back to itself is not expanded"),
    "unresolved-ref": warning("a $ref that points to nothing in the schema"),
    "tool-left-out": warning("an entry among the tools has no schema: left out"),
    "cache-mark": info("a cache mark between the tools: it stays in the request"),
    "tool-fields": info("fields of a tool that have no meaning here: not kept"),
    "schema-misplaced": warning("a tool's schema under a key of no known form: not read"),
    "schema-unread": warning("a wrong type of value in a tool's schema: sent as given, not read"),
    "duplicate-tool": warning("two tools of a request have one name"),
    "schema-unwrapped": warning("a tool's parameters without a schema around: read as properties"),
    "var-arguments": warning("*args or **kwargs: a model cannot give them"),
    "annotation-unread": warning("a type without JSON Schema: any value is allowed"),
    "docstring-lies": warning("a docstring that describes another signature"),
    "argument-coerced": info("an argument of another type, read as its schema says"),
    "keyword-unchecked": warning(
        "keywords of a tool's schema that cannot be checked here: they are ignored"
    ),
    "context-cut": warning("messages for which the model's context has no room: not sent"),
    "template-arguments": warning(
        "a call in a template whose arguments are not a JSON object: sent as they are"
    ),
    "name-mended": info("a tool got a new name: the file has none for it, or the same for two"),
    "dialect-left-out": warning("a dialect of another package or of a file that cannot be used"),
    "dialect-renamed": info("a dialect of another package whose entry point has a different name"),
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

OBJECTIONS: Final = frozenset({"type-mismatch", "missing-argument", "unknown-argument"})
"""Codes of findings which say that a call's arguments do not fit the tool's schema."""

DECLARED: Final = "; declared is "
"""The words between the text and the declared form, in messages about a slip of the model."""


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
