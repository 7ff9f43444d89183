"""The command about files that come in: import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted
from playground.cli.shared import force_option, json_option, out_option
from playground.cli.terminal import guarded, print_json, progress_bar, report, say, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playground.base.errors import InputFault
    from playground.base.findings import Finding
    from playground.sessions.loading import LoadedSession
    from playground.sessions.receipts.receipt import Receipt


@click.command("import")
@click.argument("file", required=False, default="")
@out_option("Write sessions here: a file, *.jsonl, or a folder.")
@click.option("--format", "format_name", default="", help="The file's format. Default: recognised.")
@click.option("--to", type=click.Choice(["session", "atif"]), default="session", help="To write.")
@click.option("--repair", "mend", is_flag=True, help="Repair what has a single possible repair.")
@click.option("--formats", "listed", is_flag=True, help="List the formats and what each keeps.")
@click.option("--keep-going", is_flag=True, help="Leave out what cannot be read, and say what.")
@click.option("--receipt", "with_receipt", is_flag=True, help="Say what of FILE is in no session.")
@force_option
@json_option
@guarded
def import_(
    file: str,
    out: str,
    format_name: str,
    to: str,
    mend: bool,
    listed: bool,
    keep_going: bool,
    with_receipt: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Read the sessions of FILE (`-`: standard input), whoever wrote it, and write them with -o.

    All of them are written or none, unless --keep-going is given.
    """
    from playground.base.errors import InputFault
    from playground.sessions.formats.table import FORMATS_HEAD, formats_rows
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
    status = 0
    rows: list[dict[str, Any]] = []
    broken: list[Finding] = []  # that a line cannot be read is told once, at the end
    with Writer(out, to, inputs=[file], force=force) as writer:
        for loaded in _with_progress(file, format_name, left_out):
            loaded, done = repaired(loaded) if mend else (loaded, [])
            rows.append(summary(loaded, done, writer.write(loaded.session)))
            status |= any(f.severity != "info" for f in loaded.findings)
            broken += [f for f in loaded.findings if f.code in _BROKEN_LINES]
            if not as_json:
                _tell_read(done, loaded.findings)
        if broken and len(rows) > 1 and not keep_going:  # within `with`: nothing is written
            raise _broken(file, broken[0])
    receipt = _receipt(file, format_name) if with_receipt else None
    if as_json:
        print_json({"sessions": rows, "receipt": _as_json(receipt)} if receipt else rows)
    else:
        report(broken)
        _show(rows, receipt, err=writer.piped)  # standard output may be what is written to
    for fault in left_out or ():
        say(f"left out: {fault}", err=True)
    return max(status, int(bool(left_out)))


def _receipt(file: str, format_name: str) -> Receipt | None:
    from playground.base.errors import InputFault
    from playground.sessions.loading import load_session

    if file == "-":
        expected = "a file's name: a receipt reads it twice"
        raise InputFault("standard input is read once", where=file, expected=expected)
    return load_session(file, format_name or None).receipt


def _show(rows: list[dict[str, Any]], receipt: Receipt | None, *, err: bool) -> None:
    for row in rows:
        say(_imported(row), err=err)
    if receipt is None:
        return
    say(receipt.words)
    table(
        ["", "in the file", "in its sessions"],
        [[name, f"{there:,}", f"{here:,}"] for name, there, here in receipt.counts],
    )
    missing = [
        [row.path, row.kind, f"{row.times:,}", f"{row.characters:,}", row.why or "nothing says so"]
        for row in receipt.by_path
    ]
    if missing:
        table(["missing at", "what", "times", "characters", "why"], missing)


def _as_json(receipt: Receipt) -> dict[str, Any]:
    return {
        "share": receipt.share,
        "characters": receipt.characters,
        "counts": [dict(zip(_COUNTS_HEAD, row, strict=True)) for row in receipt.counts],
        "missing": [
            {**row._asdict(), "first": {"place": row.first.place, "text": row.first.text}}
            for row in receipt.by_path
        ],
    }


_COUNTS_HEAD = ("what", "in_file", "in_sessions")


def _tell_read(repaired: list[str], findings: Sequence[Finding]) -> None:
    for line in repaired:
        say(f"repaired {line}", err=True)
    report([f for f in findings if f.code not in _BROKEN_LINES])


def _broken(file: str, line: Finding) -> InputFault:
    from playground.base.errors import InputFault

    return InputFault(
        line.message,
        where=f"{file}, {line.where}",
        expected="whole lines in a file of many sessions, or --keep-going",
    )


_BROKEN_LINES = {"unreadable-line", "torn-end"}
_COUNTED = ("messages", "calls", "tools", "requests", "recordings")


def _imported(row: dict[str, Any]) -> str:
    """Return a session that was read, in a line: its format, what it holds, where it was
    written.
    """
    counts = ", ".join(counted(row[key], key[:-1]) for key in _COUNTED if row[key])
    arrow = f" → {row['written']}" if row["written"] else ""
    return f"{row['session']}: {row['format']}, {counts or 'nothing'}{arrow}"


def _with_progress(
    file: str, format_name: str, left_out: list[InputFault] | None
) -> Iterator[LoadedSession]:
    """Yield the sessions of a file; a large one moves a bar on a terminal."""
    from playground.sessions.loading import load_sessions

    with progress_bar("reading") as moved:
        yield from load_sessions(file, format_name or None, moved, left_out)
