"""What to do about a finding, in one sentence, for all that are more than information.

The codes and their meanings are in `findings.py`; this is beside it because only what shows
findings asks for it.
"""

from __future__ import annotations

from typing import Final

from playground.findings import Finding

FIXES: Final[dict[str, str]] = {
    # what a parser sees in a stream
    "call-in-fence": "say in the rules that calls stand outside fences, or switch calls_in_fences",
    "call-in-reasoning": "switch calls_in_reasoning where your server takes it for reasoning",
    "mended-opener": "show the whole opener in the rules' example: strict parsers miss this call",
    "doubled-opener": "look whether the prompt already ends with the opener",
    "missing-closer": "look whether a stop string or the token limit took it",
    "doubled-closer": "look whether the prompt shows the closer twice",
    "truncated-call": "raise the token limit, or ask again",
    "unreadable-call": "look at the raw text, and show the whole form in the rules' example",
    "malformed-json": "ask again with this message, or constrain decoding by `playground grammar`",
    "malformed-arguments": "ask again with this message, or show the form in the rules' example",
    "malformed-python": "ask again with this message, or show the form in the rules' example",
    "too-deep": "ask for a flatter value",
    "arguments-not-object": "show arguments as an object in the rules' example",
    "relaxed-json": "constrain decoding by `playground grammar` where your server reads strictly",
    "relaxed-python": "show the exact form in the rules' example where your server reads strictly",
    "arguments-elsewhere": "show the place of arguments in the rules' example",
    "other-recipient": "ask again: which of the two tools was meant cannot be known",
    "missing-argument": "ask again with this message, or do not require the parameter",
    "missing-name": "ask again, or show the name's place in the rules' example",
    "unexpected-text": "look whether the reply is written in another dialect",
    "duplicate-argument": "do not rely on the value: other parsers take the first one",
    "type-mismatch": "name the type in the parameter's description, or allow text in the schema",
    "orphan-closer": "look whether the prompt holds the opener, or the reply is in another dialect",
    "unclosed-reasoning": "raise the token limit, or look whether the server takes the closing tag",
    "fabricated-result": "make the result's opening marker a stop string",
    "invalid-utf8": "decode the stream as a whole, not each chunk by itself",
    "lone-surrogate": "look who cut a character in two: both halves belong into one chunk",
    "expected-misfit": "correct the expected call, or the tool's schema",
    "foreign-markup": "read the reply in the dialect that is named",
    "near-marker": "look whether a server or a filter changed the reply, or show the marker again",
    "unknown-dialect": "register the dialect, or read the recording in one that is here",
    "no-dialect": "name its dialect, or have one proposed by `playground dialect propose`",
    "unknown-tool": "give the session the tool, or name the tools in the rules",
    "missing-opener": "show the opener in the rules' example, or read another dialect",
    # what a server makes of it
    "server-drops": "send its authors the smallest recording: `playground replay --report`",
    "call-as-text": "read its content yourself, or send its authors `playground replay --report`",
    "server-delivers": "check the server's calls before they are run",
    "unknown-parser": "choose one of those that are named",
    "usual-parser": "take nothing of it for certain: try the reply on the server itself",
    "unread-dialect": "start the server with the parser that reads it",
    "no-parser": "choose a dialect that the server reads, or parse its text yourself",
    # what a decoder sees on the wire
    "stream-error": "ask again: what came before the error is kept",
    "no-end": "take the reply for one that was cut off",
    "unreadable-frame": "look whether a proxy has changed the stream",
    "two-responses": "record each response by itself",
    # what the cache lab sees in a session
    "unexplained": "look for what the session does not hold: system prompt, tools, another route",
    "compacted": "nothing, where it was time: what is cached of the history is lost with it",
    # what a renderer sees in a session
    "cannot-carry": "choose another dialect for this tool, or another type for the argument",
    "part-dropped": "put it into a message of a role that may hold it",
    "environment-dropped": "end the session with a message of the user's",
    # what an adapter makes of a request
    "messages-merged": "write them as one message where the difference matters",
    "message-dropped": "give it a role that the provider takes",
    "tool-added": "expect calls to it, or call the provider's API itself",
    "tools-in-prompt": "choose a model that takes tools, or a dialect that writes them as text",
    "schema-refused": "write what `playground tools --portable` proposes",
    "schema-ignored": "say it in the description as well",
    "parameter-dropped": "leave it out, or choose a model that heeds it",
    # what a count of tokens sees
    "token-injection": "escape it, or encode what users write without control tokens",
    "doubled-bos": "let the template or the tokenizer write it, not both",
    # what the cache lab sees in requests
    "env-in-prefix": "put it after the last mark, or keep it in the history for good",
    "volatile-system": "put the time or id after the last mark",
    "tool-order": "send the tools in one order, sorted by name for instance",
    "json-key-order": "write JSON with its keys in one order",
    "head-injection": "put it after the history, not before it",
    "history-rewrite": "append to the history; leave what was sent as it was",
    "prefix-changed": "keep it for the whole conversation, or pay again for everything after it",
    "too-many-breakpoints": "remove marks down to the limit, those that an adapter adds included",
    "marker-on-empty": "leave the empty text out, or mark the part before it",
    "marker-on-thinking": "mark the last part that is not thinking",
    "ttl-order": "put the marks with the longer lifetime first",
    "unknown-ttl": "give the mark a lifetime that the provider knows",
    "lookback-overflow": "leave a second mark where the previous request had its last one",
    "frozen-breakpoint": "move the last mark on with the history, tool results too",
    "synthetic-anchor": "mark a part that stays in the history, not one made for the mark",
    "no-anchor": "keep a mark where both requests still agree, such as the system prompt",
    "no-breakpoint": "mark the system prompt and the last message",
    "gemini-freeze": "mark nothing for Gemini and let its implicit cache follow the history",
    "below-minimum": "mark a later part, or none: a prefix this short is not cached",
    "mark-lost": "put the mark on a part that the adapter sends it for, or call the API itself",
    "usage-lost": "keep the provider's usage as it came",
    "clock-backwards": "give the requests in the order in which they were sent",
    "in-flight": "wait for the first answer's first token before the others are sent",
    # what a chat template does
    "template-drops-calls": "write the message's tool_calls in the template",
    "template-text-or-calls": "write content and tool_calls of a message, not one of the two",
    "template-drops-results": "write messages of the role tool in the template",
    "template-needs-tools": "ask in the template whether there are tools",
    "template-ignores-tools": "tell the model of its tools in the system prompt",
    "template-ignores-system": "put the system prompt into the first message of the user's",
    "template-drops-text": "write content before the calls in the template",
    "template-one-call": "send parallel calls as a message each",
    "template-prints-none": "send an empty text in place of null",
    "template-refuses-null": "send an empty text in place of null",
    "template-wants-no-content": "leave content out of messages with calls",
    "template-refuses-text": "read the arguments as JSON before the template is rendered",
    "template-name-in-id": "give calls ids of that form",
    "template-breaks-prefix": "write past turns always alike: no cache holds over turns else",
    "template-no-generation-prompt": "add what begins the model's turn to the prompt yourself",
    "template-drops-thoughts": "write the thought until its call's turn has ended",
    "template-date": "give the date in the last message",
    "template-mutates": "make a new list in the template: `[*old, new]` in place of append",
    "derived-unread": "correct the declaration, or choose other values where they are named",
    "derived-unmarked": "give the dialect a marker, or read replies with their tools given",
    "derived-law": "correct the declaration: the smallest example is beside it",
    "derived-answer": "correct the answer's or the thought's tags in the declaration",
    "proposal-left": "give more replies, or correct the proposed declaration",
    # what a trial of a dialect shows
    "law-broken": "correct the declaration: the smallest example is beside it",
    # what a grammar cannot say
    "grammar-wider": "check arguments by the schema once they are decoded",
    "no-grammar": "check the calls once they are parsed",
    # what a loader sees in a file
    "orphan-result": "add its call, or import with --repair",
    "missing-result": "add its result, or take the call out",
    "duplicate-id": "give each call an id of its own",
    "missing-id": "give it an id, or import with --repair",
    "role-order": "join it to the message before it, or move it",
    "part-lost": "keep the file: what is named is only there",
    "lines-left-out": "keep the file: what these lines hold is only there",
    "unreadable-line": "correct the line in the file, or do without it",
    "spoiled-rest": "fetch the file anew, and import it again",
    "torn-end": "import it again once it is whole",
    "not-written-out": "write the value out in the source",
    "not-a-number": "write a text or null in the file",
    "time-unread": "write times as ISO 8601 or in seconds since 1970",
    "mixed-formats": "import the lines of the other format by themselves",
    "cyclic-ref": "write the schema out as deep as it is needed",
    "unresolved-ref": "add the definition, or correct the $ref",
    "tool-left-out": "give it a JSON Schema",
    "var-arguments": "name the parameters in the function's signature",
    "annotation-unread": "annotate it with a type that JSON Schema has",
    "docstring-lies": "correct the docstring",
    "keyword-unchecked": "check it in the tool itself",
    "context-cut": "shorten the history, or choose a model with more room",
    "template-arguments": "write the arguments as a JSON object",
    "dialect-left-out": "correct the file or the package that is named",
}


def with_fix(finding: Finding) -> str:
    """A finding's message and what to do about it, which some messages already end with."""
    fix = FIXES.get(finding.code, "")
    return f"{finding.message}; {fix}" if fix and fix not in finding.message else finding.message
