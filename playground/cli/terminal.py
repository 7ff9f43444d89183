"""Print for the command line; exit with 0 (worked), 1 (check failed), 2 (error) or 128 + signal."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

import click

from playground.base.fixes import with_fix
from playground.base.wording import INVISIBLE, hidden_in, isolate_runs, keep_order, visible

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.show.rows import AnswerRows

GRACE = 5.0  # seconds that a program has to end after a signal
WHOLE = {"format"}  # titles of columns with names that users copy: never folded
_NUMBER = re.compile(r"[-~$]?[\d.,]*(?: ?%)?")  # matches an empty cell too
_IN_JSON = rf"[\x7f-\x9f{INVISIBLE}]"  # json.dumps itself escapes other control characters
REPORT = "this is a bug of ours: please report it with what `playground --debug …` prints"
_EXACT = "`> FILE` or a pipe gets the exact text"
_HALVES = "surrogatepass"  # error handler that writes half a surrogate pair
_MOST_NAMED = 5
_NOTED = "playground.noted"  # a key in the meta of click's context; so are the next three
STRICT = "playground.strict"
_PRINTED = "playground.printed"  # True after the table that --csv prints
CSV = "playground.csv"
INTERRUPTED = 130  # as in shells: 128 plus the number of SIGINT


@contextmanager
def progress_bar(
    label: str, streams_json: bool = False
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that shows progress in a bar, or None if stderr is not a terminal.

    With `streams_json`, it is also None if stdout is a terminal, because JSON is printed there
    while the bar moves.
    """
    if not sys.stderr.isatty() or (streams_json and sys.stdout.isatty()):
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def move(done: int, size: int) -> None:
            bar.length = size
            bar.update(done - bar.pos)

        yield move


def guarded(command: Callable[..., int]) -> Callable[..., NoReturn]:
    """Wrap a command: exit with the status that it returns, and print an error as one line."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> NoReturn:
        from playground.base.errors import PlaygroundError
        from playground.base.extras import missing_package
        from playground.base.waits import telling_waits

        if sys.stdout is None:  # after `>&-`, all output would be lost
            say("playground: standard output is closed", err=True)
            sys.exit(2)
        try:
            with telling_waits(lambda text: say(f"playground: {text}", err=True)):
                status = command(*args, **kwargs)
        except PlaygroundError as error:
            say(f"playground: {error}", err=True)
            status = 2
        except KeyboardInterrupt:
            say("playground: stopped", err=True)
            status = INTERRUPTED
        except BrokenPipeError:  # the program that reads, such as `head`, has closed the pipe
            sys.stdout = None
            status = 0
        except OSError as error:  # such as a full disk, or no permission
            place = f"{error.filename}: " if error.filename else ""
            say(f"playground: {place}{error.strerror or error}", err=True)
            status = 2
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # click prints its own message and sets the exit status
        except Exception as error:
            missing = missing_package(error) if isinstance(error, ModuleNotFoundError) else None
            if _debugging():
                raise
            said = str(missing or f"{type(error).__name__}: {error}; {REPORT}")
            say(f"playground: {said}", err=True)
            status = 2
        sys.exit(status)

    return run


@dataclass
class Stop:
    """A request to end the program; `number` is the signal's, None before a signal."""

    event: threading.Event
    number: int | None = None


@contextmanager
def stopping() -> Iterator[Stop]:
    """Let Ctrl-C, SIGTERM and SIGHUP set an event instead of ending the program.

    So no exception interrupts a step that must be completed. A second signal ends the program as
    usual. GRACE seconds after the first signal, a second one is sent automatically, because code
    that loads a library or waits for a connection does not see the event. An InputFault after a
    signal exits with 128 plus the signal's number.
    """
    from playground.base.errors import InputFault

    stop = Stop(threading.Event())
    timers: list[threading.Timer] = []
    signals = [s for name in ("SIGINT", "SIGTERM", "SIGHUP") if (s := getattr(signal, name, None))]

    def stop_once(number: int, _frame: object) -> None:
        stop.number = number
        stop.event.set()
        signal.signal(number, old_handlers[number])  # a second signal ends the program at once
        timer = threading.Timer(GRACE, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
        timers.append(timer)

    ignored = (signal.SIG_IGN, None)  # ignored under `nohup`, or handled outside Python
    handled = [number for number in signals if signal.getsignal(number) not in ignored]
    old_handlers = {number: signal.signal(number, stop_once) for number in handled}
    try:
        yield stop
    except InputFault as fault:
        if stop.number is None:
            raise
        say(f"playground: stopped ({fault.problem})", err=True)
        sys.exit(128 + stop.number)
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


def _debugging() -> bool:
    """Return True after `playground --debug`, which prints tracebacks of unexpected errors."""
    context = click.get_current_context(silent=True)
    return bool(context and context.find_root().params.get("debug"))


def is_set(name: str) -> bool:
    """Return True if the command got the flag `name`, which is STRICT or CSV."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(name))


def failed(has_failed: bool) -> int:
    """Return the exit status: 1 if --strict is given and `has_failed`, otherwise 0."""
    return int(has_failed and is_set(STRICT))


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a line for the user, with `err` on stderr; with --csv always there, because stdout has
    only the table. Control characters are escaped, so that a file's text cannot control the
    terminal. Characters that the stream's encoding lacks are escaped, too."""
    err = err or is_set(CSV)
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    escaped = keep_order(text) if _is_unicode_terminal(stream) else visible(text)
    click.echo(_encodable(escaped, encoding), err=err, nl=nl)


def tell_starred_secrets(counts: Mapping[str, int]) -> None:
    """Report the number of secrets of each kind that were starred out of stored text."""
    from playground.recordings.scrubbing import describe_stars

    say(describe_stars(counts), err=True)


def _is_unicode_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is a terminal that takes Unicode. Such a terminal may reorder text
    that is written from right to left."""
    return stream is not None and stream.isatty() and stream.encoding.lower().startswith("utf")


def _encodable(text: str, encoding: str = "") -> str:
    """Escape the characters of a text that an encoding lacks; by default that of stdout."""
    encoding = encoding or sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def say_written(out: str) -> None:
    """Say on stderr which file was written."""
    from playground.base.wording import in_one_line

    say(f"written: {in_one_line(out)}", err=True)


def emit(text: str, out: str = "", *, inputs: Iterable[str] = (), force: bool = False) -> None:
    """Print content exactly, or write it to the file `out`.

    A file or a pipe gets the exact characters as UTF-8, with nothing added; half of a surrogate
    pair is written as its three bytes. On a terminal, control and invisible characters are escaped,
    and a line on stderr says so, once for each command. Raises InputFault if `out` is one of the
    `inputs`, exists (`force` replaces it), or cannot be written."""
    if out:
        from playground.base.output import write_file

        write_file(out, text, inputs=inputs, force=force, errors=_HALVES)
        say_written(out)
    elif not sys.stdout.isatty():
        click.echo(text.encode("utf-8", _HALVES), nl=False)  # as bytes, to keep the line ends
    else:
        click.echo(_encodable(visible(text)), nl=not text.endswith("\n"))
        if escaped := hidden_in(text):
            _note_once(f"escaped for the terminal: {_count_and_escapes(escaped)}; {_EXACT}")
        return
    if halves := re.findall("[\ud800-\udfff]", text):
        from playground.base.wording import counted

        size = counted(len(halves), "lone surrogate")
        _note_once(f"written as three bytes each: {size}; strict readers of UTF-8 refuse them")


def _count_and_escapes(escaped: Sequence[str]) -> str:
    """Return the number of escaped characters, and the escape of each kind."""
    from playground.base.wording import counted

    escapes = list(dict.fromkeys(map(visible, escaped)))
    more = " …" if len(escapes) > _MOST_NAMED else ""
    count = counted(len(escaped), "character")
    return f"{count} ({' '.join(escapes[:_MOST_NAMED])}{more})"


def _note_once(note: str) -> None:
    """Print a note on changes to the content, once for each command."""
    context = click.get_current_context(silent=True)
    meta = context.meta if context else {}
    if not meta.get(_NOTED):
        say(f"playground: {note}", err=True)
    meta[_NOTED] = True


def report(findings: Sequence[Finding]) -> int:
    """Print findings as lines on stderr.

    Return the exit status: 1 with --strict if a finding is more than information.
    """
    for finding in findings:
        line = f"{finding.severity} {finding.code} ({finding.where}): {with_fix(finding)}"
        say(line, err=True)
    return failed(any(finding.severity != "info" for finding in findings))


def report_briefly(findings: Sequence[Finding]) -> int:
    """Print one line for each kind of finding, for a check. Return 1 if there is an error or, with
    --strict, a warning."""
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault((finding.severity, finding.code), []).append(finding)
    for (severity, code), group in by_kind.items():
        more = f", and {len(group) - 1} more" if len(group) > 1 else ""
        say(f"{severity} {code} ({group[0].where}{more}): {with_fix(group[0])}", err=True)
    lenient = ("info",) if is_set(STRICT) else ("info", "warning")
    return int(any(finding.severity not in lenient for finding in findings))


def print_json(value: Any) -> None:
    """Print a value as JSON; a number that JSON lacks becomes a text ("NaN")."""
    click.echo(json_text(value, _is_narrow()))


def print_json_array(values: Iterable[Any]) -> None:
    """Print an array like `print_json`, each value as soon as it is computed. If computing a value
    raises, the array has no end, so that nobody takes the JSON for complete."""
    separator = "[\n"
    for value in values:
        # JSON has line breaks only between values, so it may be indented
        text = json_text(value, _is_narrow()).replace("\n", "\n  ")
        click.echo(f"{separator}  {text}", nl=False)
        separator = ",\n"
    click.echo("[]" if separator == "[\n" else "\n]")


def _is_narrow() -> bool:
    """Return True if the encoding of stdout may lack characters."""
    return (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"


def json_text(value: Any, narrow: bool = False, indent: int | None = 2) -> str:
    """Return a value as exact JSON, with JSON's escapes for all control characters.

    With `narrow`, everything but ASCII is escaped.
    """
    from playground.base.json_numbers import finite

    text = json.dumps(finite(value), ensure_ascii=narrow, indent=indent, allow_nan=False)
    return re.sub(_IN_JSON, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def show_rows(rows: AnswerRows, *columns: str) -> None:
    """Print a table of `columns`, by default all, under the glossary's titles. With --csv, print
    only the first table of a command, with all columns under their names."""
    from playground.show.glossary import is_number, title

    if is_set(CSV):
        meta = click.get_current_context().meta
        if not meta.get(_PRINTED):
            emit(csv_text(rows.columns, rows.cells))
        meta[_PRINTED] = True
        return
    chosen = rows.only(*columns) if columns else rows
    table(*chosen.texts(), {title(name) for name in chosen.columns if is_number(name)})


def csv_text(columns: Sequence[str], cells: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV. An apostrophe comes before a text that looks like a formula."""
    import csv
    from io import StringIO

    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows([columns, *(list(map(_in_csv, row)) for row in cells)])
    return text.getvalue()


def _in_csv(value: Any) -> Any:
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA else value


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table(head: list[str], rows: list[list[str]], numeric: Collection[str] = ()) -> None:
    """Print a table: folded to the width of a terminal, or unfolded for a pipe or file.

    Numbers, and names that users copy, are never folded. `numeric` has the heads of right-aligned
    columns.
    """
    cells = [[visible(cell).expandtabs() for cell in row] for row in (head, *rows)]
    if sys.stdout.isatty():
        _folded_table(cells[0], cells[1:], numeric)
        return
    for line in _whole_table(cells[0], cells[1:], numeric):
        click.echo(_encodable(line))


def _folded_table(head: list[str], rows: list[list[str]], numeric: Collection[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rich_table = Table(box=None, pad_edge=False, header_style="bold")
    for name, *cells in zip(head, *rows, strict=True):
        justify: Literal["left", "right"] = "right" if name in numeric else "left"
        is_unfolded = name in WHOLE or all(map(_NUMBER.fullmatch, cells))
        rich_table.add_column(name, justify=justify, overflow="fold", no_wrap=is_unfolded)
    for row in rows:
        rich_table.add_row(*map(Text, row))
    console = Console(highlight=False)
    with console.capture() as lines:
        console.print(rich_table)
    text = lines.get()  # bidirectional text is isolated in each cell
    text = isolate_runs(text) if _is_unicode_terminal(sys.stdout) else text
    click.echo(_encodable(text), nl=False)


def _whole_table(head: list[str], rows: list[list[str]], numeric: Collection[str]) -> Iterator[str]:
    """Yield the lines of an unfolded table, without the blanks at their ends that would make every
    line as long as the longest."""
    from rich.cells import cell_len

    cells = [[cell.split("\n") for cell in row] for row in (head, *rows)]
    columns = zip(*cells, strict=True)
    widths = [max(cell_len(line) for cell in column for line in cell) for column in columns]
    for row in cells:
        for lines in zip_longest(*row, fillvalue=""):
            parts = []
            for name, line, width in zip(head, lines, widths, strict=True):
                blank = " " * (width - cell_len(line))
                parts.append(blank + line if name in numeric else line + blank)
            yield "  ".join(parts).rstrip()
