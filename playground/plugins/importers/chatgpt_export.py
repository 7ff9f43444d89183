"""Read ChatGPT's data export: `conversations.json`, in which a conversation is a tree.

Each branch is a session with all messages from the root. The branch that ChatGPT showed last comes
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, ReasoningPart, Role, TextPart
from playground.plugins.importers.export_members import export_rows, first_row
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.messages import role_of
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_NO_TOOLS: Final = ("", "all", "assistant")  # a message to any other recipient is a call of it


class ChatGptExport(SessionFormat):
    name = "chatgpt-export"
    title = "ChatGPT data export (conversations.json, or its zip)"
    keeps = Keeps(
        times="yes", missing="the file has no tools; files, images and ratings are not read"
    )

    def recognises(self, source: Source) -> bool:
        first = first_row(source)
        return _tree(first) is not None

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for place, value in export_rows(source):
            yield from _conversation(value, place, source.stem)


def _tree(value: Any) -> dict[str, Any] | None:
    tree = value.get("mapping") if isinstance(value, dict) else None
    return tree if isinstance(tree, dict) else None


def _conversation(value: Any, place: Place, stem: str) -> Iterator[SessionBuilder]:
    tree = _tree(value)
    if tree is None:
        builder = SessionBuilder(title=stem)
        builder.note_loss("a conversation without its tree of messages", place)
        yield builder
        return
    title = str(value.get("title") or stem)
    leaves = _leaves(tree, value.get("current_node"))
    for number, leaf in enumerate(leaves, 1):
        builder = SessionBuilder(title=title if number == 1 else f"{title} (branch {number})")
        builder.set_metadata(
            name="chatgpt", session=value.get("conversation_id") or value.get("id")
        )
        if len(leaves) > 1 and number == 1:
            builder.findings.append(
                finding(
                    "other-branches", str(place), f"the conversation has {len(leaves)} branches"
                )
            )
        for key in _path(tree, leaf):
            _message(builder, tree[key], place.at("mapping", key))
        yield builder


def _leaves(tree: dict[str, Any], current: Any) -> list[str]:
    """Return the last node of each branch. The branch that was shown last comes first."""
    parents = {str(node.get("parent")) for node in tree.values() if isinstance(node, dict)}
    ends = [key for key in tree if key not in parents]
    if isinstance(current, str) and current in tree:
        return [current, *(end for end in ends if end != current)]
    return ends or list(tree)[:1]  # no node is a leaf if the parents form a circle


def _path(tree: dict[str, Any], leaf: str) -> list[str]:
    """Return the nodes from the root to a leaf. Stop at a node that is among them already, because
    the parents may form a circle."""
    path: list[str] = []
    seen: set[str] = set()
    key: Any = leaf
    while isinstance(key, str) and key in tree and key not in seen:
        seen.add(key)
        path.append(key)
        node = tree[key]
        key = node.get("parent") if isinstance(node, dict) else None
    return path[::-1]


def _message(builder: SessionBuilder, node: Any, place: Place) -> None:
    message = node.get("message") if isinstance(node, dict) else None
    if message is None:  # the root, and nodes of messages that were deleted
        return
    role = role_of(message) if isinstance(message, dict) else None
    if role is None:
        builder.note_loss("a message without an author", place)
        return
    where = place.at("message", "content")
    pieces = mapping(message.get("content")).get("parts")
    if pieces and not isinstance(pieces, list):
        builder.note_loss(f"parts that are a {type(pieces).__name__}", where.at("parts"))
    name = mapping(message.get("author")).get("name")
    if role == "tool":
        content = _text(message.get("content"))
        content = "\n".join([content, *_texts_of_objects(builder, pieces, where)]).strip("\n")
        call_id = builder.open_call(str(name or "")) or builder.open_call()
        add_with_results(builder, "tool", [builder.result(call_id, content, name)], place)
        return
    parts = _parts(builder, message, where)
    if not parts and not _text(message.get("content")):
        return  # an empty message: every root has one
    _add_message(builder, role, parts, message, place)


def _add_message(
    builder: SessionBuilder, role: Role, parts: list[Part], message: dict[str, Any], place: Place
) -> None:
    add_with_results(builder, role, parts, place)
    if role == "assistant":
        metadata = mapping(message.get("metadata"))
        builder.add_request(
            model=metadata.get("model_slug"),
            at=message.get("create_time"),
            stop_reason=mapping(metadata.get("finish_details")).get("type"),
        )


def _parts(builder: SessionBuilder, message: dict[str, Any], place: Place) -> list[Part]:
    """Return the parts of a message. A message whose recipient is a tool is a call of that tool."""
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, dict) else None
    recipient = str(message.get("recipient") or "")
    if recipient not in _NO_TOOLS:
        text = _text(content)
        value = json_or_text(text)
        arguments = value if isinstance(value, dict) else {"input": text}
        return [builder.call(builder.new_id(), recipient, arguments, place)]
    if kind in ("thoughts", "reasoning_recap"):
        return [ReasoningPart(text)] if (text := _text(content)) else []
    pieces = listed(content.get("parts")) if isinstance(content, dict) else []
    if kind == "multimodal_text" or any(isinstance(piece, dict) for piece in pieces):
        return [
            part
            for index, item in enumerate(pieces)
            for part in _piece(builder, item, place.at("parts", index))
        ]
    return read_parts(builder, _text(content), place)


def _texts_of_objects(builder: SessionBuilder, pieces: Any, place: Place) -> list[str]:
    """Return the texts of those parts of a tool's message that are objects. An object of an unknown
    type becomes a finding."""
    texts: list[str] = []
    for index, item in enumerate(listed(pieces)):
        if isinstance(item, dict):
            read = _piece(builder, item, place.at("parts", index))
            texts += [part.text for part in read if isinstance(part, TextPart)]
    return texts


def _piece(builder: SessionBuilder, item: Any, place: Place) -> list[Part]:
    if isinstance(item, dict) and item.get("content_type") == "audio_transcription":
        return read_parts(builder, item.get("text"), place)
    if isinstance(item, dict) and "content_type" in item:
        builder.note_loss(f"a part of type {item['content_type']!r}", place)
        return []
    return read_parts(builder, item, place)


def _text(content: Any) -> str:
    """Return all text of a content; each type of content has its own fields for text."""
    if not isinstance(content, dict):
        return str(content or "")
    pieces = [part for part in listed(content.get("parts")) if isinstance(part, str)]
    for thought in listed(content.get("thoughts")):
        if isinstance(thought, dict):
            texts = (thought.get("summary"), thought.get("content"))
            pieces.append(": ".join(str(text) for text in texts if text))
    for key in ("text", "result", "content", "user_profile", "user_instructions"):
        if isinstance(content.get(key), str):
            pieces.append(content[key])
    return "\n".join(piece for piece in pieces if piece)
