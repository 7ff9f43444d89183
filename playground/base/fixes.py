"""The remedy for each finding that is a warning or an error, in one sentence.

Codes and meanings are in `findings.py`. Remedies have a module of their own, because only code that
shows findings needs them.
"""

from __future__ import annotations

from typing import Final

from playground.base.findings import Finding

FIXES: Final[dict[str, str]] = {
    # what a parser sees in a stream
    "call-in-fence": "say in the rules that calls must be outside of fences, "
    "or read it with the switch calls_in_fences=call",
    "draft-in-reasoning": "if your server delivers such calls, "
    "read it with the switch calls_in_reasoning=call",
    "call-in-reasoning": "if your server delivers no such call, "
    "read it with the switch calls_in_reasoning=reasoning",
    "mended-form": "show the exact form in the rules' example if your server reads strictly",
    "missing-section": "show the wrapper in the rules' example: some parsers need it",
    "mended-opener": "show the whole opener in the rules' example: strict parsers miss this call",
    "doubled-opener": "check whether the prompt already ends with the opener",
    "missing-closer": "show the whole form in the rules, or check whether a stop string removed it",
    "doubled-closer": "check whether the prompt shows the closer twice",
    "truncated-call": "raise the token limit; in a complete reply a closer or a quote is missing",
    "open-ended": "check the finish reason: after `length` the call may be incomplete",
    "bare-opener": "mend the text after the marker, if a call was meant",
    "unreadable-call": "look at the raw text, and show the whole form in the rules' example",
    "malformed-json": "ask again with this message, or constrain decoding by `playground grammar`",
    "malformed-arguments": "ask again with this message, or show the form in the rules' example",
    "malformed-python": "ask again with this message, or show the form in the rules' example",
    "too-deep": "ask for a flatter value",
    "arguments-not-object": "show arguments as an object in the rules' example",
    "relaxed-json": "constrain decoding by `playground grammar` if your server reads strictly",
    "relaxed-python": "show the exact form in the rules' example if your server reads strictly",
    "no-arguments": "show in the rules' example that a call without arguments has `{}`",
    "arguments-elsewhere": "show the place of arguments in the rules' example",
    "other-recipient": "ask again: nothing shows which of the two tools was meant",
    "missing-argument": "ask again with this message, or do not require the parameter",
    "missing-name": "ask again, or show the name's place in the rules' example",
    "unexpected-text": "if the call is aborted, mend that first; else try another dialect",
    "duplicate-argument": "do not rely on the value: other parsers take the first one",
    "type-mismatch": "name the type in the parameter's description, or allow it in the schema",
    "unknown-argument": "ask again with this message, or add the parameter to the tool's schema",
    "orphan-closer": "find its opener: it may be lost, misspelt, or begin an unreadable call",
    "unclosed-reasoning": "raise the token limit, or check whether the server drops the closer",
    "fabricated-result": "make the result's opening marker a stop string",
    "invalid-utf8": "decode the stream as a whole, not each chunk by itself",
    "lone-surrogate": "find the program that splits characters: both halves belong in one chunk",
    "expected-misfit": "correct the expected call, or the tool's schema",
    "code-not-read": "if the reply is code, read it in the dialect llama3-code",
    "foreign-markup": "read the reply in the named dialect (`-d`; `dialect=` in Python)",
    "near-marker": "check whether a server or a filter changed the reply, or show the marker again",
    "unread-call": "name the reply's dialect, or have one proposed by `playground dialect propose`",
    "foreign-closer": "find its opener: no dialect reads a call without it",
    "filtered-tokens": "start the server without skip_special_tokens, or record its raw text",
    "printed-response": "give the response as JSON (`model_dump_json()`), or its content alone",
    "unknown-dialect": "register the dialect, or read the recording in a known one",
    "no-dialect": "name the text's dialect, or have one proposed by `playground dialect propose`",
    "unknown-json": "mend the JSON if it is a session, or give the text of the reply alone",
    "unknown-tool": "give the session the tool, or name the tools in the rules",
    "missing-opener": "show the whole form in the rules' example, or try another dialect",
    # how a server reads a reply
    "server-drops": "send its authors the smallest recording: `playground replay RECORDING "
    "--report SERVER`",
    "call-as-text": "read its content yourself, or tell its authors (`playground replay RECORDING "
    "--report SERVER`)",
    "server-fails": "send the request again: the client has received nothing",
    "server-delivers": "check the server's calls before they are run",
    "usual-parser": "do not rely on this reading: try the reply on the server itself",
    "unproven-repair": "do not rely on this reading: try the reply on the server itself",
    "unread-dialect": "start the server with a parser that reads the dialect",
    "no-parser": "choose a dialect that the server reads, or parse the server's text yourself",
    # what a decoder sees on the wire
    "stream-error": "ask again: what came before the error is kept",
    "no-end": "treat the reply as cut off",
    "unreadable-frame": "check whether a proxy has changed the stream",
    "two-responses": "record each response by itself",
    # what the cache lab sees in a session
    "unexplained": "look for something outside of the session: system prompt, tools, another route",
    "compacted": "do nothing if the compaction was intended: it loses the cached history",
    # what a renderer sees in a session
    "cannot-carry": "choose another dialect for this tool, or another type for the argument",
    "image-as-text": "send the image in a user message after the result",
    "part-dropped": "put the part into a message of a role that may hold it",
    "environment-dropped": "end the session with a user message",
    # what an adapter makes of a request
    "messages-merged": "write them as one message if the difference matters",
    "message-dropped": "give the message a role that the provider takes",
    "tool-added": "expect calls to it, or call the provider's API itself",
    "tools-in-prompt": "choose a model that takes tools, or a dialect that writes them as text",
    "schema-misplaced": "give the tool's JSON Schema as `parameters`",
    "schema-unread": 'write schemas by name: {"properties": {"city": {"type": "string"}}}',
    "duplicate-tool": "rename it or leave it out: no namespace or server tells tools apart here",
    "schema-unwrapped": 'write {"type": "object", "properties": {…}} around them',
    "schema-refused": "write what `playground tools --portable` proposes",
    "schema-ignored": "state it in the parameter's description as well",
    "parameter-dropped": "leave the parameter out, or choose a model that uses it",
    # what a count of tokens sees
    "undecided-limit": "install 'dialect-playground[llm]', whose tokenizers decide it",
    "token-injection": "escape the token, or encode users' texts without control tokens",
    "doubled-bos": "let the template or the tokenizer write BOS, not both",
    # what the cache lab sees in requests
    "env-in-prefix": "put the block after the last mark, or keep it in every later request",
    "volatile-system": "put the time or id after the last mark",
    "tool-order": "send the tools in one order, sorted by name for instance",
    "json-key-order": "write JSON with its keys in one order",
    "head-injection": "put the changing text after the history, not before it",
    "history-rewrite": "append to the history; leave what was sent as it was",
    "prefix-changed": "keep text and model for the whole conversation, or pay again for the rest",
    "too-many-breakpoints": "remove marks down to the limit, those that an adapter adds included",
    "marker-on-empty": "leave the empty text out, or mark the part before it",
    "marker-on-thinking": "mark the last part that is not thinking",
    "ttl-order": "put the marks with the longer lifetime first",
    "unknown-ttl": "give the mark a lifetime that the provider knows",
    "lookback-overflow": "leave a second mark where the previous request had its last one",
    "frozen-breakpoint": "move the last mark to the newest message, also if that is a tool result",
    "synthetic-anchor": "mark a part that stays in the history, not one added for the mark",
    "no-anchor": "keep a mark where both requests still agree, such as the system prompt",
    "no-breakpoint": "mark the system prompt and the last message",
    "gemini-freeze": "mark nothing for Gemini and let its implicit cache follow the history",
    "other-marks": 'the policy "as-sent" shows them',
    "below-minimum": "mark a later part, or none: a prefix below the minimum is not cached",
    "mark-lost": "put the mark on a part whose mark the adapter sends, or call the API directly",
    "marks-not-placed": "name a policy that marks for this model, if its provider reads marks",
    "usage-lost": "keep the provider's counts of tokens (`usage`) unchanged",
    "clock-backwards": "give the requests in the order in which they were sent",
    "diagnosis-disagrees": "compare the bytes that were sent: something may change them on the way",
    "shorter-context": "nothing is lost: a shorter request reads less",
    "refused-request": "change what the reason names: the whole request is refused",
    "history-on-server": "send the history in the body, or read the cached tokens from the bill",
    "in-flight": "wait for the first answer's first token before you send the other requests",
    # what a chat template does
    "template-drops-calls": "write the message's tool_calls in the template",
    "template-text-or-calls": "write content and tool_calls of a message, not one of the two",
    "template-drops-results": "write messages of the role tool in the template",
    "template-needs-tools": "ask in the template whether there are tools",
    "template-ignores-tools": "tell the model of its tools in the system prompt",
    "template-ignores-system": "put the system prompt into the first user message",
    "template-drops-text": "write content before the calls in the template",
    "template-one-call": "send each parallel call in a message of its own",
    "template-prints-none": "send an empty text in place of null",
    "template-refuses-null": "send an empty text in place of null",
    "template-wants-no-content": "leave content out of messages with calls",
    "template-wants-content": "write a text in the content of each message with calls",
    "template-refuses-text": "read the arguments as JSON before the template is rendered",
    "template-name-in-id": "use call ids of the form functions.NAME:0",
    "template-breaks-prefix": "render a past turn the same way in every prompt",
    "template-no-generation-prompt": "add the beginning of the model's turn to the prompt yourself",
    "template-drops-thoughts": "write the thought until its call's turn has ended",
    "template-date": "give the date in the last message",
    "template-mutates": "make a new list in the template: `[*old, new]` in place of append",
    "derived-unread": "correct the declaration, or choose other values than the named ones",
    "derived-unmarked": "give the dialect a marker, or read replies with their tools given",
    "derived-law": "correct the declaration: the smallest example is shown with the finding",
    "derived-answer": "correct the answer's or the thought's tags in the declaration",
    "proposal-left": "add more replies, or correct the proposed declaration",
    # what a trial of a dialect shows
    "law-broken": "correct the declaration: the smallest example is shown with the finding",
    # what a grammar cannot say
    "grammar-wider": "check arguments by the schema once they are decoded",
    "no-grammar": "check the calls once they are parsed",
    # what a response template cannot say
    "response-template-anchor": "give `playground dialect show --start-anchor` "
    "(`start_anchor=` in Python) the header as the chat template writes it",
    "response-template-recursion": "avoid it by `playground dialect show --portable` "
    "(`portable=True` in Python): the template then reads less",
    "response-template-narrower": "read such replies by `playground.parse`",
    "response-template-wider": "check the template's readings by `playground.parse`",
    "no-response-template": "read replies by `playground.parse`",
    # what a loader sees in a file
    "orphan-result": "add its call, or repair it: a button in the app, "
    "or `playground import --repair`",
    "missing-result": "add its result, or take the call out",
    "duplicate-id": "give each call an id of its own",
    "missing-id": "give the call or result an id, or repair it: a button in the app, "
    "or `playground import --repair`",
    "role-order": "join the message to the one before it, or move it",
    "part-lost": "keep the file: only it has the named parts",
    "not-in-session": "keep the file; `playground import FILE --receipt` shows what is missing",
    "beside-left-out": "keep the file: only it has them",
    "history-differs": "look at what the client sends back: it may edit or drop what was said",
    "lines-left-out": "keep the file: only it has the contents of these lines",
    "unreadable-line": "correct the line in the file, or accept the loss",
    "spoiled-rest": "get a new copy of the file, and import it again",
    "torn-end": "import the file again once it is complete",
    "not-exported": "keep the session file, too: only it has them",
    "times-unknown": "do not read times or durations from these spans",
    "not-written-out": "write the value out in the source",
    "not-a-file": "give its path directly: a pipe with a writer is read",
    "long-integer": "write the integer as a text: most programs round after 15 digits",
    "not-a-number": "write a text or null in the file",
    "time-unread": "write times as ISO 8601 or in seconds since 1970",
    "mixed-formats": "import the lines of the other format by themselves",
    "cyclic-ref": "write the schema out to the depth that you need",
    "unresolved-ref": "add the definition, or correct the $ref",
    "tool-left-out": "give the entry a JSON Schema",
    "cache-mark": "nothing to do: requests as sent keep the mark",
    "var-arguments": "name the parameters in the function's signature",
    "annotation-unread": "annotate the parameter with a type that JSON Schema has",
    "docstring-lies": "correct the docstring",
    "keyword-unchecked": "check these keywords in the tool itself",
    "context-cut": "shorten the history, or choose a model with more room",
    "template-arguments": "write the arguments as a JSON object",
    "dialect-left-out": "correct the named file or package",
}


def with_fix(finding: Finding) -> str:
    """Return a finding's message with its remedy, which is not repeated if the message has it."""
    fix = FIXES.get(finding.code, "")
    return f"{finding.message}; {fix}" if fix and fix not in finding.message else finding.message
