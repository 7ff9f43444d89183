"""A receipt: the contents of a file and of its sessions, and what is missing, by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from playground.base.arguments import older_name
from playground.base.display import Shown
from playground.base.wording import counted
from playground.sessions.places import numberless

# "beside" is an annotation of a text; "added": a session has it more often than the file
Kind = Literal[
    "text", "call", "result", "beside", "usage", "text added", "call added", "usage added"
]

LEAST: Final = 24  # characters of a text: shorter ones are mostly names, ids and enumerations
_COMPARED: Final = (
    f"Compared by content: texts of {LEAST} characters and more, shorter ones where a field shows "
    "that somebody said them, calls, results, and token counts. "
    "Messages, equal ones once, and recorded requests are only counted. Other values are not "
    "compared."
)


@dataclass(frozen=True, slots=True)
class Missing:
    """A leaf of the file, or a piece of it, that no session holds; or the reverse ("added").

    `finding_code` is the code of the importer's finding about it, `aside` the format's reason for
    ignoring such paths. If both are empty, the loss was silent.
    """

    place: str
    kind: Kind
    text: str
    finding_code: str = ""
    aside: str = ""

    told = older_name("told", "finding_code")

    @property
    def path(self) -> str:
        """The place without the numbers of lines and items, for grouping."""
        return numberless(self.place)

    @property
    def is_silent(self) -> bool:
        """True if neither a finding nor the format's reason explains the loss."""
        return not self.finding_code and not self.aside


@dataclass(frozen=True, slots=True)
class MissingAtPath:
    """The missing pieces of one path: their number, characters and reason, and the first piece."""

    path: str
    kind: Kind
    times: int
    characters: int
    why: str
    first: Missing

    @property
    def reason(self) -> str:
        """The reason to show, also for a silent loss."""
        return self.why or "no finding"

    told = older_name("told", "reason")


@dataclass(frozen=True)
class Receipt(Shown):
    """The contents of a file and of its sessions, and the missing pieces. Compared by value are
    texts of 24 characters and more, shorter ones if a field or a role shows that somebody said
    them, calls with their arguments, results, and token counts. For repeated texts in a list of
    messages, the number of times is compared. White space is folded. Messages, equal ones once, and
    recorded requests are only counted. A text that occurs only in a request's stored body is
    reported as such. The receipt does not prove that nothing is missing."""

    format: str
    in_file: Mapping[str, int]
    in_sessions: Mapping[str, int]
    characters: int  # of the file's texts
    missing: Sequence[Missing]

    @cached_property
    def missing_characters(self) -> int:
        """The number of characters of the file's texts that are not in any session."""
        return sum(len(each.text) for each in self.missing if each.kind == "text")

    @property
    def share(self) -> float:
        """The share of the file's text that is in its sessions; 1.0 if the file has no text.

        Text that the format ignores does not count.
        """
        aside = sum(len(m.text) for m in self.missing if m.kind == "text" and m.aside)
        size = self.characters - aside
        return 1.0 if size <= 0 else max(0.0, 1 - (self.missing_characters - aside) / size)

    @property
    def words(self) -> str:
        """The receipt in one line: the share, and how many losses are silent.

        For a file without texts, no share is claimed.
        """
        silent = len(self.silent)
        rest = (
            f"{counted(silent, 'piece')} missing without a finding"
            if silent
            else "the rest is explained"
        )
        rest = rest if self.missing else "nothing was found missing"
        if not self.characters:
            start = f"The file has no text of {LEAST} characters to compare"
            return f"{start}; {rest}" if self.missing else start
        return f"{_percent(self.share)} of the file's text is in its sessions; {rest}"

    @property
    def compared(self) -> str:
        """Say what is compared by its content, and what is only counted."""
        return _COMPARED

    @property
    def counts(self) -> list[tuple[str, int, int]]:
        """The counts in the file and in its sessions. Each message and call counts once, although
        requests repeat them.

        Only messages of users and of the model count. A reply with results of the provider's own
        tools is several messages of a session.
        """
        return [(name, n, self.in_sessions[name]) for name, n in self.in_file.items()]

    @property
    def by_path(self) -> list[MissingAtPath]:
        """The missing pieces by path and kind: silent losses first, then by characters."""
        groups: dict[tuple[str, Kind, str], list[Missing]] = {}
        for each in self.missing:
            why = f"finding: {each.finding_code}" if each.finding_code else ""
            why = f"ignored: {each.aside}" if each.aside else why
            groups.setdefault((each.path, each.kind, why), []).append(each)
        rows = []
        for (path, kind, why), found in groups.items():
            size = sum(len(each.text) for each in found)
            rows.append(MissingAtPath(path, kind, len(found), size, why, found[0]))
        return sorted(rows, key=lambda row: (bool(row.why), -row.characters))

    @property
    def silent(self) -> list[Missing]:
        """The missing pieces without any finding or reason."""
        return [each for each in self.missing if each.is_silent]


def _percent(share: float) -> str:
    """Return a share as a percentage, rounded so that 100 % means that nothing is missing."""
    return "100 %" if share == 1.0 else f"{min(share * 100, 99.9):.1f} %"
