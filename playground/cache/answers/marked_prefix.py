"""Measure a request's marked prefix in tokens, and compare it with the minimum of the model's
cache.

Every sentence that compares a request with the minimum comes from here, so that no two disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

from playground.base.arguments import older_name
from playground.base.wording import counted
from playground.cache.breakpoints import breakpoints
from playground.cache.prefixes import TimedRequest, size_between
from playground.cache.rules import Rules


@dataclass(frozen=True, slots=True)
class MarkedPrefix:
    """The prefix of a request up to its last mark. Without marks, or if the provider ignores them,
    it is the whole request.

    `low` and `high` are the bounds of `tokens`: equal if a bill or the tokenizer gives the size.
    `caches_by_itself`: the provider caches without marks. `uses_marks`: it uses the request's
    marks. `minimum` is the fewest tokens that the model caches; 0 if unknown. If no source states
    the minimum for this model, `assumed` says from which model it is taken.
    """

    marks: int
    tokens: int
    low: int
    high: float
    is_whole: bool
    caches_by_itself: bool
    uses_marks: bool
    minimum: int
    assumed: str = ""
    least: int = 0  # the lowest minimum of all sources; `most` is the highest
    most: int = 0

    @property
    def is_enough(self) -> bool:
        return self.tokens >= self.minimum

    @property
    def probably(self) -> str:
        """The word "probably " if the ranges of size and minimum overlap, else ""."""
        return "" if self.low >= self.most or self.high < self.least else "probably "

    @property
    def subject(self) -> str:
        """The beginning of `line`: the marks, or that the provider caches by itself."""
        marks = counted(self.marks, "mark")
        if self.marks and self.uses_marks:
            return marks
        if self.caches_by_itself:
            how = f"and ignores {marks}" if self.marks else "without marks"
            return f"The provider caches by itself, {how}"
        return "No marks"

    told = older_name("told", "subject")

    @property
    def size(self) -> str:
        """The size in words, behind the marks: `about 542 tokens up to the last one`."""
        about = "" if self.low == self.high else "about "
        where = "" if self.is_whole else " up to the last one"
        return f"{about}{self.tokens:,} tokens{where}"

    @property
    def minimum_in_words(self) -> str:
        """The minimum in words, the model it is assumed from, and its range if sources differ."""
        return f"{self.minimum:,}{self.assumed}{self._span}"

    @property
    def _span(self) -> str:
        if self.least == self.most:
            return ""
        return f" (other sources or models: {self.least:,} to {self.most:,})"

    @property
    def line(self) -> str:
        """The whole measurement in one line, without a full stop."""
        sure = self.low == self.high
        size = self.size if sure else f"{self.size} ({size_between(self.low, self.high)})"
        if not self.minimum:
            return f"{self.subject}; {size}; no minimum is known for this model"
        enough = "enough" if self.is_enough else "too few"
        if self.assumed:
            text = f"no minimum is known for this model{self.assumed} {self.minimum:,}{self._span}"
            return f"{self.subject}; {size}: {self.probably}{enough}, {text}"
        text = f"this model caches {self.minimum:,} or more{self._span}"
        return f"{self.subject}; {size}: {self.probably}{enough}, {text}"


def marked_prefix(request: TimedRequest, rules: Rules, model: str) -> MarkedPrefix:
    """Return a request's marked prefix."""
    resource = "storage_permille_hour" in rules.rules  # an explicit cache, up to the last mark
    by_marks = rules.match in ("breakpoints", "exact")
    points = breakpoints(request, rules)[0] if by_marks else sorted(request.marks) * resource
    caches_by_itself = rules.match == "best effort" or (
        rules.match == "exact" and not request.wire.explicit_only
    )
    whole = len(request.sizes)
    end = points[-1] + 1 if points else whole
    tokens = request.sizes[end - 1] if end else 0
    low, high = request.size_range(end - 1) if end else (0, 0)
    return MarkedPrefix(
        marks=len(points) if rules.match == "breakpoints" else len(request.marks),
        tokens=tokens,
        low=low,
        high=high,
        is_whole=end >= whole,
        caches_by_itself=caches_by_itself,
        uses_marks=by_marks or resource,
        least=0 if rules.match == "unknown" else rules.minimum_range(model)[0],
        most=0 if rules.match == "unknown" else rules.minimum_range(model)[1],
        minimum=0 if rules.match == "unknown" else rules.minimum(model),
        assumed="" if rules.match == "unknown" else rules.assumed_minimum(model),
    )
