"""`check-changed`: compare session files with their versions in a commit, for pipelines."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.cli.check_reports import CheckReports, report_options
from playground.cli.command import command
from playground.cli.shared import load_all, model_option, strict_option
from playground.cli.terminal import guarded, report_briefly, say

if TYPE_CHECKING:
    from playground.base.errors import InputFault


@command(
    "check-changed session.json",
    "check-changed session.json --base main --most-tokens-more 500 --report-to out.md",
)
@click.argument("files", nargs=-1, required=True)
@click.option("--base", default="HEAD", show_default=True, help="The commit with the baselines.")
@click.option("-d", "--dialect", default="", help="Default: as the requests were sent.")
@model_option
@click.option(
    "--most-tokens-more", type=click.IntRange(min=0), help="Tokens by which an input may grow."
)
@click.option("--prefix-may-change", is_flag=True, help="Check only the tokens.")
@click.option("--comment", is_flag=True, help="Comment on this job's pull request on GitHub.")
@strict_option
@guarded
@report_options
def check_changed(
    files: tuple[str, ...],
    base: str,
    dialect: str,
    model: str,
    most_tokens_more: int | None,
    prefix_may_change: bool,
    comment: bool,
    reports: CheckReports,
) -> int:
    """Compare each of FILES with its version in a git commit, as `check --against` does.

    A file that the commit does not hold is new: it is listed, and only read. A file that is
    missing or cannot be read is listed and counts as failed (exit status 2). --comment writes
    one comment, which later runs replace. It needs the environment of a GitHub job (GITHUB_TOKEN,
    GITHUB_REPOSITORY, GITHUB_EVENT_PATH). Only that comment is sent.
    """
    from playground.base.errors import InputFault
    from playground.dialects import get_dialect
    from playground.plugins.ci.comments import Comments
    from playground.plugins.ci.markdown import markdown

    if prefix_may_change and most_tokens_more is None:  # one error for all files
        problem = "--prefix-may-change without --most-tokens-more checks nothing"
        raise InputFault(problem, expected="--most-tokens-more as well")
    if dialect:
        get_dialect(dialect)  # an unknown name is an error, even if all files are new
    comments = Comments.of_this_job() if comment else None
    limits = (most_tokens_more, prefix_may_change)
    outcomes = [_outcome(file, base, model, dialect, limits) for file in files]
    for outcome in outcomes:
        lines = outcome["failures"] or [_summary(outcome)]
        for line in lines:
            say(f"{outcome['session']}: {line}")
    reports.write_all(outcomes, files)
    if comments is not None:
        say(comments.put(markdown(outcomes)), err=True)
    if any(outcome.get("is_unreadable") for outcome in outcomes):
        return 2
    status = report_briefly([finding for each in outcomes for finding in each["findings"]])
    return status or int(any(outcome["failures"] for outcome in outcomes))


def _outcome(
    file: str, base: str, model: str, dialect: str, limits: tuple[int | None, bool]
) -> dict[str, Any]:
    """Compare a file with its version in a commit. Raises InputFault for an unknown commit."""
    from playground.base.errors import InputFault

    if not Path(file).exists():
        return _unreadable(file, InputFault("there is no such file", expected="a session file"))
    content = committed(file, base)
    try:
        if content is None:
            load_all(file, model)  # what cannot be read would be no baseline for the next change
            return {"session": file, "failures": [], "findings": [], "is_new": True}
        return _compare(file, content, model, dialect, limits)
    except InputFault as fault:  # the other files are still compared
        return _unreadable(file, fault)


def _compare(
    file: str, content: bytes, model: str, dialect: str, limits: tuple[int | None, bool]
) -> dict[str, Any]:
    """Compare a file with its content in a commit. Raises InputFault if either is unreadable."""
    from playground.cli.comparing import BaselineOptions

    with tempfile.NamedTemporaryFile(suffix=f"-{Path(file).name[-80:]}") as baseline:
        baseline.write(content)
        baseline.flush()
        options = BaselineOptions(baseline.name, *limits, 0)
        document, findings = options.compare(file, model, dialect)
    return {"session": file, "findings": findings, **document}


def _unreadable(file: str, fault: InputFault) -> dict[str, Any]:
    failures = [f"cannot be compared: {fault}"]
    return {"session": file, "failures": failures, "findings": [], "is_unreadable": True}


def committed(file: str, base: str) -> bytes | None:
    """Return the content that a file has in a commit; None if the commit does not hold it.

    Raises InputFault if the file is not in a git repository, or if the commit is unknown.
    """
    from playground.base.errors import InputFault

    folder = Path(file).resolve().parent
    # git would read a name that begins with "-" as an option.
    known = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}"
    )
    if known is None:
        problem = f"{file}: {base!r} is not a commit of a git repository there"
        raise InputFault(problem, expected="--base with a commit, a branch or a tag")
    return _git(folder, "cat-file", "blob", f"{known.decode().strip()}:./{Path(file).name}")


def _git(folder: Path, *words: str) -> bytes | None:
    """Return what git prints in a folder; None if it fails. Raises InputFault without git."""
    from playground.base.errors import InputFault

    if not folder.is_dir():
        return None
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputFault("git is not installed", expected="git, which holds the baseline") from None
    return done.stdout if done.returncode == 0 else None


def _summary(outcome: Mapping[str, Any]) -> str:
    if outcome.get("is_new"):
        return "new, so there is no baseline"
    growth = sum(difference["tokens"] for difference in outcome["differences"])
    return f"passed against the baseline, {growth:+,} tokens"
