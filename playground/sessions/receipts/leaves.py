"""Leaves of a file, found without knowing its format: texts, calls, results and token counts.

A text counts if it has 24 characters and a blank. JSON and server-sent events are opened inside
strings too, gzip in any bytes, Base64 if a field says so. No importer uses this module, because a
fault that both share would not be seen.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from playground.base.errors import InputFault
from playground.base.json_numbers import load_json
from playground.sessions.lines import kind_of
from playground.sessions.places import Place, numberless
from playground.sessions.receipts.counts import USAGE, counts_in, is_count, reports_in, sides
from playground.sessions.receipts.frames import (
    HTTP_HEAD,
    are_frames,
    frames_in,
    frames_of_lines,
    from_base64,
    from_hex,
    is_frame,
    json_values,
    unchunked,
    unzipped,
)
from playground.sessions.receipts.receipt import LEAST
from playground.sessions.source import Source

_DEEPEST: Final = 60  # levels of a value; deeper ones are not walked

# An object with one of these fields and a name is a call.
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters", "rawInput", "argument")
_NAMES: Final = ("name", "tool_name", "toolName", "function_name", "tool", "function")
_IDS: Final = ("call_id", "id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "callId")
_RESULT_IDS: Final = (
    "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "callId", "id",
)  # fmt: skip
_RESULT_FIELDS: Final = frozenset({"functionResponse", "toolResult", "codeExecutionResult"})
_OF_CALL: Final = re.compile(r"(?i)tool|function|call")
_OF_RESULT: Final = re.compile(r"(?i)(?:tool|function|call).*(?:result|output|response)")
_TOOL_ROLES: Final = frozenset({"tool", "toolResult", "function", "observation", "ipython"})
_ROLES: Final = _TOOL_ROLES | {
    "user", "human", "assistant", "ai", "model", "gpt", "system", "developer", "agent", "bot",
}  # fmt: skip
SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_CACHE_MARKS: Final = frozenset({"cache_control", "prompt_cache_breakpoint"})
# Fields of a message with its text, or with annotations of the text.
_TEXT_FIELDS: Final = frozenset({
    "content", "parts", "text", "value", "refusal", "reasoning", "reasoning_content", "thinking",
    "audio", "images", "attachments", "files", "annotations", "citations",
})  # fmt: skip
# Fields with a text that somebody said, even in an object without a role.
_LIKELY_TEXT_FIELDS: Final = frozenset({
    "content", "text", "Text", "message", "parts", "prompt", "answer", "question", "thinking",
    "thought", "instruction", "query", "response", "output",
})  # fmt: skip
_SOURCES: Final = frozenset({"annotations", "annotation", "citations", "citation"})  # of a text
# Inner fields that name a block's kind, or that refer to a text without being one.
_REFERRING_FIELDS: Final = frozenset({
    "type", "id", "role", "name", "index", "status", "media_type", "mime_type", "mimeType",
    "mediaType", "format", "detail", "cache_control", "signature", "thoughtSignature",
    "encrypted_content", "encrypted_index", "tool_use_id", "tool_call_id", "toolCallId",
    "call_id", "usage", "model", "tool_calls", "function_call", "functionCall", "timestamp",
    "phase", "kind", "toolUseId", "metadata", "toolName", "tool_name", "part_kind", "part_type",
    "prompt_cache_breakpoint", "protectedData",
})  # fmt: skip
_OUTPUT_FIELDS: Final = (
    "content", "output", "result", "response", "value", "text", "parts", "error",
    "structuredContent",
)  # fmt: skip
# Fields of a frame that identify the text to which its piece of a stream belongs.
_CHANNEL_FIELDS: Final = (
    "type", "event", "index", "output_index", "content_index", "item_id", "thought", "jsonPath",
)  # fmt: skip
# Fields that may hold the frames of a stream.
_STREAMS: Final = frozenset({"response", "chunks", "frames", "body_segments", "sse_events"})
_RESULT_TAG: Final = re.compile(r"</?tool_(?:response|result)s?>")  # around a result in a text
_PIECE: Final = re.compile(r"(?:_c|C)hunk$")  # a field with a piece of a message


class FileText(NamedTuple):
    """A text that somebody said, in the file's own form."""

    place: Place
    text: str


class FileCall(NamedTuple):
    """A call. `arguments` are JSON with sorted keys; `name` is "" if another object has it."""

    place: Place
    call_id: str
    name: str
    arguments: str
    chat: int = 0  # number of the list of messages around it; 0 for none


class FileWords(NamedTuple):
    """A string in a message's text or annotations, or a short text outside messages. `chat` is the
    number of its list of messages, `message` the message's id; 0 and "" outside a message."""

    place: Place
    text: str
    chat: int
    message: str
    is_text: bool  # True for text, False for annotations such as a title


class FileResult(NamedTuple):
    """A tool's result: its strings and numbers, in order."""

    place: Place
    call_id: str
    values: tuple[str, ...]
    chat: int


class _Parent(NamedTuple):
    """Facts about the objects around a value. `billed` is True in a token report; `owner` is the
    id of the outer object, `chat` the number of the list of messages, `message` its id."""

    billed: bool = False
    owner: str = ""
    chat: int = 0
    message: str = ""
    in_message: bool = False  # inside a text that somebody said
    piece: bool = False  # the next message may continue this message


class FileUsage(NamedTuple):
    """A token report: its counts above 0, sorted; `answer` is the id of the billed answer."""

    place: Place
    answer: str
    counts: tuple[int, ...]
    read: int  # tokens of the prompt, 0 if unknown
    written: int  # tokens of the answer, 0 if unknown


@dataclass
class Leaves:
    """The leaves of a file or a part of a file, in order."""

    texts: list[FileText] = field(default_factory=list)
    calls: list[FileCall] = field(default_factory=list)
    usages: list[FileUsage] = field(default_factory=list)
    words: list[FileWords] = field(default_factory=list)
    results: list[FileResult] = field(default_factory=list)
    # each once, although requests repeat their history
    messages: set[str] = field(default_factory=set)
    strings: Counter[str] = field(default_factory=Counter)  # all strings, from any place
    chats: int = 0  # lists of messages
    may_hide_counts: bool = False  # True if the file may hold counts that the walk cannot see
    kinds: dict[int, str] = field(default_factory=dict)  # line → its kind, in a file of lines


def leaves_of(source: Source) -> Leaves:
    """Return the leaves of a file or folder. Raises InputFault if it cannot be opened."""
    walk = _Walk(Leaves())
    _walk_source(walk, source, Place())
    return walk.leaves


def leaves_in(value: Any, place: Place | None = None) -> Leaves:
    """Return the leaves anywhere in a value, which is at `place` in the file."""
    walk = _Walk(Leaves())
    walk.value(value, place or Place())
    return walk.leaves


def _walk_source(walk: _Walk, source: Source, place: Place) -> None:
    if source.is_folder or source.is_zip:
        for name, member in sorted(source.members.items()):
            with suppress(InputFault):
                _walk_source(walk, member, Place(field=name))
    elif source.is_lines:
        _open_lines(walk, source, place)
    elif source.document is not None:
        walk.value(source.document, place)
    elif source.suffix in (".yaml", ".yml"):
        for index, document in enumerate(documents := _yaml(source)):
            walk.value(document, place.at(index) if len(documents) > 1 else place)
    else:
        walk.document(source.data, place)


def _open_lines(walk: _Walk, source: Source, place: Place) -> None:
    """Walk a file of lines as one stream if they are its frames. Otherwise walk each line, and then
    each stream of which several lines have a piece in the same field."""
    pieces: dict[str, list[str]] = {}
    if frames := frames_of_lines(source):
        walk.stream(frames, place)
        return
    parent = _Parent(chat=walk.new_chat())
    for number, line in enumerate(source.data.split(b"\n"), 1):
        with suppress(ValueError, RecursionError):
            value = json.loads(line.decode("utf-8-sig", "replace"))
            walk.leaves.kinds[number] = kind_of(value)
            where = place.at(f"line {number}") if place.field else Place(number)
            walk.value(value, where, parent=parent)
            for key, inner in value.items() if isinstance(value, dict) else ():
                if isinstance(inner, str):
                    pieces.setdefault(key, []).append(inner)
    for key, texts in pieces.items():
        if "data:" in (joined := "".join(texts)) and frames_in(joined):
            walk.text(joined, place.at(f"{key} joined"))


def _yaml(source: Source) -> list[Any]:
    try:
        return [source.yaml]
    except InputFault:
        from playground.sessions.documents import read_yaml_documents

        return read_yaml_documents(source.text, source.name, [])


def arguments_text(value: Any) -> str:
    """Return arguments in one spelling, for comparison."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


_NOWHERE: Final = _Parent()


def spelt(arguments: str) -> str:
    """Return JSON arguments in one spelling; return any other text unchanged."""
    values = json_values(arguments)
    return arguments_text(values[0] if values else arguments)


class _Walk:
    """A walk through values, which adds what it finds to `leaves`."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self._piece = ""  # path of the last piece of a message

    def value(
        self, value: Any, place: Place, key: str = "", depth: int = 0, parent: _Parent = _NOWHERE
    ) -> None:
        """Walk a value of the file, `depth` levels deep, under a key of the outer object."""
        if depth > _DEEPEST:
            return
        match value:
            case dict():
                self._object(value, place, key, depth, parent)
            case [str(first), *_] if (data := from_hex(value)) and len(first) > 1:
                self.bytes(data, place)
            case [{"key": _, "value": _}, *_]:
                self.value(_pairs(value), place, key, depth + 1, parent)
            case list() if are_frames(value) and (key in _STREAMS or all(map(is_frame, value))):
                self.stream(value, place)
            case list():
                self._list(value, place, key, depth, parent)
            case str():
                self.text(value, place, depth, parent, key)
            case bytes():
                self.bytes(value, place)
            case int() | float() if (
                parent.in_message and key in _TEXT_FIELDS and type(value) is not bool
            ):
                self.text(str(value), place, depth, parent, key)  # a session has a text there

    def _list(self, value: list[Any], place: Place, key: str, depth: int, parent: _Parent) -> None:
        parent = parent._replace(owner="")
        if not parent.in_message and any(isinstance(item, dict) and _role(item) for item in value):
            parent = parent._replace(chat=self.new_chat())
        for index, item in enumerate(value):
            self.value(item, place.at(index), key, depth + 1, parent)

    def _object(
        self, value: dict[Any, Any], place: Place, key: str, depth: int, parent: _Parent
    ) -> None:
        owner = parent.owner
        billed = parent.billed or self._usage(value, place, key, owner)
        if (call := call_in(value, place, key)) is not None:
            # OpenAI's form: the outer object has the id
            if key == "function" and not call.call_id:
                call = call._replace(call_id=owner)
            self.leaves.calls.append(call._replace(chat=parent.chat))
            self._piece = ""
        else:
            self._flat_calls(value, place)
        is_result = self._add_speaker(value, place, parent)
        is_message = not parent.in_message and not is_result and _role(value) != ""
        answer = _object_id(value)
        if is_message:
            is_piece = value.get("delta") is True or _PIECE.search(key) is not None
            parent = parent._replace(message=answer or f"{place}", piece=is_piece)
        parent = parent._replace(billed=billed, owner=answer)
        packed = str(value.get("encoding")).lower() == "base64"
        for name, inner in value.items():
            where = place.at(str(name))
            if isinstance(inner, str) and (packed or "base64" in str(name) or name == "raw_gzip"):
                data = from_base64(inner)
                if data is not None:
                    self.bytes(data, where)
                    continue
            has_text = call is None and not is_result and name not in _REFERRING_FIELDS
            in_text = (parent.in_message and has_text) or (is_message and name in _TEXT_FIELDS)
            self.value(inner, where, str(name), depth + 1, parent._replace(in_message=in_text))

    def new_chat(self) -> int:
        """Return the number for a new list of messages."""
        self.leaves.chats += 1
        return self.leaves.chats

    def _flat_calls(self, value: dict[Any, Any], place: Place) -> None:
        """Add calls whose arguments are in a field with a dotted name, as in attributes of
        spans."""
        for name, inner in value.items():
            if str(name).endswith(".arguments") and isinstance(inner, str):
                with suppress(ValueError, RecursionError):
                    arguments = arguments_text(load_json(inner, strict=True))
                    self.leaves.calls.append(FileCall(place.at(str(name)), "", "", arguments))

    def _usage(self, value: dict[Any, Any], place: Place, key: str, owner: str) -> bool:
        named = USAGE.search(key) is not None
        if not any(is_count(str(name), n, named) for name, n in value.items()):
            return False
        counts = tuple(sorted(dict(counts_in(value, named)).values()))
        answer = _object_id(value) or owner
        self.leaves.usages.append(FileUsage(place, answer, counts, *sides(value, named)))
        return True

    def _add_speaker(self, value: dict[Any, Any], place: Place, parent: _Parent) -> bool:
        """Add an object that is a message or a result; return True for a result."""
        role, kind = _role(value), value.get("type")
        content = next((value[n] for n in ("content", "parts", "value") if value.get(n)), None)
        for name in _RESULT_FIELDS & value.keys():
            self._result(value[name], place.at(name), parent.chat)
        is_result = isinstance(kind, str) and _OF_RESULT.search(kind) is not None
        results = _are_results(content)
        if is_result or (role in _TOOL_ROLES and not any(results)):
            self._result(value, place, parent.chat)
            return True
        only_results = bool(results) and all(results)  # a session has these in messages of tools
        is_said = role and role not in SYSTEM_ROLES and not only_results
        if is_said and (content or value.get("tool_calls")):
            self.leaves.messages.add(
                arguments_text([role, _without_marks(content), value.get("tool_calls")])
            )
        return False

    def _result(self, value: Any, place: Place, chat: int) -> None:
        call_id, output, self._piece = "", value, ""
        if isinstance(value, dict):
            call_id = next((str(value[n]) for n in _RESULT_IDS if value.get(n)), "")
            output = {name: value[name] for name in _OUTPUT_FIELDS if name in value}
        values = tuple(scalars(output))
        self.leaves.results.append(FileResult(place, call_id, values, chat))

    def text(
        self, text: str, place: Place, depth: int = 0, parent: _Parent = _NOWHERE, key: str = ""
    ) -> None:
        """Walk a string: its JSON, its stream, or else its text."""
        self.leaves.strings[text] += 1
        start = text.lstrip()[:1]
        if start in ("{", "[") and len(text) > 1:
            try:
                inner = load_json(text, strict=True)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, dict | list):
                self.value(inner, place, "", depth + 1)
                return
        if parent.in_message and key == "bytes":  # a document's bytes; its text is compared
            with suppress(UnicodeDecodeError):
                text = (from_base64(text) or b"\xff").decode()
        is_status = place.field.endswith("status.message")  # words that nobody said
        is_likely = key in _LIKELY_TEXT_FIELDS and not is_status and not parent.in_message
        if is_likely and text.strip() and not is_text(text):
            self.leaves.words.append(FileWords(place, text, 0, "", True))
        elif parent.in_message and text.strip():
            self._add_words(
                FileWords(place, text, parent.chat, parent.message, key in _TEXT_FIELDS), parent
            )
        if frames := frames_in(text):
            self.stream(frames, place)
        elif is_text(text):
            self.leaves.texts.append(FileText(place, text))

    def _add_words(self, words: FileWords, parent: _Parent) -> None:
        """Add a message's text; join it to the previous message's if it continues that one."""
        all_words, name = self.leaves.words, numberless(str(words.place))
        if parent.piece and all_words and self._piece == name:
            all_words[-1] = all_words[-1]._replace(text=all_words[-1].text + words.text)
        else:
            all_words.append(words)
        self._piece = name if parent.piece else ""

    def document(self, data: bytes, place: Place) -> None:
        """Walk a file that is not JSON: HTTP messages, a stream, or else lines of text."""
        text = data.decode("utf-8", "replace")
        if HTTP_HEAD.search(data) or frames_in(text):
            self.bytes(data, place)
            return
        self.leaves.may_hide_counts = True
        for number, line in enumerate(text.split("\n"), 1):
            self.text(line, place.at(f"line {number}") if place.field else Place(number))

    def bytes(self, data: bytes, place: Place) -> None:
        """Walk the bytes of a body: packed content, text, or consecutive HTTP messages."""
        data = unzipped(data)
        self.leaves.may_hide_counts |= b"\0" in data
        heads = list(HTTP_HEAD.finditer(data))
        if not heads:
            self.text(data.decode("utf-8", "replace"), place)
        exchange = -1
        for number, head in enumerate(heads):
            is_request = not head[1].startswith(b"HTTP/")
            exchange += is_request
            stop = heads[number + 1].start() if number + 1 < len(heads) else len(data)
            body = data[head.end() : stop]
            body = unchunked(body) if b"chunked" in head[2].lower() else body
            where = place.at(max(exchange, 0), "request" if is_request else "response")
            self.text(unzipped(body).decode("utf-8", "replace"), where)

    def stream(self, frames: list[Any], place: Place) -> None:
        """Walk a stream's frames: calls, joined texts and arguments, and the merged token count."""
        pieces: dict[tuple[tuple[Any, ...], tuple[str, ...]], list[str]] = {}
        bill: dict[str, int] = {}
        for frame in frames:
            inner = leaves_in(frame, place)
            # a call's first frame has no arguments yet
            self.leaves.calls += [c for c in inner.calls if c.arguments not in ("{}", '""')]
            for key, text in _strings(frame, (), ()):
                pieces.setdefault(key, []).append(text)
            # the last report counts; earlier ones supply counts that it lacks
            for report in reports_in(frame):
                bill = report if all(sides(report, in_usage=True)) else {**bill, **report}
        if bill:
            counts = tuple(sorted(bill.values()))
            self.leaves.usages.append(FileUsage(place, "", counts, *sides(bill, in_usage=True)))
        for (path, channel), texts in pieces.items():
            self._joined(texts, place.at(*path) if path else place, channel)

    def _joined(self, texts: list[str], place: Place, channel: tuple[str, ...]) -> None:
        """Add what the pieces of one channel make up: a call's arguments, a text or words."""
        if len(texts) > 1 and all(b.startswith(a) for a, b in zip(texts, texts[1:], strict=False)):
            texts = texts[-1:]  # each piece repeats all text so far (a snapshot), or is a constant
        joined = "".join(texts)
        if joined.startswith("{"):
            with suppress(ValueError, RecursionError):
                value = load_json(joined, strict=True)
                if isinstance(value, dict) and value:
                    self.leaves.calls.append(FileCall(place, "", "", arguments_text(value)))
                    return
        name = str(place.field).rpartition(".")[2]
        is_words = name in _TEXT_FIELDS or (
            name == "delta" and any("text" in each for each in channel)
        )
        if is_text(joined):
            self.leaves.texts.append(FileText(place, joined))
        elif is_words and joined.strip():
            self.leaves.words.append(FileWords(place, joined, 0, "", True))
        elif name not in _REFERRING_FIELDS and not _SOURCES.isdisjoint(place.field.split(".")):
            self.leaves.words.append(FileWords(place, joined, 0, "", False))


def _role(value: dict[Any, Any]) -> str:
    """Return an object's role if it is that of a speaker; otherwise ""."""
    role = value.get("role") or value.get("from")
    return role if isinstance(role, str) and role in _ROLES else ""


def _without_marks(content: Any) -> Any:
    """Return a message's content without cache marks, and a single text block as text, because the
    next request may repeat the message in this form."""
    if isinstance(content, list):
        plain = [
            {name: n for name, n in each.items() if name not in _CACHE_MARKS}
            if isinstance(each, dict)
            else each
            for each in content
        ]
        one = plain[0] if len(plain) == 1 and isinstance(plain[0], dict) else {}
        return one["text"] if "text" in one and one.keys() <= {"type", "text"} else plain
    return content


def _are_results(content: Any) -> list[bool]:
    """Return for each block of a message's content whether it is a tool's result."""
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    return [
        bool(_OF_RESULT.search(str(block.get("type") or "")) or _RESULT_FIELDS & block.keys())
        for block in blocks
    ]


def scalars(value: Any) -> Iterator[str]:
    """Yield a result's strings and numbers, also inside JSON strings. Fields that only say what
    something is, such as `type`, are skipped."""
    match value:
        case str():
            text = " ".join(_RESULT_TAG.sub(" ", value).split())
            inner = json_values(text) if text[:1] in ("{", "[") else []
            if inner and isinstance(inner[0], dict | list):
                yield from scalars(inner[0])
            elif text:
                yield text
        case dict():
            for name, inner in value.items():
                is_source = name == "source" and isinstance(inner, str)
                if name not in _REFERRING_FIELDS and not is_source:
                    yield from scalars(inner)
        case list():
            for inner in value:
                yield from scalars(inner)
        case int() | float() if type(value) is not bool:
            yield json.dumps(value)


def is_text(text: str) -> bool:
    """Return True if a string may be somebody's words: it is long enough and has a blank."""
    if "\0" in text:
        return False  # bytes, for example of an image
    return len(text) >= LEAST and len(folded := " ".join(text.split())) >= LEAST and " " in folded


def call_in(value: dict[Any, Any], place: Place, key: str = "") -> FileCall | None:
    """Return an object's call; None if it has no arguments or name, or only declares a tool."""
    name = next((value[n] for n in _NAMES if isinstance(value.get(n), str)), "")
    kind = str(value.get("type") or "")
    state = value.get("state")  # some calls have these fields inside `state`
    holder = state if isinstance(state, dict) and _OF_CALL.search(kind) else value
    field_name = next((n for n in _ARGUMENTS if n in holder), None)
    if field_name is None or not name:
        return None
    values = holder[field_name]
    if field_name in ("input", "parameters") and not _OF_CALL.search(kind + key):
        return None  # a span of a trace, or the declaration of a tool
    if isinstance(values, dict) and ("properties" in values or kind in ("function", "custom")):
        return None
    if isinstance(values, str):
        with suppress(ValueError, RecursionError):
            values = load_json(values, strict=True)
    values = {} if values is None or values == "" else values
    call_id = next((str(value[n]) for n in _IDS if value.get(n)), "")
    return FileCall(place, call_id, name, arguments_text(values))


def _pairs(items: list[Any]) -> dict[str, Any]:
    """Return a list of keys and typed values (as OTLP writes attributes) as an object."""
    pairs = {}
    for item in filter(lambda each: isinstance(each, dict), items):
        value = item.get("value")
        if isinstance(value, dict) and len(value) == 1:
            [(kind, value)] = value.items()
            if kind == "intValue" and str(value).isdigit():
                value = int(value)
        pairs[str(item.get("key"))] = value
    return pairs


def _object_id(value: dict[Any, Any]) -> str:
    return next(
        (str(value[n]) for n in ("messageID", "id", "message_id", "responseId") if value.get(n)), ""
    )


def _strings(
    value: Any, path: tuple[Any, ...], channel: tuple[str, ...]
) -> Iterator[tuple[tuple[tuple[Any, ...], tuple[str, ...]], str]]:
    """Yield the strings of a frame, each after its path and its channel: the values of
    `_CHANNEL_FIELDS` on this path, which tell apart the texts that a stream has in pieces."""
    if isinstance(value, dict):
        if call_in(value, Place()) is not None and isinstance(value.get("args"), dict):
            return  # complete in one frame
        fields = [n for n in _CHANNEL_FIELDS if isinstance(value.get(n), str | int)]
        # some servers give each event another id
        if "output_index" in fields and "item_id" in fields:
            fields.remove("item_id")
        named = (str(value[n]) for n in fields)
        channel = (*channel, *named)
        for key, inner in value.items():
            yield from _strings(inner, (*path, key), channel)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*path, index), channel)
    elif isinstance(value, str):
        yield (path, channel), value
