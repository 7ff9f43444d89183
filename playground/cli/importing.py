"""`import`: read the sessions of any file, and write them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.errors import InputFault
from playground.base.registry import session_forms
from playground.base.wording import counted
from playground.cli.command import command
from playground.cli.shared import csv_option, force_option, json_option, out_option, strict_option
from playground.cli.terminal import (
    CSV,
    failed,
    guarded,
    is_set,
    print_json,
    progress_bar,
    report,
    say,
    show_rows,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playground.base.findings import Finding
    from playground.questions.recognised_documents import Recognised
    from playground.sessions.loading import LoadedSession
    from playground.sessions.receipts.receipt import Receipt
    from playground.sessions.source import Source


@command(
    "import session.json --receipt",
    "import session.json --to atif -o sessions/",
    "import session.json --to otel -o trace.json",
    name="import",
)
@click.argument("file", required=False, default="")
@out_option("Write here: a folder, *.jsonl, or a file (later sessions: a folder of its name).")
@click.option("--format", "format_name", default="", help="The file's format. Default: recognised.")
@click.option(
    "--to",
    type=click.Choice(["session", "atif", *session_forms()]),
    help="The format to write. Default: session.",
)
@click.option("--repair", "mend", is_flag=True, help="Repair faults with only one possible repair.")
@click.option("--formats", "listed", is_flag=True, help="List the formats and what each keeps.")
@click.option("--keep-going", is_flag=True, help="Leave out unreadable sessions, and list them.")
@click.option(
    "--receipt", "with_receipt", is_flag=True, help="List the parts of FILE that are in no session."
)
@force_option
@strict_option
@csv_option
@json_option
@guarded
def import_(
    file: str,
    out: str,
    format_name: str,
    to: str | None,
    mend: bool,
    listed: bool,
    keep_going: bool,
    with_receipt: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Read the sessions of FILE (`-`: standard input) in any format, and write them with -o.

    Either all of them are written or none, unless --keep-going is given.
    """
    from playground.sessions.formats import FORMATS_HEAD, formats_rows
    from playground.sessions.importing import Writer, repaired, summary

    if listed:
        rows_of = [dict(zip(FORMATS_HEAD, row, strict=True)) for row in formats_rows()]
        if as_json:
            print_json(rows_of)
        else:
            table(FORMATS_HEAD, formats_rows())
        return 0
    if not file:
        raise InputFault("no file is named", expected="FILE, or --formats")
    left_out: list[InputFault] | None = [] if keep_going else None
    has_findings = False
    rows: list[dict[str, Any]] = []
    broken_lines: list[Finding] = []  # unreadable lines, reported at the end
    with Writer(out, to or "session", inputs=[file], force=force) as writer:
        for loaded in _with_progress(file, format_name, left_out):
            loaded, repairs = repaired(loaded) if mend else (loaded, [])
            omitted = writer.omitted(loaded.session)
            loaded = replace(loaded, findings=[*loaded.findings, *omitted])
            rows.append(summary(loaded, repairs, writer.write(loaded.session)))
            has_findings |= any(f.severity != "info" for f in loaded.findings)
            broken_lines += [f for f in loaded.findings if f.code in _BROKEN_LINES]
            if not as_json:
                _report_read(repairs, loaded.findings)
        if broken_lines and len(rows) > 1 and not keep_going:  # raise before any file is written
            where = f"{file}, {broken_lines[0].where}"
            expected = "complete lines in a file of many sessions, or --keep-going"
            raise InputFault(broken_lines[0].message, where=where, expected=expected)
    receipt = _receipt(file, format_name) if with_receipt else None
    if as_json:
        print_json({"sessions": rows, "receipt": _receipt_json(receipt)} if receipt else rows)
    else:
        report(broken_lines)
        _show(rows, receipt, err=writer.piped)  # on stderr if the sessions go to standard output
    if to and not out:
        say(f"nothing was written: name a file or folder, such as -o {to}.json", err=True)
    for fault in left_out or ():
        say(f"left out: {fault}", err=True)
    return max(failed(has_findings), int(bool(left_out)))


def _receipt(file: str, format_name: str) -> Receipt | None:
    from playground.sessions.loading import load_session

    if file == "-":
        expected = "a file's name: a receipt reads it twice"
        raise InputFault("standard input is read once", where=file, expected=expected)
    return load_session(file, format_name or None).receipt


def _show(sessions: list[dict[str, Any]], receipt: Receipt | None, *, err: bool) -> None:
    """Print a line for each session, on stderr with `err`, and the receipt. With --csv, print a
    table of the sessions instead of the receipt."""
    from playground.show import rows, rule_rows

    if is_set(CSV):
        show_rows(rows.from_dicts(sessions))
    for session in sessions:
        say(_session_line(session), err=err)
    paths = [Path(row["written"] or "-") for row in sessions[:2]]
    if len(paths) == 2 and paths[1].parent == paths[0].with_suffix(""):
        say(
            f"{paths[0]} holds the first session, the folder {paths[1].parent} the others", err=True
        )
    if receipt is None or is_set(CSV):
        return
    say(receipt.words)
    show_rows(rule_rows.receipt_counts(receipt))
    say(receipt.compared)
    missing = rows.receipt(receipt)
    if missing.cells:
        show_rows(missing.without("text"))


def _receipt_json(receipt: Receipt) -> dict[str, Any]:
    return {
        "share": receipt.share,
        "compared": receipt.compared,
        "characters": receipt.characters,
        "counts": [dict(zip(_COUNTS_HEAD, row, strict=True)) for row in receipt.counts],
        "missing": [
            {**asdict(row), "first": {"place": row.first.place, "text": row.first.text}}
            for row in receipt.by_path
        ],
    }


_COUNTS_HEAD = ("what", "in_file", "in_sessions")


def _report_read(repairs: list[str], findings: Sequence[Finding]) -> None:
    for line in repairs:
        say(f"repaired {line}", err=True)
    report([f for f in findings if f.code not in _BROKEN_LINES])


_BROKEN_LINES = {"unreadable-line", "torn-end"}
_COUNTED = ("messages", "calls", "tools", "requests", "recordings")


def _session_line(row: dict[str, Any]) -> str:
    """Return a line on a session: its format, its counts, and its output file."""
    counts = ", ".join(counted(row[key], key[:-1]) for key in _COUNTED if row[key])
    arrow = f" → {row['written']}" if row["written"] else ""
    return f"{row['session']}: {row['format']}, {counts or 'nothing'}{arrow}"


def _with_progress(
    file: str, format_name: str, left_out: list[InputFault] | None
) -> Iterator[LoadedSession]:
    """Yield the sessions of a file, with a progress bar on a terminal."""
    from playground.sessions.loading import load_sessions, read_sessions, source_of

    if not format_name:
        _refuse_other_kind(file)
    has_begun = False
    with progress_bar("reading") as moved:
        piped = source_of(file) if file == "-" else None  # standard input can be read only once
        if piped is not None:
            piped.left_out = left_out
        try:
            for loaded in (
                load_sessions(file, format_name or None, moved, left_out)
                if piped is None
                else read_sessions(piped, format_name or None)
            ):
                has_begun = True
                yield loaded
        except InputFault as fault:
            if has_begun or format_name:
                raise
            raise _other_kind(file, piped) or fault from fault


def _refuse_other_kind(file: str) -> None:
    """Raise InputFault for source or YAML without sessions. The error names the right command."""
    if not file.endswith(_SOURCE):
        return
    from playground.questions.recognition import recognise
    from playground.sessions.loading import file_bytes

    found = recognise(file_bytes(file), file)
    if found.kind in _OTHER_KINDS:
        raise _fault_of(found, file)


def _other_kind(file: str, piped: Source | None) -> InputFault | None:
    """Return a fault that says what a small file without sessions holds; None if unknown."""
    from playground.questions.recognition import recognise
    from playground.sessions.loading import file_bytes

    try:
        data = file_bytes(file) if piped is None else piped.data
    except InputFault:
        return None
    found = recognise(data, "" if file == "-" else file) if 0 < len(data) < _MOST_BYTES else None
    is_broken = found and found.kind == "nothing" and file.endswith(_SOURCE)
    return _fault_of(found, file) if found and (is_broken or found.kind in _OTHER_KINDS) else None


def _fault_of(recognised: Recognised, file: str) -> InputFault:
    hint = _OTHER_KINDS.get(recognised.kind, "")
    if recognised.kind == "agent" and not recognised.page:
        hint = "none of its prompts can be filled"
    expected = f"sessions; {hint}" if hint else ""
    where = "standard input" if file == "-" else file
    return InputFault(
        "; ".join([recognised.title, *recognised.unread]), where=where, expected=expected
    )


_SOURCE = (".py", ".yaml", ".yml")
_MOST_BYTES = 1_000_000  # a reply or declaration is smaller
_OTHER_KINDS = {
    "signature": "playground signature FILE, or Import in the app, takes it",
    "agent": "playground template prompt FILE fills its prompts",
    "templates": "playground template run FILE runs them",
    "dialect class": "no command reads a class: install it in a package (docs/own-dialect.md)",
    "reply": "playground replay FILE reads a reply",
}
