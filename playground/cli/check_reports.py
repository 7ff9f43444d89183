"""Files with the outcome of `check`, in forms that other programs read. Plugins write the forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click


class CheckReports(NamedTuple):
    """The options `--report-to` and `--force`."""

    files: tuple[str, ...]
    force: bool

    def write_all(self, outcomes: Sequence[Mapping[str, Any]], inputs: Sequence[str]) -> None:
        """Write every report, over none of the `inputs`. An outcome is what `--json` prints, with
        `session` and `findings`."""
        from playground.cli.terminal import emit

        for file in self.files:
            emit(report_form(file)(outcomes), file, inputs=inputs, force=self.force)


def report_form(file: str) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    """Return the function that writes outcomes in the form that a file's ending names.

    Raises InputFault if no plugin writes such files.
    """
    from playground.base import registry
    from playground.base.arguments import wrong

    forms = {
        end: form for each in registry.plugins().values() for end, form in each.reports.items()
    }
    ending = Path(file).suffix
    if ending not in forms:
        raise wrong("--report-to", file, f"a file that ends with {', '.join(forms) or 'nothing'}")
    form: Callable[[Sequence[Mapping[str, Any]]], str] = registry.load(forms[ending])
    return form


def report_options(command: Callable[..., int]) -> Callable[..., int]:
    """Gather --report-to and --force into one argument, `reports`."""

    @click.option(
        "--report-to",
        "report",
        multiple=True,
        help="Also write the outcome: FILE.sarif, FILE.xml (JUnit) or FILE.md; repeatable.",
    )
    @click.option("--force", is_flag=True, help="Replace a report that is there.")
    @wraps(command)
    def gathered(report: tuple[str, ...], force: bool, **others: Any) -> int:
        for file in report:
            report_form(file)  # raises for a wrong ending before anything is simulated
        return command(reports=CheckReports(report, force), **others)

    return gathered
