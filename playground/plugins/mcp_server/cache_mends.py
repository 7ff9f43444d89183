"""Mends of a cache break: changes of a request, or also of the previous request, after which the
cache is read again.

Each change is made in the bodies, written as a JSON Patch, applied, and simulated. It is offered
only if the request then reads more. Text that cannot stay in its place goes to the end of the last
user message. Anything that is left out is named in `assumes`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from playground.cache.answers.cells import CacheSimulation
from playground.cache.rules import Rules
from playground.nouns.wire_bodies import MARKS
from playground.plugins.mcp_server.answers import Mend
from playground.plugins.mcp_server.patches import Edit, patch_between, patched, pointers, written

Body = dict[str, Any]
Simulate = Callable[[Sequence[Body]], CacheSimulation]
_MESSAGES: Final = ("messages", "input", "contents")
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_TOOLS: Final = ("tools", "functions")
_NEUTRAL: Final = (*_MESSAGES, *_SYSTEM, *_TOOLS, "max_tokens")  # keys that are no settings
_PIECE: Final = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|\n|$)")  # a sentence or a line
_MOST: Final = 3  # the most mends of an answer
_MOST_MESSAGES: Final = 2_000  # longer requests get no mends, because comparing them takes seconds


class Change(NamedTuple):
    """Two bodies after a change: the change in words, the bodies, and its assumptions."""

    words: str
    before: Body
    after: Body
    assumes: tuple[str, ...] = ()

    def changed(self, words: str, before: Body, after: Body, *assumes: str) -> Change:
        """Return the bodies after one more change."""
        both = "; ".join(filter(None, (self.words, words)))
        return Change(both, before, after, (*self.assumes, *assumes))


def cache_mends(
    before: Body, after: Body, number: int, simulate: Simulate, is_argument: bool
) -> list[Mend]:
    """Return up to three changes after which request `number` (from 0) reads more, the best first.

    The edits change `requests`: the bodies in the arguments if `is_argument`, or else those that
    the session or file holds. Very long requests get no changes.
    """
    now = simulate([before, after])
    rules, read = now.rules, now.requests[-1].read
    longest = max(len(body.get(key) or ()) for body in (before, after) for key in _MESSAGES)
    if rules is None or longest > _MOST_MESSAGES:
        return []
    tried: list[tuple[tuple[int, int, bool], Mend]] = []
    for change in _changes(before, after, now, rules):
        edits = _edits(before, after, change, number)
        document: dict[str, Any] = {"requests": [{}] * (number - 1) + [before, after]}
        bodies = patched(document, edits)["requests"][number - 1 :]
        then = simulate(bodies).requests[-1]
        if then.read > read and all(edits != mend.edits for _, mend in tried):
            words = (
                f"request {number + 1} reads {then.read:,} of {then.total:,} tokens from the "
                f"cache ({read:,} now), {then.sureness}: {then.reason}"
            )
            assumes = [*change.assumes]
            if not is_argument:
                assumes.append("`requests` is the list of the bodies that the file holds")
            mend = Mend(change=change.words, edits=edits, then=words, assumes=assumes)
            # rounded to 5 %, so that of nearly equal mends the one with fewer assumptions is better
            share = then.read * 20 // then.total
            tried.append(((-share, len(change.assumes), then.state != "exact"), mend))
    return [mend for _, mend in sorted(tried, key=lambda each: each[0])[:_MOST]]


def _edits(before: Body, after: Body, change: Change, number: int) -> list[Edit]:
    """Return a change as edits: first the later request's, which copy values from the earlier one,
    then the earlier request's, which copy from the changed later one. No long text is repeated."""
    earlier, later = f"/requests/{number - 1}", f"/requests/{number}"
    old, new = dict(pointers(before, earlier)), dict(pointers(change.after, later))
    return [
        *patch_between(after, change.after, later, old),
        *patch_between(before, change.before, earlier, new),
    ]


def _changes(before: Body, after: Body, now: CacheSimulation, rules: Rules) -> Iterator[Change]:
    """Yield changes to try: the beginning of the request before, marks, and longer lifetimes. Try
    the first two also after giving both requests the same tools, or no sentences that differ."""
    difference = now.differences[-1]
    settings = difference is not None and difference.block is None
    settings = settings or before.get("model") != after.get("model")
    bases = [Change("", before, after)]
    for change in (_same_tools, _moved_out):
        bases += [made for base in bases if (made := change(base))]
    for base in bases:
        kept = _with_old_beginning(base, rules, settings)
        for change_made in (base, kept) if kept.words != base.words else (base,):
            if change_made.words:
                yield change_made
            if rules.match == "breakpoints":
                yield _marked(change_made)
    if "had expired" in now.requests[-1].reason:
        life = rules.long_lifetime
        words = f"give every mark the lifetime {life}, in all requests"
        first, second = (_living(copy.deepcopy(each), life) for each in (before, after))
        yield Change(words, first, second, ("a write with the longer lifetime costs more",))


# the same beginning


def _with_old_beginning(base: Change, rules: Rules, settings: bool) -> Change:
    """Return the later request with the beginning of the earlier one; new content goes to the end.

    With `settings`, it also gets the earlier request's model and parameters.
    """
    before, after = base.before, base.after
    made = _Keeping(copy.deepcopy(after))
    for key in [key for key in {**before, **after} if settings and key not in _NEUTRAL]:
        made.keep_setting(key, before, after)
    for key in [key for key in _TOOLS if _are_lists(before, after, key)]:
        made.keep_tools(key, before[key], after[key], _takes_additions(rules, after))
    for key in [key for key in _SYSTEM if key in before]:
        if _plain(before[key]) != _plain(after.get(key)):
            made.words.append(f"send {key} as in the request before")
            made.body[key] = made.restored(before[key], after.get(key), key)
    for key in [key for key in _MESSAGES if isinstance(before.get(key), list)]:
        new = made.body.get(key)
        made.keep_history(key, before[key], new if isinstance(new, list) else [])
    if made.moved and _append(made.body, "\n".join(made.moved)):
        made.words.append("move new content into the last user message")
    elif made.moved:
        made.assumes.append("new content is left out")
    return base.changed("; ".join(made.words), before, made.body, *made.assumes)


@dataclass
class _Keeping:
    """A request that gets the beginning of the previous request."""

    body: Body
    moved: list[str] = field(default_factory=list)  # sentences that do not stay in their place
    words: list[str] = field(default_factory=list)
    assumes: list[str] = field(default_factory=list)

    def keep_setting(self, key: str, before: Body, after: Body) -> None:
        if written(before.get(key)) == written(after.get(key)):
            return
        self.words.append(f"keep {key} as in the request before")
        self.assumes.append(f"{key} need not change")
        if key in before:  # the key stays in its place, or the edits would write all others anew
            self.body[key] = before[key]
        else:
            del self.body[key]

    def keep_tools(self, key: str, old: Sequence[Any], new: Sequence[Any], adds: bool) -> None:
        """Keep the old tools in their order and form. New tools follow them, or are added by a
        message if the model allows that (`adds`)."""
        known, given = {_name(tool) for tool in old}, {_name(tool): tool for tool in new}
        extra = [_plain_value(tool) for tool in new if _name(tool) not in known]
        self.body[key] = [*copy.deepcopy([*old]), *extra]
        if _plain([tool for tool in new if _name(tool) in known]) != _plain(old):
            self.words.append("send the tools of the request before, in their order and form")
        for name, tool in ((_name(tool), tool) for tool in old):
            if name not in given:
                self.assumes.append(f"{name} stays among the tools")
            elif _plain_value(given[name]) != _plain_value(tool):  # not only the keys' order
                self.assumes.append(f"the new declaration of {name} waits for a new conversation")
        if not extra:
            return
        names = ", ".join(map(_name, extra))
        if not (adds and all(isinstance(tool, dict) for tool in extra)):
            self.words.append(f"put the new tools ({names}) after the others")
            return
        self.words.append(f"defer the new tools ({names}), and add them by a last message")
        self.assumes.append("the API's beta header for added tools is sent")
        deferred = [{**tool, "defer_loading": True} for tool in extra]
        self.body[key] = [*copy.deepcopy([*old]), *deferred]
        references = [{"type": "tool_reference", "name": _name(tool)} for tool in extra]
        content = [{"type": "tool_addition", "tool": each} for each in references]
        self.body["messages"] = [*self.body["messages"], {"role": "system", "content": content}]

    def keep_history(self, key: str, old: Sequence[Any], new: Sequence[Any]) -> None:
        """Keep the earlier messages as they were; add the messages that come after them."""
        matcher = SequenceMatcher(None, [*map(_plain, old)], [*map(_plain, new)], autojunk=False)
        messages: list[Any] = []
        for kind, i, i_stop, j, j_stop in matcher.get_opcodes():
            if kind == "equal":
                messages += new[j:j_stop]
                continue
            both = min(i_stop - i, j_stop - j)
            for a, b in zip(range(i, i + both), range(j, j + both), strict=True):
                messages.append(self.restored(old[a], new[b], f"message {a + 1}"))
            messages += [_plain_value(each) for each in old[i + both : i_stop]]
            if i_stop == len(old):
                messages += new[j + both : j_stop]
            elif others := new[j + both : j_stop]:
                self.moved += _texts(others)
                if any(_without_texts(each.get("content")) for each in others if _role(each)):
                    self.assumes.append("calls and pictures of moved messages are left out")
        if written(messages) != written(new):
            self.words.append("leave the messages that were sent before as they were")
        self.body[key] = messages

    def restored(self, old: Any, new: Any, place: str) -> Any:
        """Return the old value with the marks of the new one. Sentences that only the new value
        has are added to `moved`."""
        before, after = dict.fromkeys(_pieces(old)), dict.fromkeys(_pieces(new))
        self.moved += [piece.strip() for piece in after if piece not in before]
        if any(piece not in after for piece in before):
            self.assumes.append(f"the old text of {place} stays")
        if _without_texts(old) != _without_texts(new):
            self.assumes.append(f"changes of {place} outside of its text are left out")
        value = _plain_value(old)
        content = value.get("content") if isinstance(value, dict) else None
        if isinstance(new, dict) and isinstance(content, list):
            return {**value, "content": _marked_like(content, new.get("content"))}
        return _marked_like(value, new if isinstance(new, list) else old)


def _are_lists(before: Body, after: Body, key: str) -> bool:
    return isinstance(before.get(key), list) and isinstance(after.get(key), list)


def _takes_additions(rules: Rules, body: Body) -> bool:
    model = str(body.get("model") or "")
    nothing = "deferred_tools" in rules.rules and rules.of_model("deferred_tools", model)
    return nothing == "nothing" and "messages" in body and rules.lists("system_messages", model)


def _marked_like(parts: Any, other: Any) -> Any:
    """Return parts with the marks of `other`, at the same places if possible, or at the end."""
    if not (isinstance(parts, list) and isinstance(other, list)):
        return parts
    marks = {index: _marks(each) for index, each in enumerate(other) if _marks(each)}
    last = len(parts) - 1
    held: dict[int, Body] = {min(index, last): mark for index, mark in marks.items()}
    return [
        {**each, **held[index]} if index in held and isinstance(each, dict) else each
        for index, each in enumerate(parts)
    ]


def _same_tools(base: Change) -> Change | None:
    """Return both requests with the tools of both; None if their tools have the same names."""
    key = next((key for key in _TOOLS if _are_lists(base.before, base.after, key)), "")
    old, new = base.before.get(key, []), base.after.get(key, [])
    names = {_name(tool) for tool in old}, {_name(tool) for tool in new}
    if names[0] == names[1]:
        return None
    tools = [*old, *(_plain_value(tool) for tool in new if _name(tool) not in names[0])]
    words = f"declare the tools of both ({', '.join(sorted(names[0] ^ names[1]))}) in all requests"
    before, after = {**base.before, key: tools}, {**base.after, key: tools}
    return base.changed(words, before, after, "the model may call them in every request")


# the time or an id at the beginning


def _moved_out(base: Change) -> Change | None:
    """Return both requests without the sentences of the system prompt that differ; these move to
    the end. Return None if no sentence differs, if other parts differ, or without user messages."""
    bodies = copy.deepcopy((base.before, base.after))
    for key in [key for key in _SYSTEM if key in base.before and key in base.after]:
        both = _pieces(base.before[key]), _pieces(base.after[key])
        for body, own, other in zip(bodies, both, both[::-1], strict=True):
            gone = [*dict.fromkeys(piece for piece in own if piece not in {*other})]
            for piece in gone:
                body[key] = _without_text(body[key], piece)
            if gone and not _append(body, "\n".join(piece.strip() for piece in gone)):
                return None
        if both[0] != both[1] and _plain(bodies[0][key]) == _plain(bodies[1][key]):
            words = f"move what changes from {key} to the end of the last user message"
            return base.changed(f"{words}, in all requests", *bodies)
    return None


def _without_text(value: Any, text: str) -> Any:
    match value:
        case str():
            return value.replace(text, "")
        case list():
            return [_without_text(each, text) for each in value]
        case dict():
            return {key: _without_text(each, text) for key, each in value.items()}
    return value


def _append(body: Body, text: str) -> bool:
    """Add a text to the end of the last user message, after its marks. Return False without one."""
    if isinstance(body.get("input"), str):
        body["input"] = f"{body['input']}\n\n{text}".strip()
        return True
    key = next((key for key in _MESSAGES if isinstance(body.get(key), list)), "")
    users = [index for index, each in enumerate(body.get(key) or ()) if _role(each) == "user"]
    if not users:
        return False
    message = copy.deepcopy(body[key][users[-1]])
    field = "parts" if "parts" in message else "content"
    parts = message.get(field)
    if isinstance(parts, list):
        texts = [each for each in parts if isinstance(each, dict) and "text" in each]
        like = _plain_value(texts[-1]) if texts else {"type": "text"}
        message[field] = [*parts, {**like, "text": text}]
    else:
        message[field] = f"{parts or ''}\n\n{text}".strip()
    body[key] = [*body[key][: users[-1]], message, *body[key][users[-1] + 1 :]]
    return True


# marks


def _marked(change: Change) -> Change:
    """Return both requests with marks on their last user messages, as `words` describes."""
    mark = next(_all_marks(change.after), None) or next(_all_marks(change.before), None)
    before, after = copy.deepcopy(change.before), copy.deepcopy(change.after)
    last: list[int] = []
    for body in (before, after):
        messages = body.get("messages")
        if not isinstance(messages, list):
            return change
        places = [index for index, each in enumerate(messages) if _role(each) == "user"]
        last += places[-1:]
        for index, message in enumerate(messages):
            if index in last and isinstance(message, dict):
                _mark_last(message, mark or {"cache_control": {"type": "ephemeral"}})
            else:
                messages[index] = _plain_value(message)
    words = "mark the last user message of every request, and that of the request before it"
    return change.changed(words, before, after)


def _mark_last(message: Body, mark: Body) -> None:
    parts = _plain_value(message.get("content"))
    parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
    if isinstance(parts, list) and parts and isinstance(parts[-1], dict):
        message["content"] = [*parts[:-1], {**parts[-1], **mark}]


def _living(value: Any, life: str) -> Any:
    """Set the lifetime of every mark in a value; return the value."""
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            _living(each, life)
    if isinstance(value, dict):
        value.update({key: {**mark, "ttl": life} for key, mark in _marks(value).items()})
    return value


def _marks(value: Any) -> Body:
    held = value if isinstance(value, dict) else {}
    return {key: held[key] for key in MARKS if isinstance(held.get(key), dict)}


def _all_marks(value: Any) -> Iterator[Body]:
    if found := _marks(value):
        yield found
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _all_marks(each)


# values


def _plain_value(value: Any) -> Any:
    match value:
        case list():
            return [_plain_value(each) for each in value]
        case dict():
            return {key: _plain_value(each) for key, each in value.items() if key not in MARKS}
    return value


def _plain(value: Any) -> str:
    return written(_plain_value(value))


def _name(tool: Any) -> str:
    held = tool if isinstance(tool, dict) else {}
    function = held.get("function")
    named = function if isinstance(function, dict) else held
    return str(named.get("name") or held.get("type") or "the tools")


def _role(message: Any) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list) else ():
        yield from _texts(each)
    if isinstance(value, dict):
        for key in ("text", "content", "parts"):
            yield from _texts(value.get(key))


def _without_texts(value: Any) -> Any:
    """Return the parts of a value that are not texts, without marks; None if all are texts."""
    match value:
        case str():
            return None
        case list():
            return [left for each in value if (left := _without_texts(each))] or None
        case dict() if isinstance(value.get("text"), str):
            return None
        case dict() if "content" in value or "parts" in value:
            rest = {key: each for key, each in _plain_value(value).items() if key != "role"}
            held = {key: _without_texts(rest.pop(key, None)) for key in ("content", "parts")}
            return {**rest, **{key: each for key, each in held.items() if each}} or None
    return _plain_value(value)


def _pieces(value: Any) -> list[str]:
    """Return the sentences and lines of a value's texts."""
    pieces = (piece for text in _texts(value) for piece in _PIECE.findall(text))
    return [piece for piece in pieces if piece.strip()]
