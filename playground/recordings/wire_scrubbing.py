"""Star secrets out of a stream while it arrives, even secrets that are cut between two pieces.

A key may be cut between two reads of the network. A model that writes a key sends it in a dozen
events, each with a piece of it: the reply holds the key, but the bytes of the wire do not. So
two kinds of text are searched: the wire itself, and the joined texts of its frames (channels). This
module does not know which texts an API's reader will join, so it joins them in several ways at
once, from coarse to fine: all texts; texts with the same name; with the same name and index, which
may be anywhere in the frame; with the same path and type; at the same position of a list.

Bytes that may begin a secret are not ready until that is decided. A caller that cannot wait calls
`give_up`, which stars out undecided bytes.
"""

from __future__ import annotations

import base64
from binascii import Error
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from playground.recordings.json_texts import BY_NAME, Box, JsonTexts, Leaf
from playground.recordings.scrub_channels import (
    Base64Buffer,
    ByteBuffer,
    Channel,
    Part,
    RepeatedParts,
    WireBuffer,
    text_of,
)
from playground.recordings.scrubbing import Searcher, Tally

_MOST_CHANNELS: Final = 256  # at once; the least recently used one is given up
# fields without text of the model: joining and searching them would waste time
_NO_TEXT: Final = {
    *("id", "object", "model", "role", "finish_reason", "stop_reason", "obfuscation", "p"),
    *("system_fingerprint", "service_tier", "item_id", "response_id", "created_at", "status"),
    *("event", "modelVersion", "responseId", "finishReason", "native_finish_reason"),
}
# fields that repeat neighbouring texts, token by token or as token ids
_REPEATING_FIELDS: Final = {
    *BY_NAME,
    *("logprobs", "logprobsResult", "completion_probabilities", "probs", "top_probs"),
    *("token_ids", "prompt_token_ids", "output_token_ids", "output_ids", "tokens", "context"),
}
_TOKEN_FIELDS: Final = {"token", "logprob", "bytes", "rank", "decoded_token", "logProbability"}
Path = tuple[object, ...]


class _Node:
    """A path's channel. If only one longer path begins with the path, both share the channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.first_key: object = None  # the next key of the first longer path
        self.forked = False  # True once a longer path has another next key


class _Tree:
    """Channels by paths; each channel joins the texts of all paths that begin with its own."""

    def __init__(self, search: Searcher, tally: Tally, *, sure: bool) -> None:
        self._search, self._tally, self._sure = search, tally, sure
        self._nodes: OrderedDict[Path, _Node] = OrderedDict()
        self._latest: tuple[Path | None, list[Channel]] = None, []  # most frames repeat a path

    def channels(self) -> Iterator[Channel]:
        """Yield each channel once."""
        return iter({id(node.channel): node.channel for node in self._nodes.values()}.values())

    def channels_of(self, path: Path) -> list[Channel]:
        """Return the channels of a path and of its prefixes, that of the whole path first."""
        if path == self._latest[0]:
            return self._latest[1]
        node = self._node((), None)
        channels = [node.channel]
        for length, key in enumerate(path, 1):
            if node.first_key is None:
                node.first_key = key
            elif node.first_key != key and not node.forked:
                self._fork(path[: length - 1], node)
            shared = None if node.forked else node.channel
            node = self._node(path[:length], shared)
            if node.channel is not channels[-1]:
                channels.append(node.channel)
        self._latest = path, channels[::-1]
        return self._latest[1]

    def _node(self, path: Path, shared: Channel | None) -> _Node:
        if path not in self._nodes:
            if len(self._nodes) >= _MOST_CHANNELS:
                _, oldest = self._nodes.popitem(last=False)
                if all(node.channel is not oldest.channel for node in self._nodes.values()):
                    oldest.channel.give_up()
            self._nodes[path] = _Node(shared or Channel(self._search, self._tally, self._sure))
        self._nodes.move_to_end(path)
        return self._nodes[path]

    def _fork(self, path: Path, node: _Node) -> None:
        """Give the first longer path a channel of its own, because a second one has begun."""
        node.forked = True
        node.channel.search_added()  # once, before two channels have the same text
        channel, former, key = node.channel.copy(), node.channel, node.first_key
        former.sure = False
        while (finer := self._nodes.get(path := (*path, key))) and finer.channel is former:
            finer.channel, key = channel, finer.first_key


class WireScrubber:
    """A scrubber of one stream: it takes bytes, and gives them back without secrets."""

    def __init__(self, search: Searcher, tally: Tally | None = None) -> None:
        self.tally = Tally() if tally is None else tally
        self._buffer = WireBuffer()
        self._given_up = 0  # all bytes before this place are ready
        self._wire = Channel(search, self.tally)
        self._texts = _Tree(search, self.tally, sure=True)
        self._token_texts = _Tree(search, self.tally, sure=False)
        self._reader = JsonTexts()

    def feed(self, data: bytes) -> None:
        """Take the next bytes and search them."""
        text, place = data.decode("latin-1"), self.end
        self._buffer.data += data
        self._wire.extend(Part(self._buffer, place, text, text), place)
        self._wire.search_added()
        self._reader.feed(text)
        self._search_frames()

    @property
    def taken(self) -> int:
        """The number of bytes that were given back."""
        return self._buffer.base

    @property
    def end(self) -> int:
        """The number of bytes that were fed."""
        return self._buffer.end

    @property
    def ready(self) -> int:
        """The number of bytes that are decided, counted from the first one."""
        waits = [self._reader.waits_from, *(each.waits_from for each in self._channels())]
        ends = [place for place in waits if place is not None]
        return max(self.taken, self._given_up, min([self.end, *ends]))

    def take(self, stop: int) -> bytes:
        """Return the bytes from the last call's `stop` up to this `stop`; they must be ready."""
        return self._buffer.take(stop)

    def give_up(self) -> None:
        """Star out open secrets and whatever continues them, without waiting for their end."""
        packed = self._reader.packed_from  # half a packed frame is unreadable, so it may wait
        if packed is None:
            self._reader.give_up()
        self._reader.end_frame()
        self._search_frames()
        for channel in self._channels():
            if packed is None or (channel.waits_from or 0) < packed:
                channel.give_up()
        self._given_up = self.end if packed is None else packed

    def finish(self) -> None:
        """End the stream: open secrets are decided by the bytes so far."""
        packed = self._reader.packed_from
        if packed is not None:
            self._buffer.write(packed + 1, b"*" * (self.end - packed - 1))
        self._reader.finish()
        self._search_frames()
        for channel in self._channels():
            channel.finish()
        self._given_up = self.end

    def _channels(self) -> Iterator[Channel]:
        yield self._wire
        yield from self._texts.channels()
        yield from self._token_texts.channels()

    # frames

    def _search_frames(self) -> None:
        """Add the texts of all frames to their channels, then search each channel once."""
        frames, self._reader.frames = self._reader.frames, []
        for leaves in frames:
            self._add_leaves(leaves, self._buffer, None)
        self._search_added()

    def _has_starred(self) -> bool:
        """Return True if a secret was starred out in the bytes so far."""
        self._search_added()
        return bool(self.tally)

    def _search_added(self) -> None:
        for tree in (self._texts, self._token_texts):
            for channel in tree.channels():
                channel.search_added()

    def _add_leaves(self, leaves: list[Leaf], into: ByteBuffer, outer: int | None) -> None:
        """Add a frame's texts, with bytes in `into`, to their channels; if the frame is Base64,
        `outer` is its place on the wire."""
        repeated = RepeatedParts()
        texts: list[tuple[Leaf, list[str], Part]] = []
        token_texts: list[tuple[Leaf, list[str], Part]] = []
        for leaf in leaves:
            if leaf.kind == "text" and (
                leaf.name in _NO_TEXT or self._search_packed(leaf, into, outer)
            ):
                continue
            part, names = _part(leaf, into), _names_around(leaf)
            if _REPEATING_FIELDS.isdisjoint(names):
                (texts if leaf.kind == "text" else token_texts).append((leaf, names, part))
            elif leaf.kind != "name" or leaf.raw not in _TOKEN_FIELDS:
                token_texts.append((leaf, names, part))
                repeated.parts.append(part)
        if repeated.parts:
            repeated.start = repeated.parts[0].place if outer is None else outer
            if not any(part.text for *_, part in texts) and self._has_starred():
                repeated.star()  # it may repeat a secret of an earlier frame
        for tree, parts in ((self._texts, texts), (self._token_texts, token_texts)):
            for leaf, names, part in parts:
                for channel in tree.channels_of(_path(leaf, names)) if part.text else ():
                    channel.extend(part, leaf.place if outer is None else outer, repeated)

    def _search_packed(self, leaf: Leaf, into: ByteBuffer, outer: int | None) -> bool:
        """Search a frame that is Base64 in a text; return False if the text is no such frame."""
        if not leaf.raw.startswith(("ey", "ew")) or len(leaf.raw) % 4 or outer is not None:
            return False
        try:
            data = base64.b64decode(leaf.raw, validate=True)
        except (Error, ValueError):
            return False
        if not data.rstrip().endswith(b"}"):
            return False
        reader = JsonTexts()
        reader.feed(data.decode("latin-1"))
        reader.finish()
        packed = Base64Buffer(into, leaf.place, data)
        for leaves in reader.frames:
            self._add_leaves(leaves, packed, leaf.place)
        return True


def _names_around(leaf: Leaf) -> list[str]:
    """Return the names of a leaf and of the objects around it, its own first."""
    return [name for name in (leaf.name, *(box.name for box in _boxes(leaf))) if name]


def _boxes(leaf: Leaf) -> list[Box]:
    """Return the objects and lists around a leaf, the nearest first."""
    boxes, box = [leaf.box], leaf.box
    while box.parent is not None:
        box = box.parent
        boxes.append(box)
    return boxes


def _path(leaf: Leaf, names: list[str]) -> Path:
    """Return the keys that distinguish a leaf from others, from coarse to fine."""
    boxes = _boxes(leaf)
    if names[:1] == ["text"] and leaf.box.position is not None and len(names) > 1:
        names = names[1:]  # the item of a list is {"text": …} here, but a bare text in other frames
    indexes = tuple(index for each in boxes for index in each.indexes)
    types = tuple(kind for each in boxes for kind in each.types)
    return names[0] if names else "", indexes, (tuple(names), types), _position(leaf, boxes)


def _position(leaf: Leaf, boxes: list[Box]) -> int:
    """Return a text's position in the nearest list; for a number in a list, the list's position."""
    if leaf.kind == "text" and leaf.box.is_list:
        return leaf.position
    return next((each.position for each in boxes if each.position is not None), 0)


def _part(leaf: Leaf, into: ByteBuffer) -> Part:
    if leaf.kind == "number":
        number = int(leaf.raw) if leaf.raw.isdigit() and len(leaf.raw) < 8 else 1 << 30
        text = chr(number) if number < 256 else ""  # the first ids of many tokenizers are the bytes
        return Part(into, leaf.place, leaf.raw, text, "number")
    return Part(into, leaf.place, leaf.raw, text_of(leaf.raw))
