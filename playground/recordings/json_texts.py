"""Find the texts in JSON while it arrives, with their positions. The JSON may be cut anywhere, and
other bytes may be between its values.

A frame is one top-level object, or one item of a top-level list. Its texts are emitted when it
ends, because the fields that distinguish two texts (an index, a type) may follow them. Nothing is
checked: anything but JSON is skipped, and a line that begins with an object begins a frame.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_LONGEST: Final = 8_192  # bytes of a frame, or of one text, that wait for its end
_DEEPEST: Final = 64  # levels of objects and lists; what is deeper is taken for no JSON
_TOKEN: Final = re.compile(
    r'"(?P<text>(?>[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*))"(?P<colon>\s{0,16}+:)?'
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<number>-?\d[\d.eE+-]*+)|(?P<true>true)"
    r"|(?P<reset>\n\r?\n|\r\r|[\r\n](?:data: ?)?(?=\{)|[\x00-\x08\x0b\x0c\x0e-\x1f]+)"
    r'|(?P<quote>")'
)
# a number, a word or a line's end may continue
_MOST_UNDECIDED: Final = 40  # characters
_UNDECIDED: Final = re.compile(rf"[\s\w:+.-]{{0,{_MOST_UNDECIDED}}}\Z")
_BODY: Final = re.compile(
    r'(?>(?:[^"\\\x00-\x1f]++|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}'
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u\x00-\x1f])*)"
)
_HALF_CHARACTER: Final = re.compile(
    r"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_LONE_ESCAPE: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\[^u\x00-\x1f]")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_EXTENDABLE: Final = ("text", "number", "true", "reset")  # tokens that later bytes may change
BY_NAME: Final = {"top_logprobs", "prompt_logprobs"}  # fields with a model's tokens as keys
_NUMBERS: Final = {"id", "token", "tokenId", "token_id"}  # fields with a token's id
_PACKED: Final = re.compile(r'"(?:e(?:[yw][A-Za-z0-9+/=]*)?)?')  # perhaps the Base64 of an object
_TYPES: Final = {"type", "event_type", "jsonPath"}  # fields that name the kind of a text


@dataclass(slots=True, eq=False)
class Box:
    """An object or a list, with its name or position in its parent, its indexes and types."""

    parent: Box | None
    name: str
    position: int | None  # in a parent list; None in an object, or for a frame
    is_list: bool
    count: int = 0  # a list's items so far
    indexes: tuple[str, ...] = ()  # such as "index": 1; 0 is left out, as many APIs leave it out
    types: tuple[str, ...] = ()
    has_token_names: bool = False  # True if the names in it are a model's tokens


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text, a number, or a name; `raw` is its source, with one character for each byte."""

    box: Box
    name: str  # "" for an item of a list
    position: int  # in a list, otherwise 0
    raw: str
    place: int  # of `raw` in the stream
    kind: str  # "text", "number" or "name"


@dataclass(slots=True)
class JsonTexts:
    """A reader of JSON in pieces. The caller takes the complete `frames` out of the list."""

    frames: list[list[Leaf]] = field(default_factory=list)
    _unread: str = ""
    _at: int = 0  # the offset of `_unread` in the stream
    _box: Box | None = None
    _depth: int = 0
    _name: str = ""
    _leaves: list[Leaf] = field(default_factory=list)
    _in_text: bool = False  # True within a long text, which is emitted in parts
    _hurried: bool = False  # True if texts are emitted before their end

    def feed(self, text: str) -> None:
        """Read more of the wire, one character for each byte."""
        self._unread += text
        self._read_on()
        if self._leaves and self._at - self._leaves[0].place > _LONGEST:
            self.end_frame()

    @property
    def waits_from(self) -> int | None:
        """The start of the first text, or possible text, that has not been emitted."""
        if self._leaves:
            return self._leaves[0].place
        return self._at if '"' in self._unread else None

    @property
    def packed_from(self) -> int | None:
        """The start of an unfinished text that may be the Base64 of a frame."""
        if self._in_text or not self._is_value() or not _PACKED.fullmatch(self._unread):
            return None
        return self._at

    def end_frame(self) -> None:
        """Emit the frame's texts so far, with the indexes and types known so far."""
        if self._leaves:
            self.frames.append(self._leaves)
            self._leaves = []

    def give_up(self) -> None:
        """Emit all texts so far, even a text that has not ended."""
        self._hurried = True
        self._read_on()
        self._hurried = False
        self.end_frame()

    def finish(self) -> None:
        """End the stream; a text without its end is emitted too."""
        self.give_up()
        self._unread += " " * 50  # more than `_UNDECIDED` matches, so that nothing is undecided
        self._read_on()
        self.end_frame()

    def _read_on(self) -> None:
        done = self._read(self._unread, 0)
        self._unread = self._unread[done:]
        self._at += done

    def _read(self, text: str, at: int) -> int:
        """Read on from an offset, and return the offset that was reached."""
        while at < len(text):
            step = self._emit_text_part(text, at) if self._in_text else self._read_tokens(text, at)
            if step == at:
                break
            at = step
        return at

    def _read_tokens(self, text: str, at: int) -> int:
        """Read tokens up to an undecided one or a lone quotation mark; return the place reached."""
        undecided = len(text) - _MOST_UNDECIDED
        for token in _TOKEN.finditer(text, at):
            kind = token.lastgroup
            if kind == "quote":
                return self._after_lone_quote(text, token.start())
            end = token.end()
            if end >= undecided and self._may_go_on(text, end, kind):
                return token.start()
            if kind == "colon":
                self._name = token["text"]
                if self._box is not None and self._box.has_token_names:
                    place = self._at + token.start() + 1
                    self._leaves.append(Leaf(self._box, self._name, 0, self._name, place, "name"))
            elif kind == "text" or kind == "number":
                self._leaf(token[kind], self._at + token.start(kind), kind)
                self._name = ""
            elif kind == "true":
                self._note_thought()
            elif kind == "open":
                self._open(token["open"] == "[")
            elif kind == "close":
                self._close()
            else:
                self._reset()
            at = end
        rest = _UNDECIDED.search(text, at)
        return rest.start() if rest else len(text)

    def _may_go_on(self, text: str, end: int, kind: str | None) -> bool:
        """Return True if later bytes may change the token that ends here, and it may wait."""
        if kind not in _EXTENDABLE or not _UNDECIDED.fullmatch(text, end):
            return False
        return not (self._hurried and kind == "text" and self._is_value())

    def _after_lone_quote(self, text: str, at: int) -> int:
        """Return where to read on after an unpaired quotation mark. The mark is garbage, or begins
        a text that is very long or incomplete."""
        if _CONTROL.search(text, at):
            return at + 1
        if len(text) - at > _LONGEST or (self._hurried and self._is_value()):
            self._in_text = True
            return at + 1
        return at

    def _is_value(self) -> bool:
        """Return True if a text at this point would be a value, not the name of a member."""
        return bool(self._name) or (self._box is not None and self._box.is_list)

    def _emit_text_part(self, text: str, at: int) -> int:
        """Emit the next part of a long text, and return its end."""
        body = _BODY.match(text, at)
        stop = body.end() if body else at
        if stop == len(text):
            half = _HALF_CHARACTER.search(text, max(at, stop - 3))
            stop = half.start() if half else stop
        if stop > at:
            self._leaf(text[at:stop], self._at + at, "text")
            return stop
        escape = _LONE_ESCAPE.match(text, at)
        if text[at] != '"' and len(text) - at < 12 and text[at] not in "\n\r":
            return at  # half an escape, or half a character
        if escape:
            self._leaf(escape[0], self._at + at, "text")
            return escape.end()
        self._in_text, self._name = False, ""  # the text has ended, or was not JSON after all
        return at + 1

    # actions on tokens

    def _open(self, is_list: bool) -> None:
        box = self._box
        position = self._count_item(box) if box is not None and box.is_list else None
        if box is not None and box.parent is None and box.is_list:
            position = None  # an item of the list of all frames
        self._box = Box(box, self._name, position, is_list)
        name = self._name or (box.name if box is not None else "")
        self._box.has_token_names = name in BY_NAME
        self._name = ""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._reset()

    def _close(self) -> None:
        box, self._name = self._box, ""
        if box is None:
            return
        self._box = box.parent
        self._depth -= 1
        if self._box is None or (self._box.parent is None and self._box.is_list):
            self.end_frame()

    def _reset(self) -> None:
        self._box, self._depth, self._name = None, 0, ""
        self.end_frame()

    def _count_item(self, box: Box) -> int:
        box.count += 1
        return box.count - 1

    def _leaf(self, raw: str, place: int, kind: str) -> None:
        box, name = self._box or Box(None, "", None, False), self._name
        if kind == "number" and name.lower().endswith("index"):
            box.indexes += (raw,) if raw.strip("0") else ()
        elif kind == "text" and name in _TYPES:
            box.types += (raw,)
        elif kind == "text" or box.is_list or name in _NUMBERS:
            position = self._count_item(box) if box.is_list else 0
            self._leaves.append(Leaf(box, name, position, raw, place, kind))

    def _note_thought(self) -> None:
        """Count `"thought": true`, by which Gemini marks reasoning, as a type."""
        if self._box is not None and self._name == "thought":
            self._box.types += ("thought",)
        self._name = ""
