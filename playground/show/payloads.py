"""The data of the components: plain values, small enough to be sent once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final

from playground.base.wording import counted, keep_order
from playground.cache.answers.placement import CachePlacement, PartPlacement
from playground.dialects.marks.policies import as_parts
from playground.dialects.rendering import Block, message_text
from playground.dialects.request_messages import Rendering
from playground.parsing.values import dump_json
from playground.questions.comparison import Column, DiffLine, visible
from playground.tokens.pictures import address_and_detail, size_of

if TYPE_CHECKING:
    from playground.questions.provider_payload import ProviderPayload

Payload = dict[str, Any]
PAGE_MESSAGES: Final = 50
MAX_DIFF_LINES: Final = 4_000
_SECTIONS: Final = {"dialect rules": "Rules", "tool docs": "Tools", "environment": "History"}
_KINDS: Final = {"agent": "agent prompt", "user-prompt": "user prompt"}  # origin -> label
_IMAGE: Final = "[image_url]"  # the text of an image's block
_IMAGE_TYPES: Final = {"iVBORw0KGgo": "png", "R0lGODlh": "gif", "R0lGODdh": "gif", "/9j/": "jpeg"}
_MOST_CHARACTERS: Final = 2_000_000  # of an image in base64: larger ones are not sent to a page
_MOST_PIXELS: Final = 50_000_000  # a small file may be a picture that fills a browser's memory

# panes


def origins(columns: Sequence[Column]) -> list[str]:
    """Return every origin of the request, in the order of its first appearance."""
    found: dict[str, None] = {}
    for column in columns:
        found |= dict.fromkeys(block.origin for block in column.blocks)
    return list(found)


def page_of(origin: str) -> int:
    """Return the page, from 1, on which a block of this origin is shown."""
    kind, _, index = origin.partition(":")
    return int(index) // PAGE_MESSAGES + 1 if kind == "message" else 1


def page_count(messages: int) -> int:
    return max(1, -(-messages // PAGE_MESSAGES))


def comparison_pane(column: Column, most: int | None = None) -> Payload:
    """Return a dialect's request, its tools first, with at most `most` messages."""
    messages = [{"role": "tools (request field)", "blocks": _tool_blocks(column)}]
    for message, blocks in zip(column.rendering.messages, column.rendering.blocks, strict=True):
        urls = iter(_image_urls(message))
        shown = [
            _with_images(block, urls) if block["kind"] == "image" else block
            for block in map(_block, blocks)
        ]
        messages.append({"role": message["role"], "blocks": shown})
    return {
        "name": column.dialect.name,
        "note": counted(sum(column.characters.values()), "character"),
        "messages": [message for message in messages if message["blocks"]][:most],
        "parts": _sections(column.blocks),
    }


def _image_urls(message: Mapping[str, Any]) -> list[Any]:
    """Return the addresses of a formatted message's images."""
    parts = as_parts(message.get("content"))
    return [address_and_detail(part)[0] for part in parts if part.get("type") == "image_url"]


def _with_images(block: Payload, urls: Iterator[Any]) -> Payload:
    """Return a block with its images, the next of `urls`, except those that cannot be shown."""
    images = [_image(url) for url in islice(urls, block["text"].count(_IMAGE))]
    return {**block, "images": [image for image in images if image]}


def _image(url: Any) -> tuple[str, int, int] | None:
    """Return a PNG's, GIF's or JPEG's data, width and height; None for others, and if too large."""
    if not isinstance(url, str) or len(url) > _MOST_CHARACTERS:
        return None
    data = url.partition(",")[2]
    kind = next((kind for magic, kind in _IMAGE_TYPES.items() if data.startswith(magic)), "")
    size = size_of(url) if kind else None
    if size is None or size[0] * size[1] > _MOST_PIXELS:
        return None
    return f"data:image/{kind};base64,{data}", *size


def _sections(blocks: Sequence[Block]) -> dict[str, int]:
    """Return the characters of each section of a request; all messages count as history."""
    sizes = dict.fromkeys(("Rules", "Tools", "Prompts", "History"), 0)
    for origin, kind, text in blocks:
        is_message = origin.startswith("message:")
        section = "History" if is_message else _SECTIONS.get(kind, "Prompts")
        sizes[section] += len(text) if kind != "image" else 0
    return sizes


def placement_pane(placement: CachePlacement, most: int | None = None) -> Payload:
    """Return a dialect's request; every part says why it has a cache mark or none."""
    messages: dict[int, Payload] = {}
    for part in placement.parts:
        message = messages.setdefault(part.message, {"role": part.role, "blocks": []})
        message["blocks"].append(_part(part))
    return {
        "name": placement.dialect,
        "note": counted(len(placement.marks), "mark"),
        "messages": list(messages.values())[:most],
    }


def rendered_pane(dialect: str, rendering: Rendering, most: int | None = None) -> Payload:
    """Return a dialect's request, message by message, before an adapter changes it."""
    found: list[Payload] = []
    for index, message in enumerate(rendering.messages[:most]):
        block = _message_block(index, message_text(message))
        shown = _with_images(block, iter(_image_urls(message)))
        found.append({"role": str(message["role"]), "blocks": [shown]})
    if rendering.tools:
        text = dump_json(rendering.tools)
        found.insert(0, {"role": "tools (request field)", "blocks": [_own_block("tools", text)]})
    return {"name": f"{dialect}, as rendered", "note": "", "messages": found}


def payload_pane(name: str, payload: ProviderPayload, most: int | None = None) -> Payload:
    """Return a provider's body, message by message.

    A message has the origin of the rendered message that it comes from, so that both are
    highlighted together.
    """
    by_place: dict[str, list[str]] = {}
    for difference in payload.differences:
        by_place.setdefault(difference.where, []).append(difference.code)
    shown = _tool_fields(payload, by_place)
    for wire in payload.messages[:most]:
        # Texts that an adapter moved, such as a system field, go to the first message.
        first = wire.rendered[0] if wire.rendered else 0
        codes = [code for index in wire.rendered for code in by_place.get(f"message {index}", [])]
        block = (
            _message_block(first, wire.text) if wire.rendered else _own_block("added", wire.text)
        )
        role = f"{wire.field}: {wire.role}" if wire.role else wire.field
        shown.append({"role": role, "blocks": [_with_badge(block, codes)]})
    note = f"{payload.model}, {counted(len(payload.differences), 'difference')}"
    return {"name": name, "note": note, "messages": shown}


def _tool_fields(payload: ProviderPayload, by_place: Mapping[str, Sequence[str]]) -> list[Payload]:
    """Return the body's tools from whichever field has them, with the codes of differences."""
    codes = [code for where, given in by_place.items() if "tool " in where for code in given]
    return [
        {
            "role": key,
            "blocks": [_with_badge(_own_block("tools", dump_json(payload.body[key])), codes)],
        }
        for key in ("toolConfig", "tools")
        if payload.body.get(key)
    ]


def _with_badge(block: Payload, codes: Sequence[str]) -> Payload:
    """Return a block with a badge that lists the codes of its differences, each once."""
    return {**block, "badge": ", ".join(dict.fromkeys(codes))} if codes else block


def _message_block(index: int, text: str) -> Payload:
    origin = f"message:{index}"
    return {"origin": origin, "kind": "message", "label": f"message {index}", "text": text}


def _own_block(origin: str, text: str) -> Payload:
    return {"origin": origin, "kind": origin, "label": origin, "text": text}


def _tool_blocks(column: Column) -> list[Payload]:
    tools = len(column.rendering.tools or [])
    return [_block(block) for block in column.blocks[:tools]]


def _block(block: Block) -> Payload:
    return {
        "origin": block.origin,
        "kind": block.kind,
        "label": label_of(block.origin, block.kind),
        "text": block.text,
    }


def label_of(origin: str, kind: str = "") -> str:
    """Return the name of an origin's row, as `message 3` for `message:3`."""
    return origin.replace(":", " ", 1) if ":" in origin else kind or _KINDS.get(origin, origin)


def _part(part: PartPlacement) -> Payload:
    decision = part.decision
    return {
        "origin": f"part:{part.message}.{part.part}",
        "kind": "environment" if part.environment else part.role,
        "label": f"message {part.message}, part {part.part}",
        "text": part.text,
        "badge": f"● {decision.reason}" if decision.marked else f"○ {decision.reason}",
        "marked": decision.marked,
        "reason": decision.explanation,
    }


def _on_page(origin: str, page: int, pages: int) -> bool:
    return page == pages if origin == "environment" else page_of(origin) == page


# difference


def page_origins(columns: Sequence[Column], page: int, pages: int) -> list[str]:
    """Return the origins that are shown on a page of messages."""
    return [origin for origin in origins(columns) if _on_page(origin, page, pages)]


def difference(lines: Iterable[DiffLine], context: int = 3) -> list[tuple[str, str]]:
    """Return the rows of a diff, with invisible characters shown. Of a long run of equal lines,
    only the `context` lines at each end are left."""
    rows: list[tuple[str, str]] = []
    for change, group in groupby(lines, key=lambda line: line.change):
        run = list(group)
        match change:
            case "heading":
                rows += [("heading", keep_order(line.text)) for line in run]
            case "same":
                rows += _fold_equal([visible(line.text) for line in run], context)
            case "removed" | "added":
                rows += [(change, visible(line.text)) for line in run]
    if len(rows) > MAX_DIFF_LINES:
        left = len(rows) - MAX_DIFF_LINES
        rows = [*rows[:MAX_DIFF_LINES], ("gap", f"{left:,} more lines are not shown")]
    return rows


def _fold_equal(run: list[str], context: int) -> list[tuple[str, str]]:
    if len(run) <= 2 * context + 1:
        return [("same", text) for text in run]
    return [
        *(("same", text) for text in run[:context]),
        ("gap", f"{len(run) - 2 * context:,} equal lines"),
        *(("same", text) for text in run[-context:]),
    ]
