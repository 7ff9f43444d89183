"""The steps that decide what happens to text, and to markers outside of calls. Each names the
field of `View` that it applies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from playground.nouns.events import Event, MarkupEvent, Span, TextEvent, owned_text, split
from playground.servers.failed_calls import fail_request, stop_reading
from playground.servers.projection import Projection
from playground.servers.segments import ReplySegment, cut_events
from playground.servers.view import TextFate


def drop_header(reply: Projection) -> None:
    """Drop a message's header, the text before the marker that ends it (View.header_marker), or a
    reply without such a marker (View.replies_without_header)."""
    literal = reply.view.header_marker
    for index, segment in enumerate(reply.segments if literal else ()):
        markers = (e.text for e in segment.events if isinstance(e, MarkupEvent))
        if any(literal in marker for marker in markers):
            _drop_header_up_to(reply, index)
            return
    if reply.view.replies_without_header == "dropped":
        for segment in reply.of_kind("text", "bare"):
            reply.drop(segment, "a reply without the header of a message")


def _drop_header_up_to(reply: Projection, last: int) -> None:
    """Drop the text of each segment up to `last`, as far as that segment's first marker."""
    for segment in reply.segments[: last + 1]:
        if segment.kind not in ("text", "bare"):
            continue
        for index, event in enumerate(segment.events):
            if isinstance(event, MarkupEvent):
                break
            if isinstance(event, TextEvent):
                note = reply.drop_finding(event.span, event.text, "the header of a message")
                segment.events[index] = note


def place_stray_markers(reply: Projection) -> None:
    """Turn stray markers, and in some views other markers, into content (View.stray_markers)."""
    has_calls = reply.has_calls
    match reply.view.stray_markers:
        case "kept":
            markers = reply.of_kind("stray")
        case "closers kept":
            markers = [s for s in reply.of_kind("stray") if s.text.strip() in reply.closers]
        case "kept without calls" if not has_calls:
            markers = reply.of_kind("stray", "section", "separator")
        case "all kept without calls" if not has_calls:
            markers = reply.of_kind("stray", "section", "separator", "text", "stop")
        case _:
            return
    for segment in markers:
        reply.as_text(segment)


def drop_after_opener(reply: Projection) -> None:
    """Drop text after an opener without a call, or the reply (View.after_opener_without_call). With
    "dropped to closer" the text after the closer is content again."""
    choice, is_ended, previous = reply.view.after_opener_without_call, False, ""
    if choice == "kept" or reply.all_is_text:
        return
    if choice == "error":
        if not all(_leave_other_recipient(reply, each) for each in reply.of_kind("bare")):
            fail_request(reply)
        return
    for segment in reply.segments:
        # a stray marker, which may be the opener, does not end the dropping
        if not (is_ended and "stray" in (segment.kind, previous)):
            is_ended = segment.kind == "bare" or (is_ended and choice == "dropped")
        previous = segment.kind
        if not is_ended or segment.kind not in ("text", "bare"):
            continue
        to_closer = choice == "dropped to closer"
        rest = _cut_after_closer(segment, reply.closers) if to_closer else []
        reply.drop(segment, "an opener without a call, and the text after it")
        segment.events += rest
        segment.kind = "text" if rest else segment.kind


def _leave_other_recipient(reply: Projection, segment: ReplySegment) -> bool:
    """Drop the header of a message to a tool that was not offered; keep its text as content. If the
    tools are unknown, the recipient is assumed to be one of them."""
    header, marker, _ = segment.text.partition(reply.view.header_marker or "\0")
    if not marker or header.rpartition("=")[2].strip() in reply.tools:
        return False
    if not reply.tools:
        reply.doubts.append("a message to a tool, if it was offered")
        return False
    stop = segment.span.start + len(header + marker)
    dropped, rest = cut_events(segment.events, stop)
    start = next((e.span.start for e in dropped if owned_text(e)), stop)
    note = reply.drop_finding(Span(start, stop), header + marker, "the header of a message")
    segment.events = [*(e for e in dropped if not owned_text(e)), note, *rest]
    segment.kind = "text"
    return True


def _cut_after_closer(segment: ReplySegment, closers: Sequence[str]) -> list[Event]:
    """Cut a segment after the first closer in it, and return the rest."""
    text = segment.text
    stops = [at + len(closer) for closer in closers if (at := text.find(closer)) >= 0]
    if not stops:
        return []
    segment.events, rest = cut_events(segment.events, segment.span.start + min(stops))
    return rest


def require_text_endings(reply: Projection) -> None:
    """Drop texts of a reply with a call that lack the required ending (View.text_must_end_with)."""
    literal = reply.view.text_must_end_with
    applies = literal and reply.has_calls and not reply.all_is_text
    for segment, following in pairwise([*reply.segments, None]) if applies else ():
        if segment and segment.kind in ("text", "bare"):
            stop = following.text if following and following.kind == "stop" else ""
            if literal not in segment.text + stop:
                reply.drop(segment, f"text without {literal}")


def keep_one_text(reply: Projection) -> None:
    """Deliver only the first or the last text (View.texts_kept). Stray markers divide no text."""
    which = reply.view.texts_kept
    if which == "all" or reply.all_is_text:
        return
    is_last = which == "last"
    is_over = has_begun = False
    for segment in reversed(reply.segments) if is_last else reply.segments:
        has_text = segment.kind in ("text", "bare") and bool(segment.text.strip())
        if is_over and has_text:
            reply.drop(segment, f"a text that is not the {which}")
        has_begun = has_begun or has_text
        ends = ("call", "failed", "section", *(["reasoning", "stop"] if is_last else []))
        is_over = is_over or (has_begun and segment.kind in ends)


def skip_separators(reply: Projection) -> None:
    """Drop the first character after a call, as a separator (View.text_right_after_call)."""
    skips = reply.view.text_right_after_call == "first character dropped"
    for previous, segment in pairwise(list(reply.segments)) if skips else ():
        if previous.kind == "call" and segment.kind == "text":
            head, tail = cut_events(segment.events, segment.span.start + 1)
            text = "".join(map(owned_text, head))
            span = Span(head[0].span.start, head[-1].span.stop)
            segment.events = [
                reply.drop_finding(span, text, "a character that it takes for a separator"),
                *tail,
            ]


def place_text_around_calls(reply: Projection) -> None:
    """Apply the view's choices for text before, between and after the delivered calls
    (View.text_before_calls, text_between_calls, text_after_calls)."""
    calls = [i for i, s in enumerate(reply.segments) if s.ended is not None]
    if not calls or reply.all_is_text:
        return
    view = reply.view
    for index, segment in enumerate(reply.segments):
        if segment.kind not in ("text", "bare") or segment.ended is not None:
            continue
        fate: TextFate
        if index < calls[0]:
            fate, place = view.text_before_calls, "before a call"
        elif index > calls[-1]:
            fate, place = view.text_after_calls, "after a call"
        else:
            fate, place = view.text_between_calls, "between calls"
        if fate == "error" and segment.text.strip():
            fail_request(reply)
            return
        if fate == "reading stops" and segment.text.strip():
            stop_reading(reply, segment)
            return
        if fate == "dropped":
            reply.drop(segment, f"text {place}")


def erase_literals(reply: Projection) -> None:
    """Drop literals from the content of a reply with a call (View.erased_if_calls)."""
    for literal in reply.view.erased_if_calls if reply.has_calls else ():
        for segment in reply.of_kind("text", "bare"):
            segment.events = [
                piece for event in segment.events for piece in _erase(reply, event, literal)
            ]


def _erase(reply: Projection, event: Event, literal: str) -> list[Event]:
    """Divide a text event, and drop each occurrence of a literal."""
    if not isinstance(event, TextEvent) or literal not in event.text:
        return [event]
    start = event.span.start + event.text.index(literal)
    head, rest = cut_events([event], start)
    erased, tail = cut_events(rest, start + len(literal))
    note = reply.drop_finding(Span(start, start + len(literal)), literal, "a marker in the text")
    assert erased
    return [*head, note, *(piece for e in tail for piece in _erase(reply, e, literal))]


def leave_section_markers(reply: Projection) -> None:
    """Turn some markers of sections into content (View.markers_left_in_content)."""
    literals = reply.view.markers_left_in_content
    for segment in reply.of_kind("section") if literals else ():
        text = segment.text
        marker = next((literal for literal in literals if literal in text), "")
        if not marker:
            continue
        start = segment.span.start + text.index(marker)
        head, rest = cut_events(segment.events, start)
        marker_events, tail = cut_events(rest, start + len(marker))
        texts = [TextEvent(e.span, owned_text(e)) if owned_text(e) else e for e in marker_events]
        segment.events = [*head, *texts, *tail]


def drop_half_opener(reply: Projection) -> None:
    """Drop the beginning of an opener at the end of the reply: the server is still waiting for the
    rest of it when the stream ends (View.half_opener_at_end)."""
    choice = reply.view.half_opener_at_end
    texts = reply.of_kind("text", "bare")
    if reply.all_is_text or choice == "kept" or not texts or texts[-1] is not _last_owner(reply):
        return
    last = texts[-1]
    place = max(n for n, each in enumerate(last.events) if owned_text(each))  # a note may follow
    event = last.events[place]
    text = owned_text(event)
    any_tag = choice == "open tag dropped"
    length = _open_tag_length(text) if any_tag else _half_opener_length(text, reply.openers)
    if length and isinstance(event, TextEvent):
        head, tail = split(event, event.span.stop - length)
        note = reply.drop_finding(tail.span, owned_text(tail), "half an opener at the end")
        last.events[place : place + 1] = [*([head] if head else []), note]


def _last_owner(reply: Projection) -> ReplySegment | None:
    """Return the last segment with text; None if no segment has any."""
    return next((s for s in reversed(reply.segments) if s.text), None)


def _half_opener_length(text: str, openers: Sequence[str]) -> int:
    """Count the characters at the end of a text that begin an opener."""
    lengths = (
        length
        for opener in openers
        for length in range(min(len(opener) - 1, len(text)), 0, -1)
        if text.endswith(opener[:length])
    )
    return max(lengths, default=0)


def _open_tag_length(text: str) -> int:
    """Count the characters from a `<` without a `>` after it, even in `x < 10`, but not in code
    between back-ticks."""
    # claude-coder 78a56b1 tool-parser.ts, processNonToolChar
    code = text.rfind("`") + 1
    tag = text.find("<", max(code, text.rfind(">") + 1))
    return len(text) - tag if tag >= 0 and text.count("`") % 2 == 0 else 0
