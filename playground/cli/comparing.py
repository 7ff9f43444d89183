"""Compare two versions, and check a version against a baseline for CI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted
from playground.cli.command import command
from playground.cli.shared import csv_option, json_option, load, load_all, strict_option
from playground.cli.terminal import guarded, print_json, report, report_briefly, say, show_rows

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.cli.check_reports import CheckReports
    from playground.questions.versions import VersionDiff
    from playground.questions.versions.matching import BlockChange

_CONTEXT = 40  # characters around a change
_MARKS = {"removed": "[-{}-]", "added": "{{+{}+}}"}


@command("diff 01-plain-chat 02-parallel-calls", "diff baseline.json session.json --words")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--model", default="", help="In place of both sessions' own models.")
@click.option(
    "-d", "--dialect", default="", help="For both. Default: as sent if to one API, else native."
)
@click.option("--request", default=0, help="Number of the request, from 1. Default: the last.")
@click.option("--provider", "providers", multiple=True, help="Compare its cache; may be repeated.")
@click.option("--words", is_flag=True, help="Print what differs in changed blocks, word by word.")
@click.option("--all", "every", is_flag=True, help="List the blocks that are the same, too.")
@strict_option
@csv_option
@json_option
@guarded
def diff(
    before: str,
    after: str,
    model: str,
    dialect: str,
    request: int,
    providers: tuple[str, ...],
    words: bool,
    every: bool,
    as_json: bool,
) -> int:
    """Show what differs between A and B: blocks, tokens, and what a cache still reads of B after A.

    A and B are session files in any format, request bodies, samples' names, or workspace:NAME.
    """
    from playground.questions.versions import diff as compared
    from playground.show import rows

    left, right = load(before), load(after)
    difference = compared(
        left.session,
        right.session,
        model=model,
        dialect=dialect,
        request=request,
        providers=providers,
        names=(before, after),
    )
    if as_json:
        tables = {
            "rows": rows.blocks(difference.changes).dicts(),
            "cost_rows": rows.version_costs(difference.costs).dicts(),
        }
        print_json({**difference.as_json(), **tables})
    else:
        _print(difference, words, every)
    return report([*left.findings, *right.findings])


def _print(difference: VersionDiff, words: bool, every: bool) -> None:
    from playground.show import rows

    say(difference.headline)
    for letter, side in zip("AB", (difference.first, difference.second), strict=True):
        agent = f", {side.agent}" if side.agent else ""
        say(f"{letter}: {side.name}{agent}, {side.model}, {side.position}, {side.count.kind}")
    say(f"both {difference.form}")
    changes = [change for change in difference.changes if every or change.kind != "same"]
    if changes:
        shown = ("change", "tier", "block", "writer", "tokens_before", "tokens_after", "note")
        show_rows(rows.blocks(changes), *shown)
    if words:
        for change in changes:
            if change.kind == "changed":
                _print_words(change)
    _print_costs(difference)


def _print_words(change: BlockChange) -> None:
    say(f"--- {change.block.name}")
    pieces = []
    for kind, text in change.words:
        if kind in _MARKS:
            pieces.append(_MARKS[kind].format(text))
        elif len(text) > 2 * _CONTEXT:
            pieces.append(f"{text[:_CONTEXT]} … {text[-_CONTEXT:]}")
        else:
            pieces.append(text)
    for line in "".join(pieces).split("\n"):
        say(f"  {line}")


def _print_costs(difference: VersionDiff) -> None:
    from playground.show import rows

    shown = ("provider", "left_tokens", "read_tokens", "paid_again_tokens", "dollars", "state")
    show_rows(rows.version_costs(difference.costs), *shown, "difference")
    for cost in difference.costs:
        if not cost.read:  # print the reason; perhaps the provider refuses the request
            say(f"{cost.title}, nothing read: {cost.reason}")
        if cost.assumption and "assumed as for" not in cost.reason:
            say(f"{cost.title}: {cost.assumption}")


@dataclass(frozen=True)
class BaselineOptions:
    """The options of `check` about a baseline; without a baseline, `baseline` is ""."""

    baseline: str
    most_tokens_more: int | None
    prefix_may_change: bool
    request: int

    def has_baseline(self, has_limits: bool) -> bool:
        """Return True if there is a baseline.

        Raises InputFault for options about a baseline without a baseline, and for a baseline
        together with the limits of a simulation.
        """
        from playground.base.errors import InputFault

        if self.baseline and has_limits:
            problem = "--against together with --max-cost-multiple or --no-cache-break"
            raise InputFault(problem, expected="a separate `check` for the baseline")
        options = (self.most_tokens_more is not None, self.prefix_may_change, self.request)
        if any(options) and not self.baseline:
            problem = "--most-tokens-more, --prefix-may-change or --request without a baseline"
            raise InputFault(problem, expected="--against FILE as well")
        return bool(self.baseline)

    def check(
        self, session: str, model: str, dialect: str, as_json: bool, reports: CheckReports
    ) -> int:
        """Compare every session of the file `session` with its counterpart in the baseline, and
        print the exceeded limits. Return the exit status."""
        document, findings = self.compare(session, model, dialect)
        if as_json:
            print_json(document)
        else:
            _print_failures(document)
        outcome = {"session": session, "findings": findings, **document}
        reports.write_all([outcome], [session, self.baseline])
        return report_briefly(findings) or int(bool(document["failures"]))

    def compare(
        self, session: str, model: str, dialect: str
    ) -> tuple[dict[str, Any], list[Finding]]:
        """Compare every session of the file `session` with its counterpart in the baseline.

        Return what `--json` prints (`failures`, `differences`), and the file's findings.
        """
        from playground.questions.versions import diff as compared
        from playground.questions.versions.against import against_failures, undecided_limit
        from playground.questions.versions.pairing import paired

        newer, baseline = load_all(session, model), load_all(self.baseline, model)
        failed = []
        findings = [finding for loaded in newer for finding in loaded.findings]
        if len(newer) != len(baseline):
            failed.append(f"{counted(len(newer), 'session')}, but {len(baseline)} in the baseline")
        differences = []
        pairs = paired(
            [loaded.session for loaded in baseline], [loaded.session for loaded in newer]
        )
        for old, new in pairs:
            names = (self.baseline, session)
            difference = compared(
                baseline[old].session,
                newer[new].session,
                dialect=dialect,
                request=self.request,
                names=names,
            )
            place = f"{new + 1} ({old + 1} of the baseline)" if old != new else f"{new + 1}"
            prefix = f"session {place}: " if len(baseline) > 1 else ""
            lines = against_failures(difference, self.most_tokens_more, self.prefix_may_change)
            failed += [f"{prefix}{line}" for line in lines]
            differences.append(difference.as_json())
            if undecided := undecided_limit(difference, self.most_tokens_more):
                findings.append(undecided)
        return {"failures": failed, "differences": differences}, findings


_AGAINST = [
    click.option(
        "--against", default="", help="Baseline. Fails if model, tools or system prompt differ."
    ),
    click.option(
        "--most-tokens-more",
        type=click.IntRange(min=0),
        help="With --against: the tokens by which a request's input may grow.",
    ),
    click.option(
        "--prefix-may-change", is_flag=True, help="With --against: check only the tokens."
    ),
    click.option(
        "--request", default=0, help="With --against: request number, from 1. Default: the last."
    ),
]


def against_options(command: Callable[..., int]) -> Callable[..., int]:
    """Gather the options about a baseline into one argument, `against`."""

    @wraps(command)
    def gathered(
        against: str,
        most_tokens_more: int | None,
        prefix_may_change: bool,
        request: int,
        **others: Any,
    ) -> int:
        options = BaselineOptions(against, most_tokens_more, prefix_may_change, request)
        return command(against=options, **others)

    for option in reversed(_AGAINST):
        gathered = option(gathered)
    return gathered


def _print_failures(document: Mapping[str, Any]) -> None:
    for line in document["failures"]:
        say(line)
    if document["failures"]:  # on stderr: programs read the reasons from stdout, one a line
        say("if this is intended, keep the new file as the baseline", err=True)
    else:
        differences = document["differences"]
        more = sum(difference["tokens"] for difference in differences)
        say(f"{counted(len(differences), 'session')} passed against the baseline, {more:+,} tokens")
