"""Show one session in several dialects, side by side: texts with their origins, counts,
differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from playground.base.arguments import formerly_positional, takes, wrong
from playground.base.display import Drawn, Listed, Live
from playground.base.errors import UnknownNameError
from playground.base.findings import Finding
from playground.base.wording import counted, keep_order, short_repr
from playground.dialects import Dialect, as_dialects, is_ours
from playground.dialects.checking import CallCheck, check_session, check_tool_call
from playground.dialects.rendering import Block
from playground.dialects.request_messages import Rendering
from playground.dialects.rules_file import read_chosen_rules
from playground.nouns.messages import ToolResultPart
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session

if TYPE_CHECKING:  # these take time to import, and rendering a request does not need them
    from playground.dialects.schema_losses import Fact
    from playground.tokens.count import TokenCount

MATCHED_PAIRS: Final = 1_000_000  # most lines of one text times lines of the other to be matched


@dataclass(frozen=True, repr=False)
class Column(Live):
    """A session in one dialect. `check_call` finds the parts of a call that the dialect loses.

    Its table has a row for each piece of the request's text.
    """

    dialect: Dialect
    session: Session
    check_call: CallCheck = field(default=check_tool_call, compare=False)

    def __repr__(self) -> str:
        messages = counted(len(self.rendering.messages), "message")
        characters = counted(sum(self.characters.values()), "character")
        findings = counted(len(self.findings), "finding")
        return short_repr(self, self.dialect.name, messages, characters, findings)

    @cached_property
    def rendering(self) -> Rendering:
        return self.dialect.render(self.session.prompt_data())

    @cached_property
    def findings(self) -> list[Finding]:
        from playground.cache.answers.placement import refused

        # a provider's rules say nothing if no model is named
        model = self.session.named_model
        found = check_session(self.dialect, self.session.prompt_data(), self.check_call)
        return [*found, *(refused(self.rendering, model) if model else ())]

    @cached_property
    def images(self) -> tuple[int, int]:
        """The number of images that are sent, and the number that the session has.

        Other images of the session are dropped, or are sent as JSON in tool results.
        """
        contents = (message.get("content") for message in self.rendering.messages)
        blocks = (block for content in contents if isinstance(content, list) for block in content)
        sent = sum(block.get("type") == "image_url" for block in blocks)
        parts = [part for message in self.session.messages for part in message.parts]
        in_results = sum(part.images for part in parts if isinstance(part, ToolResultPart))
        return sent, sum(part.type == "image" for part in parts) + in_results

    @cached_property
    def blocks(self) -> list[Block]:
        """Every piece of the request's text; a native request's tools come first."""
        return self.rendering.sent

    @cached_property
    def characters(self) -> dict[str, int]:
        """Characters by kind of text; their sum is the length of all text that is sent."""
        counts: Counter[str] = Counter()
        for block in self.blocks:
            counts[block.kind] += len(block.text) if block.kind != "image" else 0
        return dict(counts)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each origin, in the order of its first appearance."""
        pieces: dict[str, list[str]] = {}
        for block in self.blocks:
            pieces.setdefault(block.origin, []).append(block.text)
        return {origin: "".join(texts) for origin, texts in pieces.items()}

    @cached_property
    def schema_facts(self) -> list[Fact]:
        """The facts of the tools' schemas; each says if this dialect's prompt states it."""
        from playground.dialects.schema_losses import schema_facts

        return [fact for tool in self.session.tools for fact in schema_facts(self.dialect, tool)]

    @cached_property
    def tokens(self) -> TokenCount:
        """The token count of the request for the session's model."""
        from playground.questions.token_counts import count_rendering

        return count_rendering(self.rendering, self.session.task.model_name)


@dataclass(frozen=True, repr=False)
class Comparison(Drawn, Live):
    """A session in several dialects: panes side by side, linked by the origins of their texts.

    Its table has a row for each dialect: messages, characters by kind, findings. Its figure has a
    bar for each dialect, divided into the parts of the request.
    """

    session: Session
    columns: list[Column]

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, dialect: str) -> Column:
        """Return the column of a dialect. Raises UnknownNameError if it is not compared."""
        names = [column.dialect.name for column in self.columns]
        if dialect not in names:
            raise UnknownNameError("dialect of this comparison", dialect, names)
        return self.columns[names.index(dialect)]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        names = ", ".join(column.dialect.name for column in self.columns)
        return f"Comparison({self.session.title!r} in {names})"

    def column(self, dialect: str) -> Column:
        return self[dialect]

    def diff(self, first: str, second: str, origins: Sequence[str] | None = None) -> LineDiff:
        """Return the line diff from one dialect's request to another's, origin by origin, each
        after a heading. `origins` limits the diff, for instance to a page of messages."""
        left, right = self.column(first).texts, self.column(second).texts
        lines: list[DiffLine] = []
        for origin in origins if origins is not None else dict.fromkeys([*left, *right]):
            lines.append(DiffLine("heading", origin))
            lines += diff_lines(left.get(origin, ""), right.get(origin, ""))
        return LineDiff(lines)


@formerly_positional(2, "rules_path")
@takes(session=(Session, str), rules_path="path or nothing")
def compare(
    session: Session | str,
    dialects: str | Dialect | Sequence[str | Dialect] = (),
    *,
    rules_path: str | None = None,
) -> Comparison:
    """Render a session in one or several dialects, by default in all of them.

    `rules_path` is a file with rules that replace a dialect's own, or a folder with a `NAME.md` for
    each dialect whose rules are replaced. Raises UnknownNameError for an unknown dialect,
    InputFault for rules that cannot be read or that fit none of the dialects.
    """
    session = session_or_sample(session)
    chosen = as_dialects(dialects)
    if rules_path is not None:
        if is_ours(rules_path) and not Path(rules_path).exists():
            expected = "all dialects in one list, as the second argument"
            raise wrong("compare(rules_path=…)", rules_path, expected)
        rules = read_chosen_rules(rules_path, [dialect.name for dialect in chosen])
        chosen = [dialect.with_rules(rules) for dialect in chosen]
    return Comparison(session, [Column(dialect, session) for dialect in chosen])


Change = Literal["same", "removed", "added"]


class DiffLine(NamedTuple):
    """A line of a diff with its end, or a heading; `visible` shows its invisible characters."""

    change: Change | Literal["heading"]
    text: str


class LineDiff(Listed[DiffLine]):
    """The lines of two requests. The table has a row for each line: how it changed, and its text;
    printed, only lines that changed are shown, after `+` or `-`."""

    @property
    def summary(self) -> str:
        """The numbers of lines that are the same, removed and added."""
        counts = Counter(line.change for line in self)
        return ", ".join(f"{counts[change]:,} {change}" for change in ("same", "removed", "added"))

    def _summary(self) -> str:
        return self.summary

    def __str__(self) -> str:
        signs, lines = {"removed": "-", "added": "+"}, []
        heading = ""
        for change, text in self:
            if change == "heading":
                heading = f"@@ {text}"
            elif change in signs:
                lines += [heading] * bool(heading) + [f"{signs[change]}{text.rstrip()}"]
                heading = ""
        return "\n".join(map(keep_order, lines)) or "(nothing)"


def diff_lines(first: str, second: str) -> list[DiffLine]:
    """Return a line diff in order. Lines keep their ends, to show a CR or a missing newline."""
    left, right = _lines(first), _lines(second)
    # The time of matching grows with the square of the lines. Two dialects' requests differ in few
    # lines, so the common head and tail are left out of the matching.
    head = _common_length(left, right)
    tail = _common_length(left[head:][::-1], right[head:][::-1])
    middle = matched(left[head : len(left) - tail], right[head : len(right) - tail])
    return [
        *(DiffLine("same", line) for line in left[:head]),
        *(DiffLine(change, line) for change, line in middle),
        *(DiffLine("same", line) for line in left[len(left) - tail :]),
    ]


def _lines(text: str) -> list[str]:
    """Cut only at line feeds: `splitlines` also cuts at U+2028, which is text to a model."""
    *complete, rest = text.split("\n")
    lines = [f"{line}\n" for line in complete]
    return [*lines, rest] if rest else lines


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


def matched(left: list[str], right: list[str]) -> Iterator[tuple[Change, str]]:
    """Yield in order the texts of two lists: those that are the same, removed and added."""
    if len(left) * len(right) > MATCHED_PAIRS:  # matching would take seconds
        yield from (("removed", text) for text in left)
        yield from (("added", text) for text in right)
        return
    from difflib import SequenceMatcher  # imported here to keep the start of the app fast

    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, left_start, left_stop, right_start, right_stop in matcher.get_opcodes():
        old, new = left[left_start:left_stop], right[right_start:right_stop]
        if tag == "equal":
            yield from (("same", text) for text in old)
        else:
            yield from (("removed", text) for text in old)
            yield from (("added", text) for text in new)


_SYMBOLS = {"\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\ufeff": "⟨BOM⟩", "\u200b": "⟨ZWSP⟩"}


def visible(text: str) -> str:
    """Make invisible characters visible: line ends ↵, tabs, blanks at line ends, controls."""
    visible_text = "".join(_visible(char) for char in text)
    body = visible_text.rstrip(" ↵")
    return body + visible_text[len(body) :].replace(" ", "·")


def _visible(char: str) -> str:
    if char == "\n":
        return "↵"
    if char in _SYMBOLS:
        return _SYMBOLS[char]
    return char if char.isprintable() else f"⟨U+{ord(char):04X}⟩"
